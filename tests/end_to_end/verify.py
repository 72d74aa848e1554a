"""Damages finished outputs, and has them verified and repaired.

Which rows are wrong is known from where the damage was put; what is right are the bytes of the file
before. The checksums themselves are compared with those of Python's xxhash.
"""
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import zlib

import h5py
import numpy as np
import pytest
import xxhash

from events import GUARD
from faulty_runs import picked, with_fault
from harness import Findings, as_earlier_version, attempt, generator, programs

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "{name}.h5"
dataset = "/a/b"
dtype = "{dtype}"
sync = false
{output}
[run]
chunk_rows = {chunk_rows}
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = {{ box = {{ radius = 3 }} }}
boundary = "{boundary}"
'''


def joined(ranges):
    """Ranges in order, adjacent ones as one."""
    result = []
    for first, last in ranges:
        if result and result[-1][1] == first:
            result[-1] = (result[-1][0], last)
        else:
            result.append((first, last))
    return result


class Output(Findings):
    """A finished output and the values that are in it."""

    def __init__(self, name, shape, dtype, boundary, output="", chunk_rows=16):
        super().__init__()
        self.name, self.file = name, pathlib.Path(name + ".h5")
        image = np.random.default_rng(5).random(shape)
        with h5py.File("in.h5", "w") as file:
            file["image"] = (image * 250).astype("uint16" if "int" in dtype else "float64")
        # h5py cannot read zstd: the values are those of the same job without compression.
        for self_name, stored in [("plain", ""), (name, output)]:
            pathlib.Path("job.toml").write_text(JOB.format(
                name=self_name, dtype=dtype, boundary=boundary, output=stored,
                chunk_rows=chunk_rows))
            self.check(self.call("job.toml", "--quiet").returncode == 0, "the job fails")
        with h5py.File("plain.h5") as file:
            self.rows = file["a/b"][...].reshape(-1, shape[-1])
        pathlib.Path("plain.h5").unlink()
        with h5py.File(self.file) as file:
            data = file["a/b"]
            self.frame_rows = shape[-2] if len(shape) > 2 else None
            self.chunk = data.chunks
            self.packed = next((name for name in ["deflate", "zstd"] if name in output), None)
            if self.chunk:
                self.places = [data.id.get_chunk_info(i) for i in range(data.id.get_num_chunks())]
            else:
                self.offset = data.id.get_offset()
            self.runs = [tuple(int(n) for n in run) for run in file["runner/row_hashes"][...]]
        self.shape = shape
        self.good = self.file.read_bytes()

    def call(self, *arguments):
        return attempt(*arguments)

    def expect(self, code, *arguments):
        """Calls, checks the exit code; returns the result."""
        done = self.call(*arguments)
        self.check(done.returncode == code,
                   f"{arguments}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        self.check((code in [0, 7] and arguments[0] == "verify") or code == 0
                   or re.fullmatch(r"runner: error: .*\n", done.stderr), f"says {done.stderr}")
        return done

    def verify(self, code, *arguments):
        """Has it verified; returns the wrong ranges of the checksums and the whole record."""
        done = self.expect(code, "verify", self.file, "--json", *arguments)
        record = json.loads(done.stdout)
        self.check(record["differs"] == (code == 7), f"differs: {record['differs']}")
        return [tuple(wrong["rows"]) for wrong in record["wrong"]], record

    def repair(self, code, *arguments):
        return self.expect(code, "repair", self.file, *arguments)

    def flip(self, places):
        """Turns bits at these bytes of the good file."""
        damaged = bytearray(self.good)
        for place in places:
            damaged[place] ^= 0x10
        self.file.write_bytes(damaged)

    def rows_of_chunk(self, place):
        """Rows, through all frames, that a stored chunk holds a part of."""
        frame = int(np.ravel_multi_index(place.chunk_offset[:-2], self.shape[:-2])) \
            if len(self.shape) > 2 else 0
        first = frame * self.shape[-2] + place.chunk_offset[-2]
        return first, min(first + self.chunk[-2], (frame + 1) * self.shape[-2])

    def random_damage(self, random, count):
        """Byte positions and the rows that are wrong with them."""
        places, rows = [], []
        for _ in range(count):
            if not self.chunk:
                row = int(random.integers(len(self.rows)))
                byte = int(random.integers(self.rows[0].nbytes))
                places.append(self.offset + row * self.rows[0].nbytes + byte)
                rows.append((row, row + 1))
                continue
            place = self.places[int(random.integers(len(self.places)))]
            first, last = self.rows_of_chunk(place)
            if not self.packed:
                columns = min(self.chunk[-1], self.shape[-1] - place.chunk_offset[-1])
                row = int(random.integers(first, last))
                at = (row - first) * self.chunk[-1] + int(random.integers(columns))
                places.append(place.byte_offset + at * self.rows.itemsize)
                rows.append((row, row + 1))
            else:
                places.append(place.byte_offset + place.size // 2)
                rows.append((first, last))
        return sorted(set(places)), rows

    def ranges(self, rows):
        """The runs that have any of these rows, adjacent ones joined."""
        return joined((first, first + count) for first, count, _ in self.runs
                      if any(a < first + count and first < b for a, b in rows))

    def is_right(self):
        """Every byte is as it was; of deflate, which can say the same in other words, every byte
        of the unpacked chunks."""
        if self.packed != "deflate":
            return self.file.read_bytes() == self.good
        with h5py.File(self.file) as file:
            data = file["a/b"].id
            for place in self.places:
                good = self.good[place.byte_offset:place.byte_offset + place.size]
                try:
                    now = data.read_direct_chunk(place.chunk_offset)[1]
                    if zlib.decompress(now) != zlib.decompress(good):
                        return False
                except zlib.error:
                    return False
        return True

    def differences(self):
        """Where the file has other bytes than the good one."""
        now = self.file.read_bytes()
        at = [i for i, (a, b) in enumerate(zip(now, self.good)) if a != b]
        return (f"{len(now)} bytes, not {len(self.good)}; {len(at)} others: "
                + ", ".join(f"{i}: {self.good[i]:02x} is {now[i]:02x}" for i in at[:20]))

    def mended(self, what):
        self.check(self.is_right(), f"{what}: the file is not as it was, {self.differences()}")
        left = [p.name for p in pathlib.Path().iterdir() if p.name.startswith(f"{self.file}.")]
        self.check(not left, f"{what}: left behind {left}")


def checksums(out):
    """The list covers all rows, and is what another program computes."""
    next_row = 0
    for first, count, checksum in out.runs:
        out.check(first == next_row, f"a run begins at {first}, not {next_row}")
        next_row = first + count
        right = xxhash.xxh3_64_intdigest(out.rows[first:next_row].tobytes())
        out.check(checksum == right, f"checksum of rows {first} to {next_row}")
    out.check(next_row == len(out.rows), f"the checksums end at {next_row}")
    out.check(len(out.runs) > 4, f"{len(out.runs)} runs")


def damage_and_repair(out):
    random = generator(out.name)
    wrong, record = out.verify(0)
    out.check(record["checked_rows"] == len(out.rows) and not wrong, f"undamaged: {record}")
    out.check(record["recomputed_rows"] > 8, f"recomputed: {record}")
    for count in [1, 1, 3, 10]:
        places, rows = out.random_damage(random, count)
        out.flip(places)
        wrong, record = out.verify(7)
        out.check(joined(wrong) == out.ranges(rows), f"{rows}: reported {wrong}")
        text = out.call("verify", out.file).stdout
        first, last = out.ranges(rows)[0]
        if out.frame_rows:
            out.check(f"frame {first // out.frame_rows}, row" in text, text)
        else:
            out.check(re.search(rf"rows? {first}( to |:)", text), text)
        done = out.repair(0)
        out.check(done.stdout.count("repaired: ") == len(out.ranges(rows)), done.stdout)
        out.mended(f"{count} flips")
    out.verify(0)
    out.check("nothing to repair" in out.repair(0).stdout, "repairs what is right")


def damage_all(out):
    if out.packed:
        damaged = bytearray(out.good)
        for place in out.places:
            damaged[place.byte_offset:place.byte_offset + place.size] = bytes([7]) * place.size
        out.file.write_bytes(damaged)
    else:
        with h5py.File(out.file, "r+") as file:
            file["a/b"][...] = 251


def everything_wrong(out):
    damage_all(out)
    wrong, record = out.verify(7)
    out.check(joined(wrong) == [(0, len(out.rows))], f"all wrong: {wrong}")
    out.check(record["wrong_runs"] == len(out.runs), f"all wrong: {record['wrong_runs']} runs")
    out.repair(0)
    out.mended("all wrong")


def killed_repairs(out):
    """Wherever a repair is cut short, the next one ends it."""
    def repair(fault):
        command = with_fault([programs.runner, "repair", str(out.file)], programs.runner, fault)
        return subprocess.run(command, capture_output=True, text=True, timeout=GUARD).returncode

    os.environ["FAULT_LOG"] = os.path.abspath("fault.log")
    damage_all(out)
    out.check(repair(f"pwrite:log@*:{out.file}") == 0, "a repair that is not cut short")
    writes = len(picked())
    out.check(writes > 4, f"{writes} writes of a repair")
    for part in [0, 0.25, 0.5, 0.75]:
        damage_all(out)
        number = 1 + int(part * writes)
        code = repair(f"pwrite:kill@{number}:{out.file}")
        out.check(code == -signal.SIGKILL, f"killed at write {number}: exit {code}")
        out.verify(0 if out.is_right() else 7)
        out.repair(0)
        out.mended(f"killed at write {number} of a repair")
    pathlib.Path("fault.log").unlink()
    del os.environ["FAULT_LOG"]


def samples(out):
    first, last = out.runs[0], out.runs[-1]
    middle = out.runs[1]
    row_bytes = out.rows[0].nbytes
    for run, code in [(first, 7), (last, 7), (middle, 0)]:
        out.flip([out.offset + run[0] * row_bytes])
        wrong, record = out.verify(code, "--sample", 2, "--recompute", 0)
        out.check(record["checked_runs"] == 2, f"sample: {record}")
        out.check(wrong == ([(run[0], run[0] + run[1])] if code else []), f"sample: {wrong}")
    out.file.write_bytes(out.good)


def wrong_checksum(out):
    """The list of checksums is damaged, not the rows."""
    with h5py.File(out.file, "r+") as file:
        file["runner/row_hashes"][2, 2] ^= np.uint64(1 << 40)
    first, count, _ = out.runs[2]
    wrong, _ = out.verify(7)
    out.check(wrong == [(first, first + count)], f"wrong checksum: {wrong}")
    out.check("the checksum of" in out.repair(0).stdout, "does not tell of the list")
    out.mended("wrong checksum")


def wrong_from_the_start(out):
    """Rows that were computed wrongly have the right checksum; only computing them again shows it."""
    rows = out.rows.copy()
    rows[len(rows) - 1, 3] += 1
    with h5py.File(out.file, "r+") as file:
        as_earlier_version(file)
        file["a/b"][...] = rows.reshape(file["a/b"].shape)
        first, count, _ = out.runs[-1]
        checksum = xxhash.xxh3_64_intdigest(rows[first:first + count].tobytes())
        file["runner/row_hashes"][-1, 2] = checksum
    wrong, record = out.verify(7)
    out.check(not wrong, f"checksums: {wrong}")
    found = [tuple(w["rows"]) for w in record["wrong_recomputed"]]
    out.check(found == [(len(rows) - 1, len(rows))], f"computed wrongly: {found}")
    out.verify(0, "--recompute", 0)
    out.check("nothing to repair" in out.repair(0).stdout, "repairs what has its checksum")
    out.file.write_bytes(out.good)


def inputs(out):
    """Without the input, with another, and with the same under another name."""
    damaged = [out.offset]
    os.rename("in.h5", "moved.h5")
    record = out.verify(0)[1]
    out.check("in.h5" in record["not_recomputed"], f"without input: {record}")
    out.expect(3, "verify", out.file, "--recompute", 2)
    record = out.verify(0, "--recompute", 2, "--input", "moved.h5")[1]
    out.check(record["recomputed_rows"] == 4, f"moved input: {record}")
    out.flip(damaged)
    before = out.file.read_bytes()
    out.verify(7)
    out.check("in.h5" in out.repair(3).stderr, "a missing input is not named")
    out.check(out.file.read_bytes() == before, "changed without input")
    out.repair(0, "--input", "moved.h5")
    out.mended("moved input")

    shutil.copy("moved.h5", "in.h5")
    with h5py.File("in.h5", "r+") as file:
        file["image"][..., 0, :] = 77
    os.utime("in.h5", (10**9, 10**9))
    record = out.verify(0)[1]
    out.check("2001-09-09" in record["not_recomputed"], f"changed input: {record}")
    out.flip(damaged)
    before = out.file.read_bytes()
    done = out.repair(7)
    out.check("2001-09-09" in done.stderr, done.stderr)
    out.check(out.file.read_bytes() == before, "changed with another input")
    with h5py.File("small.h5", "w") as file:
        file["image"] = np.zeros((5, 7))
    out.check("[5, 7]" in out.repair(3, "--input", "small.h5").stderr, "an input of another shape")
    os.rename("moved.h5", "in.h5")
    out.repair(0)
    out.mended("the input is back")


def refusals(out):
    text = pathlib.Path("text.h5")
    text.write_text("no HDF5\n" * 100)
    shutil.copy(out.file, "bare.h5")
    with h5py.File("bare.h5", "r+") as file:
        del file["runner/row_hashes"]
    pathlib.Path("cut.h5").write_bytes(out.good[:len(out.good) // 2])
    for verb in ["verify", "repair"]:
        for name, words in {"none.h5": "No such file", "text.h5": "HDF5", "in.h5": "finished",
                            "bare.h5": "there are none", "cut.h5": "remove the file"}.items():
            done = out.expect(3, verb, name)
            out.check(name in done.stderr and words in done.stderr, done.stderr)
    out.expect(2, "verify", out.file, "--sample", 0)
    out.expect(2, "repair", out.file, "--sample", 1)
    with open(f"{out.file}.lock", "w", encoding="utf-8") as lock:
        lock.write("a test\n")
        lock.flush()
        fcntl.lockf(lock, fcntl.LOCK_EX)
        out.flip([out.offset])
        before = out.file.read_bytes()
        out.check("a test" in out.repair(4).stderr, "the lock's owner is not named")
        out.check(out.file.read_bytes() == before, "changed while locked")
    os.unlink(f"{out.file}.lock")
    out.repair(0)


def damaged_job(out):
    """One bit makes other taps of the recorded job; an output of an earlier version has no checksum
    of it."""
    at = out.good.index(b"row_taps = [0.25") + len("row_taps = [0.2")
    before = out.good[:at] + b"4" + out.good[at + 1:]
    out.file.write_bytes(before)
    for verb in ["verify", "repair", "certify"]:
        done = out.expect(3, verb, out.file)
        out.check("job_checksum" in done.stderr, done.stderr)
    out.check(out.file.read_bytes() == before, "a damaged job: the file is changed")
    out.file.write_bytes(out.good)
    with h5py.File(out.file, "r+") as file:
        as_earlier_version(file)
        del file.attrs["job_checksum"]
    out.verify(0)
    out.file.write_bytes(out.good)


def damaged_index(out):
    """HDF5's index gives a chunk another's place, or another size: nothing is written there."""
    here, there = out.places[3], out.places[5]
    rows = [out.rows_of_chunk(here)]
    address = out.good.index(struct.pack("<Q", here.byte_offset))
    size = out.good.index(struct.pack("<II3Q", here.size, 0, *here.chunk_offset, 0))
    for at, value in [(address, struct.pack("<Q", there.byte_offset)),
                      (address, struct.pack("<Q", 1 << 50)),
                      (size, struct.pack("<I", 1 << 24))]:
        damaged = bytearray(out.good)
        damaged[at:at + len(value)] = value
        damaged[out.places[0].byte_offset] ^= 1
        out.file.write_bytes(damaged)
        wrong = out.verify(7)[0]
        first = out.ranges([out.rows_of_chunk(out.places[0])])
        out.check(wrong in [first, joined(first + out.ranges(rows))], f"damaged index: {wrong}")
        out.check("index of its chunks" in out.repair(4).stderr, "writes by a damaged index")
        out.check(out.file.read_bytes() == damaged, "damaged index: the file is changed")


def another_size(out):
    """A chunk that takes other bytes than it should is stored elsewhere, through HDF5."""
    place = out.places[3]
    with h5py.File(out.file, "r+") as file:
        file["a/b"].id.write_direct_chunk(place.chunk_offset, b"x" * (place.size // 2))
    wrong = out.verify(7)[0]
    out.check(wrong == out.ranges([out.rows_of_chunk(place)]), f"another size: {wrong}")
    out.repair(0)
    out.verify(0)
    with h5py.File(out.file) as file:
        values = file["a/b"][...].reshape(out.rows.shape)
    out.check(values.tobytes() == out.rows.tobytes(), "another size: the values differ")


OUTPUTS = {
    "contiguous": ((301, 77), "float64", "wrap"),
    "stack": ((2, 3, 23, 31), "uint16", "mirror", "", 10),
    "chunks": ((150, 40), "float32", "reflect", "chunk = [8, 15]"),
    "frames": ((5, 19, 20), "uint8", "wrap", "chunk = [1, 7, 20]", 7),
    "deflate": ((5, 23, 31), "uint16", "nearest",
                'chunk = [1, 8, 31]\ncompression = "deflate"\nshuffle = true', 8),
    "zstd": ((201, 50), "float32", "wrap", 'chunk = [8, 15]\ncompression = "zstd"'),
    "large": ((2001, 1003), "float64", "wrap", "", 256),
    "large_packed": ((2001, 1003), "float64", "wrap", 'chunk = [64, 501]\ncompression = "deflate"', 256),
}
TESTS = [(check, name) for name in OUTPUTS if "large" not in name
         for check in (checksums, damage_and_repair, everything_wrong)]
TESTS += [(check, "contiguous") for check in (samples, wrong_checksum, wrong_from_the_start, inputs,
                                              refusals, damaged_job)]
TESTS += [(damaged_index, "chunks"), (another_size, "deflate"), (killed_repairs, "large"),
          (killed_repairs, "large_packed")]


@pytest.mark.share(0.5)
@pytest.mark.parametrize("check, name", TESTS, ids=[f"{check.__name__}, {name}" for check, name in TESTS])
def test_output(check, name):
    out = Output(name, *OUTPUTS[name])
    check(out)
    out.none()


@pytest.mark.quick
def test_an_input_that_was_written_again_within_a_second():
    second = 1_700_000_000 * 10**9
    for number, time in enumerate((second + 10**8, second + 9 * 10**8)):
        np.save("in.npy", np.random.default_rng(number).random((6, 7)))
        os.utime("in.npy", ns=(time, time))
        if number == 0:
            assert attempt("median", "in.npy", "out.h5", "--size", "3,3", "--quiet").returncode == 0
    done = attempt("verify", "out.h5")
    assert done.returncode == 0 and "it was written again within the same second" in done.stdout + done.stderr, done
    # A copy may have its time in whole seconds.
    np.save("in.npy", np.random.default_rng(0).random((6, 7)))
    os.utime("in.npy", ns=(second, second))
    done = attempt("verify", "out.h5")
    assert done.returncode == 0 and "computed again: 6 rows: all right" in done.stdout + done.stderr, done


@pytest.mark.quick
def test_another_dataset_is_no_damage():
    with h5py.File("in.h5", "w") as file:
        file["a"] = np.zeros((6, 7))
    words = ["median", "in.h5", "out.h5", "--size", "3,3", "--quiet"]
    assert attempt(*words).returncode == 0
    done = attempt(*words, "--set", 'output.dataset="/b"')
    assert done.returncode == 4 and 'was "/a", is "/b"' in done.stderr, done
