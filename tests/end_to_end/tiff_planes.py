"""Which planes a TIFF file has: those that its description names, wherever they lie, against
tifffile."""
import os
import pathlib
import re
import struct

import numpy as np
from PIL import Image, TiffImagePlugin
import pytest
import tifffile

from harness import attempt, good

pytestmark = pytest.mark.quick


def planes(count=5, dtype="u2", shape=(4, 6)):
    return np.arange(count * np.prod(shape)).reshape(count, *shape).astype(dtype)


def read(name):
    good("convert", name, "out.npy", "--overwrite")
    return np.load("out.npy")


def same_as_tifffile(name):
    wanted = tifffile.imread(name)
    made = read(name)
    assert made.dtype.newbyteorder("=") == wanted.dtype.newbyteorder("=")
    assert made.size == wanted.size and np.array_equal(made.ravel(), wanted.ravel()), name
    shape = list(made.shape)
    assert shape[-2:] == list(wanted.shape[-2:])


def refused(name, *words):
    done = attempt("convert", name, "out.npy", "--overwrite")
    assert done.returncode == 3 and done.stderr.count("runner: error") == 1, done
    for word in ((name, *words) if "*" not in name else words):
        assert word in done.stderr, f"no {word} in {done.stderr}"


def cut_chain(name, after):
    """Ends the chain of directories behind so many."""
    with tifffile.TiffFile(name) as file:
        offset = file.pages[after - 1].offset
        order, big = file.byteorder, file.is_bigtiff
    data = bytearray(pathlib.Path(name).read_bytes())
    entries = struct.unpack_from(order + ("Q" if big else "H"), data, offset)[0]
    at = offset + (8 + 20 * entries if big else 2 + 12 * entries)
    struct.pack_into(order + ("Q" if big else "I"), data, at, 0)
    pathlib.Path(name).write_bytes(data)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_shaped(order, dtype):
    """tifffile's own description of a stack behind one directory."""
    for array in [planes(5, dtype), planes(6, dtype).reshape(2, 3, 4, 6), planes(1, dtype),
                  planes(4, dtype, (1, 7))]:
        for bigtiff in [False, True]:
            tifffile.imwrite("a.tif", array, truncate=True, byteorder=order, bigtiff=bigtiff,
                             metadata={"axes": "TZYX"[-array.ndim:]}, photometric="minisblack")
            same_as_tifffile("a.tif")
    colour = planes(4, dtype, (5, 6, 3))
    tifffile.imwrite("c.tif", colour, truncate=True, photometric="rgb", byteorder=order)
    same_as_tifffile("c.tif")


def test_shaped_with_a_short_chain():
    tifffile.imwrite("a.tif", planes(5), photometric="minisblack")
    cut_chain("a.tif", 2)
    assert np.array_equal(read("a.tif"), planes(5))
    tifffile.imwrite("z.tif", planes(5), photometric="minisblack", compression="zlib")
    cut_chain("z.tif", 2)
    refused("z.tif", "says 5", "has 2 pages")


def test_a_description_of_another_shape():
    """What a program that crops leaves is of no plane that is there."""
    tifffile.imwrite("a.tif", planes(1)[0], description='{"shape": [7, 9, 11]}', metadata=None)
    assert np.array_equal(read("a.tif"), planes(1)[0])
    tifffile.imwrite("b.tif", planes(1)[0], description='{"shape": [7, "x"', metadata=None)
    assert np.array_equal(read("b.tif"), planes(1)[0])


def write_stk(name, array, order="<", tail=b""):
    count, height, width = array.shape
    size = height * width * 2
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1),
            (273, 4, 1, 400), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, size),
            (33628, 4, 1, 400), (33629, 5, count, 160)]
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", 8, len(tags))
    for tag, kind, values, value in tags:
        inline = struct.pack(order + "HH", value, 0) if kind == 3 else struct.pack(order + "I", value)
        head += struct.pack(order + "HHI", tag, kind, values) + inline
    data = (head + bytes(4)).ljust(400, b"\0") + array.astype(order + "u2").tobytes() + tail
    pathlib.Path(name).write_bytes(data)


