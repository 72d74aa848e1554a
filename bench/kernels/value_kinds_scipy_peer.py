"""Speed of the same with scipy and numpy in memory: value_kinds_scipy_peer.py [SIDE [RUNS]].

Prints the same table as bench_value_kinds_cpu; divide the lines for the ratio.
"""
import statistics
import sys
import time

import numpy as np
import scipy
from scipy import ndimage


def line(name, elements, work, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    median = statistics.median(times)
    spread = (max(times) - min(times)) / median
    print(f"{name:28} {elements / median * 1e-9:9.4f} Gelements/s  spread {spread * 100:4.1f} %",
          flush=True)


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"# scipy {scipy.__version__}, numpy {np.__version__}, {side} x {side}")
    values = np.random.default_rng(1).random((side, side)) * 60000
    for dtype, size in [("uint8", (3, 3)), ("uint16", (3, 3)), ("float32", (3, 3)),
                        ("uint16", (5, 5)), ("float32", (5, 5)), ("uint16", (3, 3, 3)),
                        ("float32", (3, 3, 3)), ("float32", (7, 7))]:
        image = (values / 256 if dtype == "uint8" else values).astype(dtype)
        if len(size) == 3:
            image = image.reshape(16, -1, side)
        name = "x".join(map(str, (1,) * (3 - len(size)) + size))
        line(f"median {name} {dtype}", image.size,
             lambda image=image, size=size: ndimage.median_filter(image, size=size), runs)
    words = values.astype(np.uint16)
    line("bin 2x2 uint16", words.size, lambda: np.rint(
        words.reshape(side // 2, 2, side // 2, 2).mean((1, 3))).astype(np.uint16), runs)
    for dtype, out in [("uint16", "uint8"), ("float32", "uint16")]:
        image = values.astype(dtype)
        top = np.iinfo(out).max if out == "uint8" else 255
        line(f"rescale {dtype} to {out}", image.size, lambda image=image, out=out, top=top: np.rint(
            np.clip(image.astype(np.float64) * (top / 60000), 0, top)).astype(out), runs)


main()
