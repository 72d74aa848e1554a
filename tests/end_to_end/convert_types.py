"""Conversion to other element types against numpy.

All pairs of the ten types and float16. What fits must be what numpy makes of the value rounded to
the nearest, halves to even; what does not fit must be refused with its position, or clipped.
"""
import itertools
import os
import pathlib
import subprocess

import h5py
import numpy as np

from harness import attempt, bad, good, programs
from same_outputs import contents

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
         "float32", "float64"]


def store(array):
    with h5py.File("in.h5", "w") as file:
        file["x"] = array


def made():
    with h5py.File("out.h5") as file:
        array = file["x"][...]
    os.remove("out.h5")
    return array


def limits(kind):
    return np.iinfo(kind) if np.dtype(kind).kind in "iu" else np.finfo(kind)


def samples(source):
    """The ends of every type with their neighbours, halves, and values of every size."""
    generator = np.random.default_rng(TYPES.index(source))
    if np.dtype(source).kind in "iu":
        ends = [int(limits(kind).max) for kind in TYPES] + [int(limits(kind).min) for kind in TYPES]
        near = [end + step for end in ends for step in (-1, 0, 1)]
        near += [65503, 65504, 65505, 65519, 65520, 2**24 + 1, 2**24 + 3, 2**53 + 1, 2**53 + 3]
        info = np.iinfo(source)
        near = [value for value in near if info.min <= value <= info.max]
        return np.concatenate([np.array(near, source), generator.integers(
            info.min, info.max, 500, source, endpoint=True)])
    with np.errstate(over="ignore"):
        ends = np.array([float(limits(kind).max) for kind in TYPES]
                        + [float(limits(kind).min) for kind in TYPES]).astype(source)
        halves = np.arange(-300, 300, dtype=source) / np.array(2, source)
        sizes = (generator.normal(size=2000) * 10.0 ** generator.integers(-9, 20, 2000))
        values = [ends, np.nextafter(ends, np.array(0, source)), halves, sizes.astype(source),
                  np.array([-0.0, 65519.99, 65520, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 1e-40, 1e-45])
                  .astype(source)]
    array = np.concatenate(values)
    return array[np.isfinite(array)]


def fits(array, target):
    """Whether each value rounds to one that the type holds, by Python's own numbers."""
    if np.dtype(target).kind in "iu":
        info = np.iinfo(target)
        whole = array if array.dtype.kind in "iu" else np.rint(array)
        return np.array([info.min <= int(value) <= info.max for value in whole])
    with np.errstate(over="ignore"):
        return np.isfinite(array.astype(target))


def right(array, target):
    if np.dtype(target).kind in "iu" and array.dtype.kind == "f":
        array = np.rint(array)
    return array.astype(target)


def same(found, expected, what):
    assert found.dtype == expected.dtype and found.shape == expected.shape, (what, found.dtype)
    assert found.tobytes() == expected.tobytes(), what


def test_every_pair():
    for source, target in itertools.product(TYPES, TYPES):
        array = samples(source)
        fit = fits(array, target)
        store(array[fit].reshape(-1, 1))
        good("convert", "in.h5:/x", "out.h5", "--dtype", target)
        same(made(), right(array[fit], target).reshape(-1, 1), (source, target))
        if fit.all():
            continue
        store(array)
        first = int(np.flatnonzero(~fit)[0])
        bad(3, [f"in.h5:/x, element [{first}]", "does not fit " + target, "--clip"], "convert",
            "in.h5:/x", "out.h5", "--dtype", target)
        good("convert", "in.h5:/x", "out.h5", "--dtype", target, "--clip")
        found = made()
        info = limits(target)
        same(found[fit], right(array[fit], target), (source, target, "clipped"))
        ends = np.array([info.min if value < 0 else info.max for value in array[~fit]], target)
        same(found[~fit], ends, (source, target, "ends"))


def test_what_is_no_number():
    for source in ["float16", "float32", "float64"]:
        array = np.ones((3, 4, 5), source)
        array[1, 2, 3] = np.nan
        store(array)
        for clip in [[], ["--clip"]]:
            bad(3, ["in.h5:/x, element [1, 2, 3]", "NaN"], "convert", "in.h5:/x", "out.h5",
                "--dtype", "int32", *clip)
        array[1, 2, 3] = -np.inf
        store(array)
        bad(3, ["[1, 2, 3]", "-inf"], "convert", "in.h5:/x", "out.h5", "--dtype", "int32")
        good("convert", "in.h5:/x", "out.h5", "--dtype", "int16", "--clip")
        assert made()[1, 2, 3] == -32768
        array[0, 0, 0] = np.nan
        store(array)
        for target in ["float16", "float32", "float64"]:
            good("convert", "in.h5:/x", "out.h5", "--dtype", target)
            found = made()
            assert np.isnan(found[0, 0, 0]) and np.isneginf(found[1, 2, 3]), (source, target)


def test_truth():
    """h5py's bool becomes uint8 of 0 and 1 where the output has no such type; an HDF5 file keeps it."""
    array = np.random.default_rng(5).integers(0, 2, (4, 9, 7)).astype(bool)
    for options in ({}, {"chunks": (2, 4, 7), "compression": "gzip"}):
        with h5py.File("in.h5", "w") as file:
            file.create_dataset("x", data=array, **options)
        good("convert", "in.h5:/x", "out.h5")
        same(made(), array, options)
        good("convert", "in.h5:/x", "out.h5", "--dtype", "float32")
        same(made(), array.astype("float32"), options)
        good("convert", "in.h5:/x", "out.npy", "--overwrite")
        same(np.load("out.npy"), array.astype("uint8"), options)
        good("convert", "in.h5:/x", "out.zarr", "--overwrite")
        good("compare", "out.zarr", "out.npy")


