"""Compressed TIFF outputs in tiles, with and without coarser levels, as tifffile and libtiff read them."""
import json
import os
import pathlib
import signal

import numpy as np
import PIL.Image
import pytest
import tifffile

from harness import bad, call, good, programs
from tiff_outputs import TAPS, noise, same, write_input, write_job
from tiff_pyramids import by_libtiff, check_levels, damage, reduced

RESCALE = "from = [0, 200]\nto = [0, 200]"


def in_tiles(kind, name, table, tile, compression="deflate", more="", source="in.h5:/x"):
    write_job(kind, name, table, source)
    job = pathlib.Path("job.toml")
    job.write_text(job.read_text().replace("[output]", f'[output]\ncompression = "{compression}"\ntile = {tile}\n{more}'))


SHAPES = [((3, 100, 70), "uint16", [32, 48]), ((64, 96), "uint8", [64, 96]), ((2, 33, 300), "float32", [16, 16]),
          ((2, 40, 50, 3), "uint8", [32, 16]), ((17, 37, 4), "uint16", [16, 32]), ((5, 20, 20), "int16", [32, 16])]


@pytest.mark.share(0.6)
@pytest.mark.quick
@pytest.mark.parametrize("compression", ["deflate", "zstd", "lzw"])
@pytest.mark.parametrize(("shape", "dtype", "tile"), SHAPES)
def test_tiles(shape, dtype, tile, compression):
    """The same bytes for any ranks and chunks; an image that is lower or narrower than a tile is in strips."""
    array = noise(shape, dtype)
    colour = shape[-1] in (3, 4)
    write_input(array)
    name = "out.ome.tif" if dtype == "uint16" else "out.tif"
    in_tiles("rescale", name, RESCALE, tile, compression)
    job = pathlib.Path("job.toml")
    job.write_text(job.read_text().replace("[input]", f"[input]\ncolour = {str(colour).lower()}"))
    made = set()
    for ranks, rows in ((1, 1), (2, 40), (3, 1000)):
        call("job.toml", "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.add(pathlib.Path(name).read_bytes())
    assert len(made) == 1 and not list(pathlib.Path().glob(f"{name}.*partial*"))
    call("verify", name, "--recompute", "3")
    assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    height, width = shape[-3:-1] if colour else shape[-2:]
    with tifffile.TiffFile(name) as file:
        page = file.pages[0]
        assert page.is_tiled == (height >= tile[0] and width >= tile[1])
        assert page.samplesperpixel == (shape[-1] if colour else 1)
        if page.is_tiled:
            assert (page.tilelength, page.tilewidth) == tuple(tile) and "RowsPerStrip" not in page.tags
        if compression == "deflate":
            same(file.asarray().reshape(shape), array)
    if dtype == "uint8":
        with PIL.Image.open(name) as image:
            assert (np.asarray(image) == array.reshape(-1, *array.shape[-(3 if colour else 2):])[0]).all()
    good("compare", name, "in.h5:/x")


@pytest.mark.quick
@pytest.mark.parametrize("compression", ["deflate", "zstd"])
def test_pyramids(compression):
    """Levels are in tiles too, where they are as large as one."""
    for shape, colour in (((2, 600, 1100), False), ((530, 300, 3), True)):
        array = noise(shape, "uint8")
        write_input(array)
        in_tiles("rescale", "out.ome.tif", RESCALE, [208, 256], compression, "pyramid = true")
        made = set()
        for ranks in (1, 2):
            call("job.toml", "--set", "run.chunk_rows=210", ranks=ranks)
            made.add(pathlib.Path("out.ome.tif").read_bytes())
        assert len(made) == 1
        count = 2 if colour else 3
        with tifffile.TiffFile("out.ome.tif") as file:
            levels = [level.keyframe for level in file.series[0].levels]
            assert [page.is_tiled for page in levels] == [page.shape[0] >= 208 and page.shape[1] >= 256 for page in levels]
            at = [page.dataoffsets[0] + 9 for page in levels]
        if compression == "deflate":
            check_levels("out.ome.tif", array, count, colour=colour)
        first = reduced(array, 2, "mean", colour)
        by_libtiff("out.ome.tif", 1, first if colour else first[0])
        for number in (1, count):
            damage("out.ome.tif", [at[number]])
            assert f"wrong: level {number}: " in call("verify", "out.ome.tif", code=7).stdout
            assert f"repaired: level {number}" in call("repair", "out.ome.tif").stdout
            assert pathlib.Path("out.ome.tif").read_bytes() in made
        good("convert", "in.h5:/x", "b.ome.tif", "--compression", compression, "--tile", "208,256", "--pyramid",
             *(["--colour"] if colour else []))
        assert pathlib.Path("b.ome.tif").read_bytes() in made
        os.unlink("b.ome.tif")


@pytest.mark.quick
@pytest.mark.parametrize("colour", [False, True])
def test_killed_and_damaged(colour):
    array = noise((100, 70, 3) if colour else (3, 100, 70))
    write_input(array)
    in_tiles("convolve", "out.tif", TAPS, [32, 48], "zstd")
    job = pathlib.Path("job.toml")
    job.write_text(job.read_text().replace("[input]", f"[input]\ncolour = {str(colour).lower()}"))
    commit = ("--set", "run.chunk_rows=48", "--set", "run.commit_seconds=0")
    call("job.toml", *commit)
    whole = pathlib.Path("out.tif").read_bytes()
    for fault in ("pwrite:kill@3:out.tif.partial.shard", "pwrite:torn@6:out.tif.partial.shard",
                  "pwrite:kill@2:out.tif.partial", "rename:kill@1:out.tif.partial"):
        os.unlink("out.tif")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault, "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        call("job.toml", *commit, ranks=2)
        assert pathlib.Path("out.tif").read_bytes() == whole, fault
    with tifffile.TiffFile("out.tif") as file:
        page = file.pages[-1]
        tiles, tables = page.dataoffsets, [page.tags["TileByteCounts"].valueoffset, page.tags["TileWidth"].offset]
    for places in ([tiles[0] + 9], [tiles[-1] + 9, tiles[1] + 12]):
        damage("out.tif", places)
        call("verify", "out.tif", code=7)
        call("repair", "out.tif")
        assert pathlib.Path("out.tif").read_bytes() == whole
    for byte in tables:
        damage("out.tif", [byte])
        assert "cannot read the output" in call("verify", "out.tif", code=3).stderr
        damage("out.tif", [byte])
    call("verify", "out.tif")


@pytest.mark.quick
def test_refusals_and_certificates():
    write_input(noise((5, 70, 40)))
    for output, settings, words in (
            ("out.tif", ["tile=[32, 32]"], ["output.tile", "output.compression"]),
            ("out.tif", ['compression="zstd"', "tile=[32, 30]"], ["output.tile", "multiples of 16"]),
            ("out.tif", ['compression="zstd"', "tile=[32]"], ["output.tile", "height and width"]),
            ("out.h5", ["tile=[32, 32]"], ["output.tile", ".tif"]),
            ("s_*.tif", ['compression="zstd"', "tile=[32, 32]"], ["output.tile", "one file"])):
        write_job("transpose", output, "permutation = [0, 1, 2]")
        error = call("job.toml", *(word for one in settings for word in ("--set", f"output.{one}")), code=2).stderr
        assert all(word in error for word in words), error
        assert not os.path.exists(output)
    bad(2, ["--tile", "multiples of 16"], "convert", "in.h5:/x", "b.tif", "--compression", "zstd", "--tile", "8,8")
    facts = []
    for settings in ("", "[32, 32]"):
        in_tiles("transpose", "out.tif", "permutation = [0, 1, 2]", settings or "[16, 16]")
        call("job.toml")
        facts.append(json.loads(good("certify", "out.tif")))
        facts[-1].pop("machine", None)
    assert facts[0] == facts[1]
    assert "tile = [32, 32]\n" in good("explain", "job.toml")
