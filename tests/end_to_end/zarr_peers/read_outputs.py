"""What runner writes as Zarr and OME-Zarr, as the programs that people use read it; scripts/test-zarr-readers runs this."""
import itertools
import pathlib

import numpy as np
import pytest
import zarr

import peer_readers
from harness import call, generator, good

COMPRESSIONS = ["none", "blosc-lz4", "blosc-zstd", "zstd", "gzip"]
TYPES = ["uint16", "float32", "uint8", "int16", "float64", "int8", "uint32", "float16", "int64", "int32", "uint64"]
SHAPES = {"x": (997,), "yx": (35, 61), "zyx": (9, 33, 29), "czyx": (2, 5, 21, 19), "tyx": (5, 23, 31), "tczyx": (3, 3, 5, 17, 13)}
CHANNELS = [("DAPI", "0000FF"), ("GFP", "00FF00"), ("µ-Tubulin", "FF8000")]
SPACING = {"t": 1.5, "z": 1.0, "y": 0.5, "x": 0.25}
ORIGIN = {"t": 30.0, "z": -4.0, "y": 7.25, "x": 0.5}
UNITS = {"t": "second", "c": None, "z": "micrometer", "y": "micrometer", "x": "micrometer"}


def elements(shape, dtype):
    """Of the whole range of integers; floats of which few are equal and all sums are exact."""
    random = generator(shape, dtype)
    if np.dtype(dtype).kind == "f":
        return (random.integers(-1000, 1000, shape) / 8).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def block_means(array, factors):
    """The mean of each block, of integers the exact one rounded to nearest, ties to even."""
    is_float = array.dtype.kind == "f"
    total, count = array.astype("float64" if is_float else object), np.ones(array.shape, "int64")
    for axis, factor in enumerate(factors):
        starts = range(0, array.shape[axis], factor)
        total, count = np.add.reduceat(total, starts, axis), np.add.reduceat(count, starts, axis)
    if is_float:
        return (total / count).astype(array.dtype)
    low = total // count
    rest = 2 * (total - low * count)
    return (low + ((rest > count) | ((rest == count) & (low % 2 == 1)))).astype(array.dtype)


def factors_of(names, levels):
    """Of each level: y and x by 2, and z as soon as voxels are no longer taller than wide."""
    factors = [dict.fromkeys(names, 1)]
    for _ in range(levels - 1):
        last = factors[-1]
        size = {name: SPACING[name] * last[name] for name in names if name != "c"}
        halved = {"y", "x"} | ({"z"} if "z" in names and size["z"] <= min(size["y"], size["x"]) else set())
        factors.append({name: last[name] * (2 if name in halved else 1) for name in names})
    return [[each[name] for name in names] for each in factors]


def write_input(array, names):
    """An OME-Zarr by zarr-python, of one level, with everything that a description can have."""
    axes = [{"name": name, "type": {"t": "time", "c": "channel"}.get(name, "space"),
             **({"unit": UNITS[name]} if UNITS[name] else {})} for name in names]
    place = [{"type": "scale", "scale": [SPACING.get(name, 1.0) for name in names]},
             {"type": "translation", "translation": [ORIGIN.get(name, 0.0) for name in names]}]
    channels = CHANNELS[:array.shape[names.index("c")] if "c" in names else 1]
    group = zarr.open_group("in.ome.zarr", mode="w", zarr_format=3, attributes={"ome": {
        "version": "0.5", "multiscales": [{"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": place}]}],
        "omero": {"channels": [{"label": label, "color": colour, "window": {"min": 0, "max": 1, "start": 0, "end": 1}}
                               for label, colour in channels]}}})
    group.create_array("0", data=array, dimension_names=list(names))
    return channels


