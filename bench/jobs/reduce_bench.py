"""Whole reductions beside numpy: reduce_bench.py RUNNER FOLDER [--backend cuda] [--shape Z,Y,X] [--repeats N]

A volume of uint16 in FOLDER, which should lie in memory: projections along z and means of frames,
from file to file, by `runner reduce` and by numpy (a memory-mapped input, the result saved). Medians
and spread of whole commands in seconds; numpy's do not count Python's start.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import time

import h5py
import numpy as np

CASES = {
    "max over z": (["--operation", "max", "--over", "z"], lambda x: x.max(axis=0)),
    "mean over z": (["--operation", "mean", "--over", "z"], lambda x: x.mean(axis=0, dtype=np.float64).astype("f4")),
    "median over z": (["--operation", "median", "--over", "z"], None),
    "mean of a frame": (["--operation", "mean", "--over", "frame"],
                        lambda x: x.mean(axis=(1, 2), dtype=np.float64).astype("f4")),
    "percentiles of a frame": (["--operation", "percentiles", "--percentiles", "1,99", "--over", "frame"], None),
}


def show(name, seconds):
    print(f"  {name:24} {statistics.median(seconds):7.2f} s ({min(seconds):.2f} to {max(seconds):.2f})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--shape", default="1000,1448,1448")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    folder = arguments.folder
    runner = os.path.abspath(arguments.runner)
    source = folder / "in.h5"
    subprocess.run([runner, "generate", "xray", source, "--shape", arguments.shape, "--dtype", "uint16",
                    "--dataset", "/data"], check=True, stdout=subprocess.DEVNULL)
    with h5py.File(source) as file:
        data = file["data"]
        volume = np.memmap(source, data.dtype, "r", data.id.get_offset(), data.shape)
    print(f"xray {arguments.shape} uint16 ({source.stat().st_size / 1e9:.2f} GB), {arguments.backend}; "
          f"medians of {arguments.repeats} (least to most)")
    for name, (words, reference) in CASES.items():
        seconds = []
        for _ in range(arguments.repeats):
            start = time.perf_counter()
            subprocess.run([runner, "reduce", source, folder / "out.h5", *words, "--overwrite", "--quiet",
                            "--set", "output.sync=false", "--set", f"run.backend={arguments.backend}"], check=True)
            seconds.append(time.perf_counter() - start)
        show(name, seconds)
        if reference is None:
            continue
        seconds = []
        for _ in range(arguments.repeats):
            start = time.perf_counter()
            np.save(folder / "numpy.npy", reference(volume))
            seconds.append(time.perf_counter() - start)
        show("  numpy", seconds)
        with h5py.File(folder / "out.h5") as file:
            made = file["data"][()]
        print(f"  {'':24} equal: {np.array_equal(made, np.load(folder / 'numpy.npy'))}")
    source.unlink()


main()
