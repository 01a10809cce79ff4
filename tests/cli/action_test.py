"""The steps of action.yml as the shell runs them, and the problem matcher over what `--format text` prints."""
import json
import os
import re
import subprocess
import tempfile

import harness
from harness import Case

KERNEL = ("kernel", f"{harness.SOURCE}/tests/data/kernels/faults.ptx", "transpose_naive", "--grid", "128x128", "--block", "32x8")
# A folder of its own: nothing of the surroundings, and a gh that writes down how it was called.
GH = '#!/bin/sh\necho "$@" > gh_called; cat "$5" >> gh_called\n'


def steps():
    """{name: script} of action.yml, whose steps have one layout."""
    with open(f"{harness.SOURCE}/action.yml", encoding="utf-8") as file:
        found = re.findall(r"    - name: (\w+)\n(?:      .*\n)*?      run: \|\n((?:        .*\n)+)", file.read())
    return {name: re.sub(r"^ {8}", "", script, flags=re.MULTILINE) for name, script in found}


class Action(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.symlink(harness.PROGRAM, f"{self.folder}/coalprof")
        self.write("gh", GH)
        os.chmod(f"{self.folder}/gh", 0o755)

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            return file.read()

    def step(self, name, code=0, **inputs):
        given = {"PREDICT": "", "RESULT": "result.json", "BUDGETS": "", "BASELINE": "", "COMMENT": "false", "WHEEL": "",
                 "PULL_REQUEST": "7", "ACTION": harness.SOURCE, **inputs}
        ran = subprocess.run(["bash", "-eo", "pipefail", "-c", steps()[name]], cwd=self.folder, capture_output=True, text=True,
                             env=harness.environment(PATH=f"{self.folder}:/usr/bin:/bin", **given), check=False)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran.stdout

    def test_has_its_steps_in_order(self):
        self.assertEqual(list(steps()), ["Install", "Predict", "Check", "Compare"])
        self.assertEqual(self.step("Install"), harness.run("--version").out_text)

    def test_predicts_words_in_quotes_and_runs_none_of_them(self):
        said = self.step("Predict", PREDICT="formula 'a[i * 3]' --name \"$(touch ran)\"")
        self.assertIn("load_sectors_per_request 12", said)
        self.assertEqual(json.loads(self.read("result.json"))["points"][0]["parameters"]["formula"], "$(touch ran)")
        self.assertFalse(os.path.exists(f"{self.folder}/ran"))
        matcher, = re.findall("^::add-matcher::(.*)$", said, re.MULTILINE)
        self.assertTrue(os.path.exists(matcher))
        self.step("Predict", code=harness.USAGE, PREDICT="formula 'a[i'")
        self.step("Predict", code=1, PREDICT="formula 'a[i")  # a quote that has no end

    def test_checks_with_annotations_and_sarif(self):
        self.step("Predict", PREDICT=" ".join(KERNEL))
        self.write("budgets", "store_excess <= 5%\n")
        said = self.step("Check", code=harness.FINDING, BUDGETS="budgets")
        self.assertIn("::error file=docs/examples/faults.cu,line=19,", said)
        result, = json.loads(self.read("result.json.sarif"))["runs"][0]["results"]
        self.assertEqual(result["locations"][0]["physicalLocation"]["region"], {"startLine": 19})
        self.write("budgets", "load_excess <= 5%\n")
        self.step("Check", BUDGETS="budgets")

    def test_compares_and_comments(self):
        for name, index in (("old.json", "i"), ("result.json", "i*2")):
            self.step("Predict", PREDICT=f"formula {index} --name x", RESULT=name)
        self.step("Compare", code=harness.FINDING, BASELINE="old.json")
        self.assertFalse(os.path.exists(f"{self.folder}/gh_called"))
        said = self.step("Compare", code=harness.FINDING, BASELINE="old.json", COMMENT="true")
        self.assertIn("::error ", said)
        called = self.read("gh_called")
        self.assertTrue(called.startswith("pr comment 7 "), called)
        self.assertIn("- formula=x: load_sectors ", called)
        self.step("Compare", BASELINE="result.json", COMMENT="true")

    def test_does_nothing_that_was_not_asked_for(self):
        for name in ("Predict", "Check", "Compare"):
            self.assertEqual(self.step(name), "")


class Lines(Case):
    def test_of_text_are_found_by_the_problem_matcher(self):
        with open(f"{harness.SOURCE}/docs/examples/problem-matcher.json", encoding="utf-8") as file:
            pattern = json.load(file)["problemMatcher"][0]["pattern"][0]
        lines = self.run_ok(*KERNEL, "--format", "text", "-q", cwd=harness.SOURCE).out_text.splitlines()
        # The whole kernel first, then its two accesses, then the one fault: 32 lanes in rows of 4,096 floats.
        self.assertTrue(lines[0].startswith("transpose_naive: load_sectors_per_request 4, "))
        self.assertEqual([line.split(": ")[:3] for line in lines[1:3]],
                         [["docs/examples/faults.cu:19", "note", access] for access in ("st.global.f32 out", "ld.global.f32 in")])
        matched, = filter(None, (re.match(pattern["regexp"], line) for line in lines))
        self.assertEqual([matched[pattern[key]] for key in ("file", "line", "severity")],
                         ["docs/examples/faults.cu", "19", "warning"])
        self.assertIn("16384 bytes", matched[pattern["message"]])

    def test_of_standard_input_name_no_file(self):
        with open(KERNEL[1], "rb") as file:
            ran = self.run_ok("kernel", "-", *KERNEL[2:], "--format", "text", "--columns", "store_sectors", stdin=file.read())
        self.assertRegex(ran.out_text, r"^transpose_naive: store_sectors [0-9,]+\n")


if __name__ == "__main__":
    harness.main()
