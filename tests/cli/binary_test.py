"""What the program is linked with: nothing that a machine without CUDA or fmt would miss."""
import re
import shutil
import subprocess
import unittest

import harness
from harness import Case


@unittest.skipUnless(shutil.which("readelf"), "readelf (package binutils) is not installed")
class Binary(Case):
    @classmethod
    def setUpClass(cls):
        cls.dynamic = subprocess.run(["readelf", "-dW", harness.PROGRAM], capture_output=True,
                                     text=True, check=True).stdout

    def test_looks_for_libraries_in_no_place_of_its_own(self):
        # An empty element of a RUNPATH would be the current directory.
        self.assertNotRegex(self.dynamic, "RPATH|RUNPATH")

    def test_needs_only_the_libraries_of_every_linux(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", self.dynamic)
        self.assertTrue(needed)
        for library in needed:
            self.assertRegex(library, r"^(libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread|librt|"
                                      r"libasan|libubsan|libresolv|ld-linux.*)\.so")


if __name__ == "__main__":
    harness.main()
