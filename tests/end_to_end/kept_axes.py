"""Names and sizes of axes that an output keeps where the input says them in less usual ways."""
import h5py
import numpy as np
import pytest

from metadata import X, Y, run, volume

pytestmark = pytest.mark.quick


def test_names_of_axes_without_coordinates():
    """An NXdata group may name an axis that it has no numbers of; the name stays."""
    with h5py.File("in.h5", "w") as file:
        group = file.create_group("entry/scan")
        group.attrs.update({"NX_class": "NXdata", "signal": "data", "axes": ["c", "y", "x"]})
        group["data"], group["y"] = volume(), Y
    for kind, parameters, names in [("median", None, ["c", "y", "x"]), ("transpose", None, None),
                                    ("bin", "factors = [2, 2]\n", ["c", "y", "x"])]:
        run(kind, parameters)
        with h5py.File("out.h5") as file:
            labels = [dim.label for dim in file["entry/scan/data"].dims]
            assert labels == (names or labels) and sorted(labels) == ["c", "x", "y"], labels
            assert file["entry/scan"].attrs["axes"][labels.index("y")] == "y"
    run("median", None, part='select = { c = "2:4" }')
    run("median", None, source="out.h5", output="more.h5", part="select = { c = 1, x = \"1:\" }")
    with h5py.File("more.h5") as file:
        assert [dim.label for dim in file["entry/scan/data"].dims] == ["y", "x"]


@pytest.mark.parametrize("kind, parameters, spacing", [
    ("bin", "factors = [2, 2]\n", [np.nan, 5.0, 1.0, 0.5]), ("median", "size = [3, 3]\n", None),
    ("convolve", "sigma = 1\n", None)])
def test_sizes_of_the_last_axes(kind, parameters, spacing):
    """A list of sizes of z, y and x speaks of the last axes of more."""
    with h5py.File("in.h5", "w") as file:
        data = file.create_dataset("entry/scan/data", data=volume()[None].repeat(3, 0))
        data.attrs["element_size_um"] = [5.0, 0.5, 0.25]
    run(kind, parameters)
    with h5py.File("out.h5") as file:
        attributes = file["entry/scan/data"].attrs
        if spacing is None:
            assert list(attributes["element_size_um"]) == [5.0, 0.5, 0.25]
        else:
            np.testing.assert_array_equal(attributes["spacing"], spacing)
            assert list(attributes["spacing_units"]) == ["", "um", "um", "um"]


def test_axes_of_a_transposition_of_an_image():
    """Three axes named of an image of two: the first is a new one."""
    with h5py.File("in.h5", "w") as file:
        group = file.create_group("entry/scan")
        group.attrs.update({"NX_class": "NXdata", "signal": "data", "axes": ["y", "x"]})
        group["data"], group["y"], group["x"] = volume()[0], Y, X
    run("transpose", "permutation = [2, 0, 1]\n")
    with h5py.File("out.h5") as file:
        assert np.array_equal(file["entry/scan/data"][()], volume()[0].T[:, None])
        names = list(file["entry/scan"].attrs["axes"])
        assert names == ["x", ".", "y"], names
        assert np.array_equal(file["entry/scan/x"][()], X) and np.array_equal(file["entry/scan/y"][()], Y)
