"""Parts of an output (output.parts) that are not its own any more, and what others put beside them.

A part that is missing, cut, swapped or of another output is an error, never fill values; rows that have
changed are mended. Nothing that others made in the folder of the parts is written to or removed.
"""
import itertools
import os
import pathlib
import shutil

import h5py
import numpy as np
import pytest

from parts import DEFLATE, OVERWRITE, append, clear, convolve, dataset, files, snapshot
from parts import folder, make_test  # noqa: F401  the fixtures

pytestmark = pytest.mark.faults


def swap():
    """Two parts of the same size."""
    parts = [f"out/out.parts/{part:04}.h5" for part in range(4)]
    one, other = next((a, b) for a, b in itertools.combinations(parts, 2)
                      if os.path.getsize(a) == os.path.getsize(b))
    os.rename(one, "swapped")
    os.rename(other, one)
    os.rename("swapped", other)


DAMAGES = {
    "missing": ("is missing", lambda: os.remove("out/out.parts/0002.h5")),
    "cut": ("bytes", lambda: os.truncate("out/out.parts/0002.h5", 3000)),
    "longer": ("bytes", lambda: append("out/out.parts/0002.h5")),
    "swapped": ("is not of this output", swap),
    "foreign": ("is not of this output",
                lambda: shutil.copy("other/out.parts/0002.h5", "out/out.parts/0002.h5")),
    "no HDF5": ("not an HDF5 file", lambda: pathlib.Path("out/out.parts/0002.h5").write_bytes(
        b"x" * os.path.getsize("out/out.parts/0002.h5"))),
    "all": ("is missing", lambda: shutil.rmtree("out/out.parts")),
}


def test_damaged(test):
    """Every verb that reads refuses an output whose parts are not its own."""
    clear()
    convolve(lines="parts = 4")
    pathlib.Path("job.toml").write_text(
        pathlib.Path("job.toml").read_text().replace("0.5, 0.25]", "0.5, 0.26]"))
    test.runs("the other output")
    shutil.rmtree("other", ignore_errors=True)
    os.rename("out", "other")
    clear()
    convolve(lines="parts = 4")
    test.runs("four parts")
    shutil.rmtree("whole", ignore_errors=True)
    shutil.copytree("out", "whole")
    for name, (words, damage) in DAMAGES.items():
        shutil.rmtree("out")
        shutil.copytree("whole", "out")
        damage()
        for verb in (["verify", "out/out.h5"], ["repair", "out/out.h5"], ["inspect", "out/out.h5"],
                     ["inspect", "out/out.h5:/image"],
                     ["compare", "out/out.h5:/image", "whole/out.h5:/image"],
                     ["render", "out/out.h5:/image", "out/picture.png"],
                     ["convert", "out/out.h5", "out/joined.h5"]):
            text = test.verb_is(3, name, *verb)
            test.expect(words in text and "out/out.parts/0" in text,
                        f"{name}: {verb[0]} does not say \"{words}\" and which part", text)
        text = test.runs(f"{name}: the same command", code=4)
        test.expect(words in text, f"{name}: the same command does not say \"{words}\"", text)
        convolve(output="out/second.h5", source="out/out.h5")
        text = test.runs(f"{name}: a job", code=3)
        test.expect(words in text, f"{name}: a job does not say \"{words}\"", text)
        test.expect(not os.path.exists("out/second.h5"), f"{name}: a job made an output")
        convolve(lines="parts = 4")
    test.runs("all parts are missing", OVERWRITE)
    test.verb_is(0, "made again", "verify", "out/out.h5")


