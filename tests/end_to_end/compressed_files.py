"""HDF5 files that generate and convert make in chunks, in every compression, by whole programs.

h5py reads what its HDF5 can unpack: none and deflate, and with hdf5plugin (PyPI; Debian has no
package) all. libzstd and liblz4 unpack the rest by the descriptions of the filters, chunk by chunk.
"""
import ctypes
import itertools
import os
import pathlib
import struct
import subprocess

import h5py
import numpy as np
import tifffile

from harness import bad, good, programs

try:
    import hdf5plugin  # noqa: F401 - it registers its filters
    BY_H5PY = {"none", "deflate", "zstd", "lz4", "bitshuffle-lz4", "bitshuffle-zstd"}
except ImportError:
    BY_H5PY = {"none", "deflate"}

COMPRESSIONS = ["none", "deflate", "zstd", "lz4", "bitshuffle-lz4", "bitshuffle-zstd"]
# Shapes, and chunks that do not divide them, are larger than they are, or span several frames.
CHUNKS = [((13,), (4,)), ((3,), (9,)), ((7, 11), (3, 4)), ((131, 37), (2, 1)), ((5, 64), (8, 64)),
          ((5, 7, 9), (2, 3, 4)), ((3, 40, 50), (1, 17, 50)), ((2, 3, 4, 5), (1, 2, 4, 5)),
          ((4, 3, 10, 12), (3, 2, 4, 5))]
TYPES = ["i1", "u2", "f4", "i8", "f8", "u4"]


def csv(numbers):
    return ",".join(map(str, numbers))


def smooth(shape, kind):
    """Numbers of all bits, in runs that a compressor can use; the first is the least of the type."""
    count = int(np.prod(shape))
    made = np.repeat(np.random.default_rng(count).integers(0, 256, (count + 2) // 3 * int(kind[1]),
                                                           np.uint8).view(kind), 3)[:count]
    if kind[0] == "f":
        made = np.where(np.isnan(made), np.array(np.nan, kind), made)
        made[0] = -np.inf
    return made.reshape(shape)


def unbitshuffle(block, size):
    """Of whole groups of eight elements: the bits of each byte of an element, one row a bit."""
    count = len(block) // size
    bits = np.unpackbits(np.frombuffer(block, np.uint8).reshape(size, 8, count // 8), axis=2,
                         bitorder="little")
    return np.packbits(bits.transpose(2, 0, 1), axis=2, bitorder="little").tobytes()


def unpack_block(block, size, codec):
    out = ctypes.create_string_buffer(size)
    if codec == "lz4":
        library = ctypes.CDLL("liblz4.so.1")
        got = library.LZ4_decompress_safe(block, out, len(block), size)
    else:
        library = ctypes.CDLL("libzstd.so.1")
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                            ctypes.c_size_t]
        got = library.ZSTD_decompress(out, size, block, len(block))
    assert got == size, f"{codec}: {got} of {size} bytes"
    return out.raw


def unpack_lz4(chunk):
    whole, block = struct.unpack(">QI", chunk[:12])
    at, out = 12, b""
    while len(out) < whole:
        size, = struct.unpack(">I", chunk[at:at + 4])
        plain = min(block, whole - len(out))
        part = chunk[at + 4:at + 4 + size]
        out += part if size == plain else unpack_block(part, plain, "lz4")
        at += 4 + size
    return out


def unpack_bitshuffle(chunk, codec, element):
    whole, block = struct.unpack(">QI", chunk[:12])
    at, out = 12, b""
    while whole - len(out) >= 8 * element:
        size, = struct.unpack(">I", chunk[at:at + 4])
        left = (whole - len(out)) // element // 8 * 8 * element
        out += unbitshuffle(unpack_block(chunk[at + 4:at + 4 + size], min(block, left), codec),
                            element)
        at += 4 + size
    return out + chunk[at:]


