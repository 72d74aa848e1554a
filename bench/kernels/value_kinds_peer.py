# Times cupyx.scipy.ndimage.median_filter (mode reflect) beside value_kinds_bench's rows, and cuCIM's
# where it is installed; the sorting of sinograms' columns by cupy, a sinogram at a time, and by
# httomolibgpu where it is installed; and cuFFT's two transforms of padded projections, without the
# padding and the filter.
#   python3 value_kinds_peer.py [SIZE [LAUNCHES]]
import importlib
import sys
import types

import cupy
from cupyx.scipy import fft
from cupyx.scipy.ndimage import median_filter

from cupy_times import median_time


def sort_stripes(sinogram, size):
    """Columns sorted along the angle, smoothed across the columns, and put back."""
    order = cupy.argsort(sinogram, axis=0)
    smooth = median_filter(cupy.take_along_axis(sinogram, order, axis=0), size=(1, size))
    made = cupy.empty_like(sinogram)
    made[order, cupy.arange(sinogram.shape[1])[None, :]] = smooth
    return made


def time_transforms(rows, columns, padded, launches):
    """cuFFT forward and back: of reals, and of complex numbers as httomolibgpu's."""
    reals = cupy.random.default_rng(1).random((8, *padded), dtype=cupy.float32)
    complexes = reals.astype(cupy.complex64)
    ways = {"real": lambda: fft.irfft2(fft.rfft2(reals), padded, overwrite_x=True),
            "complex": lambda: fft.ifft2(fft.fft2(complexes), overwrite_x=True)}
    for name, way in ways.items():
        median, spread = median_time(way, launches)
        text = f"cufft {name} {padded[0]}x{padded[1]}"
        print(f"{text:32} {median:9.4f} ms  {8 * rows * columns * 1e-6 / median:7.1f} Gelements/s  "
              f"spread {100 * spread:4.1f} %, 8 projections of {rows} x {columns}", flush=True)


def installed(name):
    """A module, or nothing. Reconstructions, whose libraries are large, are left out."""
    for part in ("recon", "recon.algorithm", "recon.rotation"):
        stand_in = types.ModuleType(f"httomolibgpu.{part}")
        stand_in.__getattr__ = lambda _: None
        sys.modules[stand_in.__name__] = stand_in
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(f"# {name}: {error}")
        return None


def time_large_medians(side, launches):
    filters = installed("cucim.skimage.filters")
    for name in ("uint8", "uint16", "float32"):
        values = cupy.random.default_rng(1).random((side, side), dtype=cupy.float32) * 60000
        image = (values / 256 if name == "uint8" else values).astype(name)
        for extent in (7, 9, 11, 13, 15):
            window = cupy.ones((extent, extent), bool)
            ways = {"cupyx": lambda: median_filter(image, size=extent)}
            if filters:
                ways["cuCIM"] = lambda: filters.median(image, footprint=window, mode="reflect")
            for peer, way in ways.items():
                median, spread = median_time(way, launches)
                print(f"{f'median 1x{extent}x{extent} {name} {peer}':32} {median:9.4f} ms  "
                      f"{side * side * 1e-6 / median:7.2f} Gelements/s  spread {100 * spread:4.1f} %", flush=True)


def time_httomolibgpu(launches):
    stripe = installed("httomolibgpu.prep.stripe")
    if not stripe:
        return
    for angles in (1500, 4001):
        values = cupy.random.default_rng(1).random((angles, 20, 2448), dtype=cupy.float32)
        median, spread = median_time(lambda: stripe.remove_stripe_based_sorting(values.copy(), size=31), launches)
        print(f"{f'stripes sort {angles} httomolibgpu':32} {median:9.4f} ms  "
              f"{values.size * 1e-6 / median:7.2f} Gelements/s  spread {100 * spread:4.1f} %, 20 sinograms, float32",
              flush=True)


def main():
    side = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"# peer: cupyx median_filter, cupy {cupy.__version__}, {side} x {side}, "
          f"{launches} launches")
    for name in ("uint8", "uint16", "int32", "float32", "float64"):
        values = cupy.random.default_rng(1).random((side, side), dtype=cupy.float32) * 60000
        image = (values / 256 if name == "uint8" else values).astype(name)
        for size in ((3, 3), (3, 3, 3), (5, 5)):
            shaped = image.reshape(64, -1, side) if len(size) == 3 else image
            out = cupy.empty_like(shaped)
            median, spread = median_time(lambda: median_filter(shaped, size=size, output=out),
                                         launches)
            text = "x".join(map(str, (1,) * (3 - len(size)) + size))
            print(f"{'median ' + text + ' ' + name:32} {median:9.4f} ms  "
                  f"{side * side * 1e-6 / median:7.1f} Gelements/s  spread {100 * spread:4.1f} %",
                  flush=True)
    time_large_medians(side, launches)
    time_httomolibgpu(launches)
    for name in ("uint16", "float32"):
        for angles in (1500, 4001):
            shape = (angles, 2448)
            sinogram = (cupy.random.default_rng(1).random(shape, dtype=cupy.float32) * 60000).astype(name)
            median, spread = median_time(lambda: sort_stripes(sinogram, 31), launches)
            print(f"{f'stripes sort {angles} {name}':32} {median:9.4f} ms  "
                  f"{angles * 2448 * 1e-6 / median:7.1f} Gelements/s  spread {100 * spread:4.1f} %, one sinogram",
                  flush=True)
    time_transforms(2048, 2448, (2250, 2688), launches)
    time_transforms(4096, 4096, (4320, 4320), launches)


main()
