"""The whole program on a stand-in for the CUDA runtime that fails.

The program is linked with tests/fake_cuda, whose kernels do nothing: what counts is how the program ends.
A call after the device is lost ends it with SIGABRT.
"""
import json
import os
import pathlib
import subprocess

import pytest

from events import GUARD
from harness import Findings, call, programs

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
generate = { pattern = "noise", shape = [61, 53], dtype = "float32" }
[output]
file = "out.h5"
sync = false
[run]
backend = "cuda"
chunk_rows = 7
lanes = 3
commit_seconds = 0
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = { box = { radius = 3 } }
'''

# Every function that a run calls.
FUNCTIONS = [
    "cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaDeviceGetPCIBusId", "cudaMemGetInfo",
    "cudaSetDevice", "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaHostAlloc",
    "cudaMalloc", "cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent",
    "cudaDeviceGetAttribute", "cudaFuncSetAttribute",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cudaLaunchKernelExC",
    "cudaEventSynchronize", "cudaEventElapsedTime", "cudaFree", "cudaFreeHost", "cudaEventDestroy",
    "cudaStreamDestroy"]
LASTING = [719, 700, 214]


class Failures(Findings):
    def check(self, condition, what, done):
        self.expect(condition, f"{what}: exit {done.returncode}", f"{done.stdout}{done.stderr}")

    def run(self, command, fail=None):
        environment = dict(os.environ)
        if fail is not None:
            environment["FAKE_CUDA_FAIL"] = fail
        return subprocess.run(command, capture_output=True, text=True, timeout=GUARD, env=environment)

    def ends_with_one_message(self, done, fail):
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        self.check(done.returncode == 5 and len(errors) == 1 and "the GPU failed" in errors[0]
                   and "the same command resumes" in errors[0], fail, done)
        self.check(not os.path.exists("out.h5"), f"{fail}: an output", done)

    def lost(self):
        """The device is lost at a call; the same command resumes when it is there again."""
        reached = set()
        for index, function in enumerate(FUNCTIONS):
            for nth in [1, 2, 9]:
                fail = f"{function}@{nth}={LASTING[(index + nth) % 3]}"
                done = self.run([programs.runner, "job.toml", "--quiet"], fail)
                if done.returncode == 0:  # not called so often, or only when all was done
                    os.remove("out.h5")
                    continue
                reached.add(function)
                self.ends_with_one_message(done, fail)
                again = self.run([programs.runner, "job.toml", "--quiet", "--set",
                                  'run.resume_check="all"'])
                self.check(again.returncode == 0, f"after {fail}", again)
                os.remove("out.h5")
        never = set(FUNCTIONS) - reached - {"cudaFree", "cudaFreeHost", "cudaEventDestroy",
                                            "cudaStreamDestroy"}
        self.expect(not never, f"never failed: {never}")

    def one_rank_lost(self):
        """One rank of three loses its device: all end, with its message alone."""
        fail = "cudaMemcpyAsync@5=719"
        job = [programs.runner, "job.toml", "--quiet"]
        done = self.run([programs.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "1", *job, ":",
                         "-n", "1", "env", f"FAKE_CUDA_FAIL={fail}", *job, ":", "-n", "1", *job])
        errors = [line for line in done.stderr.splitlines() if line.startswith("runner: error:")]
        self.check(done.returncode == 5 and len(errors) == 1 and "rank 1 on" in errors[0]
                   and "fake_cuda" not in done.stderr,
                   "one rank of three", done)
        again = self.run([programs.runner, "job.toml", "--quiet"])
        self.check(again.returncode == 0, "after one rank of three", again)
        os.remove("out.h5")

    def halved(self):
        """Memory that cannot be taken: one message, a line of the report, and no error."""
        done = self.run([programs.runner, "job.toml", "--quiet", "--report", "r.json"],
                        "cudaMalloc@4=2")
        lines = done.stderr.splitlines()
        self.check(done.returncode == 0 and len(lines) == 1
                   and lines[0].startswith("rank 0: cannot take device memory")
                   and lines[0].endswith("continues with chunks of 3 rows in 3 lanes"), "halved", done)
        rank = json.loads(pathlib.Path("r.json").read_text())["ranks"][0]
        self.check(rank["chunk_rows"] == 3 and rank["lanes"] == 3 and len(rank["halvings"]) == 1
                   and rank["halvings"][0]["chunk_rows"] == 3, f"halved: {rank}", done)
        shown = self.run([programs.runner, "inspect", "out.h5", "--json"])
        self.check('"chunk_rows": 3' in shown.stdout, "the attribute chunk_rows", shown)
        os.remove("out.h5")

    def refused(self):
        """A launch that CUDA refuses is a defect, with its numbers."""
        for error in [1, 9, 98, 701]:
            done = self.run([programs.runner, "job.toml", "--quiet"], f"cudaLaunchKernelExC@2={error}")
            self.check(done.returncode == 5 and f"CUDA error {error}," in done.stderr
                       and "grid " in done.stderr and "defect" in done.stderr,
                       f"launch error {error}", done)


@pytest.mark.parametrize("part", ["lost", "one_rank_lost", "halved", "refused"])
def test_part(part):
    pathlib.Path("job.toml").write_text(JOB)
    call("job.toml", "--quiet")  # makes the input, and says so
    os.remove("out.h5")
    tests = Failures()
    getattr(tests, part)()
    tests.none()
