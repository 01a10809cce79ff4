"""What the program and the library that `run` brings into programs are linked with: nothing that a
machine without CUDA or fmt would miss; what the library shows to those programs; what an installation
holds; and what makes faults of ours hard to use, as cmake/hardening.cmake asks for it. scripts/package
names by COALPROF_GLIBC the oldest C library that they are to run on."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import Case


def told_by(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace",
                          check=True).stdout


LIBRARY = os.path.join(os.path.dirname(harness.PROGRAM), "coalprof_injection.so")
LINKING = os.path.join(os.path.dirname(harness.PROGRAM), "coalprof_linking.so")
# Without CUDA's headers there is no library.
LIBRARIES = [path for path in (LIBRARY, LINKING) if os.path.exists(path)]
FILES = [harness.PROGRAM, *LIBRARIES]
OF_EVERY_LINUX = r"(libc|libm|libdl|libpthread|librt|libresolv|ld-linux.*)\.so"
OF_COMPILERS = r"(libstdc\+\+|libgcc_s|libasan|libubsan|libtsan)\.so"


def numbers(version):
    return [int(number) for number in version.split(".")]


def needed_by(path):
    return re.findall(r"NEEDED.*\[(.*)\]", told_by("readelf", "-dW", path))


def is_for(processor):
    return processor in told_by("readelf", "-hW", harness.PROGRAM)


def is_sanitized():
    with open(harness.PROGRAM, "rb") as program:
        return re.search(rb"__(a|ub|t)san_", program.read()) is not None


@unittest.skipUnless(shutil.which("readelf"), "readelf (package binutils) is not installed")
class Binary(Case):
    @classmethod
    def setUpClass(cls):
        cls.dynamic = told_by("readelf", "-dW", harness.PROGRAM)

    def test_looks_for_libraries_in_no_place_of_its_own(self):
        # An empty element of a RUNPATH would be the current directory.
        self.assertNotRegex(self.dynamic, "RPATH|RUNPATH")

    def test_needs_only_the_libraries_of_every_linux(self):
        for path in FILES:
            self.assertTrue(needed_by(path))
            for library in needed_by(path):
                self.assertRegex(library, f"^({OF_EVERY_LINUX}|{OF_COMPILERS})")

    @unittest.skipUnless(os.environ.get("COALPROF_GLIBC"), "scripts/package says for which C library")
    def test_asks_for_no_newer_c_library_and_for_no_cpp_library(self):
        newest = numbers(os.environ["COALPROF_GLIBC"])
        for path in FILES:
            versions = re.findall(r"GLIBC_([0-9.]+)", told_by("readelf", "-VW", path))
            self.assertTrue(versions)
            self.assertEqual([v for v in set(versions) if numbers(v) > newest], [], path)
            for library in needed_by(path):
                self.assertRegex(library, f"^{OF_EVERY_LINUX}")

    @unittest.skipUnless(os.path.exists(LIBRARY), "built without CUDA's headers")
    def test_shows_programs_only_what_driver_and_nvtx_call(self):
        shown = re.findall(r"(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ (\S+)",
                           told_by("readelf", "--dyn-syms", "-W", LIBRARY))
        self.assertEqual(sorted(shown), ["InitializeInjection", "InitializeInjectionNvtx2"])


@unittest.skipUnless(shutil.which("readelf"), "readelf (package binutils) is not installed")
@unittest.skipIf(is_sanitized(), "sanitizers bring checks of their own")
class Hardened(Case):
    def segments(self):
        """{type: flags} of the program's segments."""
        lines = told_by("readelf", "-lW", harness.PROGRAM).splitlines()
        return {line.split()[0]: re.search(r" ([R ][W ][E ]) +0x", line).group(1)
                for line in lines if re.match(r" +[A-Z_]+ +0x", line)}

    def imported(self):
        """Names of other libraries' functions, without their versions (memcpy@GLIBC_2.14)."""
        symbols = told_by("readelf", "--dyn-syms", "-W", harness.PROGRAM)
        return {name.partition("@")[0] for name in re.findall(r" UND (\S+)", symbols)}

    def test_lies_where_nobody_knows_beforehand(self):
        self.assertRegex(told_by("readelf", "-hW", harness.PROGRAM), r"Type: +DYN")

    def test_has_no_memory_that_is_written_and_run(self):
        segments = self.segments()
        self.assertNotIn("E", segments["GNU_STACK"])
        for kind, flags in segments.items():
            self.assertFalse("W" in flags and "E" in flags, f"{kind}: {flags}")

    def test_writes_its_table_of_functions_before_it_begins_only(self):
        self.assertIn("GNU_RELRO", self.segments())
        self.assertRegex(self.dynamic_flags(), r"BIND_NOW|\bNOW\b")

    def dynamic_flags(self):
        dynamic = told_by("readelf", "-dW", harness.PROGRAM)
        return "\n".join(line for line in dynamic.splitlines() if "FLAGS" in line)

    def test_looks_after_its_stack_and_its_buffers(self):
        # follow_links() has a buffer of PATH_MAX bytes on the stack, which readlink() fills;
        # say_out_of_memory() prints into one.
        names = self.imported()
        self.assertIn("__stack_chk_fail", names)
        self.assertTrue({"__snprintf_chk", "__read_chk"} & names, names)

    @unittest.skipUnless(is_for("X86-64"), "endbr64 is an instruction of x86-64")
    @unittest.skipUnless(shutil.which("objdump"), "objdump (package binutils) is not installed")
    def test_marks_where_calls_may_land(self):
        main = told_by("objdump", "-d", "--no-show-raw-insn", "--disassemble=main", harness.PROGRAM)
        first = re.search(r"<main>:\n *[0-9a-f]+:\s+(\w+)", main)
        self.assertIsNotNone(first, main[-500:])
        self.assertEqual(first.group(1), "endbr64")


@unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
@unittest.skipIf(is_sanitized(), "nobody installs what is built with sanitizers")
class Installed(Case):
    @classmethod
    def setUpClass(cls):
        build = os.path.dirname(os.path.dirname(os.path.realpath(harness.PROGRAM)))
        if not os.path.exists(f"{build}/cmake_install.cmake"):
            raise unittest.SkipTest("the program does not lie in a build folder")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        told_by("cmake", "--install", build, "--strip", "--prefix", cls.folder)

    def test_files_have_no_symbols_and_no_folder_of_them_beside(self):
        installed = [f"{self.folder}/bin/coalprof"]
        installed += [f"{self.folder}/lib/coalprof/{os.path.basename(path)}" for path in LIBRARIES]
        for path in installed:
            self.assertNotIn(".symtab", told_by("readelf", "-SW", path))
        self.assertEqual(os.listdir(f"{self.folder}/bin"), ["coalprof"])

    def test_documents_are_there_with_every_example(self):
        documents = f"{self.folder}/share/doc/coalprof"
        self.assertEqual(sorted(os.listdir(f"{documents}/docs/examples")),
                         sorted(os.listdir(f"{harness.SOURCE}/docs/examples")))
        with open(f"{documents}/copyright", encoding="utf-8") as file:
            self.assertIn("all rights reserved, no licence yet", file.read().lower())

    def test_pages_and_completion_are_there(self):
        share = f"{self.folder}/share"
        for path in ("man/man1/coalprof.1", "man/man1/coalprof-run.1", "zsh/site-functions/_coalprof",
                     "bash-completion/completions/coalprof", "fish/vendor_completions.d/coalprof.fish"):
            self.assertGreater(os.path.getsize(f"{share}/{path}"), 100)


if __name__ == "__main__":
    harness.main()
