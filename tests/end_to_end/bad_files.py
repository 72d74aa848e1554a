"""Makes input files that are damaged, malicious or not what a job can take, each by a function.

Where bytes are changed, they are found by what HDF5's file format puts around them, so that the
place holds for any version of h5py.
"""
import ctypes
import os
import pathlib
import socket
import struct
import subprocess
import sys
import zlib

import h5py
import numpy as np

from hdf5_fields import LIBRARY, Checksums, FieldMap

IMAGE = np.arange(40 * 60, dtype=np.float64).reshape(40, 60)
CHUNK = (16, 20)


def make(path, write, libver="earliest"):
    with h5py.File(path, "w", libver=libver) as file:
        write(file)


def good(path, **options):
    make(path, lambda file: file.create_dataset("image", data=IMAGE, **options))


def chunked(path, **options):
    good(path, chunks=CHUNK, **options)


def typed(dtype):
    return lambda path: make(path, lambda file: file.create_dataset("image", (4, 4), dtype=dtype))


def shaped(shape, **options):
    return lambda path: make(
        path, lambda file: file.create_dataset("image", shape, dtype="f8", **options))


def patch(path, at, new):
    content = bytearray(pathlib.Path(path).read_bytes())
    content[at:at + len(new)] = new
    pathlib.Path(path).write_bytes(content)


def place(path, mark, skip=0):
    """Where `mark` is, which is in the file once at least."""
    at = pathlib.Path(path).read_bytes().index(mark)
    return at + skip


# A B-tree of chunks: "TREE", its kind 1, a level 0, the count of entries, two siblings; then keys of
# the chunk's bytes, its filter mask and its start in three axes, each followed by its address.
KEY = 24
ADDRESS = KEY + 8 + 3 * 8
ENTRY = ADDRESS + 8 - KEY


def chunk_tree(path):
    return place(path, b"TREE\x01\x00")


def chunk_beyond_end(path):
    chunked(path)
    patch(path, chunk_tree(path) + ADDRESS, struct.pack("<Q", 10 ** 9))


def chunk_at_highest_address(path):
    chunked(path)
    patch(path, chunk_tree(path) + ADDRESS, struct.pack("<Q", 2 ** 64 - 100))


def chunks_over_one_another(path):
    chunked(path)
    tree = chunk_tree(path)
    first = pathlib.Path(path).read_bytes()[tree + ADDRESS:tree + ADDRESS + 8]
    patch(path, tree + ENTRY + ADDRESS, first)


def chunk_of_wrong_bytes(path):
    chunked(path)
    patch(path, chunk_tree(path) + KEY, struct.pack("<I", 77))


def chunk_of_no_bytes(path):
    chunked(path, compression="gzip")
    patch(path, chunk_tree(path) + KEY, struct.pack("<I", 0))


def chunk_too_small_for_deflate(path):
    make(path, lambda file: file.create_dataset("image", (512, 512), chunks=(512, 512), dtype="f8",
                                                compression="gzip"))
    with h5py.File(path, "r+") as file:
        file["image"].id.write_direct_chunk((0, 0), zlib.compress(bytes(100)))


def chunk_stored_as(bytes_, number, **options):
    """The last chunk of 320 values of 12 bits, which the filter of this number packs, is said to have fewer
    bytes."""
    def write(path):
        kind = h5py.h5t.STD_I32LE.copy()
        kind.set_precision(12)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(CHUNK)
        creation.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (2, 0) if number == 6 else ())
        values = (IMAGE % 2000).astype("<i4")
        make(path, lambda file: h5py.h5d.create(file.id, b"image", kind, h5py.h5s.create_simple(IMAGE.shape), creation)
             .write(h5py.h5s.ALL, h5py.h5s.ALL, values))
        with h5py.File(path) as file:
            last = file["image"].id.get_chunk_info(file["image"].id.get_num_chunks() - 1)
        old = struct.pack("<II3Q", last.size, 0, *last.chunk_offset, 0)
        patch(path, place(path, old), struct.pack("<I", bytes_))
    return write


def compact_of_less(path):
    """HDF5 1.10.8 reads behind the end of the memory that has the elements."""
    def write(file):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.COMPACT)
        dataset = h5py.h5d.create(file.id, b"image", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((4, 5)), creation)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, IMAGE[:4, :5].copy())
    make(path, write)
    patch(path, place(path, struct.pack("<QQ", 4, 5)), struct.pack("<QQ", 4, 50))


def nothing_to_read(path):
    """No chunk is stored, and there is no fill value: in its message only how it would be written."""
    make(path, lambda file: file.create_dataset("image", IMAGE.shape, "f8", chunks=CHUNK, fillvalue=2.5), "latest")
    patch_checked(path, struct.pack("<BBId", 3, 0x23, 8, 2.5), struct.pack("<BB", 3, 0x13))


