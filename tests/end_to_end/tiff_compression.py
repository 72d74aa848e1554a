"""Compressed TIFF outputs: as libtiff and runner read them, whole, killed and damaged."""
import json
import os
import pathlib
import signal

import numpy as np
import PIL.Image
import pytest
import tifffile

from harness import bad, call, good, programs
from tiff_outputs import TAPS, is_colour, noise, same, write_input, write_job

SCHEMES = {"deflate": 8, "zstd": 50000, "lzw": 5}


def by_libtiff(name, wanted):
    """Whether libtiff, by way of PIL, unpacks the first page; tifffile has no LZW of its own here."""
    with PIL.Image.open(name) as file:
        assert (np.asarray(file) == wanted).all()


@pytest.mark.quick
@pytest.mark.parametrize("compression", SCHEMES)
@pytest.mark.parametrize("name", ["out.tif", "out.ome.tif"])
def test_compressed(compression, name):
    """The same bytes for any ranks, chunks and lanes; what is unpacked is what HDF5 holds."""
    for shape, dtype in (((5, 700, 300), "uint16"), ((3, 33, 70000), "uint8"), ((2, 9, 11), "float32"), ((9, 11), "uint8")):
        array = noise(shape, dtype)
        write_input(array, element_size_um=[2.5, 0.5, 0.325][-len(shape):])
        settings = f'[output]\ncompression = "{compression}"'
        write_job("rescale", name, "from = [0, 200]\nto = [0, 200]")
        job = pathlib.Path("job.toml")
        job.write_text(job.read_text().replace("[output]", settings))
        made = set()
        for ranks, chunk, lanes in ((1, 1, 2), (2, 7, 1), (3, 100, 3), (1, 2000, 1)):
            call("job.toml", "--set", f"run.lanes={lanes}", "--set", f"run.chunk_rows={chunk}", ranks=ranks)
            made.add(pathlib.Path(name).read_bytes())
        assert len(made) == 1
        call("verify", name, "--recompute", "3")
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
        good("compare", name, "in.h5:/x")
        with tifffile.TiffFile(name) as file:
            page = file.pages[0]
            assert page.compression == SCHEMES[compression] and len(file.pages) == (shape[0] if len(shape) > 2 else 1)
            assert page.rowsperstrip * page.nbytes // shape[-2] <= max(1 << 18, page.nbytes // shape[-2])
            if compression == "deflate":
                same(file.asarray(), array)
                assert (file.is_ome if name.endswith("ome.tif") else file.imagej_metadata["unit"] == "micron")
        if dtype != "float32":
            by_libtiff(name, array if len(shape) == 2 else array[0])
        assert not list(pathlib.Path().glob(f"{name}.partial*"))
        good("convert", "in.h5:/x", f"b.{name}", "--compression", compression, "--overwrite")
        assert pathlib.Path(f"b.{name}").read_bytes() == made.pop()
        good("generate", "noise", f"g.{name}", "--shape", "3,50,70", "--dtype", "uint16", "--compression", compression,
             "--overwrite")
        good("generate", "noise", "g.npy", "--shape", "3,50,70", "--dtype", "uint16", "--overwrite")
        good("compare", f"g.{name}", "g.npy")


@pytest.mark.quick
@pytest.mark.parametrize("compression", SCHEMES)
def test_compressed_colour(compression):
    array = noise((3, 9, 11, 3))
    tifffile.imwrite("in.tif", array, photometric="rgb")
    write_job("rescale", "out.tif", "from = [0, 200]\nto = [0, 200]", "in.tif")
    for ranks in (1, 2):
        call("job.toml", "--set", f'output.compression="{compression}"', ranks=ranks)
        is_colour("out.tif", 3)
        good("compare", "out.tif", "in.tif")
        call("verify", "out.tif", "--recompute", "3")


