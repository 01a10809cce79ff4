"""Files that results go to: what is read is never written, what cannot be written is refused before
anything is computed."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import Case, environment

SHORT = ("offset", "--range", "0..3")
WARPS = "one load 4 " + " ".join(str(4 * lane) for lane in range(32)) + "\n"
IS_ROOT = os.geteuid() == 0


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


class Inputs(Case):
    def refuse_to_write(self, folder, name, content, *arguments, **how):
        """The run is refused, and folder/name stays as it is."""
        path = f"{folder}/{name}"
        write(path, content)
        ran = self.refuse(*arguments, cwd=folder, **how)
        self.assertIn("this is the file that is read", ran.err_text)
        self.assertEqual(read(path), content)

    def test_are_never_outputs_under_whatever_name(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink("w.json", f"{folder}/link.json")
            for output in ("w.json", "./w.json", f"{folder}/w.json", "link.json", "hard.json"):
                with self.subTest(output):
                    if output == "hard.json":
                        os.link(f"{folder}/w.json", f"{folder}/hard.json")
                    self.refuse_to_write(folder, "w.json", WARPS, "warps", "w.json", "-o", output)
            self.refuse_to_write(folder, "w.json", WARPS, "warps", "w.json", "-o", "a.csv", "-o", "w.json")
            self.assertNotIn("a.csv", os.listdir(folder))

    def test_of_every_kind_are_never_outputs(self):
        with open(f"{harness.SOURCE}/docs/measurements/calibrated_h100.json", encoding="ascii") as file:
            machine = file.read()
        budget = "load_sectors >= 0\n"
        settings = 'quiet = true\n'
        result = self.run_ok(*SHORT, "--json", "--backend", "model").out_text
        with tempfile.TemporaryDirectory() as folder:
            for name, content, arguments in (
                    ("m.json", machine, (*SHORT, "--machine", "./m.json", "-o", "m.json")),
                    ("m.json", machine, ("explain", "offset", "--machine", "./m.json", "-o", "m.json")),
                    ("m.json", machine, ("occupancy", "--machine", "m.json", "-o", "m.json")),
                    ("m.json", machine, ("warps", "-", "--machine", "./m.json", "-o", "m.json")),
                    ("b.csv", budget, (*SHORT, "--budget-file", "b.csv", "-o", "b.csv")),
                    ("b.json", budget, ("check", "-", "--budget-file", "b.json", "-o", "b.json")),
                    ("c.json", settings, (*SHORT, "-o", "c.json")),
                    ("c.json", settings, ("patterns", "-o", "c.json")),
                    ("w.json", WARPS, ("explain", "warps", "w.json", "-o", "w.json")),
                    ("r.json", result, ("report", "r.json", "-o", "r.json")),
                    ("r.svg", result, ("report", "-", "r.svg", "-o", "r.svg")),
                    ("r.json", result, ("check", "r.json", "--budget", "load_sectors >= 0", "-o", "r.json")),
                    ("r.json", result, ("compare", "r.json", "-", "-o", "r.json"))):
                with self.subTest(arguments):
                    self.refuse_to_write(folder, name, content, *arguments,
                                         stdin=WARPS if arguments[0] == "warps" else result,
                                         env=environment(COALPROF_CONFIG="c.json"))

    def test_are_programs_too(self):
        if not harness.can_attach():
            self.skipTest("this coalprof was built without CUDA")
        with tempfile.TemporaryDirectory() as folder:
            script = "#!/bin/sh\nexit 0\n"
            env = environment(PATH=f"{folder}:/usr/bin:/bin")
            write(f"{folder}/p.json", "")
            os.chmod(f"{folder}/p.json", 0o755)
            for arguments in (("run", "-o", "p.json", "--", "./p.json"),
                              ("run", "-o", f"{folder}/p.json", "--", "p.json"),
                              ("run", "-o", "p.json", "--", "/bin/sh", "p.json"),
                              ("run", "-o", "p.json", "--", "dd", "if=p.json"),
                              ("run", "--lines", "--addresses", "p.json", "--", "./p.json")):
                with self.subTest(arguments):
                    self.refuse_to_write(folder, "p.json", script, *arguments, env=env)
            shutil.copy(harness.PROGRAM, f"{folder}/coalprof.json")
            ran = subprocess.run([f"{folder}/coalprof.json", *SHORT, "-o", f"{folder}/coalprof.json"],
                                 env=environment(), capture_output=True, timeout=harness.PATIENCE, check=False)
            self.assertEqual(ran.returncode, harness.USAGE, ran.stderr)

    def test_through_descriptors_are_never_outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/w.json"
            for arguments in ("warps - -o w.json <w.json", "warps w.json --jsonl >>w.json",
                              "warps /dev/fd/3 -o w.json 3<w.json",
                              "warps w.json -o /dev/fd/4 4>>w.json"):
                with self.subTest(arguments):
                    write(path, WARPS)
                    before = read(path)
                    ran = subprocess.run(["sh", "-c", f'"$0" {arguments}', harness.PROGRAM],
                                         cwd=folder, env=environment(), capture_output=True,
                                         timeout=harness.PATIENCE, check=False)
                    self.assertEqual(ran.returncode, harness.USAGE, ran.stderr)
                    self.assertIn(b"this is the file that is read", ran.stderr)
                    self.assertEqual(read(path), before)

    def test_that_are_no_files_may_be_outputs_too(self):
        ran = self.run_ok("warps", "-", "-o", "/dev/null", stdin=WARPS)
        self.assertNotIn("is read", ran.err_text)


class Outputs(Case):
    def test_are_two_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments in ("offset -o a.json -o ./a.json", "offset --json -o a.json >a.json",
                              "patterns -o a.json -o ./a.json", "explain offset -o a.json -o ./a.json",
                              "run --lines --addresses ./a.json -o a.json -- true"):
                if arguments.startswith("run") and not harness.can_attach():
                    continue
                with self.subTest(arguments):
                    ran = subprocess.run(["sh", "-c", f'"$0" {arguments}', harness.PROGRAM],
                                         cwd=folder, env=environment(), capture_output=True,
                                         timeout=harness.PATIENCE, check=False)
                    self.assertEqual(ran.returncode, harness.USAGE, ran.stderr)

    def test_with_names_that_cannot_be_are_refused_before_anything_is_computed(self):
        with tempfile.TemporaryDirectory() as folder:
            write(f"{folder}/file", "")
            for path in ("x" * 251 + ".json", "file/x.json", "missing/x.json"):
                with self.subTest(path[-20:]):
                    self.refuse(*SHORT, "-o", path, cwd=folder, code=harness.OUTPUT)
            self.assertEqual(os.listdir(folder), ["file"])

    @unittest.skipUnless(IS_ROOT and shutil.which("unshare") and shutil.which("mount"),
                         "mounting needs root and util-linux")
    def test_that_are_mounted_keep_the_old_bytes_and_the_error_names_the_new(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            write(f"{folder}/x.json", "")
            write(f"{other}/real.json", "old")
            ran = subprocess.run(
                ["unshare", "--mount", "sh", "-c",
                 'mount --bind "$1/real.json" "$2/x.json" || exit 77; '
                 '"$0" offset --range 0..3 -o "$2/x.json"', harness.PROGRAM, other, folder],
                env=environment(), capture_output=True, timeout=harness.PATIENCE, check=False)
            if ran.returncode in (1, 77):
                self.skipTest(f"mounting is not permitted here: {ran.stderr}")
            self.assertEqual(ran.returncode, harness.OUTPUT, ran.stderr)
            self.assertEqual(read(f"{other}/real.json"), "old")
            (kept,) = [name for name in os.listdir(folder) if name.endswith(".tmp")]
            self.assertIn(kept.encode(), ran.stderr)
            self.assertEqual(json.loads(read(f"{folder}/{kept}"))["status"], "complete")

    @unittest.skipUnless(IS_ROOT and shutil.which("chattr"), "marking files needs root and chattr")
    def test_that_may_only_grow_are_refused_before_anything_is_computed(self):
        with tempfile.TemporaryDirectory() as folder:
            write(f"{folder}/x.json", "old")
            marked = subprocess.run(["chattr", "+a", f"{folder}/x.json"], capture_output=True,
                                    check=False)
            if marked.returncode != 0:
                self.skipTest("the file system has no such mark")
            try:
                self.refuse(*SHORT, "-o", f"{folder}/x.json", code=harness.OUTPUT)
                self.assertEqual(read(f"{folder}/x.json"), "old")
            finally:
                subprocess.run(["chattr", "-a", f"{folder}/x.json"], check=True)


if __name__ == "__main__":
    harness.main()
