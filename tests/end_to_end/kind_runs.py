"""Runs whole jobs of several kinds and compares every byte with numpy; --kind KIND runs those of one.

What is right comes from kind_rules.py, convolve_rules.py, phase_rules.py, reduce_rules.py, stitch_rules.py and
stripes_rules.py.
Every run of the same job must give those bytes: for any number of ranks, chunk rows, lanes, memory limit and storage
of input and output. Where numpy rounds otherwise, the first run must be within a tolerance, and others give its
bytes. Outputs pass verify.
"""
import functools
import itertools
import pathlib

import h5py
import numpy as np
import pytest

import convolve_rules
import kind_rules
import phase_rules
import reduce_rules
import stitch_rules
import stripes_rules
from harness import Findings, attempt, generator, launch, programs

CASES = {**kind_rules.CASES, "convolve": convolve_rules.cases, "phase": phase_rules.cases,
         "reduce": reduce_rules.cases, "stitch": stitch_rules.cases, "stripes": stripes_rules.cases}
REFUSALS = {**kind_rules.REFUSALS, "convolve": convolve_rules.REFUSALS,
            "phase": phase_rules.REFUSALS, "reduce": reduce_rules.REFUSALS, "stitch": stitch_rules.REFUSALS,
            "stripes": stripes_rules.REFUSALS}


class Runs(Findings):
    """Runs of one job."""

    def __init__(self, kind, case):
        super().__init__()
        self.kind, self.case = kind, case
        write_input(case)
        self.right = case.expected
        if case.tolerance:
            self.right = self.made_first()

    def made_first(self):
        """What one rank makes, which must be near to what is right."""
        write_job(self.kind, self.case, "", "", "plain")
        done = attempt("job.toml", "--quiet", "--backend", programs.backend)
        assert done.returncode == 0, done.stderr
        with h5py.File("out.h5") as file:
            made = file["a/b"][...]
        right = self.case.expected
        assert made.shape == right.shape and made.dtype == right.dtype, (made.shape, made.dtype)
        far = np.abs(made.astype("f8") - right).max() / np.abs(right).max()
        assert far <= self.case.tolerance, far
        return made

    def expect_right(self, ranks=1, run="", output="", dataset="plain", verify=False):
        write_job(self.kind, self.case, run, output, dataset)
        done = attempt("job.toml", "--quiet", "--backend", programs.backend, before=launch(ranks))
        if not self.expect(done.returncode == 0, f"exit {done.returncode}\n{done.stderr}"):
            return
        said = [line for line in done.stderr.splitlines() if "runner" in line]
        self.expect(not said, f"it says {said}")
        with h5py.File("out.h5") as file:
            made = file["a/b"][...]
        wrong = difference(made, self.right)
        self.expect(wrong is None, wrong)
        left = [path.name for path in pathlib.Path().iterdir() if ".partial" in path.name]
        self.expect(not left, f"left behind: {left}")
        if verify:
            done = attempt("verify", "out.h5")
            self.expect(done.returncode == 0, f"verify\n{done.stdout}{done.stderr}")


def difference(made, expected):
    if made.shape != expected.shape or made.dtype != expected.dtype:
        return f"it is {made.shape} {made.dtype}, not {expected.shape} {expected.dtype}"
    same = made.view(np.uint8).reshape(*made.shape, -1) == expected.view(np.uint8).reshape(
        *made.shape, -1)
    same = same.all(axis=-1)
    if made.dtype.kind == "f":
        same |= np.isnan(made) & np.isnan(expected)
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"{(~same).sum()} elements differ, at {at} {made[at]!r}, not {expected[at]!r}"


