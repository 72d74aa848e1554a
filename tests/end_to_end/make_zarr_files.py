#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes Zarr stores of version 3 into one zip file, and beside each the elements that zarr-python reads
of it. They are tests/data/zarr/version3.zip, because Debian 12 has no zarr-python that knows version 3.

    make_zarr_files.py FILE

Needs zarr 3 and tensorstore, by PyPI."""
import pathlib
import shutil
import sys
import tempfile
import zipfile

import numpy as np
import tensorstore
import zarr
from zarr.codecs import (BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec,
                         ZstdCodec)

SHAPE = (7, 13, 10)
CHUNK = (3, 5, 4)
TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]


def elements(dtype, shape=SHAPE):
    generator = np.random.default_rng(5)
    values = generator.integers(0, 200, shape)
    if dtype == "bool":
        return values % 2 == 0
    if dtype.startswith("complex"):
        return (values - 90 + 1j * generator.integers(0, 9, shape)).astype(dtype)
    return (values - (0 if dtype.startswith("u") else 100)).astype(dtype)


def make(folder, name, array, written=..., attributes=None, **options):
    """A store of one array, of which the elements at `written` are stored."""
    options = {"chunks": CHUNK, "compressors": None, "fill_value": 0, **options}
    store = zarr.create_array(store=str(folder / f"{name}.zarr"), shape=array.shape, dtype=array.dtype,
                              zarr_format=3, attributes=attributes, **options)
    for place in written if isinstance(written, list) else [written]:
        store[place] = array[place]
    np.save(folder / f"{name}.npy", zarr.open_array(str(folder / f"{name}.zarr"), mode="r")[...])


def shards(chunk, *codecs, **options):
    return ShardingCodec(chunk_shape=chunk, codecs=[BytesCodec(), *codecs], **options)


def make_all(folder):
    for dtype in TYPES:
        make(folder, f"type_{dtype}", elements(dtype), written=np.s_[:4, :6], fill_value=elements(dtype)[1, 2, 3])
    values = elements("uint16")
    for name, codecs in {
            "gzip": [GzipCodec(level=5)], "zstd": [ZstdCodec(level=3)], "zstd_checksum": [ZstdCodec(checksum=True)],
            "crc32c": [Crc32cCodec()], "gzip_crc32c": [GzipCodec(), Crc32cCodec()],
            "crc32c_zstd": [Crc32cCodec(), ZstdCodec()]}.items():
        make(folder, name, values, compressors=codecs)
    for number, cname in enumerate(["lz4", "lz4hc", "zlib", "zstd", "blosclz"]):
        shuffle = ["noshuffle", "shuffle", "bitshuffle"][number % 3]
        make(folder, f"blosc_{cname}_{shuffle}", values, compressors=BloscCodec(cname=cname, shuffle=shuffle))
    for endian in ("little", "big"):
        for dtype in ("uint16", "float64", "complex64", "float16"):
            make(folder, f"{endian}_{dtype}", elements(dtype), serializer=BytesCodec(endian=endian))
    for order in [(2, 1, 0), (1, 2, 0), (0, 2, 1)]:
        make(folder, "transpose_" + "".join(map(str, order)), values, filters=TransposeCodec(order=order),
             serializer=BytesCodec(endian="big"), compressors=ZstdCodec())
    make(folder, "transpose_twice", values,
         filters=[TransposeCodec(order=(1, 2, 0)), TransposeCodec(order=(0, 2, 1))])
    for name in ("default", "v2"):
        for separator in "./":
            make(folder, f"keys_{name}_{'dot' if separator == '.' else 'slash'}", values,
                 chunk_key_encoding={"name": name, "separator": separator}, written=np.s_[2:5, 3:])
    for name, fill in {"nan": float("nan"), "infinity": float("inf"), "minus": float("-inf"), "tenth": 0.1}.items():
        make(folder, f"fill_{name}", elements("float32"), written=np.s_[:2, :5], fill_value=fill)
    make(folder, "fill_large", elements("uint64"), written=np.s_[:2, :5], fill_value=2**64 - 1)
    make(folder, "nothing_stored", values, written=[], fill_value=77)
    make(folder, "one_axis", values.reshape(-1), chunks=(97,), compressors=ZstdCodec())
    make(folder, "two_axes", values.reshape(13, -1), chunks=(5, 100), compressors=GzipCodec())
    make(folder, "five_axes", elements("int16", (2, 3, 4, 5, 6)), chunks=(1, 2, 4, 2, 4), compressors=BloscCodec())
    make(folder, "chunk_beyond", values, chunks=(9, 20, 64), compressors=BloscCodec())
    for location in ("start", "end"):
        make(folder, f"shard_{location}", values, chunks=(6, 10, 8), compressors=None,
             serializer=shards((3, 5, 4), ZstdCodec(), index_location=location), written=np.s_[:4, :, 4:])
    make(folder, "shard_plain", values, chunks=(8, 14, 10), serializer=shards((2, 7, 5)))
    make(folder, "shard_checked", values, chunks=(6, 10, 8), serializer=shards((3, 5, 4), Crc32cCodec()))
    make(folder, "shard_blosc", values, chunks=(6, 10, 8), serializer=shards((3, 5, 4), BloscCodec(cname="zstd")))
    make(folder, "shard_no_checksum", values, chunks=(6, 10, 8),
         serializer=shards((3, 5, 4), GzipCodec(), index_codecs=[BytesCodec()]))
    make(folder, "shard_big_index", values, chunks=(6, 10, 8),
         serializer=shards((3, 5, 4), index_codecs=[BytesCodec(endian="big"), Crc32cCodec()]))
    make(folder, "shard_transposed", values, chunks=(6, 10, 8), serializer=ShardingCodec(
        chunk_shape=(3, 5, 4), codecs=[TransposeCodec(order=(2, 0, 1)), BytesCodec(), ZstdCodec()]))
    make(folder, "shard_nested", values, chunks=(8, 16, 16), serializer=ShardingCodec(
        chunk_shape=(4, 8, 8), codecs=[shards((2, 4, 4), ZstdCodec())]), written=np.s_[:5, 6:])
    make(folder, "shard_nested_start", values, chunks=(8, 16, 16), serializer=ShardingCodec(
        chunk_shape=(4, 8, 8), index_location="start", codecs=[shards((2, 4, 4), index_location="start")]))
    make_tensorstore(folder, values)
    make_image(folder, values)


def make_tensorstore(folder, values):
    codecs = [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [3, 5, 4], "index_location": "start",
        "codecs": [{"name": "transpose", "configuration": {"order": [2, 1, 0]}},
                   {"name": "bytes", "configuration": {"endian": "big"}},
                   {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle"}},
                   {"name": "crc32c"}]}}]
    array = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{folder}/tensorstore.zarr"},
                              "metadata": {"shape": list(SHAPE), "data_type": "uint16", "codecs": codecs,
                                           "chunk_grid": {"name": "regular", "configuration":
                                                          {"chunk_shape": [6, 10, 8]}}}, "create": True}).result()
    array[...] = values
    np.save(folder / "tensorstore.npy", array.read().result())


def make_image(folder, values):
    """OME-Zarr 0.5: two levels, with what it says of their axes."""
    names = [("c", "channel", None), ("z", "space", "micrometer"), ("y", "space", "micrometer"),
             ("x", "space", "micrometer")]
    axes = [{"name": name, "type": kind, **({"unit": unit} if unit else {})} for name, kind, unit in names]
    levels = [{"path": str(level), "coordinateTransformations": [
        {"type": "scale", "scale": [1.0, 2.0, 0.5 * 2**level, 0.25 * 2**level]},
        {"type": "translation", "translation": [0.0, 0.0, 0.25 * (2**level - 1), 0.125 * (2**level - 1)]}]}
        for level in range(2)]
    group = zarr.open_group(str(folder / "image.ome.zarr"), mode="w", zarr_format=3, attributes={"ome": {
        "version": "0.5", "multiscales": [{"name": "image", "axes": axes, "datasets": levels}],
        "omero": {"channels": [{"label": "DAPI", "color": "0000FF"}, {"label": "GFP", "color": "00FF00"}]}}})
    image = np.stack([values, values[::-1]])
    for level, part in enumerate([image, image[:, :, ::2, ::2]]):
        array = group.create_array(str(level), shape=part.shape, chunks=(1, 4, 8, 8), shards=(1, 8, 16, 16),
                                   dtype=part.dtype, dimension_names=["c", "z", "y", "x"])
        array[...] = part
        np.save(folder / f"image_{level}.npy", part)


def main():
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        make_all(folder)
        target = pathlib.Path(sys.argv[1])
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    entry = zipfile.ZipInfo(str(path.relative_to(folder)), (2026, 1, 1, 0, 0, 0))
                    archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
        shutil.rmtree(folder, ignore_errors=True)


main()
