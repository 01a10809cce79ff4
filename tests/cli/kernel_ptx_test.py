"""`coalprof kernel` on PTX: what findings save, what frameworks compile, and single instructions."""
import os
import re
import shlex
import struct
import tempfile

import harness
from harness import PARTIAL, SOURCE, Case, write_npy
from small_kernels import HEADER, codes_of, kernel_of


def strided(name, stride_bytes, offsets=(0,)):
    """y[i] = x[i], x in structures of so many bytes, for i < n: a block for 256 of them."""
    loads = "".join(f"ld.global.f32 %r7, [%rd5+{at}];\n" for at in offsets)
    return (f".visible .entry {name}(.param .u64 x, .param .u64 y, .param .u32 n)\n{{\n.reg .pred %p<2>; .reg .b32 %r<9>; "
            ".reg .b64 %rd<9>;\nmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; "
            "mad.lo.s32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 bra DONE;\n"
            f"ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mad.wide.u32 %rd5, %r4, {stride_bytes}, %rd1;\n"
            f"{loads}mad.wide.u32 %rd6, %r4, 4, %rd2; st.global.f32 [%rd6], %r7;\nDONE: ret;\n}}\n")


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
            self.assertAlmostEqual(saved / (seconds[name] - seconds["once"]), 1, delta=0.2)
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
        # A grid that is too small; kernels that take different arguments are then no ways to do one thing.
        small = ("kernel", "-", "far", "near", "--grid", "1024", "--grid", "16", "--block", "256", "--arg", "n=262144", "--json")
        self.assertTrue(self.run_ok(*small, stdin=both.replace(", .param .u32 unused", "")).json["verdicts"][0]["text"]
                        .startswith("not the same work"))
        self.assertNotIn("verdicts", self.run_ok(*small, "--arg", "unused=1", stdin=both).json)
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

    def predict(self, body, *arguments, code=harness.DONE):
        ptx = kernel_of(body)
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
        ptx = kernel_of("mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;" + moved)
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
        drawn = self.run_ok("explain", "kernel", "-", "--grid", "2", "--block", "64", "--json", stdin=kernel_of(body)).json
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


if __name__ == "__main__":
    harness.main()
