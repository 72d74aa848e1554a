"""Runs of the program with something going wrong, for the tests beside this file."""
import contextlib
import os
import pathlib
import signal
import subprocess

import h5py
import numpy as np

from events import GUARD, release, wait_for_held, wait_until
from harness import new_folder, programs

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


def start_disturbed(words, ranks=0, fault="", rank=None, memory=False, **environment):
    """A run of the program under way; ranks 0 is one process without mpirun. `fault`: rules (tests/fault/rules.hpp),
    whose picks come into the file fault.log; `rank`: only in that one."""
    setting = {name: str(value) for name, value in environment.items()}
    if fault or environment:
        setting["LD_PRELOAD"] = programs.memory_shim if memory else programs.fault_shim
        setting["FAULT_LOG"] = os.path.abspath("fault.log")
        setting["FAULT"] = fault
    if rank is not None:
        setting["FAULT_RANK"] = str(rank)
    # Through env: mpirun itself is to run as ever.
    command = ["env", *[f"{name}={value}" for name, value in setting.items()], programs.runner, *words]
    if ranks:
        command = [programs.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *command]
    pathlib.Path("fault.log").unlink(missing_ok=True)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


class Program:
    """The program with job.toml, its launcher and the libraries that make calls fail."""

    runner = property(lambda self: programs.runner)

    def start(self, arguments, ranks=0, **options):
        """start_disturbed() of the job."""
        return start_disturbed(["job.toml", "--quiet", *arguments], ranks, **options)

    def run(self, arguments, ranks=0, **options):
        """A run to its end: (exit code, what it printed)."""
        return finish(self.start(arguments, ranks, **options))


def with_fault(command, runner, fault):
    """The command with rules for the program in it (mpirun itself runs as ever), by the library
    that is built beside the program."""
    at = command.index(runner)
    library = pathlib.Path(runner).with_name("fault_shim.so")
    return [*command[:at], "env", f"LD_PRELOAD={library}", f"FAULT={fault}",
            f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0",
            *command[at:]]


def finish(process):
    """Exit code and output; a process that hangs is killed and has none."""
    try:
        out, err = process.communicate(timeout=GUARD)
        return process.returncode, out + err
    except subprocess.TimeoutExpired:
        kill_all(process)
        out, err = process.communicate()
        return None, f"HANGS: not done after {GUARD} s\n{out}{err}"


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


def running_here():
    """All processes that are the program, in this working folder: also those whose parent was killed."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe").endswith("/runner") and \
                    os.path.samefile(entry / "cwd", "."):
                found.append(int(entry.name))
        except OSError:  # it has ended
            pass
    return found


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def kill_all(process):
    send([*descendants(process), process.pid], signal.SIGKILL)


def journal_bytes(journal):
    """Of the longest list of finished rows; 32 where it lists none."""
    try:
        return max((file.stat().st_size for file in pathlib.Path(journal).glob("*.rows")), default=0)
    except FileNotFoundError:  # just removed
        return 0


def start_held(command, runner, function, when):
    """Starts a run that is held at a call, such as ("pwrite", "3:out.h5.partial>=1000")."""
    fault = f"{function}:hold={os.path.abspath('held')}@{when}"
    return subprocess.Popen(with_fault(command, runner, fault), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)


def kill_held(process, is_ready=lambda: True):
    """Kills a run at the call that it is held at, once `is_ready` is true; whether it was held."""
    was_held = wait_for_held(process)
    if was_held:
        wait_until(is_ready, "what a run does beside the call that is held")
    kill_all(process)
    process.communicate()
    release()
    return was_held


def kill_midway(process, output="out.h5"):
    """kill_held() at a write of rows, once rows before these are committed."""
    return kill_held(process, lambda: journal_bytes(output + ".journal") > 32)


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


def parts_of_output():
    """The files that the output's elements are in beside its own, and their folder."""
    if not h5py.is_hdf5(OUTPUT):
        return set()
    with h5py.File(OUTPUT) as file:
        image = file["image"]
        names = {source.file_name for source in image.virtual_sources()} if image.is_virtual \
            else set()
    return names | {os.path.dirname(name) for name in names}


def left_behind():
    """What stands beside the output and is no part of it."""
    there = {str(path.relative_to("out")) for path in pathlib.Path("out").rglob("*")
             if path.parent.name in ("out", "out.parts")}
    return sorted(there - {"out.h5"} - parts_of_output())


def clear():
    subprocess.run(["rm", "-rf", "out"], check=True)
    os.mkdir("out")


def make_input(shape, file="in.h5"):
    rng = np.random.default_rng(5)
    with h5py.File(file, "w") as opened:
        opened["image"] = rng.random(shape, dtype=np.float32)


def undisturbed_result(shape, arguments=()):
    """Makes the input. What a run writes with which nothing interferes."""
    make_input(shape)
    code, text = Program().run(arguments)
    assert code == 0, text
    return read()


@contextlib.contextmanager
def job_folder():
    """A new working folder with job.toml and the folder of its output."""
    with new_folder() as folder:
        pathlib.Path("job.toml").write_text(JOB)
        os.mkdir("out")
        yield folder
