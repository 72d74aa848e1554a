"""Elements that are no values: every kind that heeds them against numpy, and what is refused."""
import itertools
import json
import pathlib
import zlib

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, good, programs
from kind_rules import converted

pytestmark = pytest.mark.quick
TYPES = ["uint8", "int16", "uint16", "int32", "float32", "float64"]
MODES = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


def some(shape, dtype, seed=0, share=0.2):
    """An array, what its invalid elements are in the job file, and which they are."""
    random = np.random.default_rng(seed)
    array = random.integers(1, 60, shape).astype(dtype)
    lost = random.random(shape) < share
    mark = -9.5 if dtype == "float64" else np.nan if dtype == "float32" else 63
    array[lost] = mark
    return array, "nan" if np.isnan(mark) else mark, lost


def marked(values, lost, dtype, mark):
    """Values as the output has them, where `lost` invalid."""
    result = converted(np.where(lost, 0, values), dtype)
    result[lost] = np.nan if result.dtype.kind == "f" else mark if mark == 63 else np.iinfo(dtype).max
    return result


def write_job(kind, keys, mark, more="", dtype=None, output="o.h5"):
    word = f'"{mark}"' if isinstance(mark, str) else mark
    pathlib.Path("j.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "i.h5"\ndataset = "/d"\ninvalid = {word}\n{more}\n'
        f'[output]\nfile = "{output}"\noverwrite = true\nsync = false\n'
        + (f'dtype = "{dtype}"\n' if dtype else "")
        + f'[run]\nbackend = "{programs.backend}"\n[{kind}]\n{keys}\n')


def check(array, expected, chunk_rows):
    """The job j.toml, on one rank or on two; in a full run on both."""
    with h5py.File("i.h5", "w") as file:
        file["d"] = array
    for ranks in (1, 2) if programs.full else (1 + zlib.crc32(expected.tobytes()) % 2,):
        call("j.toml", "--quiet", "--set", f"run.chunk_rows={chunk_rows}", "--resume", "never", ranks=ranks)
        with h5py.File("o.h5") as file:
            found, fill = file["d"][()], file["d"].attrs.get("_FillValue")
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
    return fill


@pytest.mark.share(0.6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value, edge, factors", [("mean", "partial", (2, 3, 2)), ("sum", "drop", (1, 2, 3)),
                                                  ("mean", "drop", (1, 1, 1)), ("mean", "partial", (1, 5, 7))])
def test_bin(dtype, value, edge, factors):
    array, mark, lost = some((5, 13, 17), dtype)
    lost[:2, :3, :2], array[:2, :3, :2] = True, array[lost][0]  # a block of them alone
    count = [n // f if edge == "drop" else -(-n // f) for n, f in zip(array.shape, factors)]
    sums, found = np.zeros(count), np.zeros(count)
    for z, y, x in itertools.product(*map(range, count)):
        part = tuple(slice(i * f, (i + 1) * f) for i, f in zip((z, y, x), factors))
        found[z, y, x] = (~lost[part]).sum()
        sums[z, y, x] = array[part][~lost[part]].astype("f8").sum()
    values = np.divide(sums, found, out=np.zeros(count), where=found > 0) if value == "mean" else sums
    out = "float64" if value == "sum" else dtype
    write_job("bin", f'factors = {list(factors)}\nvalue = "{value}"\nedge = "{edge}"', mark)
    check(array, marked(values, found == 0, out, mark), 2 * factors[1] if factors[0] == 1 else 26)


@pytest.mark.share(0.6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size, boundary, difference", [
    ((1, 3, 3), "reflect", None), ((1, 5, 3), "wrap", 9), ((3, 3, 1), "mirror", None), ((1, 7, 9), "nearest", None),
    ((1, 1, 3), "constant", None)])
