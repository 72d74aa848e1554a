"""Reads and makes .sand files with the whole program.

numpy packs and unpacks the expected .sand files bit by bit; h5py reads HDF5 and Pillow reads
pictures.
"""
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys

import h5py
import numpy as np
from PIL import Image
import pytest

from harness import bad, call, good

pytestmark = pytest.mark.quick

COLOURS = np.array([[22, 25, 34], [66, 133, 199], [226, 182, 92], [126, 122, 120]], np.uint8)
WARNING = r"runner: warning: the header's number of frames is wrong \({}, byte 12\): it says {} and " \
          r"the file's length {}\. All that are there are taken\n"
ANIMATE = pathlib.Path(__file__).resolve().parents[2] / "scripts/animate"


def packed(frames, count=None):
    """The bytes of a .sand file of frames × height × width cells."""
    frames = np.asarray(frames)
    data = b"SAND" + struct.pack("<iii", frames.shape[2], frames.shape[1],
                                 len(frames) if count is None else count)
    for frame in frames:
        cells = frame.ravel()
        bits = np.zeros(2 * (-(-cells.size // 4) * 4), np.uint8)
        bits[0:2 * cells.size:2] = cells & 1
        bits[1:2 * cells.size:2] = cells >> 1
        data += np.packbits(bits, bitorder="little").tobytes()
    return data


def unpacked(data):
    """The cells of a .sand file's bytes, and what its header counts."""
    width, height, count = struct.unpack("<iii", data[4:16])
    assert data[:4] == b"SAND"
    size = -(-width * height // 4)
    frames = []
    for begin in range(16, len(data), size):
        bits = np.unpackbits(np.frombuffer(data[begin:begin + size], np.uint8), bitorder="little")
        assert not bits[2 * width * height:].any(), "unused bits are not zero"
        cells = bits[0::2] + 2 * bits[1::2]
        frames.append(cells[:width * height].reshape(height, width))
    return np.stack(frames), count


def cells(*shape):
    return np.random.default_rng(sum(shape)).integers(0, 4, shape, np.uint8)


def test_conversions_both_ways():
    for shape in [(1, 1, 1), (7, 1, 1), (1, 1, 5), (2, 7, 3), (3, 101, 103), (4, 64, 64),
                  (2, 997, 1009)]:
        frames = cells(*shape)
        with h5py.File("in.h5", "w") as file:
            file["frames"] = frames
        good("convert", "in.h5", "a.sand", "--overwrite")
        assert pathlib.Path("a.sand").read_bytes() == packed(frames), shape
        pathlib.Path("b.sand").write_bytes(packed(frames))
        good("convert", "b.sand", "b.h5:/run/frames", "--overwrite")
        with h5py.File("b.h5") as file:
            assert (file["run/frames"][...] == frames).all(), shape
            assert file["run/frames"].dtype == np.uint8
            assert file["run/generation"].dtype == np.uint64
            assert list(file["run/generation"]) == list(range(1, shape[0] + 1))
            assert file.attrs["kind"] == "sand"
        good("compare", "a.sand", "b.h5:/run/frames")


def test_stored_in_chunks():
    frames = cells(5, 61, 67)
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("frames", data=frames, chunks=(2, 10, 67), compression="gzip")
    good("convert", "in.h5", "a.sand", "--frames", "1:5:3")
    assert (unpacked(pathlib.Path("a.sand").read_bytes())[0] == frames[1:5:3]).all()


def test_one_image_is_one_frame():
    frame = cells(30, 41)
    with h5py.File("in.h5", "w") as file:
        file["frames"] = frame
    good("convert", "in.h5", "a.sand")
    assert pathlib.Path("a.sand").read_bytes() == packed(frame[None])


def test_a_count_of_one_with_many_frames():
    """As the published program leaves it."""
    frames = cells(9, 31, 33)
    pathlib.Path("a.sand").write_bytes(packed(frames, count=1))
    warning = WARNING.format(r"a\.sand", 1, 9)
    good("convert", "a.sand", "a.h5", "--first-generation", "0", says=warning)
    with h5py.File("a.h5") as file:
        assert (file["frames"][...] == frames).all()
        assert list(file["generation"]) == list(range(9))
    assert "uint8 [9, 31, 33]" in good("inspect", "a.sand", says=warning)
    assert '"shape": [' in good("inspect", "a.sand", "--json", says=warning)
    good("render", "a.sand", "a.png", "--frame", "8", says=warning)
    assert "equal" in good("compare", "a.sand", "a.h5:/frames", says=warning)
    good("compare", "a.h5:/frames", "a.sand:/any", says=warning)
    good("convert", "a.sand", "mended.sand", says=warning)
    assert unpacked(pathlib.Path("mended.sand").read_bytes())[1] == 9
    good("inspect", "mended.sand")


def test_a_job_warns_once():
    frames = cells(3, 20, 33)
    pathlib.Path("a.sand").write_bytes(packed(frames, count=1))
    pathlib.Path("job.toml").write_text("""kind = "sand"
[input]
file = "a.sand"
dataset = "/frames"
[output]
file = "out.sand"
sync = false
[sand]
generations = 2
snapshot_every = 1
""")
    warning = WARNING.format(r"a\.sand", 1, 3)
    plan = good("plan", "job.toml", says=warning)
    assert "needs 330 B" in plan, plan
    done = call("job.toml", "--quiet", "--backend", "cpu", ranks=2)
    assert re.fullmatch(warning, done.stderr), done.stderr
    made, count = unpacked(pathlib.Path("out.sand").read_bytes())
    assert made.shape == (2, 20, 33) and count == 2
    for state in made:  # what each of them is, is sand_runs.py's to check
        assert (np.bincount(state.ravel(), minlength=4) ==
                np.bincount(frames[0].ravel(), minlength=4)).all()


def test_damaged_files():
    frames = cells(2, 5, 7)
    whole = packed(frames)
    cases = [
        (b"", 0, "it is empty"),
        (b"SA", 2, "ends there"),
        (whole[:15], 15, "ends there"),
        (b"BAND" + whole[4:], 0, 'begins with "BAND"'),
        (b"\x89HDF\r\n\x1a\n" + bytes(99), 0, 'HDF", and a .sand file'),
        (whole[:4] + struct.pack("<i", 0) + whole[8:], 4, "the width is 0"),
        (whole[:4] + struct.pack("<i", -7) + whole[8:], 4, "the width is -7"),
        (whole[:8] + struct.pack("<i", 0) + whole[12:], 8, "the height is 0"),
        (whole[:8] + struct.pack("<i", -2**31) + whole[12:], 8, "the height is -2147483648"),
        (whole[:4] + struct.pack("<ii", 2**31 - 1, 2**31 - 1) + whole[12:], 16,
         "1152921503533105153 bytes"),
        (whole[:16], 16, "there are none"),
        (whole[:20], 16, "there are 4"),
        (whole[:-1], 25, "after 1 frame there are 8"),
        (whole + b"\0", 34, "after 2 frames there is 1"),
    ]
    for data, byte, words in cases:
        pathlib.Path("bad.sand").write_bytes(data)
        words = [f"(bad.sand, byte {byte}): ", words]
        for line in [["inspect", "bad.sand"], ["render", "bad.sand", "x.png"],
                     ["convert", "bad.sand", "x.h5"], ["compare", "bad.sand", "bad.sand"]]:
            bad(3, words, *line)
    os.remove("bad.sand")
    os.mkfifo("bad.sand")
    bad(3, ["bad.sand", "pipe"], "convert", "bad.sand", "x.h5")
    bad(3, ["none.sand", "No such file"], "inspect", "none.sand")


def test_cells_that_are_no_material():
    frames = cells(4, 20, 30)
    frames[2, 11, 17] = 77
    with h5py.File("in.h5", "w") as file:
        file["frames"] = frames
        file.attrs["kind"] = "sand"
    words = ["in.h5:/frames, frame 2, row 11, column 17", "it is 77"]
    bad(3, words, "convert", "in.h5", "out.sand")
    bad(3, words, "convert", "in.h5", "out.png", "--frame", "2")
    bad(3, words, "render", "in.h5:/frames", "out.png", "--frame", "2")
    good("convert", "in.h5", "out.png", "--frame", "2", "--palette", "grey")


def test_pictures():
    frames = cells(3, 17, 23)
    pathlib.Path("a.sand").write_bytes(packed(frames))
    good("convert", "a.sand", "one.png", "--frame", "1")
    with Image.open("one.png") as image:
        assert (np.asarray(image) == frames[1]).all(), "the palette's numbers are the cells"
        assert (np.asarray(image.convert("RGB")) == COLOURS[frames[1]]).all()
    good("convert", "a.sand", "grey.png", "--frame", "1", "--palette", "grey")
    with Image.open("grey.png") as image:
        assert image.mode == "L" and (np.asarray(image) == frames[1]).all()
    good("render", "a.sand", "large.png", "--frame", "1", "--size", "46")
    with Image.open("large.png") as image:
        assert (np.asarray(image) == COLOURS[frames[1]].repeat(2, 0).repeat(2, 1)).all()
    good("render", "a.sand", "small.png", "--size", "1", "--frame", "1")
    with Image.open("small.png") as image:
        mean = COLOURS[frames[1]].reshape(-1, 3).mean(0)
        assert np.abs(np.asarray(image)[0, 0] - mean).max() <= 0.5
    good("render", "a.sand", "plain.png", "--frame", "1", "--size", "23", "--palette", "grey")
    with Image.open("plain.png") as image:
        assert (np.asarray(image) == frames[1]).all()


def test_sequences():
    frames = cells(7, 12, 15)
    with h5py.File("in.h5", "w") as file:
        file["frames"] = frames
        file["generation"] = np.arange(0, 700, 100, np.uint64)
        file.attrs["kind"] = "sand"
    for verb in [["convert", "in.h5"], ["render", "in.h5:/frames", "--size", "15"]]:
        good(*verb, "out.png", "--frames", "1::2")
        names = [f"out-000{generation}.png" for generation in [100, 300, 500]]
        assert sorted(p.name for p in pathlib.Path().glob("*.png")) == names
        for name, frame in zip(names, frames[1::2]):
            with Image.open(name) as image:
                assert (np.asarray(image.convert("RGB")) == COLOURS[frame]).all(), name
            os.remove(name)
    pathlib.Path("a.sand").write_bytes(packed(frames))
    good("convert", "a.sand", "out.png", "--frames", "all")
    names = [f"out-{generation:06}.png" for generation in range(1, 8)]
    assert sorted(p.name for p in pathlib.Path().glob("*.png")) == names
    bad(4, ["out-000001.png", "--overwrite"], "convert", "a.sand", "out.png", "--frames", "all")
    done = subprocess.run([sys.executable, ANIMATE, "a.gif", *names, "--rate", "10"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with Image.open("a.gif") as image:
        assert image.n_frames == 7 and image.info["duration"] == 100
        for index, frame in enumerate(frames):
            image.seek(index)
            assert (np.asarray(image.convert("RGB")) == COLOURS[frame]).all(), index
    assert subprocess.run([sys.executable, ANIMATE, "b.gif", "none.png"],
                          capture_output=True).returncode != 0
    assert not pathlib.Path("b.gif.partial").exists()


def test_storage_that_ends():
    """A limit on the size of files stands for a disk that is full."""
    with h5py.File("in.h5", "w") as file:
        file["frames"] = cells(2, 300, 401)
    for output in ["out.sand", "out.h5", "out.png"]:
        # Without its signal, which Python ignores and hands on so.
        bad(4, [output, "File too large"], "convert", "in.h5", output, "--frame", "1",
            restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)))


def test_command_lines_that_are_wrong():
    pathlib.Path("a.sand").write_bytes(packed(cells(3, 4, 5)))
    with h5py.File("a.h5", "w") as file:
        file["frames"] = cells(3, 4, 5)
        file["generation"] = [1, 2]
        file["real"] = np.zeros((2, 2))
    bad(2, [".n5", ".mrc, .ome.zarr and .zarr to make"], "convert", "a.sand", "a.n5")
    bad(2, ["a.jpg", "to read"], "convert", "a.jpg", "b.sand")
    bad(2, ["has 3", "--frames"], "convert", "a.sand", "a.png")
    bad(2, ["no frame 3", "3 frames"], "convert", "a.sand", "a.png", "--frame", "3")
    bad(2, ["no frame 3", "3 frames"], "render", "a.sand", "a.png", "--frame", "3")
    bad(2, ["--frames is all"], "convert", "a.sand", "a.png", "--frames", "5")
    bad(2, ["both given"], "convert", "a.sand", "a.png", "--frames", "all", "--frame", "1")
    bad(2, ["--palette is one of"], "render", "a.sand", "a.png", "--palette", "blue")
    bad(2, ["--palette is for pictures"], "convert", "a.sand", "b.h5", "--palette", "sand")
    bad(2, ["--first-generation"], "convert", "a.sand", "b.h5", "--first-generation", "-1")
    bad(4, ["a.h5", "--overwrite"], "convert", "a.sand", "a.h5")
    bad(3, ["a.h5:/generation", "its shape is [2]"], "convert", "a.h5", "b.sand")
    bad(3, ["/none", "none of that name"], "convert", "a.h5:/none", "b.sand")
    bad(2, ["float64", "--palette"], "render", "a.h5:/real", "a.png", "--palette", "sand")
