"""Recomputes sampled tiles of a finished convolution with scipy: check_tiles.py OUT.h5 [TILES].

The job is read from the output's own attributes; for jobs with gaussian taps on both axes and
boundary "reflect". Corners, borders and random places; differences are rounding of the sums only.
"""
import sys
import tomllib

import h5py
import numpy as np
from scipy import ndimage


def gaussian(table):
    k = np.arange(-table["radius"], table["radius"] + 1)
    taps = np.exp(-(k**2) / (2 * table["sigma"] ** 2))
    return taps / taps.sum()


def main():
    with h5py.File(sys.argv[1]) as out:
        job = tomllib.loads(out.attrs["job"])
        source = h5py.File(out.attrs["input_file"])[out.attrs["input_dataset"]]
        result = out[job["output"].get("dataset", job["input"]["dataset"])]
        taps = [gaussian(job["convolve"][axis]["gaussian"]) for axis in ["row_taps", "column_taps"]]
        assert job["convolve"]["boundary"] == "reflect"
        halo = max(len(t) // 2 for t in taps)
        size = 256
        random = np.random.default_rng(5)
        rows, columns = source.shape
        corners = [(r, c) for r in (0, rows - size) for c in (0, columns - size)]
        count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
        places = corners + [(int(random.integers(rows - size)), int(random.integers(columns - size)))
                            for _ in range(count)]
        worst = 0.0
        for row, column in places:
            top, left = max(0, row - halo), max(0, column - halo)
            bottom, right = min(rows, row + size + halo), min(columns, column + size + halo)
            image = source[top:bottom, left:right].astype(np.float64)
            # Rows beyond the part that was read matter only at the image's own border, where
            # scipy reflects as the job does; elsewhere they are cut off again.
            expected = ndimage.convolve1d(image, taps[0], axis=1, mode="reflect")
            expected = ndimage.convolve1d(expected, taps[1], axis=0, mode="reflect")
            expected = expected[row - top:row - top + size, column - left:column - left + size]
            got = result[row:row + size, column:column + size]
            worst = max(worst, float(np.abs(got - expected).max()))
        print(f"{sys.argv[1]}: {len(places)} tiles of {size} x {size}, largest difference {worst:.2e}")
        if not worst < 1e-12:
            sys.exit(1)


if __name__ == "__main__":
    main()
