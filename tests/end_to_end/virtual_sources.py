"""Where the sources of virtual datasets and the files of links are looked for, and sources that are
shorter than what is mapped of them; against h5py where HDF5 finds the same."""
import os
import pathlib

import h5py
import numpy as np
import pytest

from harness import attempt, bad, good, launch

pytestmark = pytest.mark.quick
SHAPE = (3, 4, 5)


def write_source(path, value):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with h5py.File(path, "w") as file:
        file["d"] = np.full(SHAPE, value, "u2")


def write_master(path, name, halves=False):
    """One source, by whole rows, or by halves of rows in turn, which HDF5 alone reads."""
    layout = h5py.VirtualLayout(SHAPE, "u2")
    source = h5py.VirtualSource(name, "d", SHAPE)
    if halves:
        layout[:, :, :2], layout[:, :, 2:] = source[:, :, 3:], source[:, :, :3]
    else:
        layout[:] = source
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("v", layout)
        file["link"] = h5py.ExternalLink(name, "/d")


def read(master, *options, dataset="v"):
    good("convert", f"{master}:/{dataset}", "o.npy", "--overwrite", *options)
    values = np.unique(np.load("o.npy"))
    assert len(values) == 1
    return int(values[0])


@pytest.fixture(name="here", autouse=True)
def make_folders(folder):
    """The master in raw/, a symbolic link to it in proc/, and an empty working folder."""
    for name in ["raw", "proc", "work"]:
        os.mkdir(name)
    os.symlink(os.path.abspath("raw/m.h5"), "proc/m.h5")
    os.chdir("work")
    return folder


@pytest.mark.parametrize("dataset", ["v", "link"])
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("beside", [(1,), (2,), (1, 2)])
def test_beside_the_file_and_beside_its_link(halves, beside, dataset):
    write_master("../raw/m.h5", "data/p.h5", halves)
    for value in beside:
        write_source(f"../{['raw', 'proc'][value - 1]}/data/p.h5", value)
    for master in ["../proc/m.h5", os.path.abspath("../proc/m.h5"), "../raw/m.h5"]:
        if beside == (2,) and "raw" in master:
            continue
        with h5py.File(master) as file:
            wanted = int(file[dataset][0, 0, 0])
        assert wanted in beside and read(master, dataset=dataset) == wanted, master


def test_the_working_folder_comes_last():
    """A file of the same name there counts only where the others are not."""
    write_master("../raw/m.h5", "data/p.h5")
    write_source("data/p.h5", 3)
    write_source("../raw/data/p.h5", 1)
    assert read("../raw/m.h5") == 1
    assert read("../raw/m.h5", dataset="link") == 1
    assert read("../proc/m.h5") == 1
    os.remove("../raw/data/p.h5")
    bad(3, ["outside the folder", "data/p.h5"], "convert", "../raw/m.h5:/v", "o2.npy")
    assert read("../raw/m.h5", "--trust-input") == 3


def test_another_file_than_hdf5_would_read():
    """HDF5 prefers the working folder to the folder that a symbolic link leads to: what it would read
    wrongly is refused."""
    write_master("../raw/m.h5", "data/p.h5", halves=True)
    write_source("data/p.h5", 3)
    write_source("../raw/data/p.h5", 1)
    for dataset in ["v", "link"]:
        bad(3, ["HDF5 would read", os.path.abspath("data/p.h5"), "another folder"], "convert",
            f"../proc/m.h5:/{dataset}", "o.npy")
    assert read("../raw/m.h5") == 1


def job(dataset):
    return (f'kind = "median"\n[input]\nfile = "m.h5"\ndataset = "/{dataset}"\n[output]\n'
            'file = "o.h5"\nsync = false\n[run]\nbackend = "cpu"\n[median]\nsize = [3, 3]\n')


@pytest.mark.parametrize("form", ["frames", "halves", "box", "all"])
def test_a_source_that_is_shorter(form):
    """As of a scan that was ended early: `plan` and the run name it."""
    shape = (8, 4, 5)
    layout = h5py.VirtualLayout(shape, "u2")
    for i in range(2):
        name = f"p{i}.h5"
        with h5py.File(name, "w") as file:
            file["d"] = np.ones((4 - 3 * i, 4, 5), "u2")
        source = h5py.VirtualSource(name, "d", (4, 4, 5))
        rows = slice(4 * i, 4 * i + 4)
        if form == "frames":
            layout[rows] = source
        elif form == "halves":
            layout[rows, :, :2], layout[rows, :, 2:] = source[:, :, 3:], source[:, :, :3]
        elif form == "box":
            layout[4 * i:4 * i + 3, 1:3] = source[1:4, 1:3]
        else:
            layout[rows] = source[...]
    with h5py.File("m.h5", "w") as file:
        file.create_virtual_dataset("v", layout)
    pathlib.Path("j.toml").write_text(job("v"))
    for arguments in [["plan", "j.toml"], ["j.toml", "--quiet"], ["convert", "m.h5:/v", "o.npy"]]:
        bad(3, ["p1.h5:/d", "[1, 4, 5]", "mapped"], *arguments)
    with h5py.File("p1.h5", "w") as file:
        file["d"] = np.ones((4, 4, 5), "u2")
    assert attempt("j.toml", "--quiet").returncode == 0


LENGTHS = [(4, 1, 0), (1, 0, 0, 4), (0, 2), (4, 4)]


