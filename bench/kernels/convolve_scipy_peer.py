"""Speed of the same convolution with scipy.ndimage in memory: convolve_scipy_peer.py [SIDE [RUNS]].

Prints the same table as bench_convolve_cpu; divide the lines for the ratio.
"""
import statistics
import sys
import time

import numpy as np
from scipy import ndimage


def seconds_of(image, taps):
    begin = time.perf_counter()
    rows = ndimage.convolve1d(image, taps, axis=-1, mode="reflect")
    ndimage.convolve1d(rows, taps, axis=-2, mode="reflect")
    return time.perf_counter() - begin


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 12288
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    pattern = np.arange(side * side, dtype=np.uint64).reshape(side, side) % 251
    for name in ["float64", "float32", "uint16", "uint8"]:
        image = pattern.astype(name)
        for radius in [1, 4, 8, 16, 32]:
            taps = np.full(2 * radius + 1, 1 / (2 * radius + 1))
            times = [seconds_of(image, taps) for _ in range(runs)]
            median = statistics.median(times)
            spread = (max(times) - min(times)) / median
            print(f"{name:8} R {radius:<4} {side * side / median * 1e-9:7.4f} Gpx/s  "
                  f"spread {spread * 100:4.1f} %", flush=True)


if __name__ == "__main__":
    main()
