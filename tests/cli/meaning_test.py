"""Errors of meaning: command lines whose words are right and that cannot be meant. Each row is a command, its exit
code and what its message names: the fact, and the way on."""
import os
import shutil
import tempfile
import unittest

import harness
from harness import DONE, ENVIRONMENT, FINDING, OUTPUT, PARTIAL, USAGE, Case, write_npy

NATURAL = os.path.join(harness.SOURCE, "tests", "data", "kernels", "natural.ptx")
SOURCES = """\
struct P { float x, y; };
__global__ void step(P* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i].x += p[i].y;
}
__global__ void gather(float* out, const float* in, const int* idx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[idx[i]];
}
__global__ void plane(float* a, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) a[y * n + x] = 1;
}
__global__ void rows(float* s, const float* A, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += A[r * n + k];
    s[r * n + c] = sum;
}
__global__ void copy4(float4* out, const float4* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
template <typename T> __global__ void scale(T* a) { a[threadIdx.x] = 1; }
template __global__ void scale<float>(float*);
__global__ void wait(const volatile int* flag) {
    while (*flag == 0) {}
}
"""


class Asked(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def ask(self, words, code, *facts, env=None):
        """`words`: a command line, whose quoted words have no blanks but those of `~`."""
        with self.subTest(words):
            arguments = [word.replace("~", " ") for word in words.split()]
            ran = self.check(harness.run(*arguments, cwd=self.folder.name, env=env), code)
            said = (ran.out + ran.err).decode()
            for fact in facts:
                self.assertIn(fact, said)


class Meaning(Asked):
    def test_an_option_that_changes_nothing_is_refused(self):
        for words, fact in (
                ("shared-stride --dlcm cg", "loads of global memory"),
                ("formula shared.load:~t[tid] --dlcm cg", "loads of global memory"),
                ("explain shared-stride --dlcm cg", "loads of global memory"),
                ("offset --op atomic --dlcm cg", "loads of global memory"),
                ("offset --op load --path tex --dlcm cg", "loads of global memory"),
                (f"kernel {NATURAL} --list --arg n=3", "--arg"), (f"kernel {NATURAL} --list --json", "--json"),
                ("offset --machine h200 --device 1", "--device"), ("formula load.f16:~a[i] --type f32", "--type"),
                ("offset --op load --dscm wt", "stores to global memory"),
                ("constant --l2-fetch 64", "accesses of global memory"),
                ("constant --carveout 50", "L1"),
                ("constant --alloc host", "accesses of global memory"),
                ("formula x[i] --array y=f32[100]", "it accesses x"), ("formula i*2 --size 64 MiB", "one word: --size 64MiB"),
                ("formula x[i] x[i*2] --array x=f32[100] --array y=f32[100]", "--array y"),
                ("formula x[i] --array x=f32[10] --array x=f32[9]", "twice"),
                ("formula x[c[i]] --array x=f32[10] --array c=f32[10]=iota", "integers"),
                ("formula x[c[i]] --array c=perm.npy", "c=@perm.npy"),
                ("permute --seed 5 --range 0", "--order shuffle"),
                ("offset --backend model --device 1", "--device"), ("offset --backend model --counters all", "--counters"),
                ("offset --backend model --repeat 3", "--repeat")):
            self.ask(words, USAGE, fact)
        self.ask("offset --op load,store --range 0..1 --dlcm cg --dscm wt", DONE)  # of one point each

    def test_what_a_machine_lacks_and_lanes_without_work_are_remarked(self):
        # 1.x has neither caches of loads nor a split of L1, and only 8.0 and later the limit of L2's fetches.
        settings = "--l2-fetch 64 --carveout 50 --dlcm ca"
        self.ask(f"offset --range 0 --machine c1060,h200 {settings}", DONE,
                 *(f"{word} changes nothing on c1060" for word in settings.split()[::2]))
        # 100 = 3 * 32 + 4
        self.ask("offset --range 0 --block 100", DONE, "W-LAUNCH", "28 idle lanes")
        for words in (f"offset --range 0 {settings}", "offset --range 0 --block 96"):
            self.assertNotIn("W-LAUNCH", self.run_ok(*words.split()).out_text)
        self.ask("offset --range 1 --shard 2/3", DONE, "holds none")
        self.ask("offset --op atomic --machine k80 --range 0", DONE, "before compute capability 7.0")

    def test_arrays_beyond_the_memory_of_a_board_are_remarked(self):
        # An H200 has 141 GB. Two arrays of 80 GiB do not fit, one does, nor does host memory count.
        for words in ("offset --range 0 --size 160GiB", "offset --range 0 --op copy --size 80GiB",
                      "explain offset --size 160GiB",
                      f"kernel {NATURAL} saxpy4 --grid 4 --block 64 --arg 0=float4[10000000000]"):
            self.ask(words, DONE, "W-IMPOSSIBLE", "141 GiB")
        for words in ("offset --range 0 --op load --size 80GiB", "offset --range 0 --size 160GiB --alloc host",
                      "offset --range 0 --size 160GiB --machine 9.0"):
            self.assertNotIn("W-IMPOSSIBLE", self.run_ok(*words.split()).out_text)

    def test_a_drawing_takes_what_its_subject_has(self):
        for words, fact in (
                (f"explain kernel {NATURAL} saxpy4 --type f64", "--type"),
                (f"explain kernel {NATURAL} saxpy4 --at 3", "--at"),
                (f"explain kernel {NATURAL} saxpy4 --warp 1", "--warp"),
                ("explain warps w.txt --line 3", "--line"),
                ("explain formula i --line 3", "--line"),
                ("explain offset --array x=f32[3]", "--array"),
                ("explain offset --seed 3", "--seed"),
                ("explain offset --arg n=3", "--arg"),
                ("explain offset --lane 3", "--warp"),
                ("explain offset --at stride=3", "--at offset=3"), ("explain stride=3", "explain stride --at 3"),
                ("offset --range stride=3", "--range offset=3"),
                (f"explain {NATURAL}", "explain kernel"),
                (f"explain kernel {NATURAL} --grid 4", "name one")):
            self.ask(words, USAGE, fact)
        write_npy(self.at("perm.npy"), list(range(64)))
        self.ask("explain warps perm.npy --type f32", DONE, "load")

    def test_an_option_of_another_command_names_the_way(self):
        for words, fact in (
                (f"kernel {NATURAL} --size 4MiB", "--grid"), (f"kernel {NATURAL} --type f32", "the kernel"),
                (f"kernel {NATURAL} --var n=5", "--arg n="), (f"kernel {NATURAL} --range 1..3", "--arg n="),
                (f"kernel {NATURAL} --line 3", "explain kernel"),
                (f"kernel {NATURAL} --dlcm cg", "__ldcg"),
                ("run --grid 4 -- true", "coalprof kernel"), ("run --machine v100 -- true", "coalprof kernel"),
                ("report a.json --machine v100", "predict again"),
                ("check a.json --machine v100 --budget excess<=1", "predict again"),
                ("compare a.json b.json --budget excess<=1", "coalprof check"),
                ("offset --arg n=5", "coalprof kernel"), ("formula i*k --arg k=5", "--var"),
                ("offset --array x=f32[5]", "coalprof formula"),
                ("check a.json b.json --budget excess<=1", "one result"), ("patterns offset", "help offset"),
                ("offset --dlcm wb", "--dscm"), ("offset --op f32", "--type"), ("offset --type load", "--op"),
                ("offset --best offset", "--sort offset"), ("offset --columns block", "--sort block"),
                ("calibrate --range 1..3", "coalprof offset"), ("doctor --machine h200", "predicted"),
                ("occupancy --regs 32", "--registers"), ("compare a.json b.json c.json", "coalprof report"),
                ("compare a.json b.json --metric excess", "coalprof check"), ("compare a.json b.json --tolerance 5", "5%"),
                ("offset -o --range 0", "--output"), ("offset --machine --json", "--machine"),
                ("offset --device h200", "--machine h200"), ("offset --offset 3", "offset --range"),
                ("offset --stride 3", "stride --range"), (f"kernel {NATURAL} --n 5", "--arg n="),
                (f"kernel {NATURAL} --threads 4096", "/block"), ("run --launch-skip 5 -- true", "--first"),
                ("warps w.txt --range 3", "one warp"), ("report a.json --range 0..2", "predict again"),
                ("occupancy 256", "--block 256"), ("verify offset", "--patterns offset"),
                ("warps a.txt b.txt", "cat a.txt b.txt"), ("offset --range 1 2 3", "--range 1,2,3"),
                ("explain offset 3", "explain offset --at 3"), ("explain saxpy", "coalprof patterns"),
                ("run --metrics gld_efficiency -- true", "--counters"), ("run -k step -- true", "--kernel REGEX"),
                (f"kernel {NATURAL} -arch=sm_90", "--nvcc-args=-arch=sm_90"), (f"kernel {NATURAL} -O3", "--nvcc-args=-O3"),
                ("check excess~<=~5% a.json", "--budget 'excess"), ("check a.json --budget excess <= 5%", "--budget 'excess"),
                ("patterns foo", "coalprof patterns"), ("devices 3", "offset --device 3"), ("list", "'patterns'"), ("diff a b", "'compare'"),
                ("aos --range 3 --type f32", "multiple of 4"), ("offset --best speed", "duration_seconds"), ("offset --sort speed", "duration_seconds"),
                ("offset --best foo", "load_sectors_per_request"), ("offset -range 0..3", "coalprof offset --range 0..3"), (f"kernel {NATURAL} -list", f"{NATURAL} --list"),
                ("-machine h200 offset", "coalprof offset --machine h200"), ("offset —range 0..3", "offset --range 0..3"),
                ("offset --range “0..3”", "offset --range 0..3"), ("stride-shared", "'shared-stride'"), ("offset --columns sectors_load", "'load_sectors'"),
                (f"kernel {NATURAL} --arch sm_80", "--machine sm_80"), (f"kernel {NATURAL} -G", "--nvcc-args=-G"),
                ("machines 9.1", "'9.0'"), ("machines 9.0", "--machine 9.0")):
            self.ask(words, USAGE, fact)
        self.assertLess(len(self.check(harness.run("warps", "x" * 5000, "y"), USAGE).err), 1000)
        for command in ("calibrate", "verify"):
            self.ask(command, ENVIRONMENT, "host")

    def test_what_is_missing_is_described_with_an_example(self):
        for words, *facts in (
                ("compare a.json", "NEW is missing: Another result", "coalprof compare old.json new.json"), ("compare", "OLD is missing"),
                ("report", "coalprof report run.json"), ("check", "--budget 'load_sectors"), ("merge", "coalprof merge part1.json part2.json"),
                ("warps", "FILE is missing: The warps file"), ("explain", "coalprof explain offset --at 11"), ("completion", "bash, zsh or fish"),
                ("offset -o", "--output FILE: Write the result"), ("stride --range", "0..128:4"), ("offset --machine --json", "sm_90, h200"),
                (f"kernel {NATURAL} --grid", "64x64"), ("offset --columns=", "--columns")):
            self.ask(words, USAGE, *facts)

    def test_a_file_that_is_not_there_names_those_beside_it(self):
        for name in ("stride.json", "near.ptx", "far.ptx"):
            with open(self.at(name), "w", encoding="utf-8") as file:
                file.write("{}")
        for words, fact in (("report strid.json", "did you mean stride.json?"), ("kernel other.ptx", "far.ptx, near.ptx"),
                            ("report other.jsonl", "No such file"), ("report none/a.json", "no folder none"),
                            (f"kernel step {NATURAL}", f"kernel {NATURAL} step")):
            self.ask(words, USAGE, fact)

    def test_units_of_a_budget_fit_its_counter(self):
        self.run_ok("offset", "--range", "0..1", "-q", "-o", "off.json", cwd=self.folder.name)
        for budget, fact in (
                ("duration_seconds~<=~50", "unit"), ("bandwidth_bytes_per_second~>=~3000", "GB/s"),
                ("load_sectors~<=~load_efficiency", "a ratio"),
                ("load_sectors~<=~2*duration_seconds", "a time"),
                ("load_sectors~<=~load_sectors_per_request", "a quotient"),
                ("load_sectors~<=~5~and~excess~<=~5%", "its own --budget"), ("load_efficiency~>=~120%", "100 % at most"),
                ("5%~>=~excess", "a counter here"), ("if~offset=1~excess~<=~5%", "a counter here")):
            self.ask(f"check off.json --budget {budget}", USAGE, fact)
        for budget in ("duration_seconds~<=~1s", "duration_seconds~<=~900~ms~if~offset=0", "duration_seconds~!=~0", "load_sectors~<=~9*load_requests",
                       "duration_seconds~<=~1s~if~offset==1",
                       "load_unique_bytes~<=~32*load_sectors"):
            self.ask(f"check off.json --budget {budget}", DONE, "kept")
        for budget, fact in (("load_efficiency~<=~80%", ">="), ("load_sectors~<=~4", "load_sectors_per_request")):
            self.ask(f"check off.json --budget {budget}", FINDING, fact)
        self.ask("check off.json --budget-file excess<=5%", USAGE, "--budget")
        self.ask("check off.json --budget shared_load_wavefronts~<=~1", PARTIAL, "no point")
        self.ask("offset --range 0..2 --shard 1/3 -o s1.json -q", DONE)
        self.ask("check s1.json --budget excess<=500%", DONE, "shard 1/3")
        self.ask("stride --range 1..4 --shard 2/3 -o t2.json -q", DONE)
        self.ask("merge s1.json t2.json", USAGE, "pattern")
        self.ask("merge s1.json s1.json", USAGE, "once")
        self.ask("merge s1.json", USAGE, "--shard 2/3, 3/3")

    def test_a_file_of_another_kind_is_named_with_what_takes_it(self):
        self.run_ok("offset", "--range", "0..1", "-q", "-o", "result.json", cwd=self.folder.name)
        write_npy(self.at("array.npy"), [1, 2, 3])
        for name, text in (("empty.cu", ""), ("host.cu", "int main() { return 0; }\n"),
                           ("machine.json", '{"schema": "coalprof/1", "calibration": []}'),
                           ("k.cu", SOURCES), ("budgets.txt", "excess <= 5%\n"), ("t.csv", "a,load,4,0,4,8\n"), ("t.py", "import numba\n"),
                           ("w.txt", "a load 4 " + " ".join(map(str, range(32))))):
            with open(self.at(name), "w", encoding="utf-8") as file:
                file.write(text)
        for words, fact in (
                ("kernel empty.cu --list", "the file is empty"), ("kernel host.cu --list", "no kernel"),
                ("kernel result.json", "coalprof report result.json"),
                ("kernel machine.json", "--machine ./machine.json"), ("kernel array.npy", "--arg x=@array.npy"),
                ("report .", "a folder"), ("offset --machine ./", "a folder"),
                ("report machine.json", "--machine"), ("report k.cu", "coalprof kernel k.cu"),
                ("check array.npy --budget excess<=1", "coalprof warps array.npy"),
                ("offset --machine ./result.json", "a machine file"),
                (f"kernel {NATURAL} saxpy4 -I nofolder --grid 4 --block 64", "nofolder"),
                ("report result.json --source nofolder", "nofolder"),
                ("explain result.json", "coalprof report result.json"),
                ("explain k.cu", "coalprof explain kernel k.cu"), ("explain k.cu:3", "kernel k.cu --line 3"), ("kernel k", "did you mean k.cu?"),
                ("kernel k.o", "did you mean k.cu?"), ("kernel k.cu~step", "each word stands alone: k.cu step"), ("explain warps result.json", "coalprof report"),
                ("warps result.json", "coalprof report"), ("warps k.cu", "coalprof kernel k.cu"),
                ("formula k.cu", "coalprof kernel k.cu"), ("kernel --code k.cu", "coalprof kernel k.cu"),
                ("kernel --code @k.cu", "coalprof kernel k.cu"), ("kernel --code cudaMalloc(&x,4);y[i]=x[i];", "coalprof kernel FILE.cu"),
                ("k.cu", "coalprof kernel k.cu"), ("kernel t.py", "docs/python.md"), ("machines rtx4090", "grep rtx4090"), ("occupancy k.cu", "takes no argument"), ("result.json", "coalprof report result.json"), ("kernel w.txt", "coalprof warps w.txt"),
                ("formula i k.cu 3", "coalprof formula 'i*3'"), ("kernel k.cu:3", "coalprof explain kernel k.cu --line 3"), ("explain kernel k.cu:3", "--line 3"),
                ("offset --machine k.cu", "CUDA source"), ("offset --machine ./w.txt", "a machine file"),
                ("check result.json --budget-file result.json", "coalprof report result.json"),
                ("formula x[c[i]] --array c=@result.json", "coalprof report result.json"),
                ("formula x[c[i]] --array c=@k.cu", "coalprof kernel k.cu"),
                ("check result.json --budget budgets.txt", "--budget-file budgets.txt"),
                ("warps w.txt", "bytes"), ("warps t.csv", "tr , ' ' < t.csv"), ("check k.cu", "coalprof kernel FILE --budget")):
            self.ask(words, USAGE, fact)
        self.ask("report result.json --source .", DONE, "-o FILE.html")
        self.ask("offset -o none/x.json", OUTPUT, "no folder none")
        if harness.can_attach():
            self.ask("run -- k.cu", USAGE, "coalprof kernel k.cu")
            self.ask("run -- saxpy.cu", USAGE, "is source", "nvcc -lineinfo saxpy.cu -o app")
            self.ask("run -- ./v.txt", 127, "did you mean ./w.txt?")
            os.mkdir(self.at("apps"))
            self.ask("run -- ./app", 127, "cannot start ./app")
            self.assertNotIn(b"./apps", harness.run("run", "--", "./app", cwd=self.folder.name).err)
            self.ask("run k.cu", USAGE, "coalprof kernel k.cu")
            self.ask("run -- w.txt", 127, "./w.txt")
            self.ask("run -- ./w.txt", 126, "chmod +x")

    def test_a_machine_file_names_rates_in_their_units(self):
        head = ('"schema": "coalprof/1", "meta": {"coalprof": "0.1.0", "argv": [], "time": "2026-11-24T20:13:58Z"}, "machine": "NVIDIA H200", "compute_capability": "9.0",'
                '"multiprocessors": 132, "peak_bytes_per_second": 4.8e12, "l2_bytes": %s')
        rate = '{"kind": "rate", "name": "%s", "value": %s, "unit": "%s"}'
        for name, l2, row, code, fact in (
                ("good", 62914560, rate % ("start_seconds", 3.4e-6, "s"), DONE, "predicted"),
                ("unit", 62914560, rate % ("start_seconds", 3.4e-6, "us"), USAGE, '"s"'),
                ("word", 62914560, rate % ("start_second", 3.4e-6, "s"), USAGE, "start_seconds"),
                ("large", 62914560, rate % ("start_seconds", 3.39, "s"), USAGE, "3.39"),
                ("full", '62914560, "memory_bytes": 67108864', rate % ("start_seconds", 3.4e-6, "s"), DONE, "W-IMPOSSIBLE"),
                ("small", 50, rate % ("start_seconds", 3.4e-6, "s"), USAGE, "50")):
            with open(self.at(name + ".json"), "w", encoding="utf-8") as file:
                file.write('{%s, "calibration": [%s]}' % (head % l2, row))
            self.ask(f"offset --range 0..1 --machine ./{name}.json", code, fact)

    def test_numbers_of_another_kind_say_what_is_read(self):
        for words, *facts in (
                ("transpose --size 4096x4096", "--size 64MiB"), ("transpose --size 1000x1000", "--size 4000000"), ("scatter --range 0", "has 4"),
                ("offset --range 1.5", "write 1"), ("offset --size 1PiB", "TiB, kB"), ("offset --l2-fetch 64B", "--l2-fetch 32,64,128"),
                (f"kernel {NATURAL} saxpy4 --launch <<<256,~4096>>>", "--launch <<<256, 4096>>>: block 4096", "the grid says how many"),
                (f"kernel {NATURAL} <<<256,~4096>>>", "--launch <<<256, 4096>>>"), ("offset --block 4096", "the grid says"),
                ("formula x[i] --array x[100]", "x=f32[1048576]"),
                ("formula x[i] --array float~x[100]", "NAME=TYPE[SIZE]"), ("formula x[i*k] --var i=4", "--var k=4"),
                ("offset --budget excess~<=~5%~if~offset~=~0", "without blanks"), ("formula i~//~2", "i / 2"), ("formula i~//~n", "i / n"),
                ("formula x[i]~if~i~<~4~else~0", "test ? then : otherwise"), ("formula lambda~i:~i", "i*2"), ("formula np.arange(8)*2", "write i*2"), ("scatter --seed abc", "7,"), ("offset --range -5..5", "--var d=-5..5"), (f"kernel {NATURAL} saxpy4 --memory-limit 1", "1GiB"),
                (f"kernel {NATURAL} --shared 4 KiB", "4KiB"),
                (f"kernel {NATURAL} --nvcc-args=-O3~-std=c++17", "comma"),
                (f"kernel {NATURAL} --launch <<<n/256,256>>>", "n/256"),
                ("offset --range 0-32", "write 0..32"), ("offset --range 0:32", "write 0..32"), ("offset --range 32:0", "0..32, 0"),
                ("offset --range 1~2~3", "write 1,2,3"), ("occupancy --block 32x8", "one number: 256"),
                ("offset --block 32*8", "--block 32x8"), ("offset --block dim3(32,8)", "--block 32x8"),
                (f"kernel {NATURAL} saxpy4 --grid (16,1,1) --block 64", "--grid 16x1x1"),
                (f"kernel {NATURAL} saxpy4 --grid 4096/64 --block 64", "--grid 4096/block"),
                (f"kernel {NATURAL} saxpy4 --grid 4 --block 64 4096", "--arg n="),
                (f"kernel {NATURAL} saxpy4 --grid 4 --block 64 --arg 0=NULL", "--arg 0=0"),
                (f"kernel {NATURAL} saxpy4 --grid 4 --block 64 --arg 0=float4[2^20]", "write 1048576"),
                (f"kernel {NATURAL} saxpy4 --grid 4 --block 64 --arg 0=float4[1<<20]", "write 1048576"),
                ("offset --budget excess~=<~5%", "write <="), ("offset --budget excess~=~5%", "=="),
                (f"kernel {NATURAL} --launch <<<4,256>>> --grid 4", "leave one"),
                ("kernel --code k<<<4,256>>>(n,y);", "--launch"), ("formula x[i] 100 --array x=f32", "x=f32[100]"),
                ("explain formula i i*2 i*3", "two side by side")):
            self.ask(words, USAGE, *facts)
        self.ask("offset --machine 9.5", USAGE, "9.0")
        self.ask("offset --machine compute_90 --range 0", DONE, "9.0")
        self.ask("offset --machine 9", USAGE, "h100")
        self.ask("offset --machine hopper", USAGE, "h100")

    def test_shared_memory_has_lanes_of_16_bytes_and_the_limit_of_a_block(self):
        write_npy(self.at("far.npy"), [40000 * lane for lane in range(32)])
        for name, last in (("top.txt", 233468), ("above.txt", 233472)):  # 9.0: 1 KiB is reserved before 227 KiB
            with open(self.at(name), "w", encoding="utf-8") as file:
                file.write(f"x shared_load 4 {last}{' -' * 31}\n")
        for words, fact in (
                ("layout (64,64):(64,1) --type f16 --vector 16 --space shared", "at most 16: --vector 8"),
                ("layout (64,64):(64,1) --type f32x8 --space shared", "at most 16 bytes\nhint: f32x4"),
                ("explain formula shared.load.f32x8:~t[tid] --machine b200", "f32x8: lanes of shared memory"),
                ("shared-stride --type f64x4 --machine b200", "f64x4: lanes of shared memory"),
                ("warps far.npy --op shared_load", "far.npy:1: address 240000 is outside the"),
                ("warps above.txt", "the 232448 bytes of a block"), ("warps top.txt --machine k40", "the 49152 bytes of a block"),
                ("formula shared.load:~t[tid*200] --block 1024 --machine k40", "at most 49152\n"),
                ("formula shared.load:~t[tid*200] --block 1024 --machine k40,h200", "at most 232448\n")):
            self.ask(words, USAGE, fact)
        for words in ("layout (64,64):(64,1) --type f16 --vector 16 --machine b200", "warps top.txt"):
            self.ask(words, DONE)

    def test_words_of_other_programs_and_headings_have_their_way(self):
        write_npy(self.at("index.npy"), range(1000), "<i4")
        for name in ("s1.jsonl", "s2.jsonl", "f.json"):
            self.run_ok("offset", "--range", "0..1", "-q", "-o", self.at(name))
        for words, fact in (
                ("kernel k.cu --set full", "--columns KEY"), ("run --section M -- true", "--counters basic or memory;"),
                ("kernel k.cu --metrics a", "coalprof counters WORD"), ("offset --set full", "--counters"),
                ("offset --runs 3", "--repeat N"), ("formula i --warmup 3", "--repeat N"),
                ("formula x[idx[i]] --array idx=@index.npy --size 16KiB", "1000 fit; without --size and --grid an"),
                ("explain aos --at f32x3", "struct_bytes=4"), ("explain offset --at f32x3", "offset=0"),
                ("check f.json --budget sectors/request~<~4", "load_sectors_per_request"),
                ("merge s*.jsonl", "quotes"), ("report f.json o.prom", "-o o.prom"), ("calibrate mine.json", "-o mine.json"),
                ("warps index.npy --type half8", "'f16x8'")):
            self.ask(words, USAGE, fact)
        for at in ("aos --at struct_bytes=4", "offset --at offset=0"):
            self.ask(f"explain {at}", DONE)

    def test_commas_between_thousands_are_no_list(self):
        for words, number in (("offset --range 1,024", 1024), ("offset --range 0..4,096", 4096), ("offset --size 64,000KiB", 64000),
                              (f"kernel {NATURAL} saxpy4 --grid 4 --block 64 --arg n=1,048,576", 1048576),
                              (f"kernel {NATURAL} saxpy4 --grid 1,024 --block 64", 1024),
                              ("formula x[i] --array x=f32[1,048,576]", 1048576),
                              ("offset --budget load_sectors~<=~1,000", 1000)):
            self.ask(words, USAGE, f"written {number}")
        self.ask("offset --range 16,384", DONE, "written 16384")  # two values, or a power of two
        for values in ("128,256,512", "1,2,4,8", "0,10,100"):
            self.assertNotIn("written", self.run_ok("offset", "--range", values).err_text)

    def test_a_settings_file_that_does_not_fit_is_named(self):
        for name, text, code, fact in (("section.toml", "[ofset]\nrange = \"0\"\n", USAGE, "offset"),
                                       ("other.toml", '{"machine": "v100"}', USAGE, 'machine = "v100"'),
                                       ("absent.toml", None, DONE, "there is no absent.toml")):
            if text:
                with open(self.at(name), "w", encoding="utf-8") as file:
                    file.write(text)
            self.ask("offset --range 0", code, fact, env=harness.environment(COALPROF_CONFIG=name))

    def test_resume_does_not_replace_the_result_of_another_sweep(self):
        self.ask("offset --range 0..1 -q -o one.json", DONE)
        self.ask("stride --range 1..2 --resume -o one.json", USAGE, "another command")
        self.ask("offset --range 0..1 -q --resume -o one.json", DONE)
        self.ask("offset --range 0..1 -q --resume -o one.csv", DONE)
        self.ask("offset --range 0..1 -q --resume -o one.csv", DONE)

    def test_a_device_that_is_named_and_not_there_is_missed(self):
        self.ask("offset --range 0 --device 5", DONE, "the model answers alone")


@unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"), "no nvcc")
class KernelMeaning(Asked):
    """Types of parameters are in the symbols of C++."""

    def setUp(self):
        with open(self.at("k.cu"), "w", encoding="utf-8") as file:
            file.write(SOURCES)

    LAUNCH = "--grid 64 --block 64 --arg n=4096"

    def test_an_argument_has_the_type_of_its_parameter(self):
        for kernel, argument, fact in (
                ("gather", "idx=f32[4096]=iota", "idx=i32[COUNT]"), ("gather", "idx=double[4096]", "idx=i32[COUNT]"),
                ("gather", "in=i32[4096]", "in=f32[COUNT]"), ("gather", "in=f64[4096]", "in=f32[COUNT]"),
                ("gather", "in=idxx", "idx"), ("step", "p=P[4096]", "p=u8[BYTES]"),
                ("gather", "out=u8[4096]=iota", "out=f32[COUNT]"), ("gather", "in=3.5", "in=f32[COUNT]"),
                ("gather", "in=out --arg out=in", "no array of its own"), ("gather", "3=7", "n is given twice"),
                ("copy4", "in=7", "in=float4[COUNT]"), ("gather", "idx=i32[9]@i.npy", "'='"),
                ("scale<double>", "a=0", "template"), ("gather", "in=true", "f32[COUNT]"), ("gather -D N~5", "in=0", "-D N=5"),
                ("step -D n=5", "p=u8[64]", "--arg n=5")):
            self.ask(f"kernel k.cu {kernel} {self.LAUNCH} --arg {argument}", USAGE, fact)
        self.ask("kernel k.cu gather --grid 64 --block 64 --arg n=64x64", USAGE, "64*64")
        self.ask("kernel k.cu gather --grid 64 --block 64 --arg n=-4.5", USAGE, "write -4")
        self.ask("kernel k.cu --grid 64 --block 64", USAGE, "coalprof kernel k.cu step gather")
        self.ask("kernel k.cu gather --grid 64 --block 64 --arg n=f32[100]", USAGE, "n is int", "--arg n=1000")
        for argument in ("idx=u32[4096]=iota", "in=u8[16384]", "idx=int[4096]=random"):
            self.ask(f"kernel k.cu gather {self.LAUNCH} --arg {argument}", DONE)
        self.ask("kernel --code 'y[i]=1;' --grid 1 --block 32 --arg y=f64[32] --type f32x2".replace("'", ""), DONE)

    def test_too_small_an_array_of_vectors_is_counted_in_vectors(self):
        # 4096 floats are 1024 float4.
        self.ask(f"kernel k.cu copy4 {self.LAUNCH} --arg in=f32[4096]", PARTIAL, "element 1024", "in=float4[COUNT]")

    def test_a_loop_without_end_names_what_it_waits_for(self):
        self.ask("kernel k.cu wait --grid 1 --block 32", USAGE, "never ends", "--arg flag=@")
        self.ask(f"kernel k.cu step {self.LAUNCH} --max-steps 5", USAGE, "--max-steps")

    def test_a_loop_without_end_around_a_barrier_is_told_from_one_that_waits(self):
        waits = """\
__global__ void always(float* y) { while (true) __syncthreads(); }
__global__ void flagged(float* y, volatile int* flag) { while (*flag == 0) __syncthreads(); y[threadIdx.x] = 1; }
__global__ void voting(float* y, int n) { while (!__syncthreads_or(n == 7)) {} y[threadIdx.x] = 1; }
// These end, by what the second warp does after 20,000 rounds.
__global__ void stored(float* y) {
    __shared__ volatile int done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    for (int i = 0; !done; __syncthreads()) { __syncthreads(); if (threadIdx.x == 32 && ++i == 20000) done = 1; }
    y[threadIdx.x] = 1;
}
__global__ void voted(float* y) {
    for (int i = 0; !__syncthreads_or(threadIdx.x == 32 && i == 20000); i += threadIdx.x == 32) {}
    y[threadIdx.x] = 1;
}
"""
        with open(self.at("waits.cu"), "w", encoding="utf-8") as file:
            file.write(waits)
        for kernel in ("always", "flagged", "voting --arg n=3"):
            self.ask(f"kernel waits.cu {kernel} --grid 4096 --block 256", USAGE, "comes back to the same state and never ends")
        for kernel in ("stored", "voted", "voting --arg n=7"):
            self.ask(f"kernel waits.cu {kernel} --grid 2 --block 64", DONE, "store ")

    def test_arguments_of_no_kernel_are_refused(self):
        with open(self.at("host.cu"), "w", encoding="utf-8") as file:
            file.write("__global__ void k(float* y) { y[threadIdx.x] = 1; }\nint main() { k<<<1, 32>>>(0); }\n")
        self.ask("kernel host.cu --arg q=3", USAGE, "--list")
        self.ask("kernel host.cu --best", DONE, "one launch")
        self.ask("kernel k.cu step --list", DONE, "step: p")
        self.ask("kernel k.cu stp --list", USAGE, "did you mean step")
        self.ask("kernel k.cu step --arg count=5", USAGE, "no kernel here has a parameter of this name")
        self.ask("kernel k.cu gather --grid 4 --block 32 --arg Idx=3", USAGE, "did you mean idx?")
        self.ask("kernel --code for(;;){a[i]=1; --grid 4 --block 32", USAGE, "add } behind")
        self.ask("kernel k.cu step 4096 256", PARTIAL, "--grid 4096 --block 256")
        self.ask("explain kernel k.cu step --line 1 --grid 4 --block 32 --arg n=128", USAGE, "one of k.cu:4\n")
        with open(self.at("bad.cu"), "w", encoding="utf-8") as file:
            file.write("__global__ void k(float* y) { y[q] = 1; }\n")
        self.ask("kernel k.cu bad.cu step --grid 4 --block 32 --arg n=128", USAGE, "identifier", "name the other files")

    def test_a_launch_that_the_kernel_does_not_fit_is_remarked(self):
        for words, fact in (
                ("plane --grid 4096 --block 256 --arg n=64", "reads y"),
                ("plane --grid 4096 --block 256 --arg n=64", "4095 of 4096 blocks"),
                ("step --grid 4x4 --block 64 --arg n=64", "does not read y"),
                ("step --grid 4 --block 40 --arg n=160", "24 idle lanes"),
                ("step --grid 4 --block 64 --arg n=256 --shared 1024", "--shared"),
                ("--code for(int~i=0;i<n;i++)~y[i]=1; --grid 4 --block 64 --arg n=9", "does not read x"),
                ("step --grid 4 --block 64 --arg n=-5", "no thread accesses memory with --arg n=-5")):
            self.ask(f"kernel {words if '--code' in words else 'k.cu ' + words}", DONE, "W-LAUNCH", fact)
        for words in ("plane --grid 2x2 --block 32x32 --arg n=64", "step --grid 4 --block 64 --arg n=200"):
            self.assertNotIn("W-LAUNCH", self.run_ok("kernel", self.at("k.cu"), *words.split()).out_text)

    def test_a_list_for_several_kernels_has_one_value_for_each(self):
        self.ask("kernel k.cu step gather plane --grid 64,128 --block 64 --arg n=64", USAGE, "2 values for 3 kernels")

    def test_a_fault_is_reported_at_once(self):
        # Without it each of 4096 blocks would take 256 x 1024 rounds of faulting loads.
        self.ask("kernel k.cu rows --grid 64x64 --block 16x16 --arg n=1024 --arg A=f32[n] --time-limit 60", PARTIAL,
                 "element")

    def test_lines_that_can_be_drawn_are_named(self):
        self.ask(f"explain kernel k.cu gather {self.LAUNCH} --line 3", USAGE, "k.cu:8")
        self.ask(f"explain kernel k.cu step {self.LAUNCH} --line 4", DONE)

    def test_ptx_for_a_newer_gpu_is_remarked(self):
        with open(NATURAL, encoding="utf-8") as file:
            text = file.read()
        with open(self.at("new.ptx"), "w", encoding="utf-8") as file:
            file.write(text.replace(".target sm_90", ".target sm_120"))
        self.ask("kernel new.ptx saxpy4 --grid 4 --block 64", DONE, "W-TARGET", "sm_90")


if __name__ == "__main__":
    harness.main()
