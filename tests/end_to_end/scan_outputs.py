"""Outputs of NXtomo scans are NXtomo scans: what a reconstruction needs is in them.

The fields are looked up where PyPI's nxtomo and HTTomo's loaders look for them.
"""
import pathlib

import h5py
import numpy as np
import pytest

from harness import call, good

KEY = np.array([2, 1, 0, 0, 0, 0, 0, 1])
SHAPE = (len(KEY), 6, 8)
ANGLES = np.linspace(0, 180, len(KEY))


def scan(name, entry="entry0000", angles="sample", definition=True, more=None):
    with h5py.File(name, "w", track_order=True) as file:
        top = file.create_group(entry)
        top.attrs["NX_class"], top.attrs["version"], top.attrs["default"] = "NXentry", 1.4, "data"
        file.attrs["default"] = entry
        if definition:
            top["definition"] = "NXtomo"
        top["title"], top["start_time"] = "a beetle", "2026-11-01T10:00:00"
        for path, nx_class in (("instrument", "NXinstrument"), ("instrument/detector", "NXdetector"),
                               ("instrument/beam", "NXbeam"), ("sample", "NXsample"), ("data", "NXdata"),
                               ("instrument/source", "NXsource"), ("control", "NXmonitor")):
            top.create_group(path).attrs["NX_class"] = nx_class
        detector = top["instrument/detector"]
        detector["data"] = np.random.default_rng(1).integers(100, 900, SHAPE).astype("uint16")
        detector["image_key"], detector["image_key_control"] = KEY, KEY
        for name, value, unit in (("x_pixel_size", 6.5e-6, "m"), ("y_pixel_size", 7e-6, "m"),
                                  ("distance", 0.25, "m"), ("count_time", np.full(len(KEY), 0.1), "s")):
            detector[name] = value
            detector[name].attrs["units"] = unit
        detector["field_of_view"] = "Full"
        for name, value, unit in (("incident_energy", 24.5, "keV"),):
            top[f"instrument/beam/{name}"] = value
            top[f"instrument/beam/{name}"].attrs["units"] = unit
        top["instrument/source/name"] = "ESRF"
        top["control/data"] = np.arange(len(KEY), dtype="float32")
        top["sample/name"] = "beetle"
        top["sample/x_translation"] = np.arange(len(KEY)) * 1e-3
        place = top[angles]
        place["rotation_angle"] = ANGLES
        place["rotation_angle"].attrs["units"] = "degree"
        if angles == "sample":
            top["data/rotation_angle"] = h5py.SoftLink(f"/{entry}/sample/rotation_angle")
        top["data/data"] = h5py.SoftLink(f"/{entry}/instrument/detector/data")
        top["data"].attrs["signal"] = "data"
        if more:
            more(top)


def write_job(kind, keys, source="scan.nx", more="", output="o.nx", dataset=""):
    pathlib.Path("j.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{more}\n[output]\nfile = "{output}"\n{dataset}\n'
        f'overwrite = true\n[run]\nbackend = "cpu"\n[{kind}]\n{keys}\n')


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def check(name, entry, frames, bins=(1, 1, 1), angles=None, nx_class="NXentry"):
    """`frames`: those of the scan that the output holds."""
    with h5py.File(name) as file:
        top = file[entry]
        assert text(top["definition"][()]) == "NXtomo" and top.attrs["NX_class"] == nx_class
        assert text(top["title"][()]) == "a beetle" and text(top["start_time"][()]) == "2026-11-01T10:00:00"
        detector, sample = top["instrument/detector"], top["sample"]
        assert detector.attrs["NX_class"] == "NXdetector" and sample.attrs["NX_class"] == "NXsample"
        assert top["instrument"].attrs["NX_class"] == "NXinstrument"
        data = detector["data"]
        angles = ANGLES[frames] if angles is None else angles
        assert data.shape[0] == len(angles)
        assert np.allclose(sample["rotation_angle"][()], angles)
        assert text(sample["rotation_angle"].attrs["units"]) == "degree"
        assert np.isclose(detector["x_pixel_size"][()], 6.5e-6 * bins[2])
        assert np.isclose(detector["y_pixel_size"][()], 7e-6 * bins[1])
        assert text(detector["x_pixel_size"].attrs["units"]) == "m"
        assert detector["distance"][()] == 0.25 and text(detector["field_of_view"][()]) == "Full"
        for key in ("image_key", "image_key_control"):
            assert detector[key].dtype.kind == "i" and detector[key].shape == (len(angles),)
        if bins[0] == 1:
            assert (detector["image_key"][()] == KEY[frames]).all()
            assert np.allclose(sample["x_translation"][()], np.asarray(frames) * 1e-3)
            assert (top["control/data"][()] == np.asarray(frames)).all()
        assert top["instrument/beam/incident_energy"][()] == 24.5
        assert text(top["instrument/beam/incident_energy"].attrs["units"]) == "keV"
        assert text(top["sample/name"][()]) == "beetle" and top.attrs["version"] == 1.4
        return data[()]


