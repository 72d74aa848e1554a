"""Phase retrieval with the beam and the camera as the input's file says them. What is right is what a job makes
whose keys are written, and what h5py and numpy say of the file."""
import json
import pathlib

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, generator
from phase_rules import TOLERANCE, retrieved, transmissions
from stripes_runs import read, run, write_job

KEYS = {"energy": 25.0, "distance": 0.5, "pixel_size": 2.0, "delta_beta": 150.0}
FILE = {"instrument/beam/incident_energy": (25.0, "keV"), "instrument/detector/distance": (0.5, "m"),
        "instrument/detector/x_pixel_size": (2.0, "um"), "instrument/detector/y_pixel_size": (2.0, "um")}
DETECTOR = "/entry/instrument/detector/"


def scan(values, numbers, name="in.h5"):
    """An NXtomo file of two darks and flats and the transmissions; numbers by path, each with its units."""
    frames = np.concatenate([np.zeros((1, *values.shape[1:])), np.ones((1, *values.shape[1:])), values]).astype("f4")
    with h5py.File(name, "w") as file:
        entry = file.create_group("entry")
        entry.attrs["NX_class"] = "NXentry"
        entry["definition"] = "NXtomo"
        detector = entry.create_group("instrument/detector")
        entry["instrument"].attrs["NX_class"] = "NXinstrument"
        detector.attrs["NX_class"] = "NXdetector"
        detector["data"] = frames
        detector["image_key"] = np.array([2, 1] + [0] * len(values), "u1")
        for path, (value, units) in numbers.items():
            entry[path] = value
            if units:
                entry[path].attrs["units"] = units


def job(*steps, kind=None, more=""):
    """Of steps, or of the table of one kind."""
    write_job("".join(steps) if kind else "".join(f"[[step]]\n{step}\n" for step in steps), kind=kind, more=more)
    path = pathlib.Path("job.toml")
    path.write_text(path.read_text().replace('"/x"', f'"{DETECTOR}data"'))


ALONE = "[phase]\ndelta_beta = 150.0\nnegative_log = false\n"
PHASE = 'kind = "phase"\ndelta_beta = 150.0\nnegative_log = false'
CORRECT = 'kind = "correct"'


@pytest.mark.parametrize("numbers", [
    FILE,
    {"beam/incident_energy": (np.float32(25000), "eV"), "instrument/detector/distance": (np.int32(500), "mm"),
     "instrument/detector/x_pixel_size": (2e-6, "m"), "instrument/detector/y_pixel_size": ([2e-6], "metre"),
     "instrument/source/distance": (0.0, "m")},  # which says nothing
    {**FILE, "instrument/monochromator/energy": (25e3, "eV"), "sample/propagation_distance": (0.5, "m"),
     "instrument/detector/distance": (9.0, "m"), "sample/x_pixel_size": (2000.0, "nm"),
     "sample/y_pixel_size": (2000.0, "nm"), "instrument/detector/x_pixel_size": (20.0, "um"),
     "instrument/detector/magnification": (10.0, None), "instrument/source/distance": (-55.0, "m")},
], ids=["usual", "other units", "at the sample"])
def test_values_are_those_of_the_file(numbers):
    values = transmissions(generator("values"), (3, 17, 23))
    scan(values, numbers)
    job(CORRECT, PHASE)
    run()
    right = retrieved(values, KEYS)
    found = read("out.h5", "entry/instrument/detector/data")
    assert np.abs(found - right).max() <= TOLERANCE * np.abs(right).max()


