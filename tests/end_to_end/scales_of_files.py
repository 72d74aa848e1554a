"""Units, spacings and places of files in the words of their writers, from one format into the others: what tifffile,
nibabel and h5py read of the outputs is what the input said, or one warning names what is lost."""
import json
import pathlib
import re

import h5py
import nibabel
import numpy as np
import pytest
import tifffile

from harness import call, good

pytestmark = pytest.mark.quick

STACK = np.random.default_rng(11).integers(0, 60000, (4, 6, 9)).astype("uint16")


def axes_of(name):
    axes = json.loads(good("inspect", name, "--json"))["datasets"][0]["axes"]
    return {axis["name"]: (axis.get("spacing"), axis.get("unit"), axis.get("origin")) for axis in axes}


def imagej(name="in.tif", axes="ZYX", resolution=(10, 5), **said):
    tifffile.imwrite(name, STACK, imagej=True, resolution=resolution, metadata={"axes": axes, "unit": "um", **said})
    return name


def near(found, wanted):
    assert found.keys() == wanted.keys(), found
    for name, (spacing, unit, origin) in wanted.items():
        one = found[name]
        assert one[1] == unit, found
        for a, b in ((one[0], spacing), (one[2], origin)):
            assert (a is None) == (b is None) and (a is None or np.isclose(a, b, rtol=1e-6)), found


@pytest.mark.parametrize("said, unit, seconds", [({}, "s", 2.5), ({"tunit": "sec"}, "s", 2.5), ({"tunit": "ms"}, "ms", 2.5e-3),
                                                 ({"tunit": "msec"}, "msec", 2.5e-3), ({"tunit": "min"}, "min", 150),
                                                 ({"tunit": "hr"}, "hr", 9000)])
def test_time_of_imagej(said, unit, seconds):
    """ImageJ writes the unit of time where it is not the second."""
    imagej(axes="TYX", finterval=2.5, **said)
    near(axes_of("in.tif"), {"t": (2.5, unit, None), "y": (0.2, "um", None), "x": (0.1, "um", None)})
    assert not call("median", "in.tif", "out.ome.tif", "--size", "1,1", "--quiet").stderr
    with tifffile.TiffFile("out.ome.tif") as file:
        pixels = re.search("<Pixels [^>]*>", file.ome_metadata).group(0)
    assert float(re.search('TimeIncrement="([^"]*)"', pixels).group(1)) == pytest.approx(seconds)
    assert 'TimeIncrementUnit="s"' in pixels
    call("median", "in.tif", "out.tif", "--size", "1,1", "--quiet")
    with tifffile.TiffFile("out.tif") as file:
        assert file.imagej_metadata["finterval"] == pytest.approx(seconds) and "tunit" not in file.imagej_metadata


def test_units_of_each_axis_of_imagej():
    imagej(spacing=3, yunit="mm", zunit="nm")
    near(axes_of("in.tif"), {"z": (3, "nm", None), "y": (0.2, "mm", None), "x": (0.1, "um", None)})
    imagej(spacing=-3)  # as its scroll bar may go: ImageJ takes the distance
    near(axes_of("in.tif"), {"z": (3, "um", None), "y": (0.2, "um", None), "x": (0.1, "um", None)})
    imagej(spacing=3, unit="pixel", zunit="nm")
    near(axes_of("in.tif"), {"z": (3, "nm", None), "y": (None, None, None), "x": (None, None, None)})


def test_place_of_imagej():
    """ImageJ has the place of 0 in elements: (index - origin) times the spacing is a place."""
    imagej(spacing=3, xorigin=4, yorigin=-2.5, zorigin=1)
    placed = {"z": (3, "um", -3), "y": (0.2, "um", 0.5), "x": (0.1, "um", -0.4)}
    near(axes_of("in.tif"), placed)
    imagej(spacing=3, xorigin=4, yorigin=-2.5, zorigin=1, inverty="true")  # y counts from below: its place is not known
    near(axes_of("in.tif"), placed | {"y": (0.2, "um", None)})
    imagej(spacing=3, xorigin=4, yorigin=-2.5, zorigin=1)
    good("convert", "in.tif", "out.tif")
    with tifffile.TiffFile("out.tif") as file:
        said = file.imagej_metadata
    assert [said[key] for key in ("xorigin", "yorigin", "zorigin")] == pytest.approx([4, -2.5, 1])
    call("bin", "in.tif", "out.ome.zarr", "--factors", "2,3,3", "--quiet")
    near(axes_of("out.ome.zarr"), {"z": (6, "um", -1.5), "y": (0.6, "um", 0.7), "x": (0.3, "um", -0.3)})


NAMES = {"s": ("second", 1, "sec"), "ms": ("millisecond", 1, "msec"), "us": ("microsecond", 1, "usec"),
         "min": ("minute", 60, "sec"), "h": ("hour", 3600, "sec"), "ns": ("nanosecond", 1e-9, "sec")}


