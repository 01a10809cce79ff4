"""The Python module and its wheel: what the program says is what callers get."""
import array
import ast
import base64
import contextlib
import csv
import doctest
import glob
import hashlib
import importlib.util
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

import harness
from harness import Case

sys.path.insert(0, os.path.join(harness.SOURCE, "cli", "python"))
os.environ.update(harness.environment(COALPROF=harness.PROGRAM))
import coalprof  # pylint: disable=wrong-import-position
from coalprof.words import Words  # pylint: disable=wrong-import-position

KERNEL = """
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 p) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ret;
}
"""


def predicted(result, key="load_sectors_per_request"):
    return [point["predicted"].get(key) for point in result.points]


class Calls(Case):
    def test_give_what_the_program_prints(self):
        printed = self.run_ok("formula", "--type", "f16,f32", "--per-thread", "2", "--json", "--", "a[i*3]", "-i+n-1").json
        result = coalprof.formula("a[i*3]", "-i+n-1", type=["f16", "f32"], per_thread=2)
        self.assertEqual((result.points, result.warnings), (printed["points"], printed["warnings"]))
        self.assertTrue(result.ok)

    def test_of_layouts_name_them(self):
        both = coalprof.layout("(64,64):(64,1)", "Sw<3,3,3> o (64,64):(64,1)", type="f16", vector=8, space="shared")
        self.assertEqual(predicted(both, "shared_load_conflict_degree"), [32, 4])
        self.assertEqual(predicted(coalprof.layout("((4,8),2):((2,8),1)", tv=True)), [8])

    def test_of_patterns_are_functions(self):
        self.assertEqual(predicted(coalprof.stride(range=[1, 2], op="load")), [4, 8])
        self.assertEqual(coalprof.shared_stride(range=2).points, coalprof.pattern("shared-stride", range=2).points)
        self.assertFalse(hasattr(coalprof, "strid"))

    def test_take_a_kernel_as_text_or_file(self):
        # 32 lanes 8 bytes apart: 256 bytes, 8 sectors.
        whole = coalprof.kernel(KERNEL, "scale", grid=2, block=[64, 128])
        self.assertEqual(predicted(whole), [8, 8])
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(KERNEL)
            file.flush()
            self.assertEqual(predicted(coalprof.kernel(file.name, grid=2, block=64))[0], 8)

    def test_take_arrays_as_addresses_indices_and_contents(self):
        # Every third float: 12 sectors; as addresses, 128 bytes apart: one each.
        self.assertEqual(predicted(coalprof.warps(array.array("i", range(0, 96, 3)), type="f32")), [12])
        rows = memoryview(array.array("Q", range(0, 8192, 128))).cast("B").cast("Q", (2, 32))
        self.assertEqual(predicted(coalprof.warps(rows)), [32, 32])
        gather = coalprof.formula("y[i] = x[idx[i]] if i < 32", array={"idx": array.array("q", range(0, 96, 3))})
        self.assertEqual([one["predicted"].get("load_sectors") for one in gather.points[0]["instructions"]],
                         [8, 12, None])
        with self.assertRaises(TypeError):
            coalprof.warps(memoryview(b"c" * 32).cast("c"))

    def test_of_programs_raise_where_nothing_was_counted(self):
        if not harness.can_attach():
            self.skipTest("built without CUDA")
        with contextlib.redirect_stderr(io.StringIO()) as passed, self.assertRaises(coalprof.Error) as caught:
            coalprof.run(["sh", "-c", "echo theirs >&2"])
        self.assertEqual(caught.exception.code, harness.ENVIRONMENT)
        self.assertNotIn("theirs", caught.exception.text)
        self.assertIn("theirs\n", passed.getvalue())

    def test_judge_results(self):
        narrow, wide = coalprof.formula("a[i]"), coalprof.formula("a[i*2]")
        self.assertTrue(coalprof.check(narrow, "load_sectors_per_request <= 4"))
        self.assertFalse(coalprof.check(wide, budget="load_sectors_per_request <= 4"))
        broken = coalprof.check(wide, "load_sectors_per_request <= 4")
        self.assertEqual((broken.ok, broken.code, broken.findings[0]["now"]), (False, harness.FINDING, 8))
        self.assertTrue(coalprof.compare(wide, wide, tolerance="1%"))
        worse = coalprof.compare(coalprof.formula("a[i]", name="x"), coalprof.formula("a[i*2]", name="x"))
        self.assertIn("load_sectors", str(worse))
        self.assertFalse(worse)
        self.assertEqual(coalprof.formula("a[i*2]", budget="load_sectors <= 1").code, harness.FINDING)

    def test_show_results(self):
        result = coalprof.offset(range=range(0, 33, 16))
        self.assertEqual(str(result), harness.run("offset", "--range", "0..32:16").out_text)
        self.assertEqual(len(result.report("csv").splitlines()), 4)
        self.assertRegex(result._repr_html_(), r'^<iframe srcdoc="<!DOCTYPE html>[^"]*" style="[^"]*"></iframe>$')
        self.assertEqual(coalprof.text("explain", "offset", at=11), harness.run("explain", "offset", "--at", "11").out_text)