def test_the_values_are_said():
    scan(transmissions(generator("said"), (2, 9, 11)), FILE)
    job(CORRECT, PHASE)
    lines = [f"phase.energy = 25.0: /entry/instrument/beam/incident_energy is 25 keV",
             f"phase.distance = 0.5: {DETECTOR}distance is 0.5 m",
             f"phase.pixel_size = 2.0: {DETECTOR}x_pixel_size is 2 um"]
    for verb in ("plan", "explain"):
        done = attempt(verb, "job.toml")
        assert done.returncode == 0 and all(line in done.stdout for line in lines), (done.stdout, done.stderr)
    plan = json.loads(attempt("plan", "job.toml", "--json").stdout)
    assert plan["found"] == ["step 2: " + line for line in lines]
    done = attempt("job.toml", "--report", "report.json")
    assert done.returncode == 0 and all(line in done.stderr for line in lines), done.stderr
    assert json.loads(pathlib.Path("report.json").read_text())["notes"] == plan["found"]
    shown = json.loads(attempt("inspect", "in.h5", "--json").stdout)
    scans = [each["scan"] for each in shown["datasets"] if "scan" in each]
    assert scans == [{"energy": {"value": 25.0, "unit": "keV", "path": "/entry/instrument/beam/incident_energy"},
                      "distance": {"value": 0.5, "unit": "m", "path": DETECTOR + "distance"},
                      **{f"{axis}_pixel_size": {"value": 2.0, "unit": "um", "path": f"{DETECTOR}{axis}_pixel_size"}
                         for axis in "yx"}}]


def test_a_written_key_is_what_counts():
    """And a job of one kind, of an output that this program made."""
    values = transmissions(generator("written"), (2, 9, 11))
    scan(values, {**FILE, "instrument/beam/incident_energy": (30.0, "keV")})
    job(CORRECT)
    call("job.toml", "--quiet", "--set", 'output.file="t.h5"')
    job(ALONE, "energy = 25.0\n", kind="phase")
    run('input.file="t.h5"')
    right = retrieved(values, KEYS)
    assert np.abs(read("out.h5", "entry/instrument/detector/data") - right).max() <= TOLERANCE * np.abs(right).max()
    done = attempt("explain", "job.toml", "--set", 'input.file="t.h5"')
    assert "phase.distance = 0.5: " in done.stdout and "phase.energy = " not in done.stdout, done.stdout


@pytest.mark.parametrize("stored", [np.float32(0.7), np.float64(0.7), np.int16(2)], ids=["f4", "f8", "i2"])
def test_bins_make_pixels_larger_as_files_do(stored):
    """A pipeline in one pass, one in two of which the first is saved, and single jobs through files."""
    pixels = {f"instrument/detector/{axis}_pixel_size": (stored, "um") for axis in "xy"}
    scan(transmissions(generator("bins"), (5, 18, 21)), {**FILE, **pixels})
    binned = 'kind = "bin"\nfactors = [1, 3, 3]'
    job(CORRECT, binned, PHASE)
    run()
    whole = read("out.h5", "entry/instrument/detector/data")
    lines = attempt("plan", "job.toml").stdout
    assert f"phase.pixel_size = {float(type(stored)(stored * 3))}: " in lines, lines
    job(CORRECT, binned + '\nsave = "binned.h5"', PHASE)
    run()
    assert read("out.h5", "entry/instrument/detector/data").tobytes() == whole.tobytes()
    job(ALONE, kind="phase")
    run('input.file="binned.h5"')
    assert read("out.h5", "entry/instrument/detector/data").tobytes() == whole.tobytes()


def without(*names, **others):
    return {**{path: number for path, number in FILE.items() if path.rsplit("/", 1)[1] not in names}, **others}


