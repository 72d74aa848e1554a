"""Runs whole jobs that match and denoise.

Lists are compared with numpy's byte for byte, means with float64; and every way to run a job, whole
or in parts, must make the same bytes.
"""
import json
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

import denoise_rule as rule
from faulty_runs import kill_midway, start_held
from harness import Runs, generator, programs
from transpose_runs import write_input

LISTS = ["index", "distance", "count"]


def toml(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (tuple, list)):
        return str(list(value))
    return str(value)


def write_job(kind, keys, run="", output=""):
    lines = "\n".join(f"{key} = {toml(value)}" for key, value in keys.items())
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\n'
        f'overwrite = true\nsync = false\n{output}\n[run]\n{run}\n[{kind}]\n{lines}\n')


def stored(names):
    with h5py.File("out.h5") as file:
        return [file[name][...] for name in names]


def same(a, b):
    return all(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
               for x, y in zip(a, b))


def make(runs, what, names, ranks=1, *options):
    """The datasets, or nothing where the run failed, which is a failure."""
    done = runs.call(ranks, *options)
    runs.check(done.returncode == 0, f"{what}: exit {done.returncode}\n{done.stderr}")
    return stored(names) if done.returncode == 0 else None


def values(random, shape, dtype, levels):
    """So few levels that many distances are equal; or, with 0, any."""
    if levels:
        return random.integers(0, levels, shape).astype(dtype)
    if np.dtype(dtype).kind == "f":
        return random.normal(0, 100, shape).astype(dtype)
    return random.integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)


def match_cases():
    """(shape, type, levels, keys, [run], ranks)"""
    small = {"patch": (3, 3, 3), "window": (5, 5, 5), "count": 7}
    image = {"patch": (1, 3, 3), "window": (1, 7, 7)}
    yield (7, 9, 11), "float32", 0, small, "", 1
    yield (7, 9, 11), "uint8", 2, {**small, "order": "descending"}, "chunk_rows = 9", 3
    yield (13, 8, 17), "uint8", 3, {**small, "step": 3}, "chunk_rows = 16\nlanes = 1", 4
    yield (11, 7, 13), "uint16", 0, {**small, "step": 4, "patch": (2, 3, 1)}, "chunk_rows = 1", 2
    yield (1, 19, 23), "float32", 0, {**image, "order": "descending"}, "", 2
    yield (1, 8, 9), "uint8", 2, {**image, "selection": "serial", "count": 64}, "", 1
    yield (3, 3, 3), "float32", 0, {**small, "window": (11, 11, 11)}, "", 2
    yield (4, 5, 3), "uint8", 2, {**small, "patch": (1, 1, 1), "window": (3, 3, 3)}, "", 4
    yield (1, 1, 1), "float32", 0, {"patch": (1, 1, 1), "count": 2}, "", 1
    yield (5, 13, 7), "float32", 3, {**small, "threshold": 0.5}, "chunk_rows = 13", 2
    yield (5, 6, 7), "float32", 3, {**small, "threshold": 0}, "", 1
    yield (9, 10, 11), "uint8", 4, {**small, "selection": "min_and_swap"}, "chunk_rows = 20", 2
    yield (8, 9, 10), "float32", 0, {**small, "patch": (5, 5, 5), "count": 33}, "", 1
    yield (6, 6, 6), "float32", 1, {**small, "window": (11, 3, 7), "step": 2}, "", 3


@pytest.fixture(name="runs")
def make_runs():
    return Runs()


@pytest.mark.share(0.5)
@pytest.mark.parametrize("case", [pytest.param(case, id=", ".join(map(str, case))) for case in match_cases()])
def test_match(runs, case):
    shape, dtype, levels, keys, run, ranks = case
    volume = values(generator(case), shape, dtype, levels)
    write_input(volume)
    write_job("match", keys, run)
    made = make(runs, "match", LISTS, ranks)
    wanted = {k: v for k, v in keys.items() if k != "selection"}
    right = rule.match(volume, **{"count": 16, **wanted})
    runs.check(made is None or same(made, right), "other bytes")


def near(runs, what, made, right, values_range, tolerance=1e-5):
    worst = np.abs(made.astype("f8") - right).max()
    runs.check(worst <= tolerance * values_range, f"{what}: {worst} off")


