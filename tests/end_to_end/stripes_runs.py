"""Stripes removed in pipelines and of inputs that do not fit; what it makes alone is in kind_runs.py."""
import itertools
import pathlib
import re

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, generator, launch, programs
from kind_rules import corrected, medians, reduced
from stripes_rules import by_sorting, of_frames

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write(path, **datasets):
    with h5py.File(path, "w") as file:
        for name, values in datasets.items():
            file[name.replace("__", "/")] = values


def read(path, name="x"):
    with h5py.File(path) as file:
        return file[name][...]


def write_job(tables, name="job.toml", source="in.h5", output="out.h5", kind=None, more=""):
    head = f'kind = "{kind}"\n' if kind else ""
    pathlib.Path(name).write_text(
        f'{head}[input]\nfile = "{source}"\ndataset = "/x"\n{more}\n[output]\nfile = "{output}"\n'
        f'overwrite = true\nsync = false\n[run]\nbackend = "{programs.backend}"\n{tables}')


def run(*settings, ranks=1):
    words = [word for setting in settings for word in ("--set", setting)]
    done = attempt("job.toml", "--quiet", *words, before=launch(ranks))
    assert done.returncode == 0, done.stderr
    call("verify", "out.h5")


def scan(random):
    """An NXtomo scan of 24 projections, 2 darks and 3 flats, of which some columns are wrong."""
    key = np.array([2, 1, *[0] * 12, 1, *[0] * 12, 1, 2])
    frames = random.integers(300, 4000, (key.size, 9, 41)).astype("uint16")
    frames[key == 1] += 4000
    frames[key == 2] //= 20
    frames[:, :, [7, 20, 21]] //= 3
    with h5py.File("scan_12345.nxs", "w") as file:
        for path, kind in (("entry", "NXentry"), ("entry/instrument", "NXinstrument"),
                           ("entry/instrument/detector", "NXdetector"), ("entry/data", "NXdata")):
            file.create_group(path).attrs["NX_class"] = kind
        file.attrs["default"] = "entry"
        file["entry"].attrs["default"] = "data"
        file["entry/data"].attrs["signal"] = "data"
        file["entry/instrument/detector/data"] = frames
        file["entry/instrument/detector/image_key"] = key
        file["entry/data/data"] = h5py.SoftLink("/entry/instrument/detector/data")
    return frames, key


def test_the_job_of_the_page():
    """Corrected, cleaned, transposed and without stripes: every division of the work."""
    frames, key = scan(generator("scan"))
    page = (ROOT / "docs/stripes.md").read_text()
    text, = re.findall(r"```toml\n(\[input\]\n.*?)```", page, re.S)
    pathlib.Path("out").mkdir()
    pathlib.Path("job.toml").write_text(
        text.replace("out/no_rings.h5", "out.h5") + f'overwrite = true\n[run]\nbackend = "{programs.backend}"\n')
    t, _, _ = corrected(frames[key == 0], reduced(frames[key == 2], "mean"), reduced(frames[key == 1], "mean"),
                        floor=1e-6)
    sinograms = medians(t, [3, 3], "reflect", 0, 0.25).swapaxes(0, 1)
    right = of_frames(by_sorting, np.ascontiguousarray(sinograms), 31)
    for ranks, settings in [(1, []), (3, ["run.chunk_rows=5"]), (2, ["run.chunk_rows=60", "run.lanes=2"]),
                            (4, ['run.host_memory="8MiB"'])]:
        run(*settings, ranks=ranks)
        assert read("out.h5", "entry/data/data").tobytes() == right.tobytes(), (ranks, settings)


STEPS = {
    "wrap": ("convolve", 'row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.25, 0.25]\nboundary = "wrap"\n'),
    "deep": ("median", "size = [3, 3, 3]\n"),
    "bin": ("bin", "factors = [2, 1]\n"),
    "stripes": ("stripes", "size = 5\n"),
    "all stripes": ("stripes", 'method = "all"\nsize = 5\nsnr = 1.0\n'),
}


def chains(steps, *own):
    """All chains of three steps of which one or two are among `own`."""
    return [chain for chain in itertools.product(steps, repeat=3) if 0 < sum(map(chain.count, own)) < 3]


