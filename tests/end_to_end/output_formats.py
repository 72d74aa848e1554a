""".npy, TIFF, NIfTI-1 and MRC files as a job's output.

They must hold what the same job writes to HDF5, as numpy, tifffile, nibabel and mrcfile read them, and lose nothing:
killed, damaged and foreign files are treated as those of HDF5 are.
"""
import json
import os
import pathlib
import re
import signal
import subprocess

import h5py
import numpy as np
import tifffile
import xxhash

import harness
from harness import programs
from same_outputs import KINDS, can_hold, read, write

FILES = ("out.npy", "out.tif", "out.nii", "out.mrc")
TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


def call(*arguments, ranks=1, code=0, fault=""):
    environment = dict(os.environ)
    if fault:
        environment |= {"LD_PRELOAD": programs.fault_shim, "FAULT": fault, "FAULT_LOG": os.path.abspath("fault.log")}
    done = harness.call(*arguments, code=code, ranks=ranks, env=environment)
    assert code in (0, 7, 75, -signal.SIGKILL) or done.stderr.count("error:") == 1, done.stderr
    return done


def write_job(kind, output, table, more="", source="in.h5"):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\ndataset = "/x"\n'
        f'[output]\nfile = "{output}"\ndataset = "/made"\n{more}\n[run]\nbackend = "cpu"\n[{kind}]\n{table}')


def write_input(array):
    with h5py.File("in.h5", "w") as file:
        file["x"] = array


def noise(shape, dtype="float32"):
    values = np.random.default_rng(7).integers(0, 100, shape)
    return (values / 8 if dtype[0] == "f" else values).astype(dtype)


def by_hdf5(kind, table):
    write_job(kind, "expected.h5", table, "overwrite = true")
    call("job.toml")
    with h5py.File("expected.h5") as file:
        return file["made"][()]


def holds(name, wanted):
    found = read(name)
    assert found.dtype == wanted.dtype, (name, found.dtype, wanted.dtype)
    # tifffile leaves out axes of one page; the file itself has pages and no shape.
    shape = found.shape if name.endswith(".tif") else wanted.shape
    assert found.shape == shape and found.tobytes() == wanted.tobytes(), (name, found.shape)


def beside(name):
    return sorted(path.name for path in pathlib.Path().glob(name + "*") if not path.name.endswith(".lock"))


def remove(name):
    subprocess.run(f"rm -rf {name} {name}.*", shell=True, check=True)


def fresh(name, table=KINDS["convolve"]):
    """A finished output of a convolution, its bytes and the job that made it."""
    remove(name)
    write_job("convolve", name, table)
    call("job.toml", "--set", "run.chunk_rows=40")
    return pathlib.Path(name).read_bytes()


def test_every_kind():
    write_input(noise((12, 40, 50)))
    for kind in ("convolve", "transpose", "denoise"):
        wanted = by_hdf5(kind, KINDS[kind])
        for name in FILES:
            for ranks in (1, 3):
                remove(name)
                write_job(kind, name, KINDS[kind])
                call("job.toml", "--set", "run.chunk_rows=40", ranks=ranks)
                holds(name, wanted)
                assert beside(name) == [name, name + ".identity"], beside(name)
                before = os.stat(name)
                assert "complete already" in call("job.toml").stderr
                assert os.stat(name) == before, f"{name} was touched"
                call("verify", name)


def test_every_type_and_size():
    for dtype in TYPES:
        array = noise((5, 7, 9), dtype)
        write_input(array)
        for name in FILES:
            if not can_hold(name, dtype, 3):
                continue
            write_job("transpose", name, "permutation = [2, 1, 0]", "overwrite = true")
            call("job.toml")
            holds(name, array.transpose(2, 1, 0))
            call("verify", name, "--recompute", "4")
    for shape in ((1, 1), (1, 9), (9, 1), (1, 1, 1), (3, 1, 5), (2, 3, 4, 5), (2, 1, 3, 1, 7)):
        array = noise(shape, "uint16")
        write_input(array)
        for name in FILES:
            if not can_hold(name, "uint16", array.ndim):
                continue
            write_job("rescale", name, "from = [0.0, 100.0]\nto = [0.0, 200.0]", "overwrite = true")
            call("job.toml")
            holds(name, 2 * array)
            call("verify", name)
    # uint8 with three channels is a colour image.
    array = noise((6, 8, 3), "uint8")
    write_input(array)
    write_job("transpose", "out.tif", "permutation = [1, 0, 2]", "overwrite = true")
    call("job.toml")
    holds("out.tif", np.ascontiguousarray(array.transpose(1, 0, 2)))
    with tifffile.TiffFile("out.tif") as file:
        assert file.pages[0].photometric == tifffile.PHOTOMETRIC.RGB and len(file.pages) == 1


