"""Denoising does not depend on the unit and the type of the data, nor on regions of one value."""
import json
import subprocess

import h5py
import numpy as np
import pytest

from denoise_runs import make, same, write_job
from harness import Runs
from transpose_runs import write_input

METHODS = [{"method": "nlm"}, {"method": "nlm", "count": "all"}, {"method": "bm4d"}]
SMALL = {"window": (5, 5, 5)}


@pytest.fixture(name="runs")
def make_runs():
    return Runs()


def blocks(shape=(9, 14, 16), noise=5.0):
    """A block of 100 in 0, with noise."""
    clean = np.zeros(shape)
    clean[:, 4:10, 5:12] = 100
    return (clean + np.random.default_rng(4).normal(0, noise, shape)).astype("f4")


def sigma_of_output():
    with h5py.File("out.h5") as file:
        return float(file.attrs["sigma"])


@pytest.mark.parametrize("keys", METHODS, ids=str)
def test_any_unit(runs, keys):
    """An input times a power of two makes the result times it, and sigma too, from 1e-30 to 1e30."""
    volume = blocks()
    given = {"sigma": 5.0} if keys.get("count") == "all" else {"sigma": 5.0, "threshold": 900.0}
    for more in [{}, given]:
        write_input(volume)
        write_job("denoise", {**SMALL, **keys, **more})
        made = make(runs, f"{keys} {more}", ["a"])
        assert made is not None
        sigma = sigma_of_output()
        assert not np.array_equal(made[0], volume)
        for exponent in [-107, -92, -40, -3, 1, 45, 92]:
            write_input(np.ldexp(volume, exponent))
            scaled = {name: value * 2.0**(exponent * (2 if name == "threshold" else 1))
                      for name, value in more.items()}
            write_job("denoise", {**SMALL, **keys, **scaled}, "chunk_rows = 42")
            other = make(runs, f"{keys} {more} times 2^{exponent}", ["a"])
            if other is not None:
                runs.check(same([np.ldexp(made[0], exponent)], other), f"2^{exponent}: other bytes")
                runs.check(sigma_of_output() == np.ldexp(sigma, exponent), f"2^{exponent}: sigma")


def test_a_hot_voxel(runs):
    """One voxel of 1e30 changes no result far from it by more than its noise."""
    volume = blocks()
    for keys in METHODS:
        write_job("denoise", {**SMALL, **keys, "sigma": 5.0})
        write_input(volume)
        right = make(runs, f"{keys} without", ["a"])
        hot = volume.copy()
        hot[0, 0, 0] = 1e12
        write_input(hot)
        made = make(runs, f"{keys} with", ["a"])
        if right is not None and made is not None:
            runs.check(np.isfinite(made[0]).all(), f"{keys}: not finite")
            apart = np.abs(made[0] - right[0])[:, :, 14:].max()
            runs.check(apart < 5, f"{keys}: {apart} off")


@pytest.mark.parametrize("dtype", ["i1", "i2", "u4", "i4", "i8", "u8", "f8"])
def test_every_type(runs, dtype):
    """The bytes of the same numbers as float32; and an output of the input's type has them rounded."""
    volume = np.rint(blocks((5, 8, 9))).astype("i4")
    volume = np.abs(volume) if dtype[0] == "u" else volume
    volume = np.clip(volume, -128, 127) if dtype == "i1" else volume
    for keys in METHODS:
        write_input(volume.astype("f4"))
        write_job("denoise", {**SMALL, **keys})
        right = make(runs, "float32", ["a"])
        write_input(volume.astype(dtype))
        made = make(runs, dtype, ["a"])
        runs.check(right is None or made is None or same(right, made), f"{dtype} {keys}: other bytes")
        name = np.dtype(dtype).name
        write_job("denoise", {**SMALL, **keys}, "", f'dtype = "{name}"')
        own = make(runs, f"{dtype} as itself", ["a"])
        if own is not None and right is not None:
            wanted = right[0].astype("f8")
            if dtype != "f8":
                wanted = np.rint(wanted).clip(-128, 127 if dtype == "i1" else 200)
            runs.check(own[0].dtype == dtype and np.array_equal(own[0].astype("f8"), wanted),
                       f"{dtype} {keys} as itself")


def test_a_float64_beyond_float32(runs):
    volume = blocks((5, 8, 9)).astype("f8")
    volume[1, 2, 3] = 1e39
    write_input(volume)
    write_job("denoise", SMALL)
    done = runs.call()
    assert done.returncode == 3 and "voxel [1, 2, 3]" in done.stderr, done.stderr


@pytest.mark.parametrize("dtype", ["f4", "u2"])
def test_regions_of_one_value(runs, dtype):
    """They say nothing of the noise: sigma is that of the rest, and so is the result there."""
    random = np.random.default_rng(0)
    whole = np.rint(1000 + random.normal(0, 10, (24, 40, 48))).astype(dtype)
    masked = whole.copy()
    masked[:, :, :30] = 0
    for keys in [{"method": "nlm"}, {"method": "bm4d"}]:
        write_input(np.ascontiguousarray(masked[:, :, 30:]))
        write_job("denoise", {**SMALL, **keys})
        assert make(runs, "the rest", ["a"]) is not None
        rest = sigma_of_output()
        write_input(masked)
        made = make(runs, "masked", ["a"], 2)
        assert made is not None
        assert sigma_of_output() == rest and abs(rest / 10 - 1) < 0.05, (rest, sigma_of_output())
        error = np.sqrt(((made[0][:, :, 34:] - 1000.0)**2).mean())
        runs.check(error < 5, f"{keys}: error {error}")


def test_found_is_said_and_reported(runs):
    """Sigma and what it rests on are printed and in the report; a warning where that is little."""
    def run():
        command = [word for word in runs.command(1, ["--report", "r.json"]) if word != "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        with open("r.json", encoding="utf-8") as file:
            return done.stdout + done.stderr, json.load(file)

    volume = np.random.default_rng(1).normal(0, 10, (24, 24, 24)).astype("f4")
    write_input(volume)
    write_job("denoise", SMALL)
    text, report = run()
    line = next(note for note in report["notes"] if "denoise.sigma" in note)
    assert line in text and "13824 of 13824 voxels" in line, (text, line)
    assert "warning" not in text and not report.get("warnings"), text

    volume[:, :, 8:] = 3
    write_input(volume)
    text, report = run()
    assert "4608 of 13824 voxels" in text, text
    assert any("few voxels" in each for each in report["warnings"]), report
    assert text.count("runner: warning") == 1 and "few voxels" in text, text

    write_input(np.full((24, 24, 24), 3, "f4"))
    text, report = run()
    assert any("the noise found is 0" in each for each in report["warnings"]), report
    assert "from 0 of 13824 voxels" in text, text

    write_job("denoise", {**SMALL, "sigma": 10.0})
    text, report = run()
    assert "warning" not in text and not report.get("notes"), text
