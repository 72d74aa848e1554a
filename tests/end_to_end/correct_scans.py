"""Corrects scans with their own flat and dark frames: correct_scans.py RUNNER MPIRUN FAULT_SHIM.

An NXtomo scan without dataset, flat and dark; regions of it; as a step of a pipeline whose later
steps drop rows and need halos. Counts in the report and in the output are the same for any ranks
and chunks, across passes, and after runs were stopped and resumed on other ranks. Other flat
frames, another job. jobs/tomo_prepare.toml runs on a scan that the program makes.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from checks import Checks
from events import GUARD
from kind_rules import binned, corrected, reduced

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = np.array([1, 0, 0, 2, 0, 1, 0, 2, 0, 1, 0, 0], np.int32)
ROWS, COLUMNS = 26, 19
LOG = "[correct]\nnegative_log = true\nfloor = 0.01\n"


class Scans(Checks):
    def run(self, job, ranks=1, code=0, words=(), fault=None):
        self.count += 1
        pathlib.Path("job.toml").write_text(job)
        command = [self.arguments.runner, "job.toml", "--quiet", "--backend",
                   self.arguments.backend, "--report", "report.json", *words]
        if fault:
            command = ["env", f"LD_PRELOAD={self.arguments.shim}", f"FAULT={fault}", *command]
        if ranks > 1:
            command = [self.arguments.mpirun, "--allow-run-as-root", "--oversubscribe", "-n",
                       str(ranks), *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=GUARD)
        right = done.returncode not in (0, 75) if fault else done.returncode == code
        self.check(right, f"{job}\nexit {done.returncode}\n{done.stderr}")
        return done.stderr

    def expect(self, what, expected, counts):
        with h5py.File("out.h5") as file:
            dataset = next(name for name in ("entry/data/data", "data") if name in file)
            made = file[dataset][...]
            told = file.attrs["counts"]
        told = told.decode() if isinstance(told, bytes) else told
        self.check(made.shape == expected.shape and made.dtype == expected.dtype
                   and made.tobytes() == expected.tobytes(), f"{what}: other elements")
        lines = "".join(f"{name} = {value}\n" for name, value in counts.items())
        self.check(told == lines, f"{what}: the output says {told!r}, not {lines!r}")
        report = json.loads(pathlib.Path("report.json").read_text())["counts"]
        self.check(report == counts, f"{what}: the report says {report}, not {counts}")


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


def scans(runs, random):
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


def pipelines(runs, random):
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
        told = file.attrs["counts"]
    runs.check(json.loads(pathlib.Path("report.json").read_text())["counts"] == counts
               and f"flat.dead_values = {counts['flat.dead_values']}\n" in told,
               f"the second pass says {told!r}")


def resumes(runs, random):
    """Killed at one of its writes, again and again; then of other flat frames."""
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


def generated(runs, _):
    """jobs/tomo_prepare.toml on a smaller scan that the program makes."""
    os.makedirs("data")
    os.makedirs("out")
    done = subprocess.run([runs.arguments.runner, "generate", "tomo-scan", "data/tomo_scan.h5",
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


def main():
    parser = argparse.ArgumentParser()
    for name in ["runner", "mpirun", "shim"]:
        parser.add_argument(name)
    parser.add_argument("--backend", default="cpu")
    arguments = parser.parse_args()
    runs = Scans(arguments)
    with tempfile.TemporaryDirectory() as folder:
        arguments.runner = str(pathlib.Path(arguments.runner).resolve())
        arguments.shim = str(pathlib.Path(arguments.shim).resolve())
        os.chdir(folder)
        for part in [scans, pipelines, resumes, generated]:
            part(runs, np.random.default_rng(11))
        os.chdir("/")
    print(f"{runs.count} runs, {runs.failures} failed")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
