"""Arrays on a GPU: the kernels run on them where they are, on the caller's stream.

The class of a library says how its arrays are taken and made. One instance is the place of one
call: a device and a stream of it. Memory that a job works in is the library's too. It is given back
when the call returns, before the work is done: what the library takes for the same stream later is
used after that work.
"""
from __future__ import annotations

import contextlib
import math
import sys
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _runner
from .errors import DeviceError

_ON_CUDA = (2, 13)  # DLPack's kDLCUDA, kDLCUDAManaged
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}  # DLPack's
_AS_IT_IS: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()


def stream_handle(stream: Any) -> int:
    """The cudaStream_t of a library's stream, or of its number."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    for name in ("ptr", "cuda_stream"):  # cupy's, torch's
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(f"stream is a {type(stream).__name__}: pass a cudaStream_t as an int, a "
                    "cupy.cuda.Stream or a torch.cuda.Stream")


class Place:
    """A device and a stream of one call, and the library whose arrays are there."""

    name = ""
    device = 0
    stream = 0  # a cudaStream_t

    def __init__(self) -> None:
        self.scratch: list[Any] = []

    def current(self) -> contextlib.AbstractContextManager[Any]:
        """While it is entered, the library works on the device and the stream."""
        return _AS_IT_IS

    def take(self, size: int) -> int:
        """The address of memory for the job, kept until the place goes."""
        self.scratch.append(self.empty((size,), self.bytes_type()))
        return self.address(self.scratch[-1])

    def bytes_type(self) -> Any:
        """The library's uint8."""
        raise NotImplementedError

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new dense array."""
        raise NotImplementedError

    def address(self, x: Any) -> int:
        """Of an array's first element."""
        raise NotImplementedError

    def uses(self, x: Any) -> None:
        """Tells the library that the stream works with an array that may be of another."""

    def finish(self) -> None:
        """After the work is handed in."""


class Cupy(Place):
    """Arrays of cupy."""

    name = "cupy"

    def __init__(self, x: Any, stream: Any) -> None:
        super().__init__()
        self.cupy = sys.modules["cupy"]
        self.device = x.data.device_id
        own = self.cupy.cuda.get_current_stream(self.device)
        self.stream = own.ptr if stream is None else stream_handle(stream)
        self._other = None
        if self.stream != own.ptr:
            with self.cupy.cuda.Device(self.device):
                self._other = self.cupy.cuda.ExternalStream(self.stream, self.device)
                self._other.wait_event(own.record())

    def current(self) -> contextlib.AbstractContextManager[Any]:
        if self._other is None and self.cupy.cuda.runtime.getDevice() == self.device:
            return _AS_IT_IS
        contexts = contextlib.ExitStack()
        contexts.enter_context(self.cupy.cuda.Device(self.device))
        if self._other is not None:
            contexts.enter_context(self._other)
        return contexts

    @staticmethod
    def owns(x: Any) -> bool:
        """Whether `x` is an array of the library on a device."""
        cupy = sys.modules.get("cupy")
        return isinstance(x, getattr(cupy, "ndarray", ()))

    @staticmethod
    def type_name(x: Any) -> str:
        """Of the elements, as numpy's."""
        return str(x.dtype.name)

    def prepared(self, x: Any, moves: bool) -> Any:
        """`x` dense and of a type that jobs take; itself where it is so."""
        if not moves:
            if x.dtype == np.bool_:
                x = x.view(np.uint8)
            elif x.dtype == np.float16:
                x = x.astype(np.float32)
        if not x.flags.c_contiguous:
            x = self.cupy.ascontiguousarray(x)
        return x if x.data.ptr % x.itemsize == 0 else x.copy()

    @staticmethod
    def dense(x: Any) -> bool:
        """Whether a job can write into it."""
        return bool(x.flags.c_contiguous and x.data.ptr % x.itemsize == 0)

    @staticmethod
    def type_of(name: str) -> Any:
        """The library's type for numpy's name."""
        return np.dtype(name)

    def bytes_type(self) -> Any:
        return np.uint8

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return self.cupy.empty(shape, dtype)

    def address(self, x: Any) -> int:
        return int(x.data.ptr)

    def device_of(self, x: Any) -> int:
        """The device of an array of the library."""
        return int(x.data.device_id)

    def copy(self, to: Any, x: Any) -> None:
        """Copies elements in the place's stream."""
        to[...] = x

    @staticmethod
    def to_host(x: Any) -> NDArray[Any]:
        """A copy on the host."""
        host: NDArray[Any] = x.get()
        return host


