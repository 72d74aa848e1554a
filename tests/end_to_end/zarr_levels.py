"""The coarser levels of OME-Zarr outputs, against numpy: elements, places, damage and kills."""
import fractions
import itertools
import json
import os
import pathlib
import shutil
import signal

import h5py
import numpy as np
import pytest

from harness import bad, call, good, programs
from tiff_outputs import TAPS, write_input, write_job
from zarr_outputs import content, damage, in_memory, read_array, same, set_output

HOWS = ["mean", "median", "max", "nearest", "mode"]


def half_even(numerator, denominator):
    return round(fractions.Fraction(int(numerator), int(denominator)))


def reduced_block(block, factors, how):
    """The element that a block of a level becomes."""
    flat = block.ravel()
    is_integer = block.dtype.kind in "iu"
    if how == "nearest":
        return block[tuple(min((factor - 1) // 2, extent - 1) for factor, extent in zip(factors, block.shape, strict=True))]
    if how == "max":
        return flat.max()
    if how == "mode":
        values, counts = np.unique(flat, return_counts=True)
        return values[counts.argmax()]  # the first of several, which is the least
    if how == "mean":
        return (half_even(sum(map(int, flat)), flat.size) if is_integer
                else np.add.accumulate(flat.astype("float64"))[-1] / flat.size)
    if not is_integer and np.isnan(flat).any():
        return np.nan
    middle = np.sort(flat)[(flat.size - 1) // 2:flat.size // 2 + 1]
    return (half_even(sum(map(int, middle)), middle.size) if is_integer
            else middle.astype("float64").sum() / middle.size)


def one_nan(array):
    """The array with NaNs of one form."""
    return np.where(np.isnan(array), np.array(np.nan, array.dtype), array) if array.dtype.kind == "f" else array


def reduced(array, factors, how):
    made = np.empty([-(-extent // factor) for extent, factor in zip(array.shape, factors, strict=True)], array.dtype)
    for at in np.ndindex(made.shape):
        block = array[tuple(slice(i * factor, (i + 1) * factor) for i, factor in zip(at, factors, strict=True))]
        made[at] = reduced_block(block, factors, how)
    return one_nan(made)


def group_of(folder):
    return json.loads(pathlib.Path(folder, "zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]


def check_levels(folder, array, factors, how="mean", scale=None, origin=None):
    """Level 0 is the array, and each level what its blocks of these factors are; they lie where they should."""
    scale = np.ones(array.ndim) if scale is None else np.array(scale)
    origin = np.zeros(array.ndim) if origin is None else np.array(origin)
    datasets = group_of(folder)["datasets"]
    assert [one["path"] for one in datasets] == [str(i) for i in range(len(factors) + 1)]
    for one, each in zip(datasets, [[1] * array.ndim, *factors], strict=True):
        found, node = read_array(pathlib.Path(folder, one["path"]))
        same(found, array if one["path"] == "0" else reduced(array, each, how))
        assert node["dimension_names"] == [axis["name"] for axis in group_of(folder)["axes"]]
        transforms = {change["type"]: change[change["type"]] for change in one["coordinateTransformations"]}
        assert list(transforms)[0] == "scale"
        assert np.allclose(transforms["scale"], scale * each)
        assert np.allclose(transforms.get("translation", 0 * scale), origin + (np.array(each) - 1) / 2 * scale)


def values(shape, dtype):
    """Elements of the whole range, many of them alike."""
    random = np.random.default_rng(7)
    if np.dtype(dtype).kind == "f":
        return (random.integers(-9, 9, shape) * 1.37).astype(dtype)
    limits = np.iinfo(dtype)
    some = np.array([limits.min, limits.min + 1, 0, 1, 2, 3, limits.max - 1, limits.max], dtype)
    return random.choice(some, shape)


ISOTROPIC = [[2, 2, 2], [4, 4, 4], [8, 8, 8]]


@pytest.mark.share(0.3)
@pytest.mark.quick
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64", "int32", "uint64", "int64", "float16"])
def test_elements(dtype, how):
    """Odd extents and extents below a block, of every type."""
    for shape, chunk in (((5, 23, 37), "2,8,16"), ((9, 7, 12), "9,7,12"), ((1, 19, 5), "1,5,3")):
        array = values(shape, dtype)
        np.save("in.npy", array)
        good("convert", "in.npy", "out.ome.zarr", "--levels", "4", "--downsample", how, "--chunk", chunk, "--overwrite")
        limited = [[min(f, 1 << (n - 1).bit_length()) for f, n in zip(each, shape, strict=True)] for each in ISOTROPIC]
        check_levels("out.ome.zarr", array, limited, how)
        assert group_of("out.ome.zarr")["type"] == how


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_not_finite(dtype):
    """A NaN makes a mean, a median and a maximum NaN; among equals it is one value."""
    array = values((4, 8, 8), dtype)
    array[0, 0, 0] = array[2, 2, 1] = array[3, 3, 1] = array[3, 2, 1] = array[2, 3, 1] = np.nan
    array[0, 4, 4] = np.inf
    array[0, 6, 6], array[0, 6, 7] = np.inf, -np.inf
    np.save("in.npy", array)
    for how in ("mean", "median", "max"):
        good("convert", "in.npy", "out.ome.zarr", "--levels", "3", "--downsample", how, "--overwrite")
        with np.errstate(invalid="ignore"):
            check_levels("out.ome.zarr", array, ISOTROPIC[:2], how)
    good("convert", "in.npy", "out.ome.zarr", "--levels", "2", "--downsample", "mode", "--overwrite")
    found = read_array("out.ome.zarr/1")[0]
    assert np.isnan(found[1, 1, 0]) and not np.isnan(found[0, 0, 0])


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("compression", ["none", "blosc-lz4"])
@pytest.mark.parametrize("layout", ["", "chunk = [1, 16, 48]\nshard = [2, 32, 96]", "chunk = [3, 50, 7]"])
def test_same_bytes(compression, layout):
    """Of any ranks, chunks and lanes, and of convert."""
    array = values((7, 65, 131), "uint16")
    write_input(array, DIMENSION_LABELS=["z", "y", "x"], element_size_um=[1.5, 0.5, 0.75])
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    set_output(f'{layout}\ncompression = "{compression}"\nlevels = 4\ndownsample = "median"')
    made = []
    for ranks, rows, lanes in ((1, 1, 2), (2, 7, 1), (3, 100, 3)):
        call("job.toml", "--set", f"run.lanes={lanes}", "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.append(content("out.ome.zarr"))
        assert made[-1] == made[0]
    # At level 1 voxels are 1.5 x 1 x 1.5, at level 2 1.5 x 2 x 3.
    check_levels("out.ome.zarr", array, [[1, 2, 2], [1, 4, 4], [2, 8, 8]], "median", [1.5, 0.5, 0.75])
    assert "3 coarser ones compared: all right" in call("verify", "out.ome.zarr").stdout
    assert sorted(path.name for path in pathlib.Path().glob("out.ome.zarr*")) == ["out.ome.zarr"]
    options = [word for line in layout.splitlines() for word in ("--" + line.split()[0], line.split("[")[1][:-1].replace(" ", ""))]
    good("convert", "in.h5:/x", "b.ome.zarr", "--compression", compression, "--levels", "4", "--downsample", "median", *options)
    assert content("b.ome.zarr") == made[0]


ONE_PASS = [  # units of several files, of one, and of the whole; extents that end within them
    ((70, 45), "y, x", "chunk = [16, 8]\nshard = [32, 16]", "levels = 3"),
    ((13, 67, 41), "z, y, x", "chunk = [3, 5, 7]\nshard = [6, 10, 14]", "levels = 4"),
    ((13, 67, 41), "z, y, x", "chunk = [1, 67, 41]", 'levels = 2\ndownsample = "max"\nlevel_factors = [3, 1, 2]'),
    ((3, 2, 5, 33, 19), "t, c, z, y, x", "chunk = [2, 1, 2, 8, 4]\nshard = [2, 2, 4, 16, 8]", "levels = 3"),
    ((2, 5, 33, 19), "c, z, y, x", "", "levels = 3"),
    ((7, 300, 21), "z, y, x", "chunk = [2, 64, 8]", 'levels = 3\nngff = "0.4"'),
]


@pytest.mark.quick
@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize(("shape", "names", "layout", "keys"), ONE_PASS)
def test_one_pass(shape, names, layout, keys, compression):
    """convert, which makes files and levels while their elements are in memory, makes what a job makes in several passes."""
    write_input(values(shape, "int16"), DIMENSION_LABELS=names.split(", "))
    write_job("transpose", "a.ome.zarr", f"permutation = {list(range(len(shape)))}")
    set_output(f'compression = "{compression}"\n{layout}\n{keys}')
    call("job.toml")
    options = [word for key, value in (line.split(" = ") for line in f"{layout}\n{keys}".split("\n") if line)
               for word in ("--" + key.replace("_", "-"), value.strip('[]"').replace(" ", ""))]
    good("convert", "in.h5:/x", "b.ome.zarr", "--compression", compression, *options)
    assert content("b.ome.zarr") == content("a.ome.zarr")


@pytest.mark.parametrize(("shape", "layout"), [((37, 1201, 1100), ""), ((9001, 5501), ""),
                                               ((70, 901, 800), "chunk = [3, 901, 800]\nshard = [60, 901, 800]")])
def test_one_pass_of_large_files(shape, layout):
    """Files of which one has more than is kept in memory at once."""
    array = np.resize(values((1009, 97), "int16"), shape)
    write_input(array, DIMENSION_LABELS=["z", "y", "x"][-len(shape):])
    write_job("transpose", "a.ome.zarr", f"permutation = {list(range(len(shape)))}")
    set_output(f'{layout}\ncompression = "blosc-lz4"')
    call("job.toml")
    options = [word for line in layout.splitlines() for word in ("--" + line.split()[0], line.split("[")[1][:-1].replace(" ", ""))]
    good("convert", "in.h5:/x", "b.ome.zarr", "--compression", "blosc-lz4", *options)
    assert content("b.ome.zarr") == content("a.ome.zarr")


@pytest.mark.quick
def test_one_pass_of_some_frames():
    """Frames from the middle, as another type; of every second frame, which are copied row by row."""
    array = values((9, 40, 21), "int16")
    write_input(array)
    for frames, taken in (("2:8", array[2:8]), ("1:9:2", array[1:9:2])):
        good("convert", "in.h5:/x", "out.ome.zarr", "--frames", frames, "--dtype", "float32", "--levels", "3",
             "--chunk", "2,8,8", "--overwrite")
        check_levels("out.ome.zarr", taken.astype("float32"), ISOTROPIC[:2])


AXES = [
    ((70, 45), "y, x", "levels = 3", [[2, 2], [4, 4]]),
    ((700, 45), "y, x", 'levels = "auto"', [[2, 2], [4, 4]]),
    ((2, 257, 3), "z, y, x", "", [[2, 2, 2]]),
    ((1, 3, 256), "z, y, x", "", []),
    ((3, 40, 9), "t, y, x", "levels = 5", [[1, 2, 2], [1, 4, 4], [1, 8, 8], [1, 16, 16]]),
    ((2, 3, 4, 20, 9), "t, c, z, y, x", "levels = 3\nchunk = [2, 2, 2, 8, 4]", [[1, 1, 2, 2, 2], [1, 1, 4, 4, 4]]),
    ((2, 3, 20, 9), "c, z, y, x", "levels = 3\nlevel_factors = [2, 2]", [[1, 1, 2, 2], [1, 1, 4, 4]]),
    ((6, 20, 19), "z, y, x", "levels = 3\nlevel_factors = [1, 3, 2]", [[1, 3, 2], [1, 9, 4]]),
    ((9, 5, 2), "z, y, x", "levels = 30", [[2, 2, 2], [4, 4, 2], [8, 8, 2], [16, 8, 2]]),  # until all is one element
    ((5, 6, 7), "z, y, x", 'levels = "auto"', []),
    ((5, 6, 7), "z, y, x", "levels = 1", []),
]


@pytest.mark.quick
@pytest.mark.parametrize(("shape", "names", "keys", "factors"), AXES)
def test_axes(shape, names, keys, factors):
    """Time and channels keep their extents; z is coarsened with y and x once voxels are as wide as tall."""
    array = values(shape, "uint8")
    write_input(array, DIMENSION_LABELS=names.split(", "))
    write_job("rescale", "out.ome.zarr", "from = [0, 255]\nto = [0, 255]")
    set_output(keys)
    call("job.toml", ranks=2)
    check_levels("out.ome.zarr", array, factors)
    call("verify", "out.ome.zarr")


@pytest.mark.quick
def test_origin():
    """A part of the input, which bin has made smaller: levels lie at the middle of their blocks."""
    array = values((6, 40, 60), "uint16")
    write_input(array, element_size_um=[2.0, 0.5, 0.25])
    write_job("bin", "out.ome.zarr", "factors = [2, 4]", more='region = { rows = "4:36", columns = "8:60" }')
    set_output("levels = 3")
    call("job.toml")
    inner = array[:, 4:36, 8:60]
    binned = np.stack([reduced(frame, [2, 4], "mean") for frame in inner])
    check_levels("out.ome.zarr", binned, [[1, 2, 2], [2, 4, 4]], "mean", [2.0, 1.0, 1.0], [0, 2.25, 2.375])
    assert json.loads(good("inspect", "out.ome.zarr", "--json"))["datasets"][0]["path"] == "/0"


def test_inspected():
    """inspect lists all levels, and each can be read."""
    array = values((6, 40, 60), "uint16")
    np.save("in.npy", array)
    good("generate", "gradient", "made.ome.zarr", "--shape", "3,600,20", "--dtype", "uint16", "--levels", "auto")
    assert [one["path"] for one in json.loads(good("inspect", "made.ome.zarr", "--json"))["datasets"]] == ["/0", "/1", "/2"]
    good("convert", "in.npy", "out.ome.zarr", "--levels", "3")
    for path, factors in (("/0", [1, 1, 1]), ("/1", [2, 2, 2]), ("/2", [4, 4, 4])):
        assert path in good("inspect", "out.ome.zarr")
        good("convert", f"out.ome.zarr:{path}", "back.npy", "--overwrite")
        same(np.load("back.npy"), reduced(array, factors, "mean"))


@pytest.mark.quick
def test_planned():
    """plan counts the levels and the room that they take, at most."""
    write_input(values((8, 600, 520), "uint16"), DIMENSION_LABELS=["t", "y", "x"])
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    needed = {}
    for levels in ("1", '"auto"'):
        plan = json.loads(call("plan", "job.toml", "--json", "--set", f"output.levels={levels}").stdout)
        needed[levels] = plan["disk_needed_bytes"]
    assert needed["1"] == 8 * 600 * 520 * 2 * (2 if in_memory() else 1)
    assert needed['"auto"'] == needed["1"] + 2 * 2 * 8 * (300 * 260 + 150 * 130)
    assert plan["outputs"][0]["levels"] == [[8, 300, 260], [8, 150, 130]] and plan["outputs"][0]["files"] == 3
    assert "in 3 levels down to [8, 150, 130], 3 files" in good("plan", "job.toml", "--set", 'output.levels="auto"')


@pytest.mark.quick
def test_refusals():
    write_input(values((5, 70, 10), "uint8"))
    for output, settings, words in (
            ("out.zarr", ["levels=2"], ["output.levels", ".ome.zarr"]),
            ("out.h5", ['levels="auto"'], ["output.levels", ".ome.zarr"]),
            ("out.npy", ["levels=2"], ["output.levels", ".ome.zarr"]),
            ("out.tif", ['downsample="max"'], ["output.downsample", ".ome.zarr"]),
            ("out.ome.zarr", ["levels=0"], ["output.levels"]),
            ("out.ome.zarr", ['levels="all"'], ["output.levels", '"auto" or an integer']),
            ("out.ome.zarr", ["levels=1", 'downsample="max"'], ["output.downsample", "output.levels is 1"]),
            ("out.ome.zarr", ["levels=1", "level_factors=[2, 2]"], ["output.level_factors", "output.levels is 1"]),
            ("out.ome.zarr", ["levels=2", 'downsample="mena"'], ["output.downsample", "mean"]),
            ("out.ome.zarr", ["levels=2", "level_factors=[2]"], ["output.level_factors", "two factors"]),
            ("out.ome.zarr", ["levels=2", "level_factors=[1, 1]"], ["output.level_factors", "one above 1"]),
            ("out.ome.zarr", ["levels=2", "level_factors=[65, 1, 1]"], ["output.level_factors", "64"])):
        write_job("transpose", output, "permutation = [0, 1, 2]")
        error = call("job.toml", *(word for one in settings for word in ("--set", f"output.{one}")), code=2).stderr
        assert all(word in error for word in words), error
        assert not os.path.exists(output)
    for output, options, word in (("b.zarr", ["--levels", "2"], "--levels"), ("b.ome.zarr", ["--level-factors", "2,2", "--levels", "1"], "--levels"),
                                  ("b.ome.zarr", ["--levels", "0"], "--levels")):
        bad(2, [word], "convert", "in.h5:/x", output, *options)


@pytest.mark.quick
def test_spacings_that_overflow():
    """JSON has no infinity: a scale that would be one is refused before the work."""
    write_input(values((5, 70, 10), "uint8"))
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    spacing = ("--set", 'input.axes="zyx"', "--set", "input.spacing={ z = 1, y = 1e308, x = 2 }")
    for command in (["plan", "job.toml"], ["job.toml"]):
        error = call(*command, *spacing, "--set", "output.levels=2", code=2).stderr
        assert "spacing of 1e+308 along y" in error and "input.spacing" in error and error.count("\n") == 1, error
        assert not os.path.exists("out.ome.zarr")
    write_job("bin", "out.ome.zarr", "factors = [1, 4, 1]")
    error = call("job.toml", *spacing, "--set", "output.levels=1", code=2).stderr
    assert "spacing of inf along y" in error and not os.path.exists("out.ome.zarr"), error
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    call("job.toml", *spacing, "--set", "output.levels=1")
    assert group_of("out.ome.zarr")["datasets"][0]["coordinateTransformations"][0]["scale"] == [1, 1e308, 2]


def test_blocks_of_a_gibibyte():
    """A number of levels that makes larger blocks is refused, and "auto" ends before."""
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("x", (70000, 40000), "uint8", chunks=(1000, 1000))  # of no bytes on the disk
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1]")
    assert "output.levels" in call("plan", "job.toml", "--set", "output.levels=17", code=2).stderr
    plan = json.loads(call("plan", "job.toml", "--json", "--set", "output.levels=16").stdout)
    assert plan["outputs"][0]["levels"][-1] == [3, 2]
    settings = ("--set", "output.level_factors=[16, 1]")  # x is never at most 256
    plan = json.loads(call("plan", "job.toml", "--json", *settings).stdout)
    assert plan["outputs"][0]["levels"][-1] == [1, 40000]


@pytest.mark.quick
def test_batch():
    """Each output of a batch has levels, is verified and is repaired."""
    arrays = {"a": values((3, 300, 20), "uint16"), "b": values((2, 17, 600), "int16")}
    os.mkdir("made")
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
    pathlib.Path("job.toml").write_text(
        'kind = "transpose"\n[batch]\ninputs = ["*.npy"]\noutput = "made/{stem}.ome.zarr"\n'
        'state = "state"\n[output]\ndownsample = "max"\n[transpose]\npermutation = [0, 1, 2]\n')
    call("batch", "job.toml", ranks=2)
    for (name, array), factors in zip(arrays.items(), ([[2, 2, 2]], [[2, 2, 2], [2, 4, 4]]), strict=True):
        folder = f"made/{name}.ome.zarr"
        check_levels(folder, array, factors, "max")
        whole = content(folder)
        pathlib.Path(folder, "1/zarr.json").unlink()
        damage(folder, "1/c/0/0/0", "flip")
        call("repair", folder)
        assert content(folder) == whole
        call("verify", folder)


FAULTS = ["create:kill@1:partial/2/elements", "pwrite:kill@2:partial/1/elements", "pwrite:torn@1:partial/1/c",
          "pwrite:kill@1:partial/2/c", "unlink:kill@1:partial/1/elements", "pwrite:kill@1:partial/2/zarr.json",
          "pwrite:kill@1:partial/zarr.json", "pwrite:kill@1:partial/runner.json", "rename:kill@2:out.ome.zarr.partial"]


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("fault", FAULTS)
def test_killed(fault):
    """A run that is killed as it makes levels is resumed by any ranks to the same bytes."""
    write_input(values((6, 90, 70), "uint16"))
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output("chunk = [1, 16, 32]\nshard = [2, 32, 64]\nlevels = 3")
    call("job.toml")
    whole = content("out.ome.zarr")
    for ranks, is_there in ((1, False), (3, True)):
        if is_there:
            call("job.toml", "--set", 'convolve.boundary="reflect"')
        else:
            shutil.rmtree("out.ome.zarr")
        before = content("out.ome.zarr")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", code=-signal.SIGKILL, env=environment)
        assert content("out.ome.zarr") == before
        call("job.toml", ranks=ranks)
        assert content("out.ome.zarr") == whole
        call("verify", "out.ome.zarr")
        assert sorted(path.name for path in pathlib.Path().glob("out.ome.zarr*")) == ["out.ome.zarr"]


LAYOUTS = {"shards": "chunk = [1, 16, 16]\nshard = [2, 32, 48]", "chunks alone": "chunk = [2, 16, 16]\nshard = [2, 16, 16]"}


def place_of(name, layout):
    """What messages say of a file of a level: its array, and the shard or the chunk by its index."""
    array, _, *index = name.split("/")
    return f"{name}, array /{array}, {'shard' if layout == 'shards' else 'chunk'} [{', '.join(index)}]"


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("change", ["remove", "empty", "cut", "flip", "index"])
def test_repaired(layout, change):
    """Verify names the damaged files of levels, and repair makes them again of level 0, which it mends before."""
    write_input(values((6, 70, 100), "uint16"), DIMENSION_LABELS=["z", "y", "x"])
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output(f'compression = "zstd"\n{LAYOUTS[layout]}\nlevels = 3\ndownsample = "mode"')
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.ome.zarr")
    for names in (["1/c/0/1/0"], ["1/c/0/0/0", "2/c/0/0/0", "1/c/1/1/1"], ["0/c/1/0/1", "1/c/0/0/0"]):
        for name in names:
            damage("out.ome.zarr", name, change)
        found = call("verify", "out.ome.zarr", code=7).stdout
        if names[0].startswith("0"):
            assert "levels: not compared, since rows of the image are wrong" in found
            first = [line for line in found.splitlines() if line.startswith("wrong: ")][0]
            assert ("(array /0, shard [1, 0, 0], chunk [2, 0, 0], to shard [1, 0, 2], chunk [2, 0, 6], in 0/c/1/0/0 to 0/c/1/0/2)"
                    if layout == "shards" else "(array /0, chunk [1, 0, 0], to chunk [1, 0, 6], in 0/c/1/0/0 to 0/c/1/0/6)") in first
        else:
            assert all(f"wrong: {place_of(name, layout)}" in found for name in names) and found.count("wrong: ") == len(names)
            report = json.loads(call("verify", "out.ome.zarr", "--json", code=7).stdout)
            assert [one["file"] for one in report["wrong_files"]] == sorted(names) and report["differs"]
            for one in report["wrong_files"]:
                array, _, *index = one["file"].split("/")
                assert one["array"] == "/" + array and one["shard" if layout == "shards" else "chunk"] == list(map(int, index))
        repaired = call("repair", "out.ome.zarr").stdout
        assert all(f"repaired: {place_of(name, layout)}" in repaired for name in names if not name.startswith("0"))
        assert content("out.ome.zarr") == whole
        call("verify", "out.ome.zarr")
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    pathlib.Path("out.ome.zarr/1/c/9").write_bytes(b"x")
    assert "1/c/9, which is none of its files" in call("verify", "out.ome.zarr", code=3).stderr


@pytest.mark.quick
@pytest.mark.parametrize("ngff", ["0.4", "0.5"])
def test_folders_repaired(ngff):
    """The whole folder of a level that is missing is made again, that of the image too. Of version 2 no message tells of
    an index, which it has not."""
    write_input(values((6, 70, 100), "uint16"), DIMENSION_LABELS=["z", "y", "x"])
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output(f'chunk = [1, 32, 32]\nlevels = 3\nngff = "{ngff}"' + ("" if ngff == "0.4" else "\nshard = [2, 32, 64]"))
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.ome.zarr")
    for levels in ("1", "2", "12", "0", "012"):
        for level in levels:
            shutil.rmtree("out.ome.zarr/" + level)
        assert "is missing. Run runner repair" in call("verify", "out.ome.zarr", code=3).stderr
        assert "repaired: " in call("repair", "out.ome.zarr").stdout
        assert content("out.ome.zarr") == whole
        call("verify", "out.ome.zarr")
    for name in [next(name for name in whole if name.startswith(level) and name.endswith("0/0")) for level in "01"]:
        pathlib.Path("out.ome.zarr", name).unlink()
        found = call("verify", "out.ome.zarr", code=7).stdout
        assert "is missing" in found and "index" not in found, found
        pathlib.Path("out.ome.zarr", name).touch()
        found = call("verify", "out.ome.zarr", code=7).stdout
        assert "cannot be right" in found and "index" not in found, found
        call("repair", "out.ome.zarr")
        assert content("out.ome.zarr") == whole


@pytest.mark.quick
def test_elements_of_levels_changed():
    """A level of other elements, correctly packed, is found, also where every byte of its file is valid."""
    write_input(values((4, 40, 40), "uint8"))
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    set_output("levels = 3")
    call("job.toml")
    whole = content("out.ome.zarr")
    for level, (byte, name) in itertools.product((1, 2), ((0, "c/0/0/0"), (7, "c/0/0/0"))):
        path = pathlib.Path("out.ome.zarr", str(level), name)
        data = bytearray(path.read_bytes())
        data[byte] ^= 1
        path.write_bytes(data)
        assert f"wrong: {level}/{name}, array /{level}, chunk [0, 0, 0]: its elements are not those" in call(
            "verify", "out.ome.zarr", code=7).stdout
        assert f"wrong: {level}/{name}" in call("verify", "out.ome.zarr", "--sample", "1", code=7).stdout
        call("repair", "out.ome.zarr")
        assert content("out.ome.zarr") == whole


@pytest.mark.quick
@pytest.mark.parametrize("ngff", ["0.4", "0.5"])
def test_first_wrong_chunk(ngff):
    """The message names the first chunk of a file whose elements are others, by its index in the whole level."""
    write_input(values((3, 70, 100), "uint16"), DIMENSION_LABELS=["z", "y", "x"])
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    set_output("chunk = [1, 8, 8]\nlevels = 2\n" + ('ngff = "0.4"' if ngff == "0.4" else "shard = [2, 16, 32]"))
    call("job.toml")
    name = "1/1/2/3" if ngff == "0.4" else "1/c/0/1/0"  # of 5 x 7 chunks in a frame
    path = pathlib.Path("out.ome.zarr", name)
    data = bytearray(path.read_bytes())
    for chunk in (1, 6) if ngff == "0.5" else (0,):  # along x, then y, then z in the shard
        data[chunk * 8 * 8 * 2] ^= 1
    path.write_bytes(data)
    place = "chunk [1, 2, 3]" if ngff == "0.4" else "shard [0, 1, 0], chunk [0, 2, 1]"
    said = f"{name}, array /1, {place}"
    assert f"wrong: {said}: its elements are not those" in call("verify", "out.ome.zarr", code=7).stdout
    assert f"(out.ome.zarr/{said}): " in call("certify", "out.ome.zarr", code=7).stderr
    assert f"repaired: {said}\n" in call("repair", "out.ome.zarr").stdout
    call("verify", "out.ome.zarr")
