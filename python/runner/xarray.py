"""The functions of this package on xarray's arrays, as methods of ``array.runner``.

>>> import runner.xarray
>>> image = xarray.DataArray(np.eye(4), dims=("row", "column"), coords={"column": [0.0, 0.5, 1.0, 1.5]})
>>> half = image.runner.bin(2)
>>> half.dims, half["column"].values
(('row', 'column'), array([0.25, 1.25]))

Each method takes what the function of its name takes, beside the array and `out`. As there, a kind
works on the last axes, whatever their names are. Names of axes are taken where a function takes axes:
by `transpose`, and by `reduce`, of the last three axes. Names and coordinates stay: those of binned axes
are the means of each block, and those of reduced axes are left out. Attributes stay, but for the units, codes
and ranges of values that `correct`, `phase` and `rescale` change. A chunked array (dask) is computed as a whole
first.
"""
from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray

from . import kinds, pipeline

_OTHER_VALUES = ("correct", "phase", "rescale")
_CODES = ("_FillValue", "missing_value")  # of netCDF, which xarray makes NaN of if it is to
_OF_VALUES = ("units", "scale_factor", "add_offset", "valid_min", "valid_max", "valid_range", "actual_range",
              "flag_values", "flag_masks", "flag_meanings", *_CODES)
_PLACES = {"x": -1, "y": -2, "z": -3, "frame": -3}


def _form(array: xarray.DataArray) -> xarray.DataArray:
    """An array of its names and coordinates, without its elements."""
    return array.copy(deep=False, data=np.broadcast_to(np.int8(0), array.shape))


def _space(form: xarray.DataArray, channels: int | None) -> list[Any]:
    """The names of the axes that are not colour."""
    return list(form.dims[:-1] if (channels or 1) > 1 else form.dims)


