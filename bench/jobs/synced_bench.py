"""Whole commands that wait for the disk: synced_bench.py RUNNER FOLDER [--before RUNNER] [--gib N] ...

FOLDER lies on the disk to measure. A convolution of an image of float64 in the page cache, its output
synced, in turns: this build and an earlier one, into one file and into parts, and the same number of
bytes written past the page cache (O_DIRECT, as fio does) by as many threads. Prints medians and
spread in seconds, and ratios to the direct writes.
"""
import argparse
import concurrent.futures
import mmap
import os
import pathlib
import shutil
import statistics
import subprocess
import time

JOB = """kind = "convolve"
[input]
file = "in.h5"
dataset = "/data"
[output]
file = "out.h5"
overwrite = true
sync = true
parts = {parts}
[convolve]
row_taps = {{ gaussian = {{ sigma = 2.0, radius = 8 }} }}
column_taps = {{ gaussian = {{ sigma = 2.0, radius = 8 }} }}
"""


def clear(folder):
    for old in folder.glob("out*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    os.sync()


def job_seconds(runner, folder, parts, backend):
    (folder / "job.toml").write_text(JOB.format(parts=parts))
    start = time.perf_counter()
    subprocess.run([runner, "job.toml", "--quiet", "--backend", backend], cwd=folder, check=True)
    return time.perf_counter() - start


def direct_seconds(folder, size, files, threads, piece=4 << 20):
    """Seconds to write `size` bytes past the page cache."""
    names = [folder / f"out.{index}" for index in range(files)]
    opened = [os.open(name, os.O_CREAT | os.O_RDWR | os.O_DIRECT) for name in names]
    for file in opened:
        os.posix_fallocate(file, 0, size // files)

    def write(thread):
        memory = mmap.mmap(-1, piece)  # page-aligned, as O_DIRECT asks
        memory.write(os.urandom(4096) * (piece // 4096))
        for at in range(thread * piece, size, threads * piece):
            index = at // piece
            os.pwrite(opened[index % files], memory, index // files * piece)

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, range(threads)))
    for file in opened:
        os.fdatasync(file)
    seconds = time.perf_counter() - start
    for file in opened:
        os.close(file)
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--before")
    parser.add_argument("--gib", type=float, default=8)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=8, help="of the direct writes")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    extent = int((arguments.gib * 2**30 / 8) ** 0.5) // 512 * 512
    subprocess.run([arguments.runner, "generate", "noise", folder / "in.h5", "--dataset", "/data",
                    "--shape", f"{extent},{extent}", "--dtype", "float64"], check=True,
                   stdout=subprocess.DEVNULL)
    size = extent * extent * 8 // (4 << 20) * (4 << 20)
    programs = {"before": arguments.before, "now": arguments.runner}
    programs = {name: os.path.abspath(path) for name, path in programs.items() if path}
    print(f"convolve, {extent} x {extent} float64, synced, {arguments.backend}; "
          f"medians of {arguments.repeats} (least to most)")
    for parts, files in [("1", 1), ('"auto"', 8)]:
        rows = {name: [] for name in [*programs, "direct"]}
        for _ in range(arguments.repeats):
            for name, program in programs.items():
                clear(folder)
                rows[name].append(job_seconds(program, folder, parts, arguments.backend))
            clear(folder)
            rows["direct"].append(direct_seconds(folder, size, files, arguments.threads))
        clear(folder)
        direct = statistics.median(rows["direct"])
        for name, seconds in rows.items():
            median = statistics.median(seconds)
            print(f"  parts {parts:6} {name:7} {median:7.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), "
                  f"{median / direct:.2f} of direct", flush=True)
        if "before" in rows:
            print(f"  parts {parts:6} now / before "
                  f"{statistics.median(rows['now']) / statistics.median(rows['before']):.2f}")
    (folder / "in.h5").unlink()


main()
