"""Names of inputs and outputs: endings in any case, first bytes, broken links, patterns."""
import json
import os
import pathlib

import h5py
import numpy as np
import pytest
import tifffile
from PIL import Image

from harness import bad, call, good


def iio_pixels(name):
    return np.asarray(Image.open(name))


def write_job(source, output, more="", section=""):
    pathlib.Path("j.toml").write_text(
        f'kind = "median"\n[input]\nfile = "{source}"\n{more}\n[output]\nfile = "{output}"\noverwrite = true\n'
        f'[run]\nbackend = "cpu"\n[median]\nsize = [1, 3]\n{section}')


def refused(code, words, *arguments):
    """Like bad(), where the message has a line for each error of the job file."""
    before = sorted(os.listdir())
    said = call(*arguments, code=code).stderr
    assert all(word in said for word in words), said
    assert sorted(os.listdir()) == before
    return said


def image(number=0):
    return np.random.default_rng(number).integers(0, 999, (4, 5)).astype("uint16")


def slices(*numbers):
    for number in numbers:
        tifffile.imwrite(f"s{number}.tif", image(number))


@pytest.mark.quick
@pytest.mark.parametrize("ending", ["partial", "publishing", "replacing", "replaced", "lock", "journal", "identity"])
def test_inputs_with_names_of_an_output_on_its_way(ending):
    """An input that has, or is in a folder that has, a name which the run gives to files beside its output."""
    taken = pathlib.Path(f"o_%03d.tif.{ending}")
    tifffile.imwrite("s1.tif", image())
    os.rename("s1.tif", taken)
    write_job(taken, "o_%03d.tif")
    refused(2, [str(taken), "input.file"], "j.toml", "--quiet")
    refused(2, [str(taken)], "convert", str(taken), "o_%03d.tif")
    assert np.array_equal(tifffile.imread(taken), image())
    pathlib.Path("b.toml").write_text(f'kind = "median"\n[batch]\ninputs = ["{taken}"]\noutput = "o_%03d.tif"\n'
                                      '[run]\nbackend = "cpu"\n[median]\nsize = [1, 3]\n')
    refused(2, [str(taken), "itself an input"], "batch", "b.toml", "--quiet")
    taken.unlink()
    taken.mkdir()
    tifffile.imwrite(taken / "s1.tif", image())
    for name in (taken / "s1.tif", taken / "*.tif"):
        write_job(name, "o_%03d.tif")
        refused(2, [str(taken), "input.file"], "j.toml", "--quiet")
    refused(2, [str(taken)], "convert", str(taken / "s1.tif"), "o_%03d.tif")
    assert np.array_equal(tifffile.imread(taken / "s1.tif"), image())


@pytest.mark.quick
def test_broken_links_of_a_stack():
    slices(2, 3, 4)
    os.symlink(".git/annex/objects/x", "s5.tif")
    os.symlink("s1.tif", "s1.tif")  # round and round
    write_job("s*.tif", "o.h5")
    for command in (("j.toml", "--quiet"), ("plan", "j.toml"), ("convert", "s*.tif", "o.h5")):
        bad(3, ["s1.tif", "s5.tif, a link to .git/annex/objects/x", 'input.missing = "skip"'], *command)
    call("j.toml", "--quiet", "--set", 'input.missing="skip"', "--report", "r.json")
    with h5py.File("o.h5") as file:
        assert file["data"].shape == (3, 4, 5)
    notes = json.dumps(json.loads(pathlib.Path("r.json").read_text())["warnings"])
    assert "s1.tif" in notes and "s5.tif" in notes, notes
    raw = 'raw = { shape = [4, 5], dtype = "uint8" }'
    pathlib.Path("a1.dat").write_bytes(bytes(20))
    os.symlink("nowhere", "a2.dat")
    write_job("a*.dat", "o2.h5", raw)
    bad(3, ["a2.dat"], "j.toml", "--quiet")
    call("j.toml", "--set", 'input.missing="skip"')
    write_job("s*.tif", "o.h5", 'missing = "never"')
    refused(2, ["input.missing", "skip"], "j.toml", "--quiet")


