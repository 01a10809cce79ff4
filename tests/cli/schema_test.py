"""Every document that any command prints is valid against docs/coalprof.schema.json."""
import os
import pathlib
import tempfile

import harness
from harness import Case
from validate_json import check_document, check_lines

OPS = ("load", "store", "rmw", "copy", "add", "atomic", "reduce")


class Documents(Case):
    def check_json(self, *arguments, **how):
        with self.subTest(" ".join(arguments)):
            return check_document(self.run_ok(*arguments, "--json", **how).out)
        return None

    def test_of_every_pattern_are_valid(self):
        for pattern in self.run_ok("patterns", "--json").json["patterns"]:
            self.check_json(pattern["name"])

    def test_of_every_operation_are_valid(self):
        for op in OPS:
            self.check_json("offset", "--range", "0..3", "--op", op)

    def test_of_every_machine_are_valid(self):
        for machine in ("c870", "c1060", "c2050", "k20", "k80", "gtx1080", "p100", "v100", "t4",
                        "a100-80", "h200", "1.0", "1.3", "2.0", "3.5", "5.2", "6.1", "7.5", "8.9", "12.0"):
            self.check_json("offset", "--range", "0..3", "--machine", machine)
            self.check_json("warps", "-", "--machine", machine,
                            stdin="w load 4 " + " ".join(str(4 * i) for i in range(32)) + "\n")

    def test_of_lists_are_valid(self):
        for command in ("patterns", "counters", "machines", "devices", "occupancy"):
            self.check_json(command)
        check_document(harness.run("doctor", "--json").out)

    def test_of_drawings_are_valid(self):
        for pattern in self.run_ok("patterns", "--json").json["patterns"]:
            self.check_json("explain", pattern["name"])
        self.check_json("explain", "offset", "--size", "12")  # lanes that take no part
        self.check_json("explain", "row", "--warp", "3")

    def test_of_formulas_are_valid(self):
        self.check_json("formula", "i * k", "--var", "k=1..3")
        self.check_json("formula", "load: a[i*3]; store: b[i]")

    def test_of_swept_modifiers_and_machines_are_valid(self):
        self.check_json("stride", "--range", "1..4", "--dlcm", "ca,cg", "--machine", "c2050,h200")

    def test_with_verdicts_are_valid_and_say_what_the_table_says(self):
        command = ("stride", "--range", "1,32", "--op", "load", "--machine", "c2050", "--dlcm", "ca,cg",
                   "--carveout", "prefer-l1,prefer-shared")
        self.assertNotIn("verdicts", self.check_json(*command))
        (verdict,) = self.check_json(*command, "--best", "load_transaction_bytes")["verdicts"]
        self.assertEqual(verdict["best"], [{"dlcm": "cg", "carveout": "prefer-l1"},
                                           {"dlcm": "cg", "carveout": "prefer-shared"}])
        table = " ".join(self.run_ok(*command, "--best", "load_transaction_bytes").out.decode().split())
        self.assertIn(f"Best: {verdict['text']}.", table)

    def test_of_every_path_and_allocation_are_valid(self):
        for machine in ("c2050", "k40", "gtx1080", "h200"):
            self.check_json("offset", "--range", "0,1", "--op", "copy", "--path", "ld,ldg,tex",
                            "--alloc", "device,static,managed,host", "--machine", machine)
        self.check_json("indirect", "--range", "512B", "--path", "tex,ld")
        self.check_json("formula", "i * 3", "--path", "ldg", "--alloc", "host")

    def test_that_formats_are_held_to_are_valid(self):
        """The golden files of the C++ tests: documents of measured runs, which need a GPU."""
        golden = pathlib.Path(harness.SOURCE, "tests", "data", "golden")
        names = sorted(golden.glob("*.json"))
        self.assertGreater(len(names), 3)
        for path in names:
            with self.subTest(path.name):
                check_document(path.read_bytes())
        for path in sorted(golden.glob("*.jsonl")):
            with self.subTest(path.name):
                check_lines(path.read_bytes())

    def test_of_all_counters_are_valid(self):
        for counters in ("basic", "memory", "all", "load_sectors,l1_hit_sectors"):
            self.check_json("offset", "--range", "0..3", "--counters", counters)

    def test_hold_text_that_is_no_utf_8_in_a_valid_way(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.fsencode(folder) + b"/\xff\xfe.txt"
            with open(path, "wb") as file:
                file.write(b"w load 4 " + b" ".join(b"%d" % (4 * i) for i in range(32)) + b"\n")
            check_document(self.run_ok(b"warps", path, b"--json").out)

    def test_of_programs_that_were_run_are_valid(self):
        folder = os.path.join(harness.SOURCE, "docs", "measurements", "h100", "run")
        for name in ("faults", "faults_memory", "lines", "lines_kernels", "torch"):
            with self.subTest(name), open(os.path.join(folder, name + ".json"), "rb") as file:
                check_document(file.read())

    def test_in_files_are_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_ok("offset", "--output", f"{folder}/a.json", "--output", f"{folder}/b.jsonl",
                        "--output", f"{folder}/c.csv")
            with open(f"{folder}/a.json", "rb") as file:
                check_document(file.read())
            with open(f"{folder}/b.jsonl", "rb") as file:
                self.assertEqual(len(check_lines(file.read())), 33)


class Lines(Case):
    def test_of_patterns_and_warps_are_valid(self):
        self.assertEqual(len(check_lines(self.run_ok("offset", "--jsonl").out)), 33)
        ran = self.run_ok("warps", "-", "--jsonl", stdin="w load 4" + " -" * 31 + " 0\n")
        self.assertEqual(len(check_lines(ran.out)), 1)


class Validator(Case):
    def test_refuses_what_is_wrong(self):
        """A validator that accepts everything would pass unseen."""
        good = self.run_ok("offset", "--range", "0", "--json").out
        check_document(good)
        for old, new in ((b'"coalprof/1"', b'"coalprof/x"'), (b'"complete"', b'"done"'),
                         (b'"points"', b'"point"'), (b'"load_requests":', b'"load_request":')):
            with self.subTest(new):
                self.assertIn(old, good)
                with self.assertRaises(AssertionError):
                    check_document(good.replace(old, new))


if __name__ == "__main__":
    harness.main()
