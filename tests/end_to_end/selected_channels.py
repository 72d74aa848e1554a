"""input.select keeps what the file says of the channels that it takes, and of the other axes, in each format that holds it."""
import itertools
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import h5py
import numpy as np
import pytest
import tifffile

from harness import call, generator, good, programs

pytestmark = pytest.mark.quick
NAMES = ["DAPI", "GFP & red", "Cy5"]
COLOURS = ["0000FF", "12AB34", "FF0080"]
EMISSIONS = [461.0, 509.5, 670.0]
SHAPE = dict(zip("tczyx", (4, 3, 5, 7, 9), strict=True))
SPACING = dict(zip("tzyx", (1.5, 2.5, 0.5, 0.25), strict=True))
ORIGIN = dict(zip("tzyx", (3.0, -10.0, 20.0, 40.5), strict=True))

# What a job says of the axis c, and numpy.
CHANNELS = {"name": ('"Cy5"', 2), "index": ("1", 1), "from the end": ("-3", 0), "first": ('"DAPI"', 0),
            "range": ('"1:3"', slice(1, 3)), "one of a range": ('"1:2"', slice(1, 2)), "step": ('"::2"', slice(0, 3, 2)),
            "all": (None, slice(0, 3))}
OTHERS = {"all": {}, "z": {"z": ("2", 2)}, "t": {"t": ("-1", 3)}, "planes": {"z": ('"1:4:2"', slice(1, 4, 2))},
          "times": {"t": ('"1:"', slice(1, 4))}, "part": {"t": ('"::3"', slice(0, 4, 3)), "z": ("0", 0), "x": ('"2::3"', slice(2, 9, 3))},
          "frame": {"t": ("1", 1), "z": ("4", 4)}, "columns": {"y": ('"3:4"', slice(3, 4)), "x": ('"5:"', slice(5, 9))}}


def elements():
    return generator("selected channels").integers(0, 900, tuple(SHAPE.values())).astype("uint16")


def write_tiff(array):
    numbers = [int.from_bytes(bytes.fromhex(colour + "FF"), "big", signed=True) for colour in COLOURS]
    tifffile.imwrite("in.ome.tif", array, photometric="minisblack", metadata={
        "axes": "TCZYX", "Channel": {"Name": NAMES, "Color": numbers, "EmissionWavelength": EMISSIONS},
        "TimeIncrement": SPACING["t"], "TimeIncrementUnit": "s",
        **{f"PhysicalSize{name.upper()}": SPACING[name] for name in "zyx"}})
    return "in.ome.tif"


def write_zarr(array):
    """A store whose description is written here."""
    np.save("in.npy", array)
    good("convert", "in.npy", "in.zarr")
    pathlib.Path("in.ome.zarr").mkdir()
    pathlib.Path("in.zarr").rename("in.ome.zarr/0")
    axes = [{"name": "t", "type": "time", "unit": "second"}, {"name": "c", "type": "channel"}] + [
        {"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    transforms = [{"type": kind, kind: [of.get(name, no) for name in "tczyx"]}
                  for kind, of, no in (("scale", SPACING, 1.0), ("translation", ORIGIN, 0.0))]
    pathlib.Path("in.ome.zarr/zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {"ome": {
        "version": "0.5", "multiscales": [{"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": transforms}]}],
        "omero": {"channels": [{"label": name, "color": colour} for name, colour in zip(NAMES, COLOURS, strict=True)]}}}}))
    return "in.ome.zarr"


def in_zarr(output):
    path = pathlib.Path(output, "zarr.json")
    node = json.loads(path.read_text())["attributes"]["ome"] if path.exists() else json.loads(pathlib.Path(output, ".zattrs").read_text())
    image = node["multiscales"][0]
    kinds = {one["type"]: one[one["type"]] for one in image["datasets"][0]["coordinateTransformations"]}
    names = [axis["name"] for axis in image["axes"]]
    channels = node["omero"]["channels"]
    return (names, dict(zip(names, kinds["scale"], strict=True)), dict(zip(names, kinds.get("translation", [0.0] * len(names)), strict=True)),
            [one.get("label") for one in channels], [one["color"] for one in channels], None)


