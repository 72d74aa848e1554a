"""Ranks that are stopped, and signals, before the stream.

A rank that stands still anywhere between its start and its first row ends the job with 6, and the
others name it; a rank that only waits, or works for long, does not. Signals end the job with 75
before anything is written.
"""
import os
import pathlib
import signal
import subprocess

import numpy as np
import pytest

from events import GUARD, wait_until
from faulty_runs import finish, Program
from harness import call, launch, programs

pytestmark = pytest.mark.faults
HOLD = os.path.abspath

JOB = '''kind = "correct"
[input]
file = "in.h5"
dataset = "/data"
[output]
file = "out.h5"
sync = false
[correct]
dark = { file = "dark.h5", dataset = "/data", reduce = "mean" }
flat = 2
[run]
stall_seconds = 5
'''

# Where the second rank is stopped: at a call of its own on a file.
STOPS = {"looking at the input": "open:stop@1:in.h5",
         "sharing the images": "pread:stop@1:dark.h5"}
# And the first one.
FIRST_STOPS = {"taking the lock": "lock:stop@1:out.h5.lock",
               "making the output": "open:stop@1:out.h5.partial",
               "making the journal": "mkdir:stop@1:out.h5.journal",
               "writing the identity": "pwrite:stop@1:identity"}


@pytest.fixture(name="program", autouse=True)
def make_job(folder):
    import h5py
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.arange(4 * 30 * 20, dtype=np.uint16).reshape(4, 30, 20)
    with h5py.File("dark.h5", "w") as file:
        file["data"] = np.ones((3, 30, 20), dtype=np.uint16)
    pathlib.Path("job.toml").write_text(JOB)
    return Program()


def expect_stall(program, rule, rank):
    code, text = program.run([], 2, rank=rank, fault=rule)
    assert code == 6, f"exit {code}\n{text}"
    said = [line for line in text.splitlines() if line.startswith("runner: error: ")]
    assert len(said) == 1 and f"rank {rank} on " in said[0] and "no sign of life" in said[0], text
    assert "; it was " in said[0], text
    code, text = program.run([], 2)
    assert code == 0, f"then exit {code}\n{text}"


@pytest.mark.parametrize("where", STOPS)
def test_second_rank_stops(program, where):
    expect_stall(program, STOPS[where], 1)


@pytest.mark.parametrize("rank, opening", [(0, 2), (1, 1)])
def test_the_job_file_is_read_once(program, rank, opening):
    """By the first rank; no other rank opens it."""
    code, text = program.run([], 2, rank=rank, fault=f"open:EIO@{opening}:job.toml")
    assert code == 0, text
    code, text = program.run(["--set", "output.file=other.h5"], 2, rank=0, fault="open:EIO@1:job.toml")
    assert code == 2 and "job.toml" in text, text


@pytest.mark.parametrize("where", FIRST_STOPS)
def test_first_rank_stops(program, where):
    expect_stall(program, FIRST_STOPS[where], 0)


def test_rank_that_only_takes_long(program):
    """It is held for longer than run.stall_seconds while its other threads run."""
    held = HOLD("held")
    stall = 4  # on a busy machine a rank may not run for a second
    process = program.start(["--set", f"run.stall_seconds={stall}"], 2, rank=0,
                            fault=f"lock:hold={held}@1:out.h5.lock")
    from events import release, wait_for_held
    assert wait_for_held(process)
    import time
    time.sleep(2 * stall)
    release()
    code, text = finish(process)
    assert code == 0, text


@pytest.mark.parametrize("count, number", [(1, signal.SIGTERM), (1, signal.SIGUSR1), (2, signal.SIGINT)])
def test_signal_before_the_stream(program, count, number):
    """Held while it takes the lock: the first signal ends it when that is over, the second at once."""
    from events import release, send_and_wait, wait_for_held
    process = program.start([], 0, fault=f"lock:hold={HOLD('held')}@1:out.h5.lock")
    assert wait_for_held(process)
    for _ in range(count):
        send_and_wait(process.pid, number)
    if count == 1:
        release()
    code, text = finish(process)
    release()
    assert code == 75, f"exit {code}\n{text}"
    assert f"signal {number.name[3:]}" in text, text
    assert not os.path.exists("out.h5")
    call("job.toml", "--quiet")


def test_launcher_is_killed(program):
    """The ranks of `runner -n` end with their mpirun."""
    from events import release, wait_for_held
    held = HOLD("held")
    process = program.start(["-n", "2"], 0, fault=f"pwrite:hold={held}@1:out.h5.partial")
    assert wait_for_held(process, 1)
    ranks = [int(path.suffix[1:]) for path in pathlib.Path().glob("held.*")]
    process.kill()
    process.wait(timeout=GUARD)
    wait_until(lambda: not any(is_running(rank) for rank in ranks), "the ranks' end")
    release()


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
