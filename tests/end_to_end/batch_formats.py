"""Batches of every format: what [output] says is judged by the format that batch.output names."""
import os
import pathlib
import shutil

import h5py
import numpy as np
import pytest

from harness import call

JOB = '''kind = "convolve"
name = "many.tif"
[input]
dataset = "/x"
[output]
{output}
[run]
backend = "cpu"
[batch]
inputs = {inputs}
output = "{name}"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.5, 0.5, 0.0]
'''
LAYOUTS = [
    (".h5", 'chunk = [1, 16, 20]\ncompression = "deflate"\nlevel = 3\nshuffle = true'),
    (".tif", 'compression = "lzw"'),
    (".ome.tif", 'compression = "zstd"\nlevel = 7'),
    (".zarr", 'compression = "gzip"\nlevel = 6'),
    (".ome.zarr", 'chunk = [1, 16, 20]\nshard = [1, 32, 40]\ncompression = "blosc-zstd"\nshuffle = true'),
    (".png", ""),
]
WRONG = [
    ("out/{stem}.h5", 'chunk = [1, 16, 20]\ncompression = "gzip"', ["output.compression", "did you mean \"deflate\""]),
    ("out/{stem}.h5", 'chunk = [1, 16, 20]\ncompression = "lzw"', ["output.compression", "bitshuffle-zstd"]),
    ("out/{stem}.h5", 'compression = "deflate"', ["output.compression", "output.chunk"]),
    ("out/{stem}.h5", "chunk = [1, 16, 20]\nshard = [1, 16, 20]", ["output.shard"]),
    ("out/{stem}.tif", 'compression = "lz4"', ["output.compression", "deflate, zstd, lzw"]),
    ("out/{stem}.tif", "chunk = [1, 16, 20]", ["output.chunk", "a .tif file has none"]),
    ("out/{stem}.zarr", 'compression = "lz4"', ["output.compression", "zstd, gzip, blosc-lz4, blosc-zstd"]),
    ("out/{stem}.zarr", "parts = 2", ["output.parts", "a .zarr file has none"]),
    ("out/{stem}.npy", 'compression = "deflate"', ["output.compression", "a .npy file has none"]),
    ("out/{stem}.sand", "", ["batch.output", "a .sand file holds cells of sand alone"]),
]


def write_inputs(axes):
    for number in range(2):
        array = np.random.default_rng(number).integers(0, 60000, (1, 40 + number, 50), "uint16")
        with h5py.File(f"s{number}.h5", "w") as file:
            file["x"] = array if axes == 3 else array[0]


@pytest.fixture(autouse=True)
def inputs(folder):
    write_inputs(3)
    return folder


def write_job(name, output, inputs='["s?.h5"]'):
    pathlib.Path("job.toml").write_text(JOB.format(name=name, output=output, inputs=inputs))


def content(path):
    path = pathlib.Path(path)
    files = [path] if path.is_file() else [one for one in sorted(path.rglob("*"))
                                           if one.is_file() and one.name != "runner.json"]  # which has times
    return {str(one.relative_to(path)): one.read_bytes() for one in files}


@pytest.mark.quick
@pytest.mark.parametrize(("ending", "output"), LAYOUTS, ids=[ending for ending, _ in LAYOUTS])
def test_outputs(ending, output):
    """A dataset of a batch has the bytes that a job of its own makes."""
    write_inputs(2 if ending == ".png" else 3)
    write_job(f"out/{{stem}}{ending}", output)
    call("batch", "job.toml", "--quiet")
    for number in range(2):
        call("job.toml", "--quiet", "--set", f"input.file=s{number}.h5", "--set", f"output.file=own{ending}")
        made, own = f"out/s{number}{ending}", f"own{ending}"
        call("verify", made)
        if ending == ".h5":  # which says when it was made
            call("compare", f"{made}:/x", f"{own}:/x")
            with h5py.File(made) as a, h5py.File(own) as b:
                assert a["x"].chunks == b["x"].chunks and a["x"].id.get_storage_size() == b["x"].id.get_storage_size()
        else:
            assert content(made) == content(own)
        for path in pathlib.Path().glob(f"own{ending}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.quick
@pytest.mark.parametrize(("name", "output", "words"), WRONG)
def test_refused(name, output, words):
    """Before a dataset is looked at."""
    write_job(name, output)
    error = call("batch", "job.toml", code=2).stderr
    assert "the job file is wrong" in error and all(word in error for word in words), error
    assert not os.path.exists("out")


@pytest.mark.quick
def test_names_that_say_no_format():
    """What braces end, and what a list names, is judged by each output's own name."""
    write_job("out/{stem}_{name}", 'compression = "lzw"')
    call("batch", "job.toml", "--quiet")
    assert all(content(f"out/s{number}_many.tif") for number in range(2))
    pathlib.Path("list.tsv").write_text("input.file\toutput.file\ns0.h5\tlisted/a.tif\ns1.h5\tlisted/b.ome.tif\n")
    write_job("listed/{stem}.h5", 'compression = "lzw"', '"list.tsv"')
    call("batch", "job.toml", "--quiet")
    assert all(content(f"listed/{name}") for name in ("a.tif", "b.ome.tif"))
    pathlib.Path("list.tsv").write_text("input.file\toutput.file\ns0.h5\tother/a.tif\ns1.h5\tother/b.npy\n")
    error = call("batch", "job.toml", "--quiet", code=2).stderr
    assert "a .npy file has none" in error and sorted(os.listdir("other")) == ["a.tif", "a.tif.identity"], error
