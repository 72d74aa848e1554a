"""What is refused of Zarr stores: codecs and types that are not read, damage, and links that lead out of them."""
import bz2
import gzip
import json
import os
import pathlib
import shutil
import struct

import h5py
import numpy as np
import pytest
import zarr

from harness import bad, call, good
from zarr_files import COMPRESSORS, JOB, change, check, extracted, stored


REFUSED_2 = {
    "filter": ({"filters": [{"id": "delta", "dtype": "<u2"}]}, "filter", "delta"),
    "compressor": ({"compressor": {"id": "lzma"}}, "compressor", "lzma"),
    "blosc": ({"compressor": {"id": "blosc", "cname": "snappy", "shuffle": 1}}, "blosc with snappy"),
    "text": ({"dtype": "<U8"}, "dtype", "<U8"), "object": ({"dtype": "|O"}, "|O"),
    "date": ({"dtype": "<M8[ns]"}, "M8"), "fields": ({"dtype": [["a", "<u2"]]}, "dtype"),
    "fill": ({"fill_value": "NaN"}, "fill_value", "NaN", "uint16"), "fill too large": ({"fill_value": 65536}, "65536"),
    "fill of parts": ({"fill_value": 1.5}, "1.5"), "order": ({"order": "A"}, "order"),
    "separator": ({"dimension_separator": "-"}, "separator"), "version": ({"zarr_format": 7}, "zarr_format"),
    "no version": ({"zarr_format": None}, "zarr_format"), "no chunks": ({"chunks": None}, "chunks"),
    "chunks of 0": ({"chunks": [3, 0, 4]}, "chunks"), "few chunks": ({"chunks": [3, 5]}, "chunks"),
    "no axes": ({"shape": [], "chunks": []}, "no axes"), "empty": ({"shape": [0, 4, 4]}, "extent 0"),
    "negative": ({"shape": [-1, 4, 4]}, "shape"), "huge": ({"shape": [2**40, 2**40, 2**40]}, "2^63"),
    "broken shape": ({"shape": [7.5, 13, 10]}, "its shape has 7.5"), "broken chunks": ({"chunks": [2.5, 5, 4]}, "its chunks has 2.5"),
    "broken version": ({"zarr_format": 2.5}, "zarr_format", "2.5"), "yes as shape": ({"shape": [True, 13, 10]}, "its shape has true"),
    "text as filters": ({"filters": "delta"}, '"filters" is a text'), "number as filters": ({"filters": 1}, '"filters" is 1'),
    "name as filter": ({"filters": ["delta"]}, "an object with", '"id"'), "object as filters": ({"filters": {"id": {"id": "delta"}}}, '"filters"'),
    "text as compressor": ({"compressor": "gzip"}, '"compressor" is a text'), "number as compressor": ({"compressor": 1}, '"compressor" is 1'),
    "list as compressor": ({"compressor": ["gzip"]}, '"compressor" is a list of 1'), "list as id": ({"compressor": {"id": ["gzip"]}}, '"id" is a list of 1'),
    "list as order": ({"order": ["C"]}, '"order" is a list of 1'), "list as cname": ({"compressor": {"id": "blosc", "cname": []}}, '"cname"'),
    "huge chunk": ({"chunks": [2**20, 2**20, 2**20]}, "4 GiB"), "shape of text": ({"shape": ["7", 13, 10]}, "its shape has a text"),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", REFUSED_2)
def test_refused_version_2(name):
    stored()
    members, *words = REFUSED_2[name]
    change("in.zarr/.zarray", **members)
    assert "json.exception" not in bad(3, ["in.zarr:/data", *words], "convert", "in.zarr", "new.h5")


def bytes_and(*codecs):
    return [{"name": "bytes", "configuration": {"endian": "little"}}, *codecs]


def sharded(**configuration):
    return [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [3, 5, 4], "codecs": bytes_and(), "index_codecs": bytes_and({"name": "crc32c"}), **configuration}}]