def in_tiff(output):
    with tifffile.TiffFile(output) as file:
        root, names = ElementTree.fromstring(file.ome_metadata), list(file.series[0].axes.lower())
    pixels = next(each for each in root.iter() if each.tag.endswith("Pixels"))
    channels = [each for each in pixels if each.tag.endswith("Channel")]
    scale = {name: float(pixels.get(f"PhysicalSize{name.upper()}")) for name in "zyx" if name in names}
    if "t" in names:
        scale["t"] = float(pixels.get("TimeIncrement"))
    colours = [int(one.get("Color")).to_bytes(4, "big", signed=True)[:3].hex().upper() for one in channels]
    waves = [one.get("EmissionWavelength") for one in channels]
    return names, scale, None, [one.get("Name") for one in channels], colours, waves


def in_hdf5(output):
    with h5py.File(output) as file:
        said = json.loads(file["d"].attrs["placement"])
        names = list(file["d"].attrs["DIMENSION_LABELS"])
        assert names == [axis["name"] for axis in said["axes"]]
    return (names, {axis["name"]: axis["spacing"] for axis in said["axes"] if "spacing" in axis},
            {axis["name"]: axis.get("origin", 0.0) for axis in said["axes"]},
            said.get("channels"), said.get("colours"), said.get("emissions"))


def is_alone(taken):
    return taken.stop - taken.start <= (taken.step or 1)


def check(found, taken, has_origins, has_waves):
    """What a format says, beside what numpy's slices take."""
    names, scale, origin, labels, colours, waves = found
    assert names == [name for name in "tczyx" if isinstance(taken[name], slice)] or names == [
        name for name in "tczyx" if isinstance(taken[name], slice) and (
            name in "yx" or len(range(*taken[name].indices(SHAPE[name]))) > 1)]  # a TIFF always has y and x
    channel = taken["c"]
    numbers = range(*channel.indices(3)) if isinstance(channel, slice) else [channel]
    assert labels == [NAMES[i] for i in numbers]
    assert colours == [COLOURS[i] for i in numbers]
    if waves is not None and has_waves:
        assert [float(wave) for wave in waves] == [EMISSIONS[i] for i in numbers]
    for name in names:
        if name == "c":
            continue
        first, step = taken[name].start or 0, 1 if is_alone(taken[name]) else taken[name].step or 1
        assert np.isclose(scale[name], SPACING[name] * step), name
        if origin is not None:
            whole = ORIGIN[name] if has_origins else 0
            assert np.isclose(origin[name], whole + first * SPACING[name]), name


READERS = {"out.ome.zarr": in_zarr, "old.ome.zarr": in_zarr, "out.ome.tif": in_tiff, "out.h5": in_hdf5}


@pytest.mark.share(0.4)
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("source", [write_tiff, write_zarr])
def test_selected(source, channel):
    array = elements()
    name = source(array)
    others = list(OTHERS) if programs.full else generator("others", channel).permutation(list(OTHERS))[:3]
    for other, (output, read) in itertools.product(others, READERS.items()):
        said, taken = {}, {letter: slice(0, extent) for letter, extent in SHAPE.items()}
        for letter, (text, slices) in {"c": CHANNELS[channel], **OTHERS[other]}.items():
            said.update({letter: text} if text else {})
            taken[letter] = slices
        select = f'select = {{ {", ".join(f"{letter} = {text}" for letter, text in said.items())} }}\n' if said else ""
        pathlib.Path("j.toml").write_text(
            f'kind = "median"\n[input]\nfile = "{name}"\n{select}[output]\nfile = "{output}"\noverwrite = true\nsync = false\n'
            + ('dataset = "/d"\n' if output.endswith("h5") else "") + ('ngff = "0.4"\n' if output.startswith("old") else "")
            + '[run]\nbackend = "cpu"\n[median]\nsize = [1, 1]\n')
        call("j.toml", "--quiet")
        check(read(output), taken, source is write_zarr, source is write_tiff)
        good("convert", output + (":/d" if output.endswith("h5") else ""), "back.npy", "--overwrite", says="(?s).*")
        wanted = array[tuple(taken[letter] for letter in "tczyx")]
        assert np.array_equal(np.load("back.npy").reshape(wanted.shape), wanted)
        good("convert", output + (":/d" if output.endswith("h5") else ""), "again.h5:/d", "--overwrite", says="(?s).*")
        kept = in_hdf5("again.h5")
        assert kept[3:5] == read(output)[3:5]  # a copy of the output keeps them too


def test_frames():
    """Frames count what is left, of which the first axis is the channels here."""
    name = write_zarr(elements())
    pathlib.Path("j.toml").write_text(
        f'kind = "median"\n[input]\nfile = "{name}"\nselect = {{ t = 0 }}\nframes = "::2"\n[output]\nfile = "out.ome.zarr"\n'
        '[run]\nbackend = "cpu"\n[median]\nsize = [1, 1]\n')
    call("j.toml", "--quiet")
    assert in_zarr("out.ome.zarr")[3:5] == ([NAMES[0], NAMES[2]], [COLOURS[0], COLOURS[2]])


