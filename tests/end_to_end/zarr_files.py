"""Zarr stores for tests, and what is read of them."""
import json
import pathlib
import zipfile

import h5py
import numcodecs
import numpy as np
import zarr

from harness import call, good

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
