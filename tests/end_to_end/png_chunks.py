"""What a PNG says beside its elements: one warning names it, since no output has it."""
import json
import pathlib
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image

from harness import attempt, call

pytestmark = pytest.mark.quick

GREY = np.random.default_rng(1).integers(0, 255, (6, 9)).astype("uint8")
LOST = "the output is without some of its attributes: "


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write(name, before=b"", behind=b"", colour=0):
    lines = b"".join(b"\0" + row.tobytes() for row in GREY)
    width = GREY.shape[1] // (3 if colour == 2 else 1)
    packed = zlib.compress(lines)
    data = chunk(b"IDAT", packed[:20]) + chunk(b"IDAT", packed[20:])
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, GREY.shape[0], 8, colour, 0, 0, 0))
    pathlib.Path(name).write_bytes(b"\x89PNG\r\n\x1a\n" + header + before + data + behind + chunk(b"IEND", b""))


def warning(name="a.png"):
    done = attempt("convert", name, "out.npy", "--overwrite")
    assert done.returncode == 0, done
    assert np.array_equal(np.load("out.npy").ravel(), GREY.ravel())
    return done.stderr


@pytest.mark.parametrize("words, chunks", [
    ("its texts", chunk(b"tEXt", b"Title\0a plate")), ("its texts", chunk(b"zTXt", b"Title\0\0" + zlib.compress(b"a"))),
    ("its texts", chunk(b"iTXt", b"Title\0\0\0\0\0a")), ("", chunk(b"tEXt", b"Software\0matplotlib")),
    ("the colour profile", chunk(b"iCCP", b"x\0\0" + zlib.compress(bytes(128)))),
    ("the gamma and the colours of its screen", chunk(b"gAMA", struct.pack(">I", 45455))),
    ("", chunk(b"sRGB", b"\0") + chunk(b"gAMA", struct.pack(">I", 45455))),
    ("the time of its last change", chunk(b"tIME", struct.pack(">H5B", 2020, 1, 2, 3, 4, 5))),
    ("the spacing of axes 0, 1", chunk(b"pHYs", struct.pack(">IIB", 10**6, 10**6, 1))),
    ("the resolution, 300 pixels an inch", chunk(b"pHYs", struct.pack(">IIB", 11811, 11811, 1))),
    ("", chunk(b"pHYs", struct.pack(">IIB", 2835, 2835, 1))), ("", chunk(b"pHYs", struct.pack(">IIB", 2, 1, 0))),
    ("the size of pixels (sCAL)", chunk(b"sCAL", b"\x010.5\x000.5")), ("Exif's data", chunk(b"eXIf", b"II*\0")),
    ("the number of significant bits", chunk(b"sBIT", b"\x07")), ("", chunk(b"bKGD", b"\0\x05"))])
def test_what_is_named(words, chunks):
    write("a.png", before=chunks)
    found = warning()
    assert (f"a.png: {LOST}{words}" in found and found.count("warning") == 1) if words else not found, found


def test_the_size_of_pixels_is_a_spacing():
    write("a.png", chunk(b"pHYs", struct.pack(">IIB", 10**6, 4 * 10**5, 1)))
    assert not attempt("convert", "a.png", "out.tif", "--overwrite").stderr
    with tifffile.TiffFile("out.tif") as file:
        tags = file.pages[0].tags
        assert [tags[name].value for name in ("XResolution", "YResolution")] == [(10**6, 1), (4 * 10**5, 1)]
        assert file.imagej_metadata["unit"] == "m"
    write("a.png", chunk(b"pHYs", struct.pack(">IIB", 11811, 10**6, 1)))  # no print has pixels that long
    axes = json.loads(call("inspect", "a.png", "--json").stdout)["datasets"][0]["axes"]
    assert [(each["name"], each["unit"], each["spacing"]) for each in axes] == [("y", "m", 1e-6), ("x", "m", 1 / 11811)]


def test_chunks_behind_the_elements():
    write("a.png", behind=chunk(b"tEXt", b"Title\0a") + chunk(b"tEXt", b"Author\0b") + chunk(b"eXIf", b"II*\0"))
    assert LOST + "its texts; Exif's data\n" in warning()
    pathlib.Path("job.toml").write_text('kind = "median"\n[input]\nfile = "a.png"\n[output]\nfile = "out.h5"\n'
                                        "[median]\nsize = [3, 3]\n")
    assert LOST + "its texts; Exif's data\n" in call("job.toml", "--quiet").stderr


def test_transparency_and_other_pictures():
    for colour, data in [(0, b"\0\x05"), (2, bytes(6))]:
        write("a.png", chunk(b"tRNS", data), colour=colour)
        assert "the transparency of the picture is left out (a.png)" in warning()
    picture = Image.fromarray(GREY).convert("P")
    picture.save("palette.png", transparency=bytes(range(256)))
    done = attempt("convert", "palette.png", "out.npy", "--overwrite")
    assert "the transparency" in done.stderr and "numbers of a palette's colours" in done.stderr
    write("a.png", chunk(b"acTL", struct.pack(">II", 3, 0)) + chunk(b"fcTL", bytes(26)))
    assert "it is an animation of 3 pictures" in warning()
