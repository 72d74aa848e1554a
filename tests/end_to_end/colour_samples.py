"""Kinds that take one sample a pixel: what they make of colour is, to the bit, what they make of each sample as a dataset of its own.

Other tests compare the latter with references.
"""
import itertools
import pathlib

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, programs

PHASE = "energy = 20.0\ndistance = 0.1\npixel_size = 1.0\ndelta_beta = 50.0\nmargin = 3"
DENOISE = 'patch = [2, 2, 2]\nwindow = [3, 5, 5]\ncount = 4\n'
CASES = [  # kind, keys, type, shape, keys of [input]
    ("median", 'size = [3, 5]\nboundary = "wrap"', "uint8", (2, 9, 13, 3), ""),
    ("median", 'size = [3, 3, 3]\ndifference = 20.0', "float64", (4, 6, 11, 4), ""),
    ("median", "size = [3, 3, 1]", "uint16", (5, 7, 6, 3), "invalid = 7"),
    ("denoise", DENOISE, "float32", (6, 9, 12, 3), ""),
    ("denoise", DENOISE + 'sigma = 3.0\nstep = 2', "int16", (6, 9, 12, 3), 'invalid = 7'),
    ("denoise", 'count = "all"\npatch = [1, 3, 3]\nwindow = [1, 5, 5]', "uint8", (17, 14, 3), ""),
    ("denoise", 'method = "bm4d"\ncount = 4\nwindow = [5, 5, 5]', "uint16", (9, 8, 7, 3), ""),
    ("denoise", 'stabilise = "anscombe"\npatch = [1, 2, 2]\nwindow = [1, 5, 5]', "uint16", (15, 12, 4), ""),
    ("match", "patch = [2, 2, 2]\nwindow = [3, 5, 5]\ncount = 5\nstep = 2", "float32", (5, 7, 9, 3), ""),
    ("match", "patch = [1, 3, 3]\nwindow = [1, 5, 5]\ncount = 3", "uint8", (9, 12, 4), "invalid = 7"),
    ("stripes", 'method = "all"\nsize = 5\nsmall = 5', "uint16", (3, 12, 17, 3), ""),
    ("stripes", 'size = 5', "float32", (11, 16, 4), ""),
    ("phase", PHASE, "uint8", (3, 9, 14, 3), ""),
    ("phase", PHASE + "\nnegative_log = false", "float32", (10, 13, 3), ""),
]
CUTS = ["", "chunk_rows = 1\nlanes = 3", "chunk_rows = 40\nlanes = 2"]


def samples(dtype, shape):
    """Each sample has noise of its own."""
    rng = np.random.default_rng(list(shape))
    noise = rng.normal(0, 1, shape) * np.arange(1, shape[-1] + 1) * 3
    values = 60 + 20 * np.sin(np.arange(shape[-2]) / 3)[:, None] + noise
    return np.clip(np.rint(values), 0, 200).astype(dtype)


def run(kind, keys, dataset, more="", cut="", ranks=1):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/{dataset}"\n{more}\n[output]\nfile = "out.h5"\n'
        f'overwrite = true\nsync = false\n[run]\nbackend = "{programs.backend}"\n{cut}\n[{kind}]\n{keys}\n')
    done = call("job.toml", "--quiet", ranks=ranks)
    with h5py.File("out.h5") as file:
        names = ["index", "distance", "count"] if kind == "match" else [dataset]
        return [file[name][()] for name in names], dict(file.attrs), done.stderr


def store(array):
    with h5py.File("in.h5", "w") as file:
        file["image"] = array
        file["image"].attrs["interpretation"] = "rgba-image" if array.shape[-1] == 4 else "rgb-image"
        for sample in range(array.shape[-1]):
            file[f"s{sample}"] = array[..., sample]
            file[f"s{sample}"].attrs["interpretation"] = "image"


