"""Image jobs on arrays: the kernels and the streaming engine of the program `runner`.

Every function takes a numpy array, or anything that numpy reads without a copy, and returns numpy
arrays. The array streams through the engine in chunks, on the cores or on a GPU, so it may be far
larger than the GPU's memory. An array on a GPU (cupy, torch, any other with ``__dlpack__``) is
worked on where it is, on the caller's current stream, and the result is an array of the same
library. The result has the bytes of the same job from files.

All functions take these keywords too:

out : array, optional
    The array to write. Its shape and type must be the result's, and it is where the input is. It
    may be, or overlap, the input.
stream : int, cupy.cuda.Stream or torch.cuda.Stream, optional
    Of an array on a GPU: the stream to work on, by default the library's current one.
backend : {"auto", "cpu", "cuda"}
    Of an array of the host: where to compute; "auto" takes a GPU if there is one.
device : int
    Of an array of the host: CUDA's number of the GPU.
device_memory, host_memory : str, optional
    Of an array of the host: the most that a job may take beside the arrays, as "8GiB".
progress : callable, optional
    Of an array of the host: called with the rows that are done and their number, from the calling
    thread.

Failures raise :class:`runner.Error` or one of its subclasses. Ctrl-C ends a call within a second.
"""
from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _arrays
from ._arrays import release_memory
from ._host import type_text
from .errors import (DeviceError, Error, InputError, JobError, OutputError, ResourceError, Stopped)
from .jobs import Plan, plan, run
from .stored import Stored, read

__version__ = "0.1.0"
__all__ = ["DeviceError", "Error", "InputError", "JobError", "OutputError", "Plan",
           "ResourceError", "Stopped", "Stored", "bin", "convolve", "correct", "denoise", "gaussian",
           "match", "median", "pipeline", "plan", "read", "release_memory", "rescale", "run", "sand",
           "transpose"]


def gaussian(sigma: float, radius: int | None = None) -> dict[str, dict[str, float | int]]:
    """The taps of a Gaussian, for :func:`convolve`. The radius is 4 sigma by default.

    >>> gaussian(2.0)
    {'gaussian': {'sigma': 2.0}}
    """
    taps: dict[str, float | int] = {"sigma": float(sigma)}
    if radius is not None:
        taps["radius"] = radius
    return {"gaussian": taps}


