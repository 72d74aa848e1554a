"""Runs whole jobs and compares every byte.

What is right comes from the program test_convolve_oracle, which convolves the whole image at once (and
is itself compared with scipy in oracle.convolve). Every run of the same job must give those bytes: for
any number of ranks, chunk rows, lanes, memory limit and storage of input and output.
"""
import itertools
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

from harness import attempt, generator, launch, programs

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
BOUNDARIES = ["constant", "nearest", "reflect", "mirror", "wrap"]


class Image:
    """One image, its taps, and the bytes that any job with them must write."""

    def __init__(self, folder, random, shape, in_type, out_type, boundary, radii):
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
        subprocess.run([programs.convolve_oracle, folder], check=True)
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


IMAGES = {
    "main": ((53, 31), "float32", "float32", "reflect", (3, 5)),
    "wrap": ((47, 13), "float64", "float64", "wrap", (2, 4)),
    "stack": ((2, 5, 11, 9), "uint16", "uint16", "wrap", (1, 3)),
    "far": ((11, 17), "uint8", "float32", "constant", (4, 40)),
    "tall": ((401, 1), "float32", "uint8", "mirror", (2, 300)),
    "wide": ((1, 1009), "float64", "float32", "wrap", (128, 2)),
    "frames": ((67, 3, 5), "uint8", "uint8", "nearest", (1, 1)),
}


def image_of(name):
    return Image(pathlib.Path(name), generator(name), *IMAGES[name])


def expect(image, ranks, **job):
    done = attempt(image.job(**job), "--quiet", "--backend", programs.backend, before=launch(ranks))
    assert done.returncode == 0, f"{image}: {done}"
    assert image.difference() is None, f"{image}: {image.difference()}"
    left = [p.name for p in image.folder.iterdir() if ".partial" in p.name]
    assert not left, f"{image}: left behind: {left}"
    # Launchers talk on standard error too; --quiet is only the runner's promise.
    said = [line for line in done.stderr.splitlines() if "runner" in line]
    assert not said, said


def ways(name):
    """Ranks × chunk rows × lanes."""
    shape, *_, (_, halo) = IMAGES[name]
    rows = shape[-2]
    chunk_rows = sorted({1, 7, max(1, rows - max(1, halo // 2)), rows, 10 * rows})
    return [pytest.param(name, *way, id="-".join(map(str, (name, *way))))
            for way in itertools.product([1, 2, 3, 4, 5], chunk_rows, [1, 2, 3])]


def check_way(name, ranks, chunk_rows, lanes):
    expect(image_of(name), ranks, run=f"chunk_rows = {chunk_rows}\nlanes = {lanes}")


@pytest.mark.share(0.5)
@pytest.mark.parametrize("name, ranks, chunk_rows, lanes", ways("main"))
def test_main_image(name, ranks, chunk_rows, lanes):
    check_way(name, ranks, chunk_rows, lanes)


@pytest.mark.share(0.075)
@pytest.mark.parametrize("name, ranks, chunk_rows, lanes",
                         [way for name in IMAGES if name != "main" for way in ways(name)])
def test_other_images(name, ranks, chunk_rows, lanes):
    check_way(name, ranks, chunk_rows, lanes)


@pytest.mark.share(0.5)
@pytest.mark.parametrize("number", range(30))
def test_any_image_in_little_memory(number):
    random = generator("any", number)
    shape = tuple(int(n) for n in random.integers(1, 40, 2))
    radii = [int(r) for r in random.choice([0, 1, 2, 6, 20, 50], 2)]
    some = Image(pathlib.Path("any"), random, shape, random.choice(TYPES), random.choice(TYPES),
                 random.choice(BOUNDARIES), radii)
    expect(some, int(random.integers(1, 4)), run='host_memory = "3MiB"\ndevice_memory = "64MiB"')


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("dataset", ["chunked", "big"])
def test_inputs(dataset, ranks):
    expect(image_of("main"), ranks, dataset=dataset, run="chunk_rows = 5")


@pytest.mark.quick
@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("output", ["chunk = [8, 10]", 'chunk = [8, 31]\ncompression = "deflate"',
                                    'chunk = [7, 10]\ncompression = "deflate"\nshuffle = true'],
                         ids=["chunks", "deflate", "shuffled"])
def test_outputs(output, ranks):
    expect(image_of("main"), ranks, output=output, run="chunk_rows = 16")
