"""Jobs on the cluster of slurm_cluster.py, and what became of them: for slurm_runs.py."""
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import traceback

import h5py
import numpy as np

from hosts import wait_for

ROWS = 400
JOB = '''kind = "convolve"
name = "{name}"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out.h5"
sync = false
[run]
chunk_rows = 4
lanes = 2
commit_seconds = 0
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = {{ box = {{ radius = 3 }} }}
boundary = "wrap"
'''
BATCH = '''kind = "convolve"
name = "scans"
[input]
dataset = "/image"
[output]
sync = false
[batch]
inputs = ["scans/*.h5"]
output = "out/{stem}.h5"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [1.0]
'''
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL")


class Case:
    """A folder with an input, a job and a site of its own."""

    def __init__(self, suite, name, **site):
        self.suite = suite
        self.name = name
        self.folder = suite.folder / name
        self.folder.mkdir()
        (self.folder / "in.h5").symlink_to(suite.folder / "in.h5")
        self.write("job.toml", JOB.format(name=re.sub("[^a-z]", "_", name)))
        self.write_site(**site)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def write_site(self, text=None, cpus=1, program="", stop_before="20s", requeues=3, node="",
                   launcher="", head="", partition="test"):
        """`program`: what the script that ranks run does before it becomes runner."""
        path = self.folder / "program"
        path.write_text(f'#!/bin/bash\n{program}\nexec {self.suite.runner} "$@"\n')
        path.chmod(0o755)
        self.write("site.toml", text or f'''partition = "{partition}"
program = "{path}"
{head}
[node]
cpus = {cpus}
memory = "700MiB"
{node}
[limits]
time = "10min"
nodes = 2
stop_before = "{stop_before}"
requeues = {requeues}
[launcher]
{launcher}
''')

    def submit(self, *arguments, site="site.toml", **environment):
        return subprocess.run([self.suite.runner, "submit", "job.toml", "--site", site, *arguments],
                              cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **environment})

    def submitted(self, *arguments, **options):
        """The numbers of the jobs."""
        done = self.submit(*arguments, **options)
        self.expect(done.returncode == 0, f"submit {arguments}: {done.returncode}", done.stderr)
        return re.findall(r"^job (\d+):", done.stdout, re.M)

    def logs(self):
        return "".join(path.read_text() for path in sorted((self.folder / "logs").glob("*.out")))

    def same_bytes(self, output="out.h5"):
        """Of the elements and of the checksums kept beside them."""
        try:
            with h5py.File(self.folder / output) as a, h5py.File(self.suite.folder / "out.h5") as b:
                same = a["image"][...].tobytes() == b["image"][...].tobytes()
        except OSError as error:
            same = False
            print(error)
        self.expect(same, f"{output} is as without Slurm", self.logs())

    def expect(self, condition, what, text=""):
        self.suite.expect(condition, f"{self.name}: {what}", text)


class Suite:
    def __init__(self, folder, runner, shim):
        self.folder = pathlib.Path(folder)
        self.runner = os.path.abspath(runner)
        self.shim = os.path.abspath(shim)
        self.wrong = 0
        self.said = []
        rng = np.random.default_rng(5)
        with h5py.File(self.folder / "in.h5", "w") as file:
            file["image"] = rng.random((ROWS, 300), dtype=np.float32)
        (self.folder / "job.toml").write_text(JOB.format(name="alone"))
        subprocess.run([self.runner, "job.toml", "--quiet"], cwd=self.folder, check=True)

    def expect(self, condition, what, text=""):
        if not condition:
            self.wrong += 1
            print(f"WRONG: {what}\n{text}".rstrip(), flush=True)

    def attempt(self, case):
        """A case that ends by an exception is wrong, and the others continue."""
        try:
            case()
        except Exception:  # pylint: disable=broad-except
            self.expect(False, "an exception", traceback.format_exc())

    def slow(self, seconds, condition="true"):
        """For Case(program=): writes take so long, for as long as this shell condition holds."""
        return (f"if {condition}; then export LD_PRELOAD={self.shim} "
                f"FAULT='pwrite:delay={int(seconds * 1e6)}@*:out'; fi")


class Queue:
    """What Slurm says of its jobs: asked a few times a second for all who want to know."""

    lock = threading.Lock()
    asked = 0.0
    jobs = []

    @classmethod
    def look(cls):
        with cls.lock:
            if time.monotonic() - cls.asked > 0.25:
                found = subprocess.run(["scontrol", "-o", "show", "job"], capture_output=True,
                                       text=True)
                cls.jobs = [dict(field.split("=", 1) for field in line.split(" ") if "=" in field)
                            for line in found.stdout.splitlines()]
                cls.asked = time.monotonic()
            return cls.jobs


def jobs(number):
    """What Slurm says of a job, of each task of an array."""
    return [job for job in Queue.look() if number in (job.get("JobId"), job.get("ArrayJobId"))]


def one(number):
    found = jobs(number)
    return found[0] if found else {"JobState": "?"}


def is_over(number):
    found = jobs(number)
    return found and all(job["JobState"] in ENDED for job in found)


def ended(number):
    try:
        wait_for(lambda: is_over(number), f"job {number} over", pause=0.3)
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {one(number)}") from error
    return one(number)


def is_running(number):
    return one(number)["JobState"] == "RUNNING"


def first_go():
    return '[ "${SLURM_RESTART_COUNT:-0}" -eq 0 ]'


def run_on(cluster_class, where, runner, shim, cases):
    """Does cases(suite, cluster) on such a cluster, with all files below `where`; how many
    expectations were wrong."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir=where) as name:
        folder = pathlib.Path(name)
        (folder / "slurm").mkdir()
        (folder / "runs").mkdir()
        suite = Suite(folder / "runs", runner, shim)
        with cluster_class(folder / "slurm") as cluster:
            cases(suite, cluster)
        if suite.wrong:
            for log in sorted((folder / "slurm").glob("slurm*.log")):
                print(f"{log.name}:\n" + "\n".join(log.read_text().splitlines()[-40:]))
    print("\n".join(suite.said))
    print(f"slurm: {time.monotonic() - start:.0f} s, {suite.wrong} wrong")
    return suite.wrong
