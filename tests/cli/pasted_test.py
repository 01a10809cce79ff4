"""coalprof formula takes C as it stands in kernels: what it counts is what the compiled kernel asks for."""
import json
import os
import tempfile

import harness
from harness import Case, write_npy

DATA = os.path.join(os.path.dirname(__file__), "..", "data", "pasted.json")


def rows_of_1_to_5():
    starts = [0]
    for row in range(1024):
        starts.append(starts[-1] + 1 + row * 7 % 5)
    return starts


class Pasted(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def npy(self, name, values, kind="<i4", **how):
        return write_npy(f"{self.folder}/{name}.npy", values, kind, **how)

    def predicted(self, *arguments):
        return self.run_ok("formula", *arguments, "--machine", "h200", "--backend", "model",
                           "--json").json["points"][0]

    def test_counts_what_the_compiled_kernel_asks_for_or_says_how_to_write_it(self):
        starts = rows_of_1_to_5()
        arrays = {"@COL": [2 * k for k in range(16384)], "@ROWS": starts,
                  "@NONZEROS": [k * 37 % 2000 for k in range(starts[-1])]}
        paths = {name: "@" + self.npy(name[1:], values) for name, values in arrays.items()}
        with open(DATA, encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        self.assertGreaterEqual(sum("counters" in case for case in cases), 80)
        for case in cases:
            options = case["options"]
            for name, path in paths.items():
                options = [option.replace(name, path) for option in options]
            with self.subTest(case["pasted"]):
                if "refused" in case:
                    self.assertIn(case["refused"],
                                  self.refuse("formula", case["pasted"], *options).err_text)
                    continue
                counted = self.predicted(case["pasted"], *options)["predicted"]
                self.assertEqual({key: counted.get(key) for key in case["counters"]},
                                 case["counters"])
                self.assertEqual({key for key in counted if key.endswith("_requests") and key[:3] != "l2_"},
                                 {key for key in case["counters"] if key.endswith("_requests")})

    def test_adds_up_the_rounds_of_a_loop_for_each_access(self):
        point = self.predicted("for (int k = 0; k < K; ++k) sum += A[i*K + k] * x[k];", "--var", "K=16")
        # 32768 warps: rows of 64 bytes are 32 sectors a round, x[k] is one.
        self.assertEqual([(one["array"], one["predicted"]["load_requests"], one["predicted"]["load_sectors"])
                          for one in point["instructions"]],
                         [("A", 16 * 32768, 16 * 32 * 32768), ("x", 16 * 32768, 16 * 32768)])

    def test_limits_the_rounds_of_loops_not_their_accesses(self):
        text = "for (int k = 0; k < K; ++k) sum += A[i*K + k] * x[k];"
        point = self.predicted(text, "--var", "K=2049", "--grid", "1", "--block", "32")
        self.assertEqual(point["predicted"]["load_requests"], 2 * 2049)
        self.assertIn("more than 4096 rounds",
                      self.refuse("formula", "for (int k = 0; k < 4097; ++k) x[k]").err_text)

    def test_sees_an_array_at_the_width_of_each_access(self):
        for text, width, sectors in (("reinterpret_cast<float4*>(&a[i*4])[0]", 16, 16),
                                     ("double* a; a[i]", 8, 8), ("half* a; a[i]", 2, 2),
                                     ("unsigned char* a; a[i]", 1, 1),
                                     ("struct P { float x, y, z; }; p[i].z", 4, 12)):
            with self.subTest(text):
                counted = self.predicted(text, "--size", "1MiB")["predicted"]
                self.assertEqual(counted["load_sectors_per_request"], sectors)
                self.assertEqual(counted["useful_bytes"], counted["load_requests"] * 32 * width)
                self.assertEqual(counted["useful_bytes"], 1 << 20)  # --size

    def test_takes_one_name_for_one_array_whatever_the_widths(self):
        # 2^20 structures of 64 bytes, of which both members touch both sectors of the last 32 bytes.
        structures = ("struct P { double r[7]; int k; }; "
                      + " + ".join([f"p[i].r[{k}]" for k in range(7)] + ["p[i].k"]))
        views = "const float* a; a[4*i] + reinterpret_cast<const float4*>(a)[i]"
        for text, mebibytes in ((structures, 64), (views, 16)):
            with self.subTest(text):
                point = self.predicted(text, "--grid", "4096")
                self.assertEqual({one["array"] for one in point["instructions"]}, {"a" if text == views else "p"})
                self.assertAlmostEqual(point["predicted"]["dram_read_bytes"], mebibytes << 20, delta=mebibytes << 15)
        tile = self.predicted("__shared__ float t[8192]; t[threadIdx.x*4] + reinterpret_cast<float4*>(t)[threadIdx.x]")
        self.assertEqual(tile["predicted"]["shared_load_requests"], 2 * 8192)  # 4 MiB of float4

    def test_takes_the_type_of_an_array_that_nobody_declares_from_its_use(self):
        for text, width in (("float4 v = q[i]; out[i] = v;", 32), ("float4 v; v = q[i];", 16),
                            ("double v = a[i];", 8), ("unsigned char v = img[i];", 1),
                            ("half2 v = *(half2*)&h[2*i];", 4), ("out[i] = make_float4(0, 0, 0, 0);", 16),
                            ("const float3* q; float3 v = q[i];", 12),
                            ("const float3* q; float3* r; r[i] = q[i];", 24),
                            ("const float3* q; float3 v = q[i]; s += v.x + v.z;", 8)):
            with self.subTest(text):
                counted = self.predicted(text, "--grid", "64")["predicted"]
                self.assertEqual(counted["useful_bytes"], 64 * 256 * width)
        # Numbers are converted: what --type says of them holds.
        counted = self.predicted("float v = a[i];", "--grid", "64", "--type", "f16")["predicted"]
        self.assertEqual(counted["useful_bytes"], 64 * 256 * 2)

    def test_has_arrays_of_structures_declared_beside_it(self):
        counted = self.predicted("p[i].z", "--struct", "struct P { float x, y, z; };", "--array", "p=P")["predicted"]
        self.assertEqual(counted["load_sectors_per_request"], 12)
        self.assertIn("'Q'", self.refuse("formula", "p[i].z", "--array", "p=Q").err_text)

    def test_labels_are_what_was_typed(self):
        table = self.run_ok("formula", "s += a[y][x] + a[y+1][x] + p[i].x + p[i].y + *(r + i) + *(r + i + 1);",
                            "--struct", "struct P { float x, y; };", "--array", "a=f32[64][2048]", "--block", "32x2",
                            "--grid", "64x4", "--backend", "model").out_text
        for label in ("load a[y][x] ", "load a[y+1][x] ", "load p[i].x ", "load *(r + i + 1) "):
            self.assertIn(label, table)

    def test_says_how_fortran_is_written(self):
        for text in ("s += a(i,j)", "v(i,j) = u(i-1,j)", "a(i,j)"):
            self.assertIn("(i-1) + (j-1)*1024", self.refuse("formula", text).err_text)
            self.assertIn("(0:513,0:513) it is", self.refuse("formula", text).err_text)
        hint = self.refuse("formula", "p[i].x", "--struct", "type P\nreal :: x\nend type").err_text
        self.assertIn("struct P { float", hint)
        self.assertIn("real ::", hint)
        self.assertIn("int i = ", self.refuse("formula", "i = x+1; a[i]").err_text)

    def test_takes_numba_for_the_c_that_it_means(self):
        xy = "int x = blockIdx.x*blockDim.x + threadIdx.x, y = blockIdx.y*blockDim.y + threadIdx.y; "
        arrays = ("--array", "a=float64[256, 512]", "--array", "b=f64[512,256]", "--block", "16x16", "--grid", "16x32")
        for python, c in (
                ("x, y = cuda.grid(2); a[x, y]", xy + "a[x][y]"),
                ("i = cuda.grid(1)\nb[i // 256, i % 256]  # flat", "int i = blockIdx.x*blockDim.x + threadIdx.x; b[i / 256][i % 256]"),
                ("@cuda.jit\ndef f(a, b):\n    x, y = cuda.grid(2)\n"
                 "    if x < a.shape[0] and y < a.shape[1]:\n        b[y,\n          x] = a[x, y]\n",
                 xy + "if (x < 256 && y < 512) b[y][x] = a[x][y];"),
                ("x, y = cuda.grid(2)\ns = 0.0\nfor k in range(0, 64, 2):\n  if k < 9: s += a[x, k]\n  else: s += a[x, 1]\nb[y, x] = s",
                 xy + "double s = 0; for (int k = 0; k < 64; k += 2) { if (k < 9) s += a[x][k]; else s += a[x][1]; } "
                 "b[y][x] = s;"),
                ("t = cuda.shared.array((16, 17), dtype=float64)\ntx, ty = cuda.threadIdx.x, cuda.threadIdx.y\n"
                 "t[ty, tx] = a[ty, tx]\ncuda.syncthreads()\nb[0, 0] = t[tx, ty]",
                 "__shared__ double t[16][17]; int tx = threadIdx.x, ty = threadIdx.y; t[ty][tx] = a[ty][tx]; "
                 "__syncthreads(); b[0][0] = t[tx][ty];"),
                ("i = cuda.grid(1)\ncuda.atomic.add(b, (i // 256, i % 256), a[i // 512, 1])",
                 "int i = blockIdx.x*blockDim.x + threadIdx.x; atomicAdd(&b[i / 256][i % 256], a[i / 512][1])")):
            with self.subTest(python):
                self.assertEqual(self.predicted(python, *arrays)["predicted"], self.predicted(c, *arrays)["predicted"])
        title = self.run_ok("formula", "x, y = cuda.grid(2)\na[x, y]", *arrays).out_text
        self.assertIn("cuda.grid(2) a[x, y]", title)
        self.assertIn("--array a=", self.refuse("formula", "x, y = cuda.grid(2); a[x, y]", "--block", "16x16").err_text)
        for broken in ("cuda.atomic.", "cuda.atomic.(", "cuda.atomic.add((", "for cuda.grid", "t = cuda.shared.array(",
                       "if cuda.grid(1", "x, y = cuda.grid(2); a[x, y"):
            self.refuse("formula", broken, *arrays)

    def test_refuses_a_wide_access_that_is_not_aligned(self):
        self.assertIn("no multiple of the width", self.refuse("formula", "*(half2*)&h[2*i+1]").err_text)
        ran = self.refuse("formula", "reinterpret_cast<float4*>(&a[i*4 + 1])[0]")
        self.assertIn("no multiple of the width", ran.err_text)
        ran = self.refuse("formula", "y[i] = x[col[i]]", "--array", f"col=@{self.npy('c', [1, 5, 3])}")
        self.assertIn("reads element 3", ran.err_text)

    def test_knows_vectors_by_their_width(self):
        for name, sectors in (("u8x2", 2), ("u16x2", 4), ("f16x4", 8), ("u8x8", 8), ("f16x8", 16), ("bf16x8", 16), ("u8x16", 16)):
            with self.subTest(name):
                (point,) = self.run_ok("formula", f"load.{name}: a[i]", "--json").json["points"]
                self.assertEqual(point["predicted"]["load_sectors_per_request"], sectors)

    def test_takes_32_bytes_from_10_0_on(self):
        wide = self.run_ok("formula", "load.f32x8: a[i]", "--machine", "b200", "--json").json
        self.assertEqual(wide["points"][0]["predicted"]["load_sectors_per_request"], 32)
        self.assertEqual(wide["warnings"], [])
        old = self.run_ok("formula", "load.f32x8: a[i]", "--machine", "h200", "--backend", "model", "--json").json
        self.assertEqual([warning["code"] for warning in old["warnings"]], ["W-IMPOSSIBLE"])

    def test_is_explained(self):
        drawn = self.run_ok("explain", "formula", "struct P { float x, y, z; }; p[i].y = p[i].x;").out_text
        self.assertIn("12", drawn)


if __name__ == "__main__":
    harness.main()
