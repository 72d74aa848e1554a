"""Pipelines against their steps one by one.

Each chain is a random list of one to six steps with random parameters, types and boundaries. It is
run as single jobs, each on the output of the one before, and then as a pipeline with random ranks,
chunk rows, lanes and limits: every byte must be the same. Some pipelines are killed at one of their
writes and resumed on other ranks. Nothing may be left beside the output. Other tests say what is
refused, and that what is between steps is not stored.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import Findings, generator, good, launch, programs
from pipeline_steps import random_step

TYPES = ["uint8", "uint16", "float32", "float64"]


class Checks(Findings):
    """The program, and what was found wrong with it."""

    backend = property(lambda self: programs.backend)

    def run(self, *arguments, ranks=1, fault=None):
        command = [programs.runner, *arguments]
        if fault:
            command = ["env", f"LD_PRELOAD={programs.fault_shim}", f"FAULT={fault}", *command]
        return subprocess.run([*launch(ranks), *command], capture_output=True, text=True, timeout=GUARD)

    def job(self, *arguments, **options):
        return self.run("job.toml", "--quiet", "--backend", self.backend, *arguments, **options)


@pytest.fixture(name="checks")
def make_checks():
    return Checks()


def ends(file, dataset, output):
    return (f'[input]\nfile = "{file}"\ndataset = "{dataset}"\n'
            f'[output]\nfile = "{output}"\nsync = false\n')


def contents(file):
    """Every dataset of a job's output, by its name."""
    found = {}
    with h5py.File(file) as opened:
        opened.visititems(lambda name, item: found.update({name: (item.dtype, item[...])})
                          if isinstance(item, h5py.Dataset) and not name.startswith("runner")
                          else None)
    return {name: (dtype, values.shape, values.tobytes())
            for name, (dtype, values) in found.items() if "row_hashes" not in name}


def make_input(random):
    """An input that all kinds take; its shape and type."""
    shape = tuple(int(n) for n in random.integers(3, 14, int(random.integers(2, 4))))
    dtype = str(random.choice(TYPES))
    scale = {"uint8": 256, "uint16": 65536}.get(dtype, 1)
    with h5py.File("in.h5", "w") as file:
        file["data"] = (random.random(shape) * scale).astype(dtype)
    return shape, dtype


def single_jobs(checks, random):
    """Runs a chain step by step; its steps, and the file and datasets that are right."""
    shape, dtype = make_input(random)
    count = int(random.integers(1, 7))
    steps = []
    file = "in.h5"
    for number in range(1, count + 1):
        step = random_step(random, shape, dtype, number == count)
        if step is None:
            break
        kind, lines = step
        output = f"single{number}.h5"
        found = re.search(r'^dtype = .*\n', lines, re.M)
        own = lines if not found else lines.replace(found.group(0), "")
        pathlib.Path("job.toml").write_text(
            f'kind = "{kind}"\n' + ends(file, "/data", output) +
            ((found.group(0)) if found else "") + f"[{kind}]\n{own}")
        done = checks.job()
        if done.returncode != 0:
            checks.expect(False, f"single {kind}: {done.stderr}\n{lines}")
            return None
        file = output
        steps.append(step)
        if kind == "match":
            break
        with h5py.File(file) as opened:
            shape, dtype = opened["data"].shape, str(opened["data"].dtype)
    return steps, file


def write_pipeline(steps, saved):
    text = ends("in.h5", "/data", "out.h5")
    for number, (kind, lines) in enumerate(steps, 1):
        name = f'name = "s{number}"\n' if number % 2 else ""
        save = f'save = "saved{number}.h5"\n' if number in saved else ""
        text += f'[[step]]\nkind = "{kind}"\n{name}{save}{lines}'
    pathlib.Path("job.toml").write_text(text)


def random_settings(random):
    choices = ["--set", f"run.lanes={random.integers(1, 4)}"]
    if random.random() < 0.8:
        choices += ["--set", f"run.chunk_rows={random.choice([1, 2, 3, 5, 8, 13, 40, 200])}"]
    if random.random() < 0.3:
        choices += ["--set", 'run.host_memory="40MiB"']
    return choices


def left_behind():
    """What stands beside outputs, which end in .h5 and have one dot."""
    return sorted(path.name for path in pathlib.Path().iterdir()
                  if path.name.startswith(("out.h5.", "saved")) and path.name.count(".") > 1)


