"""Conversion by whole programs, there and back, against numpy, tifffile, PIL and nibabel.

Every array in and out is one that these read or wrote; what is expected of damaged files is said
here byte by byte.
"""
import gzip
import itertools
import os
import pathlib
import struct

import h5py
import nibabel
import numpy as np
from PIL import Image
import pytest
import tifffile

from harness import attempt, bad, call, good

TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
SHAPES = [(1,), (7,), (1, 1), (5, 3), (31, 67), (1, 1, 1), (3, 5, 7), (2, 3, 4, 5)]


def numbers(shape, kind):
    """All bits of integers, NaN and infinities of floats."""
    generator = np.random.default_rng([*shape, TYPES.index(kind)])
    made = generator.integers(0, 256, [*shape, int(kind[1])], np.uint8)
    made = made.view(kind)[..., 0].reshape(shape)
    if kind[0] == "f":
        made = np.where(np.isnan(made), np.array(np.nan, kind), made)
        made.flat[0] = np.inf
    return made


def same(found, expected, what):
    assert found.dtype == expected.dtype.newbyteorder("="), f"{what}: {found.dtype}"
    assert found.shape == expected.shape, f"{what}: {found.shape}"
    assert found.tobytes() == expected.astype(found.dtype).tobytes(), what


def into_hdf5(name, expected, *options, says=""):
    """Converts to HDF5 and compares what h5py reads of it."""
    good("convert", name, "out.h5", "--overwrite", *options, says=says)
    with h5py.File("out.h5") as file:
        same(file["data"][...], expected, f"{name} {options}")
    return "out.h5:/data"


def test_npy_there_and_back():
    cases = [(shape, TYPES[i % len(TYPES)]) for i, shape in enumerate(SHAPES)]
    cases += [((3, 5, 7), kind) for kind in TYPES]
    for number, (shape, kind) in enumerate(cases):
        array = numbers(shape, kind)
        order = "CF"[number % 2]
        stored = np.array(array, ">" + kind if number % 3 == 0 else kind, order=order)
        np.save("in.npy", stored)
        hdf5 = into_hdf5("in.npy", array)
        good("convert", hdf5, "back.npy", "--overwrite")
        np.save("expected.npy", array)
        assert pathlib.Path("back.npy").read_bytes() == pathlib.Path("expected.npy").read_bytes()


def test_npy_headers():
    array = numbers((4, 6), "f4")
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open("in.npy", "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        into_hdf5("in.npy", array)

    def header(text, data=array.tobytes()):
        text = text.encode()
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data

    plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }"
    for text in [plain, plain + "\n", "{\"shape\":(4L,6L),\"fortran_order\":False,\"descr\":\"<f4\"}",
                 plain.replace(", ", " , ")]:
        pathlib.Path("in.npy").write_bytes(header(text))
        into_hdf5("in.npy", array)
    truths = np.array([[True, False, True]])
    np.save("in.npy", truths)
    into_hdf5("in.npy", truths.astype("u1"))
    pathlib.Path("in.npy").write_bytes(header(plain) + b"more")
    into_hdf5("in.npy", array, says=r"runner: warning: [^\n]*in\.npy, byte 165\): 4 bytes[^\n]*\n")


