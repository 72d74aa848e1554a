"""Files of other formats than HDF5 as a job's input, and stacks of them.

A job on such a file must make what the same job makes of an HDF5 file with the same elements, to the
byte. The files are written by numpy, tifffile, libtiff (by way of PIL) and libpng, or by hand.
"""
import gzip
import json
import pathlib
import shutil
import struct

import h5py
import numpy as np
from PIL import Image
import tifffile

from harness import call
from same_outputs import KINDS, same

SHAPE = (13, 23, 31)


def write_job(kind, name, source, extra="", output=""):
    pathlib.Path(name).write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{extra}\n'
        f'[output]\nfile = "{pathlib.Path(name).stem}.h5"\ndataset = "/made"\noverwrite = true\n'
        f'sync = false\n{output}\n[run]\nbackend = "cpu"\n[{kind}]\n{KINDS[kind]}')


def volume(dtype="float32", shape=SHAPE):
    values = np.random.default_rng(7).integers(0, 200, shape)
    return (values / 8 if dtype[-2] == "f" else values).astype(dtype)


def expect(array, kind="convolve"):
    """expected.h5: what the job makes of these elements in HDF5."""
    with h5py.File("plain.h5", "w") as file:
        file["x"] = array
    write_job(kind, "expected.toml", "plain.h5", 'dataset = "/x"')
    call("expected.toml")


def check(array, source, extra="", kinds=("convolve",), ranks=(1,)):
    for kind in kinds:
        expect(array, kind)
        write_job(kind, "found.toml", source, extra)
        for count in ranks:
            call("found.toml", *(("--set", "run.chunk_rows=7") if count > 1 else ()), ranks=count)
            same("found.h5", "expected.h5")


def nifti(name, array, order="<", offset=352):
    """A NIfTI-1 file by the field table of the format."""
    codes = {"uint8": 2, "int16": 4, "float32": 16, "uint16": 512}
    head = bytearray(offset)
    struct.pack_into(order + "i", head, 0, 348)
    struct.pack_into(order + "8h", head, 40, array.ndim, *array.shape[::-1], *[1] * (7 - array.ndim))
    struct.pack_into(order + "2h", head, 70, codes[array.dtype.name], 8 * array.itemsize)
    struct.pack_into(order + "f", head, 108, offset)
    head[344:348] = b"n+1\0"
    opened = gzip.open if name.endswith(".gz") else open
    with opened(name, "wb") as file:
        file.write(bytes(head) + array.astype(array.dtype.newbyteorder(order)).tobytes())


def pil_tiff(name, array, **how):
    pages = [Image.fromarray(page) for page in (array if array.ndim == 3 else [array])]
    pages[0].save(name, save_all=True, append_images=pages[1:], **how)


def test_every_kind_on_every_format():
    array = volume()
    np.save("a.npy", array)
    nifti("a.nii", array)
    nifti("a.nii.gz", array)
    tifffile.imwrite("a.tif", array, photometric="minisblack", metadata=None)
    array.tofile("a.raw")
    raw = 'raw = { shape = [13, 23, 31], dtype = "float32" }'
    for source, extra in (("a.npy", ""), ("a.nii", ""), ("a.nii.gz", ""), ("a.tif", ""), ("a.raw", raw)):
        check(array, source, extra, KINDS, (1, 3) if source in ("a.npy", "a.tif") else (1,))
        call("verify", "found.h5", "--recompute", "4")


def test_raw():
    array = volume("uint16")
    pathlib.Path("a.bin").write_bytes(b"head" * 5 + array.astype(">u2").tobytes())
    raw = 'raw = { shape = [13, 23, 31], dtype = "uint16", offset = 20, big_endian = true }'
    check(array, "a.bin", raw, ("convolve", "transpose"))
    call("verify", "found.h5", "--recompute", "4")
    check(array[2:9:2, 3:20], "a.bin", raw + '\nframes = "2:9:2"\nregion = { rows = "3:20" }')
    assert "from byte 20, big-endian" in json.dumps(call("inspect", "found.h5", "--json").stdout)
    write_job("convolve", "found.toml", "a.bin", raw.replace("[13", "[14"))
    done = call("found.toml", code=3)
    assert "a.bin" in done.stderr and done.stderr.count("error:") == 1, done.stderr
    write_job("convolve", "found.toml", "a.bin", 'raw = { dtype = "uint16" }')
    assert "input.raw.shape" in call("found.toml", code=2).stderr


