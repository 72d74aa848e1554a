"""TIFF and OME-TIFF as outputs: colour, axes, spacing and units as tifffile and runner read them."""
import json
import os
import pathlib
import re
import signal
import xml.etree.ElementTree

import h5py
import nibabel
import numpy as np
import pytest
import tifffile

from harness import bad, call, good, programs

TAPS = "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.5, 0.0]"
OME = "{http://www.openmicroscopy.org/Schemas/OME/2016-06}"


def noise(shape, dtype="uint16"):
    return np.random.default_rng(5).integers(0, 200, shape).astype(dtype)


def write_job(kind, output, table, source="in.h5:/x", more=""):
    file, _, dataset = source.partition(":")
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{file}"\n' + (f'dataset = "{dataset}"\n' if dataset else "") +
        f'{more}\n[output]\nfile = "{output}"\noverwrite = true\n[run]\nbackend = "cpu"\n[{kind}]\n{table}')


def write_input(array, **attributes):
    with h5py.File("in.h5", "w") as file:
        file["x"] = array
        file["x"].attrs.update(attributes)


def same(found, wanted):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def is_colour(name, pages, samples=3):
    with tifffile.TiffFile(name) as file:
        assert len(file.pages) == pages
        assert all(page.photometric == tifffile.PHOTOMETRIC.RGB and page.samplesperpixel == samples
                   for page in file.pages)
    assert json.loads(good("inspect", name, "--json"))["datasets"][0]["shape"][-1] == samples


def imagej(name):
    """The description, axes, elements and the size of pixels."""
    with tifffile.TiffFile(name) as file:
        page = file.pages[0]
        ratio = [page.tags[tag].value if tag in page.tags else None for tag in ("XResolution", "YResolution")]
        series = file.series[0]
        return file.imagej_metadata, series.axes, series.asarray(), [pair and pair[1] / pair[0] for pair in ratio]


def ome(name):
    """The attributes of Pixels and the elements in it, and the axes and the array that tifffile finds."""
    with tifffile.TiffFile(name) as file:
        assert file.is_ome
        root = xml.etree.ElementTree.fromstring(file.ome_metadata)
        pixels, = root.iter(OME + "Pixels")
        return pixels.attrib, list(pixels), file.series[0].axes, file.asarray()


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("ending", ["tif", "ome.tif"])
def test_colour(dtype, ending):
    array = noise((4, 9, 11, 3), dtype)
    tifffile.imwrite("in.tif", array, photometric="rgb")
    out = f"out.{ending}"
    write_job("rescale", out, "from = [0, 200]\nto = [0, 200]", "in.tif")
    for ranks in (1, 2):
        call("job.toml", ranks=ranks)
        same(tifffile.imread(out), array)
        is_colour(out, 4)
        call("verify", out, "--recompute", "2")
    good("convert", "in.tif", f"b.{ending}")
    assert pathlib.Path(f"b.{ending}").read_bytes() == pathlib.Path(out).read_bytes()
    good("convert", "in.tif", f"one.{ending}", "--frame", "2")
    same(tifffile.imread(f"one.{ending}"), array[2])
    is_colour(f"one.{ending}", 1)
    tifffile.imwrite("one.tif", array[2], photometric="rgb")
    write_job("transpose", out, "permutation = [1, 0, 2]", "one.tif")
    call("job.toml")
    same(tifffile.imread(out), np.ascontiguousarray(array[2].transpose(1, 0, 2)))
    is_colour(out, 1)
    # The samples are no more the last axis.
    write_job("transpose", out, "permutation = [2, 0, 1]", "one.tif")
    call("job.toml")
    with tifffile.TiffFile(out) as file:
        same(file.asarray(), np.ascontiguousarray(array[2].transpose(2, 0, 1)))
        assert file.pages[0].photometric == tifffile.PHOTOMETRIC.MINISBLACK


