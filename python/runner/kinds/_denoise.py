"""The kind denoise.

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
def denoise(x: DeviceArray, *, method: Literal["nlm", "bm4d"] | None = ...,
            sigma: float | Literal["auto"] | None = ..., strength: float | None = ...,
            stabilise: Literal["none", "anscombe"] | None = ..., patch: Sequence[int] | None = ...,
            window: Sequence[int] | None = ..., count: int | Literal["all"] | None = ...,
            step: int | None = ..., threshold: float | None = ...,
            order: Literal["ascending", "descending"] | None = ...,
            selection: Literal["fast", "serial", "min_and_swap"] | None = ...,
            **options: Unpack[Options]) -> Any: ...


@overload
def denoise(x: HostArray, *, method: Literal["nlm", "bm4d"] | None = ...,
            sigma: float | Literal["auto"] | None = ..., strength: float | None = ...,
            stabilise: Literal["none", "anscombe"] | None = ..., patch: Sequence[int] | None = ...,
            window: Sequence[int] | None = ..., count: int | Literal["all"] | None = ...,
            step: int | None = ..., threshold: float | None = ...,
            order: Literal["ascending", "descending"] | None = ...,
            selection: Literal["fast", "serial", "min_and_swap"] | None = ...,
            **options: Unpack[Options]) -> NDArray[Any]: ...


def denoise(x: Any, *, method: Literal["nlm", "bm4d"] | None = None,
            sigma: float | Literal["auto"] | None = None, strength: float | None = None,
            stabilise: Literal["none", "anscombe"] | None = None,
            patch: Sequence[int] | None = None, window: Sequence[int] | None = None,
            count: int | Literal["all"] | None = None, step: int | None = None,
            threshold: float | None = None, order: Literal["ascending", "descending"] | None = None,
            selection: Literal["fast", "serial", "min_and_swap"] | None = None,
            **options: Unpack[Options]) -> Any:
    """Denoising of volumes by similar patches.

    Parameters
    ----------
    x : array
        Array of three axes, or of two.
    method : Literal["nlm", "bm4d"], default ``"nlm"``
        ``nlm`` or ``bm4d``: non-local means or collaborative filtering. With the default keys of
        each ``bm4d`` is better and faster.
    sigma : float | Literal["auto"], default ``"auto"``
        Standard deviation of the noise; ``"auto"`` estimates it; 0 or more; in units of the input.
    strength : float, default ``0.6``
        Of ``nlm`` alone, more is smoother; 0 or more. h = strength · sigma. For a smoother result
        of ``bm4d`` write a larger ``sigma``.
    stabilise : Literal["none", "anscombe"], default ``"none"``
        ``none`` or ``anscombe``: what the input counts; ``anscombe``: photons. ``sigma`` is then
        not used.
    patch : Sequence[int], default ``[3, 3, 3]``, of ``bm4d`` ``[4, 4, 4]``; for an image 1 along z
        Extents of a patch along z, y and x, at most the input's; each 1 to 8.
    window : Sequence[int], default ``[11, 11, 11]``; for an image ``[1, 11, 11]``
        Where similar patches are looked for, with the reference in the middle; odd, and fewer than
        2³² candidates. Candidates lie up to (window − 1) / 2 from the reference along each axis.
    count : int | Literal["all"], default ``16``
        Of the most similar patches; ``"all"``, of ``nlm`` alone: the window; 1 to 64.
    step : int, default ``1``, of ``bm4d`` ``3``
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

    docs/denoise.md says what is computed.
    """
    keys = {"method": method, "sigma": sigma, "strength": strength, "stabilise": stabilise, "patch":
            patch, "window": window, "count": count, "step": step, "threshold": threshold, "order":
            order, "selection": selection}
    return _arrays.run("denoise", x, keys, **options)[0]
