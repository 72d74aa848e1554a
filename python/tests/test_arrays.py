"""Arrays in and out: equal to the byte to the same job from files, and to numpy and scipy."""
import doctest
import inspect
import itertools
import os
import pathlib
import subprocess
import sys
import warnings

import h5py
import numpy as np
import pytest
import scipy.ndimage

import runner
from runner import _job_text
from runner.jobs import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANDOM = np.random.default_rng(20)


def from_file(folder, kind, x, parameters, dtype=None, dataset="/result"):
    """The same job by the program, from a file to a file."""
    with h5py.File(folder / "array.h5", "w") as file:
        file["array"] = x
    text = _job_text.job_text(kind, parameters, {"backend": "cpu"}, dtype)
    (folder / "job.toml").write_text(text)
    done = subprocess.run([program(), "job.toml", "--quiet"], cwd=folder, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    with h5py.File(folder / "result.h5") as file:
        return file[dataset][...]


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def noise(shape, dtype="float32"):
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return RANDOM.standard_normal(shape).astype(kind)
    return RANDOM.integers(0, np.iinfo(kind).max, shape, dtype=kind, endpoint=True)


CASES = [
    ("convolve", (37, 101), "float32", {"row_taps": [0.25, 0.5, 0.25], "column_taps": [1.0]}, None),
    ("convolve", (3, 29, 1), "float64",
     {"row_taps": {"gaussian": {"sigma": 2.0}}, "column_taps": [0.5, 0.5, 0.0],
      "boundary": "wrap"}, None),
    ("convolve", (41, 43), "uint8", {"row_taps": [0.2] * 5, "column_taps": [0.2] * 5}, "float32"),
    ("convolve", (20, 31), "float16", {"row_taps": [1.0], "column_taps": [0.5, 0.25, 0.25]}, None),
    ("convolve", (9, 13, 21), "int16",
     {"row_taps": [0.5, 0.5, 0.0], "column_taps": [1.0], "depth_taps": {"gaussian": {"sigma": 0.6}},
      "boundary": "mirror"}, None),
    ("convolve", (5, 7, 9), "uint32",
     {"row_taps": [1.0], "column_taps": [1.0], "depth_taps": [0.5, 0.25, 0.25]}, "int64"),
    ("convolve", (9, 13, 21), "int16", {"sigma": [0.6, 1.0, 2.0]}, "float32"),
    ("median", (5, 17, 19), "uint16", {"size": [3, 3, 3]}, None),
    ("median", (23, 31), "float32", {"size": [5, 5], "difference": 0.5}, None),
    ("phase", (3, 21, 34), "float32", {"energy": 25.0, "distance": 0.5, "pixel_size": 2.0, "delta_beta": 100.0},
     None),
    ("reduce", (9, 21, 13), "uint16", {"operation": "mean", "over": ["z"]}, None),
    ("reduce", (4, 21, 13), "float32", {"operation": "percentiles", "over": "frame", "percentiles": [1, 50]}, None),
    ("stitch", (8, 21, 13), "float32", {"overlap": 5, "side": "left"}, None),
    ("stitch", (7, 13), "uint16", {"overlap": 4, "side": "right", "order": "sinograms"}, "float32"),
    ("stripes", (5, 41, 19), "float32", {"size": 5}, None),
    ("stripes", (2, 41, 31), "uint16", {"method": "all", "size": 9, "snr": 1.5}, None),
    ("rescale", (11, 13), "float32", {"from": "extremes"}, "uint16"),
    ("rescale", (101, 7), "uint16", {"from": {"percentiles": [1, 99]}}, "uint8"),
    ("bin", (7, 20, 21), "uint16", {"factors": [2, 3, 4], "edge": "partial"}, None),
    ("denoise", (9, 30, 31), "float32", {"method": "nlm", "sigma": "auto"}, None),
    ("denoise", (9, 20, 21), "float32", {"method": "bm4d", "sigma": 1.0}, None),
    ("denoise", (9, 20, 21), "uint8", {"count": "all", "sigma": 9.0}, None),
    ("sand", (31, 45), "uint8", {"generations": 40, "snapshot_every": 7, "seed": 3}, None),
    ("transpose", (5, 7, 11), "uint16", {"permutation": [2, 0, 1]}, None),
    ("transpose", (7, 11), "uint16", {"permutation": [1, 0]}, None),
    ("correct", (5, 9, 11), "uint16", {"dark": 7, "flat": 900.5, "negative_log": True}, None),
]


@pytest.mark.parametrize("kind, shape, dtype, parameters, out", CASES,
                         ids=[f"{c[0]}-{c[2]}-{i}" for i, c in enumerate(CASES)])
def test_same_bytes_as_from_a_file(tmp_path, kind, shape, dtype, parameters, out):
    x = noise(shape, dtype)
    if kind == "sand":
        x &= 3
    wanted = from_file(tmp_path, kind, x, parameters, out)
    call = dict(parameters)
    if kind == "rescale":
        call["from_"] = call.pop("from")
    if kind == "transpose":
        call["axes"] = call.pop("permutation")
    if out is not None:
        call["dtype"] = out
    for rows in (None, 1, 7):
        same(getattr(runner, kind)(x, backend="cpu", chunk_rows=rows, **call), wanted)


def test_match(tmp_path):
    x = noise((6, 20, 21))
    parameters = {"window": [3, 5, 5], "count": 4}
    got = runner.match(x, **parameters)
    for name, array in zip(("index", "distance", "count"), got):
        same(array, from_file(tmp_path, "match", x, parameters, dataset="/" + name))
        os.remove(tmp_path / "result.h5")


def test_pipeline(tmp_path):
    x = noise((4, 40, 41), "uint16")
    steps = [{"kind": "median", "size": [1, 3, 3]},
             {"kind": "rescale", "from": "extremes", "dtype": "float32"},
             {"kind": "convolve", "row_taps": [0.5, 0.5, 0.0], "column_taps": [1.0]},
             {"kind": "bin", "factors": [2, 2]}]
    same(runner.pipeline(x, steps), from_file(tmp_path, None, x, steps))


def test_against_scipy():
    x = noise((60, 70), "float64")
    taps = [0.1, 0.2, 0.4, 0.2, 0.1]
    wanted = scipy.ndimage.convolve1d(scipy.ndimage.convolve1d(x, taps, axis=1), taps, axis=0)
    np.testing.assert_allclose(runner.convolve(x, taps, taps), wanted, rtol=1e-13, atol=1e-13)
    x = noise((9, 20, 30), "float64")
    wanted = scipy.ndimage.convolve1d(scipy.ndimage.convolve1d(scipy.ndimage.convolve1d(
        x, taps, axis=2), taps, axis=1), taps, axis=0)
    np.testing.assert_allclose(runner.convolve(x, taps, taps, taps), wanted, rtol=1e-13, atol=1e-13)
    x = x[0]
    same(runner.median(x, [3, 5]), scipy.ndimage.median_filter(x, size=(3, 5)))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex64", "complex128",
                                   ">i4", "S4", "M8[s]"])
