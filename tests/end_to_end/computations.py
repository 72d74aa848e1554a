"""Results change together with the versions of their computations alone.

A job that resumes trusts what an earlier program wrote if both name one computation
(Job::computation()). So elements that change need another name, and tests/data/computations.txt
has the checksum of a small result beside each name.
"""
import json
import pathlib

import h5py
import numpy as np
import pytest

import harness
from harness import programs

RECORD = pathlib.Path(__file__).resolve().parents[1] / "data/computations.txt"
PATCHES = "window = [5, 7, 7]\ncount = 8\n"

# Name: shape and type of the input, kind and its table.
CASES = {
    "convolve uint16": ((3, 31, 37), "uint16", "convolve",
                        "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.1, 0.2, 0.4, 0.2, 0.1]\n"),
    "convolve float32": ((3, 31, 37), "float32", "convolve",
                         "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.1, 0.2, 0.4, 0.2, 0.1]\n"),
    "transpose": ((5, 31, 37), "uint16", "transpose", "permutation = [2, 0, 1]\n"),
    "match": ((9, 17, 19), "float32", "match", PATCHES),
    "nlm": ((9, 17, 19), "float32", "denoise", f'sigma = 40.0\n{PATCHES}'),
    "nlm, whole windows": ((9, 17, 19), "float32", "denoise",
                           'sigma = 40.0\nwindow = [5, 7, 7]\ncount = "all"\n'),
    "bm4d": ((9, 17, 19), "float32", "denoise", f'method = "bm4d"\nsigma = 40.0\n{PATCHES}'),
    "bm4d, patches of 5": ((9, 17, 19), "float32", "denoise",
                           f'method = "bm4d"\nsigma = 40.0\npatch = [5, 5, 5]\n{PATCHES}'),
    "sand": ((61, 53), "uint8", "sand", "generations = 40\nseed = 5\n"),
    "median": ((4, 31, 37), "uint16", "median", "size = [3, 3, 3]\n"),
    "rescale": ((4, 31, 37), "uint16", "rescale", 'from = "extremes"\nto = [0.0, 1.0]\n'),
    "correct": ((6, 31, 37), "uint16", "correct", "dark = 3.0\nflat = 450.0\nnegative_log = true\n"),
    "fill": ((5, 31, 37), "uint16", "fill", 'method = "mean"\nreach = [1, 2, 2]\n'),
    "phase": ((3, 31, 37), "uint16", "phase", "energy = 25.0\ndistance = 0.5\npixel_size = 2.0\ndelta_beta = 150.0\n"),
    "reduce": ((150, 31, 7), "float32", "reduce", 'operation = "std"\nover = ["z"]\n'),
    "median of frames": ((5, 31, 37), "uint16", "reduce", 'operation = "median"\nover = "frame"\n'),
    "stitch": ((6, 31, 37), "uint16", "stitch", 'overlap = 12\nside = "left"\n'),
    "stripes": ((5, 31, 37), "uint16", "stripes", "size = 7\n"),
    "all stripes": ((5, 31, 37), "uint16", "stripes", 'method = "all"\nsize = 7\nsnr = 1.0\n'),
    "bin": ((5, 31, 37), "float32", "bin", 'factors = [2, 3, 2]\nedge = "partial"\n'),
}


def values(shape, dtype):
    """Steps and noise, by whole numbers alone."""
    place = np.arange(np.prod(shape), dtype="u8")
    noise = (place * np.uint64(2654435761) % np.uint64(2**32)) >> np.uint64(20)  # 0 to 4095
    if dtype == "uint8":
        return (noise % np.uint64(4)).astype(dtype).reshape(shape)
    step = np.where(place % np.uint64(shape[-1]) < np.uint64(shape[-1] // 2), 0, 400)
    return (noise // np.uint64(40) + step.astype("u8")).astype(dtype).reshape(shape)


def recorded():
    lines = [line.split(" | ") for line in RECORD.read_text().splitlines() if not line.startswith("#")]
    return {name: (computation, checksums) for name, computation, checksums in lines}


def found(shape, dtype, kind, table):
    with h5py.File("in.h5", "w") as file:
        file["x"] = values(shape, dtype)
        if kind == "fill":
            file["x"].attrs["_FillValue"] = np.uint16(7)
    pathlib.Path("job.toml").write_text(f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/x"\n'
                                        f'[output]\nfile = "out.h5"\n[{kind}]\n{table}')
    harness.call("job.toml", "--quiet", "--backend", programs.backend)
    made = json.loads(harness.call("certify", "out.h5").stdout)
    computation, = [line.removeprefix("computation = ") for line in made["identity"]
                    if line.startswith("computation = ")]
    return computation, " ".join(dataset["checksum"] for dataset in made["datasets"])


@pytest.mark.quick
@pytest.mark.parametrize("name", CASES)
def test_computation(name):
    computation, checksums = found(*CASES[name])
    was, had = recorded().get(name, ("", ""))
    line = f"{name} | {computation} | {checksums}"
    if computation == was:
        assert checksums == had, ("the elements have changed, so give the job's computation() another "
                                  f"version and record it in {RECORD}: {line}")
    assert computation == was, f"record the computation in {RECORD}: {line}"
