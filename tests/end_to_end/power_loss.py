"""Jobs cut off by a power failure.

A run is killed at each of its system calls that change files (or each fourth, of which the seed
chooses the first). The fault shim wrote down what every call changed, so that here its files are
put into states that a power cut at that moment may leave: any sector as it was after any of the
writes that no sync has covered, lengths likewise, and folders' entries as after any of the changes
that no sync of the folder has covered. What a failed sync was to cover is lost, whatever came
after. From each state the same command resumes to the values of an undisturbed run.
"""
import collections
import os
import pathlib
import random
import shutil

import numpy as np
import pytest

from faulty_runs import OUTPUT, Program, clear, job_folder, picked, read, undisturbed_result
from harness import programs

pytestmark = pytest.mark.faults
SHAPE = (120, 90)
SECTOR = 512
CHUNKS = ["--set", "run.chunk_rows=40", "--set", "run.commit_seconds=0", "--set", "run.lanes=1"]
CALLS = "pwrite,fsync,fdatasync,rename,unlink,mkdir,ftruncate,fallocate"
LAYOUTS = {
    "contiguous": [],
    "parts": ["--set", "output.parts=2"],
    "deflate": ["--set", "output.chunk=[40,90]", "--set", 'output.compression="deflate"'],
}
NEVER = float("inf")

Write = collections.namedtuple("Write", "time inode offset bytes old_size old")
Entry = collections.namedtuple("Entry", "time folder inode what path to")


class UndoLog:
    """What the shim wrote down (tests/fault/undo_log.hpp)."""

    def __init__(self, folder):
        self.folder = folder
        self.writes = collections.defaultdict(list)  # by inode, in order
        self.entries = []
        self.syncs = collections.defaultdict(list)  # by inode: (begin, good)
        for path in folder.glob("*.log"):
            self.read_log(path, path.with_suffix(".data").read_bytes())
        for writes in self.writes.values():
            writes.sort()
        self.entries.sort()

    def read_log(self, path, data):
        begun, ended = {}, {}
        for line in path.read_text().splitlines():
            kind, *fields = line.split(" ")
            if kind == "W":
                number, time, inode, offset, count, size, at, length = map(int, fields)
                begun[number] = (time, inode, offset, count, size, data[at:at + length])
            elif kind == "E":
                ended[int(fields[0])] = int(fields[1])
            elif kind == "S":
                self.syncs[int(fields[1])].append((int(fields[0]), fields[2] == "0"))
            elif kind == "D":
                time, folder, inode = map(int, fields[:3])
                self.entries.append(Entry(time, folder, inode, *fields[3:6]))
        for number, (_, inode, *rest) in begun.items():
            self.writes[inode].append(Write(ended.get(number, NEVER), inode, *rest))

    def is_safe(self, time, inode):
        """Whether the first sync that began after it was a good one."""
        later = [sync for sync in self.syncs[inode] if sync[0] >= time]
        return bool(later) and min(later)[1]