def write_scan(lengths, kind="frames"):
    """Sources of four frames each, of which so many are there; 0: the file is not there."""
    frames = 4 * len(lengths)
    layout = h5py.VirtualLayout((frames, 4, 5), "u2")
    wanted = np.full((frames, 4, 5), 7, "u2")
    for i, length in enumerate(lengths):
        source = h5py.VirtualSource(f"p{i}.h5", "d", (4, 4, 5))
        rows = slice(4 * i, 4 * i + 4)
        if kind == "frames":
            layout[rows] = source
        elif kind == "backwards":  # the last two frames of each, then the first two
            layout[4 * i:4 * i + 2], layout[4 * i + 2:4 * i + 4] = source[2:], source[:2]
        else:
            layout[rows, :, :2], layout[rows, :, 2:] = source[:, :, 3:], source[:, :, :3]
        values = np.arange(length * 20, dtype="u2").reshape(length, 4, 5) + 100 * i
        whole = np.concatenate([values, np.full((4 - length, 4, 5), 7, "u2")])
        wanted[rows] = whole if kind == "frames" else np.concatenate([whole[2:], whole[:2]])
        if length:
            with h5py.File(f"p{i}.h5", "w") as file:
                file["d"] = values
    with h5py.File("m.h5", "w") as file:
        file.create_virtual_dataset("v", layout, fillvalue=7)
    return wanted


@pytest.mark.parametrize("kind", ["frames", "backwards"])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_what_is_missing_is_refused_or_filled_in(lengths, kind):
    wanted = write_scan(lengths, kind)
    lacking = [i for i, length in enumerate(lengths) if length < 4]
    pathlib.Path("j.toml").write_text(job("v").replace("o.h5", "o.npy").replace("median", "transpose").replace(
        "size = [3, 3]", "permutation = [0, 1, 2]"))
    fill = ["--set", 'input.missing="fill"']
    if lacking:
        for arguments in [["plan", "j.toml"], ["j.toml", "--quiet"], ["convert", "m.h5:/v", "c.npy"],
                          ["plan", "j.toml", "--set", 'input.missing="skip"']]:
            bad(3, [f"p{lacking[0]}.h5" if 0 not in lengths else ".h5", "missing", "fill"], *arguments)
    said = f"{len(lacking)} of its {len(lengths)} sources are not there, or shorter"
    assert (said in attempt("plan", "j.toml", *fill).stderr) == bool(lacking)
    for ranks in (1, 2):
        done = attempt("j.toml", "--report", "r.json", *fill, "--set", "output.overwrite=true",
                       before=launch(ranks))
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(said) == (1 if lacking else 0), done.stderr
        assert (said in pathlib.Path("r.json").read_text()) == bool(lacking)
        assert np.array_equal(np.load("o.npy"), wanted)
    done = attempt("convert", "m.h5:/v", "c.npy", "--missing", "fill")
    assert done.returncode == 0 and (said in done.stderr) == bool(lacking), done.stderr
    assert np.array_equal(np.load("c.npy"), wanted)
    assert attempt("verify", "o.npy", "--recompute", "5").returncode == 0


def test_what_cannot_be_filled_in():
    """No source at all; a short one of which no whole rows are mapped, which HDF5 alone reads."""
    write_scan((4, 1), "halves")
    bad(3, ["p1.h5:/d", "whole rows"], "convert", "m.h5:/v", "o.npy", "--missing", "fill")
    write_scan((0, 0))
    for i in range(2):
        pathlib.Path(f"p{i}.h5").unlink(missing_ok=True)
    bad(3, ["p0.h5", "p1.h5"], "convert", "m.h5:/v", "o.npy", "--missing", "fill")
    bad(2, ["--missing", "fail, skip, fill"], "convert", "m.h5:/v", "o.npy", "--missing", "no")
    # A missing one of halves is HDF5's to fill in.
    write_scan((4, 0), "halves")
    good("convert", "m.h5:/v", "o.npy", "--missing", "fill", says=r"[^\n]*1 of its 2 sources[^\n]*\n")
    assert (np.load("o.npy")[4:] == 7).all() and (np.load("o.npy")[:4] != 7).any()


@pytest.mark.parametrize("halves", [False, True])
def test_sources_in_the_same_file_and_virtual_ones(halves):
    """One dataset over two of its own file, of which one is a virtual one over another file; by whole rows, and
    with halves of rows exchanged, which HDF5 alone reads."""
    values = np.random.default_rng(5).integers(0, 1000, (6, *SHAPE[1:])).astype("u2")
    with h5py.File("p.h5", "w") as file:
        file["d"] = values[:4]
    with h5py.File("m.h5", "w") as file:
        inner = h5py.VirtualLayout((4, *SHAPE[1:]), "u2")
        source = h5py.VirtualSource("p.h5", "d", inner.shape)
        inner[:2], inner[2:] = source[2:], source[:2]
        file.create_virtual_dataset("inner", inner)
        file["own"] = values[4:]
        outer = h5py.VirtualLayout((6, *SHAPE[1:]), "u2")
        source, own = h5py.VirtualSource(".", "inner", inner.shape), h5py.VirtualSource(".", "own", (2, *SHAPE[1:]))
        outer[0], outer[2:5] = source[0], source[1:]
        if halves:
            outer[1, :, :2], outer[1, :, 2:] = own[0, :, 3:], own[0, :, :3]
        else:
            outer[1] = own[0]
        outer[5] = own[1]
        file.create_virtual_dataset("v", outer)
    with h5py.File("m.h5") as file:
        wanted = file["v"][()]
    good("convert", "m.h5:/v", "o.npy")
    assert (np.load("o.npy") == wanted).all()
    assert (wanted[[0, 2, 3, 4]] == values[[2, 3, 0, 1]]).all()
    pathlib.Path("j.toml").write_text('kind = "bin"\n[input]\nfile = "m.h5"\ndataset = "/v"\n[output]\nfile = "b.npy"\n'
                                      '[bin]\nfactors = [1, 1, 1]\n')
    assert ("from 2 datasets or files, each in place" in good("plan", "j.toml")) == (not halves)
