"""A sample of what scripts/torture plays. COALPROF_TORTURE=1 takes ten times as much."""
import os
import tempfile
import unittest

import chains
import command_lines
import compilers
import durable
import faults
import kills
import ptx_mutants
import runs
import torture
from runs import harness

FACTOR = 10 if os.environ.get("COALPROF_TORTURE") else 1
LIBRARY = faults.preloaded()
LOOKS = ("stat", "lstat", "readlink", "realpath")
PROGRAM = os.environ.get("COALPROF_TRACED_PROGRAM")


class Torture(harness.Case):
    def check_tally(self, tally):
        self.assertEqual(tally.findings, [])
        self.assertGreater(len(tally.ends), 3, tally.ends)  # things did go wrong

    @unittest.skipUnless(LIBRARY, "the library that lets calls fail is not built")
    def test_of_failing_calls_loses_nothing(self):
        self.check_tally(faults.play(LIBRARY, most=120 * FACTOR))

    @unittest.skipUnless(LIBRARY, "the library that lets calls fail is not built")
    def test_of_failing_calls_loses_neither_results_nor_a_programs_exit_code(self):
        self.check_tally(faults.play(LIBRARY, most=120 * FACTOR, only=torture.RESULTS, allocation_step=499))

    @unittest.skipUnless(LIBRARY, "the library that lets calls fail is not built")
    def test_of_calls_that_look_at_a_file_takes_none_for_missing(self):
        command = next(one for one in runs.commands() if one.name == "formula")
        with tempfile.TemporaryDirectory() as folder:
            runs.learn_whole(folder, command, LD_PRELOAD=LIBRARY)
            for has_old in (True, False):
                runs.lay_out(folder, command, has_old)
                counts = faults.counted_calls(folder, command, LIBRARY)
                for fault in faults.faults_of(command, has_old, counts, 1, 0, LOOKS):
                    if fault.answer[0] == "E":
                        with self.subTest(str(fault)):
                            self.assertEqual(faults.play_fault(folder, fault, LIBRARY)[1], [])

    @unittest.skipUnless(LIBRARY, "the library that lets calls fail is not built")
    def test_of_calls_that_look_at_a_file_keeps_links_and_permissions(self):
        command = runs.Command("link", "offset", "--range", "0..1", "-o", "link.json")
        with tempfile.TemporaryDirectory() as folder:
            def lay_out():
                for name in os.listdir(folder):
                    os.unlink(f"{folder}/{name}")
                os.symlink("old.json", f"{folder}/link.json")
                with open(f"{folder}/old.json", "wb") as file:
                    file.write(runs.OLD)
                os.chmod(f"{folder}/old.json", 0o640)

            lay_out()
            counts = faults.counted_calls(folder, command, LIBRARY)
            for fault in faults.faults_of(command, True, counts, 1, 0, LOOKS):
                if fault.answer[0] != "E":
                    continue
                lay_out()
                left = runs.run(folder, command, LD_PRELOAD=LIBRARY, COALPROF_FAIL=fault.word())
                with self.subTest(str(fault)):
                    self.assertTrue(os.path.islink(f"{folder}/link.json"))
                    self.assertEqual(os.stat(f"{folder}/old.json").st_mode & 0o777, 0o640)
                    self.assertEqual(runs.content(f"{folder}/old.json") == runs.OLD, left.code != harness.DONE)

    @unittest.skipUnless(LIBRARY and PROGRAM, "the library that lets calls fail is not built, or without CUDA")
    def test_a_program_in_which_calls_fail_ends_as_without_them(self):
        tally = faults.play_inside(LIBRARY, PROGRAM, most=120 * FACTOR)
        self.assertEqual(tally.findings, [])

    @unittest.skipUnless(LIBRARY, "the library that lets calls fail is not built")
    def test_where_memory_is_short_at_any_point_of_the_work_says_so(self):
        command = next(one for one in runs.commands() if one.name == "warps")
        with tempfile.TemporaryDirectory() as folder:
            runs.lay_out(folder, command, True)
            last = faults.counted_calls(folder, command, LIBRARY)[faults.ALLOCATIONS]
            for number in range(last - 400, last + 1):
                left = runs.run(folder, command, LD_PRELOAD=LIBRARY, COALPROF_FAIL=f"malloc:{number}:12")
                self.assertGreaterEqual(left.code, 0, number)

    @unittest.skipUnless(LIBRARY, "the library that lets calls fail is not built")
    def test_reaches_the_calls_by_which_files_are_made(self):
        with tempfile.TemporaryDirectory() as folder:
            threads = 0
            for command in runs.commands():
                runs.lay_out(folder, command, True)
                counts = faults.counted_calls(folder, command, LIBRARY)
                for call in (faults.ALLOCATIONS, "open", "write", "fsync", "close", "rename"):
                    self.assertGreaterEqual(counts[call], len(command.outputs), call)
                threads += counts["pthread_create"]
            self.assertGreater(threads, 0)

    @unittest.skipUnless(LIBRARY, "the library that lets calls fail is not built")
    def test_of_what_is_kept_loses_no_finished_point(self):
        for ended in (durable.play_kills(6 * FACTOR), durable.play_faults(LIBRARY, 60 * FACTOR, resume_each=3)):
            self.assertEqual(ended.tally.findings, [])
            self.assertGreater(ended.resumed, 0)

    def test_again_and_again_loses_no_finished_point(self):
        self.check_tally(chains.play_chains(5 * FACTOR))

    def test_of_tasks_that_are_submitted_again_loses_none_of_their_work(self):
        self.check_tally(chains.play_tasks(10 * FACTOR))

    def test_of_any_words_on_the_command_line_answers_or_refuses(self):
        tally = command_lines.play(150 * FACTOR)
        self.assertEqual(tally.findings, [])
        self.assertEqual({0, 2} - set(tally.ends), set())

    def test_of_compilers_runs_nothing_that_a_name_holds_and_ends_as_asked(self):
        tally = compilers.play(len(compilers.NAMES) + 5 * FACTOR)
        self.assertEqual(tally.findings, [])
        self.assertGreater(tally.ends[harness.DONE], 2 * len(compilers.NAMES))

    @unittest.skipUnless(os.environ.get("COALPROF_PTX_FUZZ"), "its program is not built")
    def test_of_kernels_by_the_grammar_of_ptx_is_refused_or_executed(self):
        self.assertEqual(ptx_mutants.play(300 * FACTOR).findings, [])

    def test_by_signals_readers_and_disks_loses_nothing(self):
        self.check_tally(kills.play(11 * FACTOR))


if __name__ == "__main__":
    harness.main()
