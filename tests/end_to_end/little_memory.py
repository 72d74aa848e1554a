"""Host memory that a run cannot take.

A job of each engine, in which the k-th of its larger mappings fails, for each k there is. The run
then continues with smaller chunks: it reports that once, and makes the bytes of an undisturbed run.
Only what cannot be smaller ends it, with exit code 6 and one message.
"""
import json
import os
import pathlib
import re
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


def peak(taps, *settings):
    """MiB that a run has taken at most, with what the program itself is."""
    table = f"[convolve]\nrow_taps = [1.0]\ncolumn_taps = {taps}\n"
    pathlib.Path("job.toml").write_text(
        'kind = "convolve"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\noverwrite = true\n'
        f'sync = false\n[run]\nbackend = "cpu"\nchunk_rows = 100\nlanes = 1\n{table}')
    words = [word for setting in settings for word in ("--set", setting)]
    process = subprocess.Popen([programs.runner, "job.toml", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return process.returncode, said, usage.ru_maxrss / 1024


def test_threads_stay_within_the_plan():
    """With the largest radius each thread takes MiB of its own, for each of 90 chunks."""
    with h5py.File("in.h5", "w") as file:
        file["a"] = np.random.default_rng(3).random((9000, 130))
    wide = "{ box = { radius = 4096 } }"
    code, said, _ = peak(wide, "run.host_memory=1000")
    assert code == 2, said
    number, unit = re.search(r"host_memory = \"(\d+)([KM])iB\"", said).groups()
    code, said, bare = peak("[0.5, 0.25, 0.25]")
    assert code == 0, said
    code, said, most = peak(wide, f'run.host_memory="{number}{unit}iB"')
    assert code == 0, said
    assert most < bare + int(number) / (1 if unit == "M" else 1024) + 8, (most, bare, number, unit)