def test_repaired(test):
    """Rows that have changed in a part are found and mended there."""
    for lines in ["parts = 3", "chunk = [1, 8, 12]\nparts = 3",
                  "chunk = [1, 8, 12]" + DEFLATE + "\nparts = 3"]:
        clear()
        convolve(lines=lines)
        test.runs("three parts")
        before = snapshot("out")
        with h5py.File("out/out.parts/0001.h5") as part:
            rows = part["rows"]
            at = rows.id.get_offset() if rows.chunks is None else \
                rows.id.get_chunk_info(1).byte_offset
        with open("out/out.parts/0001.h5", "r+b") as part:
            part.seek(at + 16)
            part.write(b"\x7f" * 9)
        test.verb_is(7, "a changed row", "verify", "out/out.h5")
        test.verb_is(0, "a changed row", "repair", "out/out.h5")
        test.verb_is(0, "the repaired output", "verify", "out/out.h5")
        test.expect(snapshot("out") == before, "repaired: other bytes")


def test_overwritten(test):
    """The output that is replaced stays whole until the new one has its name; with it go its
    parts, and nothing else."""
    clear()
    convolve(lines="parts = 4")
    test.runs("four parts")
    first = snapshot("out")
    test.runs("the same again")
    test.expect(snapshot("out") == first, "the same again: something was touched")
    test.runs("two parts without overwrite", ["--set", "output.parts=2"], code=4)
    test.expect(snapshot("out") == first, "refused: something was touched")
    wanted = dataset("out/out.h5")
    for parts, names in [(2, ["0000b.h5", "0001b.h5"]), (3, ["0000.h5", "0001.h5", "0002.h5"]),
                         (1, []), (2, ["0000.h5", "0001.h5"])]:
        test.runs(f"{parts} parts with overwrite", [*OVERWRITE, "--set", f"output.parts={parts}"])
        test.expect(files() == ["out.h5", *[f"out.parts/{name}" for name in names]],
                    f"{parts} parts with overwrite: {files()}")
        test.expect(np.array_equal(dataset("out/out.h5"), wanted), f"{parts}: other elements")
    test.expect(os.path.isdir("out/out.parts"), "the folder is gone")


def test_others(test):
    """What others put where parts go is left as it is, and the run is refused."""
    def refused(what, words, arguments=()):
        before = snapshot("out")
        text = test.runs(what, arguments, code=4)
        test.expect(words in text, f"{what}: does not say \"{words}\"", text)
        test.expect(snapshot("out") == before, f"{what}: something was touched")

    convolve(lines="parts = 2")
    for what, words, make in [
            ("another file in the folder", "which no part of an output is called",
             lambda: pathlib.Path("out/out.parts/notes.txt").write_text("mine")),
            ("a part of nothing", "it is a part of no output that is here",
             lambda: pathlib.Path("out/out.parts/0000.h5").write_text("mine")),
            ("a link for a part", "it is a symbolic link",
             lambda: os.symlink("../../in.h5", "out/out.parts/0000.h5")),
            ("a part with two names", "hard links",
             lambda: os.link("in.h5", "out/out.parts/0001.h5")),
            ("a folder for a part", "it is no regular file",
             lambda: os.mkdir("out/out.parts/0001.h5"))]:
        clear()
        os.mkdir("out/out.parts")
        make()
        refused(what, words)
    clear()
    os.mkdir("elsewhere")
    os.symlink("../elsewhere", "out/out.parts")
    refused("a link for the folder", "not a folder but a file or a link")
    test.expect(not os.listdir("elsewhere"), "a link for the folder was followed")
    clear()
    test.runs("two parts")
    with h5py.File("out/out.parts/0001.h5", "r+") as part:
        part["mine"] = np.arange(3)
    refused("a dataset in a part", "/mine", [*OVERWRITE, "--set", "output.parts=3"])
    clear()
    convolve(lines="parts = 2")
    test.runs("two parts")
    convolve(lines="parts = 3", source="out/out.parts/0000.h5")
    pathlib.Path("job.toml").write_text(
        pathlib.Path("job.toml").read_text().replace("/image", "/rows"))
    text = test.runs("a part for input", OVERWRITE, code=2)
    test.expect("the input is a part of the output" in text, "a part for input", text)
    test.expect(len(files()) == 3, f"a part for input: {files()}")
