"""What the program refuses, and what it records.

Each refusal is one message of the form `runner: error: …` with the right exit code, also on several
ranks, and leaves no output behind.
"""
import json
import os
import pathlib

import h5py
import numpy as np
import pytest

from harness import call

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out.h5"
sync = false
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = { box = { radius = 3 } }
boundary = "wrap"
'''

# What is tried, the exit code, and words of the message.
REFUSALS = [
    (["job.toml", "--set", 'input.file="none.h5"'], 3, ["none.h5", "There is cut.h5, in.h5"]),
    (["inspect", "jn.h5"], 3, ["Did you mean in.h5?"]),
    (["job.toml", "--set", 'input.file="text.h5"'], 3, ["text.h5", "HDF5"]),
    (["job.toml", "--set", 'input.file="cut.h5"'], 3, ["cut.h5", "truncated"]),
    (["job.toml", "--set", 'input.dataset="/imag"'], 3, ["Did you mean /image?"]),
    (["job.toml", "--set", 'input.dataset="/raw/Line"'], 3, ["The file has: /image, /line"]),
    (["job.toml", "--set", 'input.dataset="/words"'], 3, ["/words"]),
    (["job.toml", "--set", 'input.dataset="/line"'], 3, ["two axes"]),
    (["job.toml", "--set", 'output.file="nowhere/out.h5"'], 4, ["mkdir -p nowhere"]),
    (["job.toml", "--set", 'output.file="there.h5"'], 4, ["there.h5", "overwrite"]),
    (["job.toml", "--report", "nowhere/r.json"], 4, ["nowhere", "mkdir"]),
    (["job.toml", "--report", "folder.json"], 4, ["folder.json", "it is a folder"]),
    (["convert", "in.h5:/image", "nowhere/x.npy"], 4, ["mkdir -p nowhere"]),
    (["convert", "in.h5:/image", "nowhere/x.h5"], 4, ["mkdir -p nowhere"]),
    (["render", "in.h5:/image", "nowhere/x.png"], 4, ["mkdir -p nowhere"]),
    (["generate", "noise", "new.h5", "--shape", "9223372036854775807,9", "--dtype", "uint8"], 2,
     ["2^63"]),
    (["job.toml", "--set", "run.host_memory=1000"], 2, ["run.host_memory"]),
    (["job.toml", "--set", "run.chunk_rows=90000", "--set", 'run.host_memory="64KiB"'], 2,
     ["run.host_memory", "chunk_rows"]),
    (["job.toml", "--resume", "require"], 4, ["out.h5.partial", "nothing to resume"]),
    (["job.toml", "--set", 'convolve.boundry="wrap"'], 2, ["boundary"]),
    (["jobb.toml"], 2, ["jobb.toml", "job.toml"]),
    (["plan", "job.toml", "--backend", "cuda"], 2, ["--device-memory"]),
]


@pytest.fixture(name="image", autouse=True)
def files(folder):
    image = np.random.default_rng(1).random((301, 77))
    with h5py.File("in.h5", "w") as file:
        file["image"] = image
        file["line"] = image[0]
        file["words"] = np.array(["a", "b"], dtype="S4")
    pathlib.Path("job.toml").write_text(JOB)
    os.mkdir("folder.json")
    pathlib.Path("there.h5").write_bytes(b"kept")
    pathlib.Path("text.h5").write_text("no HDF5 file\n" * 100)
    pathlib.Path("cut.h5").write_bytes(pathlib.Path("in.h5").read_bytes()[:60000])
    return image


@pytest.mark.share(0.6)
@pytest.mark.parametrize("ranks", [pytest.param(1, marks=pytest.mark.quick), 2])
@pytest.mark.parametrize("arguments, code, words", REFUSALS, ids=[" ".join(row[0]) for row in REFUSALS])
def test_refusal(arguments, code, words, ranks):
    before = set(os.listdir())
    done = call(*arguments, code=code, ranks=ranks)
    errors = [line for line in done.stderr.splitlines() if line.startswith("runner: error: ")]
    assert len(errors) == 1 and all(word in done.stderr for word in words), done.stderr
    assert set(os.listdir()) == before


@pytest.mark.quick
def test_a_report_of_three_ranks(image):
    """Every input byte is read once, every output byte written once."""
    call("job.toml", "--quiet", "--report", "r.json", "--trace", "t.json", ranks=3)
    report = json.loads(pathlib.Path("r.json").read_text())
    for stage in ["read", "write"]:
        assert sum(rank["stages"][stage]["bytes"] for rank in report["ranks"]) == image.nbytes, stage
    rows = [rank["rows"] for rank in report["ranks"]]
    assert rows[0][0] == 0 and rows[2][1] == len(image), rows
    events = json.loads(pathlib.Path("t.json").read_text())
    names = {e["name"] for e in events["traceEvents"] if e.get("ph") == "X"}
    assert "chunk 0" in names, names


@pytest.mark.quick
def test_a_report_of_one_rank(image):
    """A wrapped image in several chunks on one rank needs rows out of their order: still once each."""
    call("job.toml", "--quiet", "--report", "one.json", "--set", "run.chunk_rows=50")
    stages = json.loads(pathlib.Path("one.json").read_text())["ranks"][0]["stages"]
    assert stages["read"]["bytes"] == image.nbytes, stages
    with h5py.File("out.h5") as out:
        wanted = {"runner_version", "job", "kind", "input_file", "input_bytes", "input_modified",
                  "backend", "devices", "ranks", "chunk_rows", "wall_seconds", "read_bytes"}
        assert wanted <= set(out.attrs), list(out.attrs)
