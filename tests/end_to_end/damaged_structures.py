"""HDF5 files of which a checksum of HDF5's own structures does not match.

HDF5 1.10 opens such an object if it is asked once more, and leaves out what the damaged block held. No
verb may take that for the file: an input is refused, and a finished output is never right.
"""
import pathlib

import h5py
import numpy as np
import pytest

import harness

CHECKSUM = "a checksum of HDF5's structures does not match"


def places(data, mark):
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def flip(path, at):
    data = bytearray(pathlib.Path(path).read_bytes())
    data[at] ^= 1
    pathlib.Path(path).write_bytes(data)


def write_job(output):
    pathlib.Path("job.toml").write_text(
        'kind = "convolve"\n[input]\nfile = "in.h5"\ndataset = "/g/a"\n[output]\nfile = "out.h5"\n'
        f'{output}\n[run]\nbackend = "cpu"\n[convolve]\nrow_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [1]\n')


def write_input():
    """All its object headers have checksums, and the attributes are in a block of their own."""
    with h5py.File("in.h5", "w", libver="latest") as file:
        file["g/a"] = np.arange(2400, dtype="float32").reshape(2, 30, 40)
        for i in range(8):
            file["g/a"].attrs[f"note {i}"] = np.arange(20.0) + i


def test_inputs():
    write_job("")
    write_input()
    whole = pathlib.Path("in.h5").read_bytes()
    blocks = list(places(whole, b"OCHK"))
    assert blocks
    for block in blocks:
        for at in [block + 8, block + 100]:
            flip("in.h5", at)
            for arguments in [["job.toml"], ["plan", "job.toml"], ["inspect", "in.h5"],
                              ["convert", "in.h5:/g/a", "new.npy"], ["compare", "in.h5:/g/a", "in.h5:/g/a"]]:
                error = harness.bad(3, [CHECKSUM, "in.h5"], *arguments)
                assert arguments[0] != "job.toml" or "in.h5:/g/a" in error, error
            pathlib.Path("in.h5").write_bytes(whole)
    harness.call("job.toml", "--quiet")


@pytest.mark.parametrize("output", ["parts = 2", "chunk = [1, 1, 1]"])
def test_outputs(output):
    """Of the format whose structures have checksums."""
    write_job(output)
    write_input()
    harness.call("job.toml", "--quiet")
    whole = pathlib.Path("out.h5").read_bytes()
    marks = [at for mark in [b"OHDR", b"OCHK"] for at in places(whole, mark)]
    assert marks
    for at in marks:
        flip("out.h5", at + 20)
        for verb in ["verify", "certify", "repair"]:
            assert CHECKSUM in harness.call(verb, "out.h5", code=3).stderr
        assert "complete already" not in harness.call("job.toml", code=4).stderr
        pathlib.Path("out.h5").write_bytes(whole)
    harness.call("verify", "out.h5")