def undo_bytes(path, writes, rng):
    """Each sector as after some of the writes, which are those that are not safe, in order."""
    content = bytearray(path.read_bytes())
    sizes = [write.old_size for write in writes] + [len(content)]
    size = sizes[rng.choice([0, len(writes), rng.randrange(len(sizes))])]
    content.extend(bytes(max(0, *sizes, *[w.offset + w.bytes for w in writes]) - len(content)))
    kept = {}
    all_or_none = rng.choice([0, len(writes), None])
    for number, write in reversed(list(enumerate(writes))):
        old = write.old + bytes(write.bytes - len(write.old))
        at = write.offset
        while at < write.offset + write.bytes:
            end = min((at // SECTOR + 1) * SECTOR, write.offset + write.bytes)
            first_lost = kept.setdefault(
                at // SECTOR,
                rng.randint(0, len(writes)) if all_or_none is None else all_or_none)
            if number >= first_lost:
                content[at:end] = old[at - write.offset:end - write.offset]
            at = end
    path.write_bytes(content[:size])


def undo_entry(entry, log, made_again):
    """`made_again`: folders that were removed, by the inode of what stands for them now."""
    path = pathlib.Path(entry.path)
    if not path.parent.is_dir():
        return
    inode = path.parent.stat().st_ino
    if made_again.get(inode, inode) != entry.folder:
        return  # the folder that had this entry is gone for good
    if entry.what == "create":
        path.unlink(missing_ok=True)
    elif entry.what == "mkdir":
        shutil.rmtree(path, ignore_errors=True)
    elif entry.what == "unlink":
        # Its only name again, as it was: the program refuses to write a file that has two.
        os.rename(log.folder / str(entry.inode), path)
    elif entry.what == "rmdir":
        path.mkdir()
        made_again[path.stat().st_ino] = entry.inode
    elif entry.what == "rename":
        os.rename(entry.to, path)


def cut_power(log, rng, loses_all_names=False):
    """Changes the files as a power cut may. Returns the changes of names that it loses."""
    lost = [entry for entry in log.entries if not log.is_safe(entry.time, entry.folder)]
    if not loses_all_names:
        lost = lost[rng.choice([0, len(lost), rng.randint(0, len(lost))]):]
    made_again = {}
    for entry in reversed(lost):
        undo_entry(entry, log, made_again)
    for path in [path for path in pathlib.Path("out").rglob("*") if path.is_file()]:
        inode = path.stat().st_ino
        unsafe = [write for write in log.writes[inode] if not log.is_safe(write.time, inode)]
        if unsafe:
            undo_bytes(path, unsafe, rng)
    return lost


class Cuts:
    def __init__(self, program, findings, wanted):
        self.program = program
        self.findings = findings
        self.wanted = wanted
        self.states = self.lost_entries = 0

    def resume(self, name, arguments):
        """The same command completes the output, whatever was lost."""
        was_there = pathlib.Path(OUTPUT).exists()
        if was_there:
            self.findings.expect(np.array_equal(read(), self.wanted), f"{name}: a wrong file")
        code, text = self.program.run(arguments)
        if self.findings.expect(code == 0, f"{name}: resumes with exit {code}", text):
            self.findings.expect(np.array_equal(read(), self.wanted), f"{name}: other values")

    def at_call(self, k, arguments, before, fault):
        """Power goes at the k-th call; false when there are not as many."""
        for trial in range(3):
            clear()
            shutil.rmtree("undo", ignore_errors=True)
            os.mkdir("undo")
            if before:  # an earlier run that was killed when some of its rows were done
                self.program.run(before, fault="fdatasync:kill@6:out/out")
            self.program.run(arguments, fault=f"{fault}{CALLS}:kill@{k}:out",
                             FAULT_UNDO=os.path.abspath("undo"),
                             FAULT_UNDO_OF=os.path.abspath("out"))
            if not [call for call in picked() if call[1] == "kill"]:
                return False
            rng = random.Random(f"{programs.seed} {k} {trial}")
            # One of the trials loses all names, so that the number of those does not depend on chance alone.
            self.lost_entries += len(cut_power(UndoLog(pathlib.Path("undo")), rng, loses_all_names=trial == 0))
            self.states += 1
            self.resume(f"power cut at call {k}, trial {trial} {arguments[6:]} {picked()[-1:]}",
                       [part for part in arguments if part not in ("--resume", "never")])
        return True


NEVER_RESUMED = ["--resume", "never"]
# Arguments, those of an earlier run that was killed, a fault.
RUNS = {
    "contiguous": (CHUNKS, None, ""),
    "deflate": (CHUNKS + LAYOUTS["deflate"], None, ""),
    "parts": (CHUNKS + LAYOUTS["parts"], None, ""),
    "parts resumed": (CHUNKS + LAYOUTS["parts"], CHUNKS + LAYOUTS["parts"], ""),
    "resumed": (CHUNKS, CHUNKS, ""),
    "restarted": (CHUNKS + NEVER_RESUMED, CHUNKS, ""),
    "a failing sync": (CHUNKS, None, "fdatasync:EIO@3:out.h5;"),
}


@pytest.fixture(scope="module", autouse=True)
def folder():
    with job_folder() as path:
        yield path


@pytest.fixture(scope="module", name="wanted")
def make_wanted(folder):
    return undisturbed_result(SHAPE, CHUNKS)


@pytest.mark.share(0.5)
@pytest.mark.parametrize("name", RUNS)
def test_power_loss(name, wanted, findings):
    arguments, before, fault = RUNS[name]
    cuts = Cuts(Program(), findings, wanted)
    every = 1 if programs.full else 4
    k = 1 + programs.seed % every
    while cuts.at_call(k, arguments, before, fault):
        k += every
    print(f"{cuts.states} states, {cuts.lost_entries} names undone")
    findings.expect(k > 5, f"only {k} calls of {arguments}")
    findings.expect(cuts.lost_entries > 3, f"only {cuts.lost_entries} names were ever lost")
