"""Denoising and matching volumes with invalid elements, against numpy."""
import pathlib
import zlib

import h5py
import numpy as np
import pytest

import denoise_rule as rule
from denoise_runs import LISTS, same, toml
from harness import attempt, call, good, programs
from kind_rules import converted

pytestmark = pytest.mark.quick
METHODS = {"nlm": {"method": "nlm", "patch": [2, 3, 3], "window": [3, 5, 5], "count": 6},
           "all": {"method": "nlm", "patch": [2, 2, 3], "window": [3, 3, 5], "count": "all"},
           "bm4d": {"method": "bm4d", "patch": [2, 4, 2], "window": [3, 5, 3], "count": 8, "step": 2}}
SHAPE = (9, 14, 17)


def masks():
    """Masks for a volume, by name."""
    random = np.random.default_rng(3)
    none = np.zeros(SHAPE, bool)
    plane, gap, one = none.copy(), none.copy(), ~none
    plane[4], plane[2, 3] = True, True
    gap[:, 3:10, 2:15] = True
    one[5, 6, 7] = one[0, 6, 7] = False
    return {"none": none, "one in a hundred": random.random(SHAPE) < 0.01, "a third": random.random(SHAPE) < 0.34,
            "a plane": plane, "a gap": gap, "all but one": one, "all": ~none}


def volume(dtype, lost):
    """Blocks with noise; and what its invalid elements are in the job file."""
    array = np.zeros(SHAPE)
    array[:, 4:10, 5:12] = 100
    array = np.rint(array + 60 + np.random.default_rng(4).normal(0, 5, SHAPE)).astype(dtype)
    mark = {"float32": np.nan, "float64": -9.5, "uint8": 250, "int16": -3}.get(dtype, 65535)
    array[lost] = mark
    return array, "nan" if np.isnan(mark) else mark


def marked(values, lost, mark):
    """Values as the output has them, where `lost` invalid."""
    values = values.copy()
    values[lost] = np.nan if values.dtype.kind == "f" else mark
    return values


def filled(array, lost, axes):
    """As float32, each lost element by the mean of the valid ones in the least cube, along `axes`,
    that has any."""
    made = array.astype("f4")
    for at in zip(*np.nonzero(lost)):
        for radius in range(1, max(array.shape)):
            box = tuple(slice(max(0, i - radius), i + radius + 1) if axis in axes else slice(i, i + 1)
                        for axis, i in enumerate(at))
            there = array[box][~lost[box]].astype("f4").tolist()
            if there:
                made[at] = sum(there) / len(there)
                break
        else:
            made[at] = 0
    return made


def write_job(kind, keys, invalid, run="", dtype=None):
    lines = "\n".join(f"{key} = {toml(value)}" for key, value in keys.items())
    word = invalid if str(invalid).startswith("{") else toml(invalid)
    pathlib.Path("j.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "i.h5"\ndataset = "/d"\ninvalid = {word}\n'
        '[output]\nfile = "o.h5"\noverwrite = true\nsync = false\n' + (f'dtype = "{dtype}"\n' if dtype else "")
        + f'[run]\nbackend = "{programs.backend}"\n{run}\n[{kind}]\n{lines}\n')


def write_input(array):
    with h5py.File("i.h5", "w") as file:
        file["d"] = array


