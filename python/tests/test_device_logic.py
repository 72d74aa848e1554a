"""What the package does with arrays on a GPU, by stand-ins for their libraries: shapes, strides,
outputs, streams and errors. The kernels run on the cores. test_device_arrays.py has real GPUs."""
import pathlib
import sys
import types

import numpy as np
import pytest

import runner
from runner import _device_run, _runner
from stand_ins import Array, Foreign, Stream, cupy

RANDOM = np.random.default_rng(21)


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy())
    monkeypatch.setattr(_runner, "has_cuda", True)
    monkeypatch.setattr(_device_run, "_KEPT", _device_run._Kept())


def same(got, wanted):
    if isinstance(got, (Array, Foreign)):
        got = got.host
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert got.tobytes() == wanted.tobytes()


def noise(shape, dtype="float32"):
    if np.dtype(dtype).kind == "f":
        return RANDOM.standard_normal(shape).astype(dtype)
    return RANDOM.integers(0, 4 if dtype == "uint8" else 1000, shape).astype(dtype)


STEPS = [dict(kind="median", size=[1, 3, 3]), dict(kind="rescale", dtype="float32",
                                                  **{"from": "extremes"}),
         dict(kind="convolve", row_taps=[0.5, 0.5, 0.0], column_taps=[1.0])]
CALLS = {
    "convolve": lambda x, **k: runner.convolve(x, runner.gaussian(1.5), [0.25, 0.5, 0.25], **k),
    "colour": lambda x, **k: runner.convolve(x, [1.0], [0.25, 0.5, 0.25], channels=3, **k),
    "median": lambda x, **k: runner.median(x, [3, 3], boundary="wrap", **k),
    "phase": lambda x, **k: runner.phase(x, 25.0, 0.5, 2.0, 100.0, **k),
    "stripes": lambda x, **k: runner.stripes(x, size=5, **k),
    "stitch": lambda x, **k: runner.stitch(x, 2, "left", **k),
    "reduce": lambda x, **k: runner.reduce(x, "mean", ["z"], **k),
    "medians": lambda x, **k: runner.reduce(x, "median", ["y", "x"], **k),
    "rescale": lambda x, **k: runner.rescale(x, {"percentiles": [5, 95]}, dtype="uint8", **k),
    "bin": lambda x, **k: runner.bin(x, [2, 2], edge="partial", **k),
    "transpose": lambda x, **k: runner.transpose(x, (2, 0, 1), **k),
    "denoise": lambda x, **k: runner.denoise(x, window=[3, 5, 5], **k),
    "bm4d": lambda x, **k: runner.denoise(x, method="bm4d", sigma=2.0, **k),
    "correct": lambda x, **k: runner.correct(x, 1.0, np.full(x.shape[1:], 50.0), **k),
    "pipeline": lambda x, **k: runner.pipeline(x, STEPS, **k),
}


@pytest.mark.parametrize("dtype", ["float32", "uint16"])
@pytest.mark.parametrize("name", CALLS)
def test_bytes_of_the_host(name, dtype):
    call = CALLS[name]
    for shape in ((8, 31, 3), (9, 17, 40)):
        if name == "colour" and shape[2] != 3:
            continue
        if name in ("denoise", "bm4d") and shape[2] == 3:
            continue
        x = noise(shape, dtype)
        wanted = call(x, backend="cpu")
        got = call(Array(x))
        assert isinstance(got, Array)
        same(got, wanted)
        same(call(Array(np.asfortranarray(x))), wanted)
        out = Array(np.zeros_like(wanted))
        assert call(Array(x), out=out) is out
        same(out, wanted)
        if name not in ("denoise", "bm4d"):
            same(call(Foreign(x)), wanted)


def test_match_and_sand():
    x = noise((7, 20, 21))
    wanted = runner.match(x, window=[3, 5, 5], count=3, backend="cpu")
    for got, want in zip(runner.match(Array(x), window=[3, 5, 5], count=3), wanted):
        same(got, want)
    cells = noise((31, 45), "uint8")
    same(runner.sand(Array(cells), 40, snapshot_every=7, seed=3),
         runner.sand(cells, 40, snapshot_every=7, seed=3, backend="cpu"))


def foreign(x):
    """Skips a type that numpy itself cannot hand over: bool, in Debian 12's."""
    try:
        x.__dlpack__()
    except BufferError as error:
        pytest.skip(f"numpy {np.__version__}: {error}")
    return Foreign(x)


