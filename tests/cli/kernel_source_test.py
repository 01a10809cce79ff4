"""`coalprof kernel` on CUDA source: what compiles it, and the launches of its host code."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import SOURCE, Case
from small_kernels import codes_of

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
        self.write(self.file, '#include "own$1.h"\n#include <given.h>\n'
                              '__global__ void k(float* x) { x[threadIdx.x * OWN * GIVEN * MACRO] = 1; }\n')
        self.write(f"{self.NAME}/own$1.h", "#define OWN 2\n")
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

    # src/gpu/k.cu of a repository: headers in inc/ and src/, one by their names alone, none named by -I.
    def test_takes_headers_of_its_repository_without_what_does_not_compile_of_them(self):
        for folder in (".git", "src/gpu", "inc/lib"):
            os.makedirs(f"{self.folder}/{folder}")
        self.write("inc/lib/wide.h", '#pragma once\n#include "deep.h"\n#include <no/such.h>\nnamespace n = no::such;\n'
                                     "no::Tensor host(const no::Tensor& t);\n")
        self.write("inc/lib/deep.h", "struct Step {\n  no::Text name;\n  __device__ static int bytes() { return 4; }\n};\n")
        self.write("src/near.h", "#define NEAR 8\n")
        self.write("src/gpu/k.cu", '#include "near.h"\n#include "lib/wide.h"\n'
                                   "__global__ void k(float* x) { x[threadIdx.x * NEAR * Step::bytes()] = 1; }\n"
                                   "#ifdef NEAR\nno::Tensor host(const no::Tensor& t) {\n  k<<<1, 32>>>(t.data());\n}\n#endif\n")
        before = [self.read(name) for name in ("inc/lib/wide.h", "inc/lib/deep.h")]
        document = self.run_ok("kernel", "src/gpu/k.cu", "--cache-dir", "none", "--json", cwd=self.folder).json
        self.assertEqual(document["points"][0]["predicted"]["store_sectors_per_request"], 32)
        found = [one["text"] for one in document["warnings"] if one["code"] == "W-HEADERS"]
        self.assertEqual(len(found), 2, found)
        self.assertIn("no/such.h", found[0])
        self.assertIn(f"{self.folder}/inc", found[1])
        self.assertEqual(before, [self.read(name) for name in ("inc/lib/wide.h", "inc/lib/deep.h")])
        # A header that changes is compiled again.
        taken = lambda: self.run_ok("kernel", "src/gpu/k.cu", "--cache-dir", "cache", "--json",
                                    cwd=self.folder).json["points"][0]["predicted"]["store_sectors_per_request"]
        self.assertEqual(taken(), 32)
        self.write("inc/lib/deep.h", self.read("inc/lib/deep.h").replace("return 4", "return 0"))
        self.assertEqual(taken(), 1)

    def read(self, name):
        with open(f"{self.folder}/{name}", encoding="ascii") as file:
            return file.read()

    def test_instantiates_a_template_that_its_file_does_not(self):
        self.write("k.cu", "namespace a::b {\ntemplate <typename T, int N, bool B, int M = 2>\n"
                           "__launch_bounds__(64) __global__ void k(T* x) { x[threadIdx.x * N * M] = B; }\n}\n"
                           "void run(no::Tensor t) { DISPATCH(t, [&] { a::b::k<scalar_t, 4, true><<<1, 32>>>(t); }); }\n")
        document = self.run_ok("kernel", "k.cu", "--json", cwd=self.folder).json
        self.assertEqual(document["points"][0]["parameters"]["kernel"], "k<float, 32, false, 2>")
        self.assertIn("W-ASSUMED", codes_of(document))

    # PyTorch's headers are nowhere: accessors of a contiguous tensor, whose last index is the fastest.
    def test_takes_a_kernel_of_a_pytorch_extension(self):
        self.write("k.cu", "#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n"
                           "template <typename scalar_t> __global__ void k(const at::PackedTensorAccessor64<scalar_t, 2> a,\n"
                           "    scalar_t* y) { y[threadIdx.x] = a[threadIdx.x][0]; }\n"
                           "void run(const torch::Tensor& a, torch::Tensor y) {\n  no::Check c = a, d{a, {1, 2}};\n  no::check(c, {d, d});\n"
                           '  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "k", [&] {\n'
                           "    k<scalar_t><<<1, 32>>>(a.packed_accessor64<scalar_t, 2>(), y.data_ptr<scalar_t>()); });\n}\n")
        document = self.run_ok("kernel", "k.cu", "--grid", "1", "--block", "32", "--arg", "a.sizes_[1]=8", "--json", cwd=self.folder).json
        self.assertEqual(document["points"][0]["parameters"]["kernel"], "k<float>")
        self.assertEqual(document["points"][0]["predicted"]["load_sectors"], 32)
        self.assertEqual(document["points"][0]["predicted"]["store_sectors"], 4)

    def test_passes_over_errors_that_macros_of_a_build_would_avoid(self):
        kernel = "__global__ void k(float* x) {\n%s\n  x[threadIdx.x] = 1;\n}\n"
        error = "#ifndef HALF\n#error HALF is not defined\n#endif"
        self.write("k.cu", error + "\n" + kernel % "")
        document = self.run_ok("kernel", "k.cu", "--json", cwd=self.folder).json
        self.assertIn("HALF is not defined", "".join(one["text"] for one in document["warnings"] if one["code"] == "W-ASSUMED"))
        self.write("k.cu", kernel % error)
        self.assertIn("-D NAME", self.check(harness.run("kernel", "k.cu", cwd=self.folder), harness.USAGE).err_text)

    def test_says_what_to_give_where_the_device_s_part_does_not_compile(self):
        for text, hint in (("#include <no/where.h>\n__global__ void k(float* x) { x[where(1)] = 1; }\n", "-I FOLDER"),
                           ("__global__ void k(float* x) { x[threadIdx.x * STRIDE] = 1; }\n", "-D STRIDE="),
                           ("template <int N> __global__ void k(int* x) { static_assert(N < 8); *x = N; }\n", "template __global__")):
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
        self.write(f"{self.NAME}/own$1.h", "int x = ;\n")
        ran = self.check(harness.run("kernel", self.file, *self.options, cwd=self.folder), harness.USAGE)
        self.assertIn(f"{self.NAME}/own$1.h(1): error", ran.err_text)
        self.assertNotIn("coalprof-", ran.err_text)

    def test_is_not_written_over_by_results_nor_are_its_headers(self):
        for header in ("inc,$(touch INJECTED)/given.h", f"{self.NAME}/own$1.h"):
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
        os.makedirs(f"{self.folder}/cuda/bin", exist_ok=True)
        self.write("cuda/bin/nvcc", "#!/bin/sh\n" + script)
        os.chmod(f"{self.folder}/cuda/bin/nvcc", 0o700)
        return harness.environment(CUDA_HOME=f"{self.folder}/cuda")

    def test_without_room_for_temporary_files_names_the_room(self):
        # The second is what GCC says on a disk of 16 KiB.
        for words in ("cannot write x: No space left on device", "fatal error: when writing output to x: Invalid argument"):
            env = self.own_nvcc(f"echo '{words}' >&2\nexit 1\n")
            ran = self.check(harness.run("kernel", self.file, "--list", cwd=self.folder, env=env), harness.OUTPUT)
            self.assertIn("TMPDIR", ran.err_text)

    def test_keeps_messages_where_a_full_disk_takes_none(self):
        env = self.own_nvcc("readlink /proc/$$/fd/2 >&2\nexit 1\n")
        ran = self.check(harness.run("kernel", self.file, "--list", cwd=self.folder, env=env), harness.USAGE)
        self.assertTrue(ran.err_text.startswith("/memfd:"), ran.err_text)

    def test_is_compiled_once_for_each_compute_capability(self):
        self.write("k.ptx", ".version 8.0\n.target sm_75\n.address_size 64\n.entry k()\n.reqntid 32\n{\nret;\n}\n")
        env = self.own_nvcc(f"echo >> '{self.folder}/runs'\nwhile [ \"$1\" != -o ]; do shift; done\n"
                            f"cp '{self.folder}/k.ptx' \"$2\"\n")
        # Neither names nor the block are given; H100 and H200 are 9.0, A100 is 8.0.
        self.run_ok("kernel", self.file, "--best", "--grid", "1", "--machine", "h100,h200,a100", cwd=self.folder, env=env)
        with open(f"{self.folder}/runs", encoding="ascii") as file:
            self.assertEqual(len(file.readlines()), 4)  # once more for the names of parameters


def is_ptxas_13_0():
    """True if the machine code is that of the release whose figures are known."""
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    return os.path.exists(ptxas) and "release 13.0" in subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout


@unittest.skipUnless(NVCC and is_ptxas_13_0(), "there is no nvcc 13.0")
class AsCompiled(Case):
    """Shared memory in the widths of the machine code: a product with 8x8 results a thread, blocks of 64x64."""

    SOURCE = """
