"""The kind bin.

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
def bin(x: DeviceArray, factors: int | Sequence[int], *, value: Literal["mean", "sum"] | None = ...,
        edge: Literal["drop", "partial"] | None = ..., **options: Unpack[Options]) -> Any: ...


@overload
def bin(x: HostArray, factors: int | Sequence[int], *, value: Literal["mean", "sum"] | None = ...,
        edge: Literal["drop", "partial"] | None = ...,
        **options: Unpack[Options]) -> NDArray[Any]: ...


def bin(x: Any, factors: int | Sequence[int], *, value: Literal["mean", "sum"] | None = None,
        edge: Literal["drop", "partial"] | None = None, **options: Unpack[Options]) -> Any:
    """Means or sums of blocks.

    Parameters
    ----------
    x : array
        Array of at least two axes; leading axes count images or volumes.
    factors : int | Sequence[int]
        Extents of a block, ``[z, y, x]`` or ``[y, x]``; each from 1 to 65536.
    value : Literal["mean", "sum"], default ``"mean"``
        ``mean`` or ``sum``: what a block becomes.
    edge : Literal["drop", "partial"], default ``"drop"``
        ``drop`` or ``partial``: what becomes of blocks that are not whole. A ``partial`` block is
        made of the elements that there are.
    **options
        What every function takes: see the package.

    docs/bin.md says what is computed.

    >>> bin(np.array([[1.0, 3.0], [5.0, 7.0]]), [2, 2])
    array([[4.]])
    """
    keys = {"factors": factors, "value": value, "edge": edge}
    return _arrays.run("bin", x, keys, **options)[0]
