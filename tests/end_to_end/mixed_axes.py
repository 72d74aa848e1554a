"""A job that computes across channels or times says so: it takes the last axes for depth, rows and columns."""
import pathlib

import h5py
import numpy as np
import pytest
import tifffile

from harness import call

pytestmark = pytest.mark.quick
SAID = "elements along the axis {} are computed from one another"


def warned(kind, keys, axes, file="a.ome.tif", more="", shape=(3, 11, 13)):
    """What plan says of a job over a file with these axes."""
    array = np.arange(np.prod(shape)).reshape(shape).astype("uint16")
    if file.endswith(".tif"):
        tifffile.imwrite(file, array, metadata={"axes": axes}, photometric="minisblack")
    else:
        np.save(file, array)
        more = f'axes = "{axes.lower()}"\n{more}'
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{file}"\n{more}\n[output]\nfile = "out.h5"\n[run]\nbackend = "cpu"\n'
        f'[{kind}]\n{keys}\n')
    done = call("plan", "job.toml")
    return done.stdout + done.stderr


KINDS = [("median", "size = [3, 1, 1]"), ("bin", "factors = [3, 1, 1]"),
         ("convolve", "row_taps = [1]\ncolumn_taps = [1]\ndepth_taps = [1, 2, 1]"),
         ("denoise", 'method = "nlm"\nsigma = 3.0'), ("denoise", 'method = "bm4d"\nsigma = 3.0'), ("match", "count = 4")]


@pytest.mark.parametrize("kind, keys", KINDS)
@pytest.mark.parametrize("file", ["a.ome.tif", "a.npy"])
def test_depth_of_channels_and_times(kind, keys, file):
    for name in "CT":
        assert SAID.format(name.lower()) in warned(kind, keys, name + "YX", file, shape=(4, 11, 13))
    assert "computed from one another" not in warned(kind, keys, "ZYX", file, shape=(4, 11, 13))
    if kind in ("denoise", "match"):
        return  # it takes three axes at most
    assert "computed from one another" not in warned(kind, keys, "CZYX", file, shape=(2, 4, 11, 13))
    assert "computed from one another" not in warned(kind, keys, "ZCYX", file, "select = { c = 1 }", (4, 2, 11, 13))


def test_rows_of_channels():
    said = warned("median", "size = [1, 3, 3]", "YXC", "a.npy", shape=(11, 13, 5))
    assert SAID.format("c") in said and "takes it for columns, and its axes are y, x, c" in said


def test_pages_of_samples():
    assert SAID.format("c") in warned("median", "size = [3, 1, 1]", "SYX", "a.tif")


@pytest.mark.parametrize("kind, keys", [("median", "size = [1, 3, 3]"), ("bin", "factors = [1, 2, 2]"),
                                        ("denoise", 'method = "nlm"\nsigma = 3.0\nwindow = [1, 5, 5]\npatch = [1, 3, 3]'),
                                        ("match", "window = [1, 5, 5]\npatch = [1, 3, 3]\ncount = 4"),
                                        ("transpose", "permutation = [2, 0, 1]"), ("rescale", "from = [0, 9]\nto = [0, 1]")])
def test_each_by_itself(kind, keys):
    assert "computed from one another" not in warned(kind, keys, "CYX")


@pytest.mark.parametrize("name, save, said", [("", "", "(after step 1, transpose)"),
                                              ("turned", "", '(after step 1 ("turned"), transpose)'),
                                              ("", "kept.h5", "(kept.h5:/a)")])
def test_values_between_passes(name, save, said):
    """The warning names what the user knows: the step before, or the file that it saves."""
    np.save("a.npy", np.arange(3 * 11 * 13, dtype="uint16").reshape(3, 11, 13))
    keys = "".join(f'{key} = "{value}"\n' for key, value in (("name", name), ("save", save)) if value)
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "a.npy"\naxes = "cyx"\n[output]\nfile = "out.tif"\ndataset = "/a"\n[run]\nbackend = "cpu"\n'
        f'[[step]]\nkind = "transpose"\npermutation = [0, 2, 1]\n{keys}'
        '[[step]]\nkind = "median"\nsize = [3, 1, 1]\n')
    for verb in [("plan", "job.toml"), ("job.toml",)]:
        done = call(*verb)
        told = done.stdout + done.stderr
        assert f"{SAID.format('c')} {said}" in told, told
        assert "warning" not in told or "pass-1" not in told[told.index("warning"):].splitlines()[0], told


@pytest.mark.parametrize("mode, shape, axes", [("PLANE", (3, 11, 13), "cyx"), ("LINE", (11, 3, 13), "ycx"),
                                               ("PLANE", (4, 11, 13), None)])
def test_planes_of_colour(mode, shape, axes):
    """Colours along another axis than the last, by HDF5's convention for images, are channels."""
    array = np.arange(np.prod(shape)).reshape(shape).astype("uint8")
    with h5py.File("a.h5", "w") as file:
        file["x"] = array
        file["x"].attrs.update({"CLASS": np.bytes_("IMAGE"), "IMAGE_SUBCLASS": np.bytes_("IMAGE_TRUECOLOR"),
                                "INTERLACE_MODE": np.bytes_("INTERLACE_" + mode)})
    keys = "size = [3, 1, 1]" if mode == "PLANE" else "size = [3, 1]"
    pathlib.Path("job.toml").write_text('kind = "median"\n[input]\nfile = "a.h5"\n[output]\nfile = "out.h5"\n'
                                        f'[run]\nbackend = "cpu"\n[median]\n{keys}\n')
    done = call("plan", "job.toml")
    assert (SAID.format("c") in done.stderr) == (axes is not None), done.stderr
    if axes:
        call("job.toml", "--set", 'input.select={ c = "green" }', "--set", "median.size=[1, 1]")
        with h5py.File("out.h5") as file:
            assert (file["x"][()] == np.take(array, 1, axes.index("c"))).all()
