"""Names and sizes of axes that an output keeps where the input says them in less usual ways."""
import json
import os
import pathlib

import h5py
import mrcfile
import nibabel
import numpy as np
import pytest
import tifffile

from frame_roles import scan
from harness import attempt, good
from metadata import X, Y, run, volume
from scan_outputs import ANGLES, check
from scan_outputs import scan as whole_scan

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
    copied = "the attributes _FillValue, units"
    os.mkdir("s")
    for output, lost in (("out.npy", [names, sizes]), ("out.nii", [names + " (in the file they are z, y, x)"]),
                         ("out.ome.tif", ["the spacing of axis 0"]), ("s/out_*.tif", [names, "the spacing of axis 0"]), ("out.h5", None)):
        found = said("j.toml", "--output", output)
        assert found == (lost and "; ".join([*lost, rest])), output
        found = said("convert", "in.h5:/x", output, "--overwrite")
        assert found == (lost and "; ".join([*lost, copied])), output


def test_what_no_output_has():
    """Every format's own descriptions are named once, whatever the output; without them nothing is said."""
    values = np.arange(3 * 5 * 7, dtype="uint16").reshape(3, 5, 7)
    planes = {"DeltaT": [0.0, 1.0, 2.0], "ExposureTime": [0.1] * 3, "PositionX": [5.0] * 3}
    tifffile.imwrite("said.ome.tif", values, metadata={"axes": "ZYX", "Description": "a < b", "AcquisitionDate": "2026-11-01T10:00:00",
                                                       "Plane": planes})
    tifffile.imwrite("bare.ome.tif", values, metadata={"axes": "ZYX"})
    with tifffile.TiffWriter("two.ome.tif", ome=True) as file: # the first image is read
        file.write(values, metadata={"axes": "ZYX"})
        file.write(values[:2], metadata={"axes": "ZYX", "Description": "of the other"})
    tifffile.imwrite("said.tif", values, imagej=True, metadata={"axes": "ZYX", "Info": "by hand", "Overlays": [b"x"]})
    tifffile.imwrite("bare.tif", values, imagej=True, metadata={"axes": "ZYX"})
    tifffile.imwrite("text.tif", values[0], description="a plain text", metadata=None)
    for name in ("said.nii", "bare.nii"):
        image = nibabel.Nifti1Image(values, np.diag([2.0, 2.0, 2.0, 1.0]))
        if name == "said.nii":
            image.header["descrip"] = b"by hand"
            image.header.set_intent("t test", (5,))
            image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"more"))
        image.to_filename(name)
    for name in ("said.mrc", "bare.mrc"):
        with mrcfile.new(name, overwrite=True) as file:
            file.set_data(values)
            if name == "said.mrc":
                file.add_label("by hand")
    for name, attributes in (("said.zarr", {"units": "counts"}), ("bare.zarr", {})):
        os.mkdir(name)
        layout = {"zarr_format": 2, "shape": [3, 5, 7], "chunks": [3, 5, 7], "dtype": "<u2", "compressor": None, "fill_value": 0,
                  "order": "C", "filters": None}
        pathlib.Path(name, ".zarray").write_text(json.dumps(layout))
        pathlib.Path(name, ".zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": ["z", "y", "x"], **attributes}))
        values.tofile(f"{name}/0.0.0")
    wanted = {"said.zarr": ["the attributes units"], "said.ome.tif": ["the date", "the description", "the exposure times of planes", "the positions of planes",
                               "the times of planes"],
              "said.tif": ["the overlay", "the text Info"], "text.tif": ["the description"],
              "said.nii": ["the description", "the header's extensions", "the intent"], "said.mrc": ["the labels"]}
    for name in ("said.ome.tif", "bare.ome.tif", "two.ome.tif", "said.tif", "bare.tif", "text.tif", "said.nii", "bare.nii", "said.mrc",
                 "bare.mrc", "said.zarr", "bare.zarr"):
        axes = "1,1" if name == "text.tif" else "1,1,1"
        for command in (["median", name, "out.h5", "--size", axes], ["convert", name, "copy.h5"]):
            found = said(*command, "--overwrite")
            assert (found and sorted(found.split("; "))) == wanted.get(name), (name, found)


