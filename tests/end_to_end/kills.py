"""Every writer, killed at every kind of call, and the same command again until it is done.

In each round one rank or all are killed, once or several times, at a call that changes files; each run
has its own number of ranks, chunk rows and lanes. A third of the rounds is on a file system that cannot
rename without replacing. At the end the output must be that of an undisturbed run, with nothing beside
it but the files of others, which nobody has touched. What was under its name before stays whole until
then.
"""
import collections
import pathlib
import random
import signal

import pytest

import writers
from disturbed import NO_RENAME_NEW, expect_whole, finish_it, folder_of_inputs, is_made, learn, start, words_again
from events import stopped, wait_until
from faulty_runs import finish, kill_all, picked, ranks_of, running_here, send
from harness import programs
from writers import OUTPUTS, WRITERS

pytestmark = pytest.mark.faults
CALLS = "pwrite,write,fsync,fdatasync,create,open,close,rename,link,unlink,mkdir,ftruncate,fallocate,lock"
ROUNDS = 11  # of each writer
BEFORE = b"what was there"


class Kill:
    """A run that is killed at a call: by itself, or once it is stopped there, it or all ranks."""

    def __init__(self, writer, rng, function, number):
        self.writer, self.function, self.number, self.where = writer, function, number, OUTPUTS
        if function == "link" and rng.random() < 0.5:  # between the new name and the removal of the old one
            self.function, self.where = "unlink", ".partial"
        self.ranks = rng.choice(writer.ranks)
        self.rank = rng.randrange(self.ranks) if self.ranks else None
        self.how = rng.choice(["call", "call", "one", "all"])
        # Before the call, or when a write has moved half of its bytes.
        self.death = rng.choice(["kill", "torn"]) if self.function in ("pwrite", "write") else "kill"
        self.code, self.text = None, ""

    def __str__(self):
        return f"{self.writer} killed at {self.function} {self.number} on {self.ranks} ranks by {self.how}"

    def run(self, rules, words):
        """Whether it was killed."""
        action = self.death if self.how == "call" else "stop"
        process = start(self.writer, words, self.ranks, rank=self.rank,
                        fault=f"{rules}{self.function}:{action}@{self.number}:{self.where}")
        if self.how != "call":
            self.kill_stopped(process)
        self.code, self.text = finish(process)
        wait_until(self.all_ended, f"{self}: the end of those that it started")
        return any(call[1] == action for call in picked())

    @staticmethod
    def all_ended():
        """The process that probes may be stopped at its own call just before the run is killed."""
        left = running_here()
        send(stopped(left), signal.SIGKILL)
        return not left

    def kill_stopped(self, process):
        # A rank that is killed while MPI starts would leave mpirun itself waiting.
        wait_until(lambda: stopped(ranks_of(process)) or process.poll() is not None, f"{self}: it is stopped")
        if self.how == "all":
            kill_all(process)
        while process.poll() is None:
            # The process that probes counts its own calls: when it has been killed, the run that
            # asked it may come to be stopped as well.
            send(stopped(ranks_of(process)), signal.SIGKILL)
            wait_until(lambda: stopped(ranks_of(process)) or process.poll() is not None, f"{self}: its end")

    def choose_earlier(self):
        """Another call, where there are not as many; whether there is one."""
        if self.number == 1 and not self.rank:
            return False
        if self.number == 1:
            self.rank = 0  # only the first rank calls that
        self.number = max(self.number // 2, 1)
        return True


class Round:
    """A writer that is killed and run again until it is done."""

    def __init__(self, writer, number, findings):
        self.writer, self.findings = writer, findings
        self.rng = random.Random(f"{programs.seed} {writer} {number}")
        self.rules = NO_RENAME_NEW if number % 3 == 2 else ""
        self.calls = learn(writer, CALLS, self.rules)
        # One kind of call after the other, so that the rounds of a writer kill it at each.
        self.function = sorted(self.calls)[(number + programs.seed) % len(self.calls)]
        # In place of something else nothing is linked, and parts get other names.
        may_overwrite = writer.resumes and writer.verified[0].endswith(".h5") and "parts" not in writer.job
        overwrites = may_overwrite and self.function != "link" and self.rng.random() < 0.3
        self.before = BEFORE if overwrites else None
        self.words = ["--set", "output.overwrite=true"] if overwrites else []
        self.theirs = {}

    def begin(self):
        writers.begin(self.writer)
        if self.before:
            pathlib.Path(self.writer.verified[0]).write_bytes(self.before)
        self.theirs = writers.marks_of_theirs()

    def kill(self, function):
        kill = Kill(self.writer, self.rng, function, self.rng.randint(1, self.calls[function]))
        was_killed = kill.run(self.rules, self.words + self.writer.vary(self.rng) + words_again(self.writer))
        return kill, was_killed

    def first_kill(self):
        """One that hits."""
        self.begin()
        kill, was_killed = self.kill(self.function)
        while not was_killed and kill.choose_earlier():
            self.begin()
            was_killed = kill.run(self.rules, self.words + self.writer.vary(self.rng))
        self.findings.expect(was_killed, f"{kill}: there is no such call", kill.text)
        KILLED[kill.function] += was_killed
        return kill, was_killed

    def judge(self, kill, was_killed):
        # That a killed rank's job ends as failed shows that the others did not continue without it.
        self.findings.expect(was_killed == (kill.code != 0), f"{kill}: {picked()}, exit {kill.code}", kill.text)
        probes = "process that" in kill.text  # it reads what is under the name
        self.findings.expect(kill.code in (0, -9, 137, 255) or "signal 9" in kill.text or probes,
                             f"{kill}: exit {kill.code}", kill.text)
        expect_whole(self.writer, self.findings, kill, self.before)

    def run(self):
        kill, was_killed = self.first_kill()
        self.judge(kill, was_killed)
        for _ in range(self.rng.choice([0, 0, 0, 1, 3])):
            if is_made(self.writer):
                break
            kill, was_killed = self.kill(self.rng.choice(sorted(self.calls)))
            self.judge(kill, was_killed)
        finish_it(self.writer, self.rng, self.findings, kill, self.theirs, self.words)


KILLED = collections.Counter()


@pytest.fixture(scope="module", autouse=True)
def folder():
    with folder_of_inputs() as path:
        yield path
        print(dict(KILLED))


@pytest.mark.share(0.02)
@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("writer", WRITERS, ids=str)
def test_round(writer, number, findings):
    Round(writer, number, findings).run()


def test_repair_of_two_passes(findings):
    """The files of passes go with the next repair, wherever the first one was killed removing them."""
    writer = next(each for each in WRITERS if str(each) == "repair two passes")
    rng = random.Random(programs.seed)
    learn(writer, CALLS)
    number, was_killed = 1, True
    while was_killed:
        writers.begin(writer)
        theirs = writers.marks_of_theirs()
        kill = Kill(writer, rng, "unlink", number)
        kill.ranks, kill.rank, kill.how = writer.ranks[0], None, "call"
        was_killed = kill.run("", writer.vary(rng))
        finish_it(writer, rng, findings, kill, theirs, [])
        number += 1
    findings.expect(number > 3, f"the repair removes only {number - 2} files", "")