def noise(array, lost):
    """The median of the diagonal differences of cubes without a lost voxel that are not constant."""
    side = [min(n, 2) for n in array.shape]
    signs = np.indices(side).sum(0) % 2 * -2.0 + 1
    found = []
    for at in np.ndindex(*(n // s for n, s in zip(array.shape, side))):
        box = tuple(slice(i * s, i * s + s) for i, s in zip(at, side))
        cube = array[box].astype("f8")
        if not lost[box].any() and (cube != cube.flat[0]).any():
            found.append(abs((cube * signs).sum()) / np.sqrt(signs.size))
    return np.median(found) / 0.6745 if found else 0


def run(names, *options, ranks=1):
    call("j.toml", "--quiet", "--resume", "never", *options, ranks=ranks)
    with h5py.File("o.h5") as file:
        return [file[name][()] for name in names] + [file.attrs.get("sigma")]


def check_denoise(keys, array, lost, invalid, axes=(0, 1, 2), dtype=None):
    """As the method makes of the filled volume, on any number of ranks and in any chunks."""
    write_job("denoise", keys, "none")
    write_input(filled(array, lost, axes))
    right = marked(converted(run(["d"])[0], dtype or "float32"), lost, invalid)
    write_input(array)
    rows, first = array.shape[-2], None
    ways = [(1, ""), (2, f"chunk_rows = {2 * rows}"), (3, f"chunk_rows = {rows}\nlanes = 1")]
    for ranks, more in ways if programs.full else [ways[zlib.crc32(right.tobytes()) % 3]]:
        write_job("denoise", keys, invalid, more, dtype)
        found = run(["d"], ranks=ranks)[0]
        assert found.dtype == right.dtype
        first = found if first is None else first
        np.testing.assert_array_equal(found, first, f"{ranks} ranks, {more}")
    if array.dtype in ("uint8", "uint16"):  # which are matched in their own unit
        np.testing.assert_allclose(first, right, rtol=0, atol=1e-3 if right.dtype.kind == "f" else 1)
    else:
        np.testing.assert_array_equal(first, right)


@pytest.mark.share(0.15)
@pytest.mark.parametrize("mask", masks())
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "uint16", "float64"])
def test_denoise(mask, method, dtype):
    lost = masks()[mask]
    array, invalid = volume(dtype, lost)
    check_denoise({**METHODS[method], "sigma": 5.0}, array, lost, invalid)


@pytest.mark.parametrize("dtype", ["float32", "uint16"])
def test_chunks_of_any_size(dtype):
    """Invalid elements in the halo of a chunk are filled by the same values that another chunk fills there."""
    shape, random = (19, 6, 7), np.random.default_rng(8)
    array = np.rint(random.normal(100, 5, shape)).astype(dtype)
    lost = random.random(shape) < 0.3
    lost[5:10], lost[[2, 12, 16]] = True, random.random((3, *shape[1:])) < 0.9  # along the borders of chunks
    array[lost] = np.nan if dtype == "float32" else 65535
    write_input(array)
    made = []
    for layers in range(1, 8):
        write_job("denoise", {**METHODS["bm4d"], "patch": [3, 2, 2], "sigma": "auto"}, "nan" if dtype == "float32" else 65535,
                  f"chunk_rows = {layers * shape[1]}\nlanes = {1 + layers % 3}")
        made.append(run(["d"], ranks=1 + (layers == 3))[0].tobytes())
        assert made[-1] == made[0], layers


@pytest.mark.share(0.2)
@pytest.mark.parametrize("mask", masks())
@pytest.mark.parametrize("method", METHODS)
def test_noise_is_that_of_the_valid(mask, method):
    """And the noise of the filled volume is not."""
    for dtype in ("float32", "int16"):
        lost = masks()[mask]
        array, invalid = volume(dtype, lost)
        write_input(array)
        write_job("denoise", METHODS[method], invalid)
        found, sigma = run(["d"], ranks=2)
        np.testing.assert_allclose(sigma, noise(array, lost), rtol=1e-6)
        if sigma > 0:
            check_denoise({**METHODS[method], "sigma": float(sigma)}, array, lost, invalid)
            np.testing.assert_array_equal(run(["d"])[0], found)
        else:
            assert np.array_equal(np.isnan(found), lost)


@pytest.mark.share(0.35)
@pytest.mark.parametrize("method", METHODS)
def test_outputs_of_the_input_s_type(method):
    for dtype in ("uint8", "int16", "float64"):
        lost = masks()["a third"]
        array, invalid = volume(dtype, lost)
        check_denoise({**METHODS[method], "sigma": 5.0}, array, lost, invalid, dtype=dtype)
        with h5py.File("o.h5") as file:
            declared = file["d"].attrs["_FillValue"]
        assert np.isnan(declared) if dtype == "float64" else declared == invalid


@pytest.mark.share(0.35)
@pytest.mark.parametrize("method", METHODS)
def test_images_and_layers_that_are_images(method):
    """Voxels of other layers fill nothing in an image, nor in a volume whose layers do not meet."""
    keys = {**METHODS[method], "sigma": 5.0}
    keys.update(step=1) if method == "bm4d" else None
    keys["patch"], keys["window"] = [1, *keys["patch"][1:]], [1, *keys["window"][1:]]
    for mask in ("a third", "a plane", "a gap"):
        lost = masks()[mask]
        array, invalid = volume("float32", lost)
        check_denoise(keys, array, lost, invalid, axes=(1, 2))
        write_job("denoise", keys, "none")
        write_input(filled(array[2:3], lost[2:3], (1, 2))[0])
        right = marked(run(["d"])[0], lost[2], invalid)
        write_input(array[2])
        write_job("denoise", keys, invalid)
        np.testing.assert_array_equal(run(["d"], ranks=2)[0], right)


