"""Shards and their merge, the part file beside an output, and --resume behind it."""
import fcntl
import json
import os
import random
import signal
import subprocess
import tempfile
import time

import harness
from harness import Case

SWEEPS = (
    ("stride", "--range", "1..32"),
    ("offset", "--range", "0..6", "--type", "f32", "--machine", "c870,h200"),
    ("formula", "load: a[i*k]; store: b[i]", "--var", "k=1..9"),
    ("transpose", "--variant", "padded", "--range", "256,512"),
    ("offset", "--range", "0..9", "--counters", "load_sectors,duration_seconds"),
    ("offset", "--range", "0..2", "--type", "f32,f64", "--block", "64..256*2"),
    ("row", "--range", "1000", "--pitch", "none,auto,1024", "--op", "load,store"),
    ("formula", "i*k", "i*2 + j", "--name", "a", "--name", "b", "--var", "k=1..3", "--var", "j=0,1",
     "--grid", "64,8x8", "--columns", "load_sectors,load_lines"),
)
SLOW = ("formula", "(i*k*k + i/3) % 1000003", "--var", "k=1..80", "--size", "64KiB", "--threads", "1",
        "--backend", "model", "-q")
FAST = ("offset", "--range", "0..79", "--backend", "model", "-q")


def without_run(text):
    """A result without its time and command line, which differ from run to run."""
    document = json.loads(text)
    del document["meta"]["time"], document["meta"]["argv"]
    return json.dumps(document)


def task_of_array(task, first, count, **more):
    """The variables of a task of `count` that Slurm has been given together."""
    return {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": str(first),
            "SLURM_ARRAY_TASK_MAX": str(first + count - 1), "SLURM_ARRAY_TASK_COUNT": str(count), **more}


