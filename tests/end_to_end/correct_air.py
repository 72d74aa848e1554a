"""Frames whose flat field is brought to their own beam by the mean of their air, as docs/correct.md says it, in numpy;
every division of the work, beside other steps, with dead and invalid elements."""
import pathlib

import numpy as np
import pytest

from harness import attempt, bad, call, generator
from kind_rules import corrected, medians
from stripes_runs import read, run, scan, write, write_job

ROWS, COLUMNS = 13, 17
FIELDS = 'dark = { dataset = "/dark", reduce = "none" }\nflat = { dataset = "/flat", reduce = "none" }\n'


def frames(random, count, dtype="uint16"):
    """A dark field, a flat one with two dead pixels, and frames of a beam that falls and flickers."""
    dark = random.integers(90, 110, (ROWS, COLUMNS)).astype("float32")
    flat = (dark + random.uniform(800, 1200, dark.shape)).astype("float32")
    flat[2, 1] = flat[5, 9] = 0
    beam = np.linspace(1.2, 0.6, count) * random.uniform(0.9, 1.1, count)
    t = random.uniform(0.3, 1, (count, ROWS, COLUMNS))
    return dark, flat, (dark + np.maximum(flat - dark, 0) * t * beam[:, None, None]).astype(dtype)


def right(values, dark, flat, columns, rows=(0, ROWS), invalid=None, dead=0, **more):
    """In float32 with every operation rounded; sums in float64, row by row."""
    made = []
    for frame in values:
        x = frame.astype("f4")
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(flat - dark > 0, (x - dark) / (flat - dark), np.float32("nan"))
        t = t if invalid is None else np.where(frame == invalid, np.float32("nan"), t)
        part = t[rows[0]:rows[1], columns[0]:columns[1]].astype("f8").ravel()
        part = part[~np.isnan(part)]
        total = 0.0
        for value in part:
            total += value
        m = np.float32(total / len(part)) if len(part) else np.float32("nan")
        own = dark + m * (flat - dark)
        assert own.dtype == np.float32
        made.append(corrected(frame[None], dark, own, dead, **more)[0][0])
    made = np.stack(made)
    return made if invalid is None else np.where(values == invalid, np.float32("nan"), made)


def same(expected):
    found = read("out.h5")
    assert found.dtype == np.float32 and found.tobytes() == expected.tobytes(), np.argwhere(found != expected)[:5]


@pytest.mark.parametrize("dtype, keys, more", [
    ("uint16", "air = { columns = [0, 4] }\n", {"columns": (0, 4)}),
    ("float32", "air = { rows = [3, 13], columns = [14, 17] }\ndead = -1.0\nclip = [0.2, 1.1]\n",
     {"columns": (14, 17), "rows": (3, 13), "dead": -1, "clip": (0.2, 1.1)}),
    ("int32", "air = { rows = [0, 1], columns = [0, 17] }\nnegative_log = true\nfloor = 0.01\n",
     {"columns": (0, 17), "rows": (0, 1), "floor": 0.01}),
], ids=["columns", "rows", "logarithm"])
def test_every_division_has_the_same_bytes(dtype, keys, more):
    dark, flat, values = frames(generator(keys), 31, dtype)
    write("in.h5", x=values, dark=dark, flat=flat)
    write_job("[correct]\n" + FIELDS + keys, kind="correct")
    expected = right(values, dark, flat, **more)
    for ranks, settings in [(1, []), (3, ["run.chunk_rows=5"]), (2, ["run.chunk_rows=60", "run.lanes=1"])]:
        run(*settings, ranks=ranks)
        same(expected)


def test_many_frames_are_corrected_in_groups():
    """More frames in a chunk than are corrected at once."""
    random = generator("many")
    values = random.integers(1, 200, (700, 2, 3)).astype("uint8")
    write("in.h5", x=values)
    write_job("[correct]\ndark = 0.5\nflat = 100\nair = { columns = [0, 2] }\n", kind="correct")
    run()
    half, full = np.full((2, 3), 0.5, "f4"), np.full((2, 3), 100, "f4")
    same(right(values, half, full, (0, 2), (0, 2)))


def test_invalid_elements_are_no_air():
    dark, flat, values = frames(generator("invalid"), 5)
    values[1:3, :, :3] = 7
    values[3, :, :4] = 7  # no air is left: the frame is dead
    write("in.h5", x=values, dark=dark, flat=flat)
    write_job("[correct]\n" + FIELDS + "air = { columns = [0, 4] }\n", kind="correct", more="invalid = 7\n")
    run(ranks=2)
    expected = right(values, dark, flat, (0, 4), invalid=7)
    found = read("out.h5")
    assert (found[3][:, 4:] == 0).all()
    assert np.array_equal(found, expected, equal_nan=True)


def test_in_a_pipeline_and_of_a_region():
    dark, flat, values = frames(generator("pipeline"), 9)
    write("in.h5", x=values, dark=dark, flat=flat)
    write_job(f'[[step]]\nkind = "correct"\n{FIELDS}air = {{ columns = [0, 3] }}\n'
              '[[step]]\nkind = "median"\nsize = [3, 3]\n', more='region = { columns = "2:" }\nframes = "1:8"\n')
    part = right(values[1:8, :, 2:], dark[:, 2:], flat[:, 2:], (0, 3))
    for ranks, settings in [(1, []), (2, ["run.chunk_rows=4"])]:
        run(*settings, ranks=ranks)
        same(medians(part, [3, 3], "reflect", 0, None))
    plan = attempt("plan", "job.toml", "--backend", "cpu").stdout
    assert "by its pixel of the fields and the air" in plan, plan


@pytest.mark.parametrize("keys, words, shape", [
    ("air = { columns = [10, 18] }\n", ["correct.air", "columns are 10 up to but excluding 18", "has 17"], None),
    ("air = { rows = [0, 14], columns = [0, 1] }\n", ["rows are 0", "has 13"], None),
    ("air = { columns = [4, 4] }\n", ["correct.air.columns", "[first, last]"], None),
    ("air = { rows = [0, 2] }\n", ["correct.air.columns is missing", "[0, 20]"], None),
    ("air = { columns = [0, 2], row = [0, 1] }\n", ["correct.air.row", "did you mean rows"], None),
    ("air = { columns = [0, 2] }\n", ["correct.air", "colour"], (ROWS, COLUMNS, 3)),
])
def test_what_is_no_air_is_refused(keys, words, shape):
    dark, flat, values = frames(generator("refused"), 2)
    write("in.h5", x=values if shape is None else np.ones(shape, "uint8"), dark=dark, flat=flat)
    write_job("[correct]\n" + (FIELDS if shape is None else "dark = 0\nflat = 9\n") + keys, kind="correct",
              more="colour = true\n" if shape else "")
    said = call("job.toml", "--quiet", code=2).stderr
    assert all(word in said for word in words), said


def test_fields_between_groups_have_no_air():
    scan(generator("between"))
    write_job('[correct]\nflat = { between = "interpolate" }\nair = { columns = [0, 2] }\n', kind="correct",
              source="scan_12345.nxs")
    path = pathlib.Path("job.toml")
    path.write_text(path.read_text().replace('dataset = "/x"\n', ""))
    bad(2, ["correct.air", "interpolated between groups", "between out"], "job.toml", "--quiet")
