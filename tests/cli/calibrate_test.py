"""`coalprof calibrate` where there is no GPU, and machine files: a GPU's rates wherever it is asked for."""
import json
import os
import tempfile

import harness
from harness import Case
from validate_json import check_document

H100 = os.path.join(harness.SOURCE, "docs", "measurements", "calibrated_h100.json")


class Calibrate(Case):
    def test_without_a_gpu_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = self.check(harness.run("calibrate", "-o", f"{folder}/mine.json"), harness.ENVIRONMENT)
            self.assertIn("calibrate needs a GPU", ran.err_text)
            self.assertEqual(os.listdir(folder), [])

    def test_is_a_list_and_refuses_what_no_list_is_before_it_measures(self):
        for wanted in ("html", "svg", "openmetrics"):
            self.assertIn("table, json, jsonl, csv or md", self.refuse("calibrate", "--format", wanted).err_text)
        self.refuse("calibrate", "--device", "1024")


class MachineFile(Case):
    def point(self, *arguments):
        return self.run_ok(*arguments, "--json").json["points"][0]

    def test_fits_the_schema(self):
        with open(H100, "rb") as file:
            check_document(file.read())

    def test_is_a_machine_like_any_other(self):
        sweep = ("offset", "--range", "1", "--size", "256MiB")
        measured = self.point(*sweep, "--machine", H100)
        shipped = self.point(*sweep, "--machine", "h100")
        for key in ("load_sectors", "load_requests", "store_sectors"):
            self.assertEqual(measured["predicted"][key], shipped["predicted"][key])
        # Rates of two H100s: alike to a quarter, and not the same.
        ratio = measured["predicted"]["duration_seconds"] / shipped["predicted"]["duration_seconds"]
        self.assertTrue(0.8 < ratio < 1.25 and ratio != 1, ratio)
        self.assertIn("duration_seconds", measured["estimates"])

    def test_is_named_beside_machines_and_to_every_command(self):
        points = self.run_ok("offset", "--range", "0", "--machine", f"h200,{H100}", "--json").json["points"]
        self.assertEqual(len(points), 2)
        self.run_ok("explain", "offset", "--at", "1", "--machine", H100)
        self.run_ok("occupancy", "--machine", H100)
        self.run_ok("formula", "i * 2", "--machine", H100)
        self.run_ok("warps", "-", "--machine", H100, stdin="w load 4" + " -" * 31 + " 0\n")

    def test_that_is_cut_or_something_else_is_refused(self):
        with open(H100, encoding="utf-8") as file:
            text = file.read()
        document = json.loads(text)
        document["calibration"][0]["value"] = -1
        other = self.run_ok("patterns", "--json").out_text
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/mine.json"
            for wrong in ("", text[:len(text) // 2], json.dumps(document), other):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(wrong)
                self.refuse("offset", "--machine", path)

    # The ends of what is accepted: a thousand times what is known.
    def test_has_no_rate_that_no_gpu_has(self):
        with open(H100, encoding="utf-8") as file:
            text = file.read()
        rates = [row["name"] for row in json.loads(text)["calibration"] if row["kind"] == "rate"]
        self.assertEqual(len(rates), 35)
        with tempfile.TemporaryDirectory() as folder:
            files = []

            def save(name, changes, factor=None):
                document = json.loads(text) | changes
                for row in document["calibration"]:
                    if row["kind"] == "rate" and (row["name"] == name or name == "all") and factor:
                        row["value"] *= factor
                files.append(f"{folder}/{name}_{factor}.json")
                with open(files[-1], "w", encoding="utf-8") as file:
                    json.dump(document, file)

            for name in (*rates, "all"):
                for factor in (1 / 500, 500):
                    save(name, {}, factor)
            for key, value in (("multiprocessors", 1), ("multiprocessors", 10_000), ("l2_bytes", 1024),
                               ("l2_bytes", 10**12), ("peak_bytes_per_second", 1e9), ("peak_bytes_per_second", 1e15)):
                save(f"{key}_{value}", {key: value})
            for sweep in (("offset", "--range", "0..1"), ("stride", "--range", "8,32", "--op", "reduce"), ("indirect",)):
                points = self.run_ok(*sweep, "--machine", ",".join(files), "--json", "-q").json["points"]
                for point in points:
                    for key, interval in point["estimates"].items():
                        if key != "limits":
                            self.assertNotIn(None, interval, point["name"])
                    low, high = point["estimates"]["duration_seconds"]
                    self.assertTrue(0 < low <= high < 1e4, (point["name"], low, high))

            for name in rates:
                for value in (1e-12, 1e18):
                    document = json.loads(text)
                    next(row for row in document["calibration"] if row["name"] == name)["value"] = value
                    with open(f"{folder}/wrong.json", "w", encoding="utf-8") as file:
                        json.dump(document, file)
                    self.assertRegex(self.refuse("offset", "--machine", f"{folder}/wrong.json").err_text,
                                     f"{name}, [0-9e+-]+, is not from ")

    def test_has_a_warning_only_with_its_code(self):
        with open(H100, encoding="utf-8") as file:
            document = json.load(file)
        check_document(json.dumps(document | {"warning_code": "W-DISTURBED", "warning": "why"}))
        for wrong in ({"warning": "why"}, {"warning_code": "W-OTHER", "warning": "why"},
                      {"l2_bytes": None}, {"calibration": [{"kind": "rate"}]}):
            with self.assertRaises(AssertionError):
                check_document(json.dumps(document | wrong))


if __name__ == "__main__":
    harness.main()