def test_frames_of_sand():
    write_input(np.random.default_rng(1).integers(0, 4, (33, 47), np.uint8))
    table = "generations = 20\nsnapshot_every = 5"
    wanted = by_hdf5("sand", table)
    for name in FILES[:3]:
        write_job("sand", name, table)
        call("job.toml")
        holds(name, wanted)
        text = call("verify", name).stdout
        assert f"uint8 {list(wanted.shape)}" in text, text


def test_another_job_reads_it():
    write_input(noise((6, 20, 30)))
    wanted = by_hdf5("convolve", KINDS["convolve"])
    for name in FILES:
        fresh(name)
        write_job("transpose", "next.npy", "permutation = [1, 0, 2]", "overwrite = true", source=name)
        call("job.toml")
        holds("next.npy", np.ascontiguousarray(wanted.transpose(1, 0, 2)))
        assert call("compare", name, "expected.h5:/made").returncode == 0
        text = call("inspect", name).stdout
        assert "float32 [6, 20, 30]" in text, text


def test_killed():
    """At any write; then the same bytes, without the rows that were committed before."""
    write_input(noise((20, 40, 50)))
    commit = ("--set", "run.chunk_rows=40", "--set", "run.commit_seconds=0")
    for name in FILES:
        wanted = fresh(name)
        for fault in [f"pwrite:kill@1:{name}.partial", f"pwrite:torn@1:{name}.partial",
                      f"pwrite:kill@9:{name}.partial", f"pwrite:torn@12:{name}.partial",
                      f"rename:kill@1:{name}.partial"]:
            remove(name)
            call("job.toml", *commit, fault=fault, code=-signal.SIGKILL)
            assert not os.path.exists(name), fault
            # What a power cut leaves of the structure counts for nothing.
            with open(name + ".partial", "r+b") as file:
                file.write(b"torn")
            call("job.toml", *commit)
            assert pathlib.Path(name).read_bytes() == wanted, fault
            assert beside(name) == [name, name + ".identity"], (fault, beside(name))
            call("verify", name)
        # Finished rows are not computed again, and damaged ones are.
        remove(name)
        call("job.toml", *commit, fault=f"rename:kill@1:{name}.partial", code=-signal.SIGKILL)
        with open(name + ".partial", "r+b") as file:
            file.seek(5000)
            file.write(b"damaged")
        call("job.toml", *commit, "--resume", "require", "--set", 'run.resume_check="all"',
             "--report", "report.json")
        assert pathlib.Path(name).read_bytes() == wanted
        report = json.loads(pathlib.Path("report.json").read_text())
        assert 0 < report["rows_before"] < 800, report["rows_before"]
        remove(name)
        pathlib.Path("STOP").touch()
        call("job.toml", *commit, code=75)
        pathlib.Path("STOP").unlink()
        call("job.toml", *commit, "--resume", "require")
        assert pathlib.Path(name).read_bytes() == wanted
        remove(name)
        call("job.toml", *commit, fault=f"rename:kill@1:{name}.partial", code=-signal.SIGKILL)
        os.truncate(name + ".partial", 3000)
        assert "has 2.93 KiB of" in call("job.toml", code=4).stderr


def test_repair_killed_before_its_record():
    """The next repair writes the record of an output that is right and has another time."""
    write_input(noise((20, 40, 50)))
    for name in FILES:
        fresh(name)
        with open(name, "r+b") as file:
            file.seek(20000)
            file.write(b"damaged")
        kill = ["env", f"LD_PRELOAD={programs.fault_shim}", "FAULT=rename:kill@1:.identity"]
        assert harness.attempt("repair", name, before=kill).returncode == -9
        call("job.toml", code=4)
        assert "nothing to repair" in call("repair", name).stdout
        assert "complete already" in call("job.toml").stderr
        assert not [left for left in os.listdir() if left.endswith((".partial", ".lock"))]