def test_invalid_elements_that_the_job_alone_declares():
    """Such an output does not say which they are, unless they are NaN; no attribute is lost, of which there is none."""
    for dtype, invalid, wanted in (("int16", "7", "which elements are invalid"), ("float32", '"nan"', None), ("float32", "7", None)):
        np.save("in.npy", np.arange(12, dtype=dtype).reshape(3, 4))
        found = said("median", "in.npy", "out.npy", "--size", "1,1", "--set", f"input.invalid={invalid}", "--overwrite")
        assert found == wanted, (dtype, invalid, found)


def test_what_pictures_are_without():
    """`convert` to pictures says the same of them as of rows with elements alone."""
    with h5py.File("in.h5", "w") as file:
        for name, array in (("stack", volume().astype("uint8")), ("plane", volume().astype("uint8")[0])):
            file[name] = array
            labels = ["c", "y", "x"][-array.ndim:]
            file[name].attrs.update({"DIMENSION_LABELS": labels, "element_size_um": [1.0, 0.5, 0.25][-array.ndim:], "units": "counts"})
    spaced, rest = "the spacing of axes 0, 1", "the attributes units"
    for options in (["in.h5:/plane"], ["in.h5:/stack", "--frame", "1"]):
        found = [said("convert", options[0], output, *options[1:], "--overwrite") for output in ("a.png", "a.npy")]
        assert found[0] == found[1] == f"{spaced}; {rest}", found
    found = [said("convert", "in.h5:/stack", output, "--frames", "0:2") for output in ("b.png", "b.npy")]
    assert found[0] == found[1] == f"the names of axes, c, y, x; the spacing of axes 0, 1, 2; {rest}", found
    np.save("bare.npy", volume().astype("uint8")[0])
    assert said("convert", "bare.npy", "c.png") is None
    scan("scan.nxs")
    assert "the roles and angles of frames" in said("convert", "scan.nxs", "scan.png", "--frames", "0:2")


def test_axes_that_nothing_names():
    """Of four axes it is said for what they are taken, unless the job names them; three are z, y and x."""
    np.save("in.npy", volume()[None].repeat(2, axis=0))
    np.save("three.npy", volume())
    taken = "the names of axes, which nothing says: they are taken for {}, and input.axes of a job says others"
    for output, names in (("out.ome.zarr", "c, z, y, x"), ("out.ome.tif", "t, z, y, x")):
        assert said("convert", "in.npy", output) == taken.format(names)
        assert said("convert", "three.npy", output, "--overwrite") is None
        pathlib.Path("j.toml").write_text('kind = "median"\n[input]\nfile = "in.npy"\naxes = "czyx"\n'
                                          f'[output]\nfile = "named.{output}"\n[run]\nbackend = "cpu"\n[median]\nsize = [1, 3]\n')
        assert said("j.toml") is None
        assert "axes: c, z" in good("inspect", f"named.{output}")


def test_scans_in_other_formats():
    scan("scan.nxs")
    pathlib.Path("j.toml").write_text('kind = "median"\n[input]\nfile = "scan.nxs"\n[output]\nfile = "out.tif"\n'
                                      '[run]\nbackend = "cpu"\n[median]\nsize = [1, 3]\n')
    assert "the roles and angles of frames" in said("j.toml")
    assert "the roles and angles of frames" in said("convert", "scan.nxs", "copy.tif")


def test_converted_scans_are_scans():
    """Copies have roles, angles and all else of the scan, cut to the frames, and so has one of another type."""
    whole_scan("scan.nxs")
    with h5py.File("scan.nxs") as file:
        whole = file["entry0000/instrument/detector/data"][()]
    for options, frames in (((), np.arange(len(whole))), (("--frames", "0:8:3"), np.arange(0, 8, 3)),
                            (("--dtype", "float32"), np.arange(len(whole)))):
        assert said("convert", "scan.nxs", "copy.nx", "--overwrite", *options) is None
        assert np.array_equal(check("copy.nx", "entry0000", frames), whole[frames])
        found = good("inspect", "copy.nx:/entry0000/instrument/detector/data", says="(?s).*")
        assert f"angles: {len(frames)} from 0 to {ANGLES[frames[-1]]:g} degree\n" in found, found
    assert "the scan" in said("convert", "scan.nxs", "one.nx", "--frame", "2")


