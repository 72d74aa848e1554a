"""The kind sand.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from .. import _arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._arrays import DeviceArray, HostArray, Options


@overload
def sand(state: DeviceArray, generations: int, *, snapshot_every: int | None = ...,
         input_frame: int | None = ..., start_generation: int | None = ..., seed: int | None = ...,
         chances: Mapping[str, float] | None = ..., **options: Unpack[Options]) -> Any: ...


@overload
def sand(state: HostArray, generations: int, *, snapshot_every: int | None = ...,
         input_frame: int | None = ..., start_generation: int | None = ..., seed: int | None = ...,
         chances: Mapping[str, float] | None = ..., **options: Unpack[Options]) -> NDArray[Any]: ...


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
        Of the rule's moves, any of them; each 0 to 1. The usual ones are ``dict(sand_slide=0.4,
        sand_fall=0.9, water_fall=1.0, water_diagonal=0.6, water_spread=0.9)``.
    **options
        What every function takes: see the package.

    docs/sand.md says what is computed.
    """
    keys = {"generations": generations, "snapshot_every": snapshot_every, "input_frame":
            input_frame, "start_generation": start_generation, "seed": seed, "chances": chances}
    return _arrays.run("sand", state, keys, **options)[0]
