"""Damages snapshots of whole jobs, and has them verified and repaired.

Which rows are wrong is known from where the damage was put; what is right are the file's bytes
before, which are compared with sand_rule.py.
"""
import json
import os
import pathlib
import signal
import subprocess

import h5py
import numpy as np
import pytest
import xxhash

import sand_rule
from events import GUARD
from faulty_runs import picked, with_fault
from harness import as_earlier_version, call, programs

ALL_PLACES = 10**6  # more than any output here has rows
STORAGES = {"contiguous": "", "chunks": "chunk = [1, 8, 20]", "layers": "chunk = [2, 8, 30]",
            "deflate": 'chunk = [1, 8, 61]\ncompression = "deflate"\nshuffle = true',
            "zstd": 'chunk = [1, 5, 61]\ncompression = "zstd"', "parts": "parts = 3",
            "packed_parts": 'chunk = [1, 8, 61]\ncompression = "deflate"\nparts = 2'}


def expect(code, *arguments):
    return call(*arguments, code=code)


def verify(code, file, *arguments):
    return json.loads(expect(code, "verify", file, "--json", *arguments).stdout)


def rows_in(ranges):
    return {row for each in ranges for row in range(*each["rows"])}


class Output:
    """A finished output of sand: its snapshots, and the bytes of its files."""

    def __init__(self, storage="", name="out.h5", shape=(83, 61), generations=24, every=5, first=3,
                 chunk_rows=7):
        self.file, self.shape = name, shape
        start = np.random.default_rng(7).integers(0, 4, shape, np.uint8)
        with h5py.File("in.h5", "w") as file:
            file["frames"] = start[None]
        pathlib.Path("job.toml").write_text(
            f'kind = "sand"\n[input]\nfile = "in.h5"\n[output]\nfile = "{name}"\nsync = false\n'
            f'{storage}\n[run]\nchunk_rows = {chunk_rows}\n[sand]\ngenerations = {generations}\n'
            f'snapshot_every = {every}\nstart_generation = {first}\nseed = 11\n')
        expect(0, "job.toml", "--quiet")
        last = first + generations
        self.kept = [g for g in range(first + 1, last + 1)
                     if g == last or (every and g % every == 0)] or [last]
        states = [start, *sand_rule.advance(start, first, generations, seed=11)]
        self.frames = np.stack([states[generation - first] for generation in self.kept])
        self.good = self.bytes()
        assert (self.snapshots() == self.frames).all(), "the job is wrong"

    def bytes(self):
        """Of all its files, but the record beside it: that has the file's time."""
        files = [pathlib.Path(self.file), *sorted(pathlib.Path().glob("out.parts/*"))]
        return {str(file): file.read_bytes() for file in files}

    def put_back(self):
        for name, data in self.good.items():
            pathlib.Path(name).write_bytes(data)

    def snapshots(self):
        """Read by the program where h5py cannot."""
        expect(0, "convert", self.file, "read.h5", "--overwrite")
        with h5py.File("read.h5") as file:
            return file["frames" if "frames" in file else "image"][...]

    def damage(self, cells):
        """Other materials in these cells (snapshot, row, column), or others in their chunks."""
        cells = set(cells)
        if self.file.endswith(".sand"):
            data = bytearray(self.good[self.file])
            frame_bytes = -(-self.shape[0] * self.shape[1] // 4)
            for snapshot, row, column in cells:
                at = row * self.shape[1] + column
                data[16 + snapshot * frame_bytes + at // 4] ^= 1 << 2 * (at % 4)
            pathlib.Path(self.file).write_bytes(data)
            return
        with h5py.File(self.file, "r+") as file:
            data = file["frames"]
            if "zstd" not in pathlib.Path("job.toml").read_text():
                for cell in cells:
                    data[cell] = data[cell] ^ 2
                return
            extents = data.chunks
            places = [data.id.get_chunk_info(i) for i in range(data.id.get_num_chunks())]
        with open(self.file, "r+b") as file:
            for place in places:
                inside = [cell for cell in cells if all(
                    at <= of < at + extent
                    for of, at, extent in zip(cell, place.chunk_offset, extents))]
                if inside:
                    file.seek(place.byte_offset + place.size // 2)
                    byte = file.read(1)[0]
                    file.seek(-1, os.SEEK_CUR)
                    file.write(bytes([byte ^ 0x55]))

    def is_mended(self, what):
        if "deflate" in pathlib.Path("job.toml").read_text():  # says the same in other words
            assert (self.snapshots() == self.frames).all(), f"{what}: other cells"
        else:
            for name, data in self.bytes().items():
                at = [i for i, (a, b) in enumerate(zip(data, self.good[name])) if a != b]
                assert len(data) == len(self.good[name]) and not at, f"{what}: {name}, {at[:20]}"
        left = {path.name for path in pathlib.Path().iterdir() if path.name.startswith("out.")}
        assert left <= {self.file, "out.parts", "out.sand.identity"}, f"{what}: left behind {left}"
        record = verify(0, self.file, "--recompute", ALL_PLACES)
        assert record["recomputed_rows"] == len(self.frames) * self.shape[0], record

    def flat(self, snapshot, row):
        return snapshot * self.shape[0] + row


def damages(out):
    """Cells by what they are."""
    last, rows, columns = len(out.frames) - 1, *out.shape
    middle, row, column = last // 2, rows // 2, columns // 2
    ends = {"first": (0, 0, 0), "last": (last, rows - 1, columns - 1),
            "middle": (middle, row, column)}
    cells = {name: [cell] for name, cell in ends.items()}
    cells["neighbours"] = [(max(0, middle - 1), row, column), (middle, row, column)]
    cells["rows and the state before"] = \
        [(max(0, middle - 1), rows // 3, columns // 3)] + \
        [(middle, r, 2) for r in range(0, rows, 9)]
    cells["the first, whole"] = [(0, r, 5) for r in range(rows)]
    cells["two, whole"] = [(s, r, r % columns) for s in {middle, last} for r in range(rows)]
    cells["everything"] = [(s, r, 1) for s in range(last + 1) for r in range(rows)]
    return cells


def damaged_and_repaired(out):
    record = verify(0, out.file)
    assert record["recomputed_rows"] > 2 and record["not_recomputed"] is None, record
    out.is_mended("undamaged")
    for what, cells in damages(out).items():
        out.put_back()
        out.damage(cells)
        record = verify(7, out.file, "--recompute", ALL_PLACES)
        wrong = rows_in(record["wrong"])
        assert {out.flat(s, r) for s, r, _ in cells} <= wrong, f"{what}: {record['wrong']}"
        # No row is taken for wrong because one it comes from is.
        assert record["wrong_recomputed"] == [], f"{what}: {record['wrong_recomputed']}"
        assert record["recomputed_rows"] == len(out.frames) * out.shape[0] - len(wrong), what
        if out.file.endswith(".sand") and record["wrong_runs"] == record["runs"]:
            assert "may be another file" in expect(7, "repair", out.file).stderr
            continue
        done = expect(0, "repair", out.file)
        assert done.stdout.startswith("repaired: "), done.stdout
        out.is_mended(what)


@pytest.mark.share(0.15)
@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage(storage):
    damaged_and_repaired(Output(STORAGES[storage]))


@pytest.mark.share(0.15)
@pytest.mark.parametrize("shape", [(83, 61), (40, 64), (3, 5), (9, 2), (1, 7)], ids=str)
def test_sand_files(shape):
    damaged_and_repaired(Output(name="out.sand", shape=shape))


@pytest.mark.share(0.15)
@pytest.mark.parametrize("generations, every, first", [
    (30, 0, 0), (9, 1, 0), (20, 7, 6), (40, 60, 2), (0, 0, 5), (300, 100, 0)])
def test_schedules(generations, every, first):
    """Which snapshots there are: one, all, some and the last; the start state itself."""
    damaged_and_repaired(Output(generations=generations, every=every, first=first))


@pytest.mark.share(0.3)
@pytest.mark.parametrize("snapshot", range(4))
def test_wrong_from_the_start(snapshot):
    """Rows that have the right checksum and are not what the job makes."""
    out = Output()
    frames = out.frames.copy()
    frames[snapshot, 40, 3:9] ^= 1
    with h5py.File("out.h5", "r+") as file:
        as_earlier_version(file)
        file["frames"][...] = frames
        runs = file["runner/row_hashes"][...]
        rows = frames.reshape(-1, out.shape[1])
        for run in runs:
            first, count = int(run[0]), int(run[1])
            run[2] = xxhash.xxh3_64_intdigest(rows[first:first + count].tobytes())
        file["runner/row_hashes"][...] = runs
    replaced = out.flat(snapshot, 40)
    record = verify(7, "out.h5", "--recompute", ALL_PLACES)
    assert record["wrong"] == [], record
    assert rows_in(record["wrong_recomputed"]) == {replaced}, record
    assert "nearest state before" in record["wrong_recomputed"][0]["why"], record
    verify(0, "out.h5", "--recompute", 0)
    assert "nothing to repair" in expect(0, "repair", "out.h5").stdout
    # The rows after it do not follow from it: they are not mended into something else.
    if snapshot < 3:
        with h5py.File("out.h5", "r+") as file:
            file["frames"][snapshot + 1, 40, 3:9] ^= 2
        before = out.bytes()
        assert "changed nothing" in expect(7, "repair", "out.h5").stderr
        assert out.bytes() == before, "changed by a refused repair"


def test_no_material_with_its_checksum():
    """A stored state that cannot be packed is passed over."""
    out = Output()
    with h5py.File("out.h5", "r+") as file:
        as_earlier_version(file)
        file["frames"][1, 40, 3] = 200
        rows = file["frames"][...].reshape(-1, out.shape[1])
        runs = file["runner/row_hashes"][...]
        for run in runs:
            first, count = int(run[0]), int(run[1])
            run[2] = xxhash.xxh3_64_intdigest(rows[first:first + count].tobytes())
        file["runner/row_hashes"][...] = runs
        file["frames"][2, 40, 3:9] ^= 2
    expect(0, "repair", "out.h5")
    with h5py.File("out.h5") as file:
        assert (file["frames"][2] == out.frames[2]).all()
    record = verify(7, "out.h5", "--recompute", ALL_PLACES)
    assert rows_in(record["wrong_recomputed"]) == {out.flat(1, 40)}, record


def test_wrong_checksum():
    out = Output()
    with h5py.File("out.h5", "r+") as file:
        file["runner/row_hashes"][20, 2] ^= np.uint64(1 << 40)
    verify(7, "out.h5")
    assert "the checksum of" in expect(0, "repair", "out.h5").stdout
    out.is_mended("a wrong checksum")


def test_wrong_generations():
    """A run that starts from a frame takes its generation from this list. Outputs of earlier versions
    have no checksum of it."""
    Output()
    with h5py.File("out.h5", "r+") as file:
        file["generation"][1] += np.uint64(1)
    for verb in ["verify", "repair", "certify"]:
        done = expect(7, verb, "out.h5")
        assert "out.h5:/generation" in done.stderr, done.stderr
    with h5py.File("out.h5", "r+") as file:
        as_earlier_version(file)
        del file.attrs["generation_checksum"]
    verify(0, "out.h5")


def test_inputs():
    """Without the input, with another, and with the same under another name."""
    out = Output()
    out.damage([(2, 30, 3)])
    before = out.bytes()
    os.rename("in.h5", "moved.h5")
    record = verify(7, "out.h5")
    assert "in.h5" in record["not_recomputed"], record
    expect(3, "verify", "out.h5", "--recompute", 2)
    assert "in.h5" in expect(3, "repair", "out.h5").stderr
    assert out.bytes() == before, "changed without input"
    expect(0, "repair", "out.h5", "--input", "moved.h5")
    os.rename("moved.h5", "in.h5")
    out.is_mended("moved input")
    # Another state under the name: what comes from the input differs, what comes from a snapshot
    # does not.
    with h5py.File("in.h5", "r+") as file:
        file["frames"][0, 40] = 0
        file["frames"][0, 0, 0] = 9
    os.utime("in.h5", (0, 0))  # the output has the time in seconds, and all this may take less
    out.damage([(0, 41, 3)])
    before = out.bytes()
    assert "has changed" in expect(7, "repair", "out.h5").stderr
    out.put_back()
    out.damage([(0, 0, 3)])
    assert "frame 0, row 0, column 0" in expect(3, "repair", "out.h5").stderr
    out.put_back()
    out.damage([(1, 60, 3)])
    expect(0, "repair", "out.h5")
    assert (out.snapshots() == out.frames).all()


def test_costly_places():
    """Where a row takes as much as the job, rows are computed again only if that is asked for."""
    pathlib.Path("job.toml").write_text(
        'kind = "sand"\n[input]\nfile = "in.h5"\n'
        'generate = { pattern = "sand-noise", shape = [2000, 2200] }\n[output]\n'
        'file = "out.h5"\nsync = false\n[sand]\ngenerations = 2400\n')
    expect(0, "job.toml", "--quiet")
    record = verify(0, "out.h5")
    assert record["recomputed_rows"] == 0, record
    assert "2400 generations of 2000 rows" in record["not_recomputed"], record
    assert verify(0, "out.h5", "--recompute", 2)["recomputed_rows"] == 4


def test_behind_another_pass():
    """The passes before the last run again, where rows are asked for."""
    with h5py.File("in.h5", "w") as file:
        file["frames"] = np.random.default_rng(1).integers(0, 4, (5, 40, 61), np.uint8)
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "in.h5"\ndataset = "/frames"\n[output]\nfile = "out.h5"\n'
        'dataset = "/frames"\nsync = false\n[[step]]\nkind = "transpose"\n'
        'permutation = [1, 0, 2]\n[[step]]\nkind = "sand"\ngenerations = 10\n'
        'snapshot_every = 4\ninput_frame = 2\n')
    expect(0, "job.toml", "--quiet")
    good = pathlib.Path("out.h5").read_bytes()
    assert "2 passes" in verify(0, "out.h5")["not_recomputed"]
    with h5py.File("out.h5", "r+") as file:
        file["frames"][1, 2, 3] ^= 1
    verify(7, "out.h5", "--recompute", 0)
    expect(0, "repair", "out.h5")
    assert pathlib.Path("out.h5").read_bytes() == good
    assert verify(0, "out.h5", "--recompute", ALL_PLACES)["recomputed_rows"] == 15
    assert sorted(os.listdir()) == ["in.h5", "job.toml", "out.h5"], os.listdir()


@pytest.mark.share(0.3)
@pytest.mark.faults
@pytest.mark.parametrize("name, storage", [
    ("out.h5", ""), ("out.sand", ""), ("out.h5", 'chunk = [1, 64, 1003]\ncompression = "zstd"')],
    ids=["contiguous", "sand", "zstd"])
def test_killed_repairs(name, storage, monkeypatch):
    """Wherever a repair is cut short, the next one ends it."""
    out = Output(storage, name, shape=(1201, 1003), generations=8, every=2, first=0, chunk_rows=64)
    wrong = [(s, r, 1) for s in range(1, len(out.frames)) for r in range(out.shape[0])
             if r // 64 % 2]  # each is written by itself

    def repair(fault):
        command = with_fault([programs.runner, "repair", name], programs.runner, fault)
        return subprocess.run(command, capture_output=True, text=True, timeout=GUARD).returncode

    monkeypatch.setenv("FAULT_LOG", os.path.abspath("fault.log"))
    out.damage(wrong)
    assert repair(f"pwrite:log@*:{name}") == 0, "a repair that is not cut short"
    writes = len(picked())
    assert writes > 4, f"{writes} writes of a repair"
    for part in [0, 0.25, 0.5, 0.75]:
        out.put_back()
        out.damage(wrong)
        number = 1 + int(part * writes)
        code = repair(f"pwrite:kill@{number}:{name}")
        assert code == -signal.SIGKILL, f"killed at write {number} of {writes}: exit {code}"
        expect(7, "verify", name)
        expect(0, "repair", name)
        out.is_mended(f"killed at write {number} of a repair")
