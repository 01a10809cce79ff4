"""Runs the built program as users and other programs do, for the tests of this folder.

The program is named by COALPROF (ctest sets it). The surroundings are fixed, so that a test sees
what it asked for: no terminal, no colour wishes, the C locale, no GPU.
"""
import json
import os
import struct
import subprocess
import sys
import unittest

PROGRAM = os.environ.get("COALPROF", "coalprof")
SOURCE = os.environ.get(
    "COALPROF_SOURCE", os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..")))

# Seconds: what takes as long hangs, which is the failure looked for. Sanitizers on a busy machine take
# a hundred times as long as the program alone.
PATIENCE = 300

# Where the program is built with sanitizers, it takes ten times as long to start: of many like runs a
# few are made then, as tests/fewer_cases.h says of other tests.
IS_SANITIZED = bool(os.environ.get("COALPROF_SANITIZED"))

NOTHING_RAN = 77  # ctest's SKIP_RETURN_CODE

DONE, FINDING, USAGE, ENVIRONMENT, PARTIAL, OUTPUT = 0, 1, 2, 3, 4, 5
INTERNAL, INTERRUPTED, TERMINATED = 70, 130, 143


def write_npy(path, values, kind="<i8", shape=None, version=1):
    """A file of NumPy, as numpy.save writes it; long headers are of version 2."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape or (len(values),)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"|u1": "B", "<i4": "i", "<i8": "q", "<u8": "Q", "<f4": "f", "<f8": "d"}[kind]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY" + bytes((version, 0)) + struct.pack("<H" if version == 1 else "<I", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))
    return path


class Ran:
    """What a run left: exit code and both streams, as bytes (out, err) and as text."""

    def __init__(self, completed):
        self.code = completed.returncode
        self.out = completed.stdout if completed.stdout is not None else b""
        self.err = completed.stderr if completed.stderr is not None else b""

    @property
    def out_text(self):
        return self.out.decode("utf-8")

    @property
    def err_text(self):
        return self.err.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.out)


def environment(**changes):
    """The surroundings of a run. A change to None takes the variable away."""
    wanted = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/nonexistent",
              "LC_ALL": "C.UTF-8", "TERM": "xterm", "CUDA_VISIBLE_DEVICES": "-1",
              # Slow machines answer as fast ones do.
              "COALPROF_NO_PROGRESS": "1", "COALPROF_TIME_LIMIT": "0",
              # What one test compiled is not another's.
              "COALPROF_CACHE_DIR": "none"}
    if IS_SANITIZED:
        wanted["COALPROF_MEMORY_LIMIT"] = "0"
    for passed_on in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"):
        if passed_on in os.environ:
            wanted[passed_on] = os.environ[passed_on]
    for name, value in changes.items():
        if value is None:
            wanted.pop(name, None)
        else:
            wanted[name] = value
    return wanted


def run(*arguments, stdin=b"", env=None, timeout=PATIENCE, cwd=None, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, before=()):
    """coalprof ARGUMENTS. `before`: words in front, such as strace and its options."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    return Ran(subprocess.run([*before, PROGRAM, *arguments], input=stdin, stdout=stdout,
                              stderr=stderr, timeout=timeout, cwd=cwd,
                              env=environment() if env is None else env, check=False))


def can_attach():
    """Whether there is `coalprof run`: not where it was built without CUDA."""
    return b"built without CUDA" not in run("run", "--", "true").err


def without_time(document):
    """A result without what differs from run to run."""
    document["meta"].pop("time", None)
    return document


class Case(unittest.TestCase):
    """Assertions about runs, with both streams in the message when they fail."""

    maxDiff = None

    def check(self, ran, code):
        self.assertEqual(ran.code, code, f"stdout: {ran.out[-500:]}\nstderr: {ran.err[-2000:]}")
        return ran

    def run_ok(self, *arguments, **how):
        return self.check(run(*arguments, **how), DONE)

    def refuse(self, *arguments, code=USAGE, **how):
        """A run that says why not on stderr, and nothing on stdout."""
        ran = self.check(run(*arguments, **how), code)
        self.assertEqual(ran.out, b"")
        self.assertTrue(ran.err_text.startswith("coalprof: "), ran.err_text)
        self.assertTrue(ran.err_text.endswith("\n"), ran.err_text)
        return ran


def main():
    """As unittest.main(); a file whose tests were all skipped says so to ctest."""
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    for test, reason in result.skipped:
        print(f"SKIPPED {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(NOTHING_RAN if result.testsRun == len(result.skipped) else 0)
