"""scripts/lines-against-ncu: what Nsight Compute's pages say of each launch is counted once."""
import importlib.machinery
import importlib.util
import os
import unittest

import harness


def script():
    path = os.path.join(harness.SOURCE, "scripts", "lines-against-ncu")
    spec = importlib.util.spec_from_loader("lines_against_ncu",
                                           importlib.machinery.SourceFileLoader("lines_against_ncu", path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class NcuPages(unittest.TestCase):
    def setUp(self):
        self.script = script()

    def counted(self, printed, launched):
        """By name, how many blocks of the source page are taken for these launches."""
        page = [line for name in printed for line in (f'"Kernel Name","void {name}(float *, int)",', '"0x10","LDG"')]
        kept = self.script.once_each(self.script.blocks_of(page), launched)
        return [self.script.short_name(block[0][1]) for block in kept]

    def test_launches_that_are_printed_twice_count_once(self):
        names = ["f<&g>", "f<&g>", "copy<float>"]
        launched = ["f", "f", "copy"]
        self.assertEqual(self.counted(names, launched), launched)
        self.assertEqual(self.counted([name for name in names for _ in range(2)], launched), launched)

    # Then no block is like its neighbour throughout.
    def test_launches_count_once_where_only_some_are_printed_twice(self):
        self.assertEqual(self.counted(["f<&g>", "f<&g>", "copy"], ["f", "copy"]), ["f", "copy"])
        self.assertEqual(self.counted(["copy"] + ["f<&g>"] * 6 + ["copy"], ["copy", "f", "f", "f", "copy"]),
                         ["copy", "f", "f", "f", "copy"])

    def test_pages_that_do_not_fit_together_are_refused(self):
        for printed, launched in ((["f", "f", "f"], ["f", "f"]), (["f"], ["copy"])):
            with self.assertRaises(SystemExit):
                self.counted(printed, launched)


if __name__ == "__main__":
    harness.main()