@pytest.mark.share(0.5)
@pytest.mark.parametrize("method", ["nlm", "bm4d"])
def test_far_and_flat_windows(method):
    """Cubes grow along each axis as far as the window reaches along the longest."""
    keys = {"method": method, "patch": [1, 2, 2], "window": [3, 11, 3], "count": 4, "step": 1, "sigma": 5.0}
    lost = masks()["a gap"]
    lost[3:6] = True
    array, invalid = volume("uint16", lost)
    check_denoise(keys, array, lost, invalid)


@pytest.mark.share(0.35)
@pytest.mark.parametrize("method", METHODS)
def test_counts_are_stabilised(method):
    lost = masks()["a third"]
    array, invalid = volume("uint16", lost)
    check_denoise({**METHODS[method], "stabilise": "anscombe"}, array, lost, invalid)


def test_float_of_a_number():
    """NaN is invalid beside it, infinity is not."""
    lost = masks()["one in a hundred"]
    array, _ = volume("float32", lost)
    lost[1, 2, 3] = True
    array[lost] = -1e30
    array[1, 2, 3] = np.nan
    check_denoise({**METHODS["bm4d"], "sigma": 5.0}, array, lost, -1e30)
    assert not np.isnan(run(["d"])[0][~lost]).any()
    array[4, 5, 6] = np.inf
    write_input(array)
    error = call("j.toml", "--quiet", "--resume", "never", code=3).stderr
    assert "i.h5:/d, voxel [4, 5, 6]" in error and "it is inf" in error, error


def test_a_mask_of_the_file_and_a_chain():
    """A mask beside the input; after a step, across passes, and before one."""
    lost = np.broadcast_to(masks()["a third"][0], SHAPE)
    array, _ = volume("uint16", np.zeros(SHAPE, bool))
    keys = {**METHODS["nlm"], "sigma": 5.0}
    write_job("denoise", keys, "none")
    write_input(filled(array, lost, (0, 1, 2)))
    right = marked(run(["d"])[0], lost, None)
    array = array.astype("int32")
    with h5py.File("i.h5", "w") as file:
        file["d"], file["mask"] = array, lost[0]
    write_job("denoise", keys, '{ dataset = "/mask" }')
    job = pathlib.Path("j.toml").read_text()
    np.testing.assert_array_equal(run(["d"], ranks=2)[0], right)
    head, table = job.split("[denoise]")
    steps = ('[[step]]\nkind = "bin"\nfactors = [1, 1]\ndtype = "float32"\n[[step]]\nkind = "denoise"' + table
             + '[[step]]\nkind = "bin"\nfactors = [1, 1]\n')
    pathlib.Path("j.toml").write_text(head.replace('kind = "denoise"', "", 1) + steps)
    np.testing.assert_array_equal(run(["d"], ranks=2)[0], right)
    good("verify", "o.h5", "--sample", "3")


@pytest.mark.share(0.35)
@pytest.mark.parametrize("method", METHODS)
def test_a_chain_in_one_pass(method):
    """Between two other steps that stream, where the halo of the fill is one more of the chain's."""
    lost = masks()["a third"] | masks()["a plane"]
    array, invalid = volume("uint16", lost)
    write_input(array)
    keys = {**METHODS[method], "sigma": 5.0}
    write_job("denoise", keys, invalid)
    right = run(["d"])[0]
    for ranks, more in [(1, ""), (3, f"chunk_rows = {array.shape[1]}")]:
        write_job("denoise", keys, invalid, more)
        head, table = pathlib.Path("j.toml").read_text().replace('kind = "denoise"', "", 1).split("[denoise]")
        same_values = '[[step]]\nkind = "bin"\nfactors = [1, 1]\n'
        pathlib.Path("j.toml").write_text(head + same_values + '[[step]]\nkind = "denoise"' + table + same_values)
        assert "pass 2" not in call("plan", "j.toml", "--device-memory", "8GiB").stdout
        np.testing.assert_array_equal(run(["d"], ranks=ranks)[0], right)


