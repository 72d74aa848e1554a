"""PSNR of nlm over whole windows (count = "all") beside scikit-image's at equal parameters:
window_means_peer.py RUNNER [--extent N].

Balls of several densities and a texture, with normal noise of three levels; patch 3, window 11,
the same sigma and h = strength * sigma. Prints what goes to bench/results/.
"""
import argparse
import pathlib
import platform
import subprocess
import tempfile
import time

import h5py
import numpy as np
import skimage
from skimage.restoration import denoise_nl_means

BALLS = [((0, 0, 0), .45, 100), ((.1, 0, 0), .2, 60), ((-.15, .1, .1), .12, -50),
         ((0, -.2, -.1), .1, 40), ((.2, .2, -.2), .06, 80)]


def scene(extent):
    at = np.indices((extent,) * 3) / extent - .5
    clean = np.zeros((extent,) * 3)
    for centre, radius, density in BALLS:
        clean[sum((a - c)**2 for a, c in zip(at, centre)) < radius**2] += density
    return clean + 5 * np.sin(20 * at[0]) * (clean > 0)


def ours(runner, noisy, sigma, strength):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        with h5py.File(path / "in.h5", "w") as file:
            file["a"] = noisy
        (path / "job.toml").write_text(
            'kind = "denoise"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\n'
            f'[denoise]\ncount = "all"\nsigma = {float(sigma)}\nstrength = {strength}\n')
        start = time.monotonic()
        subprocess.run([runner, "job.toml", "--quiet"], cwd=path, check=True)
        seconds = time.monotonic() - start
        with h5py.File(path / "out.h5") as file:
            return file["a"][...], seconds


def theirs(noisy, sigma, strength, fast):
    start = time.monotonic()
    result = denoise_nl_means(noisy, patch_size=3, patch_distance=5, h=strength * sigma, sigma=sigma,
                              fast_mode=fast)
    return result, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner", type=lambda name: str(pathlib.Path(name).resolve()))
    parser.add_argument("--extent", type=int, default=48)
    options = parser.parse_args()
    clean = scene(options.extent)
    peak = clean.max() - clean.min()

    def psnr(volume):
        return 20 * np.log10(peak / np.sqrt(np.mean((volume - clean)**2)))

    print(f"{platform.machine()}, {options.extent}^3, patch 3^3, window 11^3, "
          f"scikit-image {skimage.__version__}; dB, and seconds of a call or of the whole job")
    print("sigma strength  noisy |  runner    s | skimage fast    s | skimage slow    s | better by")
    random = np.random.default_rng(1)
    for sigma in (5, 15, 30):
        noisy = (clean + random.normal(0, sigma, clean.shape)).astype("float32")
        for strength in (0.4, 0.6, 0.8, 1.0):
            made, seconds = ours(options.runner, noisy, sigma, strength)
            fast, fast_seconds = theirs(noisy, sigma, strength, True)
            slow, slow_seconds = theirs(noisy, sigma, strength, False)
            more = psnr(made) - max(psnr(fast), psnr(slow))
            print(f"{sigma:5} {strength:8} {psnr(noisy):6.2f} | {psnr(made):7.2f} {seconds:4.1f} | "
                  f"{psnr(fast):12.2f} {fast_seconds:4.1f} | {psnr(slow):12.2f} {slow_seconds:4.1f} | {more:+.2f}",
                  flush=True)


if __name__ == "__main__":
    main()
