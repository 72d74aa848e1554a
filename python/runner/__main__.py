"""The program that the package contains: ``python -m runner JOB.toml``, or the command ``runner``."""
from __future__ import annotations

import os
import sys

from ._program import program


def main() -> None:
    """Becomes the program, with this process's arguments."""
    name = program()
    try:
        os.execv(name, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"runner: error: cannot start the program ({name}): {error.strerror}. Install the package "
                 "again, or set RUNNER_PROGRAM")


if __name__ == "__main__":
    main()
