"""Runs of the program with something going wrong, for the tests beside this file."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import h5py
import numpy as np

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out/out.h5"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.1, 0.2, 0.4, 0.2, 0.1]
boundary = "mirror"
'''

# What a run has beside its output while it is under way; all else is left behind.
OUTPUT = "out/out.h5"


class Program:
    """The program, its launcher and the libraries that make calls fail (tests/fault/rules.hpp)."""

    def __init__(self, runner, mpirun, shim, memory_shim):
        self.runner = os.path.abspath(runner)
        self.mpirun = mpirun
        self.shim = os.path.abspath(shim)
        self.memory_shim = os.path.abspath(memory_shim)

    def start(self, arguments, ranks=0, fault="", rank=None, memory=False, **environment):
        """A run under way; ranks 0 is one process without mpirun. `fault`: rules, whose picks come
        into the file fault.log; `rank`: only in that one."""
        setting = {name: str(value) for name, value in environment.items()}
        if fault or environment:
            setting["LD_PRELOAD"] = self.memory_shim if memory else self.shim
            setting["FAULT_LOG"] = os.path.abspath("fault.log")
            setting["FAULT"] = fault
        if rank is not None:
            setting["FAULT_RANK"] = str(rank)
        # Through env: mpirun itself is to run as ever.
        command = ["env", *[f"{name}={value}" for name, value in setting.items()], self.runner,
                   "job.toml", "--quiet", *arguments]
        if ranks:
            command = [self.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks),
                       *command]
        pathlib.Path("fault.log").unlink(missing_ok=True)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True)

    def run(self, arguments, ranks=0, seconds=30, **options):
        """A run to its end: (exit code, what it printed)."""
        return finish(self.start(arguments, ranks, **options), seconds)


def finish(process, seconds):
    """Exit code and output; a process that does not end in time is killed and has none."""
    try:
        out, err = process.communicate(timeout=seconds)
        return process.returncode, out + err
    except subprocess.TimeoutExpired:
        kill_all(process)
        out, err = process.communicate()
        return None, f"HANGS: not done after {seconds} s\n{out}{err}"


def descendants(process):
    """The processes that it started, and theirs."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat[stat.rindex(")") + 2:].split()[1])
    found = [process.pid]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def ranks_of(process):
    """Those of its processes that are the program."""
    ranks = []
    for pid in [process.pid, *descendants(process)]:
        try:
            if os.readlink(f"/proc/{pid}/exe").endswith("/runner"):
                ranks.append(pid)
        except OSError:
            pass
    return ranks


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def kill_all(process):
    send([*descendants(process), process.pid], signal.SIGKILL)


def kill_once_rows_are_done(command):
    """Starts a run that makes out.h5 and kills it when its journal has rows; whether it left an
    output that is begun."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    end = time.monotonic() + 60
    journal = pathlib.Path("out.h5.journal")
    while running.poll() is None and time.monotonic() < end and \
            not any(f.stat().st_size > 60 for f in journal.glob("*.rows")):
        time.sleep(0.002)
    kill_all(running)
    running.wait()
    return pathlib.Path("out.h5.partial").exists()


def picked():
    """The calls that rules picked in the last run: [(function, action, count, path)]."""
    try:
        lines = pathlib.Path("fault.log").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [tuple(line.split(" ", 3)) for line in lines]


def read(file=OUTPUT):
    with h5py.File(file, "r") as opened:
        return opened["image"][...]


def left_behind():
    """What stands beside the output."""
    return sorted(set(os.listdir("out")) - {"out.h5"})


def clear():
    subprocess.run(["rm", "-rf", "out"], check=True)
    os.mkdir("out")


def make_input(shape, file="in.h5"):
    rng = np.random.default_rng(5)
    with h5py.File(file, "w") as opened:
        opened["image"] = rng.random(shape, dtype=np.float32)


class Findings:
    """What was not as it should be."""

    def __init__(self):
        self.count = 0

    def expect(self, condition, what, text=""):
        if not condition:
            self.count += 1
            print(f"WRONG: {what}\n{text}".rstrip(), flush=True)
        return bool(condition)


def prepare_environment(folder):
    """For all runs: as root too, Open MPI's files in a folder that goes, no noise."""
    os.chdir(folder)
    os.environ.pop("RUNNER_REQUIRE_GPU", None)
    os.environ["TMPDIR"] = str(folder)
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    os.environ["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"
    pathlib.Path("job.toml").write_text(JOB)
    os.mkdir("out")


def wait_until(condition, seconds):
    """Whether it came true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


def report(name, findings, text):
    print(f"{name}: {text}, {findings.count} wrong")
    sys.exit(1 if findings.count else 0)