@pytest.mark.quick
def test_broken_links_and_absent_files_of_a_batch():
    slices(1, 2)
    os.symlink("nowhere/x", "s3.tif")

    def batch(inputs, *options, code=0):
        pathlib.Path("b.toml").write_text(
            f'kind = "median"\n[batch]\ninputs = {inputs}\noutput = "out/{{stem}}.h5"\n'
            '[run]\nbackend = "cpu"\n[median]\nsize = [1, 3]\n')
        return call("batch", "b.toml", "--quiet", *options, code=code).stderr

    pathlib.Path("list.txt").write_text("s1.tif\ngone.tif\n")
    skip = ("--set", 'input.missing="skip"')
    for inputs, name in (('["s*.tif"]', "s3.tif, a link to nowhere/x"), ('["s1.tif", "s3.tif"]', "s3.tif"),
                         ('["s1.tif", "gone.tif"]', "gone.tif"), ('"list.txt"', "gone.tif")):
        assert name in batch(inputs, code=3)
        assert not pathlib.Path("out").exists() or not list(pathlib.Path("out").glob("*.h5"))
    for inputs, name in (('["s*.tif"]', "s3.tif, a link to nowhere/x"), ('"list.txt"', "gone.tif")):
        said = batch(inputs, *skip)
        assert "warning" in said and name in said, said
    assert sorted(each.name for each in pathlib.Path("out").glob("*.h5")) == ["s1.h5", "s2.h5"]
    assert "gone.tif" in batch('["gone.tif"]', *skip, code=3)


@pytest.mark.quick
def test_a_broken_folder_link():
    os.mkdir("a")
    tifffile.imwrite("a/x.tif", image())
    os.symlink("nowhere", "b")
    write_job("*/x.tif", "o.h5")
    bad(3, ["b, a link to nowhere"], "j.toml", "--quiet")


@pytest.mark.quick
def test_a_dangling_link_under_the_outputs_name():
    slices(1)
    os.symlink("/nowhere/o.h5", "o.h5")
    write_job("s1.tif", "o.h5")
    for overwrite in ("true", "false"):
        refused(2, ["output.file", "link to what is not there"], "j.toml", "--quiet", "--set",
            f"output.overwrite={overwrite}")
    bad(4, ["o.h5", "link"], "convert", "s1.tif", "o.h5")
    assert os.readlink("o.h5") == "/nowhere/o.h5"
    pathlib.Path("b.toml").write_text(
        'kind = "median"\n[batch]\ninputs = ["s1.tif"]\noutput = "o.h5"\n[run]\nbackend = "cpu"\n'
        '[median]\nsize = [1, 3]\n')
    assert "link to what is not there" in call("batch", "b.toml", code=2).stderr


@pytest.mark.quick
@pytest.mark.parametrize("name", ["A.TIF", "a.Tiff", "A.NPY", "A.PNG", "A.NII.GZ", "A.NII", "a.btf", "a.LSM",
                                  "a.svs", "a.ndpi", "a.stk", "without_ending", "tiff.dat", "npy.xyz", "png.1",
                                  "brain.nii.1", "brain.nii.gz.bin"])
def test_endings_of_inputs(name):
    plain = name.lower()
    if "npy" in plain:
        with open(name, "wb") as file:
            np.save(file, image())
    elif "png" in plain:
        import PIL.Image
        PIL.Image.fromarray((image() % 256).astype("uint8")).save(name, "PNG")
    elif ".nii" in plain:
        import gzip
        header = bytearray(352)
        header[0:4] = np.array([348], "<i4").tobytes()
        header[40:56] = np.array([2, 5, 4, 1, 1, 1, 1, 1], "<i2").tobytes()
        header[70:74] = np.array([512, 16], "<i2").tobytes()
        header[108:112] = np.array([352], "<f4").tobytes()
        header[344:348] = b"n+1\0"
        content = bytes(header) + image().tobytes()
        pathlib.Path(name).write_bytes(gzip.compress(content) if ".gz" in plain else content)
    else:
        tifffile.imwrite("t.tif", image())
        os.rename("t.tif", name)
    wanted = image() % 256 if "png" in plain else image()
    call("convert", name, "o.h5")
    assert "HDF5" not in good("inspect", name)
    with h5py.File("o.h5") as file:
        found = file["data"][()]
    assert (found.reshape(4, 5) == wanted).all()
    write_job(name, "p.npy")
    call("j.toml", "--quiet")
    assert np.load("p.npy").size == 20


@pytest.mark.quick
@pytest.mark.parametrize("name", ["a.dat", "a.bin", "a.raw", "a.img"])
def test_hdf5_by_its_first_bytes(name):
    with h5py.File(name, "w", userblock_size=512) as file:
        file["x"] = image()
    call("convert", name, "o.npy")
    assert (np.load("o.npy") == image()).all()


REFUSED = ["r.n5", "r.mrcs", "r.rec", "r.jpg", "r.btf", "r.raw", "r", "r.h5.gz", "r_*.npy", "r_%04d.nii",
           "r%d.h5", "r%b%3i.h5"]