# Data of a fixed seed: what has a tolerance might pass it with others.
def test_denoise(runs):
    """Against float64; types, an image, steps, and what makes a constant or counts."""
    random = np.random.default_rng(6)
    keys = {"patch": (3, 3, 3), "window": (5, 5, 5), "count": 6, "strength": 0.8}
    cases = [((7, 8, 9), "float32", {**keys, "sigma": 80.0}, "", 1),
             ((6, 9, 8), "uint8", {**keys, "sigma": 40.0, "step": 3}, "", 2),
             ((1, 15, 17), "uint16",
              {**keys, "patch": (1, 3, 3), "window": (1, 5, 5), "sigma": 20000.0, "step": 2},
              'dtype = "uint16"', 1)]
    for shape, dtype, used, output, ranks in cases:
        volume = values(random, shape, dtype, 0)
        write_input(volume)
        write_job("denoise", used, "chunk_rows = 1", output)
        made = make(runs, f"denoise {shape} {dtype}", ["a"], ranks)
        if made is not None:
            right = rule.nlm(volume.astype("f8"), **used)
            spread = float(volume.max()) - float(volume.min())
            whole = made[0].dtype.kind == "u"
            near(runs, f"denoise {shape} {dtype}", made[0], np.rint(right) if whole else right,
                 spread, (1 if whole else 0) / spread + 1e-5)
    counts = random.poisson(30, (5, 9, 11)).astype("uint16")
    write_input(counts)
    write_job("denoise", {**keys, "stabilise": "anscombe"}, "chunk_rows = 18")
    made = make(runs, "counts", ["a"], 2)
    if made is not None:
        inside = rule.anscombe(counts).astype("f4").astype("f8")
        near(runs, "counts", made[0], rule.counts_of(rule.nlm(inside, 1.0, **keys)), 40, 1e-4)


def test_whole_windows(runs):
    """count = "all" against float64: types, an image, counts, and a window beyond the volume."""
    random = np.random.default_rng(8)
    keys = {"patch": (3, 3, 3), "window": (5, 5, 5), "strength": 0.8}
    cases = [((9, 8, 21), "float32", {**keys, "sigma": 80.0}, "", 2),
             ((6, 9, 8), "uint8", {**keys, "sigma": 40.0, "patch": (2, 1, 4)}, "", 3),
             ((5, 6, 7), "float32", {"patch": (3, 3, 3), "sigma": 60.0}, "", 1),
             ((1, 15, 37), "uint16", {**keys, "patch": (1, 5, 5), "window": (1, 9, 9), "sigma": 20000.0},
              'dtype = "uint16"', 1)]
    for shape, dtype, used, output, ranks in cases:
        volume = values(random, shape, dtype, 0)
        write_input(volume)
        write_job("denoise", {**used, "count": "all"}, "chunk_rows = 1", output)
        made = make(runs, f"whole windows {shape} {dtype}", ["a"], ranks)
        if made is not None:
            right = rule.window_means(volume, **used)
            spread = float(volume.max()) - float(volume.min())
            whole = made[0].dtype.kind == "u"
            near(runs, f"whole windows {shape} {dtype}", made[0], np.rint(right) if whole else right,
                 spread, (1 if whole else 0) / spread + 1e-5)
    counts = random.poisson(30, (5, 9, 11)).astype("uint16")
    write_input(counts)
    write_job("denoise", {**keys, "count": "all", "stabilise": "anscombe"}, "chunk_rows = 18")
    made = make(runs, "whole windows of counts", ["a"], 2)
    if made is not None:
        inside = rule.anscombe(counts).astype("f4")
        near(runs, "whole windows of counts", made[0], rule.counts_of(rule.window_means(inside, 1.0, **keys)),
             40, 1e-4)


