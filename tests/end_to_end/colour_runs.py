"""Colour images, channel by channel, against scipy.

Taps are multiples of 1/8 and samples whole numbers, so every sum is exact in float32: what scipy
makes of each channel in float64 is what must be written, to the bit.
"""
import base64
import io
import itertools
import json
import pathlib
import re

import h5py
import numpy as np
from PIL import Image
import pytest
import tifffile
from scipy.ndimage import convolve1d

from harness import bad, call, good

ROW_TAPS = [0.125, 0.25, 0.5, 0.375, 0.125]
COLUMN_TAPS = [0.25, 0.125, 0.5, 0.125, 0.25, 0.125, 0.375]
JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out.h5"
overwrite = true
sync = false
[run]
backend = "cpu"
[convolve]
row_taps = {row}
column_taps = {column}
boundary = "reflect"
'''


@pytest.fixture(autouse=True)
def job(folder):
    pathlib.Path("job.toml").write_text(JOB.format(row=ROW_TAPS, column=COLUMN_TAPS))


def samples(shape, kind):
    most = {"uint8": 256, "uint16": 4096}.get(kind, 1000)
    return np.random.default_rng(list(shape)).integers(0, most, shape).astype(kind)


def store(array, **marks):
    with h5py.File("in.h5", "w") as file:
        file["image"] = array
        for name, value in marks.items():
            file["image"].attrs[name] = value


def wanted(array, boundary):
    """Each channel by itself; the boundary's names are scipy's."""
    out = np.empty_like(array)
    for at in np.ndindex(*array.shape[:-3]):
        for channel in range(array.shape[-1]):
            image = array[at][..., channel].astype("f8")
            image = convolve1d(image, ROW_TAPS, axis=1, mode=boundary, cval=0)
            image = convolve1d(image, COLUMN_TAPS, axis=0, mode=boundary, cval=0)
            if array.dtype.kind == "u":
                image = np.clip(np.rint(image), 0, np.iinfo(array.dtype).max)
            out[at][..., channel] = image
    return out


def made():
    with h5py.File("out.h5") as file:
        attributes = dict(file["image"].attrs)
        return file["image"][...], attributes


def run(*settings, ranks=1, boundary="reflect"):
    settings = [f'convolve.boundary="{boundary}"', *settings]
    more = [word for setting in settings for word in ("--set", setting)]
    return call("job.toml", "--quiet", *more, ranks=ranks)


def test_every_type_boundary_and_cut():
    kinds = ["uint8", "uint16", "float32", "float64"]
    shapes = [(37, 53, 3), (2, 19, 140, 4), (5, 1, 3), (1, 2, 4)]
    boundaries = ["constant", "nearest", "reflect", "mirror", "wrap"]
    cuts = [[], ["run.chunk_rows=1", "run.lanes=3"], ["run.chunk_rows=300"]]
    for (at, kind), shape in itertools.product(enumerate(kinds), shapes):
        array = samples(shape, kind)
        store(array, interpretation="rgb-image" if shape[-1] == 3 else "rgba-image")
        for number, boundary in enumerate(boundaries):
            done = run(*cuts[(at + number) % 3], boundary=boundary)
            assert (done.stderr == "") == (shape[-1] == 3), done.stderr
            assert shape[-1] == 3 or "the fourth sample of a pixel is computed as the others are" in done.stderr
            result, attributes = made()
            assert result.dtype == array.dtype and result.shape == array.shape
            right = wanted(array, boundary)
            assert (result == right).all(), (kind, shape, boundary)
            assert attributes["interpretation"] == f"rgb{'a' if shape[-1] == 4 else ''}-image"


def test_ranks_compression_and_verify():
    array = samples((3, 61, 47, 3), "uint8")
    store(array, interpretation="rgb-image")
    for ranks, boundary in itertools.product([2, 5], ["wrap", "mirror"]):
        run("run.chunk_rows=500", ranks=ranks, boundary=boundary)
        assert (made()[0] == wanted(array, boundary)).all(), (ranks, boundary)
    run("output.chunk=[1, 16, 20, 3]", 'output.compression="deflate"', "output.shuffle=true")
    assert (made()[0] == wanted(array, "reflect")).all()
    call("verify", "out.h5", "--recompute", "40")


def test_wide_tiles_and_long_taps():
    """Rows of several tiles, and a radius larger than the image."""
    array = samples((9, 30000, 3), "uint8")
    store(array, interpretation="rgb-image")
    run()
    assert (made()[0] == wanted(array, "reflect")).all()
    array = samples((11, 13, 3), "float32")
    store(array, interpretation="rgb-image")
    taps = [0.0] * 257
    taps[0], taps[128], taps[200] = 0.5, 0.25, 1.0
    for boundary in ["reflect", "wrap", "nearest", "mirror"]:
        run(f"convolve.row_taps={taps}", "convolve.column_taps=[1.0]", boundary=boundary)
        right = convolve1d(array.astype("f8"), taps, axis=1, mode=boundary)
        assert (made()[0] == right).all(), boundary


def test_marks():
    array = samples((20, 30, 3), "uint8")
    hdf5 = {"CLASS": np.bytes_("IMAGE"), "IMAGE_VERSION": np.bytes_("1.2"),
            "IMAGE_SUBCLASS": np.bytes_("IMAGE_TRUECOLOR")}
    pixels = {**hdf5, "INTERLACE_MODE": np.bytes_("INTERLACE_PIXEL")}
    right = wanted(array, "reflect")
    for marks in [pixels, hdf5, {"interpretation": "rgb-image"}]:
        store(array, **marks)
        run()
        result, attributes = made()
        assert (result == right).all(), marks
        assert attributes["CLASS"] == b"IMAGE" and attributes["IMAGE_SUBCLASS"] == b"IMAGE_TRUECOLOR"
        assert attributes["INTERLACE_MODE"] == b"INTERLACE_PIXEL"
    # An axis of the image where the file says so, and with a warning where it says nothing.
    volume = np.stack([convolve1d(convolve1d(frame.astype("f8"), ROW_TAPS, axis=1, mode="reflect"),
                                  COLUMN_TAPS, axis=0, mode="reflect") for frame in array])
    volume = np.clip(np.rint(volume), 0, 255)
    store(array, interpretation="image")
    assert run().stderr == ""
    assert (made()[0] == volume).all()
    store(array)
    done = run()
    assert (made()[0] == volume).all()
    assert "warning: the last axis may be colour (in.h5:/image)" in done.stderr, done.stderr
    assert "input.colour = true" in done.stderr
    assert "may be colour" in call("plan", "job.toml").stderr
    # Marks that do not fit the shape are none.
    store(array[..., :2], interpretation="rgb-image")
    assert run().stderr == ""


def page_modes(setting="run.lanes=1"):
    """The modes of the pictures, before and after, on the page of a run's report."""
    call("job.toml", "--quiet", "--set", setting, "--report", "page.html")
    held = re.search(r'id="pictures"[^>]*>(.*?)</script>', pathlib.Path("page.html").read_text(), re.DOTALL)[1]
    pictures = [base64.b64decode(each["png"].removeprefix("data:image/png;base64,")) for each in json.loads(held)]
    return [Image.open(io.BytesIO(picture)).mode for picture in pictures]


def test_pictures_of_unmarked_colour():
    """A last axis of three bytes is shown as what it was taken for; only render by itself takes it for colour."""
    array = samples((25, 31, 3), "uint8")
    store(array)
    done = call("render", "in.h5:/image", "shown.png", "--size", "31")
    assert "warning: the last axis may be colour (in.h5:/image)" in done.stderr and "--colour=false" in done.stderr
    with Image.open("shown.png") as image:
        assert (np.asarray(image) == array).all()
    for word, mode in [("--colour", "RGB"), ("--colour=false", "L")]:
        good("render", "in.h5:/image", "shown.png", word)
        with Image.open("shown.png") as image:
            assert image.mode == mode, word
    np.save("flat.npy", array[0])
    bad(2, ["the input is not colour", "flat.npy"], "render", "flat.npy", "x.png", "--colour")
    assert page_modes() == ["L", "L"]
    assert page_modes("input.colour=false") == ["L", "L"]
    assert page_modes("input.colour=true") == ["RGB", "RGB"]
    store(array, interpretation="rgb-image")
    assert page_modes() == ["RGB", "RGB"]
    assert page_modes("input.colour=false") == ["L", "L"]


def test_pictures():
    """A photo's way: PNG, HDF5, blurred, PNG again; 16 bits and transparency keep their colour."""
    array = samples((25, 31, 3), "uint8")
    Image.fromarray(array).save("photo.png")
    call("convert", "photo.png", "in.h5:/image")
    run()
    call("convert", "out.h5:/image", "blurred.png")
    right = wanted(array, "reflect")
    with Image.open("blurred.png") as image:
        assert image.mode == "RGB" and (np.asarray(image) == right).all()
    call("render", "out.h5:/image", "shown.png", "--size", "31")
    with Image.open("shown.png") as image:
        assert (np.asarray(image) == right).all()
    array = samples((25, 31, 4), "uint8")
    store(array, interpretation="rgba-image")
    call("render", "in.h5:/image", "shown.png", "--size", "31")
    with Image.open("shown.png") as image:
        assert (np.asarray(image) == array[..., :3]).all()
    call("convert", "in.h5:/image", "x.png")
    with Image.open("x.png") as image:
        assert image.mode == "RGBA" and (np.asarray(image) == array).all()
    array = samples((25, 31, 3), "uint16")
    store(array, interpretation="rgb-image")
    call("convert", "in.h5:/image", "deep.png")
    call("convert", "deep.png", "back.h5:/image")
    with h5py.File("back.h5") as file:
        assert (file["image"][...] == array).all()
        assert file["image"].attrs["interpretation"] == "rgb-image"


def test_steps_behind_a_transposition():
    """Samples that stay behind their pixels are colour for the next step, and in the output."""
    array = samples((20, 30, 3), "uint8")
    store(array, interpretation="rgb-image")
    text = JOB.format(row=ROW_TAPS, column=COLUMN_TAPS).replace('kind = "convolve"\n', "")
    text = text.replace("[convolve]", '[[step]]\nkind = "transpose"\npermutation = [1, 0, 2]\n[[step]]\nkind = "convolve"')
    pathlib.Path("steps.toml").write_text(text)
    call("steps.toml", "--quiet")
    result, attributes = made()
    assert (result == wanted(array.transpose(1, 0, 2), "reflect")).all()
    assert attributes["interpretation"] == "rgb-image"
    # Brought to the front, they are an axis as any other.
    pathlib.Path("steps.toml").write_text(text.replace("[1, 0, 2]", "[2, 0, 1]"))
    call("steps.toml", "--quiet")
    result, attributes = made()
    assert result.shape == (3, 20, 30) and attributes["interpretation"] == "image"
    right = wanted(array, "reflect").transpose(2, 0, 1)
    assert (result == right).all()


def transposed(source, order, output, *more):
    return call("transpose", source, output, "--permutation", order, "--overwrite", "--quiet", *more).stderr


def test_marks_that_move():
    """Samples in front are named s, in every format or in the warning; brought back, they are colour again."""
    array = samples((20, 30, 3), "uint8")
    store(array, interpretation="rgb-image")
    assert transposed("in.h5", "2,0,1", "front.h5") == ""
    with h5py.File("front.h5") as file:
        assert [dim.label for dim in file["image"].dims] == ["s", "y", "x"]
    done = call("median", "front.h5", "m.h5", "--size", "3,3,3", "--quiet").stderr
    assert "along the axis s are computed from one another" in done, done
    assert "names of axes, s, y, x" in transposed("in.h5", "2,0,1", "front.npy")
    assert transposed("front.h5", "1,2,0", "back.h5") == ""
    with h5py.File("back.h5") as file:
        assert (file["image"][()] == array).all() and file["image"].attrs["interpretation"] == "rgb-image"
    assert transposed("front.h5", "1,2,0", "back.png") == ""
    with Image.open("back.png") as image:
        assert image.mode == "RGB" and (np.asarray(image) == array).all()


def is_rgb(name):
    with tifffile.TiffFile(name) as file:
        return file.pages[0].photometric == tifffile.PHOTOMETRIC.RGB


KINDS = {"median": ["--size", "1,1"], "rescale": ["--from", "0,255", "--to", "0,255"], "transpose": ["--permutation", "0,1,2"],
         "bin": ["--factors", "1,1"], "convolve": ["--row-taps", "[1.0]", "--column-taps", "[1.0]"], "convert": []}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["in.npy", "in.h5"])
def test_one_rule_where_nothing_says_it(kind, source):
    """Without a mark the last axis is one of the image, and one warning says so. Where no kind heeds it, uint8 is RGB in pictures."""
    array = samples((9, 8, 3), "uint8")
    store(array)
    np.save("in.npy", array)
    colour = ["--colour"] if kind == "convert" else ["--set", "input.colour=true"]
    none = ["--colour=false"] if kind == "convert" else ["--set", "input.colour=false"]
    alone = kind in ("rescale", "transpose", "convert")

    def said(output, *more):
        return call(kind, source, output, *KINDS[kind], "--overwrite", *more).stderr
    for more, rgb in ((none, False), ([], alone), (colour, True)):
        for output in ("o.tif", "o.ome.tif", "o.h5"):
            done = said(output, *more)
            marked = rgb and (more or kind == "convert" or output != "o.h5")
            assert done.count("may be colour") == (not more), (output, more, done)
            assert more or ("taken as colour" if marked else "taken as an axis of the image") in done
            if output == "o.h5":
                with h5py.File(output) as file:
                    (data,) = (file[name] for name in file if name != "runner")
                    assert data.attrs["interpretation"] == ("rgb-image" if marked else "image"), more
                    assert (data[()] == array).all()
            else:
                assert is_rgb(output) == rgb and (tifffile.imread(output) == array).all(), (output, more)
        if rgb:
            said("o.png", *more)
            with Image.open("o.png") as image:
                assert (np.asarray(image) == array).all()
        else:
            bad(2, ["olour"] if not more else [], kind, source, "p.png", *KINDS[kind], *more)
    assert "may be colour" not in said("o.npy") or not alone
    if kind == "convert":
        np.save("in.npy", array.astype("uint16"))
        assert "taken as an axis of the image" in call("convert", "in.npy", "o.tif", "--overwrite").stderr and not is_rgb("o.tif")


def test_colour_that_cannot_be():
    np.save("in.npy", np.zeros((4, 5), "uint8"))
    bad(2, ["the input is not colour", "--colour"], "convert", "in.npy", "o.tif", "--colour")
    np.save("in.npy", np.zeros((4, 5, 3), "uint8"))
    assert "colour" not in good("convert", "in.npy", "o.npy")


def test_colour_that_the_job_denies_is_none_for_the_next():
    """The axis is no s any more, so that a format that names axes does not say that it is colour."""
    tifffile.imwrite("rgb.tif", samples((5, 7, 8, 3), "uint8"), photometric="rgb")
    blur = ["convolve.row_taps=[0.5, 0.5, 0.0]", "convolve.column_taps=[1.0]"]
    for output in ("m.zarr", "m.h5"):
        call("median", "rgb.tif", output, "--size", "3,3", "--quiet", "--set", "input.colour=false")
        assert "axes: ?, y, x, s" not in good("inspect", output, says=r"(?s).*")
    tables = "".join(f"[[step]]\nkind = \"{kind}\"\n{keys}\n" for kind, keys in
                     (("median", "size = [3, 3]"), ("convolve", "\n".join(each.split(".", 1)[1] for each in blur))))
    pathlib.Path("p.toml").write_text(f'[input]\nfile = "rgb.tif"\ncolour = false\n[output]\nfile = "p.h5"\n{tables}')
    call("p.toml", "--quiet")
    for source in ("m.zarr", "m.h5"):
        call("job.toml", "--quiet", "--set", f'input.file="{source}"', "--set", 'input.dataset="/data"', "--set", blur[0],
             "--set", blur[1])
        call("compare", "p.h5:/data", "out.h5:/data")
