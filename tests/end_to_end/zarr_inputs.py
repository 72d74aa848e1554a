"""Zarr stores as inputs. Version 2 is written and read by Debian's python3-zarr; of version 3 there are stores
that zarr-python 3 and tensorstore made, with the elements that they read (make_zarr_files.py)."""
import json
import os
import pathlib
import shutil
import zipfile

import h5py
import numcodecs
import numpy as np
import pytest
import zarr

from harness import bad, call, good
from zarr_files import CHUNK, COMPRESSORS, DATA, SHAPE, STORES, TYPES, change, check, elements, extracted, job, read, stored


@pytest.mark.quick
@pytest.mark.share(0.5)
@pytest.mark.parametrize("compressor", COMPRESSORS)
@pytest.mark.parametrize("order", "CF")
def test_version_2(compressor, order):
    """Each compressor, with both separators, edges and chunks that are absent."""
    for separator in "./":
        wanted = stored(order=order, compressor=COMPRESSORS[compressor], dimension_separator=separator,
                        written=np.s_[:5, 2:], fill_value=9)
        check("in.zarr", wanted)


@pytest.mark.quick
@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    for order in "<>":
        kind = np.dtype(dtype).newbyteorder(order)
        fill = elements(dtype)[1, 2, 3].item()
        wanted = stored(dtype=dtype, store_as=kind, fill_value=fill, written=np.s_[2:4, 1:7])
        check("in.zarr", wanted)


@pytest.mark.quick
def test_shapes():
    for shape, chunk in (((530,), (97,)), ((35, 26), (8, 26)), ((35, 26), (40, 64)), ((2, 3, 4, 5, 6), (1, 2, 4, 2, 4)),
                         ((9, 8, 7), (1, 8, 7)), ((9, 8, 7), (1, 1, 3))):
        for order in "CF":
            array = elements("int16", shape)
            check("in.zarr", stored(array=array, chunks=chunk, order=order))


FILLS = [("float32", "NaN", np.nan), ("float64", "Infinity", np.inf), ("float16", "-Infinity", -np.inf),
         ("float64", 0.1, 0.1), ("float16", 0.1, 0.1), ("float32", 3, 3.0), ("float16", 6e-8, 6e-8),
         ("int16", -5, -5), ("uint8", 5.0, 5), ("uint64", 2**64 - 1, 2**64 - 1), ("int64", -2**63, -2**63),
         ("uint16", None, 0), ("bool", True, True), ("bool", 1, True)]


@pytest.mark.quick
@pytest.mark.parametrize("dtype, text, value", FILLS)
def test_fill_values(dtype, text, value):
    stored(dtype=dtype, written=None)
    change("in.zarr/.zarray", fill_value=text)
    check("in.zarr", np.full(SHAPE, value, dtype))


@pytest.mark.quick
@pytest.mark.parametrize("name", [name for name in STORES if not name.startswith("image")])
def test_version_3(name):
    extracted(name)
    check(f"{name}.zarr", np.load(f"{name}.npy"))


@pytest.mark.quick
def test_names_of_extensions():
    """A name with nothing to configure may be a text or an object."""
    for names in ({"data_type": {"name": "uint16"}}, {"codecs": ["bytes", "crc32c"]}, {"chunk_key_encoding": "default"}):
        extracted("crc32c")
        change("crc32c.zarr/zarr.json", **names)
        check("crc32c.zarr", np.load("crc32c.npy"))


@pytest.mark.quick
def test_fill_values_of_version_3():
    extracted("nothing_stored")
    for dtype, text, bits in (("float32", "0x7fc00001", 0x7fc00001), ("float64", "0xfff8000000000002", 0xfff8000000000002),
                              ("float16", "0x7e05", 0x7e05), ("float32", "NaN", 0x7fc00000),
                              ("float64", "-Infinity", 0xfff0000000000000)):
        change("nothing_stored.zarr/zarr.json", data_type=dtype, fill_value=text)
        found = read("nothing_stored.zarr")
        kind = f"uint{8 * found.dtype.itemsize}"
        assert (found.view(kind) == np.array(bits, kind)).all(), text


