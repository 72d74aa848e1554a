"""Outputs as sets of slices, `name_*.tif` and `name_%05d.png`: names, bytes, what tifffile and PIL read, kills."""
import itertools
import os
import pathlib
import resource
import signal

import h5py
import numpy as np
import PIL.Image
import pytest
import tifffile

from harness import attempt, bad, call, good, programs
from tiff_outputs import TAPS, noise, same, write_input, write_job

AS_IT_IS = "from = [0, 200]\nto = [0, 200]"
KEPT = ("--set", "output.overwrite=false")


def slices(pattern="s/x_*.tif"):
    """The slices by name; nothing else is beside them but their record."""
    folder = pathlib.Path(pattern).parent
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    found.pop(pathlib.Path(pattern).name + ".identity", None)
    return found


def values(pattern):
    """The slices as another program reads them, in the order of their names."""
    read = tifffile.imread if pattern.endswith(("tif", "tiff")) else lambda path: np.asarray(PIL.Image.open(path))
    return np.stack([read(pathlib.Path(pattern).parent / name) for name in slices(pattern)])


@pytest.fixture(autouse=True)
def folder_of_slices(folder):
    os.mkdir("s")


@pytest.mark.share(0.3)
@pytest.mark.quick
@pytest.mark.parametrize("layout", ["x_*.tif", "x_%05d.tiff", "x_*.tif deflate", "x_*.ome.tif deflate", "%d.png"])
@pytest.mark.parametrize("shape", [(11, 75, 901), (1, 9, 11), (2, 5, 30, 7), (5, 300, 41, 3), (9, 11)])
def test_slices(layout, shape):
    """The same bytes for any ranks, chunks and lanes; what is read back is what HDF5 holds."""
    name, _, compression = layout.partition(" ")
    pattern, colour = f"s/{name}", shape[-1] == 3
    array = noise(shape, "uint8")
    write_input(array)
    write_job("rescale", pattern, AS_IT_IS, more=f"colour = {'true' if colour else 'false'}")
    packed = ["--set", f'output.compression="{compression}"'] if compression else []
    own = 3 if colour else 2
    count = int(np.prod(shape[:-own]))
    made = []
    for ranks, chunk, lanes in ((1, 1, 2), (2, 7, 1), (3, 100, 3)):
        call("job.toml", *packed, "--set", f"run.lanes={lanes}", "--set", f"run.chunk_rows={chunk}", ranks=ranks)
        made.append(slices(pattern))
        assert made[-1] == made[0]
    digits = {"*": len(str(count - 1)), "5": 5, "d": 1}[name[name.find("%") + 1 + name.count("%0")] if "%" in name else "*"]
    before, after = name[:-len("".join(pathlib.Path(name).suffixes))].rstrip("*%05d"), "".join(pathlib.Path(name).suffixes)
    assert set(made[0]) == {f"{before}{number:0{digits}}{after}" for number in range(count)}
    wanted = array.reshape(count, *shape[-own:])
    for number in range(count):
        file = f"s/{before}{number:0{digits}}{after}"
        found = np.asarray(PIL.Image.open(file)) if name.endswith("png") else tifffile.imread(file)
        same(found, wanted[number])
    call("verify", pattern)
    call("verify", pattern, "--recompute", "3")
    times = [path.stat().st_mtime_ns for path in sorted(pathlib.Path("s").iterdir())]
    assert "complete already" in call("job.toml", *packed, *KEPT).stderr
    assert times == [path.stat().st_mtime_ns for path in sorted(pathlib.Path("s").iterdir())]
    glob = f"s/{before}*{after}"
    good("convert", glob, "back.npy")
    same(np.load("back.npy"), wanted)
    if len(shape) == own + 1:
        good("compare", glob, "in.h5:/x")
    if not colour:
        os.mkdir("c")
        good("convert", "in.h5:/x", pattern.replace("s/", "c/"), *(["--compression", compression] if compression else []))
        assert {path.name: path.read_bytes() for path in pathlib.Path("c").iterdir()} == made[0]
        call("inspect", glob)


@pytest.mark.share(0.3)
@pytest.mark.quick
@pytest.mark.parametrize("count", [9, 10, 11, 100, 101])
def test_numbers_sort(count):
    good("generate", "noise", "s/x_*.tif", "--shape", f"{count},4,5", "--dtype", "uint16")
    names = list(slices())
    digits = len(str(count - 1))
    assert names == [f"x_{number:0{digits}}.tif" for number in range(count)]
    good("generate", "noise", "in.h5", "--dataset", "/x", "--shape", f"{count},4,5", "--dtype", "uint16")
    good("compare", "s/x_*.tif", "in.h5:/x")


