"""Runs of the program under which something goes wrong, and what must be true of all of them: no
output is torn, no old file is lost, nothing is left lying about, and the exit code says how it was.
"""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "cli"))
import harness  # pylint: disable=wrong-import-position

LANES = " ".join(str(4 * lane) for lane in range(32))
INPUTS = {
    "w.txt": "".join(f"w{k} {op} 4 {LANES}\n" for k, op in enumerate(("load", "store", "shared_load"))),
}
OLD = b"old\n"
ALWAYS = ("--backend", "model", "--threads", "2")
HANGS_AFTER = 300  # seconds; a run takes some hundredths
SIGNALS = {number: signal.Signals(number).name for number in (2, 9, 15)}


class Command:
    """A command line, the files that it writes, and what they hold when nothing goes wrong."""

    def __init__(self, name, *arguments, always=ALWAYS, done=harness.DONE):
        self.name, self.done = name, done  # the exit code when nothing goes wrong
        self.is_run = arguments[0] == "run"
        self.arguments = (*arguments, *always)
        self.outputs = [word for before, word in zip(arguments, arguments[1:]) if before == "-o"]
        self.whole = {}  # output: its bytes; "-" is standard output


def commands():
    return [Command("offset", "offset", "--range", "0..3", "--json", "-o", "x.json"),
            Command("warps", "warps", "w.txt", "--jsonl", "-o", "x.json", "-o", "x.csv"),
            Command("formula", "formula", "i*k", "load: a[i^k]; store: b[i]", "--name", "one", "--name", "two",
                    "--var", "k=1..3", "--json", "-o", "a.json", "-o", "b.csv", "-o", "c.jsonl")]


# What the library in a program writes where there is a GPU, and a program that hands it over.
KERNELS = ("_Z5scalePf", "_Z4copyPf")
SHAPE = '"grid":[1,1,1],"block":[32,1,1],"device":0'
TRACE = "".join(f"{line}\n" for line in (
    '{"coalprof_trace":5,"process":1,"program":"x"}',
    *(f'{{"kernel":"{name}",{SHAPE},"launch":1,"measured":{{"load_requests":8,"load_sectors":32}}}}' for name in KERNELS),
    *(f'{{"kernel":"{name}",{SHAPE},"launches":4}}' for name in KERNELS),
    '{"end":true}'))
TRACED = 'cat t.trace > "$COALPROF_ATTACH_FOLDER/1.trace"; echo theirs; exit '


def commands_of_results():
    """What is made of results, and of programs. Their inputs are there once learn_inputs() was called."""
    return [Command("report", "report", "s1.json", "--json", "-o", "x.jsonl", "-o", "x.csv", always=()),
            Command("merge", "merge", "s1.json", "s2.json", "--json", "-o", "x.json", "-o", "x.csv", always=()),
            Command("occupancy", "occupancy", "--block", "64..256:64", "--json", "-o", "x.json", "-o", "x.csv", always=()),
            *(Command(" ".join(("run", *options)), "run", *options, "-o", "x.json", "-o", "x.csv", "--", "sh", "-c",
                      f"{TRACED}{code}", always=(), done=code)
              for options, code in (((), 7), (("--lines",), 7), (("--counters", "memory"), harness.DONE)))]


def learn_inputs():
    """The results among them, which the program makes itself."""
    INPUTS["t.trace"] = TRACE
    with tempfile.TemporaryDirectory() as folder:
        for number in (1, 2):
            harness.run("offset", "--range", "0..3", *ALWAYS, "--shard", f"{number}/2", "-q", "-o", f"s{number}.json", cwd=folder)
            INPUTS[f"s{number}.json"] = content(f"{folder}/s{number}.json").decode("ascii")


def lay_out(folder, command, has_old):
    for name in os.listdir(folder):
        os.unlink(f"{folder}/{name}")
    for name, text in INPUTS.items():
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    for name in command.outputs if has_old else ():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(OLD)


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def without_time(data):
    """Nor the command line, which --resume changes."""
    return re.sub(rb'"time":"[^"]*"', b'"time":""', re.sub(rb'"argv":\[(?:"(?:[^"\\]|\\.)*",?)*\]', b'"argv":[]', data))


class Left:
    """What a run left behind."""

    def __init__(self, folder, command, code, out, err):
        self.command, self.code = command, code
        # Of an input that does not say what it is, columns are not known beforehand.
        self.as_of_pipe = False
        self.out, self.err = out, err.decode("utf-8", "replace")
        self.files = {name: content(f"{folder}/{name}") for name in os.listdir(folder)
                      if name not in INPUTS}
        self.inputs_stay = all(content(f"{folder}/{name}") == text.encode()
                               for name, text in INPUTS.items())

    def is_whole(self, output):
        data = self.out if output == "-" else self.files.get(output)
        if data is None:
            return False
        whole = self.command.whole[output]
        return without_time(data) == whole or (self.as_of_pipe and names(data) == names(whole))

    def undelivered(self):
        return [output for output in self.command.whole if not self.is_whole(output)]


