"""The model is no worse than recorded on a thousand measured launches: see scripts/accuracy --guard."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["COALPROF_SOURCE"]
RECORD = os.path.join(SOURCE, "tests/data/accuracy.json")


@unittest.skipIf(os.environ.get("COALPROF_SANITIZED"), "ten times slower, and the numbers are the same")
class Guard(unittest.TestCase):
    def test_no_error_is_larger_than_recorded_and_one_that_is_would_be_named(self):
        with open(RECORD, encoding="utf-8") as file:
            record = json.load(file)
        record["h100"]["duration_seconds"]["p90"] *= 0.9  # so that one error is larger
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(record, file)
            file.flush()
            done = subprocess.run(
                [sys.executable, os.path.join(SOURCE, "scripts/accuracy"), "--guard", file.name,
                 "--coalprof", os.environ["COALPROF"]], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("h100 duration_seconds, p90", done.stdout)
        self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)


if __name__ == "__main__":
    unittest.main()
