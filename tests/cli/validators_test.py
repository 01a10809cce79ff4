"""Every format of results that are predicted, measured, partial and interrupted passes the validators that
others use: JSON Schema, promtool, xmllint, tidy, an XML schema of JUnit reports."""
import csv
import io
import os
import shutil
import subprocess

import harness
from harness import Case
from validate_json import check_document, check_lines

GOLDEN = os.path.join(harness.SOURCE, "tests", "data", "golden")
SCHEMA = os.path.join(harness.SOURCE, "tests", "data", "junit.xsd")


def golden(name):
    with open(os.path.join(GOLDEN, name), "rb") as file:
        return file.read()


def results():
    """What kind of result, its bytes, and the exit code of `coalprof report` on it."""
    cut = golden("measured.json")
    return (("predicted", golden("predicted.json"), harness.DONE), ("partial", golden("measured.json"), harness.DONE),
            ("estimated", golden("estimated.json"), harness.DONE),
            ("measured", golden("verdicts.json"), harness.DONE), ("warps", golden("warps.json"), harness.DONE),
            ("cut", cut[:cut.rindex(b'{"name"')], harness.PARTIAL),
            ("journal", b"\n".join(golden("measured.jsonl").split(b"\n")[:-2]) + b"\n", harness.PARTIAL),
            ("interrupted", cut.replace(b'"status":"partial"', b'"status":"interrupted"'), harness.DONE))


class Validators(Case):
    def documents(self, wanted):
        """Of each kind of result, in this format."""
        return [(kind, self.check(harness.run("report", "-", "--format", wanted, "-q", stdin=saved), code).out)
                for kind, saved, code in results()]

    def pass_validator(self, text, *words, package, codes=(0,)):
        if not shutil.which(words[0]):
            self.skipTest(f"no {words[0]} (Debian: {package})")
        checked = subprocess.run(words, input=text, capture_output=True, check=False)
        self.assertIn(checked.returncode, codes, (checked.stdout + checked.stderr).decode()[-2000:])
        return (checked.stdout + checked.stderr).decode()

    def test_results_are_of_these_kinds(self):
        self.assertEqual({check_document(text)["status"] for _, text in self.documents("json")},
                         {"complete", "partial", "interrupted"})

    def test_json_lines_fit_the_schema(self):
        for kind, text in self.documents("jsonl"):
            self.assertGreater(len(check_lines(text)), 0, kind)

    def test_csv_has_rows_as_wide_as_its_header(self):
        for kind, text in self.documents("csv"):
            rows = list(csv.reader(io.StringIO(text.decode()), strict=True))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            self.assertGreater(len(rows), 1, kind)

    def test_openmetrics_pass_promtool(self):
        for _, text in self.documents("openmetrics"):
            # 3: style, as that a gauge ends in _info.
            said = self.pass_validator(text, "promtool", "check", "metrics", package="prometheus", codes=(0, 3))
            self.assertNotIn("parsing", said)

    def test_svg_is_xml(self):
        for _, text in self.documents("svg"):
            self.pass_validator(text, "xmllint", "--noout", "-", package="libxml2-utils")

    def test_html_has_no_error_and_no_warning(self):
        for _, text in self.documents("html"):
            self.assertEqual(self.pass_validator(text, "tidy", "-q", "-e", package="tidy"), "")

    def junit_reports(self):
        budgets = ("--budget", "load_sectors_per_request <= 4", "--budget", "shared_load_wavefronts < 1")
        path = os.path.join(GOLDEN, "measured.json")
        return [harness.run("compare", path, path, "--format", "junit").out,
                *(harness.run("check", "-", *budgets, "--format", "junit", stdin=saved).out
                  for _, saved, _ in results())]

    def test_junit_reports_fit_a_schema_of_them(self):
        for text in self.junit_reports():
            self.assertIn(b"<testcase ", text)
            self.pass_validator(text, "xmllint", "--noout", "--schema", SCHEMA, "-", package="libxml2-utils")

    def test_validators_refuse_what_is_wrong(self):
        """Those that accept everything would pass unseen."""
        report = self.junit_reports()[0]
        _, page = self.documents("html")[0]
        for text, words, package in (
                (report.replace(b"<testsuite ", b'<testsuite mood="good" ', 1),
                 ("xmllint", "--noout", "--schema", SCHEMA, "-"), "libxml2-utils"),
                (report.replace(b"</testsuite>", b"", 1), ("xmllint", "--noout", "-"), "libxml2-utils"),
                (page.replace(b"</head>", b"</heap>", 1), ("tidy", "-q", "-e"), "tidy"),
                (b"coalprof_x{ 1\n", ("promtool", "check", "metrics"), "prometheus")):
            with self.subTest(words[0]):
                self.pass_validator(text, *words, package=package, codes=(1, 2, 3, 4))


if __name__ == "__main__":
    harness.main()