def facts(record):
    """The lines of a record that do not depend on the file's time."""
    return [line for line in record.splitlines() if not line.startswith(("modified", "checksum"))]


def sealed(record, old, new):
    """The record with other facts and the checksum of these."""
    begin, list_of_rows = record.split("\nchecksum = ")
    begin = begin.replace(old, new) + "\n"
    return begin + "checksum = " + xxhash.xxh3_128_hexdigest(begin.encode()) + list_of_rows[32:]


def test_verify_and_repair():
    write_input(noise((20, 40, 50)))
    for name in FILES:
        whole = fresh(name)
        record = pathlib.Path(name + ".identity")
        assert "20 runs compared" in call("verify", name).stdout

        def damage(at, new=b"damaged"):
            with open(name, "r+b") as file:
                file.seek(at)
                file.write(new)

        damage(20000)
        said = call("verify", name, code=7).stdout
        assert "1 run wrong\nto compute them again: runner repair " + name in said
        assert "repaired: " in call("repair", name).stdout
        assert pathlib.Path(name).read_bytes() == whole
        call("verify", name)
        assert "complete already" in call("job.toml").stderr  # the record is of the file as it is now
        # A checksum that is wrong is corrected, where file and job agree.
        text = record.read_text()
        first = re.search(r'\[0,\d+,"([0-9a-f]{16})"\]', text).group(1)
        record.write_text(text.replace(first, "0123456789abcdef"))
        call("verify", name, code=7)
        assert "repaired: the checksum" in call("repair", name).stdout
        assert facts(record.read_text()) == facts(text)
        call("verify", name)
        # By a link; the record stands beside the file itself.
        os.symlink(name, "link-" + name)
        damage(20000)
        call("verify", "link-" + name, code=7)
        call("repair", "link-" + name)
        call("verify", "link-" + name)
        # The structure, which nothing is read by.
        damage(3)
        assert "byte 3 of its structure" in call("verify", name, code=3).stderr
        call("repair", name, code=3)
        damage(0, whole[:40])
        call("verify", name)
        with open(name, "ab") as file:
            file.write(b"x")
        assert f"{len(whole) + 1} bytes" in call("verify", name, code=3).stderr
        os.truncate(name, len(whole))
        # Another file of the same type and shape is nobody's to repair.
        if name.endswith(".npy"):
            np.save(name, np.load(name) + 1)
            other = pathlib.Path(name).read_bytes()
            assert len(other) == len(whole)
            call("verify", name, code=7)
            call("repair", name, code=7)
            assert pathlib.Path(name).read_bytes() == other
        # Records that are damaged or missing.
        for damaged, word in [(text[:200], "damaged"), (text[:-40], "damaged"), ("", "damaged"),
                              (text.replace('"float32"', '"text"'), "checksum"),
                              (text.replace("row_taps = [0.25", "row_taps = [0.24"), "checksum"),
                              (sealed(text, '"float32"', '"text"'), "text"),
                              (sealed(text, "row_taps = [0.25", "row_taps = [0.24"), "job_checksum"),
                              (sealed(text, '"shape":[20,', '"shape":[9000000000000000000,'), "too large"),
                              (sealed(text, '"shape":[20,', '"shape":[19,'), "line 19"),
                              (re.sub(r'\[0,\d+,"[0-9a-f]*"\],', "", text), "line 0")]:
            assert damaged != text
            record.write_text(damaged)
            error = call("verify", name, code=3).stderr
            assert word in error and name in error, error
        record.unlink()
        assert "is not there" in call("verify", name, code=3).stderr


def test_what_is_not_replaced():
    write_input(noise((3, 20, 30)))
    overwrite = ("--set", "output.overwrite=true")
    for name in FILES:
        whole = fresh(name)
        call("job.toml", *overwrite)
        assert pathlib.Path(name).read_bytes() == whole
        changed = 'convolve.boundary="wrap"'
        assert 'boundary was "mirror", is "wrap"' in call("job.toml", "--set", changed, code=4).stderr
        call("job.toml", "--set", changed, *overwrite)
        assert pathlib.Path(name).read_bytes() != whole
        # Somebody else's file, with the record of what was there or without.
        for action in (lambda: None, lambda: os.unlink(name + ".identity")):
            mine = noise((4, 5), "int16")
            write(name, mine)
            action()
            before = pathlib.Path(name).read_bytes()
            assert "nothing is known" in call("job.toml", code=4).stderr
            error = call("job.toml", *overwrite, code=4).stderr
            assert f"no record beside it ({name}.identity)" in error, error
            assert pathlib.Path(name).read_bytes() == before
        remove(name)
        os.mkdir(name + ".identity")
        assert "folder" in call("job.toml", code=4).stderr


