"""Ranks that the program starts itself: own_launch.py RUNNER MPIEXEC.

`runner -n 3` makes the bytes that one rank and mpirun make; its exit codes are the job's, and each
message is printed once.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from events import GUARD

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/a"
[output]
file = "{output}"
[run]
backend = "cpu"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.5, 0.25, 0.25]
'''


def call(*command, env=None):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=GUARD, env=env)


def made(output):
    with h5py.File(output) as file:
        return file["a"][...].tobytes()


def check(runner, mpiexec):
    """What is wrong, as lines."""
    wrong = []

    def expect(name, done, code, *texts):
        if done.returncode != code:
            wrong.append(f"{name}: exit {done.returncode}, not {code}: {done.stderr[-800:]}")
        for text in texts:
            if done.stderr.count(text) != 1:
                wrong.append(f"{name}: {done.stderr.count(text)} times {text!r}: {done.stderr[-800:]}")

    ways = {
        "one": (runner, "one.toml"),
        "own": (runner, "-n", "3", "own.toml", "--report", "own.json"),
        "mpi": (mpiexec, "-n", "3", "--oversubscribe", "--allow-run-as-root", runner, "mpi.toml",
                "--report", "mpi.json"),
        "both": (mpiexec, "-n", "2", "--oversubscribe", "--allow-run-as-root", runner, "run",
                 "both.toml", "-n", "2"),
    }
    for name, command in ways.items():
        pathlib.Path(name + ".toml").write_text(JOB.format(output=name + ".h5"))
        expect(name, call(*command), 0)
        if made(name + ".h5") != made("one.h5"):
            wrong.append(f"{name}: other bytes than one rank's")
    for name, launcher in {"own": "runner", "mpi": "mpirun"}.items():
        report = json.loads(pathlib.Path(name + ".json").read_text())
        if (report["launcher"], len(report["ranks"])) != (launcher, 3):
            wrong.append(f"{name}: {report['launcher']} with {len(report['ranks'])} ranks")

    expect("again", call(runner, "own.toml", "-n", "2"), 0, "own.h5 is complete already")
    expect("other", call(mpiexec, "-n", "2", "--oversubscribe", "--allow-run-as-root", runner, "-n",
                         "3", "own.toml"), 6, "mpirun has started 2, and -n asks for 3")
    expect("missing", call(runner, "-n", "2", "missing.toml"), 2, "runner: error: ")
    expect("none", call(runner, "-n", "0", "own.toml"), 2, "-n is an integer of at least 1")
    expect("path", call(runner, "-n", "2", "own.toml", env={"PATH": "/nowhere"}), 6,
           "cannot start the ranks (mpirun): ")
    pathlib.Path("b.toml").write_text(
        JOB.format(output="x").replace('file = "in.h5"\n', "").replace('[output]\nfile = "x"\n', "") +
        '[batch]\ninputs = ["in.h5"]\noutput = "batch/{stem}.h5"\n')
    os.mkdir("batch")
    expect("batch", call(runner, "batch", "-n", "2", "b.toml"), 0)
    if made("batch/in.h5") != made("one.h5"):
        wrong.append("batch: other bytes than one rank's")
    return wrong


def main():
    runner, mpiexec = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with h5py.File("in.h5", "w") as file:
            file["a"] = np.random.default_rng(1).random((211, 97), dtype=np.float32)
        wrong = check(runner, mpiexec)
        os.chdir("/")
    print("\n".join(wrong) or "good")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
