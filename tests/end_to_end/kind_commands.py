"""Kinds of jobs as commands, `runner median IN OUT --size 3,3`: the same output as that of the job file
that they stand for; and what else a command line says without a job file's words."""
import json
import os
import pathlib
import re

import h5py
import numpy as np
import pytest
import scipy.ndimage
import tifffile

from harness import bad, call, good

pytestmark = pytest.mark.quick
COMMANDS = {
    "median": ["median", "in.h5", "out.h5", "--size", "3,5", "--boundary", "nearest"],
    "steps": ["pipeline", "in.h5:/x", "out.h5", "--steps",
              "median size=3,3, bin factors=2,2 value=sum, rescale from=extremes dtype=uint8"],
    "nested": ["convolve", "in.h5", "out.h5", "--row-taps", "{ box = { radius = 2 } }", "--column-taps", "0.25,0.5,0.25",
               "--dtype", "float64"],
    "stored": ["transpose", "in.h5", "out.h5:/turned", "--permutation", "1,2,0", "--chunk", "5,3,2",
               "--compression", "deflate"],
}


def store(name="in.h5", **more):
    array = np.random.default_rng(5).integers(0, 60000, (5, 23, 31)).astype("u2")
    with h5py.File(name, "w") as file:
        file["x"] = array
        for other, values in more.items():
            file[other] = values
    return array


def output():
    with h5py.File("out.h5") as file:
        return file["turned" if "turned" in file else "x"][...]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_output_as_the_job_file(name):
    store()
    words = COMMANDS[name]
    call(*words, "--quiet", "--backend", "cpu")
    expected = output()
    os.remove("out.h5")
    assert "runner job.toml" in good(*words, "--save-job", "job.toml")
    assert not os.path.exists("out.h5")
    call("job.toml", "--quiet", "--backend", "cpu")
    assert output().dtype == expected.dtype
    np.testing.assert_array_equal(output(), expected)
    # The same command sees that its output is there, of one job or of the other.
    call(*words, "--quiet", "--backend", "cpu")
    call("verify", "out.h5")
    bad(4, ["job.toml", "it exists already"], *words, "--save-job", "job.toml")


@pytest.mark.parametrize("sigma, taps", [("1.5", (1.5, 1.5)), ("0.7,2", (0.7, 2)), ("1,0,2", (1, 0, 2)), ("60", (60, 60))])
def test_sigma_stands_for_gaussians(sigma, taps):
    store()
    call("convolve", "in.h5", "out.h5", "--sigma", sigma, "--dtype", "float32", "--quiet", "--backend", "cpu")
    found = output()
    os.remove("out.h5")
    words = []
    for name, each in zip(("row", "column", "depth"), reversed(taps)):
        words += [f"--{name}-taps", f"{{ gaussian = {{ sigma = {each} }} }}" if each else "[1]"]
    call("convolve", "in.h5", "out.h5", *words, "--dtype", "float32", "--quiet", "--backend", "cpu")
    np.testing.assert_array_equal(found, output())
    sigmas = [0] * (3 - len(taps)) + list(taps)
    near = scipy.ndimage.gaussian_filter(store().astype("f4"), sigmas, mode="reflect")
    np.testing.assert_allclose(found, near, rtol=1e-4)
    for words, why in [(["--sigma", "-1"], "must not be below 0"), (["--sigma", "1,2,3,4"], "got 4 numbers"),
                       (["--sigma", "1025"], "reaches farther"), (["--sigma", "2", "--depth-taps", "[1]"], "or depth_taps"),
                       ([], "or give sigma")]:
        assert why in call("convolve", "in.h5", "b.h5", *words, code=2).stderr


def test_on_several_ranks():
    store()
    call(*COMMANDS["median"], "--quiet", "--backend", "cpu")
    expected = output()
    os.remove("out.h5")
    call(*COMMANDS["median"], "--quiet", "--backend", "cpu", ranks=3)
    np.testing.assert_array_equal(output(), expected)


def test_files_of_a_job_by_options():
    array = store()
    pathlib.Path("job.toml").write_text('kind = "transpose"\n[input]\nfile = "none.h5"\n[output]\nfile = "none.h5"\n'
                                        "[transpose]\npermutation = [1, 0, 2]\n")
    call("job.toml", "-i", "in.h5:/x", "-o", "my out.tif", "--quiet", "--set", "run.backend=cpu")
    np.testing.assert_array_equal(tifffile.imread("my out.tif"), array.transpose(1, 0, 2))
    text = good("explain", "job.toml", "--input", "in.h5", "--output", "b.h5:/y", "--set", "input.dataset=/x")
    assert 'file = "in.h5"' in text and 'file = "b.h5"' in text and 'dataset = "/y"' in text


