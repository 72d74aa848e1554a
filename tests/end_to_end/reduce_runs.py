"""Reductions in pipelines, of described, invalid and stored data, and as a command; what they make alone is in
kind_runs.py."""
import json
import pathlib
import re

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, generator, launch, programs
from kind_rules import medians
from reduce_rules import reduced
from stripes_runs import check_chain, read, run, write, write_job

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAN = ("plan", "job.toml", "--device-memory", "8GiB")


def volume(*shape, dtype="uint16"):
    return generator(str(shape)).integers(0, 1000, shape).astype(dtype)


def keys(operation, over, more=""):
    return f'operation = "{operation}"\nover = {over}\n{more}'


def write_reduce(operation, over, more=""):
    write_job("[reduce]\n" + keys(operation, over), kind="reduce", more=more)


def test_the_jobs_of_the_page():
    page = (ROOT / "docs/reduce.md").read_text()
    first, second = re.findall(r"```toml\n(.*?)```", page, re.S)
    pathlib.Path("data").mkdir()
    pathlib.Path("out").mkdir()
    values = volume(12, 20, 17)
    for name, path, text, right in [
            ("data/volume.h5", "volume", first, values.max(0)),
            ("data/scan.h5", "image", second, reduced(medians(values, [3, 3], "reflect", 0, None), (1, 2), "mean"))]:
        write(name, **{path: values})
        pathlib.Path("job.toml").write_text(text)
        call("job.toml", "--quiet", "--backend", programs.backend)
        made = read(re.search(r'file = "(out/.*)"', text)[1], path)
        assert made.dtype == right.dtype and (made == right).all()
    call("reduce", "data/volume.h5:/volume", "out.h5", "--operation", "max", "--over", "z", "--quiet")
    assert (read("out.h5", "volume") == values.max(0)).all()
    call("reduce", "data/volume.h5:/volume", "out.h5", "--operation", "sum", "--over", "z,x", "--quiet", "--overwrite")
    assert (read("out.h5", "volume") == values.sum((0, 2))).all()


STEPS = {
    "blur": ("convolve", 'row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.25, 0.25]\nboundary = "wrap"\n'),
    "deep": ("median", "size = [3, 3, 3]\n"),
    "turn": ("transpose", "permutation = [1, 0, 2]\n"),
    "frames": ("reduce", keys("mean", '["y", "x"]')),
    "along z": ("reduce", keys("max", '["z"]')),
    "lines": ("reduce", keys("median", '["x"]')),
    "counts": ("reduce", keys("histogram", '["y", "x"]', "bins = 5\nfrom = [0, 1000]\n")),
    "scaled": ("rescale", "from = [0, 1000]\nto = [0.0, 1.0]\n"),
}


@pytest.mark.share(0.2)
@pytest.mark.parametrize("chain", [
    ("blur", "frames"), ("deep", "frames"), ("turn", "frames"), ("blur", "along z"), ("deep", "along z"),
    ("turn", "along z"), ("along z", "blur"), ("lines", "blur"), ("blur", "lines", "blur"), ("deep", "counts"),
    ("frames", "scaled"), ("along z", "lines"), ("blur", "turn", "lines")], ids=", ".join)
def test_steps_give_the_bytes_of_single_jobs(chain):
    check_chain(chain, STEPS, volume(9, 21, 16), [(1, 9, 2), (3, 2, 4), (2, 50, 1)])


def test_stored_chunks_are_read_across():
    """Chunks of several z and lines, in parts and compressed, by several ranks with little memory."""
    values = volume(37, 40, 50)
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(8, 16, 50), compression="gzip", shuffle=True)
    for over, axes in (('["z"]', (0,)), ('["y", "x"]', (1, 2))):
        write_reduce("mean", over)
        right = reduced(values, axes, "mean")
        for ranks, settings in [(1, ["run.chunk_rows=7"]), (3, ['run.host_memory="5MiB"'])]:
            run(*settings, ranks=ranks)
            assert read("out.h5").tobytes() == right.tobytes(), (over, ranks)
    write_reduce("mean", '["z"]')
    settings = ("--set", "run.chunk_rows=37", "--set", "run.lanes=1", "--host-memory")
    least, = re.findall(r'Set run.host_memory = "([^"]+)" or more', call(*PLAN, *settings, "1KiB", code=2).stderr)
    much, little = (json.loads(call(*PLAN, "--json", *settings, memory).stdout)["reading"] for memory in ("64MiB", least))
    assert much["amplification"] == pytest.approx(40 * 48 / (37 * 40))  # chunks reach beyond the array
    assert little["amplification"] > 3


def test_what_does_not_fit_is_refused():
    write("in.h5", x=np.ones((2, 900, 700), "float32"))
    write_reduce("median", '["y", "x"]')
    words = bad(2, ["host_memory"], "job.toml", "--quiet", "--set", 'run.host_memory="4MiB"')
    enough, = re.findall(r'Set run.host_memory = ("[^"]+") or more', words)
    run(f"run.host_memory={enough}")
    assert (read("out.h5") == 1).all()
    found = json.loads(call(*PLAN, "--json").stdout)["memory_per_rank"]["host_bytes"]
    assert found > 2 * 900 * 700 * 4  # a frame, and its scratch memory


