"""Five commands take no more instructions than recorded, counted by callgrind: no clock, so no noise.

COALPROF_RECORD_SPEED=1 writes what is found into tests/data/instructions.json.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import PROGRAM, SOURCE, Case

RECORD = os.path.join(SOURCE, "tests/data/instructions.json")
WORSE = 1.05
WARPS = 20_000
POINTS = 10_000


def compiler():
    """As the compiler wrote it into the program: another one makes other instructions."""
    comment = subprocess.run(["readelf", "-p", ".comment", PROGRAM], capture_output=True, text=True,
                             check=False).stdout
    found = re.search(r"GCC: \(.*\) (\d+)\.", comment)
    return f"g++ {found[1]}" if found else None


def commands(folder):
    """By name: each takes some tenths of a second alone and fifty times that here."""
    result = os.path.join(folder, "points.jsonl")
    subprocess.run([PROGRAM, "offset", "--range", f"0..{POINTS - 1}", "--backend", "model", "-q",
                    "-o", result], check=True, env=harness.environment(), stdout=subprocess.DEVNULL)
    warps = os.path.join(folder, "warps.txt")
    with open(warps, "w", encoding="utf-8") as file:
        for warp in range(WARPS):
            addresses = " ".join(str(4096 * warp + 12 * lane) for lane in range(32))
            file.write(f"w{warp} load 4 {addresses}\n")
    return {
        "33 points of 4 GiB": ["offset", "--range", "0..32", "--size", "4GiB"],
        "scatter": ["scatter", "--range", "65536", "--size", "16MiB"],
        f"{WARPS} warps of a file": ["warps", warps, "--json"],
        "a formula": ["formula", "hash(i, 4096)*k + i%7", "--var", "k=1..4", "--size", "256KiB"],
        f"report of {POINTS} points": ["report", result, "--format", "csv"],
    }


def instructions(arguments):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, *arguments,
         *([] if arguments[0] == "report" else ["--threads", "1", "--machine", "h200"])],
        capture_output=True, text=True, check=False, env=harness.environment())
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise AssertionError(done.stderr)
    return int(found[1])


class Speed(Case):
    @unittest.skipUnless(os.environ.get("COALPROF_BUILD_TYPE") == "Release", "counted in release builds")
    @unittest.skipUnless(shutil.which("valgrind"), "there is no valgrind")
    @unittest.skipUnless(shutil.which("readelf"), "there is no readelf to ask for the compiler")
    def test_five_commands_take_no_more_instructions_than_recorded(self):
        with open(RECORD, encoding="utf-8") as file:
            record = json.load(file)
        if compiler() != record["compiler"]:
            self.skipTest(f"recorded with {record['compiler']}, built with {compiler()}")
        with tempfile.TemporaryDirectory() as folder:
            found = {name: instructions(arguments) for name, arguments in commands(folder).items()}
        if os.environ.get("COALPROF_RECORD_SPEED"):
            with open(RECORD, "w", encoding="utf-8") as file:
                json.dump({"compiler": compiler(), "instructions": found}, file, indent=1)
                file.write("\n")
            return
        for name, count in found.items():
            with self.subTest(name):
                self.assertLessEqual(count, WORSE * record["instructions"][name])


if __name__ == "__main__":
    harness.main()
