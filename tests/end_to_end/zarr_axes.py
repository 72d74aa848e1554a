"""Axes of OME-Zarr outputs: their names, units and places, what levels do along each, and the chunks without output.chunk."""
import json
import pathlib

import h5py
import numpy as np
import pytest

from harness import bad, call, good

pytestmark = pytest.mark.quick


def write(name="in.h5", shape=(4, 5, 6, 7), labels=None, **attributes):
    with h5py.File(name, "w") as file:
        file["data"] = np.arange(np.prod(shape), dtype="u2").reshape(shape)
        file["data"].attrs.update(attributes)
        if labels:
            file["data"].attrs["DIMENSION_LABELS"] = labels


def image_of(folder):
    return json.loads(pathlib.Path(folder, "zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]


def names_of(folder):
    return [axis["name"] for axis in image_of(folder)["axes"]]


def scales_of(folder):
    return [level["coordinateTransformations"][0]["scale"] for level in image_of(folder)["datasets"]]


@pytest.mark.parametrize("count", [1, 6, 7])
def test_too_many_or_few_axes(count):
    """Every verb refuses them as a job does."""
    np.save("in.npy", np.zeros((2,) * count, "u1"))
    said = ["two to five axes"]
    bad(2, said, "convert", "in.npy", "out.ome.zarr")
    bad(2, said, "convert", "in.npy", "out.ome.zarr", "--ngff", "0.4")
    bad(2, said, "generate", "noise", "out.ome.zarr", "--shape", ",".join("2" * count), "--dtype", "uint8")
    assert not pathlib.Path("out.ome.zarr").exists()


@pytest.mark.parametrize("axes, factors, first", [
    ("xyz", [1, 2, 3], [3, 2, 1]), ("xzy", [1, 2, 3], [3, 1, 2]), ("zxy", [4, 2, 3], [4, 3, 2]), ("zyx", [4, 2, 3], [4, 2, 3]),
    ("xyz", [2, 3], [3, 2, 1]), ("txy", [2, 3], [1, 3, 2]), ("tzx", [4, 2, 3], [1, 4, 3]), ("tzx", [2, 3], [1, 2, 3]),
    ("czy", [4, 2, 3], [1, 4, 2]), ("xy", [2, 3], [3, 2])])
def test_level_factors_are_those_of_their_axes(axes, factors, first):
    np.save("in.npy", np.arange(24 ** len(axes), dtype="u2").reshape((24,) * len(axes)))
    order = list(range(len(axes)))
    good("transpose", "in.npy", "out.ome.zarr", "--quiet", "--permutation", ",".join(map(str, order)), "--set", f'input.axes="{axes}"',
         "--set", "output.levels=2", "--set", f"output.level_factors={factors}")
    assert names_of("out.ome.zarr") == list(axes)
    assert scales_of("out.ome.zarr")[1] == first


@pytest.mark.parametrize("labels, names", [(["", "c", "y", "x"], "tcyx"), (["t", "", "y", "x"], "tzyx"), (["", "c", "z", "y", "x"], "tczyx")])
def test_an_axis_without_a_name_gets_one_that_no_other_has(labels, names):
    write(shape=(3, 4, 5, 6, 7)[:len(labels)], labels=labels)
    good("convert", "in.h5", "out.ome.zarr")
    assert names_of("out.ome.zarr") == list(names)


@pytest.mark.parametrize("labels", [["", "t", "y", "x"], ["z", "", "y", "x"], ["", "t", "z", "y", "x"]])
def test_a_known_axis_keeps_its_name(labels):
    """Where that is not possible, the output is refused. Before, t became z."""
    write(shape=(3, 4, 5, 6, 7)[:len(labels)], labels=labels)
    bad(2, ["not in the order of OME-Zarr", "transpose with permutation = "], "convert", "in.h5", "out.ome.zarr")


def test_some_axes_of_a_plain_array_have_names():
    write(labels=["z", "", "", "x"])
    good("convert", "in.h5", "out.zarr")
    assert json.loads(pathlib.Path("out.zarr", "zarr.json").read_text())["dimension_names"] == ["z", None, None, "x"]


@pytest.mark.parametrize("unit, name", [("kilometer", "kilometer"), ("km", "kilometer"), ("inch", "inch"), ("attometre", "attometer"),
                                        ("mile", "mile"), ("parsec", "parsec"), ("decimeter", "decimeter"), ("yottameters", "yottameter")])
def test_units_of_ome_zarr(unit, name):
    """Each unit of length that OME-Zarr has; z is not coarsened while voxels are taller than wide."""
    larger = unit not in ("attometre",)
    write(shape=(4, 300, 300), labels=["z", "y", "x"], spacing=[1.0] * 3, spacing_units=[unit, "um", "um"])
    good("convert", "in.h5", "out.ome.zarr", "--levels", "2")
    assert [axis["unit"] for axis in image_of("out.ome.zarr")["axes"]] == [name, "micrometer", "micrometer"]
    assert scales_of("out.ome.zarr")[1] == [1 if larger else 2, 2, 2]


@pytest.mark.parametrize("unit, name", [("kilosecond", "kilosecond"), ("decisecond", "decisecond"), ("ms", "millisecond"), ("picoseconds", "picosecond")])
def test_units_of_time(unit, name):
    write(labels=["t", "z", "y", "x"], spacing=[0.5, 1, 1, 1], spacing_units=[unit, "um", "um", "um"])
    good("convert", "in.h5", "out.ome.zarr")
    assert image_of("out.ome.zarr")["axes"][0]["unit"] == name


@pytest.mark.parametrize("places", [[1, 2, 4, 8], [8, 7.75, 7.5, 7.25]])
def test_a_unit_is_one_of_a_spacing(places):
    """OME-Zarr requires a scale, and 1 is none in millimetres: a warning names the unit that is left out. Coordinates
    that are not evenly apart, and those that fall, are no spacing."""
    with h5py.File("in.nxs", "w") as file:
        group = file.create_group("entry")
        group.attrs.update(NX_class="NXdata", signal="data", axes=["y", "x"])
        group["data"] = np.zeros((4, 5), "f4")
        group["y"], group["x"] = np.float64(places), np.arange(5) * 0.25
        for name in "yx":
            group[name].attrs["units"] = "mm"
    warned = call("median", "in.nxs", "out.ome.zarr", "--size", "1,1", "--quiet").stderr
    assert "the unit mm of axis y" in warned and "the coordinates y" in warned, warned
    assert image_of("out.ome.zarr")["axes"] == [{"name": "y", "type": "space"}, {"name": "x", "type": "space", "unit": "millimeter"}]


def test_a_place_follows_its_unit():
    """Sizes in µm beside coordinates in mm, and a spacing of the job in another unit than the file's."""
    with h5py.File("in.nxs", "w") as file:
        group = file.create_group("entry")
        group.attrs.update(NX_class="NXdata", signal="data", axes=["y", "x"])
        group["data"] = np.zeros((4, 5), "f4")
        group["y"], group["x"] = 2 + np.arange(4) * 0.25, np.arange(5) * 0.5
        group["data"].attrs["element_size_um"] = [250.0, 500.0]
        for name in "yx":
            group[name].attrs["units"] = "mm"
    assert "y 250 um from 2000, x 500 um" in good("inspect", "in.nxs")
    good("median", "in.nxs", "out.ome.zarr", "--size", "1,1", "--quiet")
    level = image_of("out.ome.zarr")["datasets"][0]["coordinateTransformations"]
    assert level[1]["translation"] == [2000, 0]
    good("median", "out.ome.zarr", "nm.ome.zarr", "--size", "1,1", "--quiet", "--set", 'input.spacing={y=250e3,x=500e3,unit="nm"}')
    level = image_of("nm.ome.zarr")["datasets"][0]["coordinateTransformations"]
    np.testing.assert_allclose(level[1]["translation"], [2e6, 0], rtol=1e-12)
    good("median", "out.ome.zarr", "px.ome.zarr", "--size", "1,1", "--quiet", "--set", 'input.spacing={y=1.0,x=1.0,unit="pixel"}')
    assert len(image_of("px.ome.zarr")["datasets"][0]["coordinateTransformations"]) == 1 # nothing says where 2000 um are


@pytest.mark.parametrize("shape, dtype, chunk", [((1, 8_000_000), "u1", [1, 1 << 20]), ((8, 1_000_000), "f4", [8, 1 << 15]),
                                                 ((2, 4_000_000), "u1", [2, 1 << 19]), ((700, 900), "u2", [512, 900])])
def test_chunks_of_a_mebibyte(shape, dtype, chunk):
    """Also where an image has few rows."""
    np.lib.format.open_memmap("in.npy", "w+", dtype, shape).flush()
    good("convert", "in.npy", "out.zarr")
    codec = json.loads(pathlib.Path("out.zarr", "zarr.json").read_text())["codecs"][0]
    assert codec["configuration"]["chunk_shape"] == chunk


@pytest.mark.parametrize("verb, keys, chunk", [("median", ["--size", "3,3,3"], [64, 64, 128]), ("median", ["--size", "3,3"], [4, 200, 300]),
                                               ("bin", ["--factors", "2,1,1"], [50, 64, 128]), ("bin", ["--factors", "2,2"], [16, 100, 150])])
def test_chunks_of_a_job_that_filters_along_z(verb, keys, chunk):
    """They are cubes, and all that reads the output later knows so."""
    array = np.random.default_rng(5).integers(0, 60_000, (100, 200, 300)).astype("u2")
    np.save("in.npy", array)
    for name in ("out.zarr", "out.npy"):
        good(verb, "in.npy", name, *keys, "--quiet", "--set", 'input.axes="zyx"')
    codec = json.loads(pathlib.Path("out.zarr", "zarr.json").read_text())["codecs"][0]
    assert codec["configuration"]["chunk_shape"] == chunk
    good("compare", "out.zarr", "out.npy")
    shard = next(path for path in pathlib.Path("out.zarr", "c").rglob("*") if path.is_file())
    data = shard.read_bytes()
    shard.write_bytes(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
    call("verify", "out.zarr", code=7)
    good("repair", "out.zarr")
    assert shard.read_bytes() == data
    good("verify", "out.zarr")


def test_names_with_a_slash():
    """Shells complete the name of a folder so."""
    np.save("in.npy", np.ones((3, 4, 5), "u2"))
    good("convert", "in.npy", "out.ome.zarr/")
    good("convert", "in.npy", "out.ome.zarr/", "--overwrite")
    good("median", "out.ome.zarr/", "two.ome.zarr/", "--size", "1,1", "--quiet")
    good("verify", "two.ome.zarr/")
    good("repair", "two.ome.zarr//")
    good("compare", "out.ome.zarr/", "two.ome.zarr")
    pathlib.Path("job.toml").write_text('kind = "median"\n[input]\nfile = "in.npy"\n[output]\nfile = "x.zarr/"\n[median]\n')
    assert '"x.zarr/" ends in a slash; write "x.zarr"' in call("job.toml", code=2).stderr
