"""The kind transpose.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from .. import _arrays
from .._keys import axis_order

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._arrays import DeviceArray, HostArray, Options

T = TypeVar("T", bound=np.generic)


@overload
def transpose(x: DeviceArray, axes: Sequence[int], **options: Unpack[Options]) -> Any: ...


@overload
def transpose(x: NDArray[T], axes: Sequence[int], **options: Unpack[Options]) -> NDArray[T]: ...


@overload
def transpose(x: HostArray, axes: Sequence[int], **options: Unpack[Options]) -> NDArray[Any]: ...


def transpose(x: Any, axes: Sequence[int], **options: Unpack[Options]) -> Any:
    """Other orders of axes.

    Parameters
    ----------
    x : array
        Array of two axes or more, of any elements of 1, 2, 4, 8 or 16 bytes.
    axes : Sequence[int]
        Output axis i is input axis ``permutation[i]``. All axes of the input, from 0, in some
        order, as for ``numpy.transpose``.
    **options
        What every function takes: see the package.

    docs/transpose.md says what is computed.

    >>> transpose(np.arange(6).reshape(1, 2, 3), (2, 1, 0)).shape
    (3, 2, 1)
    """
    keys = {"permutation": axis_order(x, axes)}
    return _arrays.run("transpose", x, keys, moves=True, **options)[0]
