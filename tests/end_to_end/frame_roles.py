"""The roles of a scan's frames: projections, flats, darks, alignment frames.

Each file is as another program writes it. The output of a job on a scan must be, to the byte, that
of the same job on a file that holds its projections alone.
"""
import json
import pathlib

import h5py
import numpy as np
import pytest

from harness import bad, call, good
from same_outputs import KINDS, contents, same_data

KEY = [2, 1, 0, 0, 0, 2, 0, 0, 1, 0, 3, 3]
SHAPE = (len(KEY), 8, 9)
DATA = "/entry/data/data"


def volume():
    """Each frame's mean says which one it is."""
    noise = np.random.default_rng(3).integers(0, 20, SHAPE)
    return (noise + 100 * (1 + np.arange(len(KEY)))[:, None, None]).astype("uint16")


def projections(key=KEY):
    return volume()[np.array(key) == 0]


def classed(file, **groups):
    for path, nx_class in groups.items():
        file.require_group(path.replace("__", "/")).attrs["NX_class"] = nx_class


def scan(name, key=KEY, control=None, where="detector", link="soft", definition=True, entry="entry",
         classes=True, frames=len(KEY)):
    """An NXtomo scan. `where`: the image_key is in the detector, in the NXdata group, or nowhere."""
    with h5py.File(name, "w") as file:
        top = file.create_group(entry)
        detector = top.create_group("instrument/detector")
        data = top.create_group("data")
        if classes:
            top.attrs["NX_class"], data.attrs["NX_class"] = "NXentry", "NXdata"
            top["instrument"].attrs["NX_class"], detector.attrs["NX_class"] = "NXinstrument", "NXdetector"
            data.attrs["signal"] = "data"
        if definition:
            top["definition"] = "NXtomo"
        (detector if link != "none" else data)["data"] = volume()[:frames]
        if link == "soft":
            data["data"] = h5py.SoftLink(f"/{entry}/instrument/detector/data")
        elif link == "hard":
            data["data"] = detector["data"]
        if where != "nowhere":
            place = {"detector": detector, "data": data}[where]
            place["image_key"] = np.array(key)
            if control is not None:
                place["image_key_control"] = np.array(control)


def write_job(name, kind, source, dataset="", more="", keys=None):
    named = f'dataset = "{dataset}"\n' if dataset else ""
    pathlib.Path(name).write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{named}{more}\n'
        f'[output]\nfile = "{pathlib.Path(name).stem}.h5"\ndataset = "/d"\noverwrite = true\nsync = false\n'
        f'[run]\nbackend = "cpu"\n[{kind}]\n{KINDS[kind] if keys is None else keys}\n')


def made(kind, source, dataset="", more="", keys=None, ranks=1):
    write_job("found.toml", kind, source, dataset, more, keys)
    call("found.toml", "--quiet", ranks=ranks)
    with h5py.File("found.h5") as file:
        return file["d"][()]


def moved(array):
    return array.transpose(1, 0, 2)


SINOGRAMS = "permutation = [1, 0, 2]"


@pytest.mark.quick
@pytest.mark.parametrize("link", ["soft", "hard", "none"])
@pytest.mark.parametrize("where", ["detector", "data"])
def test_projections_are_the_input(link, where):
    scan("scan.nxs", where=where, link=link)
    names = ["", DATA] + (["/entry/instrument/detector/data"] if link != "none" else [])
    for dataset in names:
        assert (made("transpose", "scan.nxs", dataset, keys=SINOGRAMS) == moved(projections())).all(), dataset
        every = made("transpose", "scan.nxs", dataset, 'frames = "all"', SINOGRAMS)
        assert (every == moved(volume())).all(), dataset


