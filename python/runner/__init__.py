"""Image jobs on arrays: the kernels and the streaming engine of the program `runner`.

Every function takes a numpy array, or anything that numpy reads without a copy, and returns numpy
arrays. The array streams through the engine in chunks, on the cores or on a GPU, so it may be far
larger than the GPU's memory. An array on a GPU (cupy, torch, any other with ``__dlpack__``) is
worked on where it is, on the caller's current stream, and the result is an array of the same
library. The result has the bytes of the same job from files.

All functions take these keywords too:

out : array, optional
    The array to write. Its shape and type must be the result's, and it is where the input is. It
    may be, or overlap, the input.
stream : int, cupy.cuda.Stream or torch.cuda.Stream, optional
    Of an array on a GPU: the stream to work on, by default the library's current one.
backend : {"auto", "cpu", "cuda"}
    Of an array of the host: where to compute; "auto" takes a GPU if there is one.
device : int
    Of an array of the host: CUDA's number of the GPU.
device_memory, host_memory : str, optional
    Of an array of the host: the most that a job may take beside the arrays, as "8GiB".
dtype : optional
    The result's type, of kinds that make several.
channels : {1, 3, 4}, optional
    3 or 4: the last axis is colour; 1: it is not. Without it a last axis of 3 or 4, behind two
    others, is none, and a warning says so.
invalid : float or array, optional
    The number that elements without a value are, or ``float("nan")``; or, of an array of the host,
    a mask of an image's shape or of the array's, which is not 0 where an element has no value.
    ``dict(mask=array, value=number)`` says what they become. docs/inputs.md says what each kind
    makes of them.
progress : callable, optional
    Of an array of the host: called with the rows that are done and their number, from the calling
    thread.

Failures raise :class:`runner.Error` or one of its subclasses. Ctrl-C ends a call within a second.
"""
from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from . import tables
    from ._arrays import DeviceArray, HostArray, Options, release_memory
    from .errors import (DeviceError, Error, InputError, JobError, OutputError, ResourceError, Stopped)
    from .job import Job
    from .jobs import Plan, Result, plan, run
    from .kinds import *  # noqa: F403
    from .stored import Stored, read
    from .tables import Step

__version__ = "0.1.0"
__all__ = ["DeviceError", "Error", "InputError", "Job", "JobError", "OutputError", "Plan",
           "ResourceError", "Result", "Stopped", "Stored", "bin", "convolve", "correct", "denoise", "fill",
           "gaussian", "match", "median", "phase", "pipeline", "plan", "read", "reduce",
           "release_memory", "rescale", "run", "sand", "stitch", "stripes", "transpose"]


# numpy and the extension module take a quarter of a second, which the command `runner` and a script
# that may not come to its first array need not wait for: each name is imported when it is asked for.
_NAMES: dict[str, list[str]] = {
    "_arrays": ["release_memory"],
    "errors": ["DeviceError", "Error", "InputError", "JobError", "OutputError", "ResourceError", "Stopped"],
    "job": ["Job"],
    "jobs": ["Plan", "Result", "plan", "run"],
    "stored": ["Stored", "read"],
    "tables": [],
}
# The kinds are the names that are nowhere else.
_NAMES["kinds"] = [name for name in __all__ if name not in {"gaussian", "pipeline"}.union(*_NAMES.values())]
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__version__"]


def gaussian(sigma: float, radius: int | None = None) -> dict[str, dict[str, float | int]]:
    """The taps of a Gaussian, for :func:`convolve`. The radius is 4 sigma by default.

    >>> gaussian(2.0)
    {'gaussian': {'sigma': 2.0}}
    """
    taps: dict[str, float | int] = {"sigma": float(sigma)}
    if radius is not None:
        taps["radius"] = radius
    return {"gaussian": taps}


@overload
def pipeline(x: DeviceArray, steps: Sequence[Step], **options: Unpack[Options]) -> Any: ...


@overload
def pipeline(x: HostArray, steps: Sequence[Step], **options: Unpack[Options]) -> NDArray[Any]: ...


def pipeline(x: Any, steps: Sequence[Mapping[str, Any]], **options: Unpack[Options]) -> Any:
    """Several steps in as few passes over the array as a job file's ``[[step]]`` tables take.
    :mod:`runner.tables` has the types of their dicts.

    >>> pipeline(np.ones((4, 4)), [{"kind": "bin", "factors": [2, 2]},
    ...                            {"kind": "rescale", "from": [0, 2], "dtype": "uint8"}])
    array([[128, 128],
           [128, 128]], dtype=uint8)
    """
    from . import _arrays
    from ._host import type_text
    chain: list[Any] = [None] if isinstance(steps, (str, Mapping)) else list(steps)
    if not all(isinstance(step, Mapping) for step in chain):
        raise TypeError("steps are a list of dicts, as [dict(kind=\"median\", size=3)]")
    texts = [{key: type_text(value) if key == "dtype" else value
              for key, value in step.items()} for step in chain]
    return _arrays.run(None, x, texts, **options)[0]
