"""Whole sand jobs: sand_bench.py RUNNER MPIRUN FOLDER [--ranks 1,2] [--side 65536] [--generations N]
[--repeats N] [--sequential SECONDS] [--beyond LIMIT].

A random scene of SIDE x SIDE cells on each number of ranks and by each way to exchange halo rows, in
turns: seconds of the engine's compute and exchange stages and of its whole stream, and what the first
number of ranks takes over it. Then sample-4, 3000 generations, the last state written, on one rank;
with SECONDS, what one core takes for the same, the ratio to that. Outputs are compared.

With LIMIT (1GiB) only this: the scene on one rank with all memory and with run.device_memory = LIMIT,
in turns. The seconds are those of the stream with all generations less those with none, which reads
and writes the same, so that waits within and between sweeps count.
"""
import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess

import h5py

JOB = '''kind = "sand"
[input]
file = "{folder}/{name}.h5"
generate = {{ {generate} }}
[output]
file = "{folder}/out.h5"
overwrite = true
sync = false
[sand]
generations = {generations}
'''


def run(arguments, job, ranks, way, settings=()):
    report = pathlib.Path(arguments.folder, "report.json")
    command = [arguments.runner, str(job), "--quiet", "--report", str(report), "--set",
               f'run.halo_exchange="{way}"', "--backend", arguments.backend]
    for setting in settings:
        command += ["--set", setting]
    if ranks > 1:
        command = [arguments.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks),
                   *command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return json.loads(report.read_text())


def seconds_of(report):
    """Compute and exchange, of the rank that took longest; and its stream from load to last row."""
    def work(rank):
        return sum(rank["stages"][stage]["busy_seconds"] for stage in ["compute", "exchange"])
    return (max(work(rank) for rank in report["ranks"]),
            max(rank["stream_seconds"] for rank in report["ranks"]),
            max(rank["stages"]["exchange"]["busy_seconds"] for rank in report["ranks"]),
            report["wall_seconds"])


def digest(folder):
    with h5py.File(pathlib.Path(folder, "out.h5")) as file:
        sums = hashlib.sha256()
        for first in range(0, file["frames"].shape[1], 4096):
            sums.update(file["frames"][-1, first:first + 4096].tobytes())
        return sums.hexdigest()


def line(name, times, cells):
    columns = []
    for index in range(4):
        values = [each[index] for each in times]
        columns.append(f"{statistics.median(values):9.4f} ({min(values):.4f} to {max(values):.4f})")
    rate = cells / statistics.median([each[0] for each in times])
    print(f"  {name:22} compute+exchange {columns[0]}  {rate:.3e} cells/s  exchange {columns[2]}  "
          f"stream {columns[1]}  wall {columns[3]}")


def expect_equal(sums):
    """Of the last states' checksums, one is to be left."""
    print(f"  last states equal: {'yes' if len(sums) == 1 else 'NO'}")
    if len(sums) != 1:
        raise SystemExit(1)


def scaling(arguments):
    job = pathlib.Path(arguments.folder, "scene.toml")
    side = arguments.side
    job.write_text(JOB.format(
        folder=arguments.folder, name="scene", generations=arguments.generations,
        generate=f'pattern = "sand-noise", shape = [1, {side}, {side}], seed = 1'))
    cases = [(ranks, way) for ranks in arguments.ranks
             for way in (["direct", "staged"] if ranks > 1 and arguments.backend == "cuda"
                         else ["auto"])]
    print(f"random scene of {side} x {side}, {arguments.generations} generations, "
          f"{arguments.repeats} runs each in turns, seconds: median (least to most)")
    run(arguments, job, *cases[0])  # makes the input
    times, sums = {case: [] for case in cases}, set()
    for repeat in range(arguments.repeats):
        for case in cases:
            report = run(arguments, job, *case)
            times[case].append(seconds_of(report))
            ways = {rank["evolution"]["halo_way"] for rank in report["ranks"]}
            if repeat == 0:
                sums.add(digest(arguments.folder))
                print(f"  {case}: halo {sorted(ways)}, depth {report['plan']['halo_depth']}, on "
                      f"{[rank['uuid'] or rank['device'] for rank in report['ranks']]}")
    cells = side * side * arguments.generations
    base = statistics.median([each[0] for each in times[cases[0]]])
    for case in cases:
        line(f"{case[0]} ranks, {case[1]}", times[case], cells)
        print(f"    against {cases[0][0]} rank: "
              f"{base / statistics.median([each[0] for each in times[case]]):.3f} x")
    expect_equal(sums)


