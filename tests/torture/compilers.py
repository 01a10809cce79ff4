"""`coalprof kernel` with a compiler that does with names what nvcc does, which is to give them to a shell;
and ended by signals while it compiles. What must be true: nothing runs that a name holds, names in the
answer are the user's, the exit code is that of the signal, and neither files nor processes stay."""
import os
import random
import signal
import tempfile
import time

import runs
from runs import harness

SOURCE = '#include "own.h"\n__global__ void k(float* x) { x[threadIdx.x] = 1; }\n'
# A kernel of no parameters that stores; the line is the source's second.
PTX = (".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k(.param .u64 x)\\n{\\n"
       ".reg .b64 %%rd<3>;\\n.loc 1 2 1\\nld.param.u64 %%rd1, [x];\\nst.global.u32 [%%rd1], 1;\\nret;\\n}\\n")
# Each word is read between double quotes by a shell. Words of -Xcompiler reach it without quotes.
COMPILER = f"""#!/bin/sh
for word; do
    case $word in -Xcompiler=*) eval "set -- $word"; word=$1 ;; *) eval "word=\\"$word\\"" ;; esac
    case $before in -o) out=$word ;; esac
    before=$word; printf '%s\\n' "$word"
done >"$SEEN"
{{ printf '{PTX}'; printf '.file 1 "%s"\\n' "$before"; }} >"$out"
cat "$before" >"$SEEN.source"
"""
SLOW = """#!/bin/sh
touch "$TMPDIR/tmpxft_of_nvcc"
sleep 300 & echo $! >"$SEEN"
wait
"""
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NAMES = ["$(touch INJECTED)", "`touch INJECTED`", "-o", "--help", "-Xcompiler", "a;touch INJECTED;b", "a b", "a,b",
         'a"b', 'a";touch INJECTED;"', "a'b", "a\\b", "a\nb", "a\tb", "a|b", "a&b", "a>INJECTED", "$HOME", "%p", "*",
         "::error::a", "\x1b[31m", "é", os.fsdecode(b"\xff\xfe"), "a" * 200]


def any_name(chance):
    pieces = [*NAMES[:-1], "$(", ")", "`", "${IFS}", "!", "#", "~", "\\\n", "{a,b}", "@f"]
    return "".join(chance.choice(pieces) for _ in range(chance.randint(2, 5))).replace("/", "")


def install(folder, compiler):
    os.makedirs(f"{folder}/cuda/bin")
    os.mkdir(f"{folder}/tmp")
    with open(f"{folder}/cuda/bin/nvcc", "w", encoding="ascii") as file:
        file.write(compiler)
    os.chmod(f"{folder}/cuda/bin/nvcc", 0o700)
    return harness.environment(CUDA_HOME=f"{folder}/cuda", TMPDIR=f"{folder}/tmp", SEEN=f"{folder}/seen")


def names_found(folder):
    return [os.path.join(where, name) for where, folders, files in os.walk(folder) for name in (*folders, *files)]


def play_name(tally, name):
    """As a file, as its folder, as a folder of headers and as what a macro stands for."""
    with tempfile.TemporaryDirectory() as folder:
        env = install(folder, COMPILER)
        place = f"{folder}/{name}"
        os.mkdir(place)
        file = f"{place}/{name}.cu"
        with open(file, "w", encoding="ascii") as out:
            out.write(SOURCE)
        macro = ("-D", "M=" + name) if "\n" not in name else ()
        for words, where in (((file,), folder), (("--", f"{name}.cu"), place)):
            left = harness.run("kernel", *(("-I", place, *macro) if len(words) == 1 else ()), "--grid", "1", "--block",
                               "32", "--json", *words, env=env, cwd=where)
            tally.ends[left.code] += 1

            def complain(what, left=left):
                tally.findings.append(f"{name!r}: {what}: {left.err[-300:]}")
            if left.code != harness.DONE:
                complain(f"exit code {left.code}")
                continue
            if any(os.path.basename(one).startswith("INJECTED") for one in names_found(folder)):
                complain("what the name holds was executed")
            with open(f"{folder}/seen.source", encoding="ascii") as seen:
                if seen.read() != SOURCE:
                    complain("another source was compiled")
            lines = [one["parameters"].get("line", "") for one in left.json["points"]]
            if not any(one.endswith(".cu:2") for one in lines) or "source.cu" in str(lines):
                complain(f"lines are those of {lines}")
            if os.listdir(f"{folder}/tmp"):
                complain("files stay")


def play_signal(tally, number, delay):
    with tempfile.TemporaryDirectory() as folder:
        env = install(folder, SLOW)
        with open(f"{folder}/a.cu", "w", encoding="ascii") as out:
            out.write(SOURCE)
        process = runs.subprocess.Popen([harness.PROGRAM, "kernel", f"{folder}/a.cu", "--list"], env=env,
                                        stdout=runs.subprocess.PIPE, stderr=runs.subprocess.PIPE)
        end = time.monotonic() + runs.HANGS_AFTER
        while not (os.path.exists(f"{folder}/seen") and os.path.getsize(f"{folder}/seen")) and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(delay)
        process.send_signal(number)
        _, err = process.communicate(timeout=runs.HANGS_AFTER)
        tally.ends[process.returncode] += 1
        name = runs.signal.Signals(number).name
        if process.returncode != 128 + number:
            tally.findings.append(f"{name}: exit code {process.returncode}: {err[-300:]}")
        if os.listdir(f"{folder}/tmp"):
            tally.findings.append(f"{name}: files of the compiler stay")
        with open(f"{folder}/seen", encoding="ascii") as seen:
            child = int(seen.read())
        while time.monotonic() < end and is_running(child):  # it is killed, and somebody has to notice
            time.sleep(0.005)
        if is_running(child):
            tally.findings.append(f"{name}: a process of the compiler goes on")


def is_running(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def play(count, seed=1):
    chance = random.Random(seed)
    tally = runs.Tally()
    for number in ENDING:
        play_signal(tally, number, chance.uniform(0, 0.1))
    for number in range(count):
        play_name(tally, NAMES[number] if number < len(NAMES) else any_name(chance))
    return tally