def test_bm4d(runs):
    """BM4D against float64: types, an image, small groups, counts. No coefficient of whole numbers
    is 2.7 times these sigmas, where rounding would decide."""
    random = np.random.default_rng(7)
    keys = {"method": "bm4d", "window": (5, 5, 5), "count": 8}
    image = {**keys, "patch": (1, 4, 4), "window": (1, 9, 9), "count": 20}
    cases = [((11, 9, 10), "float32", {**keys, "sigma": 40.0}, "", 2),
             ((13, 8, 7), "uint8", {**keys, "sigma": 29.7, "patch": (2, 3, 4), "step": 2}, "", 3),
             ((9, 11, 8), "float32", {**keys, "sigma": 70.0, "threshold": 16000.0}, "", 1),
             ((1, 23, 19), "uint16", {**image, "sigma": 8999.3}, 'dtype = "uint16"', 1)]
    for shape, dtype, used, output, ranks in cases:
        volume = values(random, shape, dtype, 0)
        write_input(volume)
        write_job("denoise", used, "chunk_rows = 1", output)
        made = make(runs, f"bm4d {shape} {dtype}", ["a"], ranks)
        if made is not None:
            right = rule.bm4d(volume, **{k: v for k, v in used.items() if k != "method"})
            spread = float(volume.max()) - float(volume.min())
            whole = made[0].dtype.kind == "u"
            right = np.clip(np.rint(right), 0, 65535) if whole else right
            near(runs, f"bm4d {shape} {dtype}", made[0], right, spread,
                 (1 if whole else 0) / spread + 1e-5)
    counts = random.poisson(30, (7, 9, 11)).astype("uint16")
    write_input(counts)
    write_job("denoise", {**keys, "stabilise": "anscombe"}, "chunk_rows = 18")
    made = make(runs, "bm4d of counts", ["a"], 2)
    if made is not None:
        right = rule.bm4d(rule.anscombe(counts), 1.0, window=(5, 5, 5), count=8)
        near(runs, "bm4d of counts", made[0], rule.counts_of(right), 40, 1e-4)


KEYS = {"window": (7, 7, 7), "step": 2, "count": 8}
WHOLE = {"window": (5, 5, 5), "count": "all"}
FILTERING = {"method": "bm4d", "window": (5, 5, 5), "count": 8}
PACKED = 'chunk = [1, 16, 40]\ncompression = "deflate"'


@pytest.mark.long
@pytest.mark.parametrize("kind, keys, names, output", [("denoise", KEYS, ["a"], PACKED), ("match", KEYS, LISTS, ""),
                                                       ("denoise", FILTERING, ["a"], ""),
                                                       ("denoise", WHOLE, ["a"], PACKED)],
                         ids=["nlm", "match", "bm4d", "all"])
def test_all_alike(runs, kind, keys, names, output):
    """One volume larger than what is allowed to be there at once, by every way: the same bytes."""
    volume = (generator("alike").normal(0, 20, (37, 61, 67)) + 100).astype("float32")
    volume[:, 20:40, 20:40] += 80
    write_input(volume)
    first = None
    for run, ranks in [("", 1), ("chunk_rows = 61\nlanes = 3", 4), ('chunk_rows = 100\nhost_memory = "48MiB"', 3),
                       ("lanes = 1", 2)]:
        write_job(kind, keys, run, output if ranks == 2 else "")
        made = make(runs, f"{kind} by {run}, {ranks} ranks", names, ranks)
        first = made if first is None else first
        runs.check(made is None or same(made, first), f"{kind} by {run}, {ranks} ranks: bytes")
    interrupted(runs, kind, keys, names, first)
    verified(runs, kind, names)


def interrupted(runs, kind, keys, names, right):
    """Killed, stopped, resumed in other chunks by other ranks."""
    write_job(kind, keys, "chunk_rows = 61\nlanes = 1\ncommit_seconds = 0")
    pathlib.Path("out.h5").unlink(missing_ok=True)
    killed = kill_midway(start_held(runs.command(2), programs.runner, "pwrite",
                                    "8:out.h5.partial>=4096"))
    runs.check(killed, f"{kind}: done before it was killed")
    pathlib.Path("STOP").touch()
    done = runs.call(2)
    runs.check(done.returncode == 75, f"STOP: {done.returncode}, {done.stderr}")
    pathlib.Path("STOP").unlink()
    write_job(kind, keys, "chunk_rows = 122")
    made = make(runs, f"{kind}, resumed", names, 3, "--resume", "require")
    runs.check(made is None or same(made, right), f"{kind}, resumed: other bytes")
    left = [p.name for p in pathlib.Path().iterdir() if p.name.startswith("out.h5.")]
    runs.check(left in [[], ["out.h5.lock"]], f"left behind: {left}")