PROJECTIONS = np.flatnonzero(KEY == 0)
KINDS = {"median": "size = [1, 3, 3]", "correct": "", "convolve": "row_taps = [1.0]\ncolumn_taps = [1.0]",
         "rescale": 'from = "extremes"', "bin": "factors = [1, 1, 1]"}


@pytest.mark.quick
def test_pixel_sizes_are_spacings():
    scan("scan.nx")
    assert "y 7e-06 m, x 6.5e-06 m\n" in good("inspect", "scan.nx:/entry0000/data/data")
    for output in ("o.ome.zarr", "o.tif", "o.nii", "o.npy"):
        write_job("bin", "factors = [1, 2, 2]", output=output)
        assert ("spacing" in call("j.toml", "--quiet").stderr) == output.endswith("npy")
    for output, unit in [("o.ome.zarr", "meter"), ("o.tif", "m")]:
        assert f"y 1.4e-05 {unit} from 3.5e-06, x 1.3e-05 {unit} from 3.25e-06" in good("inspect", output), output
    with h5py.File("scan.nx", "a") as file:  # a cone beam magnifies: these are no pixels of the sample
        source = file["entry0000/instrument/source"]
        source["distance"] = -1.0
        source["distance"].attrs["units"] = "m"
    assert "axes" not in good("inspect", "scan.nx:/entry0000/data/data")


@pytest.mark.quick
def test_pixel_sizes_of_what_is_no_scan():
    """Sinograms, projections of all frames and single frames keep the sizes, as in other formats."""
    scan("scan.nx")
    data = "/entry0000/data/data"
    for kind, keys, more, labels, wanted in (
            ("transpose", "permutation = [1, 0, 2]", "", ["y", "frame", "x"], [7e-6, np.nan, 6.5e-6]),
            ("transpose", "permutation = [2, 1, 0]", "", ["x", "y", "frame"], [6.5e-6, 7e-6, np.nan]),
            ("reduce", 'operation = "mean"\nover = ["frame"]', "", ["y", "x"], [7e-6, 6.5e-6]),
            ("bin", "factors = [1, 2]", 'frames = "all"\nselect = { frame = 3 }', ["y", "x"], [7e-6, 13e-6])):
        write_job(kind, keys, more=more, output="o.h5")
        said = call("j.toml").stderr
        assert "the scan: " in said and said.count("without some of its attributes") == 1, said
        with h5py.File("o.h5") as file:
            found = file[data].attrs
            assert list(found["DIMENSION_LABELS"]) == labels
            np.testing.assert_allclose(found["spacing"], wanted)
            assert list(found["spacing_units"]) == ["" if np.isnan(size) else "m" for size in wanted]
        shown = good("inspect", "o.h5:" + data)
        assert all(f"{size:.6g} m" in shown for size in wanted if not np.isnan(size)), shown
    for frames in (["--frame", "3"], []):
        good("convert", "scan.nx:" + data, "o.h5", "--overwrite", *frames)
        assert "y 7e-06 m, x 6.5e-06 m" in good("inspect", "o.h5:" + data)
        with h5py.File("o.h5") as file:
            assert ("spacing" in file[data].attrs) == bool(frames)


