#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast compressed detector frames are read: unpack_bench beside h5py with hdf5plugin.

  unpack_bench.py PROGRAM [MIB [RUNS [THREADS ...]]]

PROGRAM is build/bin/unpack_bench. Makes files of MIB mebibytes of elements with hdf5plugin, a chunk a
frame of 2048 x 2048. Both then read each from the page cache, a frame at a time, in turns. h5py reads
in one thread into memory that is there, which is all that HDF5's lock allows. Printed are the medians
of the runs, and in brackets the least and the largest: MB/s of the time that passed, and MB/s a core of
the time that all threads computed, which other programs on the machine disturb less. Needs h5py, numpy
and hdf5plugin, by PyPI."""
import os
import subprocess
import sys
import tempfile
import time

import h5py
import hdf5plugin
import numpy as np

SIDE = 2048


def frames(count, dtype, random):
    """Photons on a detector: a background that falls from the middle, and a few hundred peaks."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2
    radius = np.hypot(x, y)
    mean = 6 * np.exp(-radius / 500) + 3 * np.exp(-(((radius - 600) / 40) ** 2)) + 0.2
    for _ in range(count):
        frame = random.poisson(mean)
        for row, column in random.integers(4, SIDE - 4, (400, 2)):
            frame[row - 2:row + 3, column - 2:column + 3] += random.poisson(900, (5, 5))
        frame[:, SIDE // 2 - 5:SIDE // 2 + 5] = np.iinfo(dtype).max  # between two modules
        yield frame.astype(dtype)


def make(path, count, dtype, options):
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        data = file.create_dataset("data", (count, SIDE, SIDE), dtype, chunks=(1, SIDE, SIDE), **options)
        some = list(frames(min(count, 8), dtype, np.random.default_rng(1)))
        for number in range(count):
            data[number] = np.roll(some[number % len(some)], number // len(some), 0)
        file.flush()
        return data.size * data.dtype.itemsize, data.id.get_storage_size()


def by_h5py(path):
    with h5py.File(path) as file:
        data = file["data"]
        room = np.empty(data.shape[1:], data.dtype)
        begin, computed = time.perf_counter(), time.process_time()
        for number in range(len(data)):
            data.read_direct(room, np.s_[number])
        return time.perf_counter() - begin, time.process_time() - computed


def rates(size, seconds):
    least, median, most = min(seconds), sorted(seconds)[len(seconds) // 2], max(seconds)
    return f"{size / median / 1e6:6.0f} MB/s ({size / most / 1e6:.0f} to {size / least / 1e6:.0f})", median


def line(name, size, times):
    """Prints them and returns the medians of the seconds that passed and that were computed."""
    passed, computed = zip(*times)
    (passed_text, passed_median), (text, median) = rates(size, passed), rates(size, computed)
    print(f"  {name:20s} {passed_text:28s} a core {text}", flush=True)
    return passed_median, median


def main():
    program = sys.argv[1]
    mebibytes = int(sys.argv[2]) if len(sys.argv) > 2 else 512
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    threads = sys.argv[4:] or ["1", str(os.cpu_count())]
    kinds = [("bitshuffle-LZ4", "u2", hdf5plugin.Bitshuffle(cname="lz4")),
             ("bitshuffle-LZ4", "u4", hdf5plugin.Bitshuffle(cname="lz4")),
             ("deflate(1), shuffle", "u2", {"compression": "gzip", "compression_opts": 1, "shuffle": True}),
             ("deflate(4)", "u2", {"compression": "gzip", "compression_opts": 4})]
    print(f"{mebibytes} MiB a file, {runs} runs, h5py {h5py.version.version}, HDF5 "
          f"{h5py.version.hdf5_version}, hdf5plugin {hdf5plugin.version}")
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype, options in kinds:
            path = os.path.join(folder, "frames.h5")
            count = max(1, mebibytes * 2**20 // (SIDE * SIDE * np.dtype(dtype).itemsize))
            size, stored = make(path, count, dtype, dict(options))
            print(f"{name}, uint{8 * int(dtype[1])}, ratio {size / stored:.1f}")
            by_h5py(path)
            theirs, ours = [], {number: [] for number in threads}
            for _ in range(runs):
                theirs.append(by_h5py(path))
                for number in threads:
                    printed = subprocess.run([program, path, "data", "1", number], check=True,
                                             capture_output=True, text=True).stdout.split()
                    ours[number].append((float(printed[1]), float(printed[2])))
            _, reference = line("h5py, 1 thread", size, theirs)
            first = None
            for number in threads:
                passed, computed = line(f"runner, {number} threads", size, ours[number])
                first = first or passed * int(number)
                print(f"    {reference / computed:.2f} x h5py a core, "
                      f"scaling {first / passed / int(number):.2f}")


if __name__ == "__main__":
    main()