def test_large_chunks():
    """A transposed chunk of more than a tile, rows that share chunks, and several threads."""
    array = np.random.default_rng(1).integers(0, 60000, (70, 90, 110)).astype("uint16")
    for order in "CF":
        check("in.zarr", stored(array=array, chunks=(33, 37, 41), order=order))


@pytest.mark.parametrize("ranks", [1, 2])
def test_jobs(ranks):
    """A job makes of a store what it makes of the same elements in a .npy file."""
    extracted("shard_nested")
    np.save("in.npy", np.load("shard_nested.npy"))
    stored(array=np.load("in.npy"), compressor=numcodecs.Zstd(1))
    for kind, table in (("median", "size = [3, 3]"), ("bin", "factors = [2, 2]"), ("transpose", "permutation = [2, 0, 1]")):
        job(kind, "in.npy", f"{kind}.npy", table, ranks=ranks)
        for number, source in enumerate(("shard_nested.zarr", "in.zarr")):
            job(kind, source, f"{kind}{number}.npy", table, ranks=ranks)
            assert pathlib.Path(f"{kind}{number}.npy").read_bytes() == pathlib.Path(f"{kind}.npy").read_bytes()


def test_identity():
    """A finished output belongs to the bytes of the store: to all of its files."""
    wanted = stored()
    job("bin", "in.zarr", "out.h5", "factors = [2, 2]")
    with h5py.File("out.h5") as file:
        assert "input.files" in file.attrs["identity"]
    before = pathlib.Path("out.h5").stat().st_mtime_ns
    job("bin", "in.zarr", "out.h5", "factors = [2, 2]")  # is complete already
    assert pathlib.Path("out.h5").stat().st_mtime_ns == before
    good("verify", "out.h5", "--recompute", "3")
    path = pathlib.Path("in.zarr/1.1.1")
    status = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert "input." in job("bin", "in.zarr", "out.h5", "factors = [2, 2]", code=4).stderr
    stored()
    os.remove("in.zarr/0.0.0")
    os.remove("out.h5")
    job("bin", "in.zarr", "out.h5", "factors = [2, 2]")
    pathlib.Path("in.zarr/0.0.0").write_bytes(wanted[:3, :5, :4].tobytes())  # now there is one more
    assert "input." in job("bin", "in.zarr", "out.h5", "factors = [2, 2]", code=4).stderr


def test_image():
    """OME-Zarr: level 0 of the first image unless another array is named."""
    extracted("image")
    with zipfile.ZipFile(DATA) as archive:
        archive.extract("image_0.npy")
        archive.extract("image_1.npy")
    check("image.ome.zarr", np.load("image_0.npy"))
    check("image.ome.zarr:/1", np.load("image_1.npy"))
    shown = json.loads(good("inspect", "image.ome.zarr", "--json"))
    assert shown["format"] == "Zarr" and [each["path"] for each in shown["datasets"]] == ["/0", "/1"]
    assert [axis.get("spacing") for axis in shown["datasets"][1]["axes"]] == [None, 2.0, 1.0, 0.5]
    assert "axes: c (DAPI, GFP), z 2 um, y 0.5 um, x 0.25 um" in good("inspect", "image.ome.zarr:/0")
    job("bin", "image.ome.zarr", "out0.h5", "factors = [2, 2]")
    with h5py.File("out0.h5") as file:
        assert file["0"].shape == (2, 7, 6, 5)
    job("bin", "image.ome.zarr", "one.h5", "factors = [2, 2]", more='select = { c = "GFP" }')
    with h5py.File("out0.h5") as file, h5py.File("one.h5") as one:
        assert (one["0"][()] == file["0"][1]).all() and list(one["0"].attrs["DIMENSION_LABELS"]) == ["z", "y", "x"]
    job("bin", "image.ome.zarr", "out1.h5", "factors = [2, 2]", more='dataset = "/1"')
    with h5py.File("out1.h5") as file:
        assert file["1"].shape == (2, 7, 3, 2)


