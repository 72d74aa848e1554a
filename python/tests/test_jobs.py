"""Job files from Python."""
import os
import subprocess
import sys
import types

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


TABLES = {"kind": "convolve", "input": {"file": "in.h5", "dataset": "/x"}, "output": "out.h5",
          "run": {"backend": "cpu", "chunk_rows": 5},
          "convolve": {"row_taps": np.array([0.25, 0.5, 0.25]), "column_taps": (0.25, 0.5, 0.25)}}


def test_a_job_from_values_is_that_of_its_file(job, tmp_path):
    runner.run(job)
    with h5py.File("out.h5") as file:
        wanted = file["x"][...].tobytes()
    made = runner.Job(**TABLES)
    made.save("saved.toml")
    for source, name in ((TABLES, "out"), (made, "out"), (runner.Job("saved.toml"), "saved"), (runner.Job(TABLES), "out")):
        (tmp_path / "out.h5").unlink()
        result = source.run() if isinstance(source, runner.Job) else runner.run(source)
        with h5py.File("out.h5") as file:
            assert file["x"][...].tobytes() == wanted
        assert result.output == "out.h5" and result.dataset == "/x" and result.seconds > 0
        assert result["job"]["name"] == name
    assert runner.plan(TABLES).dict()["chunk_rows"] == made.plan().dict()["chunk_rows"] == 5
    assert runner.Job(**TABLES).run() == {}


def test_steps_and_awkward_names(job, tmp_path):
    name = 'a "b" <i>.h5'
    steps = [dict(kind="bin", factors=[2, 2]), dict(kind="rescale", **{"from": [0, 1]}, dtype="uint8")]
    result = runner.Job(input=dict(file="in.h5", dataset="/x"), output=tmp_path / name, step=steps,
                        run=None).run(set={"run.backend": "cpu"})
    with h5py.File("in.h5") as source, h5py.File(name) as made:
        assert made["x"][...].tobytes() == runner.pipeline(source["x"][...], steps).tobytes()
    page = result._repr_html_()
    assert "&lt;i&gt;.h5" in page and "<i>" not in page and "uint8" in page
    assert "complete already" in runner.Result()._repr_html_()
    assert "<pre>" in runner.Job(TABLES)._repr_html_() and "<pre>" in runner.plan(TABLES)._repr_html_()
    with pytest.raises(TypeError, match="pass a job file"):
        runner.Job()
    with pytest.raises(runner.JobError, match="medain"):
        runner.Job(kind="medain", input="in.h5", output="x.h5").plan()


def test_progress(job, monkeypatch):
    parts = []
    runner.run(job, progress=parts.append)
    assert parts and parts == sorted(parts) and parts[-1] == 1

    class Bar:
        n = 0
        shown = []

        def __init__(self, total, **_):
            assert total == 100

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, more):
            self.n += more
            Bar.shown.append(self.n)

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    runner.run(job, set={"output.overwrite": True, "run.chunk_rows": 3}, progress=True)
    assert Bar.shown[-1] == pytest.approx(100)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm, or pass a callable"):
        runner.run(job, set={"output.overwrite": True}, progress=True)


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


def test_settings_are_a_dict():
    with pytest.raises(TypeError, match="set is a dict"):
        runner.plan("a.toml", set=["run.lanes=2"])