REFUSED_3 = {
    "codec": ({"codecs": bytes_and({"name": "numcodecs.lzma"})}, "codec", "numcodecs.lzma"),
    "array codec": ({"codecs": [{"name": "zfpy"}]}, "zfpy"), "vlen": ({"codecs": [{"name": "vlen-utf8"}]}, "vlen-utf8"),
    "no bytes": ({"codecs": [{"name": "transpose", "configuration": {"order": [0, 2, 1]}}]}, "codecs"),
    "no codecs": ({"codecs": []}, "codecs"),
    "order": ({"codecs": [{"name": "transpose", "configuration": {"order": [0, 1, 1]}}, *bytes_and()]}, "transpose"),
    "order beyond": ({"codecs": [{"name": "transpose", "configuration": {"order": [3, 0, 1]}}, *bytes_and()]},
                     "transpose", "[3, 0, 1]"),
    "endian": ({"codecs": [{"name": "bytes", "configuration": {"endian": "middle"}}]}, "middle"),
    "packed shards": ({"codecs": [*sharded(), {"name": "gzip"}]}, "gzip behind sharding_indexed"),
    "transposed shards": ({"codecs": [{"name": "transpose", "configuration": {"order": [0, 2, 1]}}, *sharded()]},
                          "transpose before sharding_indexed"),
    "nested twice": ({"codecs": sharded(codecs=sharded(codecs=sharded()))}, "sharding_indexed within two others"),
    "index": ({"codecs": sharded(index_codecs=bytes_and({"name": "gzip"}))}, "index", "gzip"),
    "location": ({"codecs": sharded(index_location="middle")}, "index_location"),
    "shards of parts": ({"codecs": sharded(chunk_shape=[2, 5, 4])}, "whole chunks"),
    "type": ({"data_type": "string"}, "data_type", "string"), "raw": ({"data_type": "r24"}, "r24"),
    "type by name": ({"data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s"}}}, "datetime64"),
    "grid": ({"chunk_grid": {"name": "rectangular", "configuration": {}}}, "chunk_grid", "rectangular"),
    "keys": ({"chunk_key_encoding": {"name": "hashed"}}, "chunk_key_encoding", "hashed"),
    "transformers": ({"storage_transformers": [{"name": "other"}]}, "storage_transformers"),
    "broken shape": ({"shape": [5.9, 13, 10]}, "its shape has 5.9"), "broken version": ({"zarr_format": 3.9}, "zarr_format", "3.9"),
    "broken chunks": ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3.7, 5, 4]}}}, "its chunk_shape has 3.7"),
    "broken shards": ({"codecs": sharded(chunk_shape=[1.5, 5, 4])}, "chunk_shape of sharding_indexed has 1.5"),
    "broken order": ({"codecs": [{"name": "transpose", "configuration": {"order": [0.5, 1, 2]}}, *bytes_and()]}, "transpose has 0.5"),
    "text as transformers": ({"storage_transformers": "x"}, "storage_transformers"), "object as codecs": ({"codecs": {"a": bytes_and()[0]}}, '"codecs"'),
    "text as configuration": ({"codecs": [{"name": "bytes", "configuration": "big"}]}, '"configuration" of "bytes"'),
    "text in the index": ({"codecs": sharded(index_codecs=[{"name": "bytes", "configuration": "gzip"}])}, '"configuration" of "bytes"'),
    "list as endian": ({"codecs": [{"name": "bytes", "configuration": {"endian": ["big"]}}]}, '"endian" is a list of 1'),
    "list as location": ({"codecs": sharded(index_location=["end"])}, '"index_location" is a list of 1'),
    "text of a grid": ({"chunk_grid": {"name": "regular", "configuration": "x"}}, '"configuration" of "chunk_grid"'),
    "list as type": ({"data_type": {"name": ["uint16"]}}, '"name" is a list of 1'),
    "no fill": ({"fill_value": None}, "fill_value"), "fill": ({"fill_value": [1, 2]}, "fill_value"),
    "short bits": ({"data_type": "float32", "fill_value": "0x7fc0"}, "0x7fc0"), "extension": (
        {"other": {"name": "it"}}, "extension", "it"), "version": ({"zarr_format": 2}, "zarr_format"),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", REFUSED_3)
