"""Makes what the fuzz targets start from: seeds.py FOLDER. A folder a target in it.

Job files are those of the tests and jobs/; the rest is made here, small enough to mutate well.
"""
import io
import json
import pathlib
import struct
import sys
import zlib

import h5py
import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def job_files(folder):
    for path in [*SOURCE.glob("tests/runner/job_file/bad_job_files/*.toml"), *SOURCE.glob("jobs/*.toml")]:
        text = path.read_bytes()
        if len(text) < 4096:
            (folder / path.stem).write_bytes(text)
    whole = (SOURCE / "docs/job-file.md").read_text().split("```toml\n")[1].split("```")[0]
    (folder / "whole").write_text(whole)
    least = (SOURCE / "jobs/conv_demo.toml").read_text()
    for ending in ("npy", "tiff", "sand"):
        (folder / ending).write_text(least.replace("conv_demo.h5", f"conv_demo.{ending}"))
    (folder / "setting").write_bytes(whole.encode() + b"\0convolve.row_taps.gaussian.sigma=3.0")


def journals(folder):
    def records(batches):
        text = bytes(32)
        for batch, rows in enumerate(batches, 1):
            for first, count in rows:
                text += struct.pack("<QQQII", first, count, 7, batch, 1 << 24)
        return text

    some = records([[(0, 5), (10, 5)], [(20, 1)], [(30, 100), (500, 500)]])
    (folder / "records").write_bytes(b"\6" + some)
    (folder / "torn").write_bytes(b"\6" + some[:-40] + bytes(40))
    (folder / "damaged").write_bytes(b"\6" + some[:40] + b"x" + bytes(3) + some[44:])
    (folder / "unchecked").write_bytes(b"\0" + some)
    (folder / "identity").write_bytes(b"\3" + b"12\nkind = convolve\ninput.bytes = 5")
    (folder / "no_identity").write_bytes(b"\1runner journal 1\n12\nx\ncheck 5\n")


def certificates(folder):
    def dataset(name, shape, checksums):
        return {"dataset": name, "type": "float32", "shape": shape, "checksum": "0123456789abcdef" * 2,
                "rows_per_checksum": 2, "row_checksums": ["00c0ffee00c0ffee"] * checksums}

    for name, datasets in [("image", [dataset("/x", [5, 7], 3)]),
                           ("match", [dataset("/a", [3, 2, 2], 2), dataset("/b/c", [1], 1)]),
                           ("too_few", [dataset("/x", [5, 7], 2)])]:
        (folder / name).write_text(json.dumps({"certificate": 1, "datasets": datasets}))


