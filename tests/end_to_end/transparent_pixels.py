"""Pixels with alpha: read from and written to every format of pictures, and what jobs say of it."""
import json
import pathlib
import struct
import zlib

import h5py
import numpy as np
from PIL import Image
import pytest
import tifffile

from harness import call

pytestmark = pytest.mark.quick
RGBA = np.random.default_rng(5).integers(0, 256, (10, 12, 4)).astype("u1")
SAID = "the fourth sample of a pixel is computed as the others are"


def job(source, kind, keys, output, more="", packing=""):
    pathlib.Path("j.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{more}\n[output]\nfile = "{output}"\noverwrite = true\n'
        f'{packing}\nsync = false\n[run]\nbackend = "cpu"\nchunk_rows = 30\n[{kind}]\n{keys}\n')
    return call("j.toml", "--quiet").stderr


def write_png(name, array, colour_type):
    """PIL writes none of 16 bits with alpha."""
    lines = b"".join(b"\0" + line.astype(f">u{array.itemsize}").tobytes() for line in array)
    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 8 * array.itemsize, colour_type, 0, 0, 0)
    pathlib.Path(name).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in [(b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]))


def write(name, array):
    """The file, and what the job file says beside its name."""
    if name.endswith(".png"):
        write_png(name, array, 6)
    elif name.endswith(".tif"):
        packing = {"compression": "zlib", "predictor": True} if name.startswith("packed") else {}
        tile = {"tile": (16, 16)} if name.startswith("tiles") else {}
        tifffile.imwrite(name, array, photometric="rgb", extrasamples=["unassalpha"], **packing, **tile)
    elif name.endswith(".npy"):
        np.save(name, array)
        return "colour = true"
    else:
        with h5py.File(name, "w") as file:
            file["data"] = array
            file["data"].attrs["interpretation"] = "rgba-image"
    return ""


@pytest.mark.parametrize("name", ["a.png", "a.tif", "packed.tif", "tiles.tif", "a.ome.tif", "a.npy", "a.h5"])
@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_every_input(name, dtype):
    array = RGBA.astype(dtype) * (257 if dtype == "u2" else 1)
    more = write(name, array)
    # A job that moves pixels keeps them, and has nothing to say.
    assert job(name, "transpose", "permutation = [1, 0, 2]", "o.h5", more) == ""
    with h5py.File("o.h5") as file:
        data = file["data"]
        assert data.attrs["interpretation"] == "rgba-image"
        assert np.array_equal(data[()], array.transpose(1, 0, 2))
    # Others compute every sample by itself, and say so.
    assert job(name, "bin", "factors = [2, 2]", "o.h5", more).count(SAID) == 1
    means = np.rint(array.astype("f8").reshape(5, 2, 6, 2, 4).mean(axis=(1, 3)))
    with h5py.File("o.h5") as file:
        assert file["data"].attrs["interpretation"] == "rgba-image" and np.array_equal(file["data"][()], means)
    # The colours alone are colour.
    assert job(name, "bin", "factors = [2, 2]", "o.h5", f'{more}\nselect = {{ s = "0:3" }}') == ""
    with h5py.File("o.h5") as file:
        assert file["data"].attrs["interpretation"] == "rgb-image"
        assert np.array_equal(file["data"][()], means[..., :3])


@pytest.mark.parametrize("output", ["o.tif", "o.ome.tif", "o.png"])
@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_every_picture(output, dtype):
    array = RGBA.astype(dtype) * (257 if dtype == "u2" else 1)
    write("in.h5", array)
    for packing in ["", 'compression = "deflate"'] if output != "o.png" else [""]:
        job("in.h5", "transpose", "permutation = [1, 0, 2]", output, packing=packing)
        right = array.transpose(1, 0, 2)
        if output.endswith(".tif"):
            with tifffile.TiffFile(output) as file:
                page = file.pages[0]
                assert len(file.pages) == 1 and page.photometric == 2 and page.extrasamples == (2,)
                assert np.array_equal(page.asarray(), right)
        else:
            assert pathlib.Path(output).read_bytes()[24:26] == bytes([8 * array.itemsize, 6])
            with Image.open(output) as image:
                assert image.mode == "RGBA"
                shown = right if dtype == "u1" else right // 257
                assert np.array_equal(np.asarray(image), shown)
        # It is read again as it is.
        assert job(output, "transpose", "permutation = [1, 0, 2]", "back.h5") == ""
        with h5py.File("back.h5") as file:
            assert np.array_equal(file["data"][()], array)


def test_large_tiffs_and_slices():
    stack = np.random.default_rng(6).integers(0, 256, (3, 9, 7, 4)).astype("u1")
    write("in.h5", stack)
    keys = "from = [0, 255]\nto = [0, 255]"
    assert job("in.h5", "rescale", keys, "o.tif").count(SAID) == 1
    with tifffile.TiffFile("o.tif") as file:
        assert [page.extrasamples for page in file.pages] == [(2,)] * 3
        assert np.array_equal(file.asarray(), stack)
    job("in.h5", "rescale", keys, "o_%d.png")
    for index in range(3):
        with Image.open(f"o_{index}.png") as image:
            assert np.array_equal(np.asarray(image), stack[index])


def test_colours_that_alpha_is_in():
    tifffile.imwrite("a.tif", RGBA, photometric="rgb", extrasamples=["assocalpha"])
    said = job("a.tif", "transpose", "permutation = [1, 0, 2]", "o.h5")
    assert "multiplied by their alpha" in said and said.count("warning") == 1, said


@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_grey_with_alpha(dtype):
    """The grey is read, and the alpha named in one warning, by jobs, convert and inspect."""
    array = RGBA[..., :2].astype(dtype) * (257 if dtype == "u2" else 1)
    write_png("a.png", array, 4)
    if dtype == "u1":
        with Image.open("a.png") as image:
            assert image.mode == "LA" and np.array_equal(np.asarray(image), array)
    said = job("a.png", "transpose", "permutation = [1, 0]", "o.h5")
    assert said.count("alpha of the pixels is left out") == 1 == said.count("warning"), said
    with h5py.File("o.h5") as file:
        assert file["data"].dtype == array.dtype and np.array_equal(file["data"][()], array[..., 0].T)
    call("verify", "o.h5", "--recompute", "3")
    call("convert", "a.png", "back.png")
    with Image.open("back.png") as image:
        assert image.mode[0] in "LI" and np.array_equal(np.asarray(image), array[..., 0])
    described, = json.loads(call("inspect", "a.png", "--json").stdout)["datasets"]
    assert described["shape"] == [10, 12]


def test_the_report_of_two_passes_has_the_warnings_of_both():
    Image.fromarray(RGBA).save("in.png")
    pathlib.Path("j.toml").write_text(
        '[input]\nfile = "in.png"\n[output]\nfile = "out.h5"\nsync = false\n[run]\nbackend = "cpu"\n'
        '[[step]]\nkind = "bin"\nfactors = [2, 2]\n[[step]]\nkind = "rescale"\nfrom = "extremes"\ndtype = "uint16"\n')
    said = call("j.toml", "--quiet", "--report", "r.json").stderr
    report = json.loads(pathlib.Path("r.json").read_text())
    assert len(report["passes"]) == 2 and said.count(SAID) == 1
    assert [SAID in warning for warning in report["warnings"]] == [True], report["warnings"]
    assert report["input"]["file"] == "in.png" and report["input"]["shape"] == [10, 12, 4]
