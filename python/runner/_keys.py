"""Values of keys from Python's."""
from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def numbers(taps: Any) -> Any:
    """A list of floats; None and a table, as of gaussian(), as they are."""
    return taps if taps is None or isinstance(taps, Mapping) else list(map(float, taps))


def axis_order(x: Any, axes: Sequence[int]) -> list[int]:
    """The axes of `x` in the order of the result's, each counted from the front."""
    ndim = x.ndim if hasattr(x, "ndim") else np.ndim(x)
    order = [axis + ndim if axis < 0 else axis for axis in map(operator.index, axes)]
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"axes are {list(axes)}, and the array has {ndim} axes")
    return order
