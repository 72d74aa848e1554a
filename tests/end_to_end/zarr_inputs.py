"""Zarr stores as inputs. Version 2 is written and read by Debian's python3-zarr; of version 3 there are stores
that zarr-python 3 and tensorstore made, with the elements that they read (make_zarr_files.py)."""
import json
import os
import pathlib
import shutil
import struct
import zipfile

import h5py
import numcodecs
import numpy as np
import pytest
import zarr

from harness import bad, call, good

DATA = pathlib.Path(__file__).parent.parent / "data" / "zarr" / "version3.zip"
with zipfile.ZipFile(DATA) as archive:
    STORES = sorted({name.split("/")[0][:-5] for name in archive.namelist() if ".zarr/" in name})
TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]
SHAPE = (7, 13, 10)
CHUNK = (3, 5, 4)


def elements(dtype, shape=SHAPE):
    generator = np.random.default_rng(7)
    values = generator.integers(0, 200, shape)
    if dtype == "bool":
        return values % 2 == 0
    if dtype.startswith("complex"):
        return (values - 90 + 1j * generator.integers(0, 9, shape)).astype(dtype)
    return (values - (0 if dtype.startswith("u") else 100)).astype(dtype)


def stored(name="in.zarr", dtype="uint16", array=None, written=..., **options):
    """A store of version 2, and what zarr-python reads of it."""
    array = elements(dtype) if array is None else array
    options = {"chunks": CHUNK, "fill_value": 0, **options}
    made = zarr.open(name, "w", shape=array.shape, dtype=options.pop("store_as", array.dtype), **options)
    if written is not None:
        made[written] = array[written]
    return made[...]


def extracted(name):
    """The files of a store of version 3."""
    with zipfile.ZipFile(DATA) as archive:
        for member in archive.namelist():
            if member.split("/")[0] in (name, name + ".npy", name + ".zarr", name + ".ome.zarr"):
                archive.extract(member)


def change(file, **members):
    """Changes members of the JSON in a file; of a member None, takes it out."""
    path = pathlib.Path(file)
    node = json.loads(path.read_text())
    for key, value in members.items():
        node[key] = value
        if value is None:
            del node[key]
    path.write_text(json.dumps(node))


def read(source):
    good("convert", source, "out.h5:/made", "--overwrite")
    with h5py.File("out.h5") as file:
        return file["made"][...]


def check(source, wanted):
    found = read(source)
    wanted = wanted.view("uint8") if wanted.dtype == bool else wanted
    assert found.dtype == wanted.dtype.newbyteorder("=") and found.shape == wanted.shape
    assert found.tobytes() == wanted.astype(found.dtype).tobytes()


COMPRESSORS = {
    "none": None, "zstd": numcodecs.Zstd(3), "gzip": numcodecs.GZip(5), "zlib": numcodecs.Zlib(1),
    "bz2": numcodecs.BZ2(9), "lz4": numcodecs.LZ4(),
    **{f"blosc_{cname}_{shuffle}": numcodecs.Blosc(cname, 5, shuffle)
       for cname in ("lz4", "lz4hc", "zstd", "zlib") for shuffle in (0, 1, 2)}}


@pytest.mark.quick
@pytest.mark.share(0.5)
@pytest.mark.parametrize("compressor", COMPRESSORS)
@pytest.mark.parametrize("order", "CF")
def test_version_2(compressor, order):
    """Each compressor, with both separators, edges and chunks that are absent."""
    for separator in "./":
        wanted = stored(order=order, compressor=COMPRESSORS[compressor], dimension_separator=separator,
                        written=np.s_[:5, 2:], fill_value=9)
        check("in.zarr", wanted)


@pytest.mark.quick
@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    for order in "<>":
        kind = np.dtype(dtype).newbyteorder(order)
        fill = elements(dtype)[1, 2, 3].item()
        wanted = stored(dtype=dtype, store_as=kind, fill_value=fill, written=np.s_[2:4, 1:7])
        check("in.zarr", wanted)


@pytest.mark.quick
def test_shapes():
    for shape, chunk in (((530,), (97,)), ((35, 26), (8, 26)), ((35, 26), (40, 64)), ((2, 3, 4, 5, 6), (1, 2, 4, 2, 4)),
                         ((9, 8, 7), (1, 8, 7)), ((9, 8, 7), (1, 1, 3))):
        for order in "CF":
            array = elements("int16", shape)
            check("in.zarr", stored(array=array, chunks=chunk, order=order))


FILLS = [("float32", "NaN", np.nan), ("float64", "Infinity", np.inf), ("float16", "-Infinity", -np.inf),
         ("float64", 0.1, 0.1), ("float16", 0.1, 0.1), ("float32", 3, 3.0), ("float16", 6e-8, 6e-8),
         ("int16", -5, -5), ("uint8", 5.0, 5), ("uint64", 2**64 - 1, 2**64 - 1), ("int64", -2**63, -2**63),
         ("uint16", None, 0), ("bool", True, True), ("bool", 1, True)]