def sand(folder):
    """A control byte, then the file, or its length as eight bytes and its head."""
    def head(width, height, count):
        return b"SAND" + struct.pack("<iii", width, height, count)

    frame = bytes(range(0xE4, 0xE4 + 9))  # of 5 x 7 cells
    (folder / "one").write_bytes(b"\0" + head(5, 7, 1) + frame)
    (folder / "three").write_bytes(b"\6" + head(5, 7, 3) + 3 * frame)
    (folder / "count").write_bytes(b"\2" + head(5, 7, 1) + 2 * frame)
    (folder / "cut").write_bytes(b"\0" + head(5, 7, 2) + frame + frame[:4])
    (folder / "single").write_bytes(b"\0" + head(1, 1, 2) + b"\1\2")
    (folder / "whole").write_bytes(b"\x1e" + head(16, 8, 1) + bytes(range(32)))
    largest = 2**31 - 1
    for name, length, sizes in [("large", 16 + (largest**2 + 3) // 4, (largest, largest, 1)),
                                ("many", 16 + largest, (1, 1, largest)),
                                ("uncounted", 2**63 - 1, (2, 2, 1))]:
        (folder / name).write_bytes(b"\1" + struct.pack("<q", length) + head(*sizes))


def headers(folder):
    """A control byte, 0 for .npy, 1 for NIfTI, 2 for MRC, then the header."""
    for number, (shape, kind, order) in enumerate([((3, 4), "<f4", "C"), ((5,), "|u1", "C"),
                                                   ((2, 3, 4), ">i8", "F")]):
        with io.BytesIO() as file:
            version = (number + 1, 0)
            np.lib.format.write_array(file, np.zeros(shape, kind, order), version=version)
            (folder / f"npy-{number}").write_bytes(b"\0" + file.getvalue()[:160])
    for order in "<>":
        head = bytearray(348)
        struct.pack_into(order + "i", head, 0, 348)
        struct.pack_into(order + "8h", head, 40, 3, 7, 5, 3, 1, 1, 1, 1)
        struct.pack_into(order + "2h", head, 70, 16, 32)
        struct.pack_into(order + "3f", head, 108, 352, 0.5, -1024)
        head[344:348] = b"n+1\0"
        (folder / ("nifti-little" if order == "<" else "nifti-big")).write_bytes(b"\1" + head)
        head = bytearray(1024)
        struct.pack_into(order + "10i6f3i", head, 0, 7, 5, 6, 1, 0, 0, 0, 7, 5, 3, 70, 50, 30, 90, 90, 90, 1, 2, 3)
        struct.pack_into(order + "2i", head, 88, 401, 80)
        head[208:216] = b"MAP DD\0\0" if order == "<" else b"MAP \x11\x11\0\0"
        (folder / ("mrc-little" if order == "<" else "mrc-big")).write_bytes(b"\2" + head)


def inputs(folder):
    image = np.arange(60, dtype="<i2").reshape(6, 10)
    for name, options in {
            "contiguous": {},
            "chunked": {"chunks": (2, 5)},
            "deflate": {"chunks": (4, 10), "compression": "gzip", "shuffle": True},
            "fletcher": {"chunks": (3, 10), "fletcher32": True},
            "scale": {"chunks": (6, 10), "scaleoffset": 0},
    }.items():
        for version in ["earliest", "latest"]:
            with h5py.File(folder / f"{name}-{version}", "w", libver=version) as file:
                file.create_dataset("d", data=image, **options)
    with h5py.File(folder / "float-big", "w") as file:
        file["d"] = image.astype(">f8")
    with h5py.File(folder / "links", "w") as file:
        file["a/b"] = image.reshape(3, 2, 10)
        file["d"] = h5py.SoftLink("/a/b")
        file["e"] = h5py.ExternalLink("other.h5", "/d")
    with h5py.File(folder / "virtual", "w", libver="latest") as file:
        layout = h5py.VirtualLayout(shape=(6, 10), dtype="<i2")
        layout[:] = h5py.VirtualSource("gone.h5", "d", shape=(6, 10))
        file.create_virtual_dataset("d", layout)
    with h5py.File(folder / "compound", "w") as file:
        file["d"] = np.zeros(3, dtype=[("a", "<i2"), ("b", "S3")])


def layouts(folder):
    """A control byte, 0 for a dataset's layout, 1 for attributes, 2 for a file's content, 3 for metadata, then the
    message as io/files/message.hpp has it: numbers of 8 bytes, texts and lists behind their length."""
    def number(value):
        return struct.pack("<q", value)

    def text(value):
        return number(len(value)) + value

    def numbers(*values):
        return number(len(values)) + b"".join(map(number, values))

    def texts(*values):
        return number(len(values)) + b"".join(map(text, values))

    def info(storage, chunk, offset):
        return (number(3) + numbers(6, 10) + text(b"") + text(b"") + number(0) + text(storage) +
                numbers(*chunk) + texts() + number(120) + numbers(*offset) + number(0) + texts())

    (folder / "contiguous").write_bytes(
        b"\0" + text(b"a.h5") + info(b"contiguous", [], [4096]) + number(0) + number(0) + text(b"") +
        number(0))
    filters = number(2) + number(2) + text(b"shuffle") + numbers(2) + number(1) + \
        text(b"deflate") + numbers(6)
    chunks = number(2) + b"".join(map(number, (0, 512, 60, 0, 0, 2, 600, 64, 0, 0)))
    (folder / "chunks").write_bytes(b"\0" + text(b"a.h5") + info(b"chunked", [4, 4], []) + number(1) +
                                    filters + text(b"\0\0") + chunks)
    (folder / "attributes").write_bytes(
        b"\1" + number(3) + text(b"a") + number(0) + text(b"b") + text(b"n") + number(1) +
        number(7) + text(b"l") + number(3) + texts(b"x", b""))
    def value(kind, space, shape, type_, bytes_, *words, length=0):
        return (number(kind) + number(space) + numbers(*shape) + number(type_) + text(bytes_) + texts(*words) +
                number(length) + number(1))

    labels = number(2) + text(b"DIMENSION_LABELS") + value(2, 2, [2], 0, b"", b"y", b"x") + \
        text(b"element_size_um") + value(0, 2, [2], 9, struct.pack("<2d", 2, 3))
    (folder / "metadata").write_bytes(
        b"\3" + numbers(3, 4) + labels + number(0) + texts(b"y", b".") + number(1) + text(b"y") + number(0) +
        value(0, 2, [4], 2, struct.pack("<4h", 1, 2, 3, 4)) + number(1) + text(b"units") +
        value(2, 1, [], 0, b"", b"mm", length=3) + texts(b"left out"))
    (folder / "content").write_bytes(b"\2" + text(b"a.h5") + text(b"HDF5") + number(9) + number(0) +
                                     number(0))


def input_changes(folder):
    for number in range(14):
        (folder / str(number)).write_bytes(bytes([number, 0, 0, 0x89]))


# As in codecs(), with fletcher32 behind them (codec_fuzz.cpp).
CODECS = {1: "deflate", 2: "shuffle", 4: "szip", 307: "bzip2", 32000: "lzf", 32001: "blosc", 32004: "lz4",
          32008: "bitshuffle", 32015: "zstd", 3: "fletcher32"}


def chunks(folder):
    """The second chunk of every dataset in tests/data/filters, for the target of its only filter and
    for that of chains. `folder` is that of chains; the others are beside it."""
    for path in sorted(SOURCE.glob("tests/data/filters/*.h5")):
        with h5py.File(path) as file:
            for number, group in enumerate(file.values()):
                dataset = group["packed"]
                creation = dataset.id.get_create_plist()
                filters = [creation.get_filter(i) for i in range(creation.get_nfilters())]
                mask, packed = dataset.id.read_direct_chunk(dataset.id.get_chunk_info(1).chunk_offset)
                head = [np.prod(dataset.chunks) * dataset.dtype.itemsize - 1, mask]
                chain = [*head, len(filters)]
                for code, _, values, _ in filters:
                    chain += [list(CODECS).index(code), len(values), *values]
                (folder / f"{path.stem}-{number}").write_bytes(shorts(chain) + packed)
                if len(filters) == 1:
                    own = folder.parent / CODECS[filters[0][0]]
                    own.mkdir(exist_ok=True)
                    values = filters[0][2]
                    (own / f"{path.stem}-{number}").write_bytes(
                        shorts([*head, len(values), *values]) + packed)


def shorts(values):
    return b"".join(struct.pack("<H", value & 0xffff) for value in values)


def lzw(data):
    """TIFF's LZW: codes of 9 bits and more, the highest bit first."""
    bits, table, word = [], {}, b""

    def put(code):
        width = max(9, (257 + len(table) + 1).bit_length())
        bits.extend(f"{code:0{width}b}")

    put(256)
    for byte in data:
        longer = word + bytes([byte])
        if len(longer) == 1 or longer in table:
            word = longer
            continue
        put(table[word] if len(word) > 1 else word[0])
        table[longer] = 258 + len(table)
        word = longer[-1:]
    put(table[word] if len(word) > 1 else word[0])
    put(257)
    text = "".join(bits)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big")


def pages(folder):
    """What TIFF and PNG pack pages with, each in the folder of its target beside `folder`."""
    line = bytes(range(16)) + b"\1\2\3\4" * 12
    data = np.frombuffer(line * 8, np.uint8)
    picture = b"".join(bytes([kind]) + line for kind in (0, 1, 2, 3, 4, 0, 1, 4))
    packed = zlib.compress(picture)
    piece = struct.pack(">I", len(packed)) + b"IDAT" + packed
    piece += struct.pack(">I", zlib.crc32(piece[4:]))
    for target, values, bytes_ in [
            ("lzw", [], lzw(data.tobytes())), ("packbits", [0], b"\x0f" + line[:16] + b"\xf1\5" + b"\2abc"),
            ("packbits", [4], b"\3abcd\xfd\7\x80\1ab\xff\2"), ("predictor", [16, 4, 1, 0], data.tobytes()),
            ("predictor", [32, 2, 3, 1], data.tobytes()), ("predictor", [8, 8, 1, 0], data.tobytes()),
            ("predictor", [64, 1, 4, 0], data.tobytes()), ("float_predictor", [16, 4, 1, 0], data.tobytes()),
            ("float_predictor", [8, 8, 2, 1], data.tobytes()), ("png", [8, 64, 8, 1], piece),
            ("png", [8, 32, 16, 1], piece), ("png", [8, 512, 1, 1], piece), ("png", [8, 63, 8, 3], piece)]:
        own = folder.parent / target
        own.mkdir(exist_ok=True)
        size = 8 * 64 if target != "png" or values[2] != 1 else 8 * 512
        name = "-".join(map(str, values)) or "plain"
        (own / name).write_bytes(shorts([size - 1, 0, len(values), *values]) + bytes_)


def zarr(folder):
    """A control byte, 0 for version 2 and 1 for version 3, then the metadata of an array; 2, then those of an image."""
    two = {"zarr_format": 2, "shape": [7, 13], "chunks": [3, 5], "dtype": ">f4", "order": "F", "fill_value": "NaN",
           "filters": None, "compressor": {"id": "blosc", "cname": "zstd", "shuffle": 2}, "dimension_separator": "/"}
    (folder / "two").write_bytes(b"\0" + json.dumps(two).encode())
    packed = [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration":
              {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}, {"name": "crc32c"}]
    shards = [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [3, 5], "codecs": packed, "index_location": "start", "index_codecs": ["bytes", "crc32c"]}}]
    three = {"zarr_format": 3, "node_type": "array", "shape": [7, 13], "data_type": "complex64", "chunk_grid":
             {"name": "regular", "configuration": {"chunk_shape": [6, 10]}}, "chunk_key_encoding":
             {"name": "v2", "configuration": {"separator": "/"}}, "fill_value": ["0x7fc00000", 1.5], "codecs": shards,
             "attributes": {"a": 1}, "dimension_names": ["y", None]}
    (folder / "three").write_bytes(b"\1" + json.dumps(three).encode())
    axes = [{"name": name, "type": kind} for name, kind in (("c", "channel"), ("y", "space"), ("x", "space"))]
    place = [{"type": "scale", "scale": [1, 2, 0.5]}, {"type": "translation", "translation": [0, 1, 2]}]
    image = {"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": place}], "coordinateTransformations": place[:1]}
    channels = [{"color": "00FF00", "window": {"min": 0, "max": 1, "start": 0, "end": 1}}]
    new = {"ome": {"version": "0.5", "multiscales": [image], "omero": {"channels": channels}}}
    (folder / "image_05").write_bytes(b"\2" + json.dumps(new).encode())
    old = {"multiscales": [{**image, "version": "0.4"}], "omero": {"channels": channels}}
    (folder / "image_04").write_bytes(b"\2" + json.dumps(old).encode())


def main():
    for target, make in [("job_file", job_files), ("journal", journals),
                         ("certificate", certificates), ("sand", sand),
                         ("headers", headers), ("files", inputs), ("input", input_changes),
                         ("layout", layouts), ("zarr", zarr), ("chain", chunks),
                         ("pages", pages)]:
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)


if __name__ == "__main__":
    main()
