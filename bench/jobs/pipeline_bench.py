"""A pipeline beside its steps as single jobs: pipeline_bench.py RUNNER FOLDER [--frames N] ...

Makes a scan of N frames of 1448 x 1448 uint16 in FOLDER, with flat and dark frames. Runs five steps
(correct, median, convolve, bin, rescale) as one pipeline and as five jobs, each on what the one
before wrote. Outputs are in parts and not synced; each input is read once before it is timed.
Prints seconds of the whole command, and of the report: in the run, and of it in the stream.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import h5py
import numpy as np

EDGE = 1448
STEPS = {
    "correct": 'dark = { file = "FIELDS", dataset = "/dark" }\nflat = { file = "FIELDS", dataset = "/flat" }',
    "median": "size = [1, 3, 3]",
    "convolve": "row_taps = { gaussian = { sigma = 1.5, radius = 4 } }\n"
                "column_taps = { gaussian = { sigma = 1.5, radius = 4 } }",
    "bin": "factors = [1, 2, 2]",
    "rescale": 'from = [0.0, 1.5]\ndtype = "uint16"',
}


def make_scan(folder, frames):
    """Counts that differ from frame to frame; every 64th frame repeats."""
    random = np.random.default_rng(1)
    with h5py.File(folder / "fields.h5", "w", libver=("v108", "v110")) as file:
        file["dark"] = random.integers(90, 110, (20, EDGE, EDGE), dtype=np.uint16)
        file["flat"] = random.integers(3900, 4100, (100, EDGE, EDGE), dtype=np.uint16)
    block = random.integers(100, 4000, (64, EDGE, EDGE), dtype=np.uint16)
    with h5py.File(folder / "scan.h5", "w", libver=("v108", "v110")) as file:
        data = file.create_dataset("data", (frames, EDGE, EDGE), np.uint16)
        data[:1] = block[:1]
        file.flush()
        offset = data.id.get_offset()
    handle = os.open(folder / "scan.h5", os.O_WRONLY)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: os.pwrite(handle, block[:min(64, frames - k)].data,
                                          offset + k * block[0].nbytes), range(0, frames, 64)))
    os.close(handle)


def read_once(paths):
    """Brings the files into the page cache."""
    def read(path):
        with open(path, "rb", buffering=0) as file:
            while file.read(64 << 20):
                pass
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(read, paths))


def files_of(path):
    parts = path.parent / f"{path.stem}.parts"
    return [path, *parts.glob("*")] if parts.is_dir() else [path]


def remove(path):
    path.unlink(missing_ok=True)
    shutil.rmtree(path.parent / f"{path.stem}.parts", ignore_errors=True)


def job_text(steps, source, target, folder):
    text = f'[input]\nfile = "{source}"\ndataset = "/data"\n'
    output_type = ""
    if len(steps) == 1:
        keys, dtype, kind = STEPS[steps[0]].partition("dtype")
        output_type = dtype + kind
        text = f'kind = "{steps[0]}"\n' + text + f"[{steps[0]}]\n{keys}\n"
    else:
        for step in steps:
            text += f'[[step]]\nkind = "{step}"\n{STEPS[step]}\n'
    text += f'[output]\n{output_type}\nfile = "{target}"\nparts = "auto"\nsync = false\noverwrite = true\n'
    return text.replace("FIELDS", str(folder / "fields.h5"))


class Run:
    def __init__(self, runner, folder, steps, source, target, ranks=1):
        job = folder / "job.toml"
        job.write_text(job_text(steps, source, target, folder))
        self.report = folder / "report.json"
        self.command = [runner, str(job), "--quiet", "--resume", "never", "--report", str(self.report)]
        if ranks > 1:
            self.command = ["mpirun", "--oversubscribe", "-n", str(ranks), *self.command]

    def take(self):
        """Seconds of the command, in the run, in the stream; the memory planned and used; the verdict."""
        start = time.perf_counter()
        done = subprocess.run(self.command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{self.command}: exit {done.returncode}\n{done.stderr}")
        wall = time.perf_counter() - start
        facts = json.loads(self.report.read_text())
        stream = max(rank["stream_seconds"] for rank in facts["ranks"])
        return wall, facts["wall_seconds"], stream, facts


def line(name, taken):
    columns = [f"{title} {statistics.median(values):8.3f} ({min(values):.3f} to {max(values):.3f})"
               for title, values in zip(["wall", "in-run", "stream"], zip(*(t[:3] for t in taken)))]
    print(f"{name:18}", "  ".join(columns), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=2048)
    parser.add_argument("--repeats", type=int, default=3, help="of the pipeline")
    parser.add_argument("--single-repeats", type=int, default=1, help="of each single job")
    parser.add_argument("--ranks", type=int, default=1, help="the pipeline also on so many")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    make_scan(folder, arguments.frames)
    scan = folder / "scan.h5"
    print(f"{arguments.frames} x {EDGE} x {EDGE} uint16, {scan.stat().st_size / 2**30:.1f} GiB, "
          f"{len(os.sched_getaffinity(0))} cores", flush=True)
    read_once([scan, folder / "fields.h5"])
    target = folder / "chain.h5"
    for ranks in sorted({1, arguments.ranks}):
        taken = []
        for _ in range(arguments.repeats):
            remove(target)
            taken.append(Run(arguments.runner, folder, list(STEPS), scan, target, ranks).take())
        line(f"pipeline, {ranks} ranks", taken)
        facts = taken[-1][3]
        memory = facts["ranks"][0]["memory"]
        print(f"  {facts['verdict']}\n  plan {json.dumps(facts['plan']['memory_per_rank'])}\n"
              f"  used {json.dumps(memory)}", flush=True)
    source = scan
    for number, step in enumerate(STEPS):
        made = folder / f"single{number % 2}.h5"
        taken = []
        for _ in range(arguments.single_repeats):
            remove(made)
            read_once(files_of(source))
            taken.append(Run(arguments.runner, folder, [step], source, made).take())
        line(step, taken)
        if source != scan:
            remove(source)
        source = made
    same = subprocess.run([arguments.runner, "compare", f"{target}:/data", f"{source}:/data"], capture_output=True,
                          text=True)
    print(f"pipeline against the five jobs: compare exit {same.returncode} {(same.stdout + same.stderr).strip()}")


if __name__ == "__main__":
    main()
