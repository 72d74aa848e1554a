"""The windows of channels in OME-Zarr outputs: the extremes of the elements that numpy finds; labels and colours; the order of axes."""
import json
import os
import pathlib
import shutil
import signal

import h5py
import numpy as np
import pytest

from harness import attempt, call, good, programs
from tiff_outputs import TAPS, noise, write_input, write_job
from zarr_outputs import content, set_output


def channels_of(folder):
    return json.loads(pathlib.Path(folder, "zarr.json").read_text())["attributes"]["ome"]["omero"]["channels"]


def window(elements, invalid=None):
    """What a window is of elements, by the rule of the documentation."""
    elements = np.asarray(elements).ravel()
    if elements.dtype.kind == "f":
        elements = elements[np.isfinite(elements)]
    if invalid is not None:
        elements = elements[elements != elements.dtype.type(invalid)]
    if elements.size == 0:
        return {"min": 0, "max": 1, "start": 0, "end": 1}
    least, greatest = elements.min().item(), elements.max().item()
    same = least == greatest
    return {"min": least, "max": greatest, "start": 0 if same and least > 0 else least,
            "end": 1 if same and least < 1 else greatest}


def check_windows(folder, channels, invalid=None):
    """`channels`: the elements of each."""
    found = [one["window"] for one in channels_of(folder)]
    assert found == [window(each, invalid) for each in channels]
    for one in found:
        assert one["start"] < one["end"] and one["min"] <= one["max"]


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                                   "float16", "float32", "float64"])
def test_types(dtype):
    """The exact extremes of every type, at the last element too, with and without levels."""
    limits = np.finfo(dtype) if dtype.startswith("f") else np.iinfo(dtype)
    array = np.random.default_rng(3).integers(0, 100, (3, 7, 31)).astype(dtype)
    for least, greatest in ((limits.min, limits.max), (1, limits.max - (0 if dtype.startswith("f") else 1)), (3, 99)):
        array[0, 0, 5], array[2, 6, 30] = least, greatest
        array[1, 3, 3] = np.clip(50, least, greatest)
        array = np.clip(array, least, greatest)
        np.save("in.npy", array)
        for levels in ("1", "3"):
            good("convert", "in.npy", "out.ome.zarr", "--levels", levels, "--chunk", "2,4,8", "--overwrite")
            check_windows("out.ome.zarr", [array])


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_no_values(dtype):
    """NaN and infinities are left out; zero has no sign; viewers refuse a window from a number to itself."""
    array = np.zeros((4, 6, 5), dtype)
    array[0] = np.nan
    array[0, 2, 2], array[0, 2, 3] = np.inf, -np.inf
    array[1, 1], array[1, 2, 0] = -0.0, np.nan
    array[2] = [-2, np.nan, np.inf, -np.inf, -2]
    array[3] = 7.5
    array[3, 0, 0] = np.inf
    with h5py.File("in.h5", "w") as file:
        file["x"] = array
        file["x"].attrs["DIMENSION_LABELS"] = ["c", "y", "x"]
    good("convert", "in.h5:/x", "out.ome.zarr")
    check_windows("out.ome.zarr", array)
    assert "-0.0" not in pathlib.Path("out.ome.zarr/zarr.json").read_text()


def write_channels(array, names="t, c, z, y, x", **attributes):
    write_input(array, DIMENSION_LABELS=names.split(", "), **attributes)


CASES = [((2, 3, 2, 9, 17), "t, c, z, y, x", 1), ((3, 2, 5, 7), "c, z, y, x", 0), ((5, 9, 20), "c, y, x", 0),
         ((2, 3, 9, 20), "t, c, y, x", 1), ((5, 9, 20), "t, y, x", None), ((9, 20), "y, x", None)]


