#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""OME-Zarr written and read, beside tensorstore and zarr-python: zarr_bench.py RUNNER FOLDER [--gib 8] [--own-chunks]

Makes a volume of uint16 in HDF5 in FOLDER, best one in memory: photons around a smooth background, so that it
packs about as well as a scan does. Times whole commands, in turns: `runner convert` of it to an .ome.zarr for each
compression, the same into one HDF5 file, `cp`, the conversion back, a job that reads all and writes little, and, where they are installed, tensorstore
and zarr-python that write the same array from memory with the same chunks, shards and codec; then a job of three
steps into an .ome.zarr with all levels and into HDF5 in parts, packed alike. With --own-chunks runner chooses chunks
and shards, and the other programs are left out. --cases: parts of names, with semicolons. Prints medians with
the least and the largest, GB of elements a second, and the ratio to `cp`. Every output is read back and compared once.

Needs h5py and numpy."""
import argparse
import pathlib
import shutil
import statistics
import subprocess
import time

import h5py
import numpy as np

CHUNK, SHARD = (32, 128, 128), (128, 1024, 1024)
COMPRESSIONS = ["none", "blosc-lz4", "zstd"]
LEVELS = {"1": "one level", "auto": "all levels"}
CODECS = {"none": [], "blosc-lz4": [{"name": "blosc", "configuration": {
              "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0}}],
          "zstd": [{"name": "zstd", "configuration": {"level": 1, "checksum": False}}]}


def make(path, shape):
    random = np.random.default_rng(1)
    y, x = np.mgrid[0:shape[1], 0:shape[2]] / max(shape[1:])
    some = [random.poisson(200 + 100 * np.sin(9 * x + each) * np.cos(7 * y)).astype("u2") for each in range(8)]
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        data = file.create_dataset("data", shape, "u2")
        for z in range(shape[0]):
            data[z] = np.roll(some[z % 8], z, 0)


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    pathlib.Path(path).unlink(missing_ok=True)


def by_runner(runner, source, target, *options):
    def work():
        subprocess.run([runner, "convert", source, target, *options], check=True, stdout=subprocess.DEVNULL)
    return work


def by_tensorstore(target, array, compression):
    import tensorstore

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": target}, "create": True, "delete_existing": True,
            "metadata": {"shape": array.shape, "data_type": "uint16",
                         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHARD}},
                         "codecs": [{"name": "sharding_indexed", "configuration": {
                             "chunk_shape": CHUNK, "codecs": [
                                 {"name": "bytes", "configuration": {"endian": "little"}}, *CODECS[compression]]}}]}}

    def work():
        tensorstore.open(spec).result().write(array).result()
    return work


def by_zarr(target, array, compression):
    import zarr

    codecs = {"none": None, "blosc-lz4": zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle", typesize=2),
              "zstd": zarr.codecs.ZstdCodec(level=1)}

    def work():
        made = zarr.create_array(target, shape=array.shape, dtype="u2", chunks=CHUNK, shards=SHARD,
                                 compressors=codecs[compression], overwrite=True)
        made[...] = array
    return work


STEPS = """[[step]]
kind = "median"
size = [1, 3, 3]
[[step]]
kind = "convolve"
sigma = 1.0
[[step]]
kind = "rescale"
dtype = "uint16"
from = [0.0, 65535.0]
"""
OUTPUTS = {"out.ome.zarr": "", "out.h5": 'parts = "auto"\nchunk = [1, 512, 1024]\n'}


def by_job(runner, folder, target, keys):
    job = pathlib.Path(folder, "job.toml")

    def work():
        job.write_text(f'[input]\nfile = "in.h5"\ndataset = "/data"\n[output]\nfile = "{target}"\nsync = false\n'
                       f'compression = "zstd"\n{keys}{STEPS}')
        remove(f"{folder}/out.parts")
        subprocess.run([runner, job, "--quiet"], check=True, cwd=folder)
    return work


def by_reading(runner, folder, source):
    """The maximum along the first axis, whose output is small."""
    job = pathlib.Path(folder, "read.toml")
    dataset = 'dataset = "/data"\n' if source.endswith(".h5") else ""

    def work():
        job.write_text(f'kind = "reduce"\n[input]\nfile = "{source}"\n{dataset}[output]\nfile = "read.h5"\nsync = false\n'
                       '[reduce]\noperation = "max"\nover = ["z"]\n')
        subprocess.run([runner, job, "--quiet"], check=True, cwd=folder)
    return work


def cases(runner, folder, array, own_chunks):
    """Name, target, work: each writes the target, which is not there."""
    source = f"{folder}/in.h5"
    extents = [] if own_chunks else ["--chunk", ",".join(map(str, CHUNK)), "--shard", ",".join(map(str, SHARD))]
    yield "cp", f"{folder}/cp.h5", lambda: shutil.copyfile(source, f"{folder}/cp.h5")
    yield "runner, .h5", f"{folder}/out.h5", by_runner(runner, source, f"{folder}/out.h5")
    for compression in COMPRESSIONS:
        for levels in ("1", "auto"):
            name = f"{folder}/{compression}-{levels}.ome.zarr"
            yield f"runner, .ome.zarr, {compression}, {LEVELS[levels]}", name, by_runner(
                runner, source, name, *extents, "--compression", compression, "--levels", levels,
                *(["--shuffle", "--level", "5"] if compression == "blosc-lz4" else []))
        for program, way in (() if own_chunks else (("tensorstore", by_tensorstore), ("zarr-python", by_zarr))):
            target = f"{folder}/{program}-{compression}.zarr"
            try:
                work = way(target, array, compression)
            except (ImportError, AttributeError):  # zarr-python 2
                print(f"# {program} is not installed", flush=True)
                continue
            yield f"{program}, {compression}", target, work
    for target, keys in OUTPUTS.items():
        yield f"three steps, zstd, {target}", f"{folder}/{target}", by_job(runner, folder, target, keys)


def measured(target, work, repeats):
    times = []
    for _ in range(repeats):
        remove(target)
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return times


def show(name, times, size, copy):
    median = statistics.median(times)
    print(f"{name:40} {median:7.2f} s ({min(times):.2f} to {max(times):.2f})  {size * 1e-9 / median:6.2f} GB/s  "
          f"{median / copy:5.2f} x cp", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gib", type=float, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--own-chunks", action="store_true")
    parser.add_argument("--cases", default="")
    options = parser.parse_args()
    runner = str(options.runner.resolve())
    folder = options.folder / "zarr_bench"
    folder.mkdir(parents=True, exist_ok=True)
    shape = (max(1, int(options.gib * 2**30 / (2 * 2048 * 2048))), 2048, 2048)
    make(folder / "in.h5", shape)
    with h5py.File(folder / "in.h5") as file:
        array = file["data"][...]
    extents = "own chunks and shards" if options.own_chunks else f"chunks of {CHUNK}, shards of {SHARD}"
    print(f"# {shape} uint16, {extents}, {options.repeats} repeats", flush=True)
    copy = None
    for name, target, work in cases(runner, str(folder), array, options.own_chunks):
        if copy and not any(part in name for part in options.cases.split(";")):
            continue
        times = measured(target, work, options.repeats)
        copy = copy or statistics.median(times)
        show(name, times, array.nbytes, copy)
        if name == "cp":
            times = measured(f"{folder}/read.h5", by_reading(runner, folder, f"{folder}/in.h5"), options.repeats)
            show("maximum of .h5", times, array.nbytes, copy)
        if name.startswith("runner, .ome"):
            back = f"{folder}/back.h5"
            times = measured(back, by_runner(runner, target, back), options.repeats)
            show(name.replace("runner, ", "back from "), times, array.nbytes, copy)
            times = measured(f"{folder}/read.h5", by_reading(runner, folder, target), options.repeats)
            show(name.replace("runner, ", "maximum of "), times, array.nbytes, copy)
            with h5py.File(back) as file:
                assert np.array_equal(next(iter(file.values()))[...], array), name
            remove(back)
        remove(target)
    remove(folder)


main()
