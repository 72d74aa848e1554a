"""One account of a job's work for a job of each kind.

The bytes that `plan` states, those that a run reports as its plan and as read and written, and those
by which `submit --profile` scales the time of such a run are the same.
"""
import json
import pathlib
import re
import shutil

import h5py
import numpy as np
import pytest

from harness import attempt, call

pytestmark = pytest.mark.quick

KINDS = {
    "convolve": '[convolve]\nrow_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.25, 0.5, 0.25]\n',
    "denoise": '[denoise]\nmethod = "nlm"\nsigma = 0.1\nwindow = [5, 5, 5]\n',
    "match": '[match]\ncount = 16\nstep = 2\nwindow = [5, 5, 5]\n',
    "sand": '[sand]\ngenerations = 25\nsnapshot_every = 10\n',
    "transpose": '[transpose]\npermutation = [2, 0, 1]\n',
}
SITE = '''[node]
cpus = 4
memory = "3GiB"
[limits]
time = "100d"
nodes = 1
stop_before = "3min"
'''
STOP = 180
DAY = 86400


def seconds_asked(script):
    """Of "#SBATCH --time=2-07:34:20"."""
    found = re.search(r"--time=(\d+)-(\d+):(\d+):(\d+)", script)
    days, hours, minutes, seconds = map(int, found.groups()) if found else (0, 0, 0, 0)
    return days * DAY + hours * 3600 + minutes * 60 + seconds


@pytest.fixture(autouse=True)
def inputs(folder):
    rng = np.random.default_rng(1)
    with h5py.File("in.h5", "w") as file:
        file["a"] = rng.random((12, 20, 24), dtype=np.float32)
    with h5py.File("sand.h5", "w") as file:
        file["a"] = rng.integers(0, 4, (1, 60, 50), dtype=np.uint8)
    pathlib.Path("site.toml").write_text(SITE)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes(kind):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{"sand.h5" if kind == "sand" else "in.h5"}"\n'
        f'dataset = "/a"\n[output]\nfile = "out.h5"\noverwrite = true\n[run]\nbackend = "cpu"\n'
        f'chunk_rows = 50\n{KINDS[kind]}')
    plan = json.loads(call("plan", "job.toml", "--json").stdout)
    call("job.toml", "--quiet", "--report", "r.json")
    report = json.loads(pathlib.Path("r.json").read_text())
    wanted = (plan["bytes_read"], plan["bytes_written"])
    assert (report["plan"]["bytes_read"], report["plan"]["bytes_written"]) == wanted
    moved = tuple(sum(rank["stages"][stage]["bytes"] for rank in report["ranks"])
                  for stage in ("read", "write"))
    assert moved == wanted

    # As if that run had taken long, of which nothing was its start: twice that and a minute are
    # expected, and the time in which a job stops is added, which makes whole minutes.
    report.update(wall_seconds=99990, start_seconds=0)
    pathlib.Path("profile.json").write_text(json.dumps(report))
    asked = attempt("submit", "job.toml", "--site", "site.toml", "--dry-run", "--profile", "profile.json")
    assert seconds_asked(asked.stdout) == 2 * 99990 + 60 + STOP, asked


def test_scratch_files_count_as_disk():
    """A state whose output alone fits the disk, and its scratch file beside it, which takes a fourth of
    its bytes, does not."""
    width = 1 << 16
    rows = int(0.9 * shutil.disk_usage(".").free) // width
    with h5py.File("large.h5", "w") as file:
        file.create_dataset("a", (1, rows, width), np.uint8, chunks=(1, 64, width)) # nothing stored
    pathlib.Path("job.toml").write_text(
        'kind = "sand"\n[input]\nfile = "large.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\n'
        '[run]\nhost_memory = "4GiB"\n[sand]\ngenerations = 2\n')
    pathlib.Path("site.toml").write_text(SITE.replace("3GiB", "4GiB"))
    for arguments in [["plan", "job.toml"], ["submit", "job.toml", "--site", "site.toml", "--dry-run"]]:
        done = attempt(*arguments, "--backend", "cpu")
        assert done.returncode == 2 and "the job does not fit (disk of out.h5)" in done.stderr, done
