"""Pipelines of several passes over many datasets, and on a cluster.

Every output and saved file must have the bytes of the same pipeline run on its input alone, on any
ranks and after kills; nothing may be left beside them. A submission must ask for the memory of the
pass that needs most.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import h5py
import numpy as np
import pytest

from harness import new_folder, programs
from pipelines import CHAIN, SAVING, Checks, contents

ENDS = """[input]
dataset = "/data"
[output]
sync = false
[batch]
inputs = ["scans/*.h5"]
output = "{out}/{{stem}}.h5"
"""
NAMES = ["a", "b", "c", "d", "e"]
BATCH_CHAIN = SAVING.replace("saved1.h5", "kept/{stem}_1.h5").replace("saved2.h5",
                                                                     "kept/{stem}_2.h5")


def write_inputs():
    shutil.rmtree("scans", ignore_errors=True)
    os.makedirs("scans")
    for number, name in enumerate(NAMES):
        random = np.random.default_rng(number)
        with h5py.File(f"scans/{name}.h5", "w") as file:
            file["data"] = random.random((5 + number, 24, 20)).astype("float32")


def write_job(chain, out="out"):
    pathlib.Path("job.toml").write_text(ENDS.format(out=out) + chain)


def clean():
    for folder in ["out", "kept"]:
        shutil.rmtree(folder, ignore_errors=True)


def batch(checks, *arguments, **options):
    return checks.run("batch", "job.toml", "--backend", checks.backend, *arguments, **options)


def made(folder):
    """The datasets of each output in a folder; everything beside outputs counts too."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*")):
        if path.suffix == ".h5" and path.name.count(".") == 1:
            found[path.name] = contents(path)
        elif not path.name.endswith(".state"):
            found[path.name] = "left behind"
    return found


def expected_of(checks):
    """What each dataset must become: the pipeline and its first steps on each alone."""
    out, kept = {}, {}
    for name in NAMES:
        for until, place in {"1": (kept, f"{name}_1.h5"), "2": (kept, f"{name}_2.h5"),
                             "3": (out, f"{name}.h5")}.items():
            pathlib.Path("single.toml").write_text(
                f'[input]\nfile = "scans/{name}.h5"\ndataset = "/data"\n'
                '[output]\nfile = "single.h5"\n' + CHAIN)
            pathlib.Path("single.h5").unlink(missing_ok=True)
            done = checks.run("single.toml", "--quiet", "--until", until)
            checks.expect(done.returncode == 0, done.stderr)
            place[0][place[1]] = contents("single.h5")
    return out, kept


@pytest.fixture(name="checks")
def make_checks():
    return Checks()


@pytest.fixture(scope="module", autouse=True)
def folder():
    with new_folder() as path:
        write_inputs()
        yield path


@pytest.fixture(scope="module", name="both")
def expected_outputs(folder):
    checks = Checks()
    found = expected_of(checks)
    checks.none()
    return found


@pytest.fixture(name="expected")
def expected_alone(both):
    return both[0]


@pytest.fixture(name="kept")
def expected_saves(both):
    return both[1]


def test_several_passes(checks, expected):
    for ranks in [1, 3]:
        clean()
        write_job(CHAIN)
        plan = batch(checks, "--dry-run")
        checks.expect(plan.returncode == 0 and "5 to do" in plan.stdout, plan.stdout + plan.stderr)
        done = batch(checks, ranks=ranks)
        checks.expect(done.returncode == 0, f"{ranks} ranks: {done.stderr}")
        checks.expect(made("out") == expected, f"{ranks} ranks: {sorted(made('out'))}")
        done = batch(checks, ranks=ranks)
        checks.expect(done.returncode == 0 and "5 done before" in done.stderr, done.stderr)
    shutil.rmtree("out/job.state")
    done = batch(checks)
    checks.expect(done.returncode == 0 and "5 done before" in done.stderr,
                  f"known by the outputs alone: {done.stderr}")


def killed_and_resumed(checks, chain, fault):
    """A batch that is killed at a call, then done by two ranks: the second's result."""
    clean()
    write_job(chain)
    killed = batch(checks, "--quiet", fault=fault)
    checks.expect(killed.returncode == -signal.SIGKILL, f"{fault}: exit {killed.returncode} {killed.stderr}")
    return batch(checks, "--quiet", ranks=2)


def test_kills(checks, expected, kept):
    faults = ["pwrite:kill@2:pass-1.h5.partial", "rename:kill@1:pass-1.h5.partial",
              "mkdir:kill@1:out/c.h5.journal", "pwrite:kill@1:out/d.h5.partial",
              "unlink:kill@1:out/e.h5.journal", "unlink:kill@3:pass-1.h5"]
    for fault in faults:
        done = killed_and_resumed(checks, CHAIN, fault)
        checks.expect(done.returncode == 0 and made("out") == expected,
                      f"{fault}: {sorted(made('out'))} {done.stderr}")
    for fault in ["pwrite:kill@2:kept/", "rename:kill@3:kept/", "unlink:kill@2:kept/",
                  "pwrite:kill@2:out/"]:
        done = killed_and_resumed(checks, BATCH_CHAIN, fault)
        checks.expect(done.returncode == 0 and (made("out"), made("kept")) == (expected, kept),
                      f"{fault}: {sorted(made('out'))} {sorted(made('kept'))} {done.stderr}")