class Words_(Case):
    def words(self, **options):
        with Words() as words:
            return list(words.of_options(options))

    def test_follow_from_keywords(self):
        self.assertEqual(self.words(per_thread=2, quiet=True, plain=False, shard=None, D=["N=1"], I="a"),
                         ["--per-thread=2", "--quiet", "-DN=1", "-Ia"])
        self.assertEqual(self.words(var={"k": range(1, 33), "d": [1, 4]}, range=range(8, -1, -4)),
                         ["--var=k=1..32:1", "--var=d=1,4", "--range=8..0:-4"])
        self.assertEqual(self.words(type=["f16", "f32"]), ["--type=f16", "--type=f32"])

    def test_of_arrays_are_files_as_numpy_writes_them(self):
        with Words() as words:
            for code, kind in (("B", "|u1"), ("i", "<i4"), ("q", "<i8"), ("Q", "<u8"), ("f", "<f4"), ("d", "<f8")):
                with self.subTest(kind), open(words.of(array.array(code, [1, 2, 3])), "rb") as ours, \
                        open(harness.write_npy(words.new_file(".npy"), [1, 2, 3], kind), "rb") as theirs:
                    self.assertEqual(ours.read(), theirs.read())

    def test_of_files_are_removed(self):
        with Words() as words:
            name = words.of(array.array("d", [1]), "@")[1:]
            self.assertTrue(os.path.exists(name))
        self.assertFalse(os.path.exists(os.path.dirname(name)))


class Errors(Case):
    def test_carry_what_the_program_says(self):
        for arguments in (["formula", "a[i*"], ["formula", "a[i]", "--type", "f3"], ["kernel", "nowhere.cu"], ["offst"]):
            said = self.refuse(*arguments).err_text
            with self.subTest(arguments), self.assertRaises(coalprof.UsageError) as caught:
                coalprof.text(*arguments[:1], *(word for word in arguments[1:] if "-" not in word[:1] and word != "f3"),
                              **({"type": "f3"} if "f3" in arguments else {}))
            error = caught.exception
            self.assertEqual(error.code, harness.USAGE)
            self.assertIn(f"coalprof: {error.text}\n", said)
            self.assertEqual(f"hint: {error.hint}\n" in said, bool(error.hint))
            self.assertEqual(f"coalprof: {error}\n", said)

    def test_can_be_handed_to_other_processes(self):
        error = pickle.loads(pickle.dumps(coalprof.UsageError("a", "b", 2)))
        self.assertEqual((type(error), error.text, error.hint, error.code), (coalprof.UsageError, "a", "b", 2))

    def test_name_the_program_that_is_not_there(self):
        with unittest.mock.patch.dict(os.environ, {"COALPROF": "/nowhere"}), self.assertRaises(coalprof.Error) as caught:
            coalprof.formula("a[i]")
        self.assertEqual(caught.exception.code, 127)
        self.assertIn("/nowhere", str(caught.exception))


