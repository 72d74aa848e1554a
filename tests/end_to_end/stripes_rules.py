"""What the removal of stripes must make, as docs/stripes.md says, in numpy and scipy: cases and
refusals for kind_runs.py.
"""
import numpy as np
from scipy import ndimage

from kind_rules import Case, any_values


def order_of(values, axis):
    """The places of the values in ascending order: −0 before 0, NaN last, equal ones as they stand."""
    if values.dtype.kind != "f":
        return np.argsort(values, axis, kind="stable")
    above = ~np.signbit(values) & ~np.isnan(values)
    return np.lexsort((above, values), axis)


def smoothed(ordered, size):
    """The medians along the columns, of whatever values: those of their places among all."""
    order = order_of(ordered.ravel(), 0)
    places = np.empty(order.size, np.int64)
    places[order] = np.arange(order.size)
    medians = ndimage.median_filter(places.reshape(ordered.shape), (1, size), mode="reflect")
    return ordered.ravel()[order][medians]


def by_sorting(sinogram, size):
    order = order_of(sinogram, 0)
    result = np.empty_like(sinogram)
    np.put_along_axis(result, order, smoothed(np.take_along_axis(sinogram, order, 0), size), 0)
    return result


def of_frames(remove, array, *parameters):
    frames = array.reshape(-1, *array.shape[-2:])
    return np.stack([remove(frame, *parameters) for frame in frames]).reshape(array.shape)


def cases(random):
    for shape, dtype, size in [
            ((37, 41), "float32", None), ((5, 23, 31), "uint16", 5), ((3, 2, 19, 7), "float64", 9),
            ((4, 64, 300), "float32", 31), ((2, 129, 17), "int8", 4), ((3, 1, 17), "int32", 3),
            ((6, 33, 1), "uint64", 3), ((7, 11, 13), "uint8", 255), ((2, 67, 29), "int64", 1),
            ((9, 8, 6), "int16", 2), ((3, 40, 50), "uint32", 7)]:
        array = any_values(random, shape, dtype)
        keys = 'method = "sort"\n' + (f"size = {size}\n" if size else "")
        yield Case(f"{shape} {dtype}, sort, size {size}", array, keys, None,
                   of_frames(by_sorting, array, size or 21))


SINOGRAM = np.arange(12, dtype=np.float32).reshape(3, 4)
REFUSALS = [
    (3, ["stripes needs more axes", "input.dataset", "[4]"], SINOGRAM[0], "", None),
    (3, ["too many angles", "65537", "Transpose"], np.zeros((65537, 1), np.uint8), "", None),
    (2, ["output.dtype", "stripes", "rescale"], SINOGRAM, "", "uint8"),
    (2, ["stripes.size", "1 to 255", "got 256"], SINOGRAM, "size = 256", None),
    (2, ["stripes.size", "got 0"], SINOGRAM, "size = 0", None),
    (2, ["stripes.method", "sort"], SINOGRAM, 'method = "sorting"', None),
]
