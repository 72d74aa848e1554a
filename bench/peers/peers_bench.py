"""Whole tasks by runner and by other programs: peers_bench.py RUNNER FOLDER [--frames N] [--side N] [--repeats N] [--only TEXT]

Each task reads one HDF5 file and writes another. Each program is a process of its own, whose wall time is
measured from its start to its end, with its imports and, on a GPU, with the compilation of its kernels
where it has any. FOLDER should lie in memory. Peers read and write with h5py. A peer that is not installed
is named and left out. Peak memory: of the process, and of the GPU by CuPy's pool. The last column is the
largest difference from runner's output, as a share of its range.

A peer that cannot do a task is listed with its error: of the last task, whose input is larger than the
device memory that the task allows, all that hold it whole.
"""
import argparse
import importlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
import types

SIGMA = 2.0
STRIPE_SIZE = 31


def read(path, name="data"):
    import h5py

    with h5py.File(path) as file:
        return file[name][()]


def write(path, values):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=values)


def on_gpu(work):
    """work(cupy array) of a file's data."""

    def run(path):
        import cupy

        return cupy.asnumpy(work(cupy.asarray(read(path))))

    return run


def each_frame(work):
    """work(frame) of each frame."""

    def run(path):
        import numpy as np

        return np.stack([work(frame) for frame in read(path)])

    return run


def by_dask(name, **options):
    def run(path):
        import dask.array
        from dask_image import ndfilters

        values = read(path)
        return getattr(ndfilters, name)(dask.array.from_array(values, (8, *values.shape[1:])), **options).compute()

    return run


def by_vips(work):
    def one(frame):
        import pyvips

        return work(pyvips.Image.new_from_array(frame)).numpy()

    return each_frame(one)


def module(name):
    return importlib.import_module(name)


def leave_out(*names):
    """Modules that a peer imports, but that no task here calls: their libraries are large."""
    for name in names:
        stand_in = types.ModuleType(name)
        stand_in.__getattr__ = lambda _: lambda *_, **__: lambda work: work
        sys.modules[name] = stand_in


def httomolibgpu(name):
    leave_out("httomolibgpu.recon", "httomolibgpu.recon.algorithm", "httomolibgpu.recon.rotation")
    return module(f"httomolibgpu.{name}")


def split(path):
    """Projections, flats and darks of a scan."""
    frames, keys = read(path), read(path, "image_key")
    return frames[keys == 0], frames[keys == 1], frames[keys == 2]


def chain_by_httomolibgpu(path):
    import cupy

    frames, flats, darks = (cupy.asarray(part) for part in split(path))
    normalize = httomolibgpu("prep.normalize")
    frames = normalize.minus_log(normalize.dark_flat_field_correction(frames, flats, darks))
    frames = httomolibgpu("prep.stripe").remove_stripe_based_sorting(frames, size=STRIPE_SIZE)
    return cupy.asnumpy(frames.transpose(1, 0, 2))


def chain_by_algotom(path):
    import numpy as np

    frames, flats, darks = split(path)
    dark, flat = darks.mean(0, dtype="f4"), flats.mean(0, dtype="f4")
    frames = -np.log(np.maximum((frames - dark) / np.maximum(flat - dark, np.float32(1e-7)), np.float32(1e-6)))
    removal = module("algotom.prep.removal")
    return np.stack([removal.remove_stripe_based_sorting(frames[:, row], STRIPE_SIZE)
                     for row in range(frames.shape[1])])


