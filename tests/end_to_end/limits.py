"""Limits of the user, and what is too long to print: each ends with the right code and the limit's name."""
import json
import os
import pathlib
import resource
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import attempt, call, programs

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/data"
[output]
file = "out.h5"
sync = false
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [1.0]
'''

HALF = '''kind = "transpose"
[input]
file = "in.h5"
dataset = "/half"
[output]
file = "half.npy"
[transpose]
permutation = [1, 0]
'''


@pytest.fixture(name="files", autouse=True)
def make_files(folder):
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.ones((60, 40), dtype=np.float32)
    pathlib.Path("job.toml").write_text(JOB)
    os.chmod(os.path.dirname(folder), 0o755)
    os.chmod(folder, 0o777)


def limited(which, most, *arguments, user=None):
    def limit():
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        resource.setrlimit(which, (most, most))
    return subprocess.run([programs.runner, *arguments], preexec_fn=limit, capture_output=True, text=True,
                          timeout=GUARD, check=False)


@pytest.mark.skipif(os.getuid() != 0, reason="root alone becomes a user without other processes")
@pytest.mark.parametrize("most", [1, 2, 3, 4, 6, 8, 10])
def test_threads(most):
    done = limited(resource.RLIMIT_NPROC, most, "job.toml", "--quiet", user=54321)
    if done.returncode == 0:  # it was enough
        assert most > 4
        return
    assert done.returncode == 6, f"exit {done.returncode}\n{done.stderr}"
    assert done.stderr.count("runner: error: ") == 1, done.stderr
    assert "RLIMIT_NPROC" in done.stderr and "defect" not in done.stderr, done.stderr


@pytest.mark.parametrize("arguments", [["job.toml", "--quiet"], ["plan", "job.toml"], ["inspect", "in.h5"],
                                       ["batch", "job.toml"]], ids=" ".join)
def test_address_space(arguments):
    """From too little for the first thread to enough."""
    worked = False
    for mebibytes in [90, 100, 120, 140, 160, 200, 400, 1000, 4000]:
        pathlib.Path("out.h5").unlink(missing_ok=True)
        done = limited(resource.RLIMIT_AS, mebibytes << 20, *arguments)
        if done.returncode == 127 or "error while loading shared libraries" in done.stderr:
            continue  # before the program has begun
        worked = done.returncode in (0, 2)
        assert worked or done.returncode == 6, f"{mebibytes} MiB: exit {done.returncode}\n{done.stderr}"
        assert worked or "RLIMIT_AS" in done.stderr, f"{mebibytes} MiB: {done.stderr}"
    assert worked


def test_long_attribute():
    """The JSON has its beginning and says how much is left out; the text has less."""
    length = 20_000_000
    with h5py.File("in.h5", "a", libver="latest") as file:
        file["data"].attrs["long"] = "é" * (length // 2)
        file["data"].attrs["short"] = "as it is"
    said = call("inspect", "in.h5", "--json").stdout
    assert len(said.encode()) < 200_000
    attributes = json.loads(said)["datasets"][0]["attributes"]
    assert attributes["short"] == "as it is"
    beginning, left_out = attributes["long"].split(" … ")
    assert set(beginning) == {"é"} and left_out == f"({length - 2 * len(beginning)} of {length} bytes left out)"
    assert len(call("inspect", "in.h5").stdout.encode()) < 2000


@pytest.mark.parametrize("arguments, words", [
    (["convert", "in.h5:/data", "new.sand"], ["new.sand, float32"]),
    (["half.toml"], ["half.npy, float16"]),
    (["job.toml", "--set", "run.chunk_rows=2147483647", "--set", 'run.host_memory="1MiB"'],
     ["job.toml, run.host_memory", "2147483647 rows"]),
    (["plan", "job.toml", "--set", "run.chunk_rows=2147483647", "--set", 'run.host_memory="1MiB"'],
     ["job.toml, run.host_memory"])],
    ids=["sand", "npy", "run", "plan"])
def test_message_names_the_file(arguments, words):
    with h5py.File("in.h5", "a") as file:
        file["half"] = np.ones((6, 4), dtype=np.float16)
    pathlib.Path("half.toml").write_text(HALF)
    done = attempt(*arguments)
    assert done.returncode == 2 and all(word in done.stderr for word in words), done.stderr
