"""Runs whole jobs and compares every byte: convolve_runs.py RUNNER ORACLE MPIRUN [--backend B].

What is right comes from ORACLE, which convolves the whole image at once (and is itself compared with
scipy in oracle.convolve). Every run of the same job must give those bytes: for any number of ranks,
chunk rows, lanes, memory limit and storage of input and output.
"""
import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from events import GUARD

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
BOUNDARIES = ["constant", "nearest", "reflect", "mirror", "wrap"]


class Image:
    """One image, its taps, and the bytes that any job with them must write."""

    def __init__(self, folder, oracle, random, shape, in_type, out_type, boundary, radii):
        folder.mkdir()
        self.folder, self.shape, self.out_type, self.boundary = folder, shape, out_type, boundary
        self.fill = 1.5
        if np.dtype(in_type).kind == "f":
            self.image = random.random(shape).astype(in_type)
        else:
            limits = np.iinfo(in_type)
            self.image = random.integers(limits.min, limits.max, shape, in_type, endpoint=True)
        self.taps = [random.normal(size=2 * r + 1) / (r + 1) for r in radii]
        frames = int(np.prod(shape[:-2]))
        taps = [" ".join(repr(float(t)) for t in taps) for taps in self.taps]
        (folder / "case.txt").write_text(
            f"in_type {in_type}\nout_type {out_type}\nframes {frames}\nrows {shape[-2]}\n"
            f"columns {shape[-1]}\nboundary {boundary}\nfill {self.fill!r}\n"
            f"row_taps {taps[0]}\ncolumn_taps {taps[1]}\n")
        self.image.tofile(folder / "image.raw")
        subprocess.run([oracle, folder], check=True)
        self.expected = (folder / "result.raw").read_bytes()
        with h5py.File(folder / "in.h5", "w") as file:
            file["plain"] = self.image
            file.create_dataset("chunked", data=self.image, compression="gzip", shuffle=True,
                                chunks=tuple(max(1, n // 3) for n in shape))
            file["big"] = self.image.astype(self.image.dtype.newbyteorder(">"))

    def job(self, dataset="plain", run="", output=""):
        taps = [str([float(t) for t in taps]) for taps in self.taps]
        path = self.folder / "job.toml"
        path.write_text(
            f'kind = "convolve"\n[input]\nfile = "{self.folder}/in.h5"\ndataset = "/{dataset}"\n'
            f'[output]\nfile = "{self.folder}/out.h5"\ndataset = "/a/b"\noverwrite = true\n'
            f'dtype = "{self.out_type}"\nsync = false\n{output}\n[run]\n{run}\n'
            f'[convolve]\nrow_taps = {taps[0]}\ncolumn_taps = {taps[1]}\n'
            f'boundary = "{self.boundary}"\nfill = {self.fill}\n')
        return path

    def difference(self):
        with h5py.File(self.folder / "out.h5") as file:
            result = file["a/b"]
            if result.shape != self.shape or result.dtype != np.dtype(self.out_type):
                return f"it is {result.shape} {result.dtype}"
            values = result[...]
        expected = np.frombuffer(self.expected, self.out_type).reshape(self.shape)
        if values.tobytes() == self.expected:
            return None
        wrong = np.argwhere(values != expected)
        return f"{len(wrong)} values differ, the first at {tuple(int(i) for i in wrong[0])}"

    def __str__(self):
        return (f"{self.shape} {self.image.dtype} to {self.out_type}, {self.boundary}, "
                f"{[len(taps) // 2 for taps in self.taps]}")


class Runs:
    def __init__(self, arguments):
        self.arguments = arguments
        self.count = 0
        self.failures = 0

    def run(self, image, ranks, what, **job):
        command = [self.arguments.runner, str(image.job(**job)), "--quiet",
                   "--backend", self.arguments.backend]
        if ranks > 1:
            command = [self.arguments.mpirun, "--allow-run-as-root", "--oversubscribe", "-n",
                       str(ranks), *command]
        (image.folder / "out.h5").unlink(missing_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, timeout=GUARD)
        difference = image.difference() if done.returncode == 0 else f"exit {done.returncode}"
        left = [p.name for p in image.folder.iterdir() if ".partial" in p.name]
        if left:
            difference = f"{difference}; left behind: {left}"
        # Launchers talk on standard error too; --quiet is only the runner's promise.
        said = [line for line in done.stderr.splitlines() if "runner" in line]
        self.count += 1
        if difference or said:
            self.failures += 1
            print(f"{image}, {ranks} ranks, {what}: {difference}\n{done.stderr}")


def matrix(runs, image, random, share):
    """Ranks × chunk rows × lanes, or a random share of them."""
    rows = image.shape[-2]
    halo = len(image.taps[1]) // 2
    chunk_rows = sorted({1, 7, max(1, rows - max(1, halo // 2)), rows, 10 * rows})
    for ranks, chunk, lanes in itertools.product([1, 2, 3, 4, 5], chunk_rows, [1, 2, 3]):
        if random.random() < share:
            runs.run(image, ranks, f"chunk_rows {chunk}, lanes {lanes}",
                     run=f"chunk_rows = {chunk}\nlanes = {lanes}")


def main():
    parser = argparse.ArgumentParser()
    for name in ["runner", "oracle", "mpirun"]:
        parser.add_argument(name)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--share", type=float, default=1.0, help="of the matrix to run")
    arguments = parser.parse_args()
    os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    random = np.random.default_rng(11)
    runs = Runs(arguments)
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)

        def image(label, *case):
            return Image(root / label, arguments.oracle, random, *case)

        main_image = image("main", (53, 31), "float32", "float32", "reflect", (3, 5))
        matrix(runs, main_image, random, arguments.share)
        for label, case in {
            "wrap": ((47, 13), "float64", "float64", "wrap", (2, 4)),
            "stack": ((2, 5, 11, 9), "uint16", "uint16", "wrap", (1, 3)),
            "far": ((11, 17), "uint8", "float32", "constant", (4, 40)),
            "tall": ((401, 1), "float32", "uint8", "mirror", (2, 128)),
            "wide": ((1, 1009), "float64", "float32", "wrap", (128, 2)),
            "frames": ((67, 3, 5), "uint8", "uint8", "nearest", (1, 1)),
        }.items():
            matrix(runs, image(label, *case), random, 0.15 * arguments.share)
        for i in range(int(30 * arguments.share)):
            shape = tuple(int(n) for n in random.integers(1, 40, 2))
            radii = [int(r) for r in random.choice([0, 1, 2, 6, 20, 50], 2)]
            some = image(f"random{i}", shape, random.choice(TYPES), random.choice(TYPES),
                         random.choice(BOUNDARIES), radii)
            runs.run(some, int(random.integers(1, 4)), "limits",
                     run='host_memory = "3MiB"\ndevice_memory = "64MiB"')
        for dataset in ["chunked", "big"]:
            for ranks in [1, 3]:
                runs.run(main_image, ranks, dataset, dataset=dataset, run="chunk_rows = 5")
        for label, output in {
            "chunks": "chunk = [8, 10]",
            "deflate": 'chunk = [8, 31]\ncompression = "deflate"',
            "shuffled": 'chunk = [7, 10]\ncompression = "deflate"\nshuffle = true',
        }.items():
            for ranks in [1, 2, 5]:
                runs.run(main_image, ranks, label, output=output, run="chunk_rows = 16")
    print(f"{runs.count} runs, {runs.failures} failed")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