@pytest.mark.parametrize("unit", sorted(NAMES))
@pytest.mark.parametrize("length", ["mm", "um", "m", "nm"])
def test_units_by_the_names_of_ome_zarr(unit, length):
    """OME-Zarr has other names for units than NIfTI-1, TIFF and ImageJ, and the units are the same."""
    word, scale, named = NAMES[unit]
    np.save("in.npy", np.zeros((2, 3, 4, 5), "float32"))
    pathlib.Path("job.toml").write_text(
        'kind = "median"\n[input]\nfile = "in.npy"\naxes = "tzyx"\n'
        f'spacing = {{ t = 1.5, unit = "{unit}" }}\n[output]\nfile = "t.h5"\n[median]\nsize = [1, 1]\n')
    call("job.toml", "--quiet")
    with h5py.File("t.h5", "a") as file:  # of several units: a job file takes one
        del file["data"].attrs["placement"]
        file["data"].attrs["spacing"] = [1.5, 2.0, 0.5, 0.25]
        file["data"].attrs["spacing_units"] = [unit, length, length, length]
    good("convert", "t.h5:/data", "in.ome.zarr")
    said = json.loads(pathlib.Path("in.ome.zarr/zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]["axes"]
    assert said[0]["unit"] == word
    assert "unit" not in call("convert", "in.ome.zarr", "out.nii").stderr
    header = nibabel.load("out.nii").header
    known = {"mm": ("mm", 1), "um": ("micron", 1), "m": ("meter", 1), "nm": ("micron", 1e-3)}[length]
    assert header.get_xyzt_units() == (known[0], named)
    assert np.allclose(header.get_zooms(), [0.25 * known[1], 0.5 * known[1], 2 * known[1], 1.5 * scale], rtol=1e-6)
    call("convert", "in.ome.zarr", "out.tif")
    with tifffile.TiffFile("out.tif") as file:
        assert file.imagej_metadata["finterval"] == pytest.approx(1.5 * {"ms": 1e-3, "us": 1e-6}.get(unit, scale))


def test_times_from_another_start():
    image = nibabel.Nifti1Image(np.zeros((5, 4, 3, 2), "float32"), np.diag([2, 2, 2, 1]))
    image.header.set_zooms((2, 2, 2, 1500))
    image.header.set_xyzt_units("mm", "msec")
    image.header["toffset"] = 300
    nibabel.save(image, "in.nii")
    good("convert", "in.nii", "in.ome.zarr", says="(?s).*the affine\n")
    good("convert", "in.ome.zarr", "out.nii")
    header = nibabel.load("out.nii").header
    assert (header["toffset"], header.get_zooms()[3], header.get_xyzt_units()) == (300, 1500, ("mm", "msec"))


@pytest.mark.parametrize("source", ["ome.zarr", "mrc", "h5"])
def test_places_that_nifti_has_not(source):
    """Without an affine NIfTI-1 has no place of the first element along x, y and z."""
    imagej(spacing=3, xorigin=4, zorigin=1)
    good("convert", "in.tif", f"in.{source}")
    for words in (call("convert", f"in.{source}", "out.nii").stderr,
                  call("median", f"in.{source}", "job.nii", "--size", "1,1", "--quiet").stderr):
        assert "the place of the first element along axis 0; the place of the first element along axis 2\n" in words
    imagej(spacing=3)
    good("convert", "in.tif", f"b.{source}")
    assert "place" not in call("convert", f"b.{source}", "b.nii").stderr


@pytest.mark.parametrize("axes, names", [("YXC", "y, x, c"), ("ZYX", "z, y, x"), ("YXS", "y, x, c"), ("XYZ", "x, y, z")])
def test_axes_of_tifffile_in_another_order(axes, names):
    """Each name is of its axis, also those of the lines and columns of a page."""
    tifffile.imwrite("in.tif", STACK.astype("int32"), photometric="minisblack", metadata={"axes": axes})
    assert f"axes: {names}\n" in good("inspect", "in.tif")
    assert "description" not in call("convert", "in.tif", "out.npy").stderr


def test_other_words_of_tifffile():
    tifffile.imwrite("in.tif", STACK.astype("int32"), photometric="minisblack", metadata={"axes": "ZYX", "spacing": 3})
    assert "the description" in call("convert", "in.tif", "out.npy").stderr
    for text, is_lost in (("<MetaData>0.5</MetaData>", True), ("{damaged", True), ('{"shape": [4, 6, 9]}', False)):
        tifffile.imwrite("in.tif", STACK.astype("int32"), photometric="minisblack", metadata=None, description=text)
        assert ("the description" in call("convert", "in.tif", "out.npy", "--overwrite").stderr) == is_lost, text


@pytest.mark.parametrize("labels", ["zcyx", "czyx", "zyxc", "tzyx"])
def test_sizes_of_the_axes_of_space(labels):
    """Three sizes are those of z, y and x, wherever c or t is among them."""
    sizes = dict(zip("zyx", (2.0, 0.5, 0.25), strict=True))
    extents = {"z": 4, "y": 6, "x": 8, "c": 3, "t": 3}
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.random.default_rng(3).integers(0, 99, [extents[label] for label in labels]).astype("uint8")
        file["data"].attrs.update({"DIMENSION_LABELS": list(labels), "element_size_um": list(sizes.values())})
    wanted = {label: (sizes.get(label), "um" if label in sizes else None, None) for label in labels}
    near(axes_of("in.h5"), wanted)
    text = 'kind = "{}"\n[input]\nfile = "in.h5"\n{}\n[output]\nfile = "out.h5"\noverwrite = true\n[{}]\n{}\n'

    def made(kind, table, select=""):
        pathlib.Path("job.toml").write_text(text.format(kind, select, kind, table))
        call("job.toml", "--quiet")
        return axes_of("out.h5")

    near(made("transpose", "permutation = [1, 3, 0, 2]"), wanted)
    other = next(label for label in labels if label not in sizes)
    near(made("median", "size = [1, 1]", f"select = {{ {other} = 1 }}"), {label: wanted[label] for label in sizes})
    if labels.endswith("yx"):
        binned = wanted | {"y": (1.0, "um", 0.25), "x": (0.5, "um", 0.125)}
        found = made("bin", "factors = [2, 2]")
        near({label: (*axis[:2], binned[label][2]) for label, axis in found.items()}, binned)
