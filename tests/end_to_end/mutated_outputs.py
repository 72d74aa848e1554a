"""Flips single bits of finished outputs, and has each verified, certified, made once more and repaired:
mutated_outputs.py RUNNER [--count N] [--seed S] [--jobs J] [--wall SECONDS]

Three of four flips hit what is not data: HDF5's superblock, object headers, trees, heaps, attributes,
the record beside the output. All must end by themselves, by no signal, with exit code 0, 3, 4 or 7.
Where verify or repair ends with 0, an independent reader (h5py, numpy, tifffile) must open the output
and find all of it as it was: objects, types, shapes, attributes and elements. Where certify ends with
0, the certificate must be that of the undamaged output. Where the job says that its output is complete
already, all but the rows must be as it was. Mutation K of seed S alone: --only K. pytest runs 30 that
the seed chooses, and 700 in a full run.
"""
import argparse
import collections
import concurrent.futures
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import programs
from output_content import CPU_SECONDS, content, content_in_child, data_ranges

CODES = (0, 3, 4, 7)
MARKS = [b"\x89HDF", b"OHDR", b"OCHK", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"FRHP", b"FHDB", b"FSHD",
         b"BTHD", b"BTLF", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EADB"]
TAPS = "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = { box = { radius = 3 } }"
PACKED = 'compression = "deflate"\nshuffle = true'

# Name: kind, what the job has under it, [output], the input's shape and type, datasets. One whose name
# ends in a format's ending is of that format.
OUTPUTS = {
    "convolve": ("convolve", TAPS, "", (120, 50), "float32", ["a"]),
    "convolve_chunks": ("convolve", TAPS, "chunk = [1, 5, 4]", (9, 40, 33), "uint16", ["a"]),
    "convolve_deflate": ("convolve", TAPS, f"chunk = [1, 8, 31]\n{PACKED}", (5, 23, 31), "uint16",
                         ["a"]),
    "convolve_zstd": ("convolve", TAPS, 'chunk = [8, 15]\ncompression = "zstd"', (81, 50), "float32",
                      ["a"]),
    "convolve_volume": ("convolve", f"{TAPS}\ndepth_taps = [0.5, 0.25, 0.25]", "chunk = [2, 8, 33]",
                        (9, 20, 33), "int16", ["a"]),
    "transpose": ("transpose", "permutation = [2, 0, 1]", "", (11, 23, 17), "float64", ["a"]),
    "transpose_deflate": ("transpose", "permutation = [1, 2, 0]", f"chunk = [1, 10, 11]\n{PACKED}",
                          (11, 23, 17), "uint8", ["a"]),
    "sand": ("sand", "generations = 20\nsnapshot_every = 5", "", (1, 41, 37), "cells", ["a"]),
    "sand_deflate": ("sand", "generations = 20\nsnapshot_every = 5", f"chunk = [1, 8, 37]\n{PACKED}",
                     (1, 41, 37), "cells", ["a"]),
    "match": ("match", "window = [3, 5, 5]\npatch = [2, 2, 2]\ncount = 4", "", (7, 12, 13), "uint8",
              ["index", "distance", "count"]),
    "denoise": ("denoise", "window = [3, 5, 5]\npatch = [2, 2, 2]\ncount = 4", "", (9, 14, 13),
                "float32", ["a"]),
    "denoise_zstd": ("denoise", 'method = "bm4d"\nwindow = [5, 5, 5]\ncount = 8',
                     'chunk = [1, 7, 13]\ncompression = "zstd"', (9, 14, 13), "float32", ["a"]),
    "carried": ("convolve", TAPS, "", (7, 12, 13), "float32", ["entry/a"]),
    "parts": ("convolve", TAPS, "parts = 3\nchunk = [1, 5, 4]", (9, 40, 33), "uint16", ["a"]),
    "parts_deflate": ("convolve", TAPS, f"parts = 2\nchunk = [1, 8, 31]\n{PACKED}", (6, 24, 31),
                      "uint16", ["a"]),
    "convolve.npy": ("convolve", TAPS, "", (3, 40, 50), "float32", []),
    "convolve.nii": ("convolve", TAPS, "", (3, 40, 50), "int16", []),
    "convolve.nii.gz": ("convolve", TAPS, "", (3, 40, 50), "int16", []),
    "convolve.mrc": ("convolve", TAPS, "", (3, 40, 50), "float32", []),
    "convolve.tif": ("convolve", TAPS, "", (3, 40, 50), "uint16", []),
    "pyramid.ome.tif": ("convolve", TAPS, "pyramid = true", (2, 40, 300), "uint16", []),
    "pyramid_zstd.ome.tif": ("convolve", TAPS, 'pyramid = true\ncompression = "zstd"', (2, 40, 300), "uint8", []),
    "sand.sand": ("sand", "generations = 20\nsnapshot_every = 5", "", (1, 41, 37), "cells", []),
}


def file_of(name):
    """The output's file."""
    ending = name.partition(".")[2]
    return f"out.{ending or 'h5'}"


def write_input(path, name, values):
    """Under the name "carried" with all that an output has of its input."""
    with h5py.File(path, "w") as file:
        if name != "carried":
            file["a"] = values
            return
        entry = file.create_group("entry")
        entry.attrs.update({"NX_class": "NXdata", "signal": "a", "axes": ["z", "y", "x"], "title": "T"})
        entry["a"] = values
        entry["a"].attrs.update({"units": "K", "long_name": "heat", "gain": [1.5, 2.5]})
        for axis, extent in zip("zyx", values.shape):
            entry[axis] = np.linspace(0, 1, extent)
            entry[axis].attrs["units"] = "mm"


def make(runner, folder, name):
    """An output in a folder of its own, with its input."""
    kind, keys, output, shape, dtype, _ = OUTPUTS[name]
    values = np.random.default_rng(3).integers(0, 4 if dtype == "cells" else 200, shape)
    folder.mkdir()
    write_input(folder / "in.h5", name, values.astype("uint8" if dtype == "cells" else dtype))
    dataset = "/entry/a" if name == "carried" else "/a"
    (folder / "job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{folder.resolve()}/in.h5"\ndataset = "{dataset}"\n[output]\n'
        f'file = "{file_of(name)}"\nsync = false\n{output}\n[run]\nchunk_rows = 16\n[{kind}]\n{keys}\n')
    subprocess.run([runner, "job.toml", "--quiet"], cwd=folder, check=True, timeout=GUARD)


class Good:
    """An output as the job made it: its file, the record beside it and its parts."""

    def __init__(self, runner, folder, name):
        self.folder, self.name, self.names, self.file = folder, name, OUTPUTS[name][-1], file_of(name)
        self.bytes, self.ranges = {}, {}
        self.data, self.structure, self.near_marks = [], [], []  # (file, place)
        for path in sorted(path for path in folder.rglob("out*") if path.is_file()) + sorted(
                folder.glob("out*.parts/*")):
            self.add(path, str(path.relative_to(folder)))
        self.content = content(folder / self.file)
        self.facts = content(folder / self.file, self.names)
        code, _, self.certificate = call(runner, ["certify", self.file], folder)
        assert code == 0, self.certificate

    def add(self, path, file):
        if file in self.bytes:
            return
        data = self.bytes[file] = path.read_bytes()
        self.ranges[file] = [] if path.suffix == ".identity" else data_ranges(path)
        is_data = {at for first, last in self.ranges[file] for at in range(first, last)}
        self.data += [(file, at) for at in sorted(is_data)]
        # By blocks: seconds in attributes are others in each run, and a mutation is to be the same.
        head = 200 if path.suffix in (".npy", ".tif", ".nii", ".gz", ".mrc", ".sand") else 0
        self.structure += [(file, at) for at in range(len(data))
                           if (at not in is_data or at < head) and any(data[at // 64 * 64:at // 64 * 64 + 64])]
        marks = [at for mark in MARKS for at in places(data, mark) if at not in is_data]
        self.near_marks += [(file, at + i) for at in marks for i in range(64)
                            if at + i < len(data) and at + i not in is_data]

    def mutation(self, rng):
        """In which file, where and which bit."""
        pool = rng.choice([self.data, self.structure, self.structure, self.near_marks or self.structure])
        return *rng.choice(pool), 1 << rng.randrange(8)

    def is_data(self, file, at):
        return any(first <= at < last for first, last in self.ranges[file])


def places(data, mark):
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def call(runner, arguments, folder):
    """Exit code (of a signal, negative), seconds and what it printed; ended after so many seconds
    of a processor, or where it only waits."""
    def limit():
        # Its own signal at the soft limit would only ask the program to stop.
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = time.monotonic()
    process = subprocess.Popen([runner, *arguments], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True)
    try:
        text, _ = process.communicate(timeout=GUARD)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
    return process.returncode, time.monotonic() - begin, text.decode(errors="replace")


class Trial:
    """One mutation: what was found wrong, and the codes of verify and repair."""

    def __init__(self, number, good, place):
        self.number, self.good, self.name = number, good, good.name
        self.file, self.at, self.bit = place
        self.is_data = good.is_data(self.file, self.at)
        self.findings, self.codes, self.longest = [], {}, 0

    def __str__(self):
        return f"mutation {self.number}: {self.name}, {self.file}, byte {self.at}, bit 0x{self.bit:02x}"

    def end(self, arguments, runner, folder, wall):
        code, seconds, text = call(runner, arguments, folder)
        self.codes[arguments[0]] = code
        self.longest = max(self.longest, seconds)
        if code not in CODES:
            self.findings.append(f"{arguments} ends with {code}: {text[-500:]}")
        elif seconds > wall:
            self.findings.append(f"{arguments} took {seconds:.1f} s")
        return code, text

    def run(self, runner, folder, wall):
        good, path = self.good, folder / self.good.file
        for file, data in good.bytes.items():
            damaged = bytearray(data)
            if file == self.file:
                damaged[self.at] ^= self.bit
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(damaged)
            shutil.copystat(good.folder / file, folder / file)  # a record is of a file with its time
        code, text = self.end(["certify", good.file], runner, folder, wall)
        if code == 0 and text != good.certificate:
            self.findings.append("certify is content, and its facts differ")
        code, text = self.end(["job.toml", "--quiet"], runner, folder, wall)
        if code == 0 and path.suffix == ".h5" and content_in_child(path, good.names) != good.facts:
            self.findings.append(f"the job is content, and its record differs: {text[-500:]}")
        for verb in ["verify", "repair"]:
            code, text = self.end([verb, good.file], runner, folder, wall)
            if code == 0 and content_in_child(path) != good.content:
                self.findings.append(f"{verb} is content, and the output differs: {text[-500:]}")
        if self.codes["repair"] == 0:
            code, _, text = call(runner, ["verify", good.file], folder)
            if code != 0:
                self.findings.append(f"repaired, and then verify ends with {code}: {text[-500:]}")
        return self


GOODS = {}  # by name, in each process of the pool


def try_one(runner, where, number, seed, wall):
    """Mutation K of a seed is the same whatever the others are."""
    rng = random.Random(f"{seed} {number}")
    name = rng.choice(list(OUTPUTS))
    if name not in GOODS:
        GOODS[name] = Good(runner, where / name, name)
    good = GOODS[name]
    trial = Trial(number, good, good.mutation(rng))
    with tempfile.TemporaryDirectory(dir=where) as folder:
        shutil.copy2(good.folder / "job.toml", folder)
        return trial.run(runner, pathlib.Path(folder), wall)


def table(trials):
    lines = [f"{'output':18} {'data':>5} {'other':>5}  "
             + "  ".join(f"{verb} " + " ".join(f"{code:>4}" for code in [*CODES, "else"])
                         for verb in ["verify", "repair"]) + "  longest s"]
    for name in [*OUTPUTS, "all"]:
        own = [trial for trial in trials if name in (trial.name, "all")]
        line = f"{name:18} {sum(t.is_data for t in own):5} {sum(not t.is_data for t in own):5}  "
        for verb in ["verify", "repair"]:
            counts = collections.Counter(t.codes[verb] if t.codes[verb] in CODES else "else"
                                         for t in own)
            line += " " * 7 + " ".join(f"{counts[code]:4}" for code in [*CODES, "else"]) + "  "
        lines.append(line + f"{max((t.longest for t in own), default=0):9.1f}")
    return "\n".join(lines)


@pytest.fixture(scope="module", name="outputs")
def make_outputs():
    with tempfile.TemporaryDirectory() as folder:
        for name in OUTPUTS:
            make(programs.runner, pathlib.Path(folder, name), name)
        yield pathlib.Path(folder)
        GOODS.clear()


@pytest.mark.share(0.2)
@pytest.mark.parametrize("number", [pytest.param(number, marks=pytest.mark.full if number >= 30 else ())
                                    for number in range(700)])
def test_mutation(outputs, number):
    trial = try_one(programs.runner, outputs, number, programs.seed, GUARD)
    assert not trial.findings, f"{trial}: {trial.findings}"


def type_bytes(path, name):
    """The places of the bytes that tell the dataset's type."""
    with h5py.File(path) as file:
        message = file[name].id.get_type().encode()[2:]  # H5Tencode() puts two bytes before it
    first = next(places(path.read_bytes(), message))
    return range(first, first + len(message))


@pytest.mark.parametrize("name", ["convolve_chunks",
                                  *(pytest.param(name, marks=pytest.mark.full)
                                    for name in OUTPUTS if name != "convolve_chunks" and "." not in name)])
def test_types(outputs, name):
    """Elements of the same bytes and another type are others: each bit of the type is flipped, or
    one of each byte, which the seed chooses."""
    good = Good(programs.runner, outputs / name, name)
    with tempfile.TemporaryDirectory(dir=outputs) as folder:
        shutil.copy2(good.folder / "job.toml", folder)
        for at in type_bytes(outputs / name / "out.h5", OUTPUTS[name][-1][0]):
            for bit in range(8) if programs.full else [(programs.seed + at) % 8]:
                trial = Trial(0, good, ("out.h5", at, 1 << bit))
                trial.run(programs.runner, pathlib.Path(folder), GUARD)
                assert not trial.findings, f"{trial}: {trial.findings}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, action="append", help="the number of a mutation")
    parser.add_argument("--wall", type=float, default=GUARD,
                        help="seconds that each run may take, on a machine that is not busy")
    options = parser.parse_args()
    numbers = options.only or range(options.count)
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        for name in OUTPUTS:
            make(options.runner, where / name, name)
        with concurrent.futures.ProcessPoolExecutor(
                options.jobs, multiprocessing.get_context("fork")) as pool:
            work = [pool.submit(try_one, options.runner, where, number, options.seed, options.wall)
                    for number in numbers]
            trials = []
            for done in concurrent.futures.as_completed(work):
                trials.append(done.result())
                for finding in trials[-1].findings:
                    print(f"WRONG: {trials[-1]}: {finding}", flush=True)
    wrong = sum(bool(trial.findings) for trial in trials)
    print(table(trials))
    print(f"mutated outputs: {len(trials)} mutations, seed {options.seed}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
