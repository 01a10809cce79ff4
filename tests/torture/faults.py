"""Every call of the system that a run makes fails: once, and from then on, with each error, over old
files and where there are none."""
import errno
import os
import random
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
    "stat": ("EACCES", "EIO", "ENOMEM"),
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
    "linkat": ("EACCES", "ENOENT", "ENOSPC", "EIO"),
    "flock": ("ENOLCK", "EINTR"),
    "ftruncate": ("EIO", "EINVAL", "EINTR"),
    "fdatasync": ("EIO", "ENOSPC"),
    "access": ("EACCES",),
}
ONCE_ONLY = ("EINTR",)
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
    was_refused = len(lost) == len(left.command.whole) and not left.out
    if left.code == harness.OUTPUT and not fault.goes_on and len(lost) > 1 and not was_refused:
        said.append(f"one fault, and not delivered: {lost}")
    return said


def play(library, most=None, allocation_step=13, seed=1):
    """Plays all faults, or `most` of them that `seed` picks. Answers their tally."""
    chance = random.Random(seed)
    tally = runs.Tally()
    with tempfile.TemporaryDirectory() as folder:
        faults = []
        for command in runs.commands():
            runs.learn_whole(folder, command, LD_PRELOAD=library)
            for has_old in (True, False):
                runs.lay_out(folder, command, has_old)
                counts = counted_calls(folder, command, library)
                faults += faults_of(command, has_old, counts, allocation_step, chance.randrange(1000))
        if most is not None and most < len(faults):
            faults = chance.sample(faults, most)
        for fault in faults:
            runs.lay_out(folder, fault.command, fault.has_old)
            left = runs.run(folder, fault.command, LD_PRELOAD=library, COALPROF_FAIL=fault.word())
            tally.add(f"{fault} (COALPROF_FAIL={fault.word()})", left, complaints(fault, left))
    return tally


def preloaded():
    """The library of failing_calls.cpp, as ctest names it; None where there is none."""
    return os.environ.get("COALPROF_FAILING_CALLS") or None
