"""Runs whole jobs of the kind sand and compares every byte: sand_runs.py RUNNER MPIRUN
[--backend B] [--share S] [--set KEY=VALUE].

What is right comes from sand_rule.py. Every run of the same job must give those bytes: for any
number of ranks, halo depth, chunk rows, lanes and storage, whole or in parts.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import sand_rule
from events import GUARD
from faulty_runs import kill_held, start_held

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


class Runs:
    def __init__(self, arguments):
        self.arguments = arguments
        self.count = self.failures = 0

    def command(self, job, ranks, options):
        command = [self.arguments.runner, job, "--quiet", "--backend", self.arguments.backend,
                   "--set", self.arguments.set, *options]
        if ranks > 1:
            command = [self.arguments.mpirun, "--allow-run-as-root", "--oversubscribe", "-n",
                       str(ranks), *command]
        self.count += 1
        return command

    def call(self, job, ranks=1, *options):
        return subprocess.run(self.command(job, ranks, options), capture_output=True, text=True,
                              timeout=GUARD)

    def check(self, right, what):
        if not right:
            self.failures += 1
            print(f"FAILED {what}")
        return right

    def expect(self, scene, every, what, job, ranks=1, *options):
        """Runs the job and compares what it wrote."""
        done = self.call(job, ranks, *options)
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


def same_for_any_way(runs, scene, every, ways):
    with h5py.File("in.h5", "w") as file:
        file["frames"] = scene.start[None]
    for ranks, run, output in ways:
        runs.expect(scene, every, f"{run} {output}".strip(), write_job(scene, every, run, output),
                    ranks)


def packed(states):
    """A .sand file of these states."""
    data = b"SAND" + np.array([states[0].shape[1], states[0].shape[0], len(states)], "<i4").tobytes()
    for state in states:
        cells = np.pad(state.ravel(), (0, -state.size % 4)).reshape(-1, 4)
        data += (cells @ np.array([1, 4, 16, 64])).astype(np.uint8).tobytes()
    return data


def sand_files(runs, random):
    """From a .sand file, as the published program writes them, into one, by several ranks."""
    for shape in [(1, 1), (5, 7), (33, 31), (64, 18)]:
        scene = Scene(random, shape, 0, 9, "scene")
        wrong_count = bytearray(packed([scene.start] + scene.states[:2]))
        wrong_count[12] = 1
        pathlib.Path("in.sand").write_bytes(wrong_count)
        job = write_job(scene, 4)
        text = pathlib.Path(job).read_text().replace("in.h5", "in.sand").replace("out.h5", "out.sand")
        pathlib.Path(job).write_text(text.replace("start_generation = 0", ""))
        for ranks in [1, 3]:
            done = runs.call(job, ranks)
            right = packed([scene.state(g) for g in scene.kept(4)])
            runs.check(done.returncode == 0 and done.stderr.count("runner: warning:") == 1,
                       f".sand {shape}, {ranks} ranks: {done.returncode}, {done.stderr}")
            runs.check(pathlib.Path("out.sand").read_bytes() == right,
                       f".sand {shape}, {ranks} ranks: other bytes")


def goes_on(runs, random):
    """A run from a stored generation is the run that never stopped, with its seed and chances."""
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
        done = runs.call("job.toml")
        runs.check(done.returncode == 3 and part in done.stderr and "sand." in done.stderr,
                   f"{keys}: exit {done.returncode}, {done.stderr}")


def stopped_runs(runs, random):
    """Stopped and killed again and again, and resumed on other numbers of ranks: the bytes of
    the run that was left alone."""
    with h5py.File("in.h5", "w") as file:
        file["frames"] = random.choice(4, (1, 701, 811), p=MIXES["scene"]).astype(np.uint8)
    scene = Scene(random, (2, 2), 0, 1)
    scene.generations = 20000
    job = write_job(scene, 3000, "commit_seconds = 0")
    runs.check(runs.call(job).returncode == 0, "left alone")
    with h5py.File("out.h5") as file:
        right = file["frames"][...].tobytes()
    pathlib.Path("out.h5").unlink()
    pathlib.Path("STOP").touch()
    for ranks in [1, 3]:
        done = runs.call(job, ranks)
        runs.check(done.returncode == 75 and "of 20000 generations of out.h5" in done.stderr,
                   f"stopped: exit {done.returncode}, {done.stderr}")
    pathlib.Path("STOP").unlink()
    for ranks in [1, 2]:
        command = runs.command(job, ranks, ["--resume", "require"])
        running = start_held(command, runs.arguments.runner, "mkdir", "3:out.h5.journal/checkpoint-")
        runs.check(kill_held(running), f"no third checkpoint of {ranks} ranks")
    # Without a checkpoint ten times a second, each of which waits for the disk.
    done = runs.call(job, 2, "--resume", "require", "--set", "run.commit_seconds=10")
    runs.check(done.returncode == 0, f"resumed: {done.stderr}")
    with h5py.File("out.h5") as file:
        runs.check(file["frames"][...].tobytes() == right, "resumed: the frames differ")
    left = [p.name for p in pathlib.Path().iterdir() if p.name.startswith("out.h5.")]
    runs.check(not left, f"left behind: {left}")


def wrong_cells(runs, random):
    """A byte that is no material is named with its frame, row and column."""
    start = random.integers(0, 4, (2, 41, 67)).astype(np.uint8)
    start[1, 33, 65] = 4
    with h5py.File("in.h5", "w") as file:
        file["frames"] = start
    scene = Scene(random, (2, 2), 0, 1)
    for ranks in [1, 3]:
        done = runs.call(write_job(scene, 0, sand="input_frame = 1", run="chunk_rows = 5"), ranks)
        runs.check(done.returncode == 3 and "frame 1, row 33, column 65" in done.stderr
                   and "it is 4" in done.stderr, f"wrong cell: {done.returncode}, {done.stderr}")


def all_ways():
    ways = [(ranks, f"halo_depth = {depth}", "") for ranks, depth in
            [(1, 1), (2, 1), (2, 3), (3, 8), (4, 5), (5, 1), (5, 64)]]
    ways += [(2, "chunk_rows = 3\nlanes = 1", ""), (3, "chunk_rows = 1\nlanes = 2", "")]
    ways += [(2, "", "chunk = [1, 8, 16]"),
             (3, "", 'chunk = [1, 7, 33]\ncompression = "deflate"'),
             (1, "lanes = 2", 'chunk = [1, 5, 9]\ncompression = "deflate"\nshuffle = true')]
    return ways


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner", type=os.path.abspath)
    parser.add_argument("mpirun")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--share", type=float, default=1.0, help="of the cases")
    parser.add_argument("--set", default="run.io_threads=2", help="for every run")
    runs = Runs(parser.parse_args())
    random = np.random.default_rng(11)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        scenes = [Scene(random, shape, first, 23, mix, seed, chances)
                  for shape, first, mix, seed, chances in [
                      ((1, 1), 0, "noise", 0, None), ((1, 9), 3, "noise", 5, None),
                      ((7, 1), 0, "noise", 0, None), ((2, 3), 2**32 - 3, "noise", 7, None),
                      ((3, 130), 1, "wet", 1, None),
                      ((67, 129), 2**40 + 2, "scene", 4294967295,
                       {"sand_slide": 0.0, "water_fall": 0.3, "water_spread": 1.0}),
                      ((128, 64), 0, "scene", 0, {"water_diagonal": 0.25})]]
        ways = all_ways()
        for index, scene in enumerate(scenes):
            some = [way for i, way in enumerate(ways)
                    if (i * len(scenes) + index) % 10 < 10 * runs.arguments.share]
            same_for_any_way(runs, scene, [0, 1, 5][index % 3], some)
        scene = Scene(random, (61, 31), 0, 0)
        same_for_any_way(runs, scene, 3, [(2, "", "")])
        sand_files(runs, random)
        goes_on(runs, random)
        if runs.arguments.share > 0.1:  # 20000 generations take long in the sanitizers' build
            stopped_runs(runs, random)
        wrong_cells(runs, random)
        os.chdir("/")
    print(f"{runs.count} runs, {runs.failures} failures")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
