"""OME-Zarr 0.4 outputs, on Zarr 2: what zarr-python reads of them, beside what OME-Zarr 0.5 outputs hold."""
import itertools
import json
import os
import pathlib
import shutil
import signal

import numpy as np
import pytest
import zarr

from harness import bad, call, good, programs
from tiff_outputs import TAPS, noise, write_input, write_job
from zarr_levels import values
from zarr_outputs import COMPRESSIONS, content, damage, read_array, same, set_output

COMPRESSORS = {"none": None, "zstd": "zstd", "gzip": "gzip", "blosc-lz4": "blosc", "blosc-zstd": "blosc"}


def attributes_of(folder):
    """What the root says of the image: of 0.4, and of 0.5."""
    path = pathlib.Path(folder, ".zattrs")
    if path.exists():
        assert json.loads(pathlib.Path(folder, ".zgroup").read_text()) == {"zarr_format": 2}
        return json.loads(path.read_text())
    return json.loads(pathlib.Path(folder, "zarr.json").read_text())["attributes"]["ome"]


def check_same(folder, of_05):
    """The levels have the elements of the other's, and the image is described alike."""
    found, wanted = attributes_of(folder), attributes_of(of_05)
    assert found["omero"] == wanted["omero"] and set(found) == {"multiscales", "omero"}
    assert wanted["version"] == "0.5" and found["multiscales"][0].pop("version") == "0.4"
    assert found["multiscales"] == wanted["multiscales"]
    group = zarr.open(folder, "r")
    for level in wanted["multiscales"][0]["datasets"]:
        array = group[level["path"]]
        same(array[...], read_array(pathlib.Path(of_05, level["path"]))[0])
        assert array.order == "C" and array.filters is None and array.fill_value == 0
        node = json.loads(pathlib.Path(folder, level["path"], ".zarray").read_text())
        assert node["dimension_separator"] == "/" and node["zarr_format"] == 2
        yield array


@pytest.mark.share(0.4)
@pytest.mark.quick
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("chunk", ["", "[2, 16, 48]"])
def test_outputs(compression, chunk):
    """The same bytes for any ranks, rows and lanes, and of convert; each chunk is a file."""
    array = values((5, 65, 300), "uint16")
    write_input(array, DIMENSION_LABELS=["z", "y", "x"], element_size_um=[1.5, 0.5, 0.75])
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    layout = f'compression = "{compression}"\n' + (f"chunk = {chunk}" if chunk else "")
    set_output(layout)
    made = []
    for ranks, rows in ((1, 1), (3, 7)):
        call("job.toml", "--set", 'output.ngff="0.4"', "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.append(content("out.ome.zarr"))
    call("verify", "out.ome.zarr", "--recompute", "2")
    shutil.move("out.ome.zarr", "old.ome.zarr")
    call("job.toml")
    for level, found in enumerate(check_same("old.ome.zarr", "out.ome.zarr")):
        assert (found.compressor.codec_id if found.compressor else None) == COMPRESSORS[compression]
        if chunk:
            assert list(found.chunks) == [min(c, n) for c, n in zip((2, 16, 48), found.shape, strict=True)]
        files = [name for name in made[0] if name.startswith(f"{level}/") and not name.endswith(".zarray")]
        assert len(files) == found.nchunks
    options = ["--chunk", chunk[1:-1].replace(" ", "")] if chunk else []
    good("convert", "in.h5:/x", "b.ome.zarr", "--ngff", "0.4", "--compression", compression, *options)
    assert made[0] == made[1] == content("b.ome.zarr")
    good("convert", "b.ome.zarr", "back.npy")
    same(np.load("back.npy"), array)


@pytest.mark.share(0.4)
@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64"])
def test_types_and_shapes(dtype):
    for shape in ((9, 11), (3, 2, 5, 7), (2, 3, 2, 5, 7)):
        np.save("in.npy", noise(shape, "uint8").astype(dtype))
        for version in ("0.4", "0.5"):
            good("convert", "in.npy", f"{version}.ome.zarr", "--overwrite", "--ngff", version, "--levels", "2")
        assert len(list(check_same("0.4.ome.zarr", "0.5.ome.zarr"))) == 2
        same(zarr.open("0.4.ome.zarr", "r")["0"][...], np.load("in.npy"))


@pytest.mark.quick
def test_inspected_and_planned():
    np.save("in.npy", noise((4, 600, 520), "uint8"))
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]", source="in.npy")
    set_output('ngff = "0.4"\nchunk = [2, 100, 100]')
    plan = json.loads(call("plan", "job.toml", "--json").stdout)
    assert plan["outputs"][0]["levels"] == [[2, 300, 260], [1, 150, 130]]
    call("job.toml")
    files = [name for name in content("out.ome.zarr") if not pathlib.Path(name).name.startswith(".z")]
    assert plan["outputs"][0]["files"] == len(files) == 2 * 6 * 6 + 3 * 3 + 2 * 2
    assert [one["path"] for one in json.loads(good("inspect", "out.ome.zarr", "--json"))["datasets"]] == ["/0", "/1", "/2"]
    good("compare", "in.npy", "out.ome.zarr")


