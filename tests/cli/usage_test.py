"""Version, help, mistyped words and exit codes."""
import json
import os
import re
import shlex
import socket
import tempfile

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

    def test_of_each_command_shows_examples_of_it(self):
        commands = re.findall(r"(?m)^  (\w[\w-]*)  ",
                              self.run_ok("--help", "--all").out_text.split("\nExamples:")[0])
        self.assertLessEqual({"formula", "offset"}, set(commands))
        for command in commands:
            with self.subTest(command):
                examples = self.run_ok(command, "--help").out_text.split("\nExamples:\n")
                self.assertEqual(len(examples), 2)
                # What goes on in the next line stands further to the right than a command.
                for line in re.sub(r"\n {6}", " ", examples[1].strip()).splitlines():
                    self.assertRegex(line, rf"coalprof (explain )?{command}\b")

    def test_of_a_command_is_what_help_and_its_name_print(self):
        for command in ("offset", "formula", "help", "doctor"):
            with self.subTest(command):
                self.assertEqual(self.run_ok("help", command).out,
                                 self.run_ok(command, "--help").out)
        self.assertEqual(self.run_ok("help").out, self.run_ok("--help").out)
        self.assertIn("Did you mean 'stride'?", self.refuse("help", "strde").err_text)

    def test_without_arguments_is_a_short_screen_whose_commands_exist(self):
        lines = self.run_ok().out_text.splitlines()
        self.assertLess(len(lines), 20)
        named = re.findall(r"(?m)^  coalprof ([a-z]+)", "\n".join(lines))
        self.assertGreater(len(named), 5)
        for command in named:
            self.run_ok(command, "--help")

    def test_is_never_wider_than_80_columns(self):
        commands = [pattern["name"] for pattern in
                    self.run_ok("patterns", "--json").json["patterns"]]
        commands += ["formula", "layout", "warps", "explain", "report", "compare", "check", "verify", "calibrate", "occupancy", "patterns", "counters",
                     "machines", "devices", "doctor"]
        for arguments in [[], *([command] for command in commands)]:
            with self.subTest(arguments):
                for line in self.run_ok(*arguments, "--help", "--all").out_text.splitlines():
                    self.assertLessEqual(len(line), 80, line)

    def test_has_commands_first_and_patterns_in_three_lines(self):
        text = self.run_ok("--help").out_text
        self.assertLess(text.index("\nCommands:"), text.index("\nPatterns:"))
        names, = re.findall(r"\nPatterns:\n((?:  .*\n)+)", text)
        self.assertEqual(names.count("\n"), 3)
        self.assertEqual(names.split(";")[0].split(),
                         [pattern["name"] for pattern in self.run_ok("patterns", "--json").json["patterns"]])

    def test_shows_what_matters_and_in_full_everything(self):
        """Of a pattern 12 options and --help; what the manual page has is in the full one."""
        def options(*arguments):
            return set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z0-9-]+)", self.run_ok(*arguments).out_text))

        for command in ("offset", "transpose", "formula", "kernel", "run", "check"):
            with self.subTest(command):
                short, full = options(command, "--help"), options(command, "--help", "--all")
                man = set(re.findall(r"(?m)^\\fB(?:.*, )?(--[a-z0-9-]+)", self.run_ok("man", command).out_text.replace("\\-", "-")))
                self.assertLessEqual(short, full)
                self.assertLessEqual(full, man)
                hidden = re.findall(r"(?m)^(\d+) more options: --help --all$", self.run_ok(command, "--help").out_text)
                self.assertEqual([str(len(full - short))] if full != short else [], hidden)
        self.assertEqual(len(options("offset", "--help") - {"--help"}), 12)
        self.assertEqual(options("check", "--help"), options("check", "--help", "--all"))


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
                (["offset", "--machine", "h2000"], "h200"),
                (["offset", "--format", "jsno"], "json"),
                (["offset", "--color", "nevr"], "never"),
                (["offset", "--backend", "modle"], "model"),
                (["offset", "--alloc", "manged"], "managed"),
                (["offset", "--op", "load", "--path", "tx"], "tex")):
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
                (["offset", "--alloc", "device,"], "--alloc"),
                (["offset", "--path", ""], "--path"),
                (["offset", "--path", "ldg"], "--op load"),  # rmw writes what it reads
                (["offset", "--path", "tex", "--op", "load", "--type", "u8"], "--type"),
                (["shared-stride", "--alloc", "host"], "global memory"),
                (["constant", "--path", "tex"], "constant memory"),
                (["explain", "offset", "--op", "load", "--path", "tex"], "--path tex"),
                (["explain", "offset", "--op", "load", "--path", "ldg", "--machine", "k40"], "--path ldg"),
                (["explain", "offset", "--machine", "c2050"], "compute capability 7.0"),
                (["offset", "--device", "first"], "--device"),
                (["offset", "--device", "-1"], "--device"),
                (["offset", "--device", "0,1"], "--device"),
                (["offset", "--device", "all"], "--device"),
                (["verify", "--output", "points.csv"], "FILE.jsonl"),
                (["offset", "--type", "f32x4", "--op", "atomic"], "f32x4"),
                (["shared-stride", "--type", "f32x4", "--op", "atomic"], "--op atomic"),
                (["constant", "--op", "store"], "--op store"),
                (["shared-stride", "--range", "4096"], "shared memory"),
                (["local", "--range", "33"], "indices"),
                (["transpose", "--variant", "tile", "--range", "100"], "multiples of 64"),
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
                         "hint: values look like 7, 1,2,4, 0..32, 0..128:4 or 1..1024*2\n")

    def test_cut_long_values_and_strip_control_bytes(self):
        ran = self.refuse("offset", "--range", "\x1b[31m" + "9" * 5000 + "\x07")
        self.assertNotIn("\x1b", ran.err_text)
        self.assertNotIn("\x07", ran.err_text)
        self.assertLess(max(map(len, ran.err_text.splitlines())), 200)

    def test_may_hold_bytes_that_are_no_text(self):
        self.refuse(b"offset", b"--range", b"\xff\xfe")
        self.refuse(b"\xff\xfe")
        self.refuse(b"offset", b"--machine", b"\xc3\x28")


