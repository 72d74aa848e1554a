"""Coarser levels in SubIFDs of OME-TIFF outputs, as tifffile and libtiff read them, against numpy."""
import json
import os
import pathlib
import signal
import struct

import numpy as np
import PIL.Image
import pytest
import tifffile

from harness import call, good, programs
from tiff_outputs import TAPS, noise, ome, same, write_input, write_job

COMPRESSIONS = ["none", "deflate", "zstd", "lzw"]


def reduced(array, factor, how, colour):
    """What the blocks of y and x become."""
    y = array.ndim - (3 if colour else 2)
    height, width = array.shape[y:y + 2]
    down, across = (min(factor, 1 << (extent - 1).bit_length()) for extent in (height, width))
    rows, columns = np.arange(0, height, down), np.arange(0, width, across)
    if how == "nearest":
        rows, columns = (np.minimum(first + (step - 1) // 2, extent - 1)
                         for first, step, extent in ((rows, down, height), (columns, across, width)))
        return array.take(rows, y).take(columns, y + 1)
    if how == "max":
        return np.maximum.reduceat(np.maximum.reduceat(array, rows, y), columns, y + 1)
    exact = array.astype("float64" if array.dtype.kind == "f" else "int64")
    sums = np.add.reduceat(np.add.reduceat(exact, rows, y), columns, y + 1)
    counts = np.multiply.outer(np.diff([*rows, height]), np.diff([*columns, width]))
    counts = counts[..., np.newaxis] if colour else counts
    if array.dtype.kind == "f":
        return (sums / counts).astype(array.dtype)
    whole, rest = np.divmod(sums, counts)
    return (whole + ((2 * rest > counts) | ((2 * rest == counts) & (whole % 2 == 1)))).astype(array.dtype)


def level_shapes(name):
    with tifffile.TiffFile(name) as file:
        return [level.shape for level in file.series[0].levels]


def check_levels(name, array, count, how="mean", colour=False):
    """The first is the array, and `count` others are what its blocks of 2, 4, 8 … are."""
    with tifffile.TiffFile(name) as file:
        series, = file.series
        assert file.is_ome and len(series.levels) == count + 1 and series.is_pyramidal == (count > 0)
        same(series.asarray().reshape(array.shape), array)
        for number, level in enumerate(series.levels[1:], 1):
            wanted = reduced(array, 2 ** number, how, colour)
            same(level.asarray().reshape(wanted.shape), wanted)
            assert all(page.aspage().subfiletype == 1 for page in level.pages)
            assert level.keyframe.samplesperpixel == (array.shape[-1] if colour else 1)
            assert level.keyframe.photometric == (tifffile.PHOTOMETRIC.RGB if colour else tifffile.PHOTOMETRIC.MINISBLACK)
        if count > 0:
            assert max(level.keyframe.shape[:2]) <= 256 < max(series.levels[-2].keyframe.shape[:2])


def by_libtiff(name, level, wanted):
    """libtiff, by way of PIL, reads the first page of a level, to which the header of a copy leads."""
    with tifffile.TiffFile(name) as file:
        at = file.pages[0].subifds[level - 1]
    data = bytearray(pathlib.Path(name).read_bytes())
    data[4:8] = struct.pack("<I", at)
    pathlib.Path("level.tif").write_bytes(data)
    with PIL.Image.open("level.tif") as file:
        assert (np.asarray(file) == wanted).all()


def with_pyramid(kind, name, table, compression, more="", source="in.h5:/x"):
    write_job(kind, name, table, source)
    job = pathlib.Path("job.toml")
    job.write_text(job.read_text().replace("[output]", f'[output]\ncompression = "{compression}"\npyramid = true\n{more}'))


RESCALE = "from = [0, 200]\nto = [0, 200]"
SHAPES = [((3, 300, 523), "uint16", 2, False), ((1, 1030), "uint8", 3, False), ((2, 3, 257, 31), "float32", 1, False),
          ((600, 9), "int16", 2, False), ((2, 301, 270, 3), "uint8", 1, True), ((300, 40, 4), "uint16", 1, True),
          ((3, 260, 6), "uint8", 1, False), ((5, 256, 256), "uint16", 0, False)]


@pytest.mark.share(0.4)
@pytest.mark.quick
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(("shape", "dtype", "count", "colour"), SHAPES)
def test_levels(shape, dtype, count, colour, compression):
    """The same bytes for any ranks and chunks, and of convert; a level 3 wide is grey where its image is."""
    array = noise(shape, dtype)
    more = 'downsample = "max"' if dtype == "int16" else 'downsample = "nearest"' if dtype == "float32" else ""
    how = more.split('"')[1] if more else "mean"
    write_input(array, **({"IMAGE_SUBCLASS": np.bytes_("IMAGE_TRUECOLOR")} if colour else {}))
    with_pyramid("rescale", "out.ome.tif", RESCALE, compression, more)
    job = pathlib.Path("job.toml")
    job.write_text(job.read_text().replace("[input]", f"[input]\ncolour = {str(colour).lower()}"))
    made = set()
    for ranks, rows in ((1, 1), (2, 7), (3, 1000)):
        call("job.toml", "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.add(pathlib.Path("out.ome.tif").read_bytes())
    assert len(made) == 1 and not list(pathlib.Path().glob("out.ome.tif.*partial*"))
    assert ("coarser ones compared: all right" in call("verify", "out.ome.tif", "--recompute", "2").stdout) == (count > 1)
    if compression in ("none", "deflate"):
        check_levels("out.ome.tif", array, count, how, colour)
    elif count > 0 and dtype in ("uint8", "uint16") and (dtype, colour) != ("uint16", True):
        first = reduced(array, 2, how, colour)
        by_libtiff("out.ome.tif", 1, first.reshape(-1, *first.shape[-(3 if colour else 2):])[0])
    good("compare", "out.ome.tif", "in.h5:/x")
    good("convert", "out.ome.tif", "again.ome.tif", "--compression", compression, "--pyramid", "--downsample", how)
    assert level_shapes("again.ome.tif") == level_shapes("out.ome.tif")
    good("compare", "again.ome.tif", "in.h5:/x")


@pytest.mark.quick
@pytest.mark.parametrize("compression", ["none", "deflate"])
def test_what_the_file_says(compression):
    """OME-XML stays true of the image; convert and generate make the same files as a job; others read level 0."""
    array = noise((2, 300, 280))
    write_input(array, element_size_um=[2.5, 0.5, 0.325])
    with_pyramid("rescale", "out.ome.tif", RESCALE, compression)
    call("job.toml")
    pixels, _, axes, found = ome("out.ome.tif")
    assert (pixels["SizeX"], pixels["SizeY"], pixels["SizeZ"], axes) == ("280", "300", "2", "ZYX")
    assert float(pixels["PhysicalSizeX"]) == 0.325
    same(found, array)
    good("convert", "in.h5:/x", "b.ome.tif", "--pyramid", "--compression", compression)
    assert pathlib.Path("b.ome.tif").read_bytes() == pathlib.Path("out.ome.tif").read_bytes()
    good("generate", "noise", "g.ome.tif", "--shape", "2,300,280", "--dtype", "uint16", "--pyramid", "--compression", compression)
    good("generate", "noise", "g.npy", "--shape", "2,300,280", "--dtype", "uint16")
    check_levels("g.ome.tif", np.load("g.npy"), 1)
    described, = json.loads(good("inspect", "out.ome.tif", "--json"))["datasets"]
    assert described["shape"] == [2, 300, 280]
    plan = json.loads(call("plan", "job.toml", "--json").stdout)
    assert plan["outputs"][0]["levels"] == [[2, 150, 140]]
    assert "in 2 levels down to [2, 150, 140]\n" in good("plan", "job.toml")
    call("job.toml", "--set", "output.pyramid=false")
    check_levels("out.ome.tif", array, 0)


FAULTS = {"none": ["pwrite:kill@9:out.ome.tif.partial", "pwrite:torn@12:out.ome.tif.partial", "rename:kill@1:out.ome.tif.partial"],
          "deflate": ["pwrite:kill@5:out.ome.tif.partial", "pwrite:torn@9:out.ome.tif.partial",
                      "ftruncate:kill@1:out.ome.tif.partial", "rename:kill@1:out.ome.tif.partial"]}


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize(("compression", "fault"), [(name, fault) for name, faults in FAULTS.items() for fault in faults])
def test_killed(compression, fault):
    """A run that is killed as it makes levels is resumed by any ranks to the same bytes."""
    write_input(noise((2, 600, 520)))
    with_pyramid("convolve", "out.ome.tif", TAPS, compression)
    commit = ("--set", "run.commit_seconds=0", "--set", "run.chunk_rows=300")
    call("job.toml", *commit)
    whole = pathlib.Path("out.ome.tif").read_bytes()
    for ranks in (1, 2):
        os.unlink("out.ome.tif")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault, "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        assert not os.path.exists("out.ome.tif")
        call("job.toml", *commit, ranks=ranks)
        assert pathlib.Path("out.ome.tif").read_bytes() == whole
        call("verify", "out.ome.tif")
        assert not list(pathlib.Path().glob("out.ome.tif.*partial*"))


def damage(name, places):
    with open(name, "r+b") as file:
        for at in places:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 255]))


