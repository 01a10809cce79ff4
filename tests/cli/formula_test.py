"""coalprof formula: typed and saved formulas, and one warp of them drawn."""
import csv
import io
import json
import os
import re
import tempfile

import harness
from harness import Case
from validate_json import check_document, check_lines

JSON = """{"formula": [
  // each row
  {"name": "row", "expr": "i * k", "vars": {"k": "1..2"}},
  {"name": "tile", "expr": "store: t[tid.y*32 + tid.x]", "type": "f64", "size": "1MiB",
   "block": "32x8"}
]}
"""


class Folder(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class SavedFormulas(Folder):
    def points(self, *arguments, **how):
        document = check_document(self.run_ok("formula", *arguments, "--json", **how).out)
        return {point["name"]: point for point in document["points"]}

    def test_are_one_sweep_of_points_named_after_them(self):
        points = self.points("--file", self.write("set.json", JSON))
        self.assertEqual(list(points), ["formula=row k=1", "formula=row k=2", "formula=tile"])
        # 32 lanes of 4 bytes are 4 sectors, at every second element 8; 32 of 8 bytes are 8.
        self.assertEqual(points["formula=row k=1"]["predicted"]["load_sectors_per_request"], 4)
        self.assertEqual(points["formula=row k=2"]["predicted"]["load_sectors_per_request"], 8)
        self.assertEqual(points["formula=tile"]["predicted"]["store_sectors_per_request"], 8)
        self.assertNotIn("load_sectors", points["formula=tile"]["predicted"])

    def test_are_the_same_from_standard_input(self):
        self.assertEqual(self.points("--file", "-", stdin=JSON),
                         self.points("--file", self.write("set.json", JSON)))

    def test_carry_the_settings_in_which_they_differ(self):
        ran = self.run_ok("formula", "--file", self.write("set.json", JSON), "--json")
        document = check_document(ran.out)
        self.assertEqual(document["points"][0]["parameters"],
                         {"formula": "row", "k": 1, "op": "load", "type": "f32"})
        self.assertEqual(document["points"][2]["parameters"],
                         {"formula": "tile", "op": "store", "type": "f64"})
        sweep = document["sweep"]
        self.assertEqual(sweep["block"], 256)
        self.assertNotIn("type", sweep)
        self.assertEqual((sweep["size_bytes.row"], sweep["block_x.row"]), (4 << 20, 256))
        self.assertEqual((sweep["size_bytes.tile"], sweep["block_x.tile"]), (1 << 20, 32))
        self.assertEqual(sweep["formula.row"], "i * k")
        self.assertEqual(sweep["formula.tile"], "store: t[tid.y*32 + tid.x]")

    def test_give_way_to_what_is_typed(self):
        path = self.write("set.json", JSON)
        points = self.points("--file", path, "--type", "u8", "--size", "64KiB", "--var", "k=4",
                             "--op", "store")
        self.assertEqual(list(points), ["formula=row k=4", "formula=tile"])
        # 65536 threads are 2048 warps; bytes at every fourth place are 4 sectors, in a row 1.
        self.assertEqual(points["formula=row k=4"]["predicted"]["store_requests"], 2048)
        self.assertEqual(points["formula=row k=4"]["predicted"]["store_sectors"], 2048 * 4)
        self.assertEqual(points["formula=tile"]["predicted"]["store_sectors"], 2048)

    def test_stand_in_the_first_line_once(self):
        """`sweep.formula` is a column of every data frame; the result that is read back is that of --json."""
        path = self.write("set.json", JSON)
        for words, formula in ((("formula", "a[i*k]", "--var", "k=1..2"), "a[i*k]"),
                               (("formula", "a[i*k]", "b[i+k]", "--var", "k=1..2"), "a[i*k]"),
                               (("formula", "--file", path), "i * k"),
                               (("offset", "--range", "0..1"), "a[i + offset]")):
            with self.subTest(words):
                lines = self.run_ok(*words, "--jsonl").out
                first, *rest = [json.loads(line)["sweep"] for line in lines.splitlines()]
                self.assertEqual(first["formula"], formula)
                self.assertFalse(any("formula" in sweep for sweep in rest))
                again = harness.without_time(self.run_ok("report", "-", "--json", stdin=lines).json)
                self.assertEqual(again["sweep"], self.run_ok(*words, "--json").json["sweep"])
                self.assertEqual(self.run_ok("report", "-", "--jsonl", stdin=lines).out, lines)

    def test_come_in_every_format(self):
        path = self.write("set.json", JSON)
        self.assertEqual(len(check_lines(self.run_ok("formula", "--file", path, "--jsonl").out)), 3)
        rows = list(csv.DictReader(io.StringIO(
            self.run_ok("formula", "--file", path, "--format", "csv").out_text)))
        self.assertEqual(len(rows), 3)
        self.assertEqual({row["formula"] for row in rows}, {"i * k", "store: t[tid.y*32 + tid.x]"})
        saved = self.run_ok("formula", "--file", path, "--json").out
        self.assertEqual(rows, list(csv.DictReader(io.StringIO(
            self.run_ok("report", "-", "--format", "csv", stdin=saved).out_text))))
        told = ("name", "formula_name", "k", "op", "type")
        self.assertEqual([rows[0][key] for key in told], ["formula=row k=1", "row", "1", "load", "f32"])
        self.assertEqual([rows[2][key] for key in told], ["formula=tile", "tile", "", "store", "f64"])
        table = self.run_ok("formula", "--file", path).out_text
        for word in ("row", "tile", "f64"):
            self.assertIn(word, table)

    def test_sweep_lists_of_settings_and_machines_too(self):
        points = self.points("--file", self.write("set.json", JSON), "--dlcm", "ca,cg",
                             "--machine", "h200,a100-80")
        self.assertEqual(len(points), 3 * 2 * 2)
        self.assertIn("formula=row k=2 machine=a100-80 dlcm=cg", points)

    def test_may_be_a_great_many(self):
        text = json.dumps({"formula": [{"name": f"f{k}", "expr": f"i*{k + 1}"}
                                       for k in range(1000)]})
        points = self.points("--file", "-", "--size", "1KiB", stdin=text)
        self.assertEqual(len(points), 1000)


class Hints(Case):
    def options_of_hint(self, *arguments):
        """What the hint tells to add: its options and their values."""
        hint = self.refuse(*arguments).err_text.split("hint: ")[1].split(";")[0]
        words = hint.split()
        return [word for at, word in enumerate(words)
                if word.startswith("--") or words[at - 1].startswith("--")]

    def test_for_what_is_missing_can_be_typed(self):
        for command in (("formula", "a[threadIdx.y*32 + threadIdx.x]"),
                        ("formula", "a[blockDim.z + tid.z + blockIdx.y*99]"),
                        ("explain", "formula", "shared.load: tile[threadIdx.y*17 + threadIdx.x]"),
                        ("formula", "a[i*N]"), ("formula", "a[gridDim.z + i]")):
            with self.subTest(command):
                self.run_ok(*command, *self.options_of_hint(*command))

    def test_lets_a_block_of_one_row_be_said(self):
        refused = ("formula", "a[tid.y*512 + tid.x]", "--block", "32x8,256")
        self.refuse(*refused)
        points = self.run_ok(*refused[:-1], "32x8,256x1", "--json").json["points"]
        self.assertEqual([point["predicted"]["load_lines"] for point in points], [32768, 32768])


class WrongFiles(Folder):
    def refused(self, text, *arguments, name="set.json"):
        path = self.write(name, text)
        ran = self.refuse("formula", "--file", path, *arguments)
        return ran.err_text.replace(path, name)

    def test_are_told_by_line_and_column_with_a_caret(self):
        self.assertEqual(
            self.refused('{"formula": [{"name": "x",\n"expr": "i + pich"}]}'),
            "coalprof: set.json:2:14: formula: unknown name 'pich'\n"
            "  i + pich\n"
            "      ^\n"
            "hint: known are i, n, tid, bid, lane, warp, bdim, gdim, tid.x, bid.y, threadIdx.x, "
            "blockDim.y and the like; give a number of your own with --var pich=64, or name a part: "
            "pich = i / 64; a[pich]\n")
        self.assertEqual(
            self.refused('{"formula": [\n  {"name": "x", "expr": "\\u0069 +* 2"}]}', name="x.json"),
            "coalprof: x.json:2:34: formula: expected a number, a name or '(', found '*'\n"
            "  i +* 2\n"
            "     ^\n"
            "hint: an index looks like i*3 + 1, a[(i%16)*17 + i/16] or load: a[i]; store: b[i*2]\n")

    def test_are_told_likewise_where_a_thread_fails(self):
        told = self.refused('{"formula": [{"name": "x",\n"expr": "row = i / 64; a[row - 5]"}]}')
        self.assertEqual(
            told,
            "coalprof: set.json:2:26: formula: the index 'row - 5' is negative (-5), first in "
            "thread 0 (block 0, tid 0), where i = 0\n"
            "  row = i / 64; a[row - 5]\n"
            "                  ^\n"
            "hint: switch such threads off, e.g. a[i - 1] if i >= 1, or clamp: max(i - 1, 0)\n")

    def test_run_nothing(self):
        path = self.write("out.json", "old")
        self.refused('{"formula": [{"name": "x", "expr": "i"}, {"name": "y", "expr": "i - 1"}]}',
                     "--output", path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def test_that_cannot_be_read_are_named(self):
        for path in (f"{self.folder}/none.json", self.folder, "", "/dev/zero"):
            with self.subTest(path):
                self.refuse("formula", "--file", path)

    def test_from_standard_input_are_called_so(self):
        ran = self.refuse("formula", "--file", "-", stdin='{"formula": [{"name": 3}]}')
        self.assertIn("standard input:1:23: expected text, found an integer", ran.err_text)


class CommandLines(Folder):
    def test_take_a_formula_or_a_file(self):
        path = self.write("set.json", JSON)
        both = self.refuse("formula", "i", "--file", path)
        self.assertIn("give one of the two", both.err_text)
        self.assertIn("there is no formula", self.refuse("formula").err_text)

    def test_are_told_how_many_words_of_shared_memory_a_thread_may_have(self):
        # 227 KiB of 1024 threads: 227 bytes each, 56 words.
        ran = self.refuse("formula", "shared.load: t[tid*200]", "--block", "1024")
        self.assertIn("56 words", ran.err_text)
        self.assertNotIn("rather than i", ran.err_text)

    def test_have_a_grid_or_several_elements_a_thread(self):
        refused = self.refuse("formula", "a[i]", "--grid", "64", "--per-thread", "4")
        self.assertIn("--size 262144B --per-thread 4", refused.err_text)  # 64 blocks of 256 threads, 4 elements each
        self.assertIn("in the kernel", self.refuse("kernel", "k.ptx", "--per-thread", "4").err_text)

    def test_show_each_instruction_of_one_point_though_all_cost_the_same(self):
        both = self.run_ok("formula", "load: a[i]; store: b[i]").out_text.split("Each instruction", 1)[1]
        self.assertRegex(both, r"load a \(f32\), store b \(f32\) +4.00 sectors/request +0 %")

    def test_show_which_points_have_no_instruction_of_their_own(self):
        command = ["formula", "shared.load: t[tid.y*(32+pad)+tid.x]; shared.store: t[tid.x*(32+pad)+tid.y]",
                   "--block", "32x8"]
        def block(*arguments):
            return self.run_ok(*command, *arguments).out_text.split("Each instruction", 1)[1]
        told = block("--var", "pad=0..2")
        for pad in (0, 1, 2):
            self.assertIn(f"pad={pad}", told)
        many = block("--var", "pad=" + ",".join(str(pad) for pad in range(2, 82, 2)))
        self.assertLess(len(many.splitlines()), 30)
        self.assertRegex(many, r"32 more points")  # of 40, 8 of two rows are shown
        markdown = block("--var", "pad=0..2", "--format", "md")
        self.assertEqual(markdown.count("passes/request"), 4)  # two of pad 0 and two of pad 2

    def test_are_no_table_where_they_look_the_same(self):
        """The second column of an odd row differs from the first by a sector in thousands."""
        self.assertNotIn("Each instruction",
                         self.run_ok("formula", "in[(y*W + x)*3] + in[(y*W + x)*3 + 1]", "--var", "W=1917,1920",
                                     "--type", "u8", "--block", "32x8", "--grid", "60x135").out_text)

    def test_that_begin_alike_are_told_apart(self):
        row = "a[(blockIdx.y*16+threadIdx.y)*P+t+threadIdx.x*{}]; b[i]"
        sweep = ["--var", "t=0", "--var", "P=1024,1056", "--block", "16x16", "--grid", "1x64", "-v", "--all-rows"]
        text = self.run_ok("formula", row.format(2), row.format(3), *sweep).out_text
        table, instructions = text.split("Each instruction", 1)
        rows = [line.split()[0] for line in table.splitlines() if line.startswith("a[")]
        self.assertEqual((len(rows), len(set(rows))), (4, 2))  # each with both pitches
        of_points = re.findall(r"(?m)^(a\[.+ P=\d+)  load a", instructions)
        self.assertEqual(len(set(of_points)), 4)

    def test_tell_instructions_apart_by_what_they_index(self):
        command = ["formula", "load: a[i*3]; load: a[(i + 1)*4] if i < 7; store: b[i]"]
        point, = self.run_ok(*command, "--json").json["points"]
        self.assertEqual([one["index"] for one in point["instructions"]],
                         ["i*3", "(i + 1)*4 if i < 7", "i"])
        copy, = self.run_ok("formula", "a[i*2]", "--op", "copy", "--json").json["points"]
        self.assertEqual([one["index"] for one in copy["instructions"]], ["i*2", "i"])
        text = self.run_ok(*command).out_text
        for shown in ("load a[i*3] (f32)", "load a[(i + 1)*4 if i < 7] (f32)", "store b (f32)"):
            self.assertIn(shown, text)

    def test_name_parameters_that_have_no_place(self):
        path = self.write("set.json", JSON)
        self.assertIn("no formula of", self.refuse("formula", "--file", path, "--var",
                                                   "z=3").err_text)
        self.assertIn("--var k: the formula has no 'k'",
                      self.refuse("formula", "i", "--var", "k=3").err_text)
        self.assertIn("--var k: given twice",
                      self.refuse("formula", "i*k", "--var", "k=3", "--var", "k=4").err_text)
        # Two keys of one name would make JSON that nobody can read.
        self.assertIn("--var dlcm: a setting",
                      self.refuse("formula", "i*dlcm", "--var", "dlcm=3").err_text)

    def test_show_the_line_of_a_formula_of_several_that_is_wrong(self):
        ran = self.refuse("formula", "row = i / 64;\nb[row +]")
        self.assertIn("\n  b[row +]\n         ^\n", ran.err_text)


class Drawings(Case):
    def explained(self, *arguments):
        return check_document(self.run_ok("explain", "formula", *arguments, "--json").out)

    def test_show_each_instruction_of_a_formula(self):
        text = self.run_ok("explain", "formula", "load: a[i*k]; store: b[i]", "--var",
                           "k=3").out_text
        self.assertTrue(text.startswith("formula k=3: load: a[i*k]; store: b[i]\n"), text)
        self.assertIn("load of a: lane 0 a[0], lane 1 a[3], ... lane 31 a[93]\n", text)
        self.assertIn("store to b: lane 0 b[0], lane 1 b[1], ... lane 31 b[31]\n", text)

    def test_say_the_same_in_json(self):
        document = self.explained("load: a[i*k]; store: b[i]", "--var", "k=3", "--warp", "2")
        self.assertEqual(document["sweep"]["formula"], "load: a[i*k]; store: b[i]")
        self.assertEqual(document["sweep"]["k"], 3)
        explanation = document["explanation"]
        self.assertEqual(explanation["name"], "formula k=3")
        self.assertEqual(explanation["first_thread"], 64)
        load, store = explanation["accesses"]
        # 32 lanes at 12 bytes: 12 sectors of 32 bytes; side by side 4.
        self.assertEqual(load["instructions"][0]["predicted"]["load_sectors"], 12)
        self.assertEqual(store["instructions"][0]["predicted"]["store_sectors"], 4)
        self.assertTrue(load["notes"] and store["notes"])

    def test_of_a_built_in_as_a_formula_count_alike(self):
        for at in (0, 5, 11):
            own = self.explained("i + k", "--var", f"k={at}", "--op", "rmw")
            built_in = check_document(self.run_ok("explain", "offset", "--at", str(at),
                                                  "--size", "4MiB", "--json").out)
            for one, other in zip(own["explanation"]["accesses"],
                                  built_in["explanation"]["accesses"], strict=True):
                for key in ("instructions", "lanes", "lines", "cause", "why", "mend", "launch"):
                    self.assertEqual(one[key], other[key])

    def test_are_refused_where_something_is_missing_or_too_much(self):
        for arguments, told in (
                (["formula"], "there is no formula"),
                (["formula", "i*k"], "unknown name 'k'"),
                (["formula", "i*k", "--var", "k=1..3"], "one value is needed"),
                (["formula", "i - 1"], "first in thread 0"),
                (["formula", "i", "--at", "3"], "--var k=3 gives"),
                (["formula", "i", "--warp", "99999999"], "the launch has"),
                (["offset", "i"], "belongs to a formula"),
                (["offset", "--var", "k=3"], "belongs to a formula")):
            with self.subTest(" ".join(arguments)):
                self.assertIn(told, self.refuse("explain", *arguments).err_text)


if __name__ == "__main__":
    harness.main()