class WithoutAGpu(Case):
    def test_any_device_is_answered_by_the_model(self):
        for device in ("0", "7"):
            with self.subTest(device):
                ran = self.run_ok("offset", "--range", "0", "--device", device, "--json")
                self.assertIsNone(ran.json["meta"]["device"])
                self.assertIn("the model answers alone", ran.err_text)

    def test_whoever_asks_is_told_why(self):
        self.assertIn("the model answers alone",
                      self.run_ok("offset", "--range", "0", "-v", "--json").err_text)

    def test_what_was_demanded_of_one_ends_the_run(self):
        for arguments in (["offset", "--backend", "device", "--device", "1"],
                          ["verify"]):
            with self.subTest(" ".join(arguments)):
                self.refuse(*arguments, code=harness.ENVIRONMENT)



class ImpossibleLaunches(Case):
    LAUNCH = ("offset", "--range", "0,1", "--machine", "c870,c1060,h200", "--type", "f64")
    WARNING = "c870 could not run this launch: it has no f64 arithmetic"

    def test_are_predicted_with_one_warning_for_each_machine_and_reason(self):
        result = self.run_ok(*self.LAUNCH, "--json").json
        self.assertEqual(len(result["points"]), 6)
        self.assertEqual([(w["code"], w["text"]) for w in result["warnings"]],
                         [("W-IMPOSSIBLE", self.WARNING)])
        self.assertIn("warning W-IMPOSSIBLE:",
                      self.run_ok(*self.LAUNCH, "--format", "table").out_text)

    def test_say_both_numbers_and_a_way_out_and_let_the_possible_go_on(self):
        for arguments, numbers in ((["a[i]", "--grid", "100000"], ["100000 blocks", "65535", "dimensions"]),
                                   (["a[i]", "--block", "1024"], ["1024 threads", "512", "--block"]),
                                   (["shared.load: t[tid*56]", "--block", "512"],
                                    ["bytes", "16384 bytes", "--block"])):
            result = self.run_ok("formula", *arguments, "--machine", "c1060,h200", "--json").json
            self.assertEqual(len(result["points"]), 2)
            (warning,) = result["warnings"]
            for number in numbers:
                self.assertIn(number, warning["text"])

    def test_are_told_on_stderr_where_no_output_can(self):
        for output in (("--format", "csv"), ("--jsonl",)):
            with self.subTest(output):
                self.assertIn(self.WARNING, self.run_ok(*self.LAUNCH, *output).err_text)
                self.assertEqual(self.run_ok(*self.LAUNCH, *output, "-q").err, b"")


