"""Runs one job on an array of the caller, wherever that is."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Protocol, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

from . import _device_run, _runner
from ._device import library_of
from ._host import as_host_array, as_numbers, flat, type_name, type_text
from ._job_text import job_text
from ._parameters import Named, with_fields, with_mask
from ._words import in_words_of_arrays, words_of_arrays


class _SupportsArray(Protocol):
    def __array__(self) -> Any: ...


class DeviceArray(Protocol):
    """What a type checker takes for an array that may be on a GPU, such as torch's: numpy's have a
    plain integer in place of the Enum."""

    def __dlpack_device__(self) -> tuple[Enum, int]:
        """Where it is."""


HostArray = Union[NDArray[Any], Sequence[Any], _SupportsArray]



class Options(TypedDict, total=False):
    """The keywords of every function; the package's docstring says what they mean."""

    dtype: Any
    out: Any
    backend: Literal["auto", "cpu", "cuda"]
    device: int | None
    stream: Any
    channels: Literal[1, 3, 4] | None
    invalid: Any
    progress: Callable[[int, int], None] | None
    device_memory: str | int | None
    host_memory: str | int | None
    chunk_rows: int | None
    lanes: int | None


_BACKENDS = {"auto": 0, "cpu": 1, "cuda": 2}

_staging = _runner.StagingMemory()


def release_memory() -> None:
    """Frees the page-locked host memory that calls on arrays of the host keep for later ones: up to
    2 GiB, where they used a GPU."""
    _staging.clear()


def _results(job: _runner.ArrayJob, x: NDArray[Any], out: Any, moves: bool) -> list[NDArray[Any]]:
    """The arrays to write: those that the caller gave, or new ones."""
    wanted = [(x.dtype if moves else np.dtype(name), tuple(shape)) for name, shape in job.outputs]
    if out is None:
        return [np.empty(shape, dtype) for dtype, shape in wanted]
    given = list(out) if len(wanted) > 1 else [out]
    if len(given) != len(wanted):
        raise ValueError(f"out has {len(given)} arrays, and the job makes {len(wanted)}")
    for array, (dtype, shape) in zip(given, wanted):
        if not isinstance(array, np.ndarray):
            raise ValueError(f"out is a {type(array).__name__}, and the input an array of the host:"
                             " pass a numpy array")
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"out is {array.dtype} {list(array.shape)}, and the result "
                             f"{dtype} {list(shape)}")
        if not array.flags.writeable:
            raise ValueError("out is read-only")
    return given


def run(kind: str | None, x: Any, parameters: Any, *, dtype: Any = None, out: Any = None,
        backend: str = "auto", device: int | None = None, stream: Any = None,
        channels: int | None = None, invalid: Any = None, moves: bool = False,
        progress: Callable[[int, int], None] | None = None, **limits: Any) -> list[Any]:
    """Runs one job on an array; returns the arrays that it made. `limits`: keys of [run]."""
    if kind is None and not parameters:
        raise ValueError("there are no steps: pass a list of dicts, as [dict(kind=\"median\", size=3)]")
    if backend not in _BACKENDS:
        raise ValueError(f"backend is {backend!r}; choose one of {', '.join(_BACKENDS)}")
    name = None if dtype is None else type_text(dtype)
    named: list[Named] = []
    if kind == "correct":
        parameters = with_fields(parameters, named)
    elif kind is None:
        parameters = [with_fields(step, named) if step.get("kind") == "correct" else step
                      for step in parameters]
    invalid = with_mask(invalid, named)
    for keyword in limits:
        if keyword not in _LIMITS:
            raise TypeError(f"there is no keyword {keyword!r}")
    _warn_of_colour(kind, x, parameters, channels)
    library = library_of(x)
    if library is not None:
        _refuse_scalar(x)
        _check_in_core(backend, progress, limits)
        with words_of_arrays(kind):
            return _device_run.run(library, kind, x, parameters, dtype=name, out=out,
                                   channels=channels, invalid=invalid, moves=moves, stream=stream,
                                   device=device, named=named)
    if stream is not None:
        raise ValueError("stream is of a GPU, and x an array of the host")
    array = as_host_array(x)
    _refuse_scalar(array)
    if not moves:
        array = as_numbers(array)
    with words_of_arrays(kind):
        job = _runner.ArrayJob(job_text(kind, parameters, limits, name, invalid),
                               type_name(array, moves), list(array.shape), channels,
                               [each.argument() for each in named])
    made = _results(job, array, out, moves)
    # The engine reads while it writes: an output over the input, or one that is not dense, is
    # written elsewhere first.
    direct = [m.flags.c_contiguous and m.dtype.isnative and not np.may_share_memory(m, array)
              for m in made]
    targets = [m if is_direct else np.empty(m.shape, m.dtype.newbyteorder("="))
               for m, is_direct in zip(made, direct)]
    with words_of_arrays(kind):
        job.run(flat(array), [flat(t) for t in targets], _BACKENDS[backend], device or 0, progress,
                _staging)
    for m, target, is_direct in zip(made, targets, direct):
        if not is_direct:
            m[...] = target
    for note in job.notes:
        warnings.warn(in_words_of_arrays(note), stacklevel=3)
    return made


def _refuse_scalar(x: Any) -> None:
    if getattr(x, "ndim", None) == 0:
        raise ValueError("x has no axes: pass an array of at least one")


_ALONE = ("rescale", "sand", "transpose")  # kinds that make an element of one element
_WITH_ALPHA = 4  # samples of a pixel


def _warn_of_colour(kind: str | None, x: Any, parameters: Any, channels: int | None) -> None:
    """Where a last axis may be colour, and the caller does not say; and where a sample may be alpha."""
    kinds = [kind] if kind is not None else [step.get("kind") for step in parameters]
    shape = tuple(getattr(x, "shape", ()))
    if (channels is None and len(shape) >= 3 and shape[-1] in (3, 4)
            and any(each not in _ALONE for each in kinds)):
        warnings.warn(f"the last axis may be colour: the shape is {list(shape)}, and it is taken as "
                      f"an axis of the image; pass channels={shape[-1]} if it is colour, else "
                      "channels=1", stacklevel=4)
    if channels == _WITH_ALPHA and any(each != "transpose" for each in kinds):
        warnings.warn("the fourth sample of a pixel is computed as the others are: if it is alpha, "
                      "colours of transparent pixels count as much as those of opaque ones; "
                      "x[..., :3] with channels=3 takes the colours alone", stacklevel=4)


_LIMITS = ("device_memory", "host_memory", "chunk_rows", "lanes")


def _check_in_core(backend: str, progress: Any, limits: Mapping[str, Any]) -> None:
    """Of an array on a GPU: what is said of arrays that stream through one."""
    if backend == "cpu":
        raise ValueError("backend is 'cpu', and x an array on a GPU: copy it to the host first")
    if not limits and progress is None:
        return
    for key, value in {**limits, "progress": progress}.items():
        if value is None:
            continue
        raise ValueError(f"{key} is for arrays of the host, which stream through a GPU; x is "
                         "on one as a whole, and the call returns before its work is done")

