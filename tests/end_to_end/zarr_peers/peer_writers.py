"""Programs that write Zarr arrays, each as a function of the same settings."""
import dataclasses
import itertools

import numcodecs
import numpy as np
import tensorstore
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

from peer_readers import ZARRS

SHAPE = (7, 13, 10)
WRITTEN = np.s_[1:6, :, 3:]  # what is stored; chunks without any of it are absent
TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]
BLOSC = {"lz4": "shuffle", "zstd": "bitshuffle", "lz4hc": "noshuffle", "zlib": "shuffle", "blosclz": "bitshuffle"}


@dataclasses.dataclass
class Settings:
    """Of an array. `codec` is a name; `order`, of a chunk's axes, is C or F."""

    codec: str
    order: str
    keys: tuple  # name and separator
    chunk: tuple
    shard: tuple | None
    index: str
    dtype: str
    endian: str


def grid(version, types=TYPES):
    """Every codec with every order, keys and layout of chunks; types and byte orders take turns."""
    edges, beyond = (3, 5, 4), (9, 20, 64)
    if version == 2:
        codecs = ["none", "zlib", "bz2", "zstd", "gzip", "lz4", *(f"blosc-{name}" for name in BLOSC)]
        layouts = [(edges, None, ""), (beyond, None, "")]
    else:
        codecs = ["none", "gzip", "zstd", "crc32c", *(f"blosc-{name}" for name in BLOSC)]
        layouts = [(edges, None, ""), (edges, (6, 10, 8), "end"), (edges, (9, 15, 12), "start"), (beyond, None, "")]
    keys = [("default", "/"), ("default", "."), ("v2", "."), ("v2", "/")]
    turns = zip(itertools.cycle(types), itertools.cycle(["little", "big", "little"]), itertools.cycle(keys))
    for (codec, order, (chunk, shard, index)), (dtype, endian, key) in zip(itertools.product(codecs, "CF", layouts), turns):
        yield Settings(codec, order, key, chunk, shard, index, dtype, endian)


def codecs_of(settings):
    """The codecs of a chunk, by zarr-python 3: transposition, bytes, and what packs these."""
    name = settings.codec
    packing = {"none": [], "gzip": [GzipCodec(level=5)], "zstd": [ZstdCodec(level=3, checksum=True)], "crc32c": [Crc32cCodec()],
               }[name] if not name.startswith("blosc") else [
        BloscCodec(cname=name[6:], shuffle=BLOSC[name[6:]], typesize=np.dtype(settings.dtype).itemsize)]
    before = [TransposeCodec(order=(2, 1, 0))] if settings.order == "F" else []
    endian = settings.endian if np.dtype(settings.dtype).itemsize > 1 else None
    return before, BytesCodec(endian=endian), packing


def write_zarr_3(folder, settings, fill):
    before, bytes_codec, packing = codecs_of(settings)
    if settings.shard:
        before, packing, bytes_codec = [], [], ShardingCodec(
            chunk_shape=settings.chunk, codecs=[*before, bytes_codec, *packing], index_location=settings.index)
    name, separator = settings.keys
    return zarr.create_array(folder, shape=SHAPE, dtype=settings.dtype, zarr_format=3, fill_value=fill,
                             chunks=settings.shard or settings.chunk, filters=before or None, serializer=bytes_codec,
                             compressors=packing or None, chunk_key_encoding={"name": name, "separator": separator})


def by_zarr_3(folder, settings, array, fill):
    write_zarr_3(folder, settings, fill)[WRITTEN] = array[WRITTEN]


def by_zarrs(folder, settings, array, fill):
    """zarrs packs and stores; zarr-python writes the metadata."""
    with zarr.config.set(ZARRS):
        write_zarr_3(folder, settings, fill)[WRITTEN] = array[WRITTEN]


def by_tensorstore_3(folder, settings, array, fill):
    before, bytes_codec, packing = codecs_of(settings)
    codecs = [each.to_dict() for each in [*before, bytes_codec, *packing]]
    if settings.codec == "zstd":  # tensorstore has no checksum of zstd
        del codecs[-1]["configuration"]["checksum"]
    if settings.shard:
        codecs = [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": settings.chunk, "codecs": codecs, "index_location": settings.index}}]
    name, separator = settings.keys
    store = tensorstore.open({
        "driver": "zarr3", "kvstore": {"driver": "file", "path": folder}, "create": True, "metadata": {
            "shape": SHAPE, "data_type": settings.dtype, "codecs": codecs, "fill_value": fill_text(fill),
            "chunk_key_encoding": {"name": name, "configuration": {"separator": separator}},
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": settings.shard or settings.chunk}}}}).result()
    store[WRITTEN] = array[WRITTEN]


def fill_text(fill):
    """A fill value as the metadata of an array have it."""
    value = np.asarray(fill).item()
    return [value.real, value.imag] if isinstance(value, complex) else value


def type_text(settings):
    order = {"little": "<", "big": ">"}[settings.endian]
    kind = np.dtype(settings.dtype)
    return kind.str if kind.itemsize == 1 else kind.newbyteorder(order).str


def by_zarr_3_in_version_2(folder, settings, array, fill):
    name = settings.codec
    shuffles = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
    compressor = numcodecs.Blosc(name[6:], 5, shuffles[BLOSC[name[6:]]]) if name.startswith("blosc") else {
        "none": None, "zlib": numcodecs.Zlib(1), "bz2": numcodecs.BZ2(9), "zstd": numcodecs.Zstd(3), "gzip": numcodecs.GZip(5),
        "lz4": numcodecs.LZ4()}[name]
    store = zarr.create_array(folder, shape=SHAPE, dtype=type_text(settings), zarr_format=2, chunks=settings.chunk,
                              fill_value=fill, compressors=compressor, order=settings.order,
                              chunk_key_encoding={"name": "v2", "separator": settings.keys[1]})
    store[WRITTEN] = array[WRITTEN]


def by_tensorstore_in_version_2(folder, settings, array, fill):
    """tensorstore has no lz4 of its own."""
    name = settings.codec
    shuffles = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
    compressor = {"id": "blosc", "cname": name[6:], "clevel": 5, "shuffle": shuffles[BLOSC[name[6:]]]} if name.startswith(
        "blosc") else {"none": None, "lz4": None}.get(name, {"id": name})
    store = tensorstore.open({
        "driver": "zarr", "kvstore": {"driver": "file", "path": folder}, "create": True, "metadata": {
            "shape": SHAPE, "dtype": type_text(settings), "chunks": settings.chunk, "compressor": compressor,
            "order": settings.order, "filters": None, "zarr_format": 2, "dimension_separator": settings.keys[1],
            "fill_value": None if np.iscomplexobj(array) else fill_text(fill)}}).result()
    store[WRITTEN] = array[WRITTEN]