def test_storage():
    """Either byte order, chunks, Fortran order, other formats, and more than a buffer."""
    array = np.random.default_rng(3).normal(size=(9, 40, 50)) * 100
    for kind in [">f8", "<f4", ">f2", "<f2", ">i4"]:
        with h5py.File("in.h5", "w") as file:
            file.create_dataset("x", data=array.astype(kind), chunks=(2, 7, 50), compression="gzip")
        good("convert", "in.h5:/x", "out.h5", "--dtype", "int16")
        same(made(), right(array.astype(kind).astype(kind[1:]), "int16"), kind)
    np.save("in.npy", np.asfortranarray(array))
    good("convert", "in.npy", "out.npy", "--dtype", "float32")
    same(np.load("out.npy"), array.astype("f4"), "Fortran order")
    good("convert", "in.npy", "one.npy", "--dtype", "int8", "--clip", "--frame", "3")
    same(np.load("one.npy"), np.clip(np.rint(array[3]), -128, 127).astype("i1"), "a frame")
    broken = array / 10
    broken[5, 6, 7] = 1e6
    np.save("in.npy", np.asfortranarray(broken))
    bad(3, ["in.npy, element [5, 6, 7]", "1e+06"], "convert", "in.npy", "out.h5", "--dtype", "int8")
    large = np.arange(11 * 10**6, dtype="u4").reshape(1100, 10000) % 60000
    store(large)
    good("convert", "in.h5:/x", "out.h5", "--dtype", "uint16")
    same(made(), large.astype("u2"), "several buffers")
    good("convert", "in.h5:/x", "out.png", "--dtype", "uint16")


def test_raw_input():
    """The type of a raw file's elements and that of the output."""
    array = np.arange(-300, 300, dtype=">i2").reshape(4, 3, 50)
    pathlib.Path("in.raw").write_bytes(b"12345" + array.tobytes())
    layout = ["--shape", "4,3,50", "--offset", "5", "--big-endian"]
    good("convert", "in.raw", "out.h5:/x", *layout, "--raw-dtype", "int16", "--dtype", "float32")
    same(made(), array.astype("f4"), "to float32")
    good("convert", "in.raw", "out.h5:/x", *layout, "--raw-dtype", "int16", "--dtype", "uint8",
         "--clip")
    same(made(), np.clip(array, 0, 255).astype("u1"), "clipped")
    good("convert", "in.raw", "out.h5:/x", *layout, "--raw-dtype", "int16")
    same(made(), array.astype("i2"), "as it is")
    bad(3, ["in.raw", "-300"], "convert", "in.raw", "out.h5", *layout, "--raw-dtype", "int16",
        "--dtype", "uint16")


def test_command_lines_that_are_wrong():
    store(np.ones((3, 4)))
    bad(2, ["--raw-dtype", "--shape"], "convert", "in.h5:/x", "out.h5", "--raw-dtype", "int8")
    bad(2, ["float16", "\"float8\""], "convert", "in.h5:/x", "out.h5", "--dtype", "float8")
    bad(2, ["--clip", "--dtype"], "convert", "in.h5:/x", "out.h5", "--clip")
    store(np.ones((3, 4), "c8"))
    bad(3, ["complex64"], "convert", "in.h5:/x", "out.h5", "--dtype", "float32")


def test_refused_jobs_name_the_command():
    """A refused input, the step and the command that its message names, and the job with these."""
    keys = {"match": ""}
    refused = {"match": ["int8", "int16", "int32", "uint32", "int64", "uint64", "float64"]}
    os.mkdir("with blank")
    for kind, lines in keys.items():
        for source in refused[kind]:
            array = np.arange(600).reshape(20, 30).astype(source)
            with h5py.File("with blank/in.h5", "w") as file:
                file["x"] = array
            job = (f'kind = "{kind}"\n[input]\nfile = "with blank/in.h5"\ndataset = "/x"\n'
                   f'[output]\nfile = "job.h5"\noverwrite = true\n[{kind}]\n{lines}')
            pathlib.Path("job.toml").write_text(job)
            done = attempt("job.toml", "--quiet")
            assert done.returncode == 3 and source in done.stderr, done
            command = done.stderr.split("Convert it: ")[1].strip()
            assert command.startswith("runner convert "), done.stderr
            subprocess.run(f"'{programs.runner}' {command[7:]} --overwrite", shell=True, check=True,
                           stdout=subprocess.DEVNULL)
            target = command.split()[-1]
            name = f"with blank/in-{target}.h5"
            with h5py.File(name) as file:
                same(file["x"][...], array.astype(target), (kind, source))
            good("job.toml", "--quiet", "--set", f'input.file="{name}"')
            if source in ("int8", "int16", "int32", "uint32"):
                expected = contents("job.h5")
                os.remove("job.h5")
                step = done.stderr.split("[[step]] before it, ")[1].split(". Convert")[0]
                pathlib.Path("job.toml").write_text(
                    job.replace(f'kind = "{kind}"\n', "").split(f"[{kind}]")[0] +
                    "[[step]]\n" + step.replace("; ", "\n") + f'\n[[step]]\nkind = "{kind}"\n{lines}')
                good("job.toml", "--quiet")
                found = contents("job.h5")
                assert found.keys() == expected.keys(), (found.keys(), expected.keys())
                for path, values in expected.items():
                    same(found[path], values, (kind, source, path))
            os.remove("job.h5")
