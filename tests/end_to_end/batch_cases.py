"""What may happen to a batch.

Inputs that crash or never end, inputs that turn out to be unreadable, .sand outputs and a batch
killed where they are recorded, a large dataset beside small ones on several ranks, two batches at
once, what `runner status` says meanwhile, and a power cut at some of the calls that change files.
"""
import json
import os
import pathlib
import random
import signal
import subprocess

import h5py
import numpy as np
import pytest

import bad_files
import batch_runs as runs
import power_loss
from batch_runs import batch, status
from events import GUARD, release, stopped, wait_for_held, wait_until
from faulty_runs import finish, journal_bytes, kill_all, picked, start_held, with_fault
from harness import Findings, launch, programs

pytestmark = pytest.mark.faults
FINDINGS = Findings()  # of the test that runs
expect = FINDINGS.expect

SAND_JOB = '''kind = "sand"
[input]
dataset = "/cells"
[batch]
inputs = ["scans/*.h5"]
output = "{folder}/{{stem}}.sand"
[sand]
generations = {generations}
snapshot_every = 10
'''


@pytest.fixture(autouse=True)
def findings(folder):
    FINDINGS.found.clear()
    yield FINDINGS


def images(count, shape=(60, 50)):
    os.makedirs("scans", exist_ok=True)
    for number in range(count):
        runs.write_image(f"scans/good_{number:03}.h5", shape, number)


def undisturbed():
    """The outputs of a batch with which nothing interferes."""
    runs.write_job("plain")
    done = batch(programs.runner, "--quiet")
    runs.write_job("out")
    return done, runs.outputs("plain")


def tree(folder="."):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))


def test_names_that_lead_elsewhere():
    """What braces stand for never leads out of the folder that batch.output or save names."""
    os.makedirs("in")
    for name in ["in/...npy", "in/..npy", "in/good.npy"]:
        with open(name, "wb") as file: # np.save would add an ending
            np.save(file, np.zeros((4, 6), np.float32))
    job = 'kind = "bin"\n{name}[input]\n[batch]\ninputs = ["{input}"]\noutput = "{output}"\n' \
        'state = "state"\n[bin]\nfactors = [2, 2]\n'
    before = tree()
    for file, name, output in [
            ("in/...npy", "", "out/{stem}/r.npy"), ("in/..npy", "", "out/{stem}/r.npy"),
            ("in/..npy", "", "out/.{stem}/r.npy"), ("in/..npy", "", "out/{stem}{stem}/r.npy"),
            ("in/...npy", "", "{stem}/r.npy"), ("in/good.npy", 'name = ".."\n', "out/{name}/r.npy"),
            ("in/good.npy", 'name = "a/b"\n', "out/{name}.npy"),
            ("in/good.npy", 'name = "/"\n', "out/{name}/r.npy"),
            ("in/good.npy", 'name = "a\\u0000b"\n', "out/{name}.npy"),
            ("../" + os.path.basename(os.getcwd()) + "/in/good.npy", "", "out/{dir}/{stem}.npy")]:
        pathlib.Path("b.toml").write_text(job.format(input=file, name=name, output=output))
        done = batch(programs.runner, "--quiet", job="b.toml")
        words = [file, output] if "u0000" not in name else ["U+0000"]
        expect(done.returncode == 2 and all(word in done.stderr for word in words),
               f"{file} {name} {output}: {done.returncode} {done.stderr}")
        os.unlink("b.toml")
        expect(tree() == before, f"{file} {output}: {tree()}")
    steps = job.replace('kind = "bin"\n', "").replace("[bin]", '[[step]]\nkind = "bin"').replace(
        "factors = [2, 2]\n", 'factors = [2, 2]\nsave = "kept/{{stem}}/s.h5"\n[[step]]\nkind = "bin"\nfactors = [1, 1]\n')
    pathlib.Path("b.toml").write_text(steps.format(input="in/...npy", name="", output="out/x{stem}.h5"))
    done = batch(programs.runner, "--quiet", job="b.toml")
    expect(done.returncode == 2 and "kept/{stem}/s.h5" in done.stderr, f"save: {done.stderr}")
    os.unlink("b.toml")
    expect(tree() == before, f"save: {tree()}")
    pathlib.Path("b.toml").write_text(job.format(input="in/...npy", name="", output="out/{stem}.npy"))
    done = batch(programs.runner, "--quiet", job="b.toml")
    expect(done.returncode == 0 and os.path.exists("out/...npy"), done.stderr)


