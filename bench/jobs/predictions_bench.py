"""Predictions beside real times: predictions_bench.py RUNNER FOLDER [--rounds N] [--seconds S] [--scale X]

Nineteen jobs of different kinds, formats and passes. For each, `runner try` predicts the time of the
whole command, which then runs at once; several rounds of all. Prints each ratio of predicted to
real time, their medians, and how many medians are within 30 %. Inputs lie in FOLDER, some 2 GB, and
in the page cache.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import time

SHAPE = (480, 640, 800)  # of the largest volumes, at scale 1

# name: input file, output file and how it is stored, tables
JOBS = {
    "convolve, HDF5": ("xray.h5", "out.h5", """[convolve]
row_taps = { gaussian = { sigma = 2.0 } }
column_taps = { gaussian = { sigma = 2.0 } }
depth_taps = { gaussian = { sigma = 2.0 } }
"""),
    "median 3 x 3, chunks of deflate": ("packed.h5", "out.h5", "[median]\nsize = [3, 3]\n"),
    "median 3 x 3 x 3, MRC": ("xray.mrc", "out.mrc", "[median]\nsize = [3, 3, 3]\n"),
    "nlm, HDF5": ("small.h5", "out.h5", '[denoise]\nmethod = "nlm"\nsigma = 30.0\nwindow = [3, 7, 7]\n'
                  "patch = [1, 3, 3]\n"),
    "bm4d, sigma auto, HDF5": ("small.h5", "out.h5", '[denoise]\nmethod = "bm4d"\nsigma = "auto"\n'),
    "rescale by percentiles, TIFF": ("xray.tif", "out.tif:uint8", "[rescale]\nfrom = { percentiles = [1.0, 99.0] }\n"),
    "bin, Zarr to Zarr": ("xray.zarr", "out.zarr", "[bin]\nfactors = [2, 2, 2]\n"),
    "convolve, a PNG": ("image.png", "out.png", "[convolve]\nrow_taps = { gaussian = { sigma = 4.0 } }\n"
                        "column_taps = { gaussian = { sigma = 4.0 } }\n"),
    "stripes, .npy to packed HDF5": ("xray.npy", "out.h5:packed", "[stripes]\nsize = 21\n"),
    "correct with logarithm, a scan": ("scan.h5", "out.h5", "[correct]\nnegative_log = true\n"),
    "phase, a scan": ("phase.h5", "out.h5", "[phase]\nenergy = 25\ndistance = 0.5\npixel_size = 2\n"
                      "delta_beta = 150\n"),
    "stitch half acquisitions": ("xray.h5", "out.h5", '[stitch]\noverlap = 120\nside = "right"\n'),
    "reduce layers to their mean": ("xray.h5", "out.h5", '[reduce]\noperation = "mean"\nover = ["z"]\n'),
    "median of each frame, TIFF": ("xray.tif", "out.h5", '[reduce]\noperation = "median"\nover = "frame"\n'),
    "histogram of all frames": ("xray.h5", "out.h5", '[reduce]\noperation = "histogram"\nover = ["z", "y", "x"]\n'
                                "bins = 256\nfrom = [0, 4096]\n"),
    "fill gaps by means": ("xray.h5", "out.h5:gaps", '[fill]\nmethod = "mean"\nreach = [4, 4]\n'),
    "transpose to the last axis": ("xray.h5", "out.h5", "[transpose]\npermutation = [2, 1, 0]\n"),
    "transpose five axes": ("five.h5", "out.h5", "[transpose]\npermutation = [2, 0, 1, 4, 3]\n"),
    "two passes, a scan": ("scan.h5", "out.h5", """[[step]]
