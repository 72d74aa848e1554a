"""Coarser levels of images of which some elements are no values, in OME-Zarr and OME-TIFF, against numpy and bin."""
import json
import os
import pathlib
import shutil
import signal

import h5py
import numpy as np
import pytest
import tifffile

from harness import call, good, programs
from tiff_outputs import TAPS, same, write_input, write_job
from zarr_levels import FAULTS, HOWS, ISOTROPIC, one_nan, reduced_block
from zarr_outputs import content, damage, read_array, set_output
from zarr_records import put_beside

LAYOUT = "chunk = [1, 16, 32]\nshard = [2, 32, 64]\nlevels = 3"
MARKS = [("uint8", 255), ("int16", -999), ("uint16", 0), ("int32", -2**31), ("int64", 2**63 - 1), ("uint64", 7),
         ("float16", np.nan), ("float32", np.nan), ("float32", -999), ("float64", -1e30), ("float64", np.nan)]


def is_invalid(array, mark):
    return (array == np.array(mark, array.dtype)) | (array != array)


def invalid_of(array, mark):
    """What is made of no values."""
    return np.array(np.nan if array.dtype.kind == "f" else mark, array.dtype)


def reduced(array, factors, how, mark):
    """The levels of the documentation, of the elements that are values."""
    made = np.empty([-(-extent // factor) for extent, factor in zip(array.shape, factors, strict=True)], array.dtype)
    for at in np.ndindex(made.shape):
        block = array[tuple(slice(i * factor, (i + 1) * factor) for i, factor in zip(at, factors, strict=True))]
        values = block if how == "nearest" else block[~is_invalid(block, mark)]
        made[at] = reduced_block(values, factors, how) if values.size else invalid_of(array, mark)
    return one_nan(made)


def image(shape, dtype, mark):
    """Many values alike, of which a third is invalid, and whole blocks at a corner and in the middle."""
    random = np.random.default_rng(9)
    array = (random.integers(1, 90, shape) * (1.37 if np.dtype(dtype).kind == "f" else 1)).astype(dtype)
    array[random.random(shape) < 0.3] = mark
    array[:4, :9, :9] = array[..., -5:] = mark
    if np.dtype(dtype).kind == "f":
        array[-1, -1, 3], array[0, 10, 10] = np.inf, np.nan  # the second is invalid by any mark
    return array


def check_levels(folder, array, mark, how="mean", factors=ISOTROPIC[:2]):
    same(read_array(f"{folder}/0")[0], array)
    for level, each in enumerate(factors, 1):
        same(read_array(f"{folder}/{level}")[0], reduced(array, each, how, mark))


@pytest.mark.share(0.3)
@pytest.mark.quick
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(("dtype", "mark"), MARKS)
def test_elements(dtype, mark, how):
    """Of every type, of convert and of a job, with odd extents."""
    array = image((5, 23, 37), dtype, mark)
    write_input(array, _FillValue=np.array(mark, dtype))
    good("convert", "in.h5:/x", "a.ome.zarr", "--levels", "3", "--downsample", how, "--chunk", "2,8,16", says="(?s).*")
    check_levels("a.ome.zarr", array, mark, how)
    if dtype == "float16":  # which jobs take as float32
        return
    write_job("transpose", "b.ome.zarr", "permutation = [0, 1, 2]")
    set_output(f'chunk = [2, 8, 16]\nlevels = 3\ndownsample = "{how}"\ncompression = "none"')
    call("job.toml")
    assert content("b.ome.zarr") == content("a.ome.zarr")
    assert "2 coarser ones compared: all right" in call("verify", "b.ome.zarr").stdout


@pytest.mark.quick
@pytest.mark.parametrize(("dtype", "mark"), [("uint16", 60000), ("float32", np.nan)])
def test_values_of_all(dtype, mark):
    """Where nothing declares the number or NaN, or the job heeds none, each is a value: a NaN makes a mean NaN."""
    array = image((4, 16, 16), dtype, mark)
    array[array == np.inf] = 1
    write_input(array)
    good("convert", "in.h5:/x", "a.ome.zarr", "--levels", "2")
    write_input(array, _FillValue=np.array(mark, dtype))
    write_job("transpose", "b.ome.zarr", "permutation = [0, 1, 2]", more='invalid = "none"')
    set_output('levels = 2\ncompression = "none"')
    call("job.toml")
    assert content("b.ome.zarr") == content("a.ome.zarr")
    blocks = array.reshape(2, 2, 8, 2, 8, 2).astype("float64").mean((1, 3, 5))
    found = read_array("b.ome.zarr/1")[0]
    assert np.array_equal(np.isnan(found), np.isnan(blocks)) and (found[0, 0, 0] != 0)
    assert "output.levels.invalid" not in pathlib.Path("b.ome.zarr/runner.json").read_text()


@pytest.mark.quick
@pytest.mark.parametrize(("dtype", "mark"), [("int16", -999), ("uint8", 255), ("float32", np.nan), ("float64", -1e30)])
def test_as_bin(dtype, mark):
    """A level of means is what bin makes of the image, to the byte."""
    array = image((5, 24, 37), dtype, mark)
    array[array == np.inf] = 1
    write_input(array, _FillValue=np.array(mark, dtype))
    good("convert", "in.h5:/x", "out.ome.zarr", "--levels", "3", says="(?s).*")
    for level, factor in ((1, 2), (2, 4)):
        call("bin", "in.h5:/x", "bin.h5", "--factors", f"{factor},{factor},{factor}", "--edge", "partial",
             "--set", "output.overwrite=true", "--backend", "cpu")
        with h5py.File("bin.h5") as file:
            same(read_array(f"out.ome.zarr/{level}")[0], file["x"][()])


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("compression", ["none", "blosc-lz4"])
@pytest.mark.parametrize("how", HOWS)
def test_same_bytes(how, compression):
    """Of any ranks, chunks and lanes; a filtered image has the invalid elements of its result."""
    array = image((7, 65, 131), "int16", -999)
    write_input(array, _FillValue=np.int16(-999))
    write_job("median", "out.ome.zarr", "size = [3, 3]")
    set_output(f'{LAYOUT}\ncompression = "{compression}"\ndownsample = "{how}"')
    made = []
    for ranks, rows, lanes in ((1, 1, 2), (2, 7, 1), (3, 100, 3)):
        call("job.toml", "--set", f"run.lanes={lanes}", "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.append(content("out.ome.zarr"))
        assert made[-1] == made[0]
    check_levels("out.ome.zarr", read_array("out.ome.zarr/0")[0], -999, how)
    call("verify", "out.ome.zarr")
    call("certify", "out.ome.zarr")


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("fault", FAULTS)
def test_killed(fault):
    """A run that is killed as it makes levels is resumed by any ranks to the same bytes."""
    array = image((6, 90, 70), "float32", np.nan)
    write_input(array)
    write_job("convolve", "out.ome.zarr", TAPS, more='invalid = "nan"')
    set_output(LAYOUT)
    call("job.toml")
    whole = content("out.ome.zarr")
    check_levels("out.ome.zarr", read_array("out.ome.zarr/0")[0], np.nan)
    for ranks, rows in ((1, 90), (3, 7)):
        call("job.toml", "--set", 'convolve.boundary="reflect"')  # what the killed run replaces
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        commit = ("--set", "run.commit_seconds=0", "--set", f"run.chunk_rows={rows}")
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        call("job.toml", *commit, ranks=ranks)
        assert content("out.ome.zarr") == whole
        call("verify", "out.ome.zarr")


@pytest.mark.quick
@pytest.mark.parametrize(("dtype", "mark", "ngff"), [("uint16", 65535, "0.5"), ("float32", np.nan, "0.4")])
def test_repaired(dtype, mark, ngff):
    """verify finds damage in levels alone, and repair makes them again, of a mended level 0 too."""
    array = image((6, 70, 100), dtype, mark)
    write_input(array, _FillValue=np.array(mark, dtype))
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output(f'chunk = [2, 16, 16]\nlevels = 3\nngff = "{ngff}"')
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.ome.zarr")
    chunk = "0/0/0" if ngff == "0.4" else "c/0/0/0"
    for names in ([f"1/{chunk}"], [f"1/{chunk}", f"2/{chunk}"], [f"0/{chunk}", f"1/{chunk}"]):
        for name in names:
            damage("out.ome.zarr", name, "flip")
        found = call("verify", "out.ome.zarr", code=7).stdout
        assert names[0][0] == "0" or (found.count("wrong: ") == len(names) and all(f"wrong: {name}" in found for name in names))
        call("repair", "out.ome.zarr")
        assert content("out.ome.zarr") == whole
        call("verify", "out.ome.zarr")
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr


@pytest.mark.quick
def test_earlier_version():
    """Levels of all elements as numbers, and a record that says nothing of invalid ones: verify and repair take them as
    they are, and the job is another."""
    array = image((6, 70, 100), "int16", -999)
    write_input(array, _FillValue=np.int16(-999))
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    set_output(LAYOUT)
    call("job.toml")
    whole = content("out.ome.zarr")
    call("job.toml", "--set", 'output.file="old.ome.zarr"', "--set", 'input.invalid="none"')
    assert content("old.ome.zarr")["1/c/0/0/0"] != whole["1/c/0/0/0"]
    for level in "12":
        shutil.rmtree(f"out.ome.zarr/{level}")
        shutil.copytree(f"old.ome.zarr/{level}", f"out.ome.zarr/{level}")
    assert "2 coarser ones compared: " in call("verify", "out.ome.zarr", code=7).stdout
    record = pathlib.Path("out.ome.zarr/runner.json")
    line = '    "output.levels.invalid = -999.0",\n'
    assert record.read_text().count(line) == 1
    record.write_text(record.read_text().replace(line, ""))
    put_beside("out.ome.zarr")
    old = content("out.ome.zarr")
    assert "2 coarser ones compared: all right" in call("verify", "out.ome.zarr").stdout
    damage("out.ome.zarr", "1/c/0/0/0", "flip")
    call("repair", "out.ome.zarr")
    assert content("out.ome.zarr") == old != whole
    error = call("job.toml", "--set", "output.overwrite=false", code=4).stderr
    assert "output.levels.invalid was not set, is -999.0" in error, error
    call("job.toml")
    assert content("out.ome.zarr") == whole
    call("verify", "out.ome.zarr")


@pytest.mark.quick
def test_batch():
    """Each output of a batch by what its input declares."""
    arrays = {"a": (image((3, 300, 20), "uint16", 7), 7), "b": (image((4, 17, 300), "float32", np.nan), np.nan)}
    os.mkdir("made")
    for name, (array, mark) in arrays.items():
        write_input(array, _FillValue=np.array(mark, array.dtype))
        os.rename("in.h5", f"{name}.h5")
    pathlib.Path("job.toml").write_text(
        'kind = "transpose"\n[batch]\ninputs = ["*.h5"]\noutput = "made/{stem}.ome.zarr"\nstate = "state"\n'
        '[input]\ndataset = "/x"\n[transpose]\npermutation = [0, 1, 2]\n')
    call("batch", "job.toml", ranks=2)
    for name, (array, mark) in arrays.items():
        check_levels(f"made/{name}.ome.zarr", array, mark, factors=ISOTROPIC[:1])
        call("verify", f"made/{name}.ome.zarr")
    assert "2 done before" in call("batch", "job.toml").stderr


@pytest.mark.quick
@pytest.mark.parametrize("compression", ["none", "deflate"])
def test_pyramids_of_tiff(compression):
    """Levels in an OME-TIFF, of convert and of a job on several ranks, killed, verified and repaired."""
    array = image((2, 300, 270), "uint16", 65535)
    write_input(array, _FillValue=np.uint16(65535))
    good("convert", "in.h5:/x", "a.ome.tif", "--pyramid", "--compression", compression, says="(?s).*")
    write_job("transpose", "b.ome.tif", "permutation = [0, 1, 2]")
    set_output(f'pyramid = true\ncompression = "{compression}"')
    fault = "pwrite:kill@5:b.ome.tif.partial"
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault, "FAULT_LOG": os.path.abspath("fault.log")}
    commit = ("--set", "run.commit_seconds=0", "--set", "run.chunk_rows=40")
    call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
    call("job.toml", *commit, ranks=2)
    whole = pathlib.Path("b.ome.tif").read_bytes()
    for name in ("a.ome.tif", "b.ome.tif"):
        with tifffile.TiffFile(name) as file:
            level = file.series[0].levels[1]
            same(level.asarray(), reduced(array, [1, 2, 2], "mean", 65535))
            place = level.pages[1].aspage().dataoffsets[0] + 30
    call("verify", "b.ome.tif")
    changed = bytearray(whole)
    changed[place] ^= 255
    pathlib.Path("b.ome.tif").write_bytes(changed)
    assert "wrong: level 1: " in call("verify", "b.ome.tif", code=7).stdout
    assert "repaired: level 1" in call("repair", "b.ome.tif").stdout
    assert pathlib.Path("b.ome.tif").read_bytes() == whole


@pytest.mark.quick
def test_recorded():
    """The record has the number as the job's output has it, by which verify makes levels again."""
    for dtype, mark, kind, table, keys, said in (
            ("uint8", 9, "rescale", "from = [0, 9]\nto = [0, 90]", 'dtype = "float32"', "nan"),
            ("float32", -5, "transpose", "permutation = [0, 1, 2]", "", "-5.0"),
            ("int16", 9, "fill", 'method = "mean"\nreach = [0, 40, 40]\nrest = 0', "", None)):
        write_input(image((3, 20, 30), dtype, mark), _FillValue=np.array(mark, dtype))
        write_job(kind, "out.ome.zarr", table)
        set_output(f"levels = 2\n{keys}")
        call("job.toml")
        lines = json.loads(pathlib.Path("out.ome.zarr/runner.json").read_text())["identity"]
        found = [line.split(" = ")[1] for line in lines if line.startswith("output.levels.invalid")]
        assert found == ([] if said is None else [said])
        call("verify", "out.ome.zarr")