def test_every_kind_and_pipelines():
    scan("scan.nxs")
    with h5py.File("cut.h5", "w") as file:
        file["d"] = projections()[::2]
    for kind in KINDS:
        write_job("expected.toml", kind, "cut.h5", "/d")
        call("expected.toml", "--quiet")
        write_job("found.toml", kind, "scan.nxs", DATA, 'frames = "::2"')
        for ranks in (1, 2):
            call("found.toml", "--quiet", ranks=ranks)
            for path in contents("expected.h5"):
                same_data("found.h5", "expected.h5", path)
    steps = '[[step]]\nkind = "{}"\n{}\n[[step]]\nkind = "median"\nsize = [3, 3]\n'
    for first, keys in (("correct", ""), ("transpose", SINOGRAMS)):
        pathlib.Path("steps.toml").write_text(
            '[input]\nfile = "scan.nxs"\nframes = "::2"\n[output]\nfile = "steps.h5"\ndataset = "/d"\n'
            'overwrite = true\n[run]\nbackend = "cpu"\n' + steps.format(first, keys))
        call("steps.toml", "--quiet")
        with h5py.File("one.h5", "w") as file:
            file["d"] = made(first, "scan.nxs", "", 'frames = "::2"', keys)
        write_job("expected.toml", "median", "one.h5", "/d", keys="size = [3, 3]")
        call("expected.toml", "--quiet")
        same_data("steps.h5", "expected.h5", "d")


@pytest.mark.quick
def test_ranges_are_among_the_projections():
    scan("scan.nxs")
    for dataset in ("", DATA):
        for taken, frames in (('frames = "::3"', projections()[::3]), ('frames = "-2:"', projections()[-2:]),
                              ('region = { depth = "1:4" }', projections()[1:4]),
                              ('frames = "1:4"\nregion = { rows = "2:5" }', projections()[1:4, 2:5]),
                              ('frames = { where = "/entry/instrument/detector/image_key", equals = 2 }',
                               volume()[np.array(KEY) == 2]),
                              ('frames = "all"\nregion = { depth = "2:9" }', volume()[2:9])):
            found = made("transpose", "scan.nxs", dataset, taken, SINOGRAMS)
            assert (found == moved(frames)).all(), taken
    with h5py.File("scan.nxs", "a") as file:
        file["entry/turn"] = np.arange(len(KEY)) // 6
    frames = projections()[np.flatnonzero(np.array(KEY) == 0) >= 6]
    found = made("transpose", "scan.nxs", "", 'frames = { where = "/entry/turn", equals = 1 }', SINOGRAMS)
    assert (found == moved(frames)).all()
    write_job("found.toml", "transpose", "scan.nxs", "", 'frames = "0:8"', SINOGRAMS)
    bad(2, ["input.frames", "8 is beyond the 6 elements"], "found.toml", "--quiet")


def test_fields_are_of_their_roles():
    scan("scan.nxs")
    key, array = np.array(KEY), volume().astype("float64")
    dark, flat = array[key == 2].mean(0), array[key == 1].mean(0)
    wanted = (projections() - dark) / (flat - dark)
    for dataset in ("", DATA):
        assert np.allclose(made("correct", "scan.nxs", dataset, keys=""), wanted, rtol=1e-5)
        part = made("correct", "scan.nxs", dataset, 'frames = "1:4"', "")
        assert np.allclose(part, wanted[1:4], rtol=1e-5)


