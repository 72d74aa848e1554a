"""What the file does not say of its elements: the job file declares it, or one warning says so."""
import json
import pathlib

import h5py
import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from harness import attempt, bad, call, good

pytestmark = pytest.mark.quick
KINDS = {"bin": "factors = [2, 2]", "convolve": "row_taps = [0.5, 0.25, 0.25]\ncolumn_taps = [1.0]",
         "median": "size = [3, 3]", "denoise": "patch = [1, 2, 2]\nwindow = [1, 3, 3]\nsigma = 3.0",
         "match": "patch = [1, 2, 2]\nwindow = [1, 3, 3]", "correct": "dark = 1.0\nflat = 300.0"}
COLOUR = np.random.default_rng(0).integers(0, 255, (12, 14, 3)).astype("u1")


def write_job(kind, file, more="", output="o.h5"):
    text = f"[{kind}]\n{KINDS[kind]}\n"
    pathlib.Path("j.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{file}"\n{more}\n[output]\nfile = "{output}"\n'
        f'overwrite = true\nsync = false\n[run]\nbackend = "cpu"\n{text}')


def run(*options):
    done = call("j.toml", "--quiet", "--report", "r.json", *options)
    return done.stderr, json.loads(pathlib.Path("r.json").read_text()).get("warnings", [])


def save(name, array):
    """The array as a file that says nothing of colour; what the job file needs beside its name."""
    if name.endswith(".npy"):
        np.save(name, array)
    elif name.endswith(".raw"):
        array.tofile(name)
        return f'raw = {{ shape = {list(array.shape)}, dtype = "uint8" }}'
    else:
        with h5py.File(name, "w") as file:
            file["d"] = array
        return 'dataset = "/d"'
    return ""


