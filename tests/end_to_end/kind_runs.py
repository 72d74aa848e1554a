"""Runs whole jobs of a kind and compares every byte with numpy: kind_runs.py KIND RUNNER MPIRUN
[--backend B] [--share S].

What is right comes from kind_rules.py and convolve_rules.py. Every run of the same job must give those bytes: for any
number of ranks, chunk rows, lanes, memory limit and storage of input and output. Outputs pass
verify.
"""
import argparse
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import convolve_rules
import kind_rules
from checks import Checks
from events import GUARD

CASES = {**kind_rules.CASES, "convolve": convolve_rules.cases}
REFUSALS = {**kind_rules.REFUSALS, "convolve": convolve_rules.REFUSALS}


class Runs(Checks):
    def call(self, ranks, *words):
        command = [self.arguments.runner, *words]
        if ranks > 1:
            command = [self.arguments.mpirun, "--allow-run-as-root", "--oversubscribe", "-n",
                       str(ranks), *command]
        return subprocess.run(command, capture_output=True, text=True, timeout=GUARD)

    def expect(self, case, ranks=1, run="", output="", dataset="plain", verify=False):
        write_job(self.arguments.kind, case, run, output, dataset)
        pathlib.Path("out.h5").unlink(missing_ok=True)
        shutil.rmtree("out.parts", ignore_errors=True)
        self.count += 1
        what = f"{case.name}, {ranks} ranks, {dataset}, {run!r}, {output!r}"
        done = self.call(ranks, "job.toml", "--quiet", "--backend", self.arguments.backend)
        if not self.check(done.returncode == 0,
                          f"{what}: exit {done.returncode}\n{done.stderr}"):
            return
        said = [line for line in done.stderr.splitlines() if "runner" in line]
        self.check(not said, f"{what}: {said}")
        with h5py.File("out.h5") as file:
            made = file["a/b"][...]
        self.check(difference(made, case.expected) is None,
                   f"{what}: {difference(made, case.expected)}")
        left = [path.name for path in pathlib.Path().iterdir() if ".partial" in path.name]
        self.check(not left, f"{what}: left behind: {left}")
        if verify:
            done = self.call(1, "verify", "out.h5")
            self.check(done.returncode == 0, f"{what}: verify\n{done.stdout}{done.stderr}")


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


def run_case(runs, case, random, share):
    write_input(case)
    rows = case.array.shape[-2] if case.array.ndim > 1 else case.array.shape[0]
    runs.expect(case, verify=True)
    chunk_rows = sorted({1, 7, max(1, rows - 1), rows, 10 * rows})
    for ranks, chunk, lanes in itertools.product([1, 2, 3, 5], chunk_rows, [1, 2, 3]):
        if random.random() < share:
            runs.expect(case, ranks, f"chunk_rows = {chunk}\nlanes = {lanes}",
                        verify=random.random() < 0.2)
    for dataset in ["chunked", "big"]:
        if random.random() < 4 * share:
            runs.expect(case, int(random.choice([1, 3])), "chunk_rows = 5", dataset=dataset)
    if case.expected.ndim > 1:
        for output in storages(case.expected.shape):
            if random.random() < 4 * share:
                runs.expect(case, int(random.choice([1, 2, 5])), "chunk_rows = 8", output,
                            verify=True)
    if random.random() < 4 * share:
        runs.expect(case, 2, 'host_memory = "2MiB"\ndevice_memory = "2MiB"')


def refusals(runs, kind):
    """Jobs that must end with a code and say these words."""
    with h5py.File("flat.h5", "w") as file:
        file["flat"] = np.ones((1, 7))
    for code, words, array, keys, dtype in REFUSALS[kind]:
        case = kind_rules.Case("refused", array, keys, dtype, array)
        write_input(case)
        write_job(kind, case, "", "", "plain")
        done = runs.call(1, "job.toml", "--quiet", "--backend", runs.arguments.backend)
        runs.count += 1
        runs.check(done.returncode == code and all(word in done.stderr for word in words),
                   f"refusal of {keys!r}: exit {done.returncode}, not {code} with {words}\n"
                   f"{done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    for name in ["kind", "runner", "mpirun"]:
        parser.add_argument(name)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--share", type=float, default=0.1, help="of the matrix to run")
    arguments = parser.parse_args()
    os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    random = np.random.default_rng(7)
    runs = Runs(arguments)
    with tempfile.TemporaryDirectory() as folder:
        arguments.runner = str(pathlib.Path(arguments.runner).resolve())
        os.chdir(folder)
        for case in CASES[arguments.kind](random):
            run_case(runs, case, random, arguments.share)
        refusals(runs, arguments.kind)
        os.chdir("/")
    print(f"{runs.count} runs, {runs.failures} failed")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
