"""What an independent reader (h5py, numpy, tifffile, gzip) finds in an output, damaged or not."""
import ctypes
import faulthandler
import gzip
import hashlib
import os
import resource
import signal

import h5py
import numpy as np
import tifffile

from events import GUARD

CPU_SECONDS = 20
ZSTD = 32015  # HDF5's number of the filter


def unpack_zstd(data):
    """The elements of a dataset that is packed by zstd alone, which h5py cannot read."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                        ctypes.c_size_t]
    values = np.zeros(data.shape, data.dtype)
    for i in range(data.id.get_num_chunks()):
        start = data.id.get_chunk_info(i).chunk_offset
        packed = data.id.read_direct_chunk(start)[1]
        chunk = np.empty(data.chunks, data.dtype)
        if library.ZSTD_decompress(chunk.ctypes.data, chunk.nbytes, packed, len(packed)) \
                != chunk.nbytes:
            raise ValueError(f"chunk {start} is damaged")
        ends = [min(a + n, size) for a, n, size in zip(start, data.chunks, data.shape)]
        values[tuple(map(slice, start, ends))] = chunk[
            tuple(slice(end - a) for a, end in zip(start, ends))]
    return values


def elements(data):
    is_zstd = data.id.get_create_plist().get_filter_by_id(ZSTD) is not None
    return unpack_zstd(data) if is_zstd else data[()]


def add_attributes(digest, item):
    for name in sorted(item.attrs):
        value = np.asarray(item.attrs[name])
        digest.update(f"@{name} {value.dtype.str} {value.shape} {value.tolist()!r};".encode())


def content(path, but=()):
    """A checksum of all that an independent reader finds in a file: but for these datasets' elements
    and those of the list of the rows' checksums, if there are any."""
    digest = hashlib.sha256()
    if path.suffix != ".h5":
        digest.update(path.read_bytes())
        if path.suffix in (".npy", ".tif") and ".ome" not in path.suffixes:
            values = np.load(path) if path.suffix == ".npy" else tifffile.imread(path)
            digest.update(f"{values.shape} {values.dtype.str};".encode() + values.tobytes())
        if path.suffix == ".gz":
            digest.update(gzip.decompress(path.read_bytes()))
        return digest.hexdigest()
    with h5py.File(path) as file:
        names = []
        file.visit(names.append)
        add_attributes(digest, file)
        for name in sorted(names):
            item = file[name]
            digest.update(f"/{name} {type(item).__name__};".encode())
            if isinstance(item, h5py.Dataset):
                digest.update(f"{item.shape} {item.dtype.str};".encode())
                if not but or name not in [*but, "runner/row_hashes"]:
                    digest.update(elements(item).tobytes())
            add_attributes(digest, item)
    return digest.hexdigest()


def data_ranges(path):
    """The bytes of the file that are elements of rows: [(first, last)]."""
    if path.suffix != ".h5":
        return [(0, path.stat().st_size)]
    ranges = []
    with h5py.File(path) as file:
        names = []
        file.visit(names.append)
        for name in names:
            if not isinstance(file[name], h5py.Dataset) or name.startswith("runner/"):
                continue
            data = file[name].id
            if data.get_create_plist().get_layout() == h5py.h5d.CONTIGUOUS:
                ranges.append((data.get_offset(), data.get_offset() + data.get_storage_size()))
            elif data.get_create_plist().get_layout() == h5py.h5d.CHUNKED:
                for i in range(data.get_num_chunks()):
                    place = data.get_chunk_info(i)
                    ranges.append((place.byte_offset, place.byte_offset + place.size))
    return ranges


def content_in_child(path, but=()):
    """content() by a process that a damaged file may crash; nothing where it fails."""
    to_read, to_write = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.disable()  # a crash is expected, and its trace would look like a test's
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(GUARD)
        try:
            os.write(to_write, content(path, but).encode())
        except Exception:  # pylint: disable=broad-except
            pass
        os._exit(0)
    os.close(to_write)
    with os.fdopen(to_read, "rb") as answer:
        text = answer.read().decode()
    os.waitpid(child, 0)
    return text or None
