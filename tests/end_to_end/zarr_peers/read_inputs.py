"""What other programs write as Zarr and OME-Zarr, as runner reads it; scripts/test-zarr-readers runs this."""
import json

import acquire_zarr
import ngff_zarr
import numpy as np
import ome_zarr.format
import ome_zarr.writer
import pytest
import zarr

import peer_writers
from harness import generator, good
from peer_writers import SHAPE, TYPES, WRITTEN, grid
from zarr_files import check

NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


def elements(dtype, shape=SHAPE):
    """Every bit of a number counts."""
    random = generator(dtype, shape)
    kind = np.dtype(dtype)
    if kind == bool:
        return random.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        return random.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True)
    values = random.normal(0, 100, shape)
    return (values + 1j * random.normal(0, 1, shape) if kind.kind == "c" else values).astype(kind)


def check_array(write, settings):
    """Written in a part, so that edges of chunks and absent chunks have the fill value."""
    array = elements(settings.dtype)
    fill = array[0, 1, 2]
    write("in.zarr", settings, array, fill)
    # tensorstore's version 2 takes no complex number there.
    is_zero = write is peer_writers.by_tensorstore_in_version_2 and np.iscomplexobj(array)
    wanted = np.full(SHAPE, array.dtype.type(0) if is_zero else fill)
    wanted[WRITTEN] = array[WRITTEN]
    check("in.zarr", wanted)


def named(settings):
    return [pytest.param(each, id=f"{number}-{each.codec}-{each.order}-{each.dtype}") for number, each in enumerate(settings)]


@pytest.mark.parametrize("settings", named(grid(3)))
def test_version_3(settings):
    """Every writer writes each of the grid; the types of each follow one another at other places."""
    check_array(peer_writers.by_zarr_3, settings)


@pytest.mark.parametrize("settings", named(grid(3, TYPES[5:] + TYPES[:5])))
def test_version_3_by_zarrs(settings):
    check_array(peer_writers.by_zarrs, settings)


@pytest.mark.parametrize("settings", named(grid(3, TYPES[9:] + TYPES[:9])))
def test_version_3_by_tensorstore(settings):
    check_array(peer_writers.by_tensorstore_3, settings)


@pytest.mark.parametrize("settings", named(grid(2)))
def test_version_2(settings):
    check_array(peer_writers.by_zarr_3_in_version_2, settings)


@pytest.mark.parametrize("settings", named(grid(2, TYPES[5:] + TYPES[:5])))
def test_version_2_by_tensorstore(settings):
    check_array(peer_writers.by_tensorstore_in_version_2, settings)


def test_that_all_types_are_written():
    for version in (2, 3):
        assert {each.dtype for each in grid(version)} == set(TYPES)
        assert len(list(grid(version))) >= 27


def check_image(folder, axes, spacing, origin, units):
    """Every level as zarr-python reads it, and what is said of the axes. Level 0 is what the folder stands for."""
    shown = json.loads(good("inspect", folder, "--json"))["datasets"]
    group = zarr.open_group(folder, mode="r")
    attributes = group.attrs.asdict()
    levels = attributes.get("ome", attributes)["multiscales"][0]["datasets"]
    assert len(levels) > 1 and {each["path"] for each in shown} == {f"/{level['path']}" for level in levels}
    for level in levels:
        check(f"{folder}:/{level['path']}", group[level["path"]][...])
    check(folder, group[levels[0]["path"]][...])
    first = next(each for each in shown if each["path"] == f"/{levels[0]['path']}")["axes"]
    assert [axis["name"] for axis in first] == list(axes)
    for axis in first:
        name = axis["name"]
        if name in spacing:
            assert axis["spacing"] == spacing[name] and axis.get("origin", 0) == origin.get(name, 0)
            assert axis.get("unit", "") == units.get(name, "")


