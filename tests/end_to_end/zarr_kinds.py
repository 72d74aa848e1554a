"""Every kind writes Zarr: elements as in HDF5, levels as numpy makes them, the same bytes on one to four ranks and after a kill."""
import os
import pathlib
import shutil
import signal

import h5py
import numpy as np
import pytest

from harness import call, generator, programs
from zarr_levels import group_of, one_nan, reduced
from zarr_outputs import content, read_array, same

SHAPE = (6, 37, 53)
KINDS = {
    "bin": "factors = [2, 3]", "convolve": "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.5, 0.0]",
    "correct": "dark = 1.0\nflat = 300.0", "denoise": "patch = [3, 3, 3]\nwindow = [3, 5, 5]\nsigma = 3.0",
    "fill": 'method = "nearest"\nreach = [3, 3]', "median": "size = [3, 3, 3]",
    "phase": "energy = 25\ndistance = 0.5\npixel_size = 2\ndelta_beta = 150", "reduce": 'operation = "mean"\nover = ["z"]',
    "reduce to counts": 'operation = "histogram"\nover = ["x"]\nfrom = [0, 1000]\nbins = 11', "rescale": "from = [0, 1000]",
    "sand": "generations = 5\nsnapshot_every = 1", "stitch": 'overlap = 7\nside = "right"', "stripes": "size = 5",
    "transpose": "permutation = [1, 2, 0]",
}
LAYOUT = "chunk = [{chunk}]\nshard = [{shard}]\nlevels = 3\ndownsample = \"{how}\"\n"


def write_input(kind):
    array = generator("zarr", kind).integers(2, 1000, SHAPE).astype("uint16")
    if kind == "sand":
        array = np.random.default_rng(programs.seed).integers(0, 4, SHAPE[1:]).astype("uint8")
    with h5py.File("in.h5", "w") as file:
        file["x"] = array
        if array.ndim == 3:
            file["x"].attrs["DIMENSION_LABELS"] = ["z", "y", "x"]
    return array


def write_job(kind, output, keys=""):
    name = kind.split()[0]
    pathlib.Path("job.toml").write_text(
        f'kind = "{name}"\n[input]\nfile = "in.h5"\ndataset = "/x"\n' + ("invalid = 7\n" if name == "fill" else "") +
        f'[output]\nfile = "{output}"\nsync = false\n{keys}\n[run]\nbackend = "cpu"\n[{name}]\n{KINDS[kind]}\n')


def elements_of(name):
    with h5py.File(name) as file:
        data = file["frames" if "frames" in file else "x"]
        return (data["frames"] if isinstance(data, h5py.Group) else data)[...]


def layout_of(shape, how):
    """Chunks of odd extents, and shards of two or three of them along each axis."""
    chunk = [1 if extent < 8 else 2 + extent // 7 for extent in shape]
    return LAYOUT.format(chunk=", ".join(map(str, chunk)), how=how,
                         shard=", ".join(str(extent * (2 + axis % 2)) for axis, extent in enumerate(chunk)))


def check(folder, wanted, how):
    """Every level, of the factors that the scales of the group say."""
    datasets = group_of(folder)["datasets"]
    assert len(datasets) == 3
    whole = np.array(datasets[0]["coordinateTransformations"][0]["scale"])
    for one in datasets:
        factors = np.rint(np.array(one["coordinateTransformations"][0]["scale"]) / whole).astype(int)
        made = wanted if one["path"] == "0" else reduced(wanted, factors, how)
        found = read_array(pathlib.Path(folder, one["path"]))[0]
        same(found if one["path"] == "0" else one_nan(found), made)


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("kind", KINDS)
def test_kind(kind):
    write_input(kind)
    write_job(kind, "wanted.h5")
    call("job.toml", "--quiet")
    wanted = elements_of("wanted.h5")
    how = ["mean", "median", "max", "nearest", "mode"][generator("how", kind).integers(5)]
    write_job(kind, "out.zarr", layout_of(wanted.shape, how).split("levels")[0])
    call("job.toml", "--quiet", ranks=3)
    same(read_array("out.zarr")[0], wanted)
    call("verify", "out.zarr", "--recompute", "2")
    write_job(kind, "out.ome.zarr", layout_of(wanted.shape, how))
    made = []
    for ranks, rows in ((1, 5), (2, 3), (3, 100), (4, 1)):
        shutil.rmtree("out.ome.zarr", ignore_errors=True)
        call("job.toml", "--quiet", "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.append(content("out.ome.zarr"))
        assert made[-1] == made[0], ranks
    check("out.ome.zarr", wanted, how)
    call("verify", "out.ome.zarr", "--recompute", "2")


@pytest.mark.share(0.3)
@pytest.mark.parametrize("kind", KINDS)
def test_killed(kind):
    """A run that is killed as it stores a file is resumed on other ranks to the same bytes."""
    write_input(kind)
    write_job(kind, "wanted.h5")
    call("job.toml", "--quiet")
    write_job(kind, "out.ome.zarr", layout_of(elements_of("wanted.h5").shape, "median"))
    call("job.toml", "--quiet")
    whole = content("out.ome.zarr")
    for ranks, fault in ((3, "pwrite:kill@1:partial.shard"), (4, "pwrite:torn@2:partial/0/c"), (2, "pwrite:kill@1:partial/1/c")):
        shutil.rmtree("out.ome.zarr")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault, "FAULT_LOG": os.path.abspath("fault.log")}
        commit = ("--set", "run.chunk_rows=7", "--set", "run.commit_seconds=0")
        call("job.toml", "--quiet", *commit, code=-signal.SIGKILL, env=environment)
        assert not os.path.exists("out.ome.zarr")
        call("job.toml", "--quiet", *commit, ranks=ranks)
        assert content("out.ome.zarr") == whole, fault
        assert sorted(path.name for path in pathlib.Path().glob("out.ome.zarr*")) == ["out.ome.zarr"]


@pytest.mark.quick
def test_pipeline():
    """The last step of several, in two passes, and a step that is saved beside it."""
    array = write_input("median")
    steps = ('[[step]]\nkind = "median"\nsize = [3, 3]\n[[step]]\nkind = "transpose"\npermutation = [1, 0, 2]\n'
             '[[step]]\nkind = "bin"\nfactors = [1, 2]\n')
    for output, keys in (("wanted.h5", ""), ("out.ome.zarr", layout_of((37, 6, 26), "max"))):
        pathlib.Path("job.toml").write_text(f'[input]\nfile = "in.h5"\ndataset = "/x"\n[output]\nfile = "{output}"\n{keys}\n'
                                            f'[run]\nbackend = "cpu"\n{steps}')
        call("job.toml", "--quiet", ranks=2)
    wanted = elements_of("wanted.h5")
    assert wanted.shape == (37, 6, 26) and array.shape == SHAPE
    check("out.ome.zarr", wanted, "max")
    call("verify", "out.ome.zarr", "--recompute", "2")


@pytest.mark.quick
@pytest.mark.parametrize("output", ["out.zarr", "out.ome.zarr"])
def test_match_has_several_datasets(output):
    """A store holds one array: the message says so, and nothing is left."""
    write_input("median")
    pathlib.Path("job.toml").write_text(
        f'kind = "match"\n[input]\nfile = "in.h5"\ndataset = "/x"\n[output]\nfile = "{output}"\n[run]\nbackend = "cpu"\n'
        "[match]\npatch = [3, 3, 3]\nwindow = [3, 5, 5]\n")
    assert ".h5" in call("job.toml", code=2).stderr
    assert not list(pathlib.Path().glob("out*"))