def test_no_input_table():
    """[input] and [output] may be omitted."""
    os.makedirs("in")
    np.save("in/a.npy", np.zeros((4, 6), np.float32))
    with h5py.File("in/b.h5", "w") as file:
        file["only"] = np.ones((4, 6), np.float32)
    pathlib.Path("b.toml").write_text('kind = "bin"\n[batch]\ninputs = ["in/*"]\n'
                                      'output = "out/{stem}.h5"\n[bin]\nfactors = [2, 2]\n')
    done = batch(programs.runner, "--quiet", job="b.toml")
    expect(os.path.exists("out/a.h5"), f"without [input]: {done.stderr}")
    pathlib.Path("c.toml").write_text(pathlib.Path("b.toml").read_text().replace("[batch]", "[input]\n[batch]"))
    again = batch(programs.runner, "--quiet", job="c.toml")
    expect(again.returncode == done.returncode, f"an empty [input] is something else: {again.stderr}")


def test_what_a_kill_leaves_beside_complete_outputs():
    """The next batch removes its own, and leaves what others put there."""
    images(3)
    runs.write_job("out")
    for calls in ["write:kill@2:out/", "write:kill@4:out/", "write:kill@6:out/"]:
        subprocess.run(["rm", "-rf", "out"], check=True)
        killed = subprocess.run(with_fault(runs.command(programs.runner, "--quiet"), programs.runner, calls),
                                capture_output=True, timeout=GUARD)
        expect(killed.returncode == -signal.SIGKILL, f"{calls}: exit {killed.returncode}")
        expect(list(pathlib.Path("out").rglob("*.lock")), f"{calls}: no lock is left")
        done = batch(programs.runner, "--quiet")
        expect(done.returncode == 0, done.stderr)
        expect(not list(pathlib.Path("out").rglob("*.lock")), f"{calls}: leaves {tree('out')}")
    # As of a process that was killed after it had recorded the output, which the history then knows.
    output = next(pathlib.Path("out").rglob("good_000*.h5"))
    lock = pathlib.Path(f"{output}.lock")
    for text, code, stays in [("runner lock: process 1 on node\n", 0, False), ("mine\n", 0, True)]:
        lock.write_text(text)
        done = batch(programs.runner, "--quiet")
        expect(done.returncode == code and lock.exists() == stays, f"{text}: {done.returncode} {done.stderr}")


def test_probes():
    """A look that crashes or never ends ends that dataset alone."""
    images(8)
    _, wanted = undisturbed()
    words = {}
    # Which limit of time a probe meets first is the machine's.
    for name, make, *possible in [
            ("good_002_b", bad_files.tree_of_itself, "SIGSEGV"),
            ("good_004_b", bad_files.heap_past_its_end, "SIGXCPU", "took longer than"),
            ("good_005_b", bad_files.selection_of_many_axes, "SIGABRT")]:
        make(f"scans/{name}.h5")
        words[name] = possible
    done = batch(programs.runner)
    expect(done.returncode == 3, f"crashing inputs: exit {done.returncode}", done.stderr)
    for name, possible in words.items():
        reasons = [each.get("why", "") for each in status(programs.runner, "out")["datasets"]
                if each["input"] == f"scans/{name}.h5" and each["status"] == "failed"]
        expect(reasons and any(word in reasons[0] for word in possible), f"{name}: {reasons}", done.stderr)
    expect(runs.same(runs.outputs("out"), wanted), "outputs beside those that crash")


