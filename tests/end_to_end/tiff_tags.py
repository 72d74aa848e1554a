"""What tags of a TIFF say of its elements, colours, axes and place: known, warned of or refused."""
import pathlib
import struct

import h5py
import numpy as np
import pytest
from PIL import Image
import tifffile

from harness import attempt, call

pytestmark = pytest.mark.quick

GREY = np.random.default_rng(3).integers(0, 60000, (8, 12)).astype("uint16")
COLOUR = np.random.default_rng(4).integers(0, 255, (8, 12, 4)).astype("uint8")


def converted(name, output="out.h5"):
    """What convert warns of, and the attributes of its dataset."""
    done = attempt("convert", name, output, "--overwrite")
    assert done.returncode == 0, done
    with h5py.File(output) as file:
        return done.stderr, dict(file["data"].attrs), file["data"][()]


def write(name, array=GREY, tags=(), **others):
    tifffile.imwrite(name, array, metadata=None, extratags=list(tags), **others)


def test_colours_that_are_none_are_refused():
    Image.fromarray(COLOUR[..., :3].copy()).save("rgb.tif")
    assert not converted("rgb.tif")[0]
    data = bytearray(pathlib.Path("rgb.tif").read_bytes())
    at = data.index(struct.pack("<HHIH", 262, 3, 1, 2)) + 8
    for number, name in [(8, "L*a*b*"), (9, "L*a*b*"), (6, "YCbCr"), (32845, "LogLuv")]:
        struct.pack_into("<H", data, at, number)
        pathlib.Path("other.tif").write_bytes(data)
        done = attempt("convert", "other.tif", "out.npy", "--overwrite")
        assert done.returncode == 3 and f"its colours are {name}" in done.stderr, done
    Image.fromarray(COLOUR[..., :3].copy()).save("jpeg.tif", compression="jpeg")
    assert not converted("jpeg.tif")[0]


def test_samples_that_may_be_no_colour():
    for kind, words in [("unspecified", "may be no alpha"), ("assocalpha", "multiplied by their alpha"),
                        ("unassalpha", None)]:
        write("alpha.tif", COLOUR, photometric="rgb", extrasamples=[kind])
        warning, _, elements = converted("alpha.tif")
        assert np.array_equal(elements, COLOUR) and (words in warning if words else not warning), warning
    write("three.tif", COLOUR[..., :3], photometric="minisblack", planarconfig="contig")
    assert "may be no colour" in converted("three.tif")[0]


def test_orientation():
    for way in range(1, 9):
        write("turned.tif", tags=[(274, 3, 1, way, True)])
        warning, _, elements = converted("turned.tif")
        assert np.array_equal(elements, GREY)
        assert (f"its Orientation is {way}," in warning) == (way > 1), warning


def test_resolution():
    """In centimetres it is a spacing; in inches it is named, but where programs write it that know of none."""
    write("cm.tif", resolution=(1000, 2000), resolutionunit="CENTIMETER")
    warning, attributes, _ = converted("cm.tif")
    assert not warning and np.allclose(attributes["element_size_um"], [5, 10])
    for dots, named in [(300, True), (72, False), (96, False)]:
        write("inch.tif", resolution=(dots, dots), resolutionunit="INCH")
        warning, attributes, _ = converted("inch.tif")
        assert (f"the resolution, {dots} pixels an inch" in warning) == named and "spacing" not in attributes
    write("none.tif", resolution=(1000, 2000), resolutionunit="NONE")
    warning, attributes, _ = converted("none.tif")
    assert not warning and "spacing" not in attributes


def run(name, output, kind="median", keys="size = [3, 3]"):
    pathlib.Path("job.toml").write_text(f'kind = "{kind}"\n[input]\nfile = "{name}"\n[output]\nfile = "{output}"\n'
                                        f"overwrite = true\n[{kind}]\n{keys}\n")
    return call("job.toml", "--quiet").stderr


@pytest.mark.parametrize("dtype, text, number", [
    ("float32", "-9999", -9999), ("float32", "nan", np.nan), ("float32", "-3.40282346638529e+38", np.finfo("f4").min),
    ("int16", "-9999 ", -9999), ("uint8", "0", 0), ("uint8", "-9999", None), ("uint16", "x", None)])