def check_chain(chain, steps, values, ways=((1, 1, 1), (3, 24, 2), (2, 100, 3), (5, 31, 1))):
    """A pipeline of the steps, a kind and its keys each, has the bytes of the single jobs through files. `ways`:
    ranks, rows of a chunk, lanes."""
    write("in.h5", x=values)
    pathlib.Path("out.h5").write_bytes(pathlib.Path("in.h5").read_bytes())
    for step in chain:
        pathlib.Path("out.h5").rename("between.h5")
        kind, keys = steps[step]
        write_job(f"[{kind}]\n{keys}", source="between.h5", kind=kind)
        run()
    right = read("out.h5")
    write_job("".join(f'[[step]]\nkind = "{steps[step][0]}"\n{steps[step][1]}' for step in chain))
    for ranks, rows, lanes in ways:
        run(f"run.chunk_rows={rows}", f"run.lanes={lanes}", ranks=ranks)
        made = read("out.h5")
        assert made.dtype == right.dtype and made.tobytes() == right.tobytes(), (ranks, rows, lanes)


@pytest.mark.share(0.06)
@pytest.mark.parametrize("chain", chains(STEPS, "stripes", "all stripes"), ids=", ".join)
def test_steps_give_the_bytes_of_single_jobs(chain):
    check_chain(chain, STEPS, generator(chain).normal(0, 100, (7, 24, 19)).astype("float32"))


def test_a_sinogram_larger_than_the_memory_is_refused():
    write("in.h5", x=np.zeros((2, 600, 700), "float32"))
    write_job('[stripes]\n', kind="stripes")
    words = bad(2, ["host_memory"], "job.toml", "--quiet", "--set", 'run.host_memory="4MiB"')
    enough, = re.findall(r'Set run.host_memory = ("[^"]+") or more', words)
    run(f"run.host_memory={enough}")


def test_a_sinogram_larger_than_the_usual_chunk_is_one():
    """A sinogram of 36 MiB is a chunk, where chunk_rows asks for 7 rows."""
    values = generator("large").integers(0, 1000, (2, 4096, 2304)).astype("int32")
    write("in.h5", x=values)
    write_job('[stripes]\nsize = 3\n', kind="stripes")
    run("run.chunk_rows=7", ranks=2)
    made = read("out.h5")
    assert made[1].tobytes() == by_sorting(values[1], 3).tobytes()


def test_invalid_elements_are_refused():
    values = np.arange(24, dtype="float32").reshape(2, 3, 4)
    write("in.h5", x=values)
    for declared in ('"nan"', "3.0"):
        write_job("[stripes]\n", kind="stripes", more=f"invalid = {declared}")
        bad(2, ["stripes does not take invalid elements", "input.invalid", "fill"], "job.toml", "--quiet")
    write_job('[[step]]\nkind = "fill"\nrest = 0.0\n[[step]]\nkind = "stripes"\nsize = 1\n', more="invalid = 3.0")
    run()
    filled = values.copy()
    filled[0, 0, 3] = 2
    assert read("out.h5").tobytes() == filled.tobytes()


def test_a_file_that_declares_invalid_elements_is_warned_of():
    write("in.h5", x=np.arange(24, dtype="float32").reshape(2, 3, 4))
    with h5py.File("in.h5", "a") as file:
        file["x"].attrs["_FillValue"] = np.float32(7)
    write_job("[stripes]\n", kind="stripes")
    done = attempt("job.toml", "--quiet")
    assert done.returncode == 0 and "_FillValue" in done.stderr, done


def test_projections_are_warned_of():
    """Where the axes say that angles are elsewhere; behind the transposition that the warning names nothing is said."""
    with h5py.File("in.h5", "w") as file:
        file["x"] = np.arange(4 * 5 * 6, dtype="uint16").reshape(4, 5, 6)
        file["x"].attrs["DIMENSION_LABELS"] = ["rotation_angle", "y", "x"]
    write_job("[stripes]\n", kind="stripes")
    said = call("job.toml", "--quiet").stderr
    assert "stripes takes another axis for the angles" in said and "permutation = [1, 0, 2]" in said, said
    write_job("[[step]]\nkind = \"transpose\"\npermutation = [1, 0, 2]\n[[step]]\nkind = \"stripes\"\n")
    assert call("job.toml", "--quiet").stderr == ""
    with h5py.File("in.h5", "a") as file:
        file["x"].attrs["DIMENSION_LABELS"] = ["", "y", "x"]
    write_job("[stripes]\n", kind="stripes")
    assert "another axis" not in call("job.toml", "--quiet").stderr
