"""A slow numpy reference of what kinds make of described data, from the rules in the documentation.

It knows which axis is which, which elements are invalid, and whether the last axis is colour.
"""
import dataclasses
import itertools
import math

import numpy as np

from denoise_rule import window_means
from stitch_rules import joined
from stripes_rules import by_sorting


@dataclasses.dataclass(frozen=True)
class Data:
    """An array, and what its axes and elements are."""

    values: np.ndarray
    names: tuple  # of each axis; "" where nothing says
    spacing: tuple  # of each axis; None where nothing says
    colour: bool = False  # the last axis has the samples of pixels
    invalid: float = None  # the number that invalid elements are; None: all are values

    @property
    def valid(self):
        return is_valid(self.values, self.invalid)

    @property
    def frame_axes(self):
        """How many axes there are without the samples of colour."""
        return self.values.ndim - self.colour


def is_valid(values, invalid):
    if invalid is None:
        return np.ones(values.shape, bool)
    given = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(values.shape, bool)
    return given if math.isnan(invalid) else given & (values != invalid)


def invalid_number(invalid, dtype):
    """What invalid elements become in a type: NaN in floats, else the number or the type's largest."""
    if invalid is None or np.dtype(dtype).kind == "f":
        return None if invalid is None else math.nan
    limits = np.iinfo(dtype)
    fits = not math.isnan(invalid) and limits.min <= invalid <= limits.max and invalid == int(invalid)
    return int(invalid) if fits else limits.max


def converted(numbers, dtype):
    """Rounded to nearest, ties to even, and saturated; NaN becomes 0 in integers."""
    if np.dtype(dtype).kind == "f":
        return numbers.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.nan_to_num(np.rint(numbers), posinf=limits.max, neginf=limits.min), limits.min,
                   limits.max).astype(dtype)


def stored(data, numbers, valid, dtype, **changes):
    """The output of a step: numbers where valid, else the invalid number of its type."""
    invalid = invalid_number(data.invalid, dtype)
    values = converted(np.where(valid, numbers, 0), dtype)
    if invalid is not None:
        values[~valid] = invalid
    return dataclasses.replace(data, values=values, invalid=invalid, **changes)


def shifted(array, axis, by, boundary, beyond):
    """The elements `by` places further along an axis."""
    count = array.shape[axis]
    at = np.arange(count) + by
    inside = (at >= 0) & (at < count)
    if boundary == "reflect":
        at %= 2 * count
        at = np.where(at < count, at, 2 * count - 1 - at)
    elif boundary == "mirror":
        at %= max(2 * count - 2, 1)
        at = np.where(at < count, at, 2 * count - 2 - at)
    elif boundary == "wrap":
        at %= count
    else:
        at = np.clip(at, 0, count - 1)
    found = np.take(array, at, axis)
    if boundary == "constant":
        place = [1] * array.ndim
        place[axis] = count
        found = np.where(inside.reshape(place), found, beyond)
    return found