@pytest.mark.quick
def test_declared_colour():
    write_input(noise((9, 11, 3)))
    for declared, pages in ((None, 9), ("false", 9), ("true", 1)):
        more = "" if declared is None else f"colour = {declared}"
        write_job("rescale", "out.tif", "from = [0, 200]\nto = [0, 200]", more=more)
        call("job.toml")
        with tifffile.TiffFile("out.tif") as file:
            assert len(file.pages) == pages, declared
        call("verify", "out.tif")
    write_input(noise((9, 11, 3), "uint8"))
    write_job("rescale", "out.tif", "from = [0, 200]\nto = [0, 200]", more="colour = false")
    call("job.toml")
    with tifffile.TiffFile("out.tif") as file:
        assert len(file.pages) == 9
    call("verify", "out.tif")


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32"])
def test_imagej(dtype):
    array = noise((5, 9, 11), dtype)
    write_input(array, element_size_um=[2.5, 0.5, 0.325])
    write_job("convolve", "out.tif", TAPS)
    call("job.toml")
    found, axes, read, pixel = imagej("out.tif")
    assert (found["images"], found["slices"], found["spacing"], found["unit"]) == (5, 5, 2.5, "micron")
    assert axes == "ZYX" and read.shape == array.shape and np.allclose(pixel, [0.325, 0.5], rtol=1e-12)
    good("convert", "in.h5:/x", "b.tif")
    assert imagej("b.tif")[0] == found
    # Blocks, and a part that begins elsewhere.
    write_job("bin", "out.tif", "factors = [1, 3, 2]", more='region = { depth = "1:4", columns = "1:11" }')
    assert "without" not in call("job.toml").stderr
    found, axes, read, pixel = imagej("out.tif")
    assert (found["slices"], found["spacing"], read.shape[0]) == (3, 2.5, 3)
    assert np.allclose(pixel, [0.65, 1.5]) and found["zorigin"] == -1
    assert np.allclose([found["xorigin"], found["yorigin"]], [-1.5 * 0.325 / 0.65, -1 / 3])
    # Nothing is said where nothing is known.
    write_input(array)
    write_job("convolve", "out.tif", TAPS)
    call("job.toml")
    with tifffile.TiffFile("out.tif") as file:
        assert not file.pages[0].description and "XResolution" not in file.pages[0].tags


@pytest.mark.quick
def test_time():
    array = noise((3, 4, 5, 6), "float32")
    image = nibabel.Nifti1Image(array.T, None)
    image.header.set_zooms((0.5, 0.75, 2, 1500))
    image.header.set_xyzt_units("mm", "msec")
    nibabel.save(image, "in.nii")
    write_job("median", "out.tif", "size = [1, 1, 1]", "in.nii")
    call("job.toml")
    found, axes, read, pixel = imagej("out.tif")
    assert (found["frames"], found["slices"], found["hyperstack"], found["unit"]) == (3, 4, True, "mm")
    assert (found["finterval"], found["spacing"]) == (1.5, 2) and np.allclose(pixel, [0.5, 0.75])
    assert axes == "TZYX" and read.shape == array.shape
    same(read, array)
    # Frames of slices: an order that ImageJ does not know.
    with h5py.File("in.h5", "w") as file:
        group = file.create_group("entry")
        group.attrs.update({"NX_class": "NXdata", "signal": "x", "axes": ["z", "t", "y", "x_"]})
        group["x"] = np.ascontiguousarray(array.transpose(1, 0, 2, 3))
        for name, unit, size, extent in (("z", "um", 2, 4), ("t", "ms", 250, 3), ("y", "um", 0.5, 5), ("x_", "um", 1, 6)):
            group[name] = size * np.arange(extent, dtype="f8")
            group[name].attrs["units"] = unit
    write_job("median", "out.tif", "size = [1, 1, 1]", "in.h5:/entry/x")
    call("job.toml")
    found, axes, read, pixel = imagej("out.tif")
    assert "slices" not in found and (found["finterval"], found["spacing"]) == (0.25, 2)
    write_job("median", "out.ome.tif", "size = [1, 1, 1]", "in.h5:/entry/x")
    call("job.toml")
    pixels, _, axes, read = ome("out.ome.tif")
    assert pixels["DimensionOrder"] == "XYTZC" and axes == "ZTYX" and pixels["TimeIncrement"] == "0.25"
    same(read, np.ascontiguousarray(array.transpose(1, 0, 2, 3)))


