"""A batch of many small datasets, some corrupt, some stale, some done before:
batch.py RUNNER MPIRUN [--datasets N] [--kills K] [--seed S].

It is killed at random moments again and again, by itself and under mpirun, and started again until
it is through; a kill counts where it left a dataset unfinished. Then every output must be that of
an undisturbed run, what was complete must not have been made twice, and the corrupt ones must be
told by name, with their exit code.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import h5py

import batch_runs as runs
from batch_runs import batch, marks, outputs, same, status, write_job
from faulty_runs import Findings, kill_all, ranks_of, report, wait_until

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
    """Starts the batch and kills it with all its processes some time after it has begun a dataset.
    Whether it was at work on one then; nothing where it was through before."""
    before = {path: path.stat().st_mtime_ns for path in runs.files("out", ".partial")}

    def is_at_work():
        for path in runs.files("out", ".partial"):
            try:
                if path.stat().st_mtime_ns != before.get(path):
                    return True
            except OSError: # just completed
                pass
        return False

    process = subprocess.Popen(runs.command(runner, "--quiet", launch=launch),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    wait_until(lambda: process.poll() is not None or is_at_work(), 60)
    time.sleep(rng.uniform(0, 0.06))
    ranks = ranks_of(process)
    kill_all(process)
    process.communicate()
    # A killed process ends the call that it is in first.
    wait_until(lambda: not any(os.path.exists(f"/proc/{rank}/exe") for rank in ranks), 60)
    if process.returncode in (0, 3, 4): # of the corrupt ones and the one that is not ours
        return None
    return is_at_work()


def prepare_before(runner, names, findings):
    """Outputs of before: some done, some of another job, one not ours. The marks of the stale ones
    and the path of that one."""
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


def kill_until(count, runner, mpirun, rng, stale, foreign, findings):
    """Kills until so many have hit, or the batch is through. How many hit, how many tries that
    took, and the marks of the outputs that are complete."""
    complete = {}
    landed = tried = 0
    hit = False
    while landed < count and hit is not None:
        tried += 1
        hit = kill(runner, rng, [*mpirun, "-n", "3"] if tried % 3 == 0 else [])
        now = {name: mark for name, mark in marks("out").items()
               if stale.get(name) != mark and pathlib.Path("out", name) != foreign}
        for name, mark in complete.items():
            findings.expect(now.get(name) == mark, f"try {tried}: {name} was made twice")
        complete = now
        landed += bool(hit)
    return landed, tried, complete


def check_round(kills, runner, mpirun, rng, wanted, findings):
    """A batch from the beginning to its end, killed meanwhile; how many kills hit, and the tries."""
    stale, foreign = prepare_before(runner, sorted(wanted), findings)
    landed, tried, complete = kill_until(kills, runner, mpirun, rng, stale, foreign, findings)
    done = batch(runner, launch=[*mpirun, "-n", "2"])
    findings.expect(done.returncode in (3, 4), f"goes on: exit {done.returncode}", done.stderr)
    for name, mark in complete.items():
        findings.expect(marks("out").get(name) == mark, f"{name} was made twice at the end")
    findings.expect(foreign.read_bytes() == b"somebody's own", "a file that is not ours is lost")
    told = status(runner, "out/job.state")["counts"]
    findings.expect(told["failed"] == len(CORRUPT) + 1 and
                    told["done"] == len(wanted) - 1, f"status: {told}")
    foreign.unlink()
    done = batch(runner)
    findings.expect(done.returncode == 3, f"the last one: exit {done.returncode}", done.stderr)
    findings.expect(same(outputs("out"), wanted), "other outputs than undisturbed")
    left = runs.beside("out")
    findings.expect(not left, f"leaves {left}", done.stderr)
    twice = runs.done_twice("out/job.state")
    findings.expect(not twice, f"begun again when they were complete: {twice}")
    return landed, tried


def check_kills(runner, mpirun, options, wanted, findings):
    """Rounds until enough kills have hit: on a busy machine the batch may be through before."""
    rng = random.Random(options.seed)
    landed = tried = rounds = 0
    while landed < options.kills and rounds < 5 + options.kills:
        subprocess.run(["rm", "-rf", "out"], check=True)
        hit, tries = check_round(options.kills - landed, runner, mpirun, rng, wanted, findings)
        landed, tried, rounds = landed + hit, tried + tries, rounds + 1
    findings.expect(landed == options.kills, f"{landed} of {options.kills} kills hit")
    return f"{landed} kills in {tried} tries, {rounds} rounds"


def check_changes(runner, wanted, findings):
    """What is done stays; a changed input or job is found and made again."""
    before = marks("out")
    done = batch(runner)
    findings.expect(marks("out") == before, "a finished batch is done again", done.stderr)
    name = sorted(wanted)[0]
    path = pathlib.Path("scans", name.replace("_convolve", "").split("scans/")[1])
    with h5py.File(path, "r+") as file:
        file["image"][3, 4] = 7
    told = status(runner, "out/job.state")["counts"]
    findings.expect(told["stale"] == 1, f"status after a change: {told}")
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
    """A signal ends it with 75, and the same command goes on."""
    write_job("stop")
    process = subprocess.Popen(runs.command(runner), stderr=subprocess.PIPE, text=True)
    while "[3/" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGUSR1)
    _, text = process.communicate(timeout=30)
    findings.expect(process.returncode == 75 and "goes on" in text,
                    f"stopped with exit {process.returncode}", text)
    done = batch(runner)
    findings.expect(done.returncode == 3, "goes on after a stop", done.stderr)


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs=2)
    parser.add_argument("--datasets", type=int, default=500)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runner = os.path.abspath(options.program[0])
    mpirun = runs.mpirun_words(options.program[1])
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder:
        runs.prepare_environment(folder)
        make_inputs(options.datasets)
        write_job("plain")
        done = batch(runner)
        wanted = outputs("plain")
        findings.expect(done.returncode == 3, f"undisturbed: exit {done.returncode}", done.stderr)
        findings.expect(len(wanted) == options.datasets - len(CORRUPT), f"made {len(wanted)}")
        for number in CORRUPT:
            findings.expect(f"scan_{number:04}.h5" in done.stderr, f"{number} is not told",
                            done.stderr)
        kills = check_kills(runner, mpirun, options, wanted, findings)
        check_changes(runner, wanted, findings)
        check_stop(runner, findings)
        check_refusals(runner, findings)
        os.chdir("/")
    report("batch", findings, f"{options.datasets} datasets, {kills}, seed {options.seed}")


if __name__ == "__main__":
    main()
