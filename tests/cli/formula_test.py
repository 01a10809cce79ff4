"""coalprof formula: formulas, tables of several, and one warp of them drawn."""
import csv
import io
import json
import re
import tempfile

import harness
from documented import arguments_of
from harness import Case
from validate_json import check_document, check_lines

class Sets(Case):
    def test_stand_in_the_first_line_once(self):
        """`sweep.formula` is a column of every data frame; the result that is read back is that of --json."""
        for words, formula in ((("formula", "a[i*k]", "--var", "k=1..2"), "a[i*k]"),
                               (("formula", "a[i*k]", "b[i+k]", "--var", "k=1..2"), "a[i*k]"),
                               (("offset", "--range", "0..1"), "a[i + offset]")):
            with self.subTest(words):
                lines = self.run_ok(*words, "--jsonl").out
                first, *rest = [json.loads(line)["sweep"] for line in lines.splitlines()]
                self.assertEqual(first["formula"], formula)
                self.assertFalse(any("formula" in sweep for sweep in rest))
                again = harness.without_time(self.run_ok("report", "-", "--json", stdin=lines).json)
                self.assertEqual(again["sweep"], self.run_ok(*words, "--json").json["sweep"])
                self.assertEqual(self.run_ok("report", "-", "--jsonl", stdin=lines).out, lines)

    def test_come_in_every_format_with_the_settings_in_which_they_differ(self):
        words = ("formula", "i*k", "store: t[i]", "--name", "row", "--name", "tile", "--var", "k=1..2")
        self.assertEqual(len(check_lines(self.run_ok(*words, "--jsonl").out)), 3)
        document = check_document(self.run_ok(*words, "--json").out)
        self.assertEqual([point["parameters"] for point in document["points"]],
                         [{"formula": "row", "k": 1, "op": "load"}, {"formula": "row", "k": 2, "op": "load"},
                          {"formula": "tile", "op": "store"}])
        self.assertEqual(document["sweep"]["formula.row"], "i*k")
        rows = list(csv.DictReader(io.StringIO(self.run_ok(*words, "--format", "csv").out_text)))
        self.assertEqual([(row["name"], row["formula_name"], row["k"], row["op"], row["formula"]) for row in rows],
                         [("formula=row k=1", "row", "1", "load", "i*k"), ("formula=row k=2", "row", "2", "load", "i*k"),
                          ("formula=tile", "tile", "", "store", "store: t[i]")])
        swept = self.run_ok(*words, "--dlcm", "ca,cg", "--machine", "h200,a100-80", "--json").json["points"]
        self.assertEqual(len(swept), 3 * 2 * 2)

    def test_of_the_documentation_run(self):
        with open(f"{harness.SOURCE}/docs/formulas.json", encoding="utf-8") as file:
            saved = json.load(file)["formula"]
        self.assertGreaterEqual(len(saved), 10)
        for one in saved:
            with self.subTest(one["name"]):
                self.run_ok("formula", *arguments_of(one), "--backend", "model")