def test_median(dtype, size, boundary, difference):
    array, mark, lost = some((4, 11, 14), dtype, 1)
    margins = [(n // 2, n // 2) for n in size]
    if boundary == "constant":
        wide = np.pad(array.astype("f8"), margins, constant_values=7)
        gone = np.pad(lost, margins)
    else:
        wide = np.pad(array.astype("f8"), margins, MODES[boundary])
        gone = np.pad(lost, margins, MODES[boundary])
    values = np.zeros(array.shape)
    for at in np.ndindex(array.shape):
        part = tuple(slice(i, i + n) for i, n in zip(at, size))
        good_ones = np.sort(wide[part][~gone[part]])
        if not lost[at]:
            values[at] = good_ones[(len(good_ones) - 1) // 2]
            if difference and abs(values[at] - array[at]) <= difference:
                values[at] = array[at]
    write_job("median", f'size = {list(size)}\nboundary = "{boundary}"\nfill = 7\n'
              + (f"difference = {difference}" if difference else ""), mark)
    check(array, marked(values, lost, dtype, mark), 11 if size[0] > 1 else 4)


def filtered(array, taps, boundary, fill):
    """Along the axes from the last on; exact where the numbers are short."""
    for axis, each in zip((2, 1, 0), taps):
        margins = [(0, 0)] * 3
        margins[axis] = (len(each) // 2, len(each) // 2)
        wide = (np.pad(array, margins, constant_values=fill) if boundary == "constant"
                else np.pad(array, margins, MODES[boundary]))
        array = sum(tap * np.take(wide, range(i, i + array.shape[axis]), axis)
                    for i, tap in enumerate(each[::-1]))
    return array


@pytest.mark.share(0.6)
@pytest.mark.parametrize("dtype, out", [("uint8", "float32"), ("uint16", "uint16"), ("int16", "uint8"), ("int32", "int32"),
                                        ("float32", "float32"), ("float64", "float32"), ("float32", "uint16")])
@pytest.mark.parametrize("taps, boundary", [
    ([[.25, .5, .25], [.125, .125, .5, .125, .125]], "reflect"), ([[1, 2, 4], [0, 1, 1], [.5, .25, .25]], "mirror"),
    ([[-1, 0, 1], [.25, .5, .25]], "nearest"), ([[0, 0, 1, .5, .5], [1]], "wrap"), ([[.5, .5, 0], [.25, .5, .25]], "constant")])
def test_convolve(dtype, out, taps, boundary):
    array, mark, lost = some((3, 12, 15), dtype, 2, 0.3)
    clean = np.where(lost, 0, array).astype("f8")
    sums = filtered(clean, taps, boundary, 8)
    if all(min(each) >= 0 for each in taps):
        weights = filtered((~lost).astype("f8"), taps, boundary, 1)
        gone = lost | (weights == 0)
        compute = "f8" if dtype in ("int32", "float64") else "f4"
        values = np.divide(sums.astype(compute), weights.astype(compute), where=weights != 0,
                           out=np.zeros(sums.shape, compute))
    else:
        gone = lost | (filtered(lost.astype("f8"), [[float(t != 0) for t in each] for each in taps], boundary, 0) > 0)
        values = sums
    names = zip(("row_taps", "column_taps", "depth_taps"), taps)
    write_job("convolve", "\n".join(f"{name} = {each}" for name, each in names)
              + f'\nboundary = "{boundary}"\nfill = 8', mark, dtype=out)
    check(array, marked(values, gone, out, mark), 12 if len(taps) == 3 else 5)


def test_rescale():
    for dtype, out in itertools.product(TYPES, ["uint8", "float32"]):
        array, mark, lost = some((3, 12, 15), dtype, 3)
        array = np.where(lost, array, np.clip(array, 2, 58)).astype(dtype)
        array[0, 0, :2], lost[0, 0, :2] = (2, 58), False
        values = (array.astype("f8") - 2) * (8 / 56)
        write_job("rescale", 'from = "extremes"\nto = [0.0, 8.0]', mark, dtype=out)
        check(array, marked(np.where(lost, 0, values), lost, out, mark), 5)
        write_job("rescale", 'from = { percentiles = [0.0, 100.0] }\nto = [0.0, 8.0]', mark, dtype=out)
        check(array, marked(np.where(lost, 0, values), lost, out, mark), 5)


def test_correct():
    for dtype in TYPES:
        array, mark, lost = some((3, 12, 15), dtype, 4)
        with h5py.File("f.h5", "w") as file:
            flats = np.full((1, 12, 15), 64, "u2")
            flats[0, 3, 4] = 0
            file["flat"] = flats
        write_job("correct", 'dark = 0.0\nflat = { file = "f.h5", dataset = "/flat" }\ndead = "invalid"', mark)
        gone = lost.copy()
        gone[:, 3, 4] = True
        check(array, marked(array.astype("f8") / 64, gone, "float32", mark), 5)


FIELDS = {"mean": np.nanmean, "median": np.nanmedian, "none": lambda images, axis: images[0]}


@pytest.mark.parametrize("reduce", FIELDS)
@pytest.mark.parametrize("said", ["job", "file", "none"])
def test_fields_leave_them_out(reduce, said):
    """Of flat frames, by the number that the job says of all that it reads, or that their own dataset declares."""
    random = np.random.default_rng(7)
    array, lost = random.integers(100, 200, (3, 9, 11)).astype("u2"), None
    flats = random.integers(300, 500, (1 if reduce == "none" else 4, 9, 11)).astype("u2")
    lost = random.random(flats.shape) < 0.4
    lost[:, 2, 3] = True
    flats[lost] = 65000
    pathlib.Path("j.toml").write_text(
        f'kind = "correct"\n[input]\nfile = "i.h5"\ndataset = "/d"\n'
        + {"job": "invalid = 65000", "file": "", "none": 'invalid = "none"'}[said]
        + f'\n[output]\nfile = "o.h5"\n[run]\nbackend = "{programs.backend}"\n'
        f'[correct]\ndark = 20\nflat = {{ dataset = "/flats", reduce = "{reduce}" }}\ndead = 3.5\n')
    with h5py.File("i.h5", "w") as file:
        file["d"], file["flats"] = array, flats
        if said != "job":
            file["flats"].attrs["_FillValue"] = np.uint16(65000)
    done = call("j.toml", "--quiet", "--report", "r.json", ranks=2)
    assert done.stderr == ""
    values = flats.astype("f8")
    if said != "none":
        values[lost] = np.nan
    values[:, 2, 3] = values[0, 2, 3]  # numpy warns of means of nothing
    image = FIELDS[reduce](np.nan_to_num(values, nan=0) if reduce == "none" else
                           np.where(np.isnan(values).all(0), 0, values), axis=0).astype("f4")
    with np.errstate(all="ignore"):
        wanted = (array.astype("f4") - np.float32(20)) / (image - np.float32(20))
    dead = ~(image - np.float32(20) > 0)
    wanted[:, dead] = 3.5
    with h5py.File("o.h5") as file:
        np.testing.assert_array_equal(file["d"][()], wanted)
    assert json.loads(pathlib.Path("r.json").read_text())["counts"]["dead_values"] == 3 * dead.sum()


def around(array, lost, at, reach, method):
    """By the distance, and of several at one by the place; or of the smallest cube."""
    found = []
    for d in itertools.product(*(range(-r, r + 1) for r in reach)):
        place = tuple(np.add(at, d))
        if all(0 <= i < n for i, n in zip(place, array.shape)) and not lost[place]:
            cube, away = max(map(abs, d)), sum(i * i for i in d)
            found.append((cube if method == "mean" else away, place, float(array[place])))
    if not found:
        return None
    found.sort()
    if method == "mean":
        values = [value for cube, _, value in found if cube == found[0][0]]
        return sum(values) / len(values)
    return found[0][2]


@pytest.mark.share(0.6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("method, reach, rest", [("nearest", (0, 2, 2), None), ("mean", (0, 1, 3), 5), ("nearest", (2, 1, 0), None),
                                                 ("mean", (1, 2, 2), None), ("number", None, None)])
def test_fill(dtype, method, reach, rest):
    array, mark, lost = some((4, 11, 14), dtype, 5, 0.75)
    values, gone, left = array.astype("f8"), np.zeros(array.shape, bool), 0
    for at in zip(*np.nonzero(lost)):
        value = 7 if method == "number" else around(array, lost, at, reach, method)
        left += value is None
        gone[at] = value is None and rest is None
        values[at] = value if value is not None else rest or 0
    write_job("fill", f'method = "{method}"\n' + ("value = 7" if method == "number" else f"reach = {list(reach)}\n")
              + (f"rest = {rest}" if rest else ""), mark)
    fill = check(array, marked(values, gone, dtype, mark), 11 if reach and reach[0] else 3)
    assert (fill is None) == (method == "number" or rest is not None)
    call("j.toml", "--quiet", "--report", "r.json", "--resume", "never")
    counts = json.loads(pathlib.Path("r.json").read_text())["counts"]
    assert counts == {"filled_values": int(lost.sum()) - left, "left_values": left}


def test_fill_of_colour():
    array, mark, lost = some((9, 13, 3), "uint8", 6, 0.4)
    values = array.astype("f8")
    for at in zip(*np.nonzero(lost)):
        values[at] = around(array, lost, at, (5, 5, 0), "nearest")
    write_job("fill", "reach = [5, 5]", mark, "colour = true")
    check(array, marked(values, np.zeros(array.shape, bool), "uint8", mark), 26)


def test_transpose_keeps_them():
    array, mark, _ = some((4, 11, 14), "int16", 7)
    write_job("transpose", "permutation = [1, 2, 0]", mark)
    assert check(array, array.transpose(1, 2, 0).copy(), 3) == mark


@pytest.mark.parametrize("declared", ["_FillValue", "missing_value"])
def test_what_the_file_declares_is_heeded(declared):
    """By default. The output declares its own, so that the next job heeds it too."""
    array, _, lost = some((4, 11, 14), "int16", 8)
    with h5py.File("i.h5", "w") as file:
        file.create_dataset("d", data=array).attrs[declared] = np.array([63], "i2")
    write_job("bin", "factors = [1, 1]", "file", dtype="float32")
    good("j.toml", "--quiet")
    with h5py.File("o.h5") as file:
        np.testing.assert_array_equal(file["d"][()], np.where(lost, np.nan, array).astype("f4"))
        assert np.isnan(file["d"].attrs["_FillValue"]) and "missing_value" not in file["d"].attrs
    write_job("bin", "factors = [1, 1]", "none")
    good("j.toml", "--quiet")
    with h5py.File("o.h5") as file:
        np.testing.assert_array_equal(file["d"][()], array)


def test_an_output_of_one_declaration_is_not_the_others():
    array, mark, _ = some((4, 11, 14), "int16", 8)
    with h5py.File("i.h5", "w") as file:
        file["d"] = array
    write_job("bin", "factors = [2, 2]", mark)
    good("j.toml", "--quiet")
    text = pathlib.Path("j.toml").read_text()
    pathlib.Path("j.toml").write_text(text.replace("overwrite = true", "overwrite = false").replace("63", "62"))
    bad(4, ["o.h5"], "j.toml", "--quiet")


def test_a_chain_passes_them_on():
    """Over two passes, as `extremes` must see the whole; and after a fill any kind follows."""
    array, mark, lost = some((4, 11, 14), "uint16", 9)
    with h5py.File("i.h5", "w") as file:
        file["d"] = array
    text = ('[input]\nfile = "i.h5"\ndataset = "/d"\ninvalid = 63\n[output]\nfile = "o.h5"\noverwrite = true\n'
            f'sync = false\n[run]\nbackend = "{programs.backend}"\n[[step]]\nkind = "bin"\nfactors = [1, 1]\n'
            'dtype = "float32"\n[[step]]\nkind = "rescale"\nfrom = "extremes"\nto = [0.0, 1.0]\n')
    pathlib.Path("j.toml").write_text(text)
    good("j.toml", "--quiet")
    values = np.where(lost, np.nan, array).astype("f8")
    low, high = np.nanmin(values), np.nanmax(values)
    with h5py.File("o.h5") as file:
        np.testing.assert_allclose(file["d"][()], (values - low) / (high - low), rtol=1e-6)
        np.testing.assert_array_equal(np.isnan(file["d"][()]), lost)
    sand = '[[step]]\nkind = "sand"\ngenerations = 1\n'
    pathlib.Path("j.toml").write_text(text + sand)
    bad(2, ["sand does not take invalid elements", "fill"], "j.toml", "--quiet")
    pathlib.Path("j.toml").write_text(text + '[[step]]\nkind = "fill"\nreach = [1, 1]\n' + sand)
    bad(2, ["sand does not take invalid elements", "rest"], "j.toml", "--quiet")
    denoise = '[[step]]\nkind = "denoise"\npatch = [1, 2, 2]\nwindow = [1, 3, 3]\nsigma = 3.0\n'
    pathlib.Path("j.toml").write_text(text + denoise)
    good("j.toml", "--quiet")
    with h5py.File("o.h5") as file:
        np.testing.assert_array_equal(np.isnan(file["d"][()]), lost)
    pathlib.Path("j.toml").write_text(text + '[[step]]\nkind = "fill"\nrest = 0.5\n' + denoise)
    good("j.toml", "--quiet")
    with h5py.File("o.h5") as file:
        assert np.isfinite(file["d"][()]).all()


def test_what_is_refused():
    with h5py.File("i.h5", "w") as file:
        file["d"] = np.ones((4, 8, 8), "uint8")
    for kind, keys, mark, code, words in [
            ("bin", "factors = [2, 2]", 256, 2, ["input.invalid", "uint8"]),
            ("bin", "factors = [2, 2]", 1.5, 2, ["input.invalid", "uint8"]),
            ("bin", "factors = [2, 2]", "nan", 2, ["input.invalid", "uint8"]),
            ("sand", "generations = 1", 0, 2, ["sand does not take invalid elements", "kind fill"]),
            ("fill", "", "file", 3, ["nothing is there to fill", "input.invalid"]),
            ("fill", "", "none", 3, ["nothing is there to fill"])]:
        write_job(kind, keys, mark)
        bad(code, words, "j.toml", "--quiet")
    write_job("fill", "reach = [1, 65]", 3)
    text = pathlib.Path("j.toml").read_text()
    for line, key in [("invalid = 3", "fill.reach: expected"), ("invalid = true", "input.invalid: expected"),
                      ("invalid = [1]", "input.invalid: expected"), ('invalid = "all"', "input.invalid: unknown")]:
        pathlib.Path("j.toml").write_text(text.replace("invalid = 3", line))
        done = attempt("j.toml", "--quiet")
        assert done.returncode == 2 and key in done.stderr, done


@pytest.mark.parametrize("kind, keys, key, others", [
    ("fill", "value = 0", "fill.value", 'method = "number"'), ("fill", 'method = "number"\nreach = [2, 2]', "fill.reach", 'method = "nearest"'),
    ("fill", 'method = "number"\nrest = 1', "fill.rest", 'method = "nearest"'),
    ("phase", "pixel_size = 1e-6\ndistance = 1\nenergy = 20\ndelta_beta = 100\nnegative_log = false\nfloor = 0.1", "phase.floor", "negative_log = true"),
    ("stripes", "snr = 3", "stripes.snr", 'method = "large"'), ("stripes", 'method = "dead"\nsmall = 9', "stripes.small", 'method = "all"')])
def test_keys_without_effect(kind, keys, key, others):
    """A key that the other keys leave without an effect is an error that says what it goes with."""
    np.save("i.npy", np.ones((4, 8, 8), "float32"))
    pathlib.Path("j.toml").write_text(f'kind = "{kind}"\n[input]\nfile = "i.npy"\n[output]\nfile = "o.h5"\n[{kind}]\n{keys}\n')
    done = attempt("j.toml", "--quiet")
    assert done.returncode == 2 and f"{key}: has an effect only with {others}" in done.stderr, done
    assert f"leave {key.split('.')[1]} out" in done.stderr and done.stderr.count("\n") == 2, done


def test_order_of_all_candidates():
    """So is the order of matches where all candidates are taken."""
    np.save("i.npy", np.ones((4, 8, 8), "float32"))
    pathlib.Path("j.toml").write_text('kind = "denoise"\n[input]\nfile = "i.npy"\n[output]\nfile = "o.h5"\n'
                                      '[denoise]\nmethod = "nlm"\ncount = "all"\norder = "descending"\n')
    done = attempt("j.toml", "--quiet")
    assert done.returncode == 2 and 'denoise.order: count = "all" takes every candidate' in done.stderr, done


@pytest.mark.parametrize("kind, keys", [("median", "size = [3, 3]"), ("bin", "factors = [1, 1]"),
                                        ("convolve", "row_taps = [1.0]\ncolumn_taps = [1.0]"),
                                        ("rescale", "from = [0, 60]\nto = [0, 60]")])
def test_the_number_of_floats_becomes_nan(kind, keys):
    """What the output declares is what its invalid elements are."""
    array = np.arange(1, 31, dtype="float32").reshape(5, 6)
    array[2, 3] = -9.5
    write_job(kind, keys, -9.5)
    with h5py.File("i.h5", "w") as file:
        file["d"] = array
    call("j.toml", "--quiet")
    with h5py.File("o.h5") as file:
        assert np.isnan(file["d"].attrs["_FillValue"]) and np.isnan(file["d"][2, 3])
        assert np.isnan(file["d"][()]).sum() == 1


@pytest.mark.parametrize("keys, dtype, number", [
    ('from = "extremes"', "uint8", 255), ("from = [0, 60]", "int16", 63), ("from = [0, 60]\nto = [70, 63]", "uint8", None),
    ("from = [0, 60]\nto = [0, 62]", "uint8", None), ('from = "extremes"', "float32", None)])
def test_rescale_warns_of_values_that_count_as_invalid(keys, dtype, number):
    """Of integers, valid elements may become the number that the invalid ones are."""
    array = np.arange(60, dtype="uint16").reshape(6, 10)
    mark = 63 if number in (63, None) else 999
    array[2, 3] = mark
    with h5py.File("i.h5", "w") as file:
        file["d"] = array
    number = 63 if "[70, 63]" in keys else number
    write_job("rescale", keys, mark, dtype=dtype)
    text = call("j.toml", "--quiet").stderr
    assert text.count("may become what invalid ones are (i.h5:/d)") == (number is not None), text
    assert number is None or f"these are {number} in the output" in text, text


def test_a_fill_that_leaves_some_is_named():
    """Also where the file alone says which elements are invalid."""
    with h5py.File("i.h5", "w") as file:
        file["d"] = np.full((4, 8, 9), 7, "uint16")
        file["d"].attrs["_FillValue"] = np.uint16(7)
    job = '[input]\nfile = "i.h5"\n[output]\nfile = "o.h5"\n[[step]]\nkind = "fill"\n{}\n[[step]]\nkind = "stripes"\n'
    pathlib.Path("j.toml").write_text(job.format(""))
    bad(2, ["stripes does not take invalid elements", "step 2", "rest = a number"], "j.toml", "--quiet")
    pathlib.Path("j.toml").write_text(job.format("rest = 5"))
    assert not call("j.toml", "--quiet").stderr
    with h5py.File("o.h5") as file:
        assert np.all(file["d"][()] == 5)
    pathlib.Path("j.toml").write_text(job.format("rest = 5").replace('"fill"\nrest = 5', '"median"\nsize = [3, 3]'))
    text = call("j.toml", "--quiet", "--set", "output.overwrite=true").stderr
    assert "_FillValue = 7; step 2, stripes, takes them as values, the steps before it do not" in text, text


@pytest.mark.parametrize("passes", ["", 'save = "saved.h5"\n'])
def test_steps_heed_what_a_later_one_does_not(passes):
    """The pipeline makes what its steps make one after the other, where the file alone says what is invalid."""
    array = np.random.default_rng(4).integers(1, 900, (2, 40, 30)).astype("uint16")
    array[0, 3:6, 4:9] = array[1, :, 7] = 999
    with h5py.File("i.h5", "w") as file:
        file["d"] = array
        file["d"].attrs["_FillValue"] = np.uint16(999)
    steps = [f'kind = "median"\nsize = [3, 3]\n{passes}', 'kind = "stripes"\nsize = 5\n', 'kind = "bin"\nfactors = [2, 2]\n']
    pathlib.Path("j.toml").write_text('[input]\nfile = "i.h5"\ndataset = "/d"\n[output]\nfile = "o.h5"\n[[step]]\n' + "[[step]]\n".join(steps))
    text = call("j.toml", "--quiet").stderr
    assert text.count("warning") == 1 and "_FillValue = 999; step 2, stripes, takes them as values" in text, text
    call("median", "i.h5", "1.h5", "--size", "3,3", "--quiet")
    assert "_FillValue = 999; stripes takes them as values" in call("stripes", "1.h5", "2.h5", "--size", "5", "--quiet").stderr
    call("bin", "2.h5", "3.h5", "--factors", "2,2", "--quiet")
    with h5py.File("o.h5") as found, h5py.File("3.h5") as wanted:
        assert np.array_equal(found["d"], wanted["d"]) and "_FillValue" not in found["d"].attrs
    with h5py.File("i.h5", "w") as file:  # of a mask no step makes a number that the later one takes
        file["d"] = array
        file["pixel_mask"] = (array[0] == 999).astype("uint32")
    text = call("j.toml", "--quiet", "--set", "output.overwrite=true").stderr
    assert "pixel_mask = /pixel_mask; step 2, stripes, takes no invalid elements, so that every step takes" in text, text
    pathlib.Path("3.h5").replace("4.h5")
    call("j.toml", "--quiet", "--set", "output.overwrite=true", "--set", 'output.file="3.h5"', "--set", 'input.invalid="none"',
         *(["--set", "step.1.save=s.h5"] if passes else []))
    with h5py.File("o.h5") as found, h5py.File("3.h5") as wanted:
        assert np.array_equal(found["d"], wanted["d"])
    bad(2, ["stripes does not take invalid elements", "step 2", "kind fill"], "j.toml", "--set", "input.invalid=999",
        "--set", "output.overwrite=true")
