"""`coalprof run -- PROGRAM`: the program is itself, its kernels are told beside it."""
import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import Case, environment

HAS_DRIVER = os.path.exists("/proc/driver/nvidia/version")

# Loads the library as the driver does when it starts, where there is no driver.
LIKE_A_DRIVER = ("import ctypes, os, sys\n"
                 "ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']).InitializeInjection()\n")


def has_sanitizer():
    """Whose library has to be loaded before all others: not into a Python that runs."""
    with open(f"{os.path.dirname(harness.PROGRAM)}/coalprof_injection.so", "rb") as library:
        return re.search(rb"__[at]san_init", library.read()) is not None


class RunProgram(Case):
    def setUp(self):
        if not harness.can_attach():
            self.skipTest("this coalprof was built without CUDA")

    def python(self, *options, script, **arguments):
        if script.startswith(LIKE_A_DRIVER) and has_sanitizer():
            self.skipTest("the library is built with a sanitizer")
        return harness.run("run", *options, "--", sys.executable, "-c", script, **arguments)

    def test_passes_streams_and_exit_code_through(self):
        ran = self.python("-q", stdin=b"some input",
                          script="import sys; sys.stdout.write(sys.stdin.read().upper());"
                                 "sys.stderr.write('said'); sys.exit(7)")
        self.assertEqual((ran.code, ran.out), (7, b"SOME INPUT"))
        self.assertIn(b"said", ran.err)

    @unittest.skipIf(HAS_DRIVER, "there is a driver")
    def test_says_that_there_is_no_driver_and_what_needs_none(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = harness.run("run", "-o", f"{folder}/r.json", "--", "true")
            self.assertEqual(ran.code, harness.ENVIRONMENT)
            self.assertIn("no NVIDIA driver", ran.err_text)
            self.assertIn("coalprof kernel FILE", ran.err_text)
            self.assertEqual(os.listdir(folder), [])
            ran = harness.run("run", "--", "/bin/true")
            self.assertIn("coalprof kernel /bin/true", ran.err_text)

    def test_hands_on_options_that_look_like_ours(self):
        ran = harness.run("run", "-q", "--", "echo", "--json", "--", "-o", "x")
        self.assertEqual(ran.out, b"--json -- -o x\n")

    def test_answers_for_a_program_that_was_ended_as_a_shell_does(self):
        self.assertEqual(harness.run("run", "--", "sh", "-c", "kill -KILL $$").code, 128 + 9)
        self.assertEqual(harness.run("run", "--", "no-such-program").code, 127)
        self.assertEqual(harness.run("run", "--", "/").code, 126)

    def test_passes_signals_on(self):
        process = subprocess.Popen([harness.PROGRAM, "run", "-q", "--", sys.executable, "-c",
                                    "import signal, sys\n"
                                    "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
                                    "print('ready', flush=True)\n"
                                    "while True: signal.pause()"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=environment())
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=20), 9)
        process.stdout.close()

    # How often a program is told of a signal: it waits a little for more of them, then says so.
    COUNTS_SIGNALS = ("import signal, sys, time\n"
                      "told = []\n"
                      "for number in signal.SIGTERM, signal.SIGINT:\n"
                      "    signal.signal(number, lambda *_: told.append(1))\n"
                      "print('ready', flush=True)\n"
                      "while not told: time.sleep(0.01)\n"
                      "time.sleep(0.3)\n"
                      "print('told', len(told), flush=True)")

    def test_passes_a_signal_on_once(self):
        process = subprocess.Popen([harness.PROGRAM, "run", "-q", "--", sys.executable, "-c", self.COUNTS_SIGNALS],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.communicate(timeout=60)[0], b"told 1\n")

    def test_leaves_it_to_the_terminal_to_tell_the_program_of_a_key(self):
        """Two like signals may arrive as one: whether it sent another, its system calls tell."""
        strace = shutil.which("strace")
        if not strace or subprocess.run([strace, "-o", "/dev/null", "true"], check=False,
                                        stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("strace cannot trace here")
        with tempfile.TemporaryDirectory() as folder:
            child, terminal = pty.fork()
            if child == 0:
                os.execve(strace, [strace, "-o", f"{folder}/trace", "-e", "trace=kill", harness.PROGRAM, "run", "-q",
                                   "--", sys.executable, "-c", self.COUNTS_SIGNALS], environment())
            said = b""
            with open(terminal, "r+b", buffering=0) as keys, contextlib.suppress(OSError):  # EIO: it has ended
                while b"told" not in said:
                    said += keys.read(1024)
                    if said.endswith(b"ready\r\n"):
                        keys.write(b"\x03")
                said += keys.read(1024)
            os.waitpid(child, 0)
            with open(f"{folder}/trace", encoding="ascii") as file:
                self.assertNotIn("kill(", file.read())
        self.assertIn(b"told 1", said)

    def test_has_each_variable_once_in_the_programs_environment(self):
        ran = harness.run("run", "-q", "--", "env", env=environment(COALPROF_ATTACH_FOLDER="/old"))
        folders = [line for line in ran.out_text.splitlines() if line.startswith("COALPROF_ATTACH_FOLDER=")]
        self.assertEqual(len(folders), 1)
        self.assertNotIn("/old", folders[0])

    def test_gives_no_result_of_a_program_that_cannot_be_started(self):
        with tempfile.TemporaryDirectory() as folder:
            for program, code in (("no-such-program", 127), ("/", 126)):
                self.assertEqual(harness.run("run", "-o", f"{folder}/x.json", "--", program).code, code)
                self.assertEqual(os.listdir(folder), [])

    def test_does_not_leave_its_own_habits_to_the_program(self):
        # We ignore SIGPIPE and SIGXFSZ; a program of the user's is ended by them, as always.
        for ignored in signal.SIGPIPE, signal.SIGXFSZ:
            ran = harness.run("run", "-q", "--", "sh", "-c", f"kill -{ignored.value} $$")
            self.assertEqual(ran.code, 128 + ignored)

    def test_sends_its_table_to_standard_error_unless_a_file_is_named(self):
        for named, is_ours in (((), False), (("-o", "-"), True), (("-o", "/dev/stdout"), True)):
            with self.subTest(named):
                ran = self.python("--json", *named, script=LIKE_A_DRIVER + "print('theirs', flush=True)")
                self.assertTrue(ran.out.startswith(b"theirs\n"))
                result = json.loads(ran.out[len("theirs\n"):] if is_ours else ran.err)
                self.assertEqual(result["sweep"]["pattern"], "run")
        self.assertRegex(self.run_ok("run", "--help", "--all").out_text,
                         r"--format FORMAT +Format of the table, which goes to standard error")

    def test_leads_to_the_command_that_has_the_option(self):
        for option, command in (("--budget", "check"), ("--columns", "report")):
            with self.subTest(option):
                self.assertRegex(self.refuse("run", option, "x", "--", "true").err_text,
                                 rf"coalprof {command} FILE\S* {option}")

    def test_shows_where_the_dashes_were_left_out(self):
        for typed, meant in ((["./app"], "run -- ./app"),
                             (["--first", "3", "./app", "--lr", "3"], "run --first 3 -- ./app --lr 3")):
            with self.subTest(typed):
                ran = self.refuse("run", *typed, env=harness.environment(COALPROF_NO_PROGRESS=None))
                self.assertIn("no -- before ./app", ran.err_text)
                self.assertTrue(ran.err_text.endswith(f"coalprof {meant}\n"), ran.err_text)

    @unittest.skipUnless(HAS_DRIVER, "there is no driver")
    def test_says_when_there_was_nothing_to_count(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = harness.run("run", "-o", f"{folder}/x.json", "--", "true")
            self.assertEqual((ran.code, ran.out), (0, b""))
            with open(f"{folder}/x.json", encoding="utf-8") as file:
                result = json.load(file)
        self.assertEqual(result["points"], [])
        self.assertEqual(result["status"], "partial")
        self.assertEqual([one["code"] for one in result["warnings"]], ["W-NO-KERNELS"])

    def test_tells_what_kept_the_library_from_counting(self):
        # CUPTI has no callbacks to give where there is no driver, or is not there itself.
        with tempfile.TemporaryDirectory() as folder:
            ran = self.python("-o", f"{folder}/x.json", script=LIKE_A_DRIVER + "print('done')")
            self.assertEqual((ran.code, ran.out), (0, b"done\n"))
            with open(f"{folder}/x.json", encoding="utf-8") as file:
                codes = {one["code"] for one in json.load(file)["warnings"]}
        self.assertEqual(codes, {"W-NO-COUNTERS"})

    def test_says_when_a_program_ended_without_a_word(self):
        ran = self.python("--json", script=LIKE_A_DRIVER + "os._exit(5)")
        self.assertEqual(ran.code, 5)
        self.assertIn("W-ENDED-EARLY", {one["code"] for one in json.loads(ran.err)["warnings"]})

    def test_names_a_kernel_that_waits_and_leaves_it_out_of_the_second_run(self):
        # What the library writes where there is a GPU.
        script = ("import json, os\n"
                  "with open(os.environ['COALPROF_ATTACH_FOLDER'] + '/1.trace', 'w') as trace:\n"
                  "    for line in ({'coalprof_trace': 5, 'process': 1, 'program': 'x'},\n"
                  "                 {'unfinished': '_Z5waitsPi'}, {'end': True}):\n"
                  "        print(json.dumps(line), file=trace)\n"
                  "print('left out:', os.environ.get('COALPROF_ATTACH_LEFT_OUT'))")
        ran = self.python("--json", "--counters", "memory", script=script)
        self.assertEqual(ran.out, b"left out: None\nleft out: _Z5waitsPi\n")
        result = json.loads(ran.err)
        self.assertEqual(result["status"], "partial")
        texts = [one["text"] for one in result["warnings"] if one["code"] == "W-KERNEL-WAITS"]
        self.assertEqual(len(texts), 1)
        self.assertIn("waits(int*)", texts[0])

    def lines_of(self, *told, options=()):
        """How often a program ran that tells this as the library does where there is a GPU, and its result."""
        kernel = {"kernel": "_Z5scalePf", "grid": [1, 1, 1], "block": [32, 1, 1], "device": 0}
        lines = [{"coalprof_trace": 5, "process": 1, "program": "x"},
                 {**kernel, "launch": 1, "measured": {"duration_seconds": 1e-3}}, *told,
                 {**kernel, "launches": 2}, {"end": True}]
        script = ("import os\n"
                  "print('asked' if 'COALPROF_ATTACH_TELL_OF_CODE' in os.environ else 'not asked')\n"
                  "with open(os.environ['COALPROF_ATTACH_FOLDER'] + '/1.trace', 'w') as trace:\n"
                  f"    trace.write({chr(10).join(map(json.dumps, lines)) + chr(10)!r})")
        ran = self.python("--json", "--lines", *options, script=script)
        result = json.loads(ran.err)
        warnings = [one["text"] for one in result["warnings"] if one["code"] == "W-NO-LINES"]
        self.assertEqual(result["meta"]["passes"], len(ran.out.splitlines()))
        return ran.out, warnings

    def test_runs_a_program_once_whose_kernels_cannot_have_lines(self):
        out, warnings = self.lines_of({"lacks_ptx": "it holds machine code and no PTX"})
        self.assertEqual(out, b"asked\n")
        (text,) = warnings
        self.assertRegex(text, r"\bscale\b.*\b100 %.*it holds machine code and no PTX.*--machine-code 1")

    def test_runs_a_program_twice_whose_kernels_may_have_lines(self):
        machine_code = {"lacks_ptx": "it holds machine code and no PTX"}
        ptx = {"rewritable": "_Z5scalePf"}
        for told in ([machine_code, ptx], [machine_code, {"unknown_code": "it is of a kind that coalprof does not know"}], []):
            with self.subTest(told):
                out, warnings = self.lines_of(*told)
                self.assertEqual(out, b"asked\nnot asked\n")
                self.assertEqual(len(warnings), 1)
        self.assertEqual(self.lines_of(machine_code, ptx, options=["--kernel", "other"])[0], b"asked\n")

    # What the library writes where there is a GPU: kernels of machine code, and one of PTX.
    MACHINE_CODE = """
import json, os
what, kernel = os.environ['COALPROF_ATTACH_PASS'], os.environ.get('COALPROF_ATTACH_ONE_KERNEL')
print(what, kernel, os.environ['COALPROF_ATTACH_FIRST'])
shape = {'grid': [1, 1, 1], 'block': [32, 1, 1], 'device': 0}
lines = [{'coalprof_trace': 5, 'process': 1, 'program': 'x'}]
if what == 'traffic' and 'REFUSED' in os.environ:
    lines += [{'problem': 'cannot read counters: only administrators may'}, {'rewritable': '_Z3ptxPf'},
              {**shape, 'kernel': '_Z3ptxPf', 'launches': 4}, {**shape, 'kernel': '_Z4copyPf', 'launches': 4}]
elif what == 'traffic':
    for name, seconds in (('_Z5scalePf', 1e-3), ('_Z4copyPf', 2e-3), ('_Z3ptxPf', float(os.environ.get('PTX_SECONDS', '3e-3')))):
        lines += [{**shape, 'kernel': name, 'launch': 1, 'measured': {'duration_seconds': seconds, 'load_sectors': 320}},
                  {**shape, 'kernel': name, 'launches': 4}]
    if 'GRAPHS' in os.environ:
        graph = {'kernel': '(CUDA graph)', 'grid': [0, 0, 0], 'block': [0, 0, 0], 'device': 0}
        lines += [{**graph, 'launch': 9, 'measured': {'duration_seconds': 1e-3}}, {**graph, 'launches': 3}]
    lines += [{'lacks_ptx': 'it holds machine code and no PTX'}]
    if 'NO_PTX' not in os.environ:
        lines += [{'rewritable': '_Z3ptxPf'}]
if what == 'lines':
    if 'OTHER_MODULE' in os.environ:
        lines += [{'lacks_ptx': 'its PTX is for another GPU'}]
    lines += [{'rewritten': '_Z3ptxPf'},
              {'site': '0:0', 'function': '_Z3ptxPf', 'source': ['/src/app.cu', 12], 'inlined_at': ['', 0],
               'instruction': 'ld.global.f32', 'kind': 'load', 'space': 'global', 'width': 4,
               'totals': [1, 32, 32, 8, 32, 4, 4, 0, 0],
               'samples': [[2 ** 32 - 1, *range(1 << 20, (1 << 20) + 4096, 128)]] if 'KEEPS_A_WARP' in os.environ else []}]
if what == 'machine_code' and os.environ.get('HAS_A_PROBLEM') == kernel:
    lines += [{'problem': 'CUPTI refused'}]
elif what == 'machine_code' and 'TELLS_LAUNCHES' in os.environ:
    lines += [{**shape, 'kernel': kernel, 'launches': 2}]
elif what == 'machine_code' and 'TELLS_NOTHING' not in os.environ:
    counts = {'smsp__sass_inst_executed_op_global_ld': 10, 'smsp__sass_inst_executed_op_memory_32b': 10,
              'smsp__sass_sectors_mem_global': 320, 'smsp__sass_sectors_mem_global_ideal': 40}
    lines += [{'function': kernel, 'instruction_at': 0x1a0, 'source': ['', 0], 'counts': counts},
              {'function': kernel, 'instruction_at': 0x1b0, 'source': ['/src/k.cu', 7], 'counts': counts},
              {'function': kernel, 'instruction_at': 0x1c0, 'source': ['', 0],
               'counts': {'smsp__sass_inst_executed_op_tma_ld': 33}},
              {'function': kernel, 'instruction_at': 0x1d0, 'source': ['', 0],
               'counts': {'smsp__sass_inst_executed_op_shared_st': 10,
                          'smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared': 40}},
              {**shape, 'kernel': kernel, 'launches': int(os.environ.get('LAUNCHES', '2'))}]
with open(os.environ['COALPROF_ATTACH_FOLDER'] + '/1.trace', 'w') as trace:
    lines += [{'end': True}]
    if os.environ.get('ENDS_EARLY') == (kernel or what):
        lines = [line for line in lines if not {'launches', 'end'} & line.keys()]
    trace.write(''.join(json.dumps(line) + chr(10) for line in lines))
if what == 'machine_code' and 'IS_KILLED' in os.environ:
    os.sys.stdout.flush()
    os.kill(os.getpid(), 9)
"""

    def machine_code(self, *options, **arguments):
        ran = self.python("--json", "--lines", *options, script=self.MACHINE_CODE, **arguments)
        result = json.loads(ran.err)
        self.assertEqual(result["meta"]["passes"], len(ran.out.splitlines()))
        return ran.out.decode().splitlines(), result

    def no_lines(self, result):
        return [one["text"] for one in result["warnings"] if one["code"] == "W-NO-LINES"]

    def test_gives_kernels_of_machine_code_a_run_each(self):
        runs, result = self.machine_code("--machine-code", "2")
        self.assertEqual(runs, ["traffic None 5", "lines None 5", "machine_code _Z4copyPf 1",
                                "machine_code _Z5scalePf 1"])
        points = {one["name"]: one for one in result["points"]}
        self.assertEqual(len(points), 7)
        shared = points["copy+0x1d0 shared store"]["measured"]
        self.assertEqual((shared["shared_store_requests"], shared["shared_store_wavefronts"]), (10, 40))
        point = points["copy+0x1a0 global load of 4 bytes"]
        self.assertEqual(point["parameters"], {"line": "+0x1a0", "kernel": "copy", "op": "load",
                                               "width_bytes": 4, "code": "machine code"})
        self.assertEqual(point["measured"], {"load_requests": 10, "load_sectors": 320, "load_ideal_sectors": 40,
                                             "load_sectors_per_request": 32, "load_excess_sectors": 280,
                                             "load_excess": 7})
        self.assertEqual(point["unavailable"], {})
        placed = points["k.cu:7 global load of 4 bytes"]["parameters"]
        self.assertEqual((placed["line"], placed["source_file"]), ("k.cu:7", "/src/k.cu"))
        self.assertEqual(points["app.cu:12 ld.global.f32"]["parameters"]["code"], "PTX")
        copies = [text for text in self.no_lines(result) if "33" in text]
        self.assertEqual(len(copies), 2)

    def test_asks_of_the_kernel_that_takes_most_time_first(self):
        runs, result = self.machine_code("--machine-code", "1")
        self.assertEqual(runs[2:], ["machine_code _Z4copyPf 1"])
        self.assertTrue(any("scale" in text for text in self.no_lines(result)))

    def test_leads_to_machine_code_where_it_was_not_asked_for(self):
        runs, result = self.machine_code()
        self.assertEqual(runs, ["traffic None 5", "lines None 5"])
        (text,) = self.no_lines(result)
        self.assertRegex(text, r"scale.*--machine-code 1")
        self.assertEqual([one["parameters"].get("code") for one in result["points"]], [None])

    def judged(self, *options, **told):
        """By default: the runs, the kernels' points, and the whole result."""
        ran = self.python("--json", *options, script=self.MACHINE_CODE, env=environment(**told))
        result = json.loads(ran.err)
        kernels = {one["parameters"]["kernel"]: one for one in result["points"] if "verdict" in one["parameters"]}
        return [line.split()[0] for line in ran.out.decode().splitlines()], kernels, result

    # ptx: 3 ms, 4 times; of its 32 sectors 4 were needed. The others have no PTX.
    def test_judges_kernels_by_default(self):
        runs, kernels, result = self.judged(KEEPS_A_WARP="1")
        self.assertEqual(runs, ["traffic", "lines", "use"])
        ptx = kernels["ptx"]["parameters"]
        self.assertEqual((ptx["excess"], ptx["verdict"]), (7, "strided"))
        self.assertAlmostEqual(ptx["cost_seconds"], 10.5e-3)
        self.assertEqual(kernels["ptx"]["measured"]["load_ideal_sectors"], 40)
        self.assertEqual([kernels[name]["parameters"]["verdict"] for name in ("copy", "scale")], ["unknown"] * 2)
        (line,) = [one for one in result["points"] if "line" in one["parameters"]]
        self.assertEqual((line["parameters"]["op"], line["measured"]["load_excess"]), ("load", 7))
        self.assertEqual(self.judged("--machine-code", "2", "--kernel", "ptx|scale|copy")[0],
                         ["traffic", "lines", "machine_code", "machine_code"])
        ran = self.python(script=self.MACHINE_CODE, env=environment(KEEPS_A_WARP="1"))
        self.assertRegex(ran.err_text, r"\nptx +50 +4 +700 +10\.50 +strided\n")

    def test_runs_a_program_once_where_that_is_wanted_or_it_fails(self):
        runs, kernels, result = self.judged("--fast")
        self.assertEqual((runs, kernels, len(result["points"])), (["traffic"], {}, 3))
        ran = self.python("-q", script=self.MACHINE_CODE + "os.sys.exit(3)")
        self.assertEqual((ran.code, len(ran.out.splitlines())), (3, 1))

    def test_gives_no_run_to_kernels_with_ptx(self):
        runs, _ = self.machine_code("--machine-code", "5")
        self.assertEqual(len(runs), 4)
        self.assertNotIn("_Z3ptxPf", " ".join(runs))

    # Two lines of 320 sectors in 2 launches, of each of which the hardware counted 320.
    def test_holds_machine_code_against_the_hardware(self):
        for launches, differ in (("2", 0), ("1", 1)):
            _, result = self.machine_code("--machine-code", "1", env=environment(LAUNCHES=launches))
            texts = [one["text"] for one in result["warnings"] if one["code"] == "W-LINES-DIFFER"]
            self.assertEqual(len(texts), differ)

    # Which kernels ran in a graph, and how often, nobody tells.
    def test_holds_nothing_against_the_hardware_where_graphs_were_launched(self):
        _, result = self.machine_code("--machine-code", "2", env=environment(LAUNCHES="1", GRAPHS="1"))
        self.assertEqual([one["text"] for one in result["warnings"] if one["code"] == "W-LINES-DIFFER"], [])

    # Of a run that ended without a word nothing is known; the other is held against the hardware.
    def test_holds_each_run_of_machine_code_against_the_hardware(self):
        _, result = self.machine_code("--machine-code", "2", env=environment(LAUNCHES="1", ENDS_EARLY="_Z5scalePf"))
        texts = [one["text"] for one in result["warnings"] if one["code"] == "W-LINES-DIFFER"]
        self.assertEqual(len(texts), 1)
        self.assertIn("copy", texts[0])

    # Lines of what it launched stand with its kernels'; whose its 3 of 27 ms are nobody can tell.
    def test_says_of_graphs_that_their_time_is_no_kernels(self):
        _, result = self.machine_code("--machine-code", "2", env=environment(GRAPHS="1"))
        (text,) = [text for text in self.no_lines(result) if "graph" in text]
        self.assertFalse(text.startswith("no lines of"), text)
        self.assertIn("11 %", text)

    def test_gives_no_more_runs_to_a_program_that_a_signal_ended(self):
        runs, result = self.machine_code("--machine-code", "2", env=environment(IS_KILLED="1"))
        self.assertEqual(runs[2:], ["machine_code _Z4copyPf 1"])
        self.assertTrue(any("copy" in text and "137" in text for text in self.no_lines(result)))

    # The program itself is asked once more for each kernel; who stops one run wants none of the others.
    def test_gives_no_more_runs_to_a_program_that_was_stopped_and_ends_as_it_did(self):
        waits = ("if what == 'machine_code':\n"
                 "    import signal, sys\n"
                 "    signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
                 "    print('ready', flush=True)\n"
                 "    while True: signal.pause()\n")
        process = subprocess.Popen(
            [harness.PROGRAM, "run", "-q", "--lines", "--machine-code", "2", "--", sys.executable, "-c",
             self.MACHINE_CODE + waits],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        for line in process.stdout:
            if line == b"ready\n":
                break
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.communicate(timeout=60)[0], b"")
        self.assertEqual(process.returncode, 9)

    def test_runs_a_program_once_that_a_signal_ended(self):
        ran = self.python("-q", "--lines", script=self.MACHINE_CODE + "os.sys.stdout.flush()\nos.kill(os.getpid(), 9)")
        self.assertEqual((ran.code, ran.out), (137, b"traffic None 5\n"))

    def test_shows_sectors_beside_the_ideal(self):
        for columns in (80, 44):
            told = environment(NO_PTX="1", COLUMNS=str(columns))
            ran = self.python("--lines", "--machine-code", "1", script=self.MACHINE_CODE, env=told)
            self.assertRegex(ran.err_text, r"\n +(width +)?sectors/ .*excess")

    # ptx takes 3 ms, 4 times, of which 7 eighths are wasted; copy and scale 2 and 1.
    def test_tells_the_findings_that_save_most_first(self):
        _, result = self.machine_code("--machine-code", "2", env=environment(KEEPS_A_WARP="1"))
        saved = [round(one["saves_seconds"] * 1e3, 2) for one in result["findings"]]
        self.assertEqual(saved, [10.5, 7, 3.5])
        _, result = self.machine_code("--machine-code", "2", env=environment(KEEPS_A_WARP="1", PTX_SECONDS="0.0012"))
        saved = [round(one["saves_seconds"] * 1e3, 2) for one in result["findings"]]
        self.assertEqual(saved, [7, 4.2, 3.5])

    # Of 640 sectors of each kernel 560 are waste: that of the one that takes 2 ms, 4 times, costs more.
    def test_tells_what_each_kernel_of_machine_code_wastes(self):
        _, result = self.machine_code("--machine-code", "2")
        told = [(one["point"].split("+")[0], one["cause"], one["saves_seconds"]) for one in result["findings"]]
        self.assertEqual([name for name, *_ in told], ["copy", "scale"])
        self.assertEqual([cause for _, cause, _ in told], ["wasted_sectors"] * 2)
        for (*_, saved), expected in zip(told, (7e-3, 3.5e-3)):
            self.assertAlmostEqual(saved, expected)

    def test_says_of_which_kernel_nothing_came(self):
        for told, gap in (("TELLS_NOTHING", "copy was not launched"), ("TELLS_LAUNCHES", "CUPTI counted no ")):
            _, result = self.machine_code("--machine-code", "1", env=environment(**{told: "1"}))
            self.assertEqual(len([text for text in self.no_lines(result) if text.startswith(gap)]), 1)

    def test_says_of_each_kernel_that_nothing_came_whatever_went_wrong_with_another(self):
        told = environment(TELLS_NOTHING="1", HAS_A_PROBLEM="_Z4copyPf")
        _, result = self.machine_code("--machine-code", "2", env=told)
        gaps = [text for text in self.no_lines(result) if "was not launched" in text]
        self.assertEqual(len(gaps), 1)
        self.assertIn("scale", gaps[0])
        (problem,) = [text for text in self.no_lines(result) if "CUPTI refused" in text]
        self.assertIn("copy", problem)

    # Of code that does not count itself, all kernels with time have lines in the end, or not.
    def test_says_why_code_did_not_count_itself_where_that_left_kernels_without_lines(self):
        for most, said in (("2", 0), ("1", 1)):
            _, result = self.machine_code("--machine-code", most, env=environment(OTHER_MODULE="1"))
            self.assertEqual(len([text for text in self.no_lines(result) if "another GPU" in text]), said)

    # The second run reads none.
    def test_counts_lines_where_counters_may_not_be_read(self):
        runs, result = self.machine_code(env=environment(REFUSED="1", KEEPS_A_WARP="1"))
        self.assertEqual(runs, ["traffic None 5", "lines None 5"])
        (point,) = result["points"]
        self.assertEqual((point["name"], point["measured"]["load_sectors"]), ("app.cu:12 ld.global.f32", 32))
        (finding,) = result["findings"]
        self.assertEqual((finding["cause"], finding["saves_seconds"]), ("strided", None))
        texts = [one["text"] for one in result["warnings"] if one["code"] == "W-NO-COUNTERS"]
        self.assertEqual(len(texts), 2)
        self.assertIn("administrators", texts[0])
        self.assertIn("no times", texts[1])
        (without,) = self.no_lines(result)
        self.assertIn("copy", without)
        self.assertNotIn("%", without)

    def test_stands_before_the_linker_of_a_program_that_has_one(self):
        if has_sanitizer():
            self.skipTest("the library is built with a sanitizer")
        told = {"library": "/site/nvidia/libnvJitLink.so.13"}
        script = ("import json, os\n"
                  "print(os.path.basename(os.environ.get('LD_PRELOAD', 'nothing')))\n"
                  "shape = {'kernel': '_Z5scalePf', 'grid': [1, 1, 1], 'block': [32, 1, 1], 'device': 0}\n"
                  f"lines = [{{'coalprof_trace': 5, 'process': 1, 'program': 'x'}}, {told!r},\n"
                  "         {'rewritable': '_Z5scalePf'}, {**shape, 'launches': 1}, {'end': True}]\n"
                  "with open(os.environ['COALPROF_ATTACH_FOLDER'] + '/1.trace', 'w') as trace:\n"
                  "    trace.write(''.join(json.dumps(line) + chr(10) for line in lines))")
        ran = self.python("--json", "--lines", script=script)
        self.assertEqual(ran.out, b"nothing\ncoalprof_linking.so\n")

    # Machine code has none; what a run before had saved stays.
    def test_saves_no_file_without_addresses(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/warps.txt"
            with open(path, "w", encoding="utf-8") as file:
                file.write("saved before")
            for told, is_saved in (({"NO_PTX": "1"}, False), ({}, False), ({"KEEPS_A_WARP": "1"}, True)):
                with self.subTest(told):
                    _, result = self.machine_code("--machine-code", "2", "--addresses", path, env=environment(**told))
                    with open(path, encoding="utf-8") as file:
                        self.assertEqual(file.read() != "saved before", is_saved)
                    self.assertEqual(len([text for text in self.no_lines(result) if path in text]), 0 if is_saved else 1)

    def test_hands_lines_of_machine_code_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/x.json"
            self.python("-q", "--lines", "--machine-code", "2", "-o", path, script=self.MACHINE_CODE)
            self.run_ok("report", path, "-o", f"{folder}/again.json")
            with open(path, "rb") as first, open(f"{folder}/again.json", "rb") as again:
                self.assertEqual(first.read(), again.read())
            self.run_ok("report", path, "-o", f"{folder}/x.html")
            with open(f"{folder}/x.html", encoding="utf-8") as page:
                self.assertIn("copy+0x1a0 global load of 4 bytes", page.read())
            self.run_ok("compare", path, path)
            self.assertEqual(harness.run("check", path, "--budget", "load_sectors_per_request <= 8").code, 1)

    def test_a_forked_child_leaves_its_parents_trace_alone(self):
        ran = self.python("--json", script=LIKE_A_DRIVER +
                          "if os.fork() == 0: sys.exit(0)\nos.wait()\nos._exit(5)")
        self.assertIn("W-ENDED-EARLY", {one["code"] for one in json.loads(ran.err)["warnings"]})

    def test_a_forked_child_with_its_parents_number_leaves_its_trace_alone(self):
        alone = ["unshare", "--pid", "--fork"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no PID namespace can be made here")
        if has_sanitizer():
            self.skipTest("the library is built with a sanitizer")
        script = LIKE_A_DRIVER + ("ctypes.CDLL(None).unshare(0x20000000)\n"  # CLONE_NEWPID
                                  "if os.fork() == 0: sys.exit(os.getpid() != 1)\n"
                                  "os._exit(5 if os.wait()[1] == 0 else 6)")
        ran = harness.run("run", "--json", "--", *alone, sys.executable, "-c", script)
        self.assertEqual(ran.code, 5)
        self.assertIn("W-ENDED-EARLY", {one["code"] for one in json.loads(ran.err)["warnings"]})

    def test_processes_of_one_number_have_a_trace_each(self):
        script = LIKE_A_DRIVER + ("if 'AGAIN' not in os.environ:\n"
                                  "    os.environ['AGAIN'] = '1'\n"
                                  "    os.execv(sys.executable, [sys.executable, '-c', os.environ['SCRIPT']])")
        ran = self.python("--fast", "--json", script=script, env=environment(SCRIPT=script))
        early = [one["text"] for one in json.loads(ran.err)["warnings"] if one["code"] == "W-ENDED-EARLY"]
        self.assertEqual(len(early), 1)  # of the first: what it counted before exec() is not lost

    # What the library writes where there is a GPU, by a program that then goes on and exits with 7.
    TRACED = ("import json, os, signal, sys\n"
              "shape = {'kernel': '_Z5scalePf', 'grid': [1, 1, 1], 'block': [32, 1, 1], 'device': 0}\n"
              "head = {'coalprof_trace': 5, 'process': 1, 'program': 'x'}\n"
              "lines = [head, {**shape, 'launch': 1, 'measured': {'duration_seconds': 1e-3, 'load_sectors': 320}},\n"
              "         {**shape, 'launches': 2}, {'end': True}]\n"
              "folder = os.environ['COALPROF_ATTACH_FOLDER']\n"
              "def write(name, text):\n"
              "    with open(f'{folder}/{name}.trace', 'w') as trace: trace.write(text)\n"
              "write('1', ''.join(json.dumps(line) + chr(10) for line in lines))\n"
              "print('theirs')\n")

    def check_traced(self, ran, result, code=7, has_kernel=True, has_problem=False):
        """The program's streams and exit code are its own, and what was counted is told."""
        self.assertEqual((ran.code, ran.out), (code, b"theirs\n"), ran.err_text)
        result = json.loads(result)
        self.assertEqual([one["name"] for one in result["points"]],
                         ["scale grid=1 block=32"] if has_kernel else [])
        self.assertEqual(result["status"], "partial" if has_problem else "complete")
        self.assertEqual("W-NO-COUNTERS" in {one["code"] for one in result["warnings"]}, has_problem)

    def test_a_trace_that_cannot_be_read_takes_nothing_from_others(self):
        for damage in ("write('2', '')", "write('2', json.dumps(head)[:20])", "write('2', json.dumps({**head, 'coalprof_trace': 6}))",
                       "write('2', chr(0) * 100)", "write('2', '[' * 3000000)"):
            with self.subTest(damage):
                ran = self.python("--json", script=self.TRACED + damage + "; sys.exit(7)")
                self.check_traced(ran, ran.err, has_problem=True)
        for no_trace in ("os.mkfifo(folder + '/2.trace')", "os.mkdir(folder + '/2.trace')", "os.symlink('/dev/zero', folder + '/2.trace')"):
            with self.subTest(no_trace):
                ran = self.python("--json", script=self.TRACED + no_trace + "; sys.exit(7)", timeout=60)
                self.check_traced(ran, ran.err)

    def test_warps_that_no_gpu_executes_take_nothing_from_others(self):
        site = ("\nsite = {'site': '0', 'function': '_Z5scalePf', 'source': ['a.cu', 1], 'inlined_at': ['', 0], 'instruction': 'ld',\n"
                "  'kind': 'load', 'space': SPACE, 'width': WIDTH, 'totals': [9, 288, 288, 288, 288, 9, 9, 288, 9], 'samples': [[2 ** 32 - 1, *range(ODD, 4096, 127)]]}\n"
                "write('1', ''.join(json.dumps(line) + chr(10) for line in [*lines[:2], {'rewritable': '_Z5scalePf'}, site, *lines[2:]]))\n"
                "sys.exit(7)")
        for space in ("global", "shared"):
            for width, odd in ((16, 31), (8, 1), (0, 0), (32, 32), (2 ** 40, 0), (-1, 0)):
                with self.subTest((space, width)):
                    told = site.replace("SPACE", repr(space)).replace("WIDTH", str(width)).replace("ODD", str(odd))
                    ran = self.python("--json", "--lines", script=self.TRACED + told)
                    self.assertEqual(ran.code, 7, ran.err_text)
                    self.assertEqual(json.loads(ran.err)["sweep"]["pattern"], "run")

    def test_needs_neither_tmpdir_nor_proc(self):
        script = self.TRACED + "sys.exit(7)"
        ran = self.python("--json", script=script, env=environment(TMPDIR="/nonexistent"))
        self.check_traced(ran, ran.err)
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/inner")
            ran = self.python("--json", script="import os; os.chdir('/')\n" + script, cwd=folder, env=environment(TMPDIR="inner"))
            self.check_traced(ran, ran.err)
        without_proc = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && "$@"', "sh"]
        if subprocess.run([*without_proc, "true"], capture_output=True, check=False).returncode == 0:
            ran = subprocess.run([*without_proc, harness.PROGRAM, "run", "--json", "--", "sh", "-c", "exit 7"],
                                 capture_output=True, env=environment(), check=False)
            self.assertEqual(ran.returncode, 7, ran.stderr)

    def test_a_folder_that_is_removed_meanwhile_takes_the_exit_code_of_no_program(self):
        ran = self.python("--json", script=self.TRACED + "import shutil; shutil.rmtree(folder); sys.exit(7)")
        self.check_traced(ran, ran.err, has_kernel=False, has_problem=True)

    def test_an_output_that_fails_takes_neither_others_nor_the_programs_exit_code(self):
        for code in (7, 0):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(f"{folder}/gone")
                ran = self.python("--fast", "--json", "-o", f"{folder}/x.json", "-o", f"{folder}/gone/x.json",
                                  script=self.TRACED + f"import shutil; shutil.rmtree('{folder}/gone'); sys.exit({code})")
                with open(f"{folder}/x.json", "rb") as result:
                    self.check_traced(ran, result.read(), code=code or harness.OUTPUT)
                self.assertIn("gone/x.json", ran.err_text)

    def test_addresses_that_cannot_be_saved_take_neither_the_result_nor_the_programs_exit_code(self):
        for code in (7, 0):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(f"{folder}/gone")
                script = self.MACHINE_CODE + f"import shutil; shutil.rmtree('{folder}/gone', ignore_errors=True); os.sys.exit({code})"
                ran = self.python("--lines", "--addresses", f"{folder}/gone/w.txt", "-o", f"{folder}/x.json", script=script,
                                  env=environment(KEEPS_A_WARP="1"))
                self.assertEqual(ran.code, code or harness.OUTPUT)
                self.assertIn("gone/w.txt", ran.err_text)
                with open(f"{folder}/x.json", encoding="utf-8") as file:
                    self.assertGreater(len(json.load(file)["points"]), 0)

    def test_keeps_the_exit_code_where_ended_programs_are_not_waited_for(self):
        ran = subprocess.run([harness.PROGRAM, "run", "-q", "--", "sh", "-c", "exit 7"], capture_output=True, env=environment(),
                             preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), check=False)
        self.assertEqual(ran.returncode, 7)

    def test_tells_what_was_counted_of_a_program_that_ends_with_127_itself(self):
        ran = self.python("--json", script=self.TRACED + "sys.exit(127)")
        self.check_traced(ran, ran.err, code=127)

    def test_has_the_exit_code_of_the_first_run(self):
        ran = self.python("--json", "--counters", "memory",
                          script=self.TRACED + "sys.exit(3 if os.environ['COALPROF_ATTACH_PASS'] == 'use' else 0)")
        self.assertEqual((ran.code, ran.out), (0, b"theirs\n" * 3))
        self.assertTrue(any("exit code 3" in one["text"] for one in json.loads(ran.err)["warnings"]))

    def test_leaves_nothing_behind_where_a_second_signal_ends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([harness.PROGRAM, "run", "-q", "--", "sh", "-c",
                                        'cd "$COALPROF_ATTACH_FOLDER"; mkdir -p a/b; touch a/b/c 1.trace; trap "" TERM; echo $$; exec sleep 60'],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(TMPDIR=folder))
            child = int(process.stdout.readline())
            process.send_signal(signal.SIGTERM)
            time.sleep(2.1)  # two signals within 2 s are one wish
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=20), -signal.SIGTERM)
            os.kill(child, signal.SIGKILL)
            process.stdout.close()
            self.assertEqual(os.listdir(folder), [])

    def test_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            self.python("-q", script=LIKE_A_DRIVER, env=environment(TMPDIR=folder))
            self.assertEqual(os.listdir(folder), [])

    def test_runs_the_program_twice_for_bytes_per_sector(self):
        ran = self.python("-q", "--counters", "memory", script=LIKE_A_DRIVER + "print('once')")
        self.assertEqual(ran.out, b"once\nonce\n")

    def test_runs_a_program_once_that_fails(self):
        ran = self.python("-q", "--counters", "memory", script=LIKE_A_DRIVER + "print('once'); sys.exit(3)")
        self.assertEqual((ran.code, ran.out), (3, b"once\n"))

    def marked(self, name, *order):
        program = os.environ.get("COALPROF_NVTX_PROGRAM")
        if not program:
            self.skipTest("NVTX's headers are not there")
        if has_sanitizer():
            self.skipTest("the library is built with a sanitizer, whose reports would join the result")
        ran = harness.run("run", "--json", "--nvtx", name, "--", program, *order)
        result = json.loads(ran.err)
        self.assertEqual(result["sweep"]["nvtx"], name)
        missing = [one["text"] for one in result["warnings"] if one["code"] == "W-NO-RANGE"]
        return ran.out, missing

    def test_runs_a_program_once_that_never_comes_to_the_gpu(self):
        for second in ["--lines"], ["--counters", "memory"]:
            self.assertEqual(self.python("-q", *second, script="print('once')").out, b"once\n")

    def test_runs_a_program_once_that_is_stopped(self):
        if has_sanitizer():
            self.skipTest("the library is built with a sanitizer")
        script = LIKE_A_DRIVER + ("import signal\n"
                                  "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
                                  "print('ready', flush=True)\n"
                                  "signal.pause()")
        for second in ["--lines"], ["--counters", "memory"]:
            with self.subTest(second), tempfile.TemporaryDirectory() as folder:
                process = subprocess.Popen(
                    [harness.PROGRAM, "run", "-q", "-o", f"{folder}/x.json", *second, "--", sys.executable, "-c", script],
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
                self.assertEqual(process.stdout.readline(), b"ready\n")
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.communicate(timeout=60)[0], b"")
                with open(f"{folder}/x.json", encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["meta"]["passes"], 1)

    def test_is_told_of_nvtx_ranges_before_and_after_cuda_starts(self):
        # Levels from 0 on: without a tool NVTX answers -2.
        levels = b"0 1 1 0\n"
        self.assertEqual(self.marked("inner", "ranges", "cuda"), (levels, []))
        self.assertEqual(self.marked("inner", "cuda", "ranges", "ranges"), (levels * 2, []))

    def test_says_which_ranges_there_were_where_the_wanted_one_never_came(self):
        _, (text,) = self.marked("steps", "cuda", "ranges")
        for name in ("steps", "outer", "inner"):
            self.assertIn(name, text)
        self.assertNotIn("of the child", text)
        self.assertEqual(len(self.marked("steps", "cuda")[1]), 1)

    def test_refuses_another_tool_for_ranges(self):
        others = environment(NVTX_INJECTION64_PATH="/other.so")
        ran = harness.run("run", "--nvtx", "step", "--", "true", env=others)
        self.assertEqual(ran.code, harness.ENVIRONMENT)
        self.assertIn("/other.so", ran.err_text)
        self.assertNotIn("/other.so", harness.run("run", "-q", "--", "true", env=others).err_text)

    def test_points_at_what_is_wrong_in_a_pattern(self):
        lines = self.refuse("run", "--kernel", "gemm|(copy", "--", "true").err_text.splitlines()
        self.assertEqual(lines[1:3], ["  gemm|(copy", "            ^"])

    def test_refuses_what_it_cannot_do(self):
        for options, word in ((("--kernel", "("), "--kernel"), (("--counters", "all"), "--counters"),
                              (("--first", "0"), "--first"), (("--first", "x"), "--first"),
                              (("--nvtx", ""), "--nvtx"), (("--machine-code", "1", "--fast"), "--fast"),
                              (("--lines", "--fast"), "--fast"), (("--counters", "memory", "--fast"), "--fast"),
                              (("--lines", "--machine-code", "x"), "--machine-code"), (("--nvtx", "x", "--lines"), "--lines"),
                              (("./app",), "./app")):
            with self.subTest(word):
                self.assertIn(word, self.refuse("run", *options, "--", "true").err_text)
        self.assertIn("--", self.refuse("run").err_text)
        ran = harness.run("run", "--", "true", env=environment(CUDA_INJECTION64_PATH="/other.so"))
        self.assertEqual(ran.code, harness.ENVIRONMENT)
        self.assertIn("/other.so", ran.err_text)


if __name__ == "__main__":
    harness.main()