def test_tiff():
    for dtype in ("uint8", "uint16", "float32"):
        array = volume(dtype)
        ways = [{}, {"byteorder": ">"}, {"bigtiff": True, "rowsperstrip": 5}, {"tile": (16, 16)},
                {"compression": "zlib"}, {"compression": "zlib", "rowsperstrip": 5, "byteorder": ">"},
                {"compression": "zlib", "tile": (16, 32)}]
        if dtype != "float32":
            ways += [{"compression": "zlib", "predictor": True},
                     {"compression": "zlib", "predictor": True, "byteorder": ">", "rowsperstrip": 7},
                     {"compression": "zlib", "predictor": True, "tile": (16, 16)}]
        for way in ways:
            tifffile.imwrite("a.tif", array, photometric="minisblack", metadata=None, **way)
            check(array, "a.tif")
        # Pages that do not follow one another in the file: their directories lie between them.
        with tifffile.TiffWriter("a.tif") as file:
            for page in array:
                file.write(page, photometric="minisblack", metadata=None, contiguous=False)
        check(array, "a.tif", ranks=(1, 2))
        for how in ({"compression": "tiff_lzw"}, {"compression": "packbits"},
                    {"compression": "tiff_adobe_deflate", "tiffinfo": {317: 3 if dtype == "float32" else 2}},
                    {"compression": "tiff_lzw", "tiffinfo": {317: 3 if dtype == "float32" else 2}}):
            pil_tiff("a.tif", array, **how)
            check(array, "a.tif")
    tifffile.imwrite("a.tif", volume("uint16"), imagej=True)
    check(volume("uint16"), "a.tif")


def test_large_lzw():
    """Tables that fill up, and codes of every length."""
    for array in (np.random.default_rng(1).integers(0, 65536, (300, 400)).astype("uint16"),
                  np.zeros((300, 400), "uint16"), np.arange(120000).reshape(300, 400).astype("uint16")):
        for how in ({}, {"tiffinfo": {317: 2}}):
            pil_tiff("a.tif", array, compression="tiff_lzw", **how)
            check(array, "a.tif")


def test_what_a_library_alone_reads():
    """JPEG: libtiff decodes it, in a process that may be lost."""
    array = volume("uint8", (64, 80))
    Image.fromarray(array).save("a.tif", compression="jpeg")
    check(np.asarray(Image.open("a.tif")), "a.tif")


def test_within_the_strips_of_a_library():
    """Parts that begin within a strip, of which these compressions unpack the first line first."""
    array = volume("uint8", (64, 80))
    for compression, part, ranks in (("jpeg", slice(0, 64), 2), ("jpeg", slice(21, 60), 1), ("lzma", slice(9, 43), 3)):
        Image.fromarray(array).save("a.tif", compression=compression)
        wanted = np.asarray(Image.open("a.tif"))
        pathlib.Path("j.toml").write_text(
            f'kind = "transpose"\n[input]\nfile = "a.tif"\nregion = {{ rows = "{part.start}:{part.stop}" }}\n'
            '[output]\nfile = "o.npy"\noverwrite = true\n[run]\nbackend = "cpu"\nchunk_rows = 5\n'
            "[transpose]\npermutation = [0, 1]\n")
        call("j.toml", "--quiet", ranks=ranks)
        assert np.array_equal(np.load("o.npy"), wanted[part])


