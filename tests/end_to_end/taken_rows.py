"""Rows that a run takes over from one that was killed, and that have changed on the disk since.

Before it resumes, a run reads eight of the finished chunks. The others it reads beside its stream, and
the output gets its name only if they are as they were written. Each format and each engine: a byte is
flipped in one place after the other. The same command ends with the right output, or with exit code 4,
and then makes the right output when it is started again.
"""
import os
import pathlib
import shutil
import signal

import h5py
import numpy as np
import pytest

import harness
from harness import programs

TAPS = "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.25, 0.5, 0.25]"
PACKED = 'compression = "deflate"\nchunk = [1, 10, 40]'
SAND = "generations = 40\nsnapshot_every = 1"
# The file, the kind, what the job has under it, and [output].
JOBS = {
    "plain": ("out.h5", "convolve", TAPS, ""),
    "chunks": ("out.h5", "convolve", TAPS, "chunk = [1, 10, 40]"),
    "packed": ("out.h5", "convolve", TAPS, PACKED),
    "parts": ("out.h5", "convolve", TAPS, "parts = 2"),
    "packed_parts": ("out.h5", "convolve", TAPS, f"parts = 2\n{PACKED}"),
    "frames": ("out.h5", "stripes", "size = 5", ""),  # a frame of several runs, which are computed together
    "npy": ("out.npy", "convolve", TAPS, ""),
    "tiff": ("out.tif", "convolve", TAPS, ""),
    "transpose": ("out.h5", "transpose", "permutation = [1, 2, 0]", ""),
    "packed_transpose": ("out.h5", "transpose", "permutation = [0, 2, 1]", PACKED),
    "match": ("out.h5", "match", "window = [3, 3, 3]\npatch = [2, 2, 2]\ncount = 4", ""),
    "sand_hdf5": ("out.h5", "sand", SAND, ""),
    "sand": ("out.sand", "sand", SAND, ""),
}
PLACES = [0.23, 0.31, 0.47, 0.61]
# Which chunks are read before the run, and where packed ones lie, differs from run to run.
MORE_PLACES = [0.05, 0.11, 0.17, 0.39, 0.53, 0.69, 0.77, 0.83, 0.89, 0.95]
ROW_CHECK = "do not match their checksum"


def write_job(name):
    file, kind, table, output = JOBS[name]
    cells = kind == "sand"
    shape = (1, 60, 80) if cells else (6, 700, 900) if name == "frames" else (24, 40, 40)
    values = np.random.default_rng(5).integers(0, 4 if cells else 200, shape)
    with h5py.File("in.h5", "w") as made:
        made["a"] = values.astype("uint8" if cells or kind == "match" else "float32")
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out/{file}"\n{output}\n'
        f'[run]\nbackend = "cpu"\nchunk_rows = 40\nlanes = 1\nhost_memory = "64 MiB"\ncommit_seconds = 0\n'
        f"[{kind}]\n{table}\n")
    os.mkdir("out")
    return "out/" + file


def content(path):
    """What the output holds, apart from facts about the run."""
    if not path.endswith(".h5"):
        return pathlib.Path(path).read_bytes()
    with h5py.File(path) as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        return {name: file[name][()].tobytes() for name in names if not name.startswith("runner/")}


def elements_file(path):
    """The file that holds most of the elements of the output under way."""
    shards = list(pathlib.Path("out").glob("**/*.shard-*"))
    parts = list(pathlib.Path("out").glob("*.parts/*"))
    return max(shards or parts or [pathlib.Path(path + ".partial")], key=lambda file: file.stat().st_size)


def flip(file, place):
    data = bytearray(file.read_bytes())
    data[int(len(data) * place)] ^= 4
    file.write_bytes(data)


def kill_when_complete(path, ranks):
    """All rows are in the journal; only the renaming is missing."""
    harness.call("job.toml", "--quiet", ranks=ranks, code=-signal.SIGKILL, env={
        **os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": f"rename:kill@1:{path}.partial",
        "FAULT_LOG": os.path.abspath("fault.log")})


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", JOBS)
def test_changed_rows(name, ranks):
    with harness.new_folder():
        path = write_job(name)
        harness.call("job.toml", "--quiet")
        wanted = content(path)
        shutil.rmtree("out")
        os.mkdir("out")
        kill_when_complete(path, 1)
        shutil.copytree("out", "killed")
        refused = 0
        for place in PLACES + MORE_PLACES:
            if place in MORE_PLACES and refused > 0:
                break
            shutil.rmtree("out")
            shutil.copytree("killed", "out")
            flip(elements_file(path), place)
            done = harness.attempt("job.toml", "--quiet", before=harness.launch(ranks))
            if done.returncode != 0:
                assert done.returncode == 4 and ROW_CHECK in done.stderr, done.stderr
                assert not os.path.exists(path)
                refused += 1
                harness.call("job.toml", "--quiet", ranks=ranks)
            assert content(path) == wanted, f"{place}: {done.stderr}"
            harness.call("verify", path)
            assert not os.path.exists(path + ".journal")
        assert refused > 0, "no place is among the rows that are read beside the stream"


def test_all_are_read_before():
    """With resume_check = "all" the same run computes what has changed."""
    with harness.new_folder():
        path = write_job("plain")
        harness.call("job.toml", "--quiet")
        wanted = content(path)
        shutil.rmtree("out")
        os.mkdir("out")
        kill_when_complete(path, 1)
        for place in PLACES:
            flip(elements_file(path), place)
        harness.call("job.toml", "--quiet", "--set", 'run.resume_check="all"')
        assert content(path) == wanted