def run(folder, command, *more, **variables):
    """Left, or None where the run did not end."""
    try:
        ran = subprocess.run([harness.PROGRAM, *command.arguments, *more], stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=HANGS_AFTER, cwd=folder, check=False,
                             env=harness.environment(**variables))
    except subprocess.TimeoutExpired:
        return None
    return Left(folder, command, ran.returncode, ran.stdout, ran.stderr)


def learn_whole(folder, command, **variables):
    """Runs without a fault."""
    lay_out(folder, command, False)
    left = run(folder, command, **variables)
    if left is None or left.code != command.done:
        raise SystemExit(f"{command.name} fails without a fault: {left and left.err}")
    command.whole = {"-": without_time(left.out)}
    for output in command.outputs:
        command.whole[output] = without_time(left.files[output])


def names(data):
    """Of the points of a whole result, in any format; None of what is not whole."""
    text = data.decode("utf-8", "replace")
    try:
        if text.startswith('{"schema":"coalprof/1",\n'):
            document = json.loads(text)
            return [point["name"] for point in document["points"]] + [document["status"]]
        if text.startswith("{"):
            lines = [json.loads(line) for line in text.splitlines()]
            return [line.get("name", line.get("status")) for line in lines]
    except (ValueError, KeyError):
        return None
    return [line.partition(",")[0] for line in text.splitlines()] if text.endswith("\n") else None


def shown_points(data):
    """The names in the whole lines of JSON Lines."""
    shown = []
    for line in data.split(b"\n")[:-1]:
        try:
            shown.append(json.loads(line).get("name"))
        except ValueError:
            break
    return [name for name in shown if name is not None]


def is_part(data):
    """An interrupted result, whole lines of it where the format has no word for that."""
    text = data.decode("utf-8", "replace")
    try:
        if text.startswith('{"schema":"coalprof/1",\n'):
            return json.loads(text)["status"] == "interrupted"
        if text.startswith("{"):
            return json.loads(text.splitlines()[-1])["status"] == "interrupted"
    except (ValueError, KeyError):
        return False
    return text.startswith("name,") and text.endswith("\n")


def parts(command):
    return [output + ".part.jsonl" for output in command.outputs]


def is_part_file(data):
    """Whole lines of points; a process that was killed may have left the beginning of another."""
    try:
        return all("schema" in json.loads(line) for line in data.split(b"\n")[:-1])
    except ValueError:
        return False


def complaints(left, has_old, may_litter=False):
    """What is true whatever goes wrong."""
    if left is None:
        return ["it hangs"]
    said = []
    if not left.inputs_stay:
        said.append("an input has changed")
    for output in left.command.outputs:
        if left.is_whole(output):
            continue
        data = left.files.get(output)
        if data != (OLD if has_old else None):
            said.append(f"{output} is lost" if data is None else f"{output} is torn: {data[-80:]}")
    for name, data in left.files.items():
        if name in left.command.outputs:
            continue
        stem, dot, suffix = name.rpartition(".")
        if name in parts(left.command):
            if (left.code == harness.DONE and name not in left.err) or not is_part_file(data):
                said.append(f"{name} is no file of finished points: {data[-80:]}")
        elif stem.endswith(".partial") and stem[:-len(".partial")] + dot + suffix in left.command.outputs:
            if left.code == harness.DONE or not is_part(data):
                said.append(f"{name} is no part of a result: {data[-80:]}")
        elif not (may_litter or name in left.err):
            said.append(f"{name} is left lying about")
    if left.code == harness.DONE and left.undelivered():
        said.append(f"done, and yet not delivered: {left.undelivered()}")
    return said


def lost_points(left):
    """Points that were finished, for they stand on standard output, JSON Lines: in no file."""
    finished = shown_points(left.out)
    if any(left.is_whole(output) for output in left.command.outputs):
        return []
    kept = [shown_points(left.files.get(name, b"")) for name in parts(left.command)]
    return [name for name in finished if not any(name in names for names in kept)]


def resume(folder, command, **variables):
    """What is wrong with what --resume makes of what lies in the folder."""
    left = run(folder, command, "--resume", **variables)
    if left is None:
        return ["--resume hangs"]
    said = [f"--resume does not give {output}" for output in command.outputs if not left.is_whole(output)]
    if left.code != harness.DONE:
        said.append(f"--resume ends with {left.code}: {left.err[-200:]}")
    return said + [f"--resume leaves {name}" for name in left.files if name in parts(command)]


class Tally:
    """How many runs there were, how they ended, and what was wrong."""

    def __init__(self):
        self.ends = collections.Counter()
        self.findings = []

    def add(self, what, left, said):
        if left is None:
            self.add_end(what, "hang", said, "")
        else:
            self.add_end(what, left.code, said, left.err)

    def add_end(self, what, code, said, err):
        self.ends[code] += 1
        if said:
            self.findings.append(f"{what}: {'; '.join(said)}\n    exit {code}; {err[-300:]}")

    def tell(self):
        for finding in self.findings[:20]:
            print(finding)
        ends = ", ".join(f"{count} x {code}" for code, count in sorted(self.ends.items(), key=str))
        print(f"{sum(self.ends.values())} runs, {len(self.findings)} findings; exit codes: {ends}")
        return 1 if self.findings else 0
