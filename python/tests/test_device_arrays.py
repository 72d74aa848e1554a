"""Arrays of cupy, torch and jax on a real GPU: equal to the byte to the path of the host.

Skipped without a GPU or a library; with RUNNER_REQUIRE_GPU=1 that is a failure.
"""
import itertools
import threading

import numpy as np
import pytest

import runner

RANDOM = np.random.default_rng(22)
STEPS = [dict(kind="median", size=[1, 3, 3]),
         dict(kind="rescale", dtype="float32", **{"from": "extremes"}),
         dict(kind="convolve", row_taps=[0.5, 0.5, 0.0], column_taps=[1.0]),
         dict(kind="bin", factors=[2, 2])]
CALLS = {
    "convolve": lambda x, **k: runner.convolve(x, runner.gaussian(1.5), [0.25, 0.5, 0.25], **k),
    "convolve-wrap": lambda x, **k: runner.convolve(x, [0.2] * 5, [0.1] * 9, boundary="wrap", **k),
    "convolve-3d": lambda x, **k: runner.convolve(x, [0.2] * 5, [0.1] * 9, [0.25, 0.5, 0.25], **k),
    "median": lambda x, **k: runner.median(x, [3, 3], **k),
    "median-3d": lambda x, **k: runner.median(x, [3, 3, 5], boundary="wrap", **k),
    "phase": lambda x, **k: runner.phase(x, 25.0, 0.5, 2.0, 100.0, **k),
    "stripes": lambda x, **k: runner.stripes(x, size=5, **k),
    "stitch": lambda x, **k: runner.stitch(x, 2, "left", **k),
    "reduce": lambda x, **k: runner.reduce(x, "mean", ["z"], **k),
    "medians": lambda x, **k: runner.reduce(x, "median", ["y", "x"], **k),
    "rescale": lambda x, **k: runner.rescale(x, [-2, 900], dtype="uint8", **k),
    "extremes": lambda x, **k: runner.rescale(x, "extremes", dtype="uint16", **k),
    "bin": lambda x, **k: runner.bin(x, [2, 2, 3], edge="partial", **k),
    "transpose": lambda x, **k: runner.transpose(x, (2, 0, 1), **k),
    "correct": lambda x, **k: runner.correct(x, 1.0, np.full(x.shape[1:], 50.0), **k),
    "nlm": lambda x, **k: runner.denoise(x, window=[3, 5, 5], **k),
    "nlm-known": lambda x, **k: runner.denoise(x, window=[3, 5, 5], sigma=2.0, **k),
    "bm4d": lambda x, **k: runner.denoise(x, method="bm4d", sigma=2.0, **k),
    "pipeline": lambda x, **k: runner.pipeline(x, STEPS, **k),
}


def noise(shape, dtype="float32"):
    if np.dtype(dtype).kind == "f":
        return RANDOM.standard_normal(shape).astype(dtype)
    return RANDOM.integers(0, 4 if dtype == "uint8" else 1000, shape).astype(dtype)


class Library:
    """To and from the arrays of one library."""

    def __init__(self, name, module):
        self.name, self.module = name, module

    def put(self, x):
        if self.name == "torch":
            return self.module.from_numpy(x.copy()).cuda()
        if self.name == "jax":
            return self.module.device_put(x)
        return self.module.asarray(x)

    def get(self, x):
        if self.name == "torch":
            assert isinstance(x, self.module.Tensor) and x.is_cuda
            return x.cpu().numpy()
        if self.name == "cupy":
            assert isinstance(x, self.module.ndarray)
            return x.get()
        assert isinstance(x, self.module.Array)
        return np.asarray(x)


@pytest.fixture(name="library", params=["cupy", "torch", "jax"])
def make_library(request, gpu_module):
    module = gpu_module(request.param)
    if request.param == "jax":
        module.config.update("jax_enable_x64", True)
    return Library(request.param, module)