@pytest.mark.quick
def test_levels_and_refusals():
    write_input(np.repeat(noise((5, 70, 10)), 30, axis=2))
    sizes = []
    for more in ('compression="zstd"', "level=19"):
        write_job("transpose", "out.tif", "permutation = [0, 1, 2]")
        job = pathlib.Path("job.toml")
        job.write_text(job.read_text().replace("[output]", '[output]\ncompression = "zstd"'))
        call("job.toml", *(("--set", f"output.{more}") if "level" in more else ()))
        sizes.append(os.path.getsize("out.tif"))
    assert sizes[1] != sizes[0] and max(sizes) < 5 * 70 * 300
    for output, settings, words in (
            ("out.tif", ['compression="lz4"'], ['"lz4" is not for such a file', "deflate, zstd, lzw"]),
            ("out.tif", ['compression="lzw"', "level=3"], ["has no levels"]),
            ("out.tif", ['compression="zstd"', "shuffle=true"], ["output.shuffle", ".h5"]),
            ("out.tif", ['compression="zstd"', "chunk=[1,2,3]"], ["output.chunk", ".h5"]),
            ("out.npy", ['compression="zstd"'], ["output.compression", ".h5"]),
            ("out.h5", ['compression="lzw"', "chunk=[1,2,3]"], ['"lzw" is not for such a file'])):
        write_job("transpose", output, "permutation = [0, 1, 2]")
        error = call("job.toml", *(word for one in settings for word in ("--set", f"output.{one}")), code=2).stderr
        assert all(word in error for word in words), error
    bad(2, ["no chunks and no shuffle"], "convert", "in.h5:/x", "b.tif", "--compression", "zstd", "--chunk", "1,2,3")
    bad(2, ["is not for such a file"], "convert", "in.h5:/x", "b.tif", "--compression", "lz4")


@pytest.mark.parametrize("compression", SCHEMES)
def test_compressed_killed_and_damaged(compression):
    array = noise((6, 700, 400))
    write_input(array, element_size_um=[2.5, 0.5, 0.325])
    write_job("convolve", "out.tif", TAPS)
    commit = ("--set", f'output.compression="{compression}"', "--set", "run.chunk_rows=350", "--set",
              "run.commit_seconds=0", "--set", "output.overwrite=false")
    call("job.toml", *commit)
    whole = pathlib.Path("out.tif").read_bytes()
    for fault in ("pwrite:kill@3:out.tif.partial.shard", "pwrite:torn@6:out.tif.partial.shard",
                  "pwrite:kill@17:out.tif.partial.shard", "pwrite:kill@2:out.tif.partial",
                  "rename:kill@1:out.tif.partial"):
        os.unlink("out.tif")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        assert not os.path.exists("out.tif")
        call("job.toml", *commit)
        assert pathlib.Path("out.tif").read_bytes() == whole, fault
        call("verify", "out.tif")
        assert not list(pathlib.Path().glob("out.tif.*partial*"))
    # Finished rows are not computed again.
    os.unlink("out.tif")
    call("job.toml", *commit, code=-signal.SIGKILL, env={**os.environ, "LD_PRELOAD": programs.fault_shim,
                                                         "FAULT": "rename:kill@1:out.tif.partial"})
    call("job.toml", *commit, "--resume", "require", "--set", 'run.resume_check="all"', "--report", "report.json")
    assert json.loads(pathlib.Path("report.json").read_text())["rows_before"] == 6 * 700
    assert pathlib.Path("out.tif").read_bytes() == whole
    # Any byte of the structure, and a strip.
    with tifffile.TiffFile("out.tif") as file:
        strip, = [page.dataoffsets[1] for page in file.pages[2:3]]
        tables = [file.pages[1].offset, file.pages[3].tags["StripByteCounts"].valueoffset, len(whole) - 5, 4]
    for byte in tables:
        damaged = bytearray(whole)
        damaged[byte] ^= 1
        pathlib.Path("out.tif").write_bytes(damaged)
        assert "cannot read the output" in call("verify", "out.tif", code=3).stderr
    pathlib.Path("out.tif").write_bytes(whole)
    with open("out.tif", "r+b") as file:
        file.seek(strip + 40)
        file.write(b"damaged")
    call("verify", "out.tif", code=7)
    call("repair", "out.tif")
    assert pathlib.Path("out.tif").read_bytes() == whole
    call("verify", "out.tif")
