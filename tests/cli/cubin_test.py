"""`occupancy --cubin` by a stand-in for cuobjdump, which prints what NVIDIA's does: the numbers of
each kernel are read, and whatever names hold, no terminal is touched by them."""
import os
import tempfile

import harness
from harness import Case, environment

# As cuobjdump 12.6 --dump-resource-usage prints; lines of other kinds stand between.
USAGE = """
Fatbin elf code:
================
arch = sm_90
code version = [1,7]
host = linux
compile_size = 64bit

Resource usage:
 Common:
  GLOBAL:0
 Function _Z4tallPf:
  REG:128 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:544 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _Z4widePf:
  REG:32 STACK:16 SHARED:49152 LOCAL:8 CONSTANT[0]:544 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


class Cubin(Case):
    def occupancy(self, printed, *arguments, code=0):
        """coalprof occupancy --cubin, whose cuobjdump prints that and exits with `code`."""
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/printed", "w", encoding="utf-8") as file:
                file.write(printed)
            with open(f"{folder}/cuobjdump", "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\ncat {folder}/printed\nexit {code}\n")
            os.chmod(f"{folder}/cuobjdump", 0o700)
            with open(f"{folder}/k.cubin", "w", encoding="ascii"):
                pass
            path = f"{folder}:{os.environ.get('PATH', '/usr/bin:/bin')}"
            return harness.run("occupancy", "--machine", "h200", "--cubin", f"{folder}/k.cubin",
                               *arguments, env=environment(PATH=path))

    def test_of_each_kernel_limits_the_blocks(self):
        ran = self.check(self.occupancy(USAGE, "--block", "256", "--json"), harness.DONE)
        rows = {row["kernel"]: row for row in ran.json["occupancy"]}
        self.assertEqual(set(rows), {"_Z4tallPf", "_Z4widePf"})
        # 65,536 registers hold 65,536 / (128 * 256) = 2 blocks.
        self.assertEqual(rows["_Z4tallPf"]["active_blocks"], 2)
        # 227 KiB of shared memory hold 4 blocks of 48 KiB, each with 1 KiB of the system's.
        self.assertEqual(rows["_Z4widePf"]["active_blocks"], 4)

    def test_names_do_not_reach_the_terminal_raw(self):
        named = USAGE.replace("_Z4tallPf", "a\x1b[31mb\x07")
        ran = self.check(self.occupancy(named, "--block", "256"), harness.DONE)
        for byte in (b"\x1b[31m", b"\x07"):
            self.assertNotIn(byte, ran.out)

    def test_that_holds_no_kernel_is_refused(self):
        for printed, code in (("", 0), ("Function f:\nno numbers\n", 0), (USAGE, 1)):
            with self.subTest(printed=printed[:10], code=code):
                ran = self.check(self.occupancy(printed, code=code), harness.USAGE)
                self.assertEqual(ran.out, b"")

    def test_without_end_is_refused(self):
        ran = self.occupancy("x" * (17 << 20))
        self.check(ran, harness.USAGE)


if __name__ == "__main__":
    harness.main()
