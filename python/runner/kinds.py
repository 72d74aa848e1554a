"""One function for each kind of job. Made by scripts/python-kinds from the keys that the program
declares: change those, not this file."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _arrays
from ._keys import axis_order, numbers

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._arrays import Options

__all__ = ["bin", "convolve", "correct", "denoise", "fill", "match", "median", "phase", "reduce",
           "rescale", "sand", "stripes", "transpose"]


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


def convolve(x: Any, row_taps: Any | None = None, column_taps: Any | None = None,
             depth_taps: Any | None = None, *, sigma: float | Sequence[float] | None = None,
             boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"] | None = None,
             fill: float | None = None, **options: Unpack[Options]) -> Any:
    """Separable convolution of images.

    Parameters
    ----------
    x : array
        Array of at least two axes; leading axes count images.
    row_taps : Any, default required without ``sigma``
        Along each row; a list, ``{ gaussian = { sigma = 2.0 } }``, ``{ box = { radius = 1 } }`` or
        ``{ file = "taps.h5", dataset = "/taps" }``.
    column_taps : Any, default required without ``sigma``
        Down each column; a list, ``{ gaussian = { sigma = 2.0 } }``, ``{ box = { radius = 1 } }``
        or ``{ file = "taps.h5", dataset = "/taps" }``.
    depth_taps : Any, default none
        Across layers, along the axis before rows; a list, ``{ gaussian = { sigma = 2.0 } }``, ``{
        box = { radius = 1 } }`` or ``{ file = "taps.h5", dataset = "/taps" }``. Without them images
        are independent.
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
        The dark field; ``reduce`` is ``mean``, ``median``, ``trimmed`` or ``none``; without
        ``file`` the images are in the input's file; of a scan, ``frames`` counts among those of the
        field, and ``between`` is ``none`` or ``interpolate``. A number, an image, or images and how
        they become one.
    flat : Any
        The flat field; ``reduce`` is ``mean``, ``median``, ``trimmed`` or ``none``; without
        ``file`` the images are in the input's file; of a scan, ``frames`` counts among those of the
        field, and ``between`` is ``none`` or ``interpolate``. A number, an image, or images and how
        they become one.
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
        of the frame, as ``{ columns = [0, 20] }``; without ``rows`` all of them.
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


def fill(x: Any, *, method: Literal["nearest", "mean", "number"] | None = None,
         value: float | None = None, reach: Sequence[int] | None = None, rest: float | None = None,
         **options: Unpack[Options]) -> Any:
    """Invalid elements replaced by what is around them.

    Parameters
    ----------
    x : array
        Array of at least two axes; leading axes count images or volumes.
    method : Literal["nearest", "mean", "number"], default ``"nearest"``
        ``nearest``, ``mean`` or ``number``: what an invalid element becomes. The nearest valid
        element, the mean of the valid ones in the smallest cube around it that has any, or
        ``value``.
    value : float, default ``0.0``
        The number of ``method = "number"``; in units of the input.
    reach : Sequence[int], default ``[0, 16, 16]``
        How far valid elements are looked for, ``[z, y, x]`` or ``[y, x]``; each from 0 to 64; in
        elements.
    rest : float, default they stay invalid
        What elements without a valid one in reach become; in units of the input.
    **options
        What every function takes: see the package.

    Pass `invalid`, the number that elements without a value are, or ``float("nan")``.

    docs/fill.md says what is computed.

    >>> fill(np.array([[1, 0, 3, 0, 0, 6]], np.uint8), invalid=0)
    array([[1, 1, 3, 3, 6, 6]], dtype=uint8)
    """
    keys = {"method": method, "value": value, "reach": reach, "rest": rest}
    return _arrays.run("fill", x, keys, **options)[0]


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
        The window, ``[z, y, x]`` or ``[y, x]``; each odd, from 1 to 9, and at most 343 elements.
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


def phase(x: Any, energy: float, distance: float, pixel_size: float, delta_beta: float, *,
          method: Literal["paganin", "pixel"] | None = None, margin: int | None = None,
          negative_log: bool | None = None, floor: float | None = None,
          **options: Unpack[Options]) -> Any:
    """Phase retrieval of projections, by Paganin's filter.

    Parameters
    ----------
    x : array
        Array of at least two axes, the rows and columns of projections: their transmissions;
        leading axes count projections.
    energy : float
        The energy of the photons; above 0; in keV.
    distance : float
        How far the detector is from the sample; above 0; in metres.
    pixel_size : float
        The width and height of a pixel; above 0; in micrometres.
    delta_beta : float
        Δ / β of the sample's refractive index 1 − δ + iβ; 0 or more. Greater values smooth more.
    method : Literal["paganin", "pixel"], default ``"paganin"``
        ``paganin`` or ``pixel``: the filter. Paganin's of 2002, or the generalised one of 2020,
        which knows pixels and smooths less between neighbours.
    margin : int, default as far as the filter reaches
        How far a projection is continued by reflection on each side, at least; 0 to 16384; in
        pixels.
    negative_log : bool, default ``true``
        Whether the result is the negative logarithm of the filtered values.
    floor : float, default ``1e-06``
        Smaller values are raised to this before the logarithm; above 0 in float32.
    **options
        What every function takes: see the package.

    docs/phase.md says what is computed.

    >>> phase(np.full((2, 2), 0.5), 25.0, 0.1, 2.0, 100.0)
    array([[0.6931472, 0.6931472],
           [0.6931472, 0.6931472]], dtype=float32)
    """
    keys = {"energy": energy, "distance": distance, "pixel_size": pixel_size, "delta_beta":
            delta_beta, "method": method, "margin": margin, "negative_log": negative_log, "floor":
            floor}
    return _arrays.run("phase", x, keys, **options)[0]


