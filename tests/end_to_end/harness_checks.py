"""What the tests of whole jobs rest on: the choice by the seed, skips, failures and empty files."""
import hashlib
import pathlib
import re
import subprocess
import sys

import pytest

from harness import Findings, chosen, programs

pytestmark = pytest.mark.quick
HERE = pathlib.Path(__file__).parent
CASES = [f"test[{number}]" for number in range(97)]


@pytest.mark.parametrize("share", [0.02, 0.1, 0.25, 0.4, 0.5, 1])
def test_consecutive_seeds_choose_everything(share):
    count = round(97 * share)
    found = set()
    for seed in range(500, 500 - (-97 // count)):
        kept = chosen(seed, CASES, share)
        assert len(kept) == count and kept <= set(CASES)
        assert kept == chosen(seed, CASES[::-1], share), "by order"
        found |= kept
    assert found == set(CASES)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 97, 300, 450])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_some_tens_of_commits_choose_everything(count, share):
    """Commits here are the checksums of numbers: 80 of them leave nothing out."""
    cases = {f"case {number}" for number in range(count)}
    found = set()
    for commit in range(80):
        found |= chosen(int(hashlib.sha1(str(commit).encode()).hexdigest()[:8], 16), cases, share)
    assert found == cases


def test_findings():
    findings = Findings()
    findings.none()
    assert findings.expect(True, "right") and not findings.expect(False, "wrong")
    with pytest.raises(AssertionError, match="wrong"):
        findings.none()


INNER = """
import os
import pytest
from harness import programs

@pytest.mark.quick
def test_small():
    pass

@pytest.mark.gpu
def test_gpu():
    pass

@pytest.mark.share(0.25)
@pytest.mark.parametrize("number", range(8))
def test_some(number):
    assert number < 8

@pytest.mark.full
def test_slow():
    assert programs.full

def test_wrong():
    assert os.environ.get("WRONG") != "1", f"seed {programs.seed}"

def test_found(findings):
    findings.expect(os.environ.get("WRONG") != "2", "what was found")
"""


@pytest.fixture(name="inner")
def make_inner(folder, monkeypatch):
    """Runs pytest on a file beside copies of the harness: its exit code and output."""
    for name in ("conftest.py", "harness.py", "events.py", "pytest.ini"):
        pathlib.Path(name).write_text((HERE / name).read_text())
    # A program without a GPU, whatever this machine has.
    pathlib.Path("runner").write_text("#!/bin/sh\necho 'no GPU (none here)'\n")
    pathlib.Path("runner").chmod(0o755)
    for name in ("RUNNER_REQUIRE_GPU", "RUNNER_TEST_CASES", "RUNNER_TEST_SEED", "RUNNER_TEST_SHARE"):
        monkeypatch.delenv(name, raising=False)

    def run(*words, text=INNER, file="inner.py", **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        pathlib.Path("inner.py").write_text(text)
        done = subprocess.run([sys.executable, "-B", "-m", "pytest", file, "--bin", ".", *words],
                              capture_output=True, text=True)
        counts = re.search(r"^=* ?((?:\d+ \w+,? ?)+) in [\d.]+s", done.stdout, re.M)
        return done.returncode, counts[1].strip() if counts else "", done.stdout + done.stderr
    return run


def test_usual_cases(inner):
    code, counts, text = inner("--seed", "5")
    assert (code, counts) == (0, "5 passed, 1 skipped, 7 deselected"), text
    assert re.search(r"^seed 5 \(given\)", text, re.M), text
    assert re.search(r"^SKIPPED \[1\] .*: no GPU \(none here\)$", text, re.M), text


def test_quick_and_full_cases(inner):
    assert inner("--cases", "quick")[:2] == (0, "1 passed, 12 deselected")
    assert inner("--cases", "full")[:2] == (0, "12 passed, 1 skipped")
    assert inner(RUNNER_TEST_CASES="quick")[:2] == (0, "1 passed, 12 deselected")


def test_a_smaller_share(inner):
    """Of functions without a set of cases, a share too: of four 0.5 times, two; of eight a quarter, one."""
    found = set()
    for seed in range(8):
        code, counts, text = inner("--seed", str(seed), "-v", RUNNER_TEST_SHARE="0.5")
        assert code == 0 and counts.endswith("10 deselected"), text
        found |= set(re.findall(r"inner\.py::(\w+)", text))
    assert found == {"test_small", "test_gpu", "test_some", "test_wrong", "test_found"}, found


def test_what_is_named_runs(inner):
    assert inner("-k", "some")[:2] == (0, "8 passed, 5 deselected")
    assert inner(file="inner.py::test_some[3]")[:2] == (0, "1 passed")


def test_a_required_gpu(inner):
    code, counts, text = inner(RUNNER_REQUIRE_GPU="1")
    assert (code, counts.split(",")[-1]) == (1, " 1 error") and "no GPU (none here)" in text, text
    code, counts, text = inner("--backend", "cuda", RUNNER_REQUIRE_GPU="0")
    assert (code, counts) == (0, "6 skipped, 7 deselected"), text


@pytest.mark.parametrize("which, name, words", [("1", "test_wrong", "seed 77"), ("2", "test_found", "what was found")])
def test_a_failure_says_how_to_repeat_it(inner, which, name, words):
    code, counts, text = inner("--share", "1", RUNNER_TEST_SEED="77", WRONG=which)
    assert code == 1 and counts.startswith("1 failed, 4 passed, 1 skipped"), text
    assert words in text, text
    assert re.search(rf"^python3 -m pytest .*/inner\.py::{name} --bin .* --seed 77 ", text, re.M), text


@pytest.mark.parametrize("text, words", [("import os\n", ()), (INNER, ("-k", "nothing_of_that_name"))])
def test_a_file_without_tests_fails(inner, text, words):
    assert inner(*words, text=text)[0] == 5


def test_a_program_that_is_not_there(inner):
    code, _, text = inner("--runner", "none/runner")
    assert code == 4 and "none/runner: build it" in text, text
    assert programs.runner not in text