def test_batch_and_pipeline():
    for number in range(3):
        with h5py.File(f"s{number}.h5", "w") as file:
            file["x"] = noise((3 + number, 20, 30))
    text = ('kind = "convolve"\n[input]\ndataset = "/x"\n[batch]\ninputs = ["s?.h5"]\n'
            f'output = "out/{{stem}}.npy"\n[run]\nbackend = "cpu"\n[convolve]\n{KINDS["convolve"]}')
    pathlib.Path("job.toml").write_text(text)
    call("batch", "job.toml", fault="rename:kill@1:s1.npy.journal/record", code=-signal.SIGKILL)
    call("batch", "job.toml")
    before = {path: os.stat(path) for path in pathlib.Path("out").glob("*.npy")}
    assert len(before) == 3 and len(list(pathlib.Path("out").glob("*"))) == 7  # records and the state
    call("batch", "job.toml")
    subprocess.run(["rm", "-r", "out/job.state"], check=True)
    call("batch", "job.toml")
    assert before == {path: os.stat(path) for path in before}
    for number in range(3):
        write_job("convolve", "expected.h5", KINDS["convolve"], "overwrite = true", f"s{number}.h5")
        call("job.toml")
        with h5py.File("expected.h5") as file:
            holds(f"out/s{number}.npy", file["made"][()])
        call("verify", f"out/s{number}.npy")
    # Two passes: what is between is HDF5.
    steps = (f'[input]\nfile = "s2.h5"\ndataset = "/x"\n[output]\nfile = "NAME"\n[run]\nbackend = "cpu"\n'
             f'[[step]]\nkind = "convolve"\n{KINDS["convolve"]}[[step]]\nkind = "transpose"\n'
             f'{KINDS["transpose"]}[[step]]\nkind = "convolve"\n{KINDS["convolve"]}')
    for name in ("whole.h5", *FILES):
        pathlib.Path("job.toml").write_text(steps.replace("NAME", name))
        call("job.toml")
        with h5py.File("whole.h5") as file:
            if name in FILES:
                holds(name, file["x"][()])
                call("verify", name)


def test_what_cannot_be():
    write_input(noise((3, 20, 30)))

    def refused(*words, kind="convolve", name="out.npy", more=""):
        write_job(kind, name, KINDS[kind], more)
        for verb in ((), ("plan",)):
            error = call(*verb, "job.toml", code=2).stderr
            assert all(word in error for word in words), error
        assert not list(pathlib.Path().glob(name + "*"))

    for name in FILES:
        ending = name[3:]
        refused("output.file", f"a {ending} file holds one dataset, and this kind makes several", ".h5",
                kind="match", name=name)
        refused("output.chunk", f"a {ending} file has none", name=name, more="chunk = [1, 20, 30]")
        refused("output.parts", f"a {ending} file has none", name=name, more="parts = 2")
    refused("output.compression", more='chunk = [1, 20, 30]\ncompression = "deflate"')
    refused("cannot make a PNG file", "float32", "kind rescale", ".tif", name="out.png")
    refused("output.file", "names no format that is written", name="out.jpg")
    refused("output.file", "cells of sand alone", name="out.sand")
    write_input(noise((3, 4)).astype("complex64"))
    for name in FILES:
        write_job("transpose", name, "permutation = [1, 0]")
        assert "complex64" in call("plan", "job.toml", code=2).stderr
    write_input(noise(7))
    write_job("rescale", "out.tif", "from = [0.0, 100.0]\nto = [0.0, 200.0]")
    assert "images of two axes" in call("plan", "job.toml", code=2).stderr
    write_job("rescale", "out.npy", "from = [0.0, 100.0]\nto = [0.0, 200.0]")
    call("job.toml")
    holds("out.npy", noise(7) * 2)
    call("verify", "out.npy")
