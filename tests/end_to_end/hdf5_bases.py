"""Small valid HDF5 files of every layout, index of chunks, filter and version, for mutated_inputs.py."""
import contextlib
import ctypes
import os

import h5py
import numpy as np

from hdf5_fields import LIBRARY, without_times

SHAPE = (12, 10)
CHUNK = (5, 4)
NOT_NUMBERS = ["float16", "bool"]  # a .npy file cannot hold what runner makes of them


class Base:
    """Files as they are made: `bytes` of the one that changes, and those beside it."""

    def __init__(self, name, dataset, files, changes="in.h5"):
        self.name, self.dataset, self.changes = name, dataset, changes
        self.output = "out.h5" if name in NOT_NUMBERS else "out.npy"
        self.bytes = without_times(files.pop(changes))
        self.beside = files
        self.map = self.summary = None


def values(dtype, shape=SHAPE):
    numbers = np.random.default_rng(11).integers(0, 100, shape)
    return numbers.astype("bool" if dtype == "?" else dtype)


# Name: libver, dtype, keywords of create_dataset(). Without chunks it is contiguous.
PLAIN = {
    "contiguous v0": ("earliest", "<f4", {}),
    "contiguous big-endian": ("earliest", ">i4", {}),
    "contiguous v3": ("latest", "<u2", {}),
    "tree v1": ("earliest", "<f4", {"chunks": CHUNK}),
    "tree v1 deflate": ("earliest", "<u2", {"chunks": CHUNK, "compression": "gzip"}),
    "tree v1 shuffle deflate fletcher32": ("earliest", "<i4", {"chunks": CHUNK, "compression": "gzip",
                                                              "shuffle": True, "fletcher32": True}),
    "tree v1 fletcher32": ("earliest", "<f8", {"chunks": CHUNK, "fletcher32": True}),
    "tree v1 lzf": ("earliest", "<f8", {"chunks": CHUNK, "compression": "lzf"}),
    "tree v1 shuffle": ("earliest", ">u4", {"chunks": CHUNK, "shuffle": True}),
    "tree v1 scale-offset": ("earliest", "<i4", {"chunks": CHUNK, "scaleoffset": 0}),
    "tree v1 scale-offset float": ("earliest", "<f4", {"chunks": CHUNK, "scaleoffset": 3}),
    "tree v1 of bytes": ("earliest", "u1", {"chunks": CHUNK, "maxshape": (None, 10)}),
    "tree v1, many chunks": ("earliest", "u1", {"chunks": (1, 1)}),
    "single": ("latest", "<f4", {"chunks": SHAPE}),
    "single deflate": ("latest", "<i2", {"chunks": SHAPE, "compression": "gzip"}),
    "fixed array": ("latest", "<f4", {"chunks": CHUNK}),
    "fixed array deflate": ("latest", "<u4", {"chunks": CHUNK, "compression": "gzip", "shuffle": True}),
    "fixed array lzf fletcher32": ("latest", "<i8", {"chunks": CHUNK, "compression": "lzf", "fletcher32": True}),
    "fixed array scale-offset": ("latest", "<u2", {"chunks": CHUNK, "scaleoffset": 0}),
    "fixed array, many chunks": ("latest", "u1", {"chunks": (1, 1), "compression": "gzip"}),
    "extensible array": ("latest", "<f8", {"chunks": CHUNK, "maxshape": (None, 10)}),
    "extensible array deflate": ("latest", "<i2", {"chunks": CHUNK, "maxshape": (None, 10),
                                                   "compression": "gzip"}),
    "extensible array, many chunks": ("latest", "u1", {"chunks": (1, 1), "maxshape": (None, 10)}),
    "tree v2": ("latest", "<f4", {"chunks": CHUNK, "maxshape": (None, None)}),
    "tree v2 deflate": ("latest", "<u2", {"chunks": CHUNK, "maxshape": (None, None), "compression": "gzip"}),
    "tree v2, many chunks": ("latest", "u1", {"chunks": (1, 1), "maxshape": (None, None)}),
    "superblock v2": ("v108", "<f4", {"chunks": CHUNK, "compression": "gzip"}),
    "float16": ("earliest", "<f2", {"chunks": CHUNK}),
    "bool": ("latest", "?", {"chunks": CHUNK}),
}