@pytest.mark.parametrize("order", ["<", ">"])
def test_stk(order):
    for count in [5, 1]:
        write_stk("a.tif", planes(count), order)
        assert np.array_equal(read("a.tif").reshape(count, 4, 6), planes(count))
        if order == "<":  # this tifffile cannot read the other
            same_as_tifffile("a.tif")
    write_stk("short.tif", planes(5), order)
    os.truncate("short.tif", 400 + 4 * 48)
    refused("short.tif", "says 5", "has 1 pages", "cut off")


@pytest.mark.parametrize("order", ["<", ">"])
def test_imagej(order):
    for kept in [1, 3, 5]:
        tifffile.imwrite("a.tif", planes(5), imagej=True, byteorder=order)
        if kept < 5:
            cut_chain("a.tif", kept)
        assert np.array_equal(read("a.tif"), planes(5)), kept
    tifffile.imwrite("h.tif", planes(12).reshape(2, 3, 2, 4, 6), imagej=True, byteorder=order)
    cut_chain("h.tif", 1)
    same_as_tifffile("h.tif")


def test_imagej_above_four_gib():
    """All planes are behind one directory: a file with a hole, of whose planes the last is not 0."""
    count, side = 17000, 512
    description = f"ImageJ=1.54f\nimages={count}\nslices={count}\n"
    tifffile.imwrite("a.tif", np.zeros((side, side), "u1"), description=description, metadata=None)
    with tifffile.TiffFile("a.tif") as file:
        first = file.pages[0].dataoffsets[0]
    last = planes(1, "u1", (side, side))
    with open("a.tif", "r+b") as file:
        file.seek(first + (count - 1) * side * side)
        file.write(last.tobytes())
    assert os.path.getsize("a.tif") > 2**32
    assert f"uint8 [{count}, {side}, {side}]" in good("inspect", "a.tif")
    pathlib.Path("j.toml").write_text(
        f'kind = "transpose"\n[input]\nfile = "a.tif"\nframes = "{count - 1}:{count}"\n'
        '[output]\nfile = "o.npy"\nsync = false\n[run]\nbackend = "cpu"\n[transpose]\npermutation = [0, 2, 1]\n')
    good("j.toml", "--quiet")
    assert np.array_equal(np.load("o.npy"), last.transpose(0, 2, 1))


def test_planes_that_are_not_there():
    """One page of a stack, as a program that splits it writes: the file is refused, not half read."""
    with tifffile.TiffWriter("one.tif") as file:
        for plane in planes(2):
            file.write(plane, description="ImageJ=1.54f\nimages=5\n", metadata=None, contiguous=False)
    refused("one.tif", "says 5", "has 2 pages")
    tifffile.imwrite("packed.tif", planes(1)[0], description="ImageJ=1.54f\nimages=5\n",
                     metadata=None, compression="zlib")
    refused("packed.tif", "says 5", "has 1 pages")
    # Room enough for five, but a directory is where they would be.
    head = b"II*\0" + struct.pack("<I", 8 + 48 + 20)
    description = b"ImageJ=1\nimages=3\n\0"
    tags = [(256, 4, 1, 6), (257, 4, 1, 4), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1),
            (270, 2, len(description), 56), (273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 4),
            (279, 4, 1, 48)]
    body = planes(1).tobytes() + description.ljust(20, b"\0")
    body += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(300)
    pathlib.Path("room.tif").write_bytes(head + body)
    refused("room.tif", "says 3", "has 1 pages", "directory")


def make_sparse(name, numbers):
    """Sets offset and bytes of these strips or tiles of the first page to 0."""
    with tifffile.TiffFile(name) as file:
        page = file.pages[0]
        order = file.byteorder
        tags = [page.tags[code] for code in ((324, 325) if page.is_tiled else (273, 279))]
        where = [(tag.valueoffset, {3: "H", 4: "I", 16: "Q"}[int(tag.dtype)]) for tag in tags]
    data = bytearray(pathlib.Path(name).read_bytes())
    for offset, kind in where:
        for number in numbers:
            struct.pack_into(order + kind, data, offset + number * struct.calcsize(kind), 0)
    pathlib.Path(name).write_bytes(data)


