"""Arrays of the caller as a job takes them, and the arrays that it makes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _runner
from ._job_text import job_text

_BACKENDS = {"auto": 0, "cpu": 1, "cuda": 2}
_MOVED = {1: "bytes1", 2: "bytes2", 4: "bytes4", 8: "bytes8", 16: "bytes16"}
_NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
            "float32", "float64")


def as_host_array(x: Any) -> np.ndarray:
    """`x` as a dense array of the host in native byte order; copied only where it is not one."""
    if hasattr(x, "__dlpack_device__") and not isinstance(x, np.ndarray):
        kind = int(x.__dlpack_device__()[0])
        if kind not in (1, 3):  # kDLCPU, kDLCUDAHost
            raise TypeError(f"arrays on a device (DLPack's kind {kind}) are not taken yet; copy it "
                            "to the host first, as cupy.asnumpy(x) or x.cpu()")
        if not hasattr(x, "__array__"):
            x = np.from_dlpack(x)
    array = np.asarray(x)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(array.shape)


def type_name(array: np.ndarray, moves: bool) -> str:
    """The element type's name; of a job that only moves elements, any of 1 to 16 bytes."""
    if array.dtype.name in _NUMBERS:
        return array.dtype.name
    if moves and not array.dtype.hasobject and array.dtype.itemsize in _MOVED:
        return _MOVED[array.dtype.itemsize]
    raise ValueError(f"elements of type {array.dtype} are not taken; convert them with "
                     "x.astype(\"float32\")")


def flat(array: np.ndarray) -> np.ndarray:
    """The bytes of a dense array."""
    return array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)


def results(job: _runner.ArrayJob, x: np.ndarray, out: Any, moves: bool) -> list[np.ndarray]:
    """The arrays to write: those that the caller gave, or new ones."""
    wanted = [(np.dtype(x.dtype if moves else name), tuple(shape)) for name, shape in job.outputs]
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
        backend: str = "auto", device: int = 0, device_memory: Any = None,
        host_memory: Any = None, chunk_rows: int | None = None, lanes: int | None = None,
        channels: int | None = None, moves: bool = False,
        progress: Callable[[int, int], None] | None = None) -> list[np.ndarray]:
    """Runs one job on an array; returns the arrays that it made."""
    if backend not in _BACKENDS:
        raise ValueError(f"backend is {backend!r}; choose one of {', '.join(_BACKENDS)}")
    array = as_host_array(x)
    if array.dtype == np.float16 and not moves:
        array = array.astype(np.float32)  # as a job from files reads it
    limits = {"device_memory": device_memory, "host_memory": host_memory,
              "chunk_rows": chunk_rows, "lanes": lanes}
    name = None if dtype is None else np.dtype(dtype).name
    job = _runner.ArrayJob(job_text(kind, parameters, limits, name), type_name(array, moves),
                           list(array.shape), channels)
    made = results(job, array, out, moves)
    # The engine reads while it writes: an output over the input, or one that is not dense, is
    # written elsewhere first.
    direct = [m.flags.c_contiguous and m.dtype.isnative and not np.may_share_memory(m, array)
              for m in made]
    targets = [m if is_direct else np.empty(m.shape, m.dtype.newbyteorder("="))
               for m, is_direct in zip(made, direct)]
    job.run(flat(array), [flat(t) for t in targets], _BACKENDS[backend], device, progress)
    for m, target, is_direct in zip(made, targets, direct):
        if not is_direct:
            m[...] = target
    return made

