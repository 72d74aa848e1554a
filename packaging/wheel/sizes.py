#!/usr/bin/env python3
"""Says what the code for GPUs takes in a wheel: the machine code of each architecture, and the PTX.

  sizes.py WHEEL.whl

Of every library and program in the wheel it reads the section .nv_fatbin, in which nvcc puts them.
Both numbers of a line are bytes: as they lie in the file, and as the wheel's deflate packs them.
"""
from __future__ import annotations

import collections
import struct
import sys
import zipfile
import zlib

MAGIC = 0xBA55ED50
PTX, MACHINE_CODE = 1, 2


def section(elf: bytes, wanted: str) -> bytes:
    """Of a 64-bit little-endian ELF file; empty where it has none of this name."""
    if elf[:6] != b"\x7fELF\x02\x01":
        return b""
    start, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<II4Q", elf, start + i * size) for i in range(count)]
    table = headers[names][4]
    for name, _, _, _, offset, length in headers:
        text = elf[table + name:elf.index(b"\0", table + name)]
        if text.decode() == wanted:
            return elf[offset:offset + length]
    return b""


def entries(fat: bytes):
    """(what it is, its bytes) of each entry of a section: containers one after the other."""
    at = 0
    while at + 16 <= len(fat):
        magic, _, header, length = struct.unpack_from("<IHHQ", fat, at)
        if magic != MAGIC:  # padding
            at += 8
            continue
        entry, end = at + header, at + header + length
        while entry < end:
            kind, _, own, payload = struct.unpack_from("<HHIQ", fat, entry)
            architecture, = struct.unpack_from("<I", fat, entry + 28)
            name = {PTX: "PTX", MACHINE_CODE: "machine code"}.get(kind, f"kind {kind}")
            yield f"{name} of {architecture}", fat[entry:entry + own + payload]
            entry += own + payload
        at = end


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    parts: dict[str, list[bytes]] = collections.defaultdict(list)
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        for file in wheel.infolist():
            for what, part in entries(section(wheel.read(file), ".nv_fatbin")):
                parts[what].append(part)
        whole = sum(file.compress_size for file in wheel.infolist())
        unpacked = sum(file.file_size for file in wheel.infolist())
    print(f"{'':24}{'unpacked':>12}{'packed':>12}")
    print(f"{'all':24}{unpacked:12}{whole:12}")
    for what, each in sorted(parts.items()):
        joined = b"".join(each)
        packed = len(zlib.compress(joined, 9))
        unpacked, whole = unpacked - len(joined), whole - packed
        print(f"{what:24}{len(joined):12}{packed:12}")
    print(f"{'the rest':24}{unpacked:12}{whole:12}")


if __name__ == "__main__":
    main()
