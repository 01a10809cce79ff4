"""Signals: the run ends soon, what is finished is delivered, nothing is left behind."""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import harness
from harness import Case, INTERRUPTED, TERMINATED, environment

LINE = "w load 4 " + " ".join(str(4 * lane) for lane in range(32)) + "\n"
LONG = ("scatter", "--range", "1024,4096", "--size", "16GiB", "--backend", "model")  # a minute and more of walking
QUICK_AND_LONG = ("i", "hash(i, 1000000007)", "--name", "quick", "--name", "long")
# The long one has to last until it is interrupted; the quick one is checked for every thread.
SIZE = "256MiB" if harness.IS_SANITIZED else "2GiB"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU,
          signal.SIGALRM, signal.SIGUSR1)


def default_signals():
    """A shell's background job ignores SIGINT, and so would what it starts."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)


def start(*arguments, cwd=None, stdout=subprocess.PIPE, env=None):
    return subprocess.Popen([harness.PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=stdout,
                            stderr=subprocess.PIPE, env=env or environment(), cwd=cwd,
                            preexec_fn=default_signals)


def wait_until(condition):
    end = time.monotonic() + harness.PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("what was waited for did not come")
        time.sleep(0.01)


def catches(process, number):
    """Whether the program has begun to catch this signal."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        caught = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
    return int(caught, 16) >> (number - 1) & 1


def open_files(process, folder):
    """How many of a folder it holds, those without a name too."""
    count = 0
    for number in os.listdir(f"/proc/{process.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            count += os.readlink(f"/proc/{process.pid}/fd/{number}").startswith(os.path.realpath(folder) + "/")
    return count


def waiting_bytes(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4), sys.byteorder)


