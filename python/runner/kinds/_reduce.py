"""The kind reduce.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._arrays import DeviceArray, HostArray, Options


@overload
def reduce(x: DeviceArray, operation: Literal["mean", "sum", "min", "max", "std", "median",
           "histogram", "percentiles"], over: Sequence[str] | str, *,
           percentiles: Sequence[float] | None = ..., bins: int | None = ...,
           from_: Sequence[float] | None = ..., **options: Unpack[Options]) -> Any: ...


@overload
def reduce(x: HostArray, operation: Literal["mean", "sum", "min", "max", "std", "median",
           "histogram", "percentiles"], over: Sequence[str] | str, *,
           percentiles: Sequence[float] | None = ..., bins: int | None = ...,
           from_: Sequence[float] | None = ..., **options: Unpack[Options]) -> NDArray[Any]: ...


def reduce(x: Any, operation: Literal["mean", "sum", "min", "max", "std", "median", "histogram",
           "percentiles"], over: Sequence[str] | str, *, percentiles: Sequence[float] | None = None,
           bins: int | None = None, from_: Sequence[float] | None = None,
           **options: Unpack[Options]) -> Any:
    """Projections, means of frames, histograms and percentiles.

    Parameters
    ----------
    x : array
        Array of one axis or more.
    operation : Literal["mean", "sum", "min", "max", "std", "median", "histogram", "percentiles"]
        ``mean``, ``sum``, ``min``, ``max``, ``std``, ``median``, ``histogram`` or ``percentiles``:
        what is computed.
    over : Sequence[str] | str
        The axes that are reduced. ``["z"]`` projects a volume along z, ``["frame"]`` makes one of
        all frames, and ``"frame"`` or ``["y", "x"]`` makes a result of each frame.
    percentiles : Sequence[float], default none
        Of operation ``percentiles``: which ones; each from 0 to 100.
    bins : int, default none
        Of operation ``histogram``: the number of bins; 1 to 16777216.
    from_ : Sequence[float], default none
        Of operation ``histogram``: where the first bin begins and the last ends; ``[low, high]``;
        in units of the input.
    **options
        What every function takes: see the package.

    Axes of an array have no names: the last two are y and x, the one before them z.

    docs/reduce.md says what is computed.

    >>> reduce(np.array([[[1, 5]], [[3, 4]]], np.uint8), "max", ["z"])
    array([[3, 5]], dtype=uint8)
    """
    keys = {"operation": operation, "over": over, "percentiles": percentiles, "bins": bins, "from":
            from_}
    return _arrays.run("reduce", x, keys, **options)[0]