@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("tile", [None, (16, 16)])
def test_sparse(compression, tile):
    """Strips and tiles without bytes are zeros."""
    array = (planes(1, "u1", (64, 48))[0] % 50 + 100).astype("u1")
    cut = {"tile": tile} if tile else {"rowsperstrip": 16}
    tifffile.imwrite("a.tif", array, compression=compression, metadata=None, **cut)
    right = read("a.tif").copy()
    numbers = [0, 2] if not tile else [0, 4, 11]
    make_sparse("a.tif", numbers)
    for number in numbers:
        if tile:
            y, x = number // 3 * 16, number % 3 * 16
            right[y:y + 16, x:x + 16] = 0
        else:
            right[number * 16:number * 16 + 16] = 0
    assert np.array_equal(read("a.tif"), right)
    make_sparse("a.tif", range(4 if not tile else 12))
    assert not read("a.tif").any()


def test_sparse_by_libtiff(monkeypatch):
    """What only libtiff unpacks."""
    array = (planes(1, "u1", (64, 48))[0] % 50 + 100).astype("u1")
    monkeypatch.setattr(TiffImagePlugin, "STRIP_SIZE", 16 * 48)
    Image.fromarray(array).save("a.tif", compression="jpeg")
    right = read("a.tif").copy()
    with tifffile.TiffFile("a.tif") as file:
        assert file.pages[0].rowsperstrip == 16 and file.pages[0].compression == 7
    make_sparse("a.tif", [0, 2])
    right[:16] = right[32:48] = 0
    assert np.array_equal(read("a.tif"), right)


