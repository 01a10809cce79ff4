"""Completion, manual pages, and options that are set once for all in files and variables."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import Case


class Completion(Case):
    def complete(self, *words):
        """What bash offers for the last of the words."""
        script = self.run_ok("completion", "bash").out_text + (
            'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coalprof; printf "%s\\n" "${COMPREPLY[@]}"\n')
        ran = subprocess.run(["bash", "--norc", "-c", script, "bash", harness.PROGRAM, *words], check=True,
                             capture_output=True, text=True)
        self.assertEqual(ran.stderr, "")
        return ran.stdout.split()

    def test_of_bash_knows_commands_options_and_values(self):
        self.assertEqual(self.complete("off"), ["offset"])
        self.assertEqual(self.complete("offset", "--ran"), ["--range"])
        self.assertEqual(self.complete("offset", "--type", "f32x"), ["f32x2", "f32x4", "f32x8"])
        self.assertEqual(self.complete("offset", "--counters", "load_sectors,load_eff"), ["load_sectors,load_efficiency"])
        self.assertIn("h200", self.complete("explain", "offset", "--machine", "h"))
        self.assertIn("junit", self.complete("check", "x.json", "--format", ""))
        self.assertEqual(self.complete("explain", "strid"), ["stride"])
        self.assertEqual(self.complete("offset", "--type", "=", "f32x"), ["f32x2", "f32x4", "f32x8"])
        self.assertNotIn("--budget", self.complete("report", "--"))

    def test_of_bash_completes_files(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/result.json", "w", encoding="ascii"):
                pass
            for words in (("report", f"{folder}/re"), ("offset", "-o", f"{folder}/re")):
                self.assertEqual(self.complete(*words), [f"{folder}/result.json"])

    def test_of_every_shell_names_every_command_and_is_well_formed(self):
        patterns = [row["name"] for row in self.run_ok("patterns", "--json").json["patterns"]]
        for shell in ("bash", "zsh", "fish"):
            words = self.run_ok("completion", shell, "--", "").out_text
            for name in patterns + ["formula", "report", "merge", "check"]:
                self.assertIn(name, words)
            self.assertIn("--type=f32,f32x8", self.run_ok("completion", shell, "--", "offset", "--type=f32,f").out_text)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=self.run_ok("completion", shell).out_text, check=True, text=True)
        self.assertIn("fish", self.refuse("completion", "fsh").err_text)


class Manual(Case):
    def test_of_every_command_is_a_page_that_troff_reads(self):
        for name in ("", "offset", "formula", "check", "report", "man"):
            page = self.run_ok("man", *([name] if name else [])).out_text
            self.assertTrue(page.startswith('.TH "COALPROF'), page[:40])
            self.assertFalse([line for line in page.splitlines() if line.startswith("'")])
            if shutil.which("groff"):
                ran = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, check=True,
                                     capture_output=True, text=True)
                self.assertEqual(ran.stderr, "")
        self.refuse("man", "ofset")

    def test_says_what_is_read_from_elsewhere_and_what_exit_codes_mean(self):
        for name in ("", "offset", "check", "run"):
            page = self.run_ok("man", *([name] if name else [])).out_text.replace("\\-", "-")
            sections = dict(re.findall(r"^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH|\Z)", page, re.M | re.S))
            for variable in ("COALPROF_CONFIG", "COALPROF_CUPTI", "NO_COLOR", "TMPDIR"):
                self.assertIn(variable, sections["ENVIRONMENT"])
            for file in ("~/.config/coalprof/config.toml", ".coalprof.toml", ".part.jsonl"):
                self.assertIn(file, sections["FILES"])
            codes = re.findall(r"^\.TP\n\\fB(.*?)\\fR$", sections["EXIT STATUS"], re.M)
            self.assertEqual(codes, ["0", "1", "2", "3", "4", "5", "70", "128 + N"])
            self.assertNotIn("Exit codes", sections.get("NOTES", ""))


class Settings(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(f"{self.folder}/.config/coalprof")

    def set_user(self, text):
        with open(f"{self.folder}/.config/coalprof/config.toml", "w", encoding="utf-8") as file:
            file.write(text)

    def set_project(self, text):
        with open(f"{self.folder}/.coalprof.toml", "w", encoding="utf-8") as file:
            file.write(text)

    def run_here(self, *arguments, **variables):
        return harness.run(*arguments, cwd=self.folder, env=harness.environment(HOME=self.folder, **variables))

    def machine(self, *arguments, **variables):
        ran = self.check(self.run_here("offset", "--range", "0", "--json", *arguments, **variables), harness.DONE)
        return ran.json["meta"]["machine"]["name"]

    def test_the_nearest_wins(self):
        self.assertEqual(self.machine(), "h200")
        self.set_user('machine = "c870"\n')
        self.assertEqual(self.machine(), "c870")
        self.set_project('machine = "c1060"\n')
        self.assertEqual(self.machine(), "c1060")
        self.assertEqual(self.machine(COALPROF_MACHINE="c2050"), "c2050")
        self.assertEqual(self.machine("--machine", "v100", COALPROF_MACHINE="c2050"), "v100")
        self.assertEqual(self.machine("-m", "v100", COALPROF_MACHINE="c2050"), "v100")

    def test_what_is_typed_stands_instead_of_an_alternative(self):
        self.set_project('size = "1MiB"\n')
        ran = self.check(self.run_here("formula", "i", "--grid", "64", "--json"), harness.DONE)
        self.assertEqual(ran.json["points"][0]["predicted"]["load_requests"], 64 * 8)

    def test_hold_for_one_command_below_its_name(self):
        self.set_user('[stride]\nmachine = "c870"\n[offset]\nmachine = "c1060"\n')
        self.assertEqual(self.machine(), "c1060")

    def test_flags_lists_and_budgets_can_be_set(self):
        self.set_project('quiet = true\nmachine = ["c870", "c1060"]\nplain = false\n'
                         '[offset]\nbudget = ["load_sectors >= 0", "store_sectors < 0"]\n')
        ran = self.run_here("offset", "--range", "0", "--json")
        self.assertEqual(ran.code, harness.FINDING)
        self.assertEqual(ran.json["meta"]["machine"]["name"], "c870,c1060")
        self.assertIn("1 of 2 budgets", ran.err_text)

    def check_not_read(self, why):
        ran = self.check(self.run_here("offset", "--range", "0", "--json"), harness.DONE)
        self.assertEqual(ran.json["meta"]["machine"]["name"], "h200")
        self.assertIn(".coalprof.toml is not read", ran.err_text)
        self.assertIn(why, ran.err_text)
        self.assertEqual(self.run_here("offset", "--range", "0", "-q").err, b"")

    def test_that_others_may_write_are_not_believed(self):
        self.set_project('machine = "c870"\n')
        path = f"{self.folder}/.coalprof.toml"
        me = os.geteuid()
        # A group of the user's own, which has the user's number, and (for root to set) another one.
        for mode, group, is_believed in ((0o644, -1, True), (0o646, -1, False), (0o666, -1, False),
                                         (0o664, me, True), (0o664, me + 1, False)):
            if group >= 0 and me != 0 and os.getegid() != group:
                continue
            with self.subTest(mode=oct(mode), group=group):
                os.chmod(path, mode)
                os.chown(path, -1, group)
                if is_believed:
                    self.assertEqual(self.machine(), "c870")
                else:
                    self.check_not_read("chmod go-w")
        self.assertEqual(self.machine(COALPROF_CONFIG=".coalprof.toml"), "c870")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_of_somebody_else_are_not_believed(self):
        self.set_project('no such settings')
        os.chown(f"{self.folder}/.coalprof.toml", 65534, 65534)
        self.check_not_read("uid 65534")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give links away")
    def test_are_not_chosen_by_links_of_somebody_else(self):
        self.set_project('machine = "c870"\n')
        os.rename(f"{self.folder}/.coalprof.toml", f"{self.folder}/own.toml")
        os.symlink("own.toml", f"{self.folder}/.coalprof.toml")
        self.assertEqual(self.machine(), "c870")
        os.chown(f"{self.folder}/.coalprof.toml", 65534, 65534, follow_symlinks=False)
        self.check_not_read("uid 65534")

    def test_are_no_pipes(self):
        os.mkfifo(f"{self.folder}/.coalprof.toml")
        self.check_not_read("regular file")
        os.remove(f"{self.folder}/.coalprof.toml")
        os.mkfifo(f"{self.folder}/.config/coalprof/config.toml")
        self.assertEqual(self.machine(), "h200")
        self.assertEqual(self.machine(COALPROF_CONFIG="/dev/null"), "h200")

    def test_what_came_from_where_is_said_with_v(self):
        self.set_user('machine = "c870"\n')
        ran = self.run_here("offset", "--range", "0", "-v", COALPROF_TYPE="f64")
        self.assertIn("--machine=c870 (from " + self.folder, ran.err_text)
        self.assertIn("--type=f64 (from COALPROF_TYPE)", ran.err_text)
        self.assertNotIn("from", self.run_here("offset", "--range", "0").err_text)

    def test_that_no_command_has_are_refused(self):
        for text, named in (('machin = "c870"\n', "machine"), ('[ofset]\nmachine = "c870"\n', "ofset"),
                            ('[offset]\nvar = "k=1"\n', "var"), ('output = "x"\n', "output")):
            with self.subTest(text):
                self.set_project(text)
                ran = self.run_here("offset", "--range", "0")
                self.assertEqual(ran.code, harness.USAGE)
                self.assertIn(".coalprof.toml", ran.err_text)
                self.assertIn(named, ran.err_text)

    def check_refused(self, what, *arguments):
        ran = self.run_here(*arguments or ("offset", "--range", "0"))
        self.assertEqual(ran.code, harness.USAGE)
        self.assertIn(".coalprof.toml", ran.err_text)
        self.assertIn(what, ran.err_text)

    def test_that_are_no_settings_are_refused(self):
        deep = 70000 * "a."
        for text, what in (("quiet = 2026-11-26\n", "quiet"), ("machine =\n", "machine"), ("a = " + 10000 * "[", "'a'"),
                           (f"[{deep}]\n", "too long"), (f"{deep}b = 1\n", "too long"), (f"[{deep[:9000]}]\n", "command"),
                           (f"{deep[:9000]}b = 1\n", "setting"), ("offset.machine = 'c870'\n", "offset.machine"),
                           ("color = \0\n", "no text"), ("\x1b[2Jcolor = 1\n", "no text")):
            with self.subTest(text[:40]):
                self.set_project(text)
                if what == "machine":
                    self.assertEqual(self.run_here("offset").code, harness.USAGE)
                else:
                    self.check_refused(what)
        with open(f"{self.folder}/.coalprof.toml", "wb") as file:
            file.write(bytes(range(128, 256)))
        self.check_refused("no text")
        self.assertEqual(self.run_here("offset", COALPROF_CONFIG="/dev/zero").code, harness.USAGE)

    def test_of_a_folder_choose_nothing_that_is_executed_read_or_written(self):
        for command, option in (("kernel", "nvcc-args"), ("kernel", "addresses"), ("kernel", "arg"), ("kernel", "source"),
                                ("formula", "file"), ("formula", "array"), ("offset", "backend"), ("offset", "device"),
                                ("offset", "output"), ("offset", "budget-file"), ("run", "machine-code"),
                                ("occupancy", "cubin")):
            with self.subTest(command=command, option=option):
                self.set_project(f'[{command}]\n{option} = "x"\n')
                self.check_refused(option)
        for machine in ("./evil.json", "evil.json,v100", "v100,/dev/stdin"):
            self.set_project(f'machine = "{machine}"\n')
            self.check_refused("machine")

    def test_of_a_folder_run_no_compiler_of_its_own(self):
        with open(f"{self.folder}/k.cu", "w", encoding="ascii") as file:
            file.write("__global__ void k(float* x) { x[threadIdx.x] = 1; }\n")
        os.makedirs(f"{self.folder}/evil")
        with open(f"{self.folder}/evil/gcc", "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\ntouch {self.folder}/ran\n")
        os.chmod(f"{self.folder}/evil/gcc", 0o755)
        self.set_project('[kernel]\nnvcc-args="-ccbin,./evil"\n')
        self.check_refused("nvcc-args", "kernel", "k.cu", "--grid", "1", "--block", "32")
        self.assertFalse(os.path.exists(f"{self.folder}/ran"))

    def test_of_a_folder_are_believed_whole_where_the_user_names_the_file(self):
        self.set_project('max-warps = 1000000\nmachine = "c870"\n')
        self.assertEqual(self.machine(COALPROF_CONFIG=".coalprof.toml"), "c870")

    def test_of_another_command_do_no_harm(self):
        self.set_user('range = "0..3"\ntype = "f64"\n')
        self.check(self.run_here("patterns"), harness.DONE)
        self.check(self.run_here("--help"), harness.DONE)


if __name__ == "__main__":
    harness.main()
