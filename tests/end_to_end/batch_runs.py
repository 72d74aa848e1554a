"""Batches for the tests beside this file: inputs, runs, and what they have left behind."""
import json
import os
import pathlib
import subprocess

import h5py
import numpy as np

from events import GUARD

JOB = '''kind = "convolve"
[input]
dataset = "/image"
[output]
sync = false
[run]
commit_seconds = 0
[batch]
inputs = ["scans/**/*.h5"]
output = "{folder}/{{dir}}/{{stem}}_{{kind}}.h5"
[convolve]
row_taps = {taps}
column_taps = [0.25, 0.5, 0.25]
boundary = "mirror"
'''


def write_job(folder, taps="[0.25, 0.5, 0.25]", name="job.toml"):
    pathlib.Path(name).write_text(JOB.format(folder=folder, taps=taps))


def write_image(path, shape, seed):
    with h5py.File(path, "w") as file:
        file["image"] = np.random.default_rng(seed).random(shape, dtype=np.float32)


def files(folder, ending):
    """All files in it whose name ends so; folders may go meanwhile."""
    return [pathlib.Path(place, name) for place, _, names in os.walk(folder) for name in names
            if name.endswith(ending)]


def outputs(folder):
    """The elements of each output, by its name."""
    found = {}
    for path in sorted(files(folder, "_convolve.h5")):
        with h5py.File(path) as file:
            found[str(path.relative_to(folder))] = file["image"][...]
    return found


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def marks(folder, ending="_convolve.h5"):
    """By what an output is seen to have been made again: its inode and time."""
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in files(folder, ending)}


def beside(folder, ending="_convolve.h5"):
    """What stands beside outputs, but for the records of .sand files. A lock's file may stay where a
    process was killed, and means nothing."""
    return [str(path) for path in files(folder, "")
            if not path.name.endswith((ending, ".lock", ".sand.identity")) and ".state" not in str(path)]


def events(state):
    """What all logs tell, in the order of time."""
    found = []
    for log in pathlib.Path(state).glob("log-*.jsonl"):
        for line in log.read_bytes().split(b"\n")[:-1]:
            found.append(json.loads(line) | {"log": log.name})
    return sorted(found, key=lambda event: event["time"])


def done_twice(state):
    """Outputs that were begun when they were complete, nothing having changed."""
    complete, twice = set(), []
    for event in events(state):
        if event["event"] == "done":
            complete.add(event["output"])
        elif event["event"] == "started" and event["output"] in complete:
            twice.append(event["output"])
    return twice


def command(runner, *arguments, launch=(), job="job.toml"):
    return [*launch, runner, "batch", job, *arguments]


def batch(runner, *arguments, launch=(), job="job.toml", **environment):
    return subprocess.run(command(runner, *arguments, launch=launch, job=job),
                          capture_output=True, text=True, timeout=GUARD,
                          env=os.environ | environment)


def status(runner, folder):
    done = subprocess.run([runner, "status", folder, "--json"], capture_output=True, text=True,
                          timeout=GUARD)
    return json.loads(done.stdout)