@pytest.mark.quick
def test_sizes_without_a_unit():
    """OME's word for no unit is none when it is read again."""
    write_input(noise((5, 9, 11), "uint8"), spacing=[2.5, 0.5, 0.25], DIMENSION_LABELS=["z", "y", "x"])
    write_job("median", "out.ome.tif", "size = [1, 1, 1]")
    call("job.toml")
    assert "axes: z 2.5, y 0.5, x 0.25\n" in call("inspect", "out.ome.tif").stdout


@pytest.mark.quick
def test_other_types():
    write_input(noise((5, 9, 11), "int32"), element_size_um=[2.5, 0.5, 0.25])
    write_job("transpose", "out.tif", "permutation = [0, 1, 2]")
    assert "without some of its attributes: the spacing of axis 0" in call("job.toml").stderr
    found, _, _, pixel = imagej("out.tif")
    assert found is None and np.allclose(pixel, [0.25e-4, 0.5e-4])
    with tifffile.TiffFile("out.tif") as file:
        assert file.pages[0].tags["ResolutionUnit"].value == 3


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"])
def test_ome(dtype):
    array = noise((5, 9, 11), dtype)
    write_input(array, element_size_um=[2.5, 0.5, 0.325])
    write_job("transpose", "out.ome.tif", "permutation = [0, 1, 2]")
    call("job.toml")
    pixels, inside, axes, read = ome("out.ome.tif")
    assert pixels["DimensionOrder"] == "XYZCT"
    assert [pixels["Size" + axis] for axis in "XYZCT"] == ["11", "9", "5", "1", "1"]
    assert pixels["Type"] == {"float32": "float", "float64": "double"}.get(dtype, dtype)
    assert [float(pixels["PhysicalSize" + axis]) for axis in "XYZ"] == [0.325, 0.5, 2.5]
    assert pixels["PhysicalSizeXUnit"] == pixels["PhysicalSizeZUnit"] == "µm"
    assert [each.tag.removeprefix(OME) for each in inside] == ["Channel", "TiffData"]
    assert axes == "ZYX"
    same(read, array)
    call("verify", "out.ome.tif", "--recompute", "2")
    good("compare", "out.ome.tif", "in.h5:/x")


@pytest.mark.quick
def test_ome_axes():
    """Axes that are not known are z, and t or c."""
    for shape, letters, order in (((9, 11), "YX", "XYZCT"), ((4, 9, 11), "ZYX", "XYZCT"), ((2, 4, 9, 11), "TZYX", "XYZTC"),
                               ((2, 3, 4, 9, 11), "TCZYX", "XYZCT"), ((2, 1, 4, 9, 11), "TZYX", "XYZTC")):
        array = noise(shape)
        write_input(array)
        good("convert", "in.h5:/x", "out.ome.tif", "--overwrite")
        pixels, inside, axes, read = ome("out.ome.tif")
        assert pixels["DimensionOrder"] == order and axes == letters
        assert sum(each.tag == OME + "Channel" for each in inside) == int(pixels["SizeC"])
        assert "PhysicalSizeX" not in pixels
        same(read, array.squeeze() if 1 in shape else array)
    write_input(noise((2, 3, 4, 2, 9, 11)))
    write_job("median", "out.ome.tif", "size = [1, 1, 1]")
    error = call("job.toml", code=2).stderr
    assert "OME has t, c and z" in error and ".npy" in error, error
    write_input(noise((9, 11), "int64"))
    write_job("transpose", "out.ome.tif", "permutation = [0, 1]")
    assert "integers of 8, 16 and 32 bits" in call("job.toml", code=2).stderr
    bad(2, ["integers of 8, 16 and 32 bits"], "convert", "in.h5:/x", "b.ome.tif")


