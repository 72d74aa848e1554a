"""Phase retrieval in pipelines, of inputs that do not fit, and what it counts; what it makes alone is in kind_runs.py."""
import json
import pathlib
import re

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, generator
from kind_rules import corrected, medians, reduced
from phase_rules import KEYS, TOLERANCE, lines, retrieved, transmissions
from stripes_runs import chains, check_chain, read, run, scan, write, write_job

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHASE = lines(KEYS)


def test_the_job_of_the_page():
    """Corrected, cleaned, filtered, transposed and without stripes: every division of the work."""
    frames, key = scan(generator("scan"))
    page = (ROOT / "docs/phase.md").read_text()
    text, = re.findall(r"```toml\n(\[input\]\n.*?)```", page, re.S)
    pathlib.Path("out").mkdir()
    pathlib.Path("job.toml").write_text(text.replace("out/no_rings.h5", "out.h5") + "overwrite = true\n")
    t, _, _ = corrected(frames[key == 0], reduced(frames[key == 2], "mean"), reduced(frames[key == 1], "mean"))
    of_page = {"energy": 25.0, "distance": 0.5, "pixel_size": 1.1, "delta_beta": 250.0}
    assert lines(of_page) in text
    right = retrieved(medians(t, [3, 3], "reflect", 0, 0.25), of_page, floor=1e-6)
    run('until="3"')
    found = read("out.h5", "entry/data/data")
    assert np.abs(found - right).max() <= TOLERANCE * np.abs(right).max()
    run()
    whole = read("out.h5", "entry/data/data")
    assert whole.shape == (found.shape[1], found.shape[0], found.shape[2])
    for ranks, settings in [(3, ["run.chunk_rows=5"]), (2, ["run.chunk_rows=60", "run.lanes=2"]),
                            (4, ['run.host_memory="8MiB"'])]:
        run(*settings, ranks=ranks)
        assert read("out.h5", "entry/data/data").tobytes() == whole.tobytes(), (ranks, settings)


STEPS = {
    "wrap": ("convolve", 'row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.25, 0.25]\nboundary = "wrap"\n'),
    "deep": ("median", "size = [3, 3, 3]\n"),
    "bin": ("bin", "factors = [2, 1]\n"),
    "phase": ("phase", PHASE + "negative_log = false\n"),
    "logarithm": ("phase", PHASE + 'method = "pixel"\nfloor = 0.4\n'),
}


@pytest.mark.share(0.06)
@pytest.mark.parametrize("chain", chains(STEPS, "phase", "logarithm"), ids=", ".join)
def test_steps_give_the_bytes_of_single_jobs(chain):
    check_chain(chain, STEPS, transmissions(generator(chain), (7, 24, 19)))


def test_a_projection_larger_than_the_memory_is_refused():
    write("in.h5", x=np.ones((2, 600, 700), "float32"))
    write_job(f"[phase]\n{PHASE}", kind="phase")
    words = bad(2, ["host_memory"], "job.toml", "--quiet", "--set", 'run.host_memory="4MiB"')
    enough, = re.findall(r'Set run.host_memory = ("[^"]+") or more', words)
    run(f"run.host_memory={enough}")


def test_a_large_projection_is_a_chunk():
    """A projection of 2047 x 2304, where chunk_rows asks for 7 rows; primes among the extents."""
    values = transmissions(generator("large"), (2, 2039, 2309))
    write("in.h5", x=values)
    write_job(f"[phase]\n{PHASE}negative_log = false\n", kind="phase")
    run("run.chunk_rows=7", ranks=2)
    right = retrieved(values[1], KEYS)
    assert np.abs(read("out.h5")[1] - right).max() <= TOLERANCE


def test_a_nan_fills_its_projection():
    values = transmissions(generator("nan"), (3, 20, 30))
    values[1, 3, 4] = np.nan
    write("in.h5", x=values)
    write_job(f"[phase]\n{PHASE}", kind="phase")
    text = call("job.toml", "--quiet", ranks=2).stderr
    assert text.count("warning") == 1 and "nan_values): it has 600 elements that are NaN" in text, text
    found = read("out.h5")
    assert np.isnan(found[1]).all() and np.isfinite(found[[0, 2]]).all()
    with h5py.File("out.h5") as file:
        assert "nan_values = 600\n" in file.attrs["counts"]


@pytest.mark.parametrize("ranks, rows", [(1, 100), (3, 9)])
def test_raised_values_are_counted(ranks, rows):
    """Of five projections one is nothing but negative values, and half of another, far from the other half."""
    values = np.full((5, 9, 400), 0.5, "float32")
    values[1] = -1
    values[3, :, :200] = -1
    write("in.h5", x=values)
    write_job(f"[phase]\n{lines({**KEYS, 'delta_beta': 1.0})}floor = 0.01\n", kind="phase")
    run(f"run.chunk_rows={rows}", ranks=ranks)
    raised = int((read("out.h5") == np.float32(-np.log(np.float32(0.01)))).sum())
    assert abs(raised - 9 * 600) <= 9 * 4, raised
    with h5py.File("out.h5") as file:
        assert file.attrs["counts"] == f"raised_values = {raised}\n"


def test_invalid_elements_are_refused():
    write("in.h5", x=transmissions(generator("invalid"), (2, 3, 4)))
    write_job(f"[phase]\n{PHASE}", kind="phase", more='invalid = "nan"')
    bad(2, ["phase does not take invalid elements", "input.invalid", "fill"], "job.toml", "--quiet")
    write_job(f'[[step]]\nkind = "fill"\nrest = 1.0\n[[step]]\nkind = "phase"\n{PHASE}', more='invalid = "nan"')
    run()
    assert np.isfinite(read("out.h5")).all()


def test_the_plan_counts_the_scratch_memory():
    write("in.h5", x=np.ones((2, 300, 400), "float32"))
    write_job(f"[phase]\n{PHASE}", kind="phase")
    done = attempt("plan", "job.toml", "--json", "--device-memory", "8GiB")
    assert done.returncode == 0, done.stderr
    # Twice 300 x 448 / 2 spectra, rounded up, of 8 bytes; and two chunks' input and output at least.
    assert json.loads(done.stdout)["memory_per_rank"]["host_bytes"] > 300 * 240 * 8 + 4 * 300 * 400 * 4
