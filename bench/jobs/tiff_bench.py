"""Jobs that write TIFF: tiff_bench.py RUNNER FOLDER [--before RUNNER] [--backend cuda] [--repeats N]

A rescale of a volume of uint16, from HDF5 to TIFF by each compression, in turns with an earlier build
where one is named; not synced, whole commands. FOLDER should lie in memory. Prints medians and spread
in seconds, gigabytes of input a second, and what share of the input's bytes is stored.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import time

JOB = """kind = "rescale"
[input]
file = "in.h5"
dataset = "/data"
[output]
file = "out.tif"
overwrite = true
sync = false
dtype = "uint16"
compression = "{compression}"
[rescale]
from = [0.0, 65535.0]
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--before")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--frames", type=int, default=1024)
    parser.add_argument("--only", default="none,zstd,lzw,deflate")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    shape = f"{arguments.frames},1448,1448"
    subprocess.run([arguments.runner, "generate", "xray", folder / "in.h5", "--shape", shape,
                    "--dtype", "uint16", "--dataset", "/data"], check=True, stdout=subprocess.DEVNULL)
    size = (folder / "in.h5").stat().st_size
    programs = {"before": arguments.before, "now": arguments.runner}
    programs = {name: os.path.abspath(path) for name, path in programs.items() if path}
    print(f"xray {shape} uint16 ({size / 1e9:.2f} GB) to TIFF, {arguments.backend}; "
          f"medians of {arguments.repeats} (least to most)")
    for compression in arguments.only.split(","):
        (folder / "job.toml").write_text(JOB.format(compression=compression))
        runs = {name: [] for name in programs}
        for _ in range(arguments.repeats):
            for name, program in programs.items():
                start = time.perf_counter()
                subprocess.run([program, "job.toml", "--quiet", "--backend", arguments.backend],
                               cwd=folder, check=True)
                runs[name].append(time.perf_counter() - start)
        for name, seconds in runs.items():
            median = statistics.median(seconds)
            print(f"  {compression:8} {name:6} {median:6.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), "
                  f"{size / 1e9 / median:5.2f} GB/s, stored {(folder / 'out.tif').stat().st_size / size:.2f}",
                  flush=True)
    (folder / "in.h5").unlink()
    (folder / "out.tif").unlink()


main()
