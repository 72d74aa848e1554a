"""Corrects scans with their own flat and dark frames.

An NXtomo scan without dataset, flat and dark; regions of it; as a step of a pipeline whose later
steps drop rows and need halos. Counts in the report and in the output are the same for any ranks
and chunks, across passes, and after runs were stopped and resumed on other ranks. Other flat
frames, another job. jobs/tomo_prepare.toml runs on a scan that the program makes.
"""
import json
import os
import pathlib
import subprocess
import warnings

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import Findings, call, launch, programs
from kind_rules import binned, corrected, medians, reduced

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = np.array([1, 0, 0, 2, 0, 1, 0, 2, 0, 1, 0, 0], np.int32)
ROWS, COLUMNS = 26, 19
LOG = "[correct]\nnegative_log = true\nfloor = 0.01\n"


class Scans(Findings):
    def run(self, job, ranks=1, code=0, words=(), fault=None):
        pathlib.Path("job.toml").write_text(job)
        command = [programs.runner, "job.toml", "--quiet", "--backend", programs.backend, "--report", "report.json",
                   *words]
        if fault:
            command = ["env", f"LD_PRELOAD={programs.fault_shim}", f"FAULT={fault}", *command]
        done = subprocess.run([*launch(ranks), *command], capture_output=True, text=True, timeout=GUARD)
        right = done.returncode not in (0, 75) if fault else done.returncode == code
        self.check(right, f"{job}\nexit {done.returncode}\n{done.stderr}")
        return done.stderr

    def expect(self, what, expected, counts):
        with h5py.File("out.h5") as file:
            dataset = next(name for name in ("entry/data/data", "data") if name in file)
            made = file[dataset][...]
            stored = file.attrs["counts"]
        stored = stored.decode() if isinstance(stored, bytes) else stored
        self.check(made.shape == expected.shape and made.dtype == expected.dtype
                   and made.tobytes() == expected.tobytes(), f"{what}: other elements")
        lines = "".join(f"{name} = {value}\n" for name, value in counts.items())
        self.check(stored == lines, f"{what}: the output says {stored!r}, not {lines!r}")
        report = json.loads(pathlib.Path("report.json").read_text())["counts"]
        self.check(report == counts, f"{what}: the report says {report}, not {counts}")


@pytest.fixture(name="runs")
def make_runs():
    return Scans()


@pytest.fixture(name="random")
def make_random():
    return np.random.default_rng(11)


def write_scan(random, rows=ROWS):
    frames = random.integers(0, 400, (len(KEYS), rows, COLUMNS)).astype(np.uint16)
    frames[KEYS == 1] += 300
    frames[KEYS == 2] //= 8
    frames[KEYS == 1, 3, 4] = 0
    with h5py.File("scan.nxs", "w") as file:
        file.attrs["default"] = "entry"
        entry = file.create_group("entry")
        entry.attrs.update({"NX_class": "NXentry", "default": "data"})
        data = entry.create_group("data")
        data.attrs.update({"NX_class": "NXdata", "signal": "data"})
        data.create_dataset("data", data=frames, chunks=(1, rows, COLUMNS), compression="gzip")
        data["image_key"] = KEYS
    return frames


def corrected_scan(frames, reduce="mean", floor=0.01):
    made, dead, raised = corrected(frames[KEYS == 0], reduced(frames[KEYS == 2], "mean"),
                                   reduced(frames[KEYS == 1], reduce), floor=floor)
    return made, {"dead_values": dead, "raised_values": raised}


def job(tables, run="", region=""):
    return (f'{tables[0]}[input]\nfile = "scan.nxs"\n{region}\n'
            f'[output]\nfile = "out.h5"\noverwrite = true\n[run]\n{run}\n{tables[1]}')


def alone(keys, run="", region=""):
    return job(('kind = "correct"\n', keys), run, region)


