"""What the tests of whole jobs share: the programs, how they are called, seeds, and what was found.

conftest.py sets `programs` from the options of pytest before it imports a test.
"""
import contextlib
import hashlib
import os
import re
import subprocess
import tempfile
import zlib

import numpy as np

from events import GUARD


class Programs:
    """Paths of what is tested, and how: absolute, but for `mpirun`."""

    runner = mpirun = fault_shim = memory_shim = hdf5_shim = convolve_oracle = ""
    backend = "cpu"
    kind = None  # of the jobs, in files with several; None: each
    set = ""  # KEY=VALUE for the jobs of sand_runs.py
    pictures = None  # a folder for those that report_page.py takes
    seed = 0
    full = False  # everything that there is, in place of what CI has time for


programs = Programs()


def launch(ranks):
    """The words that start so many ranks, before the program; none for one."""
    if ranks == 1:
        return []
    return [programs.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]


def attempt(*arguments, before=(), **options):
    """Runs the program to its end, whatever that is."""
    return subprocess.run([*before, programs.runner, *map(str, arguments)], capture_output=True, text=True,
                          timeout=GUARD, **options)


def call(*arguments, code=0, ranks=1, **options):
    """Runs the program, which must end with this code."""
    done = attempt(*arguments, before=launch(ranks), **options)
    assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def good(*arguments, says=""):
    """Runs the program without an error; all that standard error may hold is this expression. Returns
    standard output. What an output is without of its input's axes and attributes does not count: most copies
    here are made to read elements. metadata.py and kept_axes.py read that warning."""
    done = call(*arguments)
    lost = r"runner: warning: [^\n]*: the output is without some of its attributes: [^\n]*\n"
    told = (done.stderr, re.sub(lost, "", done.stderr))
    assert any(re.fullmatch(says, text) for text in told), f"{arguments}: says {done.stderr}"
    return done.stdout


def bad(code, words, *arguments, **options):
    """Runs the program: there is one error with these words, and nothing new in the folder. Returns
    standard error."""
    before = sorted(os.listdir())
    done = call(*arguments, code=code, **options)
    assert re.fullmatch(r"runner: error: [^\n]*\n", done.stderr), f"{arguments}: {done.stderr}"
    for word in words:
        assert word in done.stderr, f"{arguments}: no {word} in {done.stderr}"
    assert sorted(os.listdir()) == before, f"{arguments}: leaves {os.listdir()}"
    return done.stderr


@contextlib.contextmanager
def new_folder():
    """A new working folder, removed at the end."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(home)


def generator(*key):
    """Random numbers of a case: others for each seed and each key."""
    return np.random.default_rng([programs.seed, zlib.crc32(repr(key).encode())])


def chosen(seed, ids, share):
    """The share of the ids, and at least one, that a seed chooses.

    Consecutive seeds choose consecutive windows of one order, so that 1 / share of them choose
    everything; so do some tens of seeds at random.
    """
    order = sorted(ids, key=lambda name: hashlib.sha256(name.encode()).digest())
    count = min(len(order), max(1, round(len(order) * share)))
    return {order[(seed * count + at) % len(order)] for at in range(count)}


def as_earlier_version(file):
    """Takes the record's own checksums out of an output, an open h5py file, as versions before them
    wrote it: a test may then replace what they are of."""
    names = file.attrs["objects"]
    for item, name in [(file, "record_checksum"), (file["runner"], "record_checksum"),
                       (file, "row_hashes_checksum")]:
        del item.attrs[name]
        line = f"{item.name}@{name}\n"
        assert line in names
        names = names.replace(line, "")
    file.attrs["objects"] = names


class Findings:
    """What was not as it should be. A test that takes one fails at its end if there is any."""

    def __init__(self):
        self.found = []

    def expect(self, condition, what, text=""):
        if not condition:
            self.found.append(what)
            print(f"WRONG: {what}\n{text}".rstrip(), flush=True)
        return bool(condition)

    check = expect

    def none(self):
        assert not self.found, "\n".join(self.found)


class Runs(Findings):
    """Runs of job.toml on the backend of this run of the tests."""

    def command(self, ranks=1, options=(), job="job.toml"):
        return [*launch(ranks), programs.runner, job, "--quiet", "--backend", programs.backend, *options]

    def call(self, ranks=1, *options, job="job.toml"):
        return subprocess.run(self.command(ranks, options, job), capture_output=True, text=True, timeout=GUARD)