@pytest.mark.quick
@pytest.mark.parametrize("dtype, text, value", FILLS)
def test_fill_values(dtype, text, value):
    stored(dtype=dtype, written=None)
    change("in.zarr/.zarray", fill_value=text)
    check("in.zarr", np.full(SHAPE, value, dtype))


@pytest.mark.quick
@pytest.mark.parametrize("name", [name for name in STORES if not name.startswith("image")])
def test_version_3(name):
    extracted(name)
    check(f"{name}.zarr", np.load(f"{name}.npy"))


@pytest.mark.quick
def test_fill_values_of_version_3():
    extracted("nothing_stored")
    for dtype, text, bits in (("float32", "0x7fc00001", 0x7fc00001), ("float64", "0xfff8000000000002", 0xfff8000000000002),
                              ("float16", "0x7e05", 0x7e05), ("float32", "NaN", 0x7fc00000),
                              ("float64", "-Infinity", 0xfff0000000000000)):
        change("nothing_stored.zarr/zarr.json", data_type=dtype, fill_value=text)
        found = read("nothing_stored.zarr")
        kind = f"uint{8 * found.dtype.itemsize}"
        assert (found.view(kind) == np.array(bits, kind)).all(), text


def test_large_chunks():
    """A transposed chunk of more than a tile, rows that share chunks, and several threads."""
    array = np.random.default_rng(1).integers(0, 60000, (70, 90, 110)).astype("uint16")
    for order in "CF":
        check("in.zarr", stored(array=array, chunks=(33, 37, 41), order=order))


JOB = """kind = "{kind}"
[input]
file = "{source}"
{more}
[output]
file = "{output}"
[run]
backend = "cpu"
[{kind}]
{table}
"""


def job(kind, source, output, table="", more="", ranks=1, code=0):
    pathlib.Path("job.toml").write_text(JOB.format(kind=kind, source=source, output=output, table=table, more=more))
    return call("job.toml", "--quiet", ranks=ranks, code=code)


@pytest.mark.parametrize("ranks", [1, 2])
def test_jobs(ranks):
    """A job makes of a store what it makes of the same elements in a .npy file."""
    extracted("shard_nested")
    np.save("in.npy", np.load("shard_nested.npy"))
    stored(array=np.load("in.npy"), compressor=numcodecs.Zstd(1))
    for kind, table in (("median", "size = [3, 3]"), ("bin", "factors = [2, 2]"), ("transpose", "permutation = [2, 0, 1]")):
        job(kind, "in.npy", f"{kind}.npy", table, ranks=ranks)
        for number, source in enumerate(("shard_nested.zarr", "in.zarr")):
            job(kind, source, f"{kind}{number}.npy", table, ranks=ranks)
            assert pathlib.Path(f"{kind}{number}.npy").read_bytes() == pathlib.Path(f"{kind}.npy").read_bytes()


def test_identity():
    """A finished output belongs to the bytes of the store: to all of its files."""
    wanted = stored()
    job("bin", "in.zarr", "out.h5", "factors = [2, 2]")
    with h5py.File("out.h5") as file:
        assert "input.files" in file.attrs["identity"]
    before = pathlib.Path("out.h5").stat().st_mtime_ns
    job("bin", "in.zarr", "out.h5", "factors = [2, 2]")  # is complete already
    assert pathlib.Path("out.h5").stat().st_mtime_ns == before
    good("verify", "out.h5", "--recompute", "3")
    path = pathlib.Path("in.zarr/1.1.1")
    status = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert "input." in job("bin", "in.zarr", "out.h5", "factors = [2, 2]", code=4).stderr
    stored()
    os.remove("in.zarr/0.0.0")
    os.remove("out.h5")
    job("bin", "in.zarr", "out.h5", "factors = [2, 2]")
    pathlib.Path("in.zarr/0.0.0").write_bytes(wanted[:3, :5, :4].tobytes())  # now there is one more
    assert "input." in job("bin", "in.zarr", "out.h5", "factors = [2, 2]", code=4).stderr


def test_image():
    """OME-Zarr: level 0 of the first image unless another array is named."""
    extracted("image")
    with zipfile.ZipFile(DATA) as archive:
        archive.extract("image_0.npy")
        archive.extract("image_1.npy")
    check("image.ome.zarr", np.load("image_0.npy"))
    check("image.ome.zarr:/1", np.load("image_1.npy"))
    shown = json.loads(good("inspect", "image.ome.zarr", "--json"))
    assert shown["format"] == "Zarr" and [each["path"] for each in shown["datasets"]] == ["/0", "/1"]
    assert [axis.get("spacing") for axis in shown["datasets"][1]["axes"]] == [None, 2.0, 1.0, 0.5]
    assert "axes: c (DAPI, GFP), z 2 um, y 0.5 um, x 0.25 um" in good("inspect", "image.ome.zarr:/0")
    job("bin", "image.ome.zarr", "out0.h5", "factors = [2, 2]")
    with h5py.File("out0.h5") as file:
        assert file["0"].shape == (2, 7, 6, 5)
    job("bin", "image.ome.zarr", "one.h5", "factors = [2, 2]", more='select = { c = "GFP" }')
    with h5py.File("out0.h5") as file, h5py.File("one.h5") as one:
        assert (one["0"][()] == file["0"][1]).all() and list(one["0"].attrs["DIMENSION_LABELS"]) == ["z", "y", "x"]
    job("bin", "image.ome.zarr", "out1.h5", "factors = [2, 2]", more='dataset = "/1"')
    with h5py.File("out1.h5") as file:
        assert file["1"].shape == (2, 7, 3, 2)


