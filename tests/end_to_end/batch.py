"""A batch of many small datasets, some corrupt, some stale, some done before.

It is killed several times at a random write to an unfinished output, alone and under mpirun, and
started again until it is complete. Then every output must be that of an undisturbed run, what was
complete must not have been made twice, and the corrupt ones must be reported by name, with their exit
code.
"""
import os
import pathlib
import random
import signal
import subprocess

import h5py
import pytest

import batch_runs as runs
from batch_runs import batch, marks, outputs, same, status, write_job
from events import GUARD, release, send_and_wait, stopped, wait_for_held, wait_until
from faulty_runs import kill_all, ranks_of, with_fault
from harness import launch, programs

CORRUPT = [7, 23, 41]
LARGE = 10  # every so many: long enough to be killed in the middle of


def make_inputs(count):
    for folder in ["scans/a", "scans/b/c"]:
        os.makedirs(folder)
    for number in range(count):
        path = pathlib.Path("scans", "a" if number % 2 else "b/c", f"scan_{number:04}.h5")
        rows = 2000 if number % LARGE == 5 else 50 + number % 40
        runs.write_image(path, (rows, 301 if rows > 99 else 61), number)
        if number in CORRUPT:
            data = bytearray(path.read_bytes())
            path.write_bytes(bytes(data[:len(data) // 2]))


def kill(runner, rng, launch):
    """Starts the batch, and kills it with all its processes when one of them is at a random write
    to an unfinished output. Returns whether it was killed: it may be complete before."""
    rule = f"pwrite:stop@{rng.randint(1, 150)}:.h5.partial"
    process = subprocess.Popen(
        with_fault(runs.command(runner, "--quiet", launch=launch), runner, rule),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: stopped(ranks_of(process)) or process.poll() is not None, rule)
    ranks = ranks_of(process)
    was_there = process.poll() is None
    kill_all(process)
    process.communicate()
    # A killed process ends the call that it is in first.
    wait_until(lambda: not any(os.path.exists(f"/proc/{rank}/exe") for rank in ranks), "its end")
    return was_there


def prepare_before(runner, names, findings):
    """Makes outputs before the batch: some complete, some of another job, one not ours. Returns the
    marks of the stale ones, and the path of the last."""
    write_job("out", "[1.0]", "other.toml")
    done = batch(runner, "--set", 'batch.inputs=["scans/a/scan_000?.h5"]', job="other.toml")
    findings.expect(done.returncode == 3, "outputs that will be stale", done.stderr)
    stale = marks("out")
    findings.expect(len(stale) == 4, f"four will be stale: {sorted(stale)}")
    write_job("out")
    done = batch(runner, "--set", 'batch.inputs=["scans/a/scan_001?.h5"]')
    findings.expect(done.returncode == 0, "outputs that are done", done.stderr)
    foreign = pathlib.Path("out", names[-1])
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"somebody's own")
    return stale, foreign


def kill_several_times(count, runner, rng, stale, foreign, findings):
    """The marks of the outputs that are complete then."""
    complete = {}
    for number in range(1, count + 1):
        was_killed = kill(runner, rng, launch(3) if number % 3 == 0 else [])
        findings.expect(was_killed, f"kill {number}: the batch was complete before")
        now = {name: mark for name, mark in marks("out").items()
               if stale.get(name) != mark and pathlib.Path("out", name) != foreign}
        for name, mark in complete.items():
            findings.expect(now.get(name) == mark, f"kill {number}: {name} was made twice")
        complete = now
    return complete


def check_kills(runner, count, wanted, findings):
    """Runs a batch to its end, with kills on the way."""
    rng = random.Random(programs.seed)
    stale, foreign = prepare_before(runner, sorted(wanted), findings)
    complete = kill_several_times(count, runner, rng, stale, foreign, findings)
    done = batch(runner, launch=launch(2))
    findings.expect(done.returncode in (3, 4), f"resumes: exit {done.returncode}", done.stderr)
    for name, mark in complete.items():
        findings.expect(marks("out").get(name) == mark, f"{name} was made twice at the end")
    findings.expect(foreign.read_bytes() == b"somebody's own", "a file that is not ours is lost")
    counts = status(runner, "out/job.state")["counts"]
    findings.expect(counts["failed"] == len(CORRUPT) + 1 and
                    counts["done"] == len(wanted) - 1, f"status: {counts}")
    foreign.unlink()
    done = batch(runner)
    findings.expect(done.returncode == 3, f"the last one: exit {done.returncode}", done.stderr)
    findings.expect(same(outputs("out"), wanted), "other outputs than undisturbed")
    left = runs.beside("out")
    findings.expect(not left, f"leaves {left}", done.stderr)
    twice = runs.done_twice("out/job.state")
    findings.expect(not twice, f"begun again when they were complete: {twice}")
    return f"{count} kills, {len(complete)} outputs complete then"


def check_changes(runner, wanted, findings):
    """What is done stays; a changed input or job is found and made again."""
    before = marks("out")
    done = batch(runner)
    findings.expect(marks("out") == before, "a finished batch is done again", done.stderr)
    name = sorted(wanted)[0]
    path = pathlib.Path("scans", name.replace("_convolve", "").split("scans/")[1])
    with h5py.File(path, "r+") as file:
        file["image"][3, 4] = 7
    counts = status(runner, "out/job.state")["counts"]
    findings.expect(counts["stale"] == 1, f"status after a change: {counts}")
    done = batch(runner)
    now = marks("out")
    changed = [each for each in before if now[each] != before[each]]
    findings.expect(changed == [name], f"made again: {changed}", done.stderr)
    subprocess.run(["rm", "-r", "out/job.state"], check=True)
    done = batch(runner)
    findings.expect(marks("out") == now, "without the state folder, done again", done.stderr)
    done = batch(runner, "--set", "run.lanes=2")
    findings.expect(marks("out") == now, "with other lanes, done again", done.stderr)
    done = batch(runner, "--set", 'convolve.boundary="wrap"')
    findings.expect(all(marks("out")[each] != now[each] for each in now),
                    "another job, not done again", done.stderr)


def check_stop(runner, findings):
    """A signal ends it with 75, and the same command resumes."""
    write_job("stop")
    rule = f"rename:hold={os.path.abspath('held')}@4:_convolve.h5.partial"
    process = subprocess.Popen(with_fault(runs.command(runner), runner, rule),
                               stderr=subprocess.PIPE, text=True)
    findings.expect(wait_for_held(process), "the batch was through before its fourth output")
    send_and_wait(process.pid, signal.SIGUSR1)
    release()
    _, text = process.communicate(timeout=GUARD)
    findings.expect(process.returncode == 75 and "resumes" in text,
                    f"stopped with exit {process.returncode}", text)
    done = batch(runner)
    findings.expect(done.returncode == 3, "resumes after a stop", done.stderr)


def check_refusals(runner, findings):
    """Names that do not fit: one error, exit code 2 (3: no such input), and nothing is made."""
    pathlib.Path("list.tsv").write_text("input.file\tconvolve.boundary\nscans/a/scan_0001.h5\t"
                                        "wrop\nscans/a/scan_0003.h5\twrap\n")
    for settings, code, words in [
            (['batch.output="none/{stam}.h5"'], 2, ["{stem}"]),
            (['batch.output="none/all.h5"'], 2, ["would both be written as"]),
            (['batch.output="scans/{stem}_out.h5"'], 2, ["for an input the next time"]),
            (['batch.inputs=["scans/*.nothing"]'], 3, ["no file is named like"]),
            (['batch.inputs="none.txt"'], 2, ["none.txt"]),
            (['batch.inputs="scans/*.h5"'], 2, ["write a pattern as"]),
            (['batch.inputs="list.tsv"', 'batch.output="none/{stem}.h5"'], 2,
             ["list.tsv:2:22", "wrap", "1 done"])]:
        arguments = [word for setting in settings for word in ("--set", setting)]
        done = batch(runner, *arguments)
        findings.expect(done.returncode == code and all(word in done.stderr for word in words),
                        f"{settings}: exit {done.returncode}, wanted {code} {words}", done.stderr)


@pytest.mark.faults
def test_batch(findings):
    count, kills = (500, 20) if programs.full else (60, 4)
    runner = programs.runner
    make_inputs(count)
    write_job("plain")
    done = batch(runner)
    wanted = outputs("plain")
    findings.expect(done.returncode == 3, f"undisturbed: exit {done.returncode}", done.stderr)
    findings.expect(len(wanted) == count - len(CORRUPT), f"made {len(wanted)}")
    for number in CORRUPT:
        findings.expect(f"scan_{number:04}.h5" in done.stderr, f"{number} is not named", done.stderr)
    print(check_kills(runner, kills, wanted, findings))
    check_changes(runner, wanted, findings)
    check_stop(runner, findings)
    check_refusals(runner, findings)