@pytest.mark.parametrize("numbers, steps, words", [
    ({}, (CORRECT, PHASE), ["phase.energy, phase.distance, phase.pixel_size", "does not say the energy",
                            "does not say the distance", "energy = 25.0 in keV", "pixel_size = 1.1 in micrometres"]),
    (without("incident_energy"), (CORRECT, PHASE), ["step 2, phase.energy", "Write energy = 25.0 in keV"]),
    ({**FILE, "instrument/detector/distance": (0.5, None)}, (CORRECT, PHASE),
     ["phase.distance", DETECTOR + "distance has no units"]),
    ({**FILE, "instrument/detector/distance": (0.5, "keV")}, (CORRECT, PHASE), ["units keV, which are none of length"]),
    ({**FILE, "instrument/beam/incident_energy": (0.0, "keV")}, (CORRECT, PHASE), ["is 0, not above 0"]),
    ({**FILE, "instrument/beam/incident_energy": ([25.0, 26.0], "keV")}, (CORRECT, PHASE), ["is not one number"]),
    ({**FILE, "beam/incident_energy": (26.0, "keV")}, (CORRECT, PHASE), ["is 25 keV, and /entry/beam/", "is 26 keV"]),
    ({**FILE, "instrument/detector/y_pixel_size": (4.0, "um")}, (CORRECT, PHASE),
     ["phase.pixel_size", "2.0 um wide and 4.0 um high"]),
    (FILE, (CORRECT, 'kind = "bin"\nfactors = [1, 2, 1]', PHASE), ["step 3", "2.0 um wide and 4.0 um high"]),
    (without("y_pixel_size"), (CORRECT, PHASE), ["does not say the height of a pixel"]),
    ({**FILE, "instrument/source/distance": (-20.0, "m")}, (CORRECT, PHASE),
     ["phase.distance, phase.pixel_size", "the beam is not parallel"]),
    ({**FILE, "instrument/detector/magnification": (10.0, None)}, (CORRECT, PHASE), ["magnification is 10"]),
    (FILE, (CORRECT, 'kind = "transpose"\npermutation = [1, 0, 2]', PHASE), ["a step before this one changes"]),
])
def test_what_the_file_does_not_settle_is_refused(numbers, steps, words):
    scan(transmissions(generator("refused"), (4, 8, 12)), numbers)
    job(*steps)
    bad(2, words, "job.toml", "--quiet")


def test_spacings_are_sizes_of_pixels():
    """Of any format with a unit of length; a pixel size that contradicts them is refused."""
    values = transmissions(generator("spacing"), (3, 17, 23))
    np.save("in.npy", values)
    keys = ALONE + "energy = 25.0\ndistance = 0.5\n"
    write_job(keys, kind="phase", more='spacing = { y = 0.002, x = 0.002, unit = "mm" }\naxes = "tyx"\n')
    call("job.toml", "--quiet", "--set", 'input.file="in.npy"', "--set", 'output.file="out.npy"')
    right = retrieved(values, KEYS)
    assert np.abs(np.load("out.npy") - right).max() <= TOLERANCE * np.abs(right).max()
    scan(values, FILE)
    job(CORRECT, PHASE, more='spacing = { y = 3.0, x = 3.0, unit = "um" }\naxes = "tyx"\n')
    bad(2, ["phase.pixel_size", "x_pixel_size is 2 um, and the input's rows and columns are 3.0 um apart"], "job.toml",
        "--quiet")


def test_each_dataset_of_a_batch_has_its_own_beam():
    """Which is in the job's identity."""
    values = transmissions(generator("batch"), (2, 9, 11))
    for name, energy in (("a", 25.0), ("b", 30.0)):
        scan(values, {**FILE, "instrument/beam/incident_energy": (energy, "keV")}, f"{name}.h5")
    pathlib.Path("job.toml").write_text(f'[batch]\ninputs = ["a.h5", "b.h5"]\noutput = "{{stem}}_phase.h5"\n[input]\n'
                                        f'dataset = "{DETECTOR}data"\n[[step]]\n{CORRECT}\n[[step]]\n{PHASE}\n')
    call("batch", "job.toml")
    for name, energy in (("a", 25.0), ("b", 30.0)):
        right = retrieved(values, {**KEYS, "energy": energy})
        found = read(f"{name}_phase.h5", "entry/instrument/detector/data")
        assert np.abs(found - right).max() <= TOLERANCE * np.abs(right).max(), name
    with h5py.File("a_phase.h5") as file:
        assert "step_2.energy = 25.0\n" in file.attrs["identity"]
