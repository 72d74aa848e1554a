"""What steps count: elements that `median` replaces and that `rescale` clips.

The counts of the report and of the output are those of numpy and scipy for any ranks, chunks and lanes, in pipelines
whose later steps need halos or drop rows, in colour, with invalid elements, and of runs that were killed and resumed.
A count that a resumed run does not make again, since that would take too long, has a name that says so.
"""
import json
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import call, generator, launch, programs
from kind_rules import medians, percentile

CUTS = [(1, ""), (1, "chunk_rows = 7\nlanes = 1\n"), (3, "chunk_rows = 5\n"), (2, "chunk_rows = 60\nlanes = 2\n")]


def write(array, **attributes):
    with h5py.File("i.h5", "w") as file:
        file.create_dataset("x", data=array).attrs.update(attributes)


def write_job(steps, run="", more=""):
    pathlib.Path("j.toml").write_text(
        f'{steps if isinstance(steps, str) else ""}[input]\nfile = "i.h5"\n{more}\n'
        f'[output]\nfile = "o.h5"\noverwrite = true\n[run]\nbackend = "{programs.backend}"\n{run}'
        + ("" if isinstance(steps, str) else "".join(f"[[step]]\n{step}\n" for step in steps)))


def counts_of(steps, run="", ranks=1, more="", words=()):
    """Those of the report, which the output has too."""
    write_job(steps, run, more)
    call("j.toml", "--quiet", "--report", "r.json", *words, ranks=ranks)
    counts = json.loads(pathlib.Path("r.json").read_text())["counts"]
    with h5py.File("o.h5") as file:
        stored = file.attrs.get("counts", "")
    assert stored == "".join(f"{name} = {value}\n" for name, value in counts.items())
    return counts


def made():
    with h5py.File("o.h5") as file:
        return file["x"][...]


def frames(random, dtype="uint16", shape=None):
    """Smooth frames with outliers."""
    shape = shape or (int(random.integers(1, 5)), int(random.integers(9, 40)), int(random.integers(3, 50)))
    values = 1000 + random.integers(-60, 61, shape)
    struck = random.random(shape) < 0.03
    return np.where(struck, random.integers(0, 3000, shape), values).astype(dtype)


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["uint16", "int32", "float32"])
@pytest.mark.parametrize("size", [[3, 3], [3, 5, 3], [7, 7]], ids=str)
def test_median(dtype, size):
    random = generator("median", dtype, size)
    array = frames(random, dtype)
    write(array)
    side, boundary = random.choice(["both", "above", "below"]), random.choice(["reflect", "wrap"])
    difference = int(random.integers(20, 200))
    keys = f'kind = "median"\nsize = {size}\ndifference = {difference}\nside = "{side}"\nboundary = "{boundary}"'
    right = medians(array, size, str(boundary), 0, difference, str(side))
    expected = int((right != array).sum())
    for ranks, run in CUTS:
        assert counts_of([keys], run, ranks) == {"step_1.replaced_values": expected}, (ranks, run, keys)
        assert (made() == right).all()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "float32", "float64"])
def test_rescale(dtype):
    random = generator("rescale", dtype)
    array = frames(random, dtype)
    if dtype[0] == "f":
        array.flat[random.integers(0, array.size, 3)] = [np.nan, np.inf, -np.inf]
    write(array)
    low, high = sorted(map(float, np.round(random.uniform(0, 1500, 2), 2)))
    value = array.astype("float64")
    expected = int(((value < low) | (value > high)).sum())
    for ranks, run in CUTS:
        assert counts_of([f'kind = "rescale"\ndtype = "uint8"\nfrom = [{low}, {high}]'], run, ranks) \
            == {"step_1.clipped_values": expected}, (ranks, run, low, high)
    if dtype[0] != "f":
        low, high = percentile(array, "5"), percentile(array, "90")
        counts = counts_of(['kind = "rescale"\nfrom = { percentiles = [5, 90] }'], ranks=2)
        assert counts == {"step_1.clipped_values": int(((array < low) | (array > high)).sum())}
        assert counts_of(['kind = "rescale"\nfrom = "extremes"']) == {}


def test_a_median_without_a_difference_counts_nothing():
    write(frames(generator("none")))
    assert counts_of(['kind = "median"\nsize = [3, 3]']) == {}


