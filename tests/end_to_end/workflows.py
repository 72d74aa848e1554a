"""The examples for workflow managers, run as their page says.

The outputs are compared with scipy, and what Snakemake reserves with what the plan prints.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import h5py
import numpy as np
import scipy.ndimage

from events import GUARD
from harness import programs

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def commands(heading):
    """The commands of the first block under a heading, without the copy of the folder."""
    page = (EXAMPLES / "README.md").read_text()
    part = page[page.index(f"\n## {heading}\n"):]
    block = re.search(r"```sh\n(.*?)```", part, re.S)[1]
    return [line for line in block.splitlines() if not line.startswith("cp -r ")]


def run_page(heading, folder):
    """Runs them in a copy of the folder; all that they printed."""
    shutil.copytree(EXAMPLES / folder, folder)
    bin_folder = pathlib.Path("bin").absolute()
    bin_folder.mkdir(exist_ok=True)
    (bin_folder / "runner").symlink_to(programs.runner)
    environment = os.environ | {"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(pathlib.Path.cwd())}
    printed = ""
    for command in commands(heading):
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, timeout=GUARD, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}"
        printed += done.stdout
    return printed


def read(path):
    with h5py.File(path) as file:
        return file["data"][()]


def test_snakemake():
    printed = run_page("Snakemake", "snakemake")
    for scan in "abc":
        image = read(f"snakemake/data/{scan}.h5")
        assert image.shape == (900, 1200)
        expected = scipy.ndimage.median_filter(image, (3, 3), mode="reflect")
        assert read(f"snakemake/out/{scan}.h5").tobytes() == expected.tobytes()
        json.loads(pathlib.Path(f"snakemake/report/{scan}.json").read_text())
    plan = json.loads(subprocess.run([programs.runner, "plan", "median.toml", "--set", 'output.file="x.h5"', "--json"],
                                     cwd="snakemake", check=True, capture_output=True).stdout)
    needed = -(-plan["memory_per_rank"]["host_bytes"] // 2**20)
    reserved = re.findall(r"resources: .*mem_mb=(\d+)", printed)
    assert reserved.count(str(needed)) == 3, (needed, reserved)


def test_cwl():
    run_page("Common Workflow Language", "cwl")
    image = read("cwl/scan.h5")
    median = scipy.ndimage.median_filter(image, (1, 3, 3), mode="reflect")
    means = median.reshape(8, 150, 2, 200, 2).mean((2, 4), dtype="float64")
    found = read("cwl/result/half.h5")
    assert found.shape == means.shape and np.abs(found - means).max() <= 0.5
    for name in ("median", "half"):
        assert json.loads(pathlib.Path(f"cwl/result/{name}.json").read_text())["job"]
