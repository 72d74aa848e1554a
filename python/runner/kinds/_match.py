"""The kind match.

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
def match(x: DeviceArray, *, patch: Sequence[int] | None = ..., window: Sequence[int] | None = ...,
          count: int | None = ..., step: int | None = ..., threshold: float | None = ...,
          order: Literal["ascending", "descending"] | None = ...,
          selection: Literal["fast", "serial", "min_and_swap"] | None = ...,
          **options: Unpack[Options]) -> tuple[Any, Any, Any]: ...


@overload
def match(x: HostArray, *, patch: Sequence[int] | None = ..., window: Sequence[int] | None = ...,
          count: int | None = ..., step: int | None = ..., threshold: float | None = ...,
          order: Literal["ascending", "descending"] | None = ...,
          selection: Literal["fast", "serial", "min_and_swap"] | None = ...,
          **options: Unpack[Options]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...


def match(x: Any, *, patch: Sequence[int] | None = None, window: Sequence[int] | None = None,
          count: int | None = None, step: int | None = None, threshold: float | None = None,
          order: Literal["ascending", "descending"] | None = None,
          selection: Literal["fast", "serial", "min_and_swap"] | None = None,
          **options: Unpack[Options]) -> tuple[Any, Any, Any]:
    """The most similar patches of every patch of a volume.

    Parameters
    ----------
    x : array
        Array of three axes, or of two.
    patch : Sequence[int], default ``[3, 3, 3]``; for an image ``[1, 3, 3]``
        Extents of a patch along z, y and x, at most the input's; each 1 to 8.
    window : Sequence[int], default ``[11, 11, 11]``; for an image ``[1, 11, 11]``
        Where similar patches are looked for, with the reference in the middle; odd, and fewer than
        2³² candidates. Candidates lie up to (window − 1) / 2 from the reference along each axis.
    count : int, default ``16``
        Matches of each reference; 1 to 64.
    step : int, default ``1``
        From one reference to the next, along each axis; 1 or more.
    threshold : float, default ``inf``
        The largest distance of a match, the mean of squared differences; 0 or more.
    order : Literal["ascending", "descending"], default ``"ascending"``
        ``ascending`` or ``descending``: of the matches of a patch by distance. ``descending`` puts
        the nearest match last.
    selection : Literal["fast", "serial", "min_and_swap"], default ``"fast"``
        ``fast``, ``serial`` or ``min_and_swap``: the algorithm that selects the matches; all select
        the same ones. The last two are published kernels, kept for comparison; they take at most
        24576 candidates.
    **options
        What every function takes: see the package.

    Returns
    -------
    index, distance, count : array

    docs/match.md says what is computed.
    """
    keys = {"patch": patch, "window": window, "count": count, "step": step, "threshold": threshold,
            "order": order, "selection": selection}
    index_made, distance_made, count_made = _arrays.run("match", x, keys, **options)
    return index_made, distance_made, count_made
