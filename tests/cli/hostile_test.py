"""Whatever text a result holds, no output lets it act: no control character reaches a terminal, no text begins a
line of its own, as a CI service reads commands there, and JSON says the same text as before.

Every string of a result that holds every part a result can have is made hostile, one after the other and all at
once, its names of members as well, and shown in every format.
"""
import copy
import json
import os
import tempfile
import unicodedata
import unittest

import harness
from harness import Case

# What a terminal obeys, hides or reorders: C0, DEL, C1, separators, marks of direction; and two services' commands.
HOSTILE = "::error::A\n::error::B\r##[error]C\x1b[31mD\x07E\x7fF\x85G\x9b31mH\u2028I\u202eJ\u200bK\tL\ufeff\U000e0041\n# EOF\nM|N"
FORMATS = {"table": "txt", "text": "log", "json": "json", "jsonl": "jsonl", "csv": "csv", "md": "md", "openmetrics": "prom",
           "svg": "svg", "html": "html"}
FREE = []  # strings of everything() that may be anything
GATE_FORMATS = ("text", "json", "junit", "github")


def golden(name):
    with open(os.path.join(harness.SOURCE, "tests", "data", "golden", name), encoding="utf-8") as file:
        return json.load(file)


def everything():
    """A result with every part that a sweep and `coalprof run --lines` can have."""
    result = golden("verdicts.json")
    result["points"] = golden("measured.json")["points"][:2] + golden("estimated.json")["points"][:2]
    for i, point in enumerate(result["points"]):
        point["name"] += f" of {i}"
        point["parameters"]["device"] = i % 2
        point["unavailable"]["load_tag_wavefronts"] = "nobody knows"
        point["predicted"]["load_tag_wavefronts"] = None
    first = result["points"][0]
    first["failure"] = "it was not launched"
    first["parameters"].update({"line": "a.cu:1", "kernel": "scale", "source_file": "/nonexistent/a.cu", "code": "PTX"})
    first["launch"] = {"architecture": "sm_90", "grid_blocks": 1, "block_threads": 32, "registers": 8, "local_bytes": 0,
                       "shared_bytes": 0, "blocks_per_multiprocessor": 1, "occupancy": 0.5, "carveout_percent": None,
                       "l2_fetch_bytes": None}
    first["instructions"] = [
        {"array": name, "op": "load", "type": "f32", "index": "i", "predicted": {"load_requests": 1, "load_lines": None},
         "unavailable": {"load_lines": "nobody knows"}} for name in ("a", "b")]
    meta = result["meta"]
    meta["environment"] = {"LD_PRELOAD": "/nonexistent/x.so"}
    meta["machine"].update({"evidence": "rules measured", "family": "Hopper", "new": "of a later version"})
    meta["device"].update({"uuid": "GPU-1", "pci_bus_id": "0:1", "new": "of a later version"})
    result["sweep"].update({"formula": "a[i]", "file": "f.json", "variant": "naive", "cache": "cold",
                            "dlcm": "ca", "formula.one": "a[i + 1]", "new": "of a later version"})
    result["findings"] = [{"point": first["name"], "cause": "strided", "text": "Wasted.", "fix": "Mend it.",
                           "like": "stride --at 3", "saves_seconds": 0.5, "saves_interval_seconds": [0, 1]}]
    result["warnings"] += [{"code": "W-NEW", "point": first["name"], "text": "Look."}]
    return result