def test_no_data_of_gdal(dtype, text, number):
    """Elements that are no values, as `_FillValue` says it in HDF5."""
    data = (GREY % 200 + 1).astype(dtype)
    data[2:4, 5:7] = 0 if number is None else number
    write("dem.tif", data, [(42113, 2, 0, text, True)])
    listed = "GDAL_NODATA" in attempt("inspect", "dem.tif").stdout
    warning, attributes, elements = converted("dem.tif")
    assert not warning and np.array_equal(elements, data, equal_nan=True)
    assert listed == ("_FillValue" in attributes) == (number is not None)
    done = attempt("convert", "dem.tif", "copy.npy", "--overwrite")
    assert ("which elements are invalid, GDAL_NODATA" in done.stderr) == (number is not None), done
    assert not run("dem.tif", "made.h5")
    with h5py.File("made.h5") as file:
        made, attributes = file["data"][()], file["data"].attrs
        assert ("_FillValue" in attributes) == (number is not None)
        if number is not None:
            invalid = np.isnan(made) if np.isnan(attributes["_FillValue"]) else made == attributes["_FillValue"]
            wanted = np.isnan(data) if np.isnan(number) else data == np.asarray(number, dtype)
            assert np.array_equal(invalid, wanted)
    run("dem.tif", "made.h5", "transpose", "permutation = [0, 2, 1]")
    with h5py.File("made.h5") as file:
        assert ("_FillValue" in file["data"].attrs) == (number is not None)


def test_the_place_on_the_earth_is_named():
    write("geo.tif", tags=[(33550, 12, 3, (0.5, 0.5, 0.0), True), (33922, 12, 6, (0, 0, 0, 100.0, 200.0, 0), True)])
    assert "the place on the earth (GeoTIFF)" in converted("geo.tif")[0]
    assert "GeoTIFF" in run("geo.tif", "made.h5")


def test_sizes_along_axes_of_one_element():
    tifffile.imwrite("one.ome.tif", GREY, metadata={"axes": "YX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5,
                                                    "PhysicalSizeZ": 3.0, "TimeIncrement": 2.0})
    warning, attributes, _ = converted("one.ome.tif")
    assert "the size of a pixel along z; the time between frames" in warning, warning
    assert list(attributes["spacing"]) == [0.5, 0.5]
    tifffile.imwrite("two.ome.tif", np.stack([GREY, GREY]), photometric="minisblack",
                     metadata={"axes": "ZYX", "PhysicalSizeZ": 3.0})
    warning, attributes, _ = converted("two.ome.tif")
    assert not warning and attributes["spacing"][0] == 3


def write_stk(name, planes, distances, times, unit=b"um", calibrated=1, order="<"):
    """A stack of MetaMorph, with the settings of UIC1 and six numbers of each plane in UIC2."""
    count, height, width = planes.shape
    head = 8 + 2 + 13 * 12 + 4
    data = planes.astype(order + "u2").tobytes()
    at = head + len(data)
    numbers = b"".join(struct.pack(order + "6I", *distance, 2459000, time, 0, 0)
                       for distance, time in zip(distances, times, strict=True))
    calibration = at + len(numbers)
    settings = calibration + 16 + 4 + len(unit) + len(unit) % 2
    tail = numbers + struct.pack(order + "4I", 65, 100, 70, 100) + struct.pack(order + "I", len(unit)) + unit
    tail = tail.ljust(settings - at, b"\0")
    tail += struct.pack(order + "8I", 3, calibrated, 4, calibration, 5, calibration + 8, 6, calibration + 16)
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1),
            (273, 4, 1, head), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, height * width * 2),
            (33628, 4, 4, settings), (33629, 5, count, at), (33630, 5, count, at), (33631, 4, count, at)]
    out = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", 8, len(tags))
    for tag, kind, values, value in tags:
        inline = struct.pack(order + "HH", value, 0) if kind == 3 else struct.pack(order + "I", value)
        out += struct.pack(order + "HHI", tag, kind, values) + inline
    pathlib.Path(name).write_bytes(out + bytes(4) + data + tail)