@pytest.mark.parametrize("number", range(len(CASES)))
def test_each_sample_by_itself(number):
    kind, keys, dtype, shape, more = CASES[number]
    array = samples(dtype, shape)
    store(array)
    made, attributes, _ = run(kind, keys, "image", more, CUTS[number % 3], 1 + number % 2)
    alone = [run(kind, keys, f"s{sample}", more) for sample in range(shape[-1])]
    for at, values in enumerate(made):
        of_samples = [each[0][at] for each in alone]
        if kind == "match":  # the rows of a reference's samples follow each other
            wanted = np.stack(of_samples, 1).reshape(values.shape)
            assert attributes["samples"] == shape[-1]
        else:
            wanted = np.stack(of_samples, -1)
        assert values.dtype == wanted.dtype and values.shape == wanted.shape
        assert np.array_equal(values, wanted, equal_nan=values.dtype.kind == "f"), (kind, keys)
    if kind == "denoise" and "sigma" not in attributes:
        assert [attributes[f"sigma_{i}"] for i in range(shape[-1])] == [each[1]["sigma"] for each in alone]


def test_marks_and_plan():
    array = samples("uint8", (20, 30, 3))
    store(array)
    for kind, keys in [("median", "size = [3, 3]"), ("denoise", "patch = [1, 3, 3]\nwindow = [1, 5, 5]\ncount = 4")]:
        run(kind, keys, "image")
        with h5py.File("out.h5") as file:
            assert file["image"].attrs["interpretation"] == "rgb-image" and file["image"].shape == array.shape
        assert "s: each by itself" in call("plan", "job.toml", "--backend", "cpu").stdout
        call("verify", "out.h5", "--recompute", "40")
    pathlib.Path("out.h5").unlink()
    assert 'sample 2: denoise.sigma = "auto" found' in call("job.toml").stderr


def test_plan_of_match():
    """What it makes is no colour, and its input still is."""
    store(samples("uint8", (20, 30, 3)))
    run("match", "patch = [1, 3, 3]\nwindow = [1, 5, 5]\ncount = 4", "image")
    assert "y, x: searched · s: each by itself" in call("plan", "job.toml", "--backend", "cpu").stdout


def test_steps_of_one_pass():
    """In one pass as through files, on any ranks."""
    store(samples("uint8", (3, 21, 15, 3)))
    steps = [("median", "size = [3, 3, 3]"), ("convolve", "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.5, 0.0]"),
             ("stripes", "size = 5"), ("median", 'size = [5, 3]\nboundary = "wrap"'), ("bin", "factors = [2, 2]")]
    source = "in.h5"
    for at, (kind, keys) in enumerate(steps):
        pathlib.Path("one.toml").write_text(
            f'kind = "{kind}"\n[input]\nfile = "{source}"\ndataset = "/image"\n[output]\nfile = "{at}.h5"\n[{kind}]\n{keys}\n')
        call("one.toml", "--quiet")
        source = f"{at}.h5"
    with h5py.File(source) as file:
        wanted = file["image"][()]
    text = '[input]\nfile = "in.h5"\ndataset = "/image"\n[output]\nfile = "all.h5"\noverwrite = true\n'
    text += "".join(f'[[step]]\nkind = "{kind}"\n{keys}\n' for kind, keys in steps)
    for ranks, chunk in itertools.product([1, 3], [1, 45, 10000]):
        pathlib.Path("all.toml").write_text(text + f"[run]\nchunk_rows = {chunk}\n")
        call("all.toml", "--quiet", ranks=ranks)
        with h5py.File("all.h5") as file:
            assert np.array_equal(file["image"][()], wanted), (ranks, chunk)


def test_messages_name_the_sample():
    array = samples("float32", (5, 8, 9, 3))
    array[3, 2, 7, 1] = np.inf
    store(array)
    for kind, more in [("match", ""), ("denoise", "sigma = 2.0")]:
        pathlib.Path("j.toml").write_text(f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/image"\n[output]\n'
                                          f'file = "bad.h5"\n[run]\nchunk_rows = 1\n[{kind}]\n{more}\n')
        done = attempt("j.toml", "--quiet")
        assert done.returncode == 3 and "not a finite number" in done.stderr
        assert "voxel [3, 2, 7], sample 1" in done.stderr
    # The shape of one sample must fit.
    store(samples("uint8", (8, 9, 3)))
    pathlib.Path("j.toml").write_text('kind = "median"\n[input]\nfile = "in.h5"\ndataset = "/image"\n[output]\n'
                                      'file = "bad.h5"\n[median]\nsize = [3, 3, 3]\n')
    bad(3, ["median needs more axes"], "j.toml", "--quiet")