@pytest.mark.quick
def test_fields_are_of_rows_and_columns():
    """Six projections of 6 x 6 elements: fields have the extents of an image whatever its axes are."""
    key = np.array([2, 1] + [0] * 6 + [1, 2])
    array = np.random.default_rng(5).integers(300, 900, (len(key), 6, 6)).astype("u2")
    array[key == 1] += 2000
    with h5py.File("square.nxs", "w") as file:
        classed(file, entry="NXentry", entry__data="NXdata")
        file["entry/data"].attrs["signal"] = "data"
        file["entry/data/data"], file["entry/data/image_key"], file["crossed_flat"] = array, key, array[1].T
        for name in ("x_pixel_size", "y_pixel_size"):  # these name the axes
            file["entry/data"][name] = 6.5
            file["entry/data"][name].attrs["units"] = "um"
    images = array.astype("f8")
    dark, flat = images[key == 2].mean(0), images[key == 1].mean(0)
    wanted = (images[key == 0] - dark) / (flat - dark)
    for axis, axes in (("y", "axes 0 and 2"), ("x", "axes 0 and 1")):
        for keys in ("", 'flat = { file = "square.nxs" }\ndark = 0', 'dark = { frames = "0:1" }\nflat = 1'):
            write_job("found.toml", "correct", "square.nxs", more=f"select = {{ {axis} = 2 }}", keys=keys)
            bad(2, ["is not of the images", "has axes 1 and 2", axes, 'y = "2:3"'], "found.toml", "--quiet")
    found = made("correct", "square.nxs", more='select = { y = "2:3", x = "::2" }', keys="")
    assert np.allclose(found, wanted[:, 2:3, ::2], rtol=1e-5)

    def same_elements(right):
        with h5py.File("found.h5") as file:
            assert np.allclose(file["d"][()], right, rtol=1e-5)

    def steps(*tables):
        pathlib.Path("found.toml").write_text(
            '[input]\nfile = "square.nxs"\n[output]\nfile = "found.h5"\ndataset = "/d"\noverwrite = true\n'
            + "".join(f"[[step]]\n{table}\n" for table in tables))
    transpose, correct = 'kind = "transpose"\npermutation = [{}]', 'kind = "correct"'
    for permutation in ("0, 2, 1", "1, 0, 2", "2, 1, 0"):
        for between in ([], ['kind = "median"\nsize = [1, 3, 3]']):  # in one pass and in several
            steps(transpose.format(permutation), *between, correct)
            bad(2, ["is not of the images", "has axes 1 and 2", "Put correct before the step"], "found.toml", "--quiet")
    turned = transpose.format("0, 2, 1")
    for tables, right in (((turned, turned, correct), wanted), ((correct, turned), wanted.transpose(0, 2, 1))):
        steps(*tables)
        call("found.toml", "--quiet")
        same_elements(right)
    # Nobody knows the axes of an image that is named: it is taken as it is, and a warning says so.
    steps(turned, 'kind = "correct"\nflat = { dataset = "/crossed_flat", reduce = "none" }\ndark = 0')
    assert "/crossed_flat) is taken as it is for images of axes 2 and 1" in call("found.toml", "--quiet").stderr
    same_elements((images[key == 0] / images[1]).transpose(0, 2, 1))


@pytest.mark.quick
def test_fields_of_another_scan():
    with h5py.File("calib.nxs", "w") as file:
        file["entry/data/data"] = np.repeat(np.array([100, 100, 3000, 3200, 1000, 1000], "u2"), 20).reshape(6, 4, 5)
        file["entry/instrument/detector/image_key"] = np.array([2, 2, 1, 1, 0, 0])
    with h5py.File("p.h5", "w") as file:
        file["d"] = np.full((3, 4, 5), 1600, "u2")

    def value(flat, dark="100"):
        return made("correct", "p.h5", "/d", keys=f"dark = {dark}\nflat = {flat}")[0, 0, 0]

    assert value('{ file = "calib.nxs", dataset = "/entry/data/data" }') == 0.5
    assert value('{ file = "calib.nxs" }') == 0.5
    assert value('{ file = "calib.nxs" }', '{ file = "calib.nxs" }') == 0.5
    assert value('{ file = "calib.nxs", frames = "1:" }') == np.float32(1500 / 3100)
    assert value('{ file = "calib.nxs", frames = "all", reduce = "median" }') == np.float32(1500 / 900)
    np.save("flats.npy", np.full((2, 4, 5), 3100, "u2"))
    assert value('{ file = "flats.npy" }') == 0.5
    assert value('{ file = "flats.npy", frames = "::2" }') == 0.5
    with h5py.File("calib.nxs", "a") as file:
        del file["entry/instrument/detector/image_key"]
        file["entry/instrument/detector/image_key"] = np.array([2, 2, 0, 0, 0, 0])
    write_job("found.toml", "correct", "p.h5", "/d", keys='dark = 100\nflat = { file = "calib.nxs" }')
    bad(3, ["flat field", "calib.nxs:/entry/data/data", "4 projections, 2 darks", 'frames = "all"'],
        "found.toml", "--quiet")
    with h5py.File("calib.nxs", "a") as file:
        del file["entry/instrument/detector/image_key"]
        file["entry/instrument/detector/image_key"] = np.array([2, 2, 1, 1, 0])
    bad(3, ["flat field", "5 numbers", "6 frames", 'frames = "all"'], "found.toml", "--quiet")
    assert value('{ file = "calib.nxs", frames = "2:4" }'.replace('"2:4"', '"all"')) > 0


