"""coalprof from Python: each function calls the program and gives its result.

    import coalprof
    coalprof.formula("a[i*3]", type="f16", per_thread=[1, 2]).frame()

Keywords are the program's long options: `per_thread=2` is `--per-thread 2`, True is a flag, a list or a range
of Python several values, a dict one NAME=VALUE each (`var={"k": range(1, 33)}`). An array of NumPy, or
whatever has the buffer protocol, is handed over as a file, and so is a result.
"""
from __future__ import annotations

import functools
import os
from typing import Any, Callable, Sequence, Union

from .program import Error, UsageError, call, run_program
from .result import Result, Verdict

__all__ = ["Error", "Result", "UsageError", "Verdict", "check", "compare", "formula", "kernel", "layout", "pattern",
           "run", "text", "warps"]

Path = Union[str, "os.PathLike[str]"]


def pattern(name: str, **options: Any) -> Result:
    """A built-in pattern; coalprof.offset(range=range(33)) is pattern("offset", range=range(33))."""
    return Result(call(name, [], options))


def formula(*expressions: str, **options: Any) -> Result:
    """Index expressions, side by side."""
    return Result(call("formula", expressions, options))


def layout(*layouts: str, **options: Any) -> Result:
    """Layouts of CuTe and Triton: layout("(64,64):(64,1)", type="f16", vector=8, space="shared")."""
    return Result(call("layout", layouts, options))


def kernel(file: Path | None = None, *names: str, **options: Any) -> Result:
    """Kernels executed on the CPU. `file` may also be CUDA or PTX itself, of several lines.

    kernel("saxpy.cu", grid=4096, block=256, arg={"n": 1048576})
    """
    if isinstance(file, str) and "\n" in file:
        return Result(call("kernel", ["-", *names], options, stdin=file))
    return Result(call("kernel", [file, *names] if file else names, options))


def warps(addresses: Any, **options: Any) -> Result:
    """Rows of 32 byte addresses, or with `type` indices of elements: an array, or a file's name."""
    return Result(call("warps", [addresses], options))


def run(program: Sequence[Path], **options: Any) -> Result:
    """Kernels and lines of a CUDA program, counted on the GPU; `code` is the program's exit code."""
    return Result(run_program(program, options))


def check(result: Result | Path, *budgets: str, **options: Any) -> Verdict:
    """check(result, "load_sectors_per_request <= 4"), or with budget_file="budgets.txt"."""
    return Verdict(call("check", [result], {"budget": budgets, **options}))


def compare(old: Result | Path, new: Result | Path, **options: Any) -> Verdict:
    """Two results of the same sweep; not `ok` where something is worse."""
    return Verdict(call("compare", [old, new], options))


def text(command: str, *words: Any, **options: Any) -> str:
    """What any command prints: text("explain", "offset", at=11)."""
    return call(command, words, options, wanted=()).out


@functools.lru_cache(maxsize=None)
def _patterns() -> list[str]:
    return [one["name"] for one in Result(call("patterns", [], {}, wanted=["--json"])).document["patterns"]]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return text("--version").split()[-1]
    command = name.replace("_", "-")
    if name.startswith("_") or command not in _patterns():
        raise AttributeError(f"module 'coalprof' has no attribute '{name}'")
    return functools.partial(pattern, command)
