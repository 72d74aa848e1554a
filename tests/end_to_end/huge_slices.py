"""Pictures of a volume of 200 GB that is mostly a hole in its file: huge_slices.py RUNNER.

Each takes what it shows and no more: were all of it read, this would run for minutes.
"""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from events import GUARD

SHAPE = (3000, 4096, 4096)


def make_volume():
    """A file as long as its elements, of which none is written but a few."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    with h5py.File("huge.h5", "w") as file:
        space = h5py.h5s.create_simple(SHAPE)
        h5py.h5d.create(file.id, b"v", h5py.h5t.NATIVE_FLOAT, space, properties)
        volume = file["v"]
        volume[1500, 1000:3000, 1000:3000] = 1
        volume[500:2500, 1990:2010, 2000] = 1


def main():
    runner = os.path.abspath(sys.argv[1])
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_volume()
        if os.stat("huge.h5").st_blocks * 512 > 1 << 30:
            sys.exit("the file system keeps no holes")
        # What part of the picture is not black.
        for options, shape, low, high in [
                (["--frame", "1500"], (1024, 1024), 0.22, 0.26),
                (["--axis", "0"], (1024, 1024), 0.22, 0.26),
                (["--axis", "1", "--frame", "2000"], (750, 1024), 1e-4, 0.01),
                (["--axis", "2", "--frame", "2000"], (438, 598), 1e-4, 0.01)]:
            done = subprocess.run(
                [runner, "render", "huge.h5:/v", "out.png", "--percentiles", "0,100", *options],
                capture_output=True, text=True, timeout=GUARD)
            picture = read_grey("out.png") if done.returncode == 0 else np.zeros((0, 0))
            part = (picture > 0).mean() if picture.size else 0
            if done.returncode != 0 or picture.shape != shape or not low < part < high:
                failures += 1
                print(f"FAILED {options}: {done}, {picture.shape}, {part}")
        os.chdir("/")
    print(f"huge_slices: 4 pictures, {failures} wrong")
    return 1 if failures else 0


def read_grey(path):
    from PIL import Image
    return np.asarray(Image.open(path))


if __name__ == "__main__":
    sys.exit(main())