IMAGES = {"yx": (61, 75), "zyx": (9, 61, 75), "czyx": (2, 5, 41, 57), "tczyx": (2, 3, 5, 41, 35)}
SPACING = {"t": 2.0, "z": 2.0, "y": 0.5, "x": 0.25}


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("axes", IMAGES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_ome_zarr_py(version, axes, dtype):
    array = elements(dtype, IMAGES[axes])
    kind = {"0.4": ome_zarr.format.FormatV04, "0.5": ome_zarr.format.FormatV05}[version]()
    ome_zarr.writer.write_image(array, "in.ome.zarr", scale_factors=[2, 4], fmt=kind, axes=list(axes),
                                scale={name: SPACING[name] for name in axes if name in SPACING},
                                axes_units={name: "micrometer" for name in axes if name in "zyx"},
                                storage_options={"chunks": tuple(max(1, extent // 2) for extent in array.shape)})
    check_image("in.ome.zarr", axes, {name: SPACING[name] for name in axes if name in "zyx"}, {}, dict.fromkeys("zyx", "um"))
    check("in.ome.zarr", array)


@pytest.mark.parametrize("version, shard", [("0.4", None), ("0.5", None), ("0.5", 2)])
@pytest.mark.parametrize("axes", IMAGES)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float64"])
def test_ngff_zarr(version, shard, axes, dtype):
    array = elements(dtype, IMAGES[axes])
    origin = {"t": 0.0, "z": 1.0, "y": -3.0, "x": 0.5}
    image = ngff_zarr.to_ngff_image(array, dims=list(axes), scale={name: SPACING.get(name, 1.0) for name in axes},
                                    translation={name: origin.get(name, 0.0) for name in axes},
                                    axes_units={name: "micrometer" for name in axes if name in "zyx"})
    made = ngff_zarr.to_multiscales(image, [2, 4], chunks={name: 16 if name in "yx" else 2 for name in axes})
    ngff_zarr.to_ngff_zarr("in.ome.zarr", made, version=version, chunks_per_shard=shard)
    check_image("in.ome.zarr", axes, {name: SPACING[name] for name in axes if name in "zyx"}, origin, dict.fromkeys("zyx", "um"))
    check("in.ome.zarr", array)


def acquired(folder, array, codec, shard, is_image):
    """A stream of frames by acquire-zarr."""
    kinds = acquire_zarr.DimensionType
    dimensions = [acquire_zarr.Dimension(name=name, kind=kind, array_size_px=extent, chunk_size_px=chunk, shard_size_chunks=shard,
                                         scale=SPACING[name], unit=unit)
                  for name, kind, extent, chunk, unit in zip(
                      "tyx", (kinds.TIME, kinds.SPACE, kinds.SPACE), (0, *array.shape[1:]), (3, 16, 24),
                      ("second", "micrometer", "micrometer"), strict=True)]
    packing = codec and acquire_zarr.CompressionSettings(compressor=acquire_zarr.Compressor.BLOSC1, codec=codec, level=1, shuffle=1)
    settings = acquire_zarr.ArraySettings(dimensions=dimensions, data_type=array.dtype, compression=packing,
                                          **({"downsampling_method": acquire_zarr.DownsamplingMethod.MEAN} if is_image else {}))
    stream = acquire_zarr.ZarrStream(acquire_zarr.StreamSettings(arrays=[settings], store_path=folder, overwrite=True))
    stream.append(array)
    stream.close()


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shard", [1, 2])
def test_acquire_zarr(dtype, shard):
    array = elements(dtype, (7, 37, 53))
    codecs = acquire_zarr.CompressionCodec
    for codec in (None, codecs.BLOSC_LZ4, codecs.BLOSC_ZSTD):
        acquired("in.zarr", array, codec, shard, is_image=False)
        check("in.zarr", array)
    acquired("in.ome.zarr", array, codecs.BLOSC_ZSTD, shard, is_image=True)
    check_image("in.ome.zarr", "tyx", {"y": 0.5, "x": 0.25}, {}, dict.fromkeys("yx", "um"))
    check("in.ome.zarr", array)
