"""Images that OME-Zarr 0.4 and 0.5 do not allow are refused with one message; their arrays can be read alone. The cases
are those that the specification's own tests have; zarr_peers/read_invalid.py shows them to ome-zarr-models."""
import copy
import json
import os
import pathlib

import pytest

from harness import bad, call, good

SPACE = [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"]
T, C, Z = {"name": "t", "type": "time"}, {"name": "c", "type": "channel"}, {"name": "z", "type": "space"}
SCALE = {"type": "scale", "scale": [1, 1]}
LEVEL = {"path": "0", "coordinateTransformations": [SCALE]}
CHANNEL = {"label": "DAPI", "color": "0000FF", "window": {"min": 5.0, "max": 2555.0, "start": 0.0, "end": 1765.0}}
IMAGE = {"axes": SPACE, "datasets": [LEVEL]}
NO = object()  # in place of a member: without it


def scaled(axes):
    """A level with a scale for so many axes."""
    return [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1] * axes}]}]


def moved(*transformations):
    return [{"path": "0", "coordinateTransformations": list(transformations)}]


# What of the image is otherwise, and what the message says. Members of the root are under "root".
INVALID = {
    "no axes": ({"axes": NO}, 'no "axes"'),
    "empty axes": ({"axes": []}, '"axes"'),
    "one axis": ({"axes": SPACE[:1], "datasets": scaled(1)}, "1 axis"),
    "too many axes": ({"axes": [{"name": "angle", "type": "custom"}, T, C, Z, *SPACE], "datasets": scaled(6)}, "6 axes"),
    "two axes of a name": ({"axes": [SPACE[1], SPACE[1]]}, '"x"'),
    "axes without names": ({"axes": [{"type": "space"}, {"type": "space"}]}, 'no "name"'),
    "no axes of space": ({"axes": [T, C]}, '0 are of type "space"'),
    "one axis of space": ({"axes": [T, C, SPACE[1]], "datasets": scaled(3)}, '1 is of type "space"'),
    "four axes of space": ({"axes": [{"name": "X", "type": "space"}, Z, *SPACE], "datasets": scaled(4)}, '4 are of type "space"'),
    "an axis of another type": ({"axes": [{"name": "y", "type": "invalid"}, SPACE[1]]}, '1 is of type "space"'),
    "two axes of time": ({"axes": [T, {"name": "u", "type": "time"}, *SPACE], "datasets": scaled(4)}, '"time"'),
    "two axes of channels": ({"axes": [C, {"name": "d", "type": "channel"}, *SPACE], "datasets": scaled(4)}, '"channel"'),
    "no datasets": ({"datasets": NO}, 'no "datasets"'),
    "empty datasets": ({"datasets": []}, '"datasets"'),
    "no path": ({"datasets": [{"coordinateTransformations": [SCALE]}]}, 'no "path"'),
    "a number as path": ({"datasets": [{**LEVEL, "path": 0}]}, '"path"'),
    "no transformations": ({"datasets": [{"path": "0"}]}, 'no "coordinateTransformations"'),
    "empty transformations": ({"datasets": moved()}, '"coordinateTransformations"'),
    "no scale": ({"datasets": moved({"type": "translation", "translation": [1, 1]})}, "0 scales"),
    "two scales": ({"datasets": moved(SCALE, SCALE)}, "2 scales"),
    "two translations": ({"datasets": moved(SCALE, *[{"type": "translation", "translation": [1, 1]}] * 2)}, "2 translations"),
    "a scale under translation": ({"datasets": moved({"type": "translation", "scale": [1, 1]})}, 'no "translation"'),
    "a scale of another length": ({"datasets": scaled(3)}, "2 numbers"),
    "a scale of texts": ({"datasets": moved({"type": "scale", "scale": ["1", "1"]})}, "2 numbers"),
    "transformations of the image": ({"coordinateTransformations": [{"type": "scale", "scale": ["invalid"]}]}, "2 numbers"),
    "another level": ({"datasets": [LEVEL, {"path": "1", "coordinateTransformations": [SCALE, SCALE]}]}, 'level "1"'),
    "no image": ({"root": {"multiscales": []}}, '"multiscales"'),
    "no list of images": ({"root": {"multiscales": {"axes": SPACE}}}, '"multiscales"'),
    "a number as colour": ({"root": {"omero": {"channels": [{**CHANNEL, "color": 255}]}}}, '"color"'),
    "a text in a window": ({"root": {"omero": {"channels": [{**CHANNEL, "window": {**CHANNEL["window"], "end": "100"}}]}}}, '"end"'),
    "omero without channels": ({"root": {"omero": {}}}, 'no "channels"'),
    "another version": ({"version": "0.3"}, "0.3"),
}


