"""Names and sizes of axes that an output keeps where the input says them in less usual ways."""
import pathlib

import h5py
import numpy as np
import pytest

from frame_roles import scan
from harness import attempt
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


def said(*arguments):
    """The one warning of a command about what its output is without; none is None."""
    done = attempt(*arguments)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "without some of its attributes" in line]
    assert len(lines) < 2, lines
    return lines[0].split("attributes: ")[1] if lines else None


def test_what_other_formats_are_without():
    """One warning names what is true of an output and not in its file, of jobs and of convert."""
    with h5py.File("in.h5", "w") as file:
        file["x"] = volume()
        file["x"].attrs.update({"DIMENSION_LABELS": ["c", "y", "x"], "element_size_um": [1.0, 0.5, 0.5],
                                "units": "counts", "_FillValue": np.asarray(7, volume().dtype)})
    pathlib.Path("j.toml").write_text('kind = "median"\n[input]\nfile = "in.h5"\n[output]\nfile = "out.h5"\n'
                                      'overwrite = true\n[run]\nbackend = "cpu"\n[median]\nsize = [1, 3]\n')
    names, sizes, rest = "the names of axes, c, y, x", "the spacing of axes 0, 1, 2", "the attributes units, _FillValue"
    for output, job, copy in (("out.npy", [names, sizes, rest], [names, sizes]), ("out.nii", [names, rest], [names]),
                              ("out.ome.tif", ["the spacing of axis 0", rest], ["the spacing of axis 0"]), ("out.h5", None, None)):
        found = said("j.toml", "--output", output)
        assert found == (job and "; ".join(job)), output
        found = said("convert", "in.h5:/x", output, "--overwrite")
        assert found == (copy and "; ".join(copy)), output


def test_scans_in_other_formats():
    scan("scan.nxs")
    pathlib.Path("j.toml").write_text('kind = "median"\n[input]\nfile = "scan.nxs"\n[output]\nfile = "out.tif"\n'
                                      '[run]\nbackend = "cpu"\n[median]\nsize = [1, 3]\n')
    assert "the roles and angles of frames" in said("j.toml")