def test_transpose_moves_any_elements(dtype):
    x = np.frombuffer(RANDOM.bytes(7 * 5 * 11 * np.dtype(dtype).itemsize), np.uint8)
    x = (x & 1).view(bool) if dtype == "bool" else x.view(dtype)
    x = x.reshape(7, 5, 11)
    for axes in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0), (-1, 0, 1)]:
        got = runner.transpose(x, axes)
        wanted = np.ascontiguousarray(x.transpose(axes))
        assert got.shape == wanted.shape
        assert got.dtype == wanted.dtype.newbyteorder("=")
        assert got.tobytes() == wanted.astype(got.dtype).tobytes()
    same(runner.transpose(x[0].view("u1"), (1, 0)),
         np.ascontiguousarray(x[0].view("u1").transpose()))


@pytest.mark.parametrize("shape", [(5, 3, 17, 13), (5, 1, 9, 11), (3, 5, 1, 4, 7)], ids=str)
def test_transpose_of_more_axes(shape):
    """All orders of four axes and of five."""
    x = np.frombuffer(RANDOM.bytes(2 * int(np.prod(shape))), np.uint16).reshape(shape)
    for axes in itertools.permutations(range(len(shape))):
        same(runner.transpose(x, axes, backend="cpu"), np.ascontiguousarray(x.transpose(axes)))


