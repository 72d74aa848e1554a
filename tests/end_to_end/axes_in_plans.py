"""What `runner plan` says that each step does along each axis, as text and as JSON."""
import json
import pathlib

import h5py
import numpy as np
import pytest
import tifffile

from harness import call

pytestmark = pytest.mark.quick
FILES = {"cells.ome.tif": ("czyx", (2, 4, 9, 11)), "photo.tif": ("yxs", (9, 11, 3)), "plain.npy": ("", (4, 9, 11)),
         "image.npy": ("yx", (9, 11)), "volume.npy": ("zyx", (4, 9, 11)), "times.npy": ("tyx", (4, 9, 11))}
SAID = [
    ("convolve", "sigma = [1, 1, 1]", "cells.ome.tif", "y, x: filtered · z: filtered · c: each by itself"),
    ("convolve", "sigma = 1", "cells.ome.tif", "y, x: filtered · c, z: each by itself"),
    ("convolve", "sigma = 1", "photo.tif", "y, x: filtered · s: each by itself"),
    ("convolve", "sigma = [0, 1]", "image.npy", "x: filtered · y: each by itself"),
    ("convolve", "sigma = 1", "plain.npy", "rows, columns: filtered · axis 0: each by itself"),
    ("median", "size = [3, 3, 3]", "cells.ome.tif", "y, x: filtered · z: filtered · c: each by itself"),
    ("median", "size = [3, 1, 1]", "plain.npy", "depth: filtered · rows, columns: each by itself"),
    ("bin", "factors = [2, 3]", "cells.ome.tif", "y: binned by 2 · x: binned by 3 · c, z: each by itself"),
    ("bin", "factors = [2, 2]", "photo.tif", "y, x: binned by 2 · s: each by itself"),
    ("denoise", 'method = "nlm"\nsigma = 3.0', "volume.npy", "z, y, x: filtered"),
    ("denoise", 'method = "bm4d"\nsigma = 3.0', "image.npy", "y, x: filtered"),
    ("denoise", 'method = "nlm"\nsigma = 3.0\nwindow = [1, 5, 5]\npatch = [1, 3, 3]', "times.npy",
     "y, x: filtered · t: each by itself"),
    ("match", "count = 4", "volume.npy", "z, y, x: searched"),
    ("correct", "dark = 1\nflat = 9", "times.npy", "y, x: by its pixel of the fields · t: each by itself"),
    ("correct", "dark = 1\nflat = 9", "photo.tif", "y, x: by its pixel of the fields · s: each by itself"),
    ("reduce", 'operation = "max"\nover = ["z"]', "cells.ome.tif", "z: reduced · c, y, x: each by itself"),
    ("reduce", 'operation = "max"\nover = ["frame"]', "plain.npy", "depth: reduced · rows, columns: each by itself"),
    ("rescale", "from = [0, 9]", "cells.ome.tif", "c, z, y, x: each by itself"),
    ("rescale", 'from = "extremes"', "photo.tif", "y, x, s: by the range of all"),
    ("fill", "reach = [2, 2]", "volume.npy", "y, x: gaps filled · z: each by itself"),
    ("fill", 'method = "number"', "photo.tif", "y, x, s: each by itself"),
    ("stitch", 'overlap = 2\nside = "left"', "volume.npy", "x: joined · z: joined in pairs · y: each by itself"),
    ("stripes", "size = 5", "volume.npy", "y: taken as angles · x: cleaned of stripes · z: each by itself"),
    ("transpose", "permutation = [1, 0, 2]", "photo.tif", "y: becomes axis 1 · x: becomes axis 0 · s: stays"),
    ("transpose", "permutation = [1, 2, 0]", "image.npy", "y: becomes axis 0 · x: becomes axis 1"),
    ("sand", "generations = 2\ninput_frame = 1", "times.npy", "y, x: evolves · t: only index 1"),
]


def write(name):
    letters, shape = FILES[name]
    array = np.zeros(shape, "uint8")
    if name.endswith(".ome.tif"):
        tifffile.imwrite(name, array, metadata={"axes": letters.upper()}, photometric="minisblack")
    elif name.endswith(".tif"):
        tifffile.imwrite(name, array, photometric="rgb")
    else:
        np.save(name, array)
        return f'axes = "{letters}"\n' if letters else ""
    return ""


@pytest.mark.parametrize("kind, keys, name, said", SAID)
def test_kinds(kind, keys, name, said):
    more = write(name) + ("invalid = 7\n" if kind == "fill" else "")
    pathlib.Path("job.toml").write_text(f'kind = "{kind}"\n[input]\nfile = "{name}"\n{more}[output]\nfile = "out.h5"\n'
                                        f"[{kind}]\n{keys}\n")
    assert f"\n  {said}\n" in call("plan", "job.toml").stdout, call("plan", "job.toml").stdout
    axes = json.loads(call("plan", "job.toml", "--json").stdout)["axes"]
    names = list(FILES[name][0]) or ["depth" if "depth" in said else "axis 0", "rows", "columns"]
    assert [axis["axis"] for axis in axes] == names
    works = {axis: part.split(": ")[1] for part in said.split(" · ") for axis in part.split(": ")[0].split(", ")}
    assert {axis["axis"]: axis["work"] for axis in axes} == works


def test_steps_follow_the_axes():
    """Each step says the axes that the steps before have left, also in a later pass."""
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.zeros((4, 9, 11), "uint8")
        for dim, name in zip(file["data"].dims, "tyx"):
            dim.label = name
    steps = [("median", "size = [3, 3]"), ("transpose", "permutation = [1, 0, 2]"), ("bin", "factors = [2, 1]"),
             ("convolve", "sigma = [0, 1]")]
    text = '[input]\nfile = "in.h5"\n[output]\nfile = "out.h5"\n' + "".join(
        f'[[step]]\nkind = "{kind}"\n{keys}\n' for kind, keys in steps)
    pathlib.Path("job.toml").write_text(text)
    done = call("plan", "job.toml")
    for said in ["y, x: filtered · t: each by itself", "y: becomes axis 0 · x: stays · t: becomes axis 1",
                 "t: binned by 2 · y, x: each by itself", "x: filtered · y, t: each by itself"]:
        assert f"\n    {said}\n" in done.stdout, done.stdout
    # A step of a later pass that mixes times is warned of as one of the first is.
    assert "elements along the axis t are computed from one another" in done.stderr, done.stderr
    passes = json.loads(call("plan", "job.toml", "--json").stdout)["passes"]
    assert [[axis["axis"] for axis in step["axes"]] for each in passes for step in each["steps"]] == [
        ["t", "y", "x"], ["t", "y", "x"], ["y", "t", "x"], ["y", "t", "x"]]