def test_what_the_notes_say():
    """The voxels of cubes with an invalid one are not counted, and a warning says what the others are."""
    array, lost = np.random.default_rng(5).normal(0, 3, (4, 8, 8)).astype("f4"), np.zeros((4, 8, 8), bool)
    lost[1, 3, 3:5] = True
    array[lost] = np.nan
    write_input(array)
    write_job("denoise", METHODS["nlm"], "nan")
    text = attempt("j.toml", "--resume", "never")
    assert "from 240 of 256 voxels" in text.stdout + text.stderr, text
    array[:3], lost[:3] = np.nan, True
    write_input(array)
    text = call("j.toml", "--resume", "never").stderr
    assert "the noise found is 0" in text and "the others are invalid, beside such, or in regions" in text, text


def check_match(keys, array, lost, invalid):
    """As numpy makes of the volume with NaN; and by counting, no list is or has a patch with a lost voxel."""
    shape = array.shape if array.ndim == 3 else (1, *array.shape)
    volume = np.where(lost, np.nan, array).astype("f4").reshape(shape)
    with np.errstate(invalid="ignore"):
        right = rule.match(volume, **{key: value for key, value in keys.items() if key != "selection"})
    whole = ~np.lib.stride_tricks.sliding_window_view(lost.reshape(shape), keys["patch"]).any((3, 4, 5))
    found = right[0][right[0] != rule.NONE].astype("i8")
    assert whole[np.unravel_index(found, shape)].all()
    corners = np.ix_(*(rule.corners(n, p, keys["step"]) for n, p in zip(shape, keys["patch"])))
    np.testing.assert_array_equal(right[2] > 0, whole[corners].ravel())
    write_input(array)
    rows = array.shape[-2]
    for ranks, more in [(1, ""), (2, f"chunk_rows = {2 * rows}"), (3, f"chunk_rows = {rows}\nlanes = 1")]:
        write_job("match", keys, invalid, more)
        assert same(run(LISTS, ranks=ranks)[:3], right), (ranks, more)


@pytest.mark.share(0.2)
@pytest.mark.parametrize("mask", masks())
@pytest.mark.parametrize("keys", [
    {"patch": (3, 3, 3), "window": (5, 5, 7), "count": 7, "step": 1},
    {"patch": (2, 3, 1), "window": (3, 7, 5), "count": 40, "step": 2, "order": "descending"},
    {"patch": (4, 4, 4), "window": (11, 11, 11), "count": 16, "step": 3, "threshold": 4000.0},
    {"patch": (2, 2, 2), "window": (3, 3, 3), "count": 5, "step": 1, "selection": "serial"}], ids=str)
def test_match(mask, keys):
    for dtype in ("float32", "uint16", "uint8"):
        lost = masks()[mask]
        array, invalid = volume(dtype, lost)
        check_match(keys, array, lost, invalid)


def test_match_of_an_image_with_a_mask():
    """And infinity is no value that it takes."""
    lost = masks()["a third"][0]
    array, _ = volume("float32", masks()["none"])
    keys = {"patch": (1, 3, 3), "window": (1, 7, 7), "count": 9, "step": 1}
    with h5py.File("mask.h5", "w") as file:
        file["mask"] = lost
    check_match(keys, array[0], lost, '{ file = "mask.h5", dataset = "/mask" }')
    array[0][~lost] = np.inf
    write_input(array[0])
    error = call("j.toml", "--quiet", "--resume", "never", code=3).stderr
    assert "is not a finite number" in error and "it is inf" in error, error


def test_match_ends_a_chain():
    """Behind a step that keeps them."""
    lost = masks()["one in a hundred"]
    array, invalid = volume("uint16", lost)
    keys = {"patch": (2, 2, 2), "window": (3, 3, 3), "count": 5, "step": 1}
    check_match(keys, array, lost, invalid)
    with h5py.File("o.h5") as file:
        right = [file[name][()] for name in LISTS]
    job = pathlib.Path("j.toml").read_text()
    head, table = job.replace('kind = "match"', "", 1).split("[match]")
    pathlib.Path("j.toml").write_text(
        head + '[[step]]\nkind = "bin"\nfactors = [1, 1]\ndtype = "float32"\n[[step]]\nkind = "match"' + table)
    assert same(run(LISTS, ranks=2)[:3], right)
    good("verify", "o.h5", "--sample", "3")