def unpacked(dataset, compression, shuffled):
    """The elements, chunk by chunk, without HDF5's filters."""
    made = np.empty(dataset.shape, dataset.dtype)
    element = dataset.dtype.itemsize
    chunk_bytes = int(np.prod(dataset.chunks)) * element
    for start in itertools.product(*(range(0, extent, chunk) for extent, chunk
                                     in zip(dataset.shape, dataset.chunks))):
        mask, chunk = dataset.id.read_direct_chunk(start)
        assert mask == 0, mask
        if compression == "zstd":
            data = unpack_block(chunk, chunk_bytes, "zstd")
        elif compression == "lz4":
            data = unpack_lz4(chunk)
        else:
            data = unpack_bitshuffle(chunk, compression[11:], element)
        if shuffled:
            data = np.frombuffer(data, np.uint8).reshape(element, -1).T.tobytes()
        values = np.frombuffer(data, dataset.dtype).reshape(dataset.chunks)
        place = tuple(slice(first, first + chunk) for first, chunk in zip(start, dataset.chunks))
        inside = made[place]
        made[place] = values[tuple(slice(0, extent) for extent in inside.shape)]
    return made


def read(file, name, compression="none", shuffled=False):
    with h5py.File(file) as opened:
        dataset = opened[name]
        return dataset[...] if compression in BY_H5PY else unpacked(dataset, compression, shuffled)


def filters_of(file, name="data"):
    with h5py.File(file) as opened:
        creation = opened[name].id.get_create_plist()
        return [(creation.get_filter(i)[0], creation.get_filter(i)[2])
                for i in range(creation.get_nfilters())]


def check(file, name, expected, chunk, compression, what, shuffled=False):
    with h5py.File(file) as opened:
        dataset = opened[name]
        assert dataset.chunks == tuple(map(min, chunk, expected.shape)), f"{what}: {dataset.chunks}"
        assert dataset.dtype == expected.dtype and dataset.shape == expected.shape, what
    assert read(file, name, compression, shuffled).tobytes() == expected.tobytes(), what
    # By our own reader too.
    good("convert", f"{file}:/{name}", "back.npy", "--overwrite")
    assert np.load("back.npy").tobytes() == expected.tobytes(), what


def options_of(compression, chunk, *more):
    return ["--chunk", csv(chunk), "--compression", compression, *more, "--overwrite"]


def test_generate_in_every_compression():
    for number, (compression, (shape, chunk)) in enumerate(itertools.product(COMPRESSIONS, CHUNKS)):
        dtype = np.dtype(TYPES[number % len(TYPES)])
        what = f"{compression} {shape} {chunk} {dtype}"
        made = ["--shape", csv(shape), "--dtype", dtype.name, "--seed", number]
        good("generate", "noise", "plain.h5", *made, "--overwrite")
        text = good("generate", "noise", "packed.h5", *made, *options_of(compression, chunk))
        assert text.startswith(f"packed.h5:/data: {dtype.name} ["), text
        check("packed.h5", "data", read("plain.h5", "data"), chunk, compression, what)
        good("compare", "plain.h5:/data", "packed.h5:/data")
        with h5py.File("packed.h5") as file:
            assert file.attrs["pattern"] == "noise" and file.attrs["seed"] == number, what
    assert sorted(os.listdir()) == ["back.npy", "packed.h5", "plain.h5"], os.listdir()