def test_refused_version_3(name):
    extracted("nothing_stored")
    members, *words = REFUSED_3[name]
    change("nothing_stored.zarr/zarr.json", **members)
    message = bad(3, ["nothing_stored.zarr:/data", *words], "convert", "nothing_stored.zarr", "new.h5")
    assert "json.exception" not in message


def test_refused_texts():
    """JSON that is none, files that are none, and names that are missing."""
    stored()
    for text in ("", "{", "[1]", "\0", "nothing", '{"zarr_format": 2}', "[" * 100000):
        pathlib.Path("in.zarr/.zarray").write_text(text)
        bad(3, ["in.zarr"], "convert", "in.zarr", "new.h5")
    bad(3, ["away.zarr"], "convert", "away.zarr", "new.h5")
    pathlib.Path("file.zarr").write_bytes(b"PK")
    bad(3, ["file.zarr", "no folder"], "convert", "file.zarr", "new.h5")
    os.mkdir("empty.zarr")
    bad(3, ["empty.zarr", "no array"], "convert", "empty.zarr", "new.h5")


@pytest.mark.quick
def test_ignored_members():
    """What says that it need not be understood, and files beside the chunks."""
    extracted("keys_default_slash")
    change("keys_default_slash.zarr/zarr.json", other={"must_understand": False}, consolidated_metadata={
        "must_understand": False, "kind": "inline"})
    for name in ("c/0/0/0.partial", "c/9/9/9", "c/0/0/00", "c/note"):
        path = pathlib.Path("keys_default_slash.zarr", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"?")
    check("keys_default_slash.zarr", np.load("keys_default_slash.npy"))


@pytest.mark.quick
def test_damaged_chunks():
    """Every chunk file that is cut, empty or changed is named, with its array and where it begins."""
    for name, compressor in COMPRESSORS.items():
        stored(compressor=compressor)
        path = pathlib.Path("in.zarr/1.2.1")
        whole = path.read_bytes()
        for cut in (0, 1, len(whole) - 1):
            path.write_bytes(whole[:cut])
            bad(3, ["in.zarr:/data", "chunk from [3, 10, 4]", "in.zarr/1.2.1"], "convert", "in.zarr", "new.h5")
        for more in (b"\0", b"garbage", whole[:-1]):
            if (name, more) != ("gzip", b"\0"):  # gzip ignores zeros behind a member
                path.write_bytes(whole + more)
                bad(3, ["in.zarr:/data", "chunk from [3, 10, 4]"], "convert", "in.zarr", "new.h5")


@pytest.mark.quick
def test_several_members():
    """A gzip file of several members and a bzip2 file of several streams are what all of them hold, one without bytes
    among them; zeros may follow in gzip. A member that is damaged is damage."""
    for name, pack in (("gzip", gzip.compress), ("bz2", bz2.compress)):
        wanted = stored(compressor=COMPRESSORS[name])
        path = pathlib.Path("in.zarr/1.1.1")
        raw = (gzip if name == "gzip" else bz2).decompress(path.read_bytes())
        for cuts in ((50,), (1, 2, 3), (0,), (len(raw),)):
            ends = [0, *cuts, len(raw)]
            path.write_bytes(b"".join(pack(raw[begin:end]) for begin, end in zip(ends, ends[1:])))
            assert np.array_equal(zarr.open("in.zarr", "r")[...], wanted)
            check("in.zarr", wanted)
        first, second = pack(raw[:50]), pack(raw[50:])
        for damaged in (first, first + second[:-1], first + b"x" + second, first + second + pack(b"more")):
            path.write_bytes(damaged)
            bad(3, ["in.zarr:/data", "in.zarr/1.1.1"], "convert", "in.zarr", "new.h5")
    extracted("gzip")
    wanted, path = np.load("gzip.npy"), pathlib.Path("gzip.zarr/c/1/1/1")
    raw = gzip.decompress(path.read_bytes())
    for more in (b"", bytes(9)):
        path.write_bytes(gzip.compress(raw[:9]) + gzip.compress(raw[9:]) + more)
        check("gzip.zarr", wanted)
    path.write_bytes(gzip.compress(raw) + b"garbage")
    bad(3, ["gzip.zarr:/data", str(path), "gzip"], "convert", "gzip.zarr", "new.h5")


