"""What is synced to the disk, and in which order, as a traced run shows."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import harness
from harness import Case

STRACE = shutil.which("strace")
CALLS = "trace=openat,fsync,fdatasync,rename,renameat,renameat2,write,pwrite64,ftruncate,close"


def can_trace():
    return STRACE and subprocess.run([STRACE, "-o", "/dev/null", "true"], check=False,
                                     stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(can_trace(), "strace cannot trace here")
@unittest.skipIf(harness.IS_SANITIZED, "leak checking cannot be traced")
class Syncs(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)

    def calls(self, *arguments, inject=(), code=harness.DONE):
        """System calls that succeeded, a name each; of a sync what was synced behind it."""
        trace = f"{self.folder}.strace"
        self.addCleanup(lambda: os.path.exists(trace) and os.remove(trace))
        options = [word for one in inject for word in ("-e", f"inject={one}")]
        ran = harness.run(*arguments, "-q", cwd=self.folder,
                          before=[STRACE, "-f", "-y", "-o", trace, "-e", CALLS, *options])
        self.check(ran, code)
        calls = []
        with open(trace, encoding="utf-8", errors="replace") as file:
            for line in file:
                call = re.search(r"\b(\w+)\((.*)\) += \d", line)
                if call and self.folder in call[2]:
                    kind = "folder" if f"<{self.folder}>" in call[2] else "file"
                    calls.append(f"{call[1]} {kind}" if "sync" in call[1] else call[1])
        return calls

    def in_order(self, calls, *wanted):
        at = 0
        for name in wanted:
            self.assertIn(name, calls[at:], f"behind {calls[:at]}")
            at = calls.index(name, at) + 1

    def test_a_file_is_on_the_disk_before_it_has_its_name_and_the_name_behind(self):
        calls = self.calls("offset", "--range", "0..3", "-o", "x.json")
        self.in_order(calls, "write", "fsync file", "rename", "fsync folder")
        self.assertNotIn("write", calls[calls.index("fsync file"):])

    def test_a_part_file_is_synced_about_once_a_second(self):
        """Each of its 50 lines takes 50 ms to write: 2 s and more, of which the first passes without."""
        started = time.monotonic()
        calls = self.calls("stride", "--range", "1..50", "-o", "x.json", "--threads", "1",
                           inject=["write:delay_enter=50000"])
        took = time.monotonic() - started
        synced = calls.count("fdatasync file")
        self.assertGreaterEqual(synced, 1)
        self.assertLessEqual(synced, took)


if __name__ == "__main__":
    harness.main()
