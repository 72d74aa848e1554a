"""Names of inputs and outputs: endings in any case, first bytes, broken links, patterns."""
import json
import os
import pathlib

import h5py
import numpy as np
import pytest
import tifffile

from harness import bad, call, good


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
