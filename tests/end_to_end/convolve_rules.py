"""What convolution must make, as docs/convolve.md says, with fused multiply-adds of the C library:
cases and refusals for kind_runs.py. Checked against scipy, which sums in another order.
"""
import ctypes

import numpy as np
from scipy import ndimage

from kind_rules import Case, any_values, converted

PADDING = {"constant": "constant", "nearest": "edge", "reflect": "symmetric", "mirror": "reflect",
           "wrap": "wrap"}  # numpy's names
WIDE = ("int32", "uint32", "int64", "uint64", "float64")  # computed in float64


def fused(compute):
    name, number = ("fmaf", ctypes.c_float) if compute == np.float32 else ("fma", ctypes.c_double)
    function = getattr(ctypes.CDLL("libm.so.6"), name)
    function.argtypes, function.restype = [number] * 3, number
    return np.vectorize(function, otypes=[compute])


def one_pass(x, taps, axis, boundary, fill, fma):
    x = np.moveaxis(x, axis, -1)
    radius, extent = len(taps) // 2, x.shape[-1]
    how = {"constant_values": fill} if boundary == "constant" else {}
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(radius, radius)], PADDING[boundary], **how)
    with np.errstate(all="ignore"):
        sums = taps[-1] * x[..., :extent]
        for j in range(1, len(taps)):
            sums = fma(taps[-1 - j], x[..., j:j + extent], sums)
    return np.ascontiguousarray(np.moveaxis(sums, -1, axis))


def convolved(array, taps, boundary, fill, dtype):
    """`taps`: along a row, down a column and, of three, across layers."""
    compute = np.float64 if array.dtype.name in WIDE else np.float32
    fma = fused(compute)
    x = array.astype(compute)
    right = x.astype(np.float64)
    size = np.abs(right)
    for axis, own in zip((-1, -2, -3), taps):
        x = one_pass(x, own.astype(compute), axis, boundary, compute(fill), fma)
        assert x.dtype == compute
        right = ndimage.convolve1d(right, own, axis, mode=boundary, cval=fill)
        size = ndimage.convolve1d(size, abs(own), axis, mode=boundary, cval=abs(fill))
    good = np.isfinite(right)
    bound = size * np.finfo(compute).eps * (sum(map(len, taps)) + 4)
    assert (abs(x[good] - right[good]) <= bound[good]).all()
    return converted(x, dtype)


def list_of(taps):
    return str([float(tap) for tap in taps])


def cases(random):
    for shape, in_type, out_type, radii, boundary in [
            ((7, 11, 13), "float32", None, (2, 1, 2), "reflect"),
            ((5, 23, 31), "int16", None, (1, 2, 3), "mirror"),
            ((9, 8, 6), "uint32", "int32", (1, 1, 1), "wrap"),
            ((2, 5, 9, 7), "int64", "uint16", (2, 0, 4), "constant"),
            ((3, 1, 17), "float64", "float32", (3, 2, 9), "wrap"),
            ((2, 3, 4, 5), "float32", "int64", (1, 1, 2), "wrap"),
            ((1, 19, 12), "uint8", None, (1, 1, 2), "nearest"),
            ((13, 1, 1), "int8", "uint64", (1, 3, 5), "reflect"),
            ((19, 7, 5), "uint16", "uint8", (2, 2, 6), "wrap"),
            ((53, 31), "int32", None, (3, 2), "reflect"),
            ((3, 22, 16), "uint64", None, (1, 1), "wrap"),
            ((2, 17, 29), "int8", "float64", (5, 4), "constant")]:
        array = any_values(random, shape, in_type)
        taps = [random.normal(size=2 * r + 1) / (r + 1) for r in radii]
        keys = "".join(f"{name}_taps = {list_of(own)}\n"
                       for name, own in zip(("row", "column", "depth"), taps))
        yield Case(f"{shape} {in_type} to {out_type or in_type}, radii {radii}, {boundary}", array,
                   f'{keys}boundary = "{boundary}"\nfill = 1.5\n', out_type,
                   convolved(array, taps, boundary, 1.5, out_type or in_type))


IMAGE = np.arange(12, dtype=np.float32).reshape(3, 4)
TAPS = "row_taps = [1.0]\ncolumn_taps = [1.0]\n"
REFUSALS = [
    (3, ["depth_taps", "third axis", "input.dataset", "[3, 4]", "Leave depth_taps out"], IMAGE,
     TAPS + "depth_taps = [0.5, 0.5, 0.0]", None),
    (2, ["convolve.depth_taps", "odd number", "got 2"], IMAGE, TAPS + "depth_taps = [0.5, 0.5]", None),
    (2, ["convolve.depth_taps", "an array or a table"], IMAGE, TAPS + "depth_taps = 3", None),
    (2, ["convolve.depth_taps", "float32"], IMAGE.reshape(3, 2, 2), TAPS + "depth_taps = [1e39]", None),
    (2, ["convolve.column_taps is missing"], IMAGE, "row_taps = [1.0]", None),
]