def test_groups():
    """Names of arrays within groups, and of none."""
    group = zarr.open_group("in.zarr", "w")
    wanted = elements("uint16")
    group.create_dataset("a/b", data=wanted, chunks=CHUNK)
    check("in.zarr", wanted)  # the only one
    check("in.zarr:/a/b", wanted)
    check("in.zarr/:/a", wanted)
    shutil.copytree("in.zarr/a", "plain")  # no ending
    check("plain", wanted)
    group.create_dataset("c", data=wanted, chunks=CHUNK)
    bad(3, ["/a/b", "/c"], "convert", "in.zarr", "new.h5")
    bad(3, ["in.zarr:/d", "no array", "/a/b", "/c"], "convert", "in.zarr:/d", "new.h5")
    shown = call("inspect", "in.zarr")  # all the same
    assert "/a/b  uint16 " in shown.stdout and "/c  uint16 " in shown.stdout and "group of several arrays" in shown.stderr
    assert [each["path"] for each in json.loads(call("inspect", "in.zarr", "--json").stdout)["datasets"]] == ["/a/b", "/c"]
    # 0.4 has its description in .zattrs.
    pathlib.Path("in.zarr/.zattrs").write_text(json.dumps({"multiscales": [{"version": "0.4", "axes": [
        {"name": name, "type": "space", "unit": "nanometer"} for name in "zyx"], "datasets": [
            {"path": "c", "coordinateTransformations": [{"type": "scale", "scale": [3, 2, 1]}]}]}]}))
    check("in.zarr", wanted)
    assert "axes: z 3 nanometer, y 2 nanometer, x 1 nanometer" in good("inspect", "in.zarr:/c")


def write_images(paths, root=None):
    """Images of NGFF 0.4 in a store of this root's attributes, each of other elements."""
    store = zarr.open_group("in.zarr", "w")
    store.attrs.update(root or {})
    for number, path in enumerate(paths):
        image = store.require_group(path)
        image.create_dataset("0", data=elements("uint16") + np.uint16(number), chunks=CHUNK)
        image.create_dataset("1", data=elements("uint16")[::2], chunks=CHUNK)
        image.attrs["multiscales"] = [{"version": "0.4", "axes": [{"name": name, "type": "space"} for name in "zyx"],
                                       "datasets": [{"path": str(level), "coordinateTransformations": [
                                           {"type": "scale", "scale": [1 + level, 1, 1]}]} for level in range(2)]}]
    return store


@pytest.mark.quick
def test_plates():
    """An image of a plate is read by its path; a message names the images of a plate, and those of a well."""
    images = ["A/1/0", "A/1/1", "B/2/0"]
    store = write_images(images, {"plate": {"wells": [{"path": "A/1"}, {"path": "B/2"}]}})
    store["A/1"].attrs["well"] = {"images": [{"path": "0"}, {"path": "1"}]}
    store["B/2"].attrs["well"] = {"images": [{"path": "0"}]}
    for number, path in enumerate(images):
        check(f"in.zarr:/{path}", elements("uint16") + np.uint16(number))
    check("in.zarr:/A/1/1/1", elements("uint16")[::2])
    bad(3, ["it is a plate, with 3 images: /A/1/0, /A/1/1, /B/2/0", "in.zarr:/A/1/0"], "convert", "in.zarr", "new.h5")
    bad(3, ["in.zarr:/A/1", "a well of a plate, with 2 images: /A/1/0, /A/1/1"], "convert", "in.zarr:/A/1", "new.h5")
    check("in.zarr:/B/2", elements("uint16") + np.uint16(2))  # its only image
    for root in ({"plate": {"wells": [{"row": 1}]}}, {"plate": {"wells": [{"path": 1}]}}, {"plate": 5}):
        store.attrs.put(root)
        bad(3, ["in.zarr", "cannot be right"], "convert", "in.zarr", "new.h5")
    store.attrs.put({"plate": {"wells": [{"path": "../../etc"}, {"path": "C/9"}]}})
    bad(3, ["in.zarr", "group of several arrays"], "convert", "in.zarr", "new.h5")


