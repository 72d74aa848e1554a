"""What reductions must make, as docs/reduce.md says, in numpy: cases and refusals for kind_runs.py."""
import numpy as np

from kind_rules import Case, any_values, converted

LANES, PIECE = 128, 65536


def sums(values):
    """Sums of float64 along the first axis, in the order that the page gives."""
    total = np.zeros(values.shape[1:])
    for first in range(0, len(values), PIECE):
        piece = values[first:first + PIECE]
        partial = np.zeros((LANES, *values.shape[1:]))
        for at in range(0, len(piece), LANES):
            some = piece[at:at + LANES]
            partial[:len(some)] += some
        half = LANES
        while half > 1:
            half //= 2
            partial[:half] += partial[half:2 * half]
        total += partial[0]
    return total


def by_order(values, percentiles):
    """The lower of the two elements that a percentile lies between; a NaN where a place has one."""
    ranks = [int(p * (len(values) - 1) / 100) for p in percentiles]
    if values.dtype.kind == "f":
        ordered = np.take_along_axis(values, np.lexsort((~np.signbit(values), values), 0), 0)[ranks]
        ordered[:, np.isnan(values).any(0)] = np.nan
        return ordered
    return np.sort(values, 0)[ranks]


def of_places(values, operation, dtype, percentiles, bins, ends):
    """Results of elements × places; those of several elements are × places too."""
    kind = values.dtype.kind
    wide = values.astype(np.float64)
    if operation == "histogram":
        edges = np.linspace(*ends, bins + 1)
        return np.stack([np.histogram(column[np.isfinite(column)], edges)[0] for column in wide.T], 1).astype("u8")
    if operation in ("min", "max", "median", "percentiles"):
        which = {"min": [0], "max": [100], "median": [50]}.get(operation, percentiles)
        found = by_order(values, which)
        return found if operation == "percentiles" else found[0]
    with np.errstate(invalid="ignore", over="ignore"):
        exact = np.sum(values.astype(object), 0) if kind in "iu" else sums(wide)
        if operation == "sum":
            limits = np.iinfo(dtype) if kind in "iu" else None
            return (np.array([min(max(each, limits.min), limits.max) for each in exact], dtype)
                    if kind in "iu" else exact)
        means = exact.astype(np.float64) / len(values)
        if operation == "std":
            means = np.sqrt(sums((wide - means) ** 2) / len(values))
    return converted(means, dtype)


def type_of(array, operation):
    if operation in ("mean", "std"):
        return np.dtype("f8" if array.dtype == np.float64 else "f4")
    if operation == "sum":
        return np.dtype({"i": "i8", "u": "u8", "f": "f8"}[array.dtype.kind])
    return np.dtype("u8") if operation == "histogram" else array.dtype


def reduced(array, axes, operation, dtype=None, percentiles=(), bins=0, ends=None):
    """`axes`: numbers of those that are reduced. What elements of a result are is a last axis."""
    dtype = np.dtype(dtype or type_of(array, operation))
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    shape = [array.shape[axis] for axis in kept]
    values = array.transpose(*sorted(axes), *kept).reshape(-1, int(np.prod(shape)))
    found = of_places(values, operation, dtype, percentiles, bins, ends)
    if found.ndim > 1:
        return np.ascontiguousarray(found.T).reshape(*shape, len(found))
    return found.reshape(shape or [1])


# Shape, type, axes by name and by number, operation and its keys.
ROWS = [
    ((13, 17, 11), "uint16", '["z"]', (0,), "max", {}),
    ((13, 17, 11), "float32", '["frame"]', (0,), "mean", {}),
    ((301, 7, 5), "float64", '["z"]', (0,), "std", {}),
    ((5, 23, 19), "int32", '"frame"', (1, 2), "mean", {}),
    ((31, 12), "int8", '["y"]', (0,), "sum", {}),
    ((6, 9, 20), "uint64", '["x", "z"]', (0, 2), "min", {}),
    ((9, 14, 13), "float32", '["z"]', (0,), "median", {}),
    ((9, 14, 13), "int64", '["x"]', (2,), "percentiles", {"percentiles": (99, 0.5, 50)}),
    ((11, 3, 5), "float64", '["z"]', (0,), "histogram", {"bins": 4, "ends": (-100, 150.5)}),
    ((2, 3, 5, 7), "uint32", '["z"]', (1,), "sum", {}),
    ((211,), "float32", '["x"]', (0,), "sum", {}),
    ((5, 8, 6), "float64", '["z", "y", "x"]', (0, 1, 2), "max", {}),
]


def cases(random):
    for shape, dtype, names, axes, operation, keys in ROWS:
        array = any_values(random, shape, dtype)
        text = f'operation = "{operation}"\nover = {names}\n'
        if "percentiles" in keys:
            text += f'percentiles = {list(keys["percentiles"])}\n'
        if "bins" in keys:
            text += f'bins = {keys["bins"]}\nfrom = {list(keys["ends"])}\n'
        yield Case(f"{operation} over {names} of {shape} {dtype}", array, text, None,
                   reduced(array, axes, operation, **keys))
    array = any_values(random, (6, 10, 9), "uint16")
    yield Case("mean of the input's type", array, 'operation = "mean"\nover = ["z"]', "uint16",
               reduced(array, (0,), "mean", "uint16"))


PLAIN = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
REFUSALS = [
    (2, ["reduce.operation is missing", "reduce.over is missing"], PLAIN, "", None),
    (2, ["no such axis", "reduce.over", '"t"', "z or frame, y, x"], PLAIN,
     'operation = "max"\nover = ["t"]', None),
    (2, ["reduce.over", "twice"], PLAIN, 'operation = "max"\nover = ["x", "x"]', None),
    (2, ["reduce.bins is missing", "reduce.from is missing"], PLAIN,
     'operation = "histogram"\nover = "frame"', None),
    (2, ["reduce.percentiles", "operation"], PLAIN,
     'operation = "mean"\nover = "frame"\npercentiles = [1]', None),
    (2, ["output.dtype", "float32"], PLAIN, 'operation = "max"\nover = "frame"', "uint8"),
    (2, ["no frames", "reduce.over"], np.arange(4.0), 'operation = "max"\nover = "frame"', None),
]