@pytest.mark.parametrize("put", [Array, foreign])
@pytest.mark.parametrize("dtype", ["bool", "float16", "complex64", "complex128", "int8", "uint64"])
def test_transpose_moves_any_elements(dtype, put):
    x = np.frombuffer(RANDOM.bytes(7 * 5 * 11 * np.dtype(dtype).itemsize), np.uint8).copy()
    x = ((x & 1) if dtype == "bool" else x).view(dtype).reshape(7, 5, 11)
    for axes in ((0, 1, 2), (1, 2, 0), (-1, 1, 0)):
        same(runner.transpose(put(x), axes), np.ascontiguousarray(x.transpose(axes)))
    same(runner.transpose(put(x[0]), (1, 0)), np.ascontiguousarray(x[0].T))


@pytest.mark.parametrize("put", [Array, foreign])
def test_bool_is_a_number(put):
    x = noise((20, 30)) > 0
    same(runner.median(put(x), [3, 3]), runner.median(x, [3, 3]))


def test_float16_is_a_number():
    half = noise((20, 30), "float16")
    same(runner.median(Array(half), [3, 3]), runner.median(half, [3, 3]))
    with pytest.raises(ValueError, match="complex64"):
        runner.median(Array(np.zeros((3, 3), "complex64")), [3, 3])


def test_inputs_that_do_not_lie_as_kernels_want():
    x = noise((40, 60))
    wanted = runner.median(x[::2, ::3], [3, 3])
    same(runner.median(Array(x)[::2, ::3], [3, 3]), wanted)
    bytes_ = np.zeros(4 * 600 + 1, np.uint8)
    odd = bytes_[1:].view("float32").reshape(20, 30)
    assert odd.ctypes.data % 4
    odd[...] = x[:20, :30]
    same(runner.median(Array(odd), [3, 3]), runner.median(x[:20, :30], [3, 3]))


def test_out():
    x = noise((30, 40))
    wanted = runner.median(x, [3, 3])
    strided = np.zeros((60, 80), "f4")[::2, ::2]
    runner.median(Array(x), [3, 3], out=Array(strided))
    assert (strided == wanted).all()
    inside = np.concatenate([x, np.zeros((1, 40), "f4")])
    runner.median(Array(inside)[:-1], [3, 3], out=Array(inside)[1:])  # overlaps its input
    assert (inside[1:] == wanted).all()
    own = Array(x.copy())
    assert runner.median(own, [3, 3], out=own) is own
    same(own, wanted)
    index, distance, count = (Array(np.zeros_like(a)) for a in runner.match(x, window=[1, 5, 5]))
    made = runner.match(Array(x), window=[1, 5, 5], out=(index, distance, count))
    assert made[0] is index and made[2] is count
    for got, want in zip(made, runner.match(x, window=[1, 5, 5])):
        same(got, want)
    for wrong, words in ((Array(np.zeros((30, 41), "f4")), r"\[30, 41\].*\[30, 40\]"),
                         (Array(np.zeros((30, 40))), "float64.*float32"),
                         (np.zeros((30, 40), "f4"), "ndarray.*cupy on device -1"),
                         (Array(np.zeros((30, 40), "f4"), 3), "device 3.*device -1")):
        with pytest.raises(ValueError, match=words):
            runner.median(Array(x), [3, 3], out=wrong)
    with pytest.raises(ValueError, match="numpy array"):
        runner.median(x, [3, 3], out=Array(x))
    foreign = np.zeros_like(x)
    runner.median(Foreign(x), [3, 3], out=Foreign(foreign))
    same(foreign, wanted)
    with pytest.raises(ValueError, match="overlaps"):
        runner.median(Foreign(x), [3, 3], out=Foreign(x))


@pytest.mark.parametrize("stream", [7, Stream(7), types.SimpleNamespace(cuda_stream=7),
                                    types.SimpleNamespace(__cuda_stream__=lambda: (0, 7))])
