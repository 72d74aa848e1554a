"""What stands in the way of a job of several passes.

Whatever makes the job's output impossible, in each form that an output has, is refused before the first
pass begins, and stays as it is.
"""
import fcntl
import os
import pathlib
import struct

import h5py
import pytest

from pipelines import CHAIN, Checks, write_chain

# The output, what others have put in its way, and settings.
IN_THE_WAY = [
    ("out.h5", "out.h5", []), ("out.h5", "out.h5", ["output.overwrite=true"]),
    ("out.h5", "out.h5.partial", []), ("out.h5", "out.h5.journal", []), ("out.h5", "out.h5.lock", []),
    ("out.h5", "out.h5.partial/file", ["output.overwrite=true"]),
    ("out.h5", "out.h5.journal/file", []),
    ("out.h5", "out.parts/0000.h5", ["output.parts=2"]), ("out.h5", "out.parts/file", ["output.parts=2"]),
    ("out.h5", "out.parts", ["output.parts=2"]), ("out.h5", "out.parts/0000b.h5", ['output.parts="auto"']),
    ("out.npy", "out.npy", []), ("out.npy", "out.npy.identity", []), ("out.tif", "out.tif.partial", []),
    ("out_*.tif", "out_00000.tif", []), ("out_*.tif", "out_00003.tif", ["output.overwrite=true"]),
    ("out_*.tif", "out_*.tif.partial/file", []), ("out_*.tif", "out_*.tif.publishing/file", []),
    ("out.zarr", "out.zarr/file", []), ("out.zarr", "out.zarr", []),
    ("out.zarr", "out.zarr.partial/file", []),
]


@pytest.fixture(name="checks")
def make_checks():
    return Checks()


def tree():
    """Every file and folder, with the bytes of files."""
    return {str(path): path.read_bytes() if path.is_file() else None
            for path in sorted(pathlib.Path().rglob("*"))}


def refused(checks, what, name, *arguments):
    before = tree()
    done = checks.run("job.toml", "--backend", checks.backend, *arguments)
    checks.expect(done.returncode == 4 and name in done.stderr, f"{what}: {done.returncode} {done.stderr}")
    checks.expect("pass 1 of 2" not in done.stderr, f"{what}: a pass ran: {done.stderr}")
    checks.expect(tree() == before, f"{what}: {sorted(set(tree()) ^ set(before))}")


def settings(*given):
    return [word for each in given for word in ["--set", each]]


@pytest.mark.parametrize("output, way, more", IN_THE_WAY)
def test_in_the_way(checks, output, way, more):
    write_chain(CHAIN.replace("float64", "float32"))
    path = pathlib.Path(way)
    path.parent.mkdir(exist_ok=True)
    if way == "out.h5":
        with h5py.File(way, "w") as file:
            file["mine"] = 1
    else:
        path.write_bytes(b"mine")
    named = path.parent if path.name == "file" else output if "*" in output else path
    refused(checks, f"{way} {more}", str(named),
            *settings(f'output.file="{output}"', *more))


def test_folders_in_the_way(checks):
    write_chain()
    for name in ["out.h5.lock", "out.h5.pass-1.h5", "out.h5.pass-1.h5.partial"]:
        os.mkdir(name)
        refused(checks, name, name)
        os.rmdir(name)
    refused(checks, "no folder", "gone", *settings('output.file="gone/out.h5"'))


def test_another_run_has_the_output(checks):
    write_chain()
    with open("out.h5.lock", "w+") as lock:
        lock.write("runner lock: process 1 on another host\n")
        lock.flush()
        whole = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, whole)
        refused(checks, "locked", "process 1 on another host")


def test_the_input_is_gone(checks):
    """Nobody knows whether an output is of an input that is yet to be made."""
    write_chain(CHAIN)
    made = settings('input.generate={pattern="noise", shape=[9, 40, 30], dtype="float32", seed=1}')
    os.unlink("in.h5")
    done = checks.job(*made)
    checks.expect(done.returncode == 0, done.stderr)
    os.unlink("in.h5")
    refused(checks, "no input", "out.h5", *made)
    done = checks.job(*made, "--set", "output.overwrite=true")
    checks.expect(done.returncode == 0, done.stderr)
