"""Job files from Python values."""
from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

GROUPS = ("match",)  # kinds whose output.dataset is a group


def toml_value(value: Any) -> str:
    """A value as TOML writes it; numpy's numbers and arrays too."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    if isinstance(value, str):
        return '"' + "".join(_escaped(c) for c in value) + '"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(k))} = {toml_value(v)}"
                                for k, v in value.items() if v is not None) + " }"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    raise TypeError(f"{value!r} is a {type(value).__name__}; pass a number, a text, a list or a "
                    "dict of these")


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else toml_value(name)


def _escaped(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    return c if c.isprintable() else f"\\U{ord(c):08X}"


def table(name: str, values: Mapping[str, Any]) -> str:
    """A table of TOML; without the values that are None."""
    lines = [f"{_key(key)} = {toml_value(value)}"
             for key, value in values.items() if value is not None]
    return "\n".join([f"[{name}]", *lines, ""])


def text_of_tables(job: Mapping[str, Any]) -> str:
    """A job file of the tables and keys of a dict, as TOML names them. A text or path for `input` or
    `output` is its file."""
    tables: dict[str, Any] = {
        name: value if name not in ("input", "output") or _is_table(value) else {"file": os.fspath(value)}
        for name, value in job.items() if value is not None}
    keys = [f"{_key(name)} = {toml_value(value)}" for name, value in tables.items()
            if not _is_table(value) and not _is_tables(value)]
    parts = ["\n".join([*keys, ""])]
    for name, value in tables.items():
        if _is_table(value):
            parts.append(table(name, value))
        elif _is_tables(value):
            parts += [table(f"[{name}]", each) for each in value]
    return "\n".join(parts)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_table, value))


def job_text(kind: str | None, parameters: Any, run: Mapping[str, Any], dtype: str | None,
             invalid: Any = None) -> str:
    """The job file of one kind, or of the steps in a list where `kind` is None. `invalid`: what
    elements without a value are, or the table of a mask."""
    is_nan = isinstance(invalid, (float, np.floating)) and math.isnan(invalid)
    word = "nan" if is_nan else invalid
    parts = [] if kind is None else [f"kind = {toml_value(kind)}\n"]
    parts.append(table("input", {"file": "array.h5", "dataset": "/array", "invalid": word}))
    parts.append(table("output", {"file": "result.h5", "dataset": "/result", "dtype": dtype}
                       if kind not in GROUPS else {"file": "result.h5"}))
    parts.append(table("run", run))
    if kind is not None:
        parts.append(table(kind, parameters))
    else:
        parts += [table("[step]", step) for step in parameters]
    return "\n".join(parts)

