"""Every system call that writes a result file is made to fail once, with strace: the old file stays
as it was or the new one is whole, nothing is left beside it, and the exit code says so."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import Case, environment

COMMAND = ("offset", "--range", "0..3")
OLD = b'{"old": true}\n'
# Calls by which bytes reach a file, with the errors that disks and kernels answer.
FAULTS = {"openat": ("ENOSPC", "EACCES", "EMFILE"), "write": ("ENOSPC", "EIO", "EDQUOT"),
          "fsync": ("EIO", "ENOSPC"), "close": ("EIO",), "rename": ("EXDEV", "EACCES", "EIO")}


def traced(folder, *options, arguments):
    """The program under strace, its result going to folder/x.json; LeakSanitizer cannot work while
    traced."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return harness.run(*arguments, "--output", f"{folder}/x.json",
                       before=["strace", "-f", "-qq", "-y", *options],
                       env=environment(ASAN_OPTIONS=sanitizer.strip(":")))


def why_not():
    with open(harness.PROGRAM, "rb") as program:
        if b"__asan_init" in program.read():
            # Its checks of pointers are write() calls, which would be counted and failed, too.
            return "AddressSanitizer makes system calls of its own"
    if not shutil.which("strace"):
        return "strace is not installed"
    probe = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True,
                           check=False)
    return None if probe.returncode == 0 else "tracing is not permitted here"


@unittest.skipIf(why_not(), why_not())
class FailingCalls(Case):
    def calls_on_the_result(self, folder, arguments):
        """(call, its number among its kind) of a run without faults, where it concerns the result
        file: named by a path in its folder, or stdout."""
        trace = f"{folder}.trace"
        self.check(traced(folder, "-o", trace, "-e", "trace=" + ",".join(FAULTS),
                          arguments=arguments), harness.DONE)
        seen, found = {}, []
        with open(trace, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                call = re.match(r"(?:\d+ +)?(\w+)\(", line)
                if not call or call.group(1) not in FAULTS:
                    continue
                name = call.group(1)
                seen[name] = seen.get(name, 0) + 1
                if folder in line or line[call.end():].startswith("1<"):
                    found.append((name, seen[name]))
        os.unlink(trace)
        return found

    def check_folder(self, folder, had_old):
        """The file is the old one, none, or a whole new one; nothing else is there."""
        left = os.listdir(folder)
        self.assertIn(left, ([["x.json"]] if had_old else [[], ["x.json"]]))
        if not left:
            return False
        with open(f"{folder}/x.json", "rb") as file:
            content = file.read()
        if content == OLD:
            return False
        document = json.loads(content)
        self.assertEqual((document["status"], len(document["points"])), ("complete", 4))
        return True

    def fail_each_call(self, had_old, arguments=COMMAND):
        with tempfile.TemporaryDirectory() as parent:
            folder = f"{parent}/results"
            os.mkdir(folder)

            def lay_out():
                for name in os.listdir(folder):
                    os.unlink(f"{folder}/{name}")
                if had_old:
                    with open(f"{folder}/x.json", "wb") as file:
                        file.write(OLD)

            lay_out()
            calls = self.calls_on_the_result(folder, arguments)
            kinds = {name for name, _ in calls}
            self.assertEqual(kinds, set(FAULTS), "the run no longer makes the calls this test fails")
            for name, number in calls:
                for error in FAULTS[name]:
                    with self.subTest(call=name, number=number, error=error, had_old=had_old):
                        lay_out()
                        ran = traced(folder, "-o", os.devnull, "-e", f"trace={name}", "-e",
                                     f"inject={name}:error={error}:when={number}",
                                     arguments=arguments)
                        is_new = self.check_folder(folder, had_old)
                        self.assertIn(ran.code, (harness.DONE, harness.OUTPUT), ran.err)
                        if not is_new:
                            self.check(ran, harness.OUTPUT)
                        if ran.code == harness.OUTPUT:
                            self.assertTrue(ran.err_text.startswith("coalprof: "), ran.err_text)

    def test_leave_the_old_file_or_a_whole_new_one(self):
        self.fail_each_call(had_old=True)

    def test_leave_no_part_of_a_new_file(self):
        self.fail_each_call(had_old=False)


@unittest.skipIf(why_not(), why_not())
class Signals(Case):
    def test_at_any_write_leave_finished_points_or_nothing(self):
        for signal, code in (("SIGINT", harness.INTERRUPTED), ("SIGTERM", harness.TERMINATED)):
            for number in (1, 2, 3):
                with self.subTest(signal=signal, number=number), \
                        tempfile.TemporaryDirectory() as folder:
                    ran = traced(folder, "-o", os.devnull, "-e", "trace=write", "-e",
                                 f"inject=write:signal={signal}:when={number}",
                                 arguments=("stride", "--range", "1..64", "--jsonl"))
                    self.assertIn(ran.code, (harness.DONE, code))
                    for line in ran.out.splitlines():
                        json.loads(line)
                    status = {"x.json": "complete", "x.partial.json": "interrupted"}
                    for name in os.listdir(folder):
                        with open(f"{folder}/{name}", encoding="utf-8") as file:
                            self.assertEqual(json.load(file)["status"], status[name])


if __name__ == "__main__":
    harness.main()