@pytest.mark.quick
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_repaired(compression):
    """verify names damaged levels, and repair makes them of level 0, which it mends before."""
    write_input(noise((3, 600, 520)))
    with_pyramid("convolve", "out.ome.tif", TAPS, compression)
    call("job.toml", "--set", "run.chunk_rows=100")
    whole = pathlib.Path("out.ome.tif").read_bytes()
    with tifffile.TiffFile("out.ome.tif") as file:
        image, *levels = [level.pages[1].aspage() for level in file.series[0].levels]
        at = [page.dataoffsets[0] + 30 for page in (image, *levels)]
        structure = [image.tags["SubIFDs"].valueoffset, levels[1].offset + 5, len(whole) - 9]
    for numbers in ([1], [2], [1, 2], [0, 2]):
        damage("out.ome.tif", [at[number] for number in numbers])
        found = call("verify", "out.ome.tif", code=7).stdout
        if numbers[0] == 0:
            assert "levels: not compared, since rows of the image are wrong" in found
        else:
            assert all(f"wrong: level {number}: " in found for number in numbers) and found.count("wrong: ") == len(numbers)
            assert f"{len(numbers)} level{'s' if len(numbers) > 1 else ''} wrong" in found
        repaired = call("repair", "out.ome.tif").stdout
        assert all(f"repaired: level {number}" in repaired for number in numbers if number > 0)
        assert pathlib.Path("out.ome.tif").read_bytes() == whole
        call("verify", "out.ome.tif")
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    for byte in structure:
        damage("out.ome.tif", [byte])
        assert "cannot read the output" in call("verify", "out.ome.tif", code=3).stderr
        damage("out.ome.tif", [byte])
    call("verify", "out.ome.tif")