def layout(shape, kind):
    """Options of chunks of odd extents; alone, or several of them in a shard."""
    chunk = [max(1, extent // 3) | 1 for extent in shape]
    shard = [extent * (2 + axis % 2) for axis, extent in enumerate(chunk)] if kind == "shards" else chunk
    options = {"chunk": chunk} if kind == "0.4" else {"chunk": chunk, "shard": shard}
    return {**options, **({"ngff": kind} if kind == "0.4" else {})}


def make(output, options, by):
    """The output, by `convert` or by a job on two ranks; both make the same."""
    if by == "convert":
        words = [word for key, value in options.items()
                 for word in (f"--{key}", ",".join(map(str, value)) if isinstance(value, list) else value)]
        good("convert", "in.ome.zarr", output, *words)
        return
    keys = "\n".join(f"{key} = {value!r}" for key, value in options.items())
    pathlib.Path("job.toml").write_text(
        f'kind = "transpose"\n[input]\nfile = "in.ome.zarr"\n[output]\nfile = "{output}"\n{keys}\n'
        f'[transpose]\npermutation = {list(range(zarr.open_array("in.ome.zarr/0", mode="r").ndim))}\n')
    call("job.toml", "--quiet", ranks=2)


def same(found, wanted, who):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes(), who


def cases(shapes, kinds):
    """Every compression with every shape and layout; types and ways take turns. No job takes a line as it is."""
    turns = zip(itertools.cycle(TYPES), itertools.cycle(["convert", "job"]))
    for (compression, names, kind), (dtype, by) in zip(itertools.product(COMPRESSIONS, shapes, kinds), turns):
        by = "convert" if len(names) == 1 else by
        yield pytest.param(compression, names, kind, dtype, by, id=f"{compression}-{names}-{kind}-{dtype}-{by}")


@pytest.mark.parametrize("compression, names, kind, dtype, by", list(cases(SHAPES, ["chunks", "shards"])))
def test_arrays(compression, names, kind, dtype, by):
    """A .zarr, by every reader of arrays."""
    array = elements(SHAPES[names], dtype)
    write_input(array, names)
    make("out.zarr", {"compression": compression, **layout(array.shape, kind)}, by)
    for read in peer_readers.array_readers("out.zarr"):
        same(read("out.zarr"), array, read.__name__)
    said = zarr.open_array("out.zarr", mode="r")
    assert said.metadata.dimension_names == tuple(names)
    assert (said.shards is not None) == (kind == "shards")


@pytest.mark.parametrize("compression, names, kind, dtype, by",
                         list(cases([names for names in SHAPES if len(names) > 1], ["chunks", "shards", "0.4"])))
def test_images(compression, names, kind, dtype, by):
    """An .ome.zarr with three levels: by every reader of arrays, and of images."""
    array = elements(SHAPES[names], dtype)
    channels = write_input(array, names)
    make("out.ome.zarr", {"compression": compression, "levels": 3, **layout(array.shape, kind)}, by)
    factors = factors_of(names, 3)
    wanted = [array, *(block_means(array, each) for each in factors[1:])]
    for level, each in enumerate(wanted):
        folder = f"out.ome.zarr/{level}"
        for read in peer_readers.array_readers(folder):
            same(read(folder), each, read.__name__)
    assert peer_readers.validate("out.ome.zarr") == ""
    for read in (peer_readers.by_ome_zarr_py, peer_readers.by_ngff_zarr, peer_readers.by_napari):
        found = read("out.ome.zarr")
        assert len(found.levels) == 3
        for level, each in zip(found.levels, wanted, strict=True):
            same(level, each, read.__name__)
        check_channels(found, array, names, channels)
        if found.names is not None:
            check_places(found, names, factors)
        else:
            check_shown(found, names)


def check_channels(found, array, names, channels):
    """Labels, colours and windows: the extremes of each channel."""
    assert list(zip(found.labels, found.colours, strict=True)) == channels
    each = np.moveaxis(array, names.index("c"), 0) if "c" in names else array[np.newaxis]
    assert [list(map(float, window)) for window in found.windows] == [[float(part.min()), float(part.max())] for part in each]


def check_places(found, names, factors):
    """Axes, and where the levels lie: the middle of a block is its place."""
    assert found.names == list(names) and found.units == [UNITS[name] for name in names]
    for level, each in enumerate(factors):
        spacing = np.array([SPACING.get(name, 1.0) for name in names])
        origin = np.array([ORIGIN.get(name, 0.0) for name in names])
        assert np.allclose(found.scales[level], spacing * each, rtol=1e-12)
        assert np.allclose(found.translations[level], origin + (np.array(each) - 1) / 2 * spacing, rtol=1e-12)


def check_shown(found, names):
    """What napari's layers say of their axes, which are all but that of channels."""
    shown = [name for name in names if name != "c"]
    for axes, units, scale in found.shown:
        assert axes == shown and units == [UNITS[name] for name in shown]
        assert np.allclose(scale, [SPACING[name] for name in shown], rtol=1e-12)


def test_defaults():
    """Without options: chunks of about 1 MiB, shards, and levels until y and x are at most 256."""
    array = elements((3, 700, 530), "uint16")
    np.save("in.npy", array)
    for version in ("0.5", "0.4"):
        good("convert", "in.npy", "out.ome.zarr", "--ngff", version, "--overwrite")
        assert peer_readers.validate("out.ome.zarr") == ""
        for read in (peer_readers.by_ome_zarr_py, peer_readers.by_ngff_zarr, peer_readers.by_napari):
            found = read("out.ome.zarr")
            assert [level.shape for level in found.levels] == [(3, 700, 530), (2, 350, 265), (1, 175, 133)]
            for level, factor in zip(found.levels, (1, 2, 4), strict=True):
                same(level, block_means(array, [factor] * 3), read.__name__)


def test_colour():
    """Pixels of red, green and blue are the last axis of a .zarr."""
    array = elements((31, 43, 3), "uint8")
    np.save("in.npy", array)
    pathlib.Path("job.toml").write_text(
        'kind = "median"\n[input]\nfile = "in.npy"\naxes = "yxs"\n[output]\nfile = "out.zarr"\nchunk = [16, 16, 3]\n'
        '[median]\nsize = [1, 1]\n')
    call("job.toml", "--quiet")
    for read in peer_readers.array_readers("out.zarr"):
        same(read("out.zarr"), array, read.__name__)
    assert zarr.open_array("out.zarr", mode="r").metadata.dimension_names == ("y", "x", "s")


@pytest.mark.parametrize("reader", ["by_zarr_3", "by_zarrs", "by_tensorstore", "by_zarr_2"])
def test_that_a_reader_reads(reader):
    """A byte of a chunk that is changed is seen: no reader has the elements from elsewhere."""
    array = elements((6, 5), "uint8")
    np.save("in.npy", array)
    good("convert", "in.npy", "out.ome.zarr", "--ngff", "0.4")
    path = pathlib.Path("out.ome.zarr/0/0/0")
    path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
    found = getattr(peer_readers, reader)("out.ome.zarr/0")
    assert (found != array).sum() == 1 and found[0, 0] == array[0, 0] ^ 1
