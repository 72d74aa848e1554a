"""Every writer, cut off by a power failure.

A run is killed at one of its system calls that change files. The fault shim wrote down what every call
changed, so that here its files are put into states that a power cut at that moment may leave: any sector
as it was after any of the writes that no sync has covered, lengths likewise, and folders' entries as
after any of the changes that no sync of the folder has covered. What a failed sync was to cover is lost,
whatever came after. From each state the same command makes what an undisturbed run makes.
"""
import collections
import os
import pathlib
import random
import shutil

import pytest

import writers
from disturbed import NO_RENAME_NEW, NOT_SYNCED, expect_whole, finish_it, folder_of_inputs, learn, run
from faulty_runs import picked
from harness import programs
from writers import OUTPUTS, WRITERS

pytestmark = pytest.mark.faults
SECTOR = 512
CUTS = 7  # of each writer
CALLS = "pwrite,write,fsync,fdatasync,create,rename,link,unlink,mkdir,ftruncate,fallocate"
NEVER = float("inf")

Write = collections.namedtuple("Write", "time inode offset bytes old_size old")
Entry = collections.namedtuple("Entry", "time folder inode what path to replaced")


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
                self.entries.append(Entry(time, folder, inode, *fields[3:6], int(fields[6])))
        for number, (_, inode, *rest) in begun.items():
            self.writes[inode].append(Write(ended.get(number, NEVER), inode, *rest))

    def is_safe(self, time, inode):
        """Whether the first sync that began after it was a good one."""
        later = [sync for sync in self.syncs[inode] if sync[0] >= time]
        return bool(later) and min(later)[1]


def undo_bytes(path, writes, rng, loses=""):
    """Each sector as after some of the writes, which are those that are not safe, in order. `loses`: as of
    cut_power()."""
    loses_all = loses in ("bytes", "sectors")
    content = bytearray(path.read_bytes())
    sizes = [write.old_size for write in writes] + [len(content)]
    any_size = rng.choice([0, len(writes), rng.randrange(len(sizes))])
    size = sizes[0 if loses == "bytes" else len(writes) if loses == "sectors" else any_size]
    content.extend(bytes(max(0, *sizes, *[w.offset + w.bytes for w in writes]) - len(content)))
    kept = {}
    all_or_none = 0 if loses_all else rng.choice([0, len(writes), None])
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
    elif entry.what == "link":
        os.unlink(entry.to)
    elif entry.what == "rename":
        os.rename(entry.to, path)
        if entry.replaced:
            os.rename(log.folder / str(entry.replaced), entry.to)


def cut_power(log, rng, loses="", folder=OUTPUTS):
    """Changes the files of the folder as a power cut may. `loses`: all "names", all "bytes" and no name, the same
    without the lengths ("sectors"), or, by chance, some of all. Returns the changes of names that it loses."""
    lost = [entry for entry in log.entries if not log.is_safe(entry.time, entry.folder)]
    if loses in ("bytes", "sectors"):
        lost = []
    elif loses != "names":
        lost = lost[rng.choice([0, len(lost), rng.randint(0, len(lost))]):]
    made_again = {}
    for entry in reversed(lost):
        undo_entry(entry, log, made_again)
    for path in [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]:
        inode = path.stat().st_ino
        unsafe = [write for write in log.writes[inode] if not log.is_safe(write.time, inode)]
        if unsafe:
            undo_bytes(path, unsafe, rng, loses)
    return lost


