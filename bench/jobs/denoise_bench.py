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
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

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
    parser.add_argument("runner", type=os.path.abspath)
    parser.add_argument("--method", choices=["nlm", "bm4d"], default="nlm")
    parser.add_argument("--extent", type=int, default=64)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--samples", type=int, default=3)
    options = parser.parse_args()
    os.chdir(tempfile.mkdtemp())

    def runner(*words):
        subprocess.run([options.runner, *words], check=True)

    shape = ",".join([str(options.extent)] * 3)
    for pattern, more in [("phantom", []), ("xray", ["--counts", str(COUNTS), "--seed", "1"])]:
        runner("generate", pattern, f"{pattern}.h5", "--shape", shape, "--dtype", "float32",
               "--dataset", "/a", *more)
    with h5py.File("phantom.h5") as file:
        right = COUNTS * np.exp(-file["a"][...].astype("f8"))
    with h5py.File("xray.h5") as file:
        counts = file["a"][...]

    def psnr(volume):
        return 20 * np.log10(COUNTS / np.sqrt(np.mean((volume.astype("f8") - right) ** 2)))

    print(f"{options.extent}^3 float32, {COUNTS} photons, window 11^3, {os.cpu_count()} cores, "
          f"{options.backend}, medians of {options.samples}")
    print(f"noisy: {psnr(counts):.2f} dB")
    stabilised = rule.anscombe(counts).astype("f4")
    for peer_name, peer, jobs in nlm_rows() if options.method == "nlm" else bm4d_rows():
        made, peer_seconds = timed(lambda: peer(stabilised), options.samples)
        print(f"{peer_name}: {peer_seconds:.2f} s, {psnr(rule.counts_of(made)):.2f} dB")
        for keys in jobs:
            pathlib.Path("job.toml").write_text(
                'kind = "denoise"\n[input]\nfile = "xray.h5"\ndataset = "/a"\n[output]\n'
                'file = "out.h5"\noverwrite = true\nsync = false\n[denoise]\n'
                f'stabilise = "anscombe"\n{keys}\n')
            _, seconds = timed(
                lambda: runner("job.toml", "--quiet", "--backend", options.backend),
                options.samples)
            with h5py.File("out.h5") as file:
                made = file["a"][...]
            print(f"  denoise, {', '.join(keys.splitlines())}: {seconds:.2f} s, "
                  f"1 / {peer_seconds / seconds:.1f} of that, {psnr(made):.2f} dB")


if __name__ == "__main__":
    main()