class Files(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def ok(self, *arguments, **how):
        return self.run_ok(*arguments, cwd=self.folder, **how)

    def read(self, name):
        with open(f"{self.folder}/{name}", "rb") as file:
            return file.read()


class Shards(Files):
    def shard(self, sweep, count):
        names = []
        for index in range(1, count + 1):
            names.append(f"s{index}.jsonl" if index % 2 else f"s{index}.json")
            self.ok(*sweep, "--shard", f"{index}/{count}", "-o", names[-1], "-q")
        return names

    def test_merged_are_the_result_of_one_run(self):
        for sweep in SWEEPS:
            whole = self.ok(*sweep, "--json").out
            # More shards than points: a start for each, and to sanitizers one sweep is like another.
            many = (50,) if sweep is SWEEPS[0] or not harness.IS_SANITIZED else ()
            for count in (1, 2, 3, *many):
                with self.subTest(sweep, count=count):
                    names = self.shard(sweep, count)
                    random.Random(count).shuffle(names)
                    merged = self.ok("merge", *names, "--json").out
                    self.assertEqual(without_run(merged), without_run(whole))
                    # Byte for byte but for the line with time and command line.
                    self.assertEqual(merged.splitlines()[2:], whole.splitlines()[2:])

    def test_that_are_missing_double_or_foreign_are_named(self):
        one, two, three = self.shard(SWEEPS[0], 3)
        self.assertIn("missing: 2/3", self.refuse("merge", one, three, cwd=self.folder).err_text)
        self.assertIn("both shard 1 of 3", self.refuse("merge", one, one, two, three, cwd=self.folder).err_text)
        self.ok("stride", "--range", "1..32", "--type", "f64", "--shard", "3/3", "-o", "f.json", "-q")
        self.assertIn("type (f32 and f64)", self.refuse("merge", one, two, "f.json", cwd=self.folder).err_text)
        self.ok("stride", "--range", "1..31", "--shard", "3/3", "-o", "g.json", "-q")
        self.assertIn("31", self.refuse("merge", one, two, "g.json", cwd=self.folder).err_text)
        self.ok("stride", "--range", "1..32", "-o", "h.json", "-q")
        self.assertIn("--shard", self.refuse("merge", "h.json", cwd=self.folder).err_text)

    def test_of_several_gpus_keep_what_is_true_of_all(self):
        names = []
        for index, uuid in enumerate("ab", 1):
            names.append(f"s{index}.json")
            shard = self.ok(*SWEEPS[0], "--shard", f"{index}/2", "--json").json
            shard["meta"]["device"] = {"index": 0, "name": "GPU", "uuid": uuid}
            with open(f"{self.folder}/{names[-1]}", "w", encoding="utf-8") as file:
                json.dump(shard, file)
        result = self.ok("merge", *names, "--json").json
        self.assertEqual(len(result["points"]), 32)
        self.assertEqual(result["meta"]["device"], {"index": 0, "name": "GPU"})

    def test_that_are_there_can_be_merged_alone(self):
        one, _, three = self.shard(SWEEPS[0], 3)
        ran = self.check(harness.run("merge", one, three, "--partial", "--json", cwd=self.folder), harness.PARTIAL)
        result = ran.json
        self.assertEqual(result["status"], "interrupted")
        self.assertEqual(len(result["points"]), 10 + 11)  # 32 points: 10, 11, 11
        self.assertEqual([w["code"] for w in result["warnings"]], ["W-SHARDS"])

    def test_have_no_order_and_no_best_of_their_own(self):
        for option in ("--sort", "--best"):
            ran = self.refuse("stride", "--shard", "1/2", option, "load_sectors")
            self.assertIn("report", ran.err_text)
        names = self.shard(SWEEPS[0], 2)
        self.ok("merge", *names, "-o", "all.json", "-q")
        for option in ("--sort", "--best"):
            whole = self.ok(*SWEEPS[0], option, "load_sectors", "--json").out
            shown = self.ok("report", "all.json", option, "load_sectors", "--json").out
            self.assertEqual(without_run(shown), without_run(whole))

    def test_are_never_written_over(self):
        one, two = self.shard(SWEEPS[0], 2)
        self.refuse("merge", one, two, "-o", one, cwd=self.folder)

    def test_that_make_no_sense_are_refused(self):
        for shard in ("0/4", "5/4", "1/0", "1", "1/", "/4", "x/4", "1/4/2", "-1/4", "1/99999999", "auto/0",
                      "autox", "1/18446744073709551616"):
            with self.subTest(shard):
                self.assertIn("--shard", self.refuse("offset", "--shard", shard).err_text)
        self.assertIn("split", self.refuse("warps", "-", "--shard", "1/2").err_text)

    def test_are_what_launchers_say(self):
        for variables, shard in (
                (task_of_array(3, 1, 4), "3/4"),
                (task_of_array(3, 0, 4, SLURM_PROCID="0", SLURM_NTASKS="1"), "4/4"),
                ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"}, "2/4"),
                # srun in each task of an array: 2 tasks of 4 processes.
                (task_of_array(1, 0, 2, SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="4"), "6/8"),
                # srun --mpi=pmix: PMIx knows ranks, not their number.
                ({"PMIX_RANK": "1", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"}, "2/4"),
                ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0"}, "1/4")):
            with self.subTest(variables):
                self.assertEqual(self.shard_in(variables, "auto"), shard)
        indexed = {"JOB_COMPLETION_INDEX": "3"}
        self.assertIn("auto/N", self.refuse_in(indexed, "auto"))
        self.assertEqual(self.shard_in(indexed, "auto/8"), "4/8")
        # The script of a job of 4 tasks, which has not been started by srun.
        for variables in ({}, {"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}):
            self.assertIn("srun", self.refuse_in(variables, "auto"))

    def shard_in(self, variables, shard):
        env = harness.environment(**variables)
        return self.run_ok("stride", "--shard", shard, "--json", env=env).json["sweep"]["shard"]

    def refuse_in(self, variables, shard):
        return self.refuse("stride", "--shard", shard, env=harness.environment(**variables)).err_text

    def test_of_arrays_that_may_be_a_part_of_others_have_to_be_told_of_how_many(self):
        """As sbatch --array=3, =1, =5-8, =1,3, =0,2 or =0-6:2 start them."""
        for variables in (task_of_array(3, 3, 1), task_of_array(1, 1, 1), task_of_array(6, 5, 4),
                          task_of_array(3, 1, 2, SLURM_ARRAY_TASK_MAX="3"),
                          task_of_array(2, 0, 2, SLURM_ARRAY_TASK_MAX="2"),
                          task_of_array(2, 0, 4, SLURM_ARRAY_TASK_MAX="6"), {"SLURM_ARRAY_TASK_ID": "3"}):
            with self.subTest(variables):
                self.assertIn("auto/N", self.refuse_in(variables, "auto"))
        for variables, shard in ((task_of_array(3, 3, 1), "3/4"), (task_of_array(1, 1, 4), "1/4"),
                                 (task_of_array(4, 4, 1), "4/4"), ({"SLURM_ARRAY_TASK_ID": "2"}, "2/4"),
                                 # Two processes of srun in task 3 of 4.
                                 (task_of_array(3, 3, 1, SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="2"), "6/8")):
            with self.subTest(variables):
                self.assertEqual(self.shard_in(variables, "auto/4"), shard)
        # Counted from 0, or more than four: none of them, so that no shard is another's.
        for variables in (task_of_array(0, 0, 4), task_of_array(3, 0, 4), task_of_array(5, 5, 1),
                          task_of_array(1, 1, 4, SLURM_ARRAY_TASK_MAX="7")):
            with self.subTest(variables):
                self.assertIn("--array=1-4", self.refuse_in(variables, "auto/4"))

    def edit(self, name, change):
        lines = self.read(name).splitlines(keepends=True)
        with open(f"{self.folder}/{name}", "wb") as file:
            file.writelines(change(lines))

    def test_that_lack_points_are_not_merged_to_a_whole(self):
        """Nor where nothing in the file shows it."""
        for change, lacking in ((lambda lines: lines[:3] + lines[4:], 1), (lambda lines: lines[:2], 8),
                                (lambda lines: lines[:1] + lines[-1:], 9)):
            for more in ((), ("--partial",)):
                with self.subTest(lacking=lacking, more=more):
                    names = self.shard(SWEEPS[0], 3)
                    self.edit(names[0], change)
                    ran = harness.run("merge", *names, "--json", *more, cwd=self.folder)
                    result = self.check(ran, harness.PARTIAL).json
                    self.assertEqual((result["status"], len(result["points"])), ("interrupted", 32 - lacking))
                    self.assertIn(f"s1.jsonl lacks {lacking} of the 10 points",
                                  [w["text"] for w in result["warnings"] if w["code"] == "W-SHARDS"][0])

    def test_that_have_a_point_twice_are_refused(self):
        other = self.ok(*SWEEPS[0], "--shard", "2/3", "--jsonl").out.splitlines(keepends=True)[1]
        for change, said in ((lambda lines: lines[:3] + lines[2:], "twice"),
                             (lambda lines: lines[:3] + lines[2:3] + lines[4:], "twice"),
                             (lambda lines: lines[:-1] + [other] + lines[-1:], "11 points"),
                             (lambda lines: lines + lines, "several results")):
            names = self.shard(SWEEPS[0], 3)
            self.edit(names[0], change)
            ran = self.refuse("merge", *names, "-o", "all.json", cwd=self.folder)
            self.assertIn(said, ran.err_text)
            self.assertNotIn("all.json", os.listdir(self.folder))
            os.remove(f"{self.folder}/{names[0]}")

    def test_that_have_a_point_of_each_other_are_refused(self):
        names = self.shard(SWEEPS[0], 3)
        with open(f"{self.folder}/{names[2]}", "rb") as file:
            other = file.read().splitlines(keepends=True)[1]
        self.edit(names[0], lambda lines: lines[:1] + [other] + lines[2:])
        ran = self.refuse("merge", *names, "-o", "all.json", cwd=self.folder)
        self.assertIn("the same point", ran.err_text)
        self.assertNotIn("all.json", os.listdir(self.folder))


class PartFiles(Files):
    PART = "x.json.part.jsonl"

    def points_kept(self):
        path = f"{self.folder}/{self.PART}"
        return self.read(self.PART).count(b"\n") if os.path.exists(path) else 0

    def end_after(self, points, how, *more):
        """Ends a run once its part file has so many points; False where the run was faster."""
        process = subprocess.Popen([harness.PROGRAM, *SLOW, "-o", "x.json", *more], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=harness.environment())
        end = time.monotonic() + harness.PATIENCE
        while process.poll() is None and self.points_kept() < points and time.monotonic() < end:
            time.sleep(0.002)
        was_running = process.poll() is None
        process.send_signal(how)
        process.communicate(timeout=harness.PATIENCE)
        return was_running

    def end_under_way(self, points, how):
        """The same of a run that cannot be faster: a pipe that nobody reads has 16 pages, and each
        holds two or three of its 80 points."""
        self.assertLess(points, 16)
        self.assertTrue(self.end_after(points, how, "--jsonl"))

    def test_lose_no_point_whatever_ends_the_run_and_resume_to_the_same(self):
        whole = self.ok(*SLOW, "-o", "whole.json", "--json").out
        for how in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            for points in (1, 7, 15):
                with self.subTest(how.name, points=points):
                    self.end_under_way(points, how)
                    kept = self.points_kept()
                    self.assertGreaterEqual(kept, points)
                    report = harness.run("report", self.PART, "--json", cwd=self.folder).json
                    self.assertGreaterEqual(len(report["points"]), points)
                    if self.end_after(kept + 2, signal.SIGKILL, "--resume"):  # and once more
                        self.assertGreaterEqual(self.points_kept(), kept - 1)  # less SIGINT's last line
                    self.ok(*SLOW, "-o", "x.json", "--resume")
                    self.assertEqual(without_run(self.read("x.json")), without_run(whole))
                    self.assertNotIn(self.PART, os.listdir(self.folder))
                    os.remove(f"{self.folder}/x.json")
                    for name in os.listdir(self.folder):  # SIGKILL leaves what was to replace x.json
                        if name.endswith(".tmp"):
                            os.remove(f"{self.folder}/{name}")

    def test_of_axes_and_several_formulas_resume_to_the_same(self):
        for sweep in SWEEPS[-3:]:
            for view in ((), ("--sort", "load_sectors"), ("--best", "load_lines")):
                with self.subTest(sweep, view=view):
                    whole = self.ok(*sweep, *view, "--json").out
                    lines = self.ok(*sweep, "--jsonl").out.splitlines(keepends=True)
                    self.assertGreater(len(lines), 5)
                    with open(f"{self.folder}/{self.PART}", "wb") as file:
                        file.writelines(lines[:4])
                    self.ok(*sweep, *view, "-o", "x.json", "--resume")
                    self.assertEqual(without_run(self.read("x.json")), without_run(whole))
                    self.assertNotIn(self.PART, os.listdir(self.folder))

    def test_that_were_cut_or_damaged_give_what_is_whole(self):
        whole = self.ok(*SLOW, "-o", "whole.json", "--json").out
        for damage in (lambda text: text[:-40], lambda text: text.replace(b'"name"', b'"n\x00me"', 4),
                       lambda text: text + b"\0" * 4096, lambda text: text + b'{"sch'):
            with self.subTest(damage=damage):
                self.end_under_way(8, signal.SIGKILL)
                with open(f"{self.folder}/{self.PART}", "r+b") as file:
                    text = damage(file.read())
                    file.seek(0)
                    file.truncate()
                    file.write(text)
                ran = harness.run(*SLOW, "-o", "x.json", "--resume", cwd=self.folder)
                if ran.code == harness.DONE:
                    self.assertEqual(without_run(self.read("x.json")), without_run(whole))
                else:  # no head is left to know it by
                    self.assertEqual(ran.code, harness.USAGE)
                    os.remove(f"{self.folder}/{self.PART}")

    def lay_part(self, lines, name=PART):
        with open(f"{self.folder}/{name}", "wb") as file:
            file.writelines(lines)

    def lines_of(self, *sweep):
        """Of its points, as its part file has them."""
        return self.ok(*sweep, "--jsonl", "-q").out.splitlines(keepends=True)[:-1]

    def test_lose_no_point_to_a_signal_while_they_are_replayed(self):
        """A pipe of one page that nobody reads holds up the replay behind two or three of 80 points."""
        whole = self.ok(*FAST, "--json").out
        lines = self.lines_of(*FAST)
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(how.name):
                self.lay_part(lines)
                reading, writing = os.pipe()
                fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
                process = subprocess.Popen([harness.PROGRAM, *FAST, "-o", "x.json", "--jsonl", "--resume"],
                                           cwd=self.folder, stdout=writing, env=harness.environment())
                os.close(writing)
                os.read(reading, 1)
                process.send_signal(how)
                while os.read(reading, 65536):
                    pass
                os.close(reading)
                self.assertIn(process.wait(timeout=harness.PATIENCE), (-how, 128 + how))
                self.assertEqual(self.read(self.PART), b"".join(lines))
                self.ok(*FAST, "-o", "x.json", "--resume")
                self.assertEqual(without_run(self.read("x.json")), without_run(whole))
                os.remove(f"{self.folder}/x.json")

    def test_that_an_interrupted_run_has_ended_are_read_as_any_result(self):
        self.end_under_way(3, signal.SIGTERM)
        ran = harness.run("report", self.PART, "--json", cwd=self.folder)
        self.assertEqual((ran.json["status"], ran.json["warnings"]), ("interrupted", []))

    def test_of_other_sweeps_or_that_are_not_resumed_are_refused_and_never_touched(self):
        kept = self.lines_of(*FAST)[:5]
        others = (("stride", "--range", "1..3"), (*FAST, "--type", "f64"), (*FAST, "--shard", "1/2"))
        for words in (*((*other, "--resume") for other in others), *others, FAST):
            with self.subTest(words):
                self.lay_part(kept)
                self.assertIn(self.PART, self.refuse(*words, "-o", "x.json", cwd=self.folder).err_text)
                self.assertEqual(os.listdir(self.folder), [self.PART])
                self.assertEqual(self.read(self.PART), b"".join(kept))

    def test_of_outputs_that_differ_in_suffix_are_two(self):
        self.end_under_way(3, signal.SIGKILL)
        before = self.read(self.PART)
        self.ok("stride", "--range", "1..4", "-o", "x.csv")
        self.assertEqual(self.read(self.PART), before)

    def test_have_the_name_of_no_other_file_of_the_run(self):
        one, two = "x.json", "x.partial.jsonl"
        self.ok("offset", "--range", "0..3", "-o", one, "-o", two)
        self.assertEqual(sorted(os.listdir(self.folder)), [one, two])
        for name in (self.PART, "./link"):
            if name == "./link":
                os.symlink("y.part.jsonl", f"{self.folder}/link")
            self.assertIn(".part.jsonl", self.refuse("offset", "-o", one, "-o", name, cwd=self.folder).err_text)
        # An input of that name, whatever it is.
        with open(f"{self.folder}/{self.PART}", "w", encoding="ascii") as file:
            file.write("load_sectors <= 1000000000\n")
        self.refuse("offset", "--range", "0..3", "-o", one, "--budget-file", self.PART)
        self.assertEqual(self.read(self.PART), b"load_sectors <= 1000000000\n")

    def test_of_a_shard_are_known_by_the_shard_that_is_meant(self):
        lines = self.lines_of(*FAST, "--shard", "3/4")
        task = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "4"}
        whole = self.ok(*FAST, "--shard", "3/4", "--json").out
        for words, count in ((("--shard", "auto"), "4"), (("--shard=auto/4",), "1"), (("--shard", "3/4"), "1")):
            with self.subTest(words):
                self.lay_part(lines[:5])
                env = harness.environment(**task, SLURM_ARRAY_TASK_COUNT=count)
                self.ok(*FAST, *words, "-o", "x.json", "--resume", env=env)
                self.assertEqual(without_run(self.read("x.json")), without_run(whole))
                self.assertEqual(os.listdir(self.folder), ["x.json"])
                os.remove(f"{self.folder}/x.json")
        self.lay_part(lines[:5])
        self.assertIn("3/4", self.refuse(*FAST, "--shard", "1/1", "-o", "x.json", "--resume", cwd=self.folder).err_text)
        self.assertEqual(os.listdir(self.folder), [self.PART])

    def test_resume_with_nothing_to_go_on_from_begins(self):
        self.ok("offset", "--range", "0..3", "-o", "x.json", "--resume")
        self.refuse("offset", "--range", "0..3", "--resume")

    def test_without_a_finished_line_are_begun_anew(self):
        """As a run leaves them that is killed before its first point is on the disk."""
        for text in (b"", b'{"schema":"coalprof/1","machine"'):
            with open(f"{self.folder}/{self.PART}", "wb") as file:
                file.write(text)
            self.ok("offset", "--range", "0..3", "-o", "x.json", "--resume")
            self.assertEqual(len(json.loads(self.read("x.json"))["points"]), 4)
            self.assertNotIn(self.PART, os.listdir(self.folder))

    def test_resume_a_warps_file_that_was_mended(self):
        line = " load 4 " + " ".join(str(4 * lane) for lane in range(32)) + "\n"
        for text, code in (("a" + line + "b" + line + "c lod\n", harness.USAGE),
                           ("a" + line + "b" + line + "c" + line, harness.DONE)):
            with open(f"{self.folder}/w.txt", "w", encoding="ascii") as file:
                file.write(text)
            ran = harness.run("warps", "w.txt", "-o", "x.json", "--resume", cwd=self.folder)
            self.assertEqual(ran.code, code, ran.err)
        self.assertEqual([p["name"] for p in json.loads(self.read("x.json"))["points"]], ["a", "b", "c"])

    def test_are_left_out_for_what_is_no_file(self):
        self.ok("offset", "--range", "0..3", "-o", "/dev/null")
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    harness.main()
