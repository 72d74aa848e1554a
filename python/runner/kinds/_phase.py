"""The kind phase.

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
def phase(x: DeviceArray, energy: float, distance: float, pixel_size: float, delta_beta: float, *,
          method: Literal["paganin", "pixel"] | None = ..., margin: int | None = ...,
          negative_log: bool | None = ..., floor: float | None = ...,
          **options: Unpack[Options]) -> Any: ...


@overload
def phase(x: HostArray, energy: float, distance: float, pixel_size: float, delta_beta: float, *,
          method: Literal["paganin", "pixel"] | None = ..., margin: int | None = ...,
          negative_log: bool | None = ..., floor: float | None = ...,
          **options: Unpack[Options]) -> NDArray[Any]: ...


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
