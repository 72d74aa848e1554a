"""What plan says that reading costs, and inspect how a dataset is read.

The numbers are counted here from the places of chunks that h5py gives.
"""
import json
import pathlib
import re
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import call, programs

pytestmark = pytest.mark.quick

SHAPE = (13, 23, 31)


def write(data=None, **how):
    if data is None:
        data = np.random.default_rng(1).integers(0, 50, SHAPE).astype("float32")
    with h5py.File("in.h5", "w") as file:
        dataset = file.create_dataset("data", data=data, **how)
        chunks = [dataset.id.get_chunk_info(i) for i in range(dataset.id.get_num_chunks() if dataset.chunks else 0)]
        return data, {chunk.chunk_offset: chunk.size for chunk in chunks}


def plan(kind="median", parameters="size = [1, 3, 3]", part="", run="", ranks=1, source="in.h5"):
    """The plan's JSON of reading, and its text."""
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\ndataset = "/data"\n{part}\n[output]\nfile = "out.h5"\n[run]\n'
        f'backend = "cpu"\n{run}\n[{kind}]\n{parameters}\n')
    made = json.loads(call("plan", "job.toml", "--json", "--ranks", ranks).stdout)
    return made["reading"], call("plan", "job.toml", "--ranks", ranks).stdout, made


def is_cost(reading, wanted, stored, unpacked):
    counted = (reading["wanted_bytes"], reading["stored_bytes"], reading["unpacked_bytes"])
    assert counted == (wanted, stored, unpacked), reading
    assert reading["exact"] and abs(reading["amplification"] - unpacked / wanted) < 1e-9, reading


def test_whole_datasets():
    data, _ = write()
    reading, text, _ = plan()
    is_cost(reading, data.nbytes, data.nbytes, data.nbytes)
    assert "reading: in place, by several threads;" in text and reading["advice"] == [], text
    for chunk in [(1, 23, 31), (2, 7, 31), (5, 5, 5), (13, 23, 1)]:
        data, stored = write(chunks=chunk, compression="gzip")
        reading, text, _ = plan()
        is_cost(reading, data.nbytes, sum(stored.values()), len(stored) * int(np.prod(chunk)) * 4)
        assert "unpacked by our own decoders, on all cores" in text, text


def test_ranks_that_share_chunks():
    """Each rank unpacks every chunk that holds a row of its slab."""
    data, stored = write(chunks=(3, 23, 31), compression="gzip")
    reading, _, made = plan(ranks=3)
    read = unpacked = 0
    for rank in made["ranks"]:
        first, last = rank["rows"]
        for offset, size in stored.items():
            if offset[0] * 23 < last and min(offset[0] + 3, 13) * 23 > first:
                read += size
                unpacked += 3 * 23 * 31 * 4
    assert unpacked > len(stored) * 3 * 23 * 31 * 4
    is_cost(reading, data.nbytes, read, unpacked)


def test_parts():
    data, stored = write(chunks=(4, 23, 31), compression="gzip")
    for part, cut in [('frames = "::4"', np.s_[::4]), ('region = { rows = "5:9" }', np.s_[:, 5:9]),
                      ('region = { depth = "4:8", columns = "3:20" }', np.s_[4:8, :, 3:20]),
                      ('frames = "3:12:3"\nregion = { rows = "2:" }', np.s_[3:12:3, 2:])]:
        reading, _, _ = plan(part=part)
        frames = np.arange(13)[cut if isinstance(cut, slice) else cut[0]]
        met = {offset: size for offset, size in stored.items() if any(offset[0] <= f < offset[0] + 4 for f in frames)}
        is_cost(reading, data[cut].nbytes, sum(met.values()), len(met) * 4 * 23 * 31 * 4)


def test_a_transposition_that_reads_across_chunks():
    """A chunk is a frame, of each of which every box takes a few lines: all are unpacked for each box."""
    data, stored = write(np.zeros((16, 16, 16), "uint16"), chunks=(1, 16, 16), compression="gzip")
    reading, _, made = plan("transpose", "permutation = [1, 2, 0]", run="chunk_rows = 32")
    boxes = made["ranks"][0]["boxes"]
    assert boxes > 1
    # The last frame, behind which no row is read, is kept from box to box.
    kept = boxes - 1
    is_cost(reading, data.nbytes, boxes * sum(stored.values()) - kept * stored[(15, 0, 0)],
            boxes * data.nbytes - kept * 16 * 16 * 2)
    follow_copy(reading)