@pytest.mark.quick
def test_every_kind():
    scan("scan.nx")
    for kind, keys in KINDS.items():
        write_job(kind, keys)
        call("j.toml", "--quiet")
        check("o.nx", "entry0000", PROJECTIONS)
        call("verify", "o.nx")
        assert "complete already" in call("j.toml", "--set", "output.overwrite=false").stderr


@pytest.mark.quick
def test_parts_and_bins():
    scan("scan.nx")
    for more, frames in (('frames = "::2"', PROJECTIONS[::2]), ('frames = "all"', np.arange(len(KEY))),
                         ('region = { rows = "1:5", columns = "2:6" }', PROJECTIONS),
                         ('dataset = "/entry0000/instrument/detector/data"', PROJECTIONS)):
        write_job("median", KINDS["median"], more=more)
        call("j.toml", "--quiet")
        check("o.nx", "entry0000", frames)
    for factors in ([1, 2, 2], [1, 3, 4], [2, 1, 1]):
        write_job("bin", f"factors = {factors}")
        call("j.toml", "--quiet")
        angles = None
        if factors[0] == 2:
            angles = [ANGLES[[2, 3]].mean(), ANGLES[[4, 5]].mean()]
        check("o.nx", "entry0000", PROJECTIONS, factors, angles)


@pytest.mark.quick
def test_the_output_is_an_input():
    """A second job finds the angles of the first one's output, and a pipeline those of its passes."""
    scan("scan.nx")
    write_job("correct", "")
    call("j.toml", "--quiet")
    write_job("bin", "factors = [1, 2, 2]", source="o.nx", output="b.nxs", more='frames = "1:"')
    call("j.toml", "--quiet")
    binned = check("b.nxs", "entry0000", PROJECTIONS[1:], (1, 2, 2))
    pathlib.Path("p.toml").write_text(
        '[input]\nfile = "scan.nx"\nframes = "1:"\n[output]\nfile = "p.nx"\n[run]\nbackend = "cpu"\n'
        '[[step]]\nkind = "correct"\nsave = "s.nx"\n[[step]]\nkind = "bin"\nfactors = [1, 2, 2]\n')
    call("p.toml", "--quiet")
    assert (check("p.nx", "entry0000", PROJECTIONS[1:], (1, 2, 2)) == binned).all()
    check("s.nx", "entry0000", PROJECTIONS[1:])
    assert "5 projections" in good("inspect", "o.nx")


@pytest.mark.quick
def test_names_of_the_dataset():
    scan("scan.nx")
    for dataset, entry in (("/entry/tomo/data", "entry"), ("/d", "entry"), ("/a/d", "a"),
                           ("/entry/instrument/detector/data", "entry")):
        write_job("median", KINDS["median"], dataset=f'dataset = "{dataset}"')
        call("j.toml", "--quiet")
        # A group that holds the dataset itself is its plot too.
        found = check("o.nx", entry, PROJECTIONS, nx_class="NXdata" if entry == "a" else "NXentry")
        with h5py.File("o.nx") as file:
            assert (file[dataset][()] == found).all()


@pytest.mark.quick
@pytest.mark.parametrize("angles", ["data", "instrument/detector"])
def test_angles_elsewhere_and_a_file_without_a_definition(angles):
    scan("scan.nx", angles=angles, definition=False)
    write_job("median", KINDS["median"])
    call("j.toml", "--quiet")
    check("o.nx", "entry0000", PROJECTIONS)
    assert "rotation_angle" in good("inspect", "o.nx")


