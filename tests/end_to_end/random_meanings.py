"""Random descriptions and random pipelines, against a slow numpy reference that knows the descriptions (meanings.py).

Each case is a number: the same files and the same job at any time. CI runs a share.
"""
import dataclasses
import math
import pathlib

import h5py
import numpy as np
import pytest

import described_files
from harness import call
from meanings import KINDS, Data, field, is_valid

CASES = 500
BOUNDARIES = ["constant", "nearest", "reflect", "mirror", "wrap"]
LEAST_TAPS = [0.125, 0.25, 0.5, 1.0]


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def a_range(rng, count):
    """A range of so many elements as text, and the slice that it is."""
    first, last = sorted(rng.integers(0, count + 1, 2))
    if first == last:
        first, last = 0, count
    step = int(rng.choice([1, 1, 2, 3]))
    text = f"{first if first or rng.random() < 0.5 else ''}:{last if last < count or rng.random() < 0.5 else ''}"
    return (text + (f":{step}" if step > 1 else "")), slice(int(first), int(last), step)


class Case:
    """A file, the keys of [input], and what the job's input then is."""

    def __init__(self, number):
        self.rng = np.random.default_rng(number)
        rng = self.rng
        self.form = str(rng.choice(sorted(described_files.FORMATS)))
        types, axes = described_files.FORMATS[self.form]
        self.letters = str(rng.choice(axes))
        self.dtype = np.dtype(str(rng.choice(types.split())))
        self.keys, self.fields = {}, {}
        least = 2 if self.form in ("ome", "imagej") else 1
        shape = [int(rng.integers(least, 5)) for _ in self.letters]
        colour = self.letters[-1] == "s"
        frame = slice(len(shape) - 2 - colour, len(shape) - colour)
        shape[frame] = [int(n) for n in rng.integers(5, 14, 2)]
        if colour:
            shape[-1] = 3 if self.form == "ome" else int(rng.integers(3, 5))
        self.roles = rng.choice([0, 0, 0, 1, 2, 3], 12) if self.form == "scan" else None
        if self.form == "scan":
            self.roles[:3] = [0, 1, 2]
            shape[0] = len(self.roles)
        self.frame = shape[frame.start:]
        spacing = tuple(float(rng.choice([0.25, 0.5, 2.0, 3.0])) if rng.random() < 0.8 and letter in "tzyx" else None
                        for letter in self.letters)
        values = rng.integers(0, 100, shape).astype(self.dtype)
        if self.dtype.kind == "i":
            values = (values - 40).astype(self.dtype)
        invalid = self.choose_invalid(values, frame)
        self.path = described_files.PATH.get(self.form, "/data")
        self.keys |= described_files.write(self.form, self.masked, self.letters, spacing, self.roles)
        self.name_mask()
        if self.form == "scan":
            spacing = (None,) * 3
        if self.form == "imagej" and not (spacing[-1] and spacing[-2]):
            spacing = (*spacing[:-2], None, None)
        if self.form == "nifti":
            spacing = tuple(step or 1.0 for step in spacing)
        if self.form == "labels":
            spacing = (*[None] * (len(shape) - 2), *(spacing[-2:] if all(spacing[-2:]) else (None, None)))
        whole = Data(values, described_files.names_of(self.form, self.letters), spacing, colour, invalid)
        self.whole = whole
        self.data = self.choose_part(whole, frame)

    def choose_invalid(self, values, frame):
        """Makes some elements invalid; returns their number. `masked` is what the file holds."""
        rng, kind = self.rng, self.dtype.kind
        self.mask, self.mask_value, self.masked = None, None, values
        way = str(rng.choice(["none", "none", "number", "mask", "nan" if kind == "f" else "none"]))
        where = rng.random(values.shape) < rng.choice([0.02, 0.2, 0.6])
        if way == "none":
            return None
        if way == "mask":
            shape = values.shape[int(rng.choice([0, frame.start])):]
            of_pixels = self.letters[-1] == "s" and rng.random() < 0.3
            self.mask = (rng.random(shape[:-1] if of_pixels else shape) < 0.2).astype("uint8") * 3
            over = self.mask[..., None] if of_pixels else self.mask
            number = math.nan if kind == "f" else np.iinfo(self.dtype).max
            if rng.random() < 0.4:
                number = self.mask_value = 103 if kind != "f" else -999.0
            self.masked = values.copy()
            values[np.broadcast_to(over, values.shape) != 0] = number
            return number
        number = math.nan if way == "nan" else float(rng.choice([101, 5])) if kind != "f" else -999.0
        values[where] = number
        self.keys["invalid"] = "nan" if way == "nan" else int(number)
        if kind == "f":
            values[rng.random(values.shape) < 0.02] = math.nan
        return number

    def name_mask(self):
        if self.mask is None:
            return
        if self.form in described_files.ENDINGS or self.rng.random() < 0.3:
            np.save("mask.npy", self.mask)
            said = {"file": "mask.npy"}
        else:
            with h5py.File("in.h5", "a") as file:
                file["/marks"] = self.mask
            said = {"dataset": "/marks"}
        self.keys["invalid"] = said | ({} if self.mask_value is None else {"value": self.mask_value})

    def choose_part(self, data, frame):
        """Takes a part by input.select, frames and region; numpy's slices of the whole."""
        rng, names = self.rng, list(data.names)
        taken, select = [slice(None)] * len(names), {}
        for axis, name in enumerate(names[:-1] if data.colour else names):
            count, choice = data.values.shape[axis], rng.random()
            if choice > 0.3 or self.form == "scan":
                continue
            if axis < frame.start and choice < 0.12:
                taken[axis] = int(rng.integers(0, count))
                select[name] = taken[axis] - (count if rng.random() < 0.3 else 0)
            else:
                select[name], taken[axis] = a_range(rng, count)
        self.taken = taken[frame.start:]
        if select:
            self.keys["select"] = select
        data = part_of(data, taken)
        if self.form == "scan":
            data = part_of(data, [np.flatnonzero(self.roles == 0)])
        if data.frame_axes > 2 and rng.random() < 0.3:
            self.keys["frames"], frames = a_range(rng, data.values.shape[0])
            data = part_of(data, [frames])
        self.region = {}
        if rng.random() < 0.3:
            for axis, name in zip(range(data.frame_axes - 2, data.frame_axes), ["rows", "columns"]):
                text, part = a_range(rng, data.values.shape[axis])
                if part.step == 1:
                    self.region[name] = text
                    cut = [slice(None)] * axis + [part]
                    data = part_of(data, cut)
                    self.taken.append((axis - data.frame_axes + 2, part))
            if self.region:
                self.keys["region"] = self.region
        return data

    def cut_field(self, image):
        """What the part takes of an image of the whole frame's extents."""
        image = image[tuple(part for part in self.taken if not isinstance(part, tuple))]
        for axis, part in (part for part in self.taken if isinstance(part, tuple)):
            image = image[(slice(None),) * axis + (part,)]
        return image


