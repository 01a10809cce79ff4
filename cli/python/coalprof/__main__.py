"""The program itself: `python3 -m coalprof`, and the command `coalprof` of a wheel."""
import os
import sys

from .program import program


def main() -> None:
    path = program()
    os.environ.pop("COALPROF", None)  # it may name this command
    os.execv(path, ["coalprof", *sys.argv[1:]])


if __name__ == "__main__":
    main()
