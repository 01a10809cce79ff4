"""Every call of the system that a run makes fails: once, and from then on, with each error, over old
files and where there are none."""
import errno
import json
import os
import random
import subprocess
import tempfile

import runs
from runs import harness

ALLOCATIONS = "malloc"
# What each call may answer. Interruptions for ever are not played: to go on is right.
ERRORS = {
    ALLOCATIONS: ("ENOMEM",),
    "open": ("ENOSPC", "EACCES", "EMFILE", "ENFILE", "EIO", "EROFS", "EINTR"),
    "read": ("EIO", "EINTR", "short", "none"),
    "write": ("ENOSPC", "EIO", "EDQUOT", "EFBIG", "EPIPE", "EINTR", "short", "none"),
    "fsync": ("EIO", "ENOSPC", "EINVAL", "EINTR"),
    "close": ("EIO", "ENOSPC", "EINTR"),
    "rename": ("EXDEV", "EACCES", "EPERM", "EBUSY", "EIO", "ENOSPC"),
    "unlink": ("EACCES", "EIO"),
    "stat": ("EACCES", "EIO", "ELOOP", "ENOMEM"),
    "fstat": ("EIO", "ENOMEM"),
    "lstat": ("EACCES", "EIO", "ENAMETOOLONG"),
    "readlink": ("EIO", "EACCES", "ENOMEM"),
    "realpath": ("EACCES", "ENOMEM", "ENOENT"),
    "fcntl": ("EMFILE", "EBADF"),
    "fchmod": ("EPERM", "EIO"),
    "fchown": ("EPERM", "EIO"),
    "lseek": ("EINVAL",),
    "poll": ("EINTR", "ENOMEM"),
    "getrandom": ("ENOSYS", "EAGAIN", "EINTR"),
    "pthread_create": ("EAGAIN", "EPERM"),
    "flock": ("ENOLCK", "EINTR"),
    "ftruncate": ("EIO", "EINVAL", "EINTR"),
    "fdatasync": ("EIO", "ENOSPC"),
    "access": ("EACCES",),
    "mkdtemp": ("ENOSPC", "EACCES"),
    "posix_spawnp": ("EAGAIN", "ENOMEM", "EACCES"),
    "waitpid": ("EINTR",),
    "fopen64": ("EMFILE", "EACCES"),
    "opendir": ("ENOMEM", "EMFILE"),
    "readdir": ("EIO",),
}
ONCE_ONLY = ("EINTR",)
OLD_OR_NOTHING = {True: runs.OLD, False: None}
SIGNALS = ("signal=2", "signal=15", "signal=9")


class Fault:
    """One call, or all of its kind from one on, and what it answers."""

    def __init__(self, command, has_old, call, number, goes_on, answer):
        self.command, self.has_old, self.call = command, has_old, call
        self.number, self.goes_on, self.answer = number, goes_on, answer

    def word(self):
        answer = getattr(errno, self.answer, self.answer)
        return f"{self.call}:{self.number}{'+' if self.goes_on else ''}:{answer}"

    def __str__(self):
        files = "over old files" if self.has_old else "without old files"
        return (f"{self.command.name} {files}, {self.call} number {self.number}"
                f"{' and all behind it' if self.goes_on else ''}: {self.answer}")


def counted_calls(folder, command, library):
    """{call: how often a run makes it}."""
    with tempfile.NamedTemporaryFile("r", encoding="ascii") as counts:
        runs.run(folder, command, LD_PRELOAD=library, COALPROF_COUNT_TO=counts.name)
        return {name: int(count) for name, count in (line.split() for line in counts)}


def numbers_of(call, count, allocation_step, first):
    """All, but of allocations each allocation_step-th, and the last ones: most are the command
    line's, before the work begins."""
    if call == "waitpid":  # asked as often as there is time to
        return range(1, min(count, 1) + 1)
    if call != ALLOCATIONS:
        return range(1, count + 1)
    last = max(1, count - 400)
    return [*range(1 + first % allocation_step, last, allocation_step), *range(last, count + 1)]


