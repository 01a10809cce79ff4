"""Version, help, mistyped words and exit codes."""
import re

import harness
from harness import Case


class Version(Case):
    def test_is_the_one_of_the_build(self):
        with open(f"{harness.SOURCE}/CMakeLists.txt", encoding="utf-8") as lists:
            version = re.search(r"VERSION (\d+\.\d+\.\d+) LANGUAGES", lists.read()).group(1)
        ran = self.run_ok("--version")
        self.assertEqual(ran.out_text, f"coalprof {version}\n")
        self.assertEqual(ran.err, b"")


class Help(Case):
    def test_goes_to_stdout_when_asked_for(self):
        ran = self.run_ok("--help")
        self.assertIn("coalprof offset --range 0..32", ran.out_text)
        self.assertEqual(ran.err, b"")

    def test_lists_every_pattern_of_the_catalog(self):
        patterns = self.run_ok("patterns", "--json").json["patterns"]
        help_text = self.run_ok("--help").out_text
        self.assertGreaterEqual(len(patterns), 11)
        for pattern in patterns:
            self.assertRegex(help_text, rf"(?m)^  {re.escape(pattern['name'])} ")

    def test_of_every_command_names_the_command(self):
        listed = re.findall(r"(?m)^  ([a-z][a-z-]*) {2,}\S", self.run_ok("--help").out_text)
        self.assertIn("warps", listed)
        for command in listed:
            with self.subTest(command):
                ran = self.run_ok(command, "--help")
                self.assertIn(f"coalprof {command}", ran.out_text)
                self.assertEqual(ran.err, b"")

    def test_without_arguments_goes_to_stderr_and_is_a_usage_error(self):
        ran = self.check(harness.run(), harness.USAGE)
        self.assertEqual(ran.out, b"")
        self.assertIn("Usage:", ran.err_text)


class MistypedWords(Case):
    def test_are_answered_with_the_nearest(self):
        for arguments, meant in (
                (["ofset"], "offset"),
                (["strde"], "stride"),
                (["warp", "-"], "warps"),
                (["pattern"], "patterns"),
                (["machine"], "machines"),
                (["transpos"], "transpose"),
                (["offset", "--rnage", "0..3"], "--range"),
                (["offset", "--rnage=0..3"], "--range"),
                (["offset", "--dlmc=cg"], "--dlcm"),
                (["offset", "--outptu", "x"], "--output"),
                (["offset", "--type", "f23"], "f32"),
                (["offset", "--op", "stroe"], "store"),
                (["transpose", "--variant", "paded"], "padded"),
                (["offset", "--machine", "h2o0"], "h200"),
                (["offset", "--format", "jsno"], "json"),
                (["offset", "--color", "nevr"], "never"),
                (["offset", "--backend", "modle"], "model")):
            with self.subTest(" ".join(arguments)):
                ran = self.refuse(*arguments)
                self.assertRegex(ran.err_text, rf"Did you mean '?{re.escape(meant)}'?\?")


class WrongCommandLines(Case):
    def test_exit_with_2_and_name_the_option(self):
        for arguments, names in (
                (["offset", "--range", "0..x"], "--range"),
                (["offset", "--range", "5..1"], "--range"),
                (["offset", "--range", ""], "--range"),
                (["offset", "--range", "0..10:0"], "--range"),
                (["offset", "--range", "0..99999999999999999999"], "--range"),
                (["offset", "--range", "0..1000000000000"], "--range"),
                (["offset", "--size", "-1"], "--size"),
                (["offset", "--size", "4 furlongs"], "--size"),
                (["offset", "--size", "99999999999999999999"], "--size"),
                (["offset", "--block", "0"], "--block"),
                (["offset", "--block", "1e3"], "--block"),
                (["offset", "--block", "1025"], "--block"),
                (["offset", "--per-thread", "0"], "--per-thread"),
                (["offset", "--carveout", "101"], "--carveout"),
                (["offset", "--l2-fetch", "48"], "--l2-fetch"),
                (["offset", "--type", "f32x4", "--op", "atomic"], "f32x4"),
                (["shared-stride", "--type", "f32x4", "--op", "atomic"], "--op atomic"),
                (["constant", "--op", "store"], "--op store"),
                (["shared-stride", "--range", "4096"], "shared memory"),
                (["local", "--range", "33"], "indices"),
                (["transpose", "--variant", "tile", "--range", "100"], "multiples of 32"),
                (["transpose", "--variant", "tile", "--block", "96"], "--block"),
                (["transpose", "--variant", "tile", "--per-thread", "2"], "--per-thread"),
                (["transpose", "--variant", "tile", "--op", "load"], "--op load"),
                (["offset", "--variant", "tile"], "--variant"),
                (["explain", "offset", "--variant", "tile"], "--variant"),
                (["stride", "--range", "0"], "stride"),
                (["aos", "--range", "3"], "structure"),
                (["offset", "extra"], "extra"),
                (["offset", "--range"], "--range"),
                (["offset", "--no-such-option"], "--no-such-option")):
            with self.subTest(" ".join(arguments)):
                self.assertIn(names, self.refuse(*arguments).err_text)

    def test_show_a_caret_below_the_offending_character(self):
        ran = self.refuse("offset", "--range", "0..x")
        self.assertEqual(ran.err_text,
                         "coalprof: --range 0..x: expected an integer after '..'\n"
                         "  0..x\n"
                         "     ^\n"
                         "hint: ranges look like 0..32, 0..128:4, 1..1024*2 or 1,2,4\n")

    def test_are_answered_at_once_whatever_the_count(self):
        # A count comes first, never a loop: these would take years.
        for text in ("0..18446744073709551615", "1..9223372036854775807", "0..1000000000000"):
            with self.subTest(text):
                self.refuse("offset", "--range", text, timeout=10)

    def test_cut_long_values_and_strip_control_bytes(self):
        ran = self.refuse("offset", "--range", "\x1b[31m" + "9" * 5000 + "\x07")
        self.assertNotIn("\x1b", ran.err_text)
        self.assertNotIn("\x07", ran.err_text)
        self.assertLess(max(map(len, ran.err_text.splitlines())), 200)

    def test_may_hold_bytes_that_are_no_text(self):
        self.refuse(b"offset", b"--range", b"\xff\xfe")
        self.refuse(b"\xff\xfe")
        self.refuse(b"offset", b"--machine", b"\xc3\x28")


class Sizes(Case):
    def test_beyond_what_can_be_walked_are_refused_at_once(self):
        for size in ("4096TiB", "8000000TiB"):
            with self.subTest(size):
                ran = self.refuse("scatter", "--size", size, timeout=10)
                self.assertIn(f"--size {size}: ", ran.err_text)
                self.assertIn("at most 1073741824", ran.err_text)

    def test_that_repeat_are_summed_however_large(self):
        self.run_ok("offset", "--range", "1", "--size", "4096TiB", timeout=10)

    def test_are_echoed_as_typed(self):
        for typed in ("2", "0.001953125KiB"):
            with self.subTest(typed):
                ran = self.refuse("offset", "--type", "f64", "--size", typed)
                self.assertIn(f"--size {typed}: smaller than one f64", ran.err_text)


if __name__ == "__main__":
    harness.main()