GAPS = {"names": ["DAPI", "", "Cy5"], "colours": ["0000FF", "", "FF0080"], "emissions": [461.0, None, 670.0]}


def with_gaps(form):
    """A channel of which nothing is said between two others, as light through the sample is among dyes."""
    array = elements()
    if form == "ome.zarr":
        write_zarr(array)
        path = pathlib.Path("in.ome.zarr/zarr.json")
        node = json.loads(path.read_text())
        node["attributes"]["ome"]["omero"]["channels"] = [
            {"label": name, "color": colour} if name else {"active": True}
            for name, colour in zip(GAPS["names"], GAPS["colours"], strict=True)]
        path.write_text(json.dumps(node))
        return "in.ome.zarr"
    xml = ('<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
           '<Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint16" BigEndian="false" SizeX="9" SizeY="7" SizeZ="5" SizeC="3" '
           'SizeT="4">' + "".join(
               f'<Channel ID="Channel:0:{i}" SamplesPerPixel="1"' + (
                   f' Name="{name}" Color="{int.from_bytes(bytes.fromhex(colour + "FF"), "big", signed=True)}" '
                   f'EmissionWavelength="{length}"' if name else "") + "/>"
               for i, (name, colour, length) in enumerate(zip(*GAPS.values(), strict=True))) +
           '<TiffData IFD="0" PlaneCount="60"/></Pixels></Image></OME>')
    tifffile.imwrite("in.ome.tif", array.reshape(60, 7, 9), photometric="minisblack", metadata=None, description=xml)
    return "in.ome.tif"


@pytest.mark.parametrize("form", ["ome.tif", "ome.zarr"])
@pytest.mark.parametrize("output", ["ome.tif", "ome.zarr", "h5"])
def test_channels_of_which_nothing_is_said(form, output):
    """What is said of the others is kept, in each format; no channel gets the name of another."""
    source = with_gaps(form)
    pathlib.Path("job.toml").write_text(f'kind = "median"\n[input]\nfile = "{source}"\n[output]\nfile = "out.{output}"\n'
                                        "[median]\nsize = [1, 1]\n")
    text = call("job.toml", "--quiet").stderr
    assert "names of channels" not in text and "colours of channels" not in text
    said = json.loads(good("inspect", f"out.{output}", "--json"))["datasets"][0]["axes"][1]
    assert said["channels"] == GAPS["names"]
    wanted = GAPS["colours"] if output != "ome.zarr" else ["0000FF", "FF0000", "FF0080"]  # which must have one
    assert said["colours"] == wanted
    if form == "ome.tif" and output != "ome.zarr":
        assert said["emissions"] == ["461", "", "670"]
    if output == "ome.tif":
        with tifffile.TiffFile("out.ome.tif") as file:
            channels = list(ElementTree.fromstring(file.ome_metadata).iter(
                "{http://www.openmicroscopy.org/Schemas/OME/2016-06}Channel"))
        assert [channel.get("Name") for channel in channels] == ["DAPI", None, "Cy5"]
        assert "EmissionWavelength" not in channels[1].attrib and "Color" not in channels[1].attrib
    if output == "ome.zarr":
        channels = json.loads(pathlib.Path("out.ome.zarr/zarr.json").read_text())["attributes"]["ome"]["omero"]["channels"]
        assert [channel.get("label") for channel in channels] == ["DAPI", None, "Cy5"]


@pytest.mark.parametrize("form", ["ome.tif", "ome.zarr"])
def test_one_channel_of_them(form):
    source = with_gaps(form)
    for select, words in (('"Cy5"', ", channel Cy5"), ("1", "x"), ('"1:3"', ", c (?, Cy5), ")):
        pathlib.Path("job.toml").write_text(f'kind = "median"\n[input]\nfile = "{source}"\nselect = {{ c = {select} }}\n'
                                            '[output]\nfile = "out.h5"\noverwrite = true\n[median]\nsize = [1, 1]\n')
        call("job.toml", "--quiet")
        found = good("inspect", "out.h5")
        assert words in found and (", channel " in found) == (", channel " in words), found
    pathlib.Path("job.toml").write_text(pathlib.Path("job.toml").read_text().replace('"1:3"', '"GFP"'))
    assert 'its channels are "DAPI", "Cy5"' in call("job.toml", code=2).stderr