@pytest.mark.quick
def test_what_no_longer_holds():
    """Sinograms are no scan of frames; they keep the angles."""
    scan("scan.nx")
    write_job("transpose", "permutation = [1, 0, 2]")
    call("j.toml", "--quiet")
    with h5py.File("o.nx") as file:
        assert "instrument" not in file["entry0000"] and "definition" not in file["entry0000"]
        data = file["entry0000/data"]
        assert np.allclose(data["rotation_angle"][()], ANGLES[PROJECTIONS])
        assert list(data.attrs["axes"]) == [".", "rotation_angle", "."]

    def more(top):
        top["instrument/detector/x_rotation_axis_pixel_position"] = 1.5
        top["elsewhere"] = h5py.ExternalLink("gone.h5", "/x")
        top["instrument/detector/large"] = np.zeros((20, 30))
        top["sample/place"] = np.zeros((len(KEY), 3))
        top["instrument/loop"] = top["instrument"]
    scan("scan.nx", more=more)
    write_job("median", KINDS["median"], more='region = { columns = "2:6" }')
    said = call("j.toml").stderr
    assert "x_rotation_axis_pixel_position" in said and "warning" in said, said
    assert "/entry0000/sample/place: it has two axes" in said and "large" not in said, said
    check("o.nx", "entry0000", PROJECTIONS)
    write_job("median", KINDS["median"])
    call("j.toml", "--quiet")
    with h5py.File("o.nx") as file:
        assert file["entry0000/instrument/detector/x_rotation_axis_pixel_position"][()] == 1.5


def link_elsewhere(top, *paths, file="camera.h5"):
    """Puts these datasets into another file, and links to it in their place."""
    with h5py.File("camera.h5", "a") as camera:
        for path in paths:
            name = path.replace("/", "_")
            if path in top and name not in camera:
                top.copy(path, camera, name)
            del top[path]
            top[path] = h5py.ExternalLink(file, "/" + name)


LISTS = ["instrument/detector/image_key", "instrument/detector/image_key_control", "sample/rotation_angle"]


@pytest.mark.quick
@pytest.mark.parametrize("paths", [LISTS, LISTS[2:], LISTS[:2], ["instrument/detector/data", *LISTS]])
def test_lists_in_another_file(paths):
    """Master files have links to the angles and to the key, as to the frames."""
    scan("scan.nx", more=lambda top: link_elsewhere(top, *paths))
    write_job("median", KINDS["median"])
    said = call("j.toml", "--quiet").stderr
    assert not said, said
    check("o.nx", "entry0000", PROJECTIONS)
    with h5py.File("o.nx") as file:
        assert isinstance(file["entry0000"].get("sample/rotation_angle", getlink=True), h5py.HardLink)
    with h5py.File("camera.h5", "a") as camera:  # it is of the job's identity
        camera[paths[-1].replace("/", "_")][0] += 1
    assert "camera.h5" in call("j.toml", "--quiet", "--set", "output.overwrite=false", code=4).stderr


@pytest.mark.quick
def test_a_master_file():
    """The NXdata group and the detector have links to the same lists."""
    def more(top):
        link_elsewhere(top, "instrument/detector/data", *LISTS)
        del top["data/data"], top["data/rotation_angle"]
        for name, path in (("data", "instrument/detector/data"), ("image_key", LISTS[0]), ("rotation_angle", LISTS[2])):
            top["data"][name] = h5py.ExternalLink("camera.h5", "/" + path.replace("/", "_"))
    scan("scan.nx", more=more)
    for dataset in ("", "data/data", "instrument/detector/data"):
        named = f'dataset = "/entry0000/{dataset}"' if dataset else ""
        write_job("median", KINDS["median"], more=named)
        said = call("j.toml", "--quiet").stderr
        assert not said, said
        check("o.nx", "entry0000", PROJECTIONS)


@pytest.mark.quick
def test_what_is_elsewhere_is_named():
    def more(top):
        link_elsewhere(top, "instrument/detector/distance", "title", "instrument/source")
        top["instrument/far"] = h5py.ExternalLink("gone.h5", "/far")
    scan("scan.nx", more=more)
    write_job("median", KINDS["median"])
    said = call("j.toml", "--quiet").stderr
    for name in ("/entry0000/instrument/detector/distance: it is in another", "/entry0000/title", "instrument/source",
                 "/entry0000/instrument/far"):
        assert name in said, said
    # Without its angles it is no NXtomo.
    scan("scan.nx", more=lambda top: link_elsewhere(top, "sample/rotation_angle", file="gone.h5"))
    said = call("j.toml", "--quiet").stderr
    assert "/entry0000/sample/rotation_angle: " in said and "gone.h5" in said, said
    with h5py.File("o.nx") as file:
        assert "definition" not in file["entry0000"] and "image_key" in file["entry0000/instrument/detector"]