@pytest.mark.quick
@pytest.mark.parametrize("shape, numbers", [((2, 5), "10 numbers"), ((5, 2), "10 numbers"), ((1, 1), "1 number,")])
def test_a_key_of_several_columns(shape, numbers):
    """The message counts all numbers of the key."""
    scan("scan.nxs", key=np.zeros(shape, int), definition=False)
    write_job("found.toml", "transpose", "scan.nxs", DATA, "", SINOGRAMS)
    bad(3, [f"image_key has {numbers}", f"its shape is {list(shape)}", "12 frames"], "found.toml", "--quiet")


@pytest.mark.quick
@pytest.mark.parametrize("key", [[2, 1] + [0] * 13, [2, 1] + [0] * 3])
@pytest.mark.parametrize("where", ["detector", "data"])
def test_a_key_of_another_length(key, where):
    for link in ("soft", "none"):
        scan("scan.nxs", key=key, where=where, link=link, definition=False)
        for dataset in ("", DATA):
            for frames in ("", 'frames = "::3"'):
                write_job("found.toml", "transpose", "scan.nxs", dataset, frames, SINOGRAMS)
                bad(3, ["scan.nxs:/entry", "image_key", f"{len(key)} numbers", "12 frames", 'frames = "all"'],
                    "found.toml", "--quiet")
            every = made("transpose", "scan.nxs", dataset, 'frames = "all"', SINOGRAMS)
            assert (every == moved(volume())).all()
    write_job("found.toml", "correct", "scan.nxs", "", 'frames = "all"', "")
    bad(2, ["no dark field", f"{len(key)} numbers"], "found.toml", "--quiet")
    assert f"frames of unknown role: /entry" in good("inspect", "scan.nxs")


@pytest.mark.quick
def test_a_scan_without_a_key():
    scan("scan.nxs", where="nowhere")
    for dataset in ("", DATA, "/entry/instrument/detector/data"):
        write_job("found.toml", "transpose", "scan.nxs", dataset, keys=SINOGRAMS)
        bad(3, ["NXtomo", "no image_key", "/entry/definition", 'frames = "all"'], "found.toml", "--quiet")
        assert made("transpose", "scan.nxs", dataset, 'frames = "all"', SINOGRAMS).shape[1] == len(KEY)
    scan("scan.nxs", where="nowhere", definition=False)
    assert made("transpose", "scan.nxs", keys=SINOGRAMS).shape[1] == len(KEY)


@pytest.mark.quick
def test_forms_of_keys():
    """A column, numbers of other types, and keys that mean nothing."""
    for form in (np.array(KEY)[:, None], np.array(KEY, "uint8"), np.array(KEY, "float64"), np.array(KEY, ">i8")):
        scan("scan.nxs", key=form)
        assert (made("transpose", "scan.nxs", DATA, keys=SINOGRAMS) == moved(projections())).all()
    for key, word in ((np.array(KEY) * 7, "is 14 for frame 0"), (np.array(KEY) + 0.5, "cannot be read"),
                      ([str(k) for k in KEY], "cannot be read")):
        scan("scan.nxs", key=[k.encode() for k in key] if isinstance(key, list) else key)
        write_job("found.toml", "transpose", "scan.nxs", DATA, keys=SINOGRAMS)
        bad(3, [word, "image_key", 'frames = "all"'], "found.toml", "--quiet")


