"""Runs whole jobs of the kind sand and compares every byte.

What is right comes from sand_rule.py. Every run of the same job must give those bytes: for any
number of ranks, halo depth, chunk rows, lanes and storage, whole or in parts.
"""
import functools
import json
import os
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

import sand_rule
from events import GUARD
from faulty_runs import kill_held, start_held, with_fault
from harness import Runs, generator, programs

MIXES = {"noise": [0.25, 0.25, 0.25, 0.25], "scene": [0.6, 0.15, 0.22, 0.03],
         "wet": [0.5, 0.45, 0.05, 0.0]}


class Scene:
    """A start state and the generations after it."""

    def __init__(self, random, shape, first, generations, mix="noise", seed=0, chances=None):
        self.first, self.generations, self.seed = first, generations, seed
        self.given_chances = chances or {}
        self.start = random.choice(4, shape, p=MIXES[mix]).astype(np.uint8)
        self.states = sand_rule.advance(self.start, first, generations, seed,
                                        {**sand_rule.CHANCES, **self.given_chances})
        self.name = f"{shape} from {first}, {generations} generations, {mix}, seed {seed}"

    def kept(self, every):
        """The generations that a job keeps."""
        last = self.first + self.generations
        return [g for g in range(self.first + 1, last + 1)
                if g == last or (every and g % every == 0)] or [last]

    def state(self, generation):
        return self.start if generation == self.first else \
            self.states[generation - self.first - 1]

    def keys(self, every):
        chances = ", ".join(f"{name} = {value}" for name, value in self.given_chances.items())
        return (f"generations = {self.generations}\nsnapshot_every = {every}\n"
                f"seed = {self.seed}\nstart_generation = {self.first}\n"
                f"chances = {{ {chances} }}\n")


class SandRuns(Runs):
    def command(self, ranks=1, options=(), job="job.toml"):
        return super().command(ranks, ("--set", programs.set, *options), job)

    def expect(self, scene, every, what, job, ranks=1, *options):
        """Runs the job and compares what it wrote."""
        done = self.call(ranks, *options, job=job)
        what = f"{scene.name}, every {every}, {what}, {ranks} ranks"
        if not self.check(done.returncode == 0, f"{what}: exit {done.returncode}\n{done.stderr}"):
            return
        with h5py.File("out.h5") as file:
            frames, numbers = file["frames"][...], file["generation"][...]
            self.check(int(file.attrs["seed"]) == scene.seed, f"{what}: the seed's attribute")
            for name, chance in scene.given_chances.items():
                self.check(file.attrs[name] == chance, f"{what}: the attribute {name}")
        kept = scene.kept(every)
        if not self.check(numbers.tolist() == kept, f"{what}: keeps {numbers} and not {kept}"):
            return
        for frame, generation in zip(frames, kept):
            right = scene.state(generation)
            wrong = np.argwhere(frame != right) if frame.shape == right.shape else None
            if not self.check(wrong is not None and not len(wrong),
                              f"{what}: generation {generation}, {wrong}"):
                return


def write_job(scene, every, run="", output="", sand=""):
    pathlib.Path("job.toml").write_text(
        f'kind = "sand"\n[input]\nfile = "in.h5"\n[output]\nfile = "out.h5"\noverwrite = true\n'
        f'sync = false\n{output}\n[run]\n{run}\n[sand]\n{scene.keys(every)}{sand}\n')
    return "job.toml"


@pytest.fixture(name="runs")
def make_runs():
    return SandRuns()


def write_start(scene):
    with h5py.File("in.h5", "w") as file:
        file["frames"] = scene.start[None]


SCENES = [((1, 1), 0, "noise", 0, None), ((1, 9), 3, "noise", 5, None), ((7, 1), 0, "noise", 0, None),
          ((2, 3), 2**32 - 3, "noise", 7, None), ((3, 130), 1, "wet", 1, None),
          ((67, 129), 2**40 + 2, "scene", 4294967295,
           {"sand_slide": 0.0, "water_fall": 0.3, "water_spread": 1.0}),
          ((128, 64), 0, "scene", 0, {"water_diagonal": 0.25})]
WAYS = [(ranks, f"halo_depth = {depth}", "") for ranks, depth in
        [(1, 1), (2, 1), (2, 3), (3, 8), (4, 5), (5, 1), (5, 64)]]
WAYS += [(2, "chunk_rows = 3\nlanes = 1", ""), (3, "chunk_rows = 1\nlanes = 2", ""),
         (2, "", "chunk = [1, 8, 16]"),
         (3, "", 'chunk = [1, 7, 33]\ncompression = "deflate"'),
         (1, "lanes = 2", 'chunk = [1, 5, 9]\ncompression = "deflate"\nshuffle = true')]