def changed(members, changes):
    made = {**copy.deepcopy(members), **changes}
    return {name: value for name, value in made.items() if value is not NO and name not in ("root", "version")}


def write_image(version, changes, folder="in.ome.zarr"):
    """An image whose array has as many axes as its first level has numbers, without a chunk."""
    os.makedirs(f"{folder}/0", exist_ok=True)
    image = changed(IMAGE, changes)
    said = changes.get("version", version)
    if version == "0.4" and said is not NO:
        image["version"] = said
    root = changed({"multiscales": [image], "omero": {"channels": [CHANNEL]}}, changes.get("root", {}))
    datasets = image.get("datasets") or [LEVEL]
    transformations = datasets[0].get("coordinateTransformations") or [SCALE]
    shape = [6] * len(transformations[0].get("scale", [1, 1]))
    if version == "0.4":
        files = {".zgroup": {"zarr_format": 2}, ".zattrs": root, "0/.zarray": {
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "|u1", "compressor": None, "filters": None,
            "fill_value": 7, "order": "C", "dimension_separator": "/"}}
    else:
        axes = image.get("axes") or []
        files = {"zarr.json": {"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": said, **root} if said is not NO else root}},
                 "0/zarr.json": {
                     "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "uint8", "fill_value": 7,
                     "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}}, "codecs": [{"name": "bytes"}],
                     "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                     "dimension_names": [axis.get("name") for axis in axes] if len(axes) == len(shape) else None}}
    for name, text in files.items():
        pathlib.Path(folder, name).write_text(json.dumps(text))


@pytest.mark.quick
@pytest.mark.share(1)
@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_valid(version):
    """What all cases begin with is read."""
    write_image(version, {})
    assert "axes: y 1 um, x 1 um" in good("inspect", "in.ome.zarr:/0")
    good("convert", "in.ome.zarr", "out.npy")


@pytest.mark.quick
@pytest.mark.share(0.3)
@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("case", INVALID)
def test_invalid(version, case):
    changes, words = INVALID[case]
    write_image(version, changes)
    error = bad(3, ["in.ome.zarr", words, "in.ome.zarr:/0"], "convert", "in.ome.zarr", "out.npy")
    pathlib.Path("j.toml").write_text('kind = "median"\n[input]\nfile = "in.ome.zarr"\n[output]\nfile = "out.h5"\n'
                                      '[median]\nsize = [1, 1]\n')
    assert call("plan", "j.toml", code=3).stderr == error
    shown = call("inspect", "in.ome.zarr")
    assert "/0  uint8 " in shown.stdout and words in shown.stderr and "warning" in shown.stderr
    call("convert", "in.ome.zarr:/0", "out.npy")


@pytest.mark.quick
@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_another_number_of_axes(version):
    """An image that is right, of an array that has others."""
    write_image(version, {})
    name = "in.ome.zarr/0/" + (".zarray" if version == "0.4" else "zarr.json")
    node = json.loads(pathlib.Path(name).read_text())
    node["shape"] = [6, 6, 6]
    if version == "0.4":
        node["chunks"] = node["shape"]
    else:
        node["chunk_grid"]["configuration"]["chunk_shape"] = node["shape"]
        del node["dimension_names"]
    pathlib.Path(name).write_text(json.dumps(node))
    bad(3, ["its image has 2 axes, and it has 3"], "convert", "in.ome.zarr", "out.npy")
    call("convert", "in.ome.zarr:/0", "out.npy")


@pytest.mark.quick
def test_read_all_the_same():
    """What the rules allow, or earlier versions, or what harms no reading: another order of axes, no type, no version."""
    for changes in ({"axes": [{"name": "angle"}, *SPACE], "datasets": scaled(3)}, {"version": NO}, {"name": 5},
                    {"axes": [*SPACE, C], "datasets": scaled(3)}, {"coordinateTransformations": [{"type": "scale", "scale": [2, 2]}]},
                    {"datasets": moved(SCALE, {"type": "translation", "translation": [3, 4]})}, {"root": {"omero": NO}}):
        for version in ("0.4", "0.5"):
            write_image(version, changes)
            call("convert", "in.ome.zarr", "out.npy", "--overwrite")
    write_image("0.4", {"axes": ["y", "x"], "version": "0.3", "datasets": [{"path": "0"}]})
    good("convert", "in.ome.zarr", "out.npy", "--overwrite")