@pytest.mark.quick
@pytest.mark.parametrize("name", ["crc32c", "gzip_crc32c", "crc32c_zstd", "shard_checked"])
def test_wrong_checksums(name):
    extracted(name)
    file = next(path for path in pathlib.Path(f"{name}.zarr/c").rglob("*") if path.is_file())
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2 if "shard" not in name else 10] ^= 0x10
    file.write_bytes(whole)
    bad(3, [f"{name}.zarr:/data", "chunk from [", str(file), "" if "crc32c_" in name else "crc32c"], "convert",
        f"{name}.zarr", "new.h5")


@pytest.mark.quick
@pytest.mark.parametrize("name", ["shard_start", "shard_end", "shard_nested", "shard_no_checksum"])
def test_damaged_shards(name):
    extracted(name)
    file = sorted(path for path in pathlib.Path(f"{name}.zarr/c").rglob("*") if path.is_file())[0]
    whole = file.read_bytes()
    place = 3 if name == "shard_start" else len(whole) - 14
    words = [f"{name}.zarr:/data", "chunk from [", str(file)]
    for damaged in (b"", whole[:20], whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1:]):
        file.write_bytes(damaged)
        bad(3, words, "convert", f"{name}.zarr", "new.h5")
    if name == "shard_no_checksum":
        for offset, size in ((2**63, 8), (8, 2**63), (len(whole), 1), (0, 0), (2**64 - 1, 8), (0, 2**40)):
            file.write_bytes(whole[:-128] + struct.pack("<QQ", offset, size) + whole[-112:])
            bad(3, words, "convert", f"{name}.zarr", "new.h5")


@pytest.mark.quick
@pytest.mark.parametrize("location", ["start", "end"])
def test_chunks_over_one_another(location):
    """An index without a checksum that leads into itself, or says the same bytes of two chunks. Where it is right, in
    whatever order, chunks are read."""
    values = np.arange(16, dtype="u1").reshape(4, 4)
    begin = 64 if location == "start" else 0
    chunks = b"".join(values[row:row + 2, column:column + 2].tobytes() for row in (0, 2) for column in (0, 2))
    os.makedirs("in.zarr/c/0")
    pathlib.Path("in.zarr/zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": "uint8", "fill_value": 9,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [2, 2], "codecs": ["bytes"], "index_codecs": bytes_and(), "index_location": location}}]}))

    def write(*entries):
        index = struct.pack("<8Q", *(number for entry in entries for number in entry))
        pathlib.Path("in.zarr/c/0/0").write_bytes(index + chunks if location == "start" else chunks + index)

    right = [(begin + 4 * number, 4) for number in range(4)]
    write(*right)
    check("in.zarr", values)
    wanted = np.block([[values[2:, 2:], values[:2, 2:]], [values[:2, :2], np.full((2, 2), 9)]]).astype("u1")
    write(right[3], right[1], right[0], (2**64 - 1, 2**64 - 1))
    check("in.zarr", wanted)
    inside = 8 if location == "start" else len(chunks) + 8
    for entry, words in (((inside, 4), "the index itself"), ((len(chunks) - 2 if location == "end" else 62, 4), "the index itself"),
                         (right[2], "[2, 0]"), ((right[2][0] - 1, 4), "chunk"), ((right[2][0] + 3, 4), "chunk")):
        write(right[0], entry, *right[2:])
        bad(3, ["in.zarr:/data", "chunk from [", "in.zarr/c/0/0", "index of its shard is damaged", words], "convert", "in.zarr", "new.h5")