def low_level(file, name, dtype, prepare, chunk=None):
    """A dataset whose creation properties h5py's own functions do not have."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunk:
        properties.set_chunk(chunk)
    properties.set_obj_track_times(False)
    prepare(properties)
    array = values(dtype)
    space = h5py.h5s.create_simple(array.shape)
    made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.py_create(array.dtype), space, properties)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, array)


def narrow_integers(file):
    """Elements of 12 bits, packed by the n-bit filter."""
    kind = h5py.h5t.STD_I32LE.copy()
    kind.set_precision(12)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(CHUNK)
    properties.set_filter(5, h5py.h5z.FLAG_OPTIONAL)
    properties.set_obj_track_times(False)
    made = h5py.h5d.create(file.id, b"d", kind, h5py.h5s.create_simple(SHAPE), properties)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values("<i4"))


LOW_LEVEL = {
    "compact v0": ("earliest", lambda file: low_level(
        file, "d", "<f4", lambda properties: properties.set_layout(h5py.h5d.COMPACT))),
    "compact v3": ("latest", lambda file: low_level(
        file, "d", "<i2", lambda properties: properties.set_layout(h5py.h5d.COMPACT))),
    "implicit": ("latest", lambda file: low_level(
        file, "d", "<f4", lambda properties: properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY), CHUNK)),
    "szip": ("earliest", lambda file: low_level(
        file, "d", "<u2", lambda properties: properties.set_szip(h5py.h5z.SZIP_NN_OPTION_MASK, 4), CHUNK)),
    "fixed array szip": ("latest", lambda file: low_level(
        file, "d", "<f4", lambda properties: properties.set_szip(h5py.h5z.SZIP_EC_OPTION_MASK, 8), CHUNK)),
    "n-bit": ("earliest", narrow_integers),
    "n-bit v3": ("latest", narrow_integers),
    "external": ("earliest", lambda file: low_level(
        file, "d", "<f4", lambda properties: properties.set_external(b"raw.bin", 16, 4 * 120))),
    "fill value alone": ("latest", lambda file: file.create_dataset("d", SHAPE, "<f4", chunks=CHUNK,
                                                                    fillvalue=2.5)),
}


def groups(file):
    """Groups, links and attributes of several kinds around the dataset /a/b/d."""
    group = file.create_group("a/b")
    group.create_dataset("d", data=values("<f4"), chunks=CHUNK, compression="gzip")
    group["d"].attrs["units"] = "mm"
    group["d"].attrs["names"] = np.array(["x", "yy", "zzz"], dtype=h5py.string_dtype())
    group["d"].attrs["scale"] = np.arange(6.0).reshape(2, 3)
    group["d"].attrs["other"] = file["a"].ref
    group["type"] = np.dtype("<i4")
    group["soft"] = h5py.SoftLink("/a/b/d")
    group["outside"] = h5py.ExternalLink("none.h5", "/d")
    group["hard"] = group["d"]
    group["text"] = "a string"
    group["table"] = np.zeros(3, [("k", "<i4"), ("v", "<f8", (2,))])
    group["scale"] = np.arange(10.0)
    group["scale"].make_scale("column")
    group["d"].dims[1].attach_scale(group["scale"])


def many_links(file):
    """So many links and attributes that new versions put them in heaps and trees."""
    for i in range(20):
        file.create_group(f"group{i}")
        file.attrs[f"attribute {i}"] = i
    file.create_dataset("d", data=values("<i2"))
    for i in range(12):
        file["d"].attrs[f"attribute {i}"] = "text" * i


def ordered_links(file):
    group = file.create_group("g", track_order=True)
    for i in range(12):
        group[f"x{i}"] = i
    group.create_dataset("d", data=values("<f8"), chunks=CHUNK, track_order=True)


STRUCTURES = {
    "groups v0": ("earliest", "/a/b/d", groups),
    "groups v3": ("latest", "/a/b/d", groups),
    "many links v0": ("earliest", "/d", many_links),
    "many links v3": ("latest", "/d", many_links),
    "ordered links": ("latest", "/g/d", ordered_links),
}


def virtual(file):
    layout = h5py.VirtualLayout(SHAPE, "<f4")
    layout[:6] = h5py.VirtualSource("src.h5", "d", (6, 10))
    layout[6:] = h5py.VirtualSource("src.h5", "e", (6, 10))
    file.create_virtual_dataset("d", layout, fillvalue=7)


def small_trees(path):
    """Superblock version 1: with another width of trees."""
    properties = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    ctypes.CDLL(LIBRARY).H5Pset_istore_k(ctypes.c_int64(properties.id), 2)  # which h5py does not have
    with h5py.File(h5py.h5f.create(str(path).encode(), fcpl=properties)) as file:
        file.create_dataset("d", data=values("<f4"), chunks=(2, 2))


@contextlib.contextmanager
def working_folder(folder):
    """Where HDF5 looks for external files."""
    home = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(home)


def make(folder):
    """All of them; the folder is for their making."""
    with working_folder(folder):
        return make_here(folder)


def make_here(folder):
    path = folder / "in.h5"
    bases = []

    def add(name, dataset="/d", changes="in.h5", others=()):
        bases.append(Base(name, dataset, {each: (folder / each).read_bytes() for each in ["in.h5", *others]},
                          changes))

    for name, (libver, dtype, keywords) in PLAIN.items():
        with h5py.File(path, "w", libver=(libver, "latest")) as file:
            file.create_dataset("d", data=values(dtype), **keywords)
        add(name)
    for name, (libver, build) in LOW_LEVEL.items():
        (folder / "raw.bin").write_bytes(bytes(600))
        with h5py.File(path, "w", libver=(libver, "latest")) as file:
            build(file)
        add(name, others=["raw.bin"] if name == "external" else [])
    for name, (libver, dataset, build) in STRUCTURES.items():
        with h5py.File(path, "w", libver=(libver, "latest")) as file:
            build(file)
        add(name, dataset)
    small_trees(path)
    add("superblock v1")
    for libver in ["earliest", "latest"]:
        with h5py.File(folder / "src.h5", "w", libver=(libver, "latest")) as file:
            file.create_dataset("d", data=values("<f4", (6, 10)))
            file.create_dataset("e", data=values("<f4", (6, 10)), chunks=CHUNK, compression="gzip")
        with h5py.File(path, "w", libver="latest") as file:
            virtual(file)
        add(f"virtual, {libver} source", others=["src.h5"])
        add(f"source of virtual, {libver}", changes="src.h5", others=["src.h5"])
    return bases
