"""What a few words on the command line can make dear is counted before it is begun, or held in little
memory. The limits are those of the address space and counts that messages tell, never times."""
import json
import os
import tempfile
import unittest

import harness

MIB = 1 << 20


def within(bytes_of_address_space):
    """For `before`: the run has no more address space than that."""
    return ("/bin/sh", "-c", f'ulimit -v {bytes_of_address_space >> 10} && exec "$@"', "sh")


class Lists(harness.Case):
    def test_are_counted_before_they_are_made(self):
        for options, rows in ((("--block", "1..1024", "--registers", "0..96", "--shared", "0..100"), "10,032,128"),
                              (("--shared", "0..99999", "--machine", "h200,a100"), "200,000"),
                              (("--block", "1..1000", "--registers", "1..101"), "101,000")):
            ran = self.refuse("occupancy", *options)
            self.assertIn(f"{rows} rows", ran.err_text)

    def test_of_the_most_rows_are_made(self):
        ran = self.run_ok("occupancy", "--block", "32", "--shared", "0..999", "--registers", "1..10", "--jsonl")
        self.assertEqual(len(ran.out.splitlines()), 10000)


class Budgets(harness.Case):
    @unittest.skipIf(harness.IS_SANITIZED, "sanitizers reserve more address space than there is")
    def test_hold_no_values_of_their_ranges(self):
        conditions = " and ".join(f"p{number}=0..99999" for number in range(20))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "budgets.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"load_sectors <= {number} if {conditions}\n" for number in range(500))
            # Their values would take 8 GB.
            ran = harness.run("offset", "--range", "0", "--budget-file", path, "--threads", "1",
                              before=within(1024 * MIB))
            self.check(ran, harness.PARTIAL)
            self.assertIn("p0", ran.err_text)


class Sorting(harness.Case):
    @unittest.skipIf(harness.IS_SANITIZED, "sanitizers reserve more address space than there is")
    def test_holds_points_in_little_memory(self):
        first, line = self.run_ok("offset", "--range", "0..1", "--size", "4KiB", "--jsonl").out.splitlines()[:2]
        point = json.loads(line)
        count = 20_000
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "many.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.write(first.decode() + "\n")
                for number in range(1, count):
                    point["name"] = f"offset={number}"
                    point["parameters"]["offset"] = number
                    file.write(json.dumps(point) + "\n")
            # With room for every counter the points would take 80 MB more than that.
            ran = harness.run("report", path, "--sort", "offset:desc", "--columns", "load_sectors", "--csv",
                              before=within(130 * MIB))
            # The last line of a result that ends well is missing, so it is partial.
            self.assertIn(ran.code, (harness.DONE, harness.PARTIAL), ran.err_text[-500:])
            rows = ran.out_text.splitlines()
            self.assertEqual(len(rows), count + 1)
            self.assertIn(str(count - 1), rows[1])


class Launches(harness.Case):
    def test_that_do_not_repeat_are_counted_before_a_sweep_begins(self):
        # 4 MiB of f32 are 32,768 warps.
        sweep = ("formula", "hash(i, k)", "--var", "k=2..100001", "--size", "4MiB")
        ran = self.refuse(*sweep)
        self.assertIn("3276800000 warps", ran.err_text)
        self.assertIn("--max-warps 3276800000", ran.err_text)
        ran = self.refuse("formula", "hash(i, k)", "--var", "k=2..4", "--size", "4MiB", "--max-warps", "98303")
        self.assertIn("98304 warps", ran.err_text)
        self.run_ok("formula", "hash(i, k)", "--var", "k=2..4", "--size", "4MiB", "--max-warps", "98304", "--machine", "8.0")
        # A pattern that repeats is no matter of its size, and a shard is counted by itself.
        self.run_ok("offset", "--range", "0..32", "--size", "64GiB", "--max-warps", "100000")
        self.run_ok("formula", "hash(i, k)", "--var", "k=2..5", "--size", "64KiB", "--max-warps", "512",
                    "--shard", "1/4")

    def test_of_one_point_are_counted_with_all_their_instructions(self):
        # 32 GiB of f32 are 2^28 warps, of each of 16 loads.
        loads = "; ".join(f"load: a{number}[hash(i, {1000 + number})]" for number in range(16))
        ran = self.refuse("formula", loads, "--size", "32GiB")
        self.assertIn(f"{16 << 28} warps", ran.err_text)
        self.refuse("scatter", "--op", "add", "--range", "1024", "--size", "128GiB")

    def test_too_large_to_evaluate_are_drawn_all_the_same(self):
        ran = self.run_ok("explain", "scatter", "--size", "64GiB")
        self.assertIn("W-SAMPLED", ran.out_text)
        self.assertNotIn("W-SAMPLED", self.run_ok("explain", "scatter", "--size", "1MiB").out_text)


if __name__ == "__main__":
    harness.main()