def check_output(checks, expected, done, what):
    if done.returncode != 0:
        checks.expect(False, f"{what}: exit {done.returncode}: {done.stderr}")
        return
    checks.expect(contents("out.h5") == expected, f"{what}: other bytes")
    checks.expect(left_behind() == [], f"{what}: left behind {left_behind()}")


def killed(checks, random, settings):
    """A run that is killed at one of its writes, in whatever pass."""
    at = int(2 ** random.uniform(0, 6))
    ranks = int(random.choice([1, 2]))
    checks.job(*settings, "--set", "run.commit_seconds=0", ranks=ranks,
               fault=f"pwrite,rename,unlink:kill@{at}:" + str(random.choice(["out.h5", "saved"])))
    return f"killed at call {at} of {ranks} ranks, "


def one_chain(checks, random, number):
    found = single_jobs(checks, random)
    if found is None:
        return
    steps, file = found
    expected = contents(file)
    saved = [number for number in range(1, len(steps)) if random.random() < 0.2]
    write_pipeline(steps, saved)
    what = f"chain {number}: " + ", ".join(kind for kind, _ in steps)
    for _ in range(3):
        for old in ["out.h5", *(f"saved{number}.h5" for number in saved)]:
            if old == "out.h5" or random.random() < 0.7:
                pathlib.Path(old).unlink(missing_ok=True)
        settings = random_settings(random)
        ranks = int(random.choice([1, 1, 2, 3, 4]))
        how = f", {ranks} ranks, {' '.join(settings)}\n" + pathlib.Path("job.toml").read_text()
        was = killed(checks, random, settings) if random.random() < 0.4 else ""
        settings = random_settings(random)
        check_output(checks, expected, checks.job(*settings, ranks=ranks), what + was + how)
        for number in saved:
            checks.expect(contents(f"saved{number}.h5") == contents(f"single{number}.h5"),
                          f"{what}: saved {number} has other bytes, {was}{how}")
    # The last one's: recomputed where the steps need no second pass but to save.
    for file in ["out.h5", *(f"saved{number}.h5" for number in saved)]:
        done = checks.run("verify", file)
        checks.expect(done.returncode == 0, f"{what}: verify {file}: {done.stdout}{done.stderr}")


CHAIN = """[[step]]
name = "smooth"
kind = "convolve"
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.25, 0.5, 0.25]
[[step]]
name = "clean"
kind = "denoise"
sigma = "auto"
patch = [1, 2, 2]
window = [1, 5, 5]
count = 4
[[step]]
kind = "convolve"
row_taps = [1.0, 2.0, 1.0]
column_taps = [1.0]
dtype = "float64"
"""


def write_chain(text=CHAIN):
    values = np.random.default_rng(5).random((9, 40, 30)).astype("float32")
    with h5py.File("in.h5", "w") as file:
        file["data"] = values
    pathlib.Path("job.toml").write_text(ends("in.h5", "/data", "out.h5") + text)
    for name in [*left_behind(), "out.h5", *map(str, pathlib.Path().glob("saved*.h5"))]:
        if pathlib.Path(name).is_dir():
            shutil.rmtree(name)
        else:
            pathlib.Path(name).unlink(missing_ok=True)


def test_nothing_between_is_stored(checks):
    write_chain()
    done = checks.job("--until", "1", "--set", 'step.smooth.dtype="float64"', "--report", "r.json")
    checks.expect(done.returncode == 0, done.stderr)
    write_chain(CHAIN[:CHAIN.index('[[step]]\nname = "clean"')] +
                CHAIN[CHAIN.rindex("[[step]]"):])
    done = checks.job("--report", "report.json", "--set", "run.chunk_rows=7", ranks=1)
    report = json.loads(pathlib.Path("report.json").read_text())
    stages = [rank["stages"] for rank in report["ranks"]]
    count = 9 * 40 * 30
    checks.expect(sum(stage["read"]["bytes"] for stage in stages) == 4 * count, "bytes read")
    checks.expect(sum(stage["write"]["bytes"] for stage in stages) == 8 * count, "bytes written")
    checks.expect(left_behind() == [], "nothing beside the output")
    pathlib.Path("report.json").unlink()
    pathlib.Path("r.json").unlink()