def test_convert_in_every_compression():
    for number, (compression, (shape, chunk)) in enumerate(itertools.product(COMPRESSIONS, CHUNKS)):
        array = smooth(shape, TYPES[number % len(TYPES)])
        shuffle = ["--shuffle"] if compression in ["deflate", "zstd", "lz4"] and number % 2 else []
        what = f"{compression} {shape} {chunk} {array.dtype} {shuffle}"
        np.save("in.npy", np.array(array, order="CF"[number // 2 % 2]))
        good("convert", "in.npy", "packed.h5", *options_of(compression, chunk, *shuffle))
        check("packed.h5", "data", array, chunk, compression, what, bool(shuffle))
        good("compare", "in.npy", "packed.h5:/data")


def test_parameters_of_the_filters():
    np.save("in.npy", np.zeros((20, 30), "u2"))
    for options, expected in [
            (["none"], []),
            (["deflate"], [(1, (1,))]),
            (["deflate", "--level", "9", "--shuffle"], [(2, (2,)), (1, (9,))]),
            (["zstd"], [(32015, (1,))]),
            (["zstd", "--level", "22"], [(32015, (22,))]),
            (["lz4", "--shuffle"], [(2, (2,)), (32004, None)]),
            (["bitshuffle-lz4"], [(32008, None)]),
            (["bitshuffle-zstd", "--level", "7"], [(32008, None)])]:
        good("convert", "in.npy", "packed.h5", "--chunk", "4,30", "--compression", *options,
             "--overwrite")
        found = filters_of("packed.h5")
        assert [each[0] for each in found] == [each[0] for each in expected], (options, found)
        for (_, values), (_, wanted) in zip(found, expected):
            assert wanted is None or values == wanted, (options, found)
    assert found[0][1][5] == 7, found  # the level


def test_a_jobs_output_is_stored_alike():
    np.save("in.npy", smooth((37, 41), "f4"))
    for compression in COMPRESSIONS:
        pathlib.Path("job.toml").write_text(
            'kind = "convolve"\n[input]\nfile = "in.npy"\n[output]\nfile = "job.h5"\n'
            f'overwrite = true\nchunk = [8, 16]\ncompression = "{compression}"\n'
            '[convolve]\nrow_taps = [1.0]\ncolumn_taps = [1.0]\n')
        good("job.toml", "--quiet")
        with h5py.File("job.h5") as file:
            name = next(iter(key for key in file if key != "runner"))
            made = file[name].id
            good("convert", f"job.h5:/{name}", "packed.h5", *options_of(compression, (8, 16)))
            assert filters_of("packed.h5", name) == filters_of("job.h5", name), compression
            with h5py.File("packed.h5") as packed:
                for start in itertools.product(range(0, 37, 8), range(0, 41, 16)):
                    assert (packed[name].id.read_direct_chunk(start)
                            == made.read_direct_chunk(start)), (compression, start)


def test_every_input_and_conversion():
    volume = smooth((6, 40, 50), "u2")
    tifffile.imwrite("in.tif", volume)
    chunk = (4, 17, 50)
    good("convert", "in.tif", "packed.h5", *options_of("bitshuffle-lz4", chunk))
    check("packed.h5", "data", volume, chunk, "bitshuffle-lz4", "from .tif")
    good("convert", "packed.h5", "again.h5", *options_of("zstd", (3, 9, 20)))
    check("again.h5", "data", volume, (3, 9, 20), "zstd", "from bitshuffle")
    good("convert", "packed.h5", "wide.h5", "--dtype", "float32", *options_of("lz4", chunk))
    check("wide.h5", "data", volume.astype("f4"), chunk, "lz4", "other type")
    good("convert", "packed.h5", "some.h5", "--frames", "1:6:2", *options_of("zstd", (2, 40, 7)))
    check("some.h5", "data", volume[1:6:2], (2, 40, 7), "zstd", "every second frame")
    good("convert", "packed.h5", "one.h5", "--frame", "3", *options_of("deflate", (40, 7)))
    check("one.h5", "data", volume[3], (40, 7), "deflate", "one frame")
    colour = smooth((20, 31, 3), "u1")
    tifffile.imwrite("colour.tif", colour, photometric="rgb")
    good("convert", "colour.tif", "colour.h5", *options_of("lz4", (6, 8, 3)))
    check("colour.h5", "data", colour, (6, 8, 3), "lz4", "colour")
    with h5py.File("complex.h5", "w") as file:
        file["x"] = (smooth((9, 11), "i8") + 1j * smooth((9, 11), "i8")).astype("c16")
        expected = file["x"][...]
    good("convert", "complex.h5", "packed.h5", *options_of("bitshuffle-zstd", (4, 4)))
    assert read("packed.h5", "x", "bitshuffle-zstd").tobytes() == expected.tobytes()
    good("generate", "sample-1", "sand.h5", *options_of("zstd", (1, 100, 400)))
    good("convert", "sand.h5", "sand.sand")
    good("compare", "sand.h5:/frames", "sand.sand:/frames")


def test_first_axis_fastest():
    """A .npy in Fortran's order is read in boxes, with steps of whole chunks."""
    for shape, chunk in [((30, 40, 50), (7, 16, 50)), ((5, 6, 300, 40), (2, 3, 64, 40)),
                         ((300, 70), (64, 9))]:
        array = smooth(shape, "u2")
        np.save("in.npy", np.asfortranarray(array))
        good("convert", "in.npy", "packed.h5", *options_of("zstd", chunk))
        check("packed.h5", "data", array, chunk, "zstd", f"{shape}")


def test_cells_of_the_first_axis_fastest():
    """A value that is no material is refused in whatever order the input has it."""
    cells = np.zeros((2, 8, 16), "u1")
    cells[1, 3, 5] = 77
    for order in "CF":
        np.save("in.npy", np.array(cells, order=order))
        bad(3, ["77"], "convert", "in.npy", "out.sand")


def test_refusals():
    np.save("in.npy", np.zeros((20, 30), "f4"))
    chunk = ["--chunk", "4,30"]
    for options, words in [
            (["--compression", "zstd"], ["--compression", "--chunk"]),
            (["--level", "3", *chunk], ["--level", "--compression"]),
            (["--shuffle", *chunk], ["--shuffle", "--compression"]),
            (["--compression", "gzip", *chunk], ["gzip", "Did you mean deflate"]),
            (["--compression", "zst", *chunk], ["zst", "Did you mean zstd"]),
            (["--compression", "deflate", "--level", "10", *chunk], ["--level", "9"]),
            (["--compression", "zstd", "--level", "0", *chunk], ["--level", "22"]),
            (["--compression", "lz4", "--level", "1", *chunk], ["--level", "no levels"]),
            (["--compression", "bitshuffle-lz4", "--shuffle", *chunk], ["--shuffle", "bits itself"]),
            (["--chunk", "4"], ["chunk [4]", "2 axes"]),
            (["--chunk", "4,30,1"], ["chunk [4, 30, 1]", "2 axes"]),
            (["--chunk", "0,30"], ["--chunk", "at least 1"]),
            (["--chunk", "x"], ["--chunk", "at least 1"]),
            (["--chunk", "4294967296,1"], ["--chunk", "4 GiB"])]:
        bad(2, words, "convert", "in.npy", "out.h5", *options)
        bad(2, words, "generate", "noise", "out.h5", "--shape", "20,30", "--dtype", "uint8", *options)
    for name in ["out.npy", "out.tif", "out.sand", "out.png"]:
        ending = name[3:]
        for options in [chunk, [*chunk, "--compression", "lz4"], ["--level", "3"], ["--shuffle"]]:
            # A .tif may be compressed, and then has a level.
            words = [options[0], ending, ".h5"]
            if ending == ".tif" and options[0] == "--level":
                words = ["--level", "--compression"]
            bad(2, words, "convert", "in.npy", name, *options)
            if ending != ".png":
                bad(2, words, "generate", "noise", name, "--shape", "20,30", "--dtype", "uint8", *options)


def test_nothing_is_left_by_a_failure():
    array = np.zeros((500, 300), "f4")
    array[480, 7] = np.nan
    np.save("in.npy", array)
    bad(3, ["NaN", "480"], "convert", "in.npy", "out.h5", "--dtype", "uint8", "--chunk", "10,300",
        "--compression", "zstd")


def peak_of(*arguments):
    """The most memory that the program had resident, in bytes."""
    process = subprocess.Popen([programs.runner, *map(str, arguments)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"{arguments}: {status}"
    return usage.ru_maxrss * 1024


def test_memory_is_bounded():
    """Of 768 MiB of elements a tenth and what the program itself takes are in memory, and the rows of two layers of
    chunks while these wait for others."""
    shape, chunk = "48,4096,4096", "5,100,4096"
    small = peak_of("generate", "gradient", "small.h5", "--shape", "1,100,100", "--dtype", "uint8")
    packed = ["--chunk", chunk, "--compression", "lz4"]
    for layers, *arguments in [(5, "generate", "gradient", "a.h5", "--shape", shape, "--dtype", "uint8", *packed),
                               (7, "convert", "a.h5", "b.h5", "--chunk", "7,300,1000", "--compression", "zstd")]:
        taken = peak_of(*arguments) - small
        assert taken < (300 << 20) + 2 * layers * 4096**2, f"{arguments}: {taken >> 20} MiB"
    good("compare", "a.h5:/data", "b.h5:/data")
    # The rows of these chunks are beyond all memory.
    bad(2, ["chunk [100000, 1]", "memory"], "generate", "noise", "c.h5", "--shape",
        "100000,1000000000", "--dtype", "uint8", "--chunk", "100000,1", "--compression", "zstd")
