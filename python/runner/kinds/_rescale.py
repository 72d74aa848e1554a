"""The kind rescale.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._arrays import DeviceArray, HostArray, Options


@overload
def rescale(x: DeviceArray,
            from_: Sequence[float] | Literal["extremes"] | Mapping[str, Sequence[float]],
            to: Sequence[float] | None = ..., **options: Unpack[Options]) -> Any: ...


@overload
def rescale(x: HostArray,
            from_: Sequence[float] | Literal["extremes"] | Mapping[str, Sequence[float]],
            to: Sequence[float] | None = ..., **options: Unpack[Options]) -> NDArray[Any]: ...


def rescale(x: Any, from_: Sequence[float] | Literal["extremes"] | Mapping[str, Sequence[float]],
            to: Sequence[float] | None = None, **options: Unpack[Options]) -> Any:
    """Values mapped to another range and type.

    Parameters
    ----------
    x : array
        Array.
    from_ : Sequence[float] | Literal["extremes"] | Mapping[str, Sequence[float]]
        The input's range: ``[low, high]``, ``"extremes"`` or ``dict(percentiles=[0.1, 99.9])``.
    to : Sequence[float], default the full range of an integer type, [0.0, 1.0] for floats
        The range of the output.
    **options
        What every function takes: see the package.

    docs/rescale.md says what is computed.

    >>> rescale(np.array([[0.0, 0.5, 1.0]]), [0, 1], dtype="uint8")
    array([[  0, 128, 255]], dtype=uint8)
    """
    keys = {"from": from_, "to": to}
    return _arrays.run("rescale", x, keys, **options)[0]
