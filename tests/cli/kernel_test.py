"""`coalprof kernel`: PTX, its launch and its arguments, and what is said where they do not fit."""
import os
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import unittest

import harness
from harness import SOURCE, Case, write_npy

NATURAL = os.path.join(SOURCE, "tests", "data", "kernels", "natural.ptx")
SAXPY = ("saxpy4", "--grid", "65536", "--block", "256")

# y[i] = x[col[i]] for i < n
GATHER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry gather(.param .u64 .ptr.global x, .param .u64 .ptr.global col,
                       .param .u64 .ptr.global y, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<12>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 bra DONE;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [col]; ld.param.u64 %rd3, [y];
  mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd2, %rd4; ld.global.u32 %r6, [%rd5];
  mul.wide.u32 %rd6, %r6, 4; add.s64 %rd7, %rd1, %rd6; ld.global.f32 %r7, [%rd7];
  add.s64 %rd8, %rd3, %rd4; st.global.f32 [%rd8], %r7;
DONE: ret;
}
"""
# A and B by one line.
PRODUCT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry mm(.param .u64 A, .param .u64 B)
{
  .reg .b32 %r<8>; .reg .b64 %rd<12>;
  mov.u32 %r1, %tid.y; ld.param.u64 %rd1, [A]; ld.param.u64 %rd2, [B];
  .loc 1 42 1
  mad.wide.u32 %rd3, %r1, 4096, %rd1; ld.global.f32 %r2, [%rd3]; ld.global.f32 %r3, [%rd2];
  ret;
}
.file 1 "/src/mm.cu"
"""
PARTIAL = 4


def codes_of(document):
    """Of warnings, less that of bounds, which most of the calls below do not give."""
    return [one["code"] for one in document["warnings"] if one["code"] != "W-BOUNDS"]


LAUNCH = ("--grid", "4", "--block", "64", "--arg", "n=256")


