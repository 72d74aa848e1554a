"""Changes fields of numpy, TIFF, PNG, NIfTI-1, MRC and .sand files, and has every verb read them:
mutated_formats.py RUNNER [--count N] [--seed S] [--case K]

A case changes the extents and other numbers of a header to edge values, some bytes anywhere, or the file's
length, and makes checksums fit again. Two verbs read it. Each must end by itself and by no signal, with exit
code 0, 2 (the plan does not fit), 3 or 4, in bounded memory and without a file left; an error is one line
that names the file. A file of some hundred bytes never passes for gigabytes. What convert reads is what numpy,
tifffile, PIL and nibabel read, where these take the same type and extents from it. Case K of seed S alone:
--case K. pytest runs 60 that the seed chooses, and 1000 in a full run.
"""
import argparse
import collections
import gzip
import io
import json
import logging
import os
import pathlib
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

import mrcfile
import nibabel
import numpy as np
from PIL import Image
import pytest
import tifffile

from events import GUARD
from harness import programs
from mutated_inputs import BAD_WORDS, CPU_SECONDS, MOST_BYTES, limit

MOST_MEMORY = 2 << 30
MOST_RATIO = 4096  # of elements to bytes of the file: deflate packs 1032 to 1, LZW 2730 to 1
EDGES = [0, 1, 2, 3, 7, 8, 16, 255, 256, 65535, 65536, 2 ** 24, 2 ** 30, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 40,
         2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1]
JOB = '''kind = "convolve"
[input]
file = "{name}"
[output]
file = "out.npy"
sync = false
[run]
backend = "cpu"
host_memory = "512MiB"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [1.0]
'''
VERBS = {
    "inspect": ["inspect", "{name}"],
    "to .h5": ["convert", "{name}", "out.h5"],
    "to .npy": ["convert", "{name}", "out.npy"],
    "render": ["render", "{name}", "out.png", "--size", "64"],
    "plan": ["plan", "job.toml"],
    "run": ["job.toml", "--quiet"],
    "compare": ["compare", "{name}", "whole.npy"],
}


class Base:
    """A valid file, the places of its numbers, and what makes it fit again."""

    def __init__(self, name, data, places, repair=bytes, read=None):
        self.name, self.data, self.places, self.repair, self.read = name, data, places, repair, read


def saved(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def png_sums(data):
    """The file with the checksums of its chunks."""
    made, at = bytearray(data), 8
    while at + 12 <= len(made):
        length = struct.unpack_from(">I", made, at)[0]
        if at + 12 + length > len(made):
            break
        struct.pack_into(">I", made, at + 8 + length, zlib.crc32(made[at + 4:at + 8 + length]))
        at += 12 + length
    return bytes(made)


def tiff_places(data):
    """Types, counts and values of all entries of directories, and where these are."""
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        order, big = file.byteorder, file.is_bigtiff
        entry, first = (20, 8) if big else (12, 2)
        found = []
        for page in file.pages:
            for number in range(len(page.tags)):
                at = page.offset + first + entry * number
                found += [(at + 2, order + "H"), (at + 4, order + ("Q" if big else "I")),
                          (at + (12 if big else 8), order + "Q" if big else order + "I"),
                          (at + (12 if big else 8), order + "H")]
    return found


def npy_places(data):
    """Digits of the header: numbers of any length in the place of others."""
    return [(match.start(), "digits") for match in re.finditer(rb"(?<=[(, ])\d+(?=[,)])", data[:128])]


def read_png(data):
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image) if image.mode in ("L", "RGB", "I;16") else None