def test_a_file_with_one_dataset_needs_no_name():
    array = np.arange(77, dtype="i4").reshape(7, 11)
    with h5py.File("one.h5", "w") as file:
        file["deep/in/it"] = array
        file["again"] = file["deep/in/it"]  # a hard link, to the same one
        file.create_group("empty")
    call("transpose", "one.h5", "t.npy", "--permutation", "1,0", "--quiet", "--backend", "cpu")
    np.testing.assert_array_equal(np.load("t.npy"), array.T)
    call("compare", "one.h5", "one.h5:/deep/in/it")
    call("render", "one.h5", "p.png")
    tifffile.imwrite("one.tif", array.astype("f4"))
    assert good("compare", "one.tif", "one.tif").startswith("A  one.tif  float32 [7, 11]\nB  one.tif  float32")
    assert good("render", "one.tif", "t.png").startswith("one.tif: black 0 to white 76\n")
    store("two.h5", y=array)
    for words in (["compare", "two.h5", "one.h5"], ["render", "two.h5", "q.png"],
                  ["transpose", "two.h5", "q.npy", "--permutation", "1,0"]):
        bad(3, ["cannot tell which dataset is the input (two.h5)", "it has several", "Name it: two.h5:/x"], *words)


def test_the_output_by_an_option():
    array = store()
    call("transpose", "in.h5", "-o", "t.npy", "--permutation", "0,2,1", "--quiet", "--backend", "cpu")
    np.testing.assert_array_equal(np.load("t.npy"), array.transpose(0, 2, 1))
    bad(2, ["runner transpose", "OUT is required"], "transpose", "in.h5", "--permutation", "0,2,1")
    bad(2, ["OUT and --output are two outputs"], "transpose", "in.h5", "a.npy", "--output", "b.npy",
        "--permutation", "0,2,1")


def test_messages_say_where_a_name_was_looked_up():
    store()
    here = os.getcwd()
    bad(3, ["is.tif", "Check the spelling; names are relative to the working directory, " + here],
        "median", "is.tif", "b.h5")
    bad(3, ["~/is.tif", "A ~ in a name is not expanded: write " + os.path.expanduser("~/is.tif")],
        "median", "~/is.tif", "b.h5")
    bad(4, ["~/none/b.h5", "A ~ in a name is not expanded"], "median", "in.h5", "~/none/b.h5", "--backend", "cpu")


def test_help_and_version():
    assert good("help") == good("--help")
    assert good("help", "median") == good("median", "--help")
    assert good("version") == good("--version")
    bad(2, ["unknown verb", "did you mean median?"], "help", "medain")


FAILURES = {
    "dataset": (3, ["median", "in.h5", "out.h5", "--size", "3,3"], ["Name it: in.h5:/x; `runner inspect`"]),
    "value": (3, ["denoise", "nan.npy", "out.h5"], ["or --set input.invalid=nan if", "Write --set input.colour=true if"]),
    "key": (2, ["denoise", "in.h5:/x", "out.h5", "--patch", "8,8,8"], ["larger than the input (--patch)"]),
    "missing": (2, ["correct", "in.h5:/x", "out.h5"], ["(--dark)"]),
    "values": (2, ["phase", "in.h5:/x", "out.h5", "--delta-beta", "3"], ["(--energy, ", "--energy 25.0 in keV"]),
    "type": (3, ["sand", "nan.npy", "out.h5", "--generations", "1"], ["(IN)"]),
    "step": (2, ["pipeline", "in.h5:/y", "out.h5", "--steps", "median size=3,3, denoise patch=3,3,3"],
             ["(--steps, step 2, denoise.patch)"]),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_of_a_run_name_what_the_command_line_has(name):
    store(y=np.zeros((3, 4), "u1"))
    np.save("nan.npy", np.full((3, 4, 4), np.nan, "f4"))
    code, words, said = FAILURES[name]
    message = call(*words, "--quiet", "--backend", "cpu", code=code).stderr
    assert all(each in message for each in said), message
    assert not re.search(r"(input|output|run)\.[a-z]+ |job file|:\d+:\d+|\[\[", message), message


def test_warnings_of_a_report_are_in_the_words_of_the_command_line():
    np.save("colour.npy", np.ones((5, 7, 3), "u1"))
    said = call("median", "colour.npy", "out.npy", "--size", "3,3", "--quiet", "--backend", "cpu",
                "--report", "r.json").stderr
    warnings = json.loads(pathlib.Path("r.json").read_text())["warnings"]
    assert [line for line in said.splitlines() if "warning: " in line] == [f"runner: warning: {each}" for each in warnings]
    assert any("--set input.colour=true if" in each for each in warnings), warnings
    assert not any(re.search(r"(input|output|run)\.[a-z]+ = ", each) for each in warnings), warnings
