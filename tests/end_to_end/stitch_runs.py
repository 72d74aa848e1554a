"""Half acquisitions joined in pipelines, of described, odd and invalid scans; what it makes alone is in kind_runs."""
import pathlib
import re

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, generator, launch, programs
from kind_rules import corrected, reduced
from stitch_rules import stitched
from stripes_runs import check_chain, read, run, write, write_job

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS, OVERLAP = 23, 7
ANGLES = np.arange(14) * (360 / 14)


def volume(*shape, dtype="uint16"):
    return generator(str(shape)).integers(1, 1000, shape).astype(dtype)


def keys(overlap=OVERLAP, side="right", more=""):
    return f'overlap = {overlap}\nside = "{side}"\n{more}'


def scan(name="scan_12345.nxs", angles=ANGLES, beam=4000):
    """An NXtomo scan with a dark before and flats in the middle of the projections."""
    half = len(angles) // 2
    key = np.array([2, 2, *[0] * half, 1, *[0] * (len(angles) - half), 1])
    frames = volume(len(key), 6, COLUMNS)
    frames[key == 1] += beam
    frames[key == 2] //= 20
    with h5py.File(name, "w") as file:
        for path, kind in (("entry", "NXentry"), ("entry/instrument", "NXinstrument"), ("entry/sample", "NXsample"),
                           ("entry/instrument/detector", "NXdetector"), ("entry/data", "NXdata")):
            file.create_group(path).attrs["NX_class"] = kind
        entry = file["entry"]
        entry["definition"] = "NXtomo"
        detector = entry["instrument/detector"]
        detector["data"], detector["image_key"], detector["field_of_view"] = frames, key, "Half"
        for item, value in (("x_pixel_size", 6.5e-6), ("x_rotation_axis_pixel_position", 8.0)):
            detector[item] = value
            detector[item].attrs["units"] = "m"
        of_frames = np.zeros(len(key))
        of_frames[key == 0] = angles
        entry["sample/rotation_angle"] = of_frames
        entry["sample/rotation_angle"].attrs["units"] = "degree"
        entry["data"].attrs["signal"] = "data"
        entry["data/data"] = h5py.SoftLink("/entry/instrument/detector/data")
    return frames, key


def write_scan_job(table, more=""):
    pathlib.Path("job.toml").write_text(
        f'[input]\nfile = "scan_12345.nxs"\n{more}\n[output]\nfile = "out.h5"\noverwrite = true\nsync = false\n'
        f'[run]\nbackend = "{programs.backend}"\n[[step]]\nkind = "stitch"\n{table}')


def test_the_jobs_of_the_page():
    frames, key = scan()
    page = (ROOT / "docs/stitch.md").read_text()
    one, whole = re.findall(r"```toml\n(.*?)```", page, re.S)
    pathlib.Path("out").mkdir()
    one, whole = (re.sub("overlap = [0-9]+", f"overlap = {OVERLAP}", text) for text in (one, whole))
    t, _, _ = corrected(frames[key == 0], reduced(frames[key == 2], "mean"), reduced(frames[key == 1], "mean"))
    write("out/projections.h5", projections=t)
    right = stitched(t, OVERLAP, "right")
    pathlib.Path("job.toml").write_text(one)
    call("job.toml", "--quiet", "--backend", programs.backend)
    assert read("out/stitched.h5", "projections").tobytes() == right.tobytes()
    pathlib.Path("job.toml").write_text(
        whole.replace("out/sinograms.h5", "out.h5") + f'overwrite = true\n[run]\nbackend = "{programs.backend}"\n')
    for ranks, settings in [(1, []), (3, ["run.chunk_rows=3"]), (2, ["run.chunk_rows=50", "run.lanes=2"])]:
        run(*settings, ranks=ranks)
        made = read("out.h5", "entry/data/data")
        assert made.tobytes() == np.ascontiguousarray(right.swapaxes(0, 1)).tobytes(), (ranks, settings)
    call("stitch", "out/projections.h5:/projections", "left.h5", "--overlap", "5", "--side", "left", "--quiet")
    assert (read("left.h5", "projections") == stitched(t, 5, "left")).all()