def test_float16():
    """Of either byte order, as float32; transpose moves it as it is stored."""
    array = np.random.default_rng(2).normal(0, 9, SHAPE).astype("float16")
    array[0, 0, :5] = [np.inf, -np.inf, 6e-8, -0.0, 65504]
    np.save("half.npy", array)
    np.save("swapped.npy", array.astype(">f2"))
    np.save("turned.npy", np.asfortranarray(array))
    tifffile.imwrite("half.tif", array, photometric="minisblack")
    tifffile.imwrite("swapped.tif", array, photometric="minisblack", byteorder=">", rowsperstrip=5)
    tifffile.imwrite("packed.tif", array, photometric="minisblack", compression="zlib")
    write_stack(array, [f"halves/{number}.npy" for number in range(len(array))], np.save)
    for source in ["half.npy", "swapped.npy", "turned.npy", "half.tif", "swapped.tif", "packed.tif", "halves/*.npy"]:
        check(array, source, kinds=("convolve", "transpose"))
        with h5py.File("found.h5") as file:
            assert file["made"].dtype == "float16"
        assert "float16" in call("inspect", source).stdout
        call("convert", source, "whole.h5", "--overwrite")
        with h5py.File("whole.h5") as file:
            assert file["data"].dtype == "float16" and file["data"][()].tobytes() == array.tobytes(), source


def test_png():
    colour = volume("uint8", (40, 30, 3))
    for array in (volume("uint8", (40, 30)), volume("uint16", (41, 33))):
        Image.fromarray(array).save("a.png")
        check(array, "a.png")
    Image.fromarray(colour).save("a.png")
    write_job("convolve", "found.toml", "a.png")
    call("found.toml")
    with h5py.File("found.h5") as file:
        assert file["made"].shape == (40, 30, 3)
    Image.fromarray(volume("uint8", (40, 30)) > 99).save("a.png")  # a bit a pixel
    check((volume("uint8", (40, 30)) > 99).astype("uint8"), "a.png")


def test_frames_and_region():
    array = volume("uint16")
    tifffile.imwrite("a.tif", array, photometric="minisblack", compression="zlib", rowsperstrip=4)
    np.save("a.npy", array)
    for source in ("a.tif", "a.npy"):
        check(array[1:12:2, 3:20, 5:], source, 'frames = "1:12:2"\nregion = { rows = "3:20", columns = "5:" }')


def write_stack(array, names, write):
    for name, page in zip(names, array):
        pathlib.Path(name).parent.mkdir(exist_ok=True)
        write(name, page)


def test_stacks():
    array = volume("uint16")
    writers = {
        "tif": lambda name, page: tifffile.imwrite(name, page, photometric="minisblack"),
        "tiff": lambda name, page: tifffile.imwrite(name, page, photometric="minisblack",
                                                    compression="zlib", rowsperstrip=6),
        "png": lambda name, page: Image.fromarray(page).save(name),
        "npy": np.save,
        "nii": nifti,
        "raw": lambda name, page: page.astype(">u2").tofile(name),
    }
    for ending, write in writers.items():
        # Natural order: slice_2 before slice_10.
        names = [f"{ending}/slice_{number}.{ending}" for number in range(len(array))]
        write_stack(array, names, write)
        extra = ('raw = { shape = [23, 31], dtype = "uint16", big_endian = true }' if ending == "raw" else "")
        source = f"{ending}/slice_*.{ending}"
        check(array, source, extra, KINDS if ending == "tif" else ("convolve", "transpose"), (1, 2))
        call("verify", "found.h5", "--recompute", "4")
        check(array[3:11:2, 4:], source, extra + '\nframes = "3:11:2"\nregion = { rows = "4:" }')
        if ending != "raw":
            call("convert", source, "whole.npy", "--overwrite")
            assert (np.load("whole.npy") == array).all()
            text = call("inspect", source).stdout
            assert "[13, 23, 31]" in text and "13 files" in text, text
    # JPEG frames are read by a process of their own.
    for number in range(3):
        pathlib.Path("jpeg").mkdir(exist_ok=True)
        Image.fromarray(volume("uint8")[number]).save(f"jpeg/{number}.tif", compression="jpeg")
    frames = np.stack([np.asarray(Image.open(f"jpeg/{number}.tif")) for number in range(3)])
    check(frames, "jpeg/*.tif", kinds=("convolve",))