def beyond(arguments):
    """The state on the device, and where it does not fit the limit."""
    job = pathlib.Path(arguments.folder, "beyond.toml")
    side = arguments.side
    memory = "device_memory" if arguments.backend == "cuda" else "host_memory"
    job.write_text(JOB.format(
        folder=arguments.folder, name="scene", generations=arguments.generations,
        generate=f'pattern = "sand-noise", shape = [1, {side}, {side}], seed = 1'))
    cases = {"all memory": (), arguments.beyond: (f'run.{memory}="{arguments.beyond}"',)}
    run(arguments, job, 1, "auto", ("sand.generations=0",))  # makes the input
    seconds, sums = {name: [] for name in cases}, set()
    print(f"random scene of {side} x {side}, {arguments.generations} generations, one rank, "
          f"{arguments.repeats} runs each in turns, seconds: median (least to most)")
    for repeat in range(arguments.repeats):
        for name, settings in cases.items():
            none = run(arguments, job, 1, "auto", (*settings, "sand.generations=0"))
            report = run(arguments, job, 1, "auto", settings)
            streams = [max(rank["stream_seconds"] for rank in each["ranks"])
                       for each in (none, report)]
            seconds[name].append(streams[1] - streams[0])
            if repeat == 0:
                sums.add(digest(arguments.folder))
                plan, rank = report["plan"], report["ranks"][0]
                print(f"  {name}: state on {rank['evolution']['state_home']}, sweeps of "
                      f"{plan['sweep_depth']}, bands of {plan['band_rows']}, device "
                      f"{rank['memory']['device_bytes']} B, setup {rank['setup_seconds']:.2f} s, "
                      f"stream without generations {streams[0]:.2f} s, on {rank['device']}")
    cells = side * side * arguments.generations
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, values in seconds.items():
        print(f"  {name:12} {medians[name]:9.3f} ({min(values):.3f} to {max(values):.3f})  "
              f"{cells / medians[name]:.3e} cells/s")
    print(f"  {arguments.beyond} against all memory: "
          f"{medians['all memory'] / medians[arguments.beyond]:.3f} x the speed")
    expect_equal(sums)


def sample(arguments):
    job = pathlib.Path(arguments.folder, "sample.toml")
    job.write_text(JOB.format(folder=arguments.folder, name="sample", generations=3000,
                              generate='pattern = "sample-4"'))
    run(arguments, job, 1, "auto")
    times = [seconds_of(run(arguments, job, 1, "auto")) for _ in range(2 * arguments.repeats + 1)]
    print("sample-4, 2160 x 3840, 3000 generations, the last state written, one rank")
    line("whole job", times, 2160 * 3840 * 3000)
    if arguments.sequential:
        stream = statistics.median([each[1] for each in times])
        compute = statistics.median([each[0] for each in times])
        print(f"  one core, sequential: {arguments.sequential} s: {arguments.sequential / stream:.0f} "
              f"x from reading to the last row written, {arguments.sequential / compute:.0f} x the "
              "generations alone")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner", type=os.path.abspath)
    parser.add_argument("mpirun")
    parser.add_argument("folder")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")],
                        default=[1, 2])
    parser.add_argument("--side", type=int, default=65536)
    parser.add_argument("--generations", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sequential", type=float)
    parser.add_argument("--beyond", metavar="LIMIT")
    arguments = parser.parse_args()
    pathlib.Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    if arguments.beyond:
        beyond(arguments)
        return
    scaling(arguments)
    sample(arguments)


if __name__ == "__main__":
    main()
