"""scripts/torture: lets runs of the program fail in every way and says what they lost.

    torture.py [faults|kills|lines] [--runs N] [--seed S]    N of one kind, picked by the seed
    torture.py results [--runs N] [--seed S]                 N faults of run, report, merge and occupancy
    torture.py durable [--runs N] [--seed S]                 N runs killed, 5 N with failing writes, --resume
    torture.py chains [--runs N] [--seed S]                  N chains of kill, resume, kill, resume
    torture.py compilers [--runs N] [--seed S]               N names of files, and signals, while nvcc compiles
    torture.py ptx [--runs N] [--seed S]                     N kernels by the grammar of PTX; COALPROF_PTX_FUZZ reads them
    torture.py tasks [--runs N] [--seed S]                   N tasks of Slurm arrays that are submitted again
    torture.py --all         all of these, and every call of scripted GPUs
"""
import argparse
import os
import subprocess
import sys

import chains
import command_lines
import compilers
import durable
import faults
import kills
import ptx_mutants


RESULTS = ("run", "report", "merge", "occupancy")


def play_gpus(program):
    """Each call of a driver, NVRTC and CUPTI that are scripted fails once, with each of its codes."""
    return subprocess.run([program, "--gtest_filter=SweepTorture*:LostGpu*",
                           "--gtest_brief=1"],
                          env={**os.environ, "COALPROF_ALL_FAULTS": "1"}, check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = ("faults", "results", "kills", "lines", "durable", "chains", "tasks", "compilers", "ptx")
    parser.add_argument("kind", nargs="?", choices=kinds, default="faults")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--gpu-tests", help="coalprof_device_tests, for --all")
    asked = parser.parse_args()
    if asked.kind == "kills" and not asked.all:
        return kills.play(asked.runs, asked.seed).tell()
    if asked.kind in ("chains", "tasks") and not asked.all:
        play = chains.play_chains if asked.kind == "chains" else chains.play_tasks
        return play(asked.runs, asked.seed).tell()
    if asked.kind == "compilers" and not asked.all:
        return compilers.play(asked.runs, asked.seed).tell()
    if asked.kind == "ptx" and not asked.all:
        return ptx_mutants.play(asked.runs, asked.seed).tell()
    if asked.kind == "lines" and not asked.all:
        return command_lines.play(asked.runs, asked.seed).tell()
    if asked.kind == "durable" and not asked.all:
        print(f"{asked.runs} runs ended by SIGKILL")
        failed = durable.play_kills(asked.runs, asked.seed).tell()
        return failed | durable.play_faults(faults.preloaded(), 5 * asked.runs, asked.seed).tell()
    only = RESULTS if asked.kind == "results" and not asked.all else None
    failed = faults.play(faults.preloaded(), None if asked.all else asked.runs, seed=asked.seed, only=only,
                         allocation_step=499 if only else 13).tell()
    if asked.all:
        failed |= kills.play(1000, asked.seed).tell()
        failed |= chains.play_chains(1000, asked.seed).tell()
        failed |= chains.play_tasks(300, asked.seed).tell()
        failed |= compilers.play(1000, asked.seed).tell()
        failed |= command_lines.play(10_000, asked.seed).tell()
        failed |= ptx_mutants.play(10_000, asked.seed).tell()
        if asked.gpu_tests and os.path.exists(asked.gpu_tests):
            failed |= play_gpus(asked.gpu_tests)
    return failed


if __name__ == "__main__":
    sys.exit(main())