def layout_message(path, axes):
    """The chunked layout: version 3, class 2, axes and one, the tree's address, the extents."""
    return place(path, bytes([3, 2, axes + 1]) + struct.pack("<Q", chunk_tree(path)))


def chunk_rank(axes):
    def write(path):
        chunked(path)
        patch(path, layout_message(path, 2) + 2, bytes([axes + 1]))
    return write


def chunk_extents(*extents):
    def write(path):
        chunked(path, compression="gzip")
        patch(path, layout_message(path, 2) + 11, struct.pack("<II", *extents))
    return write


def broken_tree(path):
    chunked(path)
    patch(path, chunk_tree(path), b"EERT")


def tree_of_itself(path):
    """A tree one level high whose children are the tree itself."""
    chunked(path)
    tree = chunk_tree(path)
    patch(path, tree + 5, b"\x01")
    patch(path, tree + ADDRESS, struct.pack("<Q", tree))


def contiguous_beyond_end(path):
    good(path)
    with h5py.File(path) as file:
        address = file["image"].id.get_offset()
    at = place(path, struct.pack("<QQ", address, IMAGE.nbytes))
    patch(path, at, struct.pack("<Q", 10 ** 12))


def contiguous_too_short(path):
    good(path)
    with h5py.File(path) as file:
        address = file["image"].id.get_offset()
    at = place(path, struct.pack("<QQ", address, IMAGE.nbytes))
    patch(path, at + 8, struct.pack("<Q", 800))


def contiguous_behind_what_hdf5_reads(path):
    """The superblock's end of addresses is before the dataset's."""
    good(path)
    patch(path, 40, struct.pack("<Q", os.path.getsize(path) - 8))


def chunks_behind_what_hdf5_reads(path):
    """The same, and the dataset is one chunk."""
    good(path, chunks=IMAGE.shape)
    patch(path, 40, struct.pack("<Q", os.path.getsize(path) - 8))


def broken_links(path):
    """The tree of the names in the root group is none."""
    chunked(path)
    patch(path, place(path, b"TREE\x00\x00"), b"XXXX")


def patch_checked(path, old, new):
    """Other bytes, with right checksums."""
    checked = FieldMap(pathlib.Path(path).read_bytes()).checked
    patch(path, place(path, old), new)
    made = pathlib.Path(path).read_bytes()
    for begin, end in checked:
        patch(path, end, struct.pack("<I", Checksums.of(made[begin:end])))


def growing(path, extents_and_largest, libver="earliest"):
    make(path, lambda file: file.create_dataset("image", data=IMAGE, chunks=CHUNK, maxshape=(41, 61)), libver)
    patch_checked(path, struct.pack("<4Q", 40, 60, 41, 61), struct.pack("<4Q", *extents_and_largest))


def extents_beyond_the_largest(path):
    growing(path, (40, 62, 41, 61))


def largest_of_many_chunks(path):
    """HDF5's number of a chunk overflows, and it reads fill values for rows that are stored."""
    make(path, lambda file: file.create_dataset("image", data=IMAGE, chunks=(2, 2), maxshape=(None, 61)), "latest")
    patch_checked(path, struct.pack("<4Q", 40, 60, 2 ** 64 - 1, 61),
                  struct.pack("<4Q", 40, 60, 2 ** 64 - 1, 2 ** 63 + 61))


def single_chunk_of_less(path):
    """The layout: three extents of a byte each, the last of them an element's."""
    make(path, lambda file: file.create_dataset("image", data=IMAGE, chunks=IMAGE.shape), "latest")
    patch_checked(path, bytes([3, 1, 40, 60, 8]), bytes([3, 1, 40, 30, 8]))


def fixed_array_of_fewer_chunks(path):
    """The layout: three extents of a byte each. HDF5 reads its array behind its end."""
    make(path, lambda file: file.create_dataset("image", data=IMAGE, chunks=CHUNK), "latest")
    patch_checked(path, bytes([3, 1, 16, 20, 8]), bytes([3, 1, 16, 10, 8]))


def plain_edges(path):
    """Chunks across the edge are not deflated."""
    def write(file):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(CHUNK)
        creation.set_deflate(4)
        assert ctypes.CDLL(LIBRARY).H5Pset_chunk_opts(ctypes.c_int64(creation.id), ctypes.c_uint(2)) >= 0
        h5py.h5d.create(file.id, b"image", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(IMAGE.shape), creation) \
            .write(h5py.h5s.ALL, h5py.h5s.ALL, IMAGE)
    make(path, write, "latest")


def edges_called_plain(path):
    """The layout says so of chunks that are deflated. HDF5 reads behind the end of their bytes."""
    make(path, lambda file: file.create_dataset("image", data=IMAGE, chunks=CHUNK, compression="gzip"), "latest")
    patch_checked(path, bytes([4, 2, 0, 3, 1, 16, 20, 8]), bytes([4, 2, 1, 3, 1, 16, 20, 8]))


