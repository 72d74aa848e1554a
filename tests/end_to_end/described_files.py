"""Files that say what their axes and elements are, each format in its own way, for random_meanings.py."""
import h5py
import nibabel
import numpy as np
import tifffile

# The types and the axes that files of a format may have; extents of 1 are no axes of a TIFF.
FORMATS = {
    "nexus": ("uint8 int16 uint16 uint32 float32 float64", ["yx", "zyx", "tyx", "czyx", "tzyx", "tczyx"]),
    "labels": ("uint8 int16 uint16 int32 float32 float64",
               ["yx", "zyx", "cyx", "xyz", "tczyx", "tzyx", "yxs", "zyxs", "tzyxs"]),
    "plain": ("uint8 int8 uint16 int32 float32", ["yx", "zyx", "tcyx", "zcyx", "abcyx", "yxs", "tyxs"]),
    "scan": ("uint16 float32", ["fyx"]),
    "ome": ("uint8 uint16 int16 float32", ["yx", "zyx", "cyx", "tcyx", "czyx", "tczyx", "yxs", "zyxs"]),
    "imagej": ("uint8 uint16 float32", ["yx", "zyx", "cyx", "tyx", "zcyx", "tzcyx"]),
    "nifti": ("uint8 int16 int32 float32 float64", ["yx", "zyx", "tzyx"]),
    "npy": ("uint8 uint16 int16 int64 float32 float64", ["yx", "zyx", "cyx", "tzyx", "tczyx", "yxs", "cyxs", "qyx"]),
}
ENDINGS = {"ome": "in.ome.tif", "imagej": "in.tif", "nifti": "in.nii", "npy": "in.npy"}
PATH = {"nexus": "/entry/data/signal", "scan": "/entry/instrument/detector/data"}


def names_of(form, letters):
    """What an output calls the axes; those of a scan are its angles, and others that nothing names."""
    return ("rotation_angle", "", "") if form == "scan" else tuple(letters)


def write(form, values, letters, spacing, keys):
    """Writes the file; returns the keys of [input] that say of its axes what it does not."""
    if form in ENDINGS:
        return WRITERS[form](values, letters, spacing, keys)
    with h5py.File("in.h5", "w") as file:
        return WRITERS[form](file, values, letters, spacing, keys)


def write_nexus(file, values, letters, spacing, _):
    """An NXdata group with coordinates along the axes."""
    entry = file.create_group("entry")
    group = entry.create_group("data")
    file.attrs["default"], entry.attrs["default"] = "entry", "data"
    entry.attrs["NX_class"], group.attrs["NX_class"] = "NXentry", "NXdata"
    group.attrs["signal"], group.attrs["axes"] = "signal", list(letters)
    group["signal"] = values
    for letter, step, count in zip(letters, spacing, values.shape):
        if step:
            group[letter] = 3 + step * np.arange(count)
            group[letter].attrs["units"] = "s" if letter == "t" else "um"
    return {}


def write_labels(file, values, letters, spacing, _):
    file["data"] = values
    for axis, letter in enumerate(letters):
        file["data"].dims[axis].label = letter
    if letters[-1] == "s":
        file["data"].attrs["interpretation"] = f"rgb{'a' if values.shape[-1] == 4 else ''}-image"
    if all(spacing[-2:]) and letters[-1] != "s":
        file["data"].attrs["element_size_um"] = list(spacing[-2:])
    return {}


def write_plain(file, values, letters, spacing, _):
    file["data"] = values
    return declared(letters, spacing)


def write_scan(file, values, _letters, _spacing, keys):
    entry = file.create_group("entry")
    entry.attrs["NX_class"] = "NXentry"
    entry["definition"] = "NXtomo"
    detector = entry.create_group("instrument/detector")
    entry["instrument"].attrs["NX_class"], detector.attrs["NX_class"] = "NXinstrument", "NXdetector"
    detector["data"], detector["image_key"] = values, keys
    sample = entry.create_group("sample")
    sample.attrs["NX_class"] = "NXsample"
    sample["rotation_angle"] = np.arange(len(keys)) * 2.0
    return {}


def write_ome(values, letters, spacing, _):
    steps = {f"PhysicalSize{letter.upper()}": step for letter, step in zip(letters, spacing)
             if step and letter in "zyx"}
    units = {f"{name}Unit": "µm" for name in steps}
    if "t" in letters and spacing[letters.index("t")]:
        steps["TimeIncrement"] = spacing[letters.index("t")]
    tifffile.imwrite("in.ome.tif", values, ome=True, photometric="rgb" if letters[-1] == "s" else "minisblack",
                     metadata={"axes": letters.upper(), **steps, **units})
    return {}


def write_imagej(values, letters, spacing, _):
    said = {"axes": letters.upper(), "unit": "um"}
    step = dict(zip(letters, spacing))
    if step.get("z"):
        said["spacing"] = step["z"]
    if step.get("t"):
        said["finterval"] = step["t"]
    resolution = (1 / step["x"], 1 / step["y"]) if step["x"] and step["y"] else None
    tifffile.imwrite("in.tif", values, imagej=True, metadata=said, resolution=resolution)
    return {}


def write_nifti(values, letters, spacing, _):
    image = nibabel.Nifti1Image(values.transpose(), np.diag([*(step or 1 for step in (*spacing[::-1], 1, 1)[:3]), 1]))
    image.header.set_xyzt_units("micron", "sec")
    image.header.set_zooms([step or 1 for step in spacing[::-1]])
    nibabel.save(image, "in.nii")
    return {}


def write_npy(values, letters, spacing, _):
    np.save("in.npy", values)
    return declared(letters, spacing)


def declared(letters, spacing):
    known = {letter: step for letter, step in zip(letters, spacing) if step and letter != "s"}
    return {"axes": letters, **({"spacing": {**known, "unit": "um"}} if known else {})}


WRITERS = {"nexus": write_nexus, "labels": write_labels, "plain": write_plain, "scan": write_scan, "ome": write_ome,
           "imagej": write_imagej, "nifti": write_nifti, "npy": write_npy}


def read_output(dataset):
    """The elements of out.h5, the names of its axes, their spacings, and its invalid number."""
    with h5py.File("out.h5") as file:
        data = file[dataset]
        spacing = data.attrs.get("spacing", data.attrs.get("element_size_um"))
        along = np.atleast_1d(data.parent.attrs.get("axes", ["."] * data.ndim))
        if spacing is None:
            steps = [np.diff(data.parent[name]) if name != "." and name in data.parent else [] for name in along]
            spacing = [step[0] if len(step) and np.allclose(step, step[0]) else None for step in steps]
        spacing = [None] * (data.ndim - len(spacing)) + list(spacing)
        names = [dim.label or ("" if name == "." else name) for dim, name in zip(data.dims, along)]
        invalid = data.attrs.get("_FillValue")
        return data[...], tuple(names), spacing, None if invalid is None else float(np.ravel(invalid)[0])
