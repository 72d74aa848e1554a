"""The report of a batch: what it counts is what the batch has done, and its page draws that, without a
network, on narrow and wide screens, and whatever the names are."""
import json
import os
import pathlib
import shlex
import subprocess
import time

import h5py
import numpy as np
import pytest

from browser import Browser, find_browser
from harness import attempt, bad, call, good, programs
from report_page import open_page, text_of

HOSTILE = "'<img src=x onerror=injected=1>\"&amp;.h5"


def write(name, shape=(40, 50)):
    with h5py.File(name, "w") as file:
        file["d"] = np.ones(shape, "f4")


def make_batch():
    """Three datasets, of which one cannot be run; its report."""
    write("a.h5")
    write(HOSTILE, (400, 500))
    with h5py.File("bad.h5", "w") as file:
        file["d"] = np.zeros(7, "f4")
    pathlib.Path("scans <b>.toml").write_text(
        'kind = "median"\n[input]\ndataset = "/d"\n[run]\nbackend = "cpu"\n[output]\ndataset = "/o"\n'
        '[batch]\ninputs = ["*.h5"]\noutput = "out/{stem}.h5"\n[median]\nsize = [3, 3]\n')
    before = time.time()
    assert attempt("batch", "scans <b>.toml", "--quiet").returncode == 3
    return before, json.loads(good("report", "out", "--json")), time.time()


@pytest.mark.quick
def test_numbers():
    before, report, after = make_batch()
    assert report["name"] == "scans <b>" and report["kind"] == "median"
    assert {word: count for word, count in report["counts"].items() if count} == {"done": 2, "failed": 1}
    assert before - 1 < report["begun"] <= report["begun"] + report["end_seconds"] < after + 1
    found = {one["input"]: one for one in report["datasets"]}
    assert set(found) == {"a.h5", "bad.h5", HOSTILE}
    # A median reads what it writes: twice the elements of four bytes.
    made = [found["a.h5"], found[HOSTILE]]
    assert [one["bytes"] for one in made] == [2 * 4 * 40 * 50, 2 * 4 * 400 * 500]
    assert report["bytes"] == sum(one["bytes"] for one in made)
    assert max(one["seconds"] for one in made) <= report["busy_seconds"] <= sum(one["seconds"] for one in made) + 1e-6
    assert all(0 < one["seconds"] <= one["end"] + 1e-6 and one["end"] <= report["end_seconds"] for one in made)
    assert found["bad.h5"]["status"] == "failed" and found["bad.h5"]["code"] == 3
    assert "its shape is [7]" in found["bad.h5"]["why"] and "seconds" not in found["bad.h5"]
    assert len(report["processes"]) == 1 and ", process " in report["processes"][0]
    text = good("report", "out")
    assert "3 datasets, 2 done, 1 failed" in text and "read and written: 1.54 MiB in " in text and "by 1 process" in text
    # Datasets that a later call finds done keep their times; its own process reports a new one.
    write("b.h5")
    attempt("batch", "scans <b>.toml", "--quiet")
    again = json.loads(good("report", "out/scans <b>.state", "--json"))
    later = {one["input"]: one for one in again["datasets"]}
    assert [later[name]["seconds"] for name in ("a.h5", HOSTILE)] == [one["seconds"] for one in made]
    assert later["b.h5"]["process"] == 1 and len(again["processes"]) == 2


def test_a_submitted_batch_writes_its_page():
    make_batch()
    site = ["--site", pathlib.Path(__file__).parents[2] / "slurm/sites/example.toml", "--backend", "cpu", "--dry-run"]
    pathlib.Path("out/a.h5").unlink()  # so that there is something to submit
    for words in ([], ["--array", "2"]):
        script = good("submit", "scans <b>.toml", *site, *words, "--report", "page's.html")
        line = next(line for line in script.splitlines() if " --page " in line)
        program, rest = shlex.split(line)[0], line.split(" ", 1)[1]
        assert program == "runner" or os.path.isabs(program)
        subprocess.run(f"{shlex.quote(str(programs.runner))} {rest}", shell=True, check=True)
        assert 'id="batch"' in pathlib.Path("page's.html").read_text()
        pathlib.Path("page's.html").unlink()
    bad(2, ["the report of a batch is a page"], "submit", "scans <b>.toml", *site, "--report", "r.json")
    pathlib.Path("one.toml").write_text('kind = "median"\n[input]\nfile = "a.h5"\n[output]\nfile = "o.h5"\n'
                                        "[median]\nsize = [3, 3]\n")
    assert f"--report {os.getcwd()}/r.json" in good("submit", "one.toml", *site, "--report", "r.json")


def test_what_is_no_batch():
    pathlib.Path("empty").mkdir()
    bad(3, ["empty"], "report", "empty")
    pathlib.Path("r.json").write_text("{}")
    bad(2, ["cannot report several things at once"], "report", "r.json", "empty")


def test_page():
    program = find_browser()
    if program is None:
        pytest.skip("there is no chromium")
    _, report, _ = make_batch()
    call("report", "out", "--page", "batch.html")

    def check(holds, what):
        assert holds, what

    with Browser(program) as browser:
        for width, scheme in [(1280, "light"), (400, "light"), (400, "dark")]:
            open_page(browser, check, "batch.html", width, scheme)
            paper = browser.value("getComputedStyle(document.body).backgroundColor")
            assert (int(paper.split("(")[1].split(",")[0]) > 127) == (scheme == "light")
        assert text_of(browser, "h1") == ["scans <b>"]
        assert text_of(browser, "h2") == ["Failures", "Throughput", "Times", "Slowest datasets", "Datasets"]
        assert text_of(browser, ".verdict") == ["2 of 3 datasets done, 1 failed."]
        assert text_of(browser, "dd")[:5] == ["3", "2", "1", "1", "1.54 MiB"]
        assert browser.value('document.querySelectorAll("svg.time rect").length') == 2
        rows = browser.value('[...document.querySelectorAll("tbody tr")].map(row => '
                             "[...row.cells].map(cell => cell.textContent))")
        failure = next(row for row in rows if row[0] == "bad.h5")
        assert failure[1] == "3" and "its shape is [7]" in failure[2] and failure[3].endswith(" UTC")
        assert {row[5] for row in rows if len(row) == 6} == {"a.h5", "bad.h5", HOSTILE}
        browser.value('document.querySelector("[data-zoom=in]").click()')
        assert browser.value("window.injected === undefined && document.images.length === 0")
        assert not browser.messages, browser.messages
    assert report["counts"]["done"] == 2
