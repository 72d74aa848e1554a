"""TIFF strips and tiles with a flipped bit, against tifffile.

Every array is one that tifffile wrote. A flipped bit of a compressed strip or tile ends with the
original values or with exit code 3. It ends with other values only where zlib, too, finds the
checksum right: Adler-32 stays the same where three bytes in a row change by -4, 8, -4.
"""
import pathlib
import subprocess
import zlib

import numpy as np
from PIL import Image
import tifffile

from harness import attempt, generator, programs


def convert(name):
    return attempt("convert", name, "out.npy", "--overwrite")


def read(name):
    done = convert(name)
    assert done.returncode == 0, f"{name}: exit {done.returncode}: {done.stderr}"
    return np.load("out.npy")


def refused(name, *words):
    done = convert(name)
    assert done.returncode == 3, f"{name}: exit {done.returncode}: {done.stderr}"
    for word in (name, *words):
        assert word in done.stderr, f"{name}: no {word} in {done.stderr}"


def smooth(shape, kind):
    """Values that deflate makes smaller, all different from their neighbours."""
    values = np.cumsum(np.random.default_rng(len(shape)).integers(0, 5, shape), axis=-1)
    return (values / 8 if kind[0] == "f" else values).astype(kind)


def places(name):
    """(first byte, bytes) of every strip and tile."""
    with tifffile.TiffFile(name) as file:
        return [place for page in file.pages for place in zip(page.dataoffsets, page.databytecounts)]


def unpacked(data, first, count):
    """The bytes that zlib unpacks from this stream of the file, or None where it refuses."""
    try:
        return zlib.decompress(data[first:first + count])
    except zlib.error:
        return None


def check_flips(name, array):
    """Flips bits at places that the seed chooses."""
    assert (read(name) == array).all()
    whole = pathlib.Path(name).read_bytes()
    streams = places(name)
    bytes_of = [at for first, count in streams for at in range(first, first + count)]
    random = generator("flips", len(whole))
    # The last bytes of each stream are its checksum, and few of a sample would fall there.
    flips = [first + count - 1 - i for first, count in streams[:1] for i in range(4)]
    flips += list(random.choice(bytes_of, 300 if programs.full else 15))
    for at in flips:
        bad = bytearray(whole)
        bad[at] ^= 1 << random.integers(8)
        pathlib.Path("bad.tif").write_bytes(bad)
        done = convert("bad.tif")
        assert done.returncode in (0, 3), f"{name}, byte {at}: {done.returncode}: {done.stderr}"
        if done.returncode == 3:
            continue
        # Few bits of a stream mean nothing: the level in its header, what fills its last byte.
        stream = next(place for place in streams if place[0] <= at < sum(place))
        found = unpacked(bad, *stream)
        assert found is not None, f"{name}, byte {at}: a flip that is not found"
        same = found == unpacked(whole, *stream)
        assert not same or (np.load("out.npy") == array).all(), f"{name}, byte {at}: other values"


def test_flipped_bits():
    pages = smooth((2, 37, 41), "u2")
    floats = smooth((37, 41), "f4")
    ways = [
        (pages, {}),
        (pages, {"byteorder": ">", "rowsperstrip": 5}),
        (pages, {"bigtiff": True, "predictor": True}),
        (pages[0], {"byteorder": ">", "predictor": True, "rowsperstrip": 7}),
        (floats, {"byteorder": ">", "tile": (16, 32)}),
        (pages, {"tile": (16, 16)}),
        (smooth((5, 40, 48), "u1"), {"volumetric": True, "tile": (16, 16)}),
    ]
    for array, way in ways:
        tifffile.imwrite("good.tif", array, photometric="minisblack", metadata=None,
                         compression="zlib", **way)
        check_flips("good.tif", array)
    # tifffile alone cannot write predictor 3; PIL does, by way of libtiff.
    Image.fromarray(floats).save("good.tif", compression="tiff_adobe_deflate", tiffinfo={317: 3})
    with tifffile.TiffFile("good.tif") as file:
        assert file.pages[0].predictor == 3
    check_flips("good.tif", floats)


def patched(name, first, count, stream):
    """The file with its one strip replaced, by as many bytes."""
    whole = bytearray(pathlib.Path(name).read_bytes())
    assert len(stream) <= count, (len(stream), count)
    whole[first:first + count] = stream.ljust(count, b"\0")
    pathlib.Path("bad.tif").write_bytes(whole)