class Words(Case):
    def test_before_the_pattern_are_sent_behind_it(self):
        for option in ("--plain", "--json", "-q"):
            with self.subTest(option):
                ran = self.refuse(option, "offset")
                self.assertIn(f"hint: options go behind: coalprof offset {option}", ran.err_text)

    def test_of_a_hint_can_be_typed(self):
        for arguments in (["--machine", "h200", "offset", "--range", "0..2"],
                          ["-o", "it's a result.json", "--machine=a100-40", "stride", "-q"],
                          ["formula", "-i+n-1"],
                          ["formula", "-i*k + n*k", "--var", "k=1,2"],
                          ["explain", "formula", "-i+n-1", "--type", "f64"]):
            with self.subTest(arguments), tempfile.TemporaryDirectory() as folder:
                refused = self.refuse(*arguments, cwd=folder)
                hint = re.search(r"coalprof ([^`]*)\n$", refused.err_text).group(1)
                self.run_ok(*shlex.split(hint), cwd=folder)

    def test_behind_two_dashes_are_no_options(self):
        formula = ("--json", "--", "-i+n-1")
        points = self.run_ok("formula", *formula).json["points"]
        self.assertEqual(points[0]["predicted"]["load_sectors"], 2097152)  # 64 MiB, each byte once
        self.assertEqual(self.run_ok("--", "formula", *formula).json["points"], points)
        self.assertIn("'--range'", self.refuse("offset", "--", "--range", "1").err_text)

    def test_that_come_twice_in_a_list_count_once(self):
        for option, twice, once in (("--range", "1,1,1", "1"), ("--range", "0..4,2..6", "0..6"),
                                    ("--machine", "h200,h200", "h200"),
                                    ("--machine", "9.0,sm_90", "9.0"),
                                    ("--dlcm", "ca,cg,ca", "ca,cg"), ("--alloc", "host,host", "host"),
                                    ("--counters", "load_sectors,load_sectors", "load_sectors")):
            with self.subTest(option):
                seen = [self.run_ok("offset", option, value, "--json").json
                        for value in (twice, once)]
                self.assertEqual(seen[0]["points"], seen[1]["points"])
                self.assertEqual(seen[0]["meta"]["machine"], seen[1]["meta"]["machine"])
        self.assertEqual(self.run_ok("occupancy", "-m", "h200,h200").out,
                         self.run_ok("occupancy", "-m", "h200").out)

    def test_without_a_value_get_our_sentence(self):
        for option in ("--range", "--size", "--block="):
            with self.subTest(option):
                ran = self.refuse("offset", option)
                self.assertIn(f"{option.rstrip('=')}: its value is missing", ran.err_text)
        self.assertIn("PATTERN is missing", self.refuse("explain").err_text)

    def test_for_the_values_of_a_parameter_lead_to_each_other(self):
        for arguments, meant in ((("offset", "--at", "3"), "--range"),
                                 (("explain", "offset", "--range", "3"), "--at"),
                                 (("formula", "i*k", "--range", "3"), "--var")):
            with self.subTest(arguments):
                self.assertIn(f"Did you mean '{meant}'?", self.refuse(*arguments).err_text)

    def test_that_cuda_writes_otherwise_lead_to_what_is_written_here(self):
        for command, fix in ((("row", "--size", "256", "MiB"), "--size 256MiB"),
                             (("row", "-Xptxas", "-dlcm=cg"), "--dlcm cg"),
                             (("help", "explain", "transpose"), "coalprof help explain"),
                             (("row", "--counters", "requests"), "load_requests"),
                             (("row", "--type", "float3"), "formula 'a[i*3]; a[i*3 + 1]; a[i*3 + 2]'\n"),
                             (("row", "--type", "int3"), "a[i*3 + 2]' --type s32\n"),
                             (("aos", "--range", "4", "--member", "7"), "member 7 needs --range 32 or more"),
                             (("transpose", "--range", "1000x1000"), "transpose --range 1000\n"),
                             (("row", "--backend", "device"), "doctor")):
            with self.subTest(command):
                ran = harness.run(*command)
                self.assertNotEqual(ran.code, harness.DONE)
                self.assertIn(fix, ran.err_text)

    def test_that_other_tools_take_lead_to_what_is_written_here(self):
        for command, fix in ((("offset", "--op", "read"), "'load'"), (("offset", "--op", "write"), "'store'"),
                             (("offset", "-g", "4"), "--grid"), (("offset", "-b", "4"), "--block"),
                             (("offset", "--format", "pdf"), ".html"), (("offset", "-o", "x.pdf"), ".html"),
                             (("formula", "x.T[i]", "--array", "x=f32[8,8]"), "x[j][i]"),
                             (("gather",), "'scatter'"), (("explain", "random"), "'scatter'"), (("bank-conflicts",), "'shared-stride'"),
                             (("misaligned",), "'offset'"), (("version",), "'--version'"),
                             (("offset", "--alloc", "unified"), "'managed'"), (("offset", "--alloc", "pinned"), "'host'"),
                             (("stride", "--range", "1..32", "step", "2"), "--range 1..32:2"),
                             (("explain", "stride", "i", "k"), "leave it out")):
            with self.subTest(command):
                self.assertIn(fix, self.refuse(*command).err_text)

    def test_of_a_block_with_a_comma_say_both_meanings(self):
        """32,8 is a list; 32x8 may be meant. Two blocks that make none together are only a list."""
        for block, says_so in (("32,8", True), ("4,8,16", True), ("128,256", False), ("32x8", False), ("64", False), ("32x8,64", False)):
            with self.subTest(block):
                ran = self.run_ok("offset", "--range", "0", "--block", block)
                self.assertEqual(f"--block {block.replace(',', 'x')}" in ran.err_text, says_so)
        self.assertEqual(self.run_ok("offset", "--range", "0", "--block", "32,8", "-q").err, b"")

    def test_of_outputs_are_filled_in(self):
        """As Nsight's names are: variables, the process, the host."""
        with tempfile.TemporaryDirectory() as folder:
            environment = harness.environment(RANK="5")
            run = ("offset", "--range", "0", "-q", "-o")
            self.check(harness.run(*run, "r.%q{RANK}.%%.json", env=environment, cwd=folder), harness.DONE)
            self.assertEqual(os.listdir(folder), ["r.5.%.json"])
            self.check(harness.run(*run, "%h.%p.json", env=environment, cwd=folder), harness.DONE)
            (name,) = set(os.listdir(folder)) - {"r.5.%.json"}
            self.assertRegex(name, rf"^{re.escape(socket.gethostname())}\.\d+\.json$")
            for wrong, part in (("%q{NO_SUCH_RANK}.json", "NO_SUCH_RANK"), ("50%.json", "%%"), ("x%", "%%"), ("%q{RANK.json", "%q")):
                ran = harness.run(*run, wrong, env=environment, cwd=folder)
                self.assertEqual(ran.code, harness.USAGE)
                self.assertIn(part, ran.err_text)
            self.assertEqual(len(os.listdir(folder)), 2)

    def test_of_grids_have_a_way_out_that_can_be_typed(self):
        refused = self.refuse("row", "--grid", "67108", "--block", "1000").err_text
        size = refused.split("--size ")[1].split()[0]
        self.run_ok("row", "--size", size, "--block", "1000", "--range", "1000")

    def test_of_atomics_on_shared_memory_lead_to_a_formula(self):
        for op in ("atomic", "reduce"):
            refused = self.refuse("shared-random", "--op", op).err_text
            command = refused.split("coalprof formula ")[1].split("'")[1]
            self.run_ok("formula", command)
        refused = self.refuse("formula", "shared.atomic: hist[hash(i, 256)]").err_text
        self.assertIn("shared.atomic.u32: hist[", refused)
        self.run_ok("formula", "shared.atomic.u32: hist[hash(i, 256)]")

    def test_of_arrays_with_two_indices_ask_for_their_rows(self):
        # Rows of 16 words in blocks of 16x16: two rows fill the banks once.
        for text, words, block in (("shared.load: As[threadIdx.y][k]; load: b[i]", 1, "16x16"),
                                   ("shared.load: As [threadIdx.y][threadIdx.x]", 1, "32x8"),
                                   ("shared.load: As[threadIdx.x][k] if k < 8", 8, "16x16")):
            with self.subTest(text):
                arguments = ("--block", block, "--grid", "64x64", *(("--var", "k=0") if "k" in text else ()))
                self.assertIn("--array As=f32[", self.refuse("formula", text, *arguments).err_text)
                columns = 16 if block == "16x16" else 32
                told = json.loads(self.run_ok("formula", text, "--array", f"As=f32[{columns}][{columns}]",
                                              *arguments, "--json").out_text)
                degree = told["points"][0]["predicted"]["shared_load_conflict_degree"]
                self.assertEqual(degree, words)

    def test_of_shapes_that_are_missing_can_be_typed(self):
        for text, given in (("a[blockIdx.y*64 + tid]", ("--grid", "64")),
                            ("a[gridDim.y*64 + tid]", ()),
                            ("a[blockIdx.y*64 + threadIdx.y]", ("--block", "256", "--grid", "64"))):
            with self.subTest(text):
                refused = " ".join(self.refuse("formula", text, *given).err_text.split())
                for hint in refused.split("each way: ")[1].split("; of one row: "):
                    self.run_ok("formula", text, *hint.split())

    def test_of_an_op_that_decides_nothing(self):
        for command in ("formula", "explain formula"):
            self.refuse(*command.split(), "load: a[i]", "--op", "store")
            self.refuse(*command.split(), "atomic.u32: h[i%256]; load: a[i]", "--op", "load")
        for text in (("a[i]",), ("load: a[i]; b[i]",), ("load: a[i]", "a[i]")):
            self.run_ok("formula", *text, "--op", "store")

    def test_of_times_that_say_nothing_name_what_can_be_larger(self):
        of_grid = ("formula", "a[blockIdx.y*1024 + threadIdx.x]", "a[blockIdx.x]", "--grid", "16x16")
        for command, option in (((*of_grid,), "larger --grid"), (("formula", "a[i]", "a[i*2]", "--size", "64KiB"), "Try --size"),
                                ((*of_grid[:-1], "16x16,16x8"), "larger --grid")):
            with self.subTest(command):
                note = " ".join(self.run_ok(*command).out_text.split())
                self.assertIn(option, note)

    def test_of_options_that_take_lists_are_joined(self):
        for command, option, parts in (("offset", "--machine", ("k80", "h200")), ("offset", "-r", ("1", "4..8:2")),
                                       ("stride", "--type", ("f16", "f32,f64")), ("occupancy", "-m", ("k80", "h200"))):
            with self.subTest(option):
                in_parts = self.run_ok(command, *(word for part in parts for word in (option, part)), "--json").json
                as_list = self.run_ok(command, option, ",".join(parts), "--json").json
                for key in ("sweep", "points"):
                    self.assertEqual(in_parts.get(key), as_list.get(key))
        self.refuse("explain", "offset", "-m", "k80", "-m", "h200")
        self.refuse("offset", "--sort", "op", "--sort", "type")

    def test_that_belong_elsewhere_are_led_there(self):
        for arguments, meant in ((("offset", "11"), "coalprof offset --range 11"),
                                 (("offset", "--svg"), "--format svg"),
                                 (("machines", "a100"), "coalprof offset --machine a100"),
                                 (("histogram",), "coalprof formula"),
                                 (("offset", "--sort", "bandwith"), "bandwidth"),
                                 (("offset", "--best", "bandwith"), "bandwidth")):
            with self.subTest(arguments):
                self.assertIn(meant, self.refuse(*arguments).err_text)
        self.assertNotIn("formula", self.refuse("ofset").err_text)
        self.assertNotIn("--format svg", self.refuse("machines", "--svg").err_text)

    def test_that_contradict_each_other_are_refused(self):
        for short, wanted in (("--json", "csv"), ("--jsonl", "json"), ("--json", "table")):
            with self.subTest(wanted):
                ran = self.refuse("offset", short, "--format", wanted)
                self.assertIn(f"{short} and --format {wanted}", ran.err_text)
        self.run_ok("offset", "--range", "1", "--json", "--format", "json")