@functools.cache
def scene_of(index):
    shape, first, mix, seed, chances = SCENES[index]
    return Scene(generator("scene", index), shape, first, 23, mix, seed, chances)


@pytest.mark.share(0.1)
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("index", range(len(SCENES)))
def test_way(runs, index, way):
    scene, every = scene_of(index), [0, 1, 5][index % 3]
    write_start(scene)
    ranks, run, output = way
    runs.expect(scene, every, f"{run} {output}".strip(), write_job(scene, every, run, output), ranks)


@pytest.mark.quick
def test_no_generation(runs):
    scene = Scene(generator("none"), (61, 31), 0, 0)
    write_start(scene)
    runs.expect(scene, 3, "", write_job(scene, 3), 2)


def small_limits(ranks, job):
    """The least and a larger limit, in bytes, with which the job keeps its state in host memory,
    and likewise in a scratch file: [(home, the lines of [run])]."""
    limits = {}
    sizes = [int(300 * 1.3**i) for i in range(22)]
    pairs = [(size, None) for size in sizes]
    if programs.backend == "cuda":
        pairs = [(1 << 24, size) for size in sizes] + [(size, size) for size in sizes]
    for host, device in pairs:
        options = ["--host-memory", f"{host}B"]
        options += ["--device-memory", f"{device}B"] if device else []
        done = subprocess.run([programs.runner, "plan", job, "--json", "-n", str(ranks),
                               "--backend", programs.backend, "--set",
                               programs.set, *options], capture_output=True, text=True,
                              timeout=GUARD)
        if done.returncode == 0:
            plan = json.loads(done.stdout)
            home = "disk" if plan["scratch_bytes"] else "host" if plan["sweep_depth"] else "device"
            line = f'host_memory = "{host}B"' + (f'\ndevice_memory = "{device}B"' if device else "")
            limits.setdefault(home, []).append(line)
    return [(home, lines[at]) for home, lines in limits.items() if home != "device"
            for at in sorted({0, len(lines) // 2})]


LIMITED = [((1, 1), 0, 3, 0), ((2, 70), 3, 9, 4), ((7, 1), 1, 9, 0), ((61, 129), 2**32 - 5, 30, 7),
           ((97, 64), 0, 41, 0), ((40, 333), 6, 25, 10), ((131, 40), 2, 70, 64)]


def kept_elsewhere(runs, index, ranks, depth):
    """A state that does not fit passes through in sweeps, with the same bytes. Where it was kept, one
    word for each run."""
    shape, first, generations, every = LIMITED[index]
    scene = Scene(generator("limited", index), shape, first, generations, list(MIXES)[index % 3], index)
    write_start(scene)
    depth_line = f"halo_depth = {depth}\n" if depth else ""
    homes = []
    for home, limits in small_limits(ranks, write_job(scene, every, depth_line)):
        job = write_job(scene, every, depth_line + limits)
        runs.expect(scene, every, f"{home} {depth_line}{limits}", job, ranks, "--report", "report.json")
        report = json.loads(pathlib.Path("report.json").read_text())
        said = {rank["evolution"]["state_home"] for rank in report["ranks"]}
        runs.check(said == {home}, f"{scene.name}: the report says {said} and not {home}")
        homes.append(home)
    return homes


@pytest.mark.long
def test_kept_elsewhere_by_one_rank(runs):
    homes = [home for index in range(len(LIMITED)) for depth in (None, 1 + index)
             for home in kept_elsewhere(runs, index, 1, depth)]
    runs.check(min(homes.count("host"), homes.count("disk")) > 5, f"states were kept in {homes}")


ON_SEVERAL_RANKS = [(index, ranks, depth) for index in range(len(LIMITED))
                    for ranks, depth in [(2, 3), (3, None), (3, 64)]]
if programs.backend == "cpu":
    # For the others a limit leaves room for the state, or not for a band of it.
    ON_SEVERAL_RANKS = [(index, ranks, depth) for index, ranks, depth in ON_SEVERAL_RANKS
                        if index > 2 and depth != 64 or (index, ranks, depth) in [(2, 3, None), (3, 3, 64)]]


@pytest.mark.share(0.5)
@pytest.mark.parametrize("index, ranks, depth", ON_SEVERAL_RANKS)
def test_kept_elsewhere_by_several_ranks(runs, index, ranks, depth):
    homes = kept_elsewhere(runs, index, ranks, depth)
    runs.check(homes or programs.backend == "cuda", "no limit keeps the state elsewhere")


def limits_for(scene, every, run):
    """The lines of [run] with which one rank keeps the state in host memory, and in a file."""
    found = small_limits(1, write_job(scene, every, run))
    return {home: lines for home, lines in found}


@pytest.mark.long
def test_stopped_elsewhere(runs):
    """Sweeps killed at any checkpoint are resumed on other ranks and with other memory; a scratch
    file is never left, and one that does not fit ends the run with one message."""
    random = generator("stopped elsewhere")
    scene = Scene(random, (2, 2), 0, 1)
    with h5py.File("in.h5", "w") as file:
        file["frames"] = random.choice(4, (1, 301, 211), p=MIXES["scene"]).astype(np.uint8)
    scene.generations = 3000
    run = "commit_seconds = 0\nhalo_depth = 8\nchunk_rows = 5\nlanes = 2\n"
    runs.check(runs.call(job=write_job(scene, 700, run)).returncode == 0, "left alone")
    with h5py.File("out.h5") as file:
        right = file["frames"][...].tobytes()
    limits = limits_for(scene, 700, run)
    if not runs.check(set(limits) == {"host", "disk"}, f"the limits are {limits}"):
        return
    for home, then in [("host", "disk"), ("disk", "host"), ("disk", None)]:
        pathlib.Path("out.h5").unlink()
        for ranks in [1, 2]:
            write_job(scene, 700, run + limits[home])
            running = start_held(runs.command(ranks), programs.runner, "mkdir",
                                 "3:out.h5.journal/checkpoint-")
            runs.check(kill_held(running), f"{home}: no third checkpoint of {ranks} ranks")
            names = [p.name for p in pathlib.Path("out.h5.journal").iterdir()]
            runs.check(not any("scratch" in name for name in names), f"{home}: {names}")
        write_job(scene, 700, run + (limits[then] if then else ""))
        done = runs.call(3 if then is None else 1, "--resume", "require", "--set",
                         "run.commit_seconds=10")
        runs.check(done.returncode == 0, f"{home}, then {then}: {done.stderr}")
        with h5py.File("out.h5") as file:
            runs.check(file["frames"][...].tobytes() == right, f"{home}, then {then}: frames differ")
    left = [p.name for p in pathlib.Path().iterdir() if p.name.startswith("out.h5.")]
    runs.check(not left, f"left behind: {left}")
    write_job(scene, 700, run + limits["disk"])
    for fault in ["fallocate:ENOSPC@1:scratch-", "pwrite:ENOSPC@40:scratch-"]:
        command = with_fault(runs.command(), programs.runner, fault)
        done = subprocess.run(command, capture_output=True, text=True, timeout=GUARD)
        said = [line for line in done.stderr.splitlines() if "error" in line]
        runs.check(done.returncode == 4 and len(said) == 1 and "scratch" in said[0]
                   and "No space left" in said[0] and "Free space" in said[0],
                   f"{fault}: exit {done.returncode}, {done.stderr}")
    done = runs.call()
    runs.check(done.returncode == 0, f"after the full disk: {done.stderr}")
    with h5py.File("out.h5") as file:
        runs.check(file["frames"][...].tobytes() == right, "after the full disk: frames differ")


def packed(states):
    """A .sand file of these states."""
    data = b"SAND" + np.array([states[0].shape[1], states[0].shape[0], len(states)], "<i4").tobytes()
    for state in states:
        cells = np.pad(state.ravel(), (0, -state.size % 4)).reshape(-1, 4)
        data += (cells @ np.array([1, 4, 16, 64])).astype(np.uint8).tobytes()
    return data


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (33, 31), (64, 18)], ids=str)
def test_sand_files(runs, shape):
    """From a .sand file, as the published program writes them, into one, by several ranks."""
    scene = Scene(generator(shape), shape, 0, 9, "scene")
    wrong_count = bytearray(packed([scene.start] + scene.states[:2]))
    wrong_count[12] = 1
    pathlib.Path("in.sand").write_bytes(wrong_count)
    job = write_job(scene, 4)
    text = pathlib.Path(job).read_text().replace("in.h5", "in.sand").replace("out.h5", "out.sand")
    pathlib.Path(job).write_text(text.replace("start_generation = 0", ""))
    for ranks in [1, 3]:
        done = runs.call(ranks)
        right = packed([scene.state(g) for g in scene.kept(4)])
        runs.check(done.returncode == 0 and done.stderr.count("runner: warning:") == 1,
                   f".sand {shape}, {ranks} ranks: {done.returncode}, {done.stderr}")
        runs.check(pathlib.Path("out.sand").read_bytes() == right,
                   f".sand {shape}, {ranks} ranks: other bytes")


def test_continues(runs):
    """A run from a stored generation is the run that never stopped, with its seed and chances."""
    random = generator("continues")
    scene = Scene(random, (37, 53), 7, 60, "scene", 99, {"sand_fall": 0.5})
    with h5py.File("in.h5", "w") as file:
        file["frames"] = scene.start[None]
    runs.expect(scene, 10, "continues", write_job(scene, 10))
    os.rename("out.h5", "in.h5")
    later = Scene(random, (2, 2), 40, 27)
    later.name, later.seed, later.given_chances = "continues", 99, {"sand_fall": 0.5}
    later.start, later.states = scene.state(40), scene.states[33:]
    for keys in ["start_generation = 40", "input_frame = 3", "input_frame = -4"]:
        pathlib.Path("job.toml").write_text(
            'kind = "sand"\n[input]\nfile = "in.h5"\n[output]\nfile = "out.h5"\noverwrite = true\n'
            f'[sand]\ngenerations = 27\nsnapshot_every = 10\n{keys}\n')
        runs.expect(later, 10, keys, "job.toml", 2)
    for keys, part in [("start_generation = 41", "from 10 to 67"), ("input_frame = 9", "7 frames"),
                       ("input_frame = 1\nstart_generation = 10", "generation 20")]:
        pathlib.Path("job.toml").write_text(
            'kind = "sand"\n[input]\nfile = "in.h5"\n[output]\nfile = "new.h5"\n'
            f'[sand]\ngenerations = 1\n{keys}\n')
        done = runs.call()
        runs.check(done.returncode == 3 and part in done.stderr and "sand." in done.stderr,
                   f"{keys}: exit {done.returncode}, {done.stderr}")


@pytest.mark.long
def test_stopped_runs(runs):
    """Stopped and killed several times, and resumed on other numbers of ranks: the bytes of
    the run that was left alone."""
    random = generator("stopped")
    with h5py.File("in.h5", "w") as file:
        file["frames"] = random.choice(4, (1, 701, 811), p=MIXES["scene"]).astype(np.uint8)
    scene = Scene(random, (2, 2), 0, 1)
    scene.generations = 20000
    write_job(scene, 3000, "commit_seconds = 0")
    runs.check(runs.call().returncode == 0, "left alone")
    with h5py.File("out.h5") as file:
        right = file["frames"][...].tobytes()
    pathlib.Path("out.h5").unlink()
    pathlib.Path("STOP").touch()
    for ranks in [1, 3]:
        done = runs.call(ranks)
        runs.check(done.returncode == 75 and "of 20000 generations of out.h5" in done.stderr,
                   f"stopped: exit {done.returncode}, {done.stderr}")
    pathlib.Path("STOP").unlink()
    for ranks in [1, 2]:
        command = runs.command(ranks, ["--resume", "require"])
        running = start_held(command, programs.runner, "mkdir", "3:out.h5.journal/checkpoint-")
        runs.check(kill_held(running), f"no third checkpoint of {ranks} ranks")
    # Without a checkpoint ten times a second, each of which waits for the disk.
    done = runs.call(2, "--resume", "require", "--set", "run.commit_seconds=10")
    runs.check(done.returncode == 0, f"resumed: {done.stderr}")
    with h5py.File("out.h5") as file:
        runs.check(file["frames"][...].tobytes() == right, "resumed: the frames differ")
    left = [p.name for p in pathlib.Path().iterdir() if p.name.startswith("out.h5.")]
    runs.check(not left, f"left behind: {left}")


@pytest.mark.quick
def test_wrong_cells(runs):
    """A byte that is no material is named with its frame, row and column."""
    random = generator("wrong")
    start = random.integers(0, 4, (2, 41, 67)).astype(np.uint8)
    start[1, 33, 65] = 4
    with h5py.File("in.h5", "w") as file:
        file["frames"] = start
    scene = Scene(random, (2, 2), 0, 1)
    for ranks in [1, 3]:
        done = runs.call(ranks, job=write_job(scene, 0, sand="input_frame = 1", run="chunk_rows = 5"))
        runs.check(done.returncode == 3 and "frame 1, row 33, column 65" in done.stderr
                   and "it is 4" in done.stderr, f"wrong cell: {done.returncode}, {done.stderr}")
