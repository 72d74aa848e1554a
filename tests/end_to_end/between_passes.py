"""What lies between passes in parts.

A job of several passes makes the same bytes whether the values between its passes lie in one file or
in several, on any ranks, and after kills at any of the calls that write, publish or remove them. Its
last run leaves nothing beside the output, and nothing that others made is touched.
"""
import itertools
import os
import pathlib
import shutil

import h5py
import pytest

from pipelines import CHAIN, Checks, contents, ends, left_behind, write_chain

LAST = '[[step]]\nkind = "transpose"\npermutation = [1, 0, 2]\n'
CHAINS = {2: CHAIN, 3: CHAIN + LAST, 4: CHAIN + LAST + '[[step]]\nkind = "median"\nsize = [1, 3, 3]\n'}
PARTS = ["--set", "output.parts=3"]
OFTEN = ["--set", "run.commit_seconds=0", "--set", "run.chunk_rows=40"]


@pytest.fixture(name="checks")
def make_checks():
    return Checks()


def left():
    """What stands beside the output, but for its own parts."""
    return left_behind() + [str(path) for path in pathlib.Path().glob("out.h5.pass-*.parts/*")]


def clear():
    for path in pathlib.Path().glob("out.*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def wanted(checks, passes):
    """The right output of the chain, made in single files."""
    write_chain(CHAINS[passes])
    done = checks.job()
    checks.expect(done.returncode == 0, done.stderr)
    values = contents("out.h5")
    clear()
    return values


def killed(checks, fault, *arguments, ranks=1):
    done = checks.job(*OFTEN, *arguments, fault=fault, ranks=ranks)
    checks.expect(done.returncode in (-9, 137), f"{fault}: exit {done.returncode} {done.stderr}")


def completes(checks, values, what, *arguments, ranks=1):
    done = checks.job(*arguments, ranks=ranks)
    checks.expect(done.returncode == 0, f"{what}: exit {done.returncode} {done.stderr}")
    checks.expect(os.path.exists("out.h5") and contents("out.h5") == values, f"{what}: other bytes")
    checks.expect(left() == [], f"{what}: left {left()}")


@pytest.mark.parametrize("passes", [3, 4])
def test_same_bytes(checks, passes):
    values = wanted(checks, passes)
    for ranks in [1, 2, 3]:
        for setting in [["--set", "output.parts=1"], PARTS, ["--set", 'output.parts="auto"']]:
            completes(checks, values, f"{setting[1]} by {ranks} ranks", *setting, ranks=ranks)
            clear()


def test_an_intermediate_is_in_parts(checks):
    write_chain(CHAINS[3])
    killed(checks, "mkdir:kill@1:out.h5.journal", *PARTS)
    checks.expect(sorted(os.listdir("out.h5.pass-2.parts")) == ["0000.h5", "0001.h5", "0002.h5"],
                  f"{left()}")
    with h5py.File("out.h5.pass-2.h5") as file:
        checks.expect(file["pass/data"].is_virtual, "a dataset over the parts")


def test_the_plan_says_how_many(checks):
    """As many as the ranks write at once, whatever the form of the output."""
    text = CHAINS[3].replace('sigma = "auto"', "sigma = 0.1")
    for output in ["out.h5", "out.npy"]:
        pathlib.Path("job.toml").write_text(
            f'[input]\nfile = "in.h5"\ndataset = "/data"\n'
            'generate = { pattern = "noise", shape = [64, 1024, 1024], dtype = "float32", seed = 1 }\n'
            f'[output]\nfile = "{output}"\n' + text)
        done = checks.run("plan", "job.toml", "-n", "4", "--backend", "cpu", "--host-memory", "8GiB")
        passes = done.stdout.split("\npass ")
        checks.expect(len(passes) == 3 and "in 4 parts" not in passes[2], done.stdout + done.stderr)
        for number in [1, 2]:
            checks.expect(f"in 4 parts in {output}.pass-{number}.parts" in passes[number - 1], done.stdout)


FAULTS = ["pwrite:kill@3:pass-1.parts", "fallocate,ftruncate:kill@1:pass-1.parts",
          "create:kill@2:pass-1.parts", "mkdir:kill@1:pass-1.parts", "rename:kill@1:pass-1.h5.partial",
          "unlink:kill@1:pass-1.h5.journal", "mkdir:kill@1:out.h5.pass-2.h5.journal",
          "pwrite:kill@2:pass-2.parts", "rename:kill@1:pass-2.h5.partial", "unlink:kill@1:pass-1.h5",
          "unlink:kill@2:pass-1.parts/0", "unlink:kill@4:pass-1.parts/0", "unlink:kill@6:pass-1.parts/0",
          "unlink:kill@3:pass-1.h5.lock",
          "mkdir:kill@1:out.h5.journal", "pwrite:kill@1:out.parts", "rename:kill@1:out.h5.partial",
          "unlink:kill@4:pass-2.parts/0", "unlink:kill@5:pass-2.parts/0"]


@pytest.mark.share(0.3)
@pytest.mark.parametrize("fault", FAULTS)
def test_kills(checks, fault):
    """The same command, on other ranks, makes the right output of what a kill leaves."""
    values = wanted(checks, 3)
    killed(checks, fault, *PARTS)
    checks.expect(left() != [], f"{fault}: nothing is left")
    completes(checks, values, fault, *PARTS, ranks=1 + FAULTS.index(fault) % 3)


def test_kills_of_the_removal(checks):
    """The command removes the parts that a kill leaves without the file over them, where the output is
    complete too."""
    values = wanted(checks, 2)
    commands = [["job.toml", *PARTS], ["repair", "out.h5"], ["verify", "out.h5", "--recompute", "2"]]
    for number, arguments in enumerate(commands):
        killed(checks, f"unlink:kill@{4 + number}:pass-1.parts/0", *PARTS)
        # Several threads remove: the one that is killed leaves its part, others may have removed theirs.
        checks.expect(os.path.exists("out.h5") and os.listdir("out.h5.pass-1.parts") != [], f"{left()}")
        done = checks.run(*arguments)
        checks.expect(done.returncode == 0 and contents("out.h5") == values, done.stderr)
        checks.expect(left() == [], f"{arguments}: left {left()}")
        clear()


ONE_STEP = '[[step]]\nkind = "median"\nsize = [1, 3, 3]\n'


@pytest.mark.parametrize("setting", [[], PARTS], ids=["files", "parts"])
@pytest.mark.parametrize("shorter", [CHAINS[2], ONE_STEP], ids=["two passes", "one step"])
def test_fewer_passes(checks, shorter, setting):
    """What a longer job of this output stored goes with a shorter one that is completed; what is another's stays."""
    write_chain(shorter)
    checks.expect(checks.job().returncode == 0, "the shorter job")
    values = contents("out.h5")
    clear()
    write_chain(CHAINS[4])
    killed(checks, "mkdir:kill@1:out.h5.journal", *setting)
    checks.expect(os.path.exists("out.h5.pass-2.h5"), f"{left()}")
    shutil.copy2("out.h5.pass-2.h5", "out.h5.pass-9.h5")
    with h5py.File("out.h5.pass-9.h5", "r+") as file:
        file["mine"] = 1
    with h5py.File("out.h5.pass-5.h5", "w") as file:
        file["mine"] = 1
    pathlib.Path("job.toml").write_text(ends("in.h5", "/data", "out.h5") + shorter)
    done = checks.job(*setting)
    checks.expect(done.returncode == 0 and contents("out.h5") == values, done.stderr)
    others = ["out.h5.pass-5.h5", "out.h5.pass-9.h5"]
    checks.expect(sorted(left()) == others, f"left {left()}")


def test_other_numbers_of_parts(checks):
    """Files of another number of parts, finished or not, are taken as they are."""
    values = wanted(checks, 2)
    for fault in ["rename:kill@1:pass-1.h5.partial", "mkdir:kill@1:out.h5.journal"]:
        for before, after in [("1", "3"), ("3", "1"), ("2", "5")]:
            killed(checks, fault, "--set", f"output.parts={before}")
            done = checks.run("job.toml", "--set", f"output.parts={after}")
            what = f"{fault}, {before} and {after}"
            checks.expect(done.returncode == 0 and "starts over" not in done.stderr, f"{what}: {done.stderr}")
            checks.expect(("pass 1 of 2" in done.stderr) == ("pass-1" in fault), f"{what}: {done.stderr}")
            checks.expect(contents("out.h5") == values and left() == [], f"{what}: {left()}")
            clear()


def test_a_part_is_gone(checks):
    """The pass runs again where its output is read; else what is left of it goes."""
    values = wanted(checks, 2)
    for fault in ["mkdir:kill@1:out.h5.journal", "unlink:kill@1:out.h5.journal"]:
        killed(checks, fault, *PARTS)
        os.unlink("out.h5.pass-1.parts/0001.h5")
        completes(checks, values, f"{fault}, a part is gone", *PARTS)
        clear()
    killed(checks, "mkdir:kill@1:out.h5.journal", *PARTS)
    with open("out.h5.pass-1.parts/0001.h5", "r+b") as part:
        part.truncate(100)
    done = checks.job(*PARTS)
    checks.expect(done.returncode == 4 and "out.h5.pass-1.parts/0001.h5" in done.stderr, done.stderr)
    os.unlink("out.h5.pass-1.parts/0001.h5")
    completes(checks, values, "a part that was cut is gone", *PARTS)


def test_another_job(checks):
    """Values of another job between its passes are replaced, with their parts."""
    values = wanted(checks, 2)
    other = ["--set", "step.smooth.column_taps=[1.0]"]
    for fault in ["mkdir:kill@1:out.h5.journal", "pwrite:kill@3:pass-1.parts"]:
        killed(checks, fault, *PARTS, *other)
        never = ["--set", 'run.resume="never"'] if "pass-1" in fault else []
        completes(checks, values, f"another, {fault}", *PARTS, *never)
        clear()


def test_what_others_made_stays(checks):
    values = wanted(checks, 3)
    for number, name in itertools.product([1, 2], ["README", "0000.h5", "0000b.h5"]):
        folder = pathlib.Path(f"out.h5.pass-{number}.parts")
        folder.mkdir()
        (folder / name).write_text("mine")
        done = checks.run("job.toml", *PARTS)
        checks.expect(done.returncode == 4 and str(folder) in done.stderr, f"{name}: {done.stderr}")
        checks.expect("pass 1 of 3" not in done.stderr, f"{folder}: a pass ran: {done.stderr}")
        checks.expect((folder / name).read_text() == "mine" and left_behind() == [folder.name],
                      f"{folder}/{name}: {left_behind()}")
        shutil.rmtree(folder)
    # A file that somebody puts there between two runs stays, and its folder with it.
    killed(checks, "mkdir:kill@1:out.h5.journal", *PARTS)
    pathlib.Path("out.h5.pass-2.parts/README").write_text("mine")
    done = checks.job(*PARTS)
    checks.expect(pathlib.Path("out.h5.pass-2.parts/README").read_text() == "mine", done.stderr)
    os.unlink("out.h5.pass-2.parts/README")
    completes(checks, values, "without it", *PARTS)