@pytest.mark.parametrize("name", ["c.npy", "c.raw", "c.h5"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_last_axis_that_may_be_colour(kind, name):
    more = save(name, COLOUR)
    write_job(kind, name, more)
    text, reported = run()
    assert text.count("runner: warning") == 1 and "may be colour" in text, text
    assert len(reported) == 1 and "may be colour" in reported[0], reported
    assert "input.colour" in reported[0] and name in reported[0]
    assert "may be colour" in attempt("plan", "j.toml").stderr
    write_job(kind, name, more + "\ncolour = false")
    assert run() == ("", [])


def test_a_last_axis_that_the_file_names_is_no_colour():
    """Without a warning, and a page of a TIFF has its rows and columns, not pixels of three samples."""
    with h5py.File("c.h5", "w") as file:
        file["d"] = COLOUR
        file["d"].attrs["DIMENSION_LABELS"] = ["z", "y", "x"]
    nibabel.save(nibabel.Nifti1Image(COLOUR.T, np.eye(4)), "c.nii")
    for source in ("c.h5", "c.nii"):
        write_job("bin", source, output="out.tif")
        assert "colour" not in str(run("--set", "bin.factors=[1, 1]"))
        call("convert", source, f"{source}.tif")
        for name in ("out.tif", f"{source}.tif"):
            with tifffile.TiffFile(name) as tiff:
                assert len(tiff.pages) == len(COLOUR) and tiff.pages[0].shape == COLOUR.shape[1:], name
                assert (tiff.asarray() == COLOUR).all()


@pytest.mark.parametrize("name", ["c.npy", "c.raw", "c.h5"])
def test_colour_is_never_filtered_across(name):
    """Every channel is as it is by itself (colour_samples.py has the other kinds)."""
    more = save(name, COLOUR) + "\ncolour = true"
    for kind in ["bin", "convolve", "correct", "median"]:
        write_job(kind, name, more)
        assert run() == ("", [])
        with h5py.File("o.h5") as file:
            made = next(iter(file[key] for key in file if key != "runner"))[...]
        assert made.shape[-1] == 3
        for channel in range(3):
            save("one.h5", np.ascontiguousarray(COLOUR[..., channel]))
            write_job(kind, "one.h5", 'dataset = "/d"', "one_o.h5")
            run()
            with h5py.File("one_o.h5") as file:
                assert np.array_equal(file["d"][...], made[..., channel]), (kind, channel)


def test_a_mark_is_overruled():
    """A file that says colour, of which the job file says that it is none."""
    Image.fromarray(COLOUR).save("c.png")
    write_job("bin", "c.png", "", "a.npy")
    run()
    assert np.load("a.npy").shape == (6, 7, 3)
    write_job("bin", "c.png", "colour = false", "a.npy")
    run()
    assert np.load("a.npy").shape == (12, 7, 1)


def test_what_cannot_be_colour():
    for shape in [(12, 3), (4, 12, 14), (3, 4, 5)]:
        np.save("c.npy", np.zeros(shape, "u1"))
        write_job("bin", "c.npy", "colour = true")
        bad(2, ["input.colour", str(list(shape))], "j.toml", "--quiet")
    np.save("c.npy", np.zeros((12, 4), "u1"))
    write_job("bin", "c.npy")
    assert run() == ("", [])
    write_job("bin", "c.npy", "colour = 1")
    done = attempt("j.toml", "--quiet")
    assert done.returncode == 2 and "input.colour: expected a boolean" in done.stderr, done


def refusal(name):
    pathlib.Path("j.toml").write_text(f'kind = "denoise"\n[input]\nfile = "{name}"\n[output]\nfile = "o.h5"\n'
                                      "overwrite = true\n[denoise]\nsigma = 3.0\n")
    done = attempt("j.toml", "--quiet")
    assert done.returncode == 3 and "denoise needs a volume or an image" in done.stderr, done
    return done.stderr


def test_volumes_with_an_axis_too_many():
    """The advice names axes that are there, and colour where the last axis may be that."""
    np.save("four.npy", np.random.default_rng(1).integers(0, 255, (8, 9, 10, 3)).astype("u1"))
    text = refusal("four.npy")
    assert "input.colour = true" in text and 'input.axes = "tzyx"' in text and "{ t = 0 }" in text, text
    for more in ["input.colour=true", "input.axes=tzyx --set input.select.t=0"]:
        done = attempt("j.toml", "--quiet", "--set", *more.split())
        assert done.returncode == 0, done
    np.save("five.npy", np.zeros((2, 2, 8, 9, 10), "u1"))
    text = refusal("five.npy")
    assert "colour" not in text and 'input.axes = "tczyx"' in text and "{ t = 0, c = 0 }" in text, text
    with h5py.File("named.h5", "w") as file:
        data = file.create_dataset("data", data=np.zeros((8, 2, 9, 10), "u1"))
        for axis, label in enumerate(["z", "echo", "y", "x"]):
            data.dims[axis].label = label
    text = refusal("named.h5")
    assert "input.select = { echo = 0 }" in text and "input.axes" not in text, text
    np.save("one.npy", np.zeros(8, "u1"))
    assert "input.select" not in refusal("one.npy")


def test_a_declaration_is_of_the_job():
    """An output of the one is not taken for the other's."""
    np.save("c.npy", COLOUR)
    write_job("bin", "c.npy", "colour = true", "a.npy")
    run()
    write_job("bin", "c.npy", "colour = false", "a.npy")
    pathlib.Path("j.toml").write_text(
        pathlib.Path("j.toml").read_text().replace("overwrite = true", "overwrite = false"))
    done = attempt("j.toml", "--quiet")
    assert done.returncode == 4 and "a.npy" in done.stderr, done


def test_several_steps_say_it_once():
    np.save("c.npy", COLOUR)
    pathlib.Path("j.toml").write_text(
        'name = "j"\n[input]\nfile = "c.npy"\n[output]\nfile = "o.npy"\noverwrite = true\nsync = false\n'
        '[run]\nbackend = "cpu"\n[[step]]\nkind = "median"\nsize = [3, 3]\n'
        '[[step]]\nkind = "rescale"\nfrom = "extremes"\nto = [0, 255]\ndtype = "uint8"\n'
        '[[step]]\nkind = "bin"\nfactors = [2, 2]\n')
    text, reported = run()
    assert text.count("may be colour") == 1, text
    assert sum("may be colour" in each for each in reported) <= 1, reported


def write_invalid(name="a.nc"):
    array = np.full((4, 4), 100, "i2")
    array[0, 0] = -32768
    with h5py.File(name, "w") as file:
        data = file.create_dataset("t", data=array)
        data.attrs["_FillValue"] = np.array([-32768], "i2")
        data.attrs["missing_value"] = np.int16(-1)
        file.create_dataset("f", data=array.astype("f4")).attrs["_FillValue"] = np.float32("nan")
        detector = file.create_group("entry/instrument/detector")
        detector["data"] = array[None]
        detector["pixel_mask"] = np.zeros((4, 4), "u4")
        file["entry/data/data"] = array[None]
        file["plain"] = array
        file["linked/data"] = array
        file["linked/pixel_mask"] = h5py.ExternalLink("none.h5", "/mask")


MARKS = {"t": ["_FillValue = -32768", "missing_value = -1"], "f": ["_FillValue = nan"],
         "entry/instrument/detector/data": ["pixel_mask = /entry/instrument/detector/pixel_mask"],
         "entry/data/data": ["pixel_mask = /entry/instrument/detector/pixel_mask"],
         "plain": [], "linked/data": []}


@pytest.mark.parametrize("dataset", MARKS)
def test_invalid_elements_are_known(dataset):
    """Those that the file declares: `inspect` shows them, and a kind that takes some as values says so
    once. Without it they are the first number of them, and an empty mask marks none."""
    write_invalid()
    found = json.loads(good("inspect", f"a.nc:/{dataset}", "--json"))
    assert found.get("invalid", []) == MARKS[dataset]
    shown = good("inspect", f"a.nc:/{dataset}")
    assert all(f"invalid elements: {mark}" in shown for mark in MARKS[dataset])
    for kind in KINDS:
        if kind == "match":
            continue  # it takes no int16
        write_job(kind, "a.nc", f'dataset = "/{dataset}"')
        text, reported = run()
        taken = [mark for mark in MARKS[dataset] if mark.startswith("missing")]
        assert text.count("are no values") == (1 if taken else 0), text
        assert [mark for mark in MARKS[dataset] if mark in "".join(reported)] == taken
        write_job(kind, "a.nc", f'dataset = "/{dataset}"\ninvalid = "none"')
        assert "are no values" not in run()[0]


def test_nan_may_be_a_number():
    """TOML's own, as Python's dicts have it."""
    write_invalid()
    for word in ['"nan"', "nan"]:
        write_job("bin", "a.nc", f'dataset = "/f"\ninvalid = {word}')
        assert run()[0] == ""
        pathlib.Path("o.h5").rename(f"{len(word)}.h5")
    with h5py.File("5.h5") as one, h5py.File("3.h5") as other:
        assert one["f"][()].tobytes() == other["f"][()].tobytes()


def test_invalid_is_a_choice():
    write_invalid()
    write_job("bin", "a.nc", 'dataset = "/t"\ninvalid = "all"')
    done = attempt("j.toml", "--quiet")
    assert done.returncode == 2 and "input.invalid: unknown value" in done.stderr, done
    pathlib.Path("j.toml").write_text(
        'kind = "transpose"\n[input]\nfile = "a.nc"\ndataset = "/t"\n[output]\nfile = "o.h5"\n'
        'overwrite = true\nsync = false\n[run]\nbackend = "cpu"\n[transpose]\npermutation = [1, 0]\n')
    assert run()[0] == ""


def test_a_mark_of_several_numbers_is_not_heeded():
    """The other mark is, and the warning names the one that is not."""
    with h5py.File("a.h5", "w") as file:
        file["t"] = np.array([[1, 7], [9, 3]], "i2")
        file["t"].attrs["_FillValue"] = np.array([7, 8], "i2")
        file["t"].attrs["missing_value"] = np.int16(9)
    write_job("bin", "a.h5", 'dataset = "/t"')
    text, reported = run()
    assert text.count("are no values") == 1 and "_FillValue = 7, 8" in text and "missing_value" not in text, text
    with h5py.File("o.h5") as file:
        assert file["t"][()].tolist() == [[4]]  # (1 + 7 + 3) / 3, to the nearest


@pytest.mark.parametrize("declared", ["colour = true", 'axes = "yxs"'])
@pytest.mark.parametrize("name", ["c.npy", "c.raw", "c.h5"])
def test_a_region_counts_rows_and_columns_of_declared_colour(name, declared):
    more = save(name, COLOUR) + f'\n{declared}\nregion = {{ rows = "3:10", columns = "2:8" }}'
    write_job("bin", name, more)
    assert run("--set", "bin.factors=[1,1]") == ("", [])
    with h5py.File("o.h5") as file:
        made = next(iter(file[key] for key in file if key != "runner"))[...]
    assert np.array_equal(made, COLOUR[3:10, 2:8])


def test_a_part_of_colour():
    """A sample is taken alone; some of a pixel's, and pixels without rows or columns, are no image."""
    Image.fromarray(COLOUR).save("c.png")
    write_job("convolve", "c.png", 'select = { s = "0:2" }')
    bad(2, ["input.select.s", "3 samples of a colour pixel", "Take one"], "j.toml", "--quiet")
    write_job("convolve", "c.png", "select = { y = 0 }")
    bad(2, ["the part of the input is no image", '"5:6"'], "j.toml", "--quiet")
    write_job("median", "c.png", "select = { s = 1 }")
    assert run() == ("", [])


def test_sand_takes_no_colour():
    Image.fromarray(COLOUR % 4).save("c.png")
    pathlib.Path("j.toml").write_text('kind = "sand"\n[input]\nfile = "c.png"\n[output]\nfile = "o.h5"\n[sand]\n'
                                      "generations = 2\n")
    bad(3, ["sand does not take colour", "input.select = { s = 0 }"], "j.toml", "--quiet")


def test_numbers_that_float64_does_not_tell():
    """int64 has numbers that are one in float64: none of them is taken for another."""
    np.save("a.npy", np.arange(30, dtype="i8").reshape(5, 6))
    write_job("median", "a.npy", "invalid = -9223372036854775806")
    done = call("j.toml", "--quiet", code=2)
    assert "float64 does not tell" in done.stderr and "-9223372036854775808" in done.stderr, done.stderr
    for number in [9223372036854775807, -9223372036854775808, 1 << 60]:
        write_job("median", "a.npy", f"invalid = {number}")
        assert run() == ("", [])
    with h5py.File("a.h5", "w") as file:  # netCDF's own
        file["d"] = np.arange(30).reshape(5, 6)
        file["d"].attrs["_FillValue"] = np.int64(-9223372036854775806)
    write_job("median", "a.h5", 'dataset = "/d"')
    assert "some elements are no values" in run()[0]