@pytest.mark.quick
def test_names_of_axes():
    """Names of axes, names, colours and wavelengths of channels are kept, in the orders of both formats."""
    array = noise((2, 3, 4, 9, 11))
    names = ["DAPI", "CFP", "GFP"]
    waves = [461.0, 509.5, 0.61e3]
    colours = {"0000FF": 65535, "00FFFF": 16777215, "FF8001": -8388097}  # red, green, blue, alpha
    for letters, shape in (("TCZYX", (2, 3, 4)), ("TZCYX", (2, 4, 3)), ("CTZYX", (3, 2, 4))):
        planes = array.reshape(*shape, 9, 11)
        tifffile.imwrite("in.ome.tif", planes, photometric="minisblack", metadata={
            "axes": letters, "Channel": {"Name": names, "Color": list(colours.values()), "EmissionWavelength": waves}, "PhysicalSizeZ": 2.5, "PhysicalSizeX": 0.5,
            "PhysicalSizeY": 0.5})
        for out, compression in (("out.ome.tif", "none"), ("packed.ome.tif", "deflate")):
            write_job("median", out, "size = [1, 1, 1]", "in.ome.tif")
            assert "without" not in call("job.toml", "--set", f'output.compression="{compression}"').stderr
            pixels, inside, axes, read = ome(out)
            assert [each.get("Name") for each in inside if each.tag == OME + "Channel"] == names
            assert [int(each.get("Color")) for each in inside if each.tag == OME + "Channel"] == list(colours.values())
            assert [float(each.get("EmissionWavelength")) for each in inside if each.tag == OME + "Channel"] == waves
            assert axes == letters and float(pixels["PhysicalSizeZ"]) == 2.5
            same(read, planes)
            call("verify", out)
            found = json.loads(good("inspect", out, "--json"))["datasets"][0]
            assert found["shape"] == list(planes.shape)
            assert [axis["colours"] for axis in found["axes"] if axis["name"] == "c"] == [list(colours)]
        write_job("median", "out.tif", "size = [1, 1, 1]", "in.ome.tif")
        assert "the names of channels; the colours of channels; the wavelengths of channels" in call("job.toml").stderr
        found, axes, read, _ = imagej("out.tif")
        if letters[0] == "T":
            assert axes == letters and (found["frames"], found["slices"], found["channels"]) == (2, 4, 3)
            assert found.get("order") == ("zct" if letters == "TCZYX" else None)
            same(read, planes)
            good("compare", "out.tif", "in.ome.tif")
        else:
            assert "channels" not in found


@pytest.mark.parametrize("labels, read", [
    (["rotation_angle", "", ""], {".ome.tif": "z, y, x", ".tif": "?, y, x"}),
    (["y", "rotation_angle", "x"], {".ome.tif": "z, y, x", ".tif": "?, y, x"}),
    (["t", "u", "v"], {".ome.tif": "t, y, x", ".tif": "t, y, x"}),
    (["z", "y", "x"], {".ome.tif": "", ".tif": ""}),
    (["frame", "y", "x"], {".ome.tif": "", ".tif": ""}),
])
@pytest.mark.parametrize("ending", [".ome.tif", ".tif"])
def test_names_that_are_lost(ending, labels, read):
    """An axis that the file gives another name, or none, is named in a warning."""
    with h5py.File("in.h5", "w") as file:
        file["x"] = np.arange(3 * 5 * 7, dtype="uint16").reshape(3, 5, 7)
        file["x"].attrs["DIMENSION_LABELS"] = labels
    said = call("convert", "in.h5", "out" + ending).stderr
    lost = "the names of axes, " + ", ".join(label or "?" for label in labels)
    assert (f"{lost} (in the file they are {read[ending]})" in said) if read[ending] else "names of axes" not in said, said
    if "?" not in read[ending]:
        assert f"axes: {read[ending] or ('z, y, x' if labels[0] == 'z' else 't, y, x')}" in call("inspect", "out" + ending).stdout


