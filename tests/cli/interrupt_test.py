"""Ctrl-C and SIGTERM: the run ends soon, what is finished is delivered, nothing is left behind."""
import os
import signal
import subprocess
import tempfile
import time

import harness
from harness import Case, INTERRUPTED, TERMINATED, environment

LINE = "w load 4 " + " ".join(str(4 * lane) for lane in range(32)) + "\n"
LONG = ("scatter", "--range", "1024,4096", "--size", "16GiB", "--backend", "model")  # a minute and more of walking
PATIENCE = 30  # seconds; a run that does not end is the failure looked for


def default_signals():
    """A shell's background job ignores SIGINT, and so would what it starts."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def start(*arguments, cwd=None):
    return subprocess.Popen([harness.PROGRAM, *arguments], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                            cwd=cwd, preexec_fn=default_signals)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("what was waited for did not come")
        time.sleep(0.01)


class Interrupt(Case):
    def end(self, process):
        """What the program printed; its standard input stays open until it has ended."""
        try:
            process.wait(timeout=PATIENCE)
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

    def test_ends_a_long_prediction_and_delivers_the_points_before_it(self):
        with tempfile.TemporaryDirectory() as folder:
            process = start(*LONG, "-o", "x.json", "--quiet", cwd=folder)
            wait_until(lambda: os.listdir(folder))
            process.send_signal(signal.SIGINT)
            _, err = self.end(process)
            self.assertEqual(process.returncode, INTERRUPTED, err)
            self.assertEqual(os.listdir(folder), ["x.json"])
            with open(f"{folder}/x.json", encoding="utf-8") as result:
                self.assertIn('"status":"interrupted"', result.read().replace(" ", ""))

    def test_twice_leaves_no_temporary_file(self):
        with tempfile.TemporaryDirectory() as folder:
            # Stopped first, so that both signals are there when it goes on: of a stopped program
            # that gets two different ones, both are delivered before anything else is done.
            process = start(*LONG, "-o", "x.json", cwd=folder)
            wait_until(lambda: os.listdir(folder))
            process.send_signal(signal.SIGSTOP)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGCONT)
            self.end(process)
            self.assertLess(process.returncode, 0)  # killed by the second
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    harness.main()