@pytest.mark.quick
@pytest.mark.full
def test_many_slices():
    """More slices than files may be open."""
    good("generate", "noise", "in.npy", "--shape", "3000,3,5", "--dtype", "uint16")
    write_job("rescale", "s/x_*.tif", "from = [0, 65535]\nto = [0, 65535]", source="in.npy")
    whole = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, whole[1]))  # the programs have it too
    try:
        call("job.toml", "--set", "run.chunk_rows=16")
        call("verify", "s/x_*.tif")
        for number in range(0, 3000, 7):
            with open(f"s/x_{number:04}.tif", "r+b") as file:
                file.seek(20)
                file.write(b"damaged")
        call("verify", "s/x_*.tif", code=7)
        call("repair", "s/x_*.tif")
        call("verify", "s/x_*.tif")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, whole)
    same(values("s/x_*.tif"), np.load("in.npy"))


@pytest.mark.quick
def test_each_is_as_a_job_of_it_alone():
    """A slice has the bytes, with pixel sizes and units, that the same job of one image writes into one file."""
    array = noise((3, 40, 50), "uint16")
    write_input(array, element_size_um=[2.5, 0.5, 0.325])
    write_job("convolve", "s/x_*.tif", TAPS)
    error = call("job.toml").stderr
    assert "spacing of axis 0" in error and "axis 1" not in error, error
    many = slices()
    with tifffile.TiffFile("s/x_1.tif") as file:
        assert file.imagej_metadata["unit"] == "micron"
    with h5py.File("in.h5", "w") as file:
        file["x"] = array[1]
        file["x"].attrs["element_size_um"] = [0.5, 0.325]
    for compression in ("none", "zstd"):
        write_job("convolve", "one.tif", TAPS)
        call("job.toml", "--set", f'output.compression="{compression}"')
        if compression == "none":
            assert pathlib.Path("one.tif").read_bytes() == many["x_1.tif"]


@pytest.mark.quick
def test_what_exists():
    """Slices that are there are kept without overwrite; with it, all of an earlier output are replaced."""
    write_input(noise((12, 9, 7)))
    write_job("rescale", "s/x_*.tif", AS_IT_IS)
    pathlib.Path("s/x_mine.tif").write_text("mine")
    pathlib.Path("s/x_3.png").write_text("mine")
    call("job.toml")
    first = slices()
    assert len(first) == 14
    write_input(noise((12, 9, 7)) + 1)
    assert "is already there" in call("job.toml", *KEPT, code=4).stderr
    assert slices() == first
    write_input(noise((5, 9, 7)) + 1)
    call("job.toml")
    assert list(slices()) == sorted([*(f"x_{number}.tif" for number in range(5)), "x_3.png", "x_mine.tif"])
    pathlib.Path("s/x_07.tif").write_text("mine")  # reads as one of the set, so the set is no output any more
    write_input(noise((6, 9, 7)) + 1)
    assert "no record beside it" in call("job.toml", code=4).stderr
    assert pathlib.Path("s/x_07.tif").read_text() == "mine"
    call("verify", "s/x_*.tif", code=3)
    os.remove("s/x_07.tif")
    call("job.toml")
    assert len(slices()) == 8 and pathlib.Path("s/x_mine.tif").read_text() == "mine"


@pytest.mark.quick
def test_files_of_others():
    write_input(noise((12, 9, 7)))
    write_job("rescale", "s/x_*.tif", AS_IT_IS)
    for name in ("s/x_4.tif", "s/x_*.tif.partial/x_04.tif", "s/x_*.tif.publishing/x_04.tif", "s/x_*.tif.replacing/x_04.tif"):
        path = pathlib.Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        error = call("job.toml", code=4).stderr
        assert path.read_text() == "mine" and "s/x_*.tif" in error
        path.unlink()
        if "*" in name:
            path.parent.rmdir()
    assert not slices()


