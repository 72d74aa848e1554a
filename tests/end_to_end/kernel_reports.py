"""What a report says of kernels, and what is kept of devices, on a stand-in for the CUDA runtime.

The program is linked with tests/fake_cuda, whose kernels do nothing and take 1 ms each.
"""
import json
import os
import pathlib
import subprocess

import pytest

from events import GUARD
from harness import Findings, programs

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
generate = { pattern = "noise", shape = [61, 53], dtype = "float32" }
[output]
file = "out.h5"
sync = false
overwrite = true
[run]
chunk_rows = 7
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = { box = { radius = 3 } }
'''
RATES = pathlib.Path("cache/runner/devices.json")


class Reports(Findings):
    def run(self, *words, code=0, cache="cache", fail=None):
        environment = {**os.environ, "XDG_CACHE_HOME": os.path.abspath(cache),
                       **({"FAKE_CUDA_FAIL": fail} if fail else {})}
        done = subprocess.run([programs.runner, *words], capture_output=True, text=True,
                              timeout=GUARD, env=environment)
        self.expect(done.returncode == code, f"{words}: exit {done.returncode}",
                    f"{done.stdout}{done.stderr}")
        return done

    def report(self, *words, ranks=1, backend="cuda"):
        start = ["-n", str(ranks)] if ranks > 1 else []
        self.run(*start, "job.toml", "--quiet", "--backend", backend, "--report", "r.json", *words)
        return json.loads(pathlib.Path("r.json").read_text())

    def has_kernels(self, report, shares):
        """The 9 chunks of the job, each a launch of one kernel with its border rows."""
        kernels = report["kernels"]
        self.expect(len(kernels) == 1, "one kernel", json.dumps(kernels))
        kernel = kernels[0]
        moved = 4 * 53 * (61 + 61 + 6 * 8)  # six rows of each border between chunks are read twice
        self.expect(kernel["name"].startswith("convolve_push_kernel<float, ") and kernel["launches"] == 9
                    and kernel["timed"] == 9 and abs(kernel["seconds"] - 0.009) < 1e-6
                    and kernel["registers"] == 40 and kernel["bytes"] == moved
                    and kernel["operations"] == 2 * 61 * 53 * 10
                    and kernel["device"] == "fake GPU", "the kernel", json.dumps(kernel))
        self.expect(("share" in kernel) == shares and ("limit" in kernel) == shares, "the share",
                    json.dumps(kernel))

    def kernels(self):
        """A report lists the kernels; shares of the limit once the device is measured."""
        report = self.report()
        self.has_kernels(report, False)
        self.expect(report["device_rates"][0]["why_unknown"]
                    == "not measured: runner devices --measure", "why", report["device_rates"])
        self.run("devices", "--measure")
        report = self.report()
        self.has_kernels(report, True)
        rates = report["device_rates"][0]
        self.expect(rates == json.loads(RATES.read_text())["devices"][0], "the rates", rates)
        kernel = report["kernels"][0]
        moving = kernel["bytes"] / rates["copy_bytes"]
        computing = kernel["operations"] / 2 / rates["float32_multiply_adds"]
        self.expect(abs(kernel["share"] - max(moving, computing) / kernel["seconds"]) < 1e-9 and
                    kernel["limit"] == ("copy" if moving >= computing else "multiply-add"),
                    "the share", kernel)
        page = self.run("report", "r.json", "--page", "r.html")
        self.expect("convolve_push_kernel" in pathlib.Path("r.html").read_text(), "the page", page)
        RATES.write_text(RATES.read_text()[:100])
        report = self.report()
        self.has_kernels(report, False)
        self.expect("is damaged" in report["device_rates"][0]["why_unknown"], "damaged", report)

    def ranks(self):
        """Kernels of ranks on one device are one line."""
        report = self.report(ranks=3)
        self.expect([kernel["launches"] for kernel in report["kernels"]] ==
                    [sum(rank["chunks"] for rank in report["ranks"])], "three ranks", report)

    def on_cpus(self):
        report = self.report(backend="cpu")
        self.expect("kernels" not in report and "device_rates" not in report, "on a CPU", report)

    def devices(self):
        """What `runner devices` says, before and after it measures."""
        text = self.run("devices").stdout
        self.expect("rates not measured: runner devices --measure" in text, "before", text)
        self.expect(json.loads(self.run("devices", "--json").stdout)[0]["rates"] is None, "as JSON")
        text = self.run("devices", "--measure").stdout
        self.expect("rates of 20" in text and "GB/s" in text and "multiply-adds" in text, "after", text)
        kept = json.loads(self.run("devices", "--json").stdout)[0]["rates"]
        self.expect(kept["copy_bytes"] > 0 and kept == json.loads(RATES.read_text())["devices"][0],
                    "kept", kept)
        pathlib.Path("full").write_text("")
        done = self.run("devices", "--measure", code=4, cache="full")
        self.expect(done.stderr.count("error:") == 1 and "XDG_CACHE_HOME" in done.stderr,
                    "no folder", done.stderr)

    def plan(self):
        """A plan for GPUs has the least time of the link, once its rates are kept."""
        words = ["plan", "job.toml", "-n", "2", "--device-memory", "1GiB"]
        self.run("job.toml", "--quiet", "--backend", "cuda")  # makes the input
        self.expect("link" not in self.run(*words).stdout, "before")
        self.run("devices", "--measure")
        rates = json.loads(RATES.read_text())["devices"][0]
        job = 4 * 61 * 53
        least = max(job / rates["upload_bytes"], job / rates["download_bytes"],
                    2 * job / rates["both_ways_bytes"]) / 2
        link = json.loads(self.run(*words, "--json").stdout)["link"]
        self.expect(abs(link["least_seconds"] / least - 1) < 1e-9 and link["device"] == "fake GPU"
                    and link["measured"] == rates["measured"], "the link", link)
        text = self.run(*words).stdout
        self.expect(f"  link: at least {least:.2g} s between host and 2 GPUs, at the rates of fake GPU of "
                    f"{rates['measured'][:10]}\n" in text, "as text", text)
        RATES.write_text("{")
        self.expect("link" not in self.run(*words).stdout, "damaged rates")

    def lost(self):
        """The device is lost at a call that only the report needs."""
        for function in ("cudaFuncGetAttributes", "cudaFuncGetName", "cudaEventElapsedTime"):
            done = self.run("job.toml", "--quiet", "--backend", "cuda", "--report", "r.json",
                            code=5, fail=f"{function}@1=719")
            self.expect(done.stderr.count("error:") == 1 and "the GPU failed" in done.stderr,
                        function, done.stderr)
            self.report()
        done = self.run("devices", "--measure", code=5, fail="cudaMemcpyAsync@3=719")
        self.expect(done.stderr.count("error:") == 1 and not RATES.exists(), "measuring", done.stderr)

    def passes(self):
        """The kernels of all passes of a pipeline."""
        pathlib.Path("job.toml").write_text(JOB.split("[convolve]")[0].replace(
            'kind = "convolve"\n', "") + "\n".join(
                f'[[step]]\nkind = "{kind}"\n{rest}' for kind, rest in
                [("convolve", "row_taps = [0.5, 0.5, 0.5]\ncolumn_taps = [1.0]"),
                 ("transpose", "permutation = [1, 0]"),
                 ("convolve", "row_taps = [0.5, 0.5, 0.5]\ncolumn_taps = [1.0]")]))
        report = self.report()
        names = [kernel["name"] for kernel in report["kernels"]]
        self.expect(len(report["passes"]) > 1 and any("convolve" in name for name in names) and
                    any("convolve" not in name for name in names), "passes", names)


@pytest.mark.parametrize("part", ["kernels", "ranks", "on_cpus", "devices", "plan", "lost", "passes"])
def test_part(part):
    pathlib.Path("job.toml").write_text(JOB)
    tests = Reports()
    getattr(tests, part)()
    tests.none()
