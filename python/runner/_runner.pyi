from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

class ArrayJob:
    """A job on an array: `text` is its job file, `dtype` and `shape` those of the input."""

    def __init__(self, text: str, dtype: str, shape: Sequence[int],
                 channels: int | None) -> None: ...
    @property
    def outputs(self) -> list[tuple[str, list[int]]]:
        """Element type and extents of each array that it makes."""
    def run(self, input: NDArray[np.uint8], outputs: Sequence[NDArray[np.uint8]], backend: int,
            device: int, progress: Callable[[int, int], None] | None) -> None:
        """Reads and writes the bytes of dense arrays. `backend`: 0 auto, 1 cpu, 2 cuda."""
