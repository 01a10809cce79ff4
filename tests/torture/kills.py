"""Runs that are ended from outside at a random moment, or have nowhere to write to: by signals, by
timeout(1), by a reader that leaves or does not read, by a disk that is full."""
import os
import random
import resource
import signal
import subprocess
import tempfile
import time

import runs
from runs import harness

# Some tenths of a second, with points all the while.
LONG = ("offset", "--range", "0..1500", "--json", "-o", "x.json", "-o", "x.csv")
LARGEST = 1_000_000  # bytes of a file that cannot grow: x.csv fits, x.json does not
DISK = 4_000_000  # bytes, which take both
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
          signal.SIGALRM, signal.SIGXCPU)


class Ending:
    """One way to end a run: `before` stands in front of the command line, `act` gets the process.
    Exit codes that may follow; whether a temporary file may stay; whether standard output may be
    cut."""

    def __init__(self, name, codes, before=(), act=None, may_litter=False, cuts_output=False,
                 limits_files=False):
        self.name, self.codes, self.before, self.act = name, codes, before, act
        self.may_litter, self.cuts_output = may_litter, cuts_output
        self.limits_files = limits_files


def kill(process, number):
    if process.poll() is None:
        process.send_signal(number)


def endings(chance, duration):
    """Each way, with a moment of its own."""
    delay = chance.uniform(0, 1.2 * duration)
    first, second = chance.choice(ENDING), chance.choice(ENDING)
    # Before the program catches signals they end it, as they end every program.
    codes = tuple(code for number in (first, second) for code in (-number, 128 + number))

    def send(*numbers):
        def act(process):
            time.sleep(delay)
            for number in numbers:
                kill(process, number)
        return act

    def leave(process):
        process.stdout.read(chance.choice((0, 1, 1000, 100_000)))
        process.stdout.close()

    def stop_reading(process):
        time.sleep(delay)  # the pipe is full meanwhile
        kill(process, first)

    done = harness.DONE
    by_timeout = (done, 124, 124 + 128, 128 + 15, 128 + 2, -15, -2)
    seconds = f"{max(delay, 0.001):.4f}"
    return [
        Ending("SIGKILL", (done, -9), act=send(signal.SIGKILL), may_litter=True, cuts_output=True),
        Ending(first.name, (done, *codes), act=send(first)),
        Ending(f"{first.name} twice", (done, *codes), act=send(first, first)),
        Ending(f"{first.name}, {second.name}", (done, *codes), act=send(first, second)),
        Ending("timeout", by_timeout, before=("timeout", seconds)),
        Ending("timeout -s INT", by_timeout, before=("timeout", "-s", "INT", seconds)),
        Ending("timeout --preserve-status", by_timeout,
               before=("timeout", "--preserve-status", seconds)),
        Ending("timeout -k", (*by_timeout, 137, -9), before=("timeout", "-k", "0.01", seconds),
               may_litter=True, cuts_output=True),
        Ending("a reader that leaves", (done,), act=leave, cuts_output=True),
        Ending(f"a reader that does not read, {first.name}", (done, *codes), act=stop_reading),
        Ending("files that cannot grow", (harness.OUTPUT,), limits_files=True),
    ]


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))


def play_one(ending, folder, command):
    process = subprocess.Popen([*ending.before, harness.PROGRAM, *command.arguments], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=harness.environment(),
                               preexec_fn=limit_files if ending.limits_files else None)
    try:
        if ending.act:
            ending.act(process)
        if process.stdout.closed:
            err = process.stderr.read()
            process.wait(timeout=runs.HANGS_AFTER)
            out = b""
        else:
            out, err = process.communicate(timeout=runs.HANGS_AFTER)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    finally:
        process.stderr.close()
    return runs.Left(folder, command, process.returncode, out, err)


def complaints(ending, left, has_old):
    said = runs.complaints(left, has_old, may_litter=ending.may_litter)
    if left is None:
        return said
    if ending.cuts_output:
        said = [text for text in said if text != f"done, and yet not delivered: {['-']}"]
    elif left.out and not left.is_whole("-") and not runs.is_part(left.out):
        said.append(f"standard output is torn: {left.out[-80:]}")
    if left.code not in ending.codes:
        said.append(f"exit code {left.code}")
    if ending.limits_files and not (left.is_whole("-") and left.is_whole("x.csv")):
        said.append("one file that is too large takes other outputs with it")
    return said


def play_full_disk(tally, command, chance, most):
    """A disk that is full: what is on it stays, what does not fit is said and leaves nothing."""
    ending = Ending("", (harness.DONE, harness.OUTPUT))
    with tempfile.TemporaryDirectory() as disk:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            print("no full disk is played: mounting one is not permitted here")
            return
        try:
            folder = f"{disk}/results"
            os.mkdir(folder)
            for number in range(most):
                taken = chance.randrange(DISK)
                runs.lay_out(folder, command, number % 2 == 0)
                with open(f"{disk}/taken", "wb") as file:
                    file.write(b"#" * taken)
                left = play_one(ending, folder, command)
                tally.add(f"a disk of {DISK} bytes, {taken} of them taken", left,
                          complaints(ending, left, number % 2 == 0))
        finally:
            subprocess.run(["umount", disk], check=True)


def play(most, seed=1):
    chance = random.Random(seed)
    tally = runs.Tally()
    command = runs.Command("long", *LONG)
    with tempfile.TemporaryDirectory() as folder:
        runs.learn_whole(folder, command)
        started = time.monotonic()
        runs.run(folder, command)
        duration = time.monotonic() - started
        for number in range(most):
            has_old = chance.random() < 0.5
            ways = endings(chance, duration)
            ending = ways[number % len(ways)]
            runs.lay_out(folder, command, has_old)
            left = play_one(ending, folder, command)
            tally.add(f"{ending.name}, {'over old files' if has_old else 'without old files'}", left,
                      complaints(ending, left, has_old))
    play_full_disk(tally, command, chance, most // 10)
    return tally