class Kernel(Case):
    def predict(self, *arguments, stdin=GATHER, code=harness.DONE):
        return self.check(harness.run("kernel", "-", *arguments, "--json", stdin=stdin), code).json

    def test_gives_the_kernel_and_its_lines_under_the_keys_of_run(self):
        document = self.run_ok("kernel", NATURAL, *SAXPY, "--json").json
        kernel, *lines = document["points"]
        self.assertEqual({"kernel": "saxpy4", "grid": "65536", "block": "256"},
                         {key: kernel["parameters"][key] for key in ("kernel", "grid", "block")})
        # 65,536 blocks of 8 warps; 16 bytes a lane are 16 sectors a warp, three times.
        self.assertEqual(kernel["predicted"]["load_requests"], 2 * 524288)
        self.assertEqual(kernel["predicted"]["load_sectors"], 16 * 2 * 524288)
        self.assertEqual({line["parameters"]["op"] for line in lines}, {"load", "store"})
        self.assertTrue(all(line["parameters"]["line"].startswith("kernels.cu:") for line in lines))
        self.assertEqual(document["sweep"]["pattern"], "kernel")

    # Counts to 2^64.
    ENDLESS = (".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<2>;\n"
               ".reg .b64 %rd<2>;\nmov.u64 %rd1, 0;\nAGAIN:\nadd.s64 %rd1, %rd1, 1;\n"
               "setp.ne.u64 %p1, %rd1, 0;\n@%p1 bra AGAIN;\nret;\n}\n")
    FOR_EVER = ("--grid", "1", "--block", "32", "--max-steps", "9000000000000000")

    def test_gives_up_after_a_time_and_says_what_allows_more(self):
        ran = self.refuse("kernel", "-", *self.FOR_EVER, "--time-limit", "1", stdin=self.ENDLESS)
        self.assertIn("--time-limit", ran.err_text)

    def test_gives_up_between_short_blocks_and_after_the_execution(self):
        begin = self.ENDLESS.split("mov.u64")[0].replace(".visible .entry k()", '.file 1 "a.cu"\n.visible .entry k(.param .u64 x)')
        # Later blocks load what earlier ones stored, so that each is executed: 2^30 of them.
        chain = begin + "ld.param.u64 %rd1, [x];\natom.global.add.u64 %rd1, [%rd1], 8;\nst.global.u64 [%rd1], %rd1;\nret;\n}\n"
        # Each line is a point of its own.
        lines = begin + "ld.param.u64 %rd1, [x];\n" + "".join(
            f".loc 1 {i} 0\nst.global.u64 [%rd1+{8 * i}], %rd1;\n" for i in range(1, 14001)) + "ret;\n}\n"
        # Which lines each store goes to takes 64 KiB.
        for text, *launch in ((chain, "--all", "--grid", str(1 << 30)), (lines, "--grid", "8", "--memory-limit", "4GiB")):
            ran = self.refuse("kernel", "-", *launch, "--block", "32", "--time-limit", "1", stdin=text)
            self.assertIn("--time-limit", ran.err_text)

    def test_counts_an_atomic_at_one_address_as_a_formula_does(self):
        text = self.ENDLESS.split("mov.u64")[0].replace("k()", "k(.param .u64 x)") + (
            ".reg .b32 %r<2>;\nld.param.u64 %rd1, [x];\nmov.u32 %r1, INDEX;\nmad.wide.u32 %rd1, %r1, 4, %rd1;\n"
            "red.global.add.u32 [%rd1], 1;\nret;\n}\n")
        launch = ("--grid", "4", "--block", "32x2", "--json")
        # ptxas sees the block's number to be the same in all lanes, not the thread's row.
        for ptx, index, sectors in (("%ctaid.x", "bid", 8), ("%tid.y", "tid.y", 256)):
            for ran in (self.run_ok("kernel", "-", *launch, stdin=text.replace("INDEX", ptx)),
                        self.run_ok("formula", f"reduce.u32: a[{index}]", *launch)):
                self.assertEqual(ran.json["points"][0]["predicted"]["reduce_sectors"], sectors)

    def test_reads_no_device_without_an_end(self):
        for device in ("/dev/zero", "/dev/urandom"):
            for command in (("kernel", "-", *LAUNCH, "--arg", f"col=@{device}"), ("kernel", device), ("report", device)):
                self.assertIn("device", self.refuse(*command, stdin=GATHER).err_text)

    @unittest.skipIf(harness.IS_SANITIZED, "sanitizers need memory of their own")
    def test_gives_up_past_a_size_of_memory_and_says_what_allows_more(self):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(1 << 29)  # zeros, which take no place on the disk
            ran = self.refuse("kernel", "-", *LAUNCH, "--arg", f"col=@{file.name}", "--memory-limit", "64MiB",
                              stdin=GATHER)
        self.assertIn("--memory-limit 256MiB", ran.err_text)  # four times as much

    def test_says_how_far_it_is_where_there_is_no_terminal(self):
        ran = self.refuse("kernel", "-", *self.FOR_EVER, "--time-limit", "2", stdin=self.ENDLESS,
                          env=harness.environment(COALPROF_NO_PROGRESS=None))
        self.assertRegex(ran.err_text.splitlines()[0], r"^coalprof: 0 of 1 blocks executed, [\d.]+ m?s$")

    def test_blocks_that_leave_at_once_take_hardly_any_time(self):
        # Blocks load 1,000 times, of which traces hold a part.
        text = (".version 8.0\n.target sm_90\n.address_size 64\n"
                ".visible .entry k(.param .u64 x, .param .u32 mask)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n"
                ".reg .b64 %rd<9>;\n.reg .f32 %f<3>;\nld.param.u64 %rd1, [x];\nld.param.u32 %r1, [mask];\n"
                "mov.u32 %r2, %ctaid.x;\nand.b32 %r3, %r2, %r1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra DONE;\n"
                "mov.u32 %r4, %tid.x;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r5, 0;\n"
                "LOOP:\nld.global.f32 %f1, [%rd3];\nadd.s64 %rd3, %rd3, 128;\nadd.u32 %r5, %r5, 1;\n"
                "setp.lt.u32 %p2, %r5, 1000;\n@%p2 bra LOOP;\nDONE:\nret;\n}\n")
        def time(grid, mask):
            return self.predict("--grid", str(grid), "--block", "32", "--arg", f"mask={mask}", stdin=text)["points"][0][
                "predicted"]["duration_seconds"]
        # Every other one; all but the first 1,024.
        for without, with_idle in (((5280, 0), (10560, 1)), ((1024, 0), (10240, 2**32 - 1024))):
            ratio = time(*with_idle) / time(*without)
            self.assertGreater(ratio, 0.9)
            self.assertLess(ratio, 1.3)

    def test_follows_an_index_array_of_numpy_of_any_type(self):
        # Every second element: 32 lanes over 256 bytes, 8 sectors; 8 warps.
        typed = GATHER.replace("gather(", "_Z6gatherPKfPKiPfj(")
        even = list(range(0, 512, 2))
        with tempfile.TemporaryDirectory() as folder:
            def given(kind, values, how="@"):
                return *LAUNCH, "--arg", f"col={how}" + write_npy(f"{folder}/col.npy", values, kind)
            for kind, how, stdin in (("<i4", "@", GATHER), ("<i8", "@", typed), ("<f8", "@", typed),
                                     ("<i8", "i32[256]=@", GATHER)):
                with self.subTest(kind=kind, how=how):
                    points = self.predict(*given(kind, even, how), stdin=stdin)["points"]
                    self.assertEqual(points[0]["predicted"]["load_sectors"], 8 * (4 + 8))
            for kind, odd, name in (("<i8", 1 << 40, "int64"), ("<f4", 2.5, "float32"), ("<i8", -1 << 32, "int64")):
                with self.subTest(kind=kind, odd=odd):
                    refused = self.refuse("kernel", "-", *given(kind, even[:255] + [odd]), stdin=typed).err_text
                    for part in (name, "int32", "element 255"):
                        self.assertIn(part, refused)
            # Of a kernel without types the loads say how wide elements are at most.
            refused = self.refuse("kernel", "-", *given("<i8", even), stdin=GATHER).err_text
            self.assertIn("int64", refused)
            self.assertIn("--arg col=i32[256]=@", refused)

    def test_says_that_contents_were_needed_and_not_given(self):
        document = self.predict(*LAUNCH)
        self.assertEqual(codes_of(document), ["W-CONTENTS"])
        given = self.predict(*LAUNCH, "--arg", "col=i32[256]=iota")
        self.assertEqual(codes_of(given), [])

    def test_says_once_which_bounds_are_not_checked(self):
        col = "--arg", "col=i32[256]=iota"
        for launch in (LAUNCH, ("--grid", "2,4", "--block", "64", "--arg", "n=256")):
            (note,) = self.predict(*launch, *col)["warnings"]
            self.assertEqual((note["code"], note["point"]), ("W-BOUNDS", None))
            self.assertIn(" x, y", note["text"])
        shown = self.run_ok("kernel", "-", *LAUNCH, *col, stdin=GATHER).out_text
        (line,) = (line for line in shown.splitlines() if "W-BOUNDS" in line)
        self.assertLessEqual(len(line), 80)
        sizes = "--arg", "x=f32[256]", "--arg", "y=f32[256]"
        self.assertEqual(self.predict(*LAUNCH, *col, *sizes)["warnings"], [])

    def test_tells_an_index_that_leaves_its_array(self):
        stopped = *LAUNCH, "--arg", "col=i32[256]=iota", "--arg", "x=f32[200]"
        document = self.predict(*stopped, code=PARTIAL)
        fault = document["findings"][0]
        self.assertEqual(fault["cause"], "fault")
        self.assertIn("thread (8, 0, 0) of block (3, 0, 0)", fault["text"])  # 200 = 3 * 64 + 8
        self.assertIn("element 200 of array x", fault["text"])
        # All blocks leave it, and the first lane of each is the first: that of block 0 is named.
        document = self.predict("--grid", "400", "--block", "256", "--arg", "n=102400", "--arg",
                                "col=i32[102400]=random", "--arg", "x=f32[4]", code=PARTIAL)
        self.assertIn("thread (0, 0, 0) of block (0, 0, 0)", document["findings"][0]["text"])

    def test_a_launch_that_a_gpu_stops_has_no_time_and_keeps_no_budget(self):
        stopped = *LAUNCH, "--arg", "col=i32[256]=iota", "--arg", "x=f32[200]"
        document = self.predict(*stopped, code=PARTIAL)
        self.assertEqual(document["status"], "partial")
        self.assertIsNone(document["points"][0]["predicted"]["duration_seconds"])
        self.assertIn("has a fault", document["points"][0]["failure"])
        table = self.check(harness.run("kernel", "-", *stopped, stdin=GATHER), PARTIAL).out_text
        self.assertLess(table.index("has a fault"), table.index("whole kernel"))
        budget = "--budget", "load_requests <= 1000000"
        self.check(harness.run("kernel", "-", *stopped, *budget, stdin=GATHER), PARTIAL)
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "k.json")
            self.check(harness.run("kernel", "-", *stopped, "-q", "-o", result, stdin=GATHER), PARTIAL)
            self.check(harness.run("check", result, *budget), PARTIAL)
        # Of several launches the others have their times.
        both = self.predict("--grid", "4", "--block", "64", "--arg", "n=128,256", *stopped[6:], code=PARTIAL)["points"]
        self.assertEqual(["failure" in one for one in both], [False, True])
        self.assertIsNotNone(both[0]["predicted"]["duration_seconds"])

    def test_a_fault_names_its_line_wherever_it_is_said(self):
        body = ".loc 1 7 1\nmul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3];"
        several = OfOneBody().kernel_of(body)
        launch = "--grid", "2", "--arg", "p=u32[64]"
        swept = self.check(harness.run("kernel", "-", "k", *launch, "--block", "64,128", "--best", "duration_seconds",
                                       "--json", stdin=several), PARTIAL).json
        self.assertEqual([one["point"] for one in swept["findings"]], ["k.cu:7 of k block=128"])
        self.assertNotIn("duration_seconds", swept["verdicts"][0]["text"])
        explain = "explain", "kernel", "-", *launch, "--block", "128", "--line", "7"
        drawn = self.check(harness.run(*explain, stdin=several), PARTIAL).out_text
        self.assertNotIn("Nothing to fix", drawn)
        self.assertRegex(drawn, r"fix +Check the index")

    def test_draws_the_warp_that_faults(self):
        def explained(body, *arguments):
            ptx = OfOneBody().kernel_of(".loc 1 7 1\nmul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;" + body)
            explain = "explain", "kernel", "-", "--grid", "1", "--block", "96", "--line", "7", *arguments, "--json"
            return self.check(harness.run(*explain, stdin=ptx), PARTIAL)
        # Thread 70 of 96 is lane 6 of the third warp, which the two before it are not like.
        beyond = explained("ld.global.u32 %r2, [%rd3];", "--arg", "p=u32[70]").json
        self.assertEqual(beyond["status"], "partial")
        (access,) = beyond["explanation"]["accesses"]
        self.assertEqual([access["lanes"][lane]["byte"] for lane in (0, 6)], [4 * 64, 4 * 70])
        self.assertEqual(access["cause"], "fault")
        self.assertIn("thread (70, 0, 0)", access["why"])
        # No lane of the load was served, and the store beside it is sound.
        null = explained("mov.u64 %rd4, 64; ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd3], %r2;").json
        faulty, sound = null["explanation"]["accesses"]
        self.assertIn("null pointer", faulty["why"])
        self.assertEqual((sound["instructions"][0]["kind"], sound["cause"]), ("store", "contiguous"))
        # Between elements nothing can be drawn.
        self.assertIn("no multiple of the 4 bytes", explained("ld.global.u32 %r2, [%rd3+1];", "--arg", "p=u32[99]").err_text)

    def test_counts_by_the_rules_of_any_machine(self):
        readings = {}
        for machine in ("c1060", "c2050", "h200"):
            points = self.run_ok("kernel", NATURAL, "saxpy4", "--grid", "32768", "--block", "256",
                                 "--machine", machine, "--json").json["points"]
            readings[machine] = points[0]["predicted"]
        self.assertNotIn("load_transactions", readings["h200"])
        # 16 bytes a lane: 512 bytes a warp are four lines of 128 bytes, for each of two loads.
        self.assertEqual(readings["c2050"]["load_transactions"], 4 * 2 * 262144)
        self.assertEqual(readings["c1060"]["load_transaction_bytes"], 512 * 2 * 262144)

    def test_lists_kernels_with_the_types_of_their_parameters(self):
        listed = self.run_ok("kernel", NATURAL, "--list").out_text
        self.assertEqual(len(listed.splitlines()), 24)
        self.assertIn("grid_stride: 0 (float const*), 1 (float*), 2 (int)", listed)
        two = GATHER.replace("gather(", "_Z5scaleIfLi4EEvPT_(") + GATHER[GATHER.index(".visible"):].replace(
            "gather(", "_Z5scaleIdLi3EEvPT_(")
        names = [line.split(":")[0] for line in self.run_ok("kernel", "-", "--list", stdin=two).out_text.splitlines()]
        self.assertEqual(names, ["scale<float, 4>", "scale<double, 3>"])
        self.run_ok("kernel", "-", "scale<float, 4>", *LAUNCH, stdin=two)

    def test_compares_all_that_an_expression_fits(self):
        ran = self.run_ok("kernel", NATURAL, "transpose_.*", "--grid", "256x256", "--block", "32x8", "--json")
        self.assertEqual([one["parameters"]["kernel"] for one in ran.json["points"]],
                         ["transpose_naive", "transpose_tile"])

    def test_finds_a_kernel_by_a_regular_expression(self):
        found = self.run_ok("kernel", NATURAL, "^saxpy4\\(.*float4", *SAXPY[1:], "--json").json
        self.assertEqual(found["points"][0]["parameters"]["kernel"], "saxpy4")

    def test_has_no_empty_cell_in_the_row_of_the_kernel(self):
        table = self.run_ok("kernel", NATURAL, "column_pack", "--grid", "64", "--block", "256").out_text
        row = next(line for line in table.splitlines() if line.startswith("whole kernel "))
        self.assertNotRegex(row, r"n/a|\ball\b")

    def test_rows_of_lines_say_what_concerns_them_and_leave_the_rest_empty(self):
        table = self.run_ok("kernel", NATURAL, "transpose_tile", "--grid", "256x256", "--block", "32x8").out_text
        self.assertNotIn("n/a", table)
        load = next(line for line in table.splitlines() if "shared_load" in line)
        self.assertRegex(load, r" t +~0.00 +1$")  # of the cost and one pass for each request

    def test_calls_of_an_inlined_function_are_one_line(self):
        ptx = HEADER + ('.visible .entry k(.param .u64 p)\n{ .reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n'
                        '.loc 1 3 1, function_name $n, inlined_at 1 20 1\nld.global.u32 %r1, [%rd1];\n'
                        '.loc 1 3 1, function_name $n, inlined_at 1 21 1\nld.global.u32 %r2, [%rd1];\nret; }\n'
                        '.file 1 "k.cu"\n.section .debug_str { $n: .b8 110, 0 }\n')
        self.assertEqual(len(self.predict("--grid", "1", "--block", "32", stdin=ptx)["points"]), 2)

    def test_sweeps_launches_and_names_the_best(self):
        swept = self.run_ok("kernel", "-", "--grid", "4", "--block", "32..128*2", "--arg", "n=64,128",
                            "--arg", "col=i32[512]=iota", "--machine", "h200,c2050",
                            "--best", "load_requests", "--json", stdin=GATHER).json
        self.assertEqual(len(swept["points"]), 3 * 2 * 2)
        # 64 elements are two warps with two loads each, whatever the block.
        self.assertEqual([point["predicted"]["load_requests"] for point in swept["points"]
                          if point["parameters"]["n"] == 64 and point["parameters"]["machine"] == "h200"], [4, 4, 4])
        self.assertEqual(swept["points"][0]["name"], "gather block=32 n=64 machine=h200")
        blocks = self.run_ok("kernel", NATURAL, "transpose_naive", "--grid", "2048x2048/block", "--block", "32x8,8x32",
                             "--best", "store_sectors", "--json").json
        self.assertEqual(blocks["verdicts"][0]["best"], [{"kernel": "transpose_naive", "grid": "256x64", "block": "8x32"}])

    def test_numbers_step_together(self):
        points = self.run_ok("kernel", NATURAL, "mod_store", "--grid", "4", "--block", "64", "--arg", "2,3=64..128*2",
                             "--json").json["points"]
        self.assertEqual([(one["parameters"]["2"], one["parameters"]["3"]) for one in points], [(64, 64), (128, 128)])

    def test_a_table_names_the_kernel_first(self):
        table = self.run_ok("kernel", NATURAL, "mod_stor", "--grid", "4", "--block", "64", "--arg", "2=64,72", "--arg",
                            "3=64").out_text
        self.assertIn("Same for all rows: kernel mod_store", table)

    def test_saves_addresses_that_give_the_same_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "k.txt")
            lines = self.run_ok("kernel", NATURAL, "column_pack", "--grid", "1", "--block", "64",
                                "--addresses", file, "--json").json["points"][1:]
            warps = self.run_ok("warps", file, "--json").json["points"]
        for key in ("load_sectors", "store_sectors"):
            self.assertEqual(sum(one["predicted"].get(key) or 0 for one in lines),
                             sum(one["predicted"].get(key) or 0 for one in warps))

    def test_writes_the_result_though_addresses_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = self.check(harness.run("kernel", NATURAL, *SAXPY, "--addresses", "/dev/full", "-o", f"{folder}/r.json"),
                             harness.OUTPUT)
            self.assertIn("whole kernel", ran.out_text)
            self.assertIn("/dev/full", ran.err_text)
            self.run_ok("report", f"{folder}/r.json")

    def test_of_latex_and_markdown_begin_no_line_with_a_command_of_a_log(self):
        text = GATHER.replace("gather(", "k(") + '.file 1 "/a/::error::x.cu"\n'
        text = text.replace("ld.global.f32 %r7", ".loc 1 3 1\n ld.global.f32 %r7")
        for form in ("latex", "md"):
            with self.subTest(form=form):
                out = self.check(harness.run("kernel", "-", *LAUNCH, "--format", form, stdin=text), harness.DONE).out_text
                self.assertIn("error", out)
                self.assertEqual([line for line in out.splitlines() if line.lstrip().startswith(("::", "##"))], [])

    def test_says_what_share_of_the_limit_each_line_causes(self):
        def costs(name, *launch):
            kernel, *lines = self.run_ok("kernel", NATURAL, name, *launch, "--json").json["points"]
            return kernel["estimates"]["limits"], lines, [one["predicted"]["cost_share"] for one in lines]

        limits, lines, shares = costs("transpose_naive", "--grid", "256x256", "--block", "32x8")
        self.assertEqual(limits, ["l2"])
        self.assertEqual([one["parameters"]["op"] for one in lines], ["store", "load"])
        self.assertAlmostEqual(sum(shares), 1)
        # 32 partial sectors a request cost more than the 4 whole ones that are loaded.
        self.assertGreater(shares[0], 0.8)
        low, high = lines[0]["estimates"]["cost_share"]
        self.assertTrue(low < shares[0] < high <= 1)
        # A warp reads a word of each of two rows of A, 4096 bytes apart and thus in one bank: two passes
        # through L1. Of B it reads neighbours in one pass.
        limits, lines, shares = costs("matmul_good", "--grid", "64x64", "--block", "16x16")
        self.assertEqual(limits, ["l1"])
        self.assertEqual([one["parameters"]["array"] for one in lines], ["arg0", "arg1", "arg2"])
        for share, expected in zip(shares, (2 / 3, 1 / 3, 0)):
            self.assertAlmostEqual(share, expected, 2)
        # y[i] += a * x[i] waits for both loads, which are in flight together.
        limits, lines, waits = costs("grid_stride", "--grid", "132", "--block", "256", "--arg", "2=1000000")
        self.assertEqual(limits, ["latency"])
        self.assertTrue(all(0.3 < share < 0.7 for share in waits[:2]), waits)
        _, lines, _ = costs("matmul_good", "--grid", "64x64", "--block", "16x16")
        passes = [one["predicted"]["load_data_wavefronts"] / one["predicted"]["load_requests"] for one in lines[:2]]
        self.assertEqual(passes, [2, 1])
        document = self.run_ok("kernel", NATURAL, "matmul_good", "--grid", "64x64", "--block", "16x16", "--json").json
        whole = document["points"][0]["predicted"]
        self.assertAlmostEqual(whole["l1_passes"] / whole["load_requests"], 1.5, 1)
        found = document["findings"]
        self.assertEqual([(one["cause"], one["point"]) for one in found], [("bank_conflict", lines[0]["name"])])
        self.assertIn("4096 bytes apart", found[0]["text"])
        self.assertGreater(found[0]["saves_seconds"], 0)
        # Its drawing has the same finding, and no line of the cache without that word.
        launch = "matmul_good", "--grid", "64x64", "--block", "16x16", "--array", "arg0"
        explain = "explain", "kernel", NATURAL, *launch, "--line", lines[0]["parameters"]["line"]
        (access,) = self.run_ok(*explain, "--json").json["explanation"]["accesses"]
        self.assertEqual([access[key] for key in ("cause", "why", "mend")], [found[0][key] for key in ("cause", "text", "fix")])
        drawn = self.run_ok(*explain).out_text
        self.assertIn("saves   about", drawn)
        self.assertEqual(drawn.count("line"), len(re.findall(r"cache\s+line", drawn)))
        wide = self.run_ok("kernel", NATURAL, "matmul_good", "--grid", "32x128", "--block", "32x8", "--json").json
        self.assertEqual(wide.get("findings", []), [])

    def test_draws_a_warp_of_a_line(self):
        document = self.run_ok("kernel", NATURAL, "column_pack", "--grid", "4", "--block", "256", "--json").json
        worst = document["points"][1]
        line = worst["parameters"]["line"].split(":")[1]
        drawn = self.run_ok("explain", "kernel", NATURAL, "column_pack", "--grid", "4", "--block", "256",
                            "--line", line, "--op", worst["parameters"]["op"], "--json").json
        self.assertEqual(drawn["explanation"]["accesses"][0]["instructions"][0]["kind"], worst["parameters"]["op"])
        refused = self.refuse("explain", "kernel", NATURAL, "column_pack", "--grid", "4", "--block", "256",
                              "--line", "1")
        self.assertIn("no access of line 1", refused.err_text)

    def test_tells_loads_of_one_line_apart_by_their_arrays(self):
        # s += A[row*N + k] * B[k*N + col] by a block of 1 x 32 threads: lanes walk down A, and share B.
        launch = ("--grid", "1", "--block", "1x32")
        document = self.run_ok("kernel", "-", *launch, "--json", stdin=PRODUCT).json
        sectors = {(one["parameters"]["line"], one["parameters"]["array"]):
                   one["predicted"]["load_sectors_per_request"] for one in document["points"][1:]}
        self.assertEqual(sectors, {("mm.cu:42", "A"): 32, ("mm.cu:42", "B"): 1})
        self.assertEqual([one["point"] for one in document["findings"]], ["mm.cu:42 ld.global.f32 A"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mm.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(PRODUCT)
            explain = ("explain", "kernel", path, *launch, "--line", "42")
            both = self.run_ok(*explain, "--json").json["explanation"]["accesses"]
            self.assertEqual([one["instructions"][0]["array"] for one in both], ["A", "B"])
            drawn = self.run_ok(*explain, "--array", "B").out_text
            self.assertIn("load of B: lane 0 B[0]", drawn.replace("\u00a0", " "))
            self.assertIn("load A, load B", self.refuse(*explain, "--array", "C").err_text)
            for array, code in (("A", 1), ("B", 0)):
                budget = f"load_sectors_per_request <= 4 if array={array}"
                self.check(harness.run("kernel", path, *launch, "-q", "--budget", budget), code)

    def test_pointers_may_share_an_array(self):
        # Stores of y are what col holds for later blocks; were they apart, zeros would be loaded.
        apart = self.predict(*LAUNCH, "--arg", "col=i32[256]=iota")["points"][0]["predicted"]
        shared = self.predict(*LAUNCH, "--arg", "col=i32[256]=iota", "--arg", "x=col", "--arg", "y=col")
        together = shared["points"][0]["predicted"]
        for counter in ("load_sectors", "load_requests", "store_sectors"):
            self.assertEqual(together[counter], apart[counter])
        # One array of 1 KiB is read twice where two were read once.
        self.assertEqual((together["dram_read_bytes"], apart["dram_read_bytes"]), (1024, 2048))
        self.assertIn("no array of its own",
                      self.refuse("kernel", "-", *LAUNCH, "--arg", "x=y", "--arg", "y=x", stdin=GATHER).err_text)

    def test_refuses_what_it_cannot_execute(self):
        for arguments, stdin, part in (
                ((), GATHER, "lacks --arg n (u32)"),
                (("--grid", "4"), GATHER, "lacks --block, --arg n (u32)"),
                (("--grid", "4"), GATHER, "--block 256 --arg n=1000"),
                (("--grid", "4", "--block", "64", "--arg", "n=2048.5"), GATHER, "'2048.5' is no integer"),
                (("--grid", "4", "--block", "64"), GATHER, "lacks --arg n (u32)"),
                (("--grid", "4", "--block", "2048"), GATHER, "--block"),
                (("--grid", "4", "--block", "1024", "--arg", "n=1", "--machine", "c1060"), GATHER, "512"),
                ((*LAUNCH, "--shared", "300KiB"), GATHER, "shared memory"),
                (("--grid", "70000", "--block", "64", "--arg", "n=1", "--machine", "c2050"), GATHER, "65535"),
                (LAUNCH, GATHER.replace("u32 n)", "u32 n)\n.maxntid 32, 1, 1"), "32 threads at most"),
                (LAUNCH, GATHER.replace("u32 n)", "u32 n)\n.reqntid 32"), "--block 32 and no other"),
                (("--grid", "4", "--block", "32", "--arg", "n=1"), GATHER.replace("u32 n)", "u32 n)\n.reqntid 16, 2"),
                 "--block 16x2 and no other"),
                ((*LAUNCH, "--arg", "m=1"), GATHER, "no parameter 'm'"),
                ((*LAUNCH, "--arg", "n"), GATHER, "NAME=VALUE"),
                ((*LAUNCH, "--arg", "x=f33[2]"), GATHER, "f33"),
                ((*LAUNCH, "--arg", "x=f32[2]=ones"), GATHER, "ones"),
                ((*LAUNCH, "--arg", "x=@/nonexistent"), GATHER, "/nonexistent"),
                (("other", *LAUNCH), GATHER, "no kernel 'other'"),
                (("gahter", *LAUNCH), GATHER, "did you mean gather?"),
                ((*LAUNCH, "--arg", "x=4096"), GATHER, "x is a pointer"),
                (("--grid", "4", "--block", "64", "--arg", "n=3000000000"),
                 GATHER.replace(".param .u32 n", ".param .s32 n"), "integer of 32 bits"),
                ((*LAUNCH, "--arg", "x=f32[1M]"), GATHER, "1000000 or 1048576"),
                (("--grid", "4", "--block", "64", "--arg", "n=1k"), GATHER, "1000 or 1024"),
                (("--grid", "4", "--block", "64", "--arg", "n=4,x=5,y=6"), GATHER, "--arg n=4 --arg x=5 --arg y=6"),
                (("--grid", "4", "--block", "64", "--arg", "n=1e10"), GATHER, "at most 4294967295"),
                (("--grid", "4", "--block", "64", "--arg", "n=4,8,x=5"), GATHER, "--arg n=4,8 --arg x=5"),
                (("--grid", "4", "--block", "64", "--arg", "n,x=4,y=6"), GATHER, "--arg n,x=4 --arg y=6"),
                ((*LAUNCH, "--arg", "x=i32"), GATHER, "--arg x=i32[1048576]"),
                ((*LAUNCH, "--arg", "x=f32[]"), GATHER, "number of elements is missing"),
                ((*LAUNCH, "--arg", "x=f32[m*2]"), GATHER, "'m' is neither a number nor"),
                (("--grid", "4", "--block", "64", "--arg", "x=f32[n*2]"), GATHER, "--arg n=4096"),
                (("gathret_all", *LAUNCH), GATHER.replace("gather(", "gather_all_rows("), "mean gather_all_rows?"),
                (("x=4", *LAUNCH), GATHER, "--arg x=4"),
                (("64", *LAUNCH), GATHER, "--grid 128x128"),
                (LAUNCH, GATHER.replace("gather(", "gather\x1b[31m("), "\\x1b' is not expected"),
                (LAUNCH, "\x7fELF\0\0", "no CUDA program" if harness.can_attach() else "no PTX"),
                (LAUNCH, "hello", "neither PTX nor CUDA source"),
                (LAUNCH, GATHER[:400], "ends"),
                (LAUNCH, "", "neither PTX")):
            with self.subTest(part):
                ran = self.refuse("kernel", "-", *arguments, stdin=stdin)
                self.assertIn(part, ran.err_text)
        several = self.refuse("kernel", NATURAL, "--grid", "1", "--block", "32")
        self.assertIn("several kernels", several.err_text)
        self.assertIn(f"coalprof kernel {NATURAL} stencil7 stencil5 --grid", several.err_text)
        self.assertIn("mean transpose_naive, transpose_tile?", self.refuse("kernel", NATURAL, "transpoze").err_text)
        drawn = self.refuse("explain", "kernel", NATURAL, "grid_stride", "--block", "32")
        self.assertEqual(self.refuse("kernel", NATURAL, "grid_stride", "--block", "32").err_text, drawn.err_text)

    def test_takes_counts_as_they_are_computed(self):
        plain = self.predict(*LAUNCH, "--arg", "x=f32[4096]")["points"]
        for x, n in (("64*64", "2.56e2"), ("64x64", "16*16"), ("n*16", "256"), ("n][16", "2.56e2")):
            computed = self.predict("--grid", "4", "--block", "64", "--arg", f"n={n}", "--arg", f"x=f32[{x}]")["points"]
            self.assertEqual(computed, plain)

    def test_takes_the_only_block_that_a_kernel_was_compiled_for(self):
        ptx = GATHER.replace("u32 n)", "u32 n)\n.reqntid 16, 2")
        kernel = self.predict("--grid", "4", "--arg", "n=1", stdin=ptx)["points"][0]
        self.assertEqual(kernel["parameters"]["block"], "16x2")

    def test_refuses_files_that_hold_no_such_array(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = write_npy(f"{folder}/whole.npy", range(256), "<i4")
            with open(whole, "rb") as file:
                content = file.read()
            def written(name, data):
                with open(f"{folder}/{name}", "wb") as file:
                    file.write(data)
                return f"{folder}/{name}"
            for value, part in ((f"@{written('cut.npy', content[:-100])}", "256 elements of 4 bytes, and 231 follow"),
                                (f"i32[10]=@{whole}", "the file holds 256 elements, the array 10"),
                                (f"i32[300]=@{whole}", "--arg col=i32[256]="),
                                (f"@{written('text.cu', b'int x;' * 30)}", "text"),
                                (f"@{written('odd.raw', bytes(1023))}", "1023 bytes"),
                                (f"@{written('none.npy', write_npy(f'{folder}/0.npy', [], '<i4') and b'')}", "no elements"),
                                (f"@{folder}/0.npy", "no elements")):
                with self.subTest(part):
                    self.assertIn(part, self.refuse("kernel", "-", *LAUNCH, "--arg", f"col={value}", stdin=GATHER).err_text)
            for value in (f"@{whole}", f"i32[256]=@{whole}", f"u8[180]=@{folder}/text.cu"):
                self.check(harness.run("kernel", "-", *LAUNCH[:4], "--arg", "n=32", "--arg", f"col={value}", stdin=GATHER), 0)

    def test_takes_a_launch_as_the_source_has_it(self):
        plain = self.run_ok("kernel", NATURAL, "saxpy4", "--grid", "64x2", "--block", "16x16", "--shared", "1KiB", "--json").json
        for words in (("--launch", "<<<dim3(64, 2), {16, 16}, 1024, stream>>>"), ("--grid", "saxpy4<<<64x2,16x16,1024>>>(y, x)")):
            with self.subTest(words):
                self.assertEqual(self.run_ok("kernel", NATURAL, "saxpy4", *words, "--json").json["points"], plain["points"])
        for wrong in (("--launch", "<<<64>>>"), ("--launch", "64,32"), ("--launch", "<<<64,32"), ("--launch", "<<<64,32>>>", "--block", "32"),
                      ("--launch", "<<<n/256,256>>>")):
            with self.subTest(wrong):
                self.assertIn("--grid" if wrong[1].startswith("<<<n") else "--launch", self.refuse("kernel", NATURAL, "saxpy4", *wrong).err_text)
        drawn = ("explain", "kernel", NATURAL, "saxpy4")
        self.assertEqual(self.run_ok(*drawn, "--launch", "<<<64,256>>>").out, self.run_ok(*drawn, "--grid", "64", "--block", "256").out)

    def test_hints_at_what_fits_the_kernel(self):
        """A block that it takes, arrays of its own types, the names that a word fits, a file without its @."""
        limited = GATHER.replace("u32 n)", "u32 n)\n.maxntid 128")
        hint = self.refuse("kernel", "-", "--grid", "4", stdin=limited).err_text
        self.assertIn("--block 128", hint)
        self.assertNotIn("--block 256", hint)
        for symbol, arrays in (("_Z6gatherPKhPKxPfi", ("u8[COUNT]", "i64[COUNT]")), ("_Z6gatherPK6uchar3PKjPfi", ("u8[COUNT]", "u32[COUNT]")),
                               ("_Z6gatherPK8ParticlePKiPfi", ("u8[BYTES]", "i32[COUNT]"))):
            with self.subTest(symbol):
                typed = GATHER.replace("gather(", symbol + "(")
                said = {one["code"]: one["text"] for one in
                        self.predict("--grid", "4", "--block", "64", "--arg", "3=256", stdin=typed)["warnings"]}
                self.assertIn(f"={arrays[0]}", said["W-BOUNDS"])
                self.assertIn(f"={arrays[1]}", said["W-CONTENTS"])
        self.assertIn("did you mean --arg col=@perm.npy?",
                      self.refuse("kernel", "-", *LAUNCH, "--arg", "col=perm.npy", stdin=GATHER).err_text)
        several = "".join(GATHER[GATHER.index(".visible"):].replace("gather(", f"_Z2mmI{t}EvPT_(") for t in "fdi")
        named = self.refuse("kernel", "-", "mm", *LAUNCH, stdin=GATHER + several).err_text
        for name in ("mm<float>", "mm<double>", "mm<int>"):
            self.assertIn(name, named)
        self.assertNotIn("gather", named)
        self.assertIn("stencil7 saxpy4", self.refuse("kernel", NATURAL, "stencil7,saxpy4", *LAUNCH).err_text)
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/a.f90", "w", encoding="ascii") as file:
                file.write("program a\nend program\n")
            self.assertIn("docs/from-code.md", self.refuse("kernel", f"{folder}/a.f90", *LAUNCH).err_text)

    @unittest.skipUnless(harness.can_attach(), "built without CUDA")
    def test_hints_at_an_architecture_whose_code_the_machine_runs(self):
        def program(architecture):  # docs of cupti/attach/cubins.h
            text = GATHER.encode().ljust(-(-len(GATHER) // 8) * 8, b"\0")
            entry = struct.pack("<HHIQIIIIQQQQ", 1, 0x101, 64, len(text), 0, 0, 0, architecture, 0, 0, 0, 0) + text
            return struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(entry)) + entry
        for machine, built_for, arch in (("v100", 90, "sm_75"), ("v100", 80, "sm_75"), ("a100", 90, "sm_80")):
            with self.subTest(machine=machine, built_for=built_for):
                refused = self.refuse("kernel", "-", *LAUNCH, "--machine", machine, stdin=program(built_for)).err_text
                self.assertIn(f"-arch={arch}", refused)
                self.check(harness.run("kernel", "-", *LAUNCH, "--machine", machine, stdin=program(int(arch[3:]))), harness.DONE)

    def test_draws_its_own_launch_where_it_says_how_to_draw_a_line(self):
        launch = ("--grid", "64x64", "--block", "32x8", "--machine", "v100")
        (finding, *_) = self.run_ok("kernel", NATURAL, "transpose_naive", *launch, "--json").json["findings"]
        words = shlex.split(finding["like"])
        self.assertEqual(words[:3], ["kernel", NATURAL, "transpose_naive"])
        drawn = self.run_ok("explain", *words, "--json").json
        self.assertEqual(drawn["meta"]["machine"]["name"], "v100")

    def test_budgets_gate_it_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "k.json")
            self.run_ok("kernel", NATURAL, "column_pack", "--grid", "256", "--block", "256", "-q", "-o", result)
            self.check(harness.run("check", result, "--budget", "load_sectors_per_request <= 8"), 1)
            self.run_ok("check", result, "--budget", "load_sectors_per_request <= 32")


def strided(name, stride_bytes, offsets=(0,)):
    """y[i] = x[i], x in structures of so many bytes, for i < n: a block for 256 of them."""
    loads = "".join(f"ld.global.f32 %r7, [%rd5+{at}];\n" for at in offsets)
    return (f".visible .entry {name}(.param .u64 x, .param .u64 y, .param .u32 n)\n{{\n.reg .pred %p<2>; .reg .b32 %r<9>; "
            ".reg .b64 %rd<9>;\nmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; "
            "mad.lo.s32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 bra DONE;\n"
            f"ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mad.wide.u32 %rd5, %r4, {stride_bytes}, %rd1;\n"
            f"{loads}mad.wide.u32 %rd6, %r4, 4, %rd2; st.global.f32 [%rd6], %r7;\nDONE: ret;\n}}\n")


HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


class Times(Case):
    def test_a_finding_says_what_mending_it_saves(self):
        def of(ptx, *arguments):
            document = self.run_ok("kernel", "-", "--grid", "8192", "--block", "256", "--arg", "n=2097152", *arguments,
                                   "--json", stdin=HEADER + ptx).json
            return document["points"][0]["predicted"], document["findings"][0]
        # 32 bytes of which 4 are read: 64 MiB where 8 would do.
        kernel, one = of(strided("one", 32))
        self.assertEqual(one["kernel_seconds"], kernel["duration_seconds"])
        self.assertGreater(one["saves_seconds"], kernel["duration_seconds"] / 2)
        low, high = one["saves_interval_seconds"]
        self.assertTrue(low < one["saves_seconds"] < high <= kernel["duration_seconds"])
        # What the second and third member lack, the first has brought into L1.
        _, whole = of(strided("whole", 12, (0, 4, 8)))
        self.assertEqual((whole["cause"], whole["saves_seconds"]), ("strided", 0))
        self.assertIn("67 % of these sectors are L1 hits", whole["text"])
        self.assertIn("None is needed", whole["fix"])
        _, unknown = of(strided("one", 32), "--machine", "9.0")  # no board, so no time
        self.assertIsNone(unknown["saves_seconds"])

    def test_many_additions_to_few_words_are_to_be_collected_in_shared_memory(self):
        # 64 numbers a thread, each added to one of 256 words, or all of a thread's at once.
        def kernel(name, adds):
            return (f".visible .entry {name}(.param .u64 x, .param .u64 bins)\n"
                    "{ .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<9>;\n"
                    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 256, %r2;"
                    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [bins]; mov.u32 %r4, 0;\n"
                    "LOOP: mad.lo.u32 %r5, %r4, 262144, %r3; mad.wide.u32 %rd3, %r5, 4, %rd1; ld.global.u32 %r6, [%rd3];"
                    "mul.lo.u32 %r7, %r5, 0x9E3779B1; shr.u32 %r7, %r7, 24; mad.wide.u32 %rd4, %r7, 4, %rd2;"
                    f"add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 64; setp.ge.u32 %p2, %r4, {adds};"
                    "@%p2 red.global.add.u32 [%rd4], %r6; @%p1 bra LOOP; ret; }\n")
        both = HEADER + kernel("each", 0) + kernel("once", 64)
        document = self.run_ok("kernel", "-", "each", "once", "--grid", "1024", "--block", "256", "--json", stdin=both).json
        each, once = (point["predicted"]["duration_seconds"] for point in document["points"])
        self.assertNotIn("not the same work", document["verdicts"][0]["text"])
        (found,) = self.run_ok("kernel", "-", "each", "--grid", "1024", "--block", "256", "--json", stdin=both).json["findings"]
        self.assertIn("in shared memory", found["fix"])
        self.assertAlmostEqual(each - found["saves_seconds"], once, delta=each / 5)

    def test_stores_to_the_same_place_in_each_round_are_no_work_but_a_finding(self):
        def kernel(name, in_loop, behind="", before=""):
            return (f".visible .entry {name}(.param .u64 x, .param .u64 y)\n"
                    "{ .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<9>;\n"
                    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 256, %r2; mov.u32 %r8, 0;"
                    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r4, 0; mad.wide.u32 %rd4, %r3, 4, %rd2;\n"
                    f"{before}\n"
                    "LOOP: mad.lo.u32 %r5, %r4, 32, %r2; mad.wide.u32 %rd3, %r5, 4, %rd1; ld.global.u32 %r6, [%rd3];"
                    "add.u32 %r8, %r8, %r6; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 128; add.u32 %r10, %r2, 1; setp.ge.u32 %p2, %r10, %r4;"
                    f"{in_loop} @%p1 bra LOOP; {behind} ret; }}\n")
        store = "st.global.u32 [%rd4], %r8;"
        before = f".loc 1 5 1\n{store}\n.loc 1 6 1"
        kernels = {"once": ("", store), "set": ("", store, before), "set_each": (store, "", before), "each": (store, ""),
                   "reload": ("ld.global.u32 %r9, [%rd4];" + store, ""),
                   "fewer": ("@%p2 " + store, ""),  # threads stop one by one
                   "moves": (store + "add.s64 %rd4, %rd4, 1048576;", ""), "waits": (store + "bar.sync 0;", ""),
                   "atomic": (store, "red.global.add.u32 [%rd1], %r8;"), "visible": (store.replace("st.", "st.volatile."), "")}
        ptx = HEADER + '.file 1 "k.cu"\n' + "".join(kernel(name, *parts) for name, parts in kernels.items())
        launch = ("--grid", "1024", "--block", "256", "--json")
        seconds, found = {}, {}
        for name in kernels:
            document = self.run_ok("kernel", "-", name, *launch, stdin=ptx).json
            seconds[name] = document["points"][0]["predicted"]["duration_seconds"]
            found[name] = [one for one in document.get("findings", []) if one["cause"] == "repeated_store"]
            stored = document["points"][0]["predicted"]["useful_bytes"]
            self.assertEqual(stored, (128 if name == "moves" else 1) << 20, name)
        self.assertEqual([name for name in kernels if found[name]], ["set_each", "each", "reload", "fewer"])
        self.assertIn("128 stores to each", found["set_each"][0]["text"])
        for name in ("each", "reload"):
            saved = found[name][0]["saves_seconds"]
            self.assertAlmostEqual(saved / (seconds[name] - seconds["once"]), 1, delta=0.15)
        (verdict,) = self.run_ok("kernel", "-", "each", "once", *launch, stdin=ptx).json["verdicts"]
        self.assertNotIn("same work", verdict["text"])

    def test_padding_rows_saves_what_the_padded_kernel_is_faster(self):
        # s += A[row * pitch + k] by blocks of 8 x 32 threads, and B[k * 512 + column].
        kernel = HEADER + (
            ".visible .entry k(.param .u64 A, .param .u64 B, .param .u64 C, .param .u32 pitch)\n"
            "{ .reg .pred %p<3>; .reg .b32 %r<20>; .reg .b64 %rd<12>;\n"
            "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %tid.y;"
            "mad.lo.u32 %r5, %r1, 8, %r2; mad.lo.u32 %r6, %r3, 32, %r4; ld.param.u32 %r7, [pitch]; mul.lo.u32 %r8, %r6, %r7;"
            "ld.param.u64 %rd1, [A]; ld.param.u64 %rd2, [B]; ld.param.u64 %rd3, [C]; mad.wide.u32 %rd4, %r8, 4, %rd1;"
            "mad.wide.u32 %rd5, %r5, 4, %rd2; mad.lo.u32 %r9, %r6, 512, %r5; mad.wide.u32 %rd6, %r9, 4, %rd3; mov.u32 %r10, 0;\n"
            "LOOP: " + "".join(f"ld.global.f32 %r11, [%rd4+{4 * i}]; ld.global.f32 %r12, [%rd5+{2048 * i}];"
                               "fma.rn.f32 %r13, %r11, %r12, %r13;" for i in range(4)) +
            "add.s64 %rd4, %rd4, 16; add.s64 %rd5, %rd5, 8192; add.u32 %r10, %r10, 4; setp.lt.u32 %p1, %r10, 512; @%p1 bra LOOP;"
            "st.global.f32 [%rd6], %r13; ret; }\n")

        def predicted(pitch):
            document = self.run_ok("kernel", "-", "--grid", "64x16", "--block", "8x32", "--arg", f"pitch={pitch}", "--json",
                                   stdin=kernel).json
            return document["points"][0]["predicted"]["duration_seconds"], document.get("findings", [])
        for pitch in (512, 544):
            seconds, (found,) = predicted(pitch)
            self.assertIn(f"{4 * pitch + 32} bytes", found["fix"])
            padded, rest = predicted(pitch + 8)
            self.assertEqual(rest, [])
            self.assertAlmostEqual(found["saves_seconds"] / (seconds - padded), 1, delta=0.15)

    def test_tells_lanes_that_walk_along_their_own_rows_from_scattered_indices(self):
        # y[i] = x[start[i]] + x[start[i] + 1] + ..., as a sparse matrix is read by a thread for each row.
        loop = ("ld.global.u32 %r7, [%rd5]; mad.wide.u32 %rd7, %r7, 4, %rd2; mov.u32 %r8, 0;\n"
                "LOOP: ld.global.u32 %r6, [%rd7]; add.s64 %rd7, %rd7, 4; add.u32 %r8, %r8, 1;"
                "setp.lt.u32 %p1, %r8, 16; @%p1 bra LOOP; st.global.u32 [%rd5], %r6;")
        gather = loop.replace("16; @", "1; @")
        for body, part in ((loop, "warp for each row"), (gather, "Sort or group")):
            kernel = HEADER + strided("k", 4).replace("ld.global.f32 %r7, [%rd5+0];", "").replace(
                "mad.wide.u32 %rd6, %r4, 4, %rd2; st.global.f32 [%rd6], %r7;", body)
            found = self.run_ok("kernel", "-", "--grid", "16", "--block", "256", "--arg", "n=4096", "--arg",
                                "x=i32[4096]=random", "--json", stdin=kernel).json["findings"]
            self.assertIn(part, " ".join(one["fix"] for one in found))

    def test_rows_that_are_no_multiple_of_a_sector_are_to_be_padded(self):
        # out[y][x] = in[y][x - 1] + in[y][x]: only the latter can be mended, if the rows are uneven.
        for columns, is_even in ((500, False), (512, True)):
            kernel = HEADER + (
                ".visible .entry k(.param .u64 in, .param .u64 out)\n{ .reg .b32 %r<12>; .reg .b64 %rd<9>;\n"
                "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %tid.y;"
                "shl.b32 %r5, %r1, 5; add.u32 %r6, %r5, %r2; shl.b32 %r7, %r3, 3; add.u32 %r8, %r7, %r4;"
                f"mad.lo.u32 %r9, %r8, {columns}, %r6; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];"
                "mad.wide.u32 %rd3, %r9, 4, %rd1; mad.wide.u32 %rd4, %r9, 4, %rd2;"
                "ld.global.f32 %r10, [%rd3]; ld.global.f32 %r11, [%rd3+-4]; st.global.f32 [%rd4], %r10; ret; }\n")
            found = self.run_ok("kernel", "-", "--grid", "15x256", "--block", "32x8", "--json", stdin=kernel).json["findings"]
            fix = next(one["fix"] for one in found if one["cause"] == "misaligned")
            self.assertEqual(fix.startswith("None: elements beside each other"), is_even)

    def test_compares_kernels_each_on_its_own_grid(self):
        both = HEADER + strided("far", 128).replace("u32 n)", "u32 n, .param .u32 unused)") + strided("near", 4)
        launch = ("--block", "256", "--arg", "n=262144", "--arg", "unused=1")

        def verdict(*arguments):
            (told,) = self.run_ok("kernel", "-", *arguments, *launch, "--json", stdin=both).json["verdicts"]
            return told
        # By time, which nobody has to ask for; the grid of `near` is larger than needed.
        told = verdict("far", "near", "--grid", "1024", "--grid", "2048")
        self.assertEqual(verdict("far", "near", "--grid", "1024,2048"), told)
        self.assertEqual(told["best"], [{"kernel": "near", "grid": "2048", "block": "256"}])
        self.assertEqual(told["scope"], {"counter": "duration_seconds"})
        self.assertRegex(told["text"], r"The line of far that costs most is far \w+.global.f32 \w")
        blocks = self.run_ok("kernel", "-", "far", "near", "--grid", "1024,512", "--block", "256,512", *launch[2:], "--json",
                             stdin=both).json["points"]
        self.assertEqual([(one["parameters"]["grid"], one["parameters"]["block"]) for one in blocks],
                         [("1024", "256"), ("512", "512")])
        self.assertNotIn("same work", told["text"])
        self.assertEqual(verdict("--best", "--grid", "1024")["best"][0]["kernel"], "near")
        self.assertTrue(verdict("far", "near", "--grid", "1024", "--grid", "16")["text"].startswith("not the same work"))
        self.assertNotIn("same work", verdict("far", "near", "--grid", "1024", "--grid", "1015")["text"])
        # A GPU stops both.
        self.check(harness.run("kernel", "-", "far", "near", "--grid", "1024", *launch, "--arg", "y=f32[4]", stdin=both), 4)
        # Where no time is known, nothing is said to be best.
        unknown = self.run_ok("kernel", "-", "far", "near", *launch, "--grid", "1024", "-m", "9.0", "--json", stdin=both)
        self.assertEqual(unknown.json.get("verdicts", []), [])
        for arguments, part in ((("far", "near", "--grid", "1", "--grid", "2", "--grid", "3"), "3 values for 2 kernels"),
                                (("far", "near", "--grid", "1", "--arg", "m=1"), "no parameter 'm'")):
            self.assertIn(part, self.refuse("kernel", "-", *arguments, *launch, stdin=both).err_text)


class Triton(Case):
    def test_executes_its_idioms_and_names_what_is_not_counted(self):
        path = os.path.join(SOURCE, "tests", "data", "kernels", "triton.ptx")
        document = self.run_ok("kernel", path, "--grid", "8", "--block", "128", "--arg", "2=4096", "--shared", "2048",
                               "--json").json
        kernel = document["points"][0]["predicted"]
        # See the file.
        self.assertEqual([kernel[key] for key in ("load_requests", "load_sectors", "store_requests", "store_sectors",
                                                  "shared_load_requests", "shared_load_wavefronts")],
                         [64, 1024, 32, 512, 32, 128])
        self.assertNotIn("findings", document)
        (warning,) = (one for one in document["warnings"] if one["code"] != "W-BOUNDS")
        self.assertEqual(warning["code"], "W-UNCOUNTED")
        self.assertIn("'cp.async.bulk.tensor.2d", warning["text"])
        arrays = {(one["parameters"]["op"], one["parameters"].get("array")) for one in document["points"][1:]}
        self.assertEqual(arrays, {("load", "arg0"), ("store", "arg1"), ("shared_load", "global_smem")})


class Frameworks(Case):
    """Kernels that Triton, Numba, CuPy and JAX compiled, as Nsight Compute counted their launches on an H100."""

    def predicted(self, name, *options):
        path = os.path.join(SOURCE, "tests", "data", "kernels", name)
        document = self.run_ok("kernel", path, *options, "--machine", "h100", "--json").json
        self.assertEqual(codes_of(document), [])
        return {key: value for key, value in document["points"][0]["predicted"].items()
                if key.split("_", 1)[1] in ("requests", "sectors")}

    def test_of_triton_keep_atomics_that_later_accesses_must_not_overtake(self):
        with tempfile.TemporaryDirectory() as folder:
            bins = write_npy(f"{folder}/bins.npy", [(i * 2654435761 >> 7) % 256 for i in range(200000)], "<i4")
            counted = self.predicted("triton_histogram.ptx", "--grid", "391", "--block", "128", "--shared", "4096",
                                     "--arg", f"0=@{bins}", "--arg", "2=200000")
        self.assertEqual(counted, {"load_requests": 1563, "load_sectors": 25000, "atomic_requests": 6250,
                                   "atomic_sectors": 158984})

    def test_of_triton_need_the_size_of_dynamic_shared_memory(self):
        path = os.path.join(SOURCE, "tests", "data", "kernels", "triton_histogram.ptx")
        launch = "kernel", path, "--grid", "64", "--block", "128", "--arg", "2=32768", "--arg", "0=i32[32768]=random:3"
        lacking = self.refuse(*launch).err_text
        size = int(re.search(r"--shared (\d+)", lacking)[1])
        counted = self.run_ok(*launch, "--shared", str(size), "--json").json["points"][0]["predicted"]
        self.assertGreater(counted["atomic_requests"], 0)
        small = self.check(harness.run(*launch, "--shared", str(size // 2), "--json"), PARTIAL).json
        self.assertIn(f"--shared {size} or more", small["findings"][0]["fix"])

    def test_of_numba_take_the_numbers_that_an_array_is_passed_as(self):
        numbers = (word for at, value in ((5, 1000), (6, 500), (14, 1000), (15, 500)) for word in ("--arg", f"{at}={value}"))
        counted = self.predicted("numba_grid_xy.ptx", "--grid", "32x63", "--block", "32x8", *numbers)
        self.assertEqual(counted, {"load_requests": 16000, "load_sectors": 500000, "store_requests": 16000,
                                   "store_sectors": 500000})

    # x.T * 2 + 1 of float32 1000 x 700.
    def test_of_jax_count_what_hardware_does(self):
        counted = self.predicted("jax_transpose.ptx", "--grid", "704", "--block", "128")
        self.assertEqual(counted, {"load_requests": 22000, "load_sectors": 98500, "store_requests": 22400,
                                   "store_sectors": 87500})

    # float32 of 1000 x 700 elements, the first one the transpose of an array: CArray has pointer, size, shape, strides.
    def test_of_cupy_take_structures_that_hold_pointers(self):
        launch = "cupy_elementwise.ptx", "--grid", "5469", "--block", "128"
        expected = {"load_requests": 43750, "load_sectors": 787500, "store_requests": 21875, "store_sectors": 87500}
        strides = {0: (4, 4000), 1: (2800, 4), 2: (2800, 4)}
        members = [f"{at}+{byte}={stride}" for at, both in strides.items() for byte, stride in zip((32, 40), both)]
        given = (word for one in (*members, "3+0=700000", "3+16=700", "0+0=f32[700000]") for word in ("--arg", one))
        self.assertEqual(self.predicted(*launch, *given), expected)
        with tempfile.TemporaryDirectory() as folder:
            options = []
            arrays = [(0x7f0000000000 + (at << 24), 700000, 1000, 700, *both) for at, both in strides.items()]
            for at, numbers in enumerate([*arrays, (700000, 1000, 700, 0, 0)]):
                with open(f"{folder}/{at}", "wb") as file:
                    file.write(struct.pack(f"<{len(numbers)}q", *numbers))
                options += ["--arg", f"{at}=@{folder}/{at}"]
            self.assertEqual(self.predicted(*launch, *options), expected)
        refused = self.refuse("kernel", os.path.join(SOURCE, "tests/data/kernels", launch[0]), *launch[1:]).err_text
        self.assertIn("--arg 0+32 (u64), --arg 0+40 (u64)", refused)


class OfOneBody(Case):
    """Kernels of a few instructions behind `ld.param.u64 %rd1, [p]` and the thread's number in %r1."""

    def kernel_of(self, body):
        return (".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"
               ".extern .func __assertfail (.param .b64 a);\n.extern .func (.param .b32 r) vprintf (.param .b64 a);\n"
               ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>; "
               ".reg .b128 %rq<2>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n" + body + "\nret;\n}\n")

    def predict(self, body, *arguments, code=harness.DONE):
        ptx = self.kernel_of(body)
        return self.check(harness.run("kernel", "-", "--grid", "2", "--block", "64", *arguments, "--json", stdin=ptx), code).json

    def test_an_index_below_0_is_one_of_its_own_array(self):
        body = "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3+-4];"
        self.predict(body)  # p has no size
        fault = self.predict(body, "--arg", "p=u32[64]", code=PARTIAL)["findings"][0]
        self.assertIn("element -1 of array p", fault["text"])

    def test_names_an_index_that_overflowed_32_bits(self):
        # 2^26 elements a thread: thread 32 is at 2^31, which a signed index does not hold.
        body = "shl.b32 %r2, %r1, 26; mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];"
        fault = self.predict(body, "--arg", "p=u32[4294967296]", code=PARTIAL)["findings"][0]
        self.assertIn("thread (32, 0, 0)", fault["text"])
        self.assertIn("overflowed 32 bits", fault["text"])
        self.assertIn("64 bits", fault["fix"])

    def test_says_a_fault_of_a_line_once(self):
        body = ".loc 1 7 1\nld.global.u32 %r2, [%rd1+256]; ld.global.u32 %r3, [%rd1+260];"
        found = self.predict(body, "--arg", "p=u32[64]", code=PARTIAL)["findings"]
        self.assertEqual([one["point"] for one in found if one["cause"] == "fault"], ["k.cu:7"])
        moved = body.replace("%rd1+256", "%rd3+4").replace("%rd1+260", "%rd3")
        explain = "explain", "kernel", "-", "--grid", "2", "--block", "64", "--arg", "p=u32[64]", "--line", "7"
        ptx = self.kernel_of("mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;" + moved)
        drawn = self.check(harness.run(*explain, stdin=ptx), PARTIAL).out_text
        self.assertIn("element 64 of array p", " ".join(drawn.split()))

    # Lanes from 16 on go where lanes 0 to 15 go, which no pattern does.
    def test_each_finding_has_the_command_that_draws_it_and_what_else_needs_the_fix(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/k.ptx", "w", encoding="utf-8") as file:
                file.write(HEADER + ".visible .entry k(.param .u64 x) { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                           "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 15; mad.wide.u32 %rd1, %r1, 4096, %rd1;\n"
                           "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; ret; }\n")
            ran = self.run_ok("kernel", "k.ptx", "--grid", "4096", "--block", "256", "--json", cwd=folder)
            for finding in ran.json["findings"]:
                drawn = self.run_ok("explain", *shlex.split(finding["like"]), cwd=folder).out_text
                self.assertEqual("same fix" in drawn, "other_points" in finding and finding["saves_seconds"] > 0)

    def test_a_drawing_has_all_findings_of_its_access(self):
        body = (".loc 1 7 1\nmul.wide.u32 %rd2, %r1, 128; add.s64 %rd3, %rd1, %rd2; mov.u32 %r4, 0; LOOP: st.global.u32 [%rd3], %r4;"
                "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 8; @%p1 bra LOOP;")
        found = self.predict(body)["findings"]
        self.assertEqual({one["cause"] for one in found}, {"strided", "repeated_store"})
        drawn = self.run_ok("explain", "kernel", "-", "--grid", "2", "--block", "64", "--json", stdin=self.kernel_of(body)).json
        (access,) = drawn["explanation"]["accesses"]
        self.assertEqual(access["mend"], " ".join(one["fix"] for one in found))

    def test_says_where_a_thread_faults_first_without_registers_and_how_large_the_array_is(self):
        # Thread 63 loads word 64, and stores to word 64 or 65 after that.
        body = "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3+4];{}"
        for after, count in (("st.global.u32 [%rd3+4], %r2;", 1), ("st.global.u32 [%rd3+8], %r2;", 2)):
            found = self.predict(body.format(after), "--arg", "p=u32[64]", code=PARTIAL)["findings"]
            self.assertEqual(len(found), count)
            self.assertIn("thread (63, 0, 0) of block (0, 0, 0) asks for element 64 of array p, which has 64.", found[0]["text"])
            self.assertNotIn("%", found[0]["text"])
            # Thread 62 had no fault before its store.
            self.assertTrue(count == 1 or "thread (62, 0, 0)" in found[1]["text"])

    def test_says_which_accesses_of_shared_memory_are_merged(self):
        loads = ("ld.shared.f32 %r2, [tile]; ld.shared.f32 %r3, [tile+4];", "ld.shared.v2.f32 {%r2, %r3}, [tile];")
        for load, is_merged in zip(loads, (True, False)):
            document = self.predict(".shared .align 16 .b8 tile[64];\n.loc 1 7 1\n" + load)
            self.assertEqual(document["points"][0]["predicted"]["shared_load_requests"], 4)
            notes = [one["text"] for one in document.get("warnings", []) if one["code"] == "W-MERGED"]
            self.assertEqual(len(notes), is_merged)
            self.assertTrue(all("k.cu:7 ld.shared.v2.f32 tile" in one for one in notes))

    def test_counts_accesses_of_32_bytes(self):
        counted = self.predict("mul.wide.u32 %rd2, %r1, 32; add.s64 %rd3, %rd1, %rd2;"
                               "ld.global.v8.b32 {%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, [%rd3];"
                               "st.global.v4.b64 [%rd3], {%rd4,%rd5,%rd6,%rd7};")["points"][0]["predicted"]
        self.assertEqual([counted["load_sectors_per_request"], counted["store_sectors_per_request"]], [32, 32])

    def test_names_the_array_of_a_loop_whose_pointer_is_set_below_it(self):
        lines = self.predict("mov.u64 %rd2, %rd1; bra.uni SET; USE: ld.global.u32 %r3, [%rd3]; bra.uni END;"
                             "SET: add.s64 %rd3, %rd2, 4; bra.uni USE; END:")["points"]
        self.assertEqual(lines[1]["parameters"].get("array"), "p")

    def test_reads_the_kernel_that_is_wanted_and_no_other(self):
        odd = ".visible .entry odd()\n{ .reg .nonsense %x; }\n"
        path = os.path.join(SOURCE, "tests", "data", "kernels", "cupy_elementwise.ptx")
        with open(path, encoding="utf-8") as file:
            text = file.read() + odd
        listed = self.run_ok("kernel", "-", "--list", stdin=text).out_text
        self.assertRegex(listed, r"(?m)^mixed: 0 \(48 bytes: 0\+0 pointer")
        self.assertRegex(listed, r"(?m)^odd: .*'.nonsense' is not a type")
        self.refuse("kernel", "-", "odd", "--grid", "1", "--block", "32", stdin=text)
        given = (word for at, byte in ((0, 32), (0, 40), (1, 32), (1, 40), (2, 32), (2, 40), (3, 0), (3, 16))
                 for word in ("--arg", f"{at}+{byte}=4"))
        self.run_ok("kernel", "-", "mixed", "--grid", "1", "--block", "32", *given, stdin=text)

    def test_tells_assertions_that_do_not_hold(self):
        failed = self.predict("setp.lt.u32 %p1, %r1, 40; @%p1 bra OK; { .param .b64 a; st.param.b64 [a], 0;"
                              "call __assertfail, (a); } trap; OK: st.global.u32 [%rd1], %r1;", code=PARTIAL)["findings"][0]
        self.assertIn("thread (40, 0, 0)", failed["text"])

    def test_names_what_is_not_counted(self):
        document = self.predict("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];"
                                "{ .param .b64 a; .param .b32 r; st.param.b64 [a], 0; call (r), vprintf, (a); }"
                                "ld.global.b128 %rq1, [%rd1]; st.global.b128 [%rd1], %rq1;")
        self.assertEqual(codes_of(document), ["W-UNCOUNTED"])
        self.assertEqual(document["points"][0]["predicted"]["load_requests"], 4)

    def test_counts_passes_of_shared_atomics_by_what_they_compute(self):
        for code, passes in (("atom.shared.add.u32 %r2, [t], 1;", 4), ("red.shared.add.u32 [t], 1;", 4),
                             ("red.shared.add.u32 [t], 3;", 128), ("atom.shared.cas.b32 %r2, [t], 0, 1;", 256),
                             ("red.shared.add.f32 [t], 0f3F800000;", None)):
            kernel = self.predict(".shared .align 4 .b8 t[64]; " + code)["points"][0]["predicted"]
            self.assertEqual((kernel["shared_atomic_requests"], kernel["shared_atomic_wavefronts"]), (4, passes), code)
        kernel = self.predict(".shared .align 4 .b8 t[64]; red.shared.add.u32 [t], 3;", "--machine", "a100")
        self.assertIsNone(kernel["points"][0]["predicted"]["shared_atomic_wavefronts"])

    def test_does_not_know_what_a_tensor_map_brings(self):
        copy = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [t+64], [%rd1, {%r1}], [t];"
        decided = "; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r3, [%rd4];"
        declared = ".shared .align 16 .b8 t[256]; "
        for load, codes in (("ld.shared.u32 %r2, [t+68]", ["W-CONTENTS", "W-UNCOUNTED"]),
                            ("ld.shared.u32 %r2, [t]", ["W-UNCOUNTED"]),
                            ("st.shared.u32 [t+68], %r1; ld.shared.u32 %r2, [t+68]", ["W-UNCOUNTED"])):
            document = self.predict(declared + copy + load + decided)
            self.assertEqual(sorted(codes_of(document)), codes, load)

    def test_asks_the_machine_how_many_multiprocessors_it_has(self):
        body = ("mov.u32 %r2, %nsmid; mul.lo.u32 %r3, %r1, %r2; mul.wide.u32 %rd2, %r3, 1;"
                "add.s64 %rd3, %rd1, %rd2; ld.global.u8 %r4, [%rd3];")
        bytes_apart = {machine: self.predict(body, "--machine", machine)["points"][0]["predicted"]["load_lines"]
                       for machine in ("h200", "t4")}
        # Lanes are 132 bytes apart, a line each and more; on a T4 40 bytes, three a line.
        self.assertGreater(bytes_apart["h200"], bytes_apart["t4"])


NVCC = shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")


@unittest.skipUnless(NVCC, "there is no nvcc")
class Compiled(Case):
    """CUDA source with names that a shell would execute; tests/torture/compilers.py has more of them."""

    NAME = "$(touch INJECTED) -o"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(f"{self.folder}/{self.NAME}")
        self.file = f"{self.NAME}/{self.NAME}.cu"
        self.write(self.file, '#include "own.h"\n#include <given.h>\n'
                              '__global__ void k(float* x) { x[threadIdx.x * OWN * GIVEN * MACRO] = 1; }\n')
        self.write(f"{self.NAME}/own.h", "#define OWN 2\n")
        os.mkdir(f"{self.folder}/inc,$(touch INJECTED)")
        self.write("inc,$(touch INJECTED)/given.h", "#define GIVEN 2\n")
        self.options = ("-I", "inc,$(touch INJECTED)", "-D", "MACRO=(sizeof(\"$(touch INJECTED)\") / 9)", "--grid", "1",
                        "--block", "32")

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def test_finds_its_headers_and_macros_and_executes_nothing(self):
        ran = self.run_ok("kernel", self.file, *self.options, "--json", cwd=self.folder)
        # sizeof the text is 18, so MACRO is 2: 32 bytes from lane to lane, a sector each.
        self.assertEqual(ran.json["points"][0]["predicted"]["store_sectors"], 32)
        self.assertEqual(ran.json["points"][1]["parameters"]["line"], f"{self.NAME}.cu:3")
        self.run_ok("explain", "kernel", self.file, *self.options, "--line", "3", cwd=self.folder)
        self.run_ok("kernel", "--list", "-I", self.options[1], "-", stdin="__global__ void k() {}", cwd=self.folder)
        self.assertNotIn("INJECTED", os.listdir(self.folder))

    def listed(self, text, *options):
        """The lines of --list for a file k.cu of this text."""
        self.write("k.cu", text)
        return self.run_ok("kernel", "k.cu", "--list", "-q", *options, cwd=self.folder).out_text.splitlines()

    def test_has_the_names_of_its_parameters_from_the_compiler(self):
        self.assertEqual(sorted(self.listed(
            "struct In { int w, h; };\nstruct P { float a; In in; int t[3]; };\n#define ARGS float* x, int n\n"
            "template <class T, int N> __global__ void fill (T* data, int count) { data[threadIdx.x * N] = count; }\n"
            "template __global__ void fill<float, 256>(float*, int);\n"
            "__global__ void update(float* x, float* sum, int n) { x[n] = sum[n]; }\n"
            "__global__ void update (float* x, int n, float s) { x[n] = s; }\n"
            "__global__ void by_macro(ARGS) { x[n] = 1; }\n"
            'extern "C" __global__ void c(P par, const char* text, float* y) { y[par.in.h] = text[par.t[1]]; }\n')), [
                "by_macro: x (float*), n (int)",
                "c: par (P: par.in.h int, par.t[1] int), text (char const*), y (float*)",
                "fill<float, 256>: data (float*), count (int)",
                "update: x (float*), n (int), s (float)", "update: x (float*), sum (float*), n (int)"])

    def test_is_found_by_a_template_s_arguments_as_people_write_them(self):
        self.write("k.cu", "template <class T, unsigned N> __global__ void fill(T* x) { x[threadIdx.x * N] = 1; }\n"
                           "template __global__ void fill<float, 256>(float*);\n"
                           "template __global__ void fill<int, 256>(int*);\n")
        for name in ("fill<float, 256>", "fill<float,256u>", "fill<float, (unsigned int)256>"):
            self.run_ok("kernel", "k.cu", name, "--grid", "1", "--block", "32", cwd=self.folder)

    # 16 blocks of 64 bytes: a pitch of 512 keeps them in sectors of their own.
    def test_takes_numbers_of_64_bits_as_offsets_beside_pointers(self):
        self.write("k.cu", 'extern "C" __global__ void k(const char* a, long long pitch, char* b, size_t n) {\n'
                           "  b[n - 1 - threadIdx.x] = a[blockIdx.x * pitch + threadIdx.x]; }\n")
        ran = self.run_ok("kernel", "k.cu", "--grid", "16", "--block", "64", "--arg", "pitch=512", "--arg", "n=4096", "--arg",
                          "a=u8[8192]", "--json", cwd=self.folder)
        self.assertEqual(ran.json["points"][0]["predicted"]["load_sectors"], 32)

    # The host's part asks for what is not here: headers, functions that CUDA 13 dropped, statements in statements.
    def test_needs_no_host_code_to_compile(self):
        self.write("kernels.h", "__global__ void k (float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n")
        text = ("#include <boost/options.hpp>\n#include \"kernels.h\"\nnamespace po = boost::options;\n"
                "static void usage(const glm::vec3& v) { print(v.x); }\n"
                "int main(int argc, char** argv) {\n  po::description desc(\"x\");\n  if (desc.has(\"}\")) { return 1; }\n"
                "  k<<<1, 32>>>(nullptr, 32);\n  cudaThreadSynchronize();\n}\n")
        self.assertEqual(self.listed(text), ["k: x (float*), n (int)"])
        document = self.run_ok("kernel", "k.cu", "--grid", "1", "--block", "32", "--arg", "n=32", "--json",
                               cwd=self.folder).json
        self.assertIn("W-HEADERS", codes_of(document))

    def test_says_what_to_give_where_the_device_s_part_does_not_compile(self):
        for text, hint in (("#include <no/where.h>\n__global__ void k(float* x) { x[where(1)] = 1; }\n", "-I FOLDER"),
                           ("__global__ void k(float* x) { x[threadIdx.x * STRIDE] = 1; }\n", "-D STRIDE="),
                           ("template <class T> __global__ void k(T* x) { x[threadIdx.x] = 1; }\n", "template __global__")):
            self.write("k.cu", text)
            ran = self.check(harness.run("kernel", "k.cu", "--list", cwd=self.folder), harness.USAGE)
            self.assertIn(hint, ran.err_text)

    # Zeros are no candidates: the store of the filter is missing from the table.
    def test_says_what_is_not_executed_without_an_array_s_contents(self):
        self.write("k.cu", "__global__ void k(const int* d, int* o) {\n  if (d[threadIdx.x] > 5)\n    o[threadIdx.x] = 1;\n}\n")
        for contents, lines in (("", 1), ("=iota", 2)):
            document = self.run_ok("kernel", "k.cu", "--grid", "1", "--block", "32", "--arg", f"d=i32[32]{contents}", "--json",
                                   cwd=self.folder).json
            self.assertEqual(len(document["points"]) - 1, lines)
            texts = [one["text"] for one in document["warnings"] if one["code"] == "W-CONTENTS"]
            self.assertEqual(["k.cu:3 st.global" in text for text in texts], [True][:2 - lines])

    # CUDA's sine of a double has a slow way for large numbers, of words with carries.
    def test_executes_the_sine_of_a_double(self):
        self.write("k.cu", "__global__ void k(const double* x, float* o) { o[threadIdx.x] = sin(x[threadIdx.x]); }\n")
        points = self.run_ok("kernel", "k.cu", "--grid", "1", "--block", "32", "--json", cwd=self.folder).json["points"]
        counted = {one["parameters"]["array"]: one["predicted"] for one in points}
        self.assertEqual((counted["x"]["load_sectors"], counted["o"]["store_sectors"]), (8, 4))

    def test_takes_device_lambdas_and_constexpr_functions(self):
        self.assertEqual(len(self.listed(
            "template <class F> __global__ void app(F f) { f(threadIdx.x); }\nconstexpr int two() { return 2; }\n"
            "void go(float* x) { app<<<1, 32>>>([=] __device__ (int i) { x[i * two()] = 1; }); }\n")), 1)

    def test_passes_no_warnings_on_where_it_compiles(self):
        self.write("k.cu", "__global__ void k(float* x) { int unused = 1; x[threadIdx.x] = 1; }\n")
        ran = self.run_ok("kernel", "k.cu", "--list", "-q", cwd=self.folder)
        self.assertEqual(ran.err_text, "")

    def test_that_does_not_compile_says_where_by_its_own_names(self):
        self.write(f"{self.NAME}/own.h", "int x = ;\n")
        ran = self.check(harness.run("kernel", self.file, *self.options, cwd=self.folder), harness.USAGE)
        self.assertIn(f"{self.NAME}/own.h(1): error", ran.err_text)
        self.assertNotIn("coalprof-", ran.err_text)

    def test_is_not_written_over_by_results_nor_are_its_headers(self):
        for header in ("inc,$(touch INJECTED)/given.h", f"{self.NAME}/own.h"):
            before = open(f"{self.folder}/{header}", "rb").read()
            ran = harness.run("kernel", self.file, *self.options, "-o", header, "--format", "json", cwd=self.folder)
            self.check(ran, harness.USAGE)
            self.assertEqual(open(f"{self.folder}/{header}", "rb").read(), before)

    def test_gives_nvcc_no_words_that_a_shell_reads_otherwise(self):
        self.refuse("kernel", self.file, *self.options, "--nvcc-args=-DX=$(touch INJECTED)", cwd=self.folder)
        self.assertNotIn("INJECTED", os.listdir(self.folder))

    @unittest.skipIf(harness.IS_SANITIZED, "sanitizers need memory of their own")
    def test_without_an_end_is_given_up_by_the_limit_of_memory(self):
        self.write("zero.cu", '#include "/dev/zero"\n__global__ void k() {}\n')
        ran = self.check(harness.run("kernel", "zero.cu", "--list", "--memory-limit", "256MiB", cwd=self.folder), harness.USAGE)
        self.assertIn("--memory-limit", ran.err_text)

    def own_nvcc(self, script):
        os.makedirs(f"{self.folder}/cuda/bin")
        self.write("cuda/bin/nvcc", "#!/bin/sh\n" + script)
        os.chmod(f"{self.folder}/cuda/bin/nvcc", 0o700)
        return harness.environment(CUDA_HOME=f"{self.folder}/cuda")

    def test_without_room_for_temporary_files_names_the_room(self):
        env = self.own_nvcc("echo 'cannot write x: No space left on device' >&2\nexit 1\n")
        ran = self.check(harness.run("kernel", self.file, "--list", cwd=self.folder, env=env), harness.OUTPUT)
        self.assertIn("TMPDIR", ran.err_text)

    def test_is_compiled_once_for_each_compute_capability(self):
        self.write("k.ptx", ".version 8.0\n.target sm_75\n.address_size 64\n.entry k()\n.reqntid 32\n{\nret;\n}\n")
        env = self.own_nvcc(f"echo >> '{self.folder}/runs'\nwhile [ \"$1\" != -o ]; do shift; done\n"
                            f"cp '{self.folder}/k.ptx' \"$2\"\n")
        # Neither names nor the block are given; H100 and H200 are 9.0, A100 is 8.0.
        self.run_ok("kernel", self.file, "--best", "--grid", "1", "--machine", "h100,h200,a100", cwd=self.folder, env=env)
        with open(f"{self.folder}/runs", encoding="ascii") as file:
            self.assertEqual(len(file.readlines()), 4)  # once more for the names of parameters


# What people write around a launch, and what it comes to: grid, block and the arguments that are worked out.
LAUNCHES = (
    ("k<<<4096, 256>>>(x, 1 << 20, 2);", "4096", "256", "n = 1048576, a = 2"),
    ("int n = 1000; if (argc > 1) n = atoi(argv[1]);\n  k<<<(n + TPB - 1) / TPB, TPB>>>(x, n, 2.5);", "8", "128", "n = 1000, a = 2.5"),
    ("int n = argc > 1 ? atoi(argv[1]) : 4096;\n  dim3 b(32, 8), g(n / b.x, divup(n, b.y));\n  k<<<g, b>>>(x, n, 1);", "128x512",
     "32x8", "n = 4096, a = 1"),
    ("cudaMalloc(&x, N * sizeof(float)); std::vector<float> h(N);\n  CHECK(cudaMemcpy(x, h.data(), 4 * N, cudaMemcpyHostToDevice));\n"
     "  k<<<ceil(N / 256.0), 256, 64>>>(x, N, 1);", "4", "256", "64 bytes shared, n = 1000, a = 1"),
    ("int p = 1; while (p < N) p *= 2;\n  for (int s = p / 2; s > 0; s >>= 1) k<<<s, 64>>>(x, s, 0);", "512", "64", "n = 512, a = 0"),
    ("if (argc != 2) { printf(\"Usage\"); return 1; }\n  for (int i = 0; i < atoi(argv[1]); i++) k<<<N, 32>>>(x, N, 1);", "1000", "32",
     "n = 1000, a = 1"),
    ("dim3 g; g.x = std::min(N, 64); g.y = 2; run(g, x);", "64x2", "32", "n = 7, a = 1"),
    ("int n = 4, m = N; if (unknown()) m = 3;\n  k<<<n, sizeof(double4)>>>(x, n, m);", "4", "32", "n = 4"),
)
AROUND = ("#include <vector>\n#include <no/such.h>\n#define TPB 128\nconstexpr int N = 1000;\n"
          "#define CHECK(x) do { auto e = (x); if (e != cudaSuccess) exit(1); } while (0)\n"
          "static int divup(int a, int b) { return (a + b - 1) / b; }\n"
          "__global__ void k(float* x, int n, float a) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < n) x[i] *= a;\n}\nvoid run(dim3 g, float* x) { k<<<g, 32>>>(x, 7, 1); }\n"
          "int main(int argc, char** argv) {\n  float* x;\n  %s\n}\n")


@unittest.skipUnless(NVCC and (shutil.which("clang") or shutil.which("clang-14")), "there is no nvcc, or no clang")
class OfSource(Case):
    """coalprof kernel FILE, and nothing else."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def predicted(self, text, *options, code=harness.DONE):
        with open(f"{self.folder}/k.cu", "w", encoding="ascii") as file:
            file.write(text)
        ran = harness.run("kernel", "k.cu", *options, "--json", cwd=self.folder)
        return self.check(ran, code).json

    def notes(self, document, code):
        return [one["text"] for one in document["warnings"] if one["code"] == code]

    def test_takes_the_launch_of_its_host_code(self):
        for host, grid, block, values in LAUNCHES:
            with self.subTest(host=host):
                document = self.predicted(AROUND % host)
                self.assertEqual((document["points"][0]["parameters"]["grid"], document["points"][0]["parameters"]["block"]),
                                 (grid, block))
                notes = self.notes(document, "W-SOURCE")
                self.assertEqual(len(notes), 1)
                self.assertTrue(notes[0].endswith(f" blocks of {block}, {values}"), notes)

    def test_says_the_line_of_the_launch(self):
        document = self.predicted(AROUND % "k<<<1, 32>>>(x, 7, 1);")
        line = 1 + AROUND[:AROUND.index("%s")].count("\n")
        self.assertIn(f"launch of k.cu:{line}: ", self.notes(document, "W-SOURCE")[0])

    def test_names_what_cannot_be_worked_out(self):
        self.refuse_with("--arg n", AROUND % "k<<<1, 32>>>(x, atoi(argv[1]), 1);")
        self.refuse_with("--grid", AROUND % "k<<<atoi(argv[1]), 32>>>(x, 7, 1);")
        # What is typed is taken.
        document = self.predicted(AROUND % "k<<<1, 32>>>(x, atoi(argv[1]), 1);", "--arg", "n=32")
        self.assertEqual(document["points"][0]["predicted"]["load_sectors"], 4)

    def refuse_with(self, words, text):
        with open(f"{self.folder}/k.cu", "w", encoding="ascii") as file:
            file.write(text)
        self.assertIn(words, self.check(harness.run("kernel", "k.cu", cwd=self.folder), harness.USAGE).err_text)

    # Templates by their instances, a launch in a function that nobody calls, one in a method, one that is nowhere.
    def test_ranks_all_kernels_of_a_file_by_time(self):
        document = self.predicted(
            "template <class T> __global__ void set(T* x) { x[blockIdx.x * 256 + threadIdx.x] = 1; }\n"
            "__global__ void far(float* x) { x[(blockIdx.x * 256 + threadIdx.x) * 32] = 1; }\n"
            "__global__ void nowhere(float* x) { x[blockIdx.x * 256 + threadIdx.x] = 1; }\n"
            "__global__ void lost(float* x, int n) { x[threadIdx.x * n] = 1; }\n"
            "template <class T> void call(T* x, int n) { set<<<n, 256>>>(x); }\n"
            "struct Solver { float* x; void step() { far<<<4096, 256>>>(x); } };\n"
            "void other(double* d, float* f, int n) { call(d, 64); lost<<<1, 32>>>(f, n); }\n")
        points = document["points"]
        self.assertEqual([one["parameters"]["kernel"] for one in points], ["far", "nowhere", "set<double>"])
        self.assertEqual([one["parameters"]["grid"] for one in points], ["4096", "4096", "64"])
        self.assertEqual(points[0]["parameters"]["costliest"], "k.cu:2 st.global.u32 x")
        self.assertEqual([one["point"] for one in document["warnings"] if one["code"] == "W-ASSUMED"], ["nowhere"])
        self.assertEqual([one["point"] for one in document["warnings"] if one["code"] == "W-SKIPPED"], ["lost"])

    def test_assumes_a_million_threads_in_as_many_dimensions_as_are_read(self):
        for axes, grid, block in (("x", "4096", "256"), ("xy", "32x128", "32x8"), ("xyz", "8x16x32", "32x8")):
            sums = " + ".join(f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}" for axis in axes)
            document = self.predicted(f"__global__ void k(float* x) {{ x[{sums}] = 1; }}\n")
            parameters = document["points"][0]["parameters"]
            self.assertEqual((parameters["grid"], parameters["block"]), (grid, block))
            self.assertEqual(len(self.notes(document, "W-ASSUMED")), 1)

    def test_compares_the_launches_of_one_kernel(self):
        document = self.predicted(AROUND % "k<<<1, 32>>>(x, 7, 1);\n  k<<<64, 32>>>(x, 2048, 1);")
        self.assertEqual(sorted(one["parameters"]["grid"] for one in document["points"]), ["1", "64"])
        self.assertEqual(len({one["parameters"]["launch"] for one in document["points"]}), 2)


@unittest.skipUnless(shutil.which("nvcc"), "there is no nvcc")
class Workflow(Case):
    """The example of the documents, step by step as a runner executes them."""

    def test_fails_on_the_fault_and_passes_on_the_fix(self):
        with open(os.path.join(SOURCE, "docs/examples/kernel-budget.yml"), encoding="utf-8") as file:
            steps = re.findall(r"run: ((?:nvcc|coalprof) .*)", file.read())
        self.assertEqual(len(steps), 2)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(SOURCE, "docs"), os.path.join(folder, "docs"))
            os.symlink(os.path.realpath(harness.PROGRAM), os.path.join(folder, "coalprof"))
            codes = {}
            for kernel in ("transpose_naive", "transpose_tiled"):
                env = harness.environment(KERNEL=kernel, PATH=f"{folder}:{os.environ['PATH']}")
                ran = [subprocess.run(["bash", "-ec", step], cwd=folder, env=env, capture_output=True).returncode
                       for step in steps]
                codes[kernel] = ran
        self.assertEqual(codes, {"transpose_naive": [0, 1], "transpose_tiled": [0, 0]})


if __name__ == "__main__":
    harness.main()