@pytest.mark.parametrize("reduce", ["mean", "median"])
def test_correct_with_images(tmp_path, reduce):
    """Fields from arrays have the bytes of the same fields from files, in a pipeline too."""
    x, darks = noise((4, 20, 30), "uint16"), noise((5, 20, 30), "uint8")
    flat = 40000 + noise((20, 30), "float64")
    for name, images in (("darks.h5", darks), ("flat.h5", flat)):
        with h5py.File(tmp_path / name, "w") as file:
            file["images"] = images
    keys = {"dark": {"file": "darks.h5", "dataset": "/images", "reduce": reduce},
            "flat": {"file": "flat.h5", "dataset": "/images"}, "clip": [0.0, 1.2]}
    wanted = from_file(tmp_path, "correct", x, keys)
    fields = {"dark": {"images": darks, "reduce": reduce}, "flat": flat}
    for rows in (None, 3):
        same(runner.correct(x, **fields, clip=(0, 1.2), chunk_rows=rows), wanted)
    same(runner.pipeline(x, [dict(kind="correct", clip=[0.0, 1.2], **fields),
                             dict(kind="median", size=[1, 1])]), wanted)
    if reduce == "mean":
        same(runner.correct(x, darks, flat, clip=[0.0, 1.2]), wanted)
    with pytest.raises(runner.InputError, match="does not fit"):
        runner.correct(x, darks[:, 1:], flat)
    with pytest.raises(ValueError, match="complex64"):
        runner.correct(x, darks.astype("complex64"), flat)
    with pytest.raises(runner.JobError, match="memory alone"):
        runner.correct(x, {"file": "darks.h5", "dataset": "/images"}, flat)


def test_inputs_that_are_not_dense():
    x = noise((40, 60), "float32")
    wanted = runner.convolve(x[::2, ::3].copy(), [0.5, 0.5, 0.0], [1.0])
    same(runner.convolve(x[::2, ::3], [0.5, 0.5, 0.0], [1.0]), wanted)
    same(runner.convolve(np.asfortranarray(x[::2, ::3]), [0.5, 0.5, 0.0], [1.0]), wanted)
    same(runner.convolve(x[::2, ::3].astype(">f4"), [0.5, 0.5, 0.0], [1.0]), wanted)
    same(runner.convolve(x[::2, ::3].tolist(), [0.5, 0.5, 0.0], [1.0], dtype="float64"),
         runner.convolve(x[::2, ::3].astype("f8"), [0.5, 0.5, 0.0], [1.0]))
    read_only = x.copy()
    read_only.flags.writeable = False
    same(runner.median(read_only, [3, 3]), runner.median(x, [3, 3]))


def test_out():
    x = noise((30, 40))
    wanted = runner.median(x, [3, 3])
    out = np.zeros_like(x)
    assert runner.median(x, [3, 3], out=out) is out
    same(out, wanted)
    strided = np.zeros((60, 80), "f4")[::2, ::2]
    runner.median(x, [3, 3], out=strided)
    assert (strided == wanted).all()
    inside = np.concatenate([x, np.zeros((1, 40), "f4")])
    runner.median(inside[:-1], [3, 3], out=inside[1:])  # overlaps its input
    assert (inside[1:] == wanted).all()
    runner.median(x, [3, 3], out=x)
    same(x, wanted)
    for wrong in (np.zeros((30, 41), "f4"), np.zeros((30, 40)), [1, 2]):
        with pytest.raises(ValueError, match="out is"):
            runner.median(x, [3, 3], out=wrong)
    wanted.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        runner.median(x, [3, 3], out=wanted)


def test_masked_arrays_are_refused():
    """Elsewhere numpy.asarray takes what is under a mask as values."""
    x = noise((10, 10))
    marked = np.ma.masked_array(x, x > 0.5)
    with pytest.raises(ValueError, match="masked elements.*invalid=x.mask"):
        runner.median(marked, [3, 3])
    with pytest.raises(ValueError, match="masked elements"):
        runner.correct(x, dark=marked, flat=2.0)
    same(runner.median(np.ma.masked_array(x), [3, 3]), runner.median(x, [3, 3]))
    same(runner.median(marked.data, [3, 3], invalid=marked.mask), runner.median(x, [3, 3], invalid=x > 0.5))


