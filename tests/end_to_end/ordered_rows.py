"""Whole rows in another order, behind a step.

A transpose that keeps the last axis is the order in which the next pass reads its rows: what it makes is
stored nowhere, and the output has the bytes of the single jobs through files.
"""
import json
import os
import pathlib

import h5py
import numpy as np
import pytest

from between_passes import PARTS, clear, completes, killed, left
from pipelines import Checks, contents, ends, flip

STEPS = {"rescale": 'kind = "rescale"\nfrom = [0.0, 1.0]\nto = [0.0, 3.0]\n',
         "median": 'kind = "median"\nsize = [3, 3, 1]\n', "stripes": 'kind = "stripes"\nsize = 3\n',
         "denoise": 'kind = "denoise"\nsigma = "auto"\npatch = [1, 1, 2]\nwindow = [3, 3, 5]\ncount = 4\n',
         "blur": 'kind = "convolve"\nrow_taps = [1.0, 2.0, 1.0]\ncolumn_taps = [1.0]\n',
         "bin": 'kind = "bin"\nfactors = [2, 1, 2]\nedge = "partial"\n',
         "turn": 'kind = "transpose"\npermutation = [1, 0, 2]\n',
         "stay": 'kind = "transpose"\npermutation = [0, 1, 2]\n',
         "other": 'kind = "transpose"\npermutation = [2, 1, 0]\n'}
# The steps, and how many passes they are.
# Shapes of the input, ranks and settings.
RUNS = [((9, 40, 30), 3, [*PARTS, "--set", "run.chunk_rows=3"]), ((13, 2, 31), 2, ["--set", "run.chunk_rows=7"]),
        ((1, 17, 4), 1, [])]
CHAINS = [("rescale turn stripes", 2), ("rescale turn median bin", 2), ("rescale stay median", 2),
          ("median turn denoise", 2), ("rescale turn turn median", 3), ("median other rescale", 3),
          ("median turn bin turn median", 3), ("turn median", 2), ("rescale turn", 2)]


@pytest.fixture(name="checks")
def make_checks():
    return Checks()


def write_input(shape=(9, 40, 30)):
    with h5py.File("in.h5", "w") as file:
        data = file.create_dataset("data", data=np.random.default_rng(3).random(shape).astype("float32"))
        data.attrs.update({"units": "counts", "element_size_um": [2.5, 0.5, 0.25]})
        for axis, name in enumerate(["z", "y", "x"][-len(shape):]):
            data.dims[axis].label = name


def write_chain(steps, more=""):
    pathlib.Path("job.toml").write_text(ends("in.h5", "/data", "out.h5") + more +
                                        "".join(f"[[step]]\n{STEPS[step]}" for step in steps))


def described():
    with h5py.File("out.h5") as file:
        return {name: np.asarray(value).tolist() for name, value in file["data"].attrs.items()}


def single(checks, steps):
    """What the steps make one by one through files, and what the last file says of it."""
    source = "in.h5"
    for number, step in enumerate(steps):
        kind, _, keys = STEPS[step].partition("\n")
        table = kind.split('"')[1]
        pathlib.Path("job.toml").write_text(f'{kind}\n' + ends(source, "/data", "out.h5") + f"[{table}]\n{keys}")
        done = checks.job()
        checks.expect(done.returncode == 0, f"{steps}: {done.stderr}")
        source = f"single{number}.h5"
        if number + 1 < len(steps):
            os.replace("out.h5", source)
    made = contents("out.h5"), described()
    clear()
    return made


@pytest.mark.parametrize("steps, passes", CHAINS)
def test_same_bytes(checks, steps, passes):
    steps = steps.split()
    for shape, ranks, more in RUNS:
        write_input(shape)
        values, said = single(checks, steps)
        write_chain(steps)
        done = checks.run("job.toml", "--backend", checks.backend, *more, ranks=ranks)
        what = f"{steps} of {shape} by {ranks} ranks"
        checks.expect(done.returncode == 0 and f"pass {passes} of {passes}" in done.stderr, f"{what}: {done.stderr}")
        checks.expect(contents("out.h5") == values, f"{what}: other bytes")
        checks.expect(described() == said, f"{what}: {described()} instead of {said}")
        checks.expect(left() == [], f"{what}: left {left()}")
        clear()


