"""input.axes, input.spacing and input.select: what a job takes by the names of axes and channels is
what numpy's slices take of the whole array, to the byte."""
import json
import pathlib
import random
import xml.etree.ElementTree as ElementTree

import h5py
import nibabel
import numpy as np
import pytest
import tifffile

from harness import attempt, bad, call, good, programs
from same_outputs import same_data

pytestmark = pytest.mark.quick
SHAPE = {"t": 3, "c": 3, "z": 5, "y": 13, "x": 17}
KINDS = {"bin": "factors = [2, 2]", "convolve": "row_taps = [0.5, 0.25, 0.25]\ncolumn_taps = [0.25, 0.5, 0.25]",
         "median": "size = [3, 3, 3]", "denoise": "patch = [3, 3, 3]\nwindow = [3, 5, 5]\nsigma = 3.0",
         "match": "patch = [3, 3, 3]\nwindow = [3, 5, 5]", "correct": "dark = 1.0\nflat = 300.0",
         "rescale": "from = [0, 1000]", "transpose": "permutation = [1, 2, 0]",
         "stripes": "size = 5", "reduce": 'operation = "mean"\nover = ["x"]',
         "phase": "energy = 25\ndistance = 0.5\npixel_size = 2\ndelta_beta = 150"}
SAME = "row_taps = [1.0]\ncolumn_taps = [1.0]"  # what comes out is what went in
CHANNELS = ["DAPI", "GFP & red", "0.5 µM"]


def array_of(letters, dtype="u2", seed=0):
    shape = [SHAPE[letter] for letter in letters]
    return np.random.default_rng(seed).integers(0, 250, shape).astype(dtype)


def write_job(name, source, kind, keys, more="", run=""):
    stem = pathlib.Path(name).stem
    pathlib.Path(name).write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{more}\n[output]\nfile = "{stem}.h5"\n'
        f'dataset = "/d"\nsync = false\n[run]\nbackend = "cpu"\n{run}\n[{kind}]\n{keys}\n')


