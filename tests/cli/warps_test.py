"""coalprof warps: one line, one point; a wrong line ends it, those before stand; memory stays flat."""
import csv
import json
import os
import subprocess
import tempfile

import harness
from harness import Case, environment, write_npy

CONTIGUOUS = "one load 4 " + " ".join(str(4 * lane) for lane in range(32)) + "\n"
COLUMN = "two load 4 " + " ".join(str(4096 * lane) for lane in range(32)) + "\n"


class Arrays(Case):
    """Of NumPy, instead of lines."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/a.npy"

    def sectors(self, *arguments, key="load_sectors"):
        points = self.run_ok("warps", self.path, "--machine", "h200", "--json", *arguments).json["points"]
        return [point["predicted"].get(key) for point in points]

    def test_hold_addresses_or_with_a_type_indices(self):
        write_npy(self.path, [8 * k for k in range(32)] + [-1] * 31 + [4])
        self.assertEqual(self.sectors(), [8, 1])
        self.assertEqual(self.sectors("--type", "f64"), [32, 1])
        self.assertEqual(self.sectors("--type", "f64", "--op", "store", key="store_sectors"), [32, 1])
        # The last warp may be short.
        write_npy(self.path, list(range(40)), shape=(4, 10))
        self.assertEqual(self.sectors("--type", "f32"), [4, 1])

    def test_that_do_not_fit_are_refused(self):
        write_npy(self.path, [0.5] * 32, kind="<f4")
        self.assertIn("no integers", self.refuse("warps", self.path).err_text)
        write_npy(self.path, list(range(32)))
        self.assertRegex(self.refuse("warps", self.path).err_text, r"1 is no multiple of 4\n.*--type f32")
        self.assertIn("--type", self.refuse("warps", "-", "--type", "f32", stdin=CONTIGUOUS).err_text)
        for content in (b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{", b"one load 4"):
            with self.subTest(content):
                with open(self.path, "wb") as file:
                    file.write(content)
                self.refuse("warps", self.path)


class Totals(Case):
    def test_are_the_sum_of_all_lines_and_a_histogram_of_their_requests(self):
        shared = "s shared_load 4 " + " ".join(str(8 * lane) for lane in range(32)) + "\n"
        points = {point["name"]: point for point in self.run_ok(
            "warps", "-", "--totals", "--machine", "h200", "--json",
            stdin=CONTIGUOUS * 5 + COLUMN * 2 + shared).json["points"]}
        self.assertEqual(list(points), ["total", "load 4 sectors", "load 32 sectors", "shared_load 2 passes"])
        total = points["total"]["predicted"]
        self.assertEqual((total["load_requests"], total["load_sectors"]), (7, 5 * 4 + 2 * 32))
        self.assertEqual(total["load_sectors_per_request"], 12)
        self.assertEqual(points["load 32 sectors"]["predicted"]["load_requests"], 2)
        self.assertEqual(points["load 32 sectors"]["parameters"], {"op": "load", "sectors": 32})
        self.assertEqual(points["shared_load 2 passes"]["predicted"]["shared_load_requests"], 1)


class Widths(Case):
    def test_of_32_bytes_are_read_for_machines_that_have_them(self):
        wide = "w load 32 " + " ".join(str(32 * lane) for lane in range(32)) + "\n"
        points = self.run_ok("warps", "-", "--machine", "b200", "--json", stdin=wide).json["points"]
        self.assertEqual(points[0]["predicted"]["load_sectors"], 32)
        self.assertEqual(points[0]["predicted"]["load_lines"], 8)
        self.assertIn("32 bytes", self.refuse("warps", "-", "--machine", "h200", stdin=wide).err_text)
        self.refuse("warps", "-", "--machine", "b200", stdin=wide.replace("load", "shared_load"))


class Lines(Case):
    def test_are_points_with_their_names_in_order(self):
        points = self.run_ok("warps", "-", "--json", stdin=CONTIGUOUS + COLUMN).json["points"]
        self.assertEqual([point["name"] for point in points], ["one", "two"])
        # 32 x 4 contiguous bytes are 4 sectors of 32; a column is one sector per lane.
        self.assertEqual([point["predicted"]["load_sectors"] for point in points], [4, 32])

    def test_give_the_same_from_a_file_and_from_stdin(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/w.txt"
            with open(path, "w", encoding="ascii") as file:
                file.write("# a comment\n\n" + CONTIGUOUS + COLUMN)
            self.assertEqual(self.run_ok("warps", path, "--json").json["points"],
                             self.run_ok("warps", "-", "--json",
                                         stdin=CONTIGUOUS + COLUMN).json["points"])

    def test_come_out_as_they_go_in(self):
        # A pipe that stays open: the answer must not wait for its end.
        process = subprocess.Popen([harness.PROGRAM, "warps", "-", "--jsonl"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=environment())
        try:
            process.stdin.write(CONTIGUOUS.encode())
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["name"], "one")
            process.stdin.close()
            self.assertEqual(process.wait(60), harness.DONE)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_that_are_none_are_refused_and_leave_the_old_output(self):
        for text in ("", "# nothing\n", "\n\n"):
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/x.json", "w", encoding="ascii") as file:
                    file.write("old")
                with open(f"{folder}/w.txt", "w", encoding="ascii") as file:
                    file.write(text)
                for source in ("-", f"{folder}/w.txt"):
                    ran = self.refuse("warps", source, "-o", f"{folder}/x.json", stdin=text)
                    self.assertIn("holds no warp instruction", ran.err_text)
                with open(f"{folder}/x.json", encoding="ascii") as file:
                    self.assertEqual(file.read(), "old")

    def test_of_other_kinds_have_their_columns_however_late_they_come(self):
        addresses = " ".join(str(4 * lane) for lane in range(32))
        text = CONTIGUOUS * 1500 + f"late store 4 {addresses}\nlast shared_load 4 {addresses}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/w.txt"
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            from_file = self.run_ok("warps", path, "--format", "csv").out_text.splitlines()
        from_pipe = self.run_ok("warps", "-", "--format", "csv", stdin=text).out_text.splitlines()
        for lines in (from_file, from_pipe):
            rows = list(csv.DictReader(lines))
            self.assertEqual(len(rows), 1502)
            self.assertEqual(rows[0]["load_sectors"], "4")
            self.assertEqual(rows[0]["store_sectors"], "")
            self.assertEqual(rows[1500]["store_sectors"], "4")
            self.assertEqual(rows[1501]["shared_load_wavefronts"], "1")
        # A file is looked through first; a pipe may bring anything.
        self.assertNotIn("atomic_sectors", from_file[0])
        self.assertIn("atomic_sectors", from_pipe[0])


class Pipes(Case):
    def test_with_a_name_are_opened_once(self):
        # The writer is quick and gone: what a second opening finds is nothing.
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/fifo"
            os.mkfifo(path)
            for number in range(10):
                with self.subTest(number):
                    writer = subprocess.Popen(["sh", "-c", 'printf %s "$0" > fifo', CONTIGUOUS],
                                              cwd=folder)
                    ran = self.run_ok("warps", path, "--format", "csv")
                    self.assertEqual(len(ran.out_text.splitlines()), 2)
                    self.assertEqual(writer.wait(60), 0)


class WrongLines(Case):
    def test_name_file_line_and_column(self):
        good = "# good\n"
        for text, position in (
                (good + "x lod 4" + " 0" * 32 + "\n", ":2:3"),
                (good + "x load 3" + " 0" * 32 + "\n", ":2:8"),
                (good + "x load 4" + " 0" * 31 + "\n", ":2:"),
                (good + "x load 4" + " 0" * 33 + "\n", ":2:"),
                (good + "x load 4" + " 0" * 31 + " 2\n", ":2:"),
                (good + "x load 4" + " 0" * 31 + " -4\n", ":2:"),
                (good + "x load 4" + " 0" * 31 + " 0x1g\n", ":2:"),
                (good + "x load 4" + " 0" * 31 + " 18446744073709551616\n", ":2:"),
                (good + "x atomic 2" + " 0" * 32 + "\n", ":2:"),
                (good + "\n# c\nx\n", ":4:"),
                (good + "x load 4 \0" + " 0" * 31 + "\n", ":2:"),
                ("y" * 100_000 + "\n", ":1:")):
            with self.subTest(text[-60:]), tempfile.TemporaryDirectory() as folder:
                path = f"{folder}/w.txt"
                with open(path, "w", encoding="ascii") as file:
                    file.write(text)
                ran = self.refuse("warps", path)
                self.assertIn(f"w.txt{position}", ran.err_text)
                self.assertLess(max(map(len, ran.err_text.splitlines())), 200)

    def test_end_the_result_after_the_lines_before(self):
        text = CONTIGUOUS + COLUMN + "x lod 4\n" + CONTIGUOUS
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/w.txt"
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            for arguments, stdin in ((["warps", path], ""), (["warps", "-"], text)):
                with self.subTest(arguments):
                    ran = harness.run(*arguments, "--jsonl", "--output", f"{folder}/x.json",
                                      "--output", "-", stdin=stdin)
                    self.check(ran, harness.USAGE)
                    self.assertIn(":3:3: unknown op 'lod'", ran.err_text)
                    *points, last = [json.loads(line) for line in ran.out_text.splitlines()]
                    self.assertEqual([point["name"] for point in points], ["one", "two"])
                    self.assertEqual(last["status"], "interrupted")
                    self.assertFalse(os.path.exists(f"{folder}/x.json"))
                    result = harness.run("report", f"{folder}/x.json.part.jsonl", "--json").json
                    self.assertEqual(len(result["points"]), 2)
                    self.assertEqual(result["status"], "interrupted")
                    os.remove(f"{folder}/x.json.part.jsonl")

    def test_leave_the_old_output_as_it_was_where_no_line_came_before(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/x.json", "w", encoding="ascii") as file:
                file.write("old")
            with open(f"{folder}/w.txt", "w", encoding="ascii") as file:
                file.write("# nothing\nx lod 4\n" + CONTIGUOUS)
            self.refuse("warps", f"{folder}/w.txt", "--output", f"{folder}/x.json")
            self.assertEqual(sorted(os.listdir(folder)), ["w.txt", "x.json"])
            with open(f"{folder}/x.json", encoding="ascii") as file:
                self.assertEqual(file.read(), "old")

    def test_are_not_overwritten_by_their_own_result(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/w.txt", "w", encoding="ascii") as file:
                file.write(CONTIGUOUS)
            ran = self.refuse("warps", f"{folder}/w.txt", "--output", f"{folder}/./w.txt")
            self.assertIn("this is the file that is read", ran.err_text)
            with open(f"{folder}/w.txt", encoding="ascii") as file:
                self.assertEqual(file.read(), CONTIGUOUS)

    def test_of_random_bytes_are_refused(self):
        for seed in range(8):
            noise = b"".join(bytes([(i * 7919 + seed * 104729 >> 3) & 255]) for i in range(4096))
            self.refuse("warps", "-", stdin=noise)


class WrongFiles(Case):
    def test_are_usage_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (f"{folder}/none.txt", folder, "", "\n"):
                with self.subTest(path):
                    self.refuse("warps", path)
        self.refuse("warps")


class Memory(Case):
    def peak_kib(self, lines):
        """Largest resident memory of the program while `lines` warps go through it."""
        process = subprocess.Popen([harness.PROGRAM, "warps", "-", "--jsonl"],
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment())
        block = ((CONTIGUOUS + COLUMN) * 500).encode()
        for _ in range(lines // 1000):
            process.stdin.write(block)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, harness.DONE)
        return usage.ru_maxrss

    def test_does_not_grow_with_the_file(self):
        # Kept points would be kilobytes each: 60,000 of them far more than this margin.
        self.assertLess(self.peak_kib(62_000), self.peak_kib(2_000) + 8 * 1024)


if __name__ == "__main__":
    harness.main()
