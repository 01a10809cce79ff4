"""Commands that list things: the same options as every other, and documents with their origin."""
import csv
import io
import json
import os
import tempfile

import harness
from harness import Case

LISTS = {"patterns": "patterns", "counters": "counters", "machines": "machines",
         "devices": "devices", "doctor": "findings", "occupancy": "occupancy"}


class Lists(Case):
    def run_list(self, *arguments):
        ran = harness.run(*arguments)
        # Whether something stands in the way depends on the machine that tests.
        expected = ran.code if arguments[0] == "doctor" and ran.code == harness.FINDING else harness.DONE
        return self.check(ran, expected)

    def test_documents_say_who_made_them(self):
        for command, key in LISTS.items():
            with self.subTest(command):
                document = self.run_list(command, "--json").json
                self.assertEqual(document["meta"]["argv"][1:], [command, "--json"])
                self.assertIsInstance(document[key], list)

    def test_common_options_are_taken_by_all(self):
        for command in (*LISTS, "explain"):
            arguments = [command, "offset"] if command == "explain" else [command]
            for options in (["--plain"], ["--color", "never"], ["-q"], ["-v"], ["--format", "json"],
                            ["--no-progress"]):
                with self.subTest(command=command, options=options):
                    self.run_list(*arguments, *options)

    def test_of_the_doctor_ends_with_a_finding_where_it_says_problem(self):
        ran = harness.run("doctor", "--json")
        states = [finding["state"] for finding in ran.json["findings"]]
        self.assertEqual(ran.code, harness.FINDING if "problem" in states else harness.DONE)

    # What they print is no table of points, and takes the same words.
    def test_common_options_are_taken_by_gates_and_verify(self):
        saved = self.run_ok("offset", "--range", "1", "--json").out
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            with open(path, "wb") as file:
                file.write(saved)
            for arguments in (["compare", path, path], ["check", path, "--budget",
                                                        "load_sectors > 0"]):
                for options in (["--plain"], ["--color", "never"], ["-q"], ["-v"],
                                ["--format", "json"], ["--json"], ["--no-progress"]):
                    with self.subTest(arguments=arguments[0], options=options):
                        self.run_ok(*arguments, *options)
                self.refuse(*arguments, "--color", "nevr")
                self.assertIn("results read", self.run_ok(*arguments, "-v").err_text)
        for options in (["--plain"], ["--color", "never"], ["-q"], ["-v"]):
            ran = harness.run("verify", *options)
            self.assertNotEqual(ran.code, harness.USAGE, ran.err_text)

    def test_every_format_has_every_row(self):
        rows = self.run_ok("machines", "--json").json["machines"]
        lines = self.run_ok("machines", "--jsonl").out_text.splitlines()
        self.assertEqual([json.loads(line) for line in lines], rows)
        table = list(csv.DictReader(io.StringIO(
            self.run_ok("machines", "--format", "csv").out_text)))
        self.assertEqual(len(table), len(rows))
        self.assertEqual(table[-1]["board"], rows[-1]["board"])
        marked = self.run_ok("machines", "--format", "md").out_text.splitlines()
        self.assertEqual(len(marked), len(rows) + 2)

    def test_files_are_written_as_their_suffix_says(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "list.json")
            self.run_ok("counters", "-o", path)
            with open(path, encoding="utf-8") as file:
                self.assertIn("counters", json.load(file))


