"""Storage, memory, signals and other ranks that fail.

Every fault ends the run with its exit code and one message that says what happened, never
with a wrong file under the output's name; the same command without the fault then resumes and gives
the values of an undisturbed run.
"""
import collections
import os
import pathlib
import shlex
import signal
import subprocess

import numpy as np
import pytest

from events import GUARD, release, send_and_wait, wait_for_held, wait_until
from faulty_runs import (clear, finish, job_folder, journal_bytes, kill_all, kill_midway,
                         left_behind, OUTPUT, picked, Program, read, undisturbed_result)
from harness import Findings

pytestmark = pytest.mark.faults
SHAPE = (120, 90)
DEFLATE = ["--set", "output.chunk=[40,90]", "--set", 'output.compression="deflate"']
# Few chunks, each committed at once.
CHUNKS = ["--set", "run.chunk_rows=40", "--set", "run.commit_seconds=0", "--set", "run.lanes=2"]

# Of so few rows that a run can be held at one that has others before it and after it.
ROW_CHUNKS = ["--set", "run.chunk_rows=10", *CHUNKS[2:]]
ROW_WRITE = "out.h5.partial>=3600"  # no write of HDF5's own is as long

# What fails, how, the exit code, words of the message; on two ranks, only the second has the fault.
Fault = collections.namedtuple("Fault", "name rules code words ranks memory",
                               defaults=([], 0, False))
FAULTS = [
    Fault("quota", "pwrite:EDQUOT@8:out.h5", 4, ["out.h5", "quota"]),
    Fault("limit of files", "pwrite:EFBIG@8:out.h5", 4, ["ulimit -f"]),
    Fault("read-only", "open:EROFS@1:out.h5.partial", 4, ["out.h5.partial", "read-only"]),
    Fault("disk fault in a write", "pwrite:EIO@9:out.h5", 4, ["Input/output error"]),
    Fault("disk fault in a sync", "fdatasync:EIO@3+:out.h5", 4, ["bring the file to the disk"]),
    Fault("full disk of one host", "pwrite:ENOSPC@2:out.h5.partial", 4,
          ["No space left", "Free space", "rank 1"], ranks=2),
    Fault("failing sync of one host", "fdatasync:EIO@2:out.h5", 4, ["Input/output error"], ranks=2),
    Fault("rename across disks", "rename:EXDEV@1:out.h5.partial", 4,
          ["cross-device", "The result is in"]),
    Fault("rename forbidden", "rename:EACCES@1:out.h5.partial", 4, ["Permission denied"]),
    Fault("rename without flags", "rename:EINVAL@1:out.h5.partial", 0),
    Fault("names without links", "rename:EINVAL@1:out.h5.partial;link:EPERM@1", 0),
    Fault("no locks here", "lock:ENOLCK@*", 0),
    Fault("locks unknown", "lock:ENOTSUPP@*:.h5", 0),
    Fault("no space to be had beforehand", "fallocate:EOPNOTSUPP@*", 0),
    Fault("no space left beforehand", "fallocate:ENOSPC@1:out.h5", 4, ["disk space", "Free space"]),
    Fault("interrupted calls", "pwrite,pread,fsync,fdatasync,fallocate:EINTR@/2", 0),
    Fault("short calls", "pwrite,pread:short@*", 0),
    Fault("interrupted and short", "pwrite,pread:short@/2;pwrite,pread:EINTR@/3", 0, ranks=2),
    Fault("input unreadable in the middle", "pread:EIO@2:in.h5>=10000", 3, ["in.h5", "Input/output"]),
    Fault("input cut off while it is read", "pread:eof@3:in.h5>=10000", 3, ["in.h5", "truncated"]),
    Fault("input gone on one host", "pread:ESTALE@1:in.h5>=10000", 3, ["in.h5", "rank 1"], ranks=2),
]


def errors_in(text):
    return [line for line in text.splitlines() if line.startswith("runner: error: ")]


