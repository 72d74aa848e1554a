"""Jobs that are killed, and the same command again until they are done.

In each round one rank or all are killed, once or several times, at a random one of their system
calls; each run has its own number of ranks, chunk rows and lanes.
At the end the output must be that of an undisturbed run, with nothing beside it. What was under its
name before stays whole until then.
"""
import collections
import pathlib
import random
import signal
import struct

import numpy as np
import pytest

from events import stopped, wait_until
from faulty_runs import (OUTPUT, Program, clear, finish, kill_all, left_behind, job_folder,
                         picked, ranks_of, read, send, undisturbed_result)
from harness import programs

pytestmark = pytest.mark.faults
SHAPE = (2, 260, 90)
ROWS = SHAPE[0] * SHAPE[1]
LAYOUTS = {
    "contiguous": [],
    "chunked": ["--set", "output.chunk=[1,16,50]"],
    "deflate": ["--set", "output.chunk=[1,20,90]", "--set", 'output.compression="deflate"'],
    "shuffled": ["--set", "output.chunk=[1,8,40]", "--set", 'output.compression="deflate"', "--set",
                 "output.shuffle=true"],
    "parts": ["--set", "output.parts=3"],
    "chunked parts": ["--set", "output.chunk=[1,16,50]", "--set", "output.parts=4"],
}
CALLS = "pwrite,fsync,fdatasync,open,close,rename,unlink,mkdir,ftruncate,fallocate"


def rows_in_journal():
    """Rows that the journal lists, of the newest generation; None without a journal."""
    folder = pathlib.Path(OUTPUT + ".journal")
    if not (folder / "identity").exists():
        return None
    generation = (folder / "identity").read_text().split("\n")[1]
    rows = 0
    for path in folder.glob(generation + "-*.rows"):
        records = path.read_bytes()[32:]
        for at in range(0, len(records) - 31, 32):
            rows += struct.unpack_from("<QQ", records, at)[1]
    return rows


def phase(before):
    """How far the killed run had come; `before` is the output that was there."""
    rows = rows_in_journal()
    if pathlib.Path(OUTPUT).exists() and pathlib.Path(OUTPUT).read_bytes() != before:
        if not left_behind():
            return "not at all"
        return "unlocking" if left_behind() == ["out.h5.lock"] else "cleaning up"
    if rows is None:
        return "beginning"
    if not pathlib.Path(OUTPUT + ".partial").exists():
        return "beginning"
    return "no row yet" if rows == 0 else ("completing" if rows == ROWS else "streaming")


def settings(rng):
    chosen = ["--set", f"run.lanes={rng.randint(1, 4)}",
              "--set", f"run.chunk_rows={rng.choice([5, 8, 13, 20, 48])}",
              "--set", f"run.commit_seconds={rng.choice([0, 0, 0.02, 0.1])}"]
    return chosen + ["--set", f'run.resume_check="{rng.choice(["few", "all"])}"']


def killed_run(program, rng, arguments, findings):
    """One run of which a rank is stopped at a call, and that rank or all are killed then."""
    ranks = rng.choice([0, 0, 1, 2, 2, 3, 4])
    delay = f"pwrite:delay={rng.choice([2000, 6000, 12000])}@*:out.h5"
    how = rng.choice(["call", "one", "all"])
    rank = rng.randrange(max(ranks, 1)) if ranks else None
    count = round(2 ** rng.uniform(0, 8))
    action = "kill" if how == "call" else "stop"
    process = program.start(arguments, ranks, rank=rank,
                            fault=f"{delay};{CALLS}:{action}@{count}:out.h5")
    if how != "call":
        # A rank that is killed while MPI starts would leave mpirun itself waiting.
        wait_until(lambda: stopped(ranks_of(process)) or process.poll() is not None,
                   f"{count} calls of rank {rank}")
        if how == "all":
            kill_all(process)
        while process.poll() is None:
            # The process that probes counts its own calls: when it has been killed, the run that
            # asked it may come to be stopped as well.
            send(stopped(ranks_of(process)), signal.SIGKILL)
            wait_until(lambda: stopped(ranks_of(process)) or process.poll() is not None,
                       f"the end of the run of which rank {rank} was killed")
    code, text = finish(process)
    findings.expect(code is not None, f"ranks {ranks} killed by {how}", text)
    # That a killed rank's job ends as failed shows that the others did not continue without it.
    calls = [call for call in picked() if call[1] == action]
    findings.expect(bool(calls) == (code != 0), f"{how} at {calls}, exit {code}", text)
    probe = code == 6 and "the process that probes" in text  # it reads what is under the name
    findings.expect(code in (0, -9, 137, 255) or probe or "signal 9" in text,
                    f"ranks {ranks} killed by {how}, exit {code}", text)


def one_round(program, rng, wanted, findings, phases):
    clear()
    layout = rng.choice(list(LAYOUTS))
    before = None
    arguments = list(LAYOUTS[layout])
    if rng.random() < 0.3:
        before = b"what was there"
        pathlib.Path(OUTPUT).write_bytes(before)
        arguments += ["--set", "output.overwrite=true"]
    for _ in range(rng.choice([1, 1, 2, 4])):
        killed_run(program, rng, arguments + settings(rng), findings)
        where = phase(before)
        phases[where] += 1
        if pathlib.Path(OUTPUT).exists() and pathlib.Path(OUTPUT).read_bytes() != before:
            findings.expect(np.array_equal(read(), wanted), f"{layout}: named too early")
            break
        findings.expect(before is None or pathlib.Path(OUTPUT).exists(),
                        f"{layout}: the file of before is gone")
    if where != "not at all":
        code, text = program.run(arguments + settings(rng), rng.choice([0, 1, 2, 3, 4]))
        if not findings.expect(code == 0, f"{layout}, killed {where}: resumes with exit {code}",
                               text):
            return
    findings.expect(np.array_equal(read(), wanted), f"{layout}, killed {where}: other values")
    findings.expect(not left_behind(), f"{layout}, killed {where}: leaves {left_behind()}")


@pytest.fixture(scope="module", autouse=True)
def folder():
    with job_folder() as path:
        yield path


@pytest.fixture(scope="module", name="wanted")
def make_wanted(folder):
    return undisturbed_result(SHAPE)


PHASES = collections.Counter()
ROUNDS = 8


def run_round(number, wanted, findings):
    one_round(Program(), random.Random(f"{programs.seed} {number}"), wanted, findings, PHASES)
    print(dict(PHASES))


@pytest.mark.parametrize("number", [pytest.param(number, marks=pytest.mark.full if number >= ROUNDS else ())
                                    for number in range(200)])
def test_round(number, wanted, findings):
    run_round(number, wanted, findings)


def test_the_stream_is_hit(wanted, findings):
    """Of as many rounds, a quarter of the kills hits the stream; where chance hits it less often, further
    rounds do."""
    number = 1000
    while PHASES["streaming"] < ROUNDS / 4 and not findings.found:
        assert number < 1000 + 10 * ROUNDS, PHASES
        run_round(number, wanted, findings)
        number += 1
