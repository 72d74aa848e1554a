"""What a command takes beside its work: start_bench.py RUNNER BEFORE FOLDER [--repeats N] [--gpus N].

RUNNER beside BEFORE, an earlier build, in turns: commands that need no GPU, a convolution of 64 MiB
on the cores and on GPUs by `-n` and by mpirun. Prints medians, spread and ratios of whole commands.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import time

JOB = """kind = "convolve"
[input]
file = "start_in.h5"
dataset = "/image"
[output]
file = "start_out.h5"
overwrite = true
sync = false
[convolve]
row_taps = { gaussian = { sigma = 1.0 } }
column_taps = { gaussian = { sigma = 1.0 } }
"""


def wall(command, folder, environment=None):
    """Seconds of the whole command, which must succeed."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, **(environment or {})})
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return seconds


def spread(seconds):
    return f"{statistics.median(seconds):7.3f} s ({min(seconds):.3f} to {max(seconds):.3f})"


def cases(gpus):
    """Name, words around the program and environment of each command."""
    run = ["start.toml", "--quiet"]
    yield "--version", [], ["--version"], None
    yield "explain", [], ["explain", "start.toml"], None
    yield "cores, 64 MiB", [], [*run, "--backend", "cpu"], None
    yield "-n 2, cores, 64 MiB", [], ["-n", "2", *run, "--backend", "cpu"], None
    if gpus > 0:
        yield "one GPU, 64 MiB", [], run, None
    if gpus > 1:
        yield "-n 2, two GPUs, 64 MiB", [], ["-n", "2", *run], None
        yield "mpirun -n 2, 64 MiB", ["mpirun", "-n", "2"], run, None
        yield ("mpirun -n 2 with HWLOC_COMPONENTS, 64 MiB", ["mpirun", "-n", "2"], run,
               {"HWLOC_COMPONENTS": "-gl,-opencl"})


def main():
    parser = argparse.ArgumentParser()
    for name in ["runner", "before", "folder"]:
        parser.add_argument(name)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--gpus", type=int, default=0)
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "start.toml").write_text(JOB)
    if not (folder / "start_in.h5").exists():
        wall([arguments.runner, "generate", "noise", "start_in.h5", "--shape", "4096,4096",
              "--dtype", "float32", "--dataset", "/image"], folder)
    for name, launcher, words, environment in cases(arguments.gpus):
        seconds = {arguments.before: [], arguments.runner: []}
        for repeat in range(arguments.repeats + 1):
            for program, taken in seconds.items():
                value = wall([*launcher, program, *words], folder, environment)
                if repeat > 0:  # the first fills caches
                    taken.append(value)
        before, now = seconds[arguments.before], seconds[arguments.runner]
        print(f"{name:44} before {spread(before)}  now {spread(now)}  "
              f"{statistics.median(now) / statistics.median(before):.2f}", flush=True)


main()
