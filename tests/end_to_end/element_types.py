"""Every element type as the input of every kind.

bool and float16 are read as uint8 and float32: the job must make what it makes of a file that numpy
has converted. What a kind does not take is refused with the command that converts it.
"""
import pathlib

import h5py
import numpy as np
import pytest

from harness import call
from same_outputs import KINDS as OTHER_KINDS

KINDS = {**OTHER_KINDS, "median": "size = [1, 3, 3]\n", "rescale": "from = [0, 1]\nto = [0, 1]\n",
         "bin": "factors = [2, 2, 3]\n", "stripes": "size = 5\n",
         "reduce": 'operation = "std"\nover = ["y"]\n',
         "phase": "energy = 25\ndistance = 0.5\npixel_size = 2\ndelta_beta = 150\n"}
TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", ">f2", ">i2",
         "float32", "float64"]
SHAPE = (6, 20, 18)


def volume(dtype):
    values = np.random.default_rng(5).integers(-90 if np.dtype(dtype).kind in "if" else 0, 90, SHAPE)
    if np.dtype(dtype).kind == "f":
        values = values + np.random.default_rng(6).integers(0, 8, SHAPE) / 8
    return values.astype(dtype)


def run(kind, data, part="", code=0, **how):
    """The output of the job on `data`; with another code, what it says."""
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("x", data=data, **how)
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/x"\n{part}\n[output]\nfile = "out.h5"\n'
        f'overwrite = true\nsync = false\n[run]\nbackend = "cpu"\n[{kind}]\n{KINDS[kind]}')
    done = call("run", "job.toml", code=code)
    if code != 0:
        return done.stderr
    call("verify", "out.h5")
    with h5py.File("out.h5") as file:
        found = {}
        file.visititems(lambda path, item: found.__setitem__(path, item[()])
                        if isinstance(item, h5py.Dataset) and not path.startswith("runner") else None)
        return found


def read_as(kind, dtype):
    """The type as which the kind reads it: itself, a wider one, or None where it refuses it."""
    if kind == "transpose" and dtype == ">f2":
        return np.dtype(dtype)  # bytes, which are moved as they are
    dtype = np.dtype(dtype).newbyteorder("=")
    if kind == "transpose":
        return dtype
    dtype = {"bool": np.dtype("uint8"), "float16": np.dtype("float32")}.get(dtype.name, dtype)
    if kind == "match":
        return dtype if dtype.name in ("uint8", "uint16", "float32") else None
    return dtype


def same(one, other, what):
    assert one.keys() == other.keys() and one, what
    for name, values in one.items():
        assert values.dtype == other[name].dtype, (what, name, values.dtype, other[name].dtype)
        assert values.tobytes() == other[name].tobytes(), (what, name)


@pytest.mark.share(0.3)
@pytest.mark.parametrize("kind", KINDS)
def test_every_type_in_every_kind(kind):
    stored = [{}, {"chunks": (2, 7, 18), "compression": "gzip"}, {"chunks": (1, 20, 5), "shuffle": True}]
    part = 'region = { rows = "1:19", columns = "3:" }'
    cut = np.s_[:, 1:19, 3:]
    for number, dtype in enumerate(TYPES):
        data, wide = volume(dtype), read_as(kind, dtype)
        if wide is None:
            assert "Convert it: runner convert" in run(kind, data, code=3), (kind, dtype)
            continue
        how = stored[number % 3]
        same(run(kind, data, **how), run(kind, data.astype(wide)), (kind, dtype))
        if wide != np.dtype(dtype) and number % 2 == 0:
            same(run(kind, data, part, **how), run(kind, data[cut].astype(wide)), (kind, dtype, "a part"))


def test_every_float16():
    """All 65,536 numbers, but those that are none, against numpy."""
    halves = np.arange(65536, dtype="uint16").view("float16")
    halves = np.where(np.isfinite(halves), halves, np.float16(0)).reshape(256, 256)
    for dtype in ["<f2", ">f2"]:
        made = run("rescale", halves.astype(dtype), chunks=(100, 256), compression="gzip")
        same(made, run("rescale", halves.astype("float32")), dtype)


@pytest.mark.parametrize("base, offset, bits", [("STD_U16LE", 4, 12), ("STD_I16BE", 2, 12), ("STD_I16BE", 0, 12),
                                                ("STD_I32LE", 0, 20)])
@pytest.mark.parametrize("chunk", [None, (4, 5)], ids=["contiguous", "deflate"])
def test_integers_of_fewer_bits_than_their_bytes(base, offset, bits, chunk):
    """Their values, and not their bytes: the other bits of an element are padding."""
    kind = getattr(h5py.h5t, base).copy()
    kind.set_precision(bits)
    kind.set_offset(offset)
    least = 0 if "U" in base else -(1 << bits - 1)
    values = np.random.default_rng(3).integers(least, least + (1 << bits), (7, 11), dtype="i4")
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunk is not None:
        how.set_chunk(chunk)
        how.set_deflate(1)
    with h5py.File("in.h5", "w") as file:
        h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple((7, 11)), how).write(
            h5py.h5s.ALL, h5py.h5s.ALL, values)
    call("convert", "in.h5:/x", "out.npy")
    assert np.array_equal(np.load("out.npy"), values)