def test_unreadable():
    """What only reading shows is reported once, on however many ranks, and the rest continues."""
    images(9)
    _, wanted = undisturbed()
    bad_files.damaged_bytes(fletcher32=True)("scans/good_004_b.h5")
    done = batch(programs.runner, launch=launch(3))
    expect(done.returncode == 3, f"unreadable: exit {done.returncode}", done.stderr)
    lines = [line for line in done.stderr.splitlines() if "runner: error:" in line]
    expect(len(lines) == 1 and "fletcher32" in lines[0], f"reported {len(lines)} times", done.stderr)
    failed = [event for event in runs.events("out/job.state") if event["event"] == "failed"]
    expect(len(failed) == 1, f"tried {len(failed)} times", str(failed))
    expect(runs.same(runs.outputs("out"), wanted), "outputs beside an unreadable input")
    with h5py.File("scans/good_004_b.h5", "w") as file: # it is whole again
        file["image"] = bad_files.IMAGE
    done = batch(programs.runner)
    expect(done.returncode == 0, "once it is readable", done.stderr)


def sand_job(folder, generations=40):
    pathlib.Path("job.toml").write_text(SAND_JOB.format(folder=folder, generations=generations))


def sand_outputs(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).glob("*.sand")}


def test_sand():
    """.sand outputs, which do not say what they are: done is done, also where the batch was killed
    just then."""
    os.mkdir("scans")
    for number in range(6):
        cells = np.random.default_rng(number).integers(0, 4, (40 + number, 33), np.uint8)
        with h5py.File(f"scans/s{number}.h5", "w") as file:
            file["cells"] = cells
    sand_job("plain")
    done = batch(programs.runner)
    wanted = sand_outputs("plain")
    expect(done.returncode == 0 and len(wanted) == 6, f"sand: {sorted(wanted)}", done.stderr)
    alone = subprocess.run([programs.runner, "job.toml", "--quiet", "--set", 'input.file="scans/s3.h5"',
                            "--set", 'output.file="alone.sand"'], capture_output=True, text=True)
    expect(alone.returncode == 0 and pathlib.Path("alone.sand").read_bytes() == wanted["s3.sand"],
           "one dataset of the batch alone", alone.stderr)
    sand_job("out")
    # Before the rename, between it and the line that records it, and while the journal is removed.
    for number, fault in enumerate(["rename:kill@1:s0.sand", "write:kill@2:log-",
                                    "unlink:kill@1:s2.sand.journal", "rename:kill@1:s3.sand",
                                    "rename:kill@1:s4.sand.journal/record",
                                    "write:kill@4:log-"]):
        before = runs.marks("out", ".sand")
        done = batch(programs.runner, "--quiet", LD_PRELOAD=programs.fault_shim, FAULT=fault)
        expect(done.returncode == -signal.SIGKILL, f"{fault}: exit {done.returncode}", done.stderr)
        now = runs.marks("out", ".sand")
        expect(all(now.get(name) == mark for name, mark in before.items()),
               f"kill {number}: made twice")
    before = runs.marks("out", ".sand")
    done = batch(programs.runner)
    now = runs.marks("out", ".sand")
    expect(done.returncode == 0, f"after kills: exit {done.returncode}", done.stderr)
    expect(all(now.get(name) == mark for name, mark in before.items()), "made twice at the end")
    expect(sand_outputs("out") == wanted, "other .sand outputs than undisturbed")
    expect(not runs.beside("out", ".sand"), f"leaves {runs.beside('out', '.sand')}")
    done = batch(programs.runner)
    expect(runs.marks("out", ".sand") == now, "sand is done again", done.stderr)
    sand_job("out", 50) # killed with a stale one under the name, which is still known then
    done = batch(programs.runner, "--quiet", LD_PRELOAD=programs.fault_shim, FAULT="rename:kill@1:s0.sand")
    expect(done.returncode == -signal.SIGKILL, f"stale: exit {done.returncode}", done.stderr)
    expect(runs.marks("out", ".sand") == now, "the old ones went before there were new ones")
    done = batch(programs.runner)
    expect(done.returncode == 0, f"stale ones: exit {done.returncode}", done.stderr)
    expect(all(mark != now[name] for name, mark in runs.marks("out", ".sand").items()),
           "stale .sand outputs stay")
    subprocess.run(["rm", "-r", "out/job.state"], check=True)
    done = batch(programs.runner)
    expect(done.returncode == 0 and "6 done before" in done.stderr,
           f"sand without its state: exit {done.returncode}", done.stderr)
    subprocess.run("rm -r out/job.state out/*.identity", shell=True, check=True)
    done = batch(programs.runner)
    expect(done.returncode == 4 and "nothing is known" in done.stderr,
           f"sand without state and records: exit {done.returncode}", done.stderr)


