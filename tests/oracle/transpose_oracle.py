"""Compares transposition with numpy.transpose: transpose_oracle.py PROGRAM."""
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
EXTENTS = [1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 64, 127, 129, 257, 1023]


def make_cases(random):
    for permutation in itertools.permutations(range(3)):
        for size in TYPES:
            for _ in range(8):
                shape = [int(random.choice(EXTENTS)) for _ in range(3)]
                while np.prod(shape) * size > 2_000_000:
                    shape[int(np.argmax(shape))] //= 3
                yield shape, permutation, size


def main():
    random = np.random.default_rng(5)
    cases = list(make_cases(random))
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = ""
        for i, (shape, permutation, size) in enumerate(cases):
            (folder / f"{i}.in").write_bytes(random.bytes(int(np.prod(shape)) * size))
            lines += f"{i} {' '.join(map(str, shape))} {' '.join(map(str, permutation))} {size}\n"
        (folder / "cases.txt").write_text(lines)
        subprocess.run([sys.argv[1], folder], check=True)
        for i, (shape, permutation, size) in enumerate(cases):
            array = np.fromfile(folder / f"{i}.in", TYPES[size]).reshape(shape)
            if (folder / f"{i}.out").read_bytes() != array.transpose(permutation).tobytes():
                wrong += 1
                print(f"{shape}, permutation {permutation}, {size} bytes an element differs")
    print(f"{len(cases)} cases, {wrong} differ from numpy {np.__version__}")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
