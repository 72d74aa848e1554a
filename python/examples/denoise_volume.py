#!/usr/bin/env python3
"""Denoises a volume from numpy and, where matplotlib is installed, draws a slice of it.

    python denoise_volume.py [VOLUME.npy] [--out DENOISED.npy] [--picture PICTURE.png]

Without a file it makes a phantom of spheres with noise, and prints how far the noisy and the
denoised volume are from the true one.
"""
from __future__ import annotations

import argparse
import pathlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import runner


def spheres(extent: int) -> NDArray[Any]:
    """A volume of spheres of different brightness."""
    random = np.random.default_rng(7)
    z, y, x = np.ogrid[:extent, :extent, :extent]
    volume = np.full((extent,) * 3, 100.0, np.float32)
    for _ in range(12):
        centre = random.uniform(0, extent, 3)
        radius = random.uniform(extent / 12, extent / 5)
        inside = ((z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2) < radius**2
        volume[inside] = random.uniform(50, 200)
    return volume


def rms(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The root of the mean of squared differences."""
    return float(np.sqrt(np.mean((a - b) ** 2)))


def draw(path: pathlib.Path, slices: dict[str, NDArray[Any]]) -> bool:
    """Draws slices side by side; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot
    low, high = np.percentile(slices["noisy"], [1, 99])
    figure, axes = pyplot.subplots(1, len(slices), figsize=(4 * len(slices), 4.3))
    for axis, (name, image) in zip(axes, slices.items()):
        axis.imshow(image, cmap="gray", vmin=low, vmax=high)
        axis.set_title(name)
        axis.set_axis_off()
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    return True


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("volume", nargs="?", type=pathlib.Path, help="a .npy file of three axes")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("denoised.npy"))
    parser.add_argument("--picture", type=pathlib.Path, default=pathlib.Path("denoised.png"))
    parser.add_argument("--extent", type=int, default=64, help="of the phantom")
    arguments = parser.parse_args()

    truth = None
    if arguments.volume is not None:
        noisy = np.load(arguments.volume, mmap_mode="r")
    else:
        truth = spheres(arguments.extent)
        noise = np.random.default_rng(8).normal(0, 15, truth.shape).astype(np.float32)
        noisy = truth + noise

    begin = time.perf_counter()
    # The level of the noise is estimated; pass sigma=15.0 where it is known.
    denoised = runner.denoise(noisy, method="nlm", window=[7, 7, 7])
    print(f"denoised {list(noisy.shape)} in {time.perf_counter() - begin:.2f} s")
    np.save(arguments.out, denoised)
    print(f"wrote {arguments.out}")
    if truth is not None:
        print(f"distance from the true volume: {rms(noisy, truth):.2f} noisy, "
              f"{rms(denoised, truth):.2f} denoised")
    middle = noisy.shape[0] // 2
    slices = {"noisy": noisy[middle], "denoised": denoised[middle]}
    if truth is not None:
        slices["true"] = truth[middle]
    if draw(arguments.picture, slices):
        print(f"wrote {arguments.picture}")
    else:
        print("no picture: matplotlib is not installed")


if __name__ == "__main__":
    main()
