"""One MPI job on two hosts without Slurm: two_hosts.py RUNNER MPIRUN.

The hosts (hosts.py) share the job's folder and nothing else: /tmp and /dev/shm are each one's own.
One has a rank more than the other, which is granted less memory.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import h5py
import numpy as np

import hosts

NAMES = ("a1", "b1")
WORK = "/run/work"
JOBS = {
    "convolve": '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "{out}"
sync = false
[run]
host_memory = "20%"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = {{ box = {{ radius = 40 }} }}
boundary = "wrap"
''',
    "sand": '''kind = "sand"
[input]
file = "scene.h5"
generate = {{ pattern = "sand-noise", shape = [1, 150, 200], seed = 3 }}
[output]
file = "{out}"
dataset = "/image"
sync = false
[sand]
generations = 60
''',
}


def start_hosts():
    """Their first processes, which only wait."""
    started = [subprocess.Popen(hosts.on_host(
        name, f"mount -t tmpfs tmpfs /tmp; touch {WORK}/{name}.up; exec sleep infinity"))
        for name in NAMES]
    for name in NAMES:
        hosts.wait_for(pathlib.Path(f"{WORK}/{name}.up").exists, name)
    return {name: hosts.children(process.pid)[0] for name, process in zip(NAMES, started)}


def write_agent(first_processes):
    """What mpirun calls in place of ssh: agent HOST COMMAND..."""
    cases = "".join(f"{name}) pid={pid} ;;\n" for name, pid in first_processes.items())
    agent = pathlib.Path(WORK, "agent")
    agent.write_text(f'#!/bin/bash\ncase $1 in\n{cases}esac\nshift\n'
                     'exec nsenter --target "$pid" --all --wd="$PWD" bash -c "$*"\n')
    agent.chmod(0o755)
    return str(agent)


def main():
    runner, mpirun = os.path.abspath(sys.argv[1]), sys.argv[2]
    reason = hosts.why_not(["nsenter"])
    if reason:
        hosts.skip("no two hosts here: " + reason)
    hosts.enter(NAMES)
    start = time.monotonic()
    os.makedirs(f"{WORK}/bin")
    os.chdir(WORK)
    # The program may lie under the /tmp that the hosts do not share.
    subprocess.run(["mount", "--bind", os.path.dirname(runner), f"{WORK}/bin"], check=True)
    runner = f"{WORK}/bin/{os.path.basename(runner)}"
    agent = write_agent(start_hosts())
    with h5py.File("in.h5", "w") as file:
        file["image"] = np.random.default_rng(1).random((2, 300, 5000), dtype=np.float32)
    wrong = 0

    def expect(condition, what, text=""):
        nonlocal wrong
        if not condition:
            wrong += 1
            print(f"WRONG: {what}\n{text}", flush=True)

    def launch(ranks, *arguments):
        return subprocess.run(
            [mpirun, "--allow-run-as-root", "--mca", "plm_rsh_agent", agent, "--host",
             ",".join(f"{name}:{count}" for name, count in zip(NAMES, ranks)), "-n",
             str(sum(ranks)), "bash", "-c", '[ "$(hostname)" = b1 ] && '
             'export SLURM_MEM_PER_NODE=90; exec "$@"', "run", runner, *arguments],
            capture_output=True, text=True, timeout=hosts.GUARD)

    for kind, text in JOBS.items():
        pathlib.Path(f"{kind}-alone.toml").write_text(text.format(out=f"{kind}-alone.h5"))
        pathlib.Path(f"{kind}.toml").write_text(text.format(out=f"{kind}.h5"))
        subprocess.run([runner, f"{kind}-alone.toml", "--quiet"], check=True)
        done = launch((2, 1), f"{kind}.toml", "--report", "report.json")
        expect(done.returncode == 0, f"{kind}: exit {done.returncode}", done.stdout + done.stderr)
        seen = re.findall(r"^rank (\d)  (\S+) ", done.stderr, re.M)
        expect(seen == [("0", "a1"), ("1", "a1"), ("2", "b1")], f"{kind}: ranks on {seen}",
               done.stderr)
        if kind == "convolve": # each rank by its own host's memory
            ranks = json.loads(pathlib.Path("report.json").read_text())["ranks"]
            rows = [rank["chunk_rows"] for rank in ranks]
            expect(rows[0] == rows[1] > rows[2], f"chunks of {rows} rows", done.stderr)
            expect(f"chunks of {rows[2]} rows in" in done.stderr, "smaller chunks told",
                   done.stderr)
        else: # 80 % of what the one rank of the second host is granted, for all ranks alike
            expect(" of 72.0 MiB" in done.stderr, "the least of all hosts' memory", done.stderr)
        with h5py.File(f"{kind}-alone.h5") as a, h5py.File(f"{kind}.h5") as b:
            expect(a["image"][...].tobytes() == b["image"][...].tobytes(), f"{kind}: other bytes")
    # The host that is too small is named.
    done = launch((2, 1), "convolve.toml", "--set", "output.overwrite=true", "--set",
                  'run.host_memory="5%"')
    expect(done.returncode == 2 and "run.host_memory of rank 2 on b1)" in done.stderr,
           "a host that is too small", f"{done.returncode}\n{done.stderr}")
    # An error of one host's rank is told once, and all end.
    done = launch((1, 2), "convolve.toml", "--set", 'input.file="none.h5"')
    expect(done.returncode == 3 and done.stderr.count("runner: error:") == 1,
           "an error on two hosts", f"{done.returncode}\n{done.stderr}")
    print(f"two hosts: {time.monotonic() - start:.0f} s, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