class Matrix(Findings):
    program = Program()

    def expect_end(self, name, code, words, got, text):
        """The exit code and, where it is a failure, one message with these words."""
        right = got == code and all(word in text for word in words)
        right = right and (code in (0, 75) or len(errors_in(text)) == 1)
        self.expect(right, f"{name}: exit {got}, wanted {code} {words}", text)
        if pathlib.Path(OUTPUT).exists():
            self.expect(np.array_equal(read(), self.wanted), f"{name}: a wrong file has the name")

    def expect_resumed(self, name, arguments=CHUNKS, ranks=0):
        """The same command, without the fault, completes the output."""
        if pathlib.Path(OUTPUT).exists() and not left_behind():
            return
        code, text = self.program.run(arguments, ranks)
        if self.expect(code == 0, f"{name}: then resumes with exit {code}", text):
            self.expect(np.array_equal(read(), self.wanted), f"{name}: other values")
            self.expect(not left_behind(), f"{name}: leaves {left_behind()}")

    def table(self, fault):
        clear()
        rank = fault.ranks - 1 if fault.ranks else None
        code, text = self.program.run(CHUNKS, fault.ranks, fault=fault.rules, rank=rank,
                                      memory=fault.memory)
        self.expect(picked(), f"{fault.name}: the fault was never there", text)
        self.expect_end(fault.name, fault.code, fault.words, code, text)
        self.expect_resumed(fault.name)

    def every_call(self, action, calls, arguments):
        """The k-th of the calls fails, for each k there is."""
        for k in range(1, 1000):
            clear()
            name = f"{action} in call {k} of {calls} {arguments[-1]}"
            code, text = self.program.run(arguments, fault=f"{calls}:{action}@{k}:out.h5")
            if not picked():
                self.expect(k > 10 and code == 0, f"{name}: too few calls", text)
                return
            # A failure that does no harm, as of a close after reading, may go unseen.
            self.expect_end(f"{name} {picked()}", code if code == 0 else 4, [], code, text)
            self.expect_resumed(name, arguments)
        self.expect(False, f"{action} of {calls} never ends")

    def every_allocation(self):
        """The k-th of C++'s larger allocations fails. HDF5's own are left alone: its 1.10 spoils
        the heap when one fails while it stores an attribute."""
        for k in range(1, 1000):
            clear()
            code, text = self.program.run(CHUNKS, fault=f"malloc:ENOMEM@{k}:libstdc++>=4096", memory=True)
            if not picked():
                self.expect(k > 5 and code == 0, f"only {k} allocations", text)
                return
            words = [] if code == 0 else ["memory"]
            self.expect_end(f"allocation {k} {picked()}", 0 if code == 0 else 6, words, code, text)
            self.expect_resumed(f"allocation {k}")

    def file_limits(self):
        """ulimit -f: HDF5's close fails somewhere below what the output takes."""
        for blocks in [0, 1, 4, 8, 16, 24, 32, 40, 44, 48, 60]:
            clear()
            line = shlex.join([self.program.runner, "job.toml", "--quiet", *CHUNKS])
            done = subprocess.run(["bash", "-c", f"ulimit -f {blocks}; {line}"], timeout=GUARD,
                                  capture_output=True, text=True)
            self.expect(done.returncode in (0, 4), f"ulimit -f {blocks}: exit {done.returncode}",
                        done.stderr)
            self.expect(done.returncode == 0 or "File too large" in done.stderr,
                        f"ulimit -f {blocks} is named", done.stderr)
            self.expect_resumed(f"ulimit -f {blocks}")

    def full_disk(self):
        """A real one, where this user may mount it."""
        script = '''set -e
mount -t tmpfs -o size=%dk tmpfs out
set +e
"$@"; code=$?
set -e
mount -o remount,size=10m out
mkdir -p kept && rm -rf kept/* && cp -r out/. kept/
exit $code
'''
        probe = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "out"],
                               capture_output=True, check=False)
        if probe.returncode != 0:
            print("SKIPPED: no full disk, since unshare -rm cannot mount a tmpfs here")
            return
        for size in [12, 48, 52, 56, 60]:
            clear()
            done = subprocess.run(
                ["unshare", "-rm", "bash", "-c", script % size, "-", self.program.runner,
                 "job.toml", "--quiet", *CHUNKS], capture_output=True, text=True, timeout=GUARD)
            code, text = done.returncode, done.stderr
            self.expect(code in (0, 4) and len(errors_in(text)) == (code != 0),
                        f"disk of {size} KiB: exit {code}", text)
            subprocess.run("cp -r kept/. out/", shell=True, check=True)
            self.expect_resumed(f"disk of {size} KiB")

    def start_held(self, write, arguments, ranks=0, rank=None):
        """A run that is held at such a write of its rows."""
        hold = f"pwrite:hold={os.path.abspath('held')}@{write}:{ROW_WRITE}"
        return self.program.start(arguments, ranks, fault=hold, rank=rank)

    def signals(self):
        for ranks, number, times, wanted in [
                (0, signal.SIGTERM, 1, 75), (0, signal.SIGUSR1, 2, 75), (0, signal.SIGINT, 3, 130),
                (2, signal.SIGUSR1, 1, 75)]:
            clear()
            name = f"{number.name} {times} times on {ranks} ranks"
            process = self.start_held(3, ROW_CHUNKS, ranks)
            self.expect(wait_for_held(process, max(1, ranks)), f"{name}: done before it was held")
            for sent in range(times):
                send_and_wait(process.pid, number)
                if sent == 0:  # received, and passed on to the other ranks
                    stop = pathlib.Path(OUTPUT + ".journal/stop")
                    wait_until(lambda: stop.exists() or process.poll() is not None, "a stop file")
            release()
            code, text = finish(process)
            release()
            self.expect_end(name, wanted, [], code, text) if wanted != 130 else self.expect(
                code == wanted, f"{name}: exit {code}", text)
            self.expect(not pathlib.Path(OUTPUT).exists(), f"{name}: was not stopped at all")
            self.expect_resumed(name, ranks=ranks)

    def stopped_rank(self):
        clear()
        # So long that a rank which only waits for a processor is not taken for a stopped one.
        code, text = self.program.run([*CHUNKS, "--set", "run.stall_seconds=15"], 2, rank=1,
                                      fault="pwrite:stop@2:out.h5.partial")
        self.expect(picked(), "a stopped rank: it was not stopped", text)
        self.expect_end("a stopped rank", 6, ["rank 1", "sign of life"], code, text)
        self.expect_resumed("a stopped rank")

    def races(self):
        """Two at once for one output: one runs, the other names it."""
        for race in range(50):
            clear()
            # The one that gets the output is held until the other has ended.
            both = [self.start_held(1, CHUNKS) for _ in range(2)]
            wait_until(lambda both=both: any(each.poll() is not None for each in both), "a loser")
            if all(wait_for_held(each) for each in both if each.poll() is None):
                release()
            ends = [finish(process) for process in both]
            ends = sorted(zip(ends, both), key=lambda end: end[0][0])
            ((good, _), winner), ((bad, text), _) = ends
            self.expect((good, bad) == (0, 4), f"race {race}: exits {good}, {bad}", text)
            self.expect(f"process {winner.pid}" in text and "another run" in text,
                        f"race {race}: names process {winner.pid}", text)
            self.expect(np.array_equal(read(), self.wanted) and not left_behind(),
                        f"race {race}: leaves {left_behind()}")

    def changed_parts(self):
        """What somebody did to the files of a stopped run."""
        clear()
        self.expect(kill_midway(self.start_held(3, CHUNKS), OUTPUT), "killed for another input")
        os.utime("in.h5")
        code, text = self.program.run(CHUNKS)
        self.expect_end("another input", 3, ["input has changed", "resume"], code, text)
        code, text = self.program.run([*CHUNKS, "--resume", "never"])
        self.expect_end("another input, restarted", 0, [], code, text)

        clear()
        self.expect(kill_midway(self.start_held(3, CHUNKS), OUTPUT), "killed for a flipped bit")
        partial = pathlib.Path(OUTPUT + ".partial")
        flipped = bytearray(partial.read_bytes())
        flipped[20000] ^= 1
        partial.write_bytes(flipped)
        self.expect_resumed("a flipped bit", [*CHUNKS, "--set", 'run.resume_check="all"'])

        clear()
        self.kill_after_two_commits()
        for path in pathlib.Path(OUTPUT + ".journal").glob("*.rows"):
            damaged = bytearray(path.read_bytes())
            damaged[40] ^= 1
            path.write_bytes(damaged)
        code, text = self.program.run(CHUNKS)
        self.expect_end("a damaged journal", 4, ["journal", "never"], code, text)
        code, text = self.program.run([*CHUNKS, "--resume", "never"])
        self.expect_end("a damaged journal, restarted", 0, [], code, text)

    def kill_after_two_commits(self):
        """A run that is held twice, each time until what was written before is committed."""
        rules = [f"pwrite:hold={os.path.abspath(name)}@{write}:{ROW_WRITE}"
                 for name, write in [("held", 3), ("later", 9)]]
        process = self.program.start(ROW_CHUNKS, fault=";".join(rules))
        sizes = []
        for name in ["held", "later"]:
            self.expect(wait_for_held(process, file=name), f"done before it was {name}")
            wait_until(lambda: journal_bytes(OUTPUT + ".journal") > max([32, *sizes]), "a commit")
            sizes.append(journal_bytes(OUTPUT + ".journal"))
            if name == "held":
                release()
        kill_all(process)
        finish(process)
        release("later")

    def input_changes_meanwhile(self):
        clear()
        process = self.start_held(2, CHUNKS)
        self.expect(wait_for_held(process), "done before its input changed")
        os.utime("in.h5")
        release()
        code, text = finish(process)
        self.expect_end("an input that changes", 3, ["changed while it was read"], code, text)
        self.expect(not pathlib.Path(OUTPUT).exists(), "an input that changes: no output")

    def closed_outputs(self):
        """Nobody reads what is printed."""
        line = shlex.join([self.program.runner, "job.toml", *CHUNKS])
        for name, tail in [("closed", ">&- 2>&-"), ("a broken pipe", "2>&1 | true"),
                           ("full", "> /dev/full 2>&1")]:
            clear()
            done = subprocess.run(["bash", "-c", f"{line} {tail}; exit ${{PIPESTATUS[0]}}"],
                                  timeout=GUARD, check=False)
            self.expect(done.returncode == 0, f"output {name}: exit {done.returncode}")
            self.expect(np.array_equal(read(), self.wanted), f"output {name}: other values")


@pytest.fixture(scope="module", autouse=True)
def folder():
    with job_folder() as path:
        yield path


@pytest.fixture(scope="module", name="wanted")
def make_wanted(folder):
    return undisturbed_result(SHAPE, CHUNKS)


@pytest.fixture(name="matrix")
def make_matrix(wanted):
    matrix = Matrix()
    matrix.wanted = wanted
    return matrix


@pytest.mark.share(0.25)
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_fault(matrix, fault):
    matrix.table(fault)


@pytest.mark.parametrize("action, calls, arguments", [
    ("EIO", "pwrite,fsync,fdatasync,open,close,rename,unlink,mkdir,ftruncate,fallocate,lock", CHUNKS),
    ("ENOSPC", "pwrite", CHUNKS + DEFLATE)], ids=["EIO", "ENOSPC"])
def test_every_call_fails(matrix, action, calls, arguments):
    matrix.every_call(action, calls, arguments)


@pytest.mark.parametrize("part", ["every_allocation", "file_limits", "full_disk", "signals", "stopped_rank", "races",
                                  "changed_parts", "input_changes_meanwhile", "closed_outputs"])
def test_part(matrix, part):
    getattr(matrix, part)()
