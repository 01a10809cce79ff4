"""`coalprof report`: a saved result in any format is what the run itself would have printed."""
import csv
import io
import json
import os
import re
import tempfile

import harness
from harness import Case
from validate_json import check_document, check_lines

WARPS = "".join(f"{name} {op} 4 " + " ".join(str(step * lane) for lane in range(32)) + "\n"
                for name, op, step in (("a", "load", 4), ("b", "shared_load", 128),
                                       ("c", "atomic", 0), ("d", "store", 8)))
NATURAL = os.path.join(harness.SOURCE, "tests", "data", "kernels", "natural.ptx")
RUNS = (
    ("offset", "--range", "0..5"),
    ("broadcast", "--range", "1,9223372036854775807"),  # 2^63 - 1, the largest value
    ("stride", "--range", "1,32", "--machine", "c2050,h200", "--dlcm", "ca,cg"),
    ("transpose", "--variant", "padded", "--range", "256,512"),
    ("formula", "load: a[i*k]; store: b[i]", "--var", "k=1..3"),
    ("formula", "i"),
    ("offset", "--range", "0..3", "--counters", "load_sectors,duration_seconds"),
    ("offset", "--range", "0", "--machine", "c870", "--size", "64GiB"),
)


class Report(Case):
    def save(self, folder, *arguments, stdin=b""):
        self.run_ok(*arguments, "-o", "x.json", "-o", "x.jsonl", "-q", cwd=folder, stdin=stdin)

    def check_formats(self, folder, *arguments, stdin=b""):
        for name in ("x.json", "x.jsonl"):
            for wanted in ("table", "csv"):
                with self.subTest(" ".join(arguments), saved=name, format=wanted):
                    shown = self.run_ok("report", name, "--format", wanted, cwd=folder)
                    self.assertEqual(shown.out, self.run_ok(*arguments, "--format", wanted,
                                                            cwd=folder, stdin=stdin).out)
            # The time and the command line are those of the run that was saved.
            for wanted, saved in (("json", "x.json"), ("jsonl", "x.jsonl")):
                with self.subTest(" ".join(arguments), saved=name, format=wanted), \
                        open(f"{folder}/{saved}", "rb") as file:
                    shown = self.run_ok("report", name, "--format", wanted, cwd=folder)
                    self.assertEqual(shown.out, file.read())

    def test_shows_what_the_run_itself_showed(self):
        for arguments in RUNS:
            with tempfile.TemporaryDirectory() as folder:
                self.save(folder, *arguments)
                self.check_formats(folder, *arguments)

    def test_shows_warps(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/w.txt", "w", encoding="ascii") as file:
                file.write(WARPS)
            self.save(folder, "warps", "w.txt")
            self.check_formats(folder, "warps", "w.txt")

    def test_has_a_column_in_csv_for_what_comes_late(self):
        early, *late = WARPS.splitlines(keepends=True)
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/w.txt", "w", encoding="ascii") as file:
                file.write(early * 1200 + "".join(late))
            self.save(folder, "warps", "w.txt")
            shown = self.run_ok("report", "x.jsonl", "--format", "csv", cwd=folder)
            self.assertEqual(shown.out, self.run_ok("warps", "w.txt", "--format", "csv",
                                                    cwd=folder).out)

    def test_gives_each_of_several_its_own_findings(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, kernel in (("a", "transpose_naive"), ("b", "aos_update")):
                self.run_ok("kernel", NATURAL, kernel, "--grid", "64x64", "--block", "32x8", "-q", "-o", f"{name}.json", cwd=folder)
            self.run_ok("report", "a.json", "b.json", "-o", "both.html", cwd=folder)
            with open(f"{folder}/both.html", encoding="utf-8") as file:
                parts = re.findall('json" class="result">\n(.*?)</script>', file.read(), re.DOTALL)
        for part in map(json.loads, parts):
            self.assertTrue(part["findings"])
            for finding in part["findings"]:
                self.assertIn(finding["point"], part["names"])
        self.assertEqual(len(parts), 2)

    def test_sums_the_processes_of_a_program(self):
        """Three ranks on two hosts; the third loads twice as much at the first line and lacks the last finding."""
        with open(f"{harness.SOURCE}/docs/measurements/h100/run/lines.json", encoding="utf-8") as file:
            document = json.load(file)
        last = document["findings"][-1]["point"]
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(3):
                document["meta"]["device"]["host"] = f"node{rank // 2}"
                if rank == 2:
                    document["points"][0]["measured"]["load_sectors"] *= 2
                    document["findings"].pop()
                with open(f"{folder}/r{rank}.json", "w", encoding="utf-8") as file:
                    json.dump(document, file)
            text = self.run_ok("report", "r0.json", "r1.json", "r2.json", cwd=folder).out_text
        for fact in ("r0.json: ./faults on node0", "r2.json: ./faults on node1", "Sum of 3 results", "In 2 of 3 results"):
            self.assertIn(fact, " ".join(text.split()))
        self.assertEqual(text.count(last), 1)
        self.assertIn(" 42.67 ", text)  # 128 sectors a request, in three requests
        self.assertEqual(text.count("Fix:"), 5)
        faults = f"{harness.SOURCE}/docs/measurements/h100/run/faults.json"
        kernels = self.run_ok("report", faults, faults).out_text
        for fact in ("an unnamed host", "launches 20, counted 10", "4,194,304  546.53"):
            self.assertIn(fact, kernels)
        with tempfile.TemporaryDirectory() as folder:
            with open(faults, encoding="utf-8") as file:
                document = json.load(file)
            document["points"][0]["measured"]["duration_seconds"] = 0.002
            with open(f"{folder}/slow.json", "w", encoding="utf-8") as file:
                json.dump(document, file)
            self.assertIn("4,194,304  2,000", self.run_ok("report", f"{folder}/slow.json", faults).out_text)  # of the slowest

    def test_reads_a_pipe(self):
        saved = self.run_ok("offset", "--range", "0..3", "--json").out
        self.assertEqual(self.run_ok("report", "-", "--json", stdin=saved).out, saved)

    def test_gives_the_whole_points_of_a_cut_file_and_says_where_it_ends(self):
        saved = self.run_ok("offset", "--range", "0..3", "--json").out
        ran = harness.run("report", "-", "--json", stdin=saved[:-700])
        self.assertEqual(ran.code, harness.PARTIAL)
        result = check_document(ran.out)
        self.assertEqual(result["status"], "interrupted")
        self.assertEqual([point["name"] for point in result["points"]],
                         ["offset=0", "offset=1", "offset=2"])
        (warning,) = result["warnings"]
        self.assertEqual(warning["code"], "W-DAMAGED")
        self.assertIn("stdin:8", warning["text"])

    def test_refuses_what_is_no_result(self):
        for content in (b"", b"a load 4\n", b"{}", b'{"schema":"coalprof/2","points":[]}', b"[" * 99,
                        self.run_ok("patterns", "--json").out,
                        self.run_ok("explain", "offset", "--json").out):
            with self.subTest(content[:30]):
                ran = harness.run("report", "-", stdin=content)
                self.assertEqual(ran.code, harness.USAGE)
                self.assertEqual(ran.out, b"")
                self.assertIn("stdin:", ran.err_text)

    def test_says_what_a_file_looks_like_that_is_no_result(self):
        looks = {"x.csv": "CSV", "x.html": "HTML", "x.prom": "OpenMetrics", "x.svg": "SVG", "x.txt": "table"}
        with tempfile.TemporaryDirectory() as folder:
            self.run_ok("offset", *(word for name in looks for word in ("-o", name)), "-q", cwd=folder)
            for name, look in looks.items():
                ran = harness.run("report", name, cwd=folder)
                self.assertEqual(ran.code, harness.USAGE)
                self.assertIn(look, ran.err_text)
                self.assertIn("FILE.json", ran.err_text)

    def test_writes_the_csv_that_the_run_would_have_written(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ("row", "--range", "250,256", "--pitch", "auto", "--dlcm", "cg", "--block", "32x8")
            self.run_ok(*options, "-o", "x.json", "-q", cwd=folder)
            saved = self.run_ok("report", "x.json", "--format", "csv", cwd=folder).out_text
            self.assertEqual(saved, self.run_ok(*options, "--format", "csv", cwd=folder).out_text)
            (row, _) = csv.DictReader(io.StringIO(saved))
            self.assertEqual((row["dlcm"], row["pitch"], row["block"]), ("cg", "auto", "32x8"))

    def test_keeps_its_input(self):
        with tempfile.TemporaryDirectory() as folder:
            self.save(folder, "offset", "--range", "0")
            ran = harness.run("report", "x.json", "-o", "./x.json", cwd=folder)
            self.assertEqual(ran.code, harness.USAGE)
            self.assertGreater(os.path.getsize(f"{folder}/x.json"), 0)

    def test_shows_one_run_of_a_file_with_two(self):
        lines = self.run_ok("offset", "--range", "0", "--jsonl").out
        ran = harness.run("report", "-", "--jsonl", stdin=lines + lines)
        self.assertEqual(ran.code, harness.USAGE)
        self.assertEqual(len(check_lines(ran.out)), 1)
        self.assertIn("another run", ran.err_text)

    def test_of_lines_that_were_picked_shows_them(self):
        lines = self.run_ok("offset", "--range", "0..9", "--jsonl").out.splitlines(keepends=True)
        shown = self.run_ok("report", "-", "--json", stdin=lines[3] + lines[5]).out
        self.assertEqual([point["name"] for point in json.loads(shown)["points"]],
                         ["offset=3", "offset=5"])


if __name__ == "__main__":
    harness.main()
