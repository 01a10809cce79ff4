"""Progress on standard error: on a terminal, after a second, gone at the end; steps with -v."""
import os
import pty
import select
import subprocess
import time

import harness
from harness import Case, environment

LINE = b"w load 4 " + b" ".join(b"%d" % (4 * lane) for lane in range(32)) + b"\n"
ERASED = b"\r\x1b[K"


class Watched:
    """`coalprof warps -`, which goes on for as long as nobody closes its standard input, or another command."""

    def __init__(self, *options, command=("warps", "-", "--jsonl"), terminal=True, **changes):
        self.reader, writer = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [harness.PROGRAM, *command, *options], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=writer, env=environment(**{"COALPROF_NO_PROGRESS": None, **changes}))
        os.close(writer)
        self.seen = b""
        self.process.stdin.write(LINE)
        self.process.stdin.flush()

    def read_until(self, text, seconds):
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.reader], [], [], 0.05)[0] and not self.read():
                break
        return text in self.seen

    def read(self):
        try:
            some = os.read(self.reader, 4096)
        except OSError:  # a terminal's other end has gone
            return False
        self.seen += some
        return bool(some)

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(harness.PATIENCE)
        while select.select([self.reader], [], [], 0)[0] and self.read():
            pass
        os.close(self.reader)
        return code


class Progress(Case):
    def test_shows_on_a_terminal_and_is_gone_at_the_end(self):
        run = Watched()
        self.assertTrue(run.read_until(b"1 point, ", harness.PATIENCE), run.seen)
        self.assertEqual(run.end(), harness.DONE)
        self.assertTrue(run.seen.endswith(ERASED), run.seen)
        self.assertNotIn(b"\n", run.seen)

    def test_shows_while_points_are_checked(self):
        for command in (("formula",), ("explain", "formula")):
            run = Watched("a[i] if hash(i, 7) < 3", "--size", "64GiB", command=command)
            self.assertTrue(run.read_until(b"ing the ", harness.PATIENCE), run.seen)
            run.process.terminate()
            self.assertEqual(run.end(), harness.TERMINATED)

    def test_shows_how_many_launches_of_a_kernel_are_done(self):
        kernels = os.path.join(harness.SOURCE, "tests", "data", "kernels", "natural.ptx")
        run = Watched("--grid", "64..9000", "--block", "32x8", command=("kernel", kernels, "transpose_naive"))
        self.assertTrue(run.read_until(b" of 8937 points", harness.PATIENCE), run.seen)
        run.process.terminate()
        self.assertEqual(run.end(), harness.TERMINATED)

    def test_is_lines_in_pipes_and_where_a_terminal_can_erase_nothing(self):
        for options in ({"terminal": False}, {"TERM": "dumb"}):
            run = Watched(**options)
            self.assertTrue(run.read_until(b"coalprof: 1 point, ", harness.PATIENCE), run.seen)
            self.assertEqual(run.end(), harness.DONE)
            self.assertTrue(run.seen.endswith(b"\n"), run.seen)

    def test_is_refused(self):
        runs = [Watched(*options, terminal=terminal) for options in (("--no-progress",), ("--quiet",)) for terminal in (True, False)]
        time.sleep(1.5)  # it would have come by now
        for run in runs:
            self.assertEqual(run.end(), harness.DONE)
            self.assertEqual(run.seen, b"")


class Steps(Case):
    def test_are_told_with_v_and_leave_standard_output_alone(self):
        plain = self.run_ok("offset", "--range", "0..3", "--backend", "model", "--format", "csv")
        told = self.run_ok("offset", "--range", "0..3", "--backend", "model", "--format", "csv", "-v")
        self.assertEqual(plain.out, told.out)
        self.assertEqual(plain.err, b"")
        self.assertRegex(told.err_text, r"(?m)^coalprof: points checked \(\d+\.\d+ s\)$")
        self.assertRegex(told.err_text, r"(?m)^coalprof: points predicted: 4 \(\d+\.\d+ s\)$")


if __name__ == "__main__":
    harness.main()