def test_errors():
    x = noise((10, 10))
    with pytest.raises(runner.JobError) as error:
        runner.convolve(x, [0.5, 0.5], [1.0])
    assert error.value.code == 2 and "odd" in str(error.value)
    assert isinstance(error.value, runner.Error) and error.value.what
    with pytest.raises(runner.InputError):
        runner.convolve(np.zeros((0, 3)), [1.0], [1.0])
    with pytest.raises(runner.JobError, match="fit"):
        runner.convolve(np.zeros((3, 1 << 20)), [1.0], [1.0], host_memory="1MiB")
    with pytest.raises(ValueError, match="complex64"):
        runner.median(np.zeros((4, 4), "c8"), [3, 3])
    with pytest.raises(ValueError, match="backend"):
        runner.median(x, [3, 3], backend="gpu")
    with pytest.raises(TypeError, match="device"):
        class OnDevice:
            def __dlpack_device__(self):
                return (2, 0)
        runner.median(OnDevice(), [3, 3])
    with pytest.raises(runner.DeviceError):
        runner.median(x, [3, 3], backend="cuda", device=99)
    for steps in (dict(kind="median"), "median", ["median"]):
        with pytest.raises(TypeError, match="a list of dicts"):
            runner.pipeline(x, steps)


def test_examples_of_the_docstrings():
    functions = [getattr(runner.kinds, name) for name in runner.kinds.__all__]
    modules = [runner, *(sys.modules[each.__module__] for each in functions)]
    tried = [doctest.testmod(module, extraglobs={"np": np}) for module in modules]
    with_example = [each for each in functions if ">>> " in each.__doc__]
    assert sum(each.attempted for each in tried) > len(with_example) > 8
    assert not any(each.failed for each in tried)


def test_functions_are_those_of_the_declared_keys():
    made = subprocess.run([sys.executable, ROOT / "scripts/python-kinds", program(), "--check"],
                          check=False)
    assert made.returncode == 0, "run scripts/python-kinds build/bin/runner"
    parameters = inspect.signature(runner.denoise).parameters
    assert list(parameters)[:3] == ["x", "method", "sigma"]
    with pytest.raises(TypeError, match="sigmas"):
        runner.denoise(np.zeros((9, 9), "f4"), sigmas=1.0)


