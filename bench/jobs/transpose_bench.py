"""Whole transposing jobs beside a plain copier, in turns: transpose_bench.py RUNNER PLAIN_COPY FOLDER
[--shape Z,Y,X] [--dtype T] [--memory 1GiB] [--backend B] [--repeats N].

A volume that lies in the page cache, every permutation but the identity, with so much memory of host
and device each; the copier with the job's threads and blocks of 4 MiB. Prints medians, spread and
ratios; compares one output with numpy, plane by plane.
"""
import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import time

import h5py
import numpy as np

JOB = '''kind = "transpose"
[input]
file = "{folder}/volume.h5"
dataset = "/data"
[output]
file = "{folder}/out.h5"
sync = false
[run]
host_memory = "{memory}"
device_memory = "{memory}"
backend = "{backend}"
[transpose]
permutation = {permutation}
'''


def wall(command):
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return time.perf_counter() - start


def spread(seconds):
    return f"{statistics.median(seconds):8.3f} s  ({min(seconds):.3f} to {max(seconds):.3f})"


def planes_differ(folder, permutation):
    """Of some planes of the output, those that are not numpy's."""
    with h5py.File(folder / "volume.h5") as a, h5py.File(folder / "out.h5") as b:
        volume, made = a["data"], b["data"]
        wrong = []
        for index in sorted({0, made.shape[0] // 3, made.shape[0] - 1}):
            cut = [slice(None)] * 3
            cut[permutation[0]] = index
            rest = [axis for axis in range(3) if axis != permutation[0]]
            plane = volume[tuple(cut)]
            right = plane if permutation[1] == rest[0] else plane.T
            if not np.array_equal(made[index], right):
                wrong.append(index)
        return wrong


def main():
    parser = argparse.ArgumentParser()
    for name in ["runner", "plain_copy", "folder"]:
        parser.add_argument(name)
    parser.add_argument("--shape", default="2048,2048,1024")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    volume, out, report = folder / "volume.h5", folder / "out.h5", folder / "report.json"
    if not volume.exists():
        wall([arguments.runner, "generate", "noise", volume, "--shape", arguments.shape, "--dtype",
              arguments.dtype])
    job = folder / "job.toml"
    print(f"{arguments.shape} {arguments.dtype}, {arguments.memory} of host and of device memory, "
          f"{arguments.repeats} runs each in turns, not synced")
    ratios = []
    for permutation in list(itertools.permutations(range(3)))[1:]:
        job.write_text(JOB.format(folder=folder, memory=arguments.memory,
                                  backend=arguments.backend, permutation=list(permutation)))
        ours, copier = [], []
        for _ in range(arguments.repeats):
            out.unlink(missing_ok=True)
            ours.append(wall([arguments.runner, job, "--quiet", "--report", report]))
            facts = json.loads(report.read_text())
            wrong = planes_differ(folder, permutation) if not copier else []
            out.unlink()
            threads = facts["plan"]["io_threads"]
            copier.append(wall([arguments.plain_copy, volume, out, threads, 4 << 20]))
        plan, rank = facts["plan"], facts["ranks"][0]
        ratio = statistics.median(ours) / statistics.median(copier)
        ratios.append(ratio)
        busy = ", ".join(f"{name} {stage['busy_seconds']:.2f}"
                         for name, stage in rank["stages"].items() if stage["busy_seconds"])
        print(f"  {permutation}  runner {spread(ours)}  copier, {threads} threads "
              f"{spread(copier)}  runner / copier {ratio:.2f}"
              f"{'' if not wrong else f'  WRONG PLANES {wrong}'}")
        print(f"    {rank['device']}, boxes {plan['box']}, {plan['lanes']} lanes, reads of "
              f"{plan['read_bytes'] >> 10} KiB, writes of {plan['write_bytes'] >> 10} KiB; stream "
              f"{rank['stream_seconds']:.2f} s, start {facts['start_seconds']:.2f} s; busy: {busy}")
    print(f"  worst {max(ratios):.2f}, median {statistics.median(ratios):.2f}; commit "
          f"{facts['runner']['commit']}")
    volume.unlink()
    out.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