@pytest.mark.quick
@pytest.mark.parametrize(("shape", "names", "axis"), CASES)
def test_channels(shape, names, axis):
    """Each channel has its own; any ranks, rows and convert make the same bytes."""
    array = np.random.default_rng(5).integers(-999, 999, shape).astype("int16")
    write_channels(array, names)
    write_job("median", "out.ome.zarr", "size = [1, 1]")
    set_output("levels = 2")
    made = []
    for ranks, rows in ((1, 1), (3, 4)):
        call("job.toml", "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.append(content("out.ome.zarr"))
    good("convert", "in.h5:/x", "b.ome.zarr", "--levels", "2")
    assert made[0] == made[1] == content("b.ome.zarr")
    check_windows("out.ome.zarr", [array] if axis is None else np.moveaxis(array, axis, 0))
    call("verify", "out.ome.zarr")
    colours = ["FFFFFF"] if axis is None else ["00FF00", "FF0000", "0000FF", "FF00FF", "00FFFF"][:shape[axis]]
    assert [one["color"] for one in channels_of("out.ome.zarr")] == colours
    assert not any("label" in one for one in channels_of("out.ome.zarr"))


@pytest.mark.quick
def test_labels_and_colours():
    """Those of the input are kept, with the channels that are taken; its windows are not."""
    array = np.random.default_rng(5).integers(100, 900, (3, 3, 20, 30)).astype("uint16")
    write_channels(array, "c, z, y, x")
    good("convert", "in.h5:/x", "in.ome.zarr")
    path = pathlib.Path("in.ome.zarr/zarr.json")
    node = json.loads(path.read_text())
    labels, colours = ["DAPI", "GFP", "Cy5"], ["0000ff", "12AB34", "FF00FF"]
    for one, label, colour in zip(node["attributes"]["ome"]["omero"]["channels"], labels, colours, strict=True):
        one.update(label=label, color=colour, window={"min": 0, "max": 65535, "start": 5, "end": 6})
    path.write_text(json.dumps(node))
    pathlib.Path("job.toml").write_text(
        'kind = "median"\n[input]\nfile = "in.ome.zarr"\nselect = { c = "1:3" }\n[output]\nfile = "out.ome.zarr"\n'
        '[median]\nsize = [1, 1]\n')
    call("job.toml", ranks=2)
    check_windows("out.ome.zarr", array[1:])
    assert [(one["label"], one["color"]) for one in channels_of("out.ome.zarr")] == [("GFP", "12AB34"), ("Cy5", "FF00FF")]
    for between in ("b.ome.zarr", "b.h5:/x"):
        good("convert", "out.ome.zarr", between)
        good("convert", between, "c.ome.zarr", "--overwrite")
        assert channels_of("c.ome.zarr") == channels_of("out.ome.zarr")
    node["attributes"]["ome"]["omero"]["channels"][1]["color"] = "green"
    path.write_text(json.dumps(node))
    warned = call("convert", "in.ome.zarr", "d.ome.zarr").stderr
    assert warned.count("warning") == 1 and "it is green, not six hexadecimal digits" in warned, warned
    assert [one["color"] for one in channels_of("d.ome.zarr")] == ["0000FF", "FF0000", "FF00FF"]


@pytest.mark.quick
def test_invalid():
    """Elements that the input declares invalid are no part of a window, in a job and in convert."""
    array = np.random.default_rng(5).integers(-50, 50, (2, 20, 30)).astype("int16")
    array[0, 3], array[1] = -32768, -32768
    write_channels(array, "c, y, x", _FillValue=np.int16(-32768))
    write_job("median", "out.ome.zarr", "size = [1, 1]")
    call("job.toml", ranks=2)
    check_windows("out.ome.zarr", array, -32768)
    good("convert", "in.h5:/x", "b.ome.zarr")
    check_windows("b.ome.zarr", array, -32768)


@pytest.mark.quick
def test_generated():
    good("generate", "noise", "made.ome.zarr", "--shape", "3,40,30", "--dtype", "float32")
    good("convert", "made.ome.zarr", "made.npy")
    check_windows("made.ome.zarr", [np.load("made.npy")])


@pytest.mark.quick
def test_many_channels():
    """An image of more channels than a viewer lists has no windows."""
    for count, is_stated in ((1024, True), (1025, False)):
        write_channels(np.arange(count * 4, dtype="uint16").reshape(count, 2, 2), "c, y, x")
        good("convert", "in.h5:/x", "out.ome.zarr", "--overwrite")
        ome = json.loads(pathlib.Path("out.ome.zarr/zarr.json").read_text())["attributes"]["ome"]
        assert ("omero" in ome) == is_stated
        if is_stated:
            check_windows("out.ome.zarr", np.arange(count * 4, dtype="uint16").reshape(count, 4))


@pytest.mark.quick
def test_killed_and_repaired():
    """A killed run that any ranks resume states the same, as does repair of a missing zarr.json."""
    array = np.random.default_rng(5).normal(0, 9, (2, 6, 90, 70)).astype("float32")
    write_channels(array, "c, z, y, x")
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output("chunk = [1, 1, 16, 32]\nshard = [1, 2, 32, 64]\nlevels = 1")
    commit = ("--set", "run.chunk_rows=90", "--set", "run.commit_seconds=0")
    call("job.toml", *commit)
    good("convert", "out.ome.zarr", "out.npy")
    check_windows("out.ome.zarr", np.load("out.npy"))
    whole = content("out.ome.zarr")
    for ranks, fault in ((1, "pwrite:kill@9:out.ome.zarr.partial.shard"), (3, "pwrite:torn@1:partial/zarr.json")):
        call("job.toml", *commit, "--set", 'convolve.boundary="reflect"')
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        call("job.toml", *commit, ranks=ranks)
        assert content("out.ome.zarr") == whole
    pathlib.Path("out.ome.zarr/zarr.json").unlink()
    assert "repaired: zarr.json" in call("repair", "out.ome.zarr").stdout
    assert content("out.ome.zarr") == whole
    path = pathlib.Path("out.ome.zarr/zarr.json")
    path.write_text(path.read_text().replace('"start": ', '"start": 1', 1))
    assert "not as it was made" in call("verify", "out.ome.zarr", code=3).stderr


@pytest.mark.quick
def test_one_channel():
    """The name and the colour of an image that is one channel are kept, with an axis c and without."""
    array = noise((3, 20, 24))
    for names, shape in (("z, y, x", (3, 20, 24)), ("c, y, x", (1, 20, 24)), ("c, z, y, x", (1, 3, 20, 24))):
        write_channels(np.resize(array, shape), names)
        good("convert", "in.h5:/x", "a.ome.zarr", "--overwrite")
        path = pathlib.Path("a.ome.zarr/zarr.json")
        node = json.loads(path.read_text())
        node["attributes"]["ome"]["omero"]["channels"][0].update(label="DAPI", color="0000FF")
        path.write_text(json.dumps(node))
        assert "DAPI" in good("inspect", "a.ome.zarr")
        for version in ("0.5", "0.4"):
            good("convert", "a.ome.zarr", "b.ome.zarr", "--overwrite", "--ngff", version)
            good("convert", "b.ome.zarr", "b.ome.tif", "--overwrite")
            good("convert", "b.ome.tif", "c.ome.zarr", "--overwrite")
            for made in ["c.ome.zarr"] + ["b.ome.zarr"] * (version == "0.5"):
                assert [(one["label"], one["color"]) for one in channels_of(made)] == [("DAPI", "0000FF")], made
        write_job("median", "out.ome.zarr", "size = [1, 1]", source="a.ome.zarr")
        assert "channel" not in call("job.toml").stderr
        assert [one["label"] for one in channels_of("out.ome.zarr")] == ["DAPI"]


@pytest.mark.quick
def test_orders_of_axes():
    """Axes that would get the name of another one are refused, before anything is written; others are renamed."""
    for names, order in (("ctyx", [1, 0, 2, 3]), ("zcyx", [1, 0, 2, 3]), ("yxc", [2, 0, 1]), ("zty", [1, 0, 2]), ("xcy", [1, 0, 2])):
        array = noise((3, 2, 12, 14)[-len(names):])
        write_input(array, DIMENSION_LABELS=list(names))
        write_job("median", "out.ome.zarr", "size = [1, 1]")
        for words in (["job.toml"], ["plan", "job.toml"], ["convert", "in.h5:/x", "out.ome.zarr"]):
            error = attempt(*words)
            way = f"permutation = {order}"
            assert error.returncode == 2 and way in error.stderr and ".ome.tif" in error.stderr, error
            assert not os.path.exists("out.ome.zarr")
        write_job("transpose", "out.ome.zarr", f"permutation = {order}")
        call("job.toml", "--set", "output.overwrite=true")
        node = json.loads(pathlib.Path("out.ome.zarr/zarr.json").read_text())
        axes = node["attributes"]["ome"]["multiscales"][0]["axes"]
        assert [axis["name"] for axis in axes] == [names[i] for i in order]
        shutil.rmtree("out.ome.zarr")
    array = noise((3, 2, 12, 14))
    write_input(array, DIMENSION_LABELS=["q", "angle", "v", "u"])
    write_job("median", "out.ome.zarr", "size = [1, 1]")
    assert "names of axes" in call("job.toml").stderr