def test_another_stream_waits_and_has_its_own_memory(stream):
    x = noise((9, 20, 20))
    wanted = runner.denoise(x, sigma=1.0, window=[3, 5, 5])
    Stream.log.clear()
    same(runner.denoise(Array(x), sigma=1.0, window=[3, 5, 5], stream=stream), wanted)
    log = Stream.log
    assert log[:3] == [("record", 0), ("wait", 7, 0), ("enter", 7)]
    assert log[-1] == ("exit", 7)
    empties = [entry for entry in log if entry[0] == "empty"]
    assert len(empties) >= 2 and len(log) == 4 + len(empties)  # the result, and scratch
    Stream.log.clear()
    runner.median(Array(x), [3, 3], stream=0)
    assert Stream.log == [("empty", (9, 20, 20))]


def test_jobs_are_kept(monkeypatch):
    made = []
    job = _runner.DeviceJob
    monkeypatch.setattr(_runner, "DeviceJob", lambda *a: made.append(a) or job(*a))
    x = Array(noise((20, 30)))
    for _ in range(3):
        runner.median(x, [3, 3])
    assert len(made) == 1
    # What compares equal in Python and is not the same to a job.
    runner.median(x, [3, 3], fill=0)
    runner.median(x, [3, 3], fill=0.0)
    runner.median(x, [3, 3], fill=-0.0)
    assert len(made) == 4
    with pytest.raises(runner.JobError):
        runner.median(x, [3.0, 3.0])
    for width in range(5, 105):
        runner.median(Array(np.zeros((3, width), "f4")), [3, 3])
    assert len(_device_run._KEPT._jobs) == _device_run._MOST_KEPT
    dark = np.zeros((20, 30), "f4")
    same(runner.correct(x, dark, 2.0), x.host / np.float32(2))
    dark += 1
    same(runner.correct(x, dark, 2.0), x.host - dark)  # a field is read at each call


def test_what_is_of_arrays_of_the_host_alone():
    x = Array(noise((20, 30)))
    for options in ({"device_memory": "1GiB"}, {"host_memory": "1GiB"}, {"chunk_rows": 3},
                    {"lanes": 1}, {"progress": print}):
        with pytest.raises(ValueError, match=next(iter(options))):
            runner.median(x, [3, 3], **options)
    with pytest.raises(ValueError, match="cpu"):
        runner.median(x, [3, 3], backend="cpu")
    with pytest.raises(ValueError, match="device is 2, and x is on device -1"):
        runner.median(x, [3, 3], device=2)
    with pytest.raises(ValueError, match="stream"):
        runner.median(x.host, [3, 3], stream=7)
    with pytest.raises(TypeError, match="stream is a str"):
        runner.median(x, [3, 3], stream="7")
    with pytest.raises(TypeError, match="chunks"):
        runner.median(x, [3, 3], chunks=7)


def test_errors():
    with pytest.raises(runner.JobError, match="odd"):
        runner.median(Array(noise((20, 30))), [2, 3])
    with pytest.raises(runner.InputError, match="no elements"):
        runner.median(Array(np.zeros((0, 30), "f4")), [3, 3])
    x = noise((9, 20, 20))
    x[3, 4, 5] = np.nan
    with pytest.raises(runner.InputError) as error:
        runner.match(Array(x), window=[3, 5, 5])
    assert error.value.code == 3

    def full(shape, dtype):
        raise MemoryError("of the library")
    sys.modules["cupy"].empty = full
    with pytest.raises(MemoryError, match="of the library"):
        runner.median(Array(noise((20, 30))), [3, 3])


def test_without_cuda(monkeypatch):
    monkeypatch.setattr(_runner, "has_cuda", False)
    with pytest.raises(runner.DeviceError, match="no CUDA") as error:
        runner.median(Array(noise((20, 30))), [3, 3])
    assert error.value.code == 5 and error.value.hint


def test_a_library_that_cannot_make_arrays():
    class Bare:
        ndim = 2

        def __dlpack__(self, stream=None):
            raise AssertionError

        def __dlpack_device__(self):
            return 2, 0
    with pytest.raises(TypeError, match="cupy.from_dlpack"):
        runner.median(Bare(), [3, 3])


def test_nothing_leaks():
    x = Array(noise((16, 16)))
    dark = noise((16, 16))
    status = pathlib.Path("/proc/self/status").read_text

    def calls(count):
        for _ in range(count):
            runner.median(x, [3, 3])
        for _ in range(count // 10):
            runner.correct(x, dark, 100.0)  # a job of its own each time
        Stream.log.clear()
        return int(status().split("VmRSS:")[1].split()[0])
    before = calls(1000)
    assert calls(10_000) - before < 8192  # KiB
