"""Times batches: batch_bench.py RUNNER FOLDER [--repeats N] [--only small,uneven,status] [--sync]
[--datasets N] [--listed N] [--large MIB].

small    1,000 datasets of 1 MiB on two ranks, in turns with one dataset of the same bytes, which is
         the work without its being cut into datasets. What the batch takes beyond it, as time of a
         rank, is the overhead a dataset.
uneven   a large dataset and 30 small ones on four ranks: which part of the ranks' time, from the
         first dataset's begin to the last one's end, no dataset was worked on, by the batch's logs.
status   `runner status` on 10,000 datasets that are done.

Prints medians with least and most. Inputs and outputs are in FOLDER/batch_bench, which is removed.
"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import h5py
import numpy as np

JOB = '''kind = "convolve"
name = "bench"
[input]
dataset = "/image"
[output]
sync = {sync}
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.25, 0.5, 0.25]
'''
BATCH = '''[batch]
inputs = ["{inputs}/*.h5"]
output = "{outputs}/{{stem}}.h5"
'''
BARS = {"small": "10 ms", "uneven": "10 %", "status": "1 s"}


def spread(values, unit, scale=1.0):
    values = [scale * value for value in values]
    return f"{statistics.median(values):9.2f} {unit}  ({min(values):.2f} to {max(values):.2f})"


def line(name, text):
    print(f"  {name:58}{text}", flush=True)


class Bench:
    def __init__(self, options):
        self.options = options
        self.runner = os.path.abspath(options.runner)
        self.folder = pathlib.Path(options.folder).resolve() / "batch_bench"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.job = JOB.format(sync="true" if options.sync else "false")

    def write_job(self, name, inputs=None):
        path = self.folder / f"{name}.toml"
        batch = BATCH.format(inputs=inputs, outputs=self.folder / "out") if inputs else ""
        path.write_text(self.job + batch)
        return path

    def wall(self, ranks, *arguments):
        launch = [] if ranks == 1 else ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
                                        str(ranks)]
        start = time.perf_counter()
        done = subprocess.run([*launch, self.runner, *map(str, arguments)], capture_output=True,
                              text=True, cwd=self.folder)
        if done.returncode != 0:
            raise SystemExit(f"{arguments}: exit {done.returncode}\n{done.stderr}")
        return time.perf_counter() - start

    def clear(self):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        (self.folder / "out").mkdir()
        os.sync()

    def events(self):
        found = []
        for log in (self.folder / "out/bench.state").glob("log-*.jsonl"):
            found += [json.loads(text) | {"log": log.name} for text in log.read_text().splitlines()]
        return sorted(found, key=lambda event: event["time"])

    def make(self, folder, count, shape_of):
        random = np.random.default_rng(1)
        (self.folder / folder).mkdir()
        for number in range(count):
            with h5py.File(self.folder / folder / f"d{number:05}.h5", "w") as file:
                file["image"] = random.random(shape_of(number), dtype=np.float32)
        return self.folder / folder

    def small(self):
        count, ranks = self.options.datasets, 2
        inputs = self.make("small", count, lambda number: (512, 512))
        with h5py.File(self.folder / "whole.h5", "w") as file:
            whole = file.create_dataset("image", (count, 512, 512), np.float32)
            for number, path in enumerate(sorted(inputs.iterdir())):
                with h5py.File(path) as one:
                    whole[number] = one["image"][...]
        batch, one = self.write_job("batch", inputs), self.write_job("one")
        settings = ["--set", 'input.file="whole.h5"', "--set", 'output.file="out/whole.h5"']
        walls, wholes, plans, again = [], [], [], []
        for _ in range(self.options.repeats):
            self.clear()
            wholes.append(self.wall(ranks, one, "--quiet", *settings))
            self.clear()
            plans.append(self.wall(1, "batch", batch, "--dry-run"))
            walls.append(self.wall(ranks, "batch", batch, "--quiet"))
            again.append(self.wall(ranks, "batch", batch, "--quiet"))
        print(f"small: {count} datasets of 1 MiB, {ranks} ranks")
        line("batch", spread(walls, "s"))
        line("one dataset of the same bytes", spread(wholes, "s"))
        line("batch, wall time a dataset", spread(walls, "ms", 1000 / count))
        over = [ranks * (a - b) / count for a, b in zip(walls, wholes)]
        line(f"overhead a dataset, time of a rank (bar: {BARS['small']})", spread(over, "ms", 1000))
        line("of it inspecting the inputs (--dry-run, one rank), wall",
             spread(plans, "ms", 1000 / count))
        line("the same batch again, all done", spread(again, "s"))

    def uneven(self):
        ranks = 4
        rows = self.options.large * 128 # of 8 KiB
        inputs = self.make("uneven", 31, lambda n: (rows, 2048) if n == 17 else
                           (1024 + 64 * n, 2048))
        batch = self.write_job("uneven", inputs)
        idle, spans, walls = [], [], []
        for _ in range(self.options.repeats):
            self.clear()
            walls.append(self.wall(ranks, "batch", batch, "--quiet"))
            done = [each for each in self.events() if each["event"] == "done"]
            busy = 0
            for each in done:
                with h5py.File(each["output"]) as file:
                    busy += int(file.attrs["ranks"]) * each["seconds"]
            spans.append(done[-1]["time"] - min(each["time"] - each["seconds"] for each in done))
            idle.append(1 - busy / (ranks * spans[-1]))
        print(f"uneven: one dataset of {self.options.large} MiB and 30 of 8 to 23 MiB, {ranks} ranks")
        line("batch", spread(walls, "s"))
        line("from the first dataset's begin to the last one's end", spread(spans, "s"))
        line(f"idle share of it (bar: {BARS['uneven']})", spread(idle, "%", 100))

    def status(self):
        count = self.options.listed
        inputs = self.make("listed", count, lambda number: (4, 4))
        batch = self.write_job("listed", inputs)
        self.clear()
        made = self.wall(2, "batch", batch, "--quiet")
        turns = range(3 * self.options.repeats)
        plain = [self.wall(1, "status", "out") for _ in turns]
        as_json = [self.wall(1, "status", "out", "--json") for _ in turns]
        print(f"status: {count} datasets, all done in {made:.0f} s")
        line(f"runner status (bar: {BARS['status']})", spread(plain, "s"))
        line("runner status --json", spread(as_json, "s"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="small,uneven,status")
    parser.add_argument("--datasets", type=int, default=1000)
    parser.add_argument("--listed", type=int, default=10000)
    parser.add_argument("--large", type=int, default=512, help="MiB")
    parser.add_argument("--sync", action="store_true", help="outputs wait for the disk")
    options = parser.parse_args()
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    bench = Bench(options)
    version = subprocess.run([bench.runner, "--version"], capture_output=True, text=True).stdout
    model = [text.split(":")[1].strip() for text in pathlib.Path("/proc/cpuinfo").read_text()
             .splitlines() if text.startswith("model name")]
    commit = [text.split()[1] for text in version.splitlines() if "commit:" in text]
    print(f"runner {commit[0]}, CPU, {model[0] if model else 'unknown processor'}, "
          f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} before, "
          f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC")
    print(f"median (least to most) of {options.repeats} runs in turns, "
          f"{'synced' if options.sync else 'not synced'}")
    for part in options.only.split(","):
        getattr(bench, part)()
    shutil.rmtree(bench.folder)


if __name__ == "__main__":
    main()
