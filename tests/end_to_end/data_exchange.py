"""Data Exchange files, as dxfile of the APS writes them: the input, the fields of correct, the angles
in the output, and what inspect says. The references are numpy's.
"""
import json
import pathlib

import h5py
import numpy as np

from harness import bad, call, good, programs
from kind_rules import corrected, reduced

SHAPE = (12, 10, 9)
THETA = np.linspace(0, 180, SHAPE[0], endpoint=False, dtype="float32")


def images(count, low, high, seed):
    return np.random.default_rng(seed).integers(low, high, (count, *SHAPE[1:])).astype("uint16")


DATA, FLATS, DARKS = images(SHAPE[0], 100, 900, 1), images(5, 700, 1100, 2), images(3, 0, 60, 3)


def exchange(name, group="exchange", marked=True, **others):
    """A file as dxfile writes it; datasets by their names, None for none."""
    members = {"data": DATA, "data_white": FLATS, "data_dark": DARKS, "theta": THETA, **others}
    with h5py.File(name, "w") as file:
        file["implements"] = "exchange:measurement:process"
        for member, values in members.items():
            if values is not None:
                file[f"{group}/{member}"] = values
        if marked:
            file[f"{group}/data"].attrs.update({"description": "tomography data", "units": "counts",
                                                "axes": "theta:y:x"})
            for member, axes in [("data_white", "theta_white:y:x"), ("data_dark", "theta_dark:y:x")]:
                if members[member] is not None:
                    file[f"{group}/{member}"].attrs["axes"] = axes
            if members["theta"] is not None:
                file[f"{group}/theta"].attrs["units"] = "deg"
        file["measurement/instrument/monochromator/energy"] = 25.0


def write(keys="", more="", kind="correct", file="scan.h5"):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{file}"\n{more}\n[output]\nfile = "out.h5"\noverwrite = true\n'
        f"[{kind}]\n{keys}\n")


def made(keys="", more="", kind="correct", group="exchange", ranks=1):
    """The frames of the output, and their angles."""
    write(keys, more, kind)
    done = call("job.toml", "--quiet", "--backend", programs.backend, ranks=ranks)
    assert not done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        return file[f"{group}/data"][()], file[f"{group}/theta"][()]


def right(frames=DATA, flats=FLATS, darks=DARKS, reduce="mean"):
    return corrected(frames, reduced(darks, "mean"), reduced(flats, reduce))[0]


def same(found, frames, theta):
    assert found[0].dtype == frames.dtype and found[0].shape == frames.shape
    assert found[0].tobytes() == frames.tobytes()
    assert found[1].tobytes() == theta.tobytes()


def test_fields_of_correct():
    exchange("scan.h5")
    same(made(ranks=2), right(), THETA)
    same(made('flat = { reduce = "median" }'), right(reduce="median"), THETA)
    same(made('flat = { frames = "1:3" }'), right(flats=FLATS[1:3]), THETA)
    same(made('flat = { dataset = "/exchange/data_dark" }\ndark = 0'), corrected(DATA, 0, reduced(DARKS, "mean"))[0], THETA)
    same(made(more='dataset = "/exchange/data"'), right(), THETA)
    exchange("calib.h5", data=DATA[:1], data_white=FLATS + 7, theta=None)
    same(made('flat = { file = "calib.h5" }'), right(flats=FLATS + 7), THETA)
    exchange("scan.h5", marked=False, data_dark=DARKS[0])
    same(made(), right(darks=DARKS[0]), THETA)
    exchange("scan.h5", "exchange_2")
    same(made(more='dataset = "/exchange_2/data"', group="exchange_2"), right(), THETA)


def test_parts_keep_their_angles():
    for marked in (True, False):
        exchange("scan.h5", marked=marked)
        same(made(more='frames = "2::3"'), right(DATA[2::3]), THETA[2::3])
        same(made(more='region = { rows = "2:7", columns = "1:" }\nframes = "3:9"'),
             right(DATA[3:9, 2:7, 1:], FLATS[:, 2:7, 1:], DARKS[:, 2:7, 1:]), THETA[3:9])
        same(made(more='select = { theta = "1:8:2" }'), right(DATA[1:8:2]), THETA[1:8:2])
    exchange("scan.h5")
    frames, theta = made("factors = [2, 1, 1]", kind="bin")
    pairs = THETA.reshape(-1, 2).astype(np.float64).mean(1)
    assert frames.shape[0] == 6 and np.allclose(theta, pairs)
    sinograms, theta = made("permutation = [1, 0, 2]", kind="transpose")
    assert np.array_equal(sinograms, DATA.transpose(1, 0, 2)) and np.array_equal(theta, THETA)
    with h5py.File("out.h5") as file:
        assert list(file["exchange"].attrs["axes"]) == [".", "theta", "."]
        assert file["exchange/theta"].attrs["units"] == "deg"
        assert "axes" not in file["exchange/data"].attrs, "theta:y:x is no more true"