def test_large():
    """On three ranks a large dataset is run by all, small ones by one each; bytes as on one."""
    images(12)
    runs.write_image("scans/large.h5", (3000, 1600), 99)
    done, wanted = undisturbed()
    expect(done.returncode == 0 and len(wanted) == 13, "on one rank", done.stderr)
    # Each rank keeps its first small dataset until all three have one.
    process = start_held(runs.command(programs.runner, launch=launch(3)), programs.runner, "rename",
                         "1:/good_")
    expect(wait_for_held(process, 3), "large: a rank had no small dataset")
    release()
    code, text = finish(process)
    expect(code == 0, f"large: exit {code}", text)
    expect(runs.same(runs.outputs("out"), wanted), "outputs of three ranks")
    ranks = {}
    for path in runs.files("out", ".h5"):
        with h5py.File(path) as file:
            ranks[path.name] = int(file.attrs["ranks"])
    large_ranks = ranks.pop("large_convolve.h5")
    expect(large_ranks == 3 and set(ranks.values()) == {1}, f"{large_ranks} {ranks}")
    story = [event for event in runs.events("out/job.state") if event["event"] == "started"]
    expect(story[0]["output"].endswith("large_convolve.h5"), f"began with {story[0]}")
    expect(len(story) == 13, f"{len(story)} datasets were begun")
    logs = {event["log"] for event in story}
    expect(len(logs) == 3, f"{len(logs)} of 3 ranks had work")


def test_two_at_once():
    """Two batches of one job at the same time share the work; nothing is made twice."""
    images(60, (300, 200))
    _, wanted = undisturbed()
    both = [subprocess.Popen(runs.command(programs.runner, launch=before), stderr=subprocess.PIPE,
                             text=True) for before in ([], launch(2))]
    codes, texts = [], []
    for process in both:
        _, text = process.communicate(timeout=GUARD)
        codes.append(process.returncode)
        texts.append(text)
    expect(codes == [0, 0], f"two at once: exit {codes}", "\n".join(texts))
    expect(runs.same(runs.outputs("out"), wanted), "outputs of two batches")
    made = sum(text.count(": done in ") for text in texts)
    expect(made == 60, f"{made} of 60 made by two batches")
    expect(not runs.done_twice("out/job.state"), f"twice: {runs.done_twice('out/job.state')}")
    expect(not runs.beside("out"), f"two batches leave {runs.beside('out')}")
    counts = status(programs.runner, "out")["counts"]
    expect(counts["done"] == 60, f"after two batches: {counts}")


def stop_halfway(process):
    """Stops the batch when part of its large dataset is committed."""
    if wait_for_held(process):
        journal = "out/scans/a_large_convolve.h5.journal"
        wait_until(lambda: journal_bytes(journal) > 32, "committed rows")
        os.kill(process.pid, signal.SIGSTOP)
        wait_until(lambda: stopped([process.pid]), "the stop")


