"""Files that declare more elements than they can hold, by the packing they use.

They are refused with the numbers before anything is read or taken for them; what is packed as well
as the packing can is read.
"""
import gzip
import os
import pathlib
import re
import struct
import zlib

import numpy as np
import pytest

from harness import call

JOB = '''kind = "convolve"
[input]
file = "{}"
[output]
file = "out.h5"
sync = false
[convolve]
row_taps = [1.0]
column_taps = [1.0]
'''

HUGE = 1 << 17  # both extents: 16 GiB of bytes

TIFF_PACKINGS = {"none": 1, "lzw": 5, "deflate": 8, "old deflate": 32946, "packbits": 32773, "zstd": 50000,
                 "lzma": 34925, "jpeg": 7}


def png(width, height, packed, bits=8, colour=0):
    """`packed`: the bytes of IDAT."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))]
    parts += [chunk(b"PLTE", bytes(6))] if colour == 3 else []
    return b"\x89PNG\r\n\x1a\n" + b"".join([*parts, chunk(b"IDAT", packed), chunk(b"IEND", b"")])


def tiff(width, height, compression, packed, strips=1):
    """One page of bytes. All its strips are the same bytes of the file."""
    at = 8
    offsets = at + len(packed)
    counts = offsets + 4 * strips
    entries = counts + 4 * strips
    several = strips > 1
    fields = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, compression), (262, 3, 1, 1),
              (273, 4, strips, offsets if several else at), (277, 3, 1, 1), (278, 4, 1, height // strips),
              (279, 4, strips, counts if several else len(packed))]
    directory = struct.pack("<H", len(fields)) + b"".join(
        struct.pack("<HHII", *field) for field in fields) + bytes(4)
    return (struct.pack("<2sHI", b"II", 42, entries) + packed + struct.pack("<I", at) * strips +
            struct.pack("<I", len(packed)) * strips + directory)


def nifti(columns, rows, slices, data):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 3, columns, rows, slices, 1, 1, 1, 1)
    struct.pack_into("<hh", head, 70, 2, 8)
    struct.pack_into("<f", head, 108, 352)
    head[344:348] = b"n+1\0"
    return gzip.compress(bytes(head) + data, 9)


FEW = zlib.compress(bytes(1000), 9)

TOO_LARGE = {f"PNG of {bits} bits, colour {colour}": ("x.png", png(HUGE, HUGE, FEW, bits, colour))
             for bits, colour in [(1, 0), (8, 0), (16, 0), (8, 2), (16, 2), (4, 3)]}
TOO_LARGE |= {f"TIFF by {name}": ("x.tif", tiff(HUGE, HUGE, number, bytes(1000)))
              for name, number in TIFF_PACKINGS.items() if name != "none"}
TOO_LARGE |= {f"TIFF by {name}, of strips that share their bytes": ("x.tif", tiff(4096, 16384, number, packed, 16384))
              for name, number, packed in [("none", 1, bytes(4096)), ("packbits", 32773, b"\x81\0" * 32)]}
TOO_LARGE |= {"NIfTI": ("x.nii.gz", nifti(32767, 32767, 9, bytes(1000)))}


@pytest.mark.parametrize("case", TOO_LARGE)
@pytest.mark.parametrize("verb", [["inspect", None], ["convert", None, "new.npy"], ["plan", "job.toml"],
                                  ["job.toml", "--quiet"]], ids=["inspect", "convert", "plan", "run"])
def test_too_large(case, verb):
    name, content = TOO_LARGE[case]
    pathlib.Path(name).write_bytes(content)
    pathlib.Path("job.toml").write_text(JOB.format(name))
    said = call(*[word or name for word in verb], code=3).stderr
    assert re.search(rf"{re.escape(name)}\): it declares \d+ bytes, and its \d+ make \d+ of them at most", said), said
    assert not os.path.exists("new.npy") and not os.path.exists("out.h5.partial")


ZEROS = (4096, 4096)
PACKED_WELL = {
    "PNG": ("x.png", png(*ZEROS, zlib.compress(bytes(4097 * 4096), 9))),
    "PNG of bits": ("x.png", png(*ZEROS, zlib.compress(bytes(513 * 4096), 9), 1)),
    "TIFF by deflate": ("x.tif", tiff(*ZEROS, 8, zlib.compress(bytes(1 << 24), 9))),
    "TIFF by packbits": ("x.tif", tiff(*ZEROS, 32773, b"\x81\0" * (1 << 17))),
    "TIFF by none": ("x.tif", tiff(*ZEROS, 1, bytes(1 << 24))),
    "NIfTI": ("x.nii.gz", nifti(4096, 4096, 1, bytes(1 << 24))),
}


@pytest.mark.parametrize("case", PACKED_WELL)
def test_packed_well(case):
    name, content = PACKED_WELL[case]
    pathlib.Path(name).write_bytes(content)
    call("convert", name, "new.npy")
    values = np.load("new.npy")
    assert values.size == 1 << 24 and not values.any()
