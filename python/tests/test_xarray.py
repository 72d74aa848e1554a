"""xarray's names and coordinates around the functions of this package."""
import doctest
import inspect
import subprocess
import sys
import warnings

import numpy as np
import pytest

import runner

xarray = pytest.importorskip("xarray")
import runner.xarray  # noqa: E402

SIZES = {"angle": 4, "row": 5, "column": 6}
VALUES = np.random.default_rng(5).normal(50, 9, tuple(SIZES.values()))


@pytest.fixture(name="scan")
def make_scan():
    coords = {"angle": [0.0, 45.0, 90.0, 135.0], "row": np.arange(5) * 2, "time": ("angle", np.arange(4).astype("M8[ns]")),
              "label": ("row", list("abcde")), "plane": (("row", "column"), np.arange(30.0).reshape(5, 6)),
              "energy": 25.0}
    return xarray.DataArray(VALUES, coords, tuple(SIZES), "scan", {"units": "counts", "by": "us"})


def test_same_axes(scan):
    """The elements are the function's; names, coordinates and attributes stay."""
    for made, wanted in ((scan.runner.median(3, boundary="nearest"), runner.median(VALUES, 3, boundary="nearest")),
                         (scan.runner.convolve(sigma=1), runner.convolve(VALUES, sigma=1)),
                         (scan.runner.denoise(count=2, window=[3, 3, 3]),
                          runner.denoise(VALUES, count=2, window=[3, 3, 3])),
                         (scan.runner.stripes(size=3), runner.stripes(VALUES, size=3))):
        xarray.testing.assert_identical(made, scan.copy(data=wanted))
        assert made.dtype == wanted.dtype
    mapped = scan.runner.rescale([0, 100], dtype="uint8")
    assert mapped.dtype == np.uint8 and mapped.attrs == {"by": "us"} and scan.attrs["units"] == "counts"
    xarray.testing.assert_equal(mapped, scan.copy(data=runner.rescale(VALUES, [0, 100], dtype="uint8")))


