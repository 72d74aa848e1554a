"""The kind fill.

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
def fill(x: DeviceArray, *, method: Literal["nearest", "mean", "number"] | None = ...,
         value: float | None = ..., reach: Sequence[int] | None = ..., rest: float | None = ...,
         **options: Unpack[Options]) -> Any: ...


@overload
def fill(x: HostArray, *, method: Literal["nearest", "mean", "number"] | None = ...,
         value: float | None = ..., reach: Sequence[int] | None = ..., rest: float | None = ...,
         **options: Unpack[Options]) -> NDArray[Any]: ...


def fill(x: Any, *, method: Literal["nearest", "mean", "number"] | None = None,
         value: float | None = None, reach: Sequence[int] | None = None, rest: float | None = None,
         **options: Unpack[Options]) -> Any:
    """Invalid elements replaced by what is around them.

    Parameters
    ----------
    x : array
        Array of at least two axes; leading axes count images or volumes.
    method : Literal["nearest", "mean", "number"], default ``"nearest"``
        ``nearest``, ``mean`` or ``number``: what an invalid element becomes. The nearest valid
        element, the mean of the valid ones in the smallest cube around it that has any, or
        ``value``.
    value : float, default ``0.0``
        The number of ``method = "number"``; in units of the input.
    reach : Sequence[int], default ``[0, 16, 16]``
        How far valid elements are looked for, ``[z, y, x]`` or ``[y, x]``; each from 0 to 64; in
        elements.
    rest : float, default they stay invalid
        What elements without a valid one in reach become; in units of the input.
    **options
        What every function takes: see the package.

    Pass `invalid`, the number that elements without a value are, or ``float("nan")``.

    docs/fill.md says what is computed.

    >>> fill(np.array([[1, 0, 3, 0, 0, 6]], np.uint8), invalid=0)
    array([[1, 1, 3, 3, 6, 6]], dtype=uint8)
    """
    keys = {"method": method, "value": value, "reach": reach, "rest": rest}
    return _arrays.run("fill", x, keys, **options)[0]
