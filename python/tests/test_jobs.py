"""Job files from Python."""
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

import runner
from runner.jobs import program

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/x"
[output]
file = "out.h5"
[run]
backend = "cpu"
chunk_rows = 5
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.25, 0.5, 0.25]
'''


@pytest.fixture(name="job")
def make_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with h5py.File("in.h5", "w") as file:
        file["x"] = np.random.default_rng(3).random((50, 60))
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path / "job.toml"


def test_plan(job):
    plan = runner.plan(job, ranks=2, set={"run.lanes": 2})
    assert plan.dict()["ranks"][1]["rows"] == [25, 50]
    assert plan.dict()["lanes"] == 2 and plan.disk_bytes == 50 * 60 * 8
    assert plan.host_bytes > 0 and plan.device_bytes == 0
    assert "chunks of 5 rows" in plan.text()


def test_run(job):
    report = runner.run(job)
    assert "ranks" in report
    with h5py.File("in.h5") as source, h5py.File("out.h5") as made:
        x = source["x"][...]
        assert made["x"][...].tobytes() == runner.convolve(
            x, [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]).tobytes()
    assert runner.run(job) == {}  # complete already


def test_errors(job):
    with pytest.raises(runner.JobError) as error:
        runner.plan(job, set={"run.lanes": 0})
    assert error.value.code == 2 and "lanes" in str(error.value)
    with pytest.raises(runner.InputError) as error:
        runner.run(job, set={"input.dataset": "/y"})
    assert error.value.code == 3 and "/y" in str(error.value)
    with pytest.raises(runner.JobError) as error:
        runner.plan(job.with_name("none.toml"))
    assert error.value.what == "cannot read the job file"
    assert error.value.where.endswith("none.toml")


def test_the_program_is_a_module():
    made = subprocess.run([sys.executable, "-m", "runner", "keys", "median"], capture_output=True, text=True, check=True)
    direct = subprocess.run([program(), "keys", "median"], capture_output=True, text=True, check=True)
    assert made.stdout == direct.stdout and "boundary" in made.stdout
    wrong = subprocess.run([sys.executable, "-m", "runner", "medain"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "did you mean median?" in wrong.stderr
    gone = subprocess.run([sys.executable, "-m", "runner"], capture_output=True, text=True,
                          env={**os.environ, "RUNNER_PROGRAM": "/none/runner"})
    assert gone.returncode == 1 and "cannot start the program (/none/runner)" in gone.stderr


def test_names():
    """What a person sees after `runner.` and a key for completion."""
    assert {name for name in dir(runner) if not name.startswith("_")} == set(runner.__all__) - {"__version__"}