def read_mrc(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of bytes behind the elements
        return mrcfile.mrcinterpreter.MrcInterpreter(io.BytesIO(data)).data


def make_bases():
    rng = np.random.default_rng(3)
    volume = np.cumsum(rng.integers(0, 3, (4, 20, 24)), -1).astype("<u2")
    grey, colours = (volume[0] % 256).astype("u1"), rng.integers(0, 256, (20, 24, 3), dtype=np.uint8)

    def read_npy(data):
        return np.load(io.BytesIO(data), allow_pickle=False)

    def read_tiff(data):
        return tifffile.imread(io.BytesIO(data))

    bases = []
    for number, array in enumerate([volume, np.asfortranarray(volume.astype(">f4"))]):
        data = saved(lambda stream, array=array: np.save(stream, array))
        bases.append(Base(f"{number}.npy", data, npy_places(data), read=read_npy))
    for number, (array, options) in enumerate([
            (volume, {}), (volume, {"tile": (16, 16), "compression": "zlib"}), (grey, {"bigtiff": True}),
            (colours, {"photometric": "rgb", "compression": "zlib", "predictor": True}), (volume, {"byteorder": ">"})]):
        options = {"photometric": "minisblack", **options}
        data = saved(lambda stream, array=array, options=options: tifffile.imwrite(stream, array, **options))
        bases.append(Base(f"{number}.tif", data, tiff_places(data), read=read_tiff))
    for mode, image in [("grey", Image.fromarray(grey)), ("deep", Image.fromarray(volume[0])),
                        ("colour", Image.fromarray(colours)), ("palette", Image.fromarray(grey).convert("P"))]:
        data = saved(lambda stream, image=image: image.save(stream, "png"))
        places = [(16, ">I"), (20, ">I"), *[(at, "B") for at in range(24, 29)], (33, ">I")]
        bases.append(Base(f"{mode}.png", data, places, png_sums, read_png))
    nifti = nibabel.Nifti1Image(volume.T, np.eye(4)).to_bytes()
    places = nifti_places = [(0, "<I"), *[(at, "<H") for at in range(40, 56, 2)], (70, "<H"), (72, "<H"), (108, "<f"), (112, "<f"),
              (116, "<f"), (344, "<I")]
    bases.append(Base("a.nii", nifti, places))
    head = bytearray(1024)
    struct.pack_into("<10i6f3i", head, 0, 24, 20, 4, 6, 0, 0, 0, 24, 20, 4, 24, 20, 4, 90, 90, 90, 1, 2, 3)
    struct.pack_into("<2i", head, 88, 1, 32)
    head[208:216] = b"MAP DD\0\0"
    places = [*[(at, "<I") for at in (*range(0, 16, 4), *range(28, 52, 4), *range(64, 76, 4), 88, 92, 152, 208, 212)]]
    bases.append(Base("a.mrc", bytes(head) + bytes(32) + volume.tobytes(), places, read=read_mrc))
    bases.append(Base("a.nii.gz", nifti, nifti_places, lambda data: gzip.compress(data, mtime=0)))
    cells = rng.integers(0, 256, 2 * 120, dtype=np.uint8).tobytes()
    bases.append(Base("a.sand", b"SAND" + struct.pack("<3i", 24, 20, 2) + cells, [(4, "<I"), (8, "<I"), (12, "<I")]))
    return bases


def changed(base, rng):
    """(its bytes after a change, what was changed)."""
    data, changes = bytearray(base.data), []
    if rng.random() < 0.15:
        data = data[:rng.randrange(len(data))]
        changes.append(f"cut to {len(data)} bytes")
    for _ in range(rng.choice([1, 1, 2, 3]) if not changes else 0):
        if rng.random() < 0.2:
            at = rng.randrange(len(data))
            data[at] = rng.randrange(256)
            changes.append(f"byte {at}: {data[at]}")
            continue
        at, kind = rng.choice(base.places)
        value = rng.choice(EDGES)
        if kind == "digits":
            text = re.match(rb"[^,)]*", data[at:])
            new, end = str(value).encode(), data.index(b"\n")
            # The header keeps its length: blanks at its end make room.
            line = data[:at] + new + data[at + len(text.group()):end].rstrip()
            data[:end] = line.ljust(end)[:end]
        elif kind.endswith("f"):
            value = rng.choice([0.0, -1.0, 352.5, 1e9, float("nan"), float("inf")])
            struct.pack_into(kind, data, at, value)
        else:
            struct.pack_into(kind, data, at, value % 256 ** struct.calcsize(kind))
        changes.append(f"{kind} {at}: {value}")
    return base.repair(bytes(data)), changes


def attempt(arguments):
    """(exit code, standard output, standard error, bytes of memory at most)."""
    with open("stdout", "wb+") as out, open("stderr", "wb+") as err:
        process = subprocess.Popen(arguments, stdout=out, stderr=err, preexec_fn=limit, start_new_session=True)
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.alarm(GUARD)
        _, status, used = os.wait4(process.pid, 0)
        signal.alarm(0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        printed = [stream.read().decode(errors="replace") for stream in (out, err)]
        return process.returncode, *printed, used.ru_maxrss << 10


class Case:
    """A changed file in the working folder: what was found wrong with the program's answers."""

    def __init__(self, bases, number, seed):
        rng = random.Random(f"{seed} {number}")
        self.number, self.base = number, rng.choice(bases)
        self.bytes, self.changes = changed(self.base, rng)
        self.verbs = rng.sample(sorted(VERBS), 2)
        self.findings, self.outcomes = [], {}

    def __str__(self):
        return f"case {self.number}: {self.base.name}, {'; '.join(self.changes)}"

    def expect(self, condition, what):
        if not condition:
            self.findings.append(what)

    def judge(self, verb, code, text, memory):
        self.outcomes[verb] = code
        errors = [line for line in text.splitlines() if line.startswith("runner: error: ")]
        too_large = code == 2 and verb in ("plan", "run") and "does not fit" in text
        self.expect(code in (0, 3, 4) or too_large or (code == 7 and verb == "compare"),
                    f"{verb} ends with {code}: {text[-500:]}")
        self.expect(not BAD_WORDS.search(text), f"{verb} says {text[-500:]}")
        self.expect(len(errors) == (code != 0) or (code == 7 and not errors),
                    f"{verb} ends with {code} and says {text[-500:]}")
        self.expect(code != 3 or self.base.name in text, f"{verb} names no file: {text[-500:]}")
        self.expect(memory <= MOST_MEMORY, f"{verb} took {memory >> 20} MiB")

    def check_size(self, text):
        for dataset in json.loads(text)["datasets"]:
            self.expect(dataset["bytes"] <= MOST_RATIO * len(self.bytes) + 4096,
                        f"{dataset['bytes']} bytes of elements in {len(self.bytes)}")

    def check_values(self):
        if self.base.read is None or os.path.getsize("out.npy") > MOST_BYTES:
            return
        try:
            theirs = self.base.read(self.bytes)
        except Exception:  # pylint: disable=broad-except
            return
        ours = np.load("out.npy")
        if theirs is not None and (theirs.dtype.newbyteorder("="), theirs.shape) == (ours.dtype, ours.shape):
            self.expect((theirs == ours).all() or ours.dtype.kind == "f", "convert reads other values")

    def run(self, runner):
        """Its verbs, in an empty working folder."""
        pathlib.Path(self.base.name).write_bytes(self.bytes)
        np.save("whole.npy", np.zeros((4, 20, 24), "<u2"))
        pathlib.Path("job.toml").write_text(JOB.format(name=self.base.name))
        pathlib.Path("stdout").touch()
        pathlib.Path("stderr").touch()
        before = set(os.listdir())
        for verb in self.verbs:
            code, out, text, memory = attempt([runner, *(word.format(name=self.base.name) for word in VERBS[verb])])
            self.judge(verb, code, text, memory)
            left = {name for name in set(os.listdir()) - before if not re.search(r"\.(journal|partial|lock)$", name)
                    or verb != "run"}  # a run can be resumed when its input is whole again
            self.expect(code == 0 or not left, f"{verb} ends with {code} and leaves {left}")
            if verb == "inspect" and code == 0:
                self.check_size(attempt([runner, "inspect", "--json", self.base.name])[1])
            if verb == "to .npy" and code == 0:
                self.check_values()
            subprocess.run(["rm", "-rf", *set(os.listdir()) - before], check=True)
        return self


logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # of what is meant to be damaged
BASES = make_bases()


@pytest.mark.parametrize("number", [pytest.param(number, marks=pytest.mark.full if number >= 60 else ())
                                    for number in range(1000)])
def test_mutation(number):
    case = Case(BASES, number, programs.seed).run(programs.runner)
    assert not case.findings, f"{case}: {case.findings}"


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_base(base):
    """As it was made, every verb takes it."""
    case = Case([base], 0, 0)
    case.bytes, case.verbs = base.repair(base.data), sorted(set(VERBS) - {"compare"})
    case.run(programs.runner)
    assert not case.findings and set(case.outcomes.values()) == {0}, f"{case.findings} {case.outcomes}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, action="append", help="the number of a case")
    options = parser.parse_args()
    numbers, wrong, codes = options.case or range(options.count), 0, collections.Counter()
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            case = Case(BASES, number, options.seed).run(options.runner)
            os.chdir("/")
        codes.update(case.outcomes.values())
        wrong += bool(case.findings)
        if options.case or case.findings:
            print(f"{'WRONG: ' if case.findings else ''}{case} {case.outcomes} {case.findings}", flush=True)
    print(f"mutated formats: {len(numbers)} cases of {len(BASES)} files, seed {options.seed}, exit codes "
          f"{dict(sorted(codes.items()))}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
