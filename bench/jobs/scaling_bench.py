"""Whole commands at sizes that people have: scaling_bench.py RUNNER FOLDER [--before RUNNER] [--gpus N] ...

Runs the jobs of JOBS on one GPU and on N, in turns with an earlier build where one is named. FOLDER
should lie in memory or on a disk whose page cache holds inputs and outputs; outputs are not synced.
Prints medians and spread of the whole command in seconds, what of it was the stream, how much memory
a rank locked, and the phases of the last run. `ratio`: this build to the earlier one.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

GAUSS = "row_taps = { gaussian = { sigma = 1.5, radius = %d } }\ncolumn_taps = { gaussian = { sigma = 1.5, radius = %d } }\n"
VOLUME = ("xray", "{e},{e},{e}", "float32", 1280, 3)
STACK = ("noise", "{n},2048,2048", "uint16", 4096, 1)
IMAGE = ("noise", "{e},{e}", "float64", 57344, 2)
PARTS = 'parts = "auto"\n'

# Name: input (pattern, shape, type, extent at scale 1, how many axes grow), output keys, the job.
JOBS = {
    "bm4d": (VOLUME, "", 'kind = "denoise"', '[denoise]\nmethod = "bm4d"\n'),
    "nlm": (VOLUME, "", 'kind = "denoise"', '[denoise]\nmethod = "nlm"\n'),
    "bm4d parts": (VOLUME, PARTS, 'kind = "denoise"', '[denoise]\nmethod = "bm4d"\n'),
    "nlm parts": (VOLUME, PARTS, 'kind = "denoise"', '[denoise]\nmethod = "nlm"\n'),
    "four steps": (STACK, PARTS, "", "".join(f"[[step]]\n{step}" for step in [
        'kind = "median"\nsize = [1, 3, 3]\n', 'kind = "convolve"\ndtype = "float32"\n' + GAUSS % (4, 4),
        'kind = "bin"\nfactors = [1, 2, 2]\n', 'kind = "rescale"\nfrom = [0.0, 65535.0]\ndtype = "uint16"\n'])),
    "convolve": (IMAGE, PARTS, 'kind = "convolve"', "[convolve]\n" + GAUSS % (8, 8)),
    "convolve uint16": (STACK, PARTS, 'kind = "convolve"', "[convolve]\n" + GAUSS % (4, 4)),
    "transpose 1 0 2": (STACK, PARTS, 'kind = "transpose"', "[transpose]\npermutation = [1, 0, 2]\n"),
    "64 MiB": (("noise", "4096,4096", "float32", 1, 1), "", 'kind = "convolve"', "[convolve]\n" + GAUSS % (4, 4)),
}


def shape_of(source, scale):
    """The input's shape at this share of its bytes."""
    _, shape, _, extent, axes = source
    wanted = max(16, round(extent * scale ** (1 / axes)))
    return shape.format(e=wanted, n=wanted)


def make_input(runner, folder, source, scale):
    pattern, _, dtype, _, _ = source
    shape = shape_of(source, scale)
    path = folder / f"in-{pattern}-{dtype}-{shape.replace(',', 'x')}.h5"
    if not path.exists():
        subprocess.run([runner, "generate", pattern, path, "--shape", shape, "--dtype", dtype,
                        "--dataset", "/data"], check=True, stdout=subprocess.DEVNULL)
    return path


def run_once(runner, gpus, folder):
    """Seconds of the whole command, and its report."""
    for old in folder.glob("out*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    words = ["-n", str(gpus)] if gpus > 1 else []
    start = time.perf_counter()
    done = subprocess.run([runner, *words, "job.toml", "--quiet", "--report", "report.json", "--backend", "cuda"],
                          cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(f"exit {done.returncode}\n{done.stderr}")
    return seconds, json.loads((folder / "report.json").read_text())


def describe(name, runs):
    walls = [wall for wall, _ in runs]
    streams = [max(rank["stream_seconds"] for rank in report["ranks"]) for _, report in runs]
    locked = runs[-1][1]["plan"]["memory_per_rank"]["staging_bytes"] / 2**20
    print(f"  {name:12} {statistics.median(walls):7.2f} s ({min(walls):.2f} to {max(walls):.2f}), "
          f"of it stream {statistics.median(streams):6.2f}, locked {locked:6.0f} MiB a rank", flush=True)
    return statistics.median(walls)


def phases_text(wall, report):
    phases = report.get("phases", [])
    after = wall - sum(phase["seconds"] for phase in phases)
    return "; ".join(f"{phase['phase']} {phase['seconds']:.2f}" for phase in phases
                     if phase["seconds"] >= 0.005) + f"; after the report {after:.2f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--before")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the bytes of each input")
    parser.add_argument("--only", default="", help="names of jobs, with commas")
    arguments = parser.parse_args()
    programs = {"before": arguments.before, "now": arguments.runner}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, (source, keys, kind, table) in JOBS.items():
        if arguments.only and name not in arguments.only.split(","):
            continue
        scale = 1.0 if name == "64 MiB" else arguments.scale
        path = make_input(arguments.runner, arguments.folder, source, scale)
        print(f"{name}, {shape_of(source, scale)} {source[2]} ({path.stat().st_size / 2**30:.1f} GiB)")
        (arguments.folder / "job.toml").write_text(
            f'{kind}\n[input]\nfile = "{path.name}"\ndataset = "/data"\n[output]\nfile = "out.h5"\n'
            f"overwrite = true\nsync = false\n{keys}{table}")
        for gpus in sorted({1, arguments.gpus}):
            medians = {}
            runs = {program: [] for program, binary in programs.items() if binary}
            for _ in range(arguments.repeats):
                for program, taken in runs.items():
                    taken.append(run_once(os.path.abspath(programs[program]), gpus, arguments.folder))
            for program, taken in runs.items():
                medians[program] = describe(f"{program}, {gpus} GPU", taken)
            if "before" in medians:
                print(f"  ratio {medians['now'] / medians['before']:.2f}")
            print(f"  phases: {phases_text(*runs['now'][-1])}", flush=True)


main()
