"""Values of Python as words of the program's command line, by one rule for all options."""
from __future__ import annotations

import os
from typing import Any, Iterator, Mapping


class Words:
    """Arrays and results are files as long as this is open."""

    def __init__(self) -> None:
        self._folder: Any = None
        self._files = 0

    def __enter__(self) -> Words:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder:
            self._folder.cleanup()

    def new_file(self, suffix: str) -> str:
        import tempfile  # takes as long as all else here
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="coalprof-")
        self._files += 1
        return os.path.join(self._folder.name, f"{self._files}{suffix}")

    def of_options(self, options: Mapping[str, Any]) -> Iterator[str]:
        for name, value in options.items():
            option = f"--{name.replace('_', '-')}=" if len(name) > 1 else f"-{name}"
            if value is True:
                yield option.rstrip("=")
            elif isinstance(value, Mapping):
                yield from (f"{option}{key}={self.of(one, '@')}" for key, one in value.items())
            elif value is not None and value is not False:
                yield from (f"{option}{self.of(one)}" for one in (value if isinstance(value, (list, tuple)) else [value]))

    def of(self, value: Any, mark_of_file: str = "") -> str:
        """One word; `mark_of_file` stands before the name of a file that is written for it."""
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        if isinstance(value, range) and len(value) > 0:  # of which the program includes the last
            return f"{value[0]}..{value[-1]}:{value.step}"
        if isinstance(value, (list, tuple)):
            return ",".join(map(self.of, value))
        if hasattr(value, "save"):
            name = self.new_file(".json")
            value.save(name)
            return name
        try:
            view = memoryview(value)
        except TypeError:
            return str(value)
        if view.ndim == 0:  # a number of NumPy
            return str(value)
        name = self.new_file(".npy")
        with open(name, "wb") as file:
            file.write(npy_header(view) + view.tobytes())
        return mark_of_file + name


def npy_header(view: memoryview) -> bytes:
    """That of NumPy's format 1.0 for these elements, in C's order."""
    order, code = (view.format[0], view.format[1:]) if view.format[0] in "<>=@!" else ("=", view.format)
    kind = "f" if code in "efd" else "i" if code in "bhilqn" else "u" if code in "?BHILQN" else ""
    if not kind:
        raise TypeError(f"cannot hand over elements of type {view.format!r}: integers and floats can be")
    import sys
    is_big = order in ">!" or (order in "=@" and sys.byteorder == "big")
    mark = "|" if view.itemsize == 1 else ">" if is_big else "<"
    header = f"{{'descr': '{mark}{kind}{view.itemsize}', 'fortran_order': False, 'shape': {tuple(view.shape or ())}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
