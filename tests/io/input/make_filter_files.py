#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes HDF5 files whose chunks passed through the filters of hdf5plugin and HDF5, with the elements
as h5py reads them back beside each: /NAME/packed and, contiguous, /NAME/plain.

  make_filter_files.py FOLDER            the files in tests/data/filters
  make_filter_files.py FOLDER SEED N     N random datasets in files of their own, for a test by hand

Needs h5py, numpy and hdf5plugin, by PyPI."""
import itertools
import os
import sys

import h5py
import hdf5plugin
import numpy as np

OLD = ("earliest", "v110")  # what HDF5 1.10 reads
SHUFFLE, FLETCHER, SZIP, DEFLATE, ZSTD = 2, 3, 4, 1, 32015


def plugin(filter_class, **options):
    made = filter_class(**options)
    return made.filter_id, tuple(made.filter_options)


def all_filters():
    """By name: one filter as (id, options)."""
    filters = {
        "deflate": (DEFLATE, (4,)),
        "shuffle": (SHUFFLE, ()),
        "fletcher32": (FLETCHER, ()),
        "lzf": (32000, ()),
        "bzip2": plugin(hdf5plugin.BZip2, blocksize=1),
        "zstd": plugin(hdf5plugin.Zstd, clevel=3),
        "lz4": plugin(hdf5plugin.LZ4),
        "lz4_blocks": plugin(hdf5plugin.LZ4, nbytes=512),
        "bitshuffle": plugin(hdf5plugin.Bitshuffle, cname="none"),
        "bitshuffle_blocks": plugin(hdf5plugin.Bitshuffle, nelems=64, cname="none"),
        "bitshuffle_lz4": plugin(hdf5plugin.Bitshuffle, cname="lz4"),
        "bitshuffle_lz4_blocks": plugin(hdf5plugin.Bitshuffle, nelems=64, cname="lz4"),
        "bitshuffle_zstd": plugin(hdf5plugin.Bitshuffle, cname="zstd", clevel=3),
        "bitshuffle_zstd_blocks": plugin(hdf5plugin.Bitshuffle, nelems=32, cname="zstd"),
        "szip_nn": (SZIP, (32, 16)),
        "szip_ec": (SZIP, (4, 8)),
    }
    for codec, shuffle in itertools.product(("blosclz", "lz4", "lz4hc", "zlib", "zstd"), (0, 1, 2)):
        filters[f"blosc_{codec}_{shuffle}"] = plugin(
            hdf5plugin.Blosc, cname=codec, clevel=5, shuffle=shuffle)
    return filters


def creation(chain, chunk, fill, dtype):
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk(chunk)
    if fill is not None:
        made.set_fill_value(np.array(fill, dtype))
    for number, options in chain:
        if number == SZIP:
            made.set_szip(*options)
        else:
            made.set_filter(number, h5py.h5z.FLAG_OPTIONAL, options)
    made.set_obj_track_times(False)
    return made


def stored_chunk(chain, mask, elements):
    """The bytes of a chunk that passed through the filters without a bit in the mask."""
    applied = [step for bit, step in enumerate(chain) if not mask >> bit & 1]
    with h5py.File("chunk", "w", driver="core", backing_store=False) as file:
        space = h5py.h5s.create_simple(elements.shape)
        kind = h5py.h5t.py_create(elements.dtype)
        dataset = h5py.h5d.create(file.id, b"x", kind, space,
                                  creation(applied, elements.shape, None, elements.dtype))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, elements, kind)
        own, stored = dataset.read_direct_chunk((0,) * elements.ndim)
    # A filter that was left out because it saved nothing.
    left = [bit for bit in range(len(chain)) if not mask >> bit & 1]
    for bit, position in enumerate(left):
        if own >> bit & 1:
            mask |= 1 << position
    return mask, stored


def image(random, shape, dtype):
    """Numbers like a detector's: mostly small, some large."""
    values = random.poisson(3, shape).astype("f8")
    values[random.random(shape) < 0.01] *= 20
    if np.dtype(dtype).kind == "f":
        values = values / 8
    return values.astype(dtype)


def put(file, name, chain, shape, chunk, dtype, random, masks=(), absent=(), noise=False):
    """`masks` and `absent`: by number of a chunk."""
    dtype = np.dtype(dtype)
    fill = 7 if absent else None
    group = file.create_group(name)
    kind = h5py.h5t.py_create(dtype)
    dataset = h5py.h5d.create(group.id, b"packed", kind, h5py.h5s.create_simple(shape),
                              creation(chain, chunk, fill, dtype))
    grid = [range(0, extent, step) for extent, step in zip(shape, chunk)]
    for number, start in enumerate(itertools.product(*grid)):
        if number in absent:
            continue
        elements = image(random, chunk, dtype)
        if noise:
            elements = np.frombuffer(random.bytes(elements.nbytes), "u1").view(dtype).reshape(chunk)
        mask, stored = stored_chunk(chain, dict(masks).get(number, 0), elements)
        dataset.write_direct_chunk(start, stored, mask)
    plain = h5py.Dataset(dataset)[...]
    group.create_dataset("plain", data=plain, dtype=dtype.newbyteorder("="), track_times=False)