def test_what_is_missing_is_named():
    for missing, role in [("data_white", "flat"), ("data_dark", "dark")]:
        exchange("scan.h5", **{missing: None})
        write()
        bad(3, [f"there is no {role} field", f"correct.{role}", f"no /exchange/{missing}"], "job.toml", "--quiet")
        write(f"{role} = 1")
        call("plan", "job.toml")
    exchange("scan.h5", data_white=FLATS[:, 1:])
    write()
    bad(3, ["the flat field does not fit", "/exchange/data_white"], "job.toml", "--quiet")
    exchange("scan.h5")
    write('flat = { between = "interpolate" }')
    bad(2, ["cannot interpolate the flat field", "Data Exchange"], "job.toml", "--quiet")
    exchange("scan.h5", theta=THETA[:5])
    write()
    assert "/exchange/theta: its shape is [5]" in call("job.toml", "--quiet").stderr


def test_inspect_says_the_roles():
    exchange("scan.h5")
    text = good("inspect", "scan.h5")
    for line in ["frames: 12 projections\n", "frames: 5 flats\n", "frames: 3 darks\n", "axes: theta 15 deg, y, x\n"]:
        assert line in text, f"no {line!r} in {text}"
    found = {each["path"]: each for each in json.loads(good("inspect", "scan.h5", "--json"))["datasets"]}
    assert found["/exchange/data"]["frames"] == {"projection": 12}
    assert found["/exchange/data_white"]["frames"] == {"flat": 5}
    assert found["/exchange/data_dark"]["frames"] == {"dark": 3}
    assert "image_key" not in found["/exchange/data"] and "frames" not in found["/exchange/theta"]


def labels(name, dataset="exchange/data"):
    with h5py.File(name) as file:
        return [dim.label for dim in file[dataset].dims]


def test_sinograms_are_no_projections():
    """An output that is transposed has the same path, and other axes."""
    for marked, theta, names in [(True, THETA, ["y", "theta", "x"]), (False, THETA, ["", "", ""]),
                                 (False, None, ["", "frame", ""])]:
        exchange("scan.h5", marked=marked, theta=theta)
        write("permutation = [1, 0, 2]", kind="transpose")
        assert not call("job.toml", "--quiet").stderr
        assert labels("out.h5") == names
        pathlib.Path("out.h5").rename("sinograms.h5")
        text = good("inspect", "sinograms.h5:/exchange/data")
        assert "projections" not in text and "axes: theta" not in text, text
        write(file="sinograms.h5")
        bad(2, ["correct has no", "/exchange/data are no frames"], "job.toml", "--quiet")
        write("size = [3, 3]", kind="median", file="sinograms.h5")
        assert not call("job.toml", "--quiet").stderr, "theta is not named for two axes"
        write("permutation = [1, 0, 2]", kind="transpose", file="sinograms.h5")
        call("job.toml", "--quiet")
        assert "frames: 12 projections" in good("inspect", "out.h5:/exchange/data")
        with h5py.File("out.h5") as file:
            assert np.array_equal(file["exchange/data"][()], DATA)


def test_angles_are_as_many_as_frames():
    exchange("scan.h5", theta=np.arange(SHAPE[0] + 1.0))
    write()
    assert "theta: it has 13 numbers, and there are 12 frames" in call("job.toml", "--quiet").stderr
    with h5py.File("out.h5") as file:
        assert "theta" not in file["exchange"]


def test_other_files_are_none():
    """A group of another name, and one that NeXus marks point elsewhere from."""
    with h5py.File("scan.h5", "w") as file:
        file["exchanged/data"] = DATA
        file["exchanged/theta"] = THETA
    write()
    bad(3, ["cannot tell which dataset is the input"], "job.toml", "--quiet")
    write(more='dataset = "/exchanged/data"')
    bad(2, ["correct has no dark field", "image_key"], "job.toml", "--quiet")
    exchange("scan.h5")
    with h5py.File("scan.h5", "r+") as file:
        file["entry/raw"] = DATA[:2] + 1
        file.attrs["default"] = "entry"
        file["entry"].attrs["signal"] = "raw"
    write("factors = [1, 1, 1]", kind="bin")
    call("job.toml", "--quiet", "--backend", programs.backend)
    with h5py.File("out.h5") as file:
        assert np.array_equal(file["entry/raw"][()], DATA[:2] + 1)
