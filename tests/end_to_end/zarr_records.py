"""The record of a Zarr output, runner.json in its folder: it moves with the folder, and one of an earlier version that
stands beside it is read, replaced and removed. Certificates of coarser levels, and the report of a store's arrays."""
import json
import os
import pathlib
import shutil
import signal

import numpy as np
import pytest
import xxhash

from harness import call, good, programs
from tiff_outputs import TAPS, noise, write_input, write_job
from zarr_outputs import content, damage, set_output

CHUNKS = "chunk = [1, 16, 16]\nshard = [2, 32, 48]"


def made(output):
    """A finished output."""
    write_input(noise((6, 70, 40)), DIMENSION_LABELS=["z", "y", "x"])
    write_job("convolve", output, TAPS)
    set_output(CHUNKS + ("\nlevels = 3" if "ome" in output else ""))
    pathlib.Path("job.toml").write_text(pathlib.Path("job.toml").read_text().replace("[run]", "[run]\nchunk_rows = 16"))
    call("job.toml")
    return content(output)


def killed(fault, *words):
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault, "FAULT_LOG": os.path.abspath("fault.log")}
    call(*words, code=-signal.SIGKILL, env=environment)


def put_beside(folder):
    """Makes the record of a folder one of an earlier version: lines in a file beside it."""
    path = pathlib.Path(folder, "runner.json")
    record = json.loads(path.read_text())
    path.unlink()
    begin = f"runner {record['runner']}\nbytes = {record['bytes']}\nmodified = {record['modified']}\n"
    begin += "\n".join(record["identity"]) + "\nrecord = " + json.dumps(record["record"], separators=(",", ":")) + "\n"
    rows = json.dumps(record["row_hashes"], separators=(",", ":"))
    checksum = xxhash.xxh3_128_hexdigest(begin.encode())
    pathlib.Path(folder + ".identity").write_text(f"{begin}checksum = {checksum}\nrow_hashes = {rows}\n")


def beside(folder):
    return sorted(path.name for path in pathlib.Path().glob(folder + "*"))


@pytest.mark.quick
@pytest.mark.parametrize("output", ["out.zarr", "out.ome.zarr"])
def test_in_the_folder(output):
    """The record is JSON that names the job; a folder that is moved keeps it."""
    whole = made(output)
    assert beside(output) == [output]
    record = json.loads(pathlib.Path(output, "runner.json").read_text())
    assert record["runner"] == f".{output.split('.', 1)[1]} output 3" and "kind = convolve" in record["identity"]
    assert record["record"]["array"] == {"dtype": "uint16", "shape": [6, 70, 40]}
    assert sum(rows for _, rows, _ in record["row_hashes"]) == 6 * 70
    assert record["bytes"] == sum(map(len, whole.values()))
    os.mkdir("there")
    moved = "there/" + output.replace("out", "moved")
    shutil.move(output, moved)
    call("verify", moved + "/", "--recompute", "3")
    damage(moved, "0/c/0/0/0" if "ome" in output else "c/0/0/0", "index")
    assert "repaired: " in call("repair", moved).stdout
    assert content(moved) == whole
    shutil.move(moved, output)
    assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    good("convert", output, "b.npy")


@pytest.mark.quick
@pytest.mark.parametrize("output", ["out.zarr", "out.ome.zarr"])
def test_earlier_version(output):
    """A record beside the folder is read; repair and overwrite leave one in the folder alone."""
    whole = made(output)
    put_beside(output)
    assert beside(output) == [output, output + ".identity"]
    call("verify", output)
    assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    assert beside(output) == [output, output + ".identity"] and not os.path.exists(output + "/runner.json")
    damage(output, "0/c/0/0/0" if "ome" in output else "c/0/0/0", "index")
    call("repair", output)
    assert beside(output) == [output] and os.path.exists(output + "/runner.json") and content(output) == whole
    call("verify", output)
    put_beside(output)
    call("job.toml", "--set", 'convolve.boundary="wrap"')
    assert beside(output) == [output] and content(output) != whole
    call("verify", output)
    # A run that is killed before it has removed it.
    put_beside(output)
    killed(f"unlink:kill@1:{output}.identity", "job.toml")
    assert content(output) == whole and beside(output) != [output]
    assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    assert beside(output) == [output]
    call("verify", output)


