#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""OME-Zarr 0.5 of an OME-TIFF by whole commands of runner, ngff-zarr and EuBI-Bridge:
zarr_peers_bench.py RUNNER FOLDER [--gib 2] [--ngff-zarr PROGRAM] [--eubi PROGRAM]

Makes a volume of uint16, photons around a smooth background, as OME-TIFF in FOLDER, best one in memory. Each
program converts it to chunks of 32 x 128 x 128 (EuBI-Bridge rounds them its own way) with as many levels as it
makes itself, block means where it has them, and the compression that it takes by default; runner takes blosc-lz4
with bytes shuffled. Programs take turns. Prints medians with the least and the largest, GB of the input's elements
a second, how often longer than runner, the levels and bytes of each output, and whether its level 0 has the
elements of the input. A program that is not named is left out, which is said.

Needs numpy, tifffile and zarr-python 3."""
import argparse
import pathlib
import shutil
import statistics
import subprocess
import time

import numpy as np
import tifffile

CHUNK = (32, 128, 128)


def make(path, shape):
    random = np.random.default_rng(1)
    y, x = np.mgrid[0:shape[1], 0:shape[2]] / max(shape[1:])
    some = [random.poisson(200 + 100 * np.sin(9 * x + each) * np.cos(7 * y)).astype("u2") for each in range(8)]
    volume = np.stack([np.roll(some[z % 8], z, 0) for z in range(shape[0])])
    tifffile.imwrite(path, volume, metadata={"axes": "ZYX"}, ome=True, bigtiff=True)
    return volume


def commands(options, source, folder):
    """Name, command, the array's group, by program."""
    words = list(map(str, CHUNK))
    yield ("runner", [str(options.runner.resolve()), "convert", source, f"{folder}/runner.ome.zarr", "--chunk",
                      ",".join(words), "--compression", "blosc-lz4", "--shuffle", "--levels", "auto"],
           f"{folder}/runner.ome.zarr")
    if options.ngff_zarr:
        yield ("ngff-zarr", [options.ngff_zarr, "-i", source, "-o", f"{folder}/ngff.ome.zarr", "--ome-zarr-version",
                             "0.5", "--method", "dask_bin_shrink", "--chunks", *words, "--quiet"],
               f"{folder}/ngff.ome.zarr")
    if options.eubi:
        sizes = [f"--{axis}_chunk={word}" for axis, word in zip("zyx", words)]
        yield ("EuBI-Bridge", [options.eubi, "to_zarr", source, "--output_path", f"{folder}/eubi",
                               "--ome_zarr_version", "0.5", *sizes], f"{folder}/eubi")


def group_of(path):
    """The output's own group: EuBI-Bridge makes it in a folder."""
    path = pathlib.Path(path)
    return path if (path / "zarr.json").exists() else next(each.parent for each in path.glob("*/zarr.json"))


def facts(path, volume):
    import zarr

    group = zarr.open_group(str(path), mode="r")
    datasets = group.attrs["ome"]["multiscales"][0]["datasets"]
    first = group[datasets[0]["path"]]
    size = sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    same = all(np.array_equal(np.squeeze(first[..., z:z + 64, :, :]), volume[z:z + 64])
               for z in range(0, len(volume), 64))
    return f"{len(datasets)} levels, {size * 1e-9:.2f} GB, elements {'as in the input' if same else 'DIFFER'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ngff-zarr", help="the program of PyPI's ngff-zarr[cli]")
    parser.add_argument("--eubi", help="the program of PyPI's eubi-bridge or eubi-bridge-lite")
    options = parser.parse_args()
    for name in ["ngff_zarr", "eubi"]:
        if not getattr(options, name):
            print(f"# left out, as it is not named: --{name.replace('_', '-')}")
    folder = options.folder / "zarr_peers_bench"
    folder.mkdir(parents=True, exist_ok=True)
    shape = (max(1, int(options.gib * 2**30 / (2 * 1024 * 1024))), 1024, 1024)
    source = str(folder / "in.ome.tif")
    volume = make(source, shape)
    print(f"# {shape} uint16, chunks of {CHUNK}, {options.repeats} repeats", flush=True)
    times, said = {}, {}
    for turn in range(options.repeats):
        for name, command, target in commands(options, source, folder):
            shutil.rmtree(target, ignore_errors=True)
            begin = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True)
            times.setdefault(name, []).append(time.perf_counter() - begin)
            if done.returncode != 0:
                raise SystemExit(f"{name}: exit {done.returncode}\n{done.stderr[-2000:]}")
            if turn == 0:
                said[name] = facts(group_of(target), volume)
            shutil.rmtree(target)
    base = statistics.median(times["runner"])
    for name, each in times.items():
        median = statistics.median(each)
        print(f"{name:12} {median:7.2f} s ({min(each):.2f} to {max(each):.2f})  {volume.nbytes * 1e-9 / median:6.3f} "
              f"GB/s  {median / base:6.2f} x runner   {said[name]}", flush=True)
    shutil.rmtree(folder)


main()