def test_converted_files_keep_attributes():
    """Attributes, names and coordinates go with a copy as with the output of a job."""
    with h5py.File("in.h5", "w") as file:
        group = file.create_group("entry")
        group.attrs.update({"NX_class": "NXdata", "signal": "x", "axes": [".", "y", "."], "note": "kept"})
        group["x"], group["y"] = volume(), volume()[0, :, 0]
        group["x"].attrs.update({"units": "counts", "_FillValue": np.asarray(7, volume().dtype)})
        group["y"].attrs["units"] = "mm"
    assert said("convert", "in.h5:/entry/x", "out.h5:/entry/x") is None
    with h5py.File("in.h5") as one, h5py.File("out.h5") as other:
        assert np.array_equal(one["entry/x"][()], other["entry/x"][()])
        assert other["entry/x"].attrs["units"] == "counts" and other["entry/x"].attrs["_FillValue"] == 7
        assert other["entry"].attrs["note"] == "kept" and np.array_equal(one["entry/y"][()], other["entry/y"][()])
        assert other["entry/y"].attrs["units"] == "mm"
    assert said("convert", "in.h5:/entry/x", "f.h5", "--dtype", "float64") == \
        "the dataset@_FillValue: the elements have another type"
    with h5py.File("f.h5") as file:
        assert file["entry/x"].attrs["units"] == "counts" and "_FillValue" not in file["entry/x"].attrs


@pytest.mark.parametrize("output", ["out.ome.tif", "out.tif", "out.npy", "out.nii", "out.h5", "out.ome.zarr"])
def test_frames_of_several_axes(output):
    """Frames of t and z that become those of one axis are neither t nor z, and one warning says so."""
    values = np.arange(2 * 3 * 5 * 7, dtype="uint16").reshape(2, 3, 5, 7)
    tifffile.imwrite("in.ome.tif", values, metadata={"axes": "TZYX", "PhysicalSizeZ": 2.0, "TimeIncrement": 3.0})
    tifffile.imwrite("stack.ome.tif", values[0], metadata={"axes": "ZYX", "PhysicalSizeZ": 2.0})
    joined = "the axes t, z, of which frames were taken as one"
    assert joined in (said("convert", "in.ome.tif", output, "--frames", "0:6:4") or "")
    assert joined not in (said("convert", "in.ome.tif", output, "--frame", "3", "--overwrite") or "")
    assert joined not in (said("convert", "in.ome.tif", output, "--overwrite") or "")
    assert "of which frames" not in (said("convert", "stack.ome.tif", output, "--frames", "0:2", "--overwrite") or "")
    np.save("in.npy", values)
    assert "of which frames" not in (said("convert", "in.npy", output, "--frames", "0:6:4", "--overwrite") or "")


def test_what_a_job_says_of_axes_overrules_the_file():
    """Neither coordinates nor names of a group, nor a scan's sizes of pixels, contradict the job's keys in the output."""
    with h5py.File("in.nxs", "w") as file:
        group = file.create_group("entry")
        group.attrs.update(NX_class="NXdata", signal="data", axes=["energy", "y", "x"])
        group["data"] = np.arange(60, dtype="u2").reshape(3, 4, 5)
        for name, count in (("energy", 3), ("y", 4), ("x", 5)):
            group[name] = np.arange(count) * 0.5 + 7
            group[name].attrs["units"] = "keV" if name == "energy" else "mm"
    median = ("median", "in.nxs", "out.nxs", "--size", "1,1", "--quiet", "--overwrite", "--set")
    good(*median, 'input.axes="zyx"')
    with h5py.File("out.nxs") as file:
        assert list(file["entry/data"].attrs["DIMENSION_LABELS"]) == ["z", "y", "x"]
        assert list(file["entry"].attrs["axes"]) == [".", "y", "x"] and "energy" not in file["entry"]
        np.testing.assert_array_equal(file["entry/data"].attrs["spacing"], [np.nan, 0.5, 0.5])
    good(*median, 'input.spacing={y=2.0,unit="um"}')
    with h5py.File("out.nxs") as file:
        assert list(file["entry"].attrs["axes"]) == ["energy", ".", "x"] and "y" not in file["entry"]
        np.testing.assert_array_equal(file["entry/data"].attrs["spacing"], [0.5, 2, 0.5])
        assert list(file["entry/data"].attrs["spacing_units"]) == ["keV", "um", "mm"]
        np.testing.assert_array_equal(file["entry/energy"], [7, 7.5, 8])
    scan("scan.nxs")
    with h5py.File("scan.nxs", "a") as file:
        file["entry/instrument/detector/x_pixel_size"] = 6.5
        file["entry/instrument/detector/x_pixel_size"].attrs["units"] = "um"
    good("median", "scan.nxs", "out.nxs", "--size", "1,1", "--quiet", "--overwrite", "--set", 'input.spacing={x=3.0,unit="um"}')
    with h5py.File("out.nxs") as file:
        size = file["entry/instrument/detector/x_pixel_size"]
        assert size[()] == 3 and size.attrs["units"] == "um"


