"""What the program is linked with: nothing that a machine without CUDA or fmt would miss; and what
makes faults of ours hard to use, as cmake/hardening.cmake asks for it."""
import os
import platform
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
        needed = re.findall(r"NEEDED.*\[(.*)\]", self.dynamic)
        self.assertTrue(needed)
        for library in needed:
            self.assertRegex(library, r"^(libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread|librt|"
                                      r"libasan|libubsan|libtsan|libresolv|ld-linux.*)\.so")


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

    @unittest.skipUnless(platform.machine() == "x86_64", "endbr64 is an instruction of x86-64")
    @unittest.skipUnless(shutil.which("objdump"), "objdump (package binutils) is not installed")
    def test_marks_where_calls_may_land(self):
        main = told_by("objdump", "-d", "--no-show-raw-insn", "--disassemble=main", harness.PROGRAM)
        first = re.search(r"<main>:\n *[0-9a-f]+:\s+(\w+)", main)
        self.assertIsNotNone(first, main[-500:])
        self.assertEqual(first.group(1), "endbr64")

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_is_installed_without_symbols_which_lie_beside_it(self):
        build = os.path.dirname(os.path.dirname(os.path.realpath(harness.PROGRAM)))
        if not os.path.exists(f"{build}/cmake_install.cmake"):
            self.skipTest("the program does not lie in a build folder")
        with tempfile.TemporaryDirectory() as folder:
            told_by("cmake", "--install", build, "--prefix", folder)
            program, symbols = f"{folder}/bin/coalprof", f"{folder}/bin/.debug/coalprof.debug"
            self.assertNotIn(".symtab", told_by("readelf", "-SW", program))
            self.assertRegex(told_by("readelf", "-p", ".gnu_debuglink", program), "coalprof.debug")
            self.assertRegex(told_by("readelf", "-sW", symbols), r"FUNC +GLOBAL .* main\n")
            self.assertEqual(told_by(program, "--version"), told_by(harness.PROGRAM, "--version"))


if __name__ == "__main__":
    harness.main()