@pytest.mark.quick
def test_alignment_frames():
    control = np.array(KEY)
    control[[6, 9]] = -1
    for key in (KEY, control):  # the second as some programs write it, in the image_key itself
        scan("scan.nx", key=key, control=control, entry="entry0000")
        wanted = volume()[control == 0]
        for dataset in ("", "/entry0000/data/data", "/entry0000/instrument/detector/data"):
            assert (made("transpose", "scan.nx", dataset, keys=SINOGRAMS) == moved(wanted)).all()
        assert made("correct", "scan.nx", keys="").shape[0] == 4
        assert "4 projections, 2 flats, 2 darks, 2 invalid frames, 2 alignment frames" in good("inspect", "scan.nx")
    scan("scan.nx", control=control, entry="entry0000")
    with h5py.File("scan.nx", "a") as file:  # the group of links may have the key alone
        file["entry0000/data/image_key"] = h5py.SoftLink("/entry0000/instrument/detector/image_key")
    assert (made("median", "scan.nx", keys="size = [1, 1]") == volume()[control == 0]).all()
    scan("scan.nx", control=control[:-1])
    with h5py.File("scan.nx", "a") as file:
        file["entry/data/image_key"] = h5py.SoftLink("/entry/instrument/detector/image_key")
    bad(3, ["image_key_control", "11 numbers", "12 frames"], "found.toml", "--quiet")
    scan("scan.nx", control=control[:-1])
    write_job("found.toml", "transpose", "scan.nx", keys=SINOGRAMS)
    bad(3, ["image_key_control", "11 numbers", "12 frames"], "found.toml", "--quiet")


@pytest.mark.quick
@pytest.mark.parametrize("data_in", ["subentry", "entry"])
def test_a_subentry_of_gda(data_in):
    with h5py.File("scan.nxs", "w") as file:
        entry = file.create_group("entry1")
        sub = entry.create_group("tomo_entry")
        entry.attrs["NX_class"], sub.attrs["NX_class"] = "NXentry", "NXsubentry"
        sub["definition"] = "NXtomo"
        detector = sub.create_group("instrument/detector")
        detector["data"], detector["image_key"] = volume(), np.array(KEY)
        group = (sub if data_in == "subentry" else entry).create_group("data")
        group.attrs["NX_class"], group.attrs["signal"] = "NXdata", "data"
        group["data"] = h5py.SoftLink("/entry1/tomo_entry/instrument/detector/data")
    name = "/entry1/tomo_entry/data/data" if data_in == "subentry" else "/entry1/data/data"
    for dataset in ("", name, "/entry1/tomo_entry/instrument/detector/data"):
        assert (made("transpose", "scan.nxs", dataset, keys=SINOGRAMS) == moved(projections())).all()


@pytest.mark.quick
def test_data_in_another_file():
    """GDA's scans link to the file of the camera."""
    with h5py.File("camera.h5", "w") as file:
        file["entry/data/data"] = volume()
    with h5py.File("scan.nxs", "w") as file:
        classed(file, entry="NXentry", entry__data="NXdata", entry__instrument="NXinstrument",
                entry__instrument__detector="NXdetector")
        file["entry/instrument/detector/image_key"] = np.array(KEY)
        for group in ("entry/data", "entry/instrument/detector"):
            file[group]["data"] = h5py.ExternalLink("camera.h5", "/entry/data/data")
        file["entry/broken"] = h5py.ExternalLink("gone.h5", "/entry")
        file["entry/instrument/gone"] = h5py.ExternalLink("gone.h5", "/detector")
    for dataset in ("", DATA, "/entry/instrument/detector/data"):
        assert (made("transpose", "scan.nxs", dataset, keys=SINOGRAMS) == moved(projections())).all()