class Statements(Case):
    def test_of_c_are_refused_with_the_command_that_takes_them(self):
        for text in ("if (i < n) c[i] = a[i];", "for (int k = 0; k < 9; k++) s += a[k];", "const float* p = a; p[i]",
                     "#define N 3\na[N]", "p[i].x", "*p", "__ldg(&a[i])", "struct P { float x; };", "{ a[i]; }"):
            with self.subTest(text):
                self.assertIn("coalprof kernel --code", self.refuse("formula", text).err_text)

    def test_take_indices_from_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            even = harness.write_npy(f"{folder}/even.npy", [2 * k for k in range(16384)])
            small = harness.write_npy(f"{folder}/small.npy", [k % 256 for k in range(16384)], "|u1", version=2)
            for what, sectors in (("iota", 4), ("random", 31.8), ("0", 1), (f"@{even}", 8), (f"@{small}", 4)):
                point, = self.run_ok("formula", "y[i] = x[col[i]]", "--array",
                                     f"col={what}" if "@" in what else f"col=i32[16384]={what}",
                                     "--size", "64KiB", "--json").json["points"]
                of_x = point["instructions"][1]
                self.assertEqual(of_x["array"], "x")
                self.assertAlmostEqual(of_x["predicted"]["load_sectors_per_request"], sectors, delta=0.1)
            short = harness.write_npy(f"{folder}/short.npy", [1, 5, 3])
            self.assertIn("out of range (3)",
                          self.refuse("formula", "y[i] = x[col[i]]", "--array", f"col=@{short}", "--size", "16B").err_text)

    def test_label_accesses_as_they_were_typed(self):
        table = self.run_ok("formula", "s += a[y][x] + a[y+1][x]; c[i*3] = 1 if i < 8", "--array", "a=f32[64][2048]",
                            "--block", "32x2", "--grid", "64x4", "--backend", "model").out_text
        for label in ("load a[y][x] ", "load a[y+1][x] ", "store c"):
            self.assertIn(label, table)

    def test_know_vectors_by_their_width(self):
        for name, sectors in (("u8x2", 2), ("u16x2", 4), ("f16x4", 8), ("u8x8", 8), ("f16x8", 16), ("bf16x8", 16),
                              ("u8x16", 16)):
            with self.subTest(name):
                (point,) = self.run_ok("formula", f"load.{name}: a[i]", "--json").json["points"]
                self.assertEqual(point["predicted"]["load_sectors_per_request"], sectors)

    def test_take_32_bytes_from_10_0_on(self):
        wide = self.run_ok("formula", "load.f32x8: a[i]", "--machine", "b200", "--json").json
        self.assertEqual(wide["points"][0]["predicted"]["load_sectors_per_request"], 32)
        self.assertEqual(wide["warnings"], [])
        old = self.run_ok("formula", "load.f32x8: a[i]", "--machine", "h200", "--backend", "model", "--json").json
        self.assertEqual([warning["code"] for warning in old["warnings"]], ["W-IMPOSSIBLE"])

    def test_say_how_fortran_is_written(self):
        for text in ("s += a(i,j)", "v(i,j) = u(i-1,j)", "a(i,j)"):
            self.assertIn("=f32(1024,1024)", self.refuse("formula", text).err_text)
        self.assertIn("begins with element 1", self.refuse("formula", "x(i,1)", "--array", "x=f32(9,9)").err_text)


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
        self.assertEqual([point["predicted"]["load_lines"] for point in points], [524288, 524288])


class CommandLines(Case):
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
        self.assertIn("there is no formula", self.refuse("formula").err_text)
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