def test_an_image_gets_an_axis(checks):
    write_input((17, 12))
    values, said = single(checks, ["blur", "turn", "median"])
    write_chain(["blur", "turn", "median"])
    done = checks.run("job.toml", "--backend", checks.backend, "--set", "run.chunk_rows=5")
    checks.expect(done.returncode == 0 and "pass 2 of 2" in done.stderr, done.stderr)
    checks.expect(contents("out.h5") == values and described() == said, f"{described()} instead of {said}")


def test_kills(checks):
    write_input()
    values, _ = single(checks, ["rescale", "turn", "stripes"])
    write_chain(["rescale", "turn", "stripes"])
    for ranks, fault in enumerate(["pwrite:kill@3:pass-1.parts", "mkdir:kill@1:out.h5.journal",
                                   "pwrite:kill@3:out.parts", "pwrite:kill@5:out.parts", "rename:kill@1:out.h5.partial"]):
        killed(checks, fault, *PARTS)
        completes(checks, values, fault, *PARTS, ranks=1 + ranks % 3)
        clear()


def test_plan_and_report(checks):
    write_input()
    write_chain(["rescale", "turn", "stripes", "rescale"])
    said = checks.run("plan", "job.toml").stdout
    checks.expect("ends before step 2: it puts whole rows in another order" in said, said)
    checks.expect("step 2: float32 [9, 40, 30] to float32 [40, 9, 30], as its rows are read" in said, said)
    checks.expect("pass-2" not in said, said)
    done = checks.job("--report", "report.json")
    passes = json.loads(pathlib.Path("report.json").read_text())["passes"]
    steps = {step["step"]: step for step in passes[1]["steps"]}
    checks.expect(list(steps) == ["step 2", "step 3", "step 4"], f"{passes} {done.stderr}")
    checks.expect(steps["step 2"]["bytes"] == 0 and steps["step 3"]["bytes"] > 0 and steps["step 4"]["bytes"] > 0,
                  f"{passes}")


def test_verify_and_repair(checks):
    write_input()
    write_chain(["rescale", "turn", "median"])
    checks.expect(checks.job().returncode == 0, "run")
    values = contents("out.h5")
    done = checks.run("verify", "out.h5", "--recompute", "9")
    checks.expect(done.returncode == 0 and "computed again: 1" in done.stdout and not left(), done.stdout + done.stderr)
    flip("out.h5", "data")
    checks.expect(checks.run("verify", "out.h5").returncode == 7, "a flipped bit is found")
    done = checks.run("repair", "out.h5")
    checks.expect(done.returncode == 0 and contents("out.h5") == values and not left(), done.stdout + done.stderr)


def test_saved_steps(checks):
    """A pass reads a saved file in another order too; a saved order is a file."""
    write_input()
    values, _ = single(checks, ["rescale", "turn", "median"])
    for step, passes in [("rescale", 2), ("turn", 3)]:
        write_chain(["rescale", "turn", "median"])
        job = pathlib.Path("job.toml").read_text().replace(STEPS[step], STEPS[step] + 'save = "kept.h5"\n')
        pathlib.Path("job.toml").write_text(job)
        done = checks.run("job.toml", "--backend", checks.backend)
        checks.expect(done.returncode == 0 and f"pass {passes} of {passes}" in done.stderr, done.stderr)
        checks.expect(contents("out.h5") == values and not left(), f"{step}: other bytes, {left()}")
        for file in ["kept.h5", "out.h5"]:
            done = checks.run("verify", file, "--recompute", "5")
            checks.expect(done.returncode == 0, f"{file}: {done.stdout}{done.stderr}")
        os.unlink("kept.h5")
        clear()