def faults_of(command, has_old, counts, allocation_step, first, calls=tuple(ERRORS)):
    for call in calls:
        answers = ERRORS[call]
        for number in numbers_of(call, counts[call], allocation_step, first):
            for answer in answers:
                yield Fault(command, has_old, call, number, False, answer)
                if answer not in ONCE_ONLY:
                    yield Fault(command, has_old, call, number, True, answer)
            for answer in SIGNALS if call != ALLOCATIONS else ():
                yield Fault(command, has_old, call, number, False, answer)


def allowed_codes(fault):
    if fault.answer.startswith("signal="):
        number = int(fault.answer.partition("=")[2])
        return (-9,) if number == 9 else (harness.DONE, 128 + number)
    if fault.call == ALLOCATIONS or (fault.call, fault.answer) == ("realpath", "ENOMEM"):
        return (harness.DONE, harness.ENVIRONMENT)
    if fault.call == "pthread_create":
        return (harness.DONE,)
    # Inputs that cannot be read are the command line's fault.
    return (harness.DONE, harness.OUTPUT, harness.USAGE)


def complaints(fault, left):
    is_killed = fault.answer == "signal=9"
    if left is not None:
        left.as_of_pipe = fault.call in ("stat", "fstat", "lseek", "read")
    said = runs.complaints(left, fault.has_old, may_litter=is_killed or fault.call == "unlink")
    if left is None:
        return said
    # Whoever reads standard output has left: exit code 0, but the files are whole.
    said_of_reader = f"done, and yet not delivered: {['-']}"
    if fault.answer == "EPIPE" and said_of_reader in said:
        said.remove(said_of_reader)
    if left.code not in allowed_codes(fault):
        said.append(f"exit code {left.code}")
    if left.code in (harness.DONE, -9) or fault.answer.startswith("signal="):
        return said
    # A text that cannot be written cannot be asked for.
    if not left.err.startswith("coalprof: ") and fault.call not in ("write", ALLOCATIONS):
        said.append("it does not say why")
    if left.code == harness.ENVIRONMENT and "out of memory" not in left.err:
        said.append("it does not say that memory is short")
    if "bug of ours" in left.err:
        said.append("it takes the fault for a bug of ours")
    lost = left.undelivered()
    was_refused = not left.out and set(lost) >= {name for name, whole in left.command.whole.items() if whole and name != "-"}
    if left.code == harness.OUTPUT and not fault.goes_on and len(lost) > 1 and not was_refused:
        said.append(f"one fault, and not delivered: {lost}")
    return said


def is_told_in_part(data):
    """Whether a result of `run` says that something is missing; a csv has no word for that."""
    text = data.decode("utf-8", "replace")
    try:
        return json.loads(text)["status"] == "partial" and json.loads(text)["warnings"] != []
    except (ValueError, KeyError):
        return text.startswith("name,") and text.endswith("\n")


def complaints_of_program(fault, left, litter):
    """`litter`: what lies in the folder of temporary files."""
    if left is None:
        return ["it hangs"]
    by_signal = fault.answer.startswith("signal=")
    number = int(fault.answer.partition("=")[2]) if by_signal else 0
    said = []
    has_run = b"theirs\n" in left.out
    failed = (harness.OUTPUT, harness.ENVIRONMENT)
    codes = (left.command.done,) if left.command.done != harness.DONE else (harness.DONE, *failed)
    allowed = ((-9,) if number == 9 else (*codes, 128 + number) if by_signal else codes if has_run else
               (*failed, harness.USAGE, 126, 127))
    if left.code not in allowed:
        said.append(f"exit code {left.code}")
    if not left.inputs_stay:
        said.append("an input has changed")
    old = OLD_OR_NOTHING[fault.has_old]
    for output in left.command.outputs:
        data = left.files.get(output)
        if left.is_whole(output) or number == 9 and data == old:
            continue
        if data == old:
            if has_run and not left.err and fault.call not in ("write", ALLOCATIONS):
                said.append(f"{output} is not there, and nothing says why")
        elif data is None or not is_told_in_part(data):
            said.append(f"{output} is torn: {data and data[-80:]}")
    others = [name for name in left.files if name not in left.command.outputs and name not in left.err]
    if (others or litter) and number != 9 and fault.call != "unlink":
        said.append(f"left lying about: {others + litter}")
    if "bug of ours" in left.err:
        said.append("it takes the fault for a bug of ours")
    return said