def strings_of(node, path=()):
    """Paths of every string and of every name of a member below `node`."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key), True
            yield from strings_of(value, (*path, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from strings_of(value, (*path, i))
    elif isinstance(node, str):
        yield path, False


def with_hostile(result, paths):
    """A copy whose strings of these paths are hostile; each says which it is. Names go last, the deepest first."""
    changed = copy.deepcopy(result)
    for path, is_name in sorted(paths, key=lambda one: (one[1], -len(one[0]))):
        holder = changed
        for step in path[:-1]:
            holder = holder[step]
        text = f"{HOSTILE} {'/'.join(map(str, path))}"
        if is_name:
            holder[text] = holder.pop(path[-1])
        else:
            holder[path[-1]] = text
    return changed


def is_obeyed(c):
    return c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")


class Hostile(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def require_harmless(self, shown, what):
        text = shown.decode("utf-8")  # raises where it is none
        self.assertEqual(sorted({c for c in text if is_obeyed(c)}), [], what)
        if what.startswith("html"):
            return  # its script and style are ours, and its text is JSON
        for line in text.split("\n"):
            # A service skips blanks.
            self.assertFalse(line.lstrip().startswith(("::", "##[", "M|N")), f"{what}: {line[:80]!r}")

    def save(self, result):
        path = os.path.join(self.folder, "result.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file)
        return path

    def free_strings(self):
        """Of a whole result: not the words of a few that a reader must know, as the schema, the status, keys of counters."""
        if not FREE:
            for one in strings_of(everything()):
                changed = with_hostile(everything(), [one])
                if harness.run("report", self.save(changed), "--json").code == harness.DONE:
                    FREE.append(one)
        return FREE

    def hostile_values(self):
        return with_hostile(everything(), [one for one in self.free_strings() if not one[1]])

    def shown_everywhere(self, result, what):
        files = {name: os.path.join(self.folder, f"shown.{suffix}") for name, suffix in FORMATS.items()}
        saved = self.save(result)
        ran = self.run_ok("report", saved, *(word for file in files.values() for word in ("-o", file)))
        self.require_harmless(ran.out, f"standard output of {what}")
        self.require_harmless(ran.err, f"standard error of {what}")
        for name, file in files.items():
            with open(file, "rb") as shown:
                self.require_harmless(shown.read(), f"{name} of {what}")
        return files

    def told_beside(self, result):
        """Formats that tell no warnings send them to standard error."""
        for name in ("jsonl", "csv", "openmetrics", "svg"):
            ran = self.run_ok("report", self.save(result), "--format", name)
            self.assertIn(b"warning", ran.err)
            self.require_harmless(ran.err, f"warnings beside {name}")

    def test_every_string_alone(self):
        self.assertGreater(len(self.free_strings()), 80)
        for one in [] if harness.IS_SANITIZED else self.free_strings():
            self.shown_everywhere(with_hostile(everything(), [one]), one)

    def test_all_strings_at_once(self):
        result = everything()
        values = [one for one in self.free_strings() if not one[1]]
        names = [one for one in self.free_strings()
                 if one[1] and set(one[0][:-1]) & {"parameters", "sweep", "environment", "scope"}]
        for paths in (values, values + names):
            changed = with_hostile(result, paths)
            files = self.shown_everywhere(changed, "all")
            self.told_beside(changed)
            with open(files["json"], encoding="utf-8") as file:
                again = json.load(file)
            self.assertEqual(again["warnings"], changed["warnings"])
            self.assertEqual(again["findings"], changed["findings"])
            self.assertEqual([one["name"] for one in again["points"]], [one["name"] for one in changed["points"]])
            self.assertEqual([one["parameters"] for one in again["points"]],
                             [one["parameters"] for one in changed["points"]])

    def test_what_a_result_is_held_against(self):
        hostile = self.hostile_values()
        worse = copy.deepcopy(hostile)
        for point in worse["points"]:
            point["predicted"]["load_sectors"] = 10 ** 6
            point["predicted"]["store_sectors"] = None
            point["unavailable"]["store_sectors"] = HOSTILE
        del worse["points"][3]
        worse["meta"]["machine"]["name"] += " of another"
        old, new = self.save(hostile), os.path.join(self.folder, HOSTILE.replace("/", "") + ".json")
        with open(new, "w", encoding="utf-8") as file:
            json.dump(worse, file)
        budget = ("--budget", "load_sectors <= 4", "--budget", "store_sectors <= 4", "--budget", "load_tag_wavefronts <= 4",
                  "--budget", f"load_sectors <= 5 if {HOSTILE[:40]}=*")
        for name in GATE_FORMATS:
            for command in (("compare", old, new, "--across", "all"), ("compare", old, new), ("check", new, *budget[:6]),
                            ("check", new, *budget)):
                ran = harness.run(*command, "--format", name)
                self.assertIn(ran.code, (harness.FINDING, harness.USAGE, harness.PARTIAL))
                self.require_harmless(ran.err, f"{command[0]}, standard error")
                if name == "github":
                    # Its own marks begin lines, and each begins with the level.
                    for line in ran.out_text.splitlines():
                        self.assertRegex(line, r"^::(error|warning|notice) (file=[^:,]*,(line=\d+,)?)?title=coalprof (compare|check)::")
                        self.require_harmless(line[2:].encode(), name)
                else:
                    self.require_harmless(ran.out, f"{command[0]} as {name}")

    def test_shards_that_are_merged(self):
        saved = self.save(self.hostile_values())
        for format_ in FORMATS:
            ran = harness.run("merge", saved, "--partial", "--format", format_)
            self.require_harmless(ran.out, f"merge as {format_}")
            self.require_harmless(ran.err, "merge, standard error")


if __name__ == "__main__":
    harness.main()
