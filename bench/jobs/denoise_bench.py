"""Whole jobs that denoise, beside a peer: denoise_bench.py RUNNER [--method M] [--extent N]
[--backend B].

X-ray counts of the phantom, stabilised for both. By nlm beside scikit-image's denoise_nl_means
with the same patch, window and h; by bm4d beside its authors' program (the package bm4d of PyPI,
which is not free), with its own defaults. Prints what goes to bench/results/: seconds of each (the
job's with its start, reading and writing), their ratio, and the PSNR against the phantom.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

from denoise_jobs import Runner, psnr

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/end_to_end"))
import denoise_rule as rule  # noqa: E402

COUNTS = 200


def timed(work, samples):
    seconds = []
    for _ in range(samples):
        start = time.monotonic()
        result = work()
        seconds.append(time.monotonic() - start)
    return result, sorted(seconds)[len(seconds) // 2]


def nlm_rows():
    """What the peer is called, a function of the volume, and the jobs to hold beside it."""
    import skimage
    from skimage.restoration import denoise_nl_means

    for h in [0.6, 1.0]:
        yield (f"h {h}: denoise_nl_means of scikit-image {skimage.__version__}",
               lambda volume, h=h: denoise_nl_means(volume, patch_size=3, patch_distance=5, h=h,
                                                    sigma=1.0, fast_mode=True),
               [f"strength = {h}\ncount = {count}" for count in [16, 32, 64]])


def bm4d_rows():
    import importlib.metadata

    import bm4d

    yield (f"bm4d of PyPI, {importlib.metadata.version('bm4d')}",
           lambda volume: bm4d.bm4d(volume, 1.0),
           ['method = "bm4d"', 'method = "bm4d"\ncount = 32', 'method = "bm4d"\nstep = 2',
            'strength = 1.0'])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("--method", choices=["nlm", "bm4d"], default="nlm")
    parser.add_argument("--extent", type=int, default=64)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--samples", type=int, default=3)
    options = parser.parse_args()
    runner = Runner(options.runner, options.backend)
    os.chdir(tempfile.mkdtemp())
    right = COUNTS * np.exp(-runner.generate("phantom", options.extent).astype("f8"))
    counts = runner.generate("xray", options.extent, "--counts", str(COUNTS), "--seed", "1")

    print(f"{options.extent}^3 float32, {COUNTS} photons, window 11^3, {os.cpu_count()} cores, "
          f"{options.backend}, medians of {options.samples}")
    print(f"noisy: {psnr(counts, right, COUNTS):.2f} dB")
    stabilised = rule.anscombe(counts).astype("f4")
    for peer_name, peer, jobs in nlm_rows() if options.method == "nlm" else bm4d_rows():
        made, peer_seconds = timed(lambda: peer(stabilised), options.samples)
        print(f"{peer_name}: {peer_seconds:.2f} s, {psnr(rule.counts_of(made), right, COUNTS):.2f} dB")
        for keys in jobs:
            runner.prepare(counts, f'stabilise = "anscombe"\n{keys}')
            _, seconds = timed(runner.run, options.samples)
            quality = psnr(runner.result(), right, COUNTS)
            print(f"  denoise, {', '.join(keys.splitlines())}: {seconds:.2f} s, "
                  f"1 / {peer_seconds / seconds:.1f} of that, {quality:.2f} dB")


if __name__ == "__main__":
    main()
