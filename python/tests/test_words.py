"""Failures of calls on arrays speak of arrays and arguments, and never of files and tables."""
import re
import warnings

import numpy as np
import pytest

import runner

IMAGE = np.arange(24.0).reshape(4, 6)
VOLUME = np.arange(210.0).reshape(5, 6, 7)
FILE_WORDS = re.compile(r"job file|dataset|arguments:\d|\[\[|\barray\.h5|runner convert|\bstep[ .]\d| = |"
                        r"\b(input|output|run|median|convolve|rescale|reduce)\.[a-z]")

# What is called, the exception, and words of its message.
CALLS = {
    "even": (lambda: runner.median(IMAGE, 4), runner.JobError, "arguments of median are wrong: size: each must be odd"),
    "axes": (lambda: runner.median(IMAGE, [3, 3, 3]), runner.InputError,
             r"\(x\): its shape is \[4, 6\], and it takes 3. Pass another array, or size=\[y, x\]"),
    "key": (lambda: runner.median(IMAGE, 3, host_memory="lots"), runner.JobError, "wrong: host_memory: expected"),
    "dtype": (lambda: runner.median(IMAGE, 3, dtype="uint8"), runner.JobError, r"element type \(dtype\)"),
    "type": (lambda: runner.match(VOLUME), runner.InputError, r'Convert it: x.astype\("float32"\)$'),
    "integers": (lambda: runner.match(VOLUME.astype("i4")), runner.InputError,
                 r'float32\. Convert it: x.astype\("float32"\)$'),
    "4d": (lambda: runner.match(np.zeros((1, 9, 9, 9), "f4")), runner.InputError, r"x\[0\]"),
    "cells": (lambda: runner.sand(IMAGE, 3), runner.InputError, r'x.astype\("uint8"\), a byte a cell'),
    "nan": (lambda: runner.match(np.full((9, 9, 9), np.nan, "f4")), runner.InputError,
            r'\(x, voxel \[0, 0, 0\]\).*or invalid=float\("nan"\)'),
    "taps": (lambda: runner.convolve(IMAGE, [1, 2, 1]), runner.JobError,
             r"column_taps is missing: write a list of numbers, runner.gaussian\(2.0, 8\) or dict\(box="),
    "depth": (lambda: runner.convolve(IMAGE, [1], [1], [1]), runner.InputError, "or pass an array of volumes"),
    "two": (lambda: runner.reduce(IMAGE, "histogram", "frame"), runner.JobError,
            r"wrong:\nbins is missing.*\nfrom_ is missing.*as from_=\[0, 65536\]"),
    "from": (lambda: runner.rescale(np.full((3, 3), np.nan), "extremes"), runner.InputError,
             "Pass another array, or write from_$"),
    "field": (lambda: runner.correct(IMAGE, 1.0, np.ones((3, 3))), runner.InputError, r"\(flat\): its shape"),
    "mask": (lambda: runner.median(IMAGE, 3, invalid=np.zeros((3, 3), bool)), runner.InputError, r"\(invalid\)"),
    "fill": (lambda: runner.fill(IMAGE), runner.InputError, r'Pass invalid=float\("nan"\)'),
    "step": (lambda: runner.pipeline(IMAGE, [dict(kind="bin", factors=1), dict(kind="median", sise=3)]),
             runner.JobError, r"steps are wrong: steps\[1\]: sise: unknown key; did you mean size"),
    "made": (lambda: runner.pipeline(VOLUME.astype("i4"), [dict(kind="bin", factors=1), dict(kind="match")]),
             runner.InputError, r'\(steps\[1\], what steps\[0\] makes\).*before it: {"kind": "rescale", "from": '),
    "no kind": (lambda: runner.pipeline(IMAGE, [dict(size=3)]), runner.JobError, r'steps\[0\]: kind is missing'),
    "no steps": (lambda: runner.pipeline(IMAGE, []), ValueError, "there are no steps"),
    "scalar": (lambda: runner.median(np.float32(3), 3), ValueError, "x has no axes"),
    "number": (lambda: runner.transpose(3.0, ()), ValueError, "x has no axes"),
    "path": (lambda: runner.median("a.tif", 3), TypeError, "'a.tif' is no array: runner.read opens"),
    "none": (lambda: runner.median(None, 3), TypeError, "a NoneType is no array"),
    "complex": (lambda: runner.median(IMAGE.astype(complex), 3), ValueError, "x.real"),
    "texts": (lambda: runner.median([["a"]], 3), ValueError, "array of numbers"),
    "wide": (lambda: runner.median(IMAGE.astype(np.longdouble), 3), ValueError, r'x.astype\("float32"\)'),
}


@pytest.mark.parametrize("name", CALLS)
def test_words(name):
    call, raised, words = CALLS[name]
    with warnings.catch_warnings(), pytest.raises(raised, match=words) as error:
        warnings.simplefilter("ignore")
        call()
    assert not FILE_WORDS.search(str(error.value)), str(error.value)
    if isinstance(error.value, runner.Error):
        assert error.value.what and error.value.what in str(error.value)
        assert error.value.__cause__ is None and error.value.__suppress_context__


JOBS = {
    "key": (dict(kind="median", median={"sizze": 3}), "^the job is wrong: median.sizze: unknown key; did you mean size"),
    "table": (dict(kind="median"), "median is missing: write median=dict"),
    "nothing": (dict(input=None, output=None, median={}), 'write kind="bin".*\ninput is missing: write input="FILE"'),
    "step": (dict(step=[dict(kind="median"), dict(kind="match", patch=[9, 9, 9])]), r"step\[1\]: patch: every"),
    "value": (dict(kind="denoise", denoise={}), r'\(nan.npy.*or input=dict\(invalid="nan"\)'),
    "made": (dict(kind="bin", bin=dict(factors=1), output="made.npy"), r"[Ss]et output=dict\(overwrite=True\)"),
    "batch": (dict(kind="median", median={}, input=None, output=None, batch=dict(inputs=["n*.npy"], output="{stem}.h5")),
              r'Save it by Job.save\("batch.toml"\)'),
}


@pytest.mark.parametrize("name", JOBS)
def test_words_of_jobs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("nan.npy", np.full((3, 4, 4), np.nan, np.float32))
    np.save("made.npy", np.zeros(3))
    tables, words = JOBS[name]
    job = runner.Job({"input": "nan.npy", "output": "out.h5", **tables})
    for call in (job.plan, job.run) if name not in ("value", "made") else (job.run,):
        with pytest.raises(runner.Error, match=words) as error:
            call()
        assert not re.search(r"/\S*\.toml|\[\[|\]\]| = |\{ ", str(error.value)), str(error.value)
        assert error.value.what in str(error.value) and "\n" not in error.value.what
