"""The kind median.

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
def median(x: DeviceArray, size: int | Sequence[int], *,
           boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"] | None = ...,
           fill: float | None = ..., difference: float | None = ...,
           side: Literal["both", "above", "below"] | None = ...,
           **options: Unpack[Options]) -> Any: ...


@overload
def median(x: HostArray, size: int | Sequence[int], *,
           boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"] | None = ...,
           fill: float | None = ..., difference: float | None = ...,
           side: Literal["both", "above", "below"] | None = ...,
           **options: Unpack[Options]) -> NDArray[Any]: ...


def median(x: Any, size: int | Sequence[int], *,
           boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"] | None = None,
           fill: float | None = None, difference: float | None = None,
           side: Literal["both", "above", "below"] | None = None,
           **options: Unpack[Options]) -> Any:
    """Medians of windows.

    Parameters
    ----------
    x : array
        Array of at least two axes; leading axes count images.
    size : int | Sequence[int]
        The window, ``[z, y, x]`` or ``[y, x]``; each odd, from 1 to 15, and at most 343 elements.
    boundary : Literal["constant", "nearest", "reflect", "mirror", "wrap"], default ``"reflect"``
        ``constant``, ``nearest``, ``reflect``, ``mirror`` or ``wrap``: what lies beyond the border.
    fill : float, default ``0.0``
        The value beyond the border with ``boundary = "constant"``; in units of the input.
    difference : float, default none
        Only elements that are farther than this from the median are replaced; 0 or more; in units
        of the input.
    side : Literal["both", "above", "below"], default ``"both"``
        ``both``, ``above`` or ``below``: only elements on this side of the median are replaced.
    **options
        What every function takes: see the package.

    docs/median.md says what is computed.

    >>> median(np.array([[1, 1, 1], [1, 9, 1], [1, 1, 1]], np.uint8), [3, 3])
    array([[1, 1, 1],
           [1, 1, 1],
           [1, 1, 1]], dtype=uint8)
    """
    keys = {"size": size, "boundary": boundary, "fill": fill, "difference": difference, "side":
            side}
    return _arrays.run("median", x, keys, **options)[0]