STEPS = {
    "blur": ("convolve", 'row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.25, 0.25]\nboundary = "wrap"\n'),
    "deep": ("median", "size = [3, 3, 3]\n"),
    "turn": ("transpose", "permutation = [1, 0, 2]\n"),
    "join": ("stitch", keys()),
    "sinograms": ("stitch", keys(4, "left", 'order = "sinograms"\n')),
    "stripes": ("stripes", "size = 5\n"),
}


@pytest.mark.share(0.35)
@pytest.mark.parametrize("chain", [
    ("blur", "join", "blur"), ("deep", "join", "deep"), ("turn", "sinograms", "stripes"),
    ("join", "turn", "stripes"), ("blur", "sinograms", "blur"), ("join", "join")], ids=", ".join)
def test_steps_give_the_bytes_of_single_jobs(chain):
    check_chain(chain, STEPS, volume(16, 12, COLUMNS), [(1, 16, 2), (3, 1, 4), (2, 17, 1)])


def test_the_last_of_an_odd_number_is_left_out():
    """The files of others often have 360° as well as 0°: the frame is there twice."""
    angles = np.linspace(0, 360, 13)
    frames, key = scan(angles=angles)
    write_scan_job(keys())
    said = call("job.toml").stderr
    assert "the last frame is left out" in said and "frame 12 has no partner" in said and "0:12" in said
    assert "angles" not in said
    right = stitched(frames[key == 0][:12], OVERLAP, "right")
    assert (read("out.h5", "entry/data/data") == right).all()
    write_scan_job(keys(), 'frames = "0:12"')
    assert "left out" not in call("job.toml").stderr
    assert (read("out.h5", "entry/data/data") == right).all()
    values = volume(3, 7, 9)
    write("in.h5", x=values)
    for order, right in (("projections", stitched(values, 3, "left")),
                         ("sinograms", stitched(values, 3, "left", order="sinograms"))):
        write_job("[stitch]\n" + keys(3, "left", f'order = "{order}"'), kind="stitch")
        run("run.chunk_rows=3", ranks=2)
        assert (read("out.h5") == right).all()


def test_what_a_scan_says_is_true_of_the_output():
    frames, key = scan()
    for side in ("left", "right"):
        write_scan_job(keys(side=side))
        said = call("job.toml").stderr
        assert "angles" not in said and "x_rotation_axis_pixel_position: columns are joined" in said, said
        with h5py.File("out.h5") as file:
            entry = file["entry"]
            detector = entry["instrument/detector"]
            right = stitched(frames[key == 0], OVERLAP, side)
            assert (detector["data"][...] == right).all() and right.shape == (7, 6, 2 * COLUMNS - OVERLAP)
            assert np.allclose(entry["sample/rotation_angle"][...], ANGLES[:7])
            assert (detector["image_key"][...] == np.zeros(7)).all()
            assert detector["field_of_view"][()] == b"Full" and detector["x_pixel_size"][()] == 6.5e-6
            assert "x_rotation_axis_pixel_position" not in detector
    assert "the axis of rotation is at column 19 of the output" in call("plan", "job.toml", "--device-memory", "8GiB").stdout


def test_columns_before_the_first_have_their_places():
    values = volume(4, 5, 9)
    with h5py.File("in.h5", "w") as file:
        file.create_group("e").attrs["NX_class"] = "NXdata"
        file["e"].attrs.update({"signal": "x", "axes": ["rotation_angle", ".", "column"]})
        file["e/x"] = values
        file["e/rotation_angle"] = np.arange(4) * 90.0
        file["e/rotation_angle"].attrs["units"] = "deg"
        file["e/column"] = 10 + np.arange(9) * 0.5
        file["e/column"].attrs["units"] = "mm"
    call_stitch = ("stitch", "in.h5:/e/x", "out.h5", "--overlap", "3", "--quiet", "--overwrite", "--side")
    for side, origin in (("left", 7.0), ("right", 10.0)):
        assert call(*call_stitch, side).stderr == ""
        with h5py.File("out.h5") as file:
            assert (file["e/rotation_angle"][...] == [0, 90]).all()
            assert (file["e/column"][...] == origin + np.arange(15) * 0.5).all()
            assert file["e/column"].attrs["units"] == "mm"
            assert (file["e/x"][...] == stitched(values, 3, side)).all()
    with h5py.File("in.h5", "r+") as file:
        file["e/column"][3] += 0.1
    assert "column: the axis is longer" in call(*call_stitch, "left").stderr
    with h5py.File("out.h5") as file:
        assert "column" not in file["e"] and list(file["e"].attrs["axes"]) == ["rotation_angle", ".", "."]


