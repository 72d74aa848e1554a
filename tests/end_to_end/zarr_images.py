"""What the groups of an OME-Zarr say beside axes and channels: labels, several images, scales that are none, and names
that contradict one another. One warning says so, and the elements are those that zarr reads."""
import json
import pathlib

import numpy as np
import pytest
import zarr

from harness import call, good

pytestmark = pytest.mark.quick

DATA = np.random.default_rng(12).integers(0, 900, (3, 8, 10)).astype("uint16")


def image(path="0", scale=(2.0, 0.5, 0.25), axes=None, **more):
    return {**more, "axes": axes or [{"name": axis, "type": "space", "unit": "micrometer"} for axis in "zyx"],
            "datasets": [{"path": path, "coordinateTransformations": [{"type": "scale", "scale": list(scale)}]}]}


def write(version, images=None, more=None, dimension_names=None, folder="in.ome.zarr", paths=("0",)):
    """A store of an array for each path."""
    said = {"multiscales": images or [image()], **(more or {})}
    root = pathlib.Path(folder)
    for number, path in enumerate(paths):
        if version == "0.4":
            zarr.open_array(str(root / path), mode="w", shape=DATA.shape, chunks=DATA.shape, dtype="uint16")[...] = DATA + number
            continue
        (root / path / "c/0/0").mkdir(parents=True)
        (root / path / "c/0/0/0").write_bytes((DATA + number).tobytes())
        (root / path / "zarr.json").write_text(json.dumps({
            "zarr_format": 3, "node_type": "array", "shape": DATA.shape, "data_type": "uint16", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": DATA.shape}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            **({"dimension_names": dimension_names} if dimension_names else {})}))
    if version == "0.4":
        (root / ".zgroup").write_text('{"zarr_format": 2}')
        said["multiscales"] = [{**one, "version": "0.4"} for one in said["multiscales"]]
        (root / ".zattrs").write_text(json.dumps(said))
    else:
        (root / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group",
                                                    "attributes": {"ome": {"version": "0.5", **said}}}))


def says(*arguments):
    done = call("convert", *(arguments or ("in.ome.zarr",)), "out.h5", "--overwrite")
    return done.stderr


@pytest.fixture(params=["0.4", "0.5"])
def version(request):
    return request.param


def test_an_image_alone(version):
    write(version)
    assert not says()
    good("convert", "in.ome.zarr", "out.npy", says="(?s).*")
    assert np.array_equal(np.load("out.npy"), DATA)


def test_labels(version):
    """A mean of labels is none of them."""
    write(version, more={"image-label": {"source": {"image": "../../"}}})
    words = "the elements are labels (in.ome.zarr:/0): its group says so (image-label), and an output does not"
    assert words in says() and words in says("in.ome.zarr:/0")
    assert words in call("inspect", "in.ome.zarr").stderr
    text = call("bin", "in.ome.zarr", "out.ome.zarr", "--factors", "2,2", "--quiet").stderr
    assert text.count(words) == 1 and "labels by --set output.downsample=mode" in text


def test_several_images(version):
    write(version, [image("0"), image("1")], paths=("0", "1"))
    words = "one image of several is read (in.ome.zarr:/): its group has 2 (multiscales), and the first is taken"
    assert words in says()
    assert words in call("median", "in.ome.zarr", "job.h5", "--size", "3,3", "--quiet").stderr
    assert "several" not in says("in.ome.zarr:/1")
    good("convert", "in.ome.zarr:/1", "b.npy", says="(?s).*")
    assert np.array_equal(np.load("b.npy"), DATA + 1)


@pytest.mark.parametrize("scale, said", [((-2.0, 0.5, 0.25), "-2 of z"), ((2.0, 0.0, -1.5), "0 of y, -1.5 of x")])
def test_scales_that_are_no_distance(version, scale, said):
    write(version, [image(scale=scale)])
    text = says()
    assert f"a scale of the image is not above 0 (in.ome.zarr:/0): it is {said}. It is left out" in text, text


@pytest.mark.parametrize("names, is_other", [(["z", "y", "x"], False), ([None, "y", "x"], False), (["z", "x", "y"], True),
                                             (["dim_0", "dim_1", "dim_2"], True)])
def test_names_that_contradict(names, is_other):
    write("0.5", dimension_names=names)
    text = says()
    words = "its dimension_names are " + ", ".join(names[1:] if names[0] is None else names)
    assert (words in text and "its image says z, y, x" in text) if is_other else not text, text
    assert "axes: z 2 um, y 0.5 um, x 0.25 um\n" in good("inspect", "in.ome.zarr", says="(?s).*")


def axis(name, type=None, unit=None):
    return {"name": name, **({"type": type} if type else {}), **({"unit": unit} if unit else {})}


def space(names="yx"):
    return [axis(name, "space", "micrometer") for name in names]


LABELS = {"omero": {"channels": [{"label": "A", "color": "FF0000"}, {"label": "B", "color": "00FF00"}, {"label": "C"}]}}


@pytest.mark.parametrize("first, others, said", [
    (axis("channel", "channel"), "yx", "c (A, B, C), y 0.5 um, x 0.25 um"),
    (axis("t", "channel"), "yx", "c (A, B, C), y 0.5 um, x 0.25 um"),
    (axis("time", "time", "second"), "yx", "t 2 second, y 0.5 um, x 0.25 um"),
    (axis("c", "time"), "yx", "t 2, y 0.5 um, x 0.25 um"), (axis("angle", "other"), "YX", "angle 2, y 0.5 um, x 0.25 um"),
    (axis("Z", "space"), "YX", "z 2, y 0.5 um, x 0.25 um"), (axis("Z", "space"), "zx", "Z 2, z 0.5 um, x 0.25 um"),
    (axis("channel"), "yx", "channel 2, y 0.5 um, x 0.25 um")])
def test_axes_by_their_types(version, first, others, said):
    """OME-Zarr leaves the names of axes open, and says by types what they are."""
    is_channel = first.get("type") == "channel"
    names = [first["name"], *others]
    write(version, [image(axes=[first, *space(others)])], LABELS if is_channel else None, names if version == "0.5" else None)
    assert f"axes: {said}\n" in good("inspect", "in.ome.zarr:/0")
    assert not says()
    if is_channel:
        pathlib.Path("j.toml").write_text('kind = "bin"\n[input]\nfile = "in.ome.zarr"\nselect = { c = "B" }\n'
                                          '[output]\nfile = "o.npy"\n[bin]\nfactors = [1, 1]\n')
        call("j.toml", "--quiet")
        assert np.array_equal(np.load("o.npy"), DATA[1])


@pytest.mark.parametrize("count, first", [(1, "c"), (2, "c"), (4, "c"), (3, "z")])
def test_channels_of_another_number(version, count, first):
    """Which of them are whose, nothing says. Windows alone are no loss: an output has its own."""
    axes = [axis(first, "channel" if first == "c" else "space"), *space()]
    write(version, [image(axes=axes)], {"omero": {"channels": [{"label": name, "color": "FF0000"} for name in "ABCD"[:count]]}})
    words = "the channels that omero has are not those of the array (in.ome.zarr:/0): they are " \
        f"{count}, and the array has {3 if first == 'c' else 1}. Their names and colours are left out"
    assert says().count(words) == 1 and words in call("inspect", "in.ome.zarr").stderr
    assert "(A" not in call("inspect", "in.ome.zarr:/0").stdout
    write(version, [image(axes=axes)], {"omero": {"channels": [{"window": {"min": 0, "max": 9}}] * count}}, folder="b.ome.zarr")
    assert not says("b.ome.zarr")


def test_colours_that_are_none(version):
    channels = [{"label": "A", "color": "#ff00aa"}, {"label": "B", "color": "00FF00FF"}, {"label": "C", "color": "0000ff"}]
    write(version, [image(axes=[axis("c", "channel"), *space()])], {"omero": {"channels": channels}})
    words = "a colour of a channel is none (in.ome.zarr:/0): it is #ff00aa, 00FF00FF, not six hexadecimal digits"
    assert says().count(words) == 1
    call("convert", "in.ome.zarr", "out.ome.zarr")
    node = json.loads(pathlib.Path("out.ome.zarr/zarr.json").read_text())["attributes"]["ome"]["omero"]["channels"]
    assert [one["label"] for one in node] == ["A", "B", "C"] and [one.get("color") for one in node][2] == "0000FF"


def test_attributes_of_the_group(version):
    """Each that no output has is named, in the same warning as those of the array."""
    write(version, [image(name="cells", type="mean", metadata={"method": "x"})], {"_creator": {"name": "it"}})
    lost = "the output is without some of its attributes: the attributes of its group multiscales.name, multiscales.metadata, _creator\n"
    assert lost in says() and says().count("_creator") == 1
    assert "_creator" in call("bin", "in.ome.zarr", "out.ome.zarr", "--factors", "2,2", "--quiet").stderr
    write(version, [image(name="cells")], {f"a{number}": number for number in range(9)}, folder="b.ome.zarr")
    assert "a5, a6 and others\n" in says("b.ome.zarr")
    call("convert", "in.ome.zarr", "own.ome.zarr")
    assert not says("own.ome.zarr")


@pytest.mark.parametrize("said, is_known", [("0.5", True), ("0.6", False), ("1.0", False), (0.6, False)])
def test_versions_to_come(said, is_known):
    write("0.5", more={"version": said})
    words = f"the version of the image is not known here (in.ome.zarr:/0): its group says OME-Zarr {said}. It is read as 0.5"
    assert (says().count(words) == 1) != is_known and (words in call("inspect", "in.ome.zarr").stderr) != is_known
    good("convert", "in.ome.zarr", "out.npy", says="(?s).*")
    assert np.array_equal(np.load("out.npy"), DATA)
