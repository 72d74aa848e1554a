"""Arrays of the caller as a job on the host takes them."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._device import library_of

_MOVED = {1: "bytes1", 2: "bytes2", 4: "bytes4", 8: "bytes8", 16: "bytes16"}
NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
           "float32", "float64")


def as_host_array(x: Any) -> NDArray[Any]:
    """`x` as a dense array of the host in native byte order; copied only where it is not one."""
    library = library_of(x)
    if library is not None:
        x = library.to_host(x)
    elif hasattr(x, "__dlpack_device__") and not isinstance(x, np.ndarray):
        kind = int(x.__dlpack_device__()[0])
        if kind not in (1, 3):  # kDLCPU, kDLCUDAHost
            raise TypeError(f"arrays on a device of DLPack's kind {kind} are not taken; copy it to "
                            "the host first")
        if not hasattr(x, "__array__"):
            x = np.from_dlpack(x)
    # numpy.asarray would take what is under the mask as values.
    if isinstance(x, np.ma.MaskedArray) and np.any(x.mask):
        raise ValueError("an array has masked elements: pass x.data instead, with invalid=x.mask where x is "
                         "the input")
    if isinstance(x, (str, bytes, os.PathLike)):
        raise TypeError(f"{x!r} is no array: runner.read opens that of a file")
    array = np.asarray(x)
    if array.ndim == 0 and array.dtype.hasobject:
        raise TypeError(f"a {type(x).__name__} is no array")
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(array.shape)


def as_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """As jobs from files read them: bool as uint8, float16 as float32."""
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    return array.astype(np.float32) if array.dtype == np.float16 else array


def type_text(dtype: Any) -> str:
    """The name of an element type of numpy's, or of torch's."""
    text = str(dtype)
    return str(np.dtype(text[6:] if text.startswith("torch.") else dtype).name)


def type_name(array: NDArray[Any], moves: bool) -> str:
    """The element type's name; of a job that only moves elements, any of 1 to 16 bytes."""
    if array.dtype.name in NUMBERS:
        return array.dtype.name
    if moves and not array.dtype.hasobject and array.dtype.itemsize in _MOVED:
        return _MOVED[array.dtype.itemsize]
    if array.dtype.kind == "c":
        raise ValueError(f"elements of type {array.dtype} are not taken; pass x.real, x.imag or abs(x)")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"elements of type {array.dtype} are not taken; pass an array of numbers")
    raise ValueError(f"elements of type {array.dtype} are not taken; convert them with "
                     "x.astype(\"float32\")")


def flat(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of a dense array."""
    return array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