def verified(runs, kind, names):
    def verb(*words):
        return subprocess.run([programs.runner, *words], capture_output=True, text=True)

    good = pathlib.Path("out.h5").read_bytes()
    done = verb("verify", "out.h5")
    runs.check(done.returncode == 0, f"verify {kind}: {done.stdout}{done.stderr}")
    with h5py.File("out.h5", "r+") as file:
        file[names[-1]][file[names[-1]].shape[0] // 2] += 1
    runs.check(verb("verify", "out.h5", "--recompute", "0").returncode == 7,
               f"verify {kind}: a wrong element")
    done = verb("repair", "out.h5")
    runs.check(done.returncode == 0 and pathlib.Path("out.h5").read_bytes() == good,
               f"repair {kind}: {done.stdout}{done.stderr}")


def psnr(a, b, peak):
    return 20 * np.log10(peak / np.sqrt(np.mean((a.astype("f8") - b) ** 2)))


def test_noise_is_found_and_lowered(runs):
    random = np.random.default_rng(6)

    def generate(*words):
        done = subprocess.run([programs.runner, "generate", *words, "--shape", "24,48,48",
                               "--overwrite"], capture_output=True, text=True)
        runs.check(done.returncode == 0, f"generate {words}: {done.stderr}")

    generate("phantom", "clean.h5", "--dtype", "float32", "--dataset", "/a")
    with h5py.File("clean.h5") as file:
        clean = file["a"][...]
    noisy = (clean + random.normal(0, 0.05, clean.shape)).astype("float32")
    write_input(noisy)
    write_job("denoise", {"window": (7, 7, 7), "strength": 1.0}, "chunk_rows = 240")
    made = make(runs, "phantom", ["a"], 2)
    if made is not None:
        gain = psnr(made[0], clean, 1) - psnr(noisy, clean, 1)
        runs.check(gain > 6, f"phantom: {gain} dB")
    write_job("denoise", {"window": (7, 7, 7), "method": "bm4d"}, "chunk_rows = 240")
    better = make(runs, "phantom by bm4d", ["a"])
    if made is not None and better is not None:
        more = psnr(better[0], clean, 1) - psnr(made[0], clean, 1)
        runs.check(more > 1, f"phantom by bm4d: {more} dB more than by nlm")
    ramp = np.add.outer(np.add.outer(np.arange(30), np.arange(40)), np.arange(51)) * 0.3
    write_input((ramp + random.normal(0, 7, ramp.shape)).astype("float32"))
    write_job("denoise", {"window": (1, 1, 1), "count": 1}, "chunk_rows = 40")
    if make(runs, "a ramp", ["a"], 3) is not None:
        with h5py.File("out.h5") as file:
            sigma = file.attrs["sigma"]
        runs.check(abs(sigma / 7 - 1) < 0.05, f"sigma is estimated as {sigma}, and is 7")
    generate("xray", "in.h5", "--dtype", "uint16", "--dataset", "/a", "--counts", "200", "--seed",
             "3")
    with h5py.File("in.h5") as file:
        counts = file["a"][...]
    write_job("denoise", {"window": (7, 7, 7), "strength": 1.0, "stabilise": "anscombe"})
    made = make(runs, "xray", ["a"])
    if made is not None:
        right = 200 * np.exp(-clean.astype("f8"))
        gain = psnr(made[0], right, 200) - psnr(counts, right, 200)
        runs.check(gain > 6, f"xray: {gain} dB")


def test_flat(runs):
    for value in [0, 7.5]:
        write_input(np.full((5, 6, 7), value, "float32"))
        for keys in [{"method": "nlm"}, {"method": "bm4d"}, {"count": "all"}]:
            write_job("denoise", {"window": (3, 3, 3), **keys})
            made = make(runs, f"all {value} by {keys}", ["a"])
            runs.check(made is None or np.all(made[0] == value),
                       f"all {value} by {keys}: something else")


def test_refusals(runs):
    def refuse(what, code, words, kind="match", keys=None, output=""):
        write_job(kind, {"window": (3, 3, 3), **(keys or {})}, 'resume = "never"', output)
        done = runs.call()
        runs.check(done.returncode == code and all(word in done.stderr for word in words)
                   and done.stderr.count("runner: error") == 1,
                   f"{what}: exit {done.returncode}, {done.stderr}")

    volume = np.zeros((5, 6, 7), "float32")
    write_input(volume)
    refuse("an even window", 2, ["match.window", "odd"], keys={"window": (3, 4, 3)})
    refuse("a window of 2^32", 2, ["match.window", "2^32"], keys={"window": (2047, 2049, 1025)})
    refuse("a large patch", 2, ["match.patch", "8"], keys={"patch": (3, 9, 3)})
    refuse("two extents", 2, ["match.patch", "three"], keys={"patch": (3, 3)})
    refuse("count 65", 2, ["match.count", "64"], keys={"count": 65})
    refuse("step 0", 2, ["match.step"], keys={"step": 0})
    refuse("threshold < 0", 2, ["match.threshold"], keys={"threshold": -1.0})
    refuse("threshold nan", 2, ["match.threshold"], keys={"threshold": float("nan")})
    refuse("no such selection", 2, ["match.selection", "fast"], keys={"selection": "faster"})
    refuse("a patch that does not fit", 2, ["match.patch", "larger"], keys={"patch": (6, 3, 3)})
    refuse("chunks", 2, ["output.chunk"], output="chunk = [4, 4]")
    refuse("a type", 2, ["output.dtype"], output='dtype = "float32"')
    refuse("a step beyond the patch", 2, ["denoise.step", "patch"], "denoise", {"step": 4})
    refuse("no such method", 2, ["denoise.method", "bm4d"], "denoise", {"method": "bm3d"})
    refuse("a strength of bm4d", 2, ["denoise.strength", "sigma"], "denoise",
           {"method": "bm4d", "strength": 1.0})
    refuse("a large group", 2, ["denoise.count", "write 8"], "denoise",
           {"method": "bm4d", "patch": (8, 8, 5), "count": 16})
    refuse("a step beyond bm4d's patch", 2, ["denoise.step", "patch"], "denoise",
           {"method": "bm4d", "step": 5})
    refuse("a step of whole windows", 2, ["denoise.step", "every candidate"], "denoise",
           {"count": "all", "step": 2})
    refuse("sigma < 0", 2, ["denoise.sigma"], "denoise", {"sigma": -1.0})
    refuse("sigma in words", 2, ["denoise.sigma", "auto"], "denoise", {"sigma": "much"})
    refuse("another type", 2, ["output.dtype", "float32"], "denoise", output='dtype = "uint8"')
    volume[3, 4, 5] = np.nan
    write_input(volume)
    for kind in ["match", "denoise"]:
        refuse(f"{kind}: a NaN", 3, ["voxel [3, 4, 5]", "nan"], kind)
    write_input(np.zeros((4, 6), "float32"))
    refuse("an image with a deep patch", 2, ["match.patch", "image"], keys={"patch": (3, 3, 3)})
    refuse("an image by bm4d's cubes", 2, ["denoise.patch", "image"], "denoise",
           {"method": "bm4d", "patch": (4, 4, 4)})
    write_input(np.zeros((4, 6, 5), "int32"))
    refuse("int32", 3, ["int32"])
    write_input(np.zeros((2, 4, 6, 5), "float32"))
    refuse("four axes", 3, ["axes"])


def test_what_a_survey_finds_is_told_last(runs):
    """It begins before the output is looked at, whose failure comes first. A value that is none ends
    the run all the same, on whichever rank, and the report has the time of a survey."""
    pathlib.Path("out.h5").unlink(missing_ok=True)
    volume = np.random.default_rng(3).normal(5, 1, (6, 8, 9)).astype("float32")
    write_input(volume)
    write_job("denoise", {"window": (3, 3, 3)}, 'resume = "never"')
    done = runs.call(2, "--report", "report.json")
    report = json.loads(pathlib.Path("report.json").read_text()) if done.returncode == 0 else {}
    runs.check(report.get("survey_seconds", 0) > 0, f"no time of a survey: {done.stderr}")
    volume[5, 4, 3] = np.inf
    write_input(volume)
    for ranks in [1, 2]:
        pathlib.Path("out.h5").unlink(missing_ok=True)
        done = runs.call(ranks)
        runs.check(done.returncode == 3 and "voxel [5, 4, 3]" in done.stderr
                   and done.stderr.count("runner: error") == 1,
                   f"{ranks} ranks, infinite: exit {done.returncode}, {done.stderr}")
        pathlib.Path("out.h5").write_text("not ours")
        done = runs.call(ranks, "--set", "output.overwrite=false")
        runs.check(done.returncode == 4 and "out.h5" in done.stderr and "voxel" not in done.stderr
                   and done.stderr.count("runner: error") == 1,
                   f"{ranks} ranks, an output in the way: exit {done.returncode}, {done.stderr}")
        pathlib.Path("out.h5").unlink()
