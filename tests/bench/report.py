"""Runs the benchmarks of a build folder and prints what scripts/bench promises: ratios of medians
within one run, so that two machines can be compared by them."""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = sys.argv[1]
PROGRAM = f"{BUILD}/cli/coalprof"
FILE_LINES = 2_000_000


def medians(name):
    """Benchmark name -> its fields; times are medians of nine repetitions in nanoseconds."""
    text = subprocess.run([f"{BUILD}/tests/bench/{name}", "--benchmark_format=json",
                           "--benchmark_repetitions=9", "--benchmark_min_time=0.1",
                           "--benchmark_enable_random_interleaving=true",
                           "--benchmark_report_aggregates_only=true"],
                          stdout=subprocess.PIPE, check=True).stdout
    found = {}
    for entry in json.loads(text)["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"{entry['name']}: {entry['error_message']}")
        if entry.get("aggregate_name") == "median":
            found[entry["run_name"]] = entry
    return found


def model():
    found = medians("model_bench")
    print(f"{'one warp':24}{'std::set':>12}{'model':>12}{'ratio':>9}")
    for name in (n.removeprefix("model/") for n in found if n.startswith("model/")):
        sets, ours = found[f"sets/{name}"]["cpu_time"], found[f"model/{name}"]["cpu_time"]
        print(f"{name:24}{sets:9.0f} ns{ours:9.1f} ns{sets / ours:8.1f}x")
    generations = {n.removeprefix("generation/"): entry["cpu_time"]
                   for n, entry in found.items() if n.startswith("generation/")}
    print(f"\n{'random warp, all counters':36}{'model':>12}{'h200 = 1':>12}")
    for name, time_ns in generations.items():
        print(f"{name:36}{time_ns:9.1f} ns{time_ns / generations['h200']:12.2f}")


def lines():
    print(f"\n{'warps file, in memory':36}{'lines a second':>16}")
    for name, entry in medians("warps_bench").items():
        print(f"{name:36}{entry['items_per_second']:16,.0f}")


def formulas():
    print(f"\n{'formula that never repeats':24}{'by thread':>12}{'32 lanes':>12}{'ratio':>8}"
          f"{'evaluated and modelled':>30}")
    found = medians("formula_bench")
    for name in (key.removeprefix("lanes/") for key in found if key.startswith("lanes/")):
        threads, lanes, model = (found[f"{kind}/{name}"]["cpu_time"]
                                 for kind in ("threads", "lanes", "model"))
        print(f"{name:24}{threads:9.0f} ns{lanes:9.1f} ns{threads / lanes:7.1f}x"
              f"{1e9 / model:22,.0f} warps/s")
    affine = [found[f"launch/affine/{bits}"]["cpu_time"] for bits in (20, 30)]
    print(f"affine formula: 2^20 threads {affine[0] / 1e3:.1f} us, "
          f"2^30 threads {affine[1] / 1e3:.1f} us")


def timed(arguments, runs=15, **how):
    """Median wall time in seconds; the largest resident memory of any run is kept in `peak`."""
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, **how)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - started)
        if status != 0:
            raise SystemExit(f"coalprof {' '.join(arguments)}: wait status {status}")
        timed.peak = max(timed.peak, usage.ru_maxrss)
    return statistics.median(seconds)


timed.peak = 0


def program():
    print(f"\n{'whole program':60}{'median':>9}")
    for arguments in (["--version"],
                      ["offset", "--range", "0..32", "--size", "4MiB", "--json"],
                      ["offset", "--range", "0..32", "--size", "4GiB", "--json"]):
        print(f"{'coalprof ' + ' '.join(arguments):60}{1e3 * timed(arguments):6.1f} ms")
    # A file of random addresses: xorshift, so that no line resembles another.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.warps")
        state = 88172645463325252
        with open(path, "w", encoding="ascii") as file:
            block = []
            for _ in range(4096):
                fields = []
                for _ in range(32):
                    state ^= state << 13 & (1 << 64) - 1
                    state ^= state >> 7
                    state ^= state << 17 & (1 << 64) - 1
                    fields.append(str(state % (1 << 30) * 4))
                block.append("w load 4 " + " ".join(fields) + "\n")
            text = "".join(block)
            written = 0
            while written < FILE_LINES:
                file.write(text)
                written += len(block)
        for wanted in ("jsonl", "csv"):
            arguments = ["warps", path, "--format", wanted, "--backend", "model"]
            seconds = timed(arguments, runs=3)
            print(f"{'coalprof warps, ' + f'{written:,} lines, ' + wanted:60}{seconds:7.2f} s "
                  f"= {written / seconds:,.0f} lines/s")
    print(f"largest resident memory of any of them: {timed.peak / 1024:.0f} MiB")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


print(f"{processor()}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}\n")
model()
lines()
formulas()
program()
