"""The same command line gives the same bytes whatever surrounds it."""
import ctypes
import os
import shutil
import subprocess
import tempfile
import unittest

import harness
import validate_json
from harness import Case, environment, without_time

SWEEP = ("offset", "--range", "0..12")

# A comma for decimals and points for thousands; letters that change case unusually.
FOREIGN = (("de_DE", "UTF-8"), ("tr_TR", "UTF-8"))


class Locales(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.made = []
        if shutil.which("localedef") and os.path.isdir("/usr/share/i18n/locales"):
            for language, charset in FOREIGN:
                name = f"{language}.{charset}"
                done = subprocess.run(["localedef", "-c", "-i", language, "-f", charset,
                                       f"{cls.folder.name}/{name}"],
                                      capture_output=True, check=False)
                if done.returncode in (0, 1):  # 1: warnings
                    cls.made.append(name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def outputs(self, env):
        document = without_time(self.run_ok(*SWEEP, "--json", env=env).json)
        table = self.run_ok(*SWEEP, env=env).out
        rows = self.run_ok(*SWEEP, "--format", "csv", env=env).out
        drawing = self.run_ok("explain", "offset", "--at", "11", env=env).out
        return document, table, rows, drawing

    def test_never_change_a_byte(self):
        if not self.made:
            self.skipTest("no foreign locale: localedef or its sources (package locales) missing")
        expected = self.outputs(environment())
        for name in ["C", "POSIX", *self.made]:
            with self.subTest(name):
                env = environment(LC_ALL=name, LANG=name, LOCPATH=self.folder.name)
                self.assertEqual(self.outputs(env), expected)


class Variables(Case):
    def test_that_are_missing_or_odd_change_nothing(self):
        expected = self.run_ok(*SWEEP).out
        for change in ({"HOME": None}, {"TERM": None}, {"PATH": None}, {"LC_ALL": None},
                       {"LC_ALL": "xx_YY.none"}, {"TZ": "Pacific/Apia"}, {"HOME": "/proc/none"},
                       {"COLUMNS": ""}, {"COLUMNS": "x"}, {"COLUMNS": "-5"},
                       {"COLUMNS": "99999999999999999999"}, {"NO_COLOR": "1"},
                       {"TMPDIR": "/nonexistent"}):
            with self.subTest(change):
                self.assertEqual(self.run_ok(*SWEEP, env=environment(**change)).out, expected)

    def test_an_empty_environment_works(self):
        self.assertEqual(self.run_ok(*SWEEP, env={"CUDA_VISIBLE_DEVICES": "-1"}).out,
                         self.run_ok(*SWEEP).out)

    def test_one_column_of_width_neither_hangs_nor_crashes(self):
        for columns in ("0", "1", "2", "19", "20", "40", "10000"):
            for arguments in (SWEEP, ("explain", "offset", "--at", "11"), ("patterns",),
                              ("counters",), ("machines",), ("--help",)):
                with self.subTest(columns=columns, arguments=arguments):
                    self.run_ok(*arguments, env=environment(COLUMNS=columns))




def some_library():
    """Of which the program needs nothing that it does not have anyway: the C library's mathematics."""
    ctypes.CDLL("libm.so.6")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "/libm.so.6" in line)


# The toolkit's stand-in for the driver's library, which knows no GPU.
STUB = "/usr/local/cuda/lib64/stubs/libcuda.so"


class Libraries(Case):
    def loaded(self, **changes):
        ran = self.run_ok("offset", "--range", "0", env=environment(LD_DEBUG="files", **changes))
        self.assertIn("libc.so", ran.err_text)  # the loader says what it loads
        return ran.err_text

    @unittest.skipIf(harness.IS_SANITIZED, "sanitizers want to be loaded first")
    def test_that_others_load_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/libnvidia-of-others.so"
            os.symlink(some_library(), library)
            ran = self.run_ok(*SWEEP, "--json", "-v", env=environment(LD_PRELOAD=library))
            self.assertIn(f"loaded {library}\n", ran.err_text)
            self.assertEqual(ran.json["meta"]["environment"], {"LD_PRELOAD": library})
            validate_json.check_document(ran.out)
        self.assertNotIn("environment", self.run_ok(*SWEEP, "--json").json["meta"])

    def test_that_only_measuring_needs_are_not_loaded_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            surroundings = [{}]
            if os.path.exists(STUB) and not os.path.exists("/dev/nvidiactl"):
                os.symlink(STUB, f"{folder}/libcuda.so.1")
                surroundings += [{"LD_LIBRARY_PATH": folder},
                                 {"LD_LIBRARY_PATH": folder, "CUDA_VISIBLE_DEVICES": None}]
            for change in surroundings:
                with self.subTest(change):
                    text = self.loaded(**change)
                    for library in ("libcupti", "libnvperf", "libnvrtc"):
                        self.assertNotIn(library, text)


class Folders(Case):
    def test_that_are_gone_do_not_matter(self):
        folder = tempfile.mkdtemp()
        ran = subprocess.run(["sh", "-c", 'cd "$1" && rmdir "$1" && shift && exec "$0" "$@"',
                              harness.PROGRAM, folder, *SWEEP],
                             capture_output=True, env=environment(), timeout=harness.PATIENCE, check=False)
        self.assertEqual(ran.returncode, harness.DONE, ran.stderr)

    def test_output_names_are_relative_to_the_current_one(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_ok(*SWEEP, "--output", "x.json", cwd=folder)
            self.assertEqual(os.listdir(folder), ["x.json"])

    def test_no_file_is_left_anywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_ok(*SWEEP, cwd=folder,
                        env=environment(HOME=folder, TMPDIR=folder, XDG_CACHE_HOME=folder,
                                        XDG_STATE_HOME=folder))
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    harness.main()
