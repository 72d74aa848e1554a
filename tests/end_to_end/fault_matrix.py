"""Every writer with every kind of call that fails.

Calls are interrupted or fall short: the result is right. Storage fails for outputs, or for inputs: the run
ends with its exit code and one message that names a file, or does not need that call and is right. It
never ends by a signal or with code 1, nothing that is not whole has an output's name, and the same command
without the fault completes it. faults.py has single faults with their words.
"""
import collections
import dataclasses
import pathlib
import random
import re

import pytest

import writers
from disturbed import NO_RENAME_NEW, expect_whole, finish_it, folder_of_inputs, learn, run
from faulty_runs import picked
from harness import programs
from writers import OUTPUTS, WRITERS

pytestmark = pytest.mark.faults
FULL = ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO")
# Of files in `outputs`: what a call may say, by its name.
LATE = ("EIO", "ENOSPC", "EDQUOT")
CHANGING = {"pwrite": FULL, "write": FULL, "fsync": LATE, "fdatasync": LATE, "close": LATE,
            "create": ("EROFS", "ENOSPC", "EDQUOT", "EACCES", "EMFILE", "EIO"),
            "rename": ("EROFS", "EXDEV", "EACCES", "EIO", "ENOSPC"), "link": ("EROFS", "ENOSPC", "EIO"),
            "unlink": ("EROFS", "EACCES", "EIO"), "mkdir": ("EROFS", "ENOSPC", "EDQUOT", "EACCES", "EIO"),
            "ftruncate": FULL, "fallocate": ("ENOSPC", "EDQUOT", "EFBIG", "EIO", "EOPNOTSUPP"),
            "lock": ("EIO", "ENOLCK", "ESTALE")}
READING = {"read": ("EIO", "ESTALE"), "pread": ("EIO", "ESTALE"), "open": ("EIO", "EACCES", "EMFILE", "ESTALE")}
# Each function that may be interrupted or fall short, for any file.
INTERRUPTED = ("read", "pread", "write", "pwrite", "close", "fsync", "fdatasync", "ftruncate", "fallocate")
SHORT = ("read", "pread", "write", "pwrite")
ALL = ",".join(dict.fromkeys([*CHANGING, *READING]))
FAULTS = 4  # of each writer
SEEN = collections.Counter()

class Fault:
    """A run in which calls fail: a rule (tests/fault/rules.hpp), and the exit codes that it may end with."""

    def __init__(self, writer, findings, rng, rule, codes):
        self.writer, self.findings, self.rng, self.rule, self.codes = writer, findings, rng, rule, codes
        self.was_there = False

    def __str__(self):
        return f"{self.writer} with {self.rule}"

    def judge(self, code, text):
        errors = [line for line in text.splitlines() if line.startswith("runner: error: ")]
        self.findings.expect(code in self.codes, f"{self}: exit {code}", text)
        named = all(re.search(rf"{OUTPUTS}|in\.h5|batch/|report\.json", line) for line in errors)
        most = 3 if self.writer.words[0] == "batch" else 1  # datasets
        self.findings.expect(code == 0 or (1 <= len(errors) <= most and named), f"{self}: not one message with a file",
                             text)
        good = "a defect of the program" not in text and "Sanitizer" not in text
        self.findings.expect(good, f"{self}: a defect", text)
        expect_whole(self.writer, self.findings, self)

    def run(self):
        writers.begin(self.writer)
        theirs = writers.marks_of_theirs()
        code, text = run(self.writer, self.writer.vary(self.rng), fault=self.rule)
        self.was_there = bool(picked())
        SEEN[code] += self.was_there
        self.judge(code, text)
        finish_it(self.writer, self.rng, self.findings, self, theirs)


def interrupted(rng):
    """Rule and exit codes: a call says EINTR, or moves less than asked for."""
    function, error = rng.choice([(name, "EINTR") for name in INTERRUPTED] + [(name, "short") for name in SHORT])
    when = "*" if error == "short" else rng.choice(["/2", "/3", "1", "2", "3", str(rng.randint(1, 30))])
    # HDF5 does not try again to make a file longer.
    return f"{function}:{error}@{when}", (0, 4) if function == "ftruncate" else (0,)


def sticky(rng):
    return rng.choice(["", "", "+"])


def unreadable_input(rng):
    function = rng.choice(list(READING))
    return f"{function}:{rng.choice(READING[function])}@{rng.randint(1, 6)}{sticky(rng)}:in.h5", (0, 3)


def failing_output(rng, writer, calls):
    table = {**READING, **CHANGING}
    function = rng.choice(sorted(name for name in calls if name in table))
    number = rng.randint(1, calls[function])
    return (f"{function}:{rng.choice(table[function])}@{number}{sticky(rng)}:{OUTPUTS}",
            (0, 4) if function in CHANGING and not writer.prepared else (0, 3, 4, 6))


@pytest.fixture(scope="module", autouse=True)
def folder():
    with folder_of_inputs() as path:
        yield path
        print(f"faults by exit code: {dict(SEEN)}")


@pytest.mark.share(0.08)
@pytest.mark.parametrize("number", range(FAULTS))
@pytest.mark.parametrize("writer", WRITERS, ids=str)
def test_fault(writer, number, findings):
    rng = random.Random(f"{programs.seed} {writer} {number}")
    before = NO_RENAME_NEW if rng.random() < 0.3 else ""
    calls = learn(writer, ALL, before)
    if number == 0:
        rule, codes = interrupted(rng)
    elif number == 1 and "in.h5" in writer.job + str(writer.words):
        rule, codes = unreadable_input(rng)
    else:
        rule, codes = failing_output(rng, writer, calls)
    Fault(writer, findings, rng, before + rule, codes).run()


# What the cases above have found.
FOUND = [("convolve .tif", "pread:EIO@3:outputs", (4,)),  # the record in the journal
         ("batch .tif", "write:short@*", (0,)),
         ("batch deflate", "read,pread:EIO@*:.state/log-", (0,)),
         ("convolve contiguous", "close:EINTR@*:outputs", (0,)),
         ("generate deflate", "close:EINTR@*:outputs", (0,)),
         ("generate slices", "fsync:EDQUOT@4+:outputs", (4,)),  # between the names of the folder and of a slice
         ("convert slices", "rename:EIO@3+:outputs", (4,)),
         ("convert .sand", "open:EACCES@5+:outputs", (4,)),  # also what removes a folder opens it
         ("transpose contiguous", "ftruncate:EINTR@2", (4,)),
         ("convolve contiguous", "open:EINTR@/2:in.h5;lock:EINTR@/2:in.h5", (0,))]


@pytest.mark.parametrize("name, rule, codes", FOUND, ids=[f"{name} {rule}" for name, rule, _ in FOUND])
def test_found(name, rule, codes, findings):
    writer = next(each for each in WRITERS if each.name == name)
    learn(writer, ALL)
    fault = Fault(writer, findings, random.Random(1), rule, codes)
    fault.run()
    assert fault.was_there


def test_status():
    """A batch's list that cannot be read is not taken for a shorter one."""
    writer = next(each for each in WRITERS if each.name == "batch .npy")
    writers.begin(writer)
    assert run(writer)[0] == 0
    status = dataclasses.replace(writer, words=("status", OUTPUTS))
    code, text = run(status, fault="read,pread:EIO@*:datasets.jsonl")
    assert code == 3 and "datasets.jsonl" in text and "Input/output error" in text, text