def fill(pipe):
    """Until not one byte more goes in. Opened anew, so that other writers of it still wait."""
    own = os.open(f"/proc/self/fd/{pipe}", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(own, b"x")
    os.close(own)


class Interrupt(Case):
    def end(self, process):
        """What the program printed; its standard input stays open until it has ended."""
        try:
            process.wait(timeout=harness.PATIENCE)
            return process.stdout.read(), process.stderr.read()
        finally:
            process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                stream.close()

    def test_ends_a_run_that_waits_for_input(self):
        for number, code in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)):
            with self.subTest(code):
                process = start("warps", "-", "--jsonl")
                process.stdin.write(LINE.encode() + b"half load 4 0 4")
                process.stdin.flush()
                self.assertIn(b'"name":"w"', process.stdout.readline())  # the whole line's point
                process.send_signal(number)
                out, err = self.end(process)
                self.assertEqual(process.returncode, code, err)
                # Half a line is neither a point nor an error.
                self.assertNotIn(b"half", out)
                self.assertEqual(err, b"")

    def test_ends_the_wait_for_an_input_of_any_kind(self):
        waiting = (("offset", "--machine", "./pipe"), ("occupancy", "--machine", "./pipe"),
                   ("offset", "--budget-file", "pipe"), ("check", "r.json", "--budget-file", "pipe"),
                   ("warps", "pipe"), ("explain", "warps", "pipe"),
                   ("report", "pipe"), ("check", "pipe", "--budget", "load_sectors > 0"),
                   ("compare", "pipe", "r.json"), ("merge", "pipe"), ("patterns",))
        for has_writer in (False, True):
            # What nobody can read twice is no shard.
            for arguments in waiting if not has_writer else [one for one in waiting if one[0] != "merge"]:
                with self.subTest(arguments, has_writer=has_writer), tempfile.TemporaryDirectory() as folder:
                    os.mkfifo(f"{folder}/pipe")
                    with open(f"{folder}/r.json", "wb") as file:
                        file.write(harness.run("offset", "--range", "0", "--json").out)
                    # One that writes nothing.
                    end = os.open(f"{folder}/pipe", os.O_RDWR) if has_writer else None
                    process = start(*arguments, cwd=folder, env=environment(
                        COALPROF_CONFIG="pipe" if arguments == ("patterns",) else None))
                    wait_until(lambda: catches(process, signal.SIGTERM))
                    process.send_signal(signal.SIGTERM)
                    _, err = self.end(process)
                    if end is not None:
                        os.close(end)
                    self.assertEqual(process.returncode, TERMINATED, err)
                    for wrong in (b"bug", b"empty", b"Interrupted system call", b"no result"):
                        self.assertNotIn(wrong, err)

    def test_while_points_are_checked_gives_a_result_without_points(self):
        process = start("formula", "i*i % 1000003", "--size", "1GiB", "--backend", "model", "--json")
        wait_until(lambda: catches(process, signal.SIGINT))
        process.send_signal(signal.SIGINT)
        out, err = self.end(process)
        self.assertEqual(process.returncode, INTERRUPTED, err)
        self.assertEqual(json.loads(out)["status"], "interrupted")
        self.assertEqual(json.loads(out)["points"], [])

    def end_between_points(self, folder, *options):
        """Ends a run that writes x.json between its first and its second point."""
        process = start("formula", *QUICK_AND_LONG, "--jsonl", "-o", "x.json", "--size", SIZE,
                        "--backend", "model", *options, cwd=folder)
        process.stdout.readline()  # the quick point
        process.send_signal(signal.SIGINT)
        _, err = self.end(process)
        self.assertEqual(process.returncode, INTERRUPTED, err)
        return err

    def test_ends_a_long_prediction_and_delivers_the_points_before_it(self):
        with tempfile.TemporaryDirectory() as folder:
            err = self.end_between_points(folder)
            self.assertEqual(os.listdir(folder), ["x.json.part.jsonl"])
            self.assertIn(b"x.json.part.jsonl", err)
            result = harness.run("report", "x.json.part.jsonl", "--json", cwd=folder).json
            self.assertEqual(result["status"], "interrupted")
            self.assertEqual([point["name"] for point in result["points"]], ["formula=quick"])

    def test_before_the_first_point_keeps_every_file_and_ends_the_document(self):
        for number in ENDING:
            with self.subTest(number.name), tempfile.TemporaryDirectory() as folder:
                for name in ("x.json", "x.csv"):
                    with open(f"{folder}/{name}", "w", encoding="ascii") as file:
                        file.write("old")
                process = start(*LONG, "--json", "-o", "x.json", "-o", "x.csv", "-o", "new.jsonl",
                                cwd=folder)
                wait_until(lambda: open_files(process, folder) == 3)
                process.send_signal(number)
                out, err = self.end(process)
                self.assertEqual(process.returncode, 128 + number, err)
                self.assertEqual(sorted(os.listdir(folder)), ["x.csv", "x.json"])
                for name in ("x.json", "x.csv"):
                    with open(f"{folder}/{name}", encoding="ascii") as file:
                        self.assertEqual(file.read(), "old")
                result = json.loads(out)
                self.assertEqual((result["status"], result["points"]), ("interrupted", []))

    def test_that_was_ignored_before_is_ignored(self):
        """nohup starts programs so."""
        def like_nohup():
            default_signals()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = subprocess.Popen([harness.PROGRAM, "warps", "-", "--json"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                                   preexec_fn=like_nohup)
        wait_until(lambda: catches(process, signal.SIGUSR1))  # the last of them
        self.assertFalse(catches(process, signal.SIGHUP))
        process.send_signal(signal.SIGTERM)
        self.end(process)

    @unittest.skipUnless(shutil.which("strace"), "strace is not there")
    @unittest.skipIf(harness.IS_SANITIZED, "leak checking cannot be traced")
    def test_wakes_a_call_that_began_to_wait_behind_the_look_at_the_flag(self):
        """By an alarm of its own, which a traced run shows: the moment itself cannot be met."""
        with tempfile.TemporaryDirectory() as folder:
            trace = f"{folder}/trace"
            process = subprocess.Popen(["strace", "-D", "-o", trace, "-e", "trace=alarm", harness.PROGRAM, "warps", "-"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env=environment(), preexec_fn=default_signals)
            wait_until(lambda: process.poll() is not None or catches(process, signal.SIGUSR1))
            if process.poll() is not None:
                self.end(process)
                self.skipTest("strace cannot trace here")
            process.send_signal(signal.SIGTERM)
            self.end(process)

            def lines():
                with open(trace, encoding="ascii") as file:
                    return file.read()
            wait_until(lambda: "+++" in lines())
            self.assertIn("alarm(1)", lines())

    def test_soon_after_another_is_the_same_wish(self):
        with tempfile.TemporaryDirectory() as folder:
            # Stopped first, so that both signals are there when it goes on: of a stopped program
            # that gets two different ones, both are delivered before anything else is done.
            process = start(*LONG, "--json", "-o", "x.json", cwd=folder)
            wait_until(lambda: open_files(process, folder))
            process.send_signal(signal.SIGSTOP)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGCONT)
            out, _ = self.end(process)
            self.assertIn(process.returncode, (INTERRUPTED, TERMINATED))
            self.assertEqual(json.loads(out)["status"], "interrupted")
            self.assertEqual(os.listdir(folder), [])

    def test_long_after_another_ends_the_program_at_once_and_leaves_no_temporary_file(self):
        with tempfile.TemporaryDirectory() as folder:
            # Nobody reads the full pipe, so that the first signal cannot end the run.
            reading, writing = os.pipe()
            process = start("offset", "--range", "0..99999", "--jsonl", "-o", "x.json", cwd=folder,
                            stdout=writing)
            wait_until(lambda: waiting_bytes(reading) > 25_000)
            fill(writing)
            process.send_signal(signal.SIGTERM)
            time.sleep(2.1)
            self.assertIsNone(process.poll())
            # A busy machine may have told the program of the first one late.
            wait_until(lambda: process.send_signal(signal.SIGTERM) or process.poll() is not None)
            os.close(reading)
            os.close(writing)
            process.stdin.close()
            process.stderr.close()
            self.assertEqual(process.returncode, -signal.SIGTERM)
            self.assertEqual(os.listdir(folder), ["x.json.part.jsonl"])

    def test_ends_the_wait_for_the_other_end_of_a_pipe(self):
        for arguments in (("offset", "-o", "pipe"), ("warps", "pipe")):
            with self.subTest(arguments), tempfile.TemporaryDirectory() as folder:
                os.mkfifo(f"{folder}/pipe")
                process = start(*arguments, "--json", "--backend", "model", cwd=folder)
                wait_until(lambda: self.waits_for_pipe(process))
                process.send_signal(signal.SIGTERM)
                _, err = self.end(process)
                self.assertEqual(process.returncode, TERMINATED, err)
                self.assertRegex(err, rb"\Acoalprof: .*Terminated.*\n\Z")

    @staticmethod
    def waits_for_pipe(process):
        """Catches signals and sleeps."""
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            status = dict(line.partition(":")[::2] for line in file)
        catches = int(status["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1
        return catches and status["State"].split()[0] == "S"


if __name__ == "__main__":
    harness.main()
