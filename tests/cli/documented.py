"""The sessions that documents show, for the tests that run them again.

A session is a fenced block whose first word is `console`: lines that begin with "$ " are commands,
and what follows a command, up to the next one or the end of the block, is what it prints. A block
that a machine of its own is needed for says so with a second word (`console measured`) and is not
run. Only commands of coalprof itself are: "$ coalprof ..." and "$ scripts/run ...", perhaps with "| head ..."
or "| jq ..." behind them, the latter run where there is a jq.
"""
import dataclasses
import glob
import os
import re
import shlex
import shutil
import subprocess

import harness

OPENING = re.compile(r"^```(\w*)(?: +(.*))?$")
PROGRAM_WORDS = ("coalprof", "scripts/run")
# Documents show predictions: a GPU that is present would be measured beside them.
os.environ["CUDA_VISIBLE_DEVICES"] = ""


@dataclasses.dataclass
class Session:
    """One command and what the document says that it prints."""

    path: str
    line: int  # of the command, from 1
    command: str
    shown: str
    end: int  # the line after the last shown one

    @property
    def words(self):
        return shlex.split(self.command)

    @property
    def arguments(self):
        end = self.words.index("|") if "|" in self.words else None
        return self.words[1:end]

    @property
    def filter(self):
        """What the result is piped into; nothing for most."""
        return self.words[self.words.index("|") + 1:] if "|" in self.words else []

    @property
    def is_ours(self):
        return self.words[0] in PROGRAM_WORDS and self.filter[:1] in ([], ["head"], ["jq"])

    @property
    def can_run(self):
        return not self.filter or shutil.which(self.filter[0]) is not None

    @property
    def place(self):
        return f"{os.path.relpath(self.path, harness.SOURCE)}:{self.line}"


def sessions_of(path):
    """Every command of the document's console blocks that are to be run."""
    with open(path, encoding="utf-8") as document:
        lines = document.read().split("\n")
    sessions = []
    inside = runs = False
    for number, line in enumerate(lines, start=1):
        opening = OPENING.match(line)
        if opening and not inside:
            inside = True
            runs = opening.group(1) == "console" and not opening.group(2)
        elif line.startswith("```"):
            inside = runs = False
        elif runs and line.startswith("$ "):
            sessions.append(Session(path, number, line[2:], "", number + 1))
        elif runs and sessions:
            sessions[-1].shown += line + "\n"
            sessions[-1].end = number + 1
    return sessions


def sessions_below(folder):
    """Those of every Markdown document directly in the folder."""
    return [session for path in sorted(glob.glob(os.path.join(folder, "*.md")))
            for session in sessions_of(path)]


def printed(session):
    """What the command prints now: its result, or where it is refused what it says instead."""
    ran = harness.run(*session.arguments, cwd=harness.SOURCE)
    if ran.code not in (harness.DONE, harness.FINDING):
        return ran.err_text
    if session.filter:
        return subprocess.run(session.filter, input=ran.out, stdout=subprocess.PIPE,
                              check=True).stdout.decode()
    return ran.out_text


def rewrite(path):
    """Puts what the commands print now into the document; answers whether it changed."""
    with open(path, encoding="utf-8") as document:
        lines = document.read().split("\n")
    before = list(lines)
    for session in reversed(sessions_of(path)):
        if session.is_ours and session.can_run:
            now = printed(session).removesuffix("\n")
            lines[session.line:session.end - 1] = now.split("\n") if now else []
    if lines == before:
        return False
    with open(path, "w", encoding="utf-8") as document:
        document.write("\n".join(lines))
    return True


def arguments_of(saved):
    """The command line of a formula of docs/formulas.json or docs/examples/from-code.json."""
    options = [saved["expr"]]
    for name in ("op", "type", "size", "grid", "block", "per_thread"):
        if name in saved:
            options += [f"--{name.replace('_', '-')}", str(saved[name])]
    for name, values in saved.get("vars", {}).items():
        options += ["--var", f"{name}={values}"]
    return options