def write_all(folder):
    filters = all_filters()
    random = np.random.default_rng(1)
    with h5py.File(os.path.join(folder, "each.h5"), "w", libver=OLD) as file:
        for name, step in filters.items():
            put(file, name, [step], (20, 33), (9, 16), "<u2", random)
    with h5py.File(os.path.join(folder, "types.h5"), "w", libver=OLD) as file:
        for step in ("shuffle", "bitshuffle", "bitshuffle_lz4", "bitshuffle_zstd_blocks", "szip_nn",
                     "lzf", "blosc_lz4_2"):
            for dtype in ("<u1", "<i2", "<u4", ">u4", "<u8", ">i8", "<f4", ">f8"):
                if step == "szip_nn" and dtype == "<u8":
                    continue
                put(file, step + " " + ("big " if dtype[0] == ">" else "") + dtype[1:],
                    [filters[step]], (5, 37), (5, 17), dtype, random)
    chains = (("shuffle", "lzf"), ("shuffle", "fletcher32", "deflate"), ("fletcher32", "lz4"),
              ("bitshuffle", "deflate", "fletcher32"), ("bitshuffle", "lz4_blocks"),
              ("shuffle", "deflate", "zstd"), ("deflate", "lzf"), ("lzf", "bzip2", "fletcher32"),
              ("shuffle", "szip_nn"), ("lz4", "shuffle"), ("bitshuffle_lz4", "fletcher32"),
              ("fletcher32", "blosc_lz4_1", "deflate"))
    with h5py.File(os.path.join(folder, "chains.h5"), "w", libver=OLD) as file:
        for chain in chains:
            steps = [filters[step] for step in chain]
            masks = {1: 1, 2: (1 << len(steps)) - 1, 3: 1 << (len(steps) - 1)}
            put(file, " ".join(chain), steps, (21, 30), (8, 11), "<u4", random, masks, (5, 7))
        # A line of a chunk has as many bytes as the checksum.
        put(file, "fletcher32 big", [filters["fletcher32"]], (5, 6), (2, 2), ">u2", random)
    with h5py.File(os.path.join(folder, "noise.h5"), "w", libver=OLD) as file:
        for step in ("lzf", "lz4", "bitshuffle_lz4", "bitshuffle_zstd", "blosc_lz4_1", "bzip2"):
            put(file, step, [filters[step]], (40,), (13,), "<u8", random, noise=True)
    # Chunks of whole rows: some, all of a frame, frames, and across the array's edge.
    with h5py.File(os.path.join(folder, "rows.h5"), "w", libver=OLD) as file:
        for number, chunk in enumerate(((1, 2, 9), (1, 6, 9), (2, 6, 9), (2, 3, 9), (1, 4, 9), (3, 6, 9))):
            for dtype in ("<u2", ">f4"):
                put(file, f"{number} {dtype[1:]}", [filters["bitshuffle_lz4"]], (5, 6, 9), chunk, dtype,
                    random, {1: 1}, (2,))


def in_child(work):
    """Whether the work ends well in a process of its own: some chains crash the filters of others."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:  # pylint: disable=broad-except
            print(error, file=sys.stderr)
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def write_random(folder, seed, count):
    filters = all_filters()
    names = list(filters)
    random = np.random.default_rng(seed)
    types = ("u1", "i1", "<u2", ">u2", "<i2", "<u4", ">u4", "<i4", "<u8", ">u8", "<i8", "<f4", ">f4",
             "<f8", ">f8", "<f2")
    made = 0
    while made < count:
        chain = list(random.choice(names, random.integers(1, 5)))
        if len({filters[step][0] for step in chain}) < len(chain):
            continue  # HDF5 gives the parameters of the second to the first
        axes = int(random.integers(1, 5))
        longest = (5000, 120, 30, 12)[axes - 1]
        shape = tuple(int(n) for n in random.integers(1, longest + 1, axes))
        chunk = tuple(int(random.integers(1, extent + 1)) for extent in shape)
        grid = [(extent - 1) // step + 1 for extent, step in zip(shape, chunk)]
        chunks = int(np.prod(grid))
        if chunks > 40:
            continue
        if any(step.startswith("szip") for step in chain[1:]):
            continue  # it counts in pixels of the type, and needs enough of them
        if chain[0].startswith("szip") and np.prod(chunk) < 64:
            continue
        dtype = str(random.choice(types))
        absent = {n for n in range(chunks) if random.random() < 0.1}
        masks = {n: int(random.integers(0, 1 << len(chain))) for n in range(chunks)
                 if random.random() < 0.2}
        noise = bool(random.random() < 0.2)
        name = f"{made} {' '.join(chain)} {dtype} {shape} {chunk}"
        path = os.path.join(folder, f"random-{seed}-{made}.h5")

        def make():
            with h5py.File(path, "w", libver=OLD) as file:
                put(file, name, [filters[step] for step in chain], shape, chunk, dtype,
                    np.random.default_rng([seed, made]), masks, absent, noise)

        if in_child(make):
            made += 1
        else:
            print("not made:", name, file=sys.stderr)  # what the filters themselves refuse
            os.unlink(path)
            random.random()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    if len(sys.argv) > 2:
        write_random(folder, int(sys.argv[2]), int(sys.argv[3]))
    else:
        write_all(folder)


if __name__ == "__main__":
    main()
