# Times two cupyx.scipy.ndimage.convolve1d calls (mode reflect), as convolve_bench prints its rows.
#   python3 convolve_peer.py [SIZE [LAUNCHES]]
import sys

import cupy
from cupyx.scipy.ndimage import convolve1d

from cupy_times import median_time


def gaussian(radius):
    k = cupy.arange(-radius, radius + 1, dtype=cupy.float64)
    taps = cupy.exp(-k * k / (2 * (radius / 3) ** 2)) + 1e-3 * k
    return taps / taps.sum()


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"# peer: cupyx convolve1d x 2, cupy {cupy.__version__}, {size} x {size}, {launches} launches")
    for name, dtype in (("f32", cupy.float32), ("f64", cupy.float64), ("u8", cupy.uint8), ("u16", cupy.uint16)):
        rng = cupy.random.default_rng(1)
        image = rng.random((size, size), dtype=cupy.float32).astype(cupy.float64)
        image = (image if dtype in (cupy.float32, cupy.float64) else image * 255).astype(dtype)
        out = cupy.empty_like(image)
        for radius in (1, 2, 4, 8, 12, 16, 32, 64):
            taps = gaussian(radius)

            def work():
                between = convolve1d(image, taps, axis=1, mode="reflect")
                convolve1d(between, taps, axis=0, mode="reflect", output=out)

            median, spread = median_time(work, launches)
            print(f"{name:<4} {radius:4d} {median:9.4f} ms {100 * spread:5.1f}%", flush=True)


main()
