"""runner try of jobs whose results have other axes than their input, and of every job in jobs/.

What a run on a part makes must be, to the byte, what the whole job makes of the elements that the page names.
"""
import pathlib
import re

import h5py
import numpy as np
import pytest

from harness import bad, call, programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "jobs").glob("*.toml"))
SHAPE = (24, 90, 130)


def write_input(shape=SHAPE, dtype="uint16", name="in.h5", dataset="/data"):
    pathlib.Path(name).parent.mkdir(exist_ok=True)
    with h5py.File(name, "w") as file:
        file[dataset] = np.random.default_rng(7).integers(0, 250, shape).astype(dtype)


def write_job(tables, more=""):
    kind = "" if tables.startswith("[[step]]") else 'kind = "' + re.match(r"\[(\w+)\]", tables)[1] + '"\n'
    pathlib.Path("job.toml").write_text(
        f'{kind}[input]\nfile = "in.h5"\ndataset = "/data"\n{more}\n[output]\nfile = "out.h5"\nsync = false\n'
        f'[run]\nbackend = "cpu"\n{tables}')


def array(name, dataset="/data"):
    with h5py.File(name) as file:
        return file[dataset][()]


def boxes(text):
    """The part, and the elements of it that the page claims."""
    found = (re.search(pattern, text, re.M)[1] for pattern in
             (r"^Part \[(.*?)\] of", r"^Input elements \[(.*?)\] become what the whole job makes"))
    return [[tuple(map(int, pair.split(":"))) for pair in each.split(", ")] for each in found]