TAKEN = ["r.TIF", "r.Npy", "r.NII", "r.Nii.GZ", "r.PNG", "r.H5", "r.hdf5", "r.nx", "r.nxs", "r.nexus", "r.he5", "r.NC4", "50%.h5",
         "50%b.h5"]


@pytest.mark.quick
def test_endings_of_outputs():
    slices(1)
    for name in REFUSED:
        write_job("s1.tif", name)
        said = refused(2, ["output.file", name], "j.toml", "--quiet")
        wanted = ["no folder of slices"] if "*" in name or "%" in name else [".nexus", ".npy"]
        assert all(word in said for word in wanted), said
        pathlib.Path("b.toml").write_text(
            f'kind = "median"\n[batch]\ninputs = ["s1.tif"]\noutput = "out/{name}"\n[run]\nbackend = "cpu"\n'
            '[median]\nsize = [1, 3]\n')
        assert name in call("batch", "b.toml", "--quiet", code=2).stderr
        assert not pathlib.Path("out").exists() or not os.listdir("out")
        pathlib.Path("p.toml").write_text(
            f'[input]\nfile = "s1.tif"\n[output]\nfile = "p.h5"\n[run]\nbackend = "cpu"\n'
            f'[[step]]\nkind = "median"\nsize = [1, 3]\nsave = "{name}"\n'
            '[[step]]\nkind = "median"\nsize = [1, 3]\n')
        refused(2, ["save", name], "p.toml", "--quiet")
        bad(2, [name], "convert", "s1.tif", name)
        bad(2, [name], "generate", "noise", name, "--shape", "4,5", "--dtype", "uint8", "--dataset", "/d")
    for name in TAKEN:
        write_job("s1.tif", name)
        call("j.toml", "--quiet")
        begin = pathlib.Path(name).read_bytes()[:4]
        wanted = {".TIF": b"II*\0", ".Npy": b"\x93NUM", ".NII": b"\x5c\1\0\0",
                  ".PNG": b"\x89PNG", ".GZ": b"\x1f\x8b\x08\0"}.get(pathlib.Path(name).suffix, b"\x89HDF")
        assert begin == wanted, name
        call("j.toml", "--quiet", "--set", "output.overwrite=false")
        call("verify", name)
    call("convert", "s1.tif", "c.TIFF")
    assert (tifffile.imread("c.TIFF") == image(1)).all()


@pytest.mark.quick
def test_a_batch_without_input():
    slices(1, 2)
    pathlib.Path("b.toml").write_text(
        'kind = "median"\n[batch]\ninputs = ["*.tif"]\noutput = "out/{stem}.h5"\n[median]\nsize = [1, 3]\n')
    call("batch", "b.toml")
    with h5py.File("out/s1.h5") as file:
        assert file["data"].shape == (4, 5)


@pytest.mark.quick
@pytest.mark.parametrize("ending", [".h5", ".npy", ".tif", ".zarr", ".ome.zarr", ".nii.gz", "%d.png"])
def test_names_that_leave_no_room_for_those_beside_them(ending):
    """A run may put OUT.partial.shard-1-0-1 beside OUT. Before, such a name was said to be the input, or
    failed half-way and left files behind."""
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.arange(84, dtype="uint16").reshape(2, 6, 7)
    longest = "n" * (229 - len(ending)) + ending
    commands = {"k_": ("median", "in.h5"), "c_": ("convert", "in.h5"),
                "g_": ("generate", "noise", "--shape", "2,6,7", "--dtype", "uint16")}
    for start, command in commands.items():
        name = start + longest[2:]
        for bytes_more in (1, 10, 25, 80):
            long = "n" * bytes_more + name
            said = refused(2, [f"{229 + bytes_more} bytes"], *command[:2], long, *command[2:])
            assert "shorten it to 229" in said, said
        call(*command[:2], name, *command[2:])
        assert [each for each in os.listdir() if ".partial" in each or ".lock" in each] == []
    write_job("in.h5", "n" + longest)
    refused(2, ["output.file", "230 bytes"], "plan", "j.toml")
    pathlib.Path("b.toml").write_text(f'kind = "median"\n[batch]\ninputs = ["in.h5"]\noutput = "{{stem}}{longest}"\n'
                                      "[median]\n")
    refused(2, ["in" + longest[:40], "231 bytes"], "batch", "b.toml", "--quiet")


