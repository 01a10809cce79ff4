"""coalprof kernel --code takes C as it stands in kernels: a compiler makes a kernel of it, with or without CUDA."""
import json
import os
import shlex
import shutil
import tempfile
import unittest

import harness
from harness import ENVIRONMENT, USAGE, Case, write_npy

DATA = os.path.join(os.path.dirname(__file__), "..", "data", "pasted.json")
CLANG = next((found for found in map(shutil.which, ("clang", "clang-14", "clang-19")) if found), None)
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
LOOP = "for (int k = 0; k < n; k++) s += a[i*n + k];\nc[i] = s;"
# 512 warps.
LAUNCH = ("--grid", "64", "--block", "256")

# Text, options, and counters by hand: a warp asks for 4 sectors where 32 floats lie side by side and are aligned,
# for 5 where they are shifted by one, for as many as lanes where each float lies in a sector of its own.
BY_HAND = (
    # A structure of 16 bytes: 16 sectors for each of two members. Four broadcasts. Members of 8 bytes: 8 sectors.
    ("struct Ray { float ox, oy, oz, tmax; };\nstruct Hit { float t; int id; };\n"
     "const Ray* rays; Hit* hits; const float4* spheres;\nfloat best = rays[i].tmax; int id = -1;\n"
     "for (int k = 0; k < 4; k++) {\n  float t = spheres[k].x * rays[i].ox;\n  if (t < best) { best = t; id = k; }\n}\n"
     "hits[i].t = best; hits[i].id = id;", LAUNCH,
     {"load_requests": 512 * 6, "load_sectors": 512 * (16 + 16 + 4), "store_requests": 512 * 2, "store_sectors": 512 * 16}),
    ("template <typename T> __device__ T blend(T a, T b, T t) { return a + t * (b - a); }\nout[i] = blend(a[i], a[i + 1], 0.5f);",
     LAUNCH, {"load_requests": 1024, "load_sectors": 512 * (4 + 5), "store_requests": 512, "store_sectors": 2048}),
    ("__shared__ int s[256];\ns[threadIdx.x] = d[i];\n__syncthreads();\nd[i] = s[255 - threadIdx.x];", LAUNCH,
     {"load_requests": 512, "load_sectors": 2048, "store_requests": 512, "store_sectors": 2048, "shared_load_requests": 512,
      "shared_load_wavefronts": 512, "shared_store_requests": 512, "shared_store_wavefronts": 512}),
    # 32,768 pairs of halves for 16,384 threads: 2 rounds.
    ("const half2* from = (const half2*)src; half2* to = (half2*)dst;\n"
     "for (int k = i; k < n / 2; k += gridDim.x * blockDim.x) to[k] = __hadd2(from[k], from[k]);", (*LAUNCH, "--arg", "n=65536"),
     {"load_requests": 1024, "load_sectors": 4096, "store_requests": 1024, "store_sectors": 4096}),
    # 2 of 8 warps of a block clear and add up; all 512 count.
    ("__shared__ unsigned bins[64];\nif (threadIdx.x < 64) bins[threadIdx.x] = 0;\n__syncthreads();\natomicAdd(&bins[i & 63], 1u);\n"
     "__syncthreads();\nif (threadIdx.x < 64) atomicAdd(&hist[threadIdx.x], bins[threadIdx.x]);", LAUNCH,
     {"shared_store_requests": 128, "shared_load_requests": 128, "shared_atomic_requests": 512, "reduce_requests": 128,
      "reduce_sectors": 512}),
    # 10,000 lanes are 312 warps and a half; the one lane whose flag is 0 leaves no sector untouched.
    ("if (i >= n) return;\nif (flags[i] == 0) return;\nout[i] = in[i];",
     (*LAUNCH, "--arg", "n=10000", "--arg", "flags=i32[16384]=iota"),
     {"load_requests": 313 * 2, "load_sectors": 1250 * 2, "store_requests": 313, "store_sectors": 1250}),
    ("__device__ int wrap(int k, int n) { return k < 0 ? k + n : k >= n ? k - n : k; }\n"
     "float left(const float* f, int k, int n) { return f[wrap(k - 1, n)]; }\ng[i] = left(f, i, n) + f[wrap(i + 1, n)];",
     (*LAUNCH, "--arg", "n=16384"),
     {"load_requests": 1024, "load_sectors": 512 * (5 + 5), "store_requests": 512, "store_sectors": 2048}),
    # 126 rows of 32 warps: 4 sectors above and below; 5 to the left but for the first warp, to the right but for the last.
    ("#define A(r, c) a[(r) * 1024 + (c)]\nif (y > 0 && y < 127 && x > 0 && x < 1023)\n"
     "  b[y * 1024 + x] = A(y - 1, x) + A(y + 1, x) + A(y, x - 1) + A(y, x + 1);", ("--grid", "32x16", "--block", "32x8"),
     {"load_requests": 126 * 32 * 4, "load_sectors": 126 * (32 * 8 + 2 * (31 * 5 + 4)), "store_requests": 126 * 32,
      "store_sectors": 126 * 32 * 4}),
    # 4 words of a lane's own 16 bytes: 16 sectors each.
    ("const float* p = a + i * 4;\nfloat m = p[0];\nint k = 1;\nwhile (true) { if (k == 4) break; m = fmaxf(m, p[k]); ++k; }\nb[i] = m;",
     LAUNCH, {"load_requests": 2048, "load_sectors": 2048 * 16, "store_requests": 512, "store_sectors": 2048}),
    # A row of 128 floats a warp: 4 rounds of a matrix and a vector.
    ("int row = i / 32;\nfloat s = 0;\nfor (int c = lane; c < 128; c += 32) s += A[row * 128 + c] * v[c];\n"
     "for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffff, s, d);\nif (lane == 0) out[row] = s;", LAUNCH,
     {"load_requests": 512 * 8, "load_sectors": 512 * 8 * 4, "store_requests": 512, "store_sectors": 512}),
    ("y[i] = alpha * x[i] + y[i];", (*LAUNCH, "--type", "f64"),
     {"load_requests": 1024, "load_sectors": 1024 * 8, "store_requests": 512, "store_sectors": 512 * 8}),
    # Every second double: 16 sectors; side by side: 8.
    ("template <typename T, int STRIDE>\n__global__ void gather(const T* __restrict__ in, T* out, int n) {\n"
     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = in[(size_t)i * STRIDE];\n}",
     (*LAUNCH, "--type", "f64", "--arg", "STRIDE=2", "--arg", "n=16384"),
     {"load_requests": 512, "load_sectors": 512 * 16, "store_requests": 512, "store_sectors": 512 * 8}),
)


