"""Runs that are ended again and again: chains of kill, resume, kill, resume, and tasks of an array that fail
and are submitted again. Whatever ends a run, no finished point is lost and no other sweep's file is touched;
in the end the bytes are those of the undisturbed run."""
import os
import random
import signal
import subprocess
import tempfile
import time

import runs
from runs import harness

# Each point shows on standard output when it is finished.
CHAIN = runs.Command("chain", "offset", "--range", "0..250", "--jsonl", "-o", "x.json", "-o", "x.csv")
OTHER = ("stride", "--range", "1..300", "-o", "x.json", *runs.ALWAYS)
ENDING = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MOST_LINKS = 8
TASKS = ("offset", "--range", "0..200", "--op", "load", *runs.ALWAYS)


def start(folder, *arguments, **variables):
    return subprocess.Popen([harness.PROGRAM, *arguments], cwd=folder, env=harness.environment(**variables),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process, delay, number):
    """(exit code, standard output, standard error) of a process that gets this signal after so many seconds."""
    try:
        out, err = process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        out, err = process.communicate(timeout=runs.HANGS_AFTER)
    return process.returncode, out, err


def seconds(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        start(folder, *arguments).communicate()
        return time.monotonic() - begun


def parts_in(folder):
    return {name: runs.content(f"{folder}/{name}") for name in sorted(os.listdir(folder)) if name.endswith(".part.jsonl")}


def points_in(parts):
    return {name for data in parts.values() for name in runs.shown_points(data)}


class Chain:
    """Links of one chain: the same command, now and then without --resume, or another one with that output."""

    def __init__(self, folder, chance, duration):
        self.folder, self.chance, self.duration = folder, chance, duration
        self.finished = set()  # names of points

    def link(self):
        delay, number = self.chance.uniform(0, self.duration), self.chance.choice(ENDING)
        if self.chance.random() < 0.1:
            return self.of_another_sweep(delay, number)
        more = () if self.chance.random() < 0.1 else ("--resume",)
        is_refused = not more and bool(points_in(parts_in(self.folder)))
        code, out, err = end(start(self.folder, *CHAIN.arguments, *more), delay, number)
        left = runs.Left(self.folder, CHAIN, code, out, err)
        said = [text for text in runs.complaints(left, False, may_litter=True)
                if code == harness.DONE or not text.startswith("done, and yet")]
        if code not in (harness.USAGE if is_refused else harness.DONE, -number, 128 + number):
            said.append(f"exit code {code}")
        self.finished.update(runs.shown_points(out))
        kept = points_in(parts_in(self.folder))
        lost = sorted(self.finished - kept)
        if lost and left.undelivered() not in ([], ["-"]):
            said.append(f"{len(lost)} finished points are lost, as {lost[0]}")
        self.finished |= kept
        return left, said

    def of_another_sweep(self, delay, number):
        """Ended in any case: it would write the same file."""
        before = parts_in(self.folder)
        code, out, err = end(start(self.folder, *OTHER), min(delay, self.duration / 4), number)
        left = runs.Left(self.folder, CHAIN, code, out, err)
        after = parts_in(self.folder)
        said = [f"another sweep changed {name}" for name, data in before.items() if after.get(name) != data]
        for name in set(after) - set(before) | ({"x.json"} if code == harness.DONE else set()):
            os.unlink(f"{self.folder}/{name}")
        return left, said


def play_chains(most, seed=1):
    chance, tally = random.Random(seed), runs.Tally()
    with tempfile.TemporaryDirectory() as folder:
        runs.learn_whole(folder, CHAIN)
    duration = seconds(*CHAIN.arguments)
    for number in range(most):
        with tempfile.TemporaryDirectory() as folder:
            runs.lay_out(folder, CHAIN, False)
            chain = Chain(folder, chance, duration)
            for link in range(chance.randint(2, MOST_LINKS)):
                left, said = chain.link()
                tally.add(f"chain {number}, link {link}", left, said)
                if left.code == harness.DONE:
                    chain.finished.clear()  # what comes next is a run of its own
                    for name in ("x.json", "x.csv"):
                        if os.path.exists(f"{folder}/{name}"):
                            os.unlink(f"{folder}/{name}")
            left = runs.run(folder, CHAIN, "--resume")
            said = [f"in the end {output} is not whole" for output in left.undelivered()]
            said += [f"in the end {name} stays" for name in parts_in(folder)]
            tally.add(f"end of chain {number}", left, said)
    return tally


class Array:
    """Tasks of a Slurm array, as their environment tells them."""

    def __init__(self, folder, chance, duration):
        self.folder, self.chance, self.duration = folder, chance, duration
        self.count = chance.randint(2, 5)

    def output(self, task):
        return f"s.{task}.{'jsonl' if task % 2 else 'json'}"

    def part(self, task):
        return f"{self.folder}/{self.output(task)}.part.jsonl"

    def is_part_of_it(self, task):
        """Whether what the task wrote is a shard of this array."""
        merged = harness.run("merge", self.output(task), cwd=self.folder)
        return f"of {self.count} shards missing" in merged.err_text

    def files(self):
        return {name: runs.content(f"{self.folder}/{name}") for name in os.listdir(self.folder)
                if not name.endswith(".tmp")}

    def missing(self):
        return [task for task in range(1, self.count + 1)
                if not os.path.exists(f"{self.folder}/{self.output(task)}")]

    def run(self, task, group, word, is_ended):
        """One task of those that are submitted together; (exit code, what is wrong, standard error)."""
        variables = {"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_COUNT": len(group),
                     "SLURM_ARRAY_TASK_MIN": min(group), "SLURM_ARRAY_TASK_MAX": max(group)}
        before = self.files()
        process = start(self.folder, *TASKS, "--shard", word, "--resume", "-q", "-o", self.output(task),
                        **{name: str(value) for name, value in variables.items()})
        delay = self.chance.uniform(0, 0.8 * self.duration) if is_ended else runs.HANGS_AFTER
        number = self.chance.choice(ENDING)
        code, _, err = end(process, delay, number)
        said = [] if code in (harness.DONE, harness.USAGE, -number, 128 + number) else [f"exit code {code}"]
        return code, said + self.complaints(task, group, word, code, before), err

    def complaints(self, task, group, word, code, before):
        after, said = self.files(), []
        own = self.output(task)
        part = f"{own}.part.jsonl"
        said += [f"{name} is another task's and has changed" for name, data in before.items()
                 if name not in (own, part) and after.get(name) != data]
        if code == harness.USAGE and after != before:
            said.append("refused, and files have changed")
        is_known = word != "auto" or len(group) == self.count
        if is_known and code == harness.USAGE:
            said.append("the whole array is known, and it is refused")
        lost = points_in({part: before.get(part, b"")}) - points_in({part: after.get(part, b"")})
        if lost and not (is_known and own in after):
            said.append(f"{len(lost)} finished points are lost")
        return said


def submit(array, group, tally, what):
    """A part of the array, each task by itself; now and then as if it were an array of its own."""
    for task in group:
        word = array.chance.choice(("auto", f"auto/{array.count}"))
        had_part = os.path.exists(array.part(task))
        code, said, err = array.run(task, group, word, array.chance.random() < 0.85)
        if word == "auto" and len(group) < array.count and code != harness.USAGE:
            # Tasks 1 to K: nothing tells that there are more, before they are merged.
            if code == harness.DONE and array.is_part_of_it(task):
                said.append("a part of the array is taken for the whole")
            for path in (f"{array.folder}/{array.output(task)}", *(() if had_part else (array.part(task),))):
                if os.path.exists(path):
                    os.unlink(path)
        tally.add_end(f"{what}, task {task} of {group}, --shard {word}", code, said, err.decode("utf-8", "replace"))


def merge_complaints(array, whole):
    names = [array.output(task) for task in range(1, array.count + 1)]
    array.chance.shuffle(names)
    merged = harness.run("merge", *names, "--json", cwd=array.folder)
    said = [] if runs.without_time(merged.out) == whole else [f"merge gives another result: {merged.err_text[-200:]}"]
    # A line that is lost on its way, or comes twice.
    with open(f"{array.folder}/{array.output(1)}", "r+b") as file:
        lines = file.readlines()
        at = array.chance.randrange(1, len(lines) - 1)
        lines[at:at + 1] = array.chance.choice(([], [lines[at]] * 2))
        file.seek(0)
        file.truncate()
        file.writelines(lines)
    if harness.run("merge", *names, "--json", cwd=array.folder).code == harness.DONE:
        said.append("a shard that lacks a point or has one twice is merged as whole")
    return said


def play_tasks(most, seed=1):
    """Until so many tasks were submitted again."""
    chance, tally = random.Random(seed), runs.Tally()
    whole = runs.without_time(harness.run(*TASKS, "--json").out)
    duration = seconds(*TASKS)
    submitted_again = number = 0
    while submitted_again < most:
        number += 1
        with tempfile.TemporaryDirectory() as folder:
            array = Array(folder, chance, duration)
            submit(array, array.missing(), tally, f"array {number}")
            for _ in range(chance.randint(1, 3)):
                missing = array.missing()
                group = sorted(chance.sample(missing, chance.randint(min(1, len(missing)), len(missing))))
                submitted_again += len(group)
                submit(array, group, tally, f"array {number} again")
            for task in array.missing():
                submitted_again += 1
                code, said, err = array.run(task, [task], f"auto/{array.count}", False)
                said += [] if code == harness.DONE else ["it does not end well"]
                tally.add_end(f"array {number}, last time, task {task}", code, said, err.decode("utf-8", "replace"))
            if not array.missing():
                tally.add_end(f"array {number}, merged", harness.DONE, merge_complaints(array, whole), "")
    print(f"{number} arrays, {submitted_again} tasks submitted again")
    return tally