def whole_chain_by_scipy(path):
    """Correct, outliers, Paganin's filter and its logarithm, sinograms, stripes: numpy, scipy and algotom."""
    import numpy as np
    from scipy import fft, ndimage

    frames, flats, darks = split(path)
    dark, flat = darks.mean(0, dtype="f4"), flats.mean(0, dtype="f4")
    frames = (frames - dark) / np.maximum(flat - dark, np.float32(1e-7))
    smooth = ndimage.median_filter(frames, size=WINDOW)
    frames = np.where(frames - smooth > 1, smooth, frames)
    rows, columns = frames.shape[1:]
    margin = [(fft.next_fast_len(extent + 200, real=True) - extent) for extent in (rows, columns)]
    padded = [extent + more for extent, more in zip((rows, columns), margin)]
    wavelength, pixel = 12.398419843320026e-10 / ENERGY, PIXEL * 1e-6
    squares = np.add.outer(fft.fftfreq(padded[0], pixel) ** 2, fft.rfftfreq(padded[1], pixel) ** 2)
    kept = 1 / (1 + np.pi * wavelength * DISTANCE * DELTA_BETA * squares).astype("f4")
    for i, frame in enumerate(frames):
        extended = np.pad(frame, [(more // 2, more - more // 2) for more in margin], mode="symmetric")
        extended = fft.irfft2(fft.rfft2(extended) * kept, padded)
        frames[i] = extended[margin[0] // 2:, margin[1] // 2:][:rows, :columns]
    frames = -np.log(np.maximum(frames, np.float32(1e-6)))
    removal = module("algotom.prep.removal")
    return np.stack([removal.remove_stripe_based_sorting(frames[:, row], STRIPE_SIZE) for row in range(rows)])


ENERGY, DISTANCE, PIXEL, DELTA_BETA = 25.0, 0.5, 1.1, 250.0  # keV, metres, micrometres
GAUSSIAN = {"sigma": (0, SIGMA, SIGMA), "truncate": 4.0}
WINDOW = (1, 3, 3)
WIDE = (1, 9, 9)


def cucim_gaussian(x):
    return module("cucim.skimage.filters").gaussian(x.astype("f4"), sigma=(0, SIGMA, SIGMA), mode="reflect",
                                                    truncate=4.0, preserve_range=True)


def cucim_median(size):
    return on_gpu(lambda x: module("cucim.skimage.filters").median(x, footprint=module("cupy").ones(size, bool),
                                                                      mode="reflect"))


def cv_gaussian(frame):
    cv = module("cv2")
    return cv.GaussianBlur(frame.astype("f4"), (17, 17), SIGMA, borderType=cv.BORDER_REFLECT)


def bm4d_of(path):
    return module("bm4d").bm4d(read(path).astype("f8"), 30.0).astype("f4")


def nlm_of(path):
    return module("skimage.restoration").denoise_nl_means(
        read(path).astype("f4"), patch_size=3, patch_distance=4, h=18.0, sigma=30.0, fast_mode=True)


#: Tasks: the input, runner's words, and the peers with what each computes.
TASKS = {
    "Gaussian, sigma 2, to float32": ("frames", ["convolve", "--sigma", f"[{SIGMA}, {SIGMA}]", "--dtype", "float32"], {
        "cupyx": on_gpu(lambda x: module("cupyx.scipy.ndimage").gaussian_filter(x, output="f4", **GAUSSIAN)),
        "cuCIM": on_gpu(cucim_gaussian),
        "scipy": lambda path: module("scipy.ndimage").gaussian_filter(read(path), output="f4", **GAUSSIAN),
        "dask-image": lambda path: by_dask("gaussian_filter", **GAUSSIAN)(path),
        "OpenCV": each_frame(cv_gaussian),
        "libvips": by_vips(lambda image: image.cast("float").gaussblur(SIGMA, precision="float", min_ampl=0.001)),
    }),
    "median 3 x 3": ("frames", ["median", "--size", "[1, 3, 3]"], {
        "cupyx": on_gpu(lambda x: module("cupyx.scipy.ndimage").median_filter(x, size=WINDOW)),
        "cuCIM": cucim_median(WINDOW),
        "scipy": lambda path: module("scipy.ndimage").median_filter(read(path), size=WINDOW),
        "dask-image": by_dask("median_filter", size=WINDOW),
        "OpenCV": each_frame(lambda frame: module("cv2").medianBlur(frame, 3)),
        "libvips": by_vips(lambda image: image.median(3)),
    }),
    "median 9 x 9": ("frames", ["median", "--size", "[1, 9, 9]"], {
        "cupyx": on_gpu(lambda x: module("cupyx.scipy.ndimage").median_filter(x, size=WIDE)),
        "cuCIM": cucim_median(WIDE),
        "OpenCV": each_frame(lambda frame: module("cv2").medianBlur(frame, 9)),
    }),
    "means of 2 x 2": ("frames", ["bin", "--factors", "[1, 2, 2]", "--dtype", "float32"], {
        "cuCIM": on_gpu(lambda x: module("cucim.skimage.transform").downscale_local_mean(x, (1, 2, 2)).astype("f4")),
        "scikit-image": lambda path: module("skimage.transform").downscale_local_mean(read(path), (1, 2, 2)).astype("f4"),
        "OpenCV": each_frame(lambda frame: module("cv2").resize(frame.astype("f4"), None, fx=0.5, fy=0.5,
                                                               interpolation=module("cv2").INTER_AREA)),
        "libvips": by_vips(lambda image: image.cast("float").shrink(2, 2)),
    }),
    "frames to sinograms": ("frames", ["transpose", "--permutation", "[1, 0, 2]"], {
        "numpy": lambda path: read(path).transpose(1, 0, 2),
    }),
    "correct, logarithm, sinograms, stripes": ("scan", [
        "pipeline", "--steps", f"correct negative_log=true, transpose permutation=[1,0,2], stripes size={STRIPE_SIZE}"], {
            "httomolibgpu": chain_by_httomolibgpu,
            "algotom": chain_by_algotom,
        }),
    "correct, outliers, phase, sinograms, stripes": ("small scan", [
        "pipeline", "--steps", "correct, median size=3,3 difference=1 side=above, "
        f"phase energy={ENERGY} distance={DISTANCE} pixel_size={PIXEL} delta_beta={DELTA_BETA}, "
        f"transpose permutation=[1,0,2], stripes size={STRIPE_SIZE}"], {"scipy, algotom": whole_chain_by_scipy}),
    "BM4D, sigma 30": ("volume", ["denoise", "--method", "bm4d", "--sigma", "30"], {"bm4d": bm4d_of}),
    "non-local means, sigma 30": ("volume", ["denoise", "--sigma", "30"], {"scikit-image": nlm_of}),
    "median 3 x 3 in half the input's device memory": ("frames", ["median", "--size", "[1, 3, 3]"], {
        "cupyx": on_gpu(lambda x: module("cupyx.scipy.ndimage").median_filter(x, size=WINDOW)),
        "cuCIM": cucim_median(WINDOW),
    }),
}
PACKAGES = ["numpy", "scipy", "h5py", "cupy", "cucim", "httomolibgpu", "skimage", "dask", "dask_image", "cv2",
            "pyvips", "algotom", "bm4d"]


def run_peer(task, peer, source, made, limit):
    """In a process of its own: the task from file to file; prints peak memory as JSON."""
    if limit:
        module("cupy").get_default_memory_pool().set_limit(size=limit)
    write(made, TASKS[task][2][peer](source))
    used = {"host": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "device": 0}
    if "cupy" in sys.modules:
        used["device"] = module("cupy").get_default_memory_pool().total_bytes()
    print(json.dumps(used))


def versions():
    texts = []
    for name in PACKAGES:
        found = subprocess.run(
            [sys.executable, "-c", f"import importlib.metadata as m\ntry:\n print(m.version('{name}'))\n"
             f"except m.PackageNotFoundError:\n import {name}\n print({name}.__version__)"],
            capture_output=True, text=True)
        texts.append(f"{name} {found.stdout.strip()}" if found.returncode == 0 else f"{name} not installed")
    return ", ".join(texts)


def difference(made, reference):
    """Largest difference as a share of the reference's range; a frame at a time."""
    import h5py

    def only(file):
        found = []
        file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) and item.ndim > 2 else None)
        return found[0]

    with h5py.File(made) as a, h5py.File(reference) as b:
        a, b = only(a), only(b)
        if a.shape != b.shape:
            return f"shape {a.shape}"
        least, most, apart = float("inf"), float("-inf"), 0.0
        for one, other in zip(a, b):
            least, most = min(least, float(other.min())), max(most, float(other.max()))
            apart = max(apart, float(abs(one.astype("f8") - other.astype("f8")).max()))
        return f"{apart / (most - least or 1):.1e}"


def line(name, seconds, host="", device="", size="", apart=""):
    shown = f"{statistics.median(seconds):8.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"
    print(f"  {name:14} {shown:30} {host:>10} {device:>10} {size:>9}  {apart}", flush=True)


def gib(count):
    return f"{count / 2**30:.2f} GiB" if count else "-"


def compare(task, options, files, backend):
    kind, words, peers = TASKS[task]
    source = files[kind]
    limited = task.endswith("device memory")
    limit = source.stat().st_size // 2 if limited else 0
    print(f"\n{task} ({source.stat().st_size / 1e9:.2f} GB)")
    ours, theirs = options.folder / "runner.h5", options.folder / "peer.h5"
    command = [options.runner, *words[:1], source, ours, *words[1:], "--overwrite", "--quiet", "--backend", backend,
               "--set", "output.sync=false", *(["--set", f"run.device_memory={limit}"] if limited else [])]
    seconds = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        ended = subprocess.run(command, capture_output=True, text=True)
        seconds.append(time.perf_counter() - start)
        if ended.returncode != 0:
            print(f"  runner: {ended.stderr.strip()[:200]}")
            return
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    line("runner", seconds, gib(peak) if backend == "cpu" else "", "", gib(ours.stat().st_size))
    for peer in peers:
        seconds, used, error = [], {}, ""
        for _ in range(options.repeats):
            theirs.unlink(missing_ok=True)
            start = time.perf_counter()
            ended = subprocess.run([sys.executable, __file__, "--peer", task, peer, source, theirs, str(limit)],
                                   capture_output=True, text=True)
            seconds.append(time.perf_counter() - start)
            if ended.returncode != 0:
                error = (ended.stderr.strip().splitlines() or ["killed"])[-1]
                error = "not installed" if "ModuleNotFound" in error else f"not possible: {error[:150]}"
                break
            used = json.loads(ended.stdout.splitlines()[-1])
            if seconds[0] > 30:
                break
        if error:
            print(f"  {peer:14} {error}", flush=True)
        else:
            line(peer, seconds, gib(used["host"]), gib(used["device"]), gib(theirs.stat().st_size),
                 difference(theirs, ours))


def main():
    if sys.argv[1:2] == ["--peer"]:
        task, peer, source, made, limit = sys.argv[2:]
        run_peer(task, peer, source, made, int(limit))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--only", default="", help="tasks that contain this text")
    options = parser.parse_args()
    options.runner = os.path.abspath(options.runner)
    options.folder.mkdir(parents=True, exist_ok=True)
    shapes = {"frames": ("noise", (options.frames, options.side, options.side), "uint16"),
              "scan": ("tomo-scan", (options.frames, options.side // 4, options.side), "uint16"),
              "small scan": ("tomo-scan", (options.frames // 2, options.side // 4, options.side // 4), "uint16"),
              "volume": ("xray", (options.side // 8,) * 3, "uint16")}
    files = {}
    for name, (pattern, shape, dtype) in shapes.items():
        files[name] = options.folder / f"{name}.{'nxs' if 'scan' in name else 'h5'}"
        subprocess.run([options.runner, "generate", pattern, files[name], "--shape", ",".join(map(str, shape)), "--dtype",
                        dtype, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    print(f"# {options.frames} frames of {options.side} x {options.side}, uint16; {os.cpu_count()} cores; backend "
          f"{options.backend}; medians of {options.repeats} whole processes (one where it took 30 s), least to most")
    print(f"# {versions()}")
    print("# columns: seconds, peak host memory, peak device memory, the output, difference from runner's output")
    for task in TASKS:
        if options.only in task:
            compare(task, options, files, options.backend)


main()