def test_report_and_trace_cover_all_passes(checks):
    count = 9 * 40 * 30
    for ranks in [1, 2]:
        write_chain(SAVING)
        done = checks.job("--report", "report.json", "--report", "report.html", "--trace",
                          "trace.json", "--set", "run.chunk_rows=40", ranks=ranks)
        checks.expect(done.returncode == 0, done.stderr)
        report = json.loads(pathlib.Path("report.json").read_text())
        passes = report["passes"]
        checks.expect([each["output"]["file"] for each in passes] ==
                      ["saved1.h5", "saved2.h5", "out.h5"], f"outputs of {passes}")
        steps = [step for each in passes for step in each["steps"]]
        checks.expect([step["step"] for step in steps] ==
                      ['step 1 ("smooth")', 'step 2 ("clean")', "step 3"], f"{steps}")
        checks.expect(all(step["seconds"] > 0 for step in steps), f"{steps}")
        # Halos are read again for every chunk; elements of float32 become float64 in the last.
        least = [8 * count, 8 * count, 12 * count]
        checks.expect(all(step["bytes"] >= bytes for step, bytes in zip(steps, least)), f"{steps}")
        longest = max(steps, key=lambda step: step["seconds"])["step"]
        checks.expect(report["bounding_step"] == longest and longest in report["verdict"],
                      f"{longest}: {report['bounding_step']}, {report['verdict']}")
        checks.expect([each["bytes_written"] for each in passes] == [4 * count, 4 * count,
                                                                     8 * count], f"{passes}")
        checks.expect(sum(each["stream_seconds"] for each in passes) < report["wall_seconds"],
                      "the passes take less than all")
        events = json.loads(pathlib.Path("trace.json").read_text())["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events
                 if event["name"] == "process_name"}
        checks.expect(sorted(names) == list(range(3 * ranks)) and
                      all(names[pid].startswith(f"pass {pid // ranks + 1}, rank {pid % ranks} ")
                          for pid in names), f"{names}")
        ends = [[event["ts"] for event in events if event["ph"] == "X" and
                 event["pid"] // ranks == number] for number in range(3)]
        checks.expect(max(ends[0]) < min(ends[1]) and max(ends[1]) < min(ends[2]),
                      "the passes follow each other")
    for name in ["report.json", "report.html", "trace.json"]:
        pathlib.Path(name).unlink()
    # Steps of one pass, without halos and with one chunk: their bytes are known.
    one = '[[step]]\nkind = "rescale"\nfrom = [0.0, 1.0]\ndtype = "uint8"\n'
    write_chain(one + one.replace("1.0]", "255.0]").replace("uint8", "float64"))
    done = checks.job("--report", "report.json")
    report = json.loads(pathlib.Path("report.json").read_text())
    checks.expect([step["bytes"] for step in report["passes"][0]["steps"]] ==
                  [5 * count, 9 * count], f"{report['passes']} {done.stderr}")
    pathlib.Path("report.json").unlink()


def test_a_run_resumes_in_the_right_pass(checks):
    write_chain()
    checks.expect(checks.job().returncode == 0, "undisturbed")
    expected = contents("out.h5")
    for fault, says in {"mkdir:kill@1:out.h5.journal": "pass 2 of 2",
                        "pwrite:kill@1:out.h5.partial": "pass 2 of 2",
                        "rename:kill@1:out.h5.pass-1": "pass 1 of 2",
                        "unlink:kill@1:out.h5.pass-1.h5.journal": "pass 2 of 2"}.items():
        write_chain()
        done = checks.job(fault=fault)
        checks.expect(done.returncode == -9 or done.returncode == 137, f"{fault}: killed")
        checks.expect(not pathlib.Path("out.h5").exists(), f"{fault}: no output yet")
        done = checks.run("job.toml", "--backend", checks.backend, ranks=2)
        passes = [line for line in done.stderr.splitlines() if line.startswith("pass ")]
        checks.expect(passes[:1] == [says], f"{fault}: begins with {passes}\n{done.stderr}")
        check_output(checks, expected, done, fault)
    done = checks.run("job.toml")
    checks.expect("complete already" in done.stderr and done.returncode == 0, done.stderr)


def test_an_intermediate_of_another_job_is_made_again(checks):
    write_chain()
    change = ["--set", "step.smooth.column_taps=[1.0]"]
    checks.expect(checks.job(*change).returncode == 0, "undisturbed")
    expected = contents("out.h5")
    write_chain()
    checks.job(fault="mkdir:kill@1:out.h5.journal")
    checks.expect(pathlib.Path("out.h5.pass-1.h5").exists(), "pass 1 is there")
    check_output(checks, expected, checks.job(*change), "changed first step")


def test_what_a_power_cut_brings_back_is_removed(checks):
    """What stood under the name of a pass's file and beside it, beside the complete output."""
    write_chain()
    killed = checks.job(fault="unlink:kill@2:out.h5.pass-1.h5.journal")
    checks.expect(killed.returncode in (-9, 137), killed.stderr)
    shutil.copytree("out.h5.pass-1.h5.journal", "kept.journal")
    shutil.copy2("out.h5.pass-1.h5", "kept.h5")
    checks.expect(checks.job().returncode == 0 and not left_behind(), f"resumed: {left_behind()}")
    before = os.stat("out.h5").st_mtime_ns
    for what, bring_back in {
            "journal": lambda: shutil.copytree("kept.journal", "out.h5.pass-1.h5.journal"),
            "empty journal": lambda: os.mkdir("out.h5.pass-1.h5.journal"),
            "lock": lambda: pathlib.Path("out.h5.pass-1.h5.lock").write_text("runner lock: process 1\n"),
            "file": lambda: shutil.copy2("kept.h5", "out.h5.pass-1.h5")}.items():
        for command in [["job.toml"], ["repair", "out.h5"]]:
            bring_back()
            done = checks.run(*command)
            checks.expect(done.returncode == 0, f"{what}, {command}: exit {done.returncode} {done.stderr}")
            checks.expect(not left_behind(), f"{what}, {command}: leaves {left_behind()}")
            checks.expect(os.stat("out.h5").st_mtime_ns == before, f"{what}, {command}: it is made again")
    shutil.rmtree("kept.journal")


SAVING = CHAIN.replace('name = "smooth"', 'name = "smooth"\nsave = "saved1.h5"').replace(
    'name = "clean"', 'name = "clean"\nsave = "saved2.h5"')


def expected_of_saving(checks):
    """What each output of SAVING must hold, made without saving; the input has a unit."""
    expected = {}
    for until, file in {"1": "saved1.h5", "2": "saved2.h5", "3": "out.h5"}.items():
        write_chain()
        with h5py.File("in.h5", "a") as opened:
            opened["data"].attrs["units"] = "counts"
        checks.expect(checks.job("--until", until).returncode == 0, f"until {until}")
        expected[file] = contents("out.h5")
    write_chain(SAVING)
    with h5py.File("in.h5", "a") as opened:
        opened["data"].attrs["units"] = "counts"
    return expected


def check_saved(checks, expected, what):
    for file, values in expected.items():
        checks.expect(pathlib.Path(file).exists() and contents(file) == values, f"{what}: {file}")
    checks.expect(left_behind() == [], f"{what}: left behind {left_behind()}")


def test_steps_are_saved(checks):
    expected = expected_of_saving(checks)
    plan = checks.run("plan", "job.toml")
    checks.expect('step 3: step 2 ("clean") is saved, and this step reads that file' in plan.stdout
                  and "writes saved1.h5:/data" in plan.stdout, plan.stdout + plan.stderr)
    explained = checks.run("explain", "job.toml")
    checks.expect('save = "saved2.h5"' in explained.stdout, explained.stdout)
    done = checks.job(ranks=2)
    checks.expect(done.returncode == 0, done.stderr)
    check_saved(checks, expected, "saved")
    with h5py.File("saved1.h5") as file:
        checks.expect(file["data"].attrs["units"] == "counts", "the input's attributes")
        checks.expect(file.attrs["input_file"] == "in.h5", "the input's name")
    for file in expected:
        done = checks.run("verify", file)
        checks.expect(done.returncode == 0, f"{file}: {done.stdout}{done.stderr}")
        checks.expect(("not computed again" in done.stdout) == (file != "saved1.h5"), done.stdout)
    flip("saved1.h5", "data")
    checks.expect(checks.run("verify", "saved1.h5").returncode == 7, "a flipped bit is found")
    done = checks.run("repair", "saved1.h5")
    checks.expect(done.returncode == 0, done.stderr)
    check_saved(checks, expected, "repaired")


def times(files):
    return {file: os.stat(file).st_mtime_ns for file in files}


def test_only_saved_files_that_are_missing_are_made(checks):
    expected = expected_of_saving(checks)
    checks.expect(checks.job().returncode == 0, "run")
    before = times(expected)
    done = checks.run("job.toml")
    checks.expect(done.returncode == 0 and "complete already" in done.stderr, done.stderr)
    checks.expect(times(expected) == before, "nothing is written again")
    for missing in ["saved1.h5", "saved2.h5", "out.h5"]:
        before = times(expected)
        pathlib.Path(missing).unlink()
        done = checks.run("job.toml", "--backend", checks.backend)
        checks.expect(done.returncode == 0 and done.stderr.count("pass ") == 1, done.stderr)
        check_saved(checks, expected, f"{missing} made again")
        checks.expect({file for file in expected if times([file])[file] != before[file]} ==
                      {missing}, f"only {missing} is written")
    done = checks.job("--set", "output.overwrite=true", "--set", 'run.resume="never"')
    checks.expect(done.returncode == 0, done.stderr)
    check_saved(checks, expected, "all made again")


def test_saving_is_resumed(checks):
    expected = expected_of_saving(checks)
    for fault in ["pwrite:kill@1:saved1.h5.partial", "rename:kill@1:saved1.h5.partial",
                  "unlink:kill@1:saved1.h5.journal", "pwrite:kill@1:saved2.h5.partial",
                  "pwrite:kill@1:out.h5.partial", "unlink:kill@1:out.h5.journal"]:
        for path in [*pathlib.Path().glob("saved*"), *pathlib.Path().glob("out.h5*")]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        done = checks.job("--set", "output.overwrite=true", fault=fault)
        checks.expect(done.returncode in (-9, 137), f"{fault}: {done.returncode} {done.stderr}")
        done = checks.job("--set", "output.overwrite=true", ranks=3)
        checks.expect(done.returncode == 0, f"{fault}: {done.stderr}")
        check_saved(checks, expected, fault)


def test_a_saved_file_is_not_overwritten(checks):
    expected = expected_of_saving(checks)
    with h5py.File("saved2.h5", "w") as file:
        file["mine"] = np.arange(3)
    for setting in ["false", "true"]:
        done = checks.job("--set", f"output.overwrite={setting}")
        checks.expect(done.returncode == 4 and "saved2.h5" in done.stderr, done.stderr)
        checks.expect(not pathlib.Path("saved1.h5").exists(), "nothing ran before")
    pathlib.Path("saved2.h5").unlink()
    checks.expect(checks.job("--set", "step.smooth.column_taps=[1.0]").returncode == 0, "another")
    pathlib.Path("out.h5").unlink()
    done = checks.job()
    checks.expect(done.returncode == 4 and "of another job" in done.stderr, done.stderr)
    done = checks.job("--set", "output.overwrite=true")
    checks.expect(done.returncode == 0, done.stderr)
    check_saved(checks, expected, "replaced")


def test_settings_of_saves(checks):
    expected = expected_of_saving(checks)
    done = checks.job("--until", "smooth")
    checks.expect(done.returncode == 0 and contents("out.h5") == expected["saved1.h5"],
                  f"until: {done.stderr}")
    checks.expect(not pathlib.Path("saved1.h5").exists(), "until: the last step saves nothing")
    pathlib.Path("out.h5").unlink()
    done = checks.job("--set", 'until_saved="smooth"')
    checks.expect(done.returncode == 0 and not pathlib.Path("out.h5").exists(), done.stderr)
    checks.expect(contents("saved1.h5") == expected["saved1.h5"], "until_saved")
    os.mkdir("elsewhere")
    done = checks.job("--set", 'step.clean.save="elsewhere/saved2.h5"')
    checks.expect(done.returncode == 0, done.stderr)
    checks.expect(contents("elsewhere/saved2.h5") == expected["saved2.h5"], "set")
    shutil.rmtree("elsewhere")
    write_chain(SAVING)
    for name in ["out.h5", "in.h5", "STOP", "out.h5.pass-1.h5", "out.h5.partial", "saved2.h5",
                 "job.toml", "missing/saved1.h5"]:
        done = checks.job("--set", f'step.smooth.save="{name}"')
        checks.expect(done.returncode in (2, 4) and name in done.stderr, f"{name}: {done.stderr}")
        checks.expect(done.stderr.count("error:") == 1, f"{name}: {done.stderr}")
        checks.expect(not pathlib.Path("saved2.h5").exists(), f"{name}: nothing ran")


def test_stop_beside_the_output_stops_a_saved_pass(checks):
    expected = expected_of_saving(checks)
    os.mkdir("elsewhere")
    where = ["--set", 'step.smooth.save="elsewhere/saved1.h5"']
    for stop in ["STOP", "elsewhere/STOP"]:
        pathlib.Path(stop).touch()
        done = checks.job(*where)
        checks.expect(done.returncode == 75 and "elsewhere/saved1.h5" in done.stderr, done.stderr)
        pathlib.Path(stop).unlink()
    done = checks.job(*where)
    checks.expect(contents("elsewhere/saved1.h5") == expected["saved1.h5"], done.stderr)
    shutil.rmtree("elsewhere")


def test_stop_and_full_disk(checks):
    write_chain()
    checks.expect(checks.job().returncode == 0, "undisturbed")
    expected = contents("out.h5")
    write_chain()
    pathlib.Path("STOP").touch()
    done = checks.job()
    checks.expect(done.returncode == 75, f"STOP: exit {done.returncode} {done.stderr}")
    pathlib.Path("STOP").unlink(missing_ok=True)
    check_output(checks, expected, checks.job(), "after STOP")
    write_chain()
    done = checks.job(fault="pwrite:ENOSPC@1+:out.h5.pass-1")
    checks.expect(done.returncode == 4 and "out.h5.pass-1" in done.stderr, done.stderr)
    check_output(checks, expected, checks.job(), "after a full disk")


def flip(file, dataset):
    with h5py.File(file) as opened:
        place = opened[dataset].id.get_offset() + 1234
    with open(file, "r+b") as raw:
        raw.seek(place)
        byte = raw.read(1)
        raw.seek(place)
        raw.write(bytes([byte[0] ^ 4]))


def test_verify_and_repair(checks):
    text = CHAIN[:CHAIN.index('[[step]]\nname = "clean"')] + CHAIN[CHAIN.rindex("[[step]]"):]
    write_chain(text)
    checks.expect(checks.job().returncode == 0, "run")
    expected = contents("out.h5")
    done = checks.run("verify", "out.h5")
    checks.expect(done.returncode == 0, done.stdout + done.stderr)
    checks.expect("computed again: " in done.stdout and "not computed again" not in done.stdout,
                  done.stdout)
    flip("out.h5", "data")
    checks.expect(checks.run("verify", "out.h5").returncode == 7, "a flipped bit is found")
    done = checks.run("repair", "out.h5")
    checks.expect(done.returncode == 0 and contents("out.h5") == expected, done.stderr)


def test_verify_and_repair_of_several_passes(checks):
    """What lay between the passes is made again, beside the output, and removed."""
    three = CHAIN + '[[step]]\nkind = "rescale"\nfrom = "extremes"\ndtype = "uint16"\n'
    saved = CHAIN.replace('name = "smooth"\n', 'name = "smooth"\nsave = "saved1.h5"\n')
    for text in [CHAIN, three, saved]:
        write_chain(text)
        checks.expect(checks.job().returncode == 0, "run")
        expected = contents("out.h5")
        pathlib.Path("saved1.h5").unlink(missing_ok=True)
        done = checks.run("verify", "out.h5")
        checks.expect(done.returncode == 0 and "not computed again" in done.stdout and
                      "--recompute" in done.stdout, done.stdout + done.stderr)
        done = checks.run("verify", "out.h5", "--recompute", "6")
        checks.expect(done.returncode == 0 and "computed again: 12 rows: all right" in done.stdout,
                      done.stdout + done.stderr)
        checks.expect(not left_behind() and not os.path.exists("saved1.h5"),
                      f"verify leaves {os.listdir()}")
        flip("out.h5", "data")
        checks.expect(checks.run("verify", "out.h5").returncode == 7, "a flipped bit is found")
        # Killed within the first pass, it resumes there.
        done = checks.run("repair", "out.h5", fault="rename:kill@1:pass-1.h5.partial")
        checks.expect(done.returncode not in (0, 7), f"killed: {done.returncode} {done.stderr}")
        os.makedirs("moved", exist_ok=True)
        done = checks.run("repair", "out.h5")
        checks.expect(done.returncode == 0 and contents("out.h5") == expected and
                      "repaired: " in done.stdout, done.stdout + done.stderr)
        checks.expect(not left_behind(), f"repair leaves {left_behind()}")
        checks.expect(checks.run("verify", "out.h5").returncode == 0, "repaired")
        # A copy elsewhere, of another input.
        os.replace("out.h5", "moved/copy.h5")
        flip("moved/copy.h5", "data")
        with h5py.File("in.h5", "r+") as file:
            file["data"][3] += 1
        done = checks.run("repair", "moved/copy.h5")
        checks.expect(done.returncode == 7 and "changed nothing" in done.stderr,
                      done.stdout + done.stderr)
        checks.expect(os.listdir("moved") == ["copy.h5"], f"{os.listdir('moved')}")


def test_the_plan_says_what_steps_take(checks):
    """By hand: rows of 24 x 2 bytes; a chunk of 8 rows takes 16 of the last step's input, 20 of the second's and
    22 of the first's. What is carried takes multiples of 256 bytes."""
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "in.h5"\ndataset = "/data"\n'
        'generate = { pattern = "noise", shape = [3, 40, 24], dtype = "uint16", seed = 1 }\n'
        '[output]\nfile = "out.h5"\n[run]\nchunk_rows = 8\nlanes = 2\n'
        '[[step]]\nkind = "median"\nsize = [3, 3]\n[[step]]\nkind = "median"\nsize = [5, 5]\n'
        '[[step]]\nkind = "convolve"\nsigma = 1\n')
    done = checks.run("plan", "job.toml", "--json", "--backend", "cpu")
    steps = json.loads(done.stdout)["steps"]
    names = ["lane_bytes", "kept_bytes", "carried_rows", "carried_bytes"]
    found = [[step[name] for name in names] for step in steps]
    checks.expect(found == [[(22 + 20) * 48, 0, 0, 0], [(20 + 16) * 48, 0, 4, 256], [(16 + 8) * 48, 0, 8, 512]],
                  f"{found}")
    text = checks.run("plan", "job.toml", "--backend", "cpu").stdout
    checks.expect("\n    takes 1.12 KiB in a lane, carries 8 rows (512 B) from chunk to chunk\n" in text, text)


def test_errors_name_the_step(checks):
    write_chain(CHAIN.replace('window = [1, 5, 5]', 'window = [1, 4, 5]'))
    done = checks.job()
    checks.expect("job.toml:17:" in done.stderr and "step.clean.window" in done.stderr, done.stderr)
    write_chain(CHAIN.replace('row_taps = [1.0, 2.0, 1.0]', 'row_taps = [1e39]'))
    done = checks.run("plan", "job.toml")
    checks.expect(done.returncode == 2 and "job.toml:19:1, step 3" in done.stderr, done.stderr)
    write_chain(CHAIN + '[[step]]\nkind = "match"\n[[step]]\nkind = "match"\n')
    done = checks.run("plan", "job.toml")
    checks.expect(done.returncode in (2, 3) and "step 4" in done.stderr, done.stderr)
    done = checks.run("plan", "job.toml", "--until", "gone")
    checks.expect('there is no step "gone"' in done.stderr, done.stderr)


def test_a_refused_type_names_the_step_that_converts(checks):
    """The step that the message names makes what numpy makes of the values."""
    values = np.random.default_rng(5).random((6, 8, 7)) * 1000
    match = '[[step]]\nname = "search"\nkind = "match"\nwindow = [3, 3, 3]\npatch = [1, 3, 3]\n'
    for dtype in ["float64", "int32", "int64"]:
        with h5py.File("in.h5", "w") as file:
            file["data"] = values.astype(dtype)
        chain = ends("in.h5", "/data", "out.h5") + (
            '[[step]]\nname = "first"\nkind = "median"\nsize = [1, 1, 1]\n')
        pathlib.Path("job.toml").write_text(chain + match)
        done = checks.run("plan", "job.toml")
        checks.expect(done.returncode == 3 and 'what step 1 ("first") makes' in done.stderr and
                      "runner convert" not in done.stderr and "in.h5" not in done.stderr,
                      f"{dtype}: {done.stderr}")
        step = done.stderr.split("[[step]] before it, ")[1].strip().replace("; ", "\n")
        pathlib.Path("job.toml").write_text(f"{chain}[[step]]\n{step}\n{match}")
        done = checks.run("plan", "job.toml")
        checks.expect(done.returncode == 0, f"{dtype}: {done.stderr}")
        done = checks.job("--until", "2")
        with h5py.File("out.h5") as file:
            made = file["data"][...]
        checks.expect(done.returncode == 0 and made.dtype == np.float32 and
                      np.array_equal(made, values.astype(dtype).astype(np.float32)),
                      f"{dtype}: {done.stderr}")
        os.unlink("out.h5")


@pytest.mark.share(0.3)
@pytest.mark.parametrize("number", [pytest.param(number, marks=pytest.mark.full if number >= 25 else ())
                                    for number in range(200)])
def test_chain(checks, number):
    one_chain(checks, generator("chain", number), number)


def test_passes_take_what_the_job_chose():
    """A later pass takes all frames that the one before it made, whatever their key says."""
    frames = np.random.default_rng(5).integers(0, 999, (14, 6, 10)).astype("uint16")
    key = np.array([2, 2, 1, 1, *[0] * 8, 1, 1])
    with h5py.File("scan.nx", "w") as file:
        file.attrs["default"] = "entry"
        entry = file.create_group("entry")
        entry.attrs.update({"NX_class": "NXentry", "default": "data"})
        entry["definition"] = "NXtomo"
        detector = entry.create_group("instrument/detector")
        entry["instrument"].attrs["NX_class"], detector.attrs["NX_class"] = "NXinstrument", "NXdetector"
        detector["data"], detector["image_key"] = frames, key
        group = entry.create_group("data")
        group.attrs.update({"NX_class": "NXdata", "signal": "data"})
        group["data"] = h5py.SoftLink("/entry/instrument/detector/data")
    steps = '[[step]]\nkind = "transpose"\npermutation = [0, 2, 1]\n[[step]]\nkind = "rescale"\nfrom = "extremes"\nto = [0, 999]\n'
    for chosen, taken in (('"all"', slice(None)), ('{ where = "/entry/instrument/detector/image_key", equals = 1 }', key == 1),
                          ('"0:4"', np.flatnonzero(key == 0)[:4])):
        pathlib.Path("j.toml").write_text(f'[input]\nfile = "scan.nx"\nframes = {chosen}\n[output]\nfile = "o.h5"\n'
                                          f'overwrite = true\n[run]\nbackend = "cpu"\n{steps}')
        good("j.toml", "--quiet", says=r"(?s).*")
        with h5py.File("o.h5") as file:
            assert file["entry/data/data"].shape == (len(frames[taken]), 10, 6), chosen
        good("verify", "o.h5", "--recompute", "2", says=r"(?s).*")
        good("j.toml", "--set", "output.overwrite=false", says=r"(?s).*is complete already.*")


@pytest.mark.parametrize("dtype", ["bool", "float16"])
def test_a_step_that_moves_elements_is_before_one_that_computes(dtype):
    values = (np.random.default_rng(5).random((4, 6, 7)) * 3).astype(dtype)
    with h5py.File("in.h5", "w") as file:
        file["data"] = values
    pathlib.Path("j.toml").write_text('[input]\nfile = "in.h5"\n[output]\nfile = "o.h5"\n[run]\nbackend = "cpu"\n'
                                      '[[step]]\nkind = "transpose"\npermutation = [1, 0, 2]\n'
                                      '[[step]]\nkind = "median"\nsize = [3, 3]\n')
    good("j.toml", "--quiet")
    good("transpose", "in.h5", "moved.h5", "--permutation", "1,0,2", "--quiet")
    good("median", "moved.h5", "s.h5", "--size", "3,3", "--quiet")
    good("compare", "o.h5:/data", "s.h5:/data")


def test_axes_without_names_stay_without_them():
    """The mark of an image, which every HDF5 output has, names none of them, so that later jobs go by their place."""
    np.save("in.npy", np.arange(6 * 7 * 8, dtype="uint16").reshape(6, 7, 8))
    pathlib.Path("j.toml").write_text('[input]\nfile = "in.npy"\n[output]\nfile = "p.h5"\n[run]\nbackend = "cpu"\n'
                                      '[[step]]\nkind = "median"\nsize = [1, 3, 3]\n[[step]]\nkind = "transpose"\n'
                                      'permutation = [2, 0, 1]\n[[step]]\nkind = "reduce"\noperation = "max"\nover = ["y"]\n')
    good("j.toml", "--quiet")
    good("convert", "in.npy", "in.h5")
    for source in ("in.npy", "in.h5"):
        for words in (["median", source, "a.h5", "--size", "1,3,3"], ["transpose", "a.h5", "b.h5", "--permutation", "2,0,1"],
                      ["reduce", "b.h5", "s.h5", "--operation", "max", "--over", "y"]):
            good(*words, "--quiet", "--set", "output.overwrite=true")
        assert "axes" not in good("inspect", "b.h5")
        good("compare", "p.h5:/data", "s.h5:/data")