@pytest.fixture(name="writing", params=["cupy", "torch"])
def make_writing_library(request, gpu_module):
    return Library(request.param, gpu_module(request.param))


def same(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "uint16"])
@pytest.mark.parametrize("name", CALLS)
def test_bytes_of_the_host(library, name, dtype):
    for _ in range(3):
        shape = tuple(int(extent) for extent in RANDOM.integers([8, 12, 12], [14, 90, 90]))
        x = noise(shape, dtype)
        wanted = CALLS[name](x, backend="cpu")
        same(library.get(CALLS[name](library.put(x))), wanted)
        same(library.get(CALLS[name](library.put(x))), wanted)  # by the job that was kept


def test_match_and_sand(library):
    x = noise((9, 40, 41))
    wanted = runner.match(x, window=[3, 5, 5], count=5, backend="cpu")
    for got, want in zip(runner.match(library.put(x), window=[3, 5, 5], count=5), wanted):
        same(library.get(got), want)
    cells = noise((131, 145), "uint8")
    same(library.get(runner.sand(library.put(cells), 300, snapshot_every=70, seed=3)),
         runner.sand(cells, 300, snapshot_every=70, seed=3, backend="cpu"))


@pytest.mark.parametrize("dtype", ["bool", "float16", "complex64", "complex128", "int8", "int64"])
def test_transpose_moves_any_elements(library, dtype):
    x = np.frombuffer(RANDOM.bytes(37 * 25 * 41 * np.dtype(dtype).itemsize), np.uint8).copy()
    x = ((x & 1) if dtype == "bool" else x).view(dtype).reshape(37, 25, 41)
    for axes in itertools.permutations(range(3)):
        same(library.get(runner.transpose(library.put(x), axes)),
             np.ascontiguousarray(x.transpose(axes)))


def test_transpose_of_more_axes(library):
    x = noise((5, 3, 17, 13), "uint16")
    for axes in itertools.permutations(range(4)):
        same(library.get(runner.transpose(library.put(x), axes)), np.ascontiguousarray(x.transpose(axes)))
    x = noise((3, 5, 1, 7, 11), "float32")
    for axes in list(itertools.permutations(range(5)))[::7]:
        same(library.get(runner.transpose(library.put(x), axes)), np.ascontiguousarray(x.transpose(axes)))


def test_bfloat16_is_moved(gpu_module):
    torch = gpu_module("torch")
    x = torch.randn(37, 41, device="cuda").to(torch.bfloat16)
    got = runner.transpose(x, (1, 0))
    assert got.dtype == torch.bfloat16 and torch.equal(got, x.t().contiguous())
    with pytest.raises(ValueError, match="bfloat16"):
        runner.median(x, [3, 3])


def test_inputs_that_are_not_dense(writing):
    x = noise((60, 200))
    on_device = writing.put(x)
    same(writing.get(runner.median(on_device[::2, ::3], [3, 3])),
         runner.median(x[::2, ::3], [3, 3]))
    same(writing.get(runner.median(on_device.T, [3, 3])), runner.median(x.T, [3, 3]))
    for first in range(1, 5):  # an element's alignment and no more
        same(writing.get(runner.convolve(on_device[first:, :], [0.5, 0.5, 0.0], [1.0])),
             runner.convolve(x[first:, :], [0.5, 0.5, 0.0], [1.0]))
        part = on_device.reshape(-1)[first:first + 5000].reshape(50, 100)
        same(writing.get(runner.transpose(part, (1, 0))),
             np.ascontiguousarray(x.reshape(-1)[first:first + 5000].reshape(50, 100).T))