def test_streams_of_another_length():
    array = smooth((37, 41), "u2")
    tifffile.imwrite("good.tif", array, photometric="minisblack", metadata=None,
                     compression="zlib", compressionargs={"level": 1})
    [(first, count)] = places("good.tif")
    data = array.tobytes()
    patched("good.tif", first, count, zlib.compress(data, 9))
    assert (read("bad.tif") == array).all()  # what follows the stream is not of it
    patched("good.tif", first, count, zlib.compress(data[:-2], 9))
    refused("bad.tif", "strip 0", str(len(data) - 2), str(len(data)))
    patched("good.tif", first, count, zlib.compress(data + b"ab", 9))
    refused("bad.tif", "strip 0", "do not unpack", str(len(data)))
    patched("good.tif", first, count, zlib.compress(data, 9)[:-1] + b"?")
    refused("bad.tif", "strip 0", "checksum")
    # The last strip may be filled up to the rows that a strip has.
    tifffile.imwrite("good.tif", array, photometric="minisblack", metadata=None, rowsperstrip=20,
                     compression="zlib", compressionargs={"level": 1})
    first, count = places("good.tif")[1]
    patched("good.tif", first, count, zlib.compress(data[20 * 82:] + bytes(3 * 82), 9))
    assert (read("bad.tif") == array).all()


def packbits(line):
    """Literal bytes alone."""
    return b"".join(bytes([len(part) - 1]) + part
                    for part in (line[i:i + 128] for i in range(0, len(line), 128)))


def test_packbits_beyond_a_line():
    """PackBits whose run passes the end of its line: libtiff would drop the rest and continue."""
    array = smooth((4, 60), "u1")
    tifffile.imwrite("good.tif", array, photometric="minisblack", metadata=None)
    [(first, count)] = places("good.tif")
    assert count == 240
    lines = [packbits(line.tobytes()) for line in array]
    stream = b"".join(lines)
    whole = bytearray(pathlib.Path("good.tif").read_bytes())
    with tifffile.TiffFile("good.tif") as file:
        tags = file.pages[0].tags
        compression, counts = tags["Compression"].valueoffset, tags["StripByteCounts"]
        offsets = tags["StripOffsets"]
    order = "little"
    whole[compression:compression + 2] = (32773).to_bytes(2, order)

    def file_with(packed):
        made = bytearray(whole)
        width = counts.valuebytecount if hasattr(counts, "valuebytecount") else 4
        made[counts.valueoffset:counts.valueoffset + width] = len(packed).to_bytes(width, order)
        made[offsets.valueoffset:offsets.valueoffset + 4] = len(made).to_bytes(4, order)
        return bytes(made) + packed

    pathlib.Path("bad.tif").write_bytes(file_with(stream))
    assert (read("bad.tif") == array).all()
    longer = bytes([60]) + lines[0][1:] + b"x" + b"".join(lines[1:])
    pathlib.Path("bad.tif").write_bytes(file_with(longer))
    refused("bad.tif", "page 0, strip 0", "PackBits")
    pathlib.Path("bad.tif").write_bytes(file_with(stream[:-10]))
    refused("bad.tif", "page 0, strip 0", "PackBits")


def test_zstd():
    """Frames by zstd's own program, which ends them with a checksum."""
    array = smooth((37, 41), "u2")
    tifffile.imwrite("good.tif", array, photometric="minisblack", metadata=None)
    stream = subprocess.run(["zstd", "-c", "--check"], input=array.tobytes(), capture_output=True,
                            check=True).stdout
    with tifffile.TiffFile("good.tif") as file:
        tags = file.pages[0].tags
        compression, counts = tags["Compression"].valueoffset, tags["StripByteCounts"]
        offsets = tags["StripOffsets"].valueoffset
    whole = bytearray(pathlib.Path("good.tif").read_bytes())
    whole[compression:compression + 2] = (50000).to_bytes(2, "little")
    whole[counts.valueoffset:counts.valueoffset + 2] = len(stream).to_bytes(2, "little")
    whole[offsets:offsets + 4] = len(whole).to_bytes(4, "little")
    pathlib.Path("zstd.tif").write_bytes(bytes(whole) + stream)
    assert (read("zstd.tif") == array).all()
    for i in range(1, 5):
        bad = bytearray(pathlib.Path("zstd.tif").read_bytes())
        bad[-i] ^= 16
        pathlib.Path("bad.tif").write_bytes(bad)
        refused("bad.tif", "strip 0", "checksum")


def test_volumes():
    volume = smooth((12, 40, 50), "u2")
    pair = np.stack([volume, volume[::-1] + 7])
    for array in [volume, pair]:
        for compression in [None, "zlib"]:
            tifffile.imwrite("flat.tif", array, volumetric=True, photometric="minisblack",
                             compression=compression, tile=(16, 32))
            found = read("flat.tif")
            assert found.dtype == array.dtype and found.shape == array.shape, found.shape
            assert (found == array).all()
    for name, way, words in [("strips.tif", {}, "in strips"),
                             ("deep.tif", {"tile": (16, 16, 16)}, "in tiles of 16")]:
        tifffile.imwrite(name, volume, volumetric=True, photometric="minisblack", **way)
        refused(name, "page 0", "12 slices", words, "tifffile.imwrite")
        tifffile.imwrite("new.tif", tifffile.imread(name))  # what the message says to do
        assert (read("new.tif") == volume).all()
