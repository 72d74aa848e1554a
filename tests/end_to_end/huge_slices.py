"""Pictures of a volume of 200 GB that is mostly a hole in its file.

Each takes what it shows and no more: were all of it read, this would run for minutes.
"""
import os
import pathlib

import h5py
import numpy as np
from PIL import Image
import pytest

from harness import call, new_folder

pytestmark = pytest.mark.quick

SHAPE = (3000, 4096, 4096)


@pytest.fixture(scope="module", autouse=True)
def folder():
    with new_folder():
        make_volume()
        assert os.stat("huge.h5").st_blocks * 512 <= 1 << 30, "the file system keeps no holes"
        yield


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


# What part of the picture is not black.
@pytest.mark.parametrize("options, shape, low, high", [
    (["--frame", "1500"], (1024, 1024), 0.22, 0.26),
    (["--axis", "0"], (1024, 1024), 0.22, 0.26),
    (["--axis", "1", "--frame", "2000"], (750, 1024), 1e-4, 0.01),
    (["--axis", "2", "--frame", "2000"], (438, 598), 1e-4, 0.01)],
    ids=["a frame", "along axis 0", "across axis 1", "across axis 2"])
def test_picture(options, shape, low, high):
    pathlib.Path("out.png").unlink(missing_ok=True)
    call("render", "huge.h5:/v", "out.png", "--percentiles", "0,100", *options)
    with Image.open("out.png") as image:
        picture = np.asarray(image)
    assert picture.shape == shape and low < (picture > 0).mean() < high
