"""Corrects scans by flats and darks from before and after each projection.

The reference is plain numpy: each group of consecutive frames is reduced, and a projection's field
is A + w (B - A) in float32, with w from the frames' numbers or their times. The output must have
its bytes for any ranks and chunks, in parts of a scan, as a step, and beside invalid elements.
"""
import json
import pathlib

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, good, programs
from kind_rules import binned, corrected, reduced

KEY = [2, 2, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 2, 3, 0, 1, 0, 0, 2, 0]
ROWS, COLUMNS = 13, 11
INTERPOLATED = 'flat = { between = "interpolate" }\n'
DARKS = 'dark = { between = "interpolate", reduce = "median" }\n'
LOG = "negative_log = true\nfloor = 0.05\n"


@pytest.fixture(name="random")
def make_random():
    return np.random.default_rng(programs.seed)


def scan(random, key=KEY, data="link", **lists):
    """An NXtomo scan whose flats fall and whose darks rise, with one pixel that dies on the way. `data`: what the
    NXdata group has."""
    key = np.array(key)
    frames = random.integers(0, 500, (len(key), ROWS, COLUMNS)).astype(np.uint16)
    late = np.arange(len(key))[:, None, None]
    frames = np.where((key == 1)[:, None, None], frames // 4 + 900 - 20 * late, frames)
    frames = np.where((key == 2)[:, None, None], frames // 20 + 3 * late, frames).astype(np.uint16)
    frames[key == 1, 3, 4] = np.linspace(400, 0, (key == 1).sum())
    frames[key == 2, 3, 4] = 90
    frames[key == 1, 5, 6] = 0
    with h5py.File("scan.nxs", "w") as file:
        file.attrs["default"] = "entry"
        entry = file.create_group("entry")
        entry.attrs.update({"NX_class": "NXentry", "default": "data"})
        detector = entry.create_group("instrument/detector")
        entry["instrument"].attrs["NX_class"], detector.attrs["NX_class"] = "NXinstrument", "NXdetector"
        detector.create_dataset("data", data=frames, chunks=(1, ROWS, COLUMNS), compression="gzip")
        detector["image_key"] = key
        for name, values in lists.items():
            detector[name] = values
        data_group = entry.create_group("data")
        data_group.attrs.update({"NX_class": "NXdata", "signal": "data"})
        if data == "external":
            file.move("entry/instrument/detector/data", "frames")
            with h5py.File("camera.h5", "w") as camera:
                file.copy("frames", camera)
                camera["key"] = key
            del file["frames"], detector["image_key"]
            for group in (detector, data_group):
                group["data"] = h5py.ExternalLink("camera.h5", "/frames")
                group["image_key"] = h5py.ExternalLink("camera.h5", "/key")
        elif data == "hard":
            data_group["data"], data_group["image_key"] = detector["data"], detector["image_key"]
        else:
            data_group["data"] = h5py.SoftLink("/entry/instrument/detector/data")
        if data == "links":
            data_group["image_key"] = h5py.SoftLink("/entry/instrument/detector/image_key")
        if data == "copied key":
            data_group["image_key"] = key
    return frames


def groups_of(key, role, taken=None):
    """Lists of consecutive frames of the role; of these, those that are taken."""
    groups, last = [], None
    for frame, each in enumerate(key):
        if each != role:
            last = None
            continue
        if last is None:
            groups.append([])
        groups[-1].append(frame)
        last = frame
    taken = [frame for group in groups for frame in group] if taken is None else taken
    groups = [[frame for frame in group if frame in taken] for group in groups]
    return [group for group in groups if group]


def field(frames, groups, wanted, reduce="mean", times=None):
    """The image of each wanted frame, float32."""
    times = [float(time) for time in (range(len(frames)) if times is None else times)]
    images = [reduced(frames[group], reduce) for group in groups]
    places = [sum(times[frame] for frame in group) / len(group) for group in groups]
    made = []
    for frame in wanted:
        t = times[frame]
        later = [i for i, place in enumerate(places) if place > t]
        after = later[0] if later else len(places) - 1
        before = max(after - 1, 0) if later else after
        if before == after:
            made.append(images[after])
            continue
        weight = np.float32((t - places[before]) / (places[after] - places[before]))
        made.append(images[before] + weight * (images[after] - images[before]))
    assert made[0].dtype == np.float32
    return np.array(made)


def expected(frames, key=KEY, wanted=None, dark="median", floor=0.05, times=None, flats=None):
    """The corrected frames and what is counted; `dark`: how it is reduced, or None for one mean."""
    wanted = [i for i, each in enumerate(key) if each == 0] if wanted is None else wanted
    flat = field(frames, groups_of(key, 1, flats), wanted, times=times)
    darks = (reduced(frames[np.array(key) == 2], "mean") if dark is None
             else field(frames, groups_of(key, 2), wanted, dark, times))
    return corrected(frames[wanted], darks, flat, floor=floor)


def write(keys=INTERPOLATED + DARKS + LOG, more="", run=""):
    pathlib.Path("job.toml").write_text(
        f'kind = "correct"\n[input]\nfile = "scan.nxs"\n{more}\n'
        '[output]\nfile = "out.h5"\ndataset = "/d"\noverwrite = true\nsync = false\n'
        f"[run]\n{run}\n[correct]\n{keys}")


def check(what, right, ranks=1, says=""):
    """Runs job.toml: the output has these elements, and the report these counts and warnings."""
    made, dead, raised = right
    done = call("job.toml", "--quiet", "--backend", programs.backend, "--report", "report.json", ranks=ranks)
    assert says in done.stderr and (says or not done.stderr), f"{what}: {done.stderr}"
    with h5py.File("out.h5") as file:
        output = file["d"][()]
    assert output.shape == made.shape and output.dtype == made.dtype, what
    assert output.tobytes() == made.tobytes(), f"{what}: {np.argwhere(output != made)[:5]}"
    counts = json.loads(pathlib.Path("report.json").read_text())["counts"]
    assert counts == {"dead_values": dead, "raised_values": raised}, f"{what}: {counts}, {dead}, {raised}"


def test_ranks_and_chunks(random):
    frames = scan(random)
    write()
    right = expected(frames)
    check("one rank", right)
    assert right[1] > 9, "the pixel dies on the way"
    for ranks, run in [(1, "chunk_rows = 1\nlanes = 1"), (1, "chunk_rows = 7"), (3, "chunk_rows = 5"),
                       (2, "chunk_rows = 31\nlanes = 2"), (2, "chunk_rows = 26"), (3, "")]:
        write(run=run)
        check(f"{ranks} ranks, {run!r}", right, ranks)
    write(INTERPOLATED + LOG)
    check("one dark field", expected(frames, dark=None))
    write(INTERPOLATED + "dark = 20\n" + LOG)
    made = corrected(frames[np.array(KEY) == 0], 20, field(frames, groups_of(KEY, 1),
                                                           np.flatnonzero(np.array(KEY) == 0)), floor=0.05)
    check("a number as the dark field", made)


@pytest.mark.parametrize("case", range(6))
def test_random_scans(random, case):
    """Any order of frames, parts of them, and of the flats."""
    random = np.random.default_rng([programs.seed, case])
    key = random.choice([0, 0, 0, 0, 1, 2, 3], int(random.integers(12, 60))).tolist() + [1, 0, 2, 1, 0, 2]
    frames = scan(random, key)
    every = [i for i, each in enumerate(key) if each == 0]
    begin, step = int(random.integers(0, len(every) - 1)), int(random.integers(1, 4))
    flats = [i for i, each in enumerate(key) if each == 1]
    first = int(random.integers(0, 2))
    write(f'flat = {{ between = "interpolate", frames = "{first}::2" }}\n{DARKS}{LOG}',
          f'frames = "{begin}::{step}"', f"chunk_rows = {int(random.integers(1, 40))}")
    one = len(groups_of(key, 1, flats[first::2])) == 1
    check(f"case {case}: {key}", expected(frames, key, every[begin::step], flats=flats[first::2]), 1 + case % 3,
          says="the flat field is not interpolated" if one else "")


def test_parts(random):
    """A region, one projection, all frames, and the frames that a dataset names."""
    frames = scan(random)
    write(more='region = { rows = "2:9", columns = "3:" }', run="chunk_rows = 4")
    check("a region", expected(frames[:, 2:9, 3:]), 2)
    write(more='frames = "3:4"')
    check("one projection", expected(frames, wanted=[10]))
    write(more='frames = "all"', run="chunk_rows = 17")
    check("all frames", expected(frames, wanted=range(len(KEY))))
    with h5py.File("scan.nxs", "r+") as file:
        file["marks"] = np.arange(len(KEY)) % 2
    write(more='frames = { where = "/marks", equals = 1 }')
    check("marked frames", expected(frames, wanted=[i for i, key in enumerate(KEY) if key == 0 and i % 2]))


def test_times(random):
    """Frames are weighted by their times, where the detector has a time for each."""
    times = np.cumsum(random.integers(1, 900, len(KEY))) / 7 + 1.7e9
    for name, values in [("start_time", times), ("time", times.astype(np.int64)[:, None])]:
        frames = scan(random, **{name: values})
        write(run="chunk_rows = 8")
        right = expected(frames, times=np.ravel(values))
        check(name, right, 2)
        assert right[0].tobytes() != expected(frames)[0].tobytes()
    # A duration, a time of the whole scan, and one of another length are no times of frames.
    frames = scan(random, count_time=times, start_time="2026-11-26T16:00:00", time=times[:4])
    write()
    check("no times", expected(frames))
    for values in [np.zeros(len(KEY)), times[::-1], np.where(np.arange(len(KEY)) == 6, np.nan, times)]:
        frames = scan(random, start_time=values)
        check("times that cannot be", expected(frames), says="the times of frames in /entry/instrument/detector"
              "/start_time are not used, their numbers are: they do not rise from frame to frame")
        assert json.loads(pathlib.Path("report.json").read_text())["warnings"], "warned of in the report"


@pytest.mark.parametrize("data", ["hard", "links", "copied key", "external"])
def test_times_beside_links(random, data):
    """The NXdata group has the data and the key, as NXtomo has it, and the detector alone the times."""
    times = np.cumsum(random.integers(1, 900, len(KEY))) / 7
    frames = scan(random, data=data, time=times)
    right = expected(frames, times=times)
    assert right[0].tobytes() != expected(frames)[0].tobytes()
    write(run="chunk_rows = 8")
    check(data, right, 2)
    for dataset in ("/entry/data/data", "/entry/instrument/detector/data"):
        write(more=f'dataset = "{dataset}"')
        check(dataset, right)
    scan(random, data=data, time=times[::-1])
    write()
    done = call("job.toml", "--quiet", "--backend", programs.backend)
    assert "the times of frames in /entry/instrument/detector/time are not used" in done.stderr, done.stderr


def test_one_group(random):
    """Nothing to interpolate between: the output is that of one mean."""
    key = [2, 1, 1, 0, 0, 0]
    scan(random, key)
    write(LOG)
    call("job.toml", "--quiet", "--backend", programs.backend)
    with h5py.File("out.h5") as file:
        plain = file["d"][()].tobytes()
    write(INTERPOLATED + LOG)
    done = call("job.toml", "--quiet", "--backend", programs.backend)
    assert "the flat field is not interpolated: its frames are one group in the scan" in done.stderr
    with h5py.File("out.h5") as file:
        assert file["d"][()].tobytes() == plain


def test_as_a_step(random):
    """Behind a step that keeps the frames, before one that joins them, and with rows from the other
    end of a frame."""
    from scipy import ndimage
    frames = scan(random)
    made, _, _ = expected(frames)
    smooth = ndimage.median_filter(made, size=(1, 3, 3), mode="wrap")
    pairs = binned(made, [2, 1, 1], "mean", "drop", "float32")
    steps = [("median", 'size = [3, 3]\nboundary = "wrap"\n', smooth), ("bin", "factors = [2, 1, 1]\n", pairs)]
    for ranks, run in [(1, ""), (1, "chunk_rows = 13"), (3, "chunk_rows = 26\nlanes = 1")]:
        for kind, keys, right in steps:
            pathlib.Path("job.toml").write_text(
                '[input]\nfile = "scan.nxs"\n[output]\nfile = "out.h5"\ndataset = "/d"\noverwrite = true\n'
                f'[run]\n{run}\n[[step]]\nkind = "correct"\n{INTERPOLATED}{DARKS}{LOG}'
                f'[[step]]\nkind = "{kind}"\n{keys}')
            call("job.toml", "--quiet", "--backend", programs.backend, ranks=ranks)
            with h5py.File("out.h5") as file:
                assert np.array_equal(file["d"][()], right), f"{kind} {run!r}"
    text = pathlib.Path("job.toml").read_text().split("[[step]]\n")
    pathlib.Path("job.toml").write_text("[[step]]\n".join([text[0], text[2], text[1]]))
    bad(2, ["cannot interpolate the dark field", "has 4 frames, and 9 of the scan are taken", "Put correct before"],
        "job.toml", "--quiet")


def test_invalid_elements(random):
    frames = scan(random)
    made, _, _ = expected(frames, floor=None)
    projections = np.array(KEY) == 0
    # A value of projections alone: fields are means of what is valid.
    value = int(np.setdiff1d(frames[projections], frames[~projections])[0])
    write(INTERPOLATED + DARKS, f"invalid = {value}", "chunk_rows = 9")
    call("job.toml", "--quiet", "--backend", programs.backend, ranks=2)
    made[frames[projections] == value] = np.nan
    with h5py.File("out.h5") as file:
        assert np.array_equal(file["d"][()], made, equal_nan=True)


def test_resumed_and_verified(random):
    """After a kill, on other ranks; what is done is not resumed where times have changed."""
    times = np.arange(len(KEY)) * 2.0
    frames = scan(random, start_time=times)
    run = "chunk_rows = 3\nlanes = 1\ncommit_seconds = 0"
    killed = ["env", f"LD_PRELOAD={programs.fault_shim}", "FAULT=pwrite:delay=20000@*:out.h5.partial;pwrite:kill@20:out.h5.partial"]
    for resume in ["auto", "require"]:
        write(run=run)
        assert attempt("job.toml", "--quiet", "--backend", programs.backend, before=killed).returncode not in (0, 2, 3, 4)
        if resume == "auto":
            check("resumed", expected(frames, times=times), 2)
            assert json.loads(pathlib.Path("report.json").read_text())["rows_before"] > 0
            good("verify", "out.h5", "--recompute", "40")
            pathlib.Path("out.h5").unlink()
    with h5py.File("scan.nxs", "r+") as file:
        file["entry/instrument/detector/start_time"][3] += 0.5
    write(run=run + '\nresume = "require"')
    assert "computation was correct 1, field" in call("job.toml", "--quiet", code=4).stderr


def test_planned_images(random):
    """The plan counts the images of all groups that the input needs."""
    def planned(keys, more=""):
        write(keys, more, "chunk_rows = 1\nlanes = 1")
        return json.loads(good("plan", "job.toml", "--json"))["memory_per_rank"]["host_bytes"]

    scan(random, 3 * [1, 1, 0, 0] + [2])
    keys = INTERPOLATED + "dark = 0\n"
    image = 4 * ROWS * COLUMNS
    assert planned(keys) - planned(keys, 'frames = "0:2"') == image, "three groups, two of them needed"
    assert planned(keys, 'frames = "0:2"') - planned(keys, 'frames = "4:"') == image, "the last one alone"


def test_refusals(random):
    scan(random)
    for keys, words in [('flat = { file = "scan.nxs", between = "interpolate" }', ["correct.flat.between", "leave out"]),
                        ('flat = { dataset = "/d", between = "interpolate" }', ["correct.flat.between", "leave out"]),
                        ('flat = { frames = "all", between = "interpolate" }', ["correct.flat.between", "leave out"]),
                        ('flat = { between = "nearest" }', ["correct.flat.between", "none, interpolate"])]:
        write(keys)
        done = call("plan", "job.toml", code=2)
        for word in words:
            assert word in done.stderr, done.stderr
    write('flat = { between = "interpolate", reduce = "none" }')
    bad(2, ["reduce is", "from frame 2 on"], "job.toml", "--quiet")
    scan(random, [0, 0, 2, 0])
    write(INTERPOLATED)
    bad(3, ["there is no flat field", "1 dark"], "job.toml", "--quiet")
    with h5py.File("scan.nxs", "w") as file:
        file["data"] = np.zeros((3, 4, 5), "u2")
    write("dark = 0\n" + INTERPOLATED, 'dataset = "/data"')
    bad(2, ["cannot interpolate the flat field", "no image_key"], "job.toml", "--quiet")
