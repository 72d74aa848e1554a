"""What the kinds that change values must make, in numpy, as their pages in docs/ say: slow and plain.

CASES[kind](random) gives cases; REFUSALS[kind] has (exit code, words of the message, input, keys,
output.dtype).
"""
import dataclasses
import fractions
import math

import numpy as np
from scipy import ndimage


@dataclasses.dataclass
class Case:
    name: str
    array: np.ndarray
    keys: str
    dtype: str | None  # output.dtype; None: the kind's own
    expected: np.ndarray
    extra: dict = dataclasses.field(default_factory=dict)  # further datasets of the input's file
    tolerance: float = 0  # of the first run, relative to the largest value; others give its bytes


def converted(values, dtype):
    """Floats of 32 or 64 bits as the output's type: half to even, saturated, NaN is 0."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return values.astype(dtype)
    limits = np.iinfo(dtype)
    whole = np.rint(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf))
    result = np.empty(values.shape, dtype)
    for i, value in np.ndenumerate(whole):
        result[i] = (limits.max if value == np.inf else limits.min if value == -np.inf
                     else min(max(int(value), limits.min), limits.max))
    return result


def any_values(random, shape, dtype):
    """Over an integer type's range; floats about 0, of which some are special."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values = random.normal(0, 100, shape).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    where = random.random(shape) < 0.05
    values[where] = random.choice(special, int(where.sum()))
    return values


def fma(x, y, z):
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(z)
    return float(exact) if exact else x * y + z


def rescaled(array, low, high, ends, dtype):
    a, b = ends
    y = np.full(array.shape, float(a))
    if high != low:
        factor = (b - a) / (high - low)
        x = array.astype(np.float64)
        for i in np.ndindex(array.shape):
            y[i] = fma(float(x[i]) - low, factor, a)
        with np.errstate(invalid="ignore"):
            y = np.where(y < min(a, b), min(a, b), np.where(y > max(a, b), max(a, b), y))
    return converted(y, dtype)


def full_range(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return 0.0, 1.0
    return float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)


def percentile(array, text):
    """The exact one, of the decimal number."""
    values = np.sort(array[~np.isnan(array)] if array.dtype.kind == "f" else array.ravel())
    rank = math.ceil(fractions.Fraction(text) / 100 * len(values))
    return float(values[max(rank, 1) - 1])


def rescale_cases(random):
    types = ["uint8", "int16", "uint16", "int32", "uint64", "float32", "float64"]
    shapes = [(53, 31), (3, 11, 17), (2, 3, 5, 7), (211,), (1, 1)]
    for i, in_type in enumerate(types):
        out_type = types[(3 * i + 1) % len(types)]
        array = any_values(random, shapes[i % len(shapes)], in_type)
        low, high = -20.25, 77.5 + i
        expected = rescaled(array, low, high, full_range(out_type), out_type)
        yield Case(f"{in_type} to {out_type}", array, f"from = [{low}, {high}]", out_type, expected)
    array = any_values(random, (67, 29), "uint16")
    yield Case("falling", array, "from = [0, 65535]\nto = [255, 0]", "uint8",
               rescaled(array, 0.0, 65535.0, (255.0, 0.0), "uint8"))
    yield Case("flat", array, "from = [9, 9]\nto = [3, 5]", None,
               rescaled(array, 9.0, 9.0, (3.0, 5.0), "uint16"))
    for in_type, p, q in [("uint8", "1", "99"), ("float32", "0.1", "99.9"), ("int64", "7", "58.3"),
                          ("float64", "0", "100")]:
        array = any_values(random, (4, 23, 13), in_type)
        if in_type[0] == "f":
            array[np.isinf(array)] = 5
        low, high = percentile(array, p), percentile(array, q)
        yield Case(f"percentiles of {in_type}", array,
                   f"from = {{ percentiles = [{p}, {q}] }}", "uint16",
                   rescaled(array, low, high, (0.0, 65535.0), "uint16"))
        low, high = percentile(array, "0"), percentile(array, "100")
        yield Case(f"extremes of {in_type}", array, 'from = "extremes"', "float32",
                   rescaled(array, low, high, (0.0, 1.0), "float32"))


