"""runner try.

What a run on a part makes must be, to the byte, what the whole job makes there, wherever the page
says so; a sweep must make what single jobs with --set make; and nothing else may be touched.
"""
import json
import os
import pathlib
import re
import resource
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD, wait_until
from harness import call, programs

SHAPE = (40, 150, 170)
DENOISE = "[denoise]\nmethod = '{}'\nsigma = 9.0\nwindow = [3, 5, 5]\npatch = [3, 3, 3]\ncount = 4\n"


def write_input(name="in.h5", shape=SHAPE, dtype="uint8"):
    y = np.add.outer(np.arange(shape[-2]), np.arange(shape[-1]))
    noise = np.random.default_rng(5).integers(0, 40, shape)
    with h5py.File(name, "w") as file:
        file["/data"] = (y // 2 + noise).astype(dtype)


def write_job(tables, name="job.toml", source="in.h5", more="", output=""):
    kind = "" if tables.startswith("[[step]]") else 'kind = "' + re.match(r"\[(\w+)\]", tables)[1] + '"\n'
    pathlib.Path(name).write_text(
        f'{kind}[input]\nfile = "{source}"\ndataset = "/data"\n{more}\n'
        f'[output]\nfile = "out.h5"\nsync = false\n{output}\n[run]\nbackend = "cpu"\n{tables}')


def array(name, dataset="/data"):
    with h5py.File(name, "r") as file:
        return file[dataset][()]


def box(text):
    return tuple(slice(*map(int, pair.split(":"))) for pair in text.split(", "))


def claim_of(done):
    """The part, and the elements that the page claims, or None."""
    part = re.search(r"^Part \[(.*?)\] of", done.stdout, re.M)[1]
    exact = re.search(r"^Input elements \[(.*?)\] become what the whole job makes", done.stdout, re.M)
    return box(part), exact and box(exact[1])


def claimed_equal(done, whole, kept, factors):
    """Compares the kept output with the whole one's, and returns how many elements were claimed."""
    part, exact = claim_of(done)
    assert exact is not None, done.stdout
    in_whole = tuple(slice(e.start // f, e.stop // f) for e, f in zip(exact, factors))
    in_part = tuple(slice((e.start - p.start) // f, (e.stop - p.start) // f)
                    for e, p, f in zip(exact, part, factors))
    expected, found = whole[in_whole], kept[in_part]
    assert expected.shape == found.shape and expected.size > 0, (expected.shape, found.shape)
    assert expected.tobytes() == found.tobytes(), f"differs in {np.argwhere(expected != found)[:3]}"
    return expected.size


CASES = [
    # tables, --part, factors
    ("[convolve]\nrow_taps = { gaussian = { sigma = 1.5 } }\ncolumn_taps = [0.2, 0.2, 0.2, 0.2, 0.2]\n",
     "20:21,30:110,40:120", (1, 1, 1)),
    ("[convolve]\nrow_taps = [0.5, 0.5, 0.0]\ncolumn_taps = [0.5, 0.5, 0.0]\n"
     "depth_taps = [0.1, 0.2, 0.4, 0.2, 0.1]\nboundary = 'wrap'\n", ":20,:90,:", (1, 1, 1)),
    ("[median]\nsize = [3, 5, 7]\n", "3:9,10:60,20:80", (1, 1, 1)),
    ("[stripes]\nsize = 9\n", "3:9,:,20:80", (1, 1, 1)),
    ("[stripes]\nmethod = 'all'\nsize = 9\n", "3:9,:,:", (1, 1, 1)),
    ("[phase]\nenergy = 25\ndistance = 0.5\npixel_size = 2\ndelta_beta = 150\n", "3:9,:,:", (1, 1, 1)),
    ("[bin]\nfactors = [2, 3, 5]\n", "4:13,9:100,15:170", (2, 3, 5)),
    ("[rescale]\nfrom = [0, 255]\n", "1:3,5:6,7:9", (1, 1, 1)),
    (DENOISE.format("nlm"), "4:20,30:80,50:100", (1, 1, 1)),
    (DENOISE.format("bm4d") + "step = 3\n", "9:39,30:90,48:120", (1, 1, 1)),
    ("[[step]]\nkind = 'median'\nsize = [3, 3]\n[[step]]\nkind = 'bin'\nfactors = [2, 2]\n"
     "[[step]]\nname = 'smooth'\nkind = 'convolve'\nrow_taps = [0.25, 0.5, 0.25]\n"
     "column_taps = [0.25, 0.5, 0.25]\nsave = 'smooth.h5'\n"
     "[[step]]\nkind = 'rescale'\nfrom = [0, 200]\ndtype = 'uint16'\n", "7:9,40:120,20:120", (1, 2, 2)),
]


@pytest.mark.parametrize("tables, part, factors", CASES, ids=[
    "convolve", "convolve, wrapped", "median", "stripes", "all stripes", "phase", "bin", "rescale", "nlm", "bm4d", "pipeline"])
def test_parts_are_those_of_the_whole(tables, part, factors):
    write_input()
    write_job(tables)
    call("job.toml")
    before = pathlib.Path("out.h5").read_bytes()
    done = call("try", "job.toml", "--part", part, "--keep")
    claimed_equal(done, array("out.h5"), array("out.try/part-1.h5"), factors)
    assert pathlib.Path("out.h5").read_bytes() == before, "the job's output was touched"


def test_a_cut_does_show_beyond_the_claim():
    """The claim is needed: right outside of it elements differ from the whole job's."""
    write_input()
    write_job(CASES[0][0])
    call("job.toml")
    part, exact = claim_of(call("try", "job.toml", "--part", "20:21,30:110,40:120", "--keep"))
    whole, found = array("out.h5")[part], array("out.try/part-1.h5")
    assert exact == (slice(20, 21), slice(32, 108), slice(46, 114)), exact
    assert (whole != found).any()


def test_the_chosen_part():
    write_input(shape=(6, 700, 800))
    write_job("[convolve]\nrow_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.25, 0.5, 0.25]\n")
    call("job.toml")
    names = {path.name for path in pathlib.Path().iterdir()}
    for choice in ("central", "first"):
        done = call("try", "job.toml", "--part", choice, "--keep", "--out", choice, "--seconds", "0.01s",
                    "--backend", "cpu")
        claimed_equal(done, array("out.h5"), array(f"{choice}/part-1.h5"), (1, 1, 1))
        assert sorted(path.name for path in pathlib.Path(choice).iterdir()) == \
            ["after.png", "before.png", "index.html", "part-1.h5"]
    assert {path.name for path in pathlib.Path().iterdir()} == names | {"central", "first"}
    page = pathlib.Path("central/index.html").read_text()
    assert re.findall('<img class="(.*?)"', page) == ["before", "after", "difference"]
    assert "runner job.toml --backend cpu" in page
    plan = json.loads(call("plan", "job.toml", "--json").stdout)
    assert plan["memory_per_rank"]["host_bytes"] > 0
    assert re.search(r"whole job: about .*, bound by (read|compute|hash|write); .* of host memory", done.stdout)


def test_a_part_of_a_part():
    """input.region and input.frames of the job file stay what the part is taken from."""
    write_input()
    tables = "[median]\nsize = [5, 5]\n"
    for folder, more in (("a", 'region = { rows = "20:140", columns = "10:", depth = "5:30" }'),
                         ("b", 'frames = "3:33:2"\nregion = { rows = "20:140" }')):
        write_job(tables, more=more)
        call("job.toml", "--set", "output.overwrite=true")
        done = call("try", "job.toml", "--part", "4:7,10:90,30:110", "--keep", "--out", folder)
        claimed_equal(done, array("out.h5"), array(f"{folder}/part-1.h5"), (1, 1, 1))


def test_storage_of_the_output():
    write_input()
    write_job("[rescale]\nfrom = [0, 255]\n",
              output='chunk = [8, 150, 170]\ncompression = "deflate"\nparts = 2')
    call("job.toml")
    done = call("try", "job.toml", "--part", "3:6,:,20:90", "--keep")
    claimed_equal(done, array("out.h5"), array("out.try/part-1.h5"), (1, 1, 1))
    with h5py.File("out.try/part-1.h5") as file:
        assert file["/data"].chunks == (3, 150, 70)


def test_sweeps_are_single_jobs():
    write_input()
    write_job("[[step]]\nname = 'smooth'\nkind = 'convolve'\nrow_taps = [1.0]\ncolumn_taps = [1.0]\n"
              "[[step]]\nname = 'clean'\nkind = 'median'\nsize = [3, 3]\n"
              "[sweep]\nstep.smooth.row_taps = [[1.0], [0.25, 0.5, 0.25]]\n"
              "step.clean.difference = [0, 20, 40]\n")
    done = call("try", "job.toml", "--part", "10:14,20:100,30:110", "--keep")
    lines = re.findall(r"^runner job.toml (.*)$", done.stdout, re.M)
    assert len(lines) == 6, done.stdout
    region = '{ depth = "10:14", rows = "20:100", columns = "30:110" }'
    for number, line in enumerate(lines, 1):
        settings = re.findall(r"--set '?([^' ]+(?: [^']*)?)'?(?= --set|$)", line)
        assert len(settings) == 2, line
        name = f"single-{number}.h5"
        call("job.toml", *(word for one in settings for word in ("--set", one)),
             "--set", f'output.file="{name}"', "--set", f"input.region={region}")
        assert array(name).tobytes() == array(f"out.try/part-{number}.h5").tobytes(), line
    assert len({array(f"single-{number}.h5").tobytes() for number in range(1, 7)}) == 6
    page = pathlib.Path("out.try/index.html").read_text()
    assert re.findall('<img class="(.*?)"', page) == ["before"] + 6 * ["after", "difference"]
    assert "--columns: 3" in page
    assert not pathlib.Path("out.h5").exists()


def test_sweep_of_the_command_line():
    write_input()
    write_job(DENOISE.format("nlm"))
    done = call("try", "job.toml", "--sweep", "denoise.strength=0.4,0.8", "--seconds", "0.01s")
    assert re.findall(r"^runner job.toml --set (.*)$", done.stdout, re.M) == \
        ["denoise.strength=0.4", "denoise.strength=0.8"], done.stdout
    assert "after-2.png" in {path.name for path in pathlib.Path("out.try").iterdir()}


def test_a_run_ignores_a_sweep():
    write_input()
    write_job("[median]\nsize = [3, 3]\n")
    call("job.toml")
    plain = array("out.h5")
    write_job("[median]\nsize = [3, 3]\n[sweep]\nmedian.size = [[1, 1], [5, 5]]\n")
    assert "is complete already" in call("job.toml").stderr
    call("job.toml", "--set", "output.overwrite=true")
    assert array("out.h5").tobytes() == plain.tobytes()
    call("verify", "out.h5")


def test_values_of_the_whole_input_are_said():
    write_input(dtype="uint8")
    for tables in ("[rescale]\nfrom = 'extremes'\n", DENOISE.format("nlm").replace("sigma = 9.0", "sigma = 'auto'")):
        write_job(tables)
        done = call("try", "job.toml", "--part", "4:20,30:80,50:100")
        assert claim_of(done)[1] is None and "was taken from the part alone" in done.stdout, done.stdout


def test_all_of_the_input_as_the_part():
    """Its values are those of the whole input then; passes and saved steps keep to their own folder."""
    write_input()
    write_job("[[step]]\nkind = 'median'\nsize = [3, 3]\nsave = 'median.h5'\n"
              "[[step]]\nkind = 'rescale'\nfrom = { percentiles = [1, 99] }\n")
    done = call("try", "job.toml", "--part", ":", "--keep")
    assert sorted(path.name for path in pathlib.Path().iterdir()) == ["in.h5", "job.toml", "out.try"]
    assert "pass 2: " in done.stdout
    call("job.toml")
    assert claimed_equal(done, array("out.h5"), array("out.try/part-1.h5"), (1, 1, 1)) == np.prod(SHAPE)


def test_an_input_that_is_to_be_generated():
    write_job("[median]\nsize = [3, 3]\n", source="made.h5",
              more='generate = { pattern = "gradient", shape = [4, 90, 100], dtype = "uint16" }')
    call("try", "job.toml", "--seconds", "0.01s")
    assert pathlib.Path("made.h5").exists() and pathlib.Path("out.try/index.html").exists()


def test_refusals():
    write_input()
    write_job("[median]\nsize = [3, 3]\n")
    for part in ("1:2:3", "9:9,:,:", ":,:,:,:", "last", ":171"):
        assert "cannot take that part of the input" in call("try", "job.toml", "--part", part, code=2).stderr
    for sweep, why in (("median.size=[3,3],[4,4]", "median.size"), ("median.siz=1,2", "median.siz"),
                       ("run.lanes=1,2", "a sweep is over keys"), ("median=1", "expected table.key"),
                       ("median.fill=" + ",".join(map(str, range(65))), "more than 64 pictures")):
        done = call("try", "job.toml", "--sweep", sweep, code=2)
        assert why in done.stderr and done.stderr.count("runner: error") == 1, done.stderr
    assert "one process" in call("try", "job.toml", ranks=2, code=6).stderr
    left = sorted(path.name for path in pathlib.Path().iterdir())
    assert left == ["in.h5", "job.toml"], left
    pathlib.Path("out.try").write_text("mine")
    assert "cannot make the folder" in call("try", "job.toml", code=4).stderr
    assert pathlib.Path("out.try").read_text() == "mine"


def test_nothing_is_left_of_a_part_that_fails():
    write_input()
    with h5py.File("in.h5", "a") as file:
        del file["/data"]
        data = np.random.default_rng(1).random(SHAPE).astype("float32")
        data[SHAPE[0] // 2, SHAPE[1] // 2, SHAPE[2] // 2] = np.nan
        file["/data"] = data
    write_job(DENOISE.format("nlm"))
    done = call("try", "job.toml", "--seconds", "0.01s", code=3)
    assert done.stderr.count("runner: error") == 1 and done.stdout == "", done.stderr
    assert not [path for path in pathlib.Path().iterdir() if path.name.startswith(".")]
    assert not pathlib.Path("out.try/index.html").exists()


def left_folders():
    return [path.name for path in pathlib.Path().iterdir() if ".try-" in path.name]


def try_with(fault="", descriptors=None):
    """Its exit code, where calls on the work folder fail, or few descriptors are left."""
    def limit():
        if descriptors is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    done = subprocess.run(
        [programs.runner, "try", "job.toml", "--part", "0:2,:,:"], check=False, timeout=GUARD, capture_output=True,
        text=True, preexec_fn=limit, env={**os.environ, "LD_PRELOAD": programs.fault_shim if fault else "",
                                          "FAULT": fault and fault + ":.try-"})
    assert done.returncode == 0 or done.stderr.count("runner: error") == 1, done.stderr
    return done.returncode


@pytest.mark.faults
@pytest.mark.parametrize("error", ["open:EMFILE", "open,unlink:EIO"])
def test_nothing_is_left_whatever_fails(error):
    """One call fails, of the try itself and of its run on a part; those that remove are among them."""
    write_input(shape=(4, 60, 60))
    write_job("[median]\nsize = [3, 3]\n")
    for number in range(1, 20):
        code = try_with(f"{error}@{number}")
        assert not left_folders() and (number > 1 or code == 4), (number, code)


@pytest.mark.faults
def test_what_cannot_be_removed_is_removed_next_time():
    write_input(shape=(4, 60, 60))
    write_job("[median]\nsize = [3, 3]\n")
    was_left = False
    for number in range(1, 16):
        assert try_with(f"open,unlink:EIO@{number}+") != 0
        was_left = was_left or left_folders()
        assert try_with() == 0 and not left_folders(), number
    assert was_left


def test_nothing_is_left_where_descriptors_run_out():
    write_input(shape=(4, 60, 60))
    write_job("[median]\nsize = [3, 3]\n")
    codes = [try_with(descriptors=most) for most in range(7, 20) if not left_folders()]
    assert not left_folders() and codes[0] != 0 and codes[-1] == 0, codes


def test_a_signal_ends_it():
    write_input(shape=(60, 200, 200))
    write_job(DENOISE.format("nlm").replace("[3, 5, 5]", "[11, 11, 11]"))
    process = subprocess.Popen([programs.runner, "try", "job.toml", "--part", ":,:,:"], stderr=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    wait_until(lambda: process.poll() is not None or list(pathlib.Path().glob(".out.try-*/*.partial")),
               "a part's output")
    process.terminate()
    out, errors = process.communicate(timeout=GUARD)
    assert (process.returncode, out) == (75, "") and "nothing is kept" in errors, (process.returncode, errors)
    left = sorted(path.name for path in pathlib.Path().iterdir())
    assert left == ["in.h5", "job.toml"], left


@pytest.mark.parametrize("source", ["in.h5", "in.raw"])
def test_an_input_of_100_gib(source):
    """A part of a sparse file of 101.6 GiB, in little memory."""
    shape = (13000, 2048, 2048)
    if source == "in.h5":
        with h5py.File(source, "w") as file:
            file.create_dataset("/data", shape, "uint16")[-1, -1, -1] = 1
    else:
        with open(source, "wb") as file:
            file.truncate(2 * int(np.prod(shape)))
    raw = f"raw = {{ shape = {list(shape)}, dtype = 'uint16' }}\n"
    write_job("[median]\nsize = [3, 3, 3]\n", source=source, more=raw if source == "in.raw" else "")
    child = subprocess.Popen([programs.runner, "try", "job.toml", "--seconds", "0.2s"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    text, messages = child.stdout.read(), child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)  # of it and of the runs that it waits for
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0 and " of [13000, 2048, 2048]: " in text, text + messages
    assert used.ru_maxrss <= 512 * 1024, f"{used.ru_maxrss} KiB"
    assert os.stat(source).st_blocks * 512 < 2**20