class Counters(Case):
    def test_have_the_names_of_nsight_compute_and_are_found_by_them(self):
        counters = self.run_ok("counters", "--json").json["counters"]
        names = {row["key"]: row["nsight_compute"] for row in counters}
        if not names["load_sectors"]:
            self.skipTest("built without CUDA")
        self.assertEqual(names["load_sectors"], "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
        shown = harness.run("offset", "--range", "1", "--json", "--counters",
                            names["load_sectors"]).json["points"][0]
        self.assertEqual(list(shown["predicted"]), ["load_sectors"])


    def test_are_found_by_what_nvprof_called_them(self):
        row, = self.run_ok("counters", "gld_efficiency", "--json").json["counters"]
        self.assertEqual((row["key"], row["nvprof"]), ("load_efficiency", ["gld_efficiency"]))
        text = self.run_ok("counters", "gld_transactions").out_text
        for word in ("load_sectors", "2.x", "6.1", "7.0"):
            self.assertIn(word, text)
        ran = self.refuse("offset", "--counters", "gst_transactions_per_request")
        self.assertIn("store_sectors_per_request", ran.err_text)


class Machines(Case):
    def test_are_found_by_what_their_makers_and_drivers_call_them(self):
        for name, key in (("RTX 3080", "rtx3080"), ("NVIDIA GeForce RTX 4070 Ti SUPER", "rtx4070tis"),
                          ("NVIDIA A100-SXM4-80GB", "a100-80"), ("A100", "a100-80"),
                          ("NVIDIA A100 80GB PCIe", "a100-80-pcie"), ("NVIDIA H100 80GB HBM3", "h100"),
                          ("Tesla V100S-PCIE-32GB", "v100s"), ("NVIDIA L40S", "l40s"),
                          ("Titan V", "titanv"), ("h100-sxm", "h100")):
            with self.subTest(name):
                result = self.run_ok("offset", "--range", "1", "--machine", name, "--json").json
                self.assertEqual(result["meta"]["machine"]["name"], key)

    def test_say_what_they_have_and_null_what_is_not_known(self):
        rows = self.run_ok("machines", "--json").json["machines"]
        boards = {row["board"]: row for row in rows if "board" in row}
        self.assertEqual(boards["h200"]["l2_bytes"], 60 << 20)
        self.assertEqual(boards["c2050"]["memory_bytes"], 3 << 30)
        self.assertIsNone(boards["l40s"]["l2_bytes"])
        self.assertIsNone(boards["b100"]["multiprocessors"])
        self.assertEqual(boards["c870"]["l2_bytes"], 0)
        rules = {row["compute_capability"]: row for row in rows if "board" not in row}
        self.assertEqual(rules["9.0"]["l2_fill_bytes"], 64)
        self.assertIn(228, rules["9.0"]["split_shared_kib"])
        self.assertEqual(len(rules["9.0"]["split_shared_kib"]), len(rules["9.0"]["split_l1_kib"]))

    # Whether the data fit in L2 decides whether the bandwidth is that of device memory.
    def test_an_l2_of_unknown_size_is_not_one_of_none(self):
        point = self.run_ok("offset", "--range", "0", "--machine", "l40s", "--size", "1GiB",
                            "--json").json["points"][0]
        self.assertIsNone(point["predicted"]["bandwidth_bytes_per_second"])


class Occupancy(Case):
    def test_lists_are_arrays(self):
        row = self.run_ok("occupancy", "--json").json["occupancy"][0]
        self.assertIsInstance(row["limiters"], list)

    def test_shares_are_percents_in_the_table_alone(self):
        alone = ("occupancy", "--shared", "227KiB")  # one block of 8 warps, of 64
        self.assertIn(" 12.5 %", self.run_ok(*alone).out_text)
        self.assertEqual(self.run_ok(*alone, "--json").json["occupancy"][0]["occupancy"], 0.125)

    def test_a_thread_has_at_most_255_registers(self):
        self.run_ok("occupancy", "--registers", "255")
        self.assertIn("from 0 to 255", self.check(harness.run("occupancy", "--registers", "256"), harness.USAGE).err_text)

    def test_shared_memory_takes_a_list(self):
        rows = self.run_ok("occupancy", "--shared", "0,8KiB..32KiB*2", "--json").json["occupancy"]
        self.assertEqual([row["shared_bytes"] for row in rows], [0, 8192, 16384, 32768])


class Version(Case):
    def test_tells_more_when_asked(self):
        short = self.run_ok("--version").out_text
        self.assertEqual(self.run_ok("-V").out_text, short)
        for words in (["--version", "-v"], ["-v", "--version"], ["-V", "--verbose"]):
            long = self.run_ok(*words).out_text
            self.assertTrue(long.startswith(short))
            for part in ("commit", "compiler", "cuda", "fmt", "CLI11", "nlohmann/json", "utf8proc"):
                self.assertIn(part, long)


if __name__ == "__main__":
    harness.main()