__global__ void product(int N, int K, const float* A, const float* B, float* C) {
    __shared__ float As[64 * 8], Bs[8 * 64];
    const int col = threadIdx.x % 8, row = threadIdx.x / 8;
    A += blockIdx.y * 64 * K; B += blockIdx.x * 64; C += blockIdx.y * 64 * N + blockIdx.x * 64;
    const unsigned ar = threadIdx.x / 8, ac = threadIdx.x % 8, br = threadIdx.x / 64, bc = threadIdx.x % 64;
    float sums[64] = {0.0f}, m[8] = {0.0f}, n[8] = {0.0f};
    for (unsigned k = 0; k < K; k += 8) {
        for (unsigned o = 0; o < 64; o += 8) As[(ar + o) * 8 + ac] = A[(ar + o) * K + ac];
        for (unsigned o = 0; o < 8; o += 1) Bs[(br + o) * 64 + bc] = B[(br + o) * N + bc];
        __syncthreads();
        A += 8; B += 8 * N;
        for (unsigned dot = 0; dot < 8; ++dot) {
            for (unsigned i = 0; i < 8; ++i) m[i] = As[(row * 8 + i) * 8 + dot];
            for (unsigned i = 0; i < 8; ++i) n[i] = Bs[dot * 64 + col * 8 + i];
            for (unsigned i = 0; i < 8; ++i)
                for (unsigned j = 0; j < 8; ++j) sums[i * 8 + j] += m[i] * n[j];
        }
        __syncthreads();
    }
    for (unsigned i = 0; i < 8; ++i)
        for (unsigned j = 0; j < 8; ++j) C[(row * 8 + i) * N + col * 8 + j] = sums[i * 8 + j];
}
"""

    def predicted(self, machine, **env):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with open(f"{folder.name}/product.cu", "w", encoding="ascii") as file:
            file.write(self.SOURCE)
        return self.run_ok("kernel", f"{folder.name}/product.cu", "--launch", "<<<64x64, 64>>>", "--arg", "N,K=4096",
                           "--machine", machine, "--json", **env).json

    def test_a_loop_that_ptxas_unrolls(self):
        # 8,192 warps take 512 steps, each with 32 LDS.128 and 8 LDS.32. The figures are those that a public report
        # measured on an RTX 4090.
        whole, *lines = self.predicted("rtx4090")["points"]
        self.assertEqual(whole["predicted"]["shared_load_requests"], 167772160)
        self.assertEqual(whole["predicted"]["shared_load_conflicts"], 503316480)
        self.assertIn("v4", [one["name"] for one in lines if "shared_load" in str(one["parameters"])][0])

    def test_a_machine_whose_ptxas_keeps_the_loop(self):
        # Eight rounds of 8 LDS.32 and 2 LDS.128.
        self.assertEqual(self.predicted("h200")["points"][0]["predicted"]["shared_load_requests"], 8192 * 512 * 80)


@unittest.skipUnless(NVCC and (shutil.which("clang") or shutil.which("clang-14")), "there is no nvcc, or no clang")
class Kept(Case):
    """What was compiled once."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.cache = f"{self.folder}/cache"
        os.mkdir(f"{self.folder}/inc")
        self.write("inc/n.h", "#define N 2\n")
        self.write("k.cu", '#include "n.h"\n#include <not/here.h>\n__global__ void k(float* x) { x[threadIdx.x * N] = 1; }\n'
                           "int main() { float* x; k<<<1, 32>>>(x); }\n")
        # A compiler that notes when it runs, here and below as nvcc.
        self.write("nvcc", f"#!/bin/sh\necho >> {self.folder}/runs\nexec {shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'} \"$@\"\n")
        os.chmod(f"{self.folder}/nvcc", 0o755)

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def sectors(self, *options):
        """Of stores, and whether nvcc ran."""
        self.write("runs", "")
        env = harness.environment(PATH=f"{self.folder}:{os.environ['PATH']}", COALPROF_CACHE_DIR=self.cache)
        ran = self.run_ok("kernel", "k.cu", "-I", "inc", *options, "--json", cwd=self.folder, env=env)
        point = ran.json["points"][0]
        self.assertEqual(point["parameters"]["grid"], "1")
        self.assertTrue(any(one["code"] == "W-HEADERS" for one in ran.json["warnings"]) == (not os.path.exists(
            f"{self.folder}/inc/not/here.h")))
        with open(f"{self.folder}/runs", encoding="ascii") as runs:
            return point["predicted"]["store_sectors"], bool(runs.read())

    # 32 lanes, N times 4 bytes from lane to lane: 4 N sectors up to N = 8.
    def test_is_taken_where_all_that_went_in_is_as_it_was(self):
        self.assertEqual(self.sectors(), (8, True))
        self.assertEqual(self.sectors(), (8, False))
        self.assertEqual(self.sectors("--nvcc-args", "-O1"), (8, True))
        self.write("inc/n.h", "#define N 4\n")
        self.assertEqual(self.sectors(), (16, True))
        self.assertEqual(self.sectors(), (16, False))
        self.assertEqual(self.sectors("-m", "a100"), (16, True))  # another architecture
        # A header that was nowhere is there now.
        os.mkdir(f"{self.folder}/inc/not")
        self.write("inc/not/here.h", "#undef N\n#define N 1\n")
        self.assertEqual(self.sectors(), (4, True))
        with open(f"{self.folder}/k.cu", "a", encoding="ascii") as file:
            file.write("// the same kernel\n")
        self.assertEqual(self.sectors(), (4, True))
        # Entries that were cut are made once more.
        for name in os.listdir(self.cache):
            os.truncate(f"{self.cache}/{name}", 100)
        self.assertEqual(self.sectors(), (4, True))

    def test_what_was_compiled_and_assembled_is_found_again(self):
        self.sectors()
        kept = sorted(os.listdir(self.cache))
        self.assertGreaterEqual(len(kept), 2)
        self.sectors()
        self.assertEqual(sorted(os.listdir(self.cache)), kept)

    def test_is_not_taken_from_files_that_others_may_write(self):
        self.sectors()
        os.chmod(self.cache, 0o777)
        self.assertEqual(self.sectors(), (8, True))
        os.chmod(self.cache, 0o700)
        self.assertEqual(self.sectors(), (8, False))
        for name in os.listdir(self.cache):
            os.chmod(f"{self.cache}/{name}", 0o666)
        self.assertEqual(self.sectors(), (8, True))

    def test_has_no_more_than_its_room(self):
        self.sectors()
        self.write("cache/old.compiled", "")
        os.truncate(f"{self.cache}/old.compiled", 1 << 28)  # sparse
        os.utime(f"{self.cache}/old.compiled", (0, 0))
        self.sectors("-D", "OTHER")
        self.assertNotIn("old.compiled", os.listdir(self.cache))
        self.assertEqual(self.sectors(), (8, False))


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
    ("unsigned n = (1u << 20) + 6;\n  k<<<n / 3u * 3u % 4096u, 32>>>(x, n & ~31u, 4099 & ~31);", "5", "32",
     "n = 1048576, a = 4096"),  # n / 3u * 3u is n - 1
    ("int sizes[] = {64, 128}; for (int j = 0; j < sizeof(sizes) / sizeof(int); j++) k<<<N, sizes[j]>>>(x, sizeof(sizes), j);",
     "1000", "64", "n = 8, a = 0"),
    ("int sizes[2] = {64, 128}; sizes[0] = atoi(argv[1]); k<<<2, 32>>>(x, 7, sizes[1]);", "2", "32", "n = 7"),
    ("int way = 2;\n  switch (way) { case 1: k<<<1, 32>>>(x, 1, 1); break;\n  case 2: { int b = 64; k<<<2, b>>>(x, 2, 2); break; }\n"
     "  default: k<<<3, 32>>>(x, 3, 3); }", "2", "64", "n = 2, a = 2"),
    ("int i = 0; while (true) { i += 3; if (i > 7) break; }\n  k<<<i, 32>>>(x, i, i);", "9", "32", "n = 9, a = 9"),
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

    def test_is_drawn_with_the_launch_of_its_host_code(self):
        self.predicted(AROUND % "k<<<2, 64>>>(x, 7, 1);")
        drawn = self.run_ok("explain", "kernel", "k.cu", "k", cwd=self.folder).out_text
        self.assertIn("launch of k.cu:", drawn)
        self.assertIn("2 blocks of 64", drawn)

    def test_names_what_cannot_be_worked_out(self):
        document = self.predicted(AROUND % "k<<<1, 32>>>(x, atoi(argv[1]), 1);")
        self.assertIn("1 blocks of 32, a = 1; assumed, give your own: --arg n=32", self.notes(document, "W-ASSUMED")[0])
        # A grid is assumed, so that there are a million threads.
        document = self.predicted(AROUND % "k<<<atoi(argv[1]), 32>>>(x, 7, 1);")
        self.assertEqual(document["points"][0]["parameters"]["grid"], "32768")
        self.assertIn("of 32, n = 7, a = 1; assumed, give your own: --launch '<<<32768, 32>>>'", self.notes(document, "W-ASSUMED")[0])
        # What is typed is taken.
        document = self.predicted(AROUND % "k<<<1, 32>>>(x, atoi(argv[1]), 1);", "--arg", "n=32")
        self.assertEqual(document["points"][0]["predicted"]["load_sectors"], 4)

    # Each number by what it is compared with: the place of a thread, that of one axis, a counter of rounds, nothing.
    def test_assumes_the_numbers_that_nobody_gives(self):
        flat, plane = "blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.y * blockDim.y + threadIdx.y"
        rounds = "if (i < n && on && a > 0) for (int k = 0; k < m; ++k) x[i * p + k] = 1;"
        for body, assumed in ((f"int i = {flat}; {rounds}", "--arg on=1 --arg n=1048576 --arg m=128 --arg p=1024 --arg a=1"),
                              (f"int i = {flat}; if (i < n * m * p) x[i] = a;", "--arg n=128 --arg m=128 --arg p=128"),
                              (f"int i = {flat}, j = {plane}; if (i < n && j < m) x[j * p + i] = 1;",
                               "--arg n=1024 --arg m=1024 --arg p=1024")):
            text = f"__global__ void k(float* x, bool on, int n, int m, int p, float a) {{ {body} }}\n"
            with self.subTest(assumed):
                notes = self.notes(self.predicted(text), "W-ASSUMED")
                self.assertTrue(notes[0].endswith(assumed), notes)
        # What is given stays as it is, and a launch that is given is what threads are compared with.
        notes = self.notes(self.predicted(text, "--grid", "16x2", "--block", "32x8", "--arg", "p=77"), "W-ASSUMED")
        self.assertEqual(notes, ["assumed, give your own: --arg n=512 --arg m=16"])

    # Kernels that other arguments would choose are launched with the numbers of this run.
    def test_takes_launches_that_another_argument_chooses(self):
        document = self.predicted(
            "#include <cstdlib>\n" + "".join(f"__global__ void k{i}(float* x, int n) {{ x[threadIdx.x * n] = 1; }}\n" for i in range(4)) +
            "int main(int argc, char** argv) {\n  int way = 1, n = 64;\n  if (argc > 1) way = atoi(argv[1]);\n  float* x;\n"
            "  if (n < 7) k0<<<n, 32>>>(x, n);\n  switch (way) {\n  case 1: k1<<<1, 32>>>(x, n); break;\n"
            "  case 2: n = 7; k1<<<9, 32>>>(x, n); k2<<<2, n>>>(x, n); }\n  k3<<<n, 96>>>(x, n);\n}\n")
        launches = {one["parameters"]["kernel"]: (one["parameters"]["grid"], one["parameters"]["block"])
                    for one in document["points"]}
        self.assertEqual((len(document["points"]), launches),
                         (4, {"k0": ("64", "32"), "k1": ("1", "32"), "k2": ("2", "7"), "k3": ("64", "96")}))

    # Parameters of types that no header declares here.
    def test_reads_on_behind_what_it_cannot_read(self):
        document = self.predicted(AROUND.replace("void run(", "void check(std::vector<int>& a, const std::string& b) {\n"
                                                              "  assert(a[0] == b);\n}\nvoid run(") % "k<<<3, 32>>>(x, 5, 1);")
        self.assertIn("3 blocks of 32, n = 5", self.notes(document, "W-SOURCE")[0])

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
        self.assertEqual([one["parameters"]["kernel"] for one in points], ["far", "nowhere", "set<double>", "lost"])
        self.assertEqual([one["parameters"]["grid"] for one in points], ["4096", "4096", "64", "1"])
        self.assertEqual(points[0]["parameters"]["costliest"], "k.cu:2 store x")
        # Lanes 128 bytes apart: what that costs is the finding that gains most.
        self.assertEqual(document["findings"][0]["kernel"], "far")
        self.assertEqual([one["point"] for one in document["warnings"] if one["code"] == "W-ASSUMED"], ["nowhere", "lost"])

    def test_assumes_a_million_threads_in_as_many_dimensions_as_are_read(self):
        for axes, grid, block in (("x", "4096", "256"), ("xy", "32x128", "32x8"), ("xyz", "8x16x32", "32x8")):
            sums = " + ".join(f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}" for axis in axes)
            document = self.predicted(f"__global__ void k(float* x) {{ x[{sums}] = 1; }}\n")
            parameters = document["points"][0]["parameters"]
            self.assertEqual((parameters["grid"], parameters["block"]), (grid, block))
            self.assertEqual(len(self.notes(document, "W-ASSUMED")), 1)

    def write(self, name, text):
        os.makedirs(os.path.dirname(f"{self.folder}/{name}"), exist_ok=True)
        with open(f"{self.folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def ranked(self, *words, code=harness.DONE):
        return self.check(harness.run("kernel", *words, "--json", cwd=self.folder), code).json

    FAR = "__global__ void %s(float* x) { x[(blockIdx.x * 256 + threadIdx.x) * %d] = 1; }\n"

    # One kernel is launched in another file, one is a part of another file, one has the name of another.
    def test_ranks_the_kernels_of_several_files_and_of_folders(self):
        self.write("src/near.cu", self.FAR % ("near", 1) + self.FAR % ("same", 1))
        self.write("src/deep/far.cu", self.FAR % ("far", 32) + self.FAR % ("same", 2))
        self.write("src/main.cu", '#include "part.cu"\n__global__ void near(float* x);\n'
                                  "int main() { float* x; part<<<64, 256>>>(x); near<<<128, 256>>>(x); }\n")
        self.write("src/part.cu", self.FAR % ("part", 1))
        self.write("src/host.cu", "int none() { return 0; }\n")
        self.write("src/notes.txt", "no source")
        document = self.ranked("src")
        launched = [(one["parameters"]["kernel"], one["parameters"]["grid"], one["parameters"]["launch"])
                    for one in document["points"]]
        self.assertEqual(launched[0], ("far", "4096", "src/deep/far.cu"))
        self.assertEqual(sorted(launched), [("far", "4096", "src/deep/far.cu"), ("near", "128", "main.cu:3"),
                                            ("part", "64", "main.cu:3"), ("same", "4096", "src/deep/far.cu"),
                                            ("same", "4096", "src/near.cu")])
        # Names choose kernels of all files; grid and block hold for each.
        for words in (("src/deep/far.cu", "src/near.cu", "near", "far"), ("src/", "near|far", "--grid", "64", "--block", "256")):
            named = self.ranked(*words)["points"]
            self.assertEqual({one["parameters"]["kernel"] for one in named}, {"near", "far"})
        os.mkdir(f"{self.folder}/empty")
        self.assertIn("no .cu", self.check(harness.run("kernel", "empty", cwd=self.folder), harness.USAGE).err_text)

    def test_lists_files_and_kernels_without_an_answer_and_answers_the_others(self):
        self.write("a/bad.cu", "__global__ void bad() { undeclared(); }\n")
        self.write("a/good.cu", self.FAR % ("good", 1) + "__global__ void endless() { for (;;) __syncthreads(); }\n")
        document = self.ranked("a", "--max-steps", "1000", code=harness.PARTIAL)
        self.assertEqual([one["parameters"]["kernel"] for one in document["points"]], ["good"])
        skipped = {one["point"]: one["text"] for one in document["warnings"] if one["code"] == "W-SKIPPED"}
        self.assertEqual(sorted(skipped), ["a/bad.cu", "endless"])
        self.assertIn("undeclared", skipped["a/bad.cu"])

    def test_fits_a_screen(self):
        self.write("many.cu", "".join(self.FAR % (f"kernel{i}", i + 1) for i in range(12)) +
                   "int main() { float* x; " + "".join(f"kernel{i}<<<4096, 256>>>(x); " for i in range(12)) + "}\n")
        lines = self.check(harness.run("kernel", "many.cu", cwd=self.folder), harness.DONE).out_text.splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(len(one) for one in lines), 80)
        text = "\n".join(lines)
        self.assertIn("kernel11", lines[4] + lines[5] + lines[6])  # the slowest comes first
        self.assertRegex(text, r"\n1\. many\.cu:12 (.|\n)*Fix:(.|\n)*Saves about")
        self.assertIn("launch of many.cu:13", text)

    # Of kernels that take the same arguments and store as much one may be chosen.
    def test_compares_variants_and_ranks_what_does_different_work(self):
        self.write("two.cu", self.FAR % ("a", 1) + self.FAR % ("b", 32) + "__global__ void c(float* x, int n) {}\n")
        self.assertEqual(self.ranked("two.cu", "a", "b")["verdicts"][0]["best"][0]["kernel"], "a")
        self.write("other.cu", self.FAR % ("a", 1) + "__global__ void b(double* x) { x[blockIdx.x * 256 + threadIdx.x] = 1; }\n")
        for options in ((), ("--grid", "4096", "--block", "256")):
            document = self.ranked("other.cu", "a", "b", *options)
            self.assertNotIn("verdicts", document)
            self.assertEqual([one["parameters"]["kernel"] for one in document["points"]], ["b", "a"])

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