def convolve(x: Any, row_taps: Any, column_taps: Any, depth_taps: Any = None, *, boundary: str | None = None,
             fill: float | None = None, dtype: Any = None, channels: int | None = None,
             **options: Any) -> Any:
    """Convolves images along both of their axes, and volumes along a third.

    Parameters
    ----------
    x : array of at least two axes
        Images; leading axes count them.
    row_taps, column_taps, depth_taps : sequence of float, or gaussian()
        The weights along a row, along a column and along the axis before these; an odd number.
    boundary : {"reflect", "constant", "nearest", "mirror", "wrap"}, optional
        What lies beyond the border.
    fill : float, optional
        The value beyond the border, of "constant".
    dtype : optional
        The result's type; the input's by default.
    channels : {1, 3, 4}, optional
        3 or 4: the last axis is colour, and each channel is filtered by itself.

    >>> convolve(np.eye(3), [1.0], [1.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    keys = {"row_taps": _taps(row_taps), "column_taps": _taps(column_taps),
            "depth_taps": None if depth_taps is None else _taps(depth_taps),
            "boundary": boundary, "fill": fill}
    return _arrays.run("convolve", x, keys, dtype=dtype, channels=channels, **options)[0]


def transpose(x: Any, axes: Sequence[int], **options: Any) -> Any:
    """A dense copy with the axes in another order, as
    ``numpy.ascontiguousarray(x.transpose(axes))``.

    Parameters
    ----------
    x : array of two or three axes, of any elements of 1, 2, 4, 8 or 16 bytes
    axes : sequence of int
        The input's axes in the order of the result's.

    >>> transpose(np.arange(6).reshape(1, 2, 3), (2, 1, 0)).shape
    (3, 2, 1)
    """
    ndim = x.ndim if hasattr(x, "ndim") else np.ndim(x)
    order = [axis + ndim if axis < 0 else axis for axis in map(operator.index, axes)]
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"axes are {list(axes)}, and the array has {ndim} axes")
    return _arrays.run("transpose", x, {"permutation": order}, moves=True, **options)[0]



def match(x: Any, **options: Any) -> tuple[Any, Any, Any]:
    """For every patch of a volume the most similar patches near it.

    Parameters
    ----------
    x : array of three axes, or of two
    patch, window : sequence of int
        Extents of a patch and of the window that it is compared with, z, y, x.
    count, step, threshold, order : optional
        As in a job file (docs/match.md).

    Returns
    -------
    index, distance, count : numpy.ndarray
    """
    keys, rest = _parameters(options, ("patch", "window", "count", "step", "threshold", "order"))
    index, distance, count = _arrays.run("match", x, keys, **rest)
    return index, distance, count


def correct(x: Any, dark: Any, flat: Any, *, dead: float | None = None,
            clip: Sequence[float] | None = None, negative_log: bool | None = None,
            floor: float | None = None, **options: Any) -> Any:
    """Corrects frames for dark and flat field: ``(x - dark) / (flat - dark)``, as float32.

    Parameters
    ----------
    x : array of at least two axes
        Frames of rows and columns; leading axes count them.
    dark, flat : float, array, or dict
        A number; an image of a frame's extents; images, of which the mean is taken; or
        ``dict(images=array, reduce="median")``.
    dead : float, optional
        The value where `flat` is not above `dark`; 0 by default.
    clip : [low, high], optional
        What results are limited to.
    negative_log : bool, optional
        Takes the negative logarithm, of values raised to `floor`.

    >>> correct(np.array([[1.0, 3.0], [2.0, 5.0]]), 1.0, np.full((2, 2), 5.0))
    array([[0.  , 0.5 ],
           [0.25, 1.  ]], dtype=float32)
    """
    keys = {"dark": dark, "flat": flat, "dead": dead,
            "clip": None if clip is None else list(clip), "negative_log": negative_log,
            "floor": floor}
    return _arrays.run("correct", x, keys, **options)[0]


def denoise(x: Any, **options: Any) -> Any:
    """Denoises a volume or an image by its similar patches.

    Parameters
    ----------
    x : array of three axes, or of two
    method : {"nlm", "bm4d"}, optional
    sigma, strength, stabilise, patch, window, count, step : optional
        As in a job file (docs/denoise.md); ``count="all"`` averages whole windows.
    """
    keys, rest = _parameters(options, _DENOISE)
    return _arrays.run("denoise", x, keys, **rest)[0]


def median(x: Any, size: Sequence[int], *, boundary: str | None = None, fill: float | None = None,
           difference: float | None = None, **options: Any) -> Any:
    """Medians of windows; with `difference` only where an element differs by more than that.

    Parameters
    ----------
    size : sequence of int
        z, y, x or y, x; odd, at most 9 each.

    >>> median(np.array([[1, 1, 1], [1, 9, 1], [1, 1, 1]], np.uint8), [3, 3])
    array([[1, 1, 1],
           [1, 1, 1],
           [1, 1, 1]], dtype=uint8)
    """
    keys = {"size": list(size), "boundary": boundary, "fill": fill, "difference": difference}
    return _arrays.run("median", x, keys, **options)[0]


def rescale(x: Any, from_: Any, to: Sequence[float] | None = None, *, dtype: Any = None,
            **options: Any) -> Any:
    """Maps values linearly to another range and type.

    Parameters
    ----------
    from_ : [low, high], "extremes" or {"percentiles": [p, q]}
        The values that become the ends of `to`.
    to : [low, high], optional
        By default the whole range of an integer type, and [0, 1] of a floating one.

    >>> rescale(np.array([[0.0, 0.5, 1.0]]), [0, 1], dtype="uint8")
    array([[  0, 128, 255]], dtype=uint8)
    """
    return _arrays.run("rescale", x, {"from": from_, "to": to}, dtype=dtype, **options)[0]


def bin(x: Any, factors: Sequence[int], *, value: str | None = None,  # noqa: A001
        edge: str | None = None, dtype: Any = None, **options: Any) -> Any:
    """Means, or with ``value="sum"`` sums, of blocks of elements.

    >>> bin(np.array([[1.0, 3.0], [5.0, 7.0]]), [2, 2])
    array([[4.]])
    """
    keys = {"factors": list(factors), "value": value, "edge": edge}
    return _arrays.run("bin", x, keys, dtype=dtype, **options)[0]


def sand(state: Any, generations: int, *, snapshot_every: int | None = None,
         seed: int | None = None, chances: Mapping[str, float] | None = None,
         **options: Any) -> Any:
    """Runs the falling-sand automaton; returns the snapshots as frames of cells.

    Parameters
    ----------
    state : uint8 array of two axes
        A byte a cell: 0 empty, 1 water, 2 sand, 3 wall (docs/sand.md).
    """
    keys = {"generations": generations, "snapshot_every": snapshot_every, "seed": seed,
            "chances": chances}
    return _arrays.run("sand", state, keys, **options)[0]


def pipeline(x: Any, steps: Sequence[Mapping[str, Any]], **options: Any) -> Any:
    """Several steps in as few passes over the array as a job file's ``[[step]]`` tables take.

    >>> pipeline(np.ones((4, 4)), [dict(kind="bin", factors=[2, 2]),
    ...                            dict(kind="rescale", **{"from": [0, 2]}, dtype="uint8")])
    array([[128, 128],
           [128, 128]], dtype=uint8)
    """
    texts = [{key: type_text(value) if key == "dtype" else value
              for key, value in step.items()} for step in steps]
    return _arrays.run(None, x, texts, **options)[0]


_DENOISE = ("method", "sigma", "strength", "stabilise", "patch", "window", "count", "step",
            "threshold", "gain", "offset")


def _parameters(options: dict[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that are keys of the kind, and the others."""
    keys = {name: value for name, value in options.items() if name in names}
    return keys, {name: value for name, value in options.items() if name not in names}


def _taps(taps: Any) -> Any:
    return taps if isinstance(taps, (dict, Mapping)) else list(map(float, taps))