@pytest.mark.parametrize("last", ["halo", "dropped rows"])
def test_rows_between_chunks_count_once(last):
    """Steps behind need rows of the next chunk, or drop rows that were counted."""
    random = generator("between", last)
    array = frames(random, shape=(2, int(random.integers(20, 60)), 31))
    write(array)
    steps = ['kind = "median"\nsize = [3, 3]\ndifference = 100',
             'kind = "convolve"\nsigma = 1.5\nboundary = "wrap"' if last == "halo" else
             'kind = "bin"\nfactors = [7, 1]\nedge = "drop"',
             'kind = "rescale"\nfrom = [950, 1010]\ndtype = "uint8"',
             'kind = "convolve"\nsigma = 1.0']
    replaced = int((medians(array, [3, 3], "reflect", 0, 100) != array).sum())
    counts_of(steps[:2])
    between = made()
    expected = {"step_1.replaced_values": replaced,
                "step_3.clipped_values": int(((between < 950) | (between > 1010)).sum())}
    for ranks, run in CUTS:
        assert counts_of(steps, run, ranks) == expected, (ranks, run)


def test_colour():
    random = generator("colour")
    array = frames(random, shape=(int(random.integers(9, 40)), 17, 3))
    write(array)
    steps = ['kind = "median"\nsize = [3, 3]\ndifference = 100', 'kind = "rescale"\nfrom = [950, 1010]\ndtype = "uint8"']
    right = np.stack([medians(array[..., c], [3, 3], "reflect", 0, 100) for c in range(3)], -1)
    expected = {"step_1.replaced_values": int((right != array).sum()),
                "step_2.clipped_values": int(((right < 950) | (right > 1010)).sum())}
    for ranks, run in CUTS:
        assert counts_of(steps, run, ranks, "colour = true") == expected, (ranks, run)


@pytest.mark.parametrize("dtype", ["int16", "float32"])
def test_invalid_elements_are_not_counted(dtype):
    random = generator("invalid", dtype)
    array = frames(random, dtype)
    lost = random.random(array.shape) < 0.1
    array[lost] = -7
    write(array)
    steps = ['kind = "median"\nsize = [3, 3]\ndifference = 100', 'kind = "rescale"\nfrom = [950, 1010]']
    counts_of(steps[:1], more="invalid = -7")
    right = made()
    expected = {"step_1.replaced_values": int((right != array)[~lost].sum()),
                "step_2.clipped_values": int(((right < 950) | (right > 1010))[~lost].sum())}
    for ranks, run in CUTS:
        assert counts_of(steps, run, ranks, "invalid = -7") == expected, (ranks, run)


def killed(steps, faults, run="chunk_rows = 9\nlanes = 1\ncommit_seconds = 0\n"):
    """Runs that are killed at writes, and the counts of the one that completes the output."""
    write_job(steps, run)
    for ranks, fault in faults:
        done = subprocess.run([*launch(ranks), "env", f"LD_PRELOAD={programs.fault_shim}", f"FAULT={fault}",
                               programs.runner, "j.toml", "--quiet"], capture_output=True, timeout=GUARD)
        assert done.returncode not in (0, 75), done
    counts = counts_of(steps, run, ranks=2)
    report = json.loads(pathlib.Path("r.json").read_text())
    assert report["rows_before"] > 0
    return counts


FAULTS = [(1, "pwrite:delay=20000@*:o.h5.partial;pwrite:kill@9:o.h5.partial"), (3, "pwrite:kill@2:o.h5.partial")]


def test_rows_of_earlier_runs_are_counted_again():
    random = generator("resumed")
    write(frames(random, shape=(3, 101, 23)))
    steps = ['kind = "median"\nsize = [3, 3]\ndifference = 100', 'kind = "convolve"\nsigma = 1.0',
             'kind = "rescale"\nfrom = [950, 1010]\ndtype = "uint8"']
    expected = counts_of(steps)
    pathlib.Path("o.h5").unlink()
    assert killed(steps, FAULTS) == expected


def test_what_would_take_too_long_counts_the_last_run():
    random = generator("too long")
    write(frames(random, shape=(3, 101, 23)))
    steps = ['kind = "median"\nsize = [3, 3]\ndifference = 100',
             'kind = "denoise"\nmethod = "nlm"\nsigma = 30.0\nwindow = [1, 15, 15]\npatch = [1, 5, 5]',
             'kind = "rescale"\nfrom = [1000, 1001]\ndtype = "uint8"']
    whole = counts_of(steps)
    assert list(whole) == ["step_1.replaced_values", "step_3.clipped_values"]
    pathlib.Path("o.h5").unlink()
    counts = killed(steps, FAULTS)
    assert list(counts) == ["step_1.replaced_values", "step_3.clipped_values_of_last_run"]
    assert counts["step_1.replaced_values"] == whole["step_1.replaced_values"]
    assert 0 <= counts["step_3.clipped_values_of_last_run"] < whole["step_3.clipped_values"]