def part_of(data, taken):
    taken = list(taken) + [slice(None)] * (data.values.ndim - len(taken))
    kept = [axis for axis, part in enumerate(taken) if not isinstance(part, int)]
    values = data.values[tuple(taken)]
    steps = []
    for axis, count in zip(kept, values.shape):
        part, step = taken[axis], data.spacing[axis]
        steps.append(step * (part.step or 1) if step and isinstance(part, slice) and count > 1 else None)
    return dataclasses.replace(data, values=values, spacing=tuple(steps),
                               names=tuple(data.names[axis] for axis in kept))


def taps(rng):
    row = [float(rng.choice(LEAST_TAPS)) for _ in range(2 * int(rng.integers(0, 3)) + 1)]
    sign = rng.random()
    if sign < 0.15:
        row[int(rng.integers(len(row)))] *= -1
    if sign > 0.9:
        row = [-tap for tap in row]
    if len(row) > 1 and rng.random() < 0.2:
        row[int(rng.integers(len(row)))] = 0.0
    return row if any(row) else [1.0]


def window(rng, data, choices):
    last = [int(extent) for extent in rng.choice(choices, 2)]
    return [int(rng.choice(choices)), *last] if data.frame_axes > 2 and rng.random() < 0.4 else last


def step_of(case, kind, data):
    """The keys of a step of this kind, and those that the reference takes in their place."""
    rng, kept = case.rng, {}
    if kind == "convolve":
        kept = {"row_taps": taps(rng), "column_taps": taps(rng), "boundary": str(rng.choice(BOUNDARIES))}
        if data.frame_axes > 2 and rng.random() < 0.4:
            kept["depth_taps"] = taps(rng)
        if kept["boundary"] == "constant":
            kept["fill"] = float(rng.integers(0, 50))
    elif kind == "median":
        kept = {"size": window(rng, data, [1, 3, 5]), "boundary": str(rng.choice(BOUNDARIES))}
        if kept["boundary"] == "constant":
            kept["fill"] = float(rng.integers(0, 50))
        if rng.random() < 0.4:
            kept["difference"] = float(rng.integers(0, 30))
    elif kind == "bin":
        last = data.values.shape[:data.frame_axes]
        factors = [int(rng.integers(1, min(extent, 4) + 1)) for extent in last[-(3 if len(last) > 2 else 2):]]
        kept = {"factors": factors[-int(rng.integers(2, len(factors) + 1)):],
                "value": str(rng.choice(["mean", "mean", "sum"])), "edge": str(rng.choice(["drop", "partial"]))}
    elif kind == "rescale":
        extremes = rng.random() < 0.3 and data.valid.any() and not np.isinf(data.values).any()
        kept = {"from": "extremes" if extremes else [0.0, float(rng.choice([64, 128]))],
                "dtype": str(rng.choice(["uint8", "uint16", "float32", "int16"]))}
        if not extremes or rng.random() < 0.5:
            kept["to"] = [0.0, float(rng.choice([32, 64, 128]))]
        return kept, {"given" if key == "from" else key: value for key, value in kept.items()}
    elif kind == "fill":
        kept = {"method": str(rng.choice(["nearest", "mean", "number"]))}
        if kept["method"] == "number":
            kept["value"] = float(rng.integers(0, 50))
        else:
            kept["reach"] = window(rng, data, [0, 1, 2, 3])
            kept |= {"rest": float(rng.integers(0, 50))} if rng.random() < 0.4 else {}
    elif kind == "transpose":
        kept = {"permutation": [int(axis) for axis in rng.permutation(data.values.ndim)]}
    elif kind == "stripes":
        kept = {"size": int(rng.integers(1, 7))}
    elif kind == "stitch":
        kept = {"overlap": int(rng.integers(0, data.values.shape[data.frame_axes - 1] + 1)),
                "side": str(rng.choice(["left", "right"])), "blend": str(rng.choice(["linear", "none"])),
                "order": str(rng.choice(orders_of_angles(data)))}
    elif kind == "denoise":
        shape = (1, *data.values.shape[:data.frame_axes])[-3:]
        kept = {"sigma": float(rng.choice([5, 20])), "count": "all", "window": [1 if shape[0] == 1 else 3, 3, 5],
                "patch": [min(extent, int(rng.integers(1, 4))) for extent in shape]}
    elif kind == "correct":
        return correction(case)
    return kept, kept