def test_out(writing):
    x = noise((30, 40))
    wanted = runner.median(x, [3, 3])
    out = writing.put(np.zeros_like(x))
    assert runner.median(writing.put(x), [3, 3], out=out) is out
    same(writing.get(out), wanted)
    strided = writing.put(np.zeros((60, 80), "f4"))
    runner.median(writing.put(x), [3, 3], out=strided[::2, ::2])
    same(np.ascontiguousarray(writing.get(strided)[::2, ::2]), wanted)
    inside = writing.put(np.concatenate([x, np.zeros((1, 40), "f4")]))
    runner.median(inside[:-1], [3, 3], out=inside[1:])  # overlaps its input
    same(writing.get(inside[1:]), wanted)
    for wrong in (np.zeros((30, 41), "f4"), np.zeros((30, 40))):
        with pytest.raises(ValueError, match="out is"):
            runner.median(writing.put(x), [3, 3], out=writing.put(wrong))
        with pytest.raises(ValueError, match="out is a ndarray"):
            runner.median(writing.put(x), [3, 3], out=wrong)


def test_cupy_streams(gpu_module):
    cupy = gpu_module("cupy")
    x = noise((2000, 2000))
    wanted = runner.convolve(x, runner.gaussian(3.0), runner.gaussian(3.0))
    a = cupy.zeros_like(cupy.asarray(x))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:  # the current one
        a[...] = cupy.asarray(x)
        got = runner.convolve(a, runner.gaussian(3.0), runner.gaussian(3.0))
        got = got + 0  # in the same stream
    stream.synchronize()
    same(got.get(), wanted)
    for other in (stream, stream.ptr):
        b = cupy.asarray(x) + 0  # in the default stream, which the other must wait for
        got = runner.convolve(b, runner.gaussian(3.0), runner.gaussian(3.0), stream=other)
        stream.synchronize()
        same(got.get(), wanted)


def test_torch_streams(gpu_module):
    torch = gpu_module("torch")
    x = noise((2000, 2000))
    wanted = runner.convolve(x, runner.gaussian(3.0), runner.gaussian(3.0))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a = torch.from_numpy(x).cuda(non_blocking=True)
        got = runner.convolve(a * 1, runner.gaussian(3.0), runner.gaussian(3.0)) * 1
    stream.synchronize()
    same(got.cpu().numpy(), wanted)
    for other in (stream, stream.cuda_stream):
        b = torch.from_numpy(x).cuda() * 1
        got = runner.convolve(b, runner.gaussian(3.0), runner.gaussian(3.0), stream=other)
        del b  # its memory may be given to others only after the stream
        torch.full((2000, 2000), 7.0, device="cuda")
        stream.synchronize()
        same(got.cpu().numpy(), wanted)


def test_nothing_is_synchronised(gpu_module):
    """The call returns while earlier work in the stream still runs, and a CUDA graph, which may hold
    no synchronisation, captures it."""
    torch = gpu_module("torch")
    x = torch.randn(512, 512, device="cuda")
    wanted = runner.median(runner.convolve(x, [0.25, 0.5, 0.25], [1.0]), [3, 3])
    stream = torch.cuda.Stream()
    event = torch.cuda.Event()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(2_000_000_000)  # cycles: about a second
        made = runner.convolve(x, [0.25, 0.5, 0.25], [1.0])
        event.record()
        assert not event.query()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = runner.median(runner.convolve(x, [0.25, 0.5, 0.25], [1.0]), [3, 3])
    captured.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(captured, wanted) and made.shape == x.shape


def test_tensors_that_need_care(gpu_module):
    torch = gpu_module("torch")
    x = torch.randn(40, 41, device="cuda", requires_grad=True)
    with pytest.raises(ValueError, match="detach"):
        runner.median(x, [3, 3])
    with torch.no_grad():
        got = runner.median(x, [3, 3])
    assert torch.equal(got, runner.median(x.detach(), [3, 3])) and not got.requires_grad
    z = torch.randn(40, 41, device="cuda", dtype=torch.complex64)
    assert torch.equal(runner.transpose(z.conj(), (1, 0)), z.conj().resolve_conj().t().contiguous())