def reduce(x: Any, operation: str, over: Sequence[str] | str, *,
           percentiles: Sequence[float] | None = None, bins: int | None = None,
           from_: Sequence[float] | None = None, **options: Unpack[Options]) -> Any:
    """Projections, means of frames, histograms and percentiles.

    Parameters
    ----------
    x : array
        Array of one axis or more.
    operation : str
        ``mean``, ``sum``, ``min``, ``max``, ``std``, ``median``, ``histogram`` or ``percentiles``:
        what is computed.
    over : Sequence[str] | str
        The axes that are reduced. ``["z"]`` projects a volume along z, ``["frame"]`` makes one of
        all frames, and ``"frame"`` or ``["y", "x"]`` makes a result of each frame.
    percentiles : Sequence[float], default none
        Of operation ``percentiles``: which ones; each from 0 to 100.
    bins : int, default none
        Of operation ``histogram``: the number of bins; 1 to 16777216.
    from_ : Sequence[float], default none
        Of operation ``histogram``: where the first bin begins and the last ends; ``[low, high]``;
        in units of the input.
    **options
        What every function takes: see the package.

    Axes of an array have no names: the last two are y and x, the one before them z.

    docs/reduce.md says what is computed.

    >>> reduce(np.array([[[1, 5]], [[3, 4]]], np.uint8), "max", ["z"])
    array([[3, 5]], dtype=uint8)
    """
    keys = {"operation": operation, "over": over, "percentiles": percentiles, "bins": bins, "from":
            from_}
    return _arrays.run("reduce", x, keys, **options)[0]


def rescale(x: Any, from_: Sequence[float] | Literal["extremes"] | Mapping[str, Sequence[float]],
            to: Sequence[float] | None = None, **options: Unpack[Options]) -> Any:
    """Values mapped to another range and type.

    Parameters
    ----------
    x : array
        Array.
    from_ : Sequence[float] | Literal["extremes"] | Mapping[str, Sequence[float]]
        The input's range: ``[low, high]``, ``"extremes"`` or ``{ percentiles = [0.1, 99.9] }``.
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


def sand(state: Any, generations: int, *, snapshot_every: int | None = None,
         input_frame: int | None = None, start_generation: int | None = None,
         seed: int | None = None, chances: Mapping[str, float] | None = None,
         **options: Unpack[Options]) -> Any:
    """A falling-sand automaton.

    Parameters
    ----------
    state : array
        Uint8 array of two axes, or of frames: a byte a cell, 0 empty, 1 water, 2 sand, 3 wall.
    generations : int
        How many to compute; 0 stores the start state unchanged; 0 or more.
    snapshot_every : int, default ``0``
        Keeps each generation divisible by this, and the last; 0 or more.
    input_frame : int, default 0, or where start_generation is
        Of the input to start from; -1: its last.
    start_generation : int, default the input's, or 0
        The generation of the start state; 0 or more. Selects the frame of that generation, or is
        its number where the input has none.
    seed : int, default that which made the input, or 0
        Of the random moves; 0 to 4294967295.
    chances : Mapping[str, float], default those that made the input, or the usual ones
        Of the rule's moves, any of them; each 0 to 1. The usual ones are ``{ sand_slide = 0.4,
        sand_fall = 0.9, water_fall = 1.0, water_diagonal = 0.6, water_spread = 0.9 }``.
    **options
        What every function takes: see the package.

    docs/sand.md says what is computed.
    """
    keys = {"generations": generations, "snapshot_every": snapshot_every, "input_frame":
            input_frame, "start_generation": start_generation, "seed": seed, "chances": chances}
    return _arrays.run("sand", state, keys, **options)[0]


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


def transpose(x: Any, axes: Sequence[int], **options: Unpack[Options]) -> Any:
    """Other orders of axes.

    Parameters
    ----------
    x : array
        Array of two or three axes, of any elements of 1, 2, 4, 8 or 16 bytes.
    axes : Sequence[int]
        Output axis i is input axis ``permutation[i]``. The axes 0, 1 and 2 in some order, for an
        image 0 and 1, as for ``numpy.transpose``.
    **options
        What every function takes: see the package.

    docs/transpose.md says what is computed.

    >>> transpose(np.arange(6).reshape(1, 2, 3), (2, 1, 0)).shape
    (3, 2, 1)
    """
    keys = {"permutation": axis_order(x, axes)}
    return _arrays.run("transpose", x, keys, moves=True, **options)[0]
