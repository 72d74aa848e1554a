"""The PSNR of bm4d jobs beside the filter's authors' program: denoise_quality.py RUNNER [--seed N]
[--only VOLUME] [--keys KEYS].

Volumes of 64³ at three levels of noise each: the phantom, a head (Colin 27, of Debian's
mricron-data), smooth noise, a texture, and X-ray counts. The peer is the package bm4d of PyPI, which
is not free, with its own defaults. KEYS are lines of [denoise] for our job.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import bm4d
import h5py
import numpy as np
from scipy.ndimage import gaussian_filter

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/end_to_end")]
import denoise_rule as rule  # noqa: E402

EXTENT = 64
LEVELS = [0.05, 0.1, 0.2]
COUNTS = [1000, 200, 50]


class Runner:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def __call__(self, *words):
        subprocess.run([self.path, *words], check=True, stdout=subprocess.DEVNULL)

    def generate(self, pattern, *more):
        self("generate", pattern, "made.h5", "--shape", ",".join([str(EXTENT)] * 3), "--dtype", "float32",
             "--dataset", "/a", *more)
        with h5py.File("made.h5") as file:
            made = file["a"][...]
        os.remove("made.h5")
        return made

    def denoise(self, noisy, keys):
        with h5py.File("in.h5", "w") as file:
            file["a"] = noisy
        pathlib.Path("job.toml").write_text(
            'kind = "denoise"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\n'
            f'overwrite = true\nsync = false\n[denoise]\nmethod = "bm4d"\n{keys}\n')
        self("job.toml", "--quiet", "--backend", "cpu")
        with h5py.File("out.h5") as file:
            return file["a"][...]


def volumes(runner):
    """Name and function of each volume of values from 0 to about 1."""
    random = np.random.default_rng(1)
    smooth, rough = random.normal(size=(2, EXTENT, EXTENT, EXTENT))
    smooth = gaussian_filter(smooth, 5)
    rough = gaussian_filter(rough, 1.2)
    z, y, x = np.mgrid[:EXTENT, :EXTENT, :EXTENT]

    def head():
        subprocess.run([ROOT / "scripts/real-volume", "head.h5"], check=True, stdout=subprocess.DEVNULL)
        with h5py.File("head.h5") as file:
            return next(iter(file.values()))[60:124, 90:154, 40:104] / 255

    yield "phantom", lambda: runner.generate("phantom").astype("f8")
    yield "head", head
    yield "smooth", lambda: (smooth - smooth.min()) / np.ptp(smooth)
    yield "texture", lambda: (0.5 + 0.12 * rough / rough.std() + 0.15 * np.sin(x * 0.5 + y * 0.2)
                              + 0.15 * ((z // 16 + y // 20) % 2))


def psnr(made, right, peak):
    return 20 * np.log10(peak / np.sqrt(np.mean((made.astype("f8") - right) ** 2)))


def report(name, level, peak, right, *volumes_made):
    noisy, ours, theirs = (psnr(made, right, peak) for made in volumes_made)
    print(f"{name:9}{level:>8}{noisy:8.2f}{ours:8.2f}{theirs:8.2f}{ours - theirs:+18.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("runner")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only")
    parser.add_argument("--keys", default="")
    options = parser.parse_args()
    runner = Runner(options.runner)
    os.chdir(tempfile.mkdtemp())
    print(f"{'volume':9}{'noise':>8}{'noisy':>8}{'ours':>8}{'theirs':>8}{'ours less theirs':>18}")
    for name, make in volumes(runner):
        if options.only not in (None, name):
            continue
        right = make()
        for sigma in LEVELS:
            noise = np.random.default_rng(options.seed).normal(size=right.shape)
            noisy = (right + sigma * noise).astype("f4")
            report(name, sigma, 1, right, noisy, runner.denoise(noisy, f"sigma = {sigma}\n{options.keys}"),
                   bm4d.bm4d(noisy, sigma))
    if options.only in (None, "xray"):
        phantom = runner.generate("phantom").astype("f8")
        for counts in COUNTS:
            noisy = runner.generate("xray", "--counts", str(counts), "--seed", str(options.seed))
            theirs = rule.counts_of(bm4d.bm4d(rule.anscombe(noisy).astype("f4"), 1.0))
            ours = runner.denoise(noisy, f'stabilise = "anscombe"\n{options.keys}')
            report("xray", counts, counts, counts * np.exp(-phantom), noisy, ours, theirs)


if __name__ == "__main__":
    main()
