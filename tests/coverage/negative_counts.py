#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts that gcov derives below 0 do not stop scripts/coverage: it leaves them out and reports.

  negative_counts.py CXX

Exit codes: 0, 1 (no report, or no count below 0 that gcovr met).
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# gcov, and then a count below 0 in every file that it wrote.
GCOV = """#!/bin/sh
gcov "$@" || exit
case $1 in --help*) exit ;; esac
sed -i 's/^branch  0 .*/branch  0 taken -1/' ./*.gcov
"""


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in ("durations", "sizes"):
            subprocess.run([sys.argv[1], "-std=c++20", "--coverage", "-I", ROOT, "-c", ROOT / f"base/{source}.cpp",
                            "-o", folder / f"{source}.o"], check=True)
        gcov = folder / "negative_gcov"
        gcov.write_text(GCOV)
        gcov.chmod(0o755)
        found = subprocess.run([ROOT / "scripts/coverage", "report"], capture_output=True, text=True, check=False,
                               env={**os.environ, "BUILD": str(folder), "GCOV": str(gcov)})
    print(found.stdout, found.stderr)
    met = "branch  0 taken -1" in found.stderr
    return 0 if met and found.returncode == 1 and "below the bars" in found.stdout else 1


if __name__ == "__main__":
    sys.exit(main())
