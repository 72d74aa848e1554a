"""Ranks that the program starts itself.

`runner -n 3` makes the bytes that one rank and mpirun make; its exit codes are the job's, and each
message is printed once.
"""
import json
import os
import pathlib
import shutil
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import attempt, call, launch, programs

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


def made(output):
    with h5py.File(output) as file:
        return file["a"][...].tobytes()


def write_job(name):
    pathlib.Path(name + ".toml").write_text(JOB.format(output=name + ".h5"))


@pytest.fixture(name="right", autouse=True)
def made_by_one_rank(folder):
    with h5py.File("in.h5", "w") as file:
        file["a"] = np.random.default_rng(1).random((211, 97), dtype=np.float32)
    write_job("one")
    call("one.toml")
    return made("one.h5")


def expect(done, code, text):
    """The exit code, and the text once on standard error."""
    assert done.returncode == code and done.stderr.count(text) == 1, done


WAYS = {"own": (1, ["-n", "3", "made.toml"], "runner", 3), "mpirun": (3, ["made.toml"], "mpirun", 3),
        "both": (2, ["run", "made.toml", "-n", "2"], "mpirun", 2)}


@pytest.mark.parametrize("way", WAYS)
def test_same_bytes(right, way):
    ranks, words, launcher, count = WAYS[way]
    write_job("made")
    call(*words, "--report", "report.json", ranks=ranks)
    assert made("made.h5") == right
    report = json.loads(pathlib.Path("report.json").read_text())
    assert (report["launcher"], len(report["ranks"])) == (launcher, count)


def test_messages_come_once():
    write_job("own")
    call("-n", "3", "own.toml")
    expect(attempt("own.toml", "-n", "2"), 0, "own.h5 is complete already")
    expect(attempt("-n", "3", "own.toml", before=launch(2)), 6, "mpirun has started 2, and -n asks for 3")
    expect(attempt("-n", "2", "missing.toml"), 2, "runner: error: ")
    expect(attempt("-n", "0", "own.toml"), 2, "-n is an integer of at least 1")
    expect(attempt("-n", "2", "own.toml", env={"PATH": "/nowhere"}), 6, "cannot start the ranks (mpirun): ")


def test_batch(right):
    pathlib.Path("b.toml").write_text(
        JOB.format(output="x").replace('file = "in.h5"\n', "").replace('[output]\nfile = "x"\n', "") +
        '[batch]\ninputs = ["in.h5"]\noutput = "batch/{stem}.h5"\n')
    os.mkdir("batch")
    call("batch", "-n", "2", "b.toml")
    assert made("batch/in.h5") == right


def test_in_an_allocation_of_slurm_without_srun(right):
    """As in a container: Open MPI would start the ranks by srun, which is not there, nor is ssh."""
    os.mkdir("bin")
    os.symlink(shutil.which("mpirun"), "bin/mpirun")
    write_job("made")
    slurm = {"SLURM_JOB_ID": "7", "SLURM_JOBID": "7", "SLURM_NTASKS": "4", "SLURM_NNODES": "1",
             "SLURM_NODELIST": "n1", "SLURM_JOB_NODELIST": "n1", "SLURM_TASKS_PER_NODE": "4"}
    done = attempt("-n", "2", "made.toml", env={"PATH": os.path.abspath("bin"), **slurm})
    assert done.returncode == 0, done
    assert made("made.h5") == right


def test_with_an_open_mpi_beside_it(right):
    """As a wheel has it: no mpirun is on the PATH, and the folders of the host's are not asked."""
    host = pathlib.Path("/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3")
    own = pathlib.Path("tree/openmpi")
    for folder in ("tree/bin", own / "bin", own / "lib", own / "share"):
        os.makedirs(folder)
    shutil.copy(programs.runner, "tree/bin/runner")
    shutil.copy(os.path.realpath(shutil.which("mpirun")), own / "bin/mpirun")
    os.symlink(host, own / "lib/openmpi")
    os.symlink("/usr/share/openmpi", own / "share/openmpi")
    write_job("made")
    done = subprocess.run(["tree/bin/runner", "-n", "2", "made.toml", "--report", "report.json"],
                          timeout=GUARD, capture_output=True, text=True,
                          env={**os.environ, "PATH": "/nowhere", "OPAL_PREFIX": "/nowhere"})
    assert done.returncode == 0, done
    assert made("made.h5") == right
    report = json.loads(pathlib.Path("report.json").read_text())
    assert (report["launcher"], len(report["ranks"])) == ("runner", 2)


def test_launcher_of_another_mpi():
    """Each of its processes would take itself for the only one."""
    write_job("other")
    ranks = {**os.environ, "PMI_RANK": "0", "PMI_SIZE": "2"}
    expect(attempt("other.toml", env=ranks), 6, "the launcher and the program use different MPI libraries")
    assert not os.path.exists("other.h5")