def test_coordinates_that_no_output_has():
    """Those of two axes, and those that CF names beside the axes, are named, and not by the output."""
    with h5py.File("in.h5", "w") as file:
        group = file.create_group("entry")
        group.attrs.update({"NX_class": "NXdata", "signal": "data", "axes": ["t", ".", "."], "lat_indices": [1, 2], "t_indices": 0})
        group["data"], group["t"] = volume(), np.arange(len(volume())) * 0.5
        group["data"].attrs["coordinates"] = "lon t gone"
        for name in ("lat", "lon"):
            group[name] = np.zeros(volume().shape[1:])
    for command in (["median", "in.h5:/entry/data", "out.h5", "--size", "1,1"], ["convert", "in.h5:/entry/data", "copy.h5"],
                    ["convert", "in.h5:/entry/data", "out.nii"]):
        found = said(*command, "--overwrite")
        assert "lat: it lies along several axes; the coordinates lon" in found, (command, found)
        if command[2] != "out.nii":
            with h5py.File(command[2]) as file:
                assert file["entry/data"].attrs["coordinates"] == "t gone" and "lon" not in file["entry"]


def test_places_that_no_array_has():
    """A .npy and a .zarr have no place of the first element; an affine names it."""
    with h5py.File("in.h5", "w") as file:
        group = file.create_group("entry")
        group.attrs.update({"NX_class": "NXdata", "signal": "data", "axes": [".", "y", "x"]})
        group["data"] = volume()
        group["y"], group["x"] = np.arange(volume().shape[1]) + 7.0, np.arange(volume().shape[2]) * 0.5
    for output, place in (("o.npy", "the place of the first element along axes 1"),
                          ("o.zarr", "the place of the first element along axis y")):
        for command in (["median", "in.h5:/entry/data", output, "--size", "1,1"], ["convert", "in.h5:/entry/data", output]):
            found = said(*command, "--overwrite").split("; ")
            assert place in found and not any("axis x" in text and "place" in text for text in found), (command, found)


def test_what_tiffs_say_beside_the_axes():
    values = np.arange(3 * 5 * 7, dtype="uint16").reshape(3, 5, 7)
    labels = ["first", "second", "third"]
    tifffile.imwrite("labels.tif", values, imagej=True, metadata={"axes": "TYX", "Labels": labels})
    tifffile.imwrite("channels.tif", values, imagej=True, metadata={"axes": "CYX", "Labels": labels})
    tifffile.imwrite("one.tif", values[0], imagej=True, metadata={"axes": "YX", "finterval": 0.5})
    tifffile.imwrite("tags.tif", values[0], metadata=None, datetime="2026:11:01 10:00:00", extratags=[(315, "s", 0, "Ann", True)])
    tifffile.imwrite("named.ome.tif", values, metadata={"axes": "CYX", "Name": "a beetle", "Channel": {"Fluor": ["a", "b", "c"]}})
    for name, wanted in (("labels.tif", ["the labels of planes"]), ("channels.tif", None), ("one.tif", ["the time between frames"]),
                         ("tags.tif", ["the author", "the date"]), ("named.ome.tif", ["the dyes of channels", "the name of the image"])):
        for command in (["median", name, "out.h5", "--size", "1,1"], ["convert", name, "copy.h5"]):
            found = said(*command, "--overwrite")
            assert (found and sorted(found.split("; "))) == wanted, (name, found)