class Torch(Place):
    """Tensors of torch."""

    name = "torch"

    def __init__(self, x: Any, stream: Any) -> None:
        super().__init__()
        self.torch = sys.modules["torch"]
        self.device = x.get_device()
        own = self.torch.cuda.current_stream(self.device)
        self.stream = own.cuda_stream if stream is None else stream_handle(stream)
        self._other = None
        if self.stream != own.cuda_stream:
            self._other = self.torch.cuda.ExternalStream(self.stream, device=x.device)
            self._other.wait_stream(own)

    def current(self) -> contextlib.AbstractContextManager[Any]:
        entered: contextlib.AbstractContextManager[Any] = (
            _AS_IT_IS if self._other is None else self.torch.cuda.stream(self._other))
        return entered

    @staticmethod
    def owns(x: Any) -> bool:
        """Whether `x` is an array of the library on a device."""
        tensor: Any = getattr(sys.modules.get("torch"), "Tensor", ())
        return isinstance(x, tensor) and bool(x.is_cuda)

    @staticmethod
    def type_name(x: Any) -> str:
        """Of the elements, as numpy's."""
        return _TORCH_NAMES.get(x.dtype) or _TORCH_NAMES.setdefault(
            x.dtype, str(x.dtype).removeprefix("torch."))

    def prepared(self, x: Any, moves: bool) -> Any:
        """`x` dense and of a type that jobs take; itself where it is so."""
        torch = self.torch
        if x.layout != torch.strided:
            raise ValueError(f"x is a tensor of layout {x.layout}: pass x.to_dense()")
        if x.requires_grad:
            if torch.is_grad_enabled():
                raise ValueError("x requires a gradient, which runner does not compute: pass "
                                 "x.detach(), or call within torch.no_grad()")
            x = x.detach()
        self.uses(x)
        x = x.resolve_conj().resolve_neg()
        if not moves:
            if x.dtype == torch.bool:
                x = x.view(torch.uint8)
            elif x.dtype == torch.float16:
                x = x.to(torch.float32)
        x = x.contiguous()
        return x if x.data_ptr() % x.element_size() == 0 else x.clone()

    def dense(self, x: Any) -> bool:
        """Whether a job can write into it."""
        return (x.is_contiguous() and x.data_ptr() % x.element_size() == 0
                and not x.is_conj() and not x.is_neg())

    def type_of(self, name: str) -> Any:
        """The library's type for numpy's name."""
        found = getattr(self.torch, name, None)
        if found is None:
            raise ValueError(f"the result is {name}, which this torch has not: pass "
                             "cupy.from_dlpack(x)")
        return found

    def bytes_type(self) -> Any:
        return self.torch.uint8

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return self.torch.empty(shape, dtype=dtype, device=self.device)

    def address(self, x: Any) -> int:
        return int(x.data_ptr())

    def device_of(self, x: Any) -> int:
        """The device of an array of the library."""
        return int(x.get_device())

    def copy(self, to: Any, x: Any) -> None:
        """Copies elements in the place's stream."""
        to.copy_(x)

    def uses(self, x: Any) -> None:
        if self._other is not None:
            x.record_stream(self._other)

    @staticmethod
    def to_host(x: Any) -> NDArray[Any]:
        """A copy on the host."""
        host: NDArray[Any] = x.detach().cpu().numpy()
        return host


_TORCH_NAMES: dict[Any, str] = {}


class _View:
    """An array of another library: what its DLPack capsule says, and the array itself."""

    def __init__(self, x: Any, stream: int) -> None:
        # DLPack: 1 is the default stream, and 0 ambiguous.
        self.array = x
        self.seen = _runner.DeviceView(x.__dlpack__(stream=stream or 1))
        self.shape = tuple(self.seen.shape)
        self.dtype = self.seen.element