def test_a_last_axis_that_may_be_colour(tmp_path):
    """One warning where the caller does not say; `bin` keeps three channels where it is colour."""
    x = noise((12, 14, 3), "uint8")
    with pytest.warns(UserWarning, match="may be colour.*channels=3"):
        assert runner.bin(x, [2, 2]).shape == (12, 7, 1)
    with pytest.warns(UserWarning, match="may be colour"):
        runner.pipeline(x, [dict(kind="rescale", **{"from": [0, 255]}), dict(kind="median", size=[1, 3])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = runner.bin(x, [2, 2], channels=3)
        assert made.shape == (6, 7, 3)
        for channel in range(3):
            same(made[..., channel], runner.bin(np.ascontiguousarray(x[..., channel]), [2, 2]))
        runner.bin(x, [2, 2], channels=1)
        runner.rescale(x, [0, 255])
        runner.bin(x[..., 0], [2, 2])


def test_a_fourth_sample_that_may_be_alpha():
    """One warning where a kind computes it, as the program gives; none where pixels are moved."""
    x = noise((12, 14, 4), "uint8")
    with pytest.warns(UserWarning, match="fourth sample of a pixel is computed.*channels=3") as said:
        made = runner.median(x, [3, 3], channels=4)
    assert len(said) == 1
    assert said[0].filename == __file__
    for channel in range(4):
        same(made[..., channel], runner.median(np.ascontiguousarray(x[..., channel]), [3, 3]))
    with pytest.warns(UserWarning, match="fourth sample of a pixel is computed"):
        runner.pipeline(x, [dict(kind="transpose", permutation=[1, 0, 2]), dict(kind="bin", factors=[2, 2])],
                        channels=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner.transpose(x, (1, 0, 2))
        runner.pipeline(x, [dict(kind="transpose", permutation=[1, 0, 2])], channels=4)
        runner.median(np.ascontiguousarray(x[..., :3]), [3, 3], channels=3)


def test_invalid_elements():
    """They are left out, and filled."""
    x = np.array([[1, 0, 3, 0, 0, 6]], np.uint8)
    same(runner.fill(x, invalid=0), np.array([[1, 1, 3, 3, 6, 6]], np.uint8))
    same(runner.bin(x, [1, 2], invalid=0, dtype="float32"), np.array([[1, 3, 6]], np.float32))
    y = np.where(x == 0, np.nan, x).astype(np.float32)
    same(runner.fill(y, method="number", value=7, invalid="nan"),
         runner.fill(y, method="number", value=7, invalid=float("nan")))
    same(runner.fill(y, method="number", value=7, invalid=float("nan")),
         np.array([[1, 7, 3, 7, 7, 6]], np.float32))
    steps = [dict(kind="fill", rest=0.0), dict(kind="median", size=[1, 1])]
    same(runner.pipeline(x, steps, invalid=0), np.array([[1, 1, 3, 3, 6, 6]], np.uint8))
    image = np.array([[1, 2, 3], [0, 2, 4]], np.float32)
    made = runner.denoise(image, patch=[1, 1, 1], window=[1, 3, 3], sigma=1.0, invalid=0)
    assert np.isnan(made[1, 0]) and np.isfinite(made[np.isfinite(made)]).all() and np.isnan(made).sum() == 1
    with pytest.raises(runner.JobError, match="sand does not take invalid elements"):
        runner.sand(x, 1, invalid=0)
    with pytest.raises(runner.InputError, match="nothing is there to fill"):
        runner.fill(x)


def test_masks():
    """Of an image and of the whole array, of numbers and bool."""
    x = np.arange(1, 25, dtype=np.uint8).reshape(2, 3, 4)
    mask = np.zeros((3, 4), bool)
    mask[1, 2] = mask[0, 0] = True
    marked = np.where(mask, 255, x).astype(np.uint8)
    expected = runner.median(marked, [3, 3], invalid=255)
    for each in (mask, mask.astype(np.int32) * -8, np.broadcast_to(mask, x.shape), mask[::-1][::-1].tolist()):
        same(runner.median(x, [3, 3], invalid=each), expected)
    same(runner.fill(x, invalid=dict(mask=mask, value=7)),
         runner.fill(np.where(mask, 7, x).astype(np.uint8), invalid=7))
    steps = [dict(kind="rescale", **{"from": "extremes", "to": [0.0, 1.0]}, dtype="float32"), dict(kind="fill", rest=2.0)]
    same(runner.pipeline(x, steps, invalid=mask), runner.pipeline(marked, steps, invalid=255))
    with pytest.raises(runner.InputError, match="the mask does not fit"):
        runner.median(x, [3, 3], invalid=mask[:, :3])
    with pytest.raises(runner.InputError, match="is 255 and not masked"):
        runner.median(np.full((2, 3, 4), 255, np.uint8), [3, 3], invalid=mask)
    with pytest.raises(runner.JobError, match="works on arrays in memory alone"):
        runner.median(x, [3, 3], invalid=dict(dataset="/mask"))


def test_what_is_odd_about_the_input_is_a_warning() -> None:
    """As a job from files prints it: of noise that is none, and values that count as invalid."""
    noise = np.random.default_rng(0).normal(size=(4, 16, 16)).astype("float32")
    with pytest.warns(UserWarning, match=r"^the noise found is 0, .*\(x\)"):
        runner.denoise(np.ones_like(noise))
    with pytest.warns(UserWarning, match=r"few voxels \(x\).* write its standard deviation: sigma$"):
        runner.denoise(noise)
    counts = np.arange(12, dtype="uint16").reshape(3, 4)
    with pytest.warns(UserWarning, match=r"^valid elements may become what invalid ones are \(x\): these are 3"):
        runner.rescale(counts, "extremes", invalid=3, dtype="uint8")
    with pytest.warns(UserWarning, match=r"^steps\[0\]: valid elements"):
        runner.pipeline(counts, [{"kind": "rescale", "from": "extremes", "dtype": "uint8"}], invalid=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner.denoise(noise, sigma=1.0)
        runner.rescale(counts, "extremes", invalid=3, dtype="uint8", to=[4, 200])