@pytest.mark.quick
def test_batch_and_refusals():
    arrays = {"a": noise((2, 300, 20)), "b": noise((1, 17, 600))}
    os.mkdir("made")
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
    pathlib.Path("batch.toml").write_text(
        'kind = "transpose"\n[batch]\ninputs = ["*.npy"]\noutput = "made/{stem}.ome.tif"\nstate = "state"\n'
        '[output]\npyramid = true\n[run]\nbackend = "cpu"\n[transpose]\npermutation = [0, 1, 2]\n')
    call("batch", "batch.toml", ranks=2)
    check_levels("made/a.ome.tif", arrays["a"], 1)
    check_levels("made/b.ome.tif", arrays["b"], 2)
    write_input(arrays["a"])
    for output, settings, words in (
            ("out.tif", ["pyramid=true"], ["output.pyramid", ".ome.tif"]),
            ("out.h5", ["pyramid=true"], ["output.pyramid", ".ome.tif"]),
            ("out.ome.zarr", ["pyramid=true"], ["output.pyramid", "output.levels"]),
            ("s_*.ome.tif", ["pyramid=true"], ["output.pyramid", "one file"]),
            ("out.ome.tif", ["levels=2"], ["output.levels", "output.pyramid"]),
            ("out.ome.tif", ['downsample="max"'], ["output.downsample", "output.pyramid"]),
            ("out.ome.tif", ["pyramid=3"], ["output.pyramid"])):
        write_job("transpose", output, "permutation = [0, 1, 2]")
        error = call("job.toml", *(word for one in settings for word in ("--set", f"output.{one}")), code=2).stderr
        assert all(word in error for word in words), error
        assert not os.path.exists(output)
