"""input.region, input.frames and the default signal of a file.

A job on a part of a dataset must make what the same job makes of a file that holds only the part,
as h5py cuts it, to the byte.
"""
import json
import pathlib

import h5py
import numpy as np

from harness import call
from same_outputs import KINDS, same, same_data

SHAPE = (13, 23, 31)
KEY = [1, 1, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0, 1]
# What a job file says, and what h5py takes.
PARTS = [
    ('region = { rows = "3:20" }', np.s_[:, 3:20, :]),
    ('region = { rows = "2:-2", columns = "5:18", depth = "4:" }', np.s_[4:, 2:-2, 5:18]),
    ('frames = "1:12:2"', np.s_[1:12:2]),
    ('frames = "2:9"\nregion = { columns = ":-3" }', np.s_[2:9, :, :-3]),
    ('frames = { where = "/entry/marks", equals = 0 }', np.s_[np.array(KEY) == 0]),
]


def write_job(kind, name, source, part="", output="", generate=""):
    pathlib.Path(name).write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\ndataset = "/entry/data"\n{part}\n{generate}\n'
        f'[output]\nfile = "{pathlib.Path(name).stem}.h5"\noverwrite = true\nsync = false\n{output}\n'
        f'[run]\nbackend = "cpu"\n[{kind}]\n{KINDS[kind]}')


def volume(dtype="float32"):
    return np.random.default_rng(7).integers(0, 200, SHAPE).astype(dtype)


def write(name, data, **how):
    with h5py.File(name, "w") as file:
        file["entry/data"] = np.zeros(0)
        del file["entry/data"]
        file.create_dataset("entry/data", data=data, **how)
        file["entry/marks"] = np.array(KEY, "int32")


def test_kinds_and_parts():
    stored = [{}, {"chunks": (2, 7, 31), "compression": "gzip"}, {"chunks": (1, 23, 9)}]
    for number, (part, cut) in enumerate(PARTS):
        write("whole.h5", volume(), **stored[number % 3])
        write("cut.h5", volume()[cut])
        for kind in KINDS:
            write_job(kind, "expected.toml", "cut.h5")
            call("expected.toml")
            write_job(kind, "found.toml", "whole.h5", part)
            for ranks, setting in ((1, ()), (2, ("--set", "run.chunk_rows=3")), (3, ())):
                call("found.toml", *setting, ranks=ranks)
                same("found.h5", "expected.h5")
        call("verify", "found.h5", "--recompute", "4")


def test_images_and_one_axis():
    image = volume()[0]
    write("whole.h5", image)
    write("cut.h5", image[4:, 7:9])
    write_job("convolve", "expected.toml", "cut.h5")
    call("expected.toml")
    write_job("convolve", "found.toml", "whole.h5", 'region = { rows = "4:", columns = "7:9" }')
    call("found.toml")
    same("found.h5", "expected.h5")


def test_plan_counts_the_part():
    write("whole.h5", volume())
    write_job("convolve", "found.toml", "whole.h5", 'frames = "0:4"')
    text = call("plan", "found.toml").stdout
    assert ", the part [0:4, 0:23, 0:31]\n" in text, text
    shape = json.loads(call("plan", "found.toml", "--json").stdout)["input"]["shape"]
    assert shape == [4, 23, 31], shape


def test_generated_inputs():
    pathlib.Path("made.h5").unlink(missing_ok=True)
    made = 'generate = { pattern = "noise", shape = [40, 50], dtype = "float32", seed = 3 }'
    write_job("convolve", "found.toml", "made.h5", 'region = { rows = "10:30" }', generate=made)
    assert "[10:30, 0:50]" in call("plan", "found.toml").stdout
    call("found.toml")
    with h5py.File("made.h5") as file:
        assert file["entry/data"].shape == (40, 50)
        write("cut.h5", file["entry/data"][10:30])
    write_job("convolve", "expected.toml", "cut.h5")
    call("expected.toml")
    same("found.h5", "expected.h5")


def test_another_part_is_another_job():
    write("whole.h5", volume())
    once = ("--set", "output.overwrite=false")
    write_job("convolve", "found.toml", "whole.h5", 'frames = "0:4"')
    call("found.toml", *once)
    done = call("found.toml", *once)
    assert "complete already" in done.stdout + done.stderr, done
    write_job("convolve", "found.toml", "whole.h5", 'frames = "1:5"')
    done = call("found.toml", *once, code=4)
    assert "input.part" in done.stderr, done.stderr