def write(name, array, letters):
    """The file, and what the job file says beside its name."""
    if name.endswith(".npy"):
        np.save(name, array)
        return f'axes = "{letters}"'
    if name.endswith(".raw"):
        array.tofile(name)
        return f'axes = "{letters.upper()}"\nraw = {{ shape = {list(array.shape)}, dtype = "{array.dtype}" }}'
    if name.endswith(".h5"):
        chunk = tuple(max(1, n // 2) for n in array.shape)
        with h5py.File(name, "w") as file:
            file.create_dataset("d", data=array, **({"chunks": chunk, "compression": "gzip"} if "packed" in name else {}))
            file["d"].attrs["DIMENSION_LABELS"] = list(letters)
        return 'dataset = "/d"'
    if name.endswith(".ome.tif"):
        metadata = {"axes": letters.upper()}
        if "c" in letters:
            metadata["Channel"] = {"Name": CHANNELS}
        tifffile.imwrite(name, array, ome=True, metadata=metadata, photometric="minisblack",
                         compression="zlib" if "packed" in name else None)
        return ""
    tifffile.imwrite(name, array, photometric="minisblack", metadata={"axes": letters.upper()},
                     imagej=name.startswith("ij"))
    return ""


def slice_of(rng, extent):
    """What a job file says of an axis, and numpy."""
    kind = rng.choice(["all", "index", "range", "step"])
    if kind == "all":
        return None, slice(None)
    if kind == "index":
        index = rng.randrange(-extent, extent)
        return str(index), index
    first = rng.randrange(extent)
    last = rng.randrange(first + 1, extent + 1)
    if kind == "range":
        return f'"{first}:{last}"', slice(first, last)
    step = rng.randrange(1, 4)
    begin, end = (f"{first}", f"{last}") if rng.random() < 0.5 else ("", "")
    return f'"{begin}:{end}:{step}"', slice(first if begin else None, last if end else None, step)


def select_of(rng, letters, array):
    """input.select, and the elements by numpy."""
    while True:
        taken = {letter: slice_of(rng, extent) for letter, extent in zip(letters, array.shape)}
        part = array[tuple(cut for _, cut in taken.values())]
        if part.ndim > 1:  # what convolve takes
            text = ", ".join(f"{letter} = {said}" for letter, (said, _) in taken.items() if said)
            return (f"select = {{ {text} }}" if text else ""), part


@pytest.mark.share(0.3)
@pytest.mark.parametrize("name", ["a.npy", "a.raw", "a.h5", "packed.h5", "a.ome.tif", "packed.ome.tif",
                                  "ij.tif", "shaped.tif"])
@pytest.mark.parametrize("letters", ["tczyx", "zcyx", "czyx", "zyx"])
def test_as_numpy_slices(name, letters):
    if name == "ij.tif" and letters == "czyx":
        letters = "tzcyx"
    if name == "ij.tif" and letters == "tczyx":
        letters = "tzcyx"
    rng = random.Random(name + letters)
    array = array_of(letters)
    more = write(name, array, letters)
    for _ in range(6):
        select, part = select_of(rng, letters, array)
        write_job("j.toml", name, "convolve", SAME, f"{more}\n{select}")
        pathlib.Path("j.h5").unlink(missing_ok=True)
        ranks = rng.choice([1, 1, 2, 3])
        call("j.toml", "--quiet", "--set", f"run.chunk_rows={rng.choice([1, 3, 7])}", ranks=ranks)
        with h5py.File("j.h5") as file:
            made = file["d"][()]
        assert made.shape == part.shape and made.tobytes() == part.tobytes(), (select, ranks)
        call("plan", "j.toml", "-n", "2")


@pytest.mark.share(0.3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("letters", ["czyx", "zcyx", "tzcyx"])
def test_every_kind_takes_a_channel_by_its_name(kind, letters):
    array = array_of(letters)
    write("a.ome.tif", array, letters)
    at = {"c": 1, "t": -1, "x": slice(1, None, 2)}
    part = np.ascontiguousarray(array[tuple(at.get(letter, slice(None)) for letter in letters)])
    np.save("cut.npy", part)
    write_job("wanted.toml", "cut.npy", kind, KINDS[kind])
    call("wanted.toml", "--quiet")
    select = f'select = {{ c = "{CHANNELS[1]}", x = "1::2"{", t = -1" if "t" in letters else ""} }}'
    write_job("j.toml", "a.ome.tif", kind, KINDS[kind], select)
    for ranks, rows in ((1, "auto"), (2, 3), (3, 1)):
        pathlib.Path("j.h5").unlink(missing_ok=True)
        call("j.toml", "--quiet", "--set", f'run.chunk_rows={rows if rows != "auto" else chr(34) + rows + chr(34)}',
             ranks=ranks)
        with h5py.File("wanted.h5") as a, h5py.File("j.h5") as b:
            names = ["d"] if isinstance(a["d"], h5py.Dataset) else [f"d/{each}" for each in a["d"]]
            for name in names:
                assert a[name][()].tobytes() == b[name][()].tobytes(), (kind, ranks, name)
    call("verify", "j.h5", "--recompute", "3")


def test_names_of_imagej():
    """Labels of planes name the channels."""
    array = array_of("tzcyx")
    planes = SHAPE["t"] * SHAPE["z"]
    for labels in (["DAPI", "GFP", "RFP"] * planes,
                   [f"c:{c + 1}/3 z:1/5 - {name}" for _ in range(planes)
                    for c, name in enumerate(["DAPI", "GFP", "RFP"])]):
        for order in "<>":
            tifffile.imwrite("ij.tif", array, imagej=True, byteorder=order,
                             metadata={"axes": "TZCYX", "Labels": labels, "spacing": 2.5, "unit": "um"},
                             resolution=(4, 2))
            axes = json.loads(call("inspect", "ij.tif", "--json").stdout)["datasets"][0]["axes"]
            assert [axis["name"] for axis in axes] == list("tzcyx")
            assert axes[2]["channels"] == ["DAPI", "GFP", "RFP"], axes
            assert (axes[1]["spacing"], axes[3]["spacing"], axes[4]["spacing"]) == (2.5, 0.5, 0.25), axes
            assert axes[1]["unit"] == axes[3]["unit"] == "um"
    write_job("j.toml", "ij.tif", "convolve", SAME, 'select = { c = "RFP" }')
    call("j.toml", "--quiet")
    with h5py.File("j.h5") as file:
        assert file["d"][()].tobytes() == array[:, :, 2].tobytes()


def test_descriptions_like_imagejs():
    """Numbers whose product is past 63 bits make no axes. Lines may end as on Windows."""
    tifffile.imwrite("huge.tif", np.zeros((2, 16, 16), "u1"), metadata=None, description=(
        f"ImageJ=1.53\nimages=2\nchannels=2\nslices={2**40}\nframes={2**40}\n"))
    assert "uint8 [2, 16, 16]" in call("inspect", "huge.tif").stdout
    tifffile.imwrite("lines.tif", np.zeros((6, 16, 16), "u1"), resolution=(2, 2), metadata=None, description=(
        "ImageJ=1.53\r\nimages=6\r\nchannels=2\r\nslices=3\r\nunit=um\r\nspacing=2.5\r\n"))
    assert "axes: z 2.5 um, c, y 0.5 um, x 0.5 um\n" in call("inspect", "lines.tif").stdout


def test_names_of_channels_go_to_an_ome_tiff():
    array = array_of("czyx")
    write("a.ome.tif", array, "czyx")
    write_job("j.toml", "a.ome.tif", "convolve", SAME, 'select = { c = "1:3" }')
    assert call("j.toml", "--quiet", "--set", "output.file='b.ome.tif'").stderr == ""
    call("verify", "b.ome.tif")
    channels = ElementTree.fromstring(tifffile.TiffFile("b.ome.tif").ome_metadata).iter()
    assert [each.get("Name") for each in channels if each.tag.endswith("Channel")] == CHANNELS[1:]
    write_job("k.toml", "b.ome.tif", "convolve", SAME, f'select = {{ c = "{CHANNELS[1]}" }}')
    call("k.toml", "--quiet")
    with h5py.File("k.h5") as file:
        assert file["d"][()].tobytes() == array[1].tobytes()
    assert "without some of its attributes: the names of channels" in call(
        "j.toml", "--set", "output.file='b.tif'").stderr


def test_frames_of_convert_have_their_channels():
    write("c.ome.tif", array_of("cyx"), "cyx")
    good("convert", "c.ome.tif", "c.h5", "--frames", "0:3:2")
    axes = json.loads(call("inspect", "c.h5:/data", "--json").stdout)["axes"]
    assert axes[0] == {"name": "c", "channels": CHANNELS[::2]}, axes



def test_an_affine_begins_at_what_is_taken():
    """An index that takes its axis away moves the affine as a range does."""
    affine = np.array([[0, -3, 0, 10], [2, 0, 0, 20], [0, 0, 4, 30], [0, 0, 0, 1.0]])
    image = nibabel.Nifti1Image(array_of("xyzt").astype("i2"), affine)
    image.set_sform(affine, 2)
    image.set_qform(affine, 1)
    nibabel.save(image, "a.nii")
    first = affine @ [1, 0, 3, 1]
    for keys in ('select = { t = 1, z = 3, x = "1:" }', 'select = { t = 1, z = "3:4", x = "1:" }'):
        write_job("j.toml", "a.nii", "convolve", SAME, keys)
        call("j.toml", "--quiet", "--set", "output.file='b.nii'", "--set", "output.overwrite=true")
        for made in (nibabel.load("b.nii").get_sform(), nibabel.load("b.nii").get_qform()):
            assert np.allclose(made, np.c_[affine[:, :3], first], atol=1e-5), (keys, made)
    good("convert", "a.nii", "c.nii", "--frame", str(2 * SHAPE["z"] + 3))
    assert np.allclose(nibabel.load("c.nii").affine[:, 3], affine @ [0, 0, 3, 1])
    # A declared spacing makes the affine's step as long; axes of other names have none.
    write_job("j.toml", "a.nii", "convolve", SAME, "spacing = { x = 9.0 }")
    call("j.toml", "--quiet", "--set", "output.file='d.nii'")
    made = nibabel.load("d.nii")
    for form in (made.get_sform(), made.get_qform()):
        assert np.allclose(form, affine * [4.5, 1, 1, 1], atol=1e-5), form
    assert np.allclose(made.header.get_zooms()[:3], [9, 3, 4])
    write_job("j.toml", "a.nii", "convolve", SAME, 'axes = "abcd"')
    call("j.toml", "--quiet", "--set", "output.file='e.nii'")
    assert nibabel.load("e.nii").header["sform_code"] == 0


def test_sizes_of_an_ome_tiff_go_to_the_output():
    array = array_of("czyx")
    tifffile.imwrite("a.ome.tif", array, ome=True, photometric="minisblack", metadata={
        "axes": "CZYX", "PhysicalSizeX": 0.25, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.5,
        "PhysicalSizeYUnit": "µm", "PhysicalSizeZ": 2.0, "PhysicalSizeZUnit": "µm"})
    text = call("inspect", "a.ome.tif").stdout
    assert "axes: c, z 2 um, y 0.5 um, x 0.25 um\n" in text, text
    write_job("j.toml", "a.ome.tif", "bin", "factors = [1, 2, 2]", 'select = { c = 0, z = "::2", x = "1:" }')
    assert "axes z 4 um, y 0.5 um, x 0.25 um" in call("plan", "j.toml").stdout
    call("j.toml", "--quiet")
    with h5py.File("j.h5") as file:
        attributes = file["d"].attrs
        assert attributes["spacing"].tolist() == [4, 1, 0.5]
        assert list(attributes["spacing_units"]) == ["um"] * 3
        assert list(attributes["DIMENSION_LABELS"]) == ["z", "y", "x"]
    axes = json.loads(call("inspect", "j.h5:/d", "--json").stdout)["axes"]
    assert [(axis["name"], axis["spacing"], axis["unit"]) for axis in axes] == [
        ("z", 4, "um"), ("y", 1, "um"), ("x", 0.5, "um")]


def test_declared_spacing_overrules_the_file():
    with h5py.File("a.h5", "w") as file:
        file["d"] = array_of("zyx")
        file["d"].attrs["element_size_um"] = [1.0, 2.0, 3.0]
    write_job("j.toml", "a.h5", "transpose", "permutation = [2, 0, 1]",
              'dataset = "/d"\naxes = "zyx"\nspacing = { x = 0.5, z = 7, unit = "mm" }')
    call("j.toml", "--quiet")
    with h5py.File("j.h5") as file:
        assert file["d"].attrs["spacing"].tolist() == [0.5, 7, 2]
        assert list(file["d"].attrs["spacing_units"]) == ["mm", "mm", "um"]
        assert np.allclose(file["d"].attrs["element_size_um"], [500, 7000, 2])
    write_job("n.toml", "a.h5", "transpose", "permutation = [0, 1, 2]",
              'dataset = "/d"\naxes = "zyx"\nspacing = { x = 0.5, unit = "um" }\nselect = { z = "1::2" }')
    call("n.toml", "--quiet")
    good("convert", "n.h5:/d", "n.nii")
    header = nibabel.load("n.nii").header
    assert header.get_zooms() == (0.5, 2, 2) and header.get_xyzt_units()[0] == "micron"
    array_of("tzyx").tofile("a.raw")
    write_job("k.toml", "a.raw", "convolve", SAME,
              'raw = { shape = [3, 5, 13, 17], dtype = "uint16" }\naxes = "tzyx"\nspacing = [4, 2, 1]')
    call("k.toml", "--quiet")
    with h5py.File("k.h5") as file:
        assert file["d"].attrs["spacing"][1:].tolist() == [4, 2, 1] and np.isnan(file["d"].attrs["spacing"][0])


def test_axes_of_nexus():
    """Names, units, spacings and origins of an NXdata group, by `axes` and by NAME_indices."""
    with h5py.File("a.nxs", "w") as file:
        group = file.create_group("entry/data")
        group.attrs.update({"NX_class": "NXdata", "signal": "d", "axes": ["angle", ".", "x"], "y_indices": 1})
        group["d"] = array_of("zyx")
        for name, values, unit in (("angle", np.linspace(10, 18, 5), "deg"), ("x", np.arange(17) * 0.5, "um"),
                                   ("y", np.arange(13.0) ** 2, "um")):
            group[name] = values
            group[name].attrs["units"] = unit
    axes = json.loads(call("inspect", "a.nxs:/entry/data/d", "--json").stdout)["axes"]
    assert axes == [{"name": "angle", "spacing": 2.0, "origin": 10.0, "unit": "deg"}, {"name": "y", "unit": "um"},
                    {"name": "x", "spacing": 0.5, "origin": 0.0, "unit": "um"}], axes
    write_job("j.toml", "a.nxs", "convolve", KINDS["convolve"],
              'dataset = "/entry/data/d"\nselect = { angle = "1::2", y = "2:9:3" }')
    call("j.toml", "--quiet")
    with h5py.File("a.nxs") as file:
        np.save("cut.npy", file["entry/data/d"][1::2, 2:9:3])
    write_job("wanted.toml", "cut.npy", "convolve", KINDS["convolve"])
    call("wanted.toml", "--quiet")
    same_data("j.h5", "wanted.h5", "d")


def test_one_sample_of_colour():
    colour = np.random.default_rng(0).integers(0, 255, (7, 13, 17, 3)).astype("u1")
    tifffile.imwrite("a.tif", colour, photometric="rgb")
    np.save("cut.npy", np.ascontiguousarray(colour[..., 1]))
    write_job("wanted.toml", "cut.npy", "median", KINDS["median"])
    call("wanted.toml", "--quiet")
    write_job("j.toml", "a.tif", "median", KINDS["median"], "select = { s = 1 }")
    call("j.toml", "--quiet", ranks=2)
    same_data("j.h5", "wanted.h5", "d")
    np.save("c.npy", colour)  # declared to be colour by the name of its last axis
    write_job("k.toml", "c.npy", "convolve", KINDS["convolve"], 'axes = "zyxs"\nselect = { z = "2:6:3" }')
    assert call("k.toml", "--quiet").stderr == ""


def test_region_and_frames_count_what_select_leaves():
    array = array_of("tczyx")
    more = write("a.npy", array, "tczyx")
    part = array[1:, 2][:, 1:4, 2:-2][::2]
    np.save("cut.npy", np.ascontiguousarray(part))
    for keys in ('select = { c = 2, t = "1:" }\nregion = { depth = "1:4", rows = "2:-2" }\nframes = "::2"',
                 'select = { c = 2, t = "1::2", z = "1:4" }\nregion = { rows = "2:-2" }'):
        write_job("j.toml", "a.npy", "convolve", SAME, f"{more}\n{keys}")
        pathlib.Path("j.h5").unlink(missing_ok=True)
        call("j.toml", "--quiet")
        with h5py.File("j.h5") as file:
            assert file["d"][()].tobytes() == part.tobytes(), keys
    # Frames of an axis that is not the dataset's first.
    write_job("k.toml", "a.npy", "convolve", SAME,
              f'{more}\nselect = {{ t = 0, c = 1 }}\nframes = "1::2"')
    call("k.toml", "--quiet")
    with h5py.File("k.h5") as file:
        assert file["d"][()].tobytes() == array[0, 1, 1::2].tobytes()
    call("try", "j.toml", "--part", "central")


def test_what_is_refused():
    more = write("a.npy", array_of("czyx"), "czyx")
    write("a.ome.tif", array_of("czyx"), "czyx")
    np.save("plain.npy", array_of("czyx"))
    for name, keys, words in (
            ("a.ome.tif", "select = { w = 0 }", ("input.select.w", '"w"', "c, z, y, x")),
            ("a.ome.tif", 'select = { c = "Cy5" }', ("input.select.c", "Cy5", "DAPI", "GFP & red")),
            ("a.ome.tif", 'select = { z = "DAPI" }', ("input.select.z", "only channels")),
            ("a.npy", more + '\nselect = { c = "DAPI" }', ("input.select.c", "names of the channels")),
            ("a.npy", more + "\nselect = { c = 3 }", ("input.select.c", "beyond the 3")),
            ("a.npy", more + '\nselect = { z = "0:6" }', ("input.select.z", "beyond the 5")),
            ("a.npy", more + '\nselect = { z = "3:3" }', ("input.select.z", "empty")),
            ("a.npy", more + "\nselect = { c = 0, z = 0, y = 0, x = 0 }", ("input.select", "no axis")),
            ("a.npy", more + "\nselect = { c = 0 }\nregion = { columns = \"0:99\" }", ("input.region.columns",)),
            ("a.npy", more + "\nselect = { c = 1.5 }", ("input.select", "c is")),
            ("a.npy", more + "\nselect = 3", ("input.select", "table")),
            ("plain.npy", "select = { c = 0 }", ("input.select.c", "nothing says", "input.axes")),
            ("plain.npy", 'axes = "zyx"', ("input.axes", "3 letters", "[3, 5, 13, 17]")),
            ("plain.npy", 'axes = "zzyx"', ("input.axes", "twice")),
            ("plain.npy", 'axes = "z1yx"', ("input.axes", "a letter")),
            ("plain.npy", 'axes = "szyx"', ("input.axes", "samples")),
            ("plain.npy", 'axes = "czyx"\nspacing = [1, 2, 3, 4, 5]', ("input.spacing", "too many")),
            ("plain.npy", "spacing = [0, 1]", ("input.spacing", "above 0")),
            ("plain.npy", 'spacing = { q = 1.0 }', ("input.spacing", "nothing says"))):
        write_job("j.toml", name, "median", KINDS["median"], keys)
        done = call("j.toml", code=2)
        assert done.stderr.count("error:") == 1 and all(word in done.stderr for word in words), (keys, done.stderr)


def test_a_scan_keeps_its_frames():
    """What image_key says is by the number of the frame, which select must not change."""
    with h5py.File("scan.nxs", "w") as file:
        for path, kind in (("entry", "NXentry"), ("entry/data", "NXdata")):
            file.create_group(path).attrs["NX_class"] = kind
        file["entry/data/data"] = array_of("zyx")
        file["entry/data/image_key"] = [1, 0, 0, 2, 0]
        file["entry/data"].attrs["signal"] = "data"
    write_job("j.toml", "scan.nxs", "convolve", KINDS["convolve"], 'select = { frame = "1:3" }')
    bad(2, ("input.select", "image_key", "input.frames"), "j.toml")
    write_job("j.toml", "scan.nxs", "convolve", KINDS["convolve"], 'select = { frame = "1:3" }\nframes = "all"')
    call("j.toml", "--quiet")
    write_job("k.toml", "scan.nxs", "convolve", SAME, 'axes = "zyx"\nselect = { x = "::5" }')
    call("k.toml", "--quiet")
    with h5py.File("k.h5") as file:
        assert file["d"][()].tobytes() == array_of("zyx")[[1, 2, 4], :, ::5].tobytes()


def test_a_killed_job_resumes_its_own_selection():
    array = array_of("czyx")
    more = write("packed.h5", array, "czyx")
    run = 'chunk_rows = 2\nlanes = 1\ncommit_seconds = 0\nresume = "require"\nresume_check = "all"'
    write_job("j.toml", "packed.h5", "convolve", KINDS["convolve"], f"{more}\nselect = {{ c = 1, x = '::2' }}")
    call("j.toml", "--quiet")
    wanted = h5py.File("j.h5")["d"][()]
    pathlib.Path("j.h5").unlink()
    write_job("j.toml", "packed.h5", "convolve", KINDS["convolve"], f"{more}\nselect = {{ c = 1, x = '::2' }}",
              run.replace('"require"', '"auto"'))
    killed = attempt("j.toml", before=["env", f"LD_PRELOAD={programs.fault_shim}", "FAULT=pwrite:kill@5:j.h5.partial"])
    assert killed.returncode != 0 and pathlib.Path("j.h5.partial").exists(), killed
    write_job("k.toml", "packed.h5", "convolve", KINDS["convolve"], f"{more}\nselect = {{ c = 2, x = '::2' }}", run)
    said = attempt("k.toml", "--set", "output.file='j.h5'")
    assert said.returncode == 3 and "input.part was" in said.stderr, said
    write_job("j.toml", "packed.h5", "convolve", KINDS["convolve"], f"{more}\nselect = {{ c = 1, x = '::2' }}", run)
    call("j.toml", "--quiet", ranks=2)
    with h5py.File("j.h5") as file:
        assert file["d"][()].tobytes() == wanted.tobytes()


def test_settings_and_explain():
    more = write("a.ome.tif", array_of("czyx"), "czyx")
    write_job("j.toml", "a.ome.tif", "median", KINDS["median"], more)
    text = call("explain", "j.toml", "--set", 'input.select.c="DAPI"', "--set", 'input.axes="CZYX"',
                "--set", "input.spacing=[2,1,1]").stdout
    assert '\naxes = "czyx"\nspacing = [2.0, 1.0, 1.0]\nselect = { c = "DAPI" }\n' in text, text