@pytest.mark.parametrize("name, code", [("_FillValue", np.int16(-1)), ("missing_value", np.array([7]))])
def test_codes_of_netcdf(scan, name, code):
    """One warning says that elements which the attributes call no values are taken as values."""
    counts = scan.astype("int16").assign_attrs({name: code, "scale_factor": 0.5, "valid_min": 0, "by": "us"})
    number = int(np.ravel(code)[0])
    words = f"elements of {number} are no values.*pass invalid={number}"
    with pytest.warns(UserWarning, match=words):
        assert counts.runner.bin(2).attrs == counts.attrs
    with pytest.warns(UserWarning, match=words):
        counts.runner.pipeline([{"kind": "bin", "factors": 2}])
    with pytest.warns(UserWarning, match=words):
        assert counts.runner.rescale([0, 100], dtype="float32").attrs == {"by": "us"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts.runner.bin(2, invalid=number)
        counts.runner.transpose(["column", "row", "angle"])
        scan.assign_attrs({name: np.nan}).runner.bin(2)


def test_fields_and_masks_in_another_order(scan):
    flat = xarray.DataArray(np.arange(30.0).reshape(6, 5) + 50, dims=("column", "row"))
    made = scan.runner.correct(1.0, flat)
    assert made.values.tobytes() == runner.correct(VALUES, 1.0, flat.values.T).tobytes()
    mask = flat > 70
    made = scan.runner.median(3, invalid=mask)
    assert made.values.tobytes() == runner.median(VALUES, 3, invalid=mask.values.T).tobytes()


@pytest.mark.parametrize("edge", ["drop", "partial"])
def test_bin(scan, edge):
    """xarray's own coarsening is the reference of the coordinates."""
    made = scan.runner.bin([3, 2, 4], edge=edge)
    wanted = scan.drop_vars("label").coarsen(
        angle=3, row=2, column=4, boundary="pad" if edge == "partial" else "trim").mean()
    assert made.dims == scan.dims and set(made.coords) == set(wanted.coords) and made.name == "scan"
    xarray.testing.assert_allclose(made, wanted)
    assert made.values.tobytes() == runner.bin(VALUES, [3, 2, 4], edge=edge).tobytes()
    rows = scan.runner.bin([2, 1])
    assert "label" not in rows.coords and list(rows["row"].values) == [1, 5]
    xarray.testing.assert_equal(rows["angle"], scan["angle"])


def test_transpose(scan):
    wanted = scan.transpose("column", "angle", "row")
    xarray.testing.assert_identical(scan.runner.transpose(["column", "angle", "row"]), wanted)
    xarray.testing.assert_identical(scan.runner.transpose((-1, 0, 1)), wanted)


@pytest.mark.parametrize("over", ["angle", ["row"], ["row", "column"], "frame", ["column", "angle", "row"]])
def test_reduce(scan, over):
    axes = ["row", "column"] if over == "frame" else over
    made = scan.runner.reduce("max", over)
    xarray.testing.assert_identical(made, scan.max(axes, keep_attrs=True))


def test_reduce_names_axes_and_adds_one(scan):
    turned = scan.transpose("column", "row", "angle").rename(column="x", row="y", angle="z")
    xarray.testing.assert_equal(turned.runner.reduce("min", ["z"], channels=1), turned.min("z"))  # not by its place
    xarray.testing.assert_equal(scan.runner.reduce("min", ["x"]), scan.min("column"))
    parts = scan.runner.reduce("percentiles", "frame", percentiles=[10, 50])
    assert parts.dims == ("angle", "percentile") and list(parts["percentile"]) == [10, 50]
    xarray.testing.assert_equal(parts["angle"].drop_vars("time"), scan["angle"].drop_vars("time"))
    counts = scan.runner.reduce("histogram", ["row", "column"], bins=4, from_=[0, 100])
    assert counts.dims == ("angle", "bin") and list(counts["bin"]) == [12.5, 37.5, 62.5, 87.5]
    assert (counts.sum("bin") == 30).all() and "units" not in counts.attrs
    with pytest.raises(ValueError, match="there is no axis 'depth'; the array has 'angle', 'row', 'column'"):
        scan.runner.reduce("max", ["depth"])
    with pytest.raises(ValueError, match="there is no axis 'depth'; the array has 'angle', 'row', 'column'"):
        scan.runner.transpose(["depth", "row", "column"])
    with pytest.raises(ValueError, match="transpose the array first"):
        scan.expand_dims("time_step").runner.reduce("max", "time_step")


def test_pipeline(scan):
    steps = [dict(kind="transpose", permutation=["row", "angle", "column"]), dict(kind="bin", factors=[2, 2]),
             dict(kind="reduce", operation="mean", over=["row"])]
    made = scan.runner.pipeline(steps)
    wanted = scan.transpose("row", "angle", "column").drop_vars("label").coarsen(angle=2, column=2).mean().mean("row")
    assert made.dims == ("angle", "column") and set(made.coords) == set(wanted.coords)
    xarray.testing.assert_allclose(made, wanted)
    with pytest.raises(runner.JobError, match=r"steps\[0\]: kind is missing"):
        scan.runner.pipeline([dict(size=3)])


def test_sand_and_match(scan):
    state = xarray.DataArray(np.zeros((5, 6), "u1"), {"row": range(5)}, ("row", "column"))
    frames = state.runner.sand(10, snapshot_every=4, start_generation=3)
    assert frames.dims == ("generation", "row", "column") and list(frames["generation"]) == [4, 8, 12, 13]
    index, distance, count = scan.astype("f4").runner.match(count=2, window=[3, 3, 3])
    assert index.dims == distance.dims == ("reference", "match") and count.dims == ("reference",)


def test_colour():
    picture = xarray.DataArray(np.random.default_rng(2).random((4, 6, 3)), {"x": range(6)}, ("y", "x", "band"))
    made = picture.runner.bin(2, channels=3)
    xarray.testing.assert_allclose(made, picture.coarsen(y=2, x=2).mean())
    over = picture.runner.reduce("mean", ["x"], channels=3)
    assert over.dims == ("y", "band")
    np.testing.assert_allclose(over, picture.mean("x"))


def test_arguments(scan):
    assert list(inspect.signature(type(scan.runner).median).parameters)[:3] == ["self", "size", "boundary"]
    with pytest.raises(TypeError, match="out is not taken"):
        scan.runner.median(3, out=VALUES)
    with pytest.raises(TypeError, match="sise"):
        scan.runner.median(3, sise=3)


def test_only_on_request():
    code = "import runner, sys; runner.median; assert 'xarray' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_example():
    example = doctest.DocTestParser().get_doctest(runner.xarray.__doc__, {"np": np, "xarray": xarray}, "xarray", None, 0)
    found = doctest.DocTestRunner().run(example)
    assert found.attempted == 4 and found.failed == 0
