"""A stack of files has of its axes what all files say; where they differ, one warning says so."""
import json
import pathlib

import mrcfile
import numpy as np
import pytest
import tifffile

from harness import call

pytestmark = pytest.mark.quick
PAGE = np.arange(70, dtype="uint16").reshape(7, 10)
SAID = "the files of the stack do not agree on their axes"


def pages(sizes, unit="um"):
    """A TIFF for each size of pixels along y and x; None for one that says nothing."""
    pathlib.Path("slices").mkdir(exist_ok=True)
    for old in pathlib.Path("slices").iterdir():
        old.unlink()
    for number, size in enumerate(sizes):
        name = f"slices/page_{number}.tif"
        if size is None:
            tifffile.imwrite(name, PAGE + number)
            continue
        tifffile.imwrite(name, PAGE + number, imagej=True, resolution=(1 / size[1], 1 / size[0]),
                         metadata={"unit": unit})


def planned(more="", pattern="slices/*.tif"):
    """The axes of the job's input by their names, and its warnings."""
    pathlib.Path("job.toml").write_text(
        f'kind = "bin"\n[input]\nfile = "{pattern}"\n{more}\n[output]\nfile = "out.h5"\n'
        'overwrite = true\n[bin]\nfactors = [1, 1, 1]\n')
    done = call("plan", "job.toml")
    first = done.stdout.splitlines()[0]
    return first.split(", axes ")[1] if ", axes " in first else "", done.stderr


def test_files_that_agree():
    pages([(0.5, 0.25)] * 3)
    axes, warnings = planned()
    assert axes == "frame, y 0.5 um, x 0.25 um" and not warnings, (axes, warnings)


def test_sizes_that_differ():
    pages([(0.5, 0.25), (0.5, 0.25), (0.5, 0.125), (1, 0.25)])
    axes, warnings = planned()
    assert axes == "frame, y, x", axes
    assert warnings.count(SAID) == 1 and warnings.count("\n") == 1, warnings
    for word in ["slices/page_0.tif says y 0.5 um, x 0.25 um", "slices/page_2.tif says y 0.5 um, x 0.125 um",
                 "input.spacing"]:
        assert word in warnings, f"no {word!r} in {warnings}"
    pages([(0.5, 0.25), (0.5, 0.125)])
    assert planned()[0] == "frame, y 0.5 um, x"
    assert planned('spacing = { y = 0.5, x = 0.5, unit = "um" }')[0] == "frame, y 0.5 um, x 0.5 um"
    call("job.toml", "--quiet", "--report", "report.json")
    report = json.loads(pathlib.Path("report.json").read_text())
    assert sum(SAID in warning for warning in report["warnings"]) == 1


def test_a_file_that_says_nothing():
    for sizes in [[None, (0.5, 0.25)], [(0.5, 0.25), None], [(0.5, 0.25), None, (0.5, 0.25)]]:
        pages(sizes)
        axes, warnings = planned()
        assert "um" not in axes and SAID in warnings and "says y, x" in warnings, (axes, warnings)
    pages([None, None])
    assert SAID not in planned()[1]


def test_voxels():
    for name, size in [("map_10", 2.5), ("map_11", 2.5), ("map_20", 3.5)]:
        mrcfile.write(f"{name}.mrc", np.zeros((2, 4, 5), "float32"), voxel_size=size, overwrite=True)
    axes, warnings = planned(pattern="map_1?.mrc")
    assert "2.5" in axes and SAID not in warnings, (axes, warnings)
    axes, warnings = planned(pattern="map_*.mrc")
    assert axes == "frame, z, y, x" and SAID in warnings, (axes, warnings)
