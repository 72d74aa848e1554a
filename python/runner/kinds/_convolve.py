"""The kind convolve.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .. import _arrays
from .._keys import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._arrays import DeviceArray, HostArray, Options


@overload
def convolve(x: DeviceArray, row_taps: Iterable[float] | Mapping[str, Any] | None = ...,
             column_taps: Iterable[float] | Mapping[str, Any] | None = ...,
             depth_taps: Iterable[float] | Mapping[str, Any] | None = ..., *,
             sigma: float | Sequence[float] | None = ...,
             boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"] | None = ...,
             fill: float | None = ..., **options: Unpack[Options]) -> Any: ...


@overload
def convolve(x: HostArray, row_taps: Iterable[float] | Mapping[str, Any] | None = ...,
             column_taps: Iterable[float] | Mapping[str, Any] | None = ...,
             depth_taps: Iterable[float] | Mapping[str, Any] | None = ..., *,
             sigma: float | Sequence[float] | None = ...,
             boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"] | None = ...,
             fill: float | None = ..., **options: Unpack[Options]) -> NDArray[Any]: ...


def convolve(x: Any, row_taps: Iterable[float] | Mapping[str, Any] | None = None,
             column_taps: Iterable[float] | Mapping[str, Any] | None = None,
             depth_taps: Iterable[float] | Mapping[str, Any] | None = None, *,
             sigma: float | Sequence[float] | None = None,
             boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"] | None = None,
             fill: float | None = None, **options: Unpack[Options]) -> Any:
    """Separable convolution of images.

    Parameters
    ----------
    x : array
        Array of at least two axes; leading axes count images.
    row_taps : Iterable[float] | Mapping[str, Any], default required without ``sigma``
        Along each row; a list, ``runner.gaussian(2.0)`` or ``dict(box=dict(radius=1))``.
    column_taps : Iterable[float] | Mapping[str, Any], default required without ``sigma``
        Down each column; a list, ``runner.gaussian(2.0)`` or ``dict(box=dict(radius=1))``.
    depth_taps : Iterable[float] | Mapping[str, Any], default none
        Across layers, along the axis before rows; a list, ``runner.gaussian(2.0)`` or
        ``dict(box=dict(radius=1))``. Without them images are independent.
    sigma : float | Sequence[float], default none
        Gaussians in place of all taps; a number, ``[y, x]`` or ``[z, y, x]``; in elements. A number
        is for rows and columns; 0 leaves an axis as it is.
    boundary : Literal["constant", "nearest", "reflect", "mirror", "wrap"], default ``"reflect"``
        ``constant``, ``nearest``, ``reflect``, ``mirror`` or ``wrap``: what lies beyond the border.
    fill : float, default ``0.0``
        The value beyond the border with ``boundary = "constant"``; in units of the input.
    **options
        What every function takes: see the package.

    docs/convolve.md says what is computed.

    >>> convolve(np.eye(3), [1.0], [1.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    keys = {"row_taps": numbers(row_taps), "column_taps": numbers(column_taps), "depth_taps":
            numbers(depth_taps), "sigma": sigma, "boundary": boundary, "fill": fill}
    return _arrays.run("convolve", x, keys, **options)[0]
