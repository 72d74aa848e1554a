"""Where the program is. Imports nothing that takes time: the command `runner` waits for it."""
from __future__ import annotations

import os


def program() -> str:
    """The path of the program: $RUNNER_PROGRAM, or the one that is installed with the package."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "runner")
    return os.environ.get("RUNNER_PROGRAM", own)
