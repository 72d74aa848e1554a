"""The kind correct.

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
def correct(x: DeviceArray, dark: Any, flat: Any, *, dead: float | Literal["invalid"] | None = ...,
            clip: Sequence[float] | None = ..., negative_log: bool | None = ...,
            floor: float | None = ..., air: Mapping[str, Any] | None = ...,
            **options: Unpack[Options]) -> Any: ...


@overload
def correct(x: HostArray, dark: Any, flat: Any, *, dead: float | Literal["invalid"] | None = ...,
            clip: Sequence[float] | None = ..., negative_log: bool | None = ...,
            floor: float | None = ..., air: Mapping[str, Any] | None = ...,
            **options: Unpack[Options]) -> NDArray[Any]: ...


def correct(x: Any, dark: Any, flat: Any, *, dead: float | Literal["invalid"] | None = None,
            clip: Sequence[float] | None = None, negative_log: bool | None = None,
            floor: float | None = None, air: Mapping[str, Any] | None = None,
            **options: Unpack[Options]) -> Any:
    """Frames corrected for dark and flat field.

    Parameters
    ----------
    x : array
        Array of at least two axes; leading axes count frames.
    dark : Any
        The dark field; ``reduce`` is ``mean``, ``median``, ``trimmed`` or ``none``. A number, an
        image, or images and how they become one.
    flat : Any
        The flat field; ``reduce`` is ``mean``, ``median``, ``trimmed`` or ``none``. A number, an
        image, or images and how they become one.
    dead : float | Literal["invalid"], default ``0.0``
        The value where the flat field is not above the dark field. ``"invalid"`` makes these
        elements invalid: NaN.
    clip : Sequence[float], default none
        The range of the values; ``[low, high]``.
    negative_log : bool, default ``false``
        Whether the result is the negative logarithm of the values.
    floor : float, default ``1e-06``
        Smaller values are raised to this before the logarithm; above 0 in float32.
    air : Mapping[str, Any], default none
        Where the beam meets nothing: its mean brings the flat field to each frame; half-open ranges
        of the frame, as ``dict(columns=[0, 20])``; without ``rows`` all of them.
    **options
        What every function takes: see the package.

    `dark` and `flat` are a number, an image of a frame's extents, images, of which the mean is
    taken, or ``dict(images=array, reduce="median")``.

    docs/correct.md says what is computed.

    >>> correct(np.array([[1.0, 3.0], [2.0, 5.0]]), 1.0, np.full((2, 2), 5.0))
    array([[0.  , 0.5 ],
           [0.25, 1.  ]], dtype=float32)
    """
    keys = {"dark": dark, "flat": flat, "dead": dead, "clip": clip, "negative_log": negative_log,
            "floor": floor, "air": air}
    return _arrays.run("correct", x, keys, **options)[0]
