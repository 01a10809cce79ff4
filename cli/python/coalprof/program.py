"""Finds the program, calls it, and turns its refusals into exceptions."""
from __future__ import annotations

import os
import subprocess
import sys
from typing import Any, Mapping, NamedTuple, Sequence

from .words import Words


class Error(Exception):
    """The program gave no result.

    `text` says what cannot be done and why, `hint` what to do (perhaps ''), `code` is the exit code:
    docs/exit-codes.md says what each means.
    """

    def __init__(self, text: str, hint: str, code: int) -> None:
        super().__init__(text + (f"\nhint: {hint}" if hint else ""))
        self.text, self.hint, self.code = text, hint, code

    def __reduce__(self) -> Any:
        return type(self), (self.text, self.hint, self.code)


class UsageError(Error, ValueError):
    """An argument, an option, a formula or a file is wrong."""


class Ran(NamedTuple):
    out: str
    said: str  # on standard error
    code: int


def program() -> str:
    """That of COALPROF, the one in this module's wheel, or the first in PATH."""
    brought = os.path.join(os.path.dirname(__file__), "tree", "bin", "coalprof")
    return os.environ.get("COALPROF") or (brought if os.path.exists(brought) else "coalprof")


def call(command: str, arguments: Sequence[Any], options: Mapping[str, Any], stdin: str = "",
         wanted: Sequence[str] = ("--json", "--quiet")) -> Ran:
    """Raises the Error of a call that prints nothing; findings and partial results have a code."""
    with Words() as words:
        typed = [command, *words.of_options(options), *wanted]
        if arguments:
            typed += ["--", *map(words.of, arguments)]
        try:
            ran = subprocess.run([program(), *typed], input=stdin, capture_output=True, encoding="utf-8", check=False)
        except FileNotFoundError:
            raise Error(f"cannot find {program()}", "install the wheel, or name the program by COALPROF", 127) from None
    if not ran.stdout and ran.returncode != 0:
        raise error_of(ran.stderr, ran.returncode)
    return Ran(ran.stdout, ran.stderr, ran.returncode)


def run_program(words_of_program: Sequence[Any], options: Mapping[str, Any]) -> Ran:
    """The program's output and ours pass through as they come."""
    with Words() as words:
        saved = words.new_file(".json")
        typed = ["run", *words.of_options(options), f"--output={saved}", "--", *map(os.fspath, words_of_program)]
        said = ""
        with subprocess.Popen([program(), *typed], stderr=subprocess.PIPE, encoding="utf-8", errors="replace") as ran:
            for line in ran.stderr or ():
                sys.stderr.write(line)
                said += line
        if not os.path.exists(saved):
            raise error_of(said, ran.returncode)
        with open(saved, encoding="utf-8") as file:
            return Ran(file.read(), said, ran.returncode)


def error_of(said: str, code: int) -> Error:
    sentence = f"\n{said}".rpartition("\ncoalprof: ")[2].strip() or f"the program ended with {code} and said nothing"
    text, _, hint = sentence.partition("\nhint: ")
    return (UsageError if code == 2 else Error)(text, hint, code)
