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

from denoise_jobs import Runner, psnr

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/end_to_end")]
import denoise_rule as rule  # noqa: E402

EXTENT = 64
LEVELS = [0.05, 0.1, 0.2]
COUNTS = [1000, 200, 50]


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

    yield "phantom", lambda: runner.generate("phantom", EXTENT).astype("f8")
    yield "head", head
    yield "smooth", lambda: (smooth - smooth.min()) / np.ptp(smooth)
    yield "texture", lambda: (0.5 + 0.12 * rough / rough.std() + 0.15 * np.sin(x * 0.5 + y * 0.2)
                              + 0.15 * ((z // 16 + y // 20) % 2))


def bm4d_job(runner, noisy, keys):
    runner.prepare(noisy, f'method = "bm4d"\n{keys}')
    runner.run()
    return runner.result()


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
            report(name, sigma, 1, right, noisy, bm4d_job(runner, noisy, f"sigma = {sigma}\n{options.keys}"),
                   bm4d.bm4d(noisy, sigma))
    if options.only in (None, "xray"):
        phantom = runner.generate("phantom", EXTENT).astype("f8")
        for counts in COUNTS:
            noisy = runner.generate("xray", EXTENT, "--counts", str(counts), "--seed", str(options.seed))
            theirs = rule.counts_of(bm4d.bm4d(rule.anscombe(noisy).astype("f4"), 1.0))
            ours = bm4d_job(runner, noisy, f'stabilise = "anscombe"\n{options.keys}')
            report("xray", counts, counts, counts * np.exp(-phantom), noisy, ours, theirs)


if __name__ == "__main__":
    main()