STEPS = '''[input]
file = "in.h5"
[output]
file = "out.h5"
overwrite = true
[run]
backend = "cpu"
[[step]]
kind = "transpose"
permutation = {permutation}
[[step]]
kind = "reduce"
operation = "max"
over = ["{over}"]
'''


@pytest.mark.parametrize("permutation", [(1, 2, 0), (0, 1, 2), (2, 1, 0)])
@pytest.mark.parametrize("over", ["y", "x"])
def test_names_by_the_marks_of_an_image(permutation, over):
    """A mark of images names rows and columns alone, and every output has it: names that were moved stay."""
    cube = np.random.default_rng(1).integers(0, 999, (5, 5, 5)).astype("uint16")
    with h5py.File("in.h5", "w") as file:
        file["data"] = cube
        file["data"].attrs["interpretation"] = "image"
    moved = cube.transpose(permutation)
    axis = permutation.index({"y": 1, "x": 2}[over])
    pathlib.Path("j.toml").write_text(STEPS.format(permutation=list(permutation), over=over))
    good("j.toml", "--quiet")
    with h5py.File("out.h5") as file:
        assert (file["data"][()] == moved.max(axis)).all()
    good("verify", "out.h5")
    names = ["?yx"[at] for at in permutation]
    good("transpose", "in.h5", "moved.h5", "--permutation", ",".join(map(str, permutation)), "--quiet")
    assert f"axes: {', '.join(names)}\n" in good("inspect", "moved.h5")
    for source in ("moved.h5", "copy.h5"):
        good("reduce", source, "one.h5", "--operation", "max", "--over", over, "--quiet", "--set",
             "output.overwrite=true")
        with h5py.File("one.h5") as file:
            assert (file["data"][()] == moved.max(axis)).all(), source
        assert f"axes: {', '.join(names[:axis] + names[axis + 1:])}\n" in good("inspect", "one.h5")
        good("convert", "moved.h5", "copy.h5", "--overwrite")


def test_planes_of_colour_stay_channels():
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.arange(60, dtype="uint8").reshape(3, 4, 5)
        file["data"].attrs.update({"CLASS": np.bytes_("IMAGE"), "IMAGE_VERSION": np.bytes_("1.2"),
                                   "IMAGE_SUBCLASS": np.bytes_("IMAGE_TRUECOLOR"),
                                   "INTERLACE_MODE": np.bytes_("INTERLACE_PLANE")})
    channels = "c (red, green, blue)"
    for words, names in ((["median", "in.h5", "out.h5", "--size", "1,1"], f"{channels}, y, x"),
                         (["transpose", "in.h5", "out.h5", "--permutation", "1,2,0"], f"y, x, {channels}")):
        good(*words, "--quiet", "--set", "output.overwrite=true", says=r"(?s).*")
        assert f"axes: {names}\n" in good("inspect", "out.h5")
    pathlib.Path("j.toml").write_text(STEPS.format(permutation=[1, 2, 0], over="c"))
    good("j.toml", "--quiet", says=r"(?s).*")
    with h5py.File("out.h5") as file:
        assert (file["data"][()] == np.arange(40, 60).reshape(4, 5)).all()


def test_what_is_named_beside_is_named_as_lost():
    """An output has no errors and other variables of its input, and no attribute that names them."""
    with h5py.File("in.h5", "w") as file:
        file.attrs["default"] = "e"
        group = file.create_group("e")
        group.attrs.update({"NX_class": "NXdata", "signal": "data", "auxiliary_signals": ["other"]})
        for name in ("data", "sigma", "flags", "errors", "other"):
            group[name] = volume()
        group["crs"] = 0
        group["data"].attrs.update({"uncertainties": "sigma", "ancillary_variables": "flags gone", "grid_mapping": "crs"})
    lost = "the signal other; the errors sigma; the variables flags; the mapping crs; the errors errors"
    for words in (["median", "in.h5", "out.h5", "--size", "1,1", "--quiet"], ["convert", "in.h5:/e/data", "copy.h5"]):
        assert said(*words) == lost
        with h5py.File(words[2]) as file:
            attributes = dict(file["e/data"].attrs)
        assert attributes["ancillary_variables"] == "gone"
        assert not {"uncertainties", "grid_mapping"} & set(attributes)
