"""What joining half acquisitions must make, as docs/stitch.md says, in numpy: cases and refusals for kind_runs.py."""
import numpy as np

from kind_rules import Case, any_values, converted


def joined(first, second, overlap, side, blend="linear", dtype=None):
    """Frames and those from the opposite side: (…, columns) each. With `linear` and two columns or more the
    arithmetic is that of tomopy.misc.morph.sino_360_to_180 for floats."""
    columns = first.shape[-1]
    dtype = np.dtype(dtype or first.dtype)
    as_is = (lambda x: x) if dtype == first.dtype else (lambda x: converted(x.astype("f8"), dtype))
    made = np.empty((*first.shape[:-1], 2 * columns - overlap), dtype)
    alone = columns - overlap
    if side == "left":
        made[..., columns:] = as_is(first[..., overlap:])
        made[..., :alone] = as_is(second[..., overlap:][..., ::-1])
        a, b = first[..., :overlap], second[..., :overlap]
        weights, takes_a = np.linspace(0, 1.0, overlap), np.arange(overlap) >= overlap // 2
    else:
        made[..., :alone] = as_is(first[..., :alone])
        made[..., columns:] = as_is(second[..., :alone][..., ::-1])
        a, b = first[..., alone:], second[..., alone:]
        weights, takes_a = np.linspace(1.0, 0, overlap), np.arange(overlap) < overlap - overlap // 2
    if overlap == 1:
        weights = np.array([0.5])
    if blend == "none":
        made[..., alone:columns] = np.where(takes_a, as_is(a), as_is(b[..., ::-1]))
    else:
        with np.errstate(invalid="ignore"):
            made[..., alone:columns] = converted(weights * a.astype("f8") + (weights * b.astype("f8"))[..., ::-1],
                                                 dtype)
    return made


def stitched(array, overlap, side, blend="linear", order="projections", dtype=None):
    """`array`: angle, row, column, or angle, column, with any axes before them."""
    axis = array.ndim - (3 if order == "projections" else 2)
    pairs = array.shape[axis] // 2
    first = array.take(range(pairs), axis)
    second = array.take(range(pairs, 2 * pairs), axis)
    return joined(first, second, overlap, side, blend, dtype)


# Shape, type, overlap, side, further keys and the output's type.
ROWS = [
    ((10, 7, 23), "float32", 8, "left", {}, None),
    ((14, 5, 31), "float64", 13, "right", {}, None),
    ((8, 11, 17), "uint16", 6, "right", {}, None),
    ((8, 11, 17), "uint8", 1, "left", {}, None),
    ((6, 13, 1), "int16", 1, "right", {}, None),
    ((6, 3, 19), "int64", 5, "left", {"blend": "none"}, None),
    ((2, 29, 5), "uint64", 5, "right", {}, None),
    ((4, 9, 14), "int8", 0, "right", {}, "float32"),
    ((12, 6, 13), "uint16", 7, "left", {}, "float64"),
    ((5, 8, 15), "float32", 4, "right", {"order": "sinograms"}, None),
    ((16, 21), "float32", 11, "left", {"order": "sinograms", "blend": "none"}, "int16"),
    ((3, 4, 5, 9), "int32", 3, "right", {}, None),
]


def cases(random):
    for shape, dtype, overlap, side, keys, made in ROWS:
        array = any_values(random, shape, dtype)
        text = f'overlap = {overlap}\nside = "{side}"\n' + "".join(f'{key} = "{keys[key]}"\n' for key in keys)
        yield Case(f"{side} {overlap} of {shape} {dtype} {made} {keys}", array, text, made,
                   stitched(array, overlap, side, dtype=made, **keys))


PLAIN = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
REFUSALS = [
    (2, ["stitch.overlap is missing", "stitch.side is missing"], PLAIN, "", None),
    (2, ["overlap is wider", "stitch.overlap", "it is 5", "4 columns"], PLAIN, 'overlap = 5\nside = "left"', None),
    (3, ["more axes", 'order = "sinograms"'], PLAIN[0], 'overlap = 1\nside = "left"', None),
    (3, ["no frame from the opposite side"], PLAIN[:1], 'overlap = 1\nside = "left"', None),
]