@pytest.mark.quick
def test_containers():
    """A container of bioformats2raw: its only image is read, and a message names several."""
    for images, series in ((["0"], None), (["0", "1"], None), (["0", "b"], ["b", "0"])):
        store = write_images(images, {"bioformats2raw.layout": 3})
        store.require_group("OME").attrs.put({"series": series} if series else {})
        if len(images) == 1:
            check("in.zarr", elements("uint16"))
        else:
            named = ", ".join("/" + name for name in series or images)
            bad(3, [f"it is a container of images, with 2 images: {named}"], "convert", "in.zarr", "new.h5")
            check(f"in.zarr:/{images[1]}", elements("uint16") + np.uint16(1))
    # Of 0.5, on Zarr 3.
    for name, attributes in (("", {"ome": {"version": "0.5", "bioformats2raw.layout": 3}}),
                             ("/OME", {"ome": {"version": "0.5", "series": ["x", "y"]}})):
        os.makedirs("new.zarr" + name, exist_ok=True)
        pathlib.Path(f"new.zarr{name}/zarr.json").write_text(
            json.dumps({"zarr_format": 3, "node_type": "group", "attributes": attributes}))
    bad(3, ["with 2 images: /x, /y"], "convert", "new.zarr", "new.h5")


def test_channels_behind_the_axes_of_space():
    """Nothing says that they are no colour. A label that is no text names no channel."""
    group = zarr.open_group("in.zarr", "w")
    group.create_dataset("0", data=np.zeros((4, 6, 5, 3), "u1"))
    group.attrs["multiscales"] = [{"axes": [{"name": name, "type": "space"} for name in "zyx"] + [
        {"name": "c", "type": "channel"}], "datasets": [{"path": "0"}]}]
    group.attrs["omero"] = {"channels": [{"label": 1}, {"label": "b"}, {}]}
    pathlib.Path("j.toml").write_text('kind = "median"\n[input]\nfile = "in.zarr"\n[output]\nfile = "out.h5"\n[median]\n')
    done = call("plan", "j.toml")
    assert "axes z 1, y 1, x 1, c (?, b, ?)\n" in done.stdout, done.stdout
    assert done.stderr.count("warning") == 1 and "may be colour" in done.stderr, done.stderr


@pytest.mark.quick
def test_names_in_arrays():
    """An array alone says the names of its axes: dimension_names of version 3, xarray's attribute in version 2."""
    array = elements("uint16")
    names = ["lat", "y", "x"][-array.ndim:]
    np.save("a.npy", array)
    good("convert", "a.npy", "three.zarr")
    path = pathlib.Path("three.zarr/zarr.json")
    node = json.loads(path.read_text())
    for said, axes in ((names, names), ([None, *names[1:]], ["", *names[1:]]), ([None] * array.ndim, None),
                       (names[1:], None), ("lat", None)):
        path.write_text(json.dumps({**node, "dimension_names": said}))
        found = json.loads(good("inspect", "three.zarr", "--json"))["datasets"][0].get("axes")
        assert (found and [axis["name"] for axis in found]) == axes, said
    path.write_text(json.dumps({**node, "dimension_names": names}))
    zarr.open("two.zarr", "w", shape=array.shape, dtype=array.dtype)[...] = array
    zarr.open("two.zarr", "a").attrs["_ARRAY_DIMENSIONS"] = names
    for name in ("two.zarr", "three.zarr"):
        pathlib.Path("j.toml").write_text(f'kind = "transpose"\n[input]\nfile = "{name}"\nselect = {{ {names[0]} = "1:", x = "::2" }}\n'
                                          f'[output]\nfile = "o.npy"\noverwrite = true\n[transpose]\npermutation = {[*range(array.ndim)]}\n')
        call("j.toml", "--quiet")
        assert np.array_equal(np.load("o.npy"), array[1:, ..., ::2])