def follow_copy(reading, **how):
    """The copy that the advice names is read in place."""
    [advice] = reading["advice"]
    command = advice[advice.index("runner convert ") + len("runner "):]
    subprocess.run(f"{programs.runner} {command}", shell=True, check=True, timeout=GUARD)
    better, _, _ = plan(source="in-plain.h5", **how)
    assert better["way"] == "in place, by several threads" and better["advice"] == [], better
    assert better["amplification"] == 1.0


def test_advice():
    write(chunks=(2, 23, 31), scaleoffset=3)
    reading, text, _ = plan()
    assert reading["way"] == "through HDF5, in one process" and "a copy is read in place" in text, text
    follow_copy(reading)
    pathlib.Path("in-plain.h5").unlink()
    write(chunks=(8, 23, 31), compression="gzip")
    reading, _, _ = plan(part='frames = "::8"')
    assert reading["amplification"] > 7
    follow_copy(reading, part='frames = "::8"')


def test_chunk_rows():
    write(np.zeros((12, 40, 16), "float32"), chunks=(1, 20, 16), compression="gzip")
    for chunk, rows in [((1, 20, 16), 20), ((1, 40, 16), 40), ((3, 40, 16), 120), ((2, 20, 8), 80), ((1, 20, 8), 20)]:
        write(np.zeros((12, 40, 16), "float32"), chunks=chunk, compression="gzip")
        reading, _, _ = plan(run="chunk_rows = 13")
        [advice] = reading["advice"]
        found = int(re.search(r"run.chunk_rows = (\d+) would", advice)[1])
        assert found == rows, (chunk, found)
        assert plan(run=f"chunk_rows = {found}")[0]["advice"] == []
    with h5py.File("in.h5", "w") as file:
        file["data"] = np.zeros((4, 8, 8), "float32")
    assert plan(run="chunk_rows = 3")[0]["advice"] == []


def test_other_sources():
    np.save("in.npy", np.zeros(SHAPE, "uint16"))
    assert plan(source="in.npy")[0]["way"] == "in place, by several threads"
    for i in range(5):
        np.save(f"slice{i}.npy", np.zeros((9, 7), "uint16"))
    reading, _, _ = plan(source="slice*.npy")
    is_cost(reading, 5 * 9 * 7 * 2, 5 * 9 * 7 * 2, 5 * 9 * 7 * 2)
    assert reading["way"].startswith("from 5 datasets or files, each in place"), reading
    for i in range(3):
        with h5py.File(f"part{i}.h5", "w") as file:
            file.create_dataset("data", data=np.zeros((4, 9, 7), "uint16"), chunks=(3, 9, 7), compression="lzf")
    layout = h5py.VirtualLayout(shape=(12, 9, 7), dtype="uint16")
    for i in range(3):
        layout[4 * i:4 * i + 4] = h5py.VirtualSource(f"part{i}.h5", "data", shape=(4, 9, 7))
    with h5py.File("in.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("data", layout)
    reading, _, _ = plan()
    assert (reading["wanted_bytes"], reading["unpacked_bytes"]) == (12 * 63 * 2, 3 * 6 * 63 * 2), reading
    assert reading["way"] == "from 3 datasets or files, each unpacked by our own decoders, on all cores"


def test_a_pass_that_is_to_come():
    write()
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "in.h5"\ndataset = "/data"\n[output]\nfile = "out.h5"\n[run]\nbackend = "cpu"\n[[step]]\n'
        'kind = "transpose"\npermutation = [0, 2, 1]\n[[step]]\nkind = "median"\nsize = [3, 3]\n')
    assert call("plan", "job.toml").stdout.count("reading: in place") == 2


def test_inspect():
    data, stored = write(chunks=(4, 23, 31), compression="gzip", shuffle=True)
    with h5py.File("in.h5", "a") as file:
        file["plain"] = data
        file.create_dataset("scaled", data=data, chunks=(4, 23, 31), scaleoffset=3)
        file["words"] = ["a", "b"]
    text = call("inspect", "in.h5").stdout
    parts = {each.split("  ")[0]: each for each in re.split(r"\n(?=/)", text)}
    ratio = data.nbytes / sum(stored.values())
    assert f"(ratio {ratio:.2f})\n    read unpacked by our own decoders, on all cores" in parts["/data"], text
    assert "    read in place, by several threads" in parts["/plain"] and "ratio" not in parts["/plain"], text
    assert "    read through HDF5, in one process" in parts["/scaled"], text
    assert "    read by no job: " in parts["/words"], text
    shown = json.loads(call("inspect", "in.h5:/data", "--json").stdout)
    assert abs(shown["ratio"] - ratio) < 1e-12 and shown["read"].startswith("unpacked by our own"), shown
    assert "read unpacked by our own" in call("inspect", "in.h5:/data").stdout
