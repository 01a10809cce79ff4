"""What people keep: runs that write files are ended by SIGKILL at random moments, and their
writes, syncs, renames and closes fail. Each time the files are old or new, nothing but the part file and,
after SIGKILL, a temporary one is left beside them, no finished point is lost, and --resume makes of it what the undisturbed run makes."""
import itertools
import os
import random
import subprocess
import tempfile
import time

import faults
import runs
from runs import harness

# Each point shows on standard output when it is finished. Some tenths of a second; some hundredths.
LONG = runs.Command("long", "offset", "--range", "0..1500", "--jsonl", "-o", "x.json", "-o", "x.csv")
SHORT = runs.Command("short", "offset", "--range", "0..39", "--jsonl", "-o", "x.json", "-o", "x.csv")
CALLS = ("write", "fsync", "fdatasync", "rename", "close")


class Killed:
    """How runs ended that were to be ended."""

    def __init__(self, tally):
        self.tally, self.resumed, self.resumed_from_points, self.killed_again = tally, 0, 0, 0

    def tell(self):
        failed = self.tally.tell()
        print(f"    --resume after {self.resumed} of them, {self.resumed_from_points} behind points of a "
              f"part file; {self.killed_again} had been ended once before, and gone on with --resume")
        return failed


def kill_at(folder, command, delay, *more):
    process = subprocess.Popen([harness.PROGRAM, *command.arguments, *more], cwd=folder, env=harness.environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    return runs.Left(folder, command, process.returncode, out, err)


def kill_complaints(left, has_old, before):
    """`before`: what standard output showed of the run that this one went on with."""
    said = runs.complaints(left, has_old, may_litter=True)
    if left.code == -9:
        said = [text for text in said if not text.startswith("done, and yet")]
    lost = runs.lost_points(left)
    if before is not None:
        before.files = left.files
        lost += runs.lost_points(before)
    return said + ([f"finished, and lost: {lost[:3]}"] if lost else [])


def play_kills(most, seed=1, resume_each=1):
    """Until so many runs were killed; others came to their end before."""
    chance = random.Random(seed)
    ended = Killed(runs.Tally())
    with tempfile.TemporaryDirectory() as folder:
        runs.learn_whole(folder, LONG)
        started = time.monotonic()
        runs.run(folder, LONG)
        duration = time.monotonic() - started
        for number in itertools.count():
            if ended.tally.ends[-9] == most:
                break
            has_old = chance.random() < 0.5
            runs.lay_out(folder, LONG, has_old)
            before = None
            if chance.random() < 0.25:
                before = kill_at(folder, LONG, chance.uniform(0, duration))
                before = before if before.code == -9 else None
                ended.killed_again += before is not None
            left = kill_at(folder, LONG, chance.uniform(0, 1.1 * duration), *(["--resume"] if before else []))
            said = kill_complaints(left, has_old, before)
            if number % resume_each == 0 and left.code == -9:
                ended.resumed += 1
                ended.resumed_from_points += runs.parts(LONG)[0] in left.files
                said += runs.resume(folder, LONG)
            ended.tally.add(f"SIGKILL, run {number}, {'over old files' if has_old else 'without old files'}",
                            left, said)
    return ended


def fault_complaints(fault, left):
    said = faults.complaints(fault, left)
    # Where every write fails nothing can be kept, and that is said.
    if left is None or (fault.goes_on and "are not kept until the run ends" in left.err):
        return said
    lost = runs.lost_points(left)
    return said + ([f"finished, and lost: {lost[:3]}"] if lost else [])


def play_faults(library, most, seed=1, resume_each=10):
    chance = random.Random(seed)
    ended = Killed(runs.Tally())
    with tempfile.TemporaryDirectory() as folder:
        every = []
        for command in (SHORT, *runs.commands()):
            runs.learn_whole(folder, command, LD_PRELOAD=library)
            for has_old in (True, False):
                runs.lay_out(folder, command, has_old)
                counts = faults.counted_calls(folder, command, library)
                every += faults.faults_of(command, has_old, counts, 1, 0, CALLS)
        print(f"{min(most, len(every))} of {len(every)} faults in {', '.join(CALLS)}")
        for number, fault in enumerate(chance.sample(every, min(most, len(every)))):
            runs.lay_out(folder, fault.command, fault.has_old)
            left = runs.run(folder, fault.command, LD_PRELOAD=library, COALPROF_FAIL=fault.word())
            said = fault_complaints(fault, left)
            if number % resume_each == 0 and left is not None and left.code != harness.DONE:
                ended.resumed += 1
                ended.resumed_from_points += runs.parts(fault.command)[0] in left.files
                said += runs.resume(folder, fault.command, LD_PRELOAD=library)  # the head says so
            ended.tally.add(f"{fault} (COALPROF_FAIL={fault.word()})", left, said)
    return ended
