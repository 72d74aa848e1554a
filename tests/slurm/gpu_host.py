"""`runner submit` on a Slurm whose one node is this host with its GPUs: gpu_host.py RUNNER SHIM.

By hand, on a GPU host that is nobody else's: README.md says how it gets Slurm there. Needs root, two
GPUs, no name spaces.
"""
import glob
import os
import re
import shutil
import socket
import subprocess
import sys

import slurm_cluster
from suite import BATCH, Case, ended, first_go, run_on

HOST = socket.gethostname()
GPUS = sorted(glob.glob("/dev/nvidia[0-9]*"))[:2]
SAND = '''kind = "sand"
[input]
file = "scene.h5"
generate = { pattern = "sand-noise", shape = [1, 3000, 2000], seed = 3 }
[output]
file = "sand.h5"
dataset = "/frames"
sync = false
[sand]
generations = 500
[run]
halo_exchange = "direct" # an error where the GPUs do not reach each other
'''


class Cluster(slurm_cluster.Cluster):
    nodes = (HOST,)
    head = f"{HOST}(127.0.0.1)"

    def start_node(self, node):
        for name in [f"spool-{node}", f"tmp-{node}"]:
            (self.folder / name).mkdir()
        self.start(node, ["slurmd", "-D", "-N", node])

    def node_lines(self):
        return (f"NodeName={HOST} NodeAddr=127.0.0.1 CPUs={max(16, os.cpu_count())} RealMemory=16000 "
                f"Gres=gpu:h200:{len(GPUS)}\n"
                f"PartitionName=test Nodes={HOST} MaxTime=INFINITE State=UP Default=YES\n")

    def gpu_lines(self):
        return "".join(f"NodeName={HOST} Name=gpu Type=h200 File={file}\n" for file in GPUS)


def node_with(gpus):
    return f'gpus = {gpus}\ngpu_memory = "80GiB"\ngpu_type = "h200"'


def run(case, *arguments):
    """By itself, beside Slurm."""
    done = subprocess.run([case.suite.runner, *arguments], cwd=case.folder, capture_output=True,
                          text=True)
    case.expect(done.returncode == 0, f"{arguments}: exit {done.returncode}",
                done.stdout + done.stderr)


def seen_gpus(case):
    return re.findall(r"^rank (\d)  \S+  (NVIDIA [^\n]*?)  (GPU-\S+)", case.logs(), re.M)


def two_gpus(suite):
    """A rank a GPU, as many as the node has."""
    case = Case(suite, "two", cpus=4, node=node_with(2))
    number, = case.submitted()
    case.expect(ended(number)["JobState"] == "COMPLETED", "completed", case.logs())
    found = seen_gpus(case)
    suite.said.append(f"two: {found}")
    case.expect(len({uuid for _, _, uuid in found}) == 2, "two ranks, two GPUs", case.logs())
    case.same_bytes()


def neighbours(suite):
    """Ranks see each other's GPUs: rows go between these without the hosts' memory."""
    case = Case(suite, "peers", cpus=4, node=node_with(2))
    case.write("job.toml", SAND)
    number, = case.submitted()
    case.expect(ended(number)["JobState"] == "COMPLETED", "completed", case.logs())
    case.expect(len(seen_gpus(case)) == 2, "two ranks", case.logs())
    run(case, "job.toml", "--quiet", "--backend", "cpu", "--set", 'output.file="cpu.h5"',
        "--set", 'run.halo_exchange="auto"')
    run(case, "compare", "sand.h5:/frames", "cpu.h5:/frames")


def limit(suite):
    """The time limit ends it with 75; requeued by itself, it resumes on the GPUs."""
    case = Case(suite, "limit", cpus=4, node=node_with(2), stop_before="15s",
                program=suite.slow(1.0, first_go()))
    number, = case.submitted("--time", "60s")
    job = ended(number)
    case.expect((job["JobState"], job["Restarts"]) == ("COMPLETED", "1"),
                "completed at the second go", str(job) + case.logs())
    case.expect("resumes where a run stopped" in case.logs(), "it resumes", case.logs())
    case.same_bytes()


def array(suite):
    """Two tasks at a time, each with a GPU of its own."""
    case = Case(suite, "array", cpus=2, node=node_with(1),
                program='echo "task $SLURM_ARRAY_TASK_ID: $CUDA_VISIBLE_DEVICES"\n'
                'touch here.$SLURM_ARRAY_TASK_ID\n'
                'until [ -n "$(ls here.* | sed 1d)" ]; do sleep 0.1; done')  # two at a time
    case.write("job.toml", BATCH)
    (case.folder / "scans").mkdir()
    for i in range(9):
        shutil.copy(suite.folder / "in.h5", case.folder / f"scans/s{i}.h5")
    tasks, summary = case.submitted("--array", "4")
    case.expect(ended(summary)["JobState"] == "COMPLETED", "completed", case.logs())
    seen = set(re.findall(r"^task \d: (\S+)$", case.logs(), re.M))
    suite.said.append(f"array: tasks saw {sorted(seen)}")
    case.expect(seen == {"0", "1"}, f"tasks of one GPU each saw {seen}", case.logs())
    run(case, "batch", "job.toml", "--quiet", "--backend", "cpu", "--set",
        'batch.output="cpu/{stem}.h5"')
    for i in range(9):
        run(case, "compare", f"out/s{i}.h5:/image", f"cpu/s{i}.h5:/image")


def run_all(suite, _):
    for case in (two_gpus, neighbours, array, limit):
        suite.attempt(lambda case=case: case(suite))


def main():
    runner, shim = sys.argv[1:]
    if len(GPUS) < 2:
        sys.exit("needs two GPUs")
    sys.exit(1 if run_on(Cluster, "/tmp", runner, shim, run_all) else 0)


if __name__ == "__main__":
    main()