class _Capsule:
    """New memory as an array with DLPack, to be taken once."""

    def __init__(self, element: tuple[int, int], shape: tuple[int, ...], device: int) -> None:
        self._device = device
        self._capsule = _runner.device_array(*element, list(shape), device)

    def __dlpack__(self, **_: Any) -> Any:
        """The library that takes it is its owner."""
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where it is."""
        return (2, self._device) if self._device >= 0 else (1, 0)


class Other(Place):
    """Arrays of any other library that has ``__dlpack__`` and ``__array_namespace__``.

    The call waits for its work, since the library does not know the stream.
    """

    def __init__(self, x: Any, stream: Any) -> None:
        super().__init__()
        self.name = type(x).__module__.partition(".")[0]
        if not hasattr(x, "__array_namespace__"):
            raise TypeError(f"x is a {type(x).__name__} on a device, whose library has no "
                            "__array_namespace__ to make the result by: pass cupy.from_dlpack(x) "
                            "or torch.from_dlpack(x)")
        self.library = x.__array_namespace__()
        self.device = int(x.__dlpack_device__()[1])
        self.stream = 0 if stream is None else stream_handle(stream)

    @staticmethod
    def owns(x: Any) -> bool:
        """Whether `x` is an array of the library on a device."""
        device = getattr(x, "__dlpack_device__", None)
        return device is not None and hasattr(x, "__dlpack__") and int(device()[0]) in _ON_CUDA

    @staticmethod
    def type_name(x: Any) -> str:
        """Of the elements, as numpy's."""
        code, bits = x.dtype
        name = _CODES.get(code, "lanes")
        return name if name == "bool" else f"{name}{bits}"

    def prepared(self, x: Any, moves: bool) -> Any:
        """`x` as it is seen through DLPack."""
        view = x if isinstance(x, _View) else _View(x, self.stream)
        if not moves and self.type_name(view) == "bool":
            view.dtype = self.type_of("uint8")
        if not self.dense(view):
            raise ValueError("x is not dense: make it so, or pass cupy.from_dlpack(x)")
        return view

    @staticmethod
    def dense(x: _View) -> bool:
        """Whether a job can write into it."""
        return x.seen.is_dense and x.seen.address % max(x.seen.itemsize, 1) == 0

    @staticmethod
    def type_of(name: str) -> tuple[int, int]:
        """The code and bits of numpy's name."""
        kind = name.rstrip("0123456789")
        code = next(code for code, known in _CODES.items() if known == kind)
        return code, int(name[len(kind):] or 8)

    def bytes_type(self) -> tuple[int, int]:
        return self.type_of("uint8")

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return _View(self.library.from_dlpack(_Capsule(dtype, shape, self.device)), self.stream)

    def take(self, size: int) -> int:
        memory = _runner.DeviceView(_runner.device_array(*self.bytes_type(), [size], self.device))
        self.scratch.append(memory)
        return memory.address

    def address(self, x: _View) -> int:
        return x.seen.address

    def device_of(self, x: Any) -> int:
        """The device of an array of the library."""
        return int(x.__dlpack_device__()[1])

    def finish(self) -> None:
        _runner.synchronize(self.device, self.stream)

    @staticmethod
    def to_host(x: Any) -> NDArray[Any]:
        """A copy on the host."""
        return np.asarray(x)


AnyPlace = Union[Cupy, Torch, Other]
Library = Union[type[Cupy], type[Torch], type[Other]]
_LIBRARIES: tuple[Library, ...] = (Cupy, Torch, Other)


def library_of(x: Any) -> Library | None:
    """The library of an array on a CUDA device; None for everything else."""
    if isinstance(x, np.ndarray):
        return None
    for library in _LIBRARIES:
        if library.owns(x):
            if not _runner.has_cuda:
                raise DeviceError(
                    "the array is on a GPU, and this build of runner has no CUDA: install it where "
                    "nvcc is found, or pass a copy on the host",
                    "the array is on a GPU", "", "this build of runner has no CUDA",
                    "Install it where nvcc is found, or pass a copy on the host")
            return library
    return None


def apart(a: int, b: int, size_a: int, size_b: int) -> bool:
    """Whether ranges of bytes have none in common."""
    return a + size_a <= b or b + size_b <= a


def size_of(place: Place, x: Any) -> int:
    """Bytes of a dense array."""
    if isinstance(x, _View):
        return math.prod(x.shape) * x.seen.itemsize
    return int(x.nbytes)
