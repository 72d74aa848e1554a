"""The kind stitch.

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
def stitch(x: DeviceArray, overlap: int, side: Literal["left", "right"], *,
           blend: Literal["linear", "none"] | None = ...,
           order: Literal["projections", "sinograms"] | None = ...,
           **options: Unpack[Options]) -> Any: ...


@overload
def stitch(x: HostArray, overlap: int, side: Literal["left", "right"], *,
           blend: Literal["linear", "none"] | None = ...,
           order: Literal["projections", "sinograms"] | None = ...,
           **options: Unpack[Options]) -> NDArray[Any]: ...


def stitch(x: Any, overlap: int, side: Literal["left", "right"], *,
           blend: Literal["linear", "none"] | None = None,
           order: Literal["projections", "sinograms"] | None = None,
           **options: Unpack[Options]) -> Any:
    """Half acquisitions over 360 degrees joined to 180.

    Parameters
    ----------
    x : array
        Array of at least three axes, the last of which are angle, row, column; or two, with
        ``order="sinograms"``.
    overlap : int
        The columns that a frame and the mirrored one opposite share; 0 to 2147483647; in columns.
        With the axis of rotation at column c, counted from 0, they are 2 c + 1 on the left and 2
        (columns - c) - 1 on the right.
    side : Literal["left", "right"]
        ``left`` or ``right``: the side of the frames that the axis of rotation is near.
    blend : Literal["linear", "none"], default ``"linear"``
        ``linear`` or ``none``: what the overlap becomes. Sums of both halves, whose weights rise
        and fall linearly; or each half up to the middle.
    order : Literal["projections", "sinograms"], default ``"projections"``
        ``projections`` or ``sinograms``: what the last axes are. Angle, row, column; or angle,
        column.
    **options
        What every function takes: see the package.

    docs/stitch.md says what is computed.

    >>> stitch(np.array([[[1, 2]], [[7, 6]]], np.uint8), 1, "right")
    array([[[1, 4, 7]]], dtype=uint8)
    """
    keys = {"overlap": overlap, "side": side, "blend": blend, "order": order}
    return _arrays.run("stitch", x, keys, **options)[0]
