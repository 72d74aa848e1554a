"""Stand-ins for libraries whose arrays are on a GPU. Theirs are on the host, which the extension
module calls device -1."""
import contextlib
import ctypes
import types

import numpy as np

DEVICE = -1


class Memory:
    """cupy's array.data."""

    def __init__(self, host):
        self.ptr, self.device_id = host.ctypes.data, DEVICE


class Array:
    """An array of the stand-in for cupy."""

    def __init__(self, host, device=DEVICE):
        self.host, self.data = host, Memory(host)
        self.data.device_id = device
        self.dtype, self.shape, self.ndim = host.dtype, host.shape, host.ndim
        self.itemsize, self.nbytes, self.flags = host.itemsize, host.nbytes, host.flags

    def view(self, dtype):
        return Array(self.host.view(dtype))

    def astype(self, dtype):
        return Array(self.host.astype(dtype))

    def copy(self):
        return Array(self.host.copy())

    def get(self):
        return self.host.copy()

    def __getitem__(self, index):
        return Array(self.host[index])

    def __setitem__(self, index, value):
        self.host[index] = value.host


class Stream:
    """A stream of the stand-in, which writes down what is done with it."""

    log: list = []

    def __init__(self, ptr, device=DEVICE):
        self.ptr, self.device = ptr, device

    def record(self):
        self.log.append(("record", self.ptr))
        return self

    def wait_event(self, event):
        self.log.append(("wait", self.ptr, event.ptr))

    def __enter__(self):
        self.log.append(("enter", self.ptr))
        return self

    def __exit__(self, *_):
        self.log.append(("exit", self.ptr))


def empty(shape, dtype):
    """What it held before is no result of anything."""
    Stream.log.append(("empty", tuple(shape)))
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.full(size + 256, 0xAB, np.uint8)
    first = -room.ctypes.data % 256
    return Array(room[first:first + size].view(dtype).reshape(shape))


def cupy():
    """The module."""
    Stream.log = []
    runtime = types.SimpleNamespace(getDevice=lambda: DEVICE)
    cuda = types.SimpleNamespace(runtime=runtime, Device=lambda device: contextlib.nullcontext(),
                                 get_current_stream=lambda device: Stream(0), ExternalStream=Stream,
                                 Stream=Stream)
    return types.SimpleNamespace(ndarray=Array, empty=empty, cuda=cuda,
                                 ascontiguousarray=lambda a: Array(np.ascontiguousarray(a.host)))


class Foreign:
    """An array of a library that has DLPack and a name space, and that its users cannot write."""

    def __init__(self, host):
        self.host, self.shape, self.ndim = host, host.shape, host.ndim

    def __dlpack__(self, *, stream=None):
        assert stream == 1
        return self.host.__dlpack__()

    def __dlpack_device__(self):
        return 2, DEVICE

    def __array_namespace__(self):
        return types.SimpleNamespace(from_dlpack=lambda x: Foreign(writable(np.from_dlpack(x))))


def writable(array):
    """The same memory. numpy takes all that DLPack passes as read-only."""
    memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array
    return np.frombuffer(memory, array.dtype).reshape(array.shape)