class Arrays(Case):
    """Launches that are not given follow the arrays; those that are given must not leave them."""
    def threads(self, *words):
        (point,) = self.run_ok("formula", *words, "--json").json["points"]
        return point["predicted"]["useful_bytes"] // 4

    def test_decide_launches_that_are_not_given(self):
        images = "--array", "x=f32[32,64,56,56]"
        for formula, array, threads in (("x[i]", ("--array", "x=f32[100]"), 100), ("x[0,i,0,0]", images, 64), ("x[i,0,0,0]", images, 32),
                                        ("x[0,i*2,0,0]", images, 32), ("x[3][i+60][0][0]", images, 4),
                                        ("x[i] if i < 7", ("--array", "x=f32[5]"), 5), ("x[9 - i]", ("--array", "x=f32[100]"), 10),
                                        # An array that is large enough: 64 MiB.
                                        ("x[i]", ("--array", "x=f32[99999999]"), 1 << 24)):
            with self.subTest(formula):
                self.assertEqual(self.threads(formula, *array), threads)
        self.assertEqual(self.threads("load: x[i*k]", "--array", "x=f32[1000]", "--var", "k=10"), 100)

    def test_are_not_left_by_launches_that_are_given(self):
        for words in (("x[i]", "--array", "x=f32[100]", "--size", "1KiB"), ("x[0,i,0,0]", "--array", "x=f32[32,64,56,56]", "--grid", "1"),
                      ("x[i + 100]", "--array", "x=f32[100]"), ("x[0,64,0,i]", "--array", "x=f32[32,64,56,56]")):
            with self.subTest(words):
                self.assertIn("out of range", self.refuse("formula", *words).err_text)
        self.assertEqual(self.threads("x[i]", "--array", "x=f32[256]", "--size", "1KiB"), 256)
        self.assertEqual(self.threads("x[i] if i < 100", "--array", "x=f32[100]", "--size", "1KiB"), 100)

    def test_that_a_thread_leaves_and_the_next_do_not_are_left_by_mistake(self):
        rows = "--array", "A=f32[512][512]"
        for words, fault, hint in ((("A[i/512][i%512-1]", *rows), "'i%512-1' is negative (-1), first in thread 0 ", "A[i/512][i%512-1] if i%512-1 >= 0"),
                                   (("A[i/512][i%512+1]", *rows), "'i%512+1' is out of range (512), first in thread 511 ",
                                    "511: switch such threads off: A[i/512][i%512+1] if i%512+1 < 512"),
                                   (("A[i/512][i%512+1]", *rows, "--size", "1MiB"), "first in thread 511 ", "off: A[i/512][i%512+1] if i%512+1 < 512"),
                                   (("a[i] = b[hash(i, 9)]", "--array", "b=f32[4]"), "'hash(i, 9)' is out of range", "if hash(i, 9) < 4"),
                                   (("a[i+5]", "--array", "a=f32[5]"), "first in thread 0 ", "take a smaller one")):
            with self.subTest(words):
                told = self.refuse("formula", *words).err_text
                self.assertIn(fault, told)
                self.assertIn(hint, told)
                self.assertNotIn("decides", told)
        self.assertIn("100 threads, as --array decides: the index 'i+900' is out of range (1000), first in thread 100",
                      self.run_ok("formula", "a[i+900]", "--array", "a=f32[1000]").err_text)
        self.assertEqual(self.run_ok("formula", "a[i]", "--array", "a=f32[1000]").err_text, "")

    def test_get_all_of_their_indices(self):
        for formula, array, written in (("A[i]", "A=f32[512][256]", "A[i/256][i%256]"), ("A", "A=f32[512][256]", "A[i/256][i%256]"),
                                        ("s += A[i*2]", "A=f32[512][256]", "A[(i*2)/256][(i*2)%256]"),
                                        ("A[i] = 1", "A=f32[8][8][4]", "A[i/32][i/4%8][i%4]"), ("x", "x=f32[9]", "x[i]"),
                                        ("x(i)", "x=f32(8,4)", "x(i%8 + 1, i/8 + 1)")):
            with self.subTest(formula):
                self.assertIn(written + "\n", self.refuse("formula", formula, "--array", array).err_text)
                self.run_ok("formula", written, "--array", array)

    def test_are_as_large_as_patterns_without_arrays(self):
        formula = self.run_ok("formula", "i*4", "--json").json
        stride = self.run_ok("stride", "--range", "4", "--json").json
        self.assertEqual(formula["sweep"]["size_bytes"], stride["sweep"]["size_bytes"])


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

    def test_of_a_built_in_as_a_formula_count_alike(self):
        for at in (0, 5, 11):
            own = self.explained("i + k", "--var", f"k={at}", "--op", "rmw")
            built_in = check_document(self.run_ok("explain", "offset", "--at", str(at), "--json").out)
            for one, other in zip(own["explanation"]["accesses"],
                                  built_in["explanation"]["accesses"], strict=True):
                for key in ("instructions", "lanes", "lines", "cause", "why", "mend"):
                    self.assertEqual(one[key], other[key])

    def test_are_refused_where_something_is_missing_or_too_much(self):
        for arguments, told in (
                (["formula"], "there is no formula"),
                (["formula", "i*k"], "unknown name 'k'"),
                (["formula", "i*k", "--var", "k=1..3"], "one value is needed"),
                (["formula", "i - 1"], "first in thread 0"),
                (["formula", "i", "--at", "3"], "--var k=3 gives"),
                (["formula", "i", "--warp", "99999999"], "the launch has"),
                (["offset", "i"], "no second argument"),
                (["offset", "--var", "k=3"], "does not take it")):
            with self.subTest(" ".join(arguments)):
                self.assertIn(told, self.refuse("explain", *arguments).err_text)


if __name__ == "__main__":
    harness.main()