def play_fault(folder, fault, library):
    """How the run ended, and what is wrong with that."""
    runs.lay_out(folder, fault.command, fault.has_old)
    with tempfile.TemporaryDirectory() as temporary:
        left = runs.run(folder, fault.command, LD_PRELOAD=library, COALPROF_FAIL=fault.word(), TMPDIR=temporary)
        if fault.command.is_run:
            return left, complaints_of_program(fault, left, os.listdir(temporary))
        return left, complaints(fault, left)


def play(library, most=None, allocation_step=13, seed=1, only=None):
    """Plays all faults, or `most` of them that `seed` picks; `only`: of the commands whose name begins so.
    Answers their tally."""
    chance = random.Random(seed)
    tally = runs.Tally()
    runs.learn_inputs()
    with tempfile.TemporaryDirectory() as folder:
        faults = []
        for command in (*runs.commands(), *runs.commands_of_results()):
            if only and command.name.partition(" ")[0] not in only:
                continue
            runs.learn_whole(folder, command, LD_PRELOAD=library)
            for has_old in (True, False):
                runs.lay_out(folder, command, has_old)
                counts = counted_calls(folder, command, library)
                faults += faults_of(command, has_old, counts, allocation_step, chance.randrange(1000))
        if most is not None and most < len(faults):
            faults = chance.sample(faults, most)
        for fault in faults:
            left, said = play_fault(folder, fault, library)
            tally.add(f"{fault} (COALPROF_FAIL={fault.word()})", left, said)
    return tally


# Not allocations: where memory is short in a program, what it loads is not ready for that.
INSIDE = ("open", "write", "fstat", "read", "close", "readlink", "fopen64", "stat", "access", "realpath")


def play_inside(library, program, most=None, seed=1):
    """The calls of the library that counts inside of a program fail: the program runs on, and its exit code stays."""
    chance = random.Random(seed)
    tally = runs.Tally()
    with tempfile.TemporaryDirectory() as folder:
        def play_one(**variables):
            ran = subprocess.run([program], capture_output=True, check=False, timeout=runs.HANGS_AFTER, env=harness.environment(
                LD_PRELOAD=library, COALPROF_ATTACH_FOLDER=folder, COALPROF_ATTACH_FIRST="5",
                CUDA_INJECTION64_PATH=os.path.dirname(harness.PROGRAM) + "/coalprof_injection.so", **variables))
            return harness.Ran(ran)

        play_one(COALPROF_COUNT_TO=f"{folder}/counts")
        with open(f"{folder}/counts", encoding="ascii") as file:
            counts = {name: int(count) for name, count in (line.split() for line in file)}
        faults = [fault for fault in faults_of(None, False, counts, 1, 0, INSIDE) if not fault.answer.startswith("signal=")]
        for fault in chance.sample(faults, min(most or len(faults), len(faults))):
            ran = play_one(COALPROF_FAIL=fault.word())
            is_itself = (ran.code, ran.out, ran.err) == (7, b"theirs\n", b"")
            tally.add_end(fault.word(), ran.code, [] if is_itself else ["it is not itself"], ran.err_text)
    return tally


def preloaded():
    """The library of failing_calls.cpp, as ctest names it; None where there is none."""
    return os.environ.get("COALPROF_FAILING_CALLS") or None
