# SPDX-License-Identifier: BSD-3-Clause
"""Files that we write as h5py and h5dump read them, and files that h5py writes as we read them.

usage: rows_oracle.py ROWS_TOOL
"""
import ctypes
import itertools
import os
import subprocess
import sys
import tempfile
import unittest
import zlib

import h5py
import numpy as np

TOOL = sys.argv.pop(1)
TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


def elements(shape, dtype):
    """Values over the type's whole range, smooth enough for a compressor to have some work."""
    rng = np.random.default_rng(zlib.crc32(f"{shape} {dtype}".encode()))
    count = int(np.prod(shape))
    if dtype.startswith("float"):
        values = rng.standard_normal(count).astype(dtype)
        values[:: max(1, count // 3)] = np.nan
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    values[count // 2 :] = values[: count - count // 2]
    return values.reshape(shape)


def csv(numbers):
    return ",".join(map(str, numbers)) if numbers else "-"


def tool(*words, data=None):
    return subprocess.run([TOOL, *map(str, words)], input=data, capture_output=True, check=False)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "a.h5")

    def write(self, array, chunk=(), compression="none", level=1, shuffle=0, ranks=2):
        result = tool("write", self.path, "/in/some/group", array.dtype.name, csv(array.shape),
                      csv(chunk), compression, level, shuffle, ranks, data=array.tobytes())
        self.assertEqual(result.returncode, 0, result.stderr)

    def read(self, name="x", step=3, threads=2):
        result = tool("read", self.path, name, threads, step)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def failure(self, name="x"):
        result = tool("read", self.path, name, 1, 3)
        self.assertEqual(result.returncode, 3, result.stderr)
        return result.stderr.decode()


class Ours(Folder):
    """What we write."""

    def check(self, array):
        with h5py.File(self.path, "r") as file:
            dataset = file["/in/some/group"]
            self.assertEqual(dataset.dtype, array.dtype)
            self.assertEqual(dataset[...].tobytes(), array.tobytes())
            self.assertEqual(file.attrs["text"], "grüße")
            self.assertEqual(file.attrs["count"], -7)
            self.assertEqual(file.attrs["ratio"], 0.125)
            return dataset.chunks, dataset.compression, dataset.shuffle

    def test_contiguous(self):
        for dtype, shape in itertools.product(TYPES, [(1,), (5,), (7, 11), (3, 5, 7), (2, 3, 1, 5)]):
            with self.subTest(dtype=dtype, shape=shape):
                array = elements(shape, dtype)
                self.write(array, ranks=3)
                self.assertEqual(self.check(array), (None, None, False))

    def test_chunked(self):
        for dtype, (shape, chunk) in itertools.product(
                TYPES, [((13,), (4,)), ((7, 11), (2, 11)), ((7, 11), (3, 4)), ((3, 5, 7), (1, 2, 3)),
                        ((5, 5, 7), (2, 3, 4)), ((131, 37), (2, 1))]):
            with self.subTest(dtype=dtype, shape=shape, chunk=chunk):
                array = elements(shape, dtype)
                self.write(array, chunk, ranks=5)
                self.assertEqual(self.check(array), (chunk, None, False))

    def test_edge_chunks_are_padded_with_zeros(self):
        array = elements((7, 11), "uint16")
        self.write(array, (3, 4))
        padded = np.zeros((9, 12), "uint16")
        padded[:7, :11] = array
        with h5py.File(self.path, "r") as file:
            for row, column in itertools.product((0, 3, 6), (0, 4, 8)):
                _, data = file["/in/some/group"].id.read_direct_chunk((row, column))
                self.assertEqual(data, padded[row : row + 3, column : column + 4].tobytes())

    def test_deflate(self):
        for dtype, level, shuffle in itertools.product(TYPES, [0, 1, 3, 9], [0, 1]):
            with self.subTest(dtype=dtype, level=level, shuffle=shuffle):
                array = elements((37, 41), dtype)
                self.write(array, (8, 16), "deflate", level, shuffle, ranks=3)
                self.assertEqual(self.check(array), ((8, 16), "gzip", bool(shuffle)))

    def test_deflate_of_several_frames(self):
        for shape, chunk in [((5, 7, 11), (2, 3, 4)), ((2, 5, 4, 6), (2, 3, 4, 6))]:
            array = elements(shape, "int16")
            self.write(array, chunk, "deflate", 1, 1, ranks=3)
            self.assertEqual(self.check(array), (chunk, "gzip", True))

    def test_deflate_of_large_chunks(self):
        for level in range(10):
            for array in (np.random.default_rng(1).random((700, 300)), np.zeros((700, 300))):
                with self.subTest(level=level):
                    self.write(array, (300, 300), "deflate", level)
                    self.check(array)

    def test_zstd(self):
        """h5py here has no zstd: the frames are unpacked by libzstd itself."""
        library = ctypes.CDLL("libzstd.so.1")
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                            ctypes.c_size_t]
        array = elements((6, 8), "uint32")
        for shuffle in (0, 1):
            self.write(array, (3, 4), "zstd", 3, shuffle)
            with h5py.File(self.path, "r") as file:
                dataset = file["/in/some/group"]
                creation = dataset.id.get_create_plist()
                self.assertEqual(creation.get_filter(shuffle)[0], 32015)
                for row, column in itertools.product((0, 3), (0, 4)):
                    _, frame = dataset.id.read_direct_chunk((row, column))
                    out = ctypes.create_string_buffer(48)
                    self.assertEqual(library.ZSTD_decompress(out, 48, frame, len(frame)), 48)
                    got = np.frombuffer(out.raw, "uint8")
                    if shuffle:
                        got = got.reshape(4, 12).T.copy()
                    expected = array[row : row + 3, column : column + 4].copy().view("uint8")
                    self.assertEqual(got.tobytes(), expected.tobytes())

    def test_h5dump_reads_it(self):
        array = np.arange(12, dtype="int32").reshape(3, 4)
        self.write(array, (2, 3), "deflate", 1, 1)
        out = os.path.join(self.folder.name, "raw")
        subprocess.run(["h5dump", "-d", "/in/some/group", "-b", "LE", "-o", out, self.path],
                       check=True, capture_output=True)
        self.assertEqual(np.fromfile(out, "<i4").tolist(), list(range(12)))

    def test_bytes_do_not_depend_on_the_number_of_ranks(self):
        array = elements((37, 41), "float32")
        for layout in [((), "none"), ((8, 16), "none"), ((8, 16), "deflate"), ((8, 16), "zstd")]:
            files = []
            for ranks in (1, 2, 40):
                self.write(array, *layout, ranks=ranks)
                with open(self.path, "rb") as file:
                    files.append(file.read())
            self.assertEqual(files[0], files[1])
            self.assertEqual(files[0], files[2])
            self.assertEqual(os.listdir(self.folder.name), ["a.h5"])

    def test_oldest_format(self):
        """Superblock version 0 for what old readers can read, in all layouts with few chunks."""
        for layout in [((), "none"), ((8, 16), "none"), ((8, 16), "deflate")]:
            self.write(elements((37, 41), "float32"), *layout)
            with open(self.path, "rb") as file:
                self.assertEqual(file.read(9)[8], 0)


class Theirs(Folder):
    """What h5py writes."""

    def check(self, array, **how):
        with h5py.File(self.path, "w") as file:
            file.create_dataset("x", data=array, **how)
        native = array.astype(array.dtype.newbyteorder("="))
        for step in (1, 3, 1000):
            self.assertEqual(self.read(step=step), native.tobytes())

    def test_types_and_byte_orders(self):
        for dtype, order in itertools.product(TYPES, "<>"):
            with self.subTest(dtype=dtype, order=order):
                array = elements((5, 7), dtype)
                self.check(array.astype(array.dtype.newbyteorder(order)))
                self.check(array.astype(array.dtype.newbyteorder(order)), chunks=(2, 3),
                           compression="gzip")

    def test_chunked_and_compressed(self):
        for shape, chunk in [((13,), (4,)), ((7, 11), (3, 4)), ((5, 4, 6), (2, 3, 4)),
                             ((3, 4, 5, 6), (2, 2, 2, 2))]:
            for how in ({}, {"compression": "gzip"}, {"scaleoffset": 0},
                        {"compression": "gzip", "shuffle": True, "fletcher32": True}):
                with self.subTest(shape=shape, how=how):
                    self.check(elements(shape, "int16"), chunks=chunk, **how)

    def test_sparse_chunks_are_the_fill_value(self):
        for dtype in (">i4", "<f8"):
            with h5py.File(self.path, "w") as file:
                data = file.create_dataset("x", (50, 30), dtype, chunks=(7, 4), compression="gzip",
                                           fillvalue=-3)
                data[10:20, 5:9] = 8
                expected = data[...].astype(np.dtype(dtype).newbyteorder("="))
            for step in (1, 4, 50):
                self.assertEqual(self.read(step=step), expected.tobytes())

    def test_chunks_larger_than_the_array(self):
        rows = elements((5, 4), "int32")
        with h5py.File(self.path, "w") as file:
            data = file.create_dataset("x", (9, 30), "int32", chunks=(8, 16), maxshape=(None, None),
                                       compression="gzip")
            data[...] = 7
            data.resize((5, 4))
            data[...] = rows
        self.assertEqual(self.read(), rows.tobytes())

    def test_chunks_that_skipped_a_filter(self):
        with h5py.File(self.path, "w") as file:
            data = file.create_dataset("x", (4, 6), "int32", chunks=(2, 6), compression="gzip",
                                       shuffle=True)
            rows = np.arange(24, dtype="int32").reshape(4, 6)
            data[2:] = rows[2:]
            data.id.write_direct_chunk((0, 0), rows[:2].tobytes(), 3)
        self.assertEqual(self.read(), rows.tobytes())

    def test_integers_of_fewer_bits(self):
        with h5py.File(self.path, "w") as file:
            kind = h5py.h5t.STD_U16LE.copy()
            kind.set_precision(12)
            creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            creation.set_chunk((2, 3))
            data = h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple((3, 4)), creation)
            values = np.arange(12, dtype="uint16").reshape(3, 4) * 300
            data.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
        self.assertEqual(self.read(), values.tobytes())

    def test_user_block_and_late_allocation(self):
        array = elements((5, 7), "int32")
        with h5py.File(self.path, "w", userblock_size=1024) as file:
            file["x"] = array
            file.create_dataset("never_written", (5, 7), "int32", fillvalue=9)
        self.assertEqual(self.read(), array.tobytes())
        self.assertEqual(self.read("never_written"), np.full((5, 7), 9, "int32").tobytes())

    def test_compact(self):
        with h5py.File(self.path, "w") as file:
            creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            creation.set_layout(h5py.h5d.COMPACT)
            dataset = h5py.h5d.create(file.id, b"x", h5py.h5t.NATIVE_INT32,
                                      h5py.h5s.create_simple((2, 3)), creation)
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(6, dtype="int32"))
        self.assertEqual(self.read(), np.arange(6, dtype="int32").tobytes())

    def test_newest_format(self):
        with h5py.File(self.path, "w", libver="latest") as file:
            file["x"] = np.arange(6.0).reshape(2, 3)
        self.assertEqual(self.read(), np.arange(6.0).tobytes())

    def virtual(self):
        sources = [os.path.join(self.folder.name, f"part{i}.h5") for i in range(2)]
        layout = h5py.VirtualLayout((4, 3), "int32")
        for i, source in enumerate(sources):
            with h5py.File(source, "w") as file:
                file["x"] = np.arange(6, dtype="int32").reshape(2, 3) + 6 * i
            layout[2 * i : 2 * i + 2] = h5py.VirtualSource(os.path.basename(source), "x", (2, 3))
        with h5py.File(self.path, "w") as file:
            file.create_virtual_dataset("x", layout)
        return sources

    def test_virtual(self):
        sources = self.virtual()
        self.assertEqual(self.read(), np.arange(12, dtype="int32").tobytes())
        os.remove(sources[1])
        self.assertEqual(self.read(), np.concatenate([np.arange(6), np.zeros(6)]).astype("int32").tobytes())
        os.remove(sources[0])
        self.assertIn("missing: part0.h5, part1.h5", self.failure())

    def test_external(self):
        raw = os.path.join(self.folder.name, "raw")
        np.arange(12, dtype="int32").tofile(raw)
        with h5py.File(self.path, "w") as file:
            file.create_dataset("x", (4, 3), "int32", external=[(raw, 0, 48)])
        self.assertEqual(self.read(), np.arange(12, dtype="int32").tobytes())
        os.truncate(raw, 40)
        self.assertIn("raw (has 40 of 48 bytes)", self.failure())
        os.remove(raw)
        self.assertIn("files that hold its elements are missing: " + raw, self.failure())