@pytest.mark.quick
def test_refusals():
    write_input(noise((5, 70, 10), "float32"))
    for output, words in (("s/x_*.npy", ["*", ".png"]), ("s/x_%04d.h5", ["%04d", ".tif"]), ("s/x_*_*.tif", ["one of them"]),
                          ("s/x_%5d.tif", ["%5d", "%05d"]), ("s/*_%d.tif", ["one of them"]), ("s/x_*.png", ["uint16"]),
                          ("no/x_*.tif", ["mkdir -p no"])):
        write_job("convolve", output, TAPS)
        result = attempt("job.toml")
        assert result.returncode in (2, 4) and all(word in result.stderr for word in words), result.stderr
        assert not slices()
    write_job("convolve", "s/x_*.tif", TAPS, source="s/x_3.tif")
    tifffile.imwrite("s/x_3.tif", np.zeros((5, 6), "uint8"))
    assert "slices" in call("job.toml", code=2).stderr
    write_job("convolve", "s/x_*.tif", TAPS, source="s/x_?.tif")
    assert "one of the files" in call("job.toml", code=2).stderr
    bad(2, ["holds *"], "convert", "in.h5:/x", "c_*.npy")


@pytest.mark.quick
def test_plan_and_pipeline():
    write_input(noise((5, 70, 10)))
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "in.h5"\ndataset = "/x"\n[output]\nfile = "s/x_*.tif"\n[run]\nbackend = "cpu"\n'
        '[[step]]\nkind = "rescale"\nfrom = [0, 200]\nto = [0, 200]\n[[step]]\nkind = "transpose"\npermutation = [1, 0, 2]\n')
    assert "70 slices" in good("plan", "job.toml")
    call("job.toml", ranks=2)
    same(values("s/x_*.tif"), noise((5, 70, 10)).transpose(1, 0, 2))
    call("verify", "s/x_*.tif", "--recompute", "2")
    assert sorted(os.listdir()) == ["in.h5", "job.toml", "s"]


@pytest.mark.quick
def test_batch():
    os.mkdir("in")
    for number, stem in enumerate("abc"):
        np.save(f"in/{stem}.npy", noise((3 + number, 20, 30)) + np.uint16(number))
    pathlib.Path("job.toml").write_text(
        'kind = "rescale"\n[input]\n[output]\n[run]\nbackend = "cpu"\n[batch]\ninputs = ["in/*.npy"]\n'
        'output = "s/{stem}/z_%03d.tif"\n[rescale]\n' + AS_IT_IS.replace("200", "250"))
    for ranks in (1, 2):
        call("batch", "job.toml", ranks=ranks)
        for number, stem in enumerate("abc"):
            same(values(f"s/{stem}/z_%03d.tif"), noise((3 + number, 20, 30)) + np.uint16(number))
    call("batch", "job.toml")
    times = {path: path.stat().st_mtime_ns for path in pathlib.Path("s").glob("?/*.tif")}
    os.remove("s/b/z_001.tif")
    for words in ((), ("--set", "output.overwrite=true")):  # what is left may be another program's
        assert "s/b/z_%03d.tif" in call("batch", "job.toml", *words, code=4).stderr
    for path in pathlib.Path("s/b").iterdir():
        path.unlink()
    call("batch", "job.toml")
    same(values("s/b/z_%03d.tif"), noise((4, 20, 30)) + np.uint16(1))
    assert all(path.stat().st_mtime_ns == time for path, time in times.items() if path.parent.name != "b")


FAULTS = ["pwrite:kill@3:.partial.shard", "pwrite:torn@6:.partial.shard", "create:kill@4:.partial/", "pwrite:torn@5:.partial/",
          "rename:kill@1:.partial", "rename:kill@2:.publishing/", "rename:kill@6:.publishing/", "rename:kill@1:.journal/record"]
REPLACED = ["unlink:kill@1:s/x_", "unlink:kill@4:s/x_", "rename:kill@1:.replacing"]


def killed(fault, *words):
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault, "FAULT_LOG": os.path.abspath("fault.log")}
    call(*words, code=-signal.SIGKILL, env=environment)


@pytest.mark.quick
@pytest.mark.parametrize("pattern", ["s/x_*.tif", "s/x_*.tif deflate", "s/x_%03d.png"])
def test_killed(pattern):
    """A run that is killed at any call is resumed by any ranks to the same bytes, and never looks complete."""
    pattern, _, compression = pattern.partition(" ")
    write_input(noise((6, 700, 400)), element_size_um=[2.5, 0.5, 0.325])
    write_job("convolve", pattern, TAPS)
    commit = ("--set", "run.chunk_rows=350", "--set", "run.commit_seconds=0")
    if compression:
        commit += ("--set", f'output.compression="{compression}"')
    call("job.toml", *commit)
    whole = slices(pattern)
    assert len(whole) == 6
    for is_there, (number, fault) in itertools.product((False, True), enumerate(FAULTS + REPLACED)):
        if is_there:
            write_input(noise((8, 700, 400)), element_size_um=[2.5, 0.5, 0.325])
            call("job.toml", *commit)
            write_input(noise((6, 700, 400)), element_size_um=[2.5, 0.5, 0.325])
        elif fault in REPLACED:
            continue
        else:
            for path in pathlib.Path("s").iterdir():
                path.unlink()
        killed(fault, "job.toml", *commit)
        left = {path.name for path in pathlib.Path("s").iterdir()}
        assert any(".journal" in name for name in left), fault
        assert attempt("verify", pattern).returncode != 0 or is_there, fault
        call("job.toml", *commit, ranks=1 + number % 3)
        assert slices(pattern) == whole, fault
        call("verify", pattern)
        assert "complete already" in call("job.toml", *commit, *KEPT).stderr


