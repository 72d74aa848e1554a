"""Changes fields of HDF5 inputs, and has each file inspected and read:
mutated_inputs.py RUNNER [--count N] [--seed S] [--jobs J] [--case K] [--keep FOLDER]

hdf5_bases.py makes valid files of every layout, filter and version, and hdf5_fields.py finds their
fields: superblocks, messages of object headers, nodes of trees, heaps, indices of chunks. A case changes
one to three of them to edge values, other addresses or each other's values, and mostly makes the
checksums fit again. `runner convert` then reads the dataset as a job does, and of every fourth case
`runner inspect` prints the file. Each must end by itself and by no signal, with exit code 0 or 3, or 4
where the elements are too many for the disk. An error is one line that names the file. Where the dataset
is read, it has the values that h5py reads from the same file. Where h5py cannot read it, they are those
from before the change. Case K of seed S alone: --case K. pytest runs 100 that the seed chooses, and 1000
in a full run.
"""
import argparse
import collections
import concurrent.futures
import faulthandler
import hashlib
import math
import multiprocessing
import os
import pathlib
import random
import re
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

import hdf5_bases
import hdf5_fields
from harness import programs

CPU_SECONDS = 20
GUARD = 300  # seconds of waiting, which nothing takes even on a busy machine
MOST_BYTES = 64 << 20  # of an output, and of elements that are compared
MOST_CHUNKS = 100_000  # HDF5 takes kilobytes of memory for each that it reads
CODES = (0, 3, 4)
# The limit on files below is one on memory that processes share, too: exit 6.
SHARED_TOO_LARGE = "(memfd_create): File too large"
BAD_WORDS = re.compile("Sanitizer|runtime error|terminate called|Assertion|a defect of the program")


