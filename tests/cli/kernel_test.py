"""`coalprof kernel`: PTX, its launch and its arguments, and what is said where they do not fit."""
import os
import struct
import tempfile

import harness
from harness import SOURCE, Case

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
LAUNCH = ("--grid", "4", "--block", "64", "--arg", "n=256")


class Kernel(Case):
    def predict(self, *arguments, stdin=GATHER):
        ran = self.run_ok("kernel", "-", *arguments, "--json", stdin=stdin)
        return ran.json

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

    def test_follows_an_index_array_of_numpy(self):
        # Every second element: 32 lanes over 256 bytes, 8 sectors; 8 warps.
        numbers = struct.pack("<256i", *range(0, 512, 2))
        header = "{'descr': '<i4', 'fortran_order': False, 'shape': (256,), }"
        header += " " * (117 - len(header)) + "\n"
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + numbers)
            file.flush()
            points = self.predict(*LAUNCH, "--arg", f"col=@{file.name}")["points"]
        self.assertEqual(points[0]["predicted"]["load_sectors"], 8 * (4 + 8))

    def test_says_that_contents_were_needed_and_not_given(self):
        document = self.predict(*LAUNCH)
        self.assertEqual([one["code"] for one in document["warnings"]], ["W-CONTENTS"])
        given = self.predict(*LAUNCH, "--arg", "col=i32[256]=iota")
        self.assertEqual(given["warnings"], [])

    def test_tells_an_index_that_leaves_its_array(self):
        document = self.predict(*LAUNCH, "--arg", "col=i32[256]=iota", "--arg", "x=f32[200]")
        fault = document["findings"][0]
        self.assertEqual(fault["cause"], "fault")
        self.assertIn("thread (8, 0, 0) of block (3, 0, 0)", fault["text"])  # 200 = 3 * 64 + 8

    def test_counts_by_the_rules_of_any_machine(self):
        readings = {}
        for machine in ("c1060", "c2050", "h200"):
            points = self.run_ok("kernel", NATURAL, *SAXPY, "--machine", machine, "--json").json["points"]
            readings[machine] = points[0]["predicted"]
        self.assertNotIn("load_transactions", readings["h200"])
        # 16 bytes a lane: 512 bytes a warp are four lines of 128 bytes, for each of two loads.
        self.assertEqual(readings["c2050"]["load_transactions"], 4 * 2 * 524288)
        self.assertEqual(readings["c1060"]["load_transaction_bytes"], 512 * 2 * 524288)

    def test_lists_kernels_with_their_parameters(self):
        listed = self.run_ok("kernel", NATURAL, "--list").out_text
        self.assertEqual(len(listed.splitlines()), 24)
        self.assertIn("grid_stride: 0 (pointer), 1 (pointer), 2 (u32)", listed)

    def test_refuses_what_it_cannot_execute(self):
        for arguments, stdin, part in (
                ((), GATHER, "--grid and --block"),
                (("--grid", "4", "--block", "64"), GATHER, "not given: n"),
                (("--grid", "4", "--block", "2048"), GATHER, "--block"),
                ((*LAUNCH, "--arg", "m=1"), GATHER, "no parameter 'm'"),
                ((*LAUNCH, "--arg", "n"), GATHER, "NAME=VALUE"),
                ((*LAUNCH, "--arg", "x=f33[2]"), GATHER, "f33"),
                ((*LAUNCH, "--arg", "x=f32[2]=ones"), GATHER, "ones"),
                ((*LAUNCH, "--arg", "x=@/nonexistent"), GATHER, "/nonexistent"),
                (("other", *LAUNCH), GATHER, "no kernel 'other'"),
                (LAUNCH, "hello", "neither PTX nor CUDA source"),
                (LAUNCH, GATHER[:400], "ends"),
                (LAUNCH, "", "neither PTX")):
            with self.subTest(part):
                ran = self.refuse("kernel", "-", *arguments, stdin=stdin)
                self.assertIn(part, ran.err_text)
        several = self.refuse("kernel", NATURAL, "--grid", "1", "--block", "32")
        self.assertIn("several kernels", several.err_text)

    def test_budgets_gate_it_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "k.json")
            self.run_ok("kernel", NATURAL, "column_pack", "--grid", "256", "--block", "256", "-q", "-o", result)
            self.check(harness.run("check", result, "--budget", "load_sectors_per_request <= 8"), 1)
            self.run_ok("check", result, "--budget", "load_sectors_per_request <= 32")


if __name__ == "__main__":
    harness.main()
