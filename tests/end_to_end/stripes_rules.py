"""What the removal of stripes must make, as docs/stripes.md says, in numpy and scipy: cases and
refusals for kind_runs.py.
"""
import numpy as np
from scipy import ndimage

from kind_rules import Case, any_values, converted


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


def sum_of(terms):
    """Along the first axis, in 256 parts as the page says."""
    parts = np.zeros((256, *terms.shape[1:]))
    for first in range(0, len(terms), 256):
        some = terms[first:first + 256]
        parts[:len(some)] += some
    while len(parts) > 1:
        half = len(parts) // 2
        parts = parts[:half] + parts[half:]
    return parts[0]


def stripes_among(factors, snr):
    """Columns whose factor is out of the usual range, and those beside them."""
    count = len(factors)
    ordered = np.sort(factors)
    first = count // 4
    usual = ordered[first:count - first - 1]
    n = len(usual)
    outside = np.zeros(count, bool)
    if n >= 2:
        slope = sum_of((np.arange(n) - (n - 1) / 2) * usual) / (n * (float(n) * n - 1) / 12)
        start = sum_of(usual) / n - slope * (first + (n - 1) / 2)
        end = start + slope * (count - 1)
        noise = abs(end - start)
        if noise >= 1e-5:
            if abs(ordered[-1] - end) / noise >= snr:
                outside |= factors > end + noise * snr * 0.5
            if abs(start - ordered[0]) / noise >= snr:
                outside |= factors <= start - noise * snr * 0.5
    return ndimage.binary_dilation(outside)


def without_large(lines, size, snr):
    order = order_of(lines, 0)
    ordered = np.take_along_axis(lines, order, 0)
    smooth = smoothed(ordered, size)
    dropped = int(0.05 * len(lines))
    kept = slice(dropped, len(lines) - dropped)
    own, usual = sum_of(ordered[kept]), sum_of(smooth[kept])
    factors = np.where(usual == 0, 1.0, own / usual)
    result = lines / factors
    back = np.empty_like(lines)
    np.put_along_axis(back, order, smooth, 0)
    found = stripes_among(factors, snr)
    result[:, found] = back[:, found]
    return result


def without_dead(lines, size, snr):
    around = np.pad(lines, ((5, 4), (0, 0)), "symmetric")
    means = np.zeros_like(lines)
    for i in range(10):
        means += around[i:i + len(lines)]
    changes = sum_of(np.abs(lines - means / 10))
    backgrounds = smoothed(changes[None], size)[0]
    mean = sum_of(backgrounds) / len(backgrounds)
    dead = stripes_among(changes / np.where(backgrounds == 0, mean, backgrounds), snr)
    dead[:2] = dead[-2:] = False
    result = lines.copy()
    if dead.sum() < len(dead) // 3:
        good = np.flatnonzero(~dead)
        for x in np.flatnonzero(dead):
            left, right = good[good < x][-1], good[good > x][0]
            before, after = lines[:, left], lines[:, right]
            result[:, x] = before + (after - before) * ((x - left) / (right - left))
    return result


def by_finding(sinogram, method, size, snr, small):
    lines = sinogram.astype(np.float64)
    with np.errstate(all="ignore"):
        if method in ("dead", "all"):
            lines = without_dead(lines, size, snr)
        lines = without_large(lines, size, snr)
        if method == "all":
            lines = by_sorting(lines, small)
        return converted(lines, sinogram.dtype)


def of_frames(remove, array, *parameters):
    frames = array.reshape(-1, *array.shape[-2:])
    return np.stack([remove(frame, *parameters) for frame in frames]).reshape(array.shape)


def striped(random, shape, dtype):
    """A smooth pattern with noise, in which columns are dead, too high, flickering, or a little off."""
    angle, column = (np.linspace(-1, 1, n) for n in shape[-2:])
    values = 2 + np.cos(3 * column)[None] + 0.3 * np.sin(2 * angle)[:, None] + random.normal(0, 0.05, shape)
    values *= random.normal(1, 0.01, (*shape[:-2], 1, shape[-1]))
    for change in (lambda stripe: 0.01 * stripe + 1.5, lambda stripe: stripe * 1.7,
                   lambda stripe: stripe * random.uniform(0.5, 1.5, stripe.shape)):
        first = int(random.integers(0, shape[-1]))
        values[..., first:first + 2] = change(values[..., first:first + 2])
    return (values * (1 if np.dtype(dtype).kind == "f" else 30)).astype(dtype)


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
    for shape, dtype, method, size, snr, small in [
            ((61, 83), "float32", "large", None, None, None), ((3, 300, 70), "float32", "all", 31, 2.5, 5),
            ((2, 47, 300), "float64", "dead", 21, 1.5, None), ((4, 29, 53), "uint16", "all", None, None, None),
            ((3, 7, 5), "int32", "dead", 5, 1.0, None), ((2, 1, 17), "float32", "all", 4, 0.5, 2),
            ((5, 33, 1), "float32", "large", 3, 3.0, None), ((2, 19, 33), "uint8", "large", 9, 0.0, None)]:
        array = striped(random, shape, dtype)
        keys = f'method = "{method}"\n' + "".join(
            f"{key} = {value}\n" for key, value in (("size", size), ("snr", snr), ("small", small)) if value is not None)
        yield Case(f"{shape} {dtype}, {method}, {size}, {snr}, {small}", array, keys, None,
                   of_frames(by_finding, array, method, size or 51, 3.0 if snr is None else snr, small or 21))
    array = any_values(random, (3, 31, 47), "float32")  # NaN and infinite
    yield Case("special values, all", array, 'method = "all"\n', None,
               of_frames(by_finding, array, "all", 51, 3.0, 21))


SINOGRAM = np.arange(12, dtype=np.float32).reshape(3, 4)
REFUSALS = [
    (3, ["stripes needs more axes", "input.dataset", "[4]"], SINOGRAM[0], "", None),
    (3, ["too many angles", "65537", "Transpose"], np.zeros((65537, 1), np.uint8), "", None),
    (2, ["output.dtype", "stripes", "rescale"], SINOGRAM, "", "uint8"),
    (2, ["stripes.size", "1 to 255", "got 256"], SINOGRAM, "size = 256", None),
    (2, ["stripes.size", "got 0"], SINOGRAM, "size = 0", None),
    (2, ["stripes.snr", "0 or more"], SINOGRAM, 'method = "large"\nsnr = -1', None),
    (2, ["stripes.small", "1 to 255"], SINOGRAM, 'method = "all"\nsmall = 0', None),
    (2, ["stripes.method", "sort"], SINOGRAM, 'method = "sorting"', None),
]