@pytest.mark.quick
def test_a_scan_whose_frames_are_not_known():
    """All its frames may be taken; what it says of them is lost, and one warning names it."""
    def short(top):
        del top["instrument/detector/image_key"], top["instrument/detector/image_key_control"]
        top["instrument/detector/image_key"] = KEY[1:]

    def none(top):
        del top["instrument/detector/image_key"], top["instrument/detector/image_key_control"]
    for more, why in ((short, "has 7 numbers"), (none, "there is no image_key")):
        scan("scan.nx", more=more)
        for output in ("o.nx", "o.tif"):
            write_job("median", KINDS["median"], more='frames = "all"', output=output)
            for said in (call("j.toml", "--quiet").stderr,
                         call("convert", "scan.nx:/entry0000/data/data", "c-" + output, "--overwrite").stderr):
                assert said.count("warning") == 1 and why in said, said
                for name in ("sample/rotation_angle", "instrument/beam/incident_energy", "title", "definition",
                             "instrument/detector/x_pixel_size", "instrument/detector/distance", "sample/name"):
                    assert name in said, (name, said)


@pytest.mark.quick
def test_same_bytes():
    scan("scan.nx")
    found = []
    for ranks in (1, 2):
        write_job("median", KINDS["median"], output=f"o{ranks}.nx")
        call("j.toml", "--quiet", ranks=ranks)
        with h5py.File(f"o{ranks}.nx") as file:
            names = []
            file.visit(names.append)
            found.append([each for each in names if not each.startswith("runner")])
    assert found[0] == found[1]


def test_what_is_about_the_file_of_a_pass_stays_there():
    """The scan is all of that file, whose root has the record of the pass."""
    good("generate", "tomo-scan", "scan.nx", "--shape", "20,12,16", "--dtype", "uint16")
    pathlib.Path("j.toml").write_text(
        '[input]\nfile = "scan.nx"\n[output]\nfile = "o.nx"\n[run]\nbackend = "cpu"\n[[step]]\nkind = "correct"\n'
        '[[step]]\nkind = "denoise"\nsigma = "auto"\npatch = [1, 3, 3]\nwindow = [3, 5, 5]\n')
    assert "without some of its attributes" not in call("j.toml").stderr
    with h5py.File("o.nx") as file:
        assert dict(file["entry"].attrs) == {"NX_class": "NXentry"}
        assert "runner" not in file["entry"] and "instrument/detector/image_key" in file["entry"]


@pytest.mark.quick
def test_what_the_detector_says_of_its_frames():
    """A half scan stays one, by nxtomo's name too; a region and a number of projections that are others do not."""
    def more(top):
        detector = top["instrument/detector"]
        detector["half_acquisition"], detector["is_binned"] = True, np.array([True, False])
        detector["roi"], detector["tomo_n"] = [100, 200, 108, 206], np.sum(KEY == 0)
        detector["names"], detector["gains"] = ["a", "b"], np.array([1 + 2j, 3])
    scan("scan.nx", more=more)
    unread = ["instrument/detector/names", "instrument/detector/gains"]
    for keys, part, lost in (("size = [1, 1, 1]", "", []), ("size = [1, 1, 1]", 'region = { columns = "2:6" }', ["roi"]),
                             ("size = [1, 1, 1]", 'frames = "0:4"', ["tomo_n"])):
        write_job("median", keys, more=part)
        text_of = call("j.toml", "--quiet").stderr
        assert all(name in text_of for name in unread), text_of
        with h5py.File("o.nx") as file:
            detector = file["entry0000/instrument/detector"]
            assert detector["half_acquisition"].dtype == bool and detector["half_acquisition"][()]
            assert (detector["is_binned"][()] == [True, False]).all()
            for name in ("roi", "tomo_n"):
                assert (name in detector) == (name not in lost) == (f"/{name}: " not in text_of), (name, lost)
    write_job("correct", "")
    assert "tomo_n" not in call("j.toml", "--quiet").stderr  # without flats the projections are as many
    write_job("bin", "factors = [1, 2, 2]")
    assert "detector/roi: the frames have other rows or columns" in call("j.toml", "--quiet").stderr