@pytest.mark.quick
def test_chunks_beyond_the_array():
    """A shard may hold chunks that no element of the array is in, as after the array was made smaller. They are not
    read, and where they lie over the index, the shard has lost bytes."""
    values = np.arange(1, 25, dtype="<u2").reshape(4, 6)
    os.makedirs("in.zarr/c/0")
    pathlib.Path("in.zarr/zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [4, 3], "data_type": "uint16", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 6]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [4, 3], "codecs": bytes_and(), "index_codecs": bytes_and()}}]}))
    chunks = values[:, :3].tobytes() + values[:, 3:].tobytes()
    path = pathlib.Path("in.zarr/c/0/0")
    path.write_bytes(chunks + struct.pack("<4Q", 0, 24, 24, 24))
    check("in.zarr", values[:, :3])
    for rest, size, words in ((chunks[1:], 24, "the index itself"), (chunks[:24], 240, "and the shard has")):
        path.write_bytes(rest + struct.pack("<4Q", 0, 24, 24, size))
        bad(3, ["in.zarr:/data", "chunk from [0, 3]", "in.zarr/c/0/0", words], "convert", "in.zarr", "new.h5")


@pytest.mark.quick
def test_links():
    """A link out of the folder of the store is followed by request alone; so is ".."."""
    os.makedirs("here")
    os.makedirs("there")
    wanted = stored("here/in.zarr")
    os.rename("here/in.zarr/0.0.0", "there/chunk")
    os.symlink("../../there/chunk", "here/in.zarr/0.0.0")
    target = os.path.realpath("there/chunk")
    bad(3, ["here/in.zarr/0.0.0", f"it leads to {target}, a file outside", "--trust-input"], "convert", "here/in.zarr", "new.h5")
    good("convert", "here/in.zarr", "out.h5", "--trust-input")
    os.remove("here/in.zarr/0.0.0")
    os.rename("there/chunk", "here/chunk")
    os.symlink("../chunk", "here/in.zarr/0.0.0")  # beside the store, as for HDF5's external links
    check("here/in.zarr", wanted)
    os.remove("here/in.zarr/0.0.0")
    os.symlink("/dev/zero", "here/in.zarr/0.0.0")
    bad(3, ["0.0.0"], "convert", "here/in.zarr", "new.h5")
    os.remove("here/in.zarr/0.0.0")
    os.symlink("nowhere", "here/in.zarr/0.0.0")  # no chunk of fill values
    bad(3, ["here/in.zarr/0.0.0", "a link that leads nowhere"], "convert", "here/in.zarr", "new.h5")
    os.remove("here/in.zarr/0.0.0")
    wanted[:3, :5, :4] = 0
    check("here/in.zarr", wanted)
    # The metadata, a folder of chunks, and a path.
    stored("there/in.zarr", dimension_separator="/")
    os.makedirs("here/meta.zarr")
    os.symlink("../../there/in.zarr/.zarray", "here/meta.zarr/.zarray")
    bad(3, [".zarray", "outside"], "inspect", "here/meta.zarr:/data")
    shutil.copytree("there/in.zarr", "here/folder.zarr")
    shutil.rmtree("here/folder.zarr/0")
    os.symlink("../../there/in.zarr/0", "here/folder.zarr/0")
    bad(3, ["outside"], "convert", "here/folder.zarr", "new.h5")
    bad(3, ["outside"], "convert", "here/folder.zarr:/../../there/in.zarr", "new.h5")
    os.remove("here/folder.zarr/0")
    os.symlink("nowhere", "here/folder.zarr/0")
    bad(3, ["here/folder.zarr/0", "a link that leads nowhere"], "convert", "here/folder.zarr", "new.h5")
    os.symlink("here/in.zarr", "link.zarr")
    check("link.zarr", wanted)


def test_huge_grids():
    """The files that are there are listed, never the grid: it may be of any size."""
    stored(written=np.s_[:3, :5, :4], compressor=None)
    change("in.zarr/.zarray", shape=[2**30, 2**10, 10])
    bad(3, ["TiB", "max_logical_bytes"], "convert", "in.zarr", "new.h5")
    pathlib.Path("job.toml").write_text(JOB.format(
        kind="bin", source="in.zarr", output="out.h5", table="factors = [2, 2]",
        more='max_logical_bytes = "100 TiB"\nframes = "0:2"\nregion = { rows = "0:4", columns = "0:4" }'))
    call("job.toml", "--quiet")
    with h5py.File("out.h5") as file:
        assert file["data"].shape == (2, 2, 2)
