from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

has_cuda: bool

_Named = tuple[str, str, Sequence[int], NDArray[np.uint8]]

class StagingMemory:
    """Page-locked host memory that calls hand on to later ones."""

    def __init__(self) -> None: ...
    def clear(self) -> None: ...
    @property
    def bytes(self) -> int: ...

class ArrayJob:
    """A job on an array: `text` is its job file, `dtype` and `shape` those of the input. `arrays`
    are those that the text names as files: name, element type, extents and bytes."""

    def __init__(self, text: str, dtype: str, shape: Sequence[int], channels: int | None,
                 arrays: Sequence[_Named]) -> None: ...
    @property
    def outputs(self) -> list[tuple[str, list[int]]]:
        """Element type and extents of each array that it makes."""
    def run(self, input: NDArray[np.uint8], outputs: Sequence[NDArray[np.uint8]], backend: int,
            device: int, progress: Callable[[int, int], None] | None,
            staging: StagingMemory) -> None:
        """Reads and writes the bytes of dense arrays. `backend`: 0 auto, 1 cpu, 2 cuda."""
    @property
    def notes(self) -> list[str]:
        """What was odd about the input of the run."""

class DeviceJob:
    """The same on arrays that are on a GPU as a whole."""

    def __init__(self, text: str, dtype: str, shape: Sequence[int], channels: int | None,
                 arrays: Sequence[_Named]) -> None: ...
    @property
    def outputs(self) -> list[tuple[str, list[int]]]:
        """Element type and extents of each array that it makes."""
    def run(self, input: int, outputs: Sequence[int], device: int, stream: int,
            take: Callable[[int], int]) -> None:
        """Hands the work on dense arrays at these addresses to a stream. `take` gives the address
        of memory on the device for a number of bytes. Device -1 is the host, for tests."""

class DeviceView:
    """What a DLPack capsule says of an array, which it keeps."""

    def __init__(self, capsule: Any) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def element(self) -> tuple[int, int]:
        """DLPack's code and bits."""
    @property
    def itemsize(self) -> int: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def is_dense(self) -> bool: ...

def device_array(code: int, bits: int, shape: Sequence[int], device: int) -> Any:
    """New memory on a device, as a DLPack capsule."""

def synchronize(device: int, stream: int) -> None:
    """Waits for all work in a stream."""
