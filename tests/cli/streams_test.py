"""stdout carries the result and nothing else; what becomes of it when it cannot be written."""
import errno
import os
import pty
import subprocess
import tempfile
import threading

import harness
from harness import Case, environment

SHORT = ("offset", "--range", "0..3")
ESCAPE = b"\x1b"


def on_terminal(*arguments, env):
    """The bytes that the program writes to a terminal."""
    ours, theirs = pty.openpty()
    seen = []

    def drain():
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError as error:
                if error.errno == errno.EIO:  # the other side is closed
                    return
                raise
            if not piece:
                return
            seen.append(piece)

    reader = threading.Thread(target=drain)
    reader.start()
    subprocess.run([harness.PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=theirs,
                   stderr=subprocess.DEVNULL, env=env, timeout=harness.PATIENCE, check=True)
    os.close(theirs)
    reader.join()
    os.close(ours)
    return b"".join(seen)


def errors_on_terminal(*arguments, columns):
    """The lines that the program writes to a terminal as standard error."""
    ours, theirs = pty.openpty()
    subprocess.run([harness.PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=theirs, env=environment(COLUMNS=str(columns)), timeout=harness.PATIENCE)
    os.close(theirs)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    return text.replace("\r\n", "\n").splitlines()


class StandardError(Case):
    WRONG = ("offset", "--columns", "conflict_degree")

    def test_is_folded_on_a_terminal_and_nowhere_else(self):
        for columns in (40, 100):
            lines = errors_on_terminal(*self.WRONG, columns=columns)
            # A word that is longer has a line of its own.
            self.assertLessEqual(max(map(len, lines)), columns)
            self.assertGreater(len(lines), 2)
        piped = harness.run(*self.WRONG, env=environment(COLUMNS="40")).err_text.splitlines()
        self.assertEqual(len(piped), 2)

    def test_is_like_a_list_of_kernels(self):
        kernels = "kernel", os.path.join(harness.SOURCE, "tests", "data", "kernels", "natural.ptx"), "--list"
        shown = on_terminal(*kernels, env=environment(COLUMNS="50")).decode().splitlines()
        self.assertLessEqual(max(map(len, shown)), 50)
        piped = self.run_ok(*kernels, env=environment(COLUMNS="50")).out_text
        self.assertGreater(max(map(len, piped.splitlines())), 50)
        self.assertEqual(" ".join(piped.split()), " ".join(" ".join(shown).split()))

    def test_keeps_carets_below_what_they_point_to(self):
        lines = errors_on_terminal("formula", "a[i*]; b[i]; c[i + 1 + 2 + 3 + 4 + 5 + 6]", columns=40)
        caret = next(line for line in lines if line.strip() == "^")
        self.assertEqual(lines[lines.index(caret) - 1][caret.index("^")], "]")


class Colour(Case):
    def test_never_reaches_a_pipe_or_file(self):
        for arguments in (SHORT, ("--help",), ("patterns",), ("counters",), ("machines",),
                          ("explain", "offset", "--at", "11"), ("ofset",)):
            with self.subTest(arguments):
                ran = harness.run(*arguments)
                self.assertNotIn(ESCAPE, ran.out)
                self.assertNotIn(ESCAPE, ran.err)

    def test_reaches_a_terminal_unless_refused(self):
        self.assertIn(ESCAPE, on_terminal(*SHORT, env=environment()))
        for refusal in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(refusal):
                self.assertNotIn(ESCAPE, on_terminal(*SHORT, env=environment(**refusal)))
        for option in (["--color", "never"], ["--plain"]):
            with self.subTest(option):
                self.assertNotIn(ESCAPE, on_terminal(*SHORT, *option, env=environment()))

    def test_is_not_refused_by_an_empty_NO_COLOR(self):
        # no-color.org: only when it is not an empty string.
        self.assertIn(ESCAPE, on_terminal(*SHORT, env=environment(NO_COLOR="")))

    def test_can_be_demanded(self):
        self.assertIn(ESCAPE, self.run_ok(*SHORT, "--color", "always").out)
        self.assertIn(ESCAPE, self.run_ok(*SHORT, "--color", "always",
                                          env=environment(NO_COLOR="1")).out)

    def test_never_reaches_machine_readable_formats(self):
        for wanted in ("json", "jsonl", "csv"):
            with self.subTest(wanted):
                ran = self.run_ok(*SHORT, "--color", "always", "--format", wanted)
                self.assertNotIn(ESCAPE, ran.out)


class PlainText(Case):
    def test_is_ascii_only(self):
        for arguments in (SHORT, ("stride",), ("explain", "offset", "--at", "11"),
                          ("patterns",), ("counters",), ("machines",)):
            with self.subTest(arguments):
                ran = harness.run(*arguments, "--plain")
                if ran.code == harness.USAGE and b"--plain" in ran.err:
                    continue  # a list that has no such option is held to the same below
                self.check(ran, harness.DONE)
                ran.out.decode("ascii")


class JsonOnStdout(Case):
    def test_is_one_document_and_nothing_else(self):
        self.assertEqual(self.run_ok(*SHORT, "--json").json["schema"], "coalprof/1")

    def test_is_not_disturbed_by_a_second_output(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = self.run_ok(*SHORT, "--json", "--output", f"{folder}/x.csv")
            self.assertEqual(len(ran.json["points"]), 4)
            self.assertEqual(os.listdir(folder), ["x.csv"])


class ReaderThatLeaves(Case):
    def test_is_no_failure(self):
        reads, writes = os.pipe()
        os.close(reads)
        try:
            ran = harness.run(*SHORT, "--quiet", stdout=writes)
        finally:
            os.close(writes)
        self.check(ran, harness.DONE)
        self.assertEqual(ran.err, b"")

    def test_does_not_keep_files_from_being_finished(self):
        reads, writes = os.pipe()
        os.close(reads)
        with tempfile.TemporaryDirectory() as folder:
            try:
                ran = harness.run(*SHORT, "--output", f"{folder}/x.json", stdout=writes)
            finally:
                os.close(writes)
            self.check(ran, harness.DONE)
            self.assertEqual(os.listdir(folder), ["x.json"])

    def run_unread(self, *arguments, **how):
        reads, writes = os.pipe()
        os.close(reads)
        try:
            return harness.run(*arguments, stdout=writes, **how)
        finally:
            os.close(writes)

    def test_does_not_keep_lists_and_drawings_from_their_files(self):
        for arguments in (("machines",), ("patterns",), ("counters",), ("devices",), ("occupancy",),
                          ("explain", "offset"), ("explain", "formula", "i*3")):
            with self.subTest(arguments), tempfile.TemporaryDirectory() as folder:
                self.check(self.run_unread(*arguments, "-o", f"{folder}/x.json"), harness.DONE)
                self.assertEqual(os.listdir(folder), ["x.json"])

    def test_does_not_change_what_is_found(self):
        result = self.run_ok(*SHORT, "--json", "--backend", "model").out
        for arguments in (("check", "-", "--budget", "load_sectors < 1"),
                          (*SHORT, "--budget", "load_sectors < 1"),
                          ("stride", "--range", "1..512", "--jsonl", "--budget", "load_sectors < 1")):
            with self.subTest(arguments):
                self.check(self.run_unread(*arguments, stdin=result), harness.FINDING)
        if harness.can_attach():
            self.check(self.run_unread("run", "-o", "-", "--", "sh", "-c", "exit 7"), 7)

    def test_that_takes_one_line_gets_it_at_once(self):
        ran = subprocess.run(["bash", "-o", "pipefail", "-c",
                              '"$0" stride --range 1..4096 --jsonl | head -n 1', harness.PROGRAM],
                             capture_output=True, env=environment(), timeout=harness.PATIENCE, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.count(b"\n"), 1)


class OutputThatCannotBeWritten(Case):
    def test_full_disk_is_exit_code_5_with_a_sentence(self):
        for arguments in (SHORT, (*SHORT, "--json"), ("--help",), ("--version",), ("patterns",)):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                ran = self.check(harness.run(*arguments, stdout=full), harness.OUTPUT)
                self.assertIn("No space left on device", ran.err_text)

    def test_file_that_may_not_grow_is_exit_code_5_and_keeps_whole_points(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run(
                ["sh", "-c", 'ulimit -f 100; exec "$0" "$@"', harness.PROGRAM, "offset", "--range",
                 "0..1000", "--quiet", "--output", f"{folder}/x.json"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(), timeout=harness.PATIENCE,
                check=False)
            self.assertEqual(ran.returncode, harness.OUTPUT, ran.stderr)
            self.assertIn(b"File too large", ran.stderr)
            self.assertLessEqual(set(os.listdir(folder)), {"x.json.part.jsonl"})
            for name in os.listdir(folder):
                kept = harness.run("report", f"{folder}/{name}", "-q", "--format", "jsonl")
                self.assertIn(b'"name"', kept.out)

    def test_closed_stdout_is_exit_code_5_and_harms_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for close in (">&-", "<&- >&-", "<&- >&- 2>&-"):
                with self.subTest(close):
                    ran = subprocess.run(
                        ["sh", "-c", f'exec "$0" "$@" {close}', harness.PROGRAM, *SHORT,
                         "--output", f"{folder}/x.json"],
                        capture_output=True, env=environment(), timeout=harness.PATIENCE, check=False)
                    self.assertEqual(ran.returncode, harness.OUTPUT, ran.stderr)
                    # Nothing meant for a standard stream ended up in the file.
                    for name in os.listdir(folder):
                        with open(f"{folder}/{name}", "rb") as file:
                            self.assertTrue(file.read().startswith(b"{"), name)

    def test_closed_stderr_does_not_matter(self):
        ran = subprocess.run(["sh", "-c", 'exec "$0" "$@" 2>&-', harness.PROGRAM, *SHORT],
                             capture_output=True, env=environment(), timeout=harness.PATIENCE, check=False)
        self.assertEqual(ran.returncode, harness.DONE)

    def test_a_list_does_not_keep_others_from_being_written(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = self.check(harness.run("patterns", "-o", "/dev/full", "--format", "json", "-o", f"{folder}/x.json"),
                             harness.OUTPUT)
            self.assertIn("/dev/full", ran.err_text)
            self.assertEqual(os.listdir(folder), ["x.json"])
            self.assertEqual(ran.json["schema"], "coalprof/1")

    def test_a_folder_that_is_not_there_is_named_before_anything_runs(self):
        ran = self.refuse(*SHORT, "--output", "/nonexistent/folder/x.json", code=harness.OUTPUT)
        self.assertIn("/nonexistent/folder/x.json", ran.err_text)


if __name__ == "__main__":
    harness.main()