@pytest.mark.parametrize("compression", [None, "zlib"])
def test_cut_off(compression):
    """At whatever byte a file ends, it is refused, by its name and why; never by a program's own words."""
    with tifffile.TiffWriter("a.tif") as file:
        for plane in planes(9, "u2", (24, 31)):
            file.write(plane, metadata=None, contiguous=False, compression=compression)
    whole = pathlib.Path("a.tif").read_bytes()
    for end in [0, 1, 4, 7, 8, 9, 60, 200, 1000, len(whole) // 3, len(whole) // 2, len(whole) - 1]:
        pathlib.Path("cut.tif").write_bytes(whole[:end])
        done = attempt("convert", "cut.tif", "out.npy", "--overwrite")
        assert done.returncode == 3, (end, done)
        assert "cut.tif" in done.stderr and "vector" not in done.stderr, (end, done.stderr)
        if end >= 8 and not (compression and end == len(whole) - 1):  # within a packed strip
            assert re.search("cut off|in a file of", done.stderr), (end, done.stderr)


def write_ome(name, array, axes, change=lambda xml: xml, pages=None):
    """An OME-TIFF of tifffile's, with its pages in another order and its XML changed."""
    tifffile.imwrite("made.tif", array, ome=True, metadata={"axes": axes}, photometric="minisblack")
    with tifffile.TiffFile("made.tif") as file:
        xml = file.ome_metadata
    flat = array.reshape(-1, *array.shape[-2:])
    with tifffile.TiffWriter(name) as file:
        for i, page in enumerate(pages if pages is not None else range(len(flat))):
            file.write(flat[page], description=change(xml).encode() if i == 0 else None, metadata=None,
                       contiguous=False)


def listed(numbers, name=None):
    """The XML with a TiffData for each plane: of z, whose page is numbers[z]."""
    uuid = f'<UUID FileName="{name}">urn:uuid:1</UUID>' if name else ""
    data = "".join(f'<TiffData FirstC="0" FirstT="0" FirstZ="{z}" IFD="{at}" PlaneCount="1">{uuid}</TiffData>'
                   for z, at in enumerate(numbers))
    return lambda xml: re.sub(r"<TiffData.*?(/>|</TiffData>)", data, xml, count=1, flags=re.DOTALL)


def test_ome_order():
    """Planes are in the order that the XML says, whatever order the pages have."""
    array = planes(6)
    write_ome("a.tif", array, "ZYX")
    assert np.array_equal(read("a.tif"), array)
    order = [3, 0, 5, 1, 4, 2]  # of plane z the page
    pages = [order.index(i) for i in range(6)]
    for name in [None, "a.tif", "renamed.tif"]:
        write_ome("a.tif", array, "ZYX", listed(order, name), pages)
        assert np.array_equal(read("a.tif"), array), name
    hyper = planes(12).reshape(2, 3, 2, 4, 6)
    write_ome("h.tif", hyper, "TCZYX")
    same_as_tifffile("h.tif")


def test_ome_planes_that_are_not_there():
    array = planes(6)
    write_ome("short.tif", array, "ZYX", pages=range(4))
    refused("short.tif", "says 6", "has 4")
    write_ome("gone.tif", array, "ZYX", listed([0, 1, 2, 3, 4, 9]))
    refused("gone.tif", "says 6", "has 5")


def test_ome_in_several_files():
    """Alone each is refused, by the names of the others; as a stack each is a part."""
    for i, name in enumerate(["s_0.tif", "s_1.tif"]):
        def change(xml):
            parts = "".join(f'<TiffData FirstZ="{z}" IFD="0" PlaneCount="1"><UUID FileName="s_{z}.tif">'
                            "urn:uuid:1</UUID></TiffData>" for z in range(2))
            return re.sub(r"<TiffData.*?(/>|</TiffData>)", parts, xml, count=1, flags=re.DOTALL)
        write_ome(name, planes(2), "ZYX", change, pages=[i])
    refused("s_0.tif", "several files", "says 2", "s_1.tif")
    assert np.array_equal(read("s_*.tif"), planes(2))


def write_set(data, shape, uuids=True, order="XYCZT", compression=None):
    """An image [t, c, y, x] in a file for each plane; the names of the files, by t and c."""
    times, channels = shape
    pairs = list(np.ndindex(times, channels))
    names = [f"set_c{c}_t{t}.ome.tif" for t, c in pairs]
    ids = [f"urn:uuid:{i:032d}" for i in range(len(pairs))]
    parts = "".join(f'<TiffData FirstC="{c}" FirstT="{t}" FirstZ="0" IFD="0" PlaneCount="1">'
                    f'<UUID FileName="{name}">\n {uuid} </UUID></TiffData>'
                    for (t, c), name, uuid in zip(pairs, names, ids, strict=True))
    for (t, c), name, uuid in zip(pairs, names, ids, strict=True):
        own = f' UUID="{uuid}"' if uuids else ""
        xml = (f'<?xml version="1.0"?><OME xmlns="x"{own}><Image ID="Image:0"><Pixels ID="P" Type="uint16" '
               f'DimensionOrder="{order}" SizeX="{data.shape[-1]}" SizeY="{data.shape[-2]}" SizeZ="1" '
               f'SizeC="{channels}" SizeT="{times}" PhysicalSizeX="0.5" PhysicalSizeY="0.25" TimeIncrement="2">'
               + "".join(f'<Channel ID="C:{i}" Name="stain {i}"/>' for i in range(channels))
               + parts + "</Pixels></Image></OME>")
        tifffile.imwrite(name, data[t, c], description=xml.encode(), metadata=None, compression=compression)
    return names


def stack(pattern):
    done = attempt("convert", pattern, "out.npy", "--overwrite")
    assert done.returncode == 0, done
    return np.load("out.npy"), done.stderr, attempt("inspect", pattern).stdout


def test_ome_planes_in_a_file_each():
    """The order is that of the XML, not of the names; all that it says of axes is known."""
    data = planes(6, "u2").reshape(3, 2, 4, 6)
    for uuids, compression in [(True, None), (False, "zlib"), (True, "lzma")]:
        names = write_set(data, (3, 2), uuids, compression=compression)
        made, warnings, text = stack("set_*.ome.tif")
        assert np.array_equal(made, data) and "planes" not in warnings
        assert "axes: t 2 s, c (stain 0, stain 1), y 0.25 um, x 0.5 um" in text, text
    made, warnings, text = stack("set_c1_*.ome.tif")
    assert np.array_equal(made, data[:, 1]) and "says 6 planes, and the files have 3" in warnings
    assert "axes: t 2 s, y 0.25 um, x 0.5 um" in text and "stain 1" in text, text
    made, _, text = stack("set_c?_t0.ome.tif")
    assert np.array_equal(made, data[0]) and "axes: c (stain 0, stain 1), y" in text
    pathlib.Path(names[3]).rename("set.gone")
    refused("set_*.ome.tif", "says 6", "have 5", "plane 3 (t 1, c 1) is missing")


def test_renamed_files_of_a_set():
    """By the UUID that each has, or else as frames, with a warning."""
    data = planes(6, "u2").reshape(3, 2, 4, 6)
    for uuids in [True, False]:
        for i, name in enumerate(write_set(data, (3, 2), uuids=uuids)):
            pathlib.Path(name).rename(f"new_{5 - i}.ome.tif")
        made, warnings, _ = stack("new_*.ome.tif")
        if uuids:
            assert np.array_equal(made, data) and not warnings.count("parts of an image")
        else:
            assert np.array_equal(made, data.reshape(6, 4, 6)[::-1])
            assert "parts of an image" in warnings and "order of their names" in warnings
    write_set(data, (3, 2))
    pathlib.Path("set_copy.ome.tif").write_bytes(pathlib.Path("set_c0_t0.ome.tif").read_bytes())
    refused("set_*.ome.tif", "have the same plane", "set_copy.ome.tif", "plane 0 (t 0, c 0)")


def test_planes_of_unlike_files_of_a_set():
    """Several planes in each file, and not as many in each."""
    data = planes(5, "u2")
    parts = [("b.tif", [0, 1, 2]), ("a.tif", [3, 4])]
    xml = "".join(f'<TiffData FirstZ="{z}" IFD="{i}" PlaneCount="1"><UUID FileName="u_{name}">u</UUID></TiffData>'
                  for name, numbers in parts for i, z in enumerate(numbers))
    for name, numbers in parts:
        write_ome("u_" + name, data, "ZYX", lambda old: re.sub(
            r"<TiffData.*?(/>|</TiffData>)", xml, old, count=1, flags=re.DOTALL), pages=numbers)
    made, _, text = stack("u_*.tif")
    assert np.array_equal(made, data) and "axes: z, y, x" in text
    refused("u_a.tif", "says 5 planes", "2 are in this file")


def test_files_whose_xml_is_in_another():
    only = ('<?xml version="1.0"?><OME xmlns="x" UUID="urn:uuid:1"><BinaryOnly '
            'MetadataFile="all.companion.ome" UUID="urn:uuid:0"/></OME>')
    for i in range(2):
        tifffile.imwrite(f"only_{i}.ome.tif", planes(2)[i], description=only.encode(), metadata=None)
    refused("only_0.ome.tif", "several files", "all.companion.ome")
    made, warnings, _ = stack("only_*.ome.tif")
    assert np.array_equal(made, planes(2)) and "all.companion.ome" in warnings


def test_ome_of_several_images():
    """The first image with planes in the file is read, with its own axes, and a warning says so."""
    first, second = planes(6).reshape(2, 3, 4, 6), planes(4, "u1", (5, 7))
    for images in [(first, second), (first, second[:1]), (first, first + 1000)]:
        with tifffile.TiffWriter("two.ome.tif", ome=True) as file:
            for array, axes in zip(images, ["CZYX", "CZYX" if images[1].ndim == 4 else "TYX"], strict=True):
                file.write(array, metadata={"axes": axes}, photometric="minisblack")
        done = attempt("convert", "two.ome.tif", "out.npy", "--overwrite")
        assert done.returncode == 0 and "2 images" in done.stderr, done
        assert np.array_equal(np.load("out.npy"), tifffile.imread("two.ome.tif", series=0))
        assert "axes: c, z, y, x" in attempt("inspect", "two.ome.tif").stdout


@pytest.mark.parametrize("xml", ["<OME", "<OME><Pixels SizeZ='9", "<OME><Pixels SizeZ='0' SizeC='1'/>",
                                 '<OME><Pixels DimensionOrder="XYZZT" SizeZ="2" SizeC="1" SizeT="1"/>',
                                 '<OME><Pixels DimensionOrder="XYZCT" SizeZ="99999999999999" SizeC="1" '
                                 'SizeT="1"/></OME>'])
def test_an_ome_xml_that_says_nothing(xml):
    tifffile.imwrite("a.tif", planes(1)[0], description=xml, metadata=None)
    assert np.array_equal(read("a.tif"), planes(1)[0])


def test_imagej_calibration():
    """Signed elements that ImageJ stores as unsigned ones: a warning says how they become values."""
    tifffile.imwrite("a.tif", planes(1)[0], metadata=None,
                     description="ImageJ=1.54f\nunit=pixel\nc0=-32768.0\nc1=1.0\nvunit=gray value\n")
    done = attempt("convert", "a.tif", "out.npy", "--overwrite")
    assert done.returncode == 0 and "calibrated" in done.stderr and "-32768.0" in done.stderr, done