@pytest.mark.parametrize("order", ["<", ">"])
def test_axes_of_metamorph(order):
    planes = np.stack([GREY + i for i in range(4)])
    z, t, still = [(3, 2)] * 4, [1000 * i for i in range(4)], [(0, 1)] * 4
    for distances, times, unit, calibrated, axes in [
            (z, t, b"um", 1, "axes: z 1.5 um, y 0.7 um, x 0.65 um\n"),
            ([*z[:3], (0, 0)], t, b"microns\0", 1, "axes: z 1.5 um, y 0.7 um, x 0.65 um\n"),
            ([(1, 1), (3, 1), (2, 1), (1, 1)], t, b"um", 1, "axes: z, y 0.7 um, x 0.65 um\n"),
            (still, t, b"um", 1, "axes: t 1 s, y 0.7 um, x 0.65 um\n"),
            (still, [0, 1000, 1700, 3000], b"um", 0, "axes: t, y, x\n"),
            (still, [5] * 4, b"pixel", 1, "axes: ?, y, x\n")]:
        write_stk("a.stk", planes, distances, times, unit, calibrated, order)
        text = attempt("inspect", "a.stk").stdout
        assert axes in text, text
        assert np.array_equal(converted("a.stk")[2], planes)


def no_data(text):
    return [(42113, 2, 0, text, True)] if text else []


def write_pages(name, *pages):
    """A file whose pages have the tags of their own that each says."""
    with tifffile.TiffWriter(name) as file:
        for page in pages:
            file.write(GREY % 200, contiguous=False, metadata=None, **page)


def averaged(name, more=""):
    pathlib.Path("job.toml").write_text(f'kind = "bin"\n[input]\nfile = "{name}"\n{more}\n[output]\nfile = "made.h5"\n'
                                        "overwrite = true\n[bin]\nfactors = [2, 2]\n")
    return attempt("job.toml", "--quiet")


@pytest.mark.parametrize("first, second, pages_say, files_say", [
    ("7", "8", "GDAL_NODATA = 7 in page 0, GDAL_NODATA = 8 in page 1",
     "GDAL_NODATA = 7 in part_0.tif, GDAL_NODATA = 8 in part_1.tif"),
    ("7", None, None, "GDAL_NODATA = 7 in part_0.tif, none in part_1.tif"),
    (None, "7", "none in page 0, GDAL_NODATA = 7 in page 1", "none in part_0.tif, GDAL_NODATA = 7 in part_1.tif"),
    ("7", "7.0", None, None)])
def test_parts_that_differ_in_what_is_invalid(first, second, pages_say, files_say):
    """Of pages and of files in a stack one number is invalid, or the job says which. A page that says nothing has
    what the first one says: tifffile writes such files."""
    write_pages("pages.tif", {"extratags": no_data(first)}, {"extratags": no_data(second)})
    for number, text in enumerate([first, second]):
        write(f"part_{number}.tif", GREY % 200, no_data(text))
    for name, said in [("pages.tif", pages_say), ("part_?.tif", files_say)]:
        done = averaged(name)
        if said is None:
            assert done.returncode == 0 and "agree" not in done.stderr, done
            continue
        assert done.returncode == 3 and said in done.stderr and "input.invalid = 7" in done.stderr, done
        assert f"not alike: {said}\n" in attempt("inspect", name).stdout
        assert f"which elements are invalid, {said}" in attempt("convert", name, "copy.h5", "--overwrite").stderr
        assert said in attempt("render", name, "picture.png").stderr
        assert said in run(name, "moved.h5", "transpose", "permutation = [0, 2, 1]")
        done = averaged(name, "invalid = 7")
        assert done.returncode == 0 and "agree" not in done.stderr, done
        blocks = np.where(GREY % 200 == 7, np.nan, GREY % 200).reshape(4, 2, 6, 2)
        wanted = np.nanmean(blocks, axis=(1, 3))
        with h5py.File("made.h5") as file:
            assert file["data"].attrs["_FillValue"] == 7
            # Halves are rounded to even numbers.
            assert np.array_equal(file["data"][()], np.broadcast_to(np.rint(wanted), (2, 4, 6)))
        assert averaged(name, 'invalid = "none"').returncode == 0


def test_flats_that_differ_in_what_is_invalid():
    """The files of a field are asked for as those of the input are."""
    write("scan.tif", np.stack([GREY, GREY]))
    for number, text in enumerate(["7", None]):
        write(f"flat_{number}.tif", GREY, no_data(text))
    keys = "dark = 0\nflat = { file = \"flat_?.tif\", reduce = \"mean\" }"
    pathlib.Path("job.toml").write_text('kind = "correct"\n[input]\nfile = "scan.tif"\n[output]\nfile = "made.h5"\n'
                                        f"overwrite = true\n[correct]\n{keys}\n")
    done = attempt("job.toml", "--quiet")
    assert done.returncode == 3 and "GDAL_NODATA = 7 in flat_0.tif, none in flat_1.tif" in done.stderr, done


