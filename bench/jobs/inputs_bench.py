#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on the files that facilities write, beside the same jobs on plain files: inputs_bench.py RUNNER FOLDER.

Makes COUNT frames of a detector in FOLDER, which stay in the page cache: contiguous in one HDF5 file, in
bitshuffle-LZ4 with a chunk a frame (by runner convert), in 8 files under a virtual dataset, in one .npy and in
one TIFF file a frame, uncompressed and in deflate. Runs the same job on both files of each pair, in turns, and
compares the outputs. Prints the medians of the whole commands with the least and the largest, the medians from
the first read to the last write, and the ratios of both. The ratio of the deflate slices has no bar: they
unpack, and a .npy does not.

Needs h5py and numpy. --small takes a few seconds; the full run takes 17 GiB of FOLDER, best one in memory."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zlib

import h5py
import numpy as np

JOBS = {"bin": "factors = [1, 2, 2]\n", "median": "size = [1, 3, 3]\n",
        "convolve": "row_taps = { gaussian = { sigma = 1.0, radius = 3 } }\n"
                    "column_taps = { gaussian = { sigma = 1.0, radius = 3 } }\n"}
BARS = {"bitshuffle-LZ4": 1.3, "virtual, 8 files": 1.1, "TIFF slices": 1.3, "deflate slices": None}
PARTS = 8


