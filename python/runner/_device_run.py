"""Jobs on arrays that are on a GPU."""
from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from typing import Any

from . import _runner
from ._device import AnyPlace, Cupy, Library, Other, Torch, _View, apart, size_of
from ._host import NUMBERS
from ._job_text import job_text
from ._parameters import Named

_MOST_KEPT = 64


class _Kept:
    """Jobs that were made lately, by all that they depend on: making one takes ten times as long
    as handing in a kernel."""

    def __init__(self) -> None:
        self._jobs: dict[Any, tuple[_runner.DeviceJob, list[tuple[tuple[int, ...], Any]]]] = {}
        self._lock = threading.Lock()

    def get(self, key: Any) -> tuple[_runner.DeviceJob, list[tuple[tuple[int, ...], Any]]] | None:
        """The job and its outputs' shapes and types."""
        return self._jobs.get(key)

    def put(self, key: Any, made: Any) -> None:
        """Keeps it, and forgets the oldest of many."""
        with self._lock:
            while len(self._jobs) >= _MOST_KEPT:
                del self._jobs[next(iter(self._jobs))]
            self._jobs[key] = made


_KEPT = _Kept()


def _key(value: Any) -> bytes | None:
    """All of a parameter's value, types of numbers included; None where there is no such key."""
    try:
        return pickle.dumps(value, 5)
    except Exception:  # noqa: BLE001: whatever an object of the caller raises
        return None


def _job(place: AnyPlace, kind: str | None, x: Any, parameters: Any, *, dtype: str | None,
         channels: int | None, invalid: Any, moves: bool,
         named: Sequence[Named]) -> Any:
    key = None
    if not named and (text := _key((parameters, invalid))) is not None:
        key = (place.name, kind, x.shape, x.dtype, text, dtype, channels)
        if (kept := _KEPT.get(key)) is not None:
            return kept
    name = place.type_name(x)
    if moves:
        size = x.seen.itemsize if isinstance(x, _View) else x.itemsize
        name = f"bytes{size}" if name not in NUMBERS else name
    if name not in NUMBERS and not moves:
        raise ValueError(f"elements of type {name} are not taken; convert them to float32")
    job = _runner.DeviceJob(job_text(kind, parameters, {}, dtype, invalid), name,
                            list(x.shape), channels, [array.argument() for array in named])
    made = job, [(tuple(shape), x.dtype if moves else place.type_of(output))
                 for output, shape in job.outputs]
    if key is not None:
        _KEPT.put(key, made)
    return made


def _checked(place: AnyPlace, out: Any, wanted: list[tuple[tuple[int, ...], Any]]) -> list[Any]:
    """The caller's arrays to write."""
    given = list(out) if len(wanted) > 1 else [out]
    if len(given) != len(wanted):
        raise ValueError(f"out has {len(given)} arrays, and the job makes {len(wanted)}")
    for array, (shape, dtype) in zip(given, wanted):
        if not type(place).owns(array):
            raise ValueError(f"out is a {type(array).__name__}, and the input an array of "
                             f"{place.name} on device {place.device}: pass another of these")
        if place.device_of(array) != place.device:
            raise ValueError(f"out is on device {place.device_of(array)}, and the input on "
                             f"device {place.device}")
        seen = _View(array, place.stream) if isinstance(place, Other) else array
        if tuple(seen.shape) != shape or seen.dtype != dtype:
            raise ValueError(f"out is {place.type_name(seen)} {list(seen.shape)}, and the result "
                             f"{_name(place, dtype)} {list(shape)}")
        if getattr(array, "requires_grad", False):
            raise ValueError("out requires a gradient, which runner does not compute")
        place.uses(array)
    return given


def _name(place: AnyPlace, dtype: Any) -> str:
    if isinstance(place, Torch):
        return str(dtype).removeprefix("torch.")
    return str(dtype) if isinstance(place, Cupy) else f"of DLPack's type {dtype}"


def run(library: Library, kind: str | None, x: Any, parameters: Any,
        *, dtype: str | None, out: Any, channels: int | None, invalid: Any, moves: bool,
        stream: Any, device: int | None, named: Sequence[Named]) -> list[Any]:
    """Runs one job on an array on a GPU; returns the arrays that it made."""
    place = library(x, stream)
    if device is not None and device != place.device:
        raise ValueError(f"device is {device}, and x is on device {place.device}")
    with place.current():
        x = place.prepared(x, moves)
        job, wanted = _job(place, kind, x, parameters, dtype=dtype, channels=channels,
                           invalid=invalid, moves=moves, named=named)
        if out is None:
            made = targets = [place.empty(shape, output) for shape, output in wanted]
        else:
            made = _checked(place, out, wanted)
            targets = _targets(place, x, made, wanted)
        job.run(place.address(x), [place.address(t) for t in targets], place.device, place.stream,
                place.take)
        if out is not None:
            for m, target in zip(made, targets):
                if target is not m and not isinstance(place, Other):
                    place.copy(m, target)
        place.finish()
    if out is not None:
        return made
    return [m.array for m in made] if isinstance(place, Other) else made


def _targets(place: AnyPlace, x: Any, made: list[Any], wanted: list[tuple[tuple[int, ...], Any]]
             ) -> list[Any]:
    """The arrays that the job writes: others than the caller's where it cannot write into those."""
    targets = []
    for m, (shape, dtype) in zip(made, wanted):
        seen = _View(m, place.stream) if isinstance(place, Other) else m
        direct = place.dense(seen) and apart(place.address(seen), place.address(x),
                                             size_of(place, seen), size_of(place, x))
        if not direct and isinstance(place, Other):
            raise ValueError("out is not dense, or overlaps x")
        targets.append(seen if direct else place.empty(shape, dtype))
    return targets