@pytest.mark.parametrize("word, other", [
    ("0 means white", {"photometric": "miniswhite"}),
    ("they are numbers of colours", {"photometric": "palette", "colormap": np.zeros((3, 256), "uint16")}),
    ("its Orientation is 6", {"extratags": [(274, 3, 1, 6, True)]}),
    ("a value is -32768", {"description": "ImageJ=1.54f\nimages=1\nc0=-32768\nc1=1\n"})])
def test_what_a_later_part_says(word, other):
    """What a file or page that is not the first says of its elements is warned of once, with its name."""
    grey = (GREY % 200).astype("uint8")
    with tifffile.TiffWriter("pages.tif") as file:
        for page in [{}, {}, other]:
            file.write(grey, contiguous=False, metadata=None, **page)
    for number, page in enumerate([{}, other, other]):
        tifffile.imwrite(f"part_{number}.tif", grey, metadata=None, **page)
    for name, place, end in [("pages.tif", "(pages.tif, page 2): ", "1 of the 3 pages says so"),
                             ("part_?.tif", "(part_1.tif): ", "2 of the 3 files say so")]:
        told = [attempt("convert", name, "out.h5", "--overwrite").stderr, attempt("inspect", name).stderr,
                run(name, "made.h5"), run(name, "made.h5", "transpose", "permutation = [0, 2, 1]")]
        for words in told:
            assert words.count(word) == 1 and place in words and end in words, words


def test_colours_that_are_multiplied_in_a_later_file():
    for number, kind in enumerate(["unassalpha", "assocalpha"]):
        write(f"part_{number}.tif", COLOUR, photometric="rgb", extrasamples=[kind])
    words = attempt("convert", "part_?.tif", "out.h5", "--overwrite").stderr
    assert "the colours are multiplied by their alpha (part_1.tif)" in words and "1 of the 2 files" in words, words


def test_files_of_fields_are_warned_of():
    """What the file of a flat says of its elements is as true as what the input's says; of two fields of one file, once."""
    with h5py.File("in.h5", "w") as file:
        file["x"] = np.stack([GREY, GREY])
    write("flat.tif", photometric="miniswhite")
    pathlib.Path("j.toml").write_text('kind = "correct"\n[input]\nfile = "in.h5"\n[output]\nfile = "out.h5"\noverwrite = true\n'
                                      '[run]\nbackend = "cpu"\n[correct]\nflat = { file = "flat.tif" }\ndark = { file = "flat.tif" }\n')
    for verb in (["j.toml"], ["plan", "j.toml"]):
        said = attempt(*verb).stderr
        assert said.count("0 means white") == 1 and "flat.tif" in said, said


def test_elements_that_gdal_packs():
    for items, said in (('<Item name="OFFSET" sample="0" role="offset">5</Item><Item name="SCALE" sample="0" role="scale">0.1</Item>',
                         "a value is 5 + 0.1 times the element"),
                        ('<Item name="SCALE" sample="0" role="scale">3</Item>', "a value is 0 + 3 times the element"),
                        ('<Item name="x">role</Item>', None)):
        write("packed.tif", tags=[(42112, "s", 0, f"<GDALMetadata>{items}</GDALMetadata>", True)])
        warning, _, elements = converted("packed.tif")
        assert np.array_equal(elements, GREY)
        assert said in warning if said else not warning, warning


def test_pages_that_the_description_does_not_name():
    """Two series of tifffile are one stack here, with a warning; pages written one by one are a stack."""
    stack = np.stack([GREY + i for i in range(4)])
    with tifffile.TiffWriter("two.tif") as file:
        for series in (stack, stack + 9):
            file.write(series, photometric="minisblack", metadata={"axes": "ZYX"})
    warning, _, elements = converted("two.tif")
    assert np.array_equal(elements, np.concatenate([stack, stack + 9]))
    assert "it names 4, and the file has 8, which are all taken" in warning and '"0:4"' in warning, warning
    with tifffile.TiffWriter("pages.tif") as file:
        for page in stack:
            file.write(page, photometric="minisblack")
    warning, _, elements = converted("pages.tif")
    assert not warning and np.array_equal(elements, stack)