@pytest.mark.quick
def test_another_version_is_another_job():
    """The finished output of one version is not that of a job of the other; a certificate is of both."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output('ngff = "0.4"')
    call("job.toml")
    error = call("job.toml", "--set", "output.overwrite=false", "--set", 'output.ngff="0.5"', code=4).stderr
    assert "output.ngff" in error
    pathlib.Path("c.json").write_text(call("certify", "out.ome.zarr").stdout)
    call("job.toml", "--set", 'output.ngff="0.5"')
    assert pathlib.Path("out.ome.zarr/zarr.json").exists() and not pathlib.Path("out.ome.zarr/.zattrs").exists()
    assert "is the result of c.json" in call("certify", "--check", "c.json", "out.ome.zarr").stdout


@pytest.mark.quick
def test_refusals():
    write_input(noise((5, 70, 10)))
    for output, settings, words in (
            ("out.zarr", ['ngff="0.4"'], ["output.ngff", ".ome.zarr"]),
            ("out.h5", ['ngff="0.4"'], ["output.ngff", ".ome.zarr"]),
            ("out.ome.zarr", ['ngff="0.3"'], ["output.ngff", "0.5, 0.4"]),
            ("out.ome.zarr", ['ngff="0.4"', "chunk=[1,7,10]", "shard=[1,70,10]"], ["output.shard", "Zarr 3"]),
            ("out.ome.zarr", ['ngff="0.4"', 'compression="lz4"'], ['"lz4" is not for such a file'])):
        write_job("transpose", output, "permutation = [0, 1, 2]")
        error = call("job.toml", *(word for one in settings for word in ("--set", f"output.{one}")), code=2).stderr
        assert all(word in error for word in words), error
        assert not os.path.exists(output)
    bad(2, ["--shard", "Zarr 3"], "convert", "in.h5:/x", "b.ome.zarr", "--ngff", "0.4", "--shard", "5,70,10")
    bad(2, ["--ngff"], "convert", "in.h5:/x", "b.zarr", "--ngff", "0.4")


FAULTS = ["pwrite:kill@3:out.ome.zarr.partial.shard", "pwrite:torn@5:out.ome.zarr.partial/0/", "pwrite:kill@1:partial/1/0",
          "pwrite:kill@1:partial/0/.zarray", "pwrite:torn@1:partial/.zattrs", "pwrite:kill@1:partial/.zgroup",
          "rename:kill@2:out.ome.zarr.partial"]


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("fault", FAULTS)
def test_killed(fault):
    """A run that is killed at any write is resumed by any ranks to the same bytes."""
    write_input(noise((6, 90, 70)))
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output('ngff = "0.4"\nchunk = [1, 16, 32]\nlevels = 3\ncompression = "zstd"')
    commit = ("--set", "run.chunk_rows=90", "--set", "run.commit_seconds=0")
    call("job.toml", *commit)
    whole = content("out.ome.zarr")
    number = FAULTS.index(fault)
    if number % 2 == 0:
        call("job.toml", *commit, "--set", 'convolve.boundary="reflect"')
    else:
        shutil.rmtree("out.ome.zarr")
    before = content("out.ome.zarr")
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                   "FAULT_LOG": os.path.abspath("fault.log")}
    call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
    assert content("out.ome.zarr") == before
    call("job.toml", *commit, ranks=1 + number % 3)
    assert content("out.ome.zarr") == whole
    call("verify", "out.ome.zarr")
    assert sorted(path.name for path in pathlib.Path().glob("out.ome.zarr*")) == ["out.ome.zarr"]


@pytest.mark.quick
def test_repaired():
    """A chunk, of any level, and a text that are missing or damaged are written again."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", "out.ome.zarr", TAPS)
    set_output('ngff = "0.4"\nchunk = [2, 16, 16]\nlevels = 2\ncompression = "zstd"')
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.ome.zarr")
    for name, change in itertools.product(("0/1/2/0", "1/0/1/0"), ("remove", "empty", "cut", "flip")):
        damage("out.ome.zarr", name, change)
        call("verify", "out.ome.zarr", code=7)
        assert "repaired: " in call("repair", "out.ome.zarr").stdout
        assert content("out.ome.zarr") == whole
    for name in (".zgroup", ".zattrs", "0/.zarray", "1/.zarray"):
        pathlib.Path("out.ome.zarr", name).unlink()
        assert "is missing" in call("verify", "out.ome.zarr", code=3).stderr
        assert f"repaired: {name}" in call("repair", "out.ome.zarr").stdout
        assert content("out.ome.zarr") == whole
    for name in ("zarr.json", "0/9/9/9", "notes.txt"):
        pathlib.Path("out.ome.zarr", name).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path("out.ome.zarr", name).write_text("{}")
        assert "none of its files" in call("verify", "out.ome.zarr", code=3).stderr
        pathlib.Path("out.ome.zarr", name).unlink()
