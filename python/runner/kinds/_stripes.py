"""The kind stripes.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._arrays import DeviceArray, HostArray, Options


@overload
def stripes(x: DeviceArray, *, method: Literal["sort", "large", "dead", "all"] | None = ...,
            size: int | None = ..., snr: float | None = ..., small: int | None = ...,
            **options: Unpack[Options]) -> Any: ...


@overload
def stripes(x: HostArray, *, method: Literal["sort", "large", "dead", "all"] | None = ...,
            size: int | None = ..., snr: float | None = ..., small: int | None = ...,
            **options: Unpack[Options]) -> NDArray[Any]: ...


def stripes(x: Any, *, method: Literal["sort", "large", "dead", "all"] | None = None,
            size: int | None = None, snr: float | None = None, small: int | None = None,
            **options: Unpack[Options]) -> Any:
    """Sinograms without stripes, which become ring artefacts.

    Parameters
    ----------
    x : array
        Array of at least two axes, the last of which are the angle and the column; leading axes
        count sinograms.
    method : Literal["sort", "large", "dead", "all"], default ``"sort"``
        ``sort``, ``large``, ``dead`` or ``all``: which stripes are removed. Small ones, large ones,
        those of dead and fluctuating columns and large ones, or all.
    size : int, default ``21``; ``51`` unless method is ``sort``
        The window of the medians; more than twice the width of the stripes; 1 to 255; in columns.
    snr : float, default ``3.0``
        How far a column must be from others to be a stripe; of the range of usual ones; 0 or more.
    small : int, default ``21``
        The window of the medians of the last step of ``all``; 1 to 255; in columns.
    **options
        What every function takes: see the package.

    docs/stripes.md says what is computed.

    >>> stripes(np.array([[1, 12, 3], [4, 11, 1], [2, 13, 2]], np.uint8), size=3)
    array([[1, 2, 3],
           [4, 1, 1],
           [2, 4, 2]], dtype=uint8)
    """
    keys = {"method": method, "size": size, "snr": snr, "small": small}
    return _arrays.run("stripes", x, keys, **options)[0]
