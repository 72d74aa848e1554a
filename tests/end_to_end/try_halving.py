"""`runner try --halve`: what it chooses, against scipy and numpy; and a person's answers on a terminal."""
import fcntl
import os
import pathlib
import pty
import re
import select
import subprocess
import termios

import h5py
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from events import GUARD
from harness import call, programs

SHAPE = (150, 180)
JOB = """kind = "convolve"
[input]
file = "in.h5"
dataset = "/data"
[output]
file = "out.h5"
overwrite = true
sync = false
[run]
backend = "cpu"
[convolve]
row_taps = { gaussian = { sigma = 1.0 } } # along x
column_taps = [1.0]
boundary = "mirror"
"""
KEY = "convolve.row_taps.gaussian.sigma"
PART = ("--seconds", "0.01s", "--part", ":,:")


def write_files(job=JOB):
    """Waves without edges along x, and white noise."""
    rows, columns = np.mgrid[:SHAPE[0], :SHAPE[1]]
    waves = 300 + 100 * np.sin(2 * np.pi * columns / 24) * np.cos(2 * np.pi * rows / 90)
    data = (waves + np.random.default_rng(8).normal(0, 30, SHAPE)).astype("float32")
    with h5py.File("in.h5", "w") as file:
        file["/data"] = data
    pathlib.Path("job.toml").write_text(job)
    return data.astype("float64")


def correlation(removed):
    """The larger autocorrelation between neighbours along rows and columns, with its sign."""
    left = removed - removed.mean()
    sums = [(left[:, 1:] * left[:, :-1]).sum(), (left[1:] * left[:-1]).sum()]
    return max(sums) / (left ** 2).sum()


def choice(done):
    return re.search(r"^Chosen: (\S+)=(\S+); (\S+) is too strong$", done.stdout, re.M).groups()


def test_noise_alone_is_removed():
    data = write_files()
    limit = 3 / np.sqrt(data.size)
    done = call("try", "job.toml", "--halve", f"{KEY}=0.3..8.0", "--until", "residual-is-noise", *PART)
    key, chosen, strong = choice(done)
    assert key == KEY and float(chosen) < float(strong) <= float(chosen) + 7.7 / 32
    # The largest sigma whose residual is noise, by scipy.
    sigmas = np.linspace(0.3, 8, 200)
    found = [correlation(gaussian_filter1d(data, sigma, axis=1, mode="mirror") - data) for sigma in sigmas]
    right = sigmas[np.flatnonzero(np.array(found) > limit)[0]]
    assert float(chosen) - 0.05 < right < float(strong) + 0.05, (chosen, strong, right)
    # The page and the text have every value that was tried, the weakest first.
    values = [float(value) for value in re.findall(r"^runner job.toml --set \S+sigma=(\S+)$", done.stdout, re.M)]
    assert values[:-1] == sorted(values[:-1]) and 7 <= len(values) - 1 <= 9 and values[-1] == float(chosen)
    assert pathlib.Path("out.try/index.html").read_text().count('<figure class="run">') == len(values) - 1
    for value, measured in re.findall(r"sigma=(\S+): what was removed correlates by (\S+) between", done.stdout):
        call("job.toml", "--quiet", "--set", f"{KEY}={value}")
        with h5py.File("out.h5") as file:
            assert np.isclose(correlation(file["data"][()] - data), float(measured), rtol=0.06, atol=1e-4), value
    # The command that it prints writes the choice into the job file.
    line = re.search(r"^runner (try job.toml --sweep .* --pick 1)$", done.stdout, re.M)[1]
    call(*line.split())
    assert pathlib.Path("job.toml").read_text() == JOB.replace("sigma = 1.0", f"sigma = {chosen}")