def write_input(case):
    array = case.array
    with h5py.File("in.h5", "w") as file:
        file["plain"] = array
        file.create_dataset("chunked", data=array, compression="gzip", shuffle=True,
                            chunks=tuple(max(1, n // 3) for n in array.shape))
        file["big"] = array.astype(array.dtype.newbyteorder(">"))
        for name, extra in case.extra.items():
            file[name] = extra


def write_job(kind, case, run, output, dataset):
    dtype = f'dtype = "{case.dtype}"\n' if case.dtype else ""
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/{dataset}"\n[output]\n'
        f'file = "out.h5"\ndataset = "/a/b"\noverwrite = true\nsync = false\n{dtype}{output}\n'
        f'[run]\n{run}\n[{kind}]\n{case.keys}\n')


def storages(shape):
    """[output] lines of chunks that divide the rows in various ways."""
    leading = "1, " * (len(shape) - 2)
    rows, columns = max(1, shape[-2] // 3), max(1, shape[-1] // 2)
    yield f"chunk = [{leading}{rows}, {columns}]"
    yield f'chunk = [{leading}{rows}, {shape[-1]}]\ncompression = "deflate"\nshuffle = true'
    if len(shape) == 3:
        yield f'chunk = [2, {shape[-2]}, {columns}]\ncompression = "deflate"'
    yield "parts = 2"


@functools.cache
def cases_of(kind):
    return {case.name: case for case in CASES[kind](generator(kind))}


def rows_of(case):
    return case.array.shape[-2] if case.array.ndim > 1 else case.array.shape[0]


def matrix(kind):
    """Ranks, chunk rows, lanes."""
    for name, case in cases_of(kind).items():
        rows = rows_of(case)
        chunk_rows = sorted({1, 7, max(1, rows - 1), rows, 10 * rows})
        for way in itertools.product([1, 2, 3, 5], chunk_rows, [1, 2, 3]):
            yield kind, name, way


def other_ways(kind):
    """Inputs that are stored otherwise, outputs that are, and little memory: arguments of
    Runs.expect_right()."""
    for name, case in cases_of(kind).items():
        for dataset in ["chunked", "big"]:
            yield kind, name, {"ranks": (1, 3), "run": "chunk_rows = 5", "dataset": dataset}
        if case.expected.ndim > 1:
            for output in storages(case.expected.shape):
                yield kind, name, {"ranks": (1, 2, 5), "run": "chunk_rows = 8", "output": output, "verify": True}
        yield kind, name, {"ranks": (2,), "run": 'host_memory = "2MiB"\ndevice_memory = "2MiB"'}


def pytest_generate_tests(metafunc):
    kinds = [programs.kind] if programs.kind else list(CASES)
    rows = {"test_alone": lambda kind: ((kind, name, None) for name in cases_of(kind)),
            "test_matrix": matrix, "test_other_ways": other_ways,
            "test_refusal": lambda kind: ((kind, str(at), row) for at, row in enumerate(REFUSALS[kind]))}
    made = [row for kind in kinds for row in rows[metafunc.function.__name__](kind)]
    ids = [f"{kind}, {name}" + ("" if metafunc.function is test_refusal or way is None else f", {way}")
           for kind, name, way in made]
    metafunc.parametrize("kind, name, way", made, ids=ids)


def test_alone(kind, name, way):
    runs = Runs(kind, cases_of(kind)[name])
    runs.expect_right(verify=True)
    runs.none()


@pytest.mark.share(0.06)
def test_matrix(kind, name, way):
    ranks, chunk, lanes = way
    runs = Runs(kind, cases_of(kind)[name])
    runs.expect_right(ranks, f"chunk_rows = {chunk}\nlanes = {lanes}",
                      verify=generator(kind, name, way).random() < 0.2)
    runs.none()


@pytest.mark.share(0.12)
def test_other_ways(kind, name, way):
    runs = Runs(kind, cases_of(kind)[name])
    ranks = int(generator(kind, name, str(way)).choice(way["ranks"]))
    runs.expect_right(**{**way, "ranks": ranks})
    runs.none()


def test_refusal(kind, name, way):
    """A job that must end with a code and say these words."""
    with h5py.File("flat.h5", "w") as file:
        file["flat"] = np.ones((1, 7))
    code, words, array, keys, dtype = way
    case = kind_rules.Case("refused", array, keys, dtype, array)
    write_input(case)
    write_job(kind, case, "", "", "plain")
    done = attempt("job.toml", "--quiet", "--backend", programs.backend)
    assert done.returncode == code and all(word in done.stderr for word in words), done