@pytest.mark.parametrize("angles, words", [(np.arange(14) * (180 / 14), "are 90 apart"),
                                           (np.r_[np.arange(13) * (360 / 14), 500], "6 and 13 are 345")])
def test_angles_that_are_not_of_one_turn(angles, words):
    scan(angles=angles)
    write_scan_job(keys())
    said = call("job.toml", "--quiet").stderr
    assert "not those of a scan over 360 degrees" in said and words in said, said


def test_flats_and_darks_have_no_partners():
    scan()
    write_scan_job(keys(), 'frames = "all"')
    bad(2, ["frames are no projections", "frame 0 is a dark", "input.frames"], "job.toml", "--quiet")
    write_scan_job(keys(), "")
    path = pathlib.Path("job.toml")
    path.write_text(path.read_text().replace("sync = false", "sync = false\nkeep_fields = true"))
    bad(2, ["keep_fields", "stitch", "other extents"], "job.toml", "--quiet")


@pytest.mark.parametrize("dtype, invalid", [("float32", '"nan"'), ("uint16", "0")])
def test_invalid_elements_take_the_other_half(dtype, invalid):
    values = volume(8, 9, COLUMNS, dtype=dtype)
    gone = generator("gone").random(values.shape) < 0.3
    values[gone] = np.nan if dtype == "float32" else 0
    write("in.h5", x=values)
    write_job("[stitch]\n" + keys(), kind="stitch", more=f"invalid = {invalid}")
    run("run.chunk_rows=5", ranks=2)
    made = read("out.h5")
    right = stitched(values, OVERLAP, "right")
    bad_first, bad_second = gone[:4, :, -OVERLAP:], gone[4:, :, -OVERLAP:][..., ::-1]
    shared = right[..., COLUMNS - OVERLAP:COLUMNS]
    shared[bad_first] = values[4:, :, -OVERLAP:][..., ::-1][bad_first]
    shared[bad_second & ~bad_first] = values[:4, :, -OVERLAP:][bad_second & ~bad_first]
    assert np.array_equal(made, right, equal_nan=dtype == "float32")


def test_pixels_of_colour_are_joined():
    values = volume(6, 7, 9, 3, dtype="uint8")
    write("in.h5", x=values)
    for order in ("projections", "sinograms"):
        write_job("[stitch]\n" + keys(4, "left", f'order = "{order}"'), kind="stitch", more="colour = true")
        right = np.stack([stitched(values[..., i], 4, "left", order=order) for i in range(3)], -1)
        for ranks in (1, 3):
            run("run.chunk_rows=20", ranks=ranks)
            assert read("out.h5").tobytes() == right.tobytes(), (order, ranks)


def test_wrong_rows_are_repaired():
    values = volume(10, 30, 40)
    write("in.h5", x=values)
    write_job("[stitch]\n" + keys(), kind="stitch")
    run("run.chunk_rows=40", ranks=2)
    right = read("out.h5")
    with h5py.File("out.h5", "r+") as file:
        file["x"][3, 17] += 1
    assert attempt("verify", "out.h5").returncode != 0
    call("repair", "out.h5")
    assert (read("out.h5") == right).all()


def test_it_equals_algotom():
    conversion = pytest.importorskip("algotom.prep.conversion", reason="algotom of PyPI is not installed")
    values = generator("sinogram").normal(100, 20, (13, 31)).astype("float32")
    write("in.h5", x=values)
    for overlap, side in ((8, "left"), (13, "right")):
        write_job("[stitch]\n" + keys(overlap, side, 'order = "sinograms"'), kind="stitch")
        run()
        right, _ = conversion.convert_sinogram_360_to_180(values, (overlap, ("left", "right").index(side)), norm=False)
        assert np.allclose(read("out.h5"), right[:6], rtol=1e-6)
