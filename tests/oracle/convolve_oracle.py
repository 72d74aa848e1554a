"""Compares convolution with scipy.ndimage: convolve_oracle.py PROGRAM.

scipy sums in another order and in float64, so results agree to a bound on the rounding of the sums;
for whole numbers small enough that nothing is rounded, they are equal.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy
from scipy import ndimage

BOUNDARIES = ["constant", "nearest", "reflect", "mirror", "wrap"]
TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
WIDE = ["int32", "uint32", "int64", "uint64", "float64"]  # computed in float64


def check_scipys_conventions():
    """out[n] = t[2] x[n-1] + t[1] x[n] + t[0] x[n+1], the taps reversed, with scipy as here."""
    image = np.array([1.0, 2.0, 3.0, 4.0])
    result = ndimage.convolve1d(image, [1.0, 10.0, 100.0], mode="constant", cval=5.0)
    assert result.tolist() == [512, 123, 234, 345], result


def all_passes(image, taps, boundary, fill):
    """Along rows, columns and, of three lists of taps, layers."""
    for axis, own in zip((-1, -2, -3), taps):
        image = ndimage.convolve1d(image, own, axis=axis, mode=boundary, cval=fill)
    return image


class Case:
    def __init__(self, random, whole_numbers):
        self.whole_numbers = whole_numbers
        self.in_type = TYPES[random.integers(len(TYPES))]
        self.out_type = TYPES[random.integers(len(TYPES))]
        self.compute = np.float64 if self.in_type in WIDE else np.float32
        self.boundary = BOUNDARIES[random.integers(5)]
        longest = int(random.choice([1, 2, 7, 40, 130]))
        frames = int(random.integers(1, 4))
        shape = (frames, int(random.integers(1, longest + 1)), int(random.integers(1, longest + 1)))
        if random.integers(3) == 0:
            shape = (int(random.integers(1, 3)), int(random.integers(1, 40)), *shape[1:])
        radii = random.choice([0, 1, 2, 3, 8, 31, 128], len(shape) - 1)
        if len(radii) == 3:
            radii = np.minimum(radii, 31)  # whole numbers stay small
        if whole_numbers:
            # Sums stay below 2^24, so that float32 has them all.
            self.fill = float(random.integers(-3, 4))
            self.taps = [random.integers(-1, 2, 2 * r + 1).astype(np.float64) for r in radii]
            self.image = random.integers(0, 100, shape).astype(self.in_type)
        else:
            self.fill = float(np.float32(random.normal()))
            self.taps = [random.normal(size=2 * r + 1) / (r + 1) for r in radii]
            self.taps = [t.astype(self.compute).astype(np.float64) for t in self.taps]
            scale = min(60000, np.iinfo(self.in_type).max if "int" in self.in_type else 60000)
            self.image = (random.random(shape) * scale).astype(self.in_type)
            if np.dtype(self.in_type).kind == "i":
                self.image *= random.choice([-1, 1], shape).astype(self.in_type)

    def write(self, folder):
        folder.mkdir()
        frames, *layers, rows, columns = self.image.shape
        texts = [" ".join(repr(float(t)) for t in taps) for taps in self.taps]
        depth = f"layers {layers[0]}\ndepth_taps {texts[2]}\n" if layers else ""
        (folder / "case.txt").write_text(
            f"in_type {self.in_type}\nout_type {self.out_type}\nframes {frames}\nrows {rows}\n"
            f"columns {columns}\nboundary {self.boundary}\nfill {self.fill!r}\n"
            f"row_taps {texts[0]}\ncolumn_taps {texts[1]}\n{depth}")
        self.image.tofile(folder / "image.raw")

    def difference(self, folder):
        """What is wrong with the result, or None."""
        result = np.fromfile(folder / "result.raw", self.out_type).reshape(self.image.shape)
        result = result.astype(np.float64)
        image = self.image.astype(np.float64)
        expected = all_passes(image, self.taps, self.boundary, self.fill)
        sizes = all_passes(abs(image), [abs(taps) for taps in self.taps], self.boundary,
                           abs(self.fill))
        bound = sizes * np.finfo(self.compute).eps * (sum(map(len, self.taps)) + 2)
        if "int" in self.out_type:
            limits = np.iinfo(self.out_type)
            expected = np.clip(expected, float(limits.min), float(limits.max))
            bound = bound + 0.5
        elif self.out_type == "float32":
            bound = bound + abs(expected) * np.finfo(np.float32).eps
        if self.whole_numbers:
            assert sizes.max() < 2**24
            bound = 0
        wrong = ~(abs(result - expected) <= bound)
        if not wrong.any():
            return None
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{wrong.sum()} of {wrong.size} differ; {at}: {result[at]!r}, scipy {expected[at]!r}"

    def __str__(self):
        return (f"{self.in_type} to {self.out_type}, {self.image.shape}, {self.boundary}, "
                f"{[len(taps) for taps in self.taps]} taps along rows, columns and layers")


def main():
    check_scipys_conventions()
    random = np.random.default_rng(20)
    cases = [Case(random, whole_numbers=i % 2 == 0) for i in range(300)]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / str(i) for i in range(len(cases))]
        for case, folder in zip(cases, folders):
            case.write(folder)
        subprocess.run([sys.argv[1], *folders], check=True)
        for case, folder in zip(cases, folders):
            difference = case.difference(folder)
            if difference is not None:
                failures += 1
                print(f"{case}: {difference}")
    print(f"{len(cases)} cases, {failures} differ from scipy {scipy.__version__}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
