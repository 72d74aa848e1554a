"""What safety costs: resume_bench.py RUNNER BEFORE JOB FOLDER [--repeats N] [--set KEY=VALUE].

RUNNER beside BEFORE, a build from before there were journal and checksums (commit 73942bf), in
turns, syncing and not. Then a run stopped or killed on its way and resumed: its time beside the
whole run's and the share of the rows that were left. Prints medians, spread and ratios.
"""
import argparse
import json
import os
import pathlib
import re
import signal as signals
import statistics
import subprocess
import time


def wall(command, code=0):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != code:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return time.perf_counter() - start, done.stderr


def spread(seconds):
    return f"{statistics.median(seconds):8.3f} s  ({min(seconds):.3f} to {max(seconds):.3f})"


def clear(target):
    for path in [target, pathlib.Path(f"{target}.partial"), pathlib.Path(f"{target}.lock")]:
        path.unlink(missing_ok=True)
    subprocess.run(["rm", "-rf", f"{target}.journal"], check=True)


def cost(arguments, job, target):
    print("journal and checksums, beside a build without them, in turns:")
    for sync in ["false", "true"]:
        seconds = {"with": [], "without": []}
        for _ in range(arguments.repeats):
            for name, program in [("with", arguments.runner), ("without", arguments.before)]:
                clear(target)
                os.sync()
                seconds[name].append(wall([program, *job, "--set", f"output.sync={sync}"])[0])
        ratio = statistics.median(seconds["with"]) / statistics.median(seconds["without"])
        print(f"  output.sync = {sync}")
        for name, values in seconds.items():
            print(f"    {name:8}{spread(values)}")
        print(f"    with / without: {ratio:.3f}")


def going_on(arguments, job, target):
    """Stops at half of the whole run's time, with USR1 and with KILL."""
    clear(target)
    whole, _ = wall([arguments.runner, *job])
    print(f"a run stopped on its way and resumed; the whole run took {whole:.3f} s")
    for signal in ["USR1", "KILL"]:
        for _ in range(arguments.repeats):
            clear(target)
            first = subprocess.Popen([arguments.runner, *job], stderr=subprocess.DEVNULL)
            time.sleep(0.4 * whole)
            first.send_signal(getattr(signals, f"SIG{signal}"))
            if first.wait() == 0:
                print(f"  {signal}: the run had finished")
                continue
            noisy = [word for word in job if word != "--quiet"]
            rest, said = wall([arguments.runner, *noisy])
            share = re.search(r"\((\d+\.\d) %\) are done", said)
            left = 1 - float(share.group(1)) / 100 if share else 1
            print(f"  {signal}: {100 * left:5.1f} % of the rows were left, {rest:.3f} s; beyond "
                  f"their share of the whole run: {rest - left * whole:+.3f} s")


def main():
    parser = argparse.ArgumentParser()
    for name in ["runner", "before", "job", "folder"]:
        parser.add_argument(name)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only-going-on", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    source, target, report = folder / "in.h5", folder / "out.h5", folder / "report.json"
    job = [arguments.job, "--quiet", "--set", f'input.file="{source}"',
           "--set", f'output.file="{target}"', "--set", "output.overwrite=true"]
    for setting in arguments.set:
        job += ["--set", setting]
    clear(target)
    wall([arguments.runner, *job, "--report", str(report)])  # makes the input and warms up
    facts = json.loads(report.read_text())
    print(f"runner {facts['runner']['commit']}, {facts['ranks'][0]['device']}, "
          f"{len(os.sched_getaffinity(0))} cores, {facts['started']}; {facts['job']['name']}, "
          f"{facts['input']['shape']} {facts['input']['type']}, {arguments.repeats} runs each")
    if not arguments.only_going_on:
        cost(arguments, job, target)
    going_on(arguments, job + ["--set", "run.commit_seconds=0.2"], target)


if __name__ == "__main__":
    main()