def test_scans(runs, random):
    frames = write_scan(random)
    expected, counts = corrected_scan(frames)
    for ranks, run in [(1, ""), (1, "chunk_rows = 7\nlanes = 1"), (3, "chunk_rows = 5"),
                       (2, "chunk_rows = 60\nlanes = 2")]:
        runs.run(alone(LOG, run), ranks)
        runs.expect(f"scan on {ranks} ranks, {run!r}", expected, counts)
    medians, counts = corrected_scan(frames, "median", None)
    del counts["raised_values"]
    runs.run(alone('[correct]\nflat = { reduce = "median" }\n'))
    runs.expect("median of the flats", medians, counts)
    part = frames[:, 2:20, 5:]
    expected, counts = corrected_scan(part)
    runs.run(alone(LOG, "chunk_rows = 11", 'region = { rows = "2:20", columns = "5:" }'), 2)
    runs.expect("a region of the scan", expected, counts)
    keys = "[correct]\nflat = 1\ndark = 0\n"
    none, _, _ = corrected(frames[KEYS == 0], 0, 1)
    runs.run(alone(keys))
    runs.expect("numbers", none, {"dead_values": 0})


def pipeline(run="", last=""):
    return job(("", '[[step]]\nname = "flat"\nkind = "correct"\nnegative_log = true\nfloor = 0.01\n'
                '[[step]]\nkind = "median"\nsize = [3, 3]\nboundary = "wrap"\n'
                f'[[step]]\nkind = "bin"\nfactors = [2, 4, 3]\n{last}'), run)


def test_pipelines(runs, random):
    """The bin drops the last rows, columns and images of what the correction has counted."""
    from scipy import ndimage
    frames = write_scan(random)
    made, counts = corrected_scan(frames)
    smooth = ndimage.median_filter(made, size=(1, 3, 3), mode="wrap")
    expected = binned(smooth, [2, 4, 3], "mean", "drop", "float32")
    counts = {f"flat.{name}": value for name, value in counts.items()}
    for ranks, run in [(1, ""), (1, "chunk_rows = 26\nlanes = 2"), (3, "chunk_rows = 52"),
                       (2, "chunk_rows = 104\nlanes = 1")]:
        runs.run(pipeline(run), ranks)
        runs.expect(f"pipeline on {ranks} ranks, {run!r}", expected, counts)
    # A later pass knows what the first has counted.
    runs.run(pipeline("", '[[step]]\nkind = "rescale"\nfrom = "extremes"\nto = [0, 1]\n'), 2)
    with h5py.File("out.h5") as file:
        stored = file.attrs["counts"]
    runs.check(json.loads(pathlib.Path("report.json").read_text())["counts"] == counts
               and f"flat.dead_values = {counts['flat.dead_values']}\n" in stored,
               f"the second pass says {stored!r}")


def memory_of(report):
    """Planned on the host, and the most that the process had."""
    return (report["plan"]["memory_per_rank"]["host_bytes"],
            report["ranks"][0]["memory"]["resident_peak_bytes"])


