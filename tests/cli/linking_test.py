"""The library that stands before NVIDIA's linker: PTX that a program links is rewritten, whatever is
wrong the program's own code is linked. Against a linker that stands in (fake_linker.cpp)."""
import os
import subprocess
import sys
import tempfile
import unittest

import harness

FAKE = os.environ.get("COALPROF_FAKE_LINKER", "")
LIBRARY = os.path.join(os.path.dirname(harness.PROGRAM), "coalprof_linking.so")

# A program as cuda.bindings has it: functions are looked for among all libraries first.
PROGRAM = """
import ctypes, os, sys
fake = ctypes.CDLL(os.environ['COALPROF_FAKE_LINKER'])
everywhere = ctypes.CDLL(None)
fake.fake_linker_told.restype = ctypes.c_char_p
release = os.environ.get('RELEASE', '')

def function(name):
    name = ('__' if release else '') + 'nvJitLink' + name + release
    return getattr(everywhere, name, None) or getattr(fake, name)

kept = []
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t))
def counting(data, size, new_size):
    text = ctypes.string_at(data, size).rstrip(b'\\0')
    if b'PTX' not in text or b'device' in text:
        return None
    kept.append(ctypes.create_string_buffer(text.replace(b'PTX', os.environ.get('BECOMES', 'counting').encode())))
    new_size[0] = len(kept[-1].raw)
    return ctypes.addressof(kept[-1])

if 'NOBODY_COUNTS' not in os.environ:
    everywhere.coalprof_take_linker_input(counting)

def link(inputs, *options):
    link, size = ctypes.c_void_p(), ctypes.c_size_t()
    made = function('Create')(ctypes.byref(link), len(options), (ctypes.c_char_p * len(options))(*options))
    added = [function('AddFile')(link, kind, data[5:]) if data.startswith(b'file ') else
             function('AddData')(link, kind, data, ctypes.c_size_t(len(data) + 1), b'name') for kind, data in inputs]
    done = function('Complete')(link)
    function('GetLinkedCubinSize')(link, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    function('GetLinkedCubin')(link, code)
    function('Destroy')(ctypes.byref(link))
    print([made, *added, done], code.value.decode(), fake.fake_linker_alive())
"""


class Linking(unittest.TestCase):
    def setUp(self):
        if not FAKE or not os.path.exists(LIBRARY):
            self.skipTest("this coalprof was built without CUDA")
        if harness.IS_SANITIZED:
            self.skipTest("the sanitizer's library has to be loaded first")

    def links(self, call, **changes):
        ran = subprocess.run([sys.executable, "-c", f"{PROGRAM}{call}\n"], capture_output=True, check=False,
                             env=harness.environment(LD_PRELOAD=LIBRARY, COALPROF_FAKE_LINKER=FAKE, **changes))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.decode().splitlines()

    def test_ptx_is_linked_with_counting_in_it_by_whatever_name(self):
        for release in ("", "_13_0"):
            for kind in (2, 4, 10):
                self.assertEqual(self.links(f"link([({kind}, b'my PTX')], b'-arch=sm_90')", RELEASE=release),
                                 ["[0, 0, 0] linked my counting; 0"])

    def test_ptx_of_a_file_is_linked_with_counting_in_it(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"my PTX")
            file.flush()
            self.assertEqual(self.links(f"link([(2, b'file {file.name}')])"), ["[0, 0, 0] linked my counting; 0"])
            self.assertEqual(self.links(f"link([(1, b'file {file.name}')])"), [f"[0, 0, 0] linked {file.name}; 0"])

    def test_code_is_linked_as_it_is_where_nothing_counts(self):
        self.assertEqual(self.links("link([(2, b'my PTX')])", NOBODY_COUNTS="1"), ["[0, 0, 0] linked my PTX; 0"])
        self.assertEqual(self.links("link([(1, b'code PTX'), (2, b'device PTX')])"),
                         ["[0, 0, 0, 0] linked code PTX;device PTX; 0"])

    def test_the_programs_own_ptx_is_linked_where_ours_is_refused(self):
        self.assertEqual(self.links("link([(2, b'my PTX')])", BECOMES="bad"), ["[0, 0, 0] linked my PTX; 0"])

    # Bad options are refused by the linker as always.
    def test_optimized_code_is_linked_from_the_ptx_that_it_comes_to(self):
        for release in ("", "_13_0"):
            self.assertEqual(
                self.links("link([(3, b'a'), (1, b'code'), (3, b'b')], b'-arch=sm_90', b'-lto', b'-ftz=true')",
                           RELEASE=release),
                ["[0, 0, 0, 0, 0] linked code;counting of a;b;; 0"])
        self.assertEqual(self.links("link([(3, b'a')], b'-lto')", NOBODY_COUNTS="1"), ["[0, 0, 0] optimized a;; 0"
                                                                                       .replace(";;", ";")])

    def test_optimized_code_is_the_programs_own_where_ours_fails(self):
        for becomes in ("bad", "unresolved"):
            self.assertEqual(self.links("link([(3, b'a'), (1, b'code')], b'-lto')", BECOMES=becomes),
                             ["[0, 0, 0, 0] optimized a;code; 0"])
        self.assertEqual(self.links("link([(3, b'unresolved')], b'-lto')"), ["[0, 0, 6] optimized unresolved; 0"])
        self.assertEqual(self.links("link([(3, b'bad'), (3, b'a')], b'-lto')"), ["[0, 4, 0, 0] optimized a; 0"])

    def test_a_program_that_wants_ptx_gets_its_own(self):
        lines = self.links("link([(3, b'a')], b'-lto', b'-ptx')\nprint(fake.fake_linker_told().decode())")
        self.assertEqual(lines, ["[0, 0, 0] optimized a; 0", "-lto -ptx |"])


if __name__ == "__main__":
    harness.main()