def test_current_device_stays(gpu_module):
    torch = gpu_module("torch")
    before = torch.cuda.current_device()
    last = torch.cuda.device_count() - 1
    x = torch.randn(40, 41, device=f"cuda:{last}")
    got = runner.median(x, [3, 3])
    assert got.device == x.device and torch.cuda.current_device() == before
    with pytest.raises(ValueError, match=f"device is {last + 1}, and x is on device {last}"):
        runner.median(x, [3, 3], device=last + 1)


def test_errors(gpu_module):
    cupy = gpu_module("cupy")
    with pytest.raises(runner.JobError, match="odd"):
        runner.median(cupy.zeros((9, 9), "f4"), [2, 3])
    wrong = cupy.zeros((9, 9), "u1")
    wrong[3, 4] = 9
    with pytest.raises(runner.InputError, match="row 3, column 4"):
        runner.sand(wrong, 3)
    with pytest.raises(runner.InputError):
        runner.match(cupy.full((9, 9), cupy.nan, "f4"), window=[1, 3, 3])
    with pytest.raises(ValueError, match="device_memory"):
        runner.median(wrong, [3, 3], device_memory="1GiB")


def test_threads_side_by_side(gpu_module):
    cupy = gpu_module("cupy")
    arrays = [noise((300, 200 + i)) for i in range(4)]
    wanted = [runner.median(x, [5, 5]) for x in arrays]
    failures = []

    def work(i):
        try:
            with cupy.cuda.Stream(non_blocking=True) as stream:
                x = cupy.asarray(arrays[i])
                for _ in range(50):
                    got = runner.median(x, [5, 5])
                stream.synchronize()
                same(got.get(), wanted[i])
        except BaseException as error:  # noqa: BLE001: shown by the test's own thread
            failures.append(error)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_no_device_memory_leaks(writing):
    x = writing.put(noise((128, 128)))
    volume = writing.put(noise((9, 32, 32)))
    cuda = writing.module.cuda

    def free():
        cuda.runtime.deviceSynchronize() if writing.name == "cupy" else cuda.synchronize()
        return cuda.runtime.memGetInfo()[0] if writing.name == "cupy" else cuda.mem_get_info()[0]

    def calls(count):
        for _ in range(count):
            runner.median(x, [3, 3])
        for _ in range(count // 100):
            runner.denoise(volume, window=[3, 5, 5])
    def lost():
        before = free()
        calls(10_000)
        return before - free()
    calls(200)
    # A leak loses memory in every round. Other processes on the GPU may take some in one.
    assert any(lost() < 64 << 20 for _ in range(5))


def test_more_bytes_than_31_bits_count(gpu_module):
    """Kernels see pieces of at most 2 GiB."""
    cupy = gpu_module("cupy")
    if cupy.cuda.runtime.memGetInfo()[0] < 30 << 30:
        pytest.skip("takes 30 GiB of GPU memory")
    x = cupy.random.randint(0, 250, (3, 30000, 30007), dtype=cupy.uint8)
    got = runner.convolve(x, [0.25, 0.5, 0.25], [0.25, 0.5, 0.25], boundary="wrap")
    for frame in range(3):
        assert (got[frame] == runner.convolve(x[frame], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25],
                                              boundary="wrap")).all()
    rows = slice(29990, 30000)
    part = cupy.concatenate([x[2, 29989:], x[2, :1]])
    assert (got[2, rows] == runner.convolve(part, [0.25, 0.5, 0.25], [0.25, 0.5, 0.25],
                                            boundary="wrap")[1:-1]).all()
    assert (runner.transpose(x, (2, 0, 1)) == x.transpose(2, 0, 1)).all()


def test_staging_memory_is_kept_and_released(gpu_module):
    gpu_module("torch")
    x = noise((1024, 512))
    runner.release_memory()
    kept = []
    for _ in range(3):
        assert np.array_equal(runner.transpose(x, (1, 0), backend="cuda"), x.T)
        kept.append(runner._arrays._staging.bytes)
    assert kept[0] > 0 and kept == kept[:1] * 3
    runner.release_memory()
    assert runner._arrays._staging.bytes == 0