class Explain(Case):
    def test_takes_no_list(self):
        for option, value in (("--dlcm", "ca,cg"), ("--dscm", "wb,cg"), ("--carveout", "0,100"),
                              ("--l2-fetch", "32,64"), ("--alloc", "device,managed"), ("--path", "ld,ldg"),
                              ("--size", "1MiB..1GiB*4"), ("--block", "64..256*2"), ("--per-thread", "1,2")):
            with self.subTest(option):
                ran = self.refuse("explain", "offset", "--at", "1", option, value)
                self.assertIn(f"coalprof: {option} ", ran.err_text)
        self.assertNotIn("..1", self.run_ok("help", "explain").out_text)

    def test_draws_what_can_be_drawn_beside_atomics_on_shared_memory(self):
        command = ("explain", "formula", "load: a[i*3]; shared.atomic: h[hash(i, 256)]", "--type", "u32")
        accesses = self.run_ok(*command, "--json").json["explanation"]["accesses"]
        # 32 lanes, 12 bytes apart, are 12 sectors.
        self.assertEqual(accesses[0]["instructions"][0]["predicted"]["load_sectors"], 12)
        self.assertEqual(accesses[1]["space"], "shared")
        self.assertEqual(accesses[1]["cause"], "not_documented")
        self.assertEqual(accesses[1]["passes"], [])
        atomic = accesses[1]["instructions"][0]["predicted"]
        self.assertEqual(atomic["shared_atomic_requests"], 1)
        self.assertIsNone(atomic["shared_atomic_wavefronts"])
        self.assertNotIn("shared_store_requests", atomic)
        self.assertIn("n/a", self.run_ok(*command).out_text)

    def test_takes_a_value_as_it_is_printed(self):
        def drawn(*at):
            return self.run_ok("explain", *at, "--json").json["explanation"]["name"]
        self.assertEqual(drawn("row", "--at", "row_bytes=4000"), drawn("row", "--at", "1000"))
        self.assertEqual(drawn("row", "--at", "row_elements=1000"), drawn("row", "--at", "4000B"))
        self.assertEqual(drawn("stride", "--at", "stride=3"), drawn("stride", "--at", "3"))
        self.refuse("explain", "stride", "--at", "row_bytes=3")

    def test_has_the_options_of_a_result(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = self.run_ok("explain", "offset", "--at", "1", "-q", "--format", "json",
                              "-o", f"{folder}/x.json")
            with open(f"{folder}/x.json", "rb") as file:
                self.assertEqual(file.read(), ran.out)
            ran = self.run_ok("explain", "offset", "--at", "1", "-o", f"{folder}/x.txt")
            with open(f"{folder}/x.txt", "rb") as file:
                self.assertEqual(file.read(), ran.out)
        self.assertIn("Did you mean 'json'?",
                      self.refuse("explain", "offset", "--format", "jason").err_text)

    def test_draws_the_costliest_value_of_a_sweep(self):
        # Strides of 8 floats and more touch 28 sectors too many per request, that of 32 in most lines.
        self.assertEqual(self.run_ok("explain", "stride", "--json").json["sweep"]["value"], 32)
        self.assertIn("--at", self.run_ok("explain", "stride").out_text)
        # Rows of 384 and of 512 bytes are whole lines, those between straddle some.
        self.assertNotIn(self.run_ok("explain", "row", "--json").json["sweep"]["value"], (384, 512))
        self.assertNotIn("--at", self.run_ok("explain", "soa").out_text)

    def test_tells_what_other_loads_use_of_the_same_sectors(self):
        alone = self.run_ok("explain", "formula", "load: a[i*3]").out_text
        together = self.run_ok("explain", "formula", "load: a[i*3]; load: a[i*3+1]; load: a[i*3+2]").out_text
        half = self.run_ok("explain", "formula", "load: a[i*4]; load: a[i*4+1]").out_text
        other = self.run_ok("explain", "formula", "load: a[i*3]; load: b[i*3+1]; load: b[i*3+2]").out_text
        self.assertNotIn("other loads", alone)
        self.assertEqual(together.count("Nothing is wasted"), 3)
        # 32 lanes a structure of 16 bytes apart: 16 sectors, two of its four floats used.
        self.assertEqual(" ".join(half.split()).count("256 of the 512 bytes"), 2)
        self.assertEqual(other.split("load of b")[0].count("other loads"), 0)

    def test_formats_of_budget_reports_lead_to_check(self):
        for name in ("github", "junit", "sarif"):
            self.assertIn(f"--format {name}`", self.refuse("offset", "--format", name).err_text)

    def test_formats_that_are_refused_are_not_offered(self):
        for command in ("explain", "machines", "occupancy"):
            self.assertNotIn("openmetrics", self.run_ok(command, "--help").out_text)
        self.assertNotIn(",...", self.run_ok("explain", "--help").out_text)


class Results(Case):
    def test_name_the_load_modifier_that_was_assumed(self):
        for arguments, assumed in (((), "ca"), (("--machine", "k40"), "cg"),
                                   (("--dlcm", "cv"), "cv"),
                                   (("--machine", "h200,k40"), "ca on h200, cg on k40")):
            with self.subTest(arguments):
                sweep = self.run_ok("offset", "--range", "1", "--json", *arguments).json["sweep"]
                self.assertEqual(sweep["dlcm"], assumed)

    def test_say_why_a_counter_that_was_asked_for_is_not_there(self):
        asked = ["load_sectors", "store_sectors", "load_transactions", "bandwidth_share"]
        point = self.run_ok("offset", "--range", "1", "--op", "load", "--json", "--counters",
                            ",".join(asked)).json["points"][0]
        self.assertEqual(sorted(point["predicted"]), sorted(asked))
        self.assertEqual(sorted(point["unavailable"]), sorted(asked[1:]))
        table = self.run_ok("offset", "--range", "1", "--op", "load", "--counters",
                            "load_sectors,store_sectors").out_text
        self.assertIn("n/a  store sectors: ", table)
        rows = self.run_ok("offset", "--range", "0,8", "--op", "load", "--counters",
                           "load_sectors,store_sectors,load_tag_wavefronts").out_text
        self.assertIn("n/a  store sectors: ", rows)
        self.assertIn("n/a  load tag wavefronts: ", rows)
        self.assertNotIn("says why", rows)


class Sizes(Case):
    def test_beyond_what_can_be_walked_are_refused_at_once(self):
        for size in ("1TiB", "1000TiB"):
            for words in (("scatter",), ("formula", "hash(i, 1000)")):
                with self.subTest(f"{words} {size}"):
                    ran = self.refuse(*words, "--size", size, timeout=60)
                    self.assertIn(f"--size {size}: ", ran.err_text)
                    self.assertIn("at most 1073741824", ran.err_text)

    # 2^48 threads of 4 bytes are 1024 TiB.
    def test_that_repeat_are_summed_up_to_as_many_threads_as_are_counted(self):
        self.run_ok("offset", "--range", "1", "--size", "1024TiB", timeout=60)
        for size in ("4096TiB", "8000000TiB"):
            for words in (("offset",), ("scatter",), ("formula", "i")):
                with self.subTest(f"{words} {size}"):
                    self.assertIn(f"--size {size}: ", self.refuse(*words, "--size", size, timeout=60).err_text)


if __name__ == "__main__":
    harness.main()