def test_ends_that_do_not_bracket():
    write_files()
    rule = ("--until", "residual-is-noise", *PART)
    done = call("try", "job.toml", "--halve", f"{KEY}=6.0..8.0", *rule)
    assert f"No choice: {KEY}=6.0 removes structure already. Begin with a weaker value" in done.stdout
    done = call("try", "job.toml", "--halve", f"{KEY}=0.3..0.4", *rule)
    assert f"No choice: up to {KEY}=0.4 the job removes noise alone. End with a stronger value" in done.stdout
    assert "Chosen" not in done.stdout


@pytest.mark.parametrize("words,why", [
    (["--halve", f"{KEY}=1..1"], "both ends are the same"),
    (["--halve", f"{KEY}=nan..1"], '"nan" is not a finite number'),
    (["--halve", f"{KEY}=1..$(touch x)"], "is not a finite number"),
    (["--halve", "sigma"], "it is not a key and a range"),
    (["--halve", "input.file=1..2"], "a sweep is over keys of the job's kind"),
    (["--halve", "convolve.wrong=1..2"], "wrong"),
    (["--halve", "convolve.boundary=1..2"], "boundary"),
    (["--halve", f"{KEY}=1.0..2.0", "--sweep", "convolve.fill=1,2"], "--halve does not go with --sweep"),
    (["--halve", f"{KEY}=1.0..2.0", "--pick", "1"], "--halve does not go with --sweep, --pick"),
])
def test_refusals(words, why):
    write_files()
    done = call("try", "job.toml", *words, "--until", "residual-is-noise", code=2)
    assert why in done.stderr, done.stderr
    assert sorted(os.listdir()) == ["in.h5", "job.toml"]


def test_where_nobody_can_answer():
    write_files()
    done = call("try", "job.toml", "--halve", f"{KEY}=1.0..2.0", code=2)
    assert "not a terminal" in done.stderr and "--until residual-is-noise" in done.stderr
    # Differences of other units say nothing.
    write_files(JOB.replace('kind = "convolve"\n', "").replace("[convolve]", '[[step]]\nkind = "convolve"') +
                '[[step]]\nkind = "rescale"\nfrom = [0.0, 300.0]\nto = [0.0, 1.0]\ndtype = "float32"\n')
    done = call("try", "job.toml", "--halve", f"step.1.{KEY.split('.', 1)[1]}=1.0..2.0", "--until",
                "residual-is-noise", *PART, code=2)
    assert "the job changes the unit" in done.stderr


def answer(answers, *words):
    """Runs the program on a terminal and gives an answer to each question. Returns the text and the code."""
    def take_terminal():  # so that control and C is a signal
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    ours, theirs = pty.openpty()
    child = subprocess.Popen([programs.runner, *words], stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True,
                             start_new_session=True, preexec_fn=take_terminal)
    os.close(theirs)
    text, left = "", list(answers)
    while True:
        try:
            assert select.select([ours], [], [], GUARD)[0], text
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece.decode()
        if left and text.count("[w/s/r/q] ") > len(answers) - len(left):
            os.write(ours, left.pop(0).encode())
    code = child.wait(timeout=GUARD)
    os.close(ours)
    return text.replace("\r\n", "\n"), code


def test_a_person_answers():
    write_files()
    halve = ("try", "job.toml", "--halve", f"{KEY}=1.0..5.0", *PART)
    text, code = answer(["s\n", "what\n", "w\n", "r\n"], *halve)
    assert code == 0, text
    asked = re.findall(r"sigma=(\S+): too weak, too strong, right, or quit", text)
    assert asked == ["3.0", "2.0", "2.0", "2.5"]  # an answer that is none is asked for again
    assert f"Chosen: {KEY}=2.5; 3.0 is too strong" in text, text
    text, code = answer(["w\n", "q\n"], *halve)
    assert code == 0 and f"Chosen: {KEY}=3.0; 5.0 is too strong" in text, text
    text, code = answer(["\x03"], *halve)  # control and C
    assert code == 75, (code, text)
    assert not [name for name in os.listdir() if name.startswith(".")]