@pytest.mark.parametrize("name", ["out.tif", "out.ome.tif"])
def test_killed_and_damaged(name):
    """The description is written when all rows are there; what kills leave of it counts for nothing."""
    write_input(noise((23, 31, 29)), element_size_um=[2.5, 0.5, 0.325])
    write_job("convolve", name, TAPS)
    commit = ("--set", "run.chunk_rows=40", "--set", "run.commit_seconds=0")
    call("job.toml", *commit)
    whole = pathlib.Path(name).read_bytes()
    for fault in [f"{which}:{how}@{number}:{name}.partial" for which, how, number in
                  (("pwrite", "kill", 1), ("pwrite", "torn", 7), ("pwrite", "kill", 19), ("pwrite", "torn", 20),
                   ("pwrite", "torn", 21), ("rename", "kill", 1))]:
        os.unlink(name)
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        assert not os.path.exists(name)
        call("job.toml", *commit)
        assert pathlib.Path(name).read_bytes() == whole, fault
        call("verify", name)
    for byte in (3, len(whole) - 20):  # the header and the description
        with open(name, "r+b") as file:
            file.seek(byte)
            file.write(bytes([whole[byte] ^ 1]))
        assert f"byte {byte} of its structure" in call("verify", name, code=3).stderr
        pathlib.Path(name).write_bytes(whole)
    with open(name, "r+b") as file:
        file.seek(5000)
        file.write(b"damaged")
    call("verify", name, code=7)
    call("repair", name)
    assert pathlib.Path(name).read_bytes() == whole


@pytest.mark.quick
def test_what_a_later_pass_leaves_out():
    """The warning names the step before, whose file between the passes nobody sees."""
    write_input(noise((5, 9, 11), "int32"), element_size_um=[2.5, 0.5, 0.25])
    write_job("transpose", "out.tif", "permutation = [0, 1, 2]")
    job = pathlib.Path("job.toml").read_text()
    step = '[[step]]\nkind = "transpose"\npermutation = [0, 1, 2]\n'
    job = re.sub(r'^kind = .*\n', "", job[:job.index("[transpose]")], flags=re.M) + 2 * step
    pathlib.Path("job.toml").write_text(job)
    said = call("job.toml").stderr
    assert "after step 1, transpose: the output is without some of its attributes: the spacing of axis 0" in said, said


@pytest.mark.quick
def test_the_schema_of_ome():
    """PyPI's ome-types, where it is installed, finds each OME-XML right by the schema, and what was declared."""
    types = pytest.importorskip("ome_types", reason="PyPI's ome-types is not installed")
    packed = 'compression = "zstd"\npyramid = true'
    for axes, shape, dtype, last in (("yx", (9, 11), "uint8", ""), ("zyx", (3, 9, 11), "int16", ""),
                                     ("tyx", (2, 9, 11), "uint32", ""), ("tczyx", (2, 3, 4, 9, 11), "float32", ""),
                                     ("czyx", (2, 3, 9, 11), "float64", ""), ("zyx", (2, 300, 280), "uint16", packed),
                                     ("yxs", (9, 11, 3), "uint8", "")):
        write_input(noise(shape, dtype))
        spacing = ", ".join(f"{axis} = {size}" for axis, size in zip("zyx", (2.5, 0.5, 0.25)) if axis in axes)
        write_job("convolve", "out.ome.tif", "row_taps = [1.0]\ncolumn_taps = [1.0]",
                  more=f'axes = "{axes}"\nspacing = {{ {spacing}, unit = "um" }}')
        job = pathlib.Path("job.toml").read_text()
        pathlib.Path("job.toml").write_text(job.replace("overwrite = true", f"overwrite = true\n{last}"))
        call("job.toml", "--quiet")
        with tifffile.TiffFile("out.ome.tif") as file:
            text = file.ome_metadata
        types.validate_xml(text)
        pixels = types.from_xml(text).images[0].pixels
        sizes = dict(zip(axes, shape)) | ({"c": 3} if "s" in axes else {})
        assert [getattr(pixels, f"size_{axis}") for axis in "xyzct"] == [sizes.get(axis, 1) for axis in "xyzct"]
        assert (pixels.physical_size_x, pixels.physical_size_y) == (0.25, 0.5)
        assert pixels.physical_size_z == (2.5 if "z" in axes else None) and pixels.physical_size_x_unit.value == "µm"
        assert sum(each.samples_per_pixel or 1 for each in pixels.channels) == pixels.size_c
        assert pixels.type.value == {"float32": "float", "float64": "double"}.get(dtype, dtype)