def test_planned_memory(runs, random):
    """Fields of many images, packed and not, on any ranks, within a limit that the plan counts."""
    rows, columns = 600, 500
    flats = random.integers(300, 900, (41, rows, columns)).astype(np.uint16)
    darks = random.integers(0, 40, (30, rows, columns)).astype(np.uint8)
    frames = random.integers(0, 900, (2, rows, columns)).astype(np.uint16)
    with h5py.File("images.h5", "w") as file:
        file["frames"] = frames
        file["flats"] = flats
        file.create_dataset("packed", data=flats, chunks=(3, 64, columns), compression="gzip",
                            compression_opts=1)
        file["darks"] = darks

    def text(keys, run):
        return (f'kind = "correct"\n[input]\nfile = "images.h5"\ndataset = "/frames"\n'
                f'[output]\nfile = "out.h5"\ndataset = "/data"\noverwrite = true\n'
                f'[run]\n{run}\n[correct]\n{keys}')

    small = "lanes = 1\nchunk_rows = 10\nio_threads = 1"
    runs.run(text("dark = 0\nflat = 1\n", small))
    _, bare = memory_of(json.loads(pathlib.Path("report.json").read_text()))
    limit = 12 << 20
    for name, reduce, ranks in [("flats", "mean", 1), ("flats", "median", 1), ("packed", "mean", 1),
                                ("packed", "median", 2), ("flats", "median", 3), ("flats", "trimmed", 1)]:
        keys = (f'flat = {{ dataset = "/{name}", reduce = "{reduce}" }}\n'
                'dark = { dataset = "/darks", reduce = "median" }\n')
        expected, dead, _ = corrected(frames, reduced(darks, "median"), reduced(flats, reduce))
        runs.run(text(keys, f"{small}\nhost_memory = {limit}"), ranks)
        runs.expect(f"{reduce} of {name} on {ranks} ranks", expected, {"dead_values": dead})
        planned, peak = memory_of(json.loads(pathlib.Path("report.json").read_text()))
        runs.check(planned <= limit, f"{planned} planned")
        if ranks == 1 and name == "flats":  # of packed ones malloc keeps some
            runs.check(peak - bare <= planned, f"{reduce} of {name}: {peak - bare} of {planned}")
        runs.run(text(keys, ""), ranks)
        runs.expect(f"{reduce} of {name}, enough memory", expected, {"dead_values": dead})
    said = runs.run(text(keys, "host_memory = 2000000"), code=2)
    runs.check("run.host_memory" in said, f"too little memory: {said}")
    # Of more images than any memory holds, none of which is stored.
    with h5py.File("images.h5", "r+") as file:
        for name, count in [("most", 2 ** 44), ("many", 2 ** 36)]:
            file.create_dataset(name, (count, rows, columns), "u1", chunks=(1, rows, columns))
    for name, code, words in [("most", 3, "images.h5:/most): its shape is"),
                              ("many", 2, "run.host_memory")]:
        job = text(f'dark = 0\nflat = {{ dataset = "/{name}", reduce = "median" }}\n', "")
        said = runs.run(job.replace("[output]", f"max_logical_bytes = {2 ** 63 - 1}\n[output]"),
                        code=code)
        runs.check(words in said and said.count("\n") == 1, f"{name}: {said}")


def test_resumes(runs, random):
    """Killed at one of its writes, several times; then with other flat frames."""
    frames = write_scan(random, 200)
    expected, counts = corrected_scan(frames)
    run = 'chunk_rows = 40\nlanes = 1\ncommit_seconds = 0\nresume_check = "all"'
    for ranks, fault in [(1, "pwrite:delay=20000@*:out.h5.partial;pwrite:kill@20:out.h5.partial"),
                         (3, "pwrite:kill@2:out.h5.partial"), (2, "rename:kill@1:out.h5.partial")]:
        runs.run(alone(LOG, run), ranks, fault=fault)
    runs.run(alone(LOG, run), 2)
    report = json.loads(pathlib.Path("report.json").read_text())
    runs.check(report["runs"] > 1 and report["rows_before"] > 0,
               f"resumed: {report['runs']} runs, {report['rows_before']} rows before")
    runs.expect("after kills", expected, counts)
    os.unlink("out.h5")

    def write_flat(value):
        with h5py.File("flat.h5", "w") as file:
            file["flat"] = np.full((200, COLUMNS), value, np.float32)

    keys = LOG + 'dark = 0\nflat = { file = "flat.h5", dataset = "/flat" }\n'
    write_flat(300)
    runs.run(alone(keys, run), fault="rename:kill@1:out.h5.partial")
    write_flat(301)
    said = runs.run(alone(keys, run + '\nresume = "require"'), code=4)
    runs.check("computation was correct 1, field" in said, f"other flats: {said}")
    runs.run(alone(keys, run + '\nresume = "never"'))
    expected, dead, raised = corrected(frames[KEYS == 0], 0, 301, floor=0.01)
    runs.expect("of other flats", expected, {"dead_values": dead, "raised_values": raised})