class Refused(Folder):
    """What cannot be read, and that the message says so."""

    def make(self, **datasets):
        with h5py.File(self.path, "w") as file:
            for name, data in datasets.items():
                file[name] = data

    def test_types(self):
        kinds = {
            "string of any length": np.array(["a", "b"], dtype=h5py.string_dtype()),
            "string of 3 bytes": np.array([b"abc"], dtype="S3"),
            "compound of 2 members {a: float32, b: int16}": np.zeros(2, dtype=[("a", "f4"),
                                                                               ("b", "i2")]),
            "opaque of 3 bytes": np.array([b"abc"], dtype="V3"),
        }
        for text, data in kinds.items():
            with self.subTest(text):
                self.make(x=data)
                message = self.failure()
                self.assertIn("not supported: " + text, message)
                self.assertIn("Supported are int8, uint8, int16", message)
                self.assertIn(self.path + ":/x", message)

    def test_shapes(self):
        self.make(x=np.float32(3), empty=np.zeros((3, 0, 2)))
        self.assertIn("it has no axes", self.failure())
        self.assertIn("[3, 0, 2] has an axis of extent 0", self.failure("empty"))

    def test_names(self):
        self.make(**{"a/b": np.zeros(3), "c": np.zeros(3)})
        with h5py.File(self.path, "a") as file:
            file["lost"] = h5py.SoftLink("/nowhere")
            file["loop"] = h5py.SoftLink("/loop")
            file["type"] = np.dtype("int32")
        for name in ("x", "a/x", "x/y", "c/x"):
            message = self.failure(name)
            self.assertRegex(message, "none of that name\\..* The file has: /a/b, /c", name)
            self.assertIn(f"{self.path}:/{name}", message)
        self.assertIn("name. The file has", self.failure("x"))
        for name, near in (("A/b", "/a/b"), ("C", "/c"), ("group/c", "/c"), ("b", "/a/b")):
            self.assertIn(f"Did you mean {near}? The file has", self.failure(name))
        self.assertIn("it is a group. The file has: /a/b, /c", self.failure("a"))
        self.assertIn("it is a group", self.failure("/"))
        self.assertIn("a link to what is not there", self.failure("lost"))
        self.assertIn("a link to what is not there", self.failure("loop"))
        self.assertIn("it is a stored type", self.failure("type"))

    def test_no_datasets(self):
        self.make()
        self.assertIn("The file has no datasets", self.failure())

    def test_not_hdf5(self):
        kinds = {b"": "it is empty", b"\x89PNG\r\n\x1a\n": "a PNG picture", b"hello\n": "text",
                 b"\x1f\x8b\x08\x00": "gzip-compressed", b"\x93NUMPY\x01": "numpy .npy",
                 b"\x00\x01\x02\x03": "does not begin as an HDF5 file"}
        for content, text in kinds.items():
            with open(self.path, "wb") as file:
                file.write(content)
            message = self.failure()
            self.assertIn("not an HDF5 file", message)
            self.assertIn(text, message)

    def test_truncated(self):
        self.make(x=np.zeros(1000))
        size = os.path.getsize(self.path)
        os.truncate(self.path, size - 1000)
        self.assertIn(f"truncated: it has {size - 1000} of {size} bytes", self.failure())

    def test_missing_filter(self):
        with h5py.File(self.path, "w") as file:
            creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            creation.set_chunk((2, 2))
            creation.set_filter(32013, h5py.h5z.FLAG_OPTIONAL, (1, 2))
            h5py.h5d.create(file.id, b"x", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((4, 4)),
                            creation)
        self.assertIn("need the HDF5 filter 32013 (zfp), which is not installed", self.failure())

    def test_lzf(self):
        values = np.arange(2000).reshape(40, 50) % 11
        with h5py.File(self.path, "w") as file:
            file.create_dataset("x", data=values, chunks=(7, 20), compression="lzf", shuffle=True)
        self.assertEqual(self.read("x"), values.tobytes())

    def test_damaged_chunk(self):
        with h5py.File(self.path, "w") as file:
            file.create_dataset("x", data=np.arange(64.0).reshape(8, 8), chunks=(4, 8),
                                compression="gzip", fletcher32=True)
            info = file["x"].id.get_chunk_info(1)
        self.overwrite(info)
        self.assertIn("chunk from [4, 0]): its bytes do not fit their checksum", self.failure())

    def test_damaged_chunk_that_hdf5_unpacks(self):
        with h5py.File(self.path, "w") as file:
            creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            creation.set_chunk((4, 8))
            creation.set_scaleoffset(h5py.h5z.SO_INT, 0)  # which HDF5 alone undoes
            creation.set_deflate(1)
            data = h5py.h5d.create(file.id, b"x", h5py.h5t.STD_I64LE,
                                   h5py.h5s.create_simple((8, 8)), creation)
            data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(64).reshape(8, 8))
            file.flush()
            info = data.get_chunk_info(1)
        self.overwrite(info)
        self.assertIn("rows 3 to 5", self.failure())

    def overwrite(self, info):
        with open(self.path, "r+b") as file:
            file.seek(info.byte_offset + 5)
            file.write(b"\xff\xff\xff")

    def test_damaged_chunk_that_we_unpack(self):
        for shuffle in (False, True):
            with h5py.File(self.path, "w") as file:
                file.create_dataset("x", data=np.arange(64.0).reshape(8, 8), chunks=(4, 8),
                                    compression="gzip", shuffle=shuffle)
                info = file["x"].id.get_chunk_info(1)
            self.overwrite(info)
            self.assertIn(":/x, chunk from [4, 0]): its bytes are damaged", self.failure())

    def test_locked(self):
        self.make(x=np.zeros(3))
        with h5py.File(self.path, "a"):
            self.assertIn("another process has it locked", self.failure())


if __name__ == "__main__":
    unittest.main()