def frames(side, some):
    """Photons on a detector: a background that falls from the middle, and some hundred peaks."""
    random = np.random.default_rng(1)
    y, x = np.mgrid[0:side, 0:side] - side / 2
    radius = np.hypot(x, y) * 2048 / side
    mean = 6 * np.exp(-radius / 500) + 3 * np.exp(-(((radius - 600) / 40) ** 2)) + 0.2
    made = []
    for _ in range(some):
        frame = random.poisson(mean)
        for row, column in random.integers(4, side - 4, (side // 5, 2)):
            frame[row - 2:row + 3, column - 2:column + 3] += random.poisson(900, (5, 5))
        frame[:, side // 2 - 5:side // 2 + 5] = np.iinfo("uint16").max  # between two modules
        made.append(frame.astype("uint16"))
    return made


class Scan:
    """Frame `number` is one of a few, turned by some lines: all differ."""

    def __init__(self, count, side):
        self.count, self.side, self.some = count, side, frames(side, 8)

    def frame(self, number):
        return np.roll(self.some[number % len(self.some)], number // len(self.some), 0)

    def stack(self, begin, end):
        return np.stack([self.frame(number) for number in range(begin, end)])


def in_threads(work, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, items))


def write_contiguous(path, scan, first, end):
    """HDF5 says where the elements lie; threads write them there."""
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((end - first, scan.side, scan.side))
        data = h5py.h5d.create(file.id, b"data", h5py.h5t.STD_U16LE, space, creation)
        offset = data.get_offset()
    write_frames(path, offset, scan, first, end)


def write_frames(path, offset, scan, first, end):
    with open(path, "r+b") as file:
        frame_bytes = scan.side * scan.side * 2

        def write(begin):
            some = scan.stack(begin, min(begin + 8, end))
            os.pwrite(file.fileno(), some.data, offset + (begin - first) * frame_bytes)
        in_threads(write, range(first, end, 8))


def write_virtual(folder, scan):
    layout = h5py.VirtualLayout((scan.count, scan.side, scan.side), "u2")
    for part in range(PARTS):
        first, end = scan.count * part // PARTS, scan.count * (part + 1) // PARTS
        name = f"part_{part}.h5"
        write_contiguous(folder / name, scan, first, end)
        layout[first:end] = h5py.VirtualSource(name, "data", (end - first, scan.side, scan.side))
    # HDF5 2.0 writes its latest format by default, which older libraries refuse.
    with h5py.File(folder / "virtual.h5", "w", libver=("earliest", "v110")) as file:
        file.create_virtual_dataset("data", layout)


def write_npy(path, scan):
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<u2", "fortran_order": False, "shape": (scan.count, scan.side, scan.side)})
        offset = file.tell()
        file.truncate(offset + scan.count * scan.side * scan.side * 2)
    write_frames(path, offset, scan, 0, scan.count)


def tiff_bytes(frame, compressed):
    """A grey image of one strip, its directory before the elements as most programs write it."""
    strip = zlib.compress(frame.tobytes(), 1) if compressed else frame.tobytes()
    tags = [(256, 4, frame.shape[1]), (257, 4, frame.shape[0]), (258, 3, 16), (259, 3, 8 if compressed else 1),
            (262, 3, 1), (273, 4, 256), (277, 3, 1), (278, 4, frame.shape[0]), (279, 4, len(strip)), (339, 3, 1)]
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 0)
    return head.ljust(256, b"\0") + strip


def write_slices(folder, scan, compressed):
    folder.mkdir()
    in_threads(lambda number: (folder / f"slice_{number}.tif").write_bytes(
        tiff_bytes(scan.frame(number), compressed)), range(scan.count))


class Bench:
    def __init__(self, arguments):
        self.runner, self.repeats = os.path.abspath(arguments.runner), arguments.repeats
        self.folder = pathlib.Path(arguments.folder) / "inputs_bench"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.began = time.perf_counter()
        self.missed = 0

    def call(self, *command):
        done = subprocess.run([self.runner, *map(str, command)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run(self, kind, backend, source, output):
        """Seconds of the whole command, and from the first read to the last write."""
        (self.folder / output).unlink(missing_ok=True)
        job = self.folder / "job.toml"
        dataset = 'dataset = "/data"\n' if str(source).endswith(".h5") else ""
        job.write_text(f'kind = "{kind}"\n[input]\nfile = "{source}"\n{dataset}[output]\nfile = "'
                       f'{self.folder / output}"\nsync = false\n[run]\nbackend = "{backend}"\n[{kind}]\n{JOBS[kind]}')
        report = self.folder / "report.json"
        start = time.perf_counter()
        self.call("run", job, "--quiet", "--report", report)
        wall = time.perf_counter() - start
        return wall, json.loads(report.read_text())["wall_seconds"]

    def pair(self, name, kind, backend, source, plain):
        for file, output in [(plain, "plain.h5"), (source, "other.h5")]:  # warms both up
            self.run(kind, backend, file, output)
        self.call("compare", f"{self.folder}/plain.h5:/data", f"{self.folder}/other.h5:/data")
        times = {plain: [], source: []}
        for _ in range(self.repeats):
            for file in times:
                times[file].append(self.run(kind, backend, file, "plain.h5"))
        median = {}
        for file, label in [(plain, "plain"), (source, name)]:
            walls, streams = zip(*times[file])
            median[file] = statistics.median(walls), statistics.median(streams)
            print(f"  {label:18s} {median[file][0]:7.3f} s ({min(walls):.3f} to {max(walls):.3f}), stream "
                  f"{median[file][1]:7.3f} s ({min(streams):.3f} to {max(streams):.3f})")
        ratio, stream = (median[source][i] / median[plain][i] for i in (0, 1))
        bar = BARS[name]
        verdict = "no bar" if bar is None else f"bar {bar}: {'met' if ratio <= bar else 'MISSED'}"
        self.missed += bar is not None and ratio > bar
        print(f"{name}, {kind}, {backend}: {ratio:.2f} x its time ({verdict}), stream {stream:.2f} x   "
              f"[{time.perf_counter() - self.began:.0f} s]", flush=True)
        for output in ["plain.h5", "other.h5"]:
            (self.folder / output).unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=2000, help="frames (default 2000)")
    parser.add_argument("--side", type=int, default=1024, help="lines of a frame (default 1024)")
    parser.add_argument("--kind", choices=JOBS, default="convolve")
    parser.add_argument("--backend", action="append", choices=["cpu", "cuda"], help="default: cpu and cuda")
    parser.add_argument("--only", action="append", choices=["packed", "virtual", "slices"], help="default: all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="64 frames of 256 lines, on the CPU; no ratio fails")
    arguments = parser.parse_args()
    if arguments.small:
        arguments.count, arguments.side, arguments.backend = 64, 256, arguments.backend or ["cpu"]
    backends, only = arguments.backend or ["cpu", "cuda"], arguments.only or ["packed", "virtual", "slices"]
    bench = Bench(arguments)
    folder, scan = bench.folder, Scan(arguments.count, arguments.side)
    print(f"{scan.count} frames of {scan.side} x {scan.side} uint16, {scan.count * scan.side**2 / 2**29:.2f} GiB, "
          f"{arguments.repeats} runs in turns, {os.cpu_count()} cores, h5py {h5py.version.version}, HDF5 "
          f"{h5py.version.hdf5_version}")
    plain = folder / "plain_in.h5"
    if {"packed", "virtual"} & set(only):
        write_contiguous(plain, scan, 0, scan.count)
    if "packed" in only:
        packed = folder / "packed.h5"
        bench.call("convert", f"{plain}:/data", f"{packed}:/data", "--chunk", f"1,{scan.side},{scan.side}",
                   "--compression", "bitshuffle-lz4")
        print(f"ratio of compression {plain.stat().st_size / packed.stat().st_size:.1f}")
        for backend in backends:
            bench.pair("bitshuffle-LZ4", arguments.kind, backend, packed, plain)
        packed.unlink()
    if "virtual" in only:
        write_virtual(folder, scan)
        bench.pair("virtual, 8 files", arguments.kind, backends[0], folder / "virtual.h5", plain)
        for file in [*folder.glob("part_*.h5"), folder / "virtual.h5"]:
            file.unlink()
    plain.unlink(missing_ok=True)
    if "slices" in only:
        npy = folder / "all.npy"
        write_npy(npy, scan)
        for name, compressed in [("TIFF slices", False), ("deflate slices", True)]:
            slices = folder / name.split()[0]
            write_slices(slices, scan, compressed)
            bench.pair(name, arguments.kind, backends[0], slices / "slice_*.tif", npy)
            shutil.rmtree(slices)
    shutil.rmtree(folder)
    sys.exit(1 if bench.missed and not arguments.small else 0)


if __name__ == "__main__":
    main()
