"""Command lines made of the program's own words in any order, and of words that are none: answered or
refused, never crashed on, and what is refused is said in a few printable lines."""
import random
import re
import subprocess
import tempfile

import runs
from runs import harness

VALUES = ("", "0", "1", "-1", "7", "32", "0..3", "3..0", "1..64*2", "0..9:0", "0x10", "4KiB", "1MiB",
          "1.5KiB", "64kb", "18446744073709551615", "18446744073709551616", "f32", "f64", "load", "rmw",
          "h200", "c870", "k40:bank8", "1.0", "9.9", "ca,cg", "model", "none", "all", "basic", "k=1..3",
          "k", "k=", "i", "i*k", "i/0", "a[i]; b[i*2]", "(8,4):(4,1)", "offset", "-", "w.txt", "x.json", "x.csv",
          "/nonexistent/x.json", "/dev/null", "32x8", "0x0", "é", "\x1b[31m", "a\nb", "%s%n", "'", '"',
          "x" * 5000)
SMALL = ("--size", "64KiB", "--backend", "model")  # in front of the rest: nothing takes long


def words_of_program():
    """{command: its options}, as --help tells."""
    def told(*arguments):
        return harness.run(*arguments, "--help").out_text
    commands = re.findall(r"^  ([a-z][\w-]*)  ", told(), re.M)
    return {command: re.findall(r"(?<!\S)(?:(-\w),)?(--[\w-]+)", told(command)) for command in commands}


def made(chance, words):
    command = chance.choice(sorted(words))
    line = [command]
    options = [word for pair in words[command] for word in pair if word]
    if "--size" in options and "--backend" in options:
        line += SMALL
    for _ in range(chance.randrange(6)):
        word = chance.choice(options) if options and chance.random() < 0.7 else chance.choice(VALUES)
        if chance.random() < 0.1:  # mistyped
            at = chance.randrange(len(word) + 1)
            word = word[:at] + chance.choice("aX-=,.0 ") + word[at:]
        line.append(f"{word}={chance.choice(VALUES)}" if chance.random() < 0.2 else word)
        if chance.random() < 0.6:
            line.append(chance.choice(VALUES))
    return line


def complaints(ran):
    said = []
    if ran.code not in (harness.DONE, harness.FINDING, harness.USAGE, harness.ENVIRONMENT,
                        harness.PARTIAL, harness.OUTPUT):
        said.append(f"exit code {ran.code}")
    if ran.code == harness.DONE:
        return said
    # The whole help is no answer to a mistake, and a mistake's text is shortened.
    if len(ran.err) > 5000:
        said.append(f"{len(ran.err)} bytes on standard error")
    try:
        if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", ran.err_text):
            said.append("control characters on standard error")
    except UnicodeDecodeError:
        said.append("standard error is no UTF-8")
    # Messages of a compiler stand before ours.
    if ran.code == harness.USAGE and not re.search(rb"^coalprof: ", ran.err, re.M):
        said.append("it does not say what is wrong")
    return said


def play(most, seed=1):
    chance = random.Random(seed)
    tally = runs.Tally()
    words = words_of_program()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in runs.INPUTS.items():
            with open(f"{folder}/{name}", "w", encoding="ascii") as file:
                file.write(text)
        for _ in range(most):
            line = made(chance, words)
            try:
                ran = harness.run(*line, cwd=folder, timeout=runs.HANGS_AFTER)
            except subprocess.TimeoutExpired:
                tally.add_end(line, "hang", ["it hangs"], "")
                continue
            tally.add_end(line, ran.code, complaints(ran), ran.err.decode("utf-8", "replace"))
    return tally