STITCH = "[[step]]\nkind = 'stitch'\noverlap = 9\nside = 'right'\n"
SINOGRAMS = "[[step]]\nkind = 'transpose'\npermutation = [1, 0, 2]\n"
CASES = {
    # tables, --part, and the input's axis of each axis of the output (None: all of it)
    "transpose": ("[transpose]\npermutation = [2, 0, 1]\n", "4:20,30:80,50:100", (2, 0, 1)),
    "swap": ("[transpose]\npermutation = [0, 2, 1]\n", "4:20,30:80,50:100", (0, 2, 1)),
    "sinograms": ("[[step]]\nkind = 'median'\nsize = [3, 5, 7]\n" + SINOGRAMS + "[[step]]\nkind = 'stripes'\nsize = 5\n"
                  "[[step]]\nkind = 'convolve'\nrow_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [1]\n", ":,30:60,40:90",
                  (1, 0, 2)),
    "mean of frames": ("[reduce]\noperation = 'mean'\nover = ['z']\n", ":,30:60,40:90", (1, 2)),
    "of each frame": ("[[step]]\nkind = 'median'\nsize = [3, 3, 3]\n[[step]]\nkind = 'reduce'\noperation = 'max'\n"
                      "over = ['y', 'x']\n", "3:20,:,:", (0,)),
    "histogram": ("[reduce]\noperation = 'histogram'\nover = ['x']\nbins = 8\nfrom = [0, 250]\n", "3:20,30:60,:",
                  (0, 1, None)),
    "of all": ("[reduce]\noperation = 'sum'\nover = ['z', 'y', 'x']\n", ":,:,:", (None,)),
    "stitch": ("[stitch]\noverlap = 9\nside = 'left'\n", ":,30:60,:", (None, 1, None)),
    "stitch of sinograms": ("[stitch]\noverlap = 8\nside = 'right'\norder = 'sinograms'\n", "5:9,:,:", (0, None, None)),
    "scan": ("[[step]]\nkind = 'convolve'\nrow_taps = [0.5, 0.5, 0]\ncolumn_taps = [0.25, 0.5, 0.25]\n" + STITCH +
             SINOGRAMS + "[[step]]\nkind = 'stripes'\nsize = 5\n", ":,30:60,:", (1, None, None)),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_are_those_of_the_whole(name):
    tables, part, axes = CASES[name]
    write_input()
    write_job(tables)
    call("job.toml")
    done = call("try", "job.toml", "--part", part, "--keep")
    taken, exact = boxes(done.stdout)
    in_whole = tuple(slice(None) if axis is None else slice(*exact[axis]) for axis in axes)
    in_part = tuple(slice(None) if axis is None else slice(*(end - taken[axis][0] for end in exact[axis]))
                    for axis in axes)
    expected, found = array("out.h5")[in_whole], array("out.try/part-1.h5")[in_part]
    assert expected.shape == found.shape and expected.size > 0, (expected.shape, found.shape)
    assert expected.tobytes() == found.tobytes(), f"differs at {np.argwhere(expected != found)[:3]}"
    for axis in {0, 1, 2} - set(axes):  # joined by the job, so that no part may have less of it
        cut = ",".join("1:" if at == axis else ":" for at in range(3))
        assert f"axis {axis} of the input cannot be cut" in call("try", "job.toml", "--part", cut, code=2).stderr


def test_the_chosen_part_and_its_pictures():
    """Of sinograms, the pictures after are slices along the input's rows; before is a projection."""
    write_input((24, 200, 300))
    write_job(SINOGRAMS + "[[step]]\nname = 'rings'\nkind = 'stripes'\nsize = 5\n")
    done = call("try", "job.toml", "--seconds", "0.01s", "--at", "120")
    assert re.search(r"^The pictures show input elements \[0:24, 120:121, \d+:\d+\], before and after each",
                     done.stdout, re.M), done.stdout
    page = pathlib.Path("out.try/index.html").read_text()
    assert re.findall('<img class="(.*?)"', page) == ["before", "after"] and 'data-place="own"' in page
    # A sweep of a step behind the transposition reads sinograms too.
    done = call("try", "job.toml", "--seconds", "0.01s", "--sweep", "step.rings.size=3,9", "--slices", "2")
    page = pathlib.Path("out.try/index.html").read_text()
    assert re.findall('<img class="(.*?)"', page).count("difference") == 4 and 'data-place="one"' in page
    done = call("try", "job.toml", "--sweep", "step.1.permutation=[1,0,2],[0,1,2]", code=2)
    assert "cannot show these values beside each other" in done.stderr


def test_overlaps_of_a_half_acquisition():
    write_input()
    write_job("[stitch]\noverlap = 9\nside = 'left'\n")
    done = call("try", "job.toml", "--sweep", "stitch.overlap=5,9,30", "--part", ":,30:80,:", "--keep")
    assert re.findall(r"^runner job.toml --set (.*)$", done.stdout, re.M) == [f"stitch.overlap={n}" for n in (5, 9, 30)]
    for number, overlap in enumerate((5, 9, 30), 1):
        assert array(f"out.try/part-{number}.h5").shape == (12, 50, 2 * 130 - overlap)
    assert "no slices of the input" not in done.stdout
    assert "cannot show that slice" in call("try", "job.toml", "--at", "3", code=2).stderr


def test_a_state_after_fewer_generations():
    with h5py.File("in.h5", "w") as file:
        file["/data"] = np.random.default_rng(1).integers(0, 3, (2, 90, 130)).astype("uint8")
    write_job("[sand]\ngenerations = 100000\nsnapshot_every = 7\ninput_frame = 1\n")
    done = call("try", "job.toml", "--seconds", "0.05s", "--keep")
    generations = int(re.search(r"Generations: (\d+) of 100000\.", done.stdout)[1])
    assert 0 < generations < 100000 and f"The state after {generations} generation" in done.stdout, done.stdout
    assert "whole job: about " in done.stdout
    call("job.toml", "--set", f"sand.generations={generations}", "--set", "sand.snapshot_every=0")
    expected, found = array("out.h5"), array("out.try/part-1.h5")
    assert expected.shape == (1, 90, 130) and expected.tobytes() == found.tobytes()


def test_the_lists_of_matches():
    write_input((3, 40, 50))
    write_job("[match]\nwindow = [3, 5, 5]\npatch = [1, 3, 3]\ncount = 3\n")
    done = call("try", "job.toml", "--part", "1:3,:,:", "--keep")
    assert "number the patches of the part" in done.stdout and "mean distance of the matches" in done.stdout
    call("job.toml", "--set", 'input.region={ depth = "1:3" }')
    for name in ("index", "distance", "count"):
        assert array("out.h5", name).tobytes() == array("out.try/part-1.h5", name).tobytes(), name


def test_a_part_that_is_too_large():
    """A reduction of all of a sparse file of 15.6 GiB, which no part stands for."""
    with open("in.raw", "wb") as file:
        file.truncate(8 * 20480 * 1024 * 100)
    write_job("[reduce]\noperation = 'max'\nover = ['z']\n",
              more="raw = { shape = [20480, 1024, 100], dtype = 'float64' }")
    pathlib.Path("job.toml").write_text(pathlib.Path("job.toml").read_text().replace("in.h5", "in.raw")
                                        .replace('dataset = "/data"\n', ""))
    bad(2, ["cannot try a part of this job", "it joins whole axes"], "try", "job.toml", "--set",
        "reduce.over=['z', 'y', 'x']")


def test_counts():
    """Elements that median replaces, and those at the ends of the range that rescale makes."""
    write_input((61, 97), "uint8")
    values = array("in.h5")
    write_job("[median]\nsize = [3, 3]\ndifference = 60\n")
    done = call("try", "job.toml", "--part", ":,:", "--keep")
    count = int((array("out.try/part-1.h5") != values).sum())
    assert 0 < count < values.size, count
    assert f"changed {100 * count / values.size:.4g} % ({count})" in done.stdout, done.stdout
    write_job("[rescale]\nfrom = [50, 200]\nto = [10, 240]\n")
    done = call("try", "job.toml", "--part", ":,:", "--out", "rescaled")
    scaled = np.rint((values - 50.0) * (230 / 150) + 10)
    for name, count in (("lower", (scaled <= 10).sum()), ("upper", (scaled >= 240).sum())):
        assert f"at the {name} end {100 * count / values.size:.4g} % ({count})" in done.stdout, done.stdout


SMALLER = {"conv_32k": [300, 400], "conv_64k": [300, 400], "conv_demo": [301, 403], "denoise_xray_512": [24, 40, 40],
           "match_small": [10, 20, 20], "sand_large": [1, 300, 400], "transpose_sinograms": [30, 40, 50],
           "transpose_small": [30, 41, 53]}
INPUTS = {"conv_photo": "photo", "photo_chain": "photo", "denoise_head": "head", "head_chain": "head",
          "tomo_full": "phase_scan", "tomo_prepare": "tomo_scan", "sand_4k": "sample-4"}


def make_input(name):
    """What the comments of the job say, smaller."""
    made = INPUTS.get(name)
    if made == "photo":
        write_input((300, 400), "uint8", "data/photo.h5", "/image")
    elif made == "head":
        write_input((20, 40, 40), "uint8", "data/head.h5", "/head")
    elif made in ("phase_scan", "tomo_scan"):
        call("generate", made.replace("_", "-"), f"data/{made}.h5", "--shape", "48,40,64", "--dtype", "uint16",
             "--counts", "20000", "--seed", "1")


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_every_example(path):
    for folder in ("data", "out"):
        pathlib.Path(folder).mkdir()
    make_input(path.stem)
    sizes = SMALLER.get(path.stem)
    assert sizes or path.stem in INPUTS, "a new example: say here how its input is made"
    settings = ["--set", f"input.generate.shape={sizes}"] if sizes else []
    if path.stem == "sand_4k":
        settings = ["--set", 'input.generate.pattern="sample-1"']
    done = call("try", path, *settings, "--seconds", "0.01s", "--backend", programs.backend)
    assert "whole job: about " in done.stdout, done.stdout
    output = re.search(r"out/(.*?)\.h5", path.read_text())[1]
    assert [each.name for each in pathlib.Path("out").iterdir()] == [output + ".try"]