def _binned(form: xarray.DataArray, keys: Mapping[str, Any], channels: int | None) -> xarray.DataArray:
    factors = keys["factors"]
    factors = [factors] * 2 if np.ndim(factors) == 0 else list(factors)
    sizes = dict(zip(reversed(_space(form, channels)), reversed(factors)))
    is_partial = keys.get("edge") == "partial"
    shape = [-(-n // sizes.get(dim, 1)) if is_partial else n // sizes.get(dim, 1)
             for dim, n in form.sizes.items()]
    coords = {}
    for name, each in form.coords.items():
        own = {dim: sizes[dim] for dim in each.dims if sizes.get(dim, 1) != 1}
        if not own:
            coords[name] = each.variable
        elif each.dtype.kind in "iufmM":  # others, such as texts, have no mean
            alone = xarray.DataArray(each.variable.to_base_variable())
            blocks: Any = alone.coarsen(own, boundary="pad" if is_partial else "trim")
            coords[name] = blocks.mean(keep_attrs=True).variable
    return xarray.DataArray(np.broadcast_to(np.int8(0), shape), coords, form.dims, form.name, form.attrs)


def _axes(form: xarray.DataArray, axes: Sequence[Any]) -> list[int]:
    """Axes by name, or by number, as numbers."""
    for axis in axes:
        if isinstance(axis, str) and axis not in form.dims:
            raise ValueError(f"there is no axis {axis!r}; the array has {', '.join(map(repr, form.dims))}")
    return [form.dims.index(axis) if axis in form.dims else axis for axis in axes]


def _over(form: xarray.DataArray, over: Any, channels: int | None) -> list[Any]:
    """The names of the axes that a reduction is over."""
    space = _space(form, channels)
    if isinstance(over, str):
        over = [over] if over in form.dims else space[-2:] if over == "frame" else [over]
    found = []
    for name in over:
        if name not in form.dims and -_PLACES.get(name, -len(space) - 1) <= len(space):
            name = space[_PLACES[name]]
        if name not in form.dims:
            raise ValueError(f"there is no axis {name!r}; the array has {', '.join(map(repr, form.dims))}")
        if name in space[:-3]:
            raise ValueError(f"the axis {name!r} is not among the last three, which are those that can be "
                             "reduced; transpose the array first")
        found.append(name)
    return found


def _places(form: xarray.DataArray, names: Sequence[Any], channels: int | None) -> list[str]:
    """What the functions call the axes of these names."""
    called = dict(zip(reversed(_space(form, channels)), ("x", "y", "z")))
    return [called.get(name, "s") for name in names]


def _reduced(form: xarray.DataArray, keys: Mapping[str, Any], over: Sequence[Any]) -> xarray.DataArray:
    gone = [name for name, each in form.coords.items() if set(each.dims) & set(over)]
    form = form.drop_vars(gone).isel({dim: 0 for dim in over})
    operation = keys["operation"]
    if operation == "percentiles":
        return form.expand_dims({"percentile": np.asarray(keys["percentiles"], float)}, axis=form.ndim)
    if operation == "histogram":
        low, high = keys["from"]
        edges = np.linspace(low, high, keys["bins"] + 1)
        form = form.expand_dims({"bin": (edges[:-1] + edges[1:]) / 2}, axis=form.ndim)
        return _of_other_values(form)
    return form


def _snapshots(form: xarray.DataArray, keys: Mapping[str, Any]) -> xarray.DataArray:
    start, every = keys.get("start_generation") or 0, keys.get("snapshot_every") or 0
    last = start + keys["generations"]
    numbers = [g for g in range(start + 1, last) if every and g % every == 0] + [last]
    form = form.isel({dim: 0 for dim in form.dims[:-2]}, drop=True)
    return form.expand_dims({"generation": numbers})


def _of_other_values(form: xarray.DataArray) -> xarray.DataArray:
    form.attrs = {name: value for name, value in form.attrs.items() if name not in _OF_VALUES}
    return form


def _warn_of_codes(array: xarray.DataArray, steps: Sequence[Any], options: Mapping[str, Any], level: int) -> None:
    """Elements that an attribute says are no values count as values, if nobody says otherwise."""
    code = next((array.attrs[name] for name in _CODES if name in array.attrs), None)
    moved = all(kind in ("transpose", "sand") for kind in steps)
    if code is None or moved or options.get("invalid") is not None or not np.all(np.equal(code, code)):
        return
    number = np.ravel(code)[0].item()
    warnings.warn(f"the array's attributes say that elements of {number!r} are no values, and they are taken as "
                  f"values: pass invalid={number!r}, or open the file with mask_and_scale=True", stacklevel=level)


def _after(form: xarray.DataArray, kind: str, keys: Mapping[str, Any], channels: int | None
           ) -> tuple[xarray.DataArray, dict[str, Any]]:
    """Names and coordinates behind a step with these keys, and the keys as the functions take them."""
    told = dict(keys)
    if kind == "bin":
        return _binned(form, keys, channels), told
    if kind == "transpose":
        told["permutation"] = _axes(form, keys["permutation"])
        return form.transpose(*(form.dims[axis] for axis in told["permutation"])), told
    if kind == "reduce":
        over = _over(form, keys["over"], channels)
        told["over"] = _places(form, over, channels)
        return _reduced(form, keys, over), told
    if kind == "sand":
        return _snapshots(form, keys), told
    return (_of_other_values(form.copy(deep=False)) if kind in _OTHER_VALUES else form), told


def _with_data(form: xarray.DataArray, made: Any) -> xarray.DataArray:
    if form.ndim == 0:
        made = made.reshape(())
    elif made.shape != form.shape:  # a colour, say, that a kind takes in another way
        raise ValueError(f"the result has the shape {list(made.shape)}, and its axes "
                         f"{dict(form.sizes)}; call runner's function with array.values")
    return form.copy(deep=False, data=made)


_register: Any = xarray.register_dataarray_accessor  # some versions of xarray do not type it


@_register("runner")
class Accessor:
    """The methods of ``array.runner``."""

    def __init__(self, array: xarray.DataArray) -> None:
        self._array = array

    def pipeline(self, steps: Sequence[Mapping[str, Any]], **options: Any) -> xarray.DataArray:
        """Several steps, as :func:`runner.pipeline` runs them; of `transpose` and `reduce` with names
        of axes, as they are behind the step before."""
        _warn_of_codes(self._array, [step.get("kind") for step in steps], options, 3)
        form = _form(self._array)
        told: list[Any] = []
        for step in steps:
            rest = {key: self._ordered(value) for key, value in step.items() if key != "kind"}
            if "kind" in step:  # without, the function says what is missing
                form, rest = _after(form, step["kind"], rest, options.get("channels"))
                rest = {"kind": step["kind"], **rest}
            told.append(rest)
        return _with_data(form, pipeline(self._array.data, told, **self._options(options)))

    def _ordered(self, value: Any) -> Any:
        """Fields and masks with their axes in the order of the array's."""
        if isinstance(value, Mapping):
            return {key: self._ordered(each) for key, each in value.items()}
        if not isinstance(value, xarray.DataArray):
            return value
        return value.transpose(..., *(dim for dim in self._array.dims if dim in value.dims)).data

    def _options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        if options.get("out") is not None:
            raise TypeError("out is not taken here; call runner's function with array.values")
        return {key: self._ordered(value) for key, value in options.items()}

    def _call(self, function: Callable[..., Any], given: inspect.BoundArguments) -> Any:
        kind = function.__name__
        given.arguments.pop("self")
        options = given.arguments.pop("options", {})
        _warn_of_codes(self._array, [kind], options, 4)
        values = {name: self._ordered(value) for name, value in given.arguments.items() if value is not None}
        if kind == "match":
            made = function(self._array.data, **values, **self._options(options))
            return tuple(xarray.DataArray(each, dims=("reference", "match")[:each.ndim], name=name)
                         for each, name in zip(made, ("index", "distance", "count")))
        names = {"axes": "permutation", "from_": "from"}
        form, told = _after(_form(self._array), kind,
                            {names.get(name, name): value for name, value in values.items()},
                            options.get("channels"))
        values = {name: told[names.get(name, name)] for name in values}
        return _with_data(form, function(self._array.data, **values, **self._options(options)))


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    shown = inspect.signature(function)
    array, *others = shown.parameters.values()
    shown = shown.replace(parameters=[array.replace(name="self", annotation=array.empty), *others])

    def method(self: Accessor, *arguments: Any, **keywords: Any) -> Any:
        return self._call(function, shown.bind(self, *arguments, **keywords))

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    method.__signature__ = shown  # type: ignore[attr-defined]
    return method


for _name in kinds.__all__:
    setattr(Accessor, _name, _method(getattr(kinds, _name)))