def test_generated(runs):
    """jobs/tomo_prepare.toml on a smaller scan that the program makes."""
    os.makedirs("data")
    os.makedirs("out")
    done = subprocess.run([programs.runner, "generate", "tomo-scan", "data/tomo_scan.h5",
                           "--shape", "44,24,32", "--dtype", "uint16", "--counts", "2000",
                           "--seed", "1"], capture_output=True, text=True, timeout=GUARD)
    runs.check(done.returncode == 0, done.stderr)
    with h5py.File("data/tomo_scan.h5") as file:
        frames, keys = file["data"][...], file["image_key"][...]
    runs.check(list(keys) == [2, 2, 1, 1] + 40 * [0], f"keys {keys}")
    made, dead, raised = corrected(frames[keys == 0], reduced(frames[keys == 2], "mean"),
                                   reduced(frames[keys == 1], "mean"), floor=0.01)
    alive = frames.max(axis=0) > 0
    never = int((~alive).sum())
    runs.check(dead == 40 * never and raised > 0, f"{dead} dead values of {never} pixels")
    text = (ROOT / "jobs/tomo_prepare.toml").read_text()
    counts = {"flat.dead_values": dead, "flat.raised_values": raised}
    runs.run(text, words=["--until", "flat", "--set", 'output.file="out.h5"'])
    runs.expect("corrected", made, counts)
    os.unlink("out.h5")
    runs.run(text, words=["--until", "clean", "--set", 'output.file="out.h5"'])
    with h5py.File("out.h5") as file:
        clean = file["data"][...].astype("float64")
    counts["struck.replaced_values"] = int((medians(made, [3, 3], "reflect", 0, 0.25) != made).sum())
    counts["step_4.clipped_values"] = int(((clean < -0.1) | (clean > 1.2)).sum())
    runs.check(counts["struck.replaced_values"] > 0, f"{counts}")
    runs.run(text, 2)
    with h5py.File("out/tomo_prepare.h5") as file:
        prepared = file["data"][...]
    report = json.loads(pathlib.Path("report.json").read_text())["counts"]
    runs.check(report == counts, f"two passes: {report}")
    runs.check(prepared.dtype == np.uint16 and prepared.shape == (40, 24, 32), "uint16")
    # A struck element is far below its neighbours in the logarithm; none is left.
    ring = np.median(made, axis=0)
    runs.check(((ring - made > 0.8) & alive).any(), "none was struck")
    clean = prepared * (1.3 / 65535) - 0.1
    runs.check(not ((ring - clean > 0.8) & alive).any(), "struck elements are left")


@pytest.mark.parametrize("dtype", ["uint16", "float32"])
def test_fields_of_a_later_pass(dtype):
    """A mask of every element is one of the flats and darks too, in whatever pass correct is, and whatever type the
    values before it have."""
    random = np.random.default_rng(9)
    key = np.array([2, 2, 1, 1, 1, 0, 0, 0, 1])
    array = random.integers(200, 900, (len(key), 6, 7)).astype("uint16")
    array[key == 2] //= 10
    mask = random.integers(0, 6, array.shape, dtype="uint8") // 5
    mask[[0, 2]] = 0  # each pixel has a dark and a flat
    with h5py.File("i.h5", "w") as file:
        detector = file.create_group("entry/instrument/detector")
        detector["d"], detector["mask"], detector["image_key"] = array, mask, key
    data = np.where(mask != 0, np.nan, array.astype("float64"))
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        dark, flat = np.nanmean(data[key == 2], axis=0), np.nanmean(data[key == 1], axis=0)
    wanted = (data[key == 0] - dark) / (flat - dark)
    for save in ("", 'save = "s.h5"\n'):
        pathlib.Path("j.toml").write_text(
            '[input]\nfile = "i.h5"\ndataset = "/entry/instrument/detector/d"\n'
            'invalid = { dataset = "/entry/instrument/detector/mask" }\n[output]\nfile = "o.h5"\ndataset = "/d"\n'
            f'overwrite = true\n[run]\nbackend = "{programs.backend}"\n[[step]]\nkind = "convolve"\n'
            f'row_taps = [1.0]\ncolumn_taps = [1.0]\ndtype = "{dtype}"\n{save}[[step]]\nkind = "correct"\n')
        call("j.toml", "--quiet")
        with h5py.File("o.h5") as file:
            np.testing.assert_allclose(file["d"][()], wanted, rtol=1e-5)
