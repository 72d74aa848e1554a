"""A batch of many small datasets, some corrupt, some stale, some done before:
batch.py RUNNER MPIRUN [--datasets N] [--kills K] [--seed S].

It is killed at random moments again and again, by itself and under mpirun, and started again until
it is through. Then every output must be that of an undisturbed run, what was complete must not have
been made twice, and the corrupt ones must be told by name, with their exit code.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import h5py
import numpy as np

from faulty_runs import Findings, kill_all, report

JOB = '''kind = "convolve"
[input]
dataset = "/image"
[output]
sync = false
[run]
commit_seconds = 0
[batch]
inputs = ["scans/**/*.h5"]
output = "{folder}/{{dir}}/{{stem}}_{{kind}}.h5"
[convolve]
row_taps = {taps}
column_taps = [0.25, 0.5, 0.25]
boundary = "mirror"
'''
CORRUPT = [7, 23, 41]


def write_job(folder, taps="[0.25, 0.5, 0.25]", name="job.toml"):
    pathlib.Path(name).write_text(JOB.format(folder=folder, taps=taps))


def make_inputs(count):
    rng = np.random.default_rng(3)
    for folder in ["scans/a", "scans/b/c"]:
        os.makedirs(folder)
    for number in range(count):
        path = pathlib.Path("scans", "a" if number % 2 else "b/c", f"scan_{number:04}.h5")
        with h5py.File(path, "w") as file:
            file["image"] = rng.random((50 + number % 40, 61), dtype=np.float32)
        if number in CORRUPT:
            data = bytearray(path.read_bytes())
            path.write_bytes(bytes(data[:len(data) // 2]))


def outputs(folder):
    """The elements of each output, by its name."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*_convolve.h5")):
        with h5py.File(path) as file:
            found[str(path.relative_to(folder))] = file["image"][...]
    return found


def beside(folder):
    """What stands beside outputs."""
    return [str(path) for path in pathlib.Path(folder).rglob("*")
            if path.is_file() and not path.name.endswith("_convolve.h5")
            and ".state" not in str(path)]


def marks(folder):
    """By what an output is seen to have been made again: its inode and time."""
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in pathlib.Path(folder).rglob("*_convolve.h5")}


def batch(runner, *arguments, launch=(), job="job.toml"):
    return subprocess.run([*launch, runner, "batch", job, *arguments], capture_output=True,
                          text=True, timeout=120)


def status(runner, folder):
    done = subprocess.run([runner, "status", folder, "--json"], capture_output=True, text=True,
                          timeout=30)
    return json.loads(done.stdout)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def killed(runner, rng, launch):
    """Starts the batch and kills it with all its processes; its exit code if it was faster."""
    process = subprocess.Popen([*launch, runner, "batch", "job.toml", "--quiet"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               start_new_session=True)
    time.sleep(rng.uniform(0.02, 1.0 if launch else 0.5))
    kill_all(process)
    process.communicate()
    return process.returncode


def check_kills(runner, mpirun, options, wanted, findings):
    """The killed batch, with outputs of before: some done, some of another job, one not ours."""
    rng = random.Random(options.seed)
    names = sorted(wanted)
    write_job("out", "[1.0]", "other.toml")
    done = batch(runner, "--set", 'batch.inputs=["scans/a/scan_000?.h5"]', job="other.toml")
    findings.expect(done.returncode == 3, "outputs that will be stale", done.stderr)
    stale = marks("out")
    findings.expect(len(stale) == 4, f"four will be stale: {sorted(stale)}")
    write_job("out")
    foreign = pathlib.Path("out", names[-1])
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"somebody's own")

    complete = {}
    landed = 0
    for number in range(options.kills):
        launch = [*mpirun, "-n", "3"] if number % 3 == 2 else []
        landed += killed(runner, rng, launch) != 3
        now = {name: mark for name, mark in marks("out").items()
               if stale.get(name) != mark and name != names[-1]}
        for name, mark in complete.items():
            findings.expect(now.get(name) == mark, f"kill {number}: {name} was made twice")
        complete = now
    findings.expect(landed > options.kills / 2, f"{landed} kills landed")
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
    # A lock's file may stay behind where a process was killed, and means nothing.
    left = [path for path in beside("out") if not path.endswith(".lock")]
    findings.expect(not left, f"leaves {left}", done.stderr)
    return landed


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
    process = subprocess.Popen([runner, "batch", "job.toml"], stderr=subprocess.PIPE, text=True)
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
    parser.add_argument("--datasets", type=int, default=100)
    parser.add_argument("--kills", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runner = os.path.abspath(options.program[0])
    mpirun = [options.program[1], "--allow-run-as-root", "--oversubscribe"]
    os.environ.pop("RUNNER_REQUIRE_GPU", None)
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["TMPDIR"] = folder
        make_inputs(options.datasets)
        write_job("plain")
        done = batch(runner)
        wanted = outputs("plain")
        findings.expect(done.returncode == 3, f"undisturbed: exit {done.returncode}", done.stderr)
        findings.expect(len(wanted) == options.datasets - len(CORRUPT), f"made {len(wanted)}")
        for number in CORRUPT:
            findings.expect(f"scan_{number:04}.h5" in done.stderr, f"{number} is not told",
                            done.stderr)
        landed = check_kills(runner, mpirun, options, wanted, findings)
        check_changes(runner, wanted, findings)
        check_stop(runner, findings)
        check_refusals(runner, findings)
        os.chdir("/")
    report("batch", findings, f"{options.datasets} datasets, {landed} kills, seed {options.seed}")


if __name__ == "__main__":
    main()
