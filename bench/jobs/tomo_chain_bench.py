"""Times the chain that makes a tomographic scan ready for reconstruction, from file to file.

    python3 bench/jobs/tomo_chain_bench.py RUNNER FOLDER [--frames 750] [--repeats 3] [--backend cuda]
        [--with "" "-n 2" "--set run.host_memory='8GiB'"]

Makes an NXtomo scan of FRAMES projections of 2048 x 2448 uint16 in FOLDER, and runs two jobs on it: up
to the phase, and up to sinograms without stripes, each once in every turn with each of the options.
Prints the wall time of each command, and of each pass the seconds of its stream, the busiest stage, and
the gigabytes read and written; at last the median of each, with the least and the largest.
"""
import argparse
import json
import pathlib
import shlex
import shutil
import statistics
import subprocess
import time

import h5py
import numpy as np

ROWS, COLUMNS = 2048, 2448
FIELDS = 20  # darks, and as many flats
JOB = '''name = "chain"
[input]
file = "{folder}/scan.nxs"
dataset = "/entry/instrument/detector/data"
[output]
file = "{folder}/out.h5"
parts = "auto"
sync = false
[run]
backend = "{backend}"
[[step]]
kind = "correct"
[[step]]
kind = "median"
size = [3, 3]
difference = 0.2
[[step]]
kind = "phase"
energy = 25.0
distance = 0.2
pixel_size = 1.0
delta_beta = 100.0
'''
SINOGRAMS = '''[[step]]
kind = "transpose"
permutation = [1, 0, 2]
[[step]]
kind = "stripes"
size = 31
'''


def make_scan(file, frames):
    random = np.random.default_rng(1)
    images = [(20000 + random.normal(0, 140, (ROWS, COLUMNS))).astype("uint16") for _ in range(8)]
    with h5py.File(file, "w") as scan:
        entry = scan.create_group("entry")
        entry.attrs["NX_class"] = "NXentry"
        entry["definition"] = "NXtomo"
        detector = entry.create_group("instrument/detector")
        detector.attrs["NX_class"] = "NXdetector"
        data = detector.create_dataset("data", (2 * FIELDS + frames, ROWS, COLUMNS), "uint16")
        for i in range(2 * FIELDS + frames):
            data[i] = images[i % 8] // (20 if i < FIELDS else 1)
        detector["image_key"] = np.array([2] * FIELDS + [1] * FIELDS + [0] * frames, "int32")


def remove_outputs(folder):
    for path in folder.glob("out.*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=750)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--with", dest="ways", nargs="+", default=[""], help="options of the command, each a way")
    options = parser.parse_args()
    folder = options.folder
    make_scan(folder / "scan.nxs", options.frames)
    job = JOB.format(folder=folder, backend=options.backend)
    times = {}
    for name, text in (("to the phase", job), ("to sinograms without stripes", job + SINOGRAMS)):
        (folder / "chain.toml").write_text(text)
        for turn in range(options.repeats * len(options.ways)):
            way = options.ways[turn % len(options.ways)]
            remove_outputs(folder)
            start = time.perf_counter()
            subprocess.run([options.runner, folder / "chain.toml", "--report", folder / "report.json", "--quiet",
                            *shlex.split(way)], check=True)
            seconds = time.perf_counter() - start
            times.setdefault(f"{name} {way}", []).append(seconds)
            passes = json.loads((folder / "report.json").read_text())["passes"]
            print(f"{name:30} {way:10} {seconds:6.2f} s", *(
                f"  stream {each['stream_seconds']:5.2f} s, {each['bottleneck']}, "
                f"{each['bytes_read'] * 1e-9:4.1f} GB to {each['bytes_written'] * 1e-9:4.1f} GB"
                for each in passes), sep="\n", flush=True)
    for name, each in times.items():
        print(f"{name:50} {statistics.median(each):6.2f} s ({min(each):.2f} to {max(each):.2f})")
    remove_outputs(folder)


if __name__ == "__main__":
    main()