def test_errors():
    write("whole.h5", volume())
    for part, code, words in (
            ('region = { rows = "0:24" }', 2, ("input.region.rows", "beyond the 23", "whole.h5:/entry/data")),
            ('frames = "5:2"', 2, ("input.frames", "empty")),
            ('frames = "x"', 2, ("input.frames", "expected a range")),
            ('frames = { where = "/entry/none", equals = 0 }', 3, ("/entry/none",)),
            ('frames = { where = "/entry/data", equals = 0 }', 3, ("/entry/data", "13 frames")),
            ('frames = { where = "/entry/marks", equals = 9 }', 2, ("is 9 for no frame",))):
        write_job("convolve", "found.toml", "whole.h5", part)
        done = call("found.toml", code=code)
        assert all(word in done.stderr for word in words), done.stderr
        assert done.stderr.count("error:") == 1, done.stderr


def nxtomo(name, array, key=KEY, links="soft", convention="new"):
    """As nxtomo and Diamond's programs write it; with `convention` old, as before 2014."""
    with h5py.File(name, "w", track_order=True) as file:
        new = convention == "new"
        entry = file.create_group("entry")
        entry.attrs["NX_class"] = "NXentry"
        instrument = entry.create_group("instrument")
        instrument.attrs["NX_class"] = "NXinstrument"
        detector = instrument.create_group("detector")
        detector.attrs["NX_class"] = "NXdetector"
        detector["data"] = array
        if key is not None:
            detector["image_key"] = np.array(key, "int32")
        data = entry.create_group("data")
        data.attrs["NX_class"] = "NXdata"
        for each in ("data",) + (("image_key",) if links == "both" else ()):
            data[each] = h5py.SoftLink(f"/entry/instrument/detector/{each}")
        if new:
            file.attrs["default"], entry.attrs["default"], data.attrs["signal"] = "entry", "data", "data"
        else:
            detector["data"].attrs["signal"] = 1


def test_default_signal():
    array = volume()
    projections = array[np.array(KEY) == 0]
    for links in ("soft", "both"):
        for convention in ("new", "old"):
            nxtomo("scan.nxs", array, links=links, convention=convention)
            write("cut.h5", projections)
            write_job("convolve", "expected.toml", "cut.h5", output='dataset = "/entry/data/data"')
            call("expected.toml")
            write_job("convolve", "found.toml", "scan.nxs")
            text = pathlib.Path("found.toml").read_text().replace('dataset = "/entry/data"\n', "", 1)
            pathlib.Path("found.toml").write_text(text)
            for ranks in (1, 2):
                call("found.toml", ranks=ranks)
                same_data("found.h5", "expected.h5", "entry/data/data")
            call("verify", "found.h5", "--recompute", "4")
            assert "the part" in call("plan", "found.toml").stdout
            # A range counts among the projections.
            call("found.toml", "--set", 'input.frames="1:5"')
            with h5py.File("found.h5") as file:
                assert file["entry/data/data"].shape == (4, *SHAPE[1:])
    nxtomo("scan.nxs", array, key=None)
    write("cut.h5", array)
    call("expected.toml")
    call("found.toml")
    same_data("found.h5", "expected.h5", "entry/data/data")
    nxtomo("scan.nxs", array, key=KEY[:-1])
    assert "image_key has 12 numbers" in call("found.toml", code=3).stderr
    call("found.toml", "--set", 'input.frames="all"')
    same_data("found.h5", "expected.h5", "entry/data/data")


def test_truth_as_numbers():
    """h5py stores bool as an enumeration."""
    array = volume() > 99
    write("cut.h5", array.astype("uint8"))
    write_job("convolve", "expected.toml", "cut.h5")
    call("expected.toml")
    for how in ({}, {"chunks": (2, 7, 31), "compression": "gzip"}):
        write("whole.h5", array, **how)
        write_job("convolve", "found.toml", "whole.h5")
        call("found.toml")
        same("found.h5", "expected.h5")
    call("verify", "found.h5", "--recompute", "4")
    write_job("transpose", "found.toml", "whole.h5")
    call("found.toml")
    with h5py.File("found.h5") as file:
        assert file["entry/data"].dtype == bool and (file["entry/data"][()] == array.transpose(2, 0, 1)).all()


def test_no_default_signal():
    write("scan.h5", volume())
    write_job("convolve", "found.toml", "scan.h5")
    text = pathlib.Path("found.toml").read_text().replace('dataset = "/entry/data"\n', "", 1)
    pathlib.Path("found.toml").write_text(text)
    done = call("found.toml", code=3)
    assert "scan.h5" in done.stderr and "input.dataset" in done.stderr, done.stderr
    # default leads to itself, for ever
    with h5py.File("scan.h5", "a") as file:
        file.attrs["default"] = "/"
    assert "input.dataset" in call("found.toml", code=3).stderr
