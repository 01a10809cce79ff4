"""The tables of docs/machines.md and docs/memories.md, made of `coalprof machines --json`.

Each stands in its document between `<!-- machines: NAME -->` and the next blank line. docs_test.py compares
them, and writes them where COALPROF_UPDATE_DOCS is set.
"""
import re

import harness

MARK = re.compile(r"(<!-- machines: (\w+) -->\n\n)(.*?)(?=\n\n|\Z)", re.DOTALL)


def all_rules():
    rows = harness.run("machines", "--json").json["machines"]
    return [row for row in rows if "board" not in row]


def words(values):
    return ", ".join(str(value) for value in values) or "none"


def kib(number):
    return f"{number / 1024:g}"


def splits(row):
    return words(f"{shared}/{l1}" for shared, l1 in zip(row["split_shared_kib"], row["split_l1_kib"]))


def limits(row):
    return (words(row[f"{what}_per_multiprocessor"] for what in ("threads", "blocks")),
            f"{kib(row['registers_per_multiprocessor'])}, {kib(row['registers_per_block'])}",
            f"{row['registers_per_thread']}, {row['register_unit']} by {row['registers_by']}",
            f"{row['warp_unit']}, {row['sub_partitions']}",
            f"{kib(row['shared_bytes_per_multiprocessor'])}, {kib(row['shared_bytes_per_block'])}",
            f"{row['shared_unit_bytes']}, {row['shared_reserved_bytes']}",
            row["barriers"] or "")


# Name: the headings, and what a row says under them.
TABLES = {
    "evidence": (("a result says", "source"), lambda row: (row["evidence"], row["source"])),
    "transactions": (
        ("lanes of a group (≤ 4, 8, 16 bytes each)", "transactions", "loads that L1 keeps", "a miss fetches"),
        lambda row: (words(row["request_lanes"]), row["transactions"], words(row["l1_keeps"]),
                     row["l1_fetch_bytes"] if row["l1_keeps"] else "")),
    "device_memory": (
        ("L2 fetches", "empties it: its size", "sustained fraction", "source"),
        lambda row: (row["l2_fill_bytes"] or "no L2",
                     f"{row['l2_flush_reads']} times" if row["l2_fill_bytes"] else "", row["sustained_fraction"], row["sustained_source"])),
    "abilities": (("beside loads and stores", "blocks of a grid, along x, y, z"),
                  lambda row: (words(row["can"]), words(row["grid_blocks"]))),
    "constant": (("lanes at a time", "an instruction has at most", "source"),
                 lambda row: (row["constant_lanes"], f"{row['constant_widest_bytes']} bytes",
                              row["constant_source"])),
    "splits": (("KiB of shared memory/L1 to choose from",), lambda row: (splits(row),)),
    "limits": (
        ("threads, blocks of a multiprocessor", "Ki registers, of a block", "registers of a thread, unit",
         "warps a unit, partitions", "KiB of shared memory, of a block", "bytes a unit, reserved", "barriers"),
        limits),
    "banks": (
        ("banks", "lanes at a time (≤ 4, 8, 16 bytes each)", "free of conflict", "one row", "passes from"),
        lambda row: (f"{row['shared_banks']} of {row['shared_bank_bytes']} bytes", words(row["shared_lanes"]),
                     row["shared_rule"], f"{row['shared_row_bytes']} bytes", row["shared_source"])),
}


def capabilities(places, rules):
    """"3.0 to 3.5, 5.0" of their places in the list."""
    runs = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return words(" to ".join(dict.fromkeys(rules[end]["compute_capability"] for end in run)) for run in runs)


def table(name, rules):
    """Compute capabilities that say the same share a row."""
    headings, said = TABLES[name]
    together = {}
    for place, row in enumerate(rules):
        together.setdefault(said(row), []).append(place)
    lines = [("compute capability", *headings), ("---",) * (len(headings) + 1)]
    lines += [(capabilities(places, rules), *row) for row, places in together.items()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def renewed(text):
    """The document with its tables as they are now."""
    rules = all_rules()
    return MARK.sub(lambda found: found[1] + table(found[2], rules), text)
