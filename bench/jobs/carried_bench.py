"""Whole commands of jobs whose chunks share borders, in chunks of several lengths.

    carried_bench.py RUNNER FOLDER [--label NAME] [--repeats N] [--side N] [--backend cuda|cpu]

Makes a volume of N³ elements in FOLDER, best a file system in memory. Prints the chunk rows in layers, the median
of the seconds of the command, of its stream and of computing, and a hash of the output's elements, which is the same
for all chunks. Compare two programs by running it for each on the same machine.
"""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import time

import h5py

BM4D = 'kind = "denoise"\nmethod = "bm4d"\nsigma = 0.05\n'
RESCALE = '[[step]]\nkind = "rescale"\ndtype = "uint8"\nfrom = [0.0, {}]\n'
FILTERS = ('kind = "median"\nsize = [3, 3, 3]\n[[step]]\nkind = "convolve"\nsigma = 1.5\n'
           'depth_taps = { gaussian = { sigma = 3.0 } }\n[[step]]\nkind = "median"\nsize = [5, 3, 3]\n')
JOBS = {  # the input, the steps, and chunks in layers; 0: as the plan has them
    "bm4d": ("phantom", BM4D, [0, 260, 104, 52, 26]),
    "bm4d, rescale": ("phantom", BM4D + RESCALE.format(1.0), [0, 52]),
    "median, convolve, median, rescale": ("xray", FILTERS + RESCALE.format(60000.0), [0, 64, 16]),
}


def timed(arguments, steps, source, rows):
    """The seconds of a command, and its rank's report."""
    chunk = f"chunk_rows = {rows}\n" if rows else ""
    pathlib.Path("job.toml").write_text(
        f'[input]\nfile = "{source}.h5"\n[output]\nfile = "out.h5"\noverwrite = true\nsync = false\n'
        f'[run]\nbackend = "{arguments.backend}"\n{chunk}[[step]]\n{steps}')
    start = time.perf_counter()
    subprocess.run([arguments.runner, "job.toml", "--quiet", "--report", "report.json"], check=True)
    seconds = time.perf_counter() - start
    return seconds, json.loads(pathlib.Path("report.json").read_text())["ranks"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner", type=os.path.abspath)
    parser.add_argument("folder")
    parser.add_argument("--label", default="now")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--side", type=int, default=1016)
    parser.add_argument("--backend", default="cuda", choices=["cuda", "cpu"])
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    os.chdir(arguments.folder)
    for pattern, dtype in [("phantom", "float32"), ("xray", "uint16")]:
        if not os.path.exists(f"{pattern}.h5"):
            subprocess.run([arguments.runner, "generate", pattern, f"{pattern}.h5", "--dtype", dtype,
                            "--shape", ",".join([str(arguments.side)] * 3)], check=True, stdout=subprocess.DEVNULL)
    for name, (source, steps, lengths) in JOBS.items():
        for layers in lengths:
            runs = [timed(arguments, steps, source, layers * arguments.side) for _ in range(arguments.repeats)]
            walls = [seconds for seconds, _ in runs]
            stream = statistics.median(rank["stream_seconds"] for _, rank in runs)
            compute = statistics.median(rank["stages"]["compute"]["busy_seconds"] for _, rank in runs)
            with h5py.File("out.h5") as file:
                digest = hashlib.blake2b(file["data"][()].tobytes(), digest_size=6).hexdigest()
            chosen = "" if layers else ", as planned"
            print(f"{arguments.label}: {name}, {runs[0][1]['chunk_rows'] // arguments.side} layers{chosen}: "
                  f"{statistics.median(walls):.2f} s ({min(walls):.2f} to {max(walls):.2f}), stream {stream:.2f}, "
                  f"compute {compute:.2f}, bytes {digest}", flush=True)


if __name__ == "__main__":
    main()