def summed(array, axes_and_taps, boundary, beyond):
    for axis, taps in axes_and_taps:
        array = sum(tap * shifted(array, axis, len(taps) // 2 - at, boundary, beyond)
                    for at, tap in enumerate(taps))
    return array


def convolve(data, row_taps, column_taps, depth_taps=None, boundary="reflect", fill=0.0, dtype=None):
    axes = data.frame_axes
    passes = [(axes - 1, row_taps), (axes - 2, column_taps)] + ([(axes - 3, depth_taps)] if depth_taps else [])
    valid = data.valid
    numbers = summed(np.where(valid, data.values, 0).astype("f8"), passes, boundary, fill)
    if data.invalid is not None:
        if all(min(taps) >= 0 or max(taps) <= 0 for _, taps in passes):
            weights = summed(valid.astype("f8"), passes, boundary, 1.0)
            valid = valid & (weights != 0)
            numbers = np.divide(numbers, weights, where=weights != 0, out=np.zeros_like(numbers))
        else:
            met = summed((~valid).astype("f8"), [(axis, [float(tap != 0) for tap in taps]) for axis, taps in passes],
                         boundary, 0.0)
            valid = valid & (met == 0)
    return stored(data, numbers, valid, dtype or data.values.dtype)


def median(data, size, boundary="reflect", fill=0.0, difference=None):
    axes = data.frame_axes
    size = [1] * (3 - len(size)) + list(size)
    beyond = converted(np.array(fill), data.values.dtype)
    ranges = [range(-(extent // 2), extent // 2 + 1) for extent in size]
    windows, valids = [], []
    for steps in itertools.product(*ranges):
        values, valid = data.values, data.valid
        for axis, by in zip(range(axes - 3, axes), steps):
            if by:
                values = shifted(values, axis, by, boundary, beyond)
                valid = shifted(valid, axis, by, boundary, True)
        windows.append(values.astype("f8"))
        valids.append(valid)
    valids = np.array(valids)
    ordered = np.sort(np.where(valids, np.array(windows), np.inf), axis=0)
    middle = np.maximum(valids.sum(axis=0) - 1, 0) // 2
    found = np.take_along_axis(ordered, middle[None], 0)[0]
    values = data.values.astype("f8")
    if difference is not None:
        found = np.where(np.abs(values - found) > difference, found, values)
    return stored(data, found, data.valid, data.values.dtype)


def block_sums(array, axis, factor, edge):
    count = array.shape[axis]
    whole = count // factor * factor
    if edge == "partial" and whole < count:
        missing = [(0, whole + factor - count if at == axis else 0) for at in range(array.ndim)]
        array = np.pad(array, missing)
    else:
        array = np.take(array, range(whole), axis)
    shape = array.shape
    return array.reshape(*shape[:axis], -1, factor, *shape[axis + 1:]).sum(axis=axis + 1)


def bin_blocks(data, factors, value="mean", edge="drop", dtype=None):
    axes = data.frame_axes
    numbers, counts = np.where(data.valid, data.values, 0).astype("f8"), data.valid.astype("i8")
    spacing = list(data.spacing)
    for axis, factor in zip(range(axes - len(factors), axes), factors):
        if axis >= 0:
            numbers, counts = (block_sums(array, axis, factor, edge) for array in (numbers, counts))
            even = edge == "drop" or data.values.shape[axis] % factor == 0
            spacing[axis] = spacing[axis] * factor if spacing[axis] and even else None
    if value == "mean":
        numbers = numbers / np.maximum(counts, 1)
    dtype = dtype or (data.values.dtype if value == "mean" else "f8")
    return stored(data, numbers, counts > 0, dtype, spacing=tuple(spacing))


def rescale(data, given, to=None, dtype=None):
    dtype = np.dtype(dtype or data.values.dtype)
    values, valid = data.values.astype("f8"), data.valid
    low, high = (values[valid].min(), values[valid].max()) if given == "extremes" else given
    if to is None:
        to = (0, 1) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if high == low:
        return stored(data, np.full(values.shape, float(to[0])), valid, dtype)
    numbers = (np.where(valid, values, low) - low) * ((to[1] - to[0]) / (high - low)) + to[0]
    return stored(data, np.clip(numbers, min(to), max(to)), valid, dtype)


def correct(data, dark, flat, dead=0.0):
    """`dark` and `flat`: numbers, or images of a frame's extents."""
    dark, flat = np.float32(dark), np.float32(flat)
    below = np.broadcast_to(~(flat - dark > 0), data.values.shape)
    with np.errstate(all="ignore"):
        numbers = (np.where(data.valid, data.values, 0).astype("f4") - dark) / (flat - dark)
    if dead == "invalid":
        data, valid = dataclasses.replace(data, invalid=math.nan), data.valid & ~below
        return stored(data, numbers, valid, "f4")
    return stored(data, np.where(below, np.float32(dead), numbers), data.valid, "f4")


def field(images, reduce, invalid=None):
    """The image that several become, of valid elements alone; a single image has no leading axis."""
    valid = is_valid(images, invalid)
    images = np.ma.masked_array(images.astype("f8"), ~valid)
    if reduce != "none":
        images = images.mean(axis=0) if reduce == "mean" else np.ma.median(images, axis=0)
    return np.ma.filled(images.astype("f4"), math.nan)


def found_near(values, valid, at, reach, method):
    """What fills the element `at` of a frame [z, y, x]; None where none is in reach."""
    low = [max(0, i - r) for i, r in zip(at, reach)]
    high = [min(n, i + r + 1) for i, r, n in zip(at, reach, values.shape)]
    if method == "mean":
        for cube in range(1, max(reach) + 1):
            part = tuple(slice(max(a, i - cube), min(b, i + cube + 1)) for a, b, i in zip(low, high, at))
            if valid[part].any():
                return values[part][valid[part]].astype("f8").mean()
        return None
    best = None
    for place in itertools.product(*(range(a, b) for a, b in zip(low, high))):
        distance = sum((a - b) ** 2 for a, b in zip(place, at))
        if valid[place] and (best is None or distance < best[0]):
            best = distance, values[place]
    return best and best[1]


def fill(data, method="nearest", value=0.0, reach=(0, 16, 16), rest=None):
    reach = [0] * (3 - len(reach)) + list(reach)
    dtype, valid = data.values.dtype, data.valid
    removed = rest is not None or method == "number"
    numbers = np.where(valid, data.values, 0).astype("f8")
    if method == "number":
        numbers[~valid], left = value, np.ones_like(valid)
    else:
        axes, left = min(data.frame_axes, 3 if reach[0] else 2), valid.copy()
        moved = [np.moveaxis(a, -1, 0) if data.colour else a for a in (data.values, valid, numbers, left)]
        frames = [a.reshape(-1, *([1] * (3 - axes)), *a.shape[a.ndim - axes:]) for a in moved]
        results = [a.copy() for a in frames[2:]]
        for frame in range(len(frames[0])):
            for at in zip(*np.nonzero(~frames[1][frame])):
                found = found_near(frames[0][frame], frames[1][frame], at, reach, method)
                if found is not None or removed:
                    results[0][frame][at] = rest if found is None else found
                    results[1][frame][at] = True
        numbers, left = (np.moveaxis(a.reshape(b.shape), 0, -1) if data.colour else a.reshape(b.shape)
                         for a, b in zip(results, moved[2:]))
    out = stored(data, numbers, left, dtype)
    return dataclasses.replace(out, invalid=None) if removed else out


def transpose(data, permutation):
    moved = {name: tuple(getattr(data, name)[axis] for axis in permutation) for name in ("names", "spacing")}
    last = permutation[-1] == len(permutation) - 1
    return dataclasses.replace(data, values=np.ascontiguousarray(data.values.transpose(permutation)),
                               colour=data.colour and last, **moved)


def each_sample(data, axes, make):
    """What `make` makes of frames of so many axes, of each sample by itself."""
    values = np.moveaxis(data.values, -1, 0) if data.colour else data.values
    frames = [make(frame) for frame in values.reshape(-1, *values.shape[values.ndim - axes:])]
    made = np.stack(frames).reshape(values.shape)
    return np.ascontiguousarray(np.moveaxis(made, 0, -1) if data.colour else made)


def stripes(data, size):
    return dataclasses.replace(data, values=each_sample(data, 2, lambda frame: by_sorting(frame, size)))


def stitch(data, overlap, side, blend, order):
    """An invalid element in the overlap takes that of the other half."""
    values, valid = (np.moveaxis(a, -1, 0) if data.colour else a for a in (data.values, data.valid))
    axis = values.ndim - (3 if order == "projections" else 2)
    pairs, columns = values.shape[axis] // 2, values.shape[-1]
    first, second = (values.take(range(at, at + pairs), axis) for at in (0, pairs))
    good_first, good_second = (valid.take(range(at, at + pairs), axis) for at in (0, pairs))
    made = joined(first, second, overlap, side, blend)
    left = joined(good_first.astype("u1"), good_second.astype("u1"), overlap, side, "none").astype(bool)
    own = np.s_[..., :overlap] if side == "left" else np.s_[..., columns - overlap:]
    shared = np.s_[..., columns - overlap:columns]
    a, b = good_first[own], good_second[own][..., ::-1]
    left[shared] = a | b
    made[shared] = np.where(a & b, made[shared], np.where(a, first[own], second[own][..., ::-1]))
    made, left = (np.ascontiguousarray(np.moveaxis(x, 0, -1) if data.colour else x) for x in (made, left))
    invalid = invalid_number(data.invalid, made.dtype)
    if invalid is not None:
        made[~left] = invalid
    return dataclasses.replace(data, values=made, invalid=invalid)


def denoise(data, sigma, patch, window, count="all"):
    assert count == "all"

    def make(frame):
        volume = frame.reshape((1,) * (3 - frame.ndim) + frame.shape)
        return window_means(volume, sigma, 0.6, tuple(patch), tuple(window)).reshape(frame.shape).astype("f4")

    return dataclasses.replace(data, values=each_sample(data, data.frame_axes, make))


KINDS = {"convolve": convolve, "median": median, "bin": bin_blocks, "rescale": rescale, "correct": correct,
         "denoise": denoise, "fill": fill, "stitch": stitch, "stripes": stripes, "transpose": transpose}
