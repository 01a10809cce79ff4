"""`coalprof kernel`: PTX, its launch and its arguments, and what is said where they do not fit."""
import os
import re
import shlex
import struct
import tempfile
import unittest

import harness
from harness import PARTIAL, SOURCE, Case, write_npy
from small_kernels import HEADER, codes_of, kernel_of

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
        # Which lines each store goes to takes 64 KiB; sanitizers need more.
        many = [(chain, "--all", "--grid", str(1 << 30)), (lines, "--grid", "8", "--memory-limit", "4GiB")]
        for text, *launch in many[:1 if harness.IS_SANITIZED else 2]:
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

    @unittest.skipIf(harness.IS_SANITIZED, "sanitizers need memory of their own")
    def test_is_not_as_large_as_what_a_small_text_stands_for(self):
        head = ".version 8.0\n.target sm_90\n.address_size 64\n"
        calls = "".join(f".func f{k}() {{ {10 * f'call f{k - 1};' if k else ''} ret; }}\n" for k in range(12))
        ran = self.refuse("kernel", "-", *LAUNCH[:4], stdin=f"{head}{calls}.entry k() {{ call f11; ret; }}")
        self.assertIn("statements once its calls are inlined", ran.err_text)
        arrays = "".join(f".global .b128 x{k}[1] = {{1, 1, 1, 1}};\n" for k in range(7))
        self.run_ok("kernel", "-", *LAUNCH[:4], "--memory-limit", "256MiB", stdin=f"{head}{arrays}.entry k() {{ ret; }}")

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
        self.assertIn("asks for element 200 of array x", document["points"][0]["failure"])
        table = self.check(harness.run("kernel", "-", *stopped, stdin=GATHER), PARTIAL).out_text
        self.assertLess(table.index("'ld.global.f32'"), table.index("whole kernel"))
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
        several = kernel_of(body)
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
            ptx = kernel_of(".loc 1 7 1\nmul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;" + body)
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
        nothing = self.refuse("explain", "kernel", "-", *LAUNCH[:4], stdin=kernel_of(""))
        self.assertIn("accesses no memory", nothing.err_text)
        # As `kernel` refuses it.
        small = GATHER.replace("u32 n)", "u32 n)\n.maxntid 32, 1, 1")
        self.assertIn("32 threads at most", self.refuse("explain", "kernel", "-", *LAUNCH, stdin=small).err_text)

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
                (("--grid", "4", "--block", "64", "--arg", "n=2048.5"), GATHER, "'2048.5' is no integer"),
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
                (("gathret_all", *LAUNCH), GATHER.replace("gather(", "gather_all_rows("), "mean gather_all_rows?"),
                (("x=4", *LAUNCH), GATHER, "--arg x=4"),
                (("64", *LAUNCH), GATHER, "--grid 128x128"),
                (LAUNCH, GATHER.replace("gather(", "gather\x1b[31m("), "\\x1b' is not expected"),
                (LAUNCH, "\x7fELF\0\0", "no CUDA program" if harness.can_attach() else "no PTX"),
                (LAUNCH, "hello", "PTX or CUDA source"),
                (LAUNCH, GATHER[:400], "ends"),
                (LAUNCH, "", "PTX or CUDA source")):
            with self.subTest(part):
                ran = self.refuse("kernel", "-", *arguments, stdin=stdin)
                self.assertIn(part, ran.err_text)
        several = self.refuse("kernel", NATURAL, "--grid", "1", "--block", "32")
        self.assertIn("several kernels", several.err_text)
        self.assertIn(f"coalprof kernel {NATURAL} stencil7 stencil5 --grid", several.err_text)
        self.assertIn("mean transpose_naive, transpose_tile?", self.refuse("kernel", NATURAL, "transpoze").err_text)

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
        said = self.predict("--grid", "4", stdin=limited)["warnings"]
        self.assertIn("--block 128 --arg n=512", [one["text"] for one in said if one["code"] == "W-ASSUMED"][0])
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


if __name__ == "__main__":
    harness.main()
