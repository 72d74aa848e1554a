"""Dimension scales, by which netCDF-4 and h5py name axes and give their coordinates, and what else
netCDF's attributes say of elements. The files are as netCDF4-python 1.7 writes them.
"""
import pathlib

import h5py
import numpy as np
import pytest

from harness import bad, call, good

pytestmark = pytest.mark.quick

DATA = np.random.default_rng(5).integers(-900, 900, (4, 6, 8)).astype("int16")
TIME, LAT, LON = np.arange(4) * 6.0, np.linspace(50, 45, 6, dtype="float32"), np.arange(8, dtype="float32") / 2
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable.         8"


def scale(file, path, values, name=None, **attributes):
    file[path] = values
    file[path].make_scale(name or path.rsplit("/", 1)[-1])
    file[path].attrs.update(attributes)
    return file[path]


def netcdf(name, data=DATA, dataset="t2m", no_numbers=False, **attributes):
    with h5py.File(name, "w") as file:
        scales = [scale(file, "time", TIME, units="hours since 2000-01-01", _Netcdf4Dimid=0),
                  scale(file, "lat", LAT, units="degrees_north"),
                  scale(file, "lon", np.zeros(8, ">f4") if no_numbers else LON, NO_VARIABLE if no_numbers else None)]
        made = file.create_dataset(dataset, data=data)
        for axis, each in enumerate(scales):
            made.dims[axis].attach_scale(each)
        made.attrs.update({"_Netcdf4Coordinates": np.arange(3, dtype="int32"), **attributes})


def run(kind, keys, dataset="/t2m", output="out.h5", more=""):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "in.nc"\ndataset = "{dataset}"\n{more}\n'
        f'[output]\nfile = "{output}"\noverwrite = true\n[{kind}]\n{keys}\n')
    return call("job.toml", "--quiet").stderr


def check(name, data, axes, time=TIME, lat=LAT, lon=LON, group="/"):
    with h5py.File(name) as file:
        found = file[group]
        assert found["t2m"].shape == data.shape and np.array_equal(found["t2m"][()], data)
        assert list(found.attrs["axes"]) == axes
        for each, values in [("time", time), ("lat", lat), ("lon", lon)]:
            np.testing.assert_array_equal(found[each][()], values)
        assert found["lat"].attrs["units"] == "degrees_north"
        assert not any("Netcdf4" in each for each in [*found["t2m"].attrs, *found["time"].attrs])


def test_scales_are_coordinates():
    netcdf("in.nc", units="K")
    axes = ["time", "lat", "lon"]
    text = good("inspect", "in.nc:/t2m")
    assert "axes: time 6 hours since 2000-01-01, lat, lon 0.5\n" in text, text  # lat falls
    assert not run("transpose", "permutation = [2, 0, 1]")
    check("out.h5", DATA.transpose(2, 0, 1), ["lon", "time", "lat"])
    assert not run("transpose", "permutation = [0, 1, 2]", more='select = { time = "1:3", lon = "::2" }')
    check("out.h5", DATA[1:3, :, ::2], axes, time=TIME[1:3], lon=LON[::2])
    good("convert", "in.nc:/t2m", "copy.h5")
    check("copy.h5", DATA, axes)
    assert not run("bin", "factors = [2, 2, 2]")
    with h5py.File("out.h5") as file:
        np.testing.assert_array_equal(file["lat"][()], LAT.reshape(-1, 2).mean(1))
        np.testing.assert_array_equal(file["time"][()], TIME.reshape(-1, 2).mean(1))
    warning = run("transpose", "permutation = [0, 1, 2]", output="out.tif")
    assert "the spacing of axis 0" in warning and "the coordinates lat" in warning


@pytest.mark.parametrize("dataset", ["t2m", "model/run/t2m"])
def test_scales_of_unlimited_dimensions(dataset):
    """netCDF stores their coordinates in chunks."""
    with h5py.File("in.nc", "w") as file:
        made = file.create_dataset(dataset, data=DATA)
        for axis, (name, values) in enumerate([("time", TIME), ("lat", LAT[::-1]), ("lon", LON)]):
            file.create_dataset(name, data=values, maxshape=(None,), chunks=(2,), compression="gzip")
            file[name].make_scale(name)
            made.dims[axis].attach_scale(file[name])
    assert "axes: time 6, lat 1 from 45, lon 0.5\n" in good("inspect", f"in.nc:/{dataset}")


