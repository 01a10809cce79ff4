"""Holds the JSON that coalprof prints against docs/coalprof.schema.json.

A module for the tests of the command line, not a test itself:

    from validate_json import check_document, check_lines
    result = check_document(stdout)   # --json, and lists such as `coalprof patterns --json`
    points = check_lines(stdout)      # --jsonl, whose last line is no point

Both take text or bytes, answer what they parsed and raise AssertionError with every violation and
its place. Run as a program, it checks the files named on its command line.
"""

import json
import os
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

_SOURCE = pathlib.Path(os.environ.get("COALPROF_SOURCE", pathlib.Path(__file__).parents[2]))
SCHEMA = json.loads((_SOURCE / "docs" / "coalprof.schema.json").read_text(encoding="utf-8"))
_DOCUMENT = jsonschema.Draft202012Validator(SCHEMA)


def _part(name):
    return jsonschema.Draft202012Validator(
        {"$schema": SCHEMA["$schema"], "$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})


_LINE = _part("line")
_LAST_LINE = _part("last_line")


def _no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice in {keys}"
    return dict(pairs)


def _no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def parse(text):
    """Strict JSON: valid UTF-8, no key twice, no NaN."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)


def _reasons_match(point, where):
    """A reading is null exactly where `unavailable` says why."""
    nulls = set()
    for side in ("predicted", "measured"):
        readings = point.get(side) or {}
        nulls |= {key for key, value in readings.items() if value is None}
    reasons = set(point.get("unavailable", {}))
    if nulls == reasons:
        return []
    return [f"{where}: null {sorted(nulls)}, but unavailable {sorted(reasons)}"]


def _check(validator, value, points):
    found = [
        f"/{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in validator.iter_errors(value)
    ]
    for number, point in enumerate(points):
        found += _reasons_match(point, f"point {number}")
    assert not found, "\n".join(found[:20])
    return value


def check_document(text):
    value = parse(text)
    return _check(_DOCUMENT, value, value.get("points", []))


def check_lines(text):
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    assert text.endswith("\n"), "the last line is not finished"
    *points, last = [parse(line) for line in text.split("\n")[:-1]]
    _check(_LAST_LINE, last, [])
    assert "meta" in (points or [last])[0], "the first line has no head"
    return [_check(_LINE, line, [line]) for line in points]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        content = pathlib.Path(name).read_bytes()
        (check_lines if name.endswith((".jsonl", ".ndjson")) else check_document)(content)
        print(f"{name}: valid")