@pytest.mark.quick
def test_of_others():
    """A record that is missing, damaged or another's makes the output unknown; files of that name are kept."""
    whole = made("out.zarr")
    path = pathlib.Path("out.zarr/runner.json")
    text = path.read_text()
    for changed in (None, "", "{}", "mine", text[:-20], text.replace("convolve", "convolwe"), text.replace(".zarr output", ".npy output")):
        path.unlink()
        if changed is not None:
            path.write_text(changed)
        assert "nothing is known" in call("job.toml", "--set", "output.overwrite=false", code=4).stderr
        assert "out.zarr/runner.json" in call("job.toml", code=4).stderr
        assert "out.zarr/runner.json" in call("verify", "out.zarr", code=3).stderr
        assert content("out.zarr") == whole
        path.write_text(text)
    call("verify", "out.zarr")
    pathlib.Path("out.zarr.identity").write_text("mine")  # which is no record and in nobody's way
    call("job.toml", "--set", 'convolve.boundary="wrap"')
    assert pathlib.Path("out.zarr.identity").read_text() == "mine"
    call("verify", "out.zarr")


@pytest.mark.quick
def test_repair_killed():
    """A repair that was killed as it wrote the record is done by the next one."""
    made("out.ome.zarr")
    for fault in ("write:torn@1:runner.json.partial", "rename:kill@1:runner.json.partial"):
        damage("out.ome.zarr", "0/c/0/0/0", "index")
        killed(fault, "repair", "out.ome.zarr")
        assert os.path.exists("out.ome.zarr/runner.json.partial")
        call("verify", "out.ome.zarr")
        call("repair", "out.ome.zarr")
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
        assert not os.path.exists("out.ome.zarr/runner.json.partial")


@pytest.mark.quick
def test_certified_levels():
    """A certificate lists each level; one that is damaged is not certified, and another one differs."""
    whole = made("out.ome.zarr")
    text = good("certify", "out.ome.zarr")
    pathlib.Path("c.json").write_text(text)
    certificate = json.loads(text)
    assert [each["shape"] for each in certificate["datasets"]] == [[6, 70, 40]]
    assert [(each["dataset"], each["shape"]) for each in certificate["levels"]] == [("/1", [3, 35, 20]), ("/2", [2, 18, 10])]
    for number, level in enumerate(certificate["levels"], 1):
        good("convert", f"out.ome.zarr:/{number}", "level.npy", "--overwrite")
        assert xxhash.xxh3_128_hexdigest(np.load("level.npy").tobytes()) == level["checksum"]
    good("certify", "--check", "c.json", "out.ome.zarr")
    good("convert", "out.ome.zarr", "image.h5:/0", "--overwrite")
    good("certify", "--check", "c.json", "image.h5:/0")  # which has no levels
    damage("out.ome.zarr", "1/c/0/0/0", "flip")
    assert "out.ome.zarr/1/c/0/0/0" in call("certify", "out.ome.zarr", code=7).stderr
    assert "/1" in call("certify", "--check", "c.json", "out.ome.zarr", code=7).stdout
    assert "1/c/0/0/0" in call("verify", "out.ome.zarr", code=7).stdout
    call("repair", "out.ome.zarr")
    assert content("out.ome.zarr") == whole
    good("certify", "--check", "c.json", "out.ome.zarr")


@pytest.mark.quick
@pytest.mark.parametrize("ngff", ["0.4", "0.5"])
def test_reported(ngff):
    """The report has the files, chunks, bytes and seconds of each array."""
    made("out.ome.zarr")
    shutil.rmtree("out.ome.zarr")
    more = ("--set", f'output.ngff="{ngff}"')
    text = pathlib.Path("job.toml").read_text()
    pathlib.Path("job.toml").write_text(text.replace("shard = [2, 32, 48]\n", "") if ngff == "0.4" else text)
    call("job.toml", *more, "--report", "a.json", "--report", "a.html", ranks=2)
    levels = json.loads(pathlib.Path("a.json").read_text())["levels"]
    assert [level["shape"] for level in levels] == [[6, 70, 40], [3, 35, 20], [2, 18, 10]]
    assert [level["chunks"] for level in levels] == [6 * 5 * 3, 3 * 3 * 2, 2 * 2 * 1]
    for number, level in enumerate(levels):
        files = [path for path in pathlib.Path("out.ome.zarr", str(number)).rglob("*")
                 if path.is_file() and path.name not in ("zarr.json", ".zarray")]
        assert level["files"] == len(files) and level["bytes"] == sum(path.stat().st_size for path in files)
        assert level["seconds"] >= 0
    assert "levelsSection" in pathlib.Path("a.html").read_text()
