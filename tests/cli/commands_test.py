"""Runs tests/data/commands.tsv: the exit code of each line, and a screen with the right first number.

Without a GPU as a test of the command line; scripts/gpu-check imports failures() on a machine with one.
"""
import os
import re
import subprocess
import tempfile

import harness
from harness import Case

FILE = os.path.join(harness.SOURCE, "tests", "data", "commands.tsv")


def rows(has_gpu):
    with open(FILE, encoding="utf-8") as file:
        split = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [(int(code.split()[-1]), expected, line) for code, expected, line in split
            if has_gpu or not code.startswith("gpu")]


def why_not(code, expected, line, folder, environment):
    """What is wrong with a row; empty: nothing."""
    ran = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, timeout=harness.PATIENCE, check=False,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if ran.returncode != code:
        return f"exit code {ran.returncode}, not {code}: {ran.stderr.decode()[-300:]}"
    shown = ran.stdout.decode()
    if not re.search("^ *(?:" + expected.replace(" ", " +") + ")", shown, re.MULTILINE):
        return f"no line begins with {expected!r}:\n{shown[:1000]}"
    return ""


def failures(program, has_gpu, environment):
    """For each row, its line and what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/bin")
        os.symlink(os.path.abspath(program), f"{folder}/bin/coalprof")
        environment = {**environment, "PATH": f"{folder}/bin:{environment['PATH']}", "S": harness.SOURCE}
        return [(line, why_not(code, expected, line, folder, environment)) for code, expected, line in rows(has_gpu)]


class Commands(Case):
    def test_that_are_typed_first_end_and_show_as_they_should(self):
        found = failures(harness.PROGRAM, False, harness.environment())
        self.assertGreater(len(found), 110)
        for line, why in found:
            with self.subTest(line):
                self.assertEqual(why, "")


if __name__ == "__main__":
    harness.main()