def test_scales_in_another_group():
    """netCDF's groups have the dimensions of those around them."""
    netcdf("in.nc", dataset="model/run/t2m")
    assert not run("transpose", "permutation = [0, 1, 2]", "/model/run/t2m")
    check("out.h5", DATA, ["time", "lat", "lon"], group="model/run")


def test_a_dimension_without_a_variable_is_a_name():
    netcdf("in.nc", no_numbers=True)
    assert not run("transpose", "permutation = [1, 0, 2]")
    with h5py.File("out.h5") as file:
        assert [dim.label for dim in file["t2m"].dims] == ["lat", "time", "lon"]
        assert "lon" not in file and list(file.attrs["axes"]) == ["lat", "time", "."]


def test_scales_that_are_no_coordinates_are_named():
    with h5py.File("in.nc", "w") as file:
        made = file.create_dataset("t2m", data=DATA)
        made.dims[0].attach_scale(scale(file, "time", TIME))
        made.dims[1].attach_scale(scale(file, "lat", np.zeros((6, 8))))
        made.dims[2].attach_scale(file["time"])
    warning = run("transpose", "permutation = [0, 1, 2]")
    assert "/lat: its shape is [6, 8], and the axis has 6 elements" in warning, warning
    with h5py.File("out.h5") as file:
        assert "lat" not in file and np.array_equal(file["time"][()], TIME)


def test_elements_that_stand_for_others_are_named():
    netcdf("in.nc", scale_factor=0.01, add_offset=273.15)
    assert not run("median", "size = [3, 3]")
    with h5py.File("out.h5") as file:
        assert file["t2m"].attrs["scale_factor"] == 0.01
    warning = run("correct", "dark = 1.0\nflat = 200.0")
    for name in ["scale_factor", "add_offset"]:
        assert f"the dataset@{name}: the elements were taken as they are stored" in warning, warning
    netcdf("in.nc", DATA.astype("int8"), _Unsigned="true")
    warning = run("median", "size = [3, 3]")
    assert warning.count("the elements are to be read without a sign") == 1 and "in.nc:/t2m" in warning
    with h5py.File("out.h5") as file:
        assert "_Unsigned" not in file["t2m"].attrs, "its elements were taken with their sign"
    run("transpose", "permutation = [1, 0, 2]")
    with h5py.File("out.h5") as file:
        assert file["t2m"].attrs["_Unsigned"] == "true"
    netcdf("in.nc", DATA.astype("uint8"), _Unsigned="true")
    assert not run("median", "size = [3, 3]")


@pytest.mark.parametrize("attributes", [{"valid_range": np.array([-50, 50], "int16")}, {"valid_min": np.int16(-50)},
                                        {"valid_max": np.int16(50), "_FillValue": np.int16(50)}])
def test_ranges_of_values_are_named(attributes):
    """Elements beyond them are no values; of these nothing more is known."""
    netcdf("in.nc", **attributes)
    name, value = next(iter(attributes.items()))
    mark = f"beyond {name} = {', '.join(map(str, np.atleast_1d(value)))}"
    assert mark in good("inspect", "in.nc:/t2m")
    warning = run("median", "size = [3, 3]")
    assert f"{mark}; median takes them as values. Name a mask of them, as input.invalid = " in warning, warning
    assert not run("median", "size = [3, 3]", more='invalid = "none"')
    assert not run("transpose", "permutation = [1, 0, 2]")
    with h5py.File("out.h5") as file:
        assert np.array_equal(file["t2m"].attrs[name], value)


@pytest.mark.parametrize("version", [b"\x01", b"\x02", b"\x05"])
def test_netcdf_of_before_hdf5(version):
    pathlib.Path("old.nc").write_bytes(b"CDF" + version + bytes(600))
    bad(3, ["it looks like a classic netCDF file", "nccopy -k nc4"], "inspect", "old.nc")


def test_pictures_are_of_values():
    """What `_FillValue` declares is no value: neither the range nor an average has it."""
    data = DATA.copy()
    data[:, 2:4, 3:6] = -32768
    netcdf("in.nc", data, _FillValue=np.int16(-32768))
    valid = np.where(data == -32768, DATA, data)[:, data[0] != -32768]
    text = good("render", "in.nc:/t2m", "p.png", "--frame", "1", "--size", "8")
    assert f"black {valid[1].min()} to white {valid[1].max()}" in text, text
    text = good("render", "in.nc:/t2m", "q.png", "--project", "min", "--size", "8")
    assert "-32768" not in text, text
