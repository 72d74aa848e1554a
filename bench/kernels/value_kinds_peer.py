# Times cupyx.scipy.ndimage.median_filter (mode reflect) beside value_kinds_bench's rows.
#   python3 value_kinds_peer.py [SIZE [LAUNCHES]]
import sys

import cupy
from cupyx.scipy.ndimage import median_filter

from cupy_times import median_time


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"# peer: cupyx median_filter, cupy {cupy.__version__}, {side} x {side}, "
          f"{launches} launches")
    for name in ("uint8", "uint16", "int32", "float32", "float64"):
        values = cupy.random.default_rng(1).random((side, side), dtype=cupy.float32) * 60000
        image = (values / 256 if name == "uint8" else values).astype(name)
        for size in ((3, 3), (3, 3, 3), (5, 5)):
            shaped = image.reshape(64, -1, side) if len(size) == 3 else image
            out = cupy.empty_like(shaped)
            median, spread = median_time(lambda: median_filter(shaped, size=size, output=out),
                                         launches)
            text = "x".join(map(str, (1,) * (3 - len(size)) + size))
            print(f"{'median ' + text + ' ' + name:32} {median:9.4f} ms  "
                  f"{side * side * 1e-6 / median:7.1f} Gelements/s  spread {100 * spread:4.1f} %",
                  flush=True)


main()