def test_status():
    """What `runner status` says while a batch runs, after it was killed, and to the end."""
    images(3)
    runs.write_image("scans/a_large.h5", (6000, 1500), 7) # comes first
    runs.write_job("out")
    small = ["--set", "run.chunk_rows=100", "--set", "run.lanes=1"]
    done = subprocess.run([programs.runner, "status", "out"], capture_output=True, text=True)
    expect(done.returncode == 3 and "batch" in done.stderr, "status of nothing", done.stderr)
    process = start_held(runs.command(programs.runner, "--quiet", *small), programs.runner, "pwrite",
                         "30:a_large_convolve.h5.partial>=600000")
    stop_halfway(process)
    shown = status(programs.runner, "out")
    first = shown["datasets"][0]
    expect(first["status"] == "running" and f"process {process.pid}" in first["why"],
           f"running: {first}")
    expect(0 < first.get("fraction", 0) < 1, f"half done: {first}")
    expect(shown["counts"]["running"] == 1 and shown["counts"]["waiting"] == 3, str(shown))
    expect(shown.get("seconds_left", -1) > 0, f"no time left: {shown}")
    text = subprocess.run([programs.runner, "status", "out"], capture_output=True, text=True).stdout
    percent = f"{100 * first['fraction']:.0f} %"
    expect("1 running, 3 waiting" in text and percent in text and " left" in text, text)
    kill_all(process)
    process.communicate()
    release()
    first = status(programs.runner, "out")["datasets"][0]
    expect(first["status"] == "stopped" and first.get("fraction", 0) > 0, f"killed: {first}")
    watch = subprocess.Popen([programs.runner, "status", "out", "--watch"], stdout=subprocess.PIPE,
                             text=True)
    expect(watch.stdout.readline().startswith("job: 4 datasets, 1 stopped, 3 waiting"), "--watch")
    done = batch(programs.runner, *small)
    expect(done.returncode == 0, "resumes", done.stderr)
    text, _ = watch.communicate(timeout=GUARD)
    expect(watch.returncode == 0 and text.splitlines()[-1] == "job: 4 datasets, 4 done",
           "--watch to the end", text)
    text = subprocess.run([programs.runner, "status", "out", "--all"], capture_output=True,
                          text=True).stdout
    expect(text.count("\n  done ") == 4, "--all", text)
    pathlib.Path("out/scans/good_001_convolve.h5").unlink()
    shown = status(programs.runner, "out/job.state")
    expect(shown["counts"]["stale"] == 1 and "gone" in json.dumps(shown), str(shown["counts"]))


def test_power():
    """A power cut at one of the calls by which the batch changes files: what has its name is right,
    and the same command resumes. The first dataset is synced as any job, the others are so short
    that only their outputs are."""
    images(4)
    # Short is what takes less than half of the time between two commits.
    settings = ["--set", "output.sync=true", "--set", "run.commit_seconds=3600"]
    _, wanted = undisturbed()
    syncs = "fsync,fdatasync:log@*:" + os.path.abspath("out")
    done = batch(programs.runner, *settings, LD_PRELOAD=programs.fault_shim, FAULT=syncs,
                 FAULT_LOG=os.path.abspath("fault.log"))
    counts = [sum(f"/good_{number:03}_" in call[3] for call in picked()) for number in range(4)]
    expect(done.returncode == 0 and counts[0] > 4 and set(counts[1:]) == {1},
           f"syncs of each dataset's files: {counts}", done.stderr)
    lost = states = 0
    every = 1 if programs.full else 7
    for k in range(1 + programs.seed % every, 10 ** 6, every):
        subprocess.run(["rm", "-rf", "out", "undo", "fault.log"], check=True)
        os.mkdir("out")
        os.mkdir("undo")
        done = batch(programs.runner, "--quiet", *settings, LD_PRELOAD=programs.fault_shim,
                     FAULT=f"{power_loss.CALLS}:kill@{k}:{os.path.abspath('out')}",
                     FAULT_UNDO=os.path.abspath("undo"), FAULT_UNDO_OF=os.path.abspath("out"))
        if done.returncode != -signal.SIGKILL:
            expect(done.returncode == 0, f"at call {k}: exit {done.returncode}", done.stderr)
            break
        log = power_loss.UndoLog(pathlib.Path("undo"))
        rng = random.Random(f"{programs.seed} {k}")
        lost += len(power_loss.cut_power(log, rng, "" if states % 2 else "names", "out"))
        states += 1
        for name, elements in runs.outputs("out").items():
            expect(np.array_equal(elements, wanted[name]), f"power cut at call {k}: wrong {name}")
        done = batch(programs.runner, *settings)
        expect(done.returncode == 0, f"after a power cut at call {k}", done.stderr)
        expect(runs.same(runs.outputs("out"), wanted), f"other outputs, power cut at call {k}")
    expect(k > 60 and lost > 10, f"{k} calls, {lost} names undone in {states} states")
