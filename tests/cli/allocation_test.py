"""Memory that is short: one allocation fails, or all from one on. The program says so, ends by no
signal and leaves no torn file."""
import json
import os
import tempfile
import unittest

import harness
from harness import Case, environment

FAILING = os.environ.get("COALPROF_FAILING_MALLOC")
COMMAND = ("offset", "--range", "0..2", "--backend", "model", "--threads", "1", "--quiet", "--json",
           "-o", "x.json")
# Of each kind. COALPROF_ALL_FAULTS=1 takes more, as CI does; all 20,000 take minutes.
SAMPLE = 1000 if os.environ.get("COALPROF_ALL_FAULTS") else 40


@unittest.skipUnless(FAILING, "the library that lets allocations fail is not built")
class FailingAllocations(Case):
    def count(self, folder):
        self.run_ok(*COMMAND, cwd=folder,
                    env=environment(LD_PRELOAD=FAILING, COALPROF_COUNT_TO=f"{folder}/count"))
        with open(f"{folder}/count", encoding="ascii") as file:
            return int(file.read())

    def check_failures(self, kind):
        with tempfile.TemporaryDirectory() as folder:
            count = self.count(folder)
        self.assertGreater(count, 1000)
        for number in range(1, count + 1, max(1, count // SAMPLE)):
            with self.subTest(kind=kind, number=number), tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/x.json", "w", encoding="ascii") as file:
                    file.write("old")
                ran = harness.run(*COMMAND, cwd=folder,
                                  env=environment(LD_PRELOAD=FAILING, **{kind: str(number)}))
                self.assertIn(ran.code, (harness.DONE, harness.ENVIRONMENT), ran.err)
                files = set(os.listdir(folder))
                with open(f"{folder}/x.json", encoding="ascii") as file:
                    content = file.read()
                if ran.code == harness.DONE:
                    self.assertEqual(files, {"x.json"})
                    self.assertEqual(json.loads(ran.out)["status"], "complete")
                    self.assertEqual(content.encode(), ran.out)
                else:
                    self.assertIn("out of memory", ran.err_text)
                    self.assertLessEqual(files, {"x.json", "x.partial.json"})
                    if "x.partial.json" in files:  # memory was short after the points were there
                        with open(f"{folder}/x.partial.json", encoding="ascii") as file:
                            self.assertEqual(json.load(file)["status"], "interrupted")
                        self.assertEqual(content, "old")
                    if content != "old":
                        self.assertEqual(json.loads(content)["status"], "complete")

    def test_of_one_end_with_a_sentence(self):
        self.check_failures("COALPROF_FAIL_AT")

    def test_of_all_from_one_on_end_with_a_sentence(self):
        self.check_failures("COALPROF_FAIL_FROM")


if __name__ == "__main__":
    harness.main()