@pytest.mark.quick
def test_convert_killed():
    """Half of the slices have their names: the next command gives the others theirs."""
    write_input(noise((6, 70, 40)))
    for again in (("s/x_*.tif", "--overwrite"), ("s/x_*.tif",)):
        killed("rename:kill@3:.publishing/", "convert", "in.h5:/x", "s/x_*.tif", *again[1:])
        assert attempt("convert", "in.h5:/x", *again).returncode == (0 if len(again) > 1 else 4)
        assert len(slices()) == 6
        same(values("s/x_*.tif"), noise((6, 70, 40)))
        if len(again) > 1:
            for path in pathlib.Path("s").iterdir():
                path.unlink()


@pytest.mark.quick
@pytest.mark.parametrize("fault", ["unlink:kill@1:s/x_0", "unlink:kill@1:s/x_3", "rename:kill@1:.replacing"])
@pytest.mark.parametrize("verb", ["job", "convert"])
def test_files_of_others_since_a_kill(verb, fault):
    """A run that was killed while it replaced slices is completed, and removes nothing that has come since."""
    write_input(noise((6, 70, 40)))
    write_job("rescale", "s/x_*.tif", AS_IT_IS)
    words = ("job.toml",) if verb == "job" else ("convert", "in.h5:/x", "s/x_*.tif", "--overwrite")
    call(*words)
    whole = slices()
    write_input(noise((5, 70, 40)) + 1)
    killed(fault, *words)
    assert os.path.isdir("s/x_*.tif.replacing") and os.path.isfile("s/x_*.tif.replaced")
    for name in ("x_5.tif", "x_07.tif"):  # one had been a slice
        path = pathlib.Path("s", name)
        path.write_text("mine")
        os.utime(path, ns=(10**18, 10**18))
        assert str(path) in call(*words, code=4).stderr
        assert path.read_text() == "mine"
        path.unlink()
    call(*words)
    assert list(slices()) == list(whole)[:5]
    same(values("s/x_*.tif"), noise((5, 70, 40)) + 1)


@pytest.mark.share(0.3)
@pytest.mark.quick
@pytest.mark.parametrize("pattern", ["s/x_*.tif", "s/x_*.tif zstd", "s/x_%03d.png"])
def test_damaged_and_repaired(pattern):
    pattern, _, compression = pattern.partition(" ")
    write_input(noise((6, 70, 40)))
    write_job("convolve", pattern, TAPS)
    packed = ("--set", f'output.compression="{compression}"') if compression else ()
    call("job.toml", *packed, "--set", "run.chunk_rows=16")
    whole = slices(pattern)
    name = sorted(whole)[2]
    for change in ("cut", "remove", "add", "head"):
        path = pathlib.Path("s", name)
        other = path
        if change == "cut":
            path.write_bytes(whole[name][:-3])
        elif change == "remove":
            path.unlink()
        elif change == "add":
            other = path.with_name(name.replace("2", "9"))
            other.write_bytes(whole[name])
        else:
            path.write_bytes(bytes([whole[name][0] ^ 1]) + whole[name][1:])
        assert attempt("verify", pattern).returncode in (3, 7), change
        other.unlink(missing_ok=True)
        path.write_bytes(whole[name])
        call("verify", pattern)
    for name in (sorted(whole)[1], sorted(whole)[4]):
        data = whole[name]
        pathlib.Path("s", name).write_bytes(data[:100] + bytes(each ^ 255 for each in data[100:120]) + data[120:])
    assert attempt("verify", pattern).returncode == 7
    call("repair", pattern)
    assert slices(pattern) == whole
    call("verify", pattern)
    assert "complete already" in call("job.toml", *packed, *KEPT).stderr
