"""Arrays among a job's parameters: dark and flat fields, masks."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._host import as_host_array, as_numbers, flat, type_name

_FIELDS = ("dark", "flat")


class Named:
    """An array that a job's text names as if it were a file."""

    def __init__(self, name: str, array: NDArray[Any]) -> None:
        self.name, self.array = name, array

    def argument(self) -> tuple[str, str, list[int], NDArray[Any]]:
        """As the extension module takes it."""
        return self.name, type_name(self.array, False), list(self.array.shape), flat(self.array)


def with_fields(parameters: Mapping[str, Any], named: list[Named]) -> dict[str, Any]:
    """Parameters of `correct` whose arrays are names; the arrays are added to `named`."""
    return {key: _field(key, value, named) if key in _FIELDS else value
            for key, value in parameters.items()}


def with_mask(invalid: Any, named: list[Named]) -> Any:
    """`invalid` as the job's text has it; a mask is added to `named`."""
    keys: dict[str, Any] = {}
    mask = invalid
    if isinstance(invalid, Mapping):
        if "mask" not in invalid:
            return invalid  # a file's, which the job refuses by name
        keys = {name: each for name, each in invalid.items() if name != "mask"}
        mask = invalid["mask"]
    elif invalid is None or isinstance(invalid, (int, float, str, np.number)):
        return invalid  # a text is a word of the job file's, as "nan"
    named.append(Named(f"mask {len(named)}", as_numbers(as_host_array(mask))))
    return {"file": named[-1].name, "dataset": "/mask", **keys}


def _field(key: str, value: Any, named: list[Named]) -> Any:
    keys: dict[str, Any] = {}
    if isinstance(value, Mapping):
        if "images" not in value:
            return value  # a file's, which the job refuses by name
        keys = {name: each for name, each in value.items() if name != "images"}
        value = value["images"]
    if value is None or isinstance(value, (int, float, np.number)):
        return value
    array = as_numbers(as_host_array(value))
    if array.ndim == 0:
        return array.item()
    named.append(Named(f"{key} {len(named)}", array))
    return {"file": named[-1].name, "dataset": "/images", **keys}