def read(path, dataset):
    """Type, extents and a checksum of the elements as h5py reads them; what runner makes of h5py's types."""
    with h5py.File(path) as file:
        data = file[dataset]
        shape = [int(extent) for extent in data.shape]  # numpy's numbers wrap
        chunks = math.prod(-(-extent // int(of_chunk)) for extent, of_chunk in zip(shape, data.chunks or ()))
        if math.prod(shape) * data.dtype.itemsize > MOST_BYTES or chunks > MOST_CHUNKS:
            return "large"
        return summary(data[...])


def summary(array):
    if array.dtype.kind == "b":
        array = array.view("u1")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return f"{array.dtype.str} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"


def read_in_child(folder, dataset, name="in.h5"):
    """read() by a process that a damaged file may crash; None where it fails."""
    to_read, to_write = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.disable()  # a crash is expected, and its trace would look like a test's
        os.close(to_read)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        signal.alarm(60)  # HDF5 may wait for itself after a failure
        try:
            os.chdir(folder)  # HDF5 looks for external files there
            os.write(to_write, read(name, dataset).encode())
        except BaseException:  # pylint: disable=broad-except
            pass
        os._exit(0)
    os.close(to_write)
    with os.fdopen(to_read, "rb") as answer:
        text = answer.read().decode()
    os.waitpid(child, 0)
    return text or None


def limit():
    # Its own signal at the soft limit would only ask the program to stop.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write fails instead


def call(folder, *arguments):
    """Exit code (of a signal, negative) and standard error; ended after so many seconds of a processor,
    or where it only waits."""
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=limit, start_new_session=True)
    try:
        _, text = process.communicate(timeout=GUARD)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        _, text = process.communicate()
        return "no end", text.decode(errors="replace")
    return process.returncode, text.decode(errors="replace")


def made_values(folder, base):
    """What convert has made of the dataset, as read() tells it."""
    if base.output == "out.h5":
        return read_in_child(folder, base.dataset, base.output)
    return summary(np.load(folder / base.output, allow_pickle=False))


class Case:
    """One changed file: what was found wrong with the program's answers."""

    def __init__(self, bases, number, seed):
        rng = random.Random(f"{seed} {number}")
        self.number = number
        self.base = rng.choice(bases)
        self.bytes, self.changes = hdf5_fields.changed(self.base.bytes, self.base.map, rng)
        self.findings, self.outcomes = [], {}

    def __str__(self):
        return f"case {self.number}: {self.base.name}, {'; '.join(self.changes)}"

    def judge(self, verb, code, text):
        """What is wrong with how the program ended."""
        self.outcomes[verb] = code
        errors = [line for line in text.splitlines() if not line.startswith("runner: warning: ")]
        named = all(re.fullmatch(r"runner: error: .*(in|src)\.h5.*", line) for line in errors)
        if code not in CODES and not (code == 6 and SHARED_TOO_LARGE in text):
            self.findings.append(f"{verb} ends with {code}: {text[-500:]}")
        elif BAD_WORDS.search(text):
            self.findings.append(f"{verb} says {text[-500:]}")
        elif len(errors) != (code != 0) or (code == 3 and not named):
            self.findings.append(f"{verb} ends with {code} and says {text[-500:]}")

    def check_values(self, folder, code):
        """Whether what convert has made is what h5py reads."""
        theirs = read_in_child(folder, self.base.dataset)
        if code != 0:
            self.outcomes["values"] = "refused by both" if theirs is None else "refused by runner alone"
            return
        ours = made_values(folder, self.base)
        if theirs is None:
            self.outcomes["values"] = "h5py fails"
            if ours not in (None, self.base.summary):  # None: of a type that h5py does not know
                self.findings.append(f"convert reads {ours}, h5py cannot read it, and it was {self.base.summary}")
        elif theirs != "large" and ours != theirs:
            self.findings.append(f"convert reads {ours}, h5py {theirs}; it was {self.base.summary}")
        else:
            self.outcomes["values"] = "the same as before" if ours == self.base.summary else "changed for both"

    def run(self, runner, folder):
        for old in folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink()
        for name, data in self.base.beside.items():
            (folder / name).write_bytes(data)
        (folder / self.base.changes).write_bytes(self.bytes)
        before = {path.name for path in folder.iterdir()}
        code, text = call(folder, runner, "convert", f"in.h5:{self.base.dataset}", self.base.output)
        self.judge("convert", code, text)
        left = {path.name for path in folder.iterdir()} - before
        if code in CODES and left != ({self.base.output} if code == 0 else set()):
            self.findings.append(f"convert ends with {code} and leaves {left}")
        self.check_values(folder, code)
        if self.number % 4 == 0:
            code, text = call(folder, runner, "inspect", "in.h5")
            self.judge("inspect", code, text)
        return self


def make_bases(folder):
    bases = hdf5_bases.make(pathlib.Path(folder))
    for base in bases:
        base.map = hdf5_fields.FieldMap(base.bytes)
    return bases


def check_base(base, runner, folder):
    """The file as it was made is read as h5py reads it; remembers what that is."""
    for name, data in [*base.beside.items(), (base.changes, base.bytes)]:
        (folder / name).write_bytes(data)
    base.summary = read_in_child(folder, base.dataset)
    code, text = call(folder, runner, "convert", f"in.h5:{base.dataset}", base.output, "--overwrite")
    assert code == 0, f"{base.name}: {text}"
    made = made_values(folder, base)
    assert made == base.summary, f"{base.name}: {made}, and h5py reads {base.summary}"


BASES = []  # of each process of the pool, which inherits them


def try_one(runner, number, seed, folder):
    try:
        return Case(BASES, number, seed).run(runner, folder)
    except BaseException as error:  # pylint: disable=broad-except
        raise RuntimeError(f"case {number}") from error


def try_many(runner, numbers, seed, where, end):
    """What is worth telling of the cases begun before `end`: plain values, as bases need not travel."""
    told = []
    with tempfile.TemporaryDirectory(dir=where) as folder:
        for number in numbers:
            if time.monotonic() > end:
                break
            case = try_one(runner, number, seed, pathlib.Path(folder))
            told.append((case.base.name, case.outcomes, [f"{case}: {text}" for text in case.findings]))
    return told


@pytest.fixture(scope="module", name="bases")
def bases_of_module():
    with tempfile.TemporaryDirectory() as folder:
        BASES[:] = make_bases(folder)
        for base in BASES:
            check_base(base, programs.runner, pathlib.Path(folder))
        yield BASES
        BASES.clear()


@pytest.mark.parametrize("number", [pytest.param(number, marks=pytest.mark.full if number >= 100 else ())
                                    for number in range(1000)])
def test_mutation(bases, folder, number):
    assert bases
    case = try_one(programs.runner, number, programs.seed, pathlib.Path(folder))
    assert not case.findings, f"{case}: {case.findings}"


def table(told):
    lines = [f"{'file':34} {'cases':>6}  convert {'0':>6} {'3':>6} {'4':>6} {'else':>6}   inspect {'0':>6} {'3':>6}"
             f" {'else':>6}"]
    for name in [*sorted({name for name, _, _ in told}), "all"]:
        own = [outcomes for base, outcomes, _ in told if name in (base, "all")]
        convert, inspect = (collections.Counter(each.get(verb, "none") for each in own)
                            for verb in ("convert", "inspect"))
        rest = sum(convert.values()) - convert[0] - convert[3] - convert[4]
        others = sum(inspect.values()) - inspect[0] - inspect[3] - inspect["none"]
        lines.append(f"{name:34} {len(own):6}          {convert[0]:6} {convert[3]:6} {convert[4]:6} {rest:6}"
                     f"           {inspect[0]:6} {inspect[3]:6} {others:6}")
    values = collections.Counter(outcomes.get("values", "differ") for _, outcomes, _ in told)
    lines.append("values: " + ", ".join(f"{what} {count}" for what, count in sorted(values.items())))
    return "\n".join(lines)


def keep(runner, options):
    """The files of one case, for a look at them."""
    folder = pathlib.Path(options.keep)
    folder.mkdir(exist_ok=True)
    print(try_one(runner, options.case[0], options.seed, folder))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner", type=os.path.abspath)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case", type=int, action="append", help="the number of a case")
    parser.add_argument("--keep", help="a folder for the files of the case, all of which goes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after these")
    options = parser.parse_args()
    numbers = options.case or range(options.count)
    begin = time.monotonic()
    told = []
    with tempfile.TemporaryDirectory() as folder:
        BASES[:] = make_bases(folder)
        for base in BASES:
            check_base(base, options.runner, pathlib.Path(folder))
        if options.keep:
            keep(options.runner, options)
        with concurrent.futures.ProcessPoolExecutor(
                options.jobs, multiprocessing.get_context("fork")) as pool:
            work = []
            for at in range(0, len(numbers), 50):
                work.append(pool.submit(try_many, options.runner, numbers[at:at + 50], options.seed, folder,
                                        begin + options.seconds))
            for done in concurrent.futures.as_completed(work):
                for each in done.result():
                    told.append(each)
                    for finding in each[2]:
                        print(f"WRONG: {finding}", flush=True)
    wrong = sum(bool(findings) for _, _, findings in told)
    print(table(told))
    print(f"mutated inputs: {len(told)} cases of {len(BASES)} files, seed {options.seed}, "
          f"{time.monotonic() - begin:.0f} s, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