def test_saves(checks, expected, kept):
    clean()
    write_job(BATCH_CHAIN)
    done = batch(checks, ranks=2)
    checks.expect(done.returncode == 0, done.stderr)
    checks.expect((made("out"), made("kept")) == (expected, kept), f"{sorted(made('kept'))}")
    done = checks.run("verify", "kept/c_1.h5")
    checks.expect(done.returncode == 0 and "not computed again" not in done.stdout, done.stdout)
    pathlib.Path("kept/b_2.h5").unlink()
    plan = batch(checks, "--dry-run")
    checks.expect("4 done before" in plan.stdout and "1 to do" in plan.stdout, plan.stdout)
    before = os.stat("out/b.h5").st_mtime_ns
    done = batch(checks)
    checks.expect(done.returncode == 0 and made("kept") == kept, done.stderr)
    checks.expect(os.stat("out/b.h5").st_mtime_ns == before, "the output is not made again")
    # A changed step makes what depends on it stale.
    change = ["--set", "step.3.row_taps=[1.0]"]
    plan = batch(checks, *change, "--dry-run")
    checks.expect("5 stale" in plan.stdout, plan.stdout)
    before = os.stat("kept/b_2.h5").st_mtime_ns
    done = batch(checks, *change)
    checks.expect(done.returncode == 0 and made("kept") == kept, done.stderr)
    checks.expect(os.stat("kept/b_2.h5").st_mtime_ns == before, "what it does not change stays")
    done = batch(checks, "--set", "step.1.row_taps=[1.0]")
    checks.expect(done.returncode == 0 and made("kept") != kept, done.stderr)
    done = batch(checks)
    checks.expect(done.returncode == 0 and made("kept") == kept and made("out") == expected,
                  done.stderr)


def test_names_of_saves(checks):
    clean()
    for save, says in {"kept/all.h5": "would both be written as",
                       "scans/{stem}.h5": "itself an input",
                       "out/{stem}.h5": "would both be written as",
                       "kept/{stam}.h5": "did you mean {stem}?"}.items():
        write_job(BATCH_CHAIN.replace("kept/{stem}_1.h5", save))
        done = batch(checks)
        checks.expect(done.returncode == 2 and says in done.stderr, f"{save}: {done.stderr}")
    checks.expect(not pathlib.Path("out").exists(), "nothing is made")


SITE = """[node]
cpus = 2
memory = "4GiB"
[limits]
time = "2h"
stop_before = "3m"
"""


def memory_of(text):
    return int(re.search(r"--mem=(\d+)M", text).group(1))


def test_submission(checks):
    clean()
    pathlib.Path("site.toml").write_text(SITE)
    with h5py.File("large.h5", "w") as file:
        file.create_dataset("data", (64, 512, 512), "float32")
    ends = '[input]\nfile = "large.h5"\ndataset = "/data"\n[output]\nfile = "o.h5"\n'
    arguments = ["job.toml", "--site", "site.toml", "--dry-run", "--backend", "cpu",
                 "--set", "run.host_memory=\"2GiB\""]
    cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]) # the site's number
    asked = {}
    for name, chain in {"all": CHAIN, "saving": SAVING, "first": CHAIN.split("[[step]]")[1]}.items():
        chain = chain if name != "first" else "[[step]]" + chain
        pathlib.Path("job.toml").write_text(ends + chain)
        done = checks.run("submit", *arguments)
        checks.expect(done.returncode == 0, f"{name}: {done.stderr}")
        asked[name] = memory_of(done.stdout)
        plan = json.loads(subprocess.run(
            ["taskset", "-c", cpus, programs.runner, "plan", "job.toml", "--json", "--backend", "cpu",
             "--host-memory", "2GiB"], capture_output=True, text=True, check=True).stdout)
        most = max(each["memory_per_rank"]["host_bytes"] for each in plan.get("passes", [plan]))
        checks.expect(asked[name] >= (most >> 20) + 1024, f"{name}: {asked[name]} MiB, plan {most}")
    checks.expect(asked["all"] > asked["first"], f"the pass that needs most: {asked}")
    # By its own report: twice what it took and a minute, and the time in which a job stops.
    pathlib.Path("job.toml").write_text(ends.replace("large.h5", "scans/a.h5") + SAVING)
    done = checks.job("--report", "profile.json")
    report = json.loads(pathlib.Path("profile.json").read_text())
    report.update(wall_seconds=1500, start_seconds=0)
    pathlib.Path("profile.json").write_text(json.dumps(report))
    for name in ["o.h5", "saved1.h5", "saved2.h5"]:
        pathlib.Path(name).unlink()
    done = checks.run("submit", *arguments, "--profile", "profile.json")
    found = re.search(r"--time=(\d+)-(\d+):(\d+):(\d+)", done.stdout)
    days, hours, minutes, seconds = map(int, found.groups())
    asked = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    checks.expect(asked == 2 * 1500 + 60 + 180, f"by its own profile {asked} s")
    write_job(BATCH_CHAIN)
    done = checks.run("submit", *arguments)
    checks.expect(done.returncode == 0 and "5 to do" not in done.stderr, done.stderr)
