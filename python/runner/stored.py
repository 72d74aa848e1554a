"""Arrays in files, read by the program that the package contains."""
from __future__ import annotations

import json
import math
import operator
import os
import subprocess
import tempfile
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ._program import program
from .jobs import fail


class Stored:
    """An array in a file. Indexing reads it; along its first axis only what the index names.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    def __init__(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any],
                 frame_axes: int = 2) -> None:
        self._name, self.shape, self.dtype = name, shape, dtype
        self._frame_axes = frame_axes

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self._name}: {self.dtype} {list(self.shape)}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array: NDArray[Any] = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    @overload
    def __getitem__(self, index: slice) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, index: Any) -> Any: ...

    def __getitem__(self, index: Any) -> Any:
        """The elements, as numpy indexes an array."""
        whole = index if isinstance(index, tuple) else (index,)
        first, rest = whole[0] if whole else slice(None), whole[1:]
        if self.ndim <= self._frame_axes or self.size == 0 or first is Ellipsis or first is None:
            return self._read(None)[index]
        if isinstance(first, slice):
            start, stop, step = first.indices(self.shape[0])
            low, high = (start, stop) if step > 0 else (stop + 1, start + 1)
            if low >= high:
                return np.empty((0, *self.shape[1:]), self.dtype)[(slice(None), *rest)]
            return self._read((low, high))[(slice(None, None, step), *rest)]
        if isinstance(first, (bool, np.bool_)):  # of numpy no index, though Python's is an integer
            return self._read(None)[index]
        try:
            at = operator.index(first)
        except TypeError:
            return self._read(None)[index]
        if not -self.shape[0] <= at < self.shape[0]:
            raise IndexError(f"index {at} is out of bounds for axis 0 with size {self.shape[0]}")
        at %= self.shape[0]
        return self._read((at, at + 1))[(0, *rest)]

    def _read(self, rows: tuple[int, int] | None) -> NDArray[Any]:
        """Indices [low, high) of the first axis, or all."""
        shape = self.shape if rows is None else (rows[1] - rows[0], *self.shape[1:])
        with tempfile.TemporaryDirectory(prefix="runner-") as folder:
            made = os.path.join(folder, "a.npy")
            frames = math.prod(self.shape[1:-self._frame_axes])
            part = [] if rows is None else ["--frames", f"{rows[0] * frames}:{rows[1] * frames}"]
            # A .npy file of the program's has no float16; float32 has each of its values.
            wider = ["--dtype", "float32"] if self.dtype == np.float16 else []
            _program("convert", self._name, made, *part, *wider)
            read: NDArray[Any] = np.load(made).reshape(shape)
            return read.astype(self.dtype, copy=False)


def read(file: str | os.PathLike[str], dataset: str | None = None) -> Stored:
    """An array in a file of any format that ``runner convert`` reads; read when it is indexed.

    Parameters
    ----------
    file : path
        HDF5, .npy, TIFF, PNG, NIfTI-1, MRC, Zarr or .sand.
    dataset : str, optional
        Of an HDF5 file; by default the one that a job reads, see docs/inputs.md.

    Raises
    ------
    InputError
    """
    name = os.fsdecode(file) + (f":{dataset}" if dataset is not None else "")
    found = json.loads(_program("inspect", name, "--json"))
    datasets = found.get("datasets", [found])
    chosen = [each for each in datasets if each.get("path") == found.get("default")] or datasets
    if len(chosen) != 1:
        names = ", ".join(each["path"] for each in datasets)
        raise ValueError(f"{name} has {len(datasets)} datasets; name one of {names or 'none'}")
    only = chosen[0]
    full = f"{os.fsdecode(file)}:{only['path']}" if "datasets" in found and "path" in only else name
    colour = [axis["name"] for axis in only.get("axes", [])][-1:] == ["s"]
    return Stored(full, tuple(only["shape"]), _dtype_of(only["type"], full), 3 if colour else 2)


def _dtype_of(text: str, name: str) -> np.dtype[Any]:
    """The type that elements are read as, in native byte order."""
    if text == "enumeration of int8 {FALSE = 0x00, TRUE = 0x01}":  # as h5py stores it
        return np.dtype(bool)
    try:
        return np.dtype(text.removeprefix("big-endian "))
    except (TypeError, ValueError):
        raise ValueError(f"{name} has elements of type {text}, which are no numbers") from None


def _program(*arguments: str) -> str:
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(done.returncode, done.stderr)
    return done.stdout