def test_npy_damaged():
    array = numbers((4, 6), "f4")
    np.save("whole.npy", array)
    whole = pathlib.Path("whole.npy").read_bytes()
    text = whole[10:128].decode()

    def changed(old, new):
        assert old in text
        made = text.replace(old, new).encode()
        return whole[:8] + struct.pack("<H", len(made)) + made + whole[128:]

    # At every byte in tests/io/input/foreign_files_test.cpp.
    cases = [(whole[:length], f"byte {length})", "ends there") for length in [7, 9, 90, 128, 223]]
    cases += [
        (b"", "byte 0)", "it is empty"),
        (b"\x93NUMPX" + whole[6:], "byte 0)", "\\x93NUMPY"),
        (whole[:6] + b"\4" + whole[7:], "byte 6)", "version is 4"),
        (whole[:6] + b"\2\0" + struct.pack("<I", 2**32 - 1) + whole[12:], "", "4294967295"),
        (whole[:6] + b"\2\0" + struct.pack("<I", 2**31) + whole[12:] + bytes(70000), "byte 8)",
         "2147483648"),
        (changed("<f4", "<f3"), "byte 20)", '"<f3"'),
        (changed("<f4", "<c8"), "byte 20)", '"<c8"'),
        (changed("<f4", "|O"), "byte 20)", '"|O"'),
        (changed("<f4", "|f4"), "byte 20)", '"|f4"'),
        (changed("'<f4'", "[('a', '<f4')]"), "byte 20)", "fields"),
        (changed("False", "Maybe"), "fortran_order", "neither"),
        (changed("(4, 6)", "(4, -6)"), "", "extent"),
        (changed("(4, 6)", "(4, 0)"), "[4, 0]", "without elements"),
        (changed("(4, 6)", "()"), "bad.npy", "scalar"),
        (changed("(4, 6)", "(4, 9223372036854775807)"), "", "2^63"),
        (changed("(4, 6)", "(4, 9223372036854775808)"), "", "2^63"),
        (changed("(4, 6)", "(4, 1000000000000)"), "the file ends there", "16000000000000 bytes"),
        (changed("(4, 6)", "(" + 33 * "1, " + ")"), "", "32 axes"),
        (changed("(4, 6)", "(4 6)"), "", "a , is missing"),
        (changed("'shape'", "'shame'"), "", '"shame"'),
        (changed("'shape': (4, 6), ", ""), "", "lacks the key shape"),
        (changed("}", "} + 1"), "", "follows"),
        (changed("{", ""), "byte 10)", "{ is missing"),
    ]
    for data, *words in cases:
        pathlib.Path("bad.npy").write_bytes(data)
        bad(3, ["bad.npy", *words], "convert", "bad.npy", "x.h5")
    bad(3, ["bad.npy"], "inspect", "bad.npy")
    bad(3, ["bad.npy"], "compare", "bad.npy", "whole.npy")


def test_raw():
    array = numbers((3, 5, 7), "u2")
    pathlib.Path("in.raw").write_bytes(array.tobytes())
    into_hdf5("in.raw", array, "--shape", "3,5,7", "--dtype", "uint16")
    into_hdf5("in.raw", array.reshape(15, 7)[5:], "--shape", "10,7", "--dtype", "uint16",
              "--offset", "70")
    pathlib.Path("in.h5").write_bytes(b"abc" + array.astype(">u2").tobytes())  # of any name
    into_hdf5("in.h5", array, "--shape", "3,5,7", "--dtype", "uint16", "--offset", "3",
              "--big-endian")
    into_hdf5("in.raw", array[:2], "--shape", "2,5,7", "--dtype", "uint16",
              says=r"runner: warning: [^\n]*in\.raw\): 70 bytes after[^\n]*\n")
    good("convert", "in.raw", "in.npy", "--shape", "105", "--dtype", "uint16")
    same(np.load("in.npy"), array.reshape(-1), "in.npy")
    bad(3, ["in.raw, byte 210", "210 bytes from byte 1"], "convert", "in.raw", "x.h5", "--shape",
        "3,5,7", "--dtype", "uint16", "--offset", "1")
    bad(3, ["2^63"], "convert", "in.raw", "x.h5", "--shape", "4000000000,4000000000", "--dtype",
        "float64")
    bad(2, ["--shape", "--dtype"], "convert", "in.raw", "x.h5")
    bad(2, ["needs --shape and --dtype"], "convert", "in.raw", "x.h5", "--shape", "3")
    bad(2, ["--offset"], "convert", "in.raw", "x.h5", "--offset", "3")
    bad(2, ["float16"], "convert", "in.raw", "x.h5", "--shape", "3", "--dtype", "float16")


