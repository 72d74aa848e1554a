"""Host memory that a run cannot take.

A job of each engine, in which the k-th of its larger mappings fails, for each k there is. The run
then continues with smaller chunks: it reports that once, and makes the bytes of an undisturbed run.
Only what cannot be smaller ends it, with exit code 6 and one message.
"""
import json
import os
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import Findings, programs

JOBS = {
    "convolve": '[convolve]\nrow_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.25, 0.5, 0.25]\n',
    "transpose": '[transpose]\npermutation = [2, 0, 1]\n',
    "sand": '[sand]\ngenerations = 20\nsnapshot_every = 5\n',
}
SHAPES = {"convolve": (1, 600, 500), "transpose": (60, 500, 80), "sand": (1, 600, 500)}
# What a run takes whatever its chunks: the older state and the newer. TBB may take more.
FIXED = {"convolve": 0, "transpose": 0, "sand": 2}
# An input and an output buffer of each of two lanes; sand has one buffer for both, and the copy that
# snapshots are taken from.
HALVED = {"convolve": 4, "transpose": 4, "sand": 3}

pytestmark = pytest.mark.faults


class Memory(Findings):
    def run(self, *options, fault=None):
        environment = dict(os.environ)
        pathlib.Path("fault.log").unlink(missing_ok=True)
        if fault:
            environment.update(LD_PRELOAD=programs.fault_shim, FAULT=fault, FAULT_LOG="fault.log")
        return subprocess.run([programs.runner, "job.toml", "--quiet", "--backend", "cpu", *options],
                              capture_output=True, text=True, timeout=GUARD, env=environment)

    def job(self, kind):
        """Fails each mapping in turn; says how many runs halved and how many ended."""
        rng = np.random.default_rng(3)
        with h5py.File("in.h5", "w") as file:
            file["a"] = rng.integers(0, 4, SHAPES[kind], dtype=np.uint8)
        pathlib.Path("job.toml").write_text(
            f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\n'
            f'dataset = "/a"\noverwrite = true\nsync = false\n[run]\nlanes = 2\nchunk_rows = 200\n'
            f'{JOBS[kind]}')
        done = self.run()
        self.check(done.returncode == 0, f"{kind}: {done.stderr}")
        with h5py.File("out.h5") as file:
            wanted = file["a"][...]
        halved = ended = 0
        for k in range(1, 100):
            done = self.run("--report", "r.json", fault=f"mmap:ENOMEM@{k}:>=70000")
            if not pathlib.Path("fault.log").exists():
                break
            what = f"{kind}: mapping {k}: exit {done.returncode}\n{done.stderr}"
            self.check(len(done.stderr.splitlines()) <= 1, what)
            if done.returncode == 6:
                ended += 1
                self.check("runner: error: cannot take host memory" in done.stderr, what)
                continue
            self.check(done.returncode == 0, what)
            with h5py.File("out.h5") as file:
                self.check(np.array_equal(file["a"][...], wanted), f"{what}: other bytes")
            rank = json.loads(pathlib.Path("r.json").read_text())["ranks"][0]
            steps = rank["halvings"]
            halved += len(steps)
            # A mapping that a library can do without leaves no trace.
            self.check((len(steps) == 1) == ("continues with chunks of" in done.stderr), what)
            self.check(not steps or rank["chunk_rows"] == steps[0]["chunk_rows"] < 200,
                       f"{what}: {steps}")
        self.check(halved == HALVED[kind] and ended >= FIXED[kind],
                   f"{kind}: {halved} halved, {ended} ended")
        print(f"{kind}: {halved} halved, {ended} ended")


@pytest.mark.parametrize("kind", JOBS)
def test_every_mapping(kind):
    memory = Memory()
    memory.job(kind)
    memory.none()