def fixed_array_of_other_extents(path):
    """HDF5 looks up its chunks by numbers behind its end."""
    growing(path, (40, 60, 41, 2 ** 40), "latest")


def extents(*new):
    """A dataspace message: version 1, two axes, room for more; both extents."""
    def write(path):
        good(path)
        patch(path, place(path, struct.pack("<QQ", *IMAGE.shape)), struct.pack("<QQ", *new))
    return write


def damaged_bytes(**options):
    """The image with one stored byte of its last chunk changed."""
    def write(path):
        chunked(path, **options)
        with h5py.File(path) as file:
            dataset = file["image"].id
            last = dataset.get_chunk_info(dataset.get_num_chunks() - 1)
        old = pathlib.Path(path).read_bytes()[last.byte_offset + 9]
        patch(path, last.byte_offset + 9, bytes([old ^ 0x55]))
    return write


def short_chunk(**options):
    """A chunk that unpacks to half of what it should."""
    def write(path):
        chunked(path, compression="gzip", **options)
        with h5py.File(path, "r+") as file:
            half = bytes(CHUNK[0] * CHUNK[1] * 4)
            file["image"].id.write_direct_chunk((0, 0), zlib.compress(half))
    return write


def short_chunk_among_missing(path):
    """The same, in a dataset that HDF5 must read because a chunk was never written."""
    make(path, lambda file: file.create_dataset("image", IMAGE.shape, dtype="f8", chunks=CHUNK,
                                                compression="gzip"))
    with h5py.File(path, "r+") as file:
        file["image"].id.write_direct_chunk((0, 0), zlib.compress(bytes(CHUNK[0] * CHUNK[1] * 4)))


def filter_value(number, value, **options):
    """A filter's parameter: after its number, the length of its name, flags and their count comes
    its name, padded to 8 bytes."""
    def write(path):
        chunked(path, **options)
        content = pathlib.Path(path).read_bytes()
        for at in range(len(content) - 8):
            number_at, name, flags, count = struct.unpack_from("<HHHH", content, at)
            if number_at == number and name in (8, 16) and flags <= 1 and 0 < count <= 20:
                return patch(path, at + 8 + name + 4 * value[0], struct.pack("<I", value[1]))
        raise RuntimeError("no such filter")
    return write


def missing_filter(path):
    def write(file):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(CHUNK)
        creation.set_filter(32010, h5py.h5z.FLAG_OPTIONAL, (1, 2))
        h5py.h5d.create(file.id, b"image", h5py.h5t.IEEE_F64LE,
                        h5py.h5s.create_simple(IMAGE.shape), creation)
    make(path, write)


def large_chunk(path):
    make(path, lambda file: file.create_dataset("image", (20000, 20000), dtype="f8",
                                                chunks=(20000, 20000), compression="gzip"))


def big_with_nothing(path):
    make(path, lambda file: file.create_dataset("image", (2 ** 40, 2 ** 20), dtype="f4",
                                                chunks=(1024, 1024)))


def big_and_late(path):
    shaped((2 ** 30, 2 ** 20))(path)


def virtual(name, dataset="image", of=IMAGE.shape):
    def write(path):
        layout = h5py.VirtualLayout(of, "f8")
        layout[:] = h5py.VirtualSource(name, dataset, of)
        make(path, lambda file: file.create_virtual_dataset("image", layout), "latest")
    return write


def virtual_in_part(path):
    """Rows from a file, and rows from one that is not there."""
    layout = h5py.VirtualLayout(IMAGE.shape, "f8")
    half = IMAGE.shape[0] // 2
    layout[:half] = h5py.VirtualSource("in.h5", "image", IMAGE.shape)[:half]
    layout[half:] = h5py.VirtualSource("none.h5", "image", IMAGE.shape)[half:]
    make(path, lambda file: file.create_virtual_dataset("image", layout, fillvalue=7), "latest")


def virtual_of_short_chunk(path):
    """Every second column of a source whose chunk has fewer bytes than its elements: HDF5 reads those."""
    source = pathlib.Path(path).with_name("short.h5")
    chunk_too_small_for_deflate(source)
    layout = h5py.VirtualLayout((512, 256), "f8")
    layout[:] = h5py.VirtualSource(source.name, "image", (512, 512))[:, ::2]
    make(path, lambda file: file.create_virtual_dataset("image", layout), "latest")


def virtual_circle(path):
    def write(file):
        for one, other in (("image", "other"), ("other", "image")):
            layout = h5py.VirtualLayout(IMAGE.shape, "f8")
            layout[:] = h5py.VirtualSource(".", other, IMAGE.shape)
            file.create_virtual_dataset(one, layout)
    make(path, write, "latest")