@pytest.mark.quick
def test_ranks_before_the_kind_or_the_verb():
    with h5py.File("in.h5", "w") as file:
        file["data"] = image()
    call("-n", "2", "median", "in.h5", "o.h5", "--size", "3,3", "--report", "r.json")
    assert len(json.loads(pathlib.Path("r.json").read_text())["ranks"]) == 2
    pathlib.Path("b.toml").write_text('kind = "median"\n[batch]\ninputs = ["in.h5"]\noutput = "out/{stem}.h5"\n'
                                      "[median]\nsize = [1, 3]\n")
    call("-n", "2", "batch", "b.toml", "--quiet")
    assert pathlib.Path("out/in.h5").exists()


@pytest.mark.quick
def test_a_folder_is_no_input():
    os.mkdir("scans")
    bad(3, ["scans", "it is a folder", "Name a regular file in it, or a stack"], "median", "scans", "o.h5")


def bytes_of_files():
    return {name: pathlib.Path(name).read_bytes() for name in os.listdir() if os.path.isfile(name)}


@pytest.mark.quick
def test_no_conversion_is_written_over_its_input():
    """What it leaves out of it would be lost: other datasets, frames, digits."""
    with h5py.File("two.h5", "w") as file:
        file["a"] = file["b"] = np.arange(84, dtype="uint16").reshape(2, 6, 7)
    call("convert", "two.h5:/a", "one.tif")
    call("convert", "two.h5:/a", "one.ome.zarr")
    call("convert", "two.h5:/a", "s_%d.png")
    call("convert", "two.h5:/a", "p-000001.png", "--frame", "0")
    os.symlink("two.h5", "link.h5")
    os.mkdir("d")
    before = bytes_of_files()
    for source, output in (("two.h5:/a", "two.h5"), ("two.h5:/a", "./d/../two.h5"), ("link.h5:/b", "two.h5"),
                           ("one.tif", "one.tif"), ("one.ome.zarr", "one.ome.zarr"), ("s_*.png", "s_%d.png"),
                           ("s_*.png", "s_1.png"), ("s_0.png", "s_*.png"), ("p-000001.png", "p-000001.png")):
        refused(2, ["over the input", "another name"], "convert", source, output, "--overwrite")
        if "*" not in source:
            refused(2, ["over the input"], "convert", source, output, "--overwrite", "--frame", "0")
        refused(2, ["over the input"], "convert", source, output)
    refused(2, ["over the input"], "convert", "s_*.png", "s_1.png", "--overwrite", "--frame", "0")
    assert bytes_of_files() == before
    call("convert", "two.h5:/b", "s_%d.png", "--overwrite")


@pytest.mark.quick
def test_render_replaces_its_own_pictures_alone():
    for name in ("mine.png", "other.png", "m-000001.png"):
        tifffile.imwrite("image.tif", image())
        call("convert", "image.tif", name)
    pathlib.Path("notes.png").write_text("no picture")
    pathlib.Path("empty.png").touch()
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.arange(84, dtype="uint16").reshape(2, 6, 7)
    before = bytes_of_files()
    for taken in ("other.png", "notes.png"):
        bad(4, [taken, "render did not make it", "Name another"], "render", "mine.png", taken)
    bad(2, ["mine.png", "over the input"], "render", "other.png", "mine.png", "mine.png")
    bad(2, ["mine.png", "over the input"], "render", "m*.png", "mine.png")
    bad(4, ["m-000001.png", "render did not make it"], "render", "in.h5", "m.png", "--frames", "all")
    assert bytes_of_files() == before
    call("render", "mine.png", "empty.png")
    for _ in range(2):
        call("render", "mine.png", "made.png")
        call("render", "in.h5", "n.png", "--frames", "all")
    bad(2, ["made.png", "over the input"], "render", "made.png", "made.png")
    assert b"tEXtSoftware\0runner render" in pathlib.Path("made.png").read_bytes()
    assert np.array_equal(iio_pixels("made.png"), iio_pixels("empty.png"))


@pytest.mark.quick
def test_try_replaces_its_own_page_alone():
    with h5py.File("in.h5", "w") as file:
        file["data"] = image()
    write_job("in.h5", "o.h5")
    os.mkdir("site")
    pathlib.Path("site/index.html").write_text("<!DOCTYPE html>\n<title>mine</title>\n")
    bad(4, ["site/index.html", "try did not make it", "--out"], "try", "j.toml", "--out", "site")
    assert os.listdir("site") == ["index.html"] and "mine" in pathlib.Path("site/index.html").read_text()
    for _ in range(2):
        call("try", "j.toml", "--out", "page")