def correction(case):
    """Fields by the scan's own frames, numbers, or images of another file."""
    rng = case.rng
    dead = {} if rng.random() < 0.5 else {"dead": "invalid" if rng.random() < 0.5 else 2.5}
    if case.form == "scan" and rng.random() < 0.7:
        frames, invalid = case.whole.values, case.whole.invalid
        images = {name: case.cut_field(field(frames[case.roles == role], "mean", invalid))
                  for name, role in [("dark", 2), ("flat", 1)]}
        return dead, {**images, **dead}
    said, images = {}, {}
    with h5py.File("fields.h5", "w") as file:
        for name, least in [("dark", 0), ("flat", 20)]:
            if rng.random() < 0.3:
                said[name] = images[name] = float(least + rng.integers(0, 30))
                continue
            reduce = str(rng.choice(["mean", "median", "none"]))
            shape = case.frame if reduce == "none" else (int(rng.integers(1, 5)), *case.frame)
            file[name] = rng.integers(least, least + 30, shape).astype("uint16")
            said[name] = {"file": "fields.h5", "dataset": f"/{name}", "reduce": reduce}
            number = case.keys.get("invalid")  # of all that the job reads, but a mask of the input alone
            number = number.get("value") if isinstance(number, dict) else number
            images[name] = case.cut_field(field(file[name][...], reduce, None if number == "nan" else number))
    return {**said, **dead}, {**images, **dead}