@pytest.mark.quick
def test_what_is_not_the_scan():
    """A key is of the dataset whose length it has: others beside it are what they are."""
    scan("scan.nxs")
    with h5py.File("scan.nxs", "a") as file:
        file["entry/instrument/detector/means"] = volume()[:3]
        file["entry/instrument/detector/mask"] = volume()[0]
        file["entry/reduced"] = volume()[:5]
    for name, frames in (("instrument/detector/means", 3), ("reduced", 5)):
        found = made("transpose", "scan.nxs", "/entry/" + name, keys=SINOGRAMS)
        assert (found == moved(volume()[:frames])).all()
    assert made("median", "scan.nxs", "/entry/instrument/detector/mask", keys="size = [3, 3]").shape == SHAPE[1:]
    flat = '{ dataset = "/entry/instrument/detector/means" }'
    found = made("correct", "scan.nxs", DATA, keys=f"dark = 0\nflat = {flat}")
    assert np.allclose(found, projections() / volume()[:3].mean(0), rtol=1e-5)


@pytest.mark.quick
def test_plan_inspect_and_try():
    scan("scan.nxs")
    write_job("found.toml", "correct", "scan.nxs", DATA, keys="")
    text = good("plan", "found.toml")
    assert "of a scan of 6 projections, 2 flats, 2 darks, 2 invalid frames" in text and "the part" in text, text
    assert json.loads(good("plan", "found.toml", "--json"))["input"]["shape"] == [6, 8, 9]
    text = good("inspect", "scan.nxs")
    assert "frames: 6 projections, 2 flats, 2 darks, 2 invalid frames by /entry" in text, text
    datasets = json.loads(good("inspect", "scan.nxs", "--json"))["datasets"]
    found = [each["frames"] for each in datasets if "frames" in each]
    assert found == [{"projection": 6, "flat": 2, "dark": 2, "invalid": 2}] or found == [
        {"dark": 2, "flat": 2, "invalid": 2, "projection": 6}], found


def test_try_takes_projections():
    """The outputs of a trial are parts of the whole job's output."""
    scan("scan.nxs")
    for frames, wanted in (("", projections()), ('frames = "::2"', projections()[::2])):
        write_job("found.toml", "median", "scan.nxs", DATA, frames, "size = [3, 3]")
        call("found.toml", "--quiet")
        call("try", "found.toml", "--part", "1:3,:,:", "--keep", "--out", "kept", "--seconds", "0.1s")
        kept = list(pathlib.Path("kept").glob("**/*.h5"))
        assert kept
        with h5py.File("found.h5") as whole, h5py.File(kept[0]) as part:
            assert whole["d"].shape == wanted.shape
            assert (part["d"][()] == whole["d"][1:3]).all()
        for each in kept:
            each.unlink()


@pytest.mark.quick
def test_batches():
    for name in ("a", "b"):
        scan(f"{name}.nxs")
    pathlib.Path("batch.toml").write_text(
        'kind = "transpose"\n[input]\ndataset = "/entry/data/data"\nframes = "::2"\n[batch]\ninputs = ["*.nxs"]\n'
        'output = "out/{stem}.h5"\n[run]\nbackend = "cpu"\n[output]\ndataset = "/d"\n[transpose]\n' + SINOGRAMS)
    call("batch", "batch.toml", "--quiet")
    for name in ("a", "b"):
        with h5py.File(f"out/{name}.h5") as file:
            assert (file["d"][()] == moved(projections()[::2])).all()


@pytest.mark.quick
def test_generated_scans():
    call("generate", "tomo-scan", "scan.h5", "--shape", "60,8,9", "--dtype", "uint16")
    with h5py.File("scan.h5") as file:
        found = []
        file.visititems(lambda name, each: found.append(each[()]) if name.endswith("image_key") else None)
    count = int((found[0] == 0).sum())
    assert made("correct", "scan.h5", "", 'frames = "::3"', "").shape[0] == -(-count // 3)