def test_groups():
    """Names of arrays within groups, and of none."""
    group = zarr.open_group("in.zarr", "w")
    wanted = elements("uint16")
    group.create_dataset("a/b", data=wanted, chunks=CHUNK)
    check("in.zarr", wanted)  # the only one
    check("in.zarr:/a/b", wanted)
    check("in.zarr/:/a", wanted)
    shutil.copytree("in.zarr/a", "plain")  # no ending
    check("plain", wanted)
    group.create_dataset("c", data=wanted, chunks=CHUNK)
    bad(3, ["/a/b", "/c"], "convert", "in.zarr", "new.h5")
    bad(3, ["in.zarr:/d", "no array", "/a/b", "/c"], "convert", "in.zarr:/d", "new.h5")
    # 0.4 has its description in .zattrs.
    pathlib.Path("in.zarr/.zattrs").write_text(json.dumps({"multiscales": [{"version": "0.4", "axes": [
        {"name": name, "type": "space", "unit": "nanometer"} for name in "zyx"], "datasets": [
            {"path": "c", "coordinateTransformations": [{"type": "scale", "scale": [3, 2, 1]}]}]}]}))
    check("in.zarr", wanted)
    assert "axes: z 3 nanometer, y 2 nanometer, x 1 nanometer" in good("inspect", "in.zarr:/c")


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
    "huge chunk": ({"chunks": [2**20, 2**20, 2**20]}, "4 GiB"), "shape of text": ({"shape": ["7", 13, 10]}, "metadata"),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", REFUSED_2)
def test_refused_version_2(name):
    stored()
    members, *words = REFUSED_2[name]
    change("in.zarr/.zarray", **members)
    bad(3, ["in.zarr:/data", *words], "convert", "in.zarr", "new.h5")


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
    bad(3, ["nothing_stored.zarr:/data", *words], "convert", "nothing_stored.zarr", "new.h5")


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
        if name == "none":
            path.write_bytes(whole + b"\0")
            bad(3, ["in.zarr:/data", "chunk from [3, 10, 4]"], "convert", "in.zarr", "new.h5")


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
def test_links():
    """A link out of the folder of the store is followed by request alone; so is ".."."""
    os.makedirs("here")
    os.makedirs("there")
    wanted = stored("here/in.zarr")
    os.rename("here/in.zarr/0.0.0", "there/chunk")
    os.symlink("../../there/chunk", "here/in.zarr/0.0.0")
    bad(3, ["0.0.0", "outside", "--trust-input"], "convert", "here/in.zarr", "new.h5")
    good("convert", "here/in.zarr", "out.h5", "--trust-input")
    os.remove("here/in.zarr/0.0.0")
    os.rename("there/chunk", "here/chunk")
    os.symlink("../chunk", "here/in.zarr/0.0.0")  # beside the store, as for HDF5's external links
    check("here/in.zarr", wanted)
    os.remove("here/in.zarr/0.0.0")
    os.symlink("/dev/zero", "here/in.zarr/0.0.0")
    bad(3, ["0.0.0"], "convert", "here/in.zarr", "new.h5")
    os.remove("here/in.zarr/0.0.0")
    os.symlink("nowhere", "here/in.zarr/0.0.0")
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


@pytest.mark.quick
def test_verbs():
    """Verbs name the array that they took; render and compare read it."""
    wanted = stored("a.zarr")
    np.save("a.npy", wanted)
    assert "a.zarr:/data" in good("compare", "a.zarr", "a.npy")
    assert "a.zarr:/data" in good("render", "a.zarr", "a.png")
    extracted("image")
    assert "image.ome.zarr:/0" in good("render", "image.ome.zarr", "b.png")


def test_batch():
    """A wildcard names a store as it does a file, and ** does not go into one."""
    os.makedirs("scans/deep")
    for name in ("scans/a.zarr", "scans/deep/b.zarr", "scans/deep/plain"):
        stored(name)
    np.save("scans/c.npy", elements("uint16"))
    for pattern, names in (("scans/*", ["a", "c"]), ("scans/**/*.zarr", ["a", "b"]), ("scans/**", ["a", "b", "c", "plain"])):
        pathlib.Path("job.toml").write_text(
            f'kind = "bin"\n[batch]\ninputs = ["{pattern}"]\noutput = "out/{{stem}}.h5"\n'
            '[run]\nbackend = "cpu"\n[bin]\nfactors = [2, 2]\n')
        call("batch", "job.toml", "--quiet")
        assert sorted(path.stem for path in pathlib.Path("out").glob("*.h5")) == names
        shutil.rmtree("out")