def orders_of_angles(data):
    """The orders that stitch takes of the data: two angles at least, and none by name along another axis."""
    named = {data.names.index(name) for name in ("rotation_angle", "theta", "frame") if name in data.names}
    return [order for order, behind in (("projections", 3), ("sinograms", 2))
            if data.frame_axes >= behind and data.values.shape[data.frame_axes - behind] > 1
            and named <= {data.frame_axes - behind}]


def kinds_for(data, steps):
    kinds = ["convolve", "bin", "rescale", "median"]
    kinds += ["fill"] if data.invalid is not None else []
    kinds += ["stripes"] if data.invalid is None else []
    # Its voxels are numbers, and what they become is off by more than other kinds' elements: it is the last step.
    is_volume = data.invalid is None and 2 <= data.frame_axes <= 3 and np.isfinite(data.values.astype("f4")).all()
    kinds += ["denoise"] if is_volume else []
    kinds += ["stitch"] if orders_of_angles(data) else []
    kinds += ["transpose"] if data.values.ndim <= 3 else []
    return kinds + (["correct"] if not steps and data.values.dtype != np.dtype("int64") else [])


def job_of(case):
    """The text of the job, and what it makes of the case's input."""
    rng, data, steps = case.rng, case.data, []
    for _ in range(int(rng.integers(1, 4))):
        kind = str(rng.choice(kinds_for(data, steps)))
        said, keys = step_of(case, kind, data)
        data = KINDS[kind](data, **keys)
        steps.append((kind, said))
        if kind == "denoise":
            break
    file = described_files.ENDINGS.get(case.form, "in.h5")
    lines = ["[input]", f'file = "{file}"', f'dataset = "{case.path}"' if file == "in.h5" else ""]
    lines += [f"{key} = {toml(value)}" for key, value in case.keys.items()]
    lines += ["[output]", 'file = "out.h5"', "[run]", 'backend = "cpu"',
              f"chunk_rows = {rng.choice([1, 3, 7, 1000])}", f"lanes = {rng.integers(1, 4)}"]
    if len(steps) == 1 and rng.random() < 0.5:
        kind, said = steps[0]
        dtype = said.pop("dtype", None)
        at = lines.index('file = "out.h5"') + 1
        lines[at:at] = [f'dtype = "{dtype}"'] if dtype else []
        lines = [f'kind = "{kind}"', *lines, f"[{kind}]"] + [f"{key} = {toml(value)}" for key, value in said.items()]
    else:
        for kind, said in steps:
            lines += ["[[step]]", f'kind = "{kind}"'] + [f"{key} = {toml(value)}" for key, value in said.items()]
    return "\n".join(lines) + "\n", data


def differs(made, wanted, invalid):
    """Where elements are not those of the reference; floats and large integers may be off by a rounding of float32."""
    is_float = wanted.dtype.kind == "f"
    valid = is_valid(wanted, invalid)
    near = np.isclose(made, wanted, rtol=2e-5, atol=1e-4 if is_float else 0, equal_nan=True)
    return (is_valid(made, invalid) != valid) | (valid & ~near)


@pytest.mark.share(12 / CASES)
@pytest.mark.parametrize("number", range(CASES))
def test_case(number):
    case = Case(number)
    text, wanted = job_of(case)
    pathlib.Path("job.toml").write_text(text)
    call("job.toml", "--quiet")
    made, names, spacing, invalid = described_files.read_output(case.path)
    told = f"{case.form} {case.letters} {case.dtype}\n{text}"
    assert made.dtype == wanted.values.dtype and made.shape == wanted.values.shape, told
    wrong = differs(made, wanted.values, wanted.invalid)
    first = tuple(np.argwhere(wrong)[0]) if wrong.any() else ()
    assert not wrong.any(), (f"{wrong.sum()} of {wrong.size} differ, first at {first}: {made[first]} for "
                             f"{wanted.values[first]}, invalid {wanted.invalid}\n{told}")
    assert (invalid is None) == (wanted.invalid is None) and (
        invalid is None or np.array_equal(invalid, wanted.invalid, equal_nan=True)), f"_FillValue {invalid}\n{told}"
    assert names == wanted.names, f"{names} for {wanted.names}\n{told}"
    for step, right, count in zip(spacing, wanted.spacing, made.shape):
        assert right is None or count == 1 or (step and math.isclose(step, right, rel_tol=1e-5)), (
            f"spacing {spacing} for {wanted.spacing}\n{told}")