def binned(array, factors, value, edge, dtype):
    """Along the last three axes, added up in z, y, x order."""
    shape = array.shape
    extents = (1,) * max(0, 3 - len(shape)) + shape[-3:]
    array = array.reshape((-1, *extents)).astype(np.float64)
    count = [n // f if edge == "drop" else -(-n // f) for n, f in zip(extents, factors)]
    sums = np.zeros((array.shape[0], *count))
    elements = np.zeros(count)
    with np.errstate(invalid="ignore", over="ignore"):
        for z, y, x in np.ndindex(*factors):
            part = array[:, z::factors[0], y::factors[1], x::factors[2]]
            part = part[:, :count[0], :count[1], :count[2]]
            where = tuple(slice(n) for n in part.shape[1:])
            sums[(slice(None), *where)] += part
            elements[where] += 1
        if value == "mean":
            sums /= elements
    return converted(sums.reshape(shape[:-3] + tuple(count[-min(3, len(shape)):])), dtype)


def bin_cases(random):
    for shape, in_type, factors, value, edge, out_type in [
            ((53, 31), "uint16", [2, 2], "mean", "drop", None),
            ((53, 31), "float32", [3, 5], "mean", "partial", None),
            ((3, 22, 64), "uint8", [1, 4, 4], "sum", "partial", None),
            ((7, 11, 13), "int32", [2, 3, 2], "mean", "partial", "float32"),
            ((9, 8, 6), "float64", [4, 1, 3], "sum", "drop", "float32"),
            ((2, 5, 9, 7), "int16", [2, 2, 1], "mean", "partial", "uint8"),
            ((5, 3, 17), "uint64", [1, 7, 2], "mean", "partial", None)]:
        array = any_values(random, shape, in_type)
        all_factors = [1] * (3 - len(factors)) + factors
        dtype = out_type or ("float64" if value == "sum" else in_type)
        yield Case(f"{shape} {in_type} by {factors}", array,
                   f'factors = {factors}\nvalue = "{value}"\nedge = "{edge}"', out_type,
                   binned(array, all_factors, value, edge, dtype))


def medians(array, size, boundary, fill, difference, side="both"):
    """By scipy, of numbers; frames apart where the window has one layer."""
    size = [1] * (array.ndim - len(size)) + size
    result = ndimage.median_filter(array, size=size, mode=boundary, cval=fill)
    if difference is not None:
        apart = np.abs(array.astype(np.longdouble) - result.astype(np.longdouble))
        right = {"both": True, "above": array > result, "below": array < result}[side]
        result = np.where((apart > difference) & right, result, array)
    return result


def median_cases(random):
    for shape, in_type, size, boundary, difference, side in [
            ((53, 31), "uint16", [3, 3], "reflect", None, None),
            ((53, 31), "float32", [5, 5], "wrap", None, None),
            ((3, 22, 64), "uint8", [1, 3, 3], "nearest", 30, None),
            ((7, 11, 13), "float32", [3, 3, 3], "mirror", None, "above"),
            ((9, 8, 6), "int32", [3, 1, 5], "wrap", 1e8, "both"),
            ((2, 5, 9, 7), "int16", [5, 3, 3], "constant", None, None),
            ((41, 17), "float64", [7, 9], "constant", 50.5, "below"),
            ((6, 3, 17), "uint64", [3, 5, 1], "reflect", None, "below"),
            ((5, 33, 37), "uint16", [5, 5], "reflect", 3000, "above"),
            ((5, 17), "int8", [9, 3], "wrap", None, None)]:
        array = any_values(random, shape, in_type)
        if array.dtype.kind == "f":
            array[~np.isfinite(array) | (array == 0)] = 1  # scipy has no order of NaN and zeros
        if array.dtype.itemsize == 8 and array.dtype.kind != "f":
            array >>= 12  # scipy computes in float64
        line = "" if difference is None else f"difference = {difference}\n"
        line += f'side = "{side}"\n' if side else ""
        least = 0 if difference is None and side in ("above", "below") else difference
        yield Case(f"{shape} {in_type} by {size}, {boundary}, {side}", array,
                   f'size = {size}\nboundary = "{boundary}"\nfill = 7\n{line}', None,
                   medians(array, size, boundary, 7, least, side or "both"))


def reduced(images, reduce):
    """Images with leading axes as one, float32."""
    images = images.reshape((-1, *images.shape[-2:])).astype(np.float64)
    if reduce == "median":
        return np.median(images, axis=0).astype(np.float32)
    if reduce == "trimmed":
        away = len(images) // 4
        images = np.sort(images, axis=0)[away:len(images) - away]
    total = np.zeros(images.shape[1:])
    for image in images:
        total += image
    return (total / len(images)).astype(np.float32)


def corrected(array, dark, flat, dead=0, clip=None, floor=None):
    """In float32; the logarithm in float64. And how many values were dead, and raised."""
    dark, flat = (np.broadcast_to(np.float32(field), array.shape) for field in (dark, flat))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        span = flat - dark
        good = (span > 0) & np.isfinite(span)
        t = np.where(good, (array.astype(np.float32) - dark) / span, np.float32(dead))
    if clip:
        t = np.where(t < np.float32(clip[0]), np.float32(clip[0]), t)
        t = np.where(t > np.float32(clip[1]), np.float32(clip[1]), t)
    raised = 0
    if floor:
        raised = int((t < np.float32(floor)).sum())
        t = np.where(t < np.float32(floor), np.float32(floor), t)
        with np.errstate(divide="ignore"):
            t = -np.log(t.astype(np.float64))
    assert t.dtype == (np.float64 if floor else np.float32)
    return t.astype(np.float32), int((~good).sum()), raised


def correct_cases(random):
    def images(count, shape, low, high, dtype="uint16"):
        return random.integers(low, high, (*count, *shape[-2:])).astype(dtype)

    for shape, in_type in [((5, 23, 31), "uint16"), ((53, 31), "float32"), ((2, 3, 9, 8), "int8"),
                           ((3, 17, 12), "int64"), ((4, 9, 7), "float64"), ((1, 1), "uint8")]:
        array = any_values(random, shape, in_type)
        darks, flats = images((3,), shape, 0, 50), images((4,), shape, 30, 200)
        yield Case(f"{shape} {in_type}", array,
                   'dark = { dataset = "/darks" }\n'
                   'flat = { dataset = "/flats", reduce = "median" }\ndead = -1.5', None,
                   corrected(array, reduced(darks, "mean"), reduced(flats, "median"), -1.5)[0],
                   {"darks": darks, "flats": flats})
    shape = (4, 21, 16)
    array = random.integers(0, 300, shape).astype("uint16")
    flat = images((), shape, 90, 200, "float32")
    yield Case("clip", array, 'dark = 10\nflat = { dataset = "/flat", reduce = "none" }\n'
               "clip = [0.25, 1.125]", None, corrected(array, 10, flat, 0, (0.25, 1.125))[0],
               {"flat": flat})
    yield Case("log", array, 'dark = 10\nflat = { dataset = "/flat", reduce = "none" }\n'
               "clip = [0, 1]\nnegative_log = true\nfloor = 0.001", None,
               corrected(array, 10, flat, 0, (0, 1), 0.001)[0], {"flat": flat})


NAN = np.full((3, 4), np.nan, np.float32)
PLAIN = np.arange(12, dtype=np.float32).reshape(3, 4)

CASES = {"bin": bin_cases, "correct": correct_cases, "median": median_cases, "rescale": rescale_cases}
REFUSALS = {
    "bin": [
        (2, ["bin.factors is missing"], PLAIN, "", None),
        (2, ["no whole block", "bin.factors"], PLAIN, "factors = [4, 1]", None),
        (3, ["more axes", "input.dataset"], PLAIN, "factors = [2, 1, 1]", None),
    ],
    "correct": [
        (2, ["correct has no dark field", "image_key"], PLAIN, "", None),
        (2, ["output.dtype", "float32"], PLAIN, "dark = 0\nflat = 1", "uint8"),
        (3, ["[1, 7]", "[3, 4]", "correct.flat"], PLAIN,
         'dark = 0\nflat = { file = "flat.h5", dataset = "/flat" }', None),
        (3, ["nowhere.h5"], PLAIN,
         'flat = 1\ndark = { file = "nowhere.h5", dataset = "/dark" }', None),
        (3, ["two axes", "input.dataset"], np.arange(4.0), "dark = 0\nflat = 1", None),
    ],
    "median": [
        (2, ["median.size", "odd"], PLAIN, "size = [3, 2]", None),
        (2, ["median.size", "343"], PLAIN, "size = [9, 9, 9]", None),
        (2, ["median.side", "above"], PLAIN, 'side = "over"', None),
        (2, ["output.dtype", "median"], PLAIN, "", "uint8"),
        (3, ["more axes", "input.dataset"], PLAIN, "size = [3, 3, 3]", None),
    ],
    "rescale": [
        (2, ["rescale.from is missing"], PLAIN, "", None),
        (2, ["rescale.from", "the first number"], PLAIN, "from = [2, 1]", None),
        (2, ["rescale.from", "factor"], PLAIN, "from = [0, 1e-320]", None),
        (3, ["no range", "NaN"], NAN, 'from = "extremes"', None),
        (3, ["cannot be rescaled", "inf"], np.array([[1, np.inf]]), 'from = "extremes"', None),
    ],
}