def test_the_description_loses_the_reduced_axes():
    values = volume(4, 9, 8)
    write("in.h5", x=values)
    more = 'axes = "zyx"\nspacing = { z = 3.0, y = 2.0, x = 0.5, unit = "um" }'
    for over, text in [('["z"]', "y 2 um, x 0.5 um"), ('["y"]', "z 3 um, x 0.5 um"), ('["x", "y"]', "z 3 um")]:
        write_reduce("mean", over, more)
        run()
        assert f"axes {text}" in call("inspect", "out.h5:/x").stdout.replace("axes: ", "axes "), over
    write_reduce("histogram", '["y", "x"]\nbins = 8\nfrom = [0, 1000]', more)
    run()
    call("reduce", "out.h5:/x", "all.h5", "--operation", "sum", "--over", "z", "--quiet")
    assert (read("all.h5") == np.histogram(values, 8, (0, 1000))[0]).all()
    write_reduce("max", '["t"]', 'axes = "tyx"')
    run()
    assert (read("out.h5") == values.max(0)).all()
    plan = call(*PLAN).stdout
    assert "t: reduced" in plan, plan


def test_angles_of_reduced_frames_are_left_out():
    values = volume(5, 6, 7)
    with h5py.File("in.h5", "w") as file:
        for path, name in (("entry", "NXentry"), ("entry/data", "NXdata")):
            file.create_group(path).attrs["NX_class"] = name
        file["entry/data"].attrs.update({"signal": "x", "axes": ["rotation_angle", ".", "column"]})
        file["entry/data/x"] = values
        file["entry/data/rotation_angle"] = np.arange(5.0)
        file["entry/data/column"] = np.arange(7.0)
    for over, there in [('["frame"]', {"column"}), ('["rotation_angle"]', {"column"}),
                        ('["y"]', {"rotation_angle", "column"}), ('"frame"', {"rotation_angle"})]:
        pathlib.Path("job.toml").write_text(
            'kind = "reduce"\n[input]\nfile = "in.h5"\ndataset = "/entry/data/x"\n[output]\nfile = "out.h5"\n'
            "overwrite = true\n[reduce]\n" + keys("mean", over))
        call("job.toml", "--quiet")
        with h5py.File("out.h5") as file:
            assert set(file["entry/data"]) == there | {"x"}, over


@pytest.mark.parametrize("dtype, invalid", [("float32", '"nan"'), ("uint16", "0")])
def test_invalid_elements_are_left_out(dtype, invalid):
    values = volume(8, 9, 10, dtype=dtype)
    gone = generator("gone").random(values.shape) < 0.3
    gone[0] = False  # each place has a valid element but one
    gone[:, 4, 5] = True
    values[values == 0] = 1
    values[gone] = np.nan if dtype == "float32" else 0
    valid = np.ma.array(values.astype("f8"), mask=gone)
    write("in.h5", x=values)
    for operation, right in [("mean", valid.mean(0)), ("std", valid.std(0)), ("max", valid.max(0)),
                             ("sum", valid.sum(0))]:
        write_reduce(operation, '["z"]', f"invalid = {invalid}")
        run(ranks=2)
        made = read("out.h5")
        assert right.mask.sum() == 1 and right.mask[4, 5]
        assert np.isnan(made[4, 5]) if made.dtype.kind == "f" else made[4, 5] == 0, operation
        assert np.allclose(made[~right.mask], right[~right.mask], rtol=1e-6), operation


def test_colour_is_kept():
    values = volume(4, 6, 7, 3, dtype="uint8")
    write("in.h5", x=values)
    for over, axes in (('["z"]', (0,)), ('"frame"', (1, 2)), ('["s"]', (3,))):
        write_reduce("mean", over, "colour = true")
        run(ranks=2)
        assert read("out.h5").tobytes() == reduced(values, axes, "mean").tobytes(), over


def test_wrong_rows_are_repaired():
    """Results of lines that are read in another order than they are stored."""
    values = volume(20, 300, 40)
    write("in.h5", x=values)
    write_reduce("median", '["z"]')
    run("run.chunk_rows=200", ranks=2)
    right = read("out.h5")
    assert (right == reduced(values, (0,), "median")).all()
    with h5py.File("out.h5", "r+") as file:
        file["x"][17, 3] += 1
    assert attempt("verify", "out.h5").returncode != 0
    call("repair", "out.h5")
    assert (read("out.h5") == right).all()


def test_batches():
    values = {name: volume(3, 8, n) for name, n in (("a", 7), ("b", 9))}
    for name, each in values.items():
        write(f"{name}.h5", x=each)
    pathlib.Path("job.toml").write_text(
        'kind = "reduce"\n[batch]\ninputs = ["a.h5", "b.h5"]\noutput = "{stem}_max.h5"\n[input]\ndataset = "/x"\n'
        "[output]\n[reduce]\n" + keys("max", '["z"]'))
    done = attempt("batch", "job.toml", "--quiet", before=launch(2))
    assert done.returncode == 0, done.stderr
    for name, each in values.items():
        assert (read(f"{name}_max.h5") == each.max(0)).all()


def test_a_frame_or_an_axis_of_that_name():
    write("in.h5", x=volume(3, 4, 5))
    write_reduce("max", '"frame"')
    with h5py.File("in.h5", "r+") as file:
        for axis, name in enumerate(["frame", "y", "x"]):
            file["x"].dims[axis].label = name
    bad(2, ["not clear", '["frame"]', '["y", "x"]'], "job.toml", "--quiet")
    run('reduce.over=["frame"]')
    assert read("out.h5").shape == (4, 5)
