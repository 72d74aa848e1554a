"""What invalid elements cost: invalid_bench.py RUNNER FOLDER [--backend cuda] [--frames 512] [--repeats 3]

Three runs in turns of each job on a stack of 2048 x 2048 uint16: of values alone (input.invalid =
"none"), with an invalid number that no element is, and with 1 % invalid elements. Prints the medians
of the seconds of computing and of the stream, and their ratios to the first. FOLDER should lie in
memory.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess

import h5py
import numpy as np

TAPS = "row_taps = { gaussian = { sigma = 1.5, radius = 4 } }\ncolumn_taps = { gaussian = { sigma = 1.5, radius = 4 } }"
JOBS = {"bin 1 x 2 x 2": ("bin", "factors = [2, 2]"), "median 1 x 3 x 3": ("median", "size = [3, 3]"),
        "median 1 x 5 x 5": ("median", "size = [5, 5]"), "median 1 x 7 x 7": ("median", "size = [7, 7]"),
        "convolve R 4": ("convolve", TAPS), "rescale": ("rescale", "from = [0, 65535]\nto = [0, 1000]")}
WAYS = {"none": ("values.h5", '"none"'), "0 %": ("values.h5", "65535"), "1 %": ("some.h5", "65535")}


def make_inputs(frames):
    random = np.random.default_rng(0)
    values = random.integers(0, 65535, (2048, 2048), "u2")
    lost = random.random(values.shape) < 0.01
    for name in ("values.h5", "some.h5"):
        if not pathlib.Path(name).exists():
            with h5py.File(name, "w") as file:
                data = file.create_dataset("data", (frames, 2048, 2048), "u2")
                for i in range(frames):
                    frame = np.roll(values, 31 * i)
                    data[i] = np.where(np.roll(lost, 17 * i), 65535, frame) if name == "some.h5" else frame


def run_once(runner, backend, kind, keys, way):
    file, invalid = WAYS[way]
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{file}"\ndataset = "/data"\ninvalid = {invalid}\n[output]\nfile = "out.h5"\n'
        f'overwrite = true\nsync = false\n[run]\nbackend = "{backend}"\n[{kind}]\n{keys}\n')
    subprocess.run([runner, "job.toml", "--quiet", "--resume", "never", "--report", "r.json"], check=True)
    report = json.loads(pathlib.Path("r.json").read_text())
    rank, = report["ranks"]
    return rank["stages"]["compute"]["busy_seconds"], rank["stream_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--frames", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    runner = str(options.runner.resolve())
    options.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(options.folder)
    make_inputs(options.frames)
    for name, (kind, keys) in JOBS.items():
        times = {way: [] for way in WAYS}
        for _ in range(options.repeats):
            for way in WAYS:
                times[way].append(run_once(runner, options.backend, kind, keys, way))
        print(name, flush=True)
        first = None
        for way, seconds in times.items():
            compute, stream = (statistics.median(each) for each in zip(*seconds))
            first = first or (compute, stream)
            least, most = min(c for c, _ in seconds), max(c for c, _ in seconds)
            print(f"  {way:5} computing {compute:.3f} s ({least:.3f} to {most:.3f}), {compute / first[0]:.2f} x; "
                  f"stream {stream:.3f} s, {stream / first[1]:.2f} x", flush=True)


if __name__ == "__main__":
    main()