@pytest.mark.quick
def test_verbs():
    """Verbs name the array that they took; render and compare read it."""
    wanted = stored("a.zarr")
    np.save("a.npy", wanted)
    assert "a.zarr:/data" in good("compare", "a.zarr", "a.npy")
    assert "a.zarr:/data" in good("render", "a.zarr", "a.png")
    extracted("image")
    assert "image.ome.zarr:/0" in good("render", "image.ome.zarr", "b.png")


ADDED = {
    "chunk of version 2": ("in.zarr", "in.zarr/1.1.1"), "chunk of version 3": ("in.zarr", "in.zarr/c/1/1/1"),
    "folder of chunks": ("in.zarr", "in.zarr/c/1"), "all chunks": ("in.zarr", "in.zarr/c"),
    "attributes": ("group.zarr", "group.zarr/a/.zattrs"), "attributes of the group": ("group.zarr", "group.zarr/.zattrs"),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", ADDED)
def test_batch_of_stores_that_grow(name):
    """A batch and its status see what is new in a store: chunks that were not stored, and attributes."""
    store, file = ADDED[name]
    if "c/" in file or file.endswith("/c"):
        extracted("keys_default_slash")
        shutil.move("keys_default_slash.zarr", store)
    elif store == "group.zarr":
        zarr.open_group(store, mode="w")
        stored(store + "/a")
        for path in (".zattrs", "a/.zattrs"):
            pathlib.Path(store, path).write_text("{}")
    else:
        stored(store)
    shutil.move(file, "kept")
    pathlib.Path("job.toml").write_text(
        f'kind = "bin"\n[batch]\ninputs = ["{store}"]\noutput = "out/{{stem}}.npy"\n[run]\nbackend = "cpu"\n[bin]\nfactors = [2, 2]\n')
    call("batch", "job.toml", "--quiet")
    call("status", "out", "--require-done")
    assert "1 done before" in call("batch", "job.toml").stderr
    before = np.load(next(pathlib.Path("out").glob("*.npy")))
    shutil.move("kept", file)
    said = good("status", "out")
    assert "1 stale" in said and "its input has changed" in said, said
    assert "1 stale and to do again" in call("batch", "job.toml").stderr
    after = np.load(next(pathlib.Path("out").glob("*.npy")))
    assert np.array_equal(before, after) == name.startswith("attributes")
    call("status", "out", "--require-done")
    assert "1 done before" in call("batch", "job.toml").stderr


def test_batch():
    """A wildcard names a store as it does a file, and ** does not go into one."""
    os.makedirs("scans/deep")
    for name in ("scans/a.zarr", "scans/deep/b.zarr", "scans/deep/plain"):
        stored(name)
    np.save("scans/c.npy", elements("uint16"))
    for pattern, names in (("scans/*", ["a", "c"]), ("scans/**/*.zarr", ["a", "b"]), ("scans/**", ["a", "b", "c", "plain"])):
        pathlib.Path("job.toml").write_text(
            f'kind = "bin"\n[batch]\ninputs = ["{pattern}"]\noutput = "out/{{stem}}.h5"\n'
            '[run]\nbackend = "cpu"\n[bin]\nfactors = [2, 2]\n')
        call("batch", "job.toml", "--quiet")
        assert sorted(path.stem for path in pathlib.Path("out").glob("*.h5")) == names
        shutil.rmtree("out")


@pytest.mark.quick
def test_no_stack():
    """Stores that a pattern names are no stack, as HDF5 files are none."""
    for name in ("s0.zarr", "s1.zarr"):
        stored(name)
    for verb in (["convert", "s*.zarr", "x.npy"], ["inspect", "s?.zarr"], ["median", "s*.zarr", "x.npy", "--size", "3,3"]):
        assert "no file matches" not in bad(3, ["stack of files (s", "folders, as Zarr stores are", "[batch]"], *verb)
    bad(3, ["no file matches this name"], "convert", "t*.zarr", "x.npy")