class Documents(Case):
    def test_show_what_python_prints(self):
        path = os.path.join(harness.SOURCE, "docs", "python.md")
        with open(path, encoding="utf-8") as file:
            text = "".join("\n" if line.startswith("```") else line for line in file)
        examples = doctest.DocTestParser().get_doctest(text, {}, "python.md", path, 0)
        self.assertGreater(len(examples.examples), 5)
        said = io.StringIO()
        doctest.DocTestRunner().run(examples, out=said.write)
        self.assertEqual(said.getvalue(), "")

    def test_notebooks_run_from_top_to_bottom(self):
        for path in glob.glob(f"{harness.SOURCE}/docs/examples/*.ipynb"):
            with open(path, encoding="utf-8") as file:
                notebook = json.load(file)
            shown = self.run_cells("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
            self.assertGreater(sum("iframe" in page for page in shown), 1)
            if shutil.which("jupyter"):
                subprocess.run(["jupyter", "nbconvert", "--to", "notebook", "--execute", "--stdout", path],
                               env={**os.environ, "PYTHONPATH": sys.path[0]}, stdout=subprocess.DEVNULL, check=True)

    def run_cells(self, cells):
        """The HTML of each cell's last expression, as a notebook shows it."""
        names, shown = {}, []
        for cell in cells:
            *statements, last = ast.parse(cell).body
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(ast.Module(statements, []), "cell", "exec"), names)
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else "")
        return shown


@unittest.skipIf(harness.IS_SANITIZED, "nobody installs what is built with sanitizers")
@unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
class Wheel(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        build = os.path.dirname(os.path.dirname(os.path.realpath(harness.PROGRAM)))
        if not os.path.exists(f"{build}/cmake_install.cmake"):
            raise unittest.SkipTest("the program does not lie in a build folder")
        cls.call("cmake", "--install", build, "--strip", "--prefix", f"{cls.folder}/tree")
        cls.path = cls.wheel("one")

    @classmethod
    def call(cls, *command, **variables):
        return subprocess.run(command, check=True, capture_output=True, text=True,
                              env=harness.environment(SOURCE_DATE_EPOCH="1700000000", **variables)).stdout

    @classmethod
    def wheel(cls, place):
        os.mkdir(f"{cls.folder}/{place}")
        return cls.call(f"{harness.SOURCE}/scripts/wheel", f"{cls.folder}/tree", f"{cls.folder}/{place}").strip()

    def test_is_the_same_each_time(self):
        with open(self.path, "rb") as one, open(self.wheel("two"), "rb") as two:
            self.assertEqual(hashlib.sha256(one.read()).digest(), hashlib.sha256(two.read()).digest())

    def test_is_named_after_the_processor_of_its_program(self):
        self.assertRegex(os.path.basename(self.path), r"^coalprof-[0-9.]+-py3-none-manylinux_2_28_(x86_64|aarch64)\.whl$")
        os.makedirs(f"{self.folder}/other/bin")
        with open(harness.PROGRAM, "rb") as program, open(f"{self.folder}/other/bin/coalprof", "wb") as other:
            other.write(program.read(18) + b"\xb7\0")  # EM_AARCH64 of elf.h is 183
        self.assertRegex(self.call(f"{harness.SOURCE}/scripts/wheel", f"{self.folder}/other", self.folder), r"_aarch64\.whl$")

    def test_records_each_file_with_its_hash(self):
        with zipfile.ZipFile(self.path) as wheel:
            record, = (name for name in wheel.namelist() if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
            self.assertEqual([row[0] for row in rows], wheel.namelist())
            for name, digest, size in rows[:-1]:
                content = wheel.read(name)
                wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                self.assertEqual((digest, int(size)), (f"sha256={wanted}", len(content)))

    @unittest.skipUnless(importlib.util.find_spec("pip"), "pip is not installed")
    def test_installs_program_library_and_module_without_an_index(self):
        target = f"{self.folder}/target"
        self.call(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-compile", "--root-user-action=ignore",
                  "--target", target, self.path)
        called = "import coalprof; print(coalprof.formula('a[i*3]').points[0]['predicted']['load_sectors_per_request'])"
        self.assertEqual(self.call(sys.executable, "-c", called, PYTHONPATH=target), "12\n")
        for start in ((f"{target}/bin/coalprof",), (sys.executable, "-m", "coalprof")):
            # The variable may name the wheel's own command.
            for variables in ({}, {"COALPROF": f"{target}/bin/coalprof"}):
                self.assertEqual(self.call("timeout", "60", *start, "--version", PYTHONPATH=target, **variables),
                                 harness.run("--version").out_text)
        if harness.can_attach():
            self.assertTrue(os.path.exists(f"{target}/coalprof/tree/lib/coalprof/coalprof_injection.so"))
        self.assertTrue(os.path.exists(f"{target}/coalprof/py.typed"))


if __name__ == "__main__":
    harness.main()