class Cut:
    """A writer that power goes from at a call."""

    def __init__(self, writer, number, findings):
        self.writer, self.number, self.findings = writer, number, findings
        self.rng = random.Random(f"{programs.seed} {writer} {number}")
        self.rules = NO_RENAME_NEW if number % 3 == 2 else ""
        calls = sum(learn(writer, CALLS, self.rules).values())
        # All parts of the run alike.
        self.call = 1 + int(calls * (number + self.rng.random()) / CUTS)
        self.functions, self.words, self.before, self.theirs = CALLS, [], None, {}
        # Some of the cuts lose all names, so that the number of those does not depend on chance alone.
        self.loses = "names" if number % 3 == 0 else ""

    def vary(self):
        """An earlier run that was killed, or a sync that fails."""
        if not self.writer.resumes:
            return
        self.words = self.writer.vary(self.rng)
        chance = self.rng.random()
        if chance < 0.15:
            self.rules += f"fdatasync:EIO@{self.rng.randint(1, 4)}:{OUTPUTS};"
        elif chance < 0.5:
            self.before = self.rng.randint(1, 12)
            self.words += ["--resume", "never"] if chance < 0.25 else []

    def begin(self):
        writers.begin(self.writer)
        self.theirs = writers.marks_of_theirs()
        shutil.rmtree("undo", ignore_errors=True)
        os.mkdir("undo")
        if self.before:
            run(self.writer, self.words, fault=f"fdatasync:kill@{self.before}:{OUTPUTS}")

    def make(self):
        """Whether power went."""
        self.begin()
        run(self.writer, self.words, fault=f"{self.rules}{self.functions}:kill@{self.call}:{OUTPUTS}",
            FAULT_UNDO=os.path.abspath("undo"), FAULT_UNDO_OF=os.path.abspath(OUTPUTS))
        return any(call[1] == "kill" for call in picked())

    def run(self):
        self.vary()
        while not self.make():
            # There are fewer calls after an earlier run, or with a fault.
            if not self.findings.expect(self.call > 1, f"{self.writer}: there is no call"):
                return
            self.call = (self.call + 1) // 2
        what = f"{self.writer}, power cut at call {self.call} {picked()[-1]}, {self.rules} {self.before} {self.words}"
        lost = cut_power(UndoLog(pathlib.Path("undo")), self.rng, self.loses)
        LOST.update(["cuts", *(entry.what for entry in lost)])
        shutil.rmtree("undo")  # second names of the files
        expect_whole(self.writer, self.findings, what, synced=True)
        # Nothing tells whose file without a single right byte that is.
        finish_it(self.writer, self.rng, self.findings, what, self.theirs,
                  may_be_left=tuple(f"{ending}.partial" for ending in NOT_SYNCED))


LOST = collections.Counter()


@pytest.fixture(scope="module", autouse=True)
def folder():
    with folder_of_inputs() as path:
        yield path
        print(f"names undone: {dict(LOST)}")
        assert LOST["cuts"] < 15 or len(LOST) > 1, "no name was ever lost"


@pytest.mark.share(0.05)
@pytest.mark.parametrize("number", range(CUTS))
@pytest.mark.parametrize("writer", WRITERS, ids=str)
def test_power_loss(writer, number, findings):
    Cut(writer, number, findings).run()


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("name", ["repair .npy", "repair .tif", "repair .sand"])
def test_record_is_replaced_whole(name, back, findings):
    """Power goes at the last syncs of a repair, about which the record gets its name."""
    writer = next(each for each in WRITERS if each.name == name)
    cut = Cut(writer, 0, findings)
    cut.functions = "fsync,fdatasync"
    cut.call, cut.loses = sum(learn(writer, cut.functions).values()) - back, "bytes"
    cut.run()


@pytest.mark.parametrize("name", ["render", "render frames", "try"])
def test_what_it_made_is_known_again(name, findings):
    """Power goes after a command that replaces its own files alone, and takes what no sync covers: a file of its
    length without its bytes would be nobody's."""
    writer = next(each for each in WRITERS if each.name == name)
    cut = Cut(writer, 0, findings)
    learn(writer, CALLS)
    cut.begin()
    code, text = run(writer, fault=f"{CALLS}:log@*:{OUTPUTS}", FAULT_UNDO=os.path.abspath("undo"),
                     FAULT_UNDO_OF=os.path.abspath(OUTPUTS))
    assert code == 0, text
    cut_power(UndoLog(pathlib.Path("undo")), cut.rng, "sectors")
    shutil.rmtree("undo")
    finish_it(writer, cut.rng, findings, f"{name}, and then power", cut.theirs)
