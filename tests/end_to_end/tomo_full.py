"""jobs/tomo_full.toml on a small scan that the program makes, against the steps in numpy; and what the scan's file says."""
import pathlib

import h5py
import numpy as np

from harness import attempt, call, launch
from kind_rules import corrected, medians, reduced
from phase_rules import TOLERANCE, retrieved
from stripes_rules import by_sorting, of_frames

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEAM = {"energy": 30.0, "distance": 0.04, "pixel_size": 5.0, "delta_beta": 200.0}


def read(path, name="data"):
    with h5py.File(path) as file:
        return file[name][...]


def make(shape, counts="20000"):
    for folder in ("data", "out"):
        pathlib.Path(folder).mkdir(exist_ok=True)
    call("generate", "phase-scan", "data/phase_scan.h5", "--shape", shape, "--dtype", "uint16", "--counts", counts,
         "--seed", "3")


def run(*settings, ranks=1):
    words = [word for setting in settings for word in ("--set", setting)]
    done = attempt(str(ROOT / "jobs/tomo_full.toml"), "--quiet", *words, before=launch(ranks))
    assert done.returncode == 0, done.stderr


def test_the_file_is_a_scan():
    make("40,6,8")
    numbers = {"instrument/beam/incident_energy": (30.0, "keV"), "instrument/detector/distance": (0.04, "m"),
               "instrument/detector/x_pixel_size": (5.0, "um"), "instrument/detector/y_pixel_size": (5.0, "um")}
    with h5py.File("data/phase_scan.h5") as file:
        for path, (value, units) in numbers.items():
            assert file[path][()] == value and file[path].attrs["units"] == units, path
        assert list(file["image_key"][...]) == [2] * 2 + [1] * 2 + [0] * 36
        assert np.allclose(file["sample/rotation_angle"][...], [0] * 4 + list(np.arange(36) * 5), atol=1e-12)
    run('until="phase"')
    with h5py.File("out/tomo_full.h5") as file:  # a complete NXtomo, as scan_outputs.py says it
        assert file["entry/instrument/detector/distance"][()] == 0.04
        assert np.allclose(file["entry/sample/rotation_angle"][...], np.arange(36) * 5, atol=1e-12)
    call("generate", "phase-scan", "in.h5", "--shape", "3,2,2", "--dtype", "uint8", "--dataset",
         "/entry/instrument/detector/data")
    assert read("in.h5", "entry/instrument/beam/incident_energy") == 30


def test_the_job_is_its_steps():
    make("44,24,33")
    frames, key = read("data/phase_scan.h5"), read("data/phase_scan.h5", "image_key")
    t, dead, _ = corrected(frames[key == 0], reduced(frames[key == 2], "mean"), reduced(frames[key == 1], "mean"), 9)
    assert 0 < dead < t.size / 100
    clean = medians(t, [3, 3], "reflect", 0, 1.0, "above")
    assert (clean != t).sum() > dead  # struck ones too
    right = retrieved(clean, BEAM, "pixel", floor=1e-6).swapaxes(0, 1)
    run('until="sinograms"')
    found = read("out/tomo_full.h5")
    assert np.abs(found - right).max() <= TOLERANCE * np.abs(right).max()
    right = of_frames(by_sorting, found, 7)
    for ranks, settings in [(1, []), (3, ["run.chunk_rows=5"]), (2, ['run.host_memory="16MiB"', "run.lanes=2"])]:
        run(*settings, ranks=ranks)
        assert read("out/tomo_full.h5").tobytes() == right.tobytes(), (ranks, settings)


def test_the_job_makes_its_input():
    """As input.generate: the plan and the run know the beam before there is a file."""
    pathlib.Path("job.toml").write_text(
        (ROOT / "jobs/tomo_full.toml").read_text().replace("[[step]]", 'dataset = "/data"\ngenerate = { pattern = '
                                                           '"phase-scan", shape = [40, 12, 16], dtype = "uint16" }\n\n'
                                                           '[[step]]', 1)
        .replace('kind = "correct"', 'kind = "correct"\ndark = 0.03\nflat = 1000'))
    for folder in ("data", "out"):
        pathlib.Path(folder).mkdir()
    plan = call("plan", "job.toml").stdout
    assert "phase.distance = 0.04: /instrument/detector/distance is 0.04 m" in plan, plan
    call("job.toml", "--quiet")
    assert read("out/tomo_full.h5").shape == (12, 36, 16)
