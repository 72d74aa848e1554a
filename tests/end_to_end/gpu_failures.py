"""The whole program on a stand-in for the CUDA runtime that fails: gpu_failures.py RUNNER MPIRUN.

RUNNER is linked with tests/fake_cuda, whose kernels do nothing: what counts is how the program ends.
A call after the device is lost ends it with SIGABRT.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from events import GUARD

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


class Tests:
    def __init__(self, runner, mpirun):
        self.runner = runner
        self.mpirun = mpirun
        self.failures = 0

    def check(self, condition, what, done):
        if not condition:
            print(f"{what}: exit {done.returncode}\n{done.stdout}{done.stderr}")
            self.failures += 1

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
                done = self.run([self.runner, "job.toml", "--quiet"], fail)
                if done.returncode == 0:  # not called so often, or only when all was done
                    os.remove("out.h5")
                    continue
                reached.add(function)
                self.ends_with_one_message(done, fail)
                again = self.run([self.runner, "job.toml", "--quiet", "--set",
                                  'run.resume_check="all"'])
                self.check(again.returncode == 0, f"after {fail}", again)
                os.remove("out.h5")
        never = set(FUNCTIONS) - reached - {"cudaFree", "cudaFreeHost", "cudaEventDestroy",
                                            "cudaStreamDestroy"}
        if never:
            print(f"never failed: {never}")
            self.failures += 1

    def one_rank_lost(self):
        """One rank of three loses its device: all end, with its message alone."""
        fail = "cudaMemcpyAsync@5=719"
        done = self.run([*self.mpirun, "-n", "1", self.runner, "job.toml", "--quiet", ":", "-n",
                         "1", "env", f"FAKE_CUDA_FAIL={fail}", self.runner, "job.toml", "--quiet",
                         ":", "-n", "1", self.runner, "job.toml", "--quiet"])
        errors = [line for line in done.stderr.splitlines() if line.startswith("runner: error:")]
        self.check(done.returncode == 5 and len(errors) == 1 and "rank 1 on" in errors[0]
                   and "fake_cuda" not in done.stderr,
                   "one rank of three", done)
        again = self.run([self.runner, "job.toml", "--quiet"])
        self.check(again.returncode == 0, "after one rank of three", again)
        os.remove("out.h5")

    def halved(self):
        """Memory that cannot be taken: told once, in the report, and no error."""
        done = self.run([self.runner, "job.toml", "--quiet", "--report", "r.json"],
                        "cudaMalloc@4=2")
        told = done.stderr.splitlines()
        self.check(done.returncode == 0 and len(told) == 1
                   and told[0].startswith("rank 0: cannot take device memory")
                   and told[0].endswith("continues with chunks of 3 rows in 3 lanes"), "halved", done)
        rank = json.loads(pathlib.Path("r.json").read_text())["ranks"][0]
        self.check(rank["chunk_rows"] == 3 and rank["lanes"] == 3 and len(rank["halvings"]) == 1
                   and rank["halvings"][0]["chunk_rows"] == 3, f"halved: {rank}", done)
        shown = self.run([self.runner, "inspect", "out.h5", "--json"])
        self.check('"chunk_rows": 3' in shown.stdout, "the attribute chunk_rows", shown)
        os.remove("out.h5")

    def refused(self):
        """A launch that CUDA refuses is a defect, with its numbers."""
        for error in [1, 9, 98, 701]:
            done = self.run([self.runner, "job.toml", "--quiet"], f"cudaLaunchKernelExC@2={error}")
            self.check(done.returncode == 5 and f"CUDA error {error}," in done.stderr
                       and "grid " in done.stderr and "defect" in done.stderr,
                       f"launch error {error}", done)


def main():
    runner = os.path.abspath(sys.argv[1])
    mpirun = [sys.argv[2], "--allow-run-as-root", "--oversubscribe"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("job.toml").write_text(JOB)
        tests = Tests(runner, mpirun)
        tests.lost()
        tests.one_rank_lost()
        tests.halved()
        tests.refused()
        os.chdir("/")
    print(f"{tests.failures} failures")
    return 1 if tests.failures else 0


if __name__ == "__main__":
    sys.exit(main())