def test_tiff_in():
    """What tifffile writes, in many ways."""
    ways = [{}, {"tile": (16, 32)}, {"compression": "zlib"}, {"compression": "zlib", "predictor": True},
            {"rowsperstrip": 5},
            {"rowsperstrip": 5, "compression": "zlib"}, {"tile": (16, 16), "compression": "zlib"},
            {"bigtiff": True}]
    shapes = [(1, 1), (37, 41), (3, 37, 41)]
    for number, kind in enumerate([*TYPES, *TYPES]):
        array = numbers(shapes[number % 3], kind)
        way = dict(ways[number % len(ways)])
        if kind[0] == "f" or array.itemsize == 8:
            way.pop("predictor", None)
        tifffile.imwrite("in.tif", array, byteorder="<>"[number // 2 % 2], photometric="minisblack",
                         **way)
        into_hdf5("in.tif", array)
    array = numbers((6, 20, 30), "u2")
    tifffile.imwrite("in.tif", array, imagej=True)  # one directory for all pages
    into_hdf5("in.tif", array)
    for name in ["tiff_lzw", "packbits", "tiff_adobe_deflate"]:
        Image.fromarray(array[0]).save("in.tif", compression=name)
        into_hdf5("in.tif", array[0])
    colours = numbers((20, 30, 3), "u1")
    for way in [{}, {"compression": "zlib"}, {"tile": (16, 16)}]:
        tifffile.imwrite("in.tif", colours, photometric="rgb", **way)
        into_hdf5("in.tif", colours)
    tifffile.imwrite("in.tif", array[0], photometric="miniswhite")
    into_hdf5("in.tif", array[0], says=r"runner: warning: [^\n]*0 means white[^\n]*\n")


def test_tiff_out():
    small = itertools.cycle([(1, 1), (31, 67), (3, 31, 67)])
    large = [((2, 3, 31, 5), "f4"), ((700, 3500), "f8"), ((3, 2100, 1000), "f4")]
    for shape, kind in [*zip(small, TYPES), *large]:
        array = numbers(shape, kind)
        np.save("in.npy", array)
        good("convert", "in.npy", "out.tif", "--overwrite")
        with tifffile.TiffFile("out.tif") as file:
            pages = np.stack([page.asarray() for page in file.pages])
            same(pages, array.reshape(-1, *shape[-2:]), f"{shape} {kind}")
        into_hdf5("out.tif", array.reshape(pages.shape) if len(shape) > 2 else array)
    with Image.open("out.tif") as image:
        image.seek(2)
        same(np.asarray(image), array[2], "by PIL")
    colours = numbers((20, 30, 3), "u1")
    np.save("in.npy", colours)
    good("convert", "in.npy", "out.tif", "--overwrite", "--colour")
    with Image.open("out.tif") as image:
        assert image.mode == "RGB" and (np.asarray(image) == colours).all()
    np.save("in.npy", numbers((5,), "u1"))
    bad(2, ["two axes"], "convert", "in.npy", "x.tif")


def test_tiff_damaged():
    array = numbers((2, 37, 41), "u2")
    for way in [{}, {"compression": "zlib"}, {"tile": (16, 16), "compression": "zlib"}]:
        tifffile.imwrite("whole.tif", array, photometric="minisblack", metadata=None, **way)
        whole = pathlib.Path("whole.tif").read_bytes()
        for length in [0, 1, 7, 8, 9, 50, len(whole) // 2, len(whole) - 70]:
            pathlib.Path("bad.tif").write_bytes(whole[:length])
            bad(3, ["bad.tif"], "convert", "bad.tif", "x.h5")
        generator = np.random.default_rng(length)
        for _ in range(8):  # a message or a result, and an end
            damaged = bytearray(whole)
            for at in generator.integers(0, len(whole), 20):
                damaged[at] = generator.integers(0, 256)
            pathlib.Path("bad.tif").write_bytes(damaged)
            done = attempt("convert", "bad.tif", "x.h5", "--overwrite")
            assert done.returncode in (0, 3), f"{done.returncode}: {done.stderr}"
        pathlib.Path("x.h5").unlink(missing_ok=True)
    tifffile.imwrite("bad.tif", array[0])
    tifffile.imwrite("bad.tif", array[1, :, :40], append=True)
    bad(3, ["bad.tif, page 1", "[37, 40]"], "convert", "bad.tif", "x.h5")
    tifffile.imwrite("bad.tif", array[0].astype("c8"))
    bad(3, ["bad.tif, page 0", "sample format 6"], "convert", "bad.tif", "x.h5")
    tifffile.imwrite("bad.tif", numbers((5, 5), "u1") > 9)
    bad(3, ["bad.tif, page 0", "1 bits"], "convert", "bad.tif", "x.h5")
    tifffile.imwrite("bad.tif", numbers((9, 9, 4), "u1"), photometric="separated")
    bad(3, ["bad.tif, page 0", "4 samples"], "convert", "bad.tif", "x.h5")


def test_nifti():
    for number, kind in enumerate(TYPES):
        array = numbers([(3, 5, 7), (2, 3, 4, 5), (1, 6, 5)][number % 3], kind)
        order = "<>"[number % 2]
        header = nibabel.Nifti1Header(endianness=order)
        image = nibabel.Nifti1Image(array.T.astype(order + kind), np.eye(4), header,
                                    dtype=np.dtype(kind))
        image.header.set_slope_inter(1, 0)
        for name in ["in.nii", "in.nii.gz"]:
            nibabel.save(image, name)
            into_hdf5(name, array)
    stored = numbers((4, 5, 6), "i2")
    image = nibabel.Nifti1Image(stored.T, np.eye(4))
    image.header.set_slope_inter(0.37, -1024.5)
    data = bytearray(image.to_bytes())
    data[112:120] = struct.pack("<ff", 0.37, -1024.5)
    data[352:] = stored.tobytes()
    pathlib.Path("in.nii").write_bytes(data)
    scaled = nibabel.load("in.nii").get_fdata().T
    into_hdf5("in.nii", scaled, says=r"runner: warning: the elements are scaled [^\n]*float64\n")
    # Members of gzip one after the other, and frames that are not all read.
    pathlib.Path("in.nii.gz").write_bytes(gzip.compress(data[:300]) + gzip.compress(data[300:]))
    good("convert", "in.nii.gz", "some.npy", "--frames", "1::2", says=r"[^\n]*\n")
    same(np.load("some.npy"), scaled[1::2], "frames")


def test_nifti_damaged():
    array = numbers((3, 5, 7), "f4")
    whole = bytearray(nibabel.Nifti1Image(array.T, np.eye(4)).to_bytes())

    def changed(byte, kind, value):
        data = bytearray(whole)
        struct.pack_into(kind, data, byte, value)
        return data

    cases = [(whole[:length], f"byte {length})", "ends there")
             for length in [0, 347, 352, len(whole) - 1]]
    cases += [
        (changed(0, "<i", 349), "byte 0)", "349"),
        (changed(0, "<i", 540), "byte 0)", "second version"),
        (changed(40, "<h", 0), "byte 40)", "dim[0] is 0"),
        (changed(40, "<h", 8), "byte 40)", "dim[0] is 8"),
        (changed(44, "<h", 0), "byte 44)", "dim[2] is 0"),
        (changed(44, "<h", -5), "byte 44)", "dim[2] is -5"),
        (changed(46, "<h", 4), f"byte {len(whole)})", "560 bytes from byte 352"),
        (changed(70, "<h", 128), "byte 70)", "datatype is 128"),
        (changed(72, "<h", 16), "byte 72)", "bitpix is 16"),
        (changed(108, "<f", 10), "byte 108)", "352"),
        (changed(108, "<f", 352.5), "byte 108)", "352"),
        (changed(108, "<f", float("nan")), "byte 108)", "nan"),
        (changed(108, "<f", 1e30), "byte 108)", "vox_offset"),
        (changed(108, "<f", 1e12), f"byte {len(whole)})", "ends there"),
        (changed(112, "<f", float("inf")), "byte 112)", "inf"),
        (changed(344, "4s", b"ni1\0"), "byte 344)", ".img"),
        (changed(344, "4s", b"abcd"), "byte 344)", "magic"),
    ]
    for data, *words in cases:
        pathlib.Path("bad.nii").write_bytes(data)
        bad(3, ["bad.nii", *words], "convert", "bad.nii", "x.h5")
    packed = gzip.compress(whole)
    for data, words in [(packed[:-1], "cut off"), (packed[:-9], "cut off"), (packed[:5], "cut off"),
                        (b"", "0 bytes only"), (whole, "zlib"),
                        (packed[:-6] + b"\0\0" + packed[-4:], "zlib"),
                        (gzip.compress(whole[:-1]), "bytes only")]:
        pathlib.Path("bad.nii.gz").write_bytes(data)
        bad(3, ["bad.nii.gz", words], "convert", "bad.nii.gz", "x.h5")


def test_png():
    for kind, shape in itertools.product(["u1", "u2"], [(1, 1), (37, 41)]):
        array = numbers(shape, kind)
        np.save("in.npy", array)
        good("convert", "in.npy", "out.png", "--overwrite")
        with Image.open("out.png") as image:
            assert (np.asarray(image) == array).all(), (kind, shape)
        into_hdf5("out.png", array)
        Image.fromarray(array).save("in.png")
        into_hdf5("in.png", array)
    colours = numbers((20, 30, 3), "u1")
    Image.fromarray(colours).save("in.png")
    hdf5 = into_hdf5("in.png", colours)
    good("convert", hdf5, "out.png", "--overwrite")
    with Image.open("out.png") as image:
        assert (np.asarray(image) == colours).all()
    whole = pathlib.Path("in.png").read_bytes()
    for length in [0, 8, 20, 40, len(whole) // 2, len(whole) - 20]:
        pathlib.Path("bad.png").write_bytes(whole[:length])
        bad(3, ["bad.png"], "convert", "bad.png", "x.h5")
    pathlib.Path("bad.png").write_bytes(whole[:60] + b"\xff\xff" + whole[62:])
    bad(3, ["bad.png", "do not unpack (PNG)"], "convert", "bad.png", "x.h5")
    np.save("in.npy", numbers((5, 5), "f4"))
    bad(2, ["float32", "runner render"], "convert", "in.npy", "x.png")


def test_frames():
    array = numbers((7, 12, 15), "u2")
    np.save("in.npy", np.asfortranarray(array))
    good("convert", "in.npy", "some.tif", "--frames", "1:6:2")
    same(tifffile.imread("some.tif"), array[1:6:2], "some.tif")
    good("convert", "some.tif", "one.npy", "--frame", "1")
    same(np.load("one.npy"), array[3], "one.npy")
    good("convert", "in.npy", "all.png", "--frames", "all")
    for number, frame in enumerate(array):
        with Image.open(f"all-{number:06}.png") as image:
            assert (np.asarray(image) == frame).all()
    bad(2, ["has 7", "--frames"], "convert", "in.npy", "x.png")


def test_sand_by_other_formats():
    cells = np.random.default_rng(1).integers(0, 4, (3, 21, 35), np.uint8)
    np.save("in.npy", np.asfortranarray(cells))
    good("convert", "in.npy", "a.sand")
    good("convert", "a.sand", "out.npy")
    same(np.load("out.npy"), cells, "out.npy")
    good("convert", "a.sand", "out.tif")
    same(tifffile.imread("out.tif"), cells, "out.tif")
    good("convert", "a.sand", "out.png", "--frame", "2")
    good("convert", "out.png", "back.sand", says=r"[^\n]*palette's colours[^\n]*\n")
    good("convert", "back.sand", "back.npy")
    same(np.load("back.npy"), cells[2:], "back.npy")
    cells[1, 2, 3] = 9
    np.save("in.npy", cells)
    bad(3, ["in.npy, frame 1, row 2, column 3", "it is 9"], "convert", "in.npy", "x.sand")


def test_names_of_datasets():
    array = numbers((3, 4), "f4")
    with h5py.File("one.h5", "w") as file:
        file["deep/image"] = array
        file["deep/generation"] = [7]
        file["runner/row_hashes"] = [1, 2]
    good("convert", "one.h5", "one.npy")
    same(np.load("one.npy"), array, "the only dataset")
    good("convert", "one.h5", "other.h5")
    assert shown("other.h5")[0] == "/deep/image"
    with h5py.File("one.h5", "a") as file:
        file["more"] = array
    bad(3, ["several datasets", "/deep/image", "/more", "Name one: one.h5:/"], "convert", "one.h5",
        "x.npy")
    good("convert", "one.h5:/more", "x.npy")
    with h5py.File("one.h5", "a") as file:
        file.attrs["default"] = "deep"
        file["deep"].attrs.update({"NX_class": "NXdata", "signal": "image"})
    good("convert", "one.h5", "default.npy")
    same(np.load("default.npy"), array, "the default signal")
    with h5py.File("links.h5", "w") as file:
        file["data_000001"], file["mask"] = h5py.ExternalLink("one.h5", "/more"), array
    bad(3, ["several datasets", "/mask, /data_000001"], "convert", "links.h5", "x2.npy")


def test_other_verbs():
    array = numbers((6, 20, 33), "u2")
    np.save("a.npy", array)
    tifffile.imwrite("a.tif", array, compression="zlib")
    assert "equal" in good("compare", "a.npy", "a.tif")
    changed = array.copy()
    changed[3, 4, 5] += 1
    np.save("b.npy", changed)
    done = attempt("compare", "a.tif", "b.npy")
    assert done.returncode == 7 and "[3, 4, 5]" in done.stdout, done.stdout
    assert "uint16 [6, 20, 33]" in good("inspect", "a.tif")
    good("render", "a.tif", "a.png", "--frame", "2", "--size", "33")
    good("generate", "index", "made.npy", "--shape", "4,5", "--dtype", "int32")
    same(np.load("made.npy"), np.arange(20, dtype="i4").reshape(4, 5), "made.npy")
    pathlib.Path("job.toml").write_text(
        'kind = "convolve"\n[input]\nfile = "a.tif"\ndataset = "/x"\n[output]\nfile = "out.png"\n'
        "[convolve]\nrow_taps = [1.0]\ncolumn_taps = [1.0]\n")
    done = attempt("plan", "job.toml")
    assert done.returncode == 2 and "one image" in done.stderr and "frame_%04d.png" in done.stderr, done.stderr


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def shown(name):
    """What a NeXus viewer shows of a file: the signal's path, its elements and its axes."""
    with h5py.File(name) as file:
        group = file
        while "default" in group.attrs:
            assert text(group.attrs["NX_class"]) == "NXroot" if group == file else True
            group = group[text(group.attrs["default"])]
        assert text(group.attrs["NX_class"]) == "NXdata"
        signal = group[text(group.attrs["signal"])]
        axes = [text(axis) for axis in group.attrs.get("axes", [])]
        assert not axes or len(axes) == signal.ndim
        return signal.name, signal[...], axes, text(signal.attrs.get("interpretation", ""))


def test_default_plots():
    array = numbers((5, 6, 7), "u2")
    np.save("in.npy", array)
    good("convert", "in.npy", "out.h5:/deep/in/volume")
    path, signal, axes, meaning = shown("out.h5")
    assert path == "/deep/in/volume" and (signal == array).all() and not axes
    assert meaning == "image"
    good("generate", "index", "image.h5", "--shape", "40,50", "--dtype", "float32", "--dataset",
         "/image")
    assert shown("image.h5")[0] == "/image"
    with h5py.File("image.h5") as file:
        assert [bytes(file["image"].attrs[name]) for name in ["CLASS", "IMAGE_SUBCLASS"]] == [
            b"IMAGE", b"IMAGE_GRAYSCALE"]
    good("generate", "sample-1", "start.sand")
    for kind, dataset, more in [
            ("sand", "/frames", "[sand]\ngenerations = 4\nsnapshot_every = 2\n"),
            ("convolve", "/image", "[convolve]\nrow_taps = [1.0]\ncolumn_taps = [1.0]\n")]:
        source = "start.sand" if kind == "sand" else "image.h5"
        pathlib.Path("job.toml").write_text(
            f'kind = "{kind}"\n[input]\nfile = "{source}"\ndataset = "{dataset}"\n[output]\n'
            f'file = "{kind}.h5"\nsync = false\n[run]\nbackend = "cpu"\n{more}')
        good("job.toml", "--quiet")
        path, signal, axes, meaning = shown(f"{kind}.h5")
        assert path == dataset and meaning == "image"
        assert axes == (["generation", ".", "."] if kind == "sand" else [])
        assert "equal" in good("compare", f"{kind}.h5:{dataset}", f"{kind}.h5:{dataset}")
        good("verify", f"{kind}.h5")


def test_large_fortran_order():
    """Through several buffers: 64 MiB at a time."""
    array = np.arange(130 * 200 * 400, dtype="f8").reshape(130, 200, 400)
    np.save("in.npy", np.asfortranarray(array))
    into_hdf5("in.npy", array)
    flat = np.arange(9000 * 1100, dtype="f8").reshape(9000, 1100)
    np.save("in.npy", np.asfortranarray(flat))
    into_hdf5("in.npy", flat)


def test_command_lines_that_are_wrong():
    np.save("a.npy", numbers((4, 5), "u1"))
    bad(2, [".npy", ".tif", ".h5"], "convert", "a.npy", "a.n5")
    bad(2, ["a.jpg", "cannot be read"], "convert", "a.jpg", "a.npy")
    bad(2, ["a.rec", "no format that can be made"], "convert", "a.npy", "a.rec")
    bad(2, ["a.npy", "over the input"], "convert", "a.npy", "a.npy")
    bad(3, ["none.tif", "No such file"], "convert", "none.tif", "x.h5")
    os.mkfifo("pipe.npy")
    bad(3, ["pipe.npy", "pipe"], "convert", "pipe.npy", "x.h5")


@pytest.mark.quick
@pytest.mark.parametrize("output", ["out.h5", "out.tif", "out.npy", "out.zarr"])
def test_masks_are_named(output):
    """A mask beside the elements is in no output of convert, and a mean of this output takes them for values."""
    with h5py.File("in.h5", "w") as file:
        detector = file.create_group("entry/instrument/detector")
        detector.attrs["NX_class"] = "NXdetector"
        detector["data"] = np.ones((2, 4, 5), "u2")
        detector["pixel_mask"] = np.eye(4, 5, dtype="u4")
    warned = call("convert", "in.h5:/entry/instrument/detector/data", output).stderr
    assert warned.count("which elements are invalid, pixel_mask = /entry/instrument/detector/pixel_mask") == 1, warned


@pytest.mark.quick
@pytest.mark.parametrize("name", ["o.zarr", "o.ome.zarr"])
def test_folders_of_others_are_refused_at_once(name):
    """A folder with what no output has is not replaced, and nothing is made before that is said."""
    np.save("in.npy", np.zeros((3, 4, 5), "uint8"))
    os.mkdir(name)
    pathlib.Path(name, "thesis.txt").write_text("mine")
    for command in (["convert", "in.npy", name], ["generate", "noise", name, "--shape", "3,4,5", "--dtype", "uint8"]):
        bad(4, ["cannot replace the folder", "thesis.txt", "Move it away"], *command, "--overwrite")
        assert "the result is in" not in attempt(*command, "--overwrite").stderr
    bad(4, ["no record"], "median", "in.npy", name, "--size", "1,1", "--overwrite")
    os.remove(f"{name}/thesis.txt")
    good("convert", "in.npy", name, "--overwrite")
    call("median", "in.npy", "m.zarr", "--size", "1,1", "--quiet")
    pathlib.Path("m.zarr", "thesis.txt").write_text("mine")
    bad(4, ["no record"], "median", "in.npy", "m.zarr", "--size", "3,3", "--overwrite")