def rows_of_1_to_5():
    starts = [0]
    for row in range(1024):
        starts.append(starts[-1] + 1 + row * 7 % 5)
    return starts


def is_asked_for(key):
    return key.endswith("_requests") and not key.startswith("l2_")


class Code(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(f"{self.folder}/bin")
        self.surroundings = harness.environment()

    def without_cuda(self):
        """The only program on the PATH is clang."""
        os.symlink(CLANG, f"{self.folder}/bin/clang")
        self.surroundings = harness.environment(PATH=f"{self.folder}/bin", CUDA_HOME="/nonexistent", CUDA_PATH=None)

    def result(self, *arguments):
        return self.run_ok("kernel", *arguments, "--machine", "h200", "--json", env=self.surroundings).json

    def predicted(self, text, *arguments):
        return self.result("--code", text, *arguments)["points"][0]["predicted"]

    def refused(self, *arguments, code=USAGE):
        ran = harness.run("kernel", *arguments, env=self.surroundings)
        self.assertEqual(ran.code, code, ran.err_text)
        return ran.err_text

    def check_counts(self, text, options, expected):
        with self.subTest(text):
            counted = self.predicted(text, *options)
            self.assertEqual({key: counted.get(key) for key in expected}, expected)
            self.assertEqual(set(filter(is_asked_for, counted)), set(filter(is_asked_for, expected)))

    def check_pasted(self, compiler, step):
        starts = rows_of_1_to_5()
        arrays = {"@COL": [2 * k for k in range(16384)], "@ROWS": starts,
                  "@NONZEROS": [k * 37 % 2000 for k in range(starts[-1])]}
        paths = {name: "@" + write_npy(f"{self.folder}/{name[1:]}.npy", values, "<i4") for name, values in arrays.items()}
        with open(DATA, encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        self.assertEqual(len(cases), 115)
        for case in cases[::step]:
            options = case["options"]
            for name, path in paths.items():
                options = [option.replace(name, path) for option in options]
            self.check_counts(case["pasted"], options, {**case["counters"], **case.get(compiler, {})})


@unittest.skipUnless(CLANG, "no clang")
class ByClang(Code):
    def setUp(self):
        super().setUp()
        self.without_cuda()

    def test_counts_what_pasted_code_asks_for(self):
        self.check_pasted("clang", 1)

    def test_counts_what_is_counted_by_hand(self):
        for case in BY_HAND:
            self.check_counts(*case)

    def test_says_the_lines_of_the_text_and_who_compiled(self):
        result = self.result("--code", LOOP, *LAUNCH, "--arg", "n=64")
        self.assertEqual({point["parameters"]["line"] for point in result["points"][1:]}, {"code:1", "code:2"})
        self.assertIn("W-CLANG", [one["code"] for one in result["warnings"]])

    def test_names_missing_headers_beside_the_compiler(self):
        with open(f"{self.folder}/k.cu", "w", encoding="ascii") as file:
            file.write("#include <no/such.h>\n__global__ void k(float* x) { x[threadIdx.x] = 1; }\n")
        result = self.result(f"{self.folder}/k.cu", "--grid", "1", "--block", "32")
        self.assertLessEqual({"W-CLANG", "W-HEADERS"}, {one["code"] for one in result["warnings"]})

    def test_draws_a_line_by_the_command_that_it_prints(self):
        found = self.run_ok("kernel", "--code", LOOP, *LAUNCH, "--type", "f64", "--arg", "n=64", "--json").json["findings"]
        drawn = self.run_ok("explain", *shlex.split(found[0]["like"]), "--json").json["explanation"]["accesses"][0]
        self.assertEqual(drawn["instructions"][0]["predicted"]["load_sectors"], 32)

    def test_assumes_a_number_that_is_missing_and_names_it(self):
        [assumed] = [one for one in self.result("--code", LOOP, *LAUNCH)["warnings"] if one["code"] == "W-ASSUMED"]
        self.assertIn("--arg n=", assumed["text"])

    def test_takes_a_file_or_code(self):
        self.assertIn("--code", self.refused())
        self.assertIn("--code", self.refused("k.cu", "--code", "a[i]"))

    def test_says_how_c_writes_what_was_meant(self):
        for text, place, *facts in (
                ("y[i] = b[threadidx.x]", 10, "threadIdx.x?"), ("y[i] = b[threadIdx.X]", 10, "threadIdx.x?"), ("y[i] = b[blockidx.y]", 10, "blockIdx.y?"),
                ("for k in range(n): y[k] = x[k]", 1, "Python", "for (int k = 0"), ("y[i] = x[i] if i < n else 0", 13, "test ? then : otherwise"),
                ("if i < n: y[i] = x[i]", 1, "if (i < n)"), ("y[i] = x[i**2]", 11, "x*x"), ("y[i] = x[i//2]", 9, "y[i] = x[i/2]"),
                ("y[i] = x[i] // 2", 11, "y[i] = x[i] / 2"), ("y[i] = lambda j: j", 8, "Python"), ("y[i] = np.sum(x)", 8, "np.f()"),
                ("y[i] = x.T[i]", 8, "y[i*n + j]"), ("y[i] = foo(x[i])", 8, "'foo' is no function", "__device__"), ("y(i) = x(i)", 1, "y[i]"),
                ("float5 v = x[i];", 1, "'float5' is no function and no type"), ("y[i][j] = 1", 1, "y[row*1024 + column]"), ("y[i,j] = x[i]", 1, "f32 y[1024][1024];")):
            with self.subTest(text):
                said = self.refused("--code", text, *LAUNCH)
                self.assertIn(f"code:1:{place}: ", said)
                for fact in facts:
                    self.assertIn(fact, said)
        # What stands around the text is of no interest.
        for text in ("x[i] y[i]", "x[i] +", "if (i < 3) x[i] *", "float4", "{1,2}", "x[i], y[i] z[i]"):
            said = self.refused("--code", text, *LAUNCH)
            self.assertNotIn("coalprof_", said)
            self.assertNotIn("CoalprofUse", said)
            self.assertIn("statements of CUDA C++", said)
        for text in ("if (i < 3) y[i] = x[i]; // 2", "y[i] = x[i]; // if so", "if constexpr (true) y[i] = 1;", "float lambda = x[i]; y[i] = lambda;",
                     "f32 y[1024][1024]; y[i][0] = x[i];", "y[i] = x[i] // the value\n;"):
            self.predicted(text, *LAUNCH)

    # Of names that are declared nowhere, only those of functions and types remain for the compiler to say.
    def test_says_what_the_compiler_says_of_wrong_code(self):
        self.assertIn("code:1:8: error", self.refused("--code", "c[i] = ;", *LAUNCH))
        self.assertIn("real", self.refused("--code", "real v = a[i];", *LAUNCH))
        for text in ("", "}", "{", "/*", "'", "\"\\", "#define", "for (", "template <", "a[", "case", "struct {", "*"):
            with self.subTest(text):
                self.refused("--code", text, *LAUNCH)
        for text, place in (("x[i] = 1;\n}", "2:1: '}'"), ("if (i < n) {", "1:12: '{'"), ("x[i) = 1;", "1:4: ')'"), ("for (;;", "1:5: '('")):
            self.assertIn(f"code:{place} has no counterpart", self.refused("--code", text, *LAUNCH))

    def test_says_that_a_decimal_with_a_comma_is_a_list(self):
        text = "__global__ void k(float* x, float dt, int n) { if (threadIdx.x < n) x[threadIdx.x] = dt * 1'000; }"
        for values, says_so in (("dt=0,1", True), ("dt=0.5,1.5", False), ("dt=0,1,2", False), ("n=0,1", False)):
            others = ("--arg", "n=1" if values.startswith("dt") else "dt=1")
            ran = self.run_ok("kernel", "--code", text, *LAUNCH, "--arg", values, *others, env=self.surroundings)
            self.assertEqual("dt=0.1" in ran.err_text, says_so, values)

    def test_leaves_words_to_no_shell(self):
        self.refused("--code", f"$(touch {self.folder}/one) `touch {self.folder}/two` ; touch {self.folder}/three", *LAUNCH)
        self.refused("--code", "a[i]", "--type", f"$(touch {self.folder}/four)", *LAUNCH)
        self.assertEqual(os.listdir(self.folder), ["bin"])

    def test_compiles_files_where_there_is_no_cuda(self):
        with open(f"{self.folder}/k.cu", "w", encoding="utf-8") as file:
            file.write("#include <cstdio>\n#include <cmath>\n#include <vector>\n#include <algorithm>\n#include <iostream>\n"
                       "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n"
                       "__global__ void k(const half2* a, half2* b, int n) {\n"
                       "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "    if (i < std::min(n, 1 << 20)) b[i] = __hadd2(a[i], a[i]);\n}\n"
                       "int main() { half2* a; cudaMalloc(&a, 4096); k<<<4, 256>>>(a, a, 1024); cudaDeviceSynchronize();\n"
                       "    std::vector<float> all(9); return int(std::sqrt(std::max(all[0], 1.0f))); }\n")
        counted = self.result(f"{self.folder}/k.cu", "k", *LAUNCH, "--arg", "n=16384")["points"][0]["predicted"]
        self.assertEqual((counted["load_sectors"], counted["store_sectors"]), (512 * 4, 512 * 4))
        self.assertIn("--nvcc-args", self.refused(f"{self.folder}/k.cu", *LAUNCH, "--nvcc-args=-O1"))


class ByNothing(Code):
    def test_says_what_compiles(self):
        self.surroundings = harness.environment(PATH=f"{self.folder}/bin", CUDA_HOME="/nonexistent", CUDA_PATH=None)
        refused = self.refused("--code", "a[i]", *LAUNCH, code=ENVIRONMENT)
        self.assertIn("nvcc", refused)
        self.assertIn("clang", refused)


@unittest.skipUnless(NVCC, "no nvcc")
class ByNvcc(Code):
    def test_counts_what_is_counted_by_hand(self):
        for case in BY_HAND:
            self.check_counts(*case)

    def test_counts_what_pasted_code_asks_for(self):
        self.check_pasted("nvcc", 10)


if __name__ == "__main__":
    harness.main()
