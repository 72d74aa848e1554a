"""What xarray's Zarr stores say of elements that are no values, of coordinates and of scales. The metadata are as
xarray 2026 writes them; the elements are one plain chunk."""
import base64
import json
import pathlib
import struct

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, good

pytestmark = pytest.mark.quick

VALID = np.random.default_rng(8).integers(-90, 90, (2, 4, 6))


def base64_of(value):
    return base64.b64encode(struct.pack("<d", value)).decode()


def write_array(folder, data, version, fill_value, attributes, names):
    where = pathlib.Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    if version == 3:
        node = {"zarr_format": 3, "node_type": "array", "shape": data.shape, "data_type": str(data.dtype),
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": data.shape}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "fill_value": fill_value,
                "attributes": attributes, "dimension_names": names}
        (where / "zarr.json").write_text(json.dumps(node))
        (where / ("c" + ".0" * data.ndim)).write_bytes(data.tobytes())
        return
    (where / ".zarray").write_text(json.dumps(
        {"zarr_format": 2, "shape": data.shape, "chunks": data.shape, "dtype": data.dtype.str, "compressor": None,
         "filters": None, "order": "C", "fill_value": fill_value}))
    (where / ".zattrs").write_text(json.dumps({**attributes, **({"_ARRAY_DIMENSIONS": names} if names else {})}))
    (where / ".".join("0" * data.ndim)).write_bytes(data.tobytes())


def write(data, version=3, fill_value=0, names=("t", "y", "x"), **attributes):
    write_array("in.zarr/a", data, version, fill_value, attributes, names)


def binned(data, number):
    """The means of pairs along x of what is no number."""
    valid = np.ma.masked_invalid(np.ma.masked_equal(data.astype("float64"), number)) if number is not None else data
    means = np.ma.asarray(valid).reshape(*data.shape[:2], -1, 2).mean(3)
    return np.ma.filled(means.astype("float64"), np.nan)


CASES = [("int16", 3, 0, {"_FillValue": -999}, -999), ("int16", 3, 0, {"missing_value": [-999]}, -999),
         ("int16", 2, -999, {}, -999), ("int16", 2, 0, {"_FillValue": -999}, -999), ("int16", 2, 0, {}, None),
         ("float32", 3, "NaN", {"_FillValue": base64_of(np.nan)}, np.nan),
         ("float32", 3, "NaN", {"_FillValue": "NaN"}, np.nan), ("float32", 2, "NaN", {}, np.nan),
         ("float32", 3, 0, {"_FillValue": base64_of(np.float32(-999.9))}, np.float32(-999.9)),
         ("float32", 2, 0, {"missing_value": np.nan}, np.nan), ("float64", 3, 0, {"missing_value": -np.inf}, -np.inf),
         ("float32", 2, np.nan, {}, np.nan), ("float32", 2, -999.9, {}, np.float32(-999.9)), ("float64", 3, 0, {"_FillValue": -1e30}, -1e30)]


@pytest.mark.parametrize("dtype, version, fill_value, attributes, number", CASES)
def test_invalid_elements(dtype, version, fill_value, attributes, number):
    data = VALID.astype(dtype)
    data[0, 1, 2:5] = data[1, 3, 0] = 7 if number is None else number
    write(data, version, fill_value, **attributes)
    assert ("invalid elements: " in good("inspect", "in.zarr:/a")) == (number is not None)
    done = call("bin", "in.zarr:/a", "out.h5", "--factors", "1,1,2", "--dtype", "float64", "--quiet")
    assert not done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        np.testing.assert_array_equal(file["a"][()], binned(data, number))
        assert ("_FillValue" in file["a"].attrs) == (number is not None)
    if number is not None:
        done = attempt("convert", "in.zarr:/a", "out.npy")
        assert "which elements are invalid" in done.stderr, done.stderr


@pytest.mark.parametrize("version", [2, 3])
def test_numbers_that_json_lacks(version):
    """Python writes NaN, Infinity and -Infinity into JSON as they are. They are numbers, except in texts, and errors
    behind them are where they were."""
    write(VALID.astype("float32"), version, np.inf, note='"NaN", Infinity \\', spread=-np.inf, missing_value=[np.nan, 5.0])
    root = pathlib.Path("in.zarr")
    said = {"limit": np.inf, "NaN": "NaN"}
    if version == 3:
        (root / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group", "attributes": said}))
    else:
        (root / ".zgroup").write_text('{"zarr_format": 2}')
        (root / ".zattrs").write_text(json.dumps(said))
    for source in ("in.zarr:/a", "in.zarr"):
        assert "missing_value = nan, 5" in good("inspect", source), source
    warned = call("convert", "in.zarr:/a", "out.npy").stderr
    assert "the attributes note, spread; which elements are invalid, missing_value = nan, 5\n" in warned, warned
    assert np.array_equal(np.load("out.npy"), VALID.astype("float32"))
    pathlib.Path("in.zarr/a", "0.0.0" if version == 2 else "c.0.0.0").unlink()
    good("convert", "in.zarr:/a", "out.npy", "--overwrite", says="(?s).*")
    assert (np.load("out.npy") == np.inf).all()
    file = root / "a" / ("zarr.json" if version == 3 else ".zattrs")
    file.write_text('{"attributes": {"a": NaN,\n "b": nothing}}')
    bad(3, ["line 2, column"], "convert", "in.zarr:/a", "out.npy", "--overwrite")


def test_a_fill_value_that_xarray_did_not_write():
    """Of version 3, and without the names that xarray writes, it is what absent chunks hold, and no more."""
    data = VALID.astype("int16")
    data[0, 0, 0] = -999
    names = ("t", "y", "x")
    for version, names, said in ((3, names, {}), (2, None, {}), (3, names, {"_ARRAY_DIMENSIONS": names}), (3, None, {"_ARRAY_DIMENSIONS": names})):
        write(data, version, -999, names, **said)
        assert "invalid" not in good("inspect", "in.zarr:/a")
        pathlib.Path("in.zarr/a/zarr.json").unlink(missing_ok=True)


def test_ranges_scales_and_coordinates_are_named():
    write(VALID.astype("int16"), valid_range=[-50, 50], scale_factor=0.5, add_offset=3.0, units="K")
    for name, length in (("t", 2), ("x", 6)):
        write_array(f"in.zarr/{name}", np.arange(length) * 2.0, 3, 0, {"units": "um"}, [name])
    text = call("median", "in.zarr:/a", "out.h5", "--size", "3,3", "--quiet").stderr
    for each in ("beyond valid_range = -50, 50; median takes them as values", "input.invalid", "scale_factor: the elements were taken as they are",
                 "add_offset: the", "the coordinates of axes, t, x", "the attributes valid_range, units"):
        assert each in text, (each, text)


@pytest.mark.parametrize("other, is_named", [(-998, True), (-999, False)])
def test_a_second_number_is_named(other, is_named):
    """An HDF5 output has one number of invalid elements; another one of the input is named, in jobs and by convert."""
    write(VALID.astype("int16"), _FillValue=-999, missing_value=other)
    for command in (["transpose", "in.zarr:/a", "o.h5", "--permutation", "0,2,1"], ["convert", "in.zarr:/a", "c.h5"]):
        done = call(*command, "--overwrite")
        assert ("some of its attributes: the attributes missing_value" in done.stderr) == is_named, done.stderr
        with h5py.File(command[2]) as file:
            assert file["a"].attrs["_FillValue"] == -999