def test_stacks_that_cannot_be():
    array = volume("uint16")
    shutil.rmtree("bad", ignore_errors=True)
    names = [f"bad/s{number:03}.tif" for number in range(6)]
    write_stack(array, names, lambda name, page: tifffile.imwrite(name, page))
    write_job("convolve", "found.toml", "bad/*.tif")
    call("found.toml")

    def refused(code, *words):
        done = call("found.toml", code=code)
        assert all(word in done.stderr for word in words), done.stderr
        assert done.stderr.count("error:") == 1, done.stderr

    tifffile.imwrite("bad/s004.tif", array[0, :, :-1])
    refused(3, "bad/s004.tif", "[23, 30]", "[23, 31]", "bad/s000.tif")
    tifffile.imwrite("bad/s004.tif", array[0].astype("uint8"))
    refused(3, "bad/s004.tif", "uint8", "uint16")
    pathlib.Path("bad/s004.tif").write_bytes(pathlib.Path("bad/s003.tif").read_bytes()[:200])
    refused(3, "bad/s004.tif")
    pathlib.Path("bad/s004.tif").unlink()
    done = call("found.toml")
    assert "nothing between bad/s003.tif and bad/s005.tif" in done.stderr, done.stderr
    write_job("convolve", "found.toml", "bad/*.npy")
    refused(3, "bad/*.npy", "no file matches")
    write_job("convolve", "found.toml", "bad/*.h5", 'dataset = "/x"')
    refused(3, "bad/*.h5")
    write_job("convolve", "found.toml", "bad/*.tif")
    pathlib.Path("found.toml").write_text(
        pathlib.Path("found.toml").read_text().replace('"found.h5"', '"bad/out.tif"'))
    refused(2, "output.file", "bad/*.tif")


def test_a_stack_of_many_files():
    """They are surveyed by several threads: the result and the first error are as by one."""
    array = np.random.default_rng(6).integers(0, 9000, (300, 12, 17)).astype("uint16")
    shutil.rmtree("many", ignore_errors=True)
    names = [f"many/s{number}.tif" for number in range(len(array))]
    write_stack(array, names, lambda name, page: tifffile.imwrite(
        name, page, photometric="minisblack", description="long " * (2000 if name.endswith("7.tif") else 0)))
    shutil.move("many/s9.tif", "elsewhere.tif")
    pathlib.Path("many/s9.tif").symlink_to("../elsewhere.tif")
    check(array, "many/*.tif", ranks=(1, 2))
    for wrong in [290, 211, 33]:
        pathlib.Path(f"many/s{wrong}.tif").write_bytes(b"II*\0 and no more")
        for _ in range(3):
            message = call("found.toml", code=3).stderr
            assert message.count("error:") == 1 and f"many/s{wrong}.tif" in message, message


def test_identity_of_a_stack():
    array = volume("uint16")
    shutil.rmtree("id", ignore_errors=True)
    names = [f"id/s{number}.npy" for number in range(5)]
    write_stack(array, names, np.save)
    write_job("convolve", "found.toml", "id/*.npy")
    pathlib.Path("found.h5").unlink(missing_ok=True)
    once = ("--set", "output.overwrite=false")
    call("found.toml", *once)
    done = call("found.toml", *once)
    assert "complete already" in done.stdout + done.stderr, done
    np.save("id/s3.npy", array[0])
    done = call("found.toml", *once, code=4)
    assert "input.samples" in done.stderr, done.stderr
    np.save("id/s5.npy", array[0])
    done = call("found.toml", *once, code=4)
    assert "input.files was 5, is 6" in done.stderr, done.stderr


def test_batch():
    array = volume("uint16")
    for number in range(3):
        pathlib.Path("many").mkdir(exist_ok=True)
        tifffile.imwrite(f"many/{number}.tif", array[number:number + 4], photometric="minisblack",
                         compression="zlib")
    pathlib.Path("batch.toml").write_text(
        'kind = "convolve"\n[input]\ndataset = "/data"\n[batch]\ninputs = ["many/*.tif"]\noutput = "many/{stem}.h5"\n'
        f'[run]\nbackend = "cpu"\n[convolve]\n{KINDS["convolve"]}')
    call("batch", "batch.toml")
    for number in range(3):
        expect(array[number:number + 4])
        with h5py.File("expected.h5") as a, h5py.File(f"many/{number}.h5") as b:
            assert a["made"][()].tobytes() == b["data"][()].tobytes()
