"""Whole jobs beside a plain copier and cp, in turns: conv_bench.py RUNNER PLAIN_COPY JOB FOLDER ...

Runs the job (its input made in FOLDER first and left in the page cache), the copier with as many
threads and the same block, into one file and into as many as the job's output has parts, and cp,
REPEATS times in turns. Prints medians, spread and ratios, of the wall clock and of the processors'
seconds, which other load on the machine changes less.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import time


def wall(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return time.perf_counter() - start


def remove_outputs(folder):
    for old in folder.glob("out.h5*"):
        old.unlink()
    shutil.rmtree(folder / "out.parts", ignore_errors=True)


def cpu_seconds():
    """Of all ended children: (in the program, in the kernel)."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime, usage.ru_stime


def spread(seconds):
    return f"{statistics.median(seconds):8.3f} s  ({min(seconds):.3f} to {max(seconds):.3f})"


def main():
    parser = argparse.ArgumentParser()
    for name in ["runner", "plain_copy", "job", "folder"]:
        parser.add_argument(name)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sync", action="store_true", help="job and copier wait for the disk")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    source, target, report = folder / "in.h5", folder / "out.h5", folder / "report.json"
    job = [arguments.runner, arguments.job, "--quiet", "--report", str(report),
           "--set", f'input.file="{source}"', "--set", f'output.file="{target}"',
           "--set", "output.overwrite=true",
           "--set", f"output.sync={'true' if arguments.sync else 'false'}"]
    for setting in arguments.set:
        job += ["--set", setting]
    if arguments.ranks > 1:
        job = ["mpirun", "--oversubscribe", "-n", str(arguments.ranks), *job]
    remove_outputs(folder)
    wall(job)  # makes the input and warms up
    facts = json.loads(report.read_text())
    plan = facts["plan"]
    threads = plan["io_threads"] * arguments.ranks
    row_bytes = plan["bytes_read"] // (plan["rows_per_frame"] * plan["frames"])
    block = max(row_bytes, plan["chunk_rows"] * row_bytes // threads)
    names = {"runner": job}
    for count in [threads, 2 * threads]:
        names[f"copier, {count} threads"] = [arguments.plain_copy, source, target, count, block, 1]
    parts = max(1, len(list((folder / "out.parts").glob("*.h5"))))
    if parts > 1:
        for count in [parts, 2 * parts]:
            names[f"copier, {parts} files, {count} threads"] = [arguments.plain_copy, source, target,
                                                                count, 4 << 20, parts]
    names["cp"] = ["cp", source, target]
    if arguments.sync:
        for name in names:
            if name.startswith("copier"):
                names[name].append("sync")
    seconds = {name: [] for name in names}
    busy_cores = {name: [] for name in names}
    efficiency, streams, finish, setup, before, peak = [], [], [], [], [], []
    started, ended = [], []
    for _ in range(arguments.repeats):
        for name, command in names.items():
            remove_outputs(folder)
            if arguments.sync:
                os.sync()
            before_it = cpu_seconds()
            seconds[name].append(wall([str(c) for c in command]))
            busy_cores[name].append([now - then for now, then in zip(cpu_seconds(), before_it)])
            if name == "runner":
                facts = json.loads(report.read_text())
                efficiency.append(facts["overlap_efficiency"])
                streams.append(max(r["stream_seconds"] for r in facts["ranks"]))
                setup.append(max(r["setup_seconds"] for r in facts["ranks"]))
                finish.append(facts["finish_seconds"])
                started.append(facts["start_seconds"])
                ended.append(seconds[name][-1] - facts["wall_seconds"])
                # What a rank had before it took the plan's memory is the program, MPI and, the
                # largest part, CUDA's context.
                memory = [r["memory"] for r in facts["ranks"]]
                planned = facts["plan"]["memory_per_rank"]["host_bytes"]
                before.append(max(m["resident_before_bytes"] for m in memory))
                peak.append(max(m["resident_peak_bytes"] - m["resident_before_bytes"] - planned
                                for m in memory))
    ours = statistics.median(seconds["runner"])
    print(f"runner {facts['runner']['commit']}, {facts['ranks'][0]['device']}, "
          f"{len(os.sched_getaffinity(0))} cores, {facts['started']}")
    print(f"{facts['job']['name']}: {plan['backend']}, {arguments.ranks} ranks, chunks of "
          f"{plan['chunk_rows']} rows, {plan['lanes']} lanes, {plan['io_threads']} + "
          f"{plan['io_threads']} I/O threads, {'synced' if arguments.sync else 'not synced'}, "
          f"{arguments.repeats} runs each in turns")
    for name, values in seconds.items():
        print(f"  {name:32}{spread(values)}  runner / this: {ours / statistics.median(values):.2f}")
    print(f"  processors' seconds, medians; load of the machine {os.getloadavg()[0]:.1f}")
    for name, values in busy_cores.items():
        user, system = (statistics.median(each) for each in zip(*values))
        print(f"    {name:20}{user:8.3f} s in the program, {system:.3f} s in the kernel")
    for name, values in {"start": started, "taking memory": setup, "stream": streams,
                         "finish": finish, "leaving": ended}.items():
        print(f"    of it {name:16}{spread(values)}")
    print(f"  overlap efficiency {statistics.median(efficiency):.3f} "
          f"({min(efficiency):.3f} to {max(efficiency):.3f}), slowest stage "
          f"{facts['bottleneck']}")
    for rank in facts["ranks"]:
        busy = ", ".join(f"{name} {stage['busy_seconds']:.3f}"
                         for name, stage in rank["stages"].items())
        print(f"  rank {rank['rank']} busy seconds: {busy}")
    print(f"  resident memory of a rank: {max(before) / 2**20:.0f} MiB before the plan's; at the "
          f"peak {max(peak) / 2**20:+.0f} MiB beside that and the plan's {planned / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