def virtual_of_nothing(path):
    layout = h5py.VirtualLayout((2 ** 30, 2 ** 20), "f8")
    layout[:40, :60] = h5py.VirtualSource("in.h5", "image", IMAGE.shape)
    make(path, lambda file: file.create_virtual_dataset("image", layout), "latest")


def external(name):
    return lambda path: make(path, lambda file: file.create_dataset(
        "image", IMAGE.shape, "f8", external=[(name, 0, IMAGE.nbytes)]))


def link(to):
    def write(path):
        def links(file):
            file["image"] = to
            file["group/there"] = IMAGE
        make(path, links)
    return write


def soft_circle(path):
    def write(file):
        file["image"] = h5py.SoftLink("/other")
        file["other"] = h5py.SoftLink("/image")
    make(path, write)


def outside_circle(path):
    name = os.path.basename(path)
    make(path, lambda file: file.__setitem__("image", h5py.ExternalLink(name, "/image")))


def not_a_dataset(path):
    def write(file):
        file["data"] = IMAGE
        file["data"].attrs["image"] = 1
        file["group/below"] = IMAGE
        file["type"] = np.dtype("f8")
        file["bad\x1b[31m\nrunner: error: name"] = IMAGE
    make(path, write)


def left_open(path):
    """A writer that died: the newest format keeps a mark."""
    subprocess.run([sys.executable, "-c", f"""
import h5py, numpy, os
file = h5py.File({path!r}, "w", libver="latest")
file["image"] = numpy.zeros((40, 60))
file.flush()
os._exit(0)"""], check=True)


def truncated(share):
    def write(path):
        good(path)
        content = pathlib.Path(path).read_bytes()
        pathlib.Path(path).write_bytes(content[:int(len(content) * share)])
    return write


def content(data):
    return lambda path: pathlib.Path(path).write_bytes(data)


def superblock_version(path):
    good(path)
    patch(path, 8, b"\x2a")


def huge_heap(path):
    """A virtual dataset whose list in the global heap counts far more sources than there are."""
    virtual("in.h5")(path)
    heap = place(path, b"GCOL") + 16  # an object: index, uses, padding, size; then a version, count
    patch(path, heap + 16 + 1, struct.pack("<Q", 2 ** 40))


def heap_past_its_end(path):
    """An object of the global heap that is longer than it was: HDF5 1.10.8 reads it for ever."""
    virtual(".", "s")(path)
    patch(path, place(path, b"GCOL") + 24, struct.pack("<Q", 0x249))


def selection_of_many_axes(path):
    """A virtual dataset's selection of 0xd20002 axes: HDF5 1.10.8 writes past its memory."""
    virtual(".", "s")(path)
    patch(path, place(path, b"GCOL") + 79, b"\xd2")


def pipe(path):
    os.mkfifo(path)


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(path)


def name_circle(path):
    os.symlink(os.path.basename(path), path)


def user_block(path):
    with h5py.File(path, "w", userblock_size=1024) as file:
        file.create_dataset("image", data=IMAGE, chunks=CHUNK)


def sparse(path):
    def write(file):
        data = file.create_dataset("image", IMAGE.shape, "f8", chunks=CHUNK, compression="gzip",
                                   fletcher32=True, fillvalue=-2.5)
        data[20:30, 25:45] = IMAGE[20:30, 25:45]
    make(path, write)


def never_filled(path):
    """A fill value that HDF5 is told never to use: memory stays as it was, which is zeros."""
    def write(file):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(CHUNK)
        creation.set_fill_value(np.array(-2.5))
        creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        data = h5py.Dataset(h5py.h5d.create(file.id, b"image", h5py.h5t.IEEE_F64LE,
                                            h5py.h5s.create_simple(IMAGE.shape), creation))
        data[:16, :20] = IMAGE[:16, :20]
    make(path, write)


def other_element_size(path):
    """The type's integers have 4 bytes, of which 2 count; the chunks were made of 2 bytes each."""
    make(path, lambda file: file.create_dataset("image", data=(IMAGE % 2000).astype("<i2"), chunks=CHUNK,
                                                compression="gzip"))
    patch(path, place(path, bytes([0x10, 8, 0, 0]) + struct.pack("<IHH", 2, 0, 16)) + 4, struct.pack("<I", 4))


def virtual_of_virtual(path):
    def write(file):
        for name, source in (("middle", "in.h5"), ("image", ".")):
            layout = h5py.VirtualLayout(IMAGE.shape, "f8")
            layout[:20] = h5py.VirtualSource(source, "image" if source != "." else "middle",
                                             IMAGE.shape)[20:]
            file.create_virtual_dataset(name, layout, fillvalue=7)
    make(path, write, "latest")