kind = "correct"
negative_log = true
floor = 0.01
[[step]]
kind = "median"
size = [3, 3]
[[step]]
kind = "rescale"
from = { percentiles = [1.0, 99.0] }
dtype = "uint16"
"""),
}


def make_inputs(runner, folder, scale):
    def make(*words):
        subprocess.run([runner, *map(str, words)], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    def shape(share, extents=SHAPE):
        return ",".join(map(str, (max(8, round(extents[0] * share * scale)), *extents[1:])))

    make("generate", "xray", "xray.h5", "--shape", shape(1), "--dtype", "uint16")
    make("generate", "xray", "packed.h5", "--shape", shape(0.5), "--dtype", "uint16", "--chunk", "8,320,400",
         "--compression", "deflate", "--shuffle")
    make("generate", "xray", "small.h5", "--shape", shape(1, (64, 192, 192)), "--dtype", "uint16")
    make("generate", "xray", "quarter.h5", "--shape", shape(0.25), "--dtype", "uint16")
    make("generate", "xray", "image.h5", "--shape", shape(1, (4800, 6400)), "--dtype", "uint8")
    make("generate", "tomo-scan", "scan.h5", "--shape", shape(0.7, (400, 640, 800)), "--dtype", "uint16")
    make("generate", "phase-scan", "phase_scan.h5", "--shape", shape(0.4, (400, 640, 800)), "--dtype", "uint16")
    make("generate", "noise", "five.h5", "--shape", shape(0.25, (40, 20, 24, 64, 80)), "--dtype", "uint16")
    for source, made in (("xray.h5", "xray.tif"), ("xray.h5", "xray.zarr"), ("quarter.h5", "xray.mrc"),
                         ("quarter.h5", "xray.npy"), ("image.h5", "image.png")):
        make("convert", source, made)
    (folder / "phase_scan.h5").rename(folder / "phase.h5")


def write_job(folder, source, output, tables):
    kind = "" if tables.startswith("[[step]]") else f'kind = "{tables[1:tables.index("]")]}"\n'
    gaps = "invalid = 1000\n" if output.endswith(":gaps") else ""
    more = {"packed": 'chunk = [1, 640, 800]\ncompression = "zstd"\n', "uint8": 'dtype = "uint8"\n'}
    name, _, option = output.partition(":")
    (folder / "job.toml").write_text(
        f'{kind}[input]\nfile = "{source}"\n{gaps}[output]\nfile = "{name}"\noverwrite = true\n{more.get(option, "")}'
        f'[run]\nbackend = "cpu"\n{tables}')


def seconds_of(text):
    """ "820 ms", "1.5 s" or "1:06:40 h" in seconds. """
    number, unit = text.split()
    if unit == "h":
        hours, minutes, seconds = map(int, number.split(":"))
        return 3600 * hours + 60 * minutes + seconds
    return float(number) * {"µs": 1e-6, "ms": 1e-3, "s": 1}[unit]


def one_round(runner, folder, seconds):
    def call(*words):
        done = subprocess.run([runner, *words], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    text = call("try", "job.toml", "--seconds", f"{seconds}s", "--out", "page")
    predicted = seconds_of(re.search(r"whole job: about (.*?),", text)[1])
    start = time.perf_counter()
    call("job.toml", "--quiet")
    return predicted, time.perf_counter() - start, text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--only", default="", help="jobs whose names have this")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    runner = os.path.abspath(arguments.runner)
    arguments.folder.mkdir(exist_ok=True)
    if not (arguments.folder / "phase.h5").exists():
        make_inputs(runner, arguments.folder, arguments.scale)
    good = 0
    jobs = {name: job for name, job in JOBS.items() if arguments.only in name}
    print(f"{'job':34} predicted   real s   predicted / real: median (each); load")
    for name, (source, output, tables) in jobs.items():
        write_job(arguments.folder, source, output, tables)
        pairs = []
        for _ in range(arguments.rounds):
            *pair, text = one_round(runner, arguments.folder, arguments.seconds)
            pairs.append(pair)
            if arguments.verbose:
                print(text, pair)
        ratios = [predicted / real for predicted, real in pairs]
        middle = statistics.median(ratios)
        good += abs(middle - 1) <= 0.3
        print(f"{name:34} {statistics.median(p for p, _ in pairs):8.2f} {statistics.median(r for _, r in pairs):8.2f}"
              f"   {middle:5.2f} ({', '.join(f'{ratio:.2f}' for ratio in ratios)}); {os.getloadavg()[0]:.1f}", flush=True)
    print(f"within 30 %: {good} of {len(jobs)}; the bar is 11 of 12")


if __name__ == "__main__":
    main()
