"""Outputs in parts (output.parts).

Whatever the number of parts, ranks and chunks, h5py reads the same elements as out of one file, and
every verb does. parts_of_others.py has what is not the output's own.
"""
import itertools
import os
import pathlib
import shutil
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from faulty_runs import job_folder, Program
from harness import Findings

pytestmark = pytest.mark.faults
CONVOLVE = '''kind = "convolve"
[input]
file = "{input}"
dataset = "/image"
[output]
file = "{output}"
{lines}
[run]
chunk_rows = {rows}
commit_seconds = 0
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.1, 0.2, 0.4, 0.2, 0.1]
'''
DEFLATE = '\ncompression = "deflate"'
OVERWRITE = ["--set", "output.overwrite=true"]


def convolve(output="out/out.h5", lines="", rows=40, source="in.h5"):
    pathlib.Path("job.toml").write_text(
        CONVOLVE.format(input=source, output=output, lines=lines, rows=rows))


def clear():
    subprocess.run(["rm", "-rf", "out"], check=True)
    os.mkdir("out")


def dataset(path, name="/image"):
    with h5py.File(path) as file:
        return file[name][...]


def files(folder="out"):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*")
                  if path.is_file())


def snapshot(folder):
    return {name: (os.stat(os.path.join(folder, name)).st_ino,
                   (pathlib.Path(folder) / name).read_bytes()) for name in files(folder)}


class Parts(Findings):
    program = Program()

    def runs(self, what, arguments=(), ranks=0, code=0):
        got, text = self.program.run(list(arguments), ranks)
        self.expect(got == code, f"{what}: exit {got} instead of {code}", text)
        return text

    def verb(self, *words):
        done = subprocess.run([self.program.runner, *words], capture_output=True, text=True,
                              timeout=GUARD)
        return done.returncode, done.stdout + done.stderr

    def verb_is(self, code, what, *words):
        got, text = self.verb(*words)
        self.expect(got == code, f"{what}: {' '.join(words)} ends with {got} instead of {code}",
                    text)
        return text


@pytest.fixture(scope="module", autouse=True)
def folder():
    with job_folder() as path:
        make_inputs(np.random.default_rng(3))
        yield path


@pytest.fixture(name="test")
def make_test():
    return Parts()


def append(path):
    with open(path, "ab") as file:
        file.write(b"more")


def make_inputs(rng):
    shapes = {"in.h5": (2, 61, 33), "line.h5": (1, 257, 19), "flat.h5": (130, 47),
              "wide.h5": (3, 40, 16384), "stack.h5": (7, 20, 16), "short.h5": (20, 9)}
    for name, shape in shapes.items():
        with h5py.File(name, "w") as file:
            file["image"] = rng.random(shape)


@pytest.mark.share(0.3)
@pytest.mark.parametrize("source, lines, most", [
    ("in.h5", "", 8), ("in.h5", "chunk = [1, 16, 12]", 2),  # 61 rows are not 16 times n
    ("in.h5", "chunk = [2, 7, 33]", 1), ("in.h5", "chunk = [1, 61, 50]", 2),
    ("line.h5", "", 8), ("line.h5", "chunk = [1, 10, 7]", 8), ("flat.h5", "", 8),
    ("flat.h5", "chunk = [9, 20]", 8), ("wide.h5", "chunk = [1, 5, 16384]", 8), ("wide.h5", "", 8),
    ("in.h5", "chunk = [1, 16, 12]" + DEFLATE, 2), ("in.h5", "chunk = [2, 7, 33]" + DEFLATE, 1),
    ("line.h5", "chunk = [1, 10, 7]" + DEFLATE, 8), ("flat.h5", "chunk = [9, 20]" + DEFLATE, 8),
    # The last part is shorter than a chunk.
    ("stack.h5", "chunk = [2, 20, 7]" + DEFLATE, 4), ("short.h5", "chunk = [15, 4]" + DEFLATE, 2)])
def test_same_elements(test, source, lines, most):
    """Odd sizes × parts × ranks × chunks: the elements of one file, read by h5py and by the
    program, and nothing else left beside them."""
    clear()
    convolve(lines=lines, source=source)
    test.runs("one file")
    os.rename("out/out.h5", "one.h5")
    wanted = dataset("one.h5")
    cases = list(itertools.product([1, 2, 3, 8], [0, 2, 3]))
    for number, (parts, ranks) in enumerate(cases[3::4] if DEFLATE in lines else cases):
        what = f"{parts} parts by {ranks} ranks"
        clear()
        convolve(lines=f"{lines}\nparts = {parts}", rows=[8, 40, 61][number % 3], source=source)
        test.runs(what, ranks=ranks)
        test.expect(np.array_equal(dataset("out/out.h5"), wanted), f"{what}: other elements")
        there = min(parts, most)
        test.expect(len(files()) == (1 if there == 1 else there + 1), f"{what}: {files()}")
        if parts > 1:
            test.verb_is(0, what, "compare", "out/out.h5:/image", "one.h5:/image")
            test.verb_is(0, what, "verify", "out/out.h5")


def test_moved(test):
    """The folder and the output stay whole wherever both go; the output may have another name."""
    clear()
    convolve(lines="parts = 4")
    test.runs("four parts")
    wanted = dataset("out/out.h5")
    os.makedirs("out/else/where")
    shutil.move("out/out.parts", "out/else/where/out.parts")
    shutil.move("out/out.h5", "out/else/where/renamed.h5")
    test.expect(np.array_equal(dataset("out/else/where/renamed.h5"), wanted), "moved: h5py")
    test.verb_is(0, "moved", "verify", "out/else/where/renamed.h5")
    test.verb_is(0, "joined", "convert", "out/else/where/renamed.h5", "out/joined.h5")
    shutil.rmtree("out/else")
    test.expect(np.array_equal(dataset("out/joined.h5"), wanted), "joined: other elements")


def test_as_input(test):
    """A job reads it in place, with the bytes of a job that reads one file; a part that has changed
    is a changed input."""
    for lines in ["", "chunk = [1, 8, 12]", "chunk = [1, 8, 12]" + DEFLATE]:
        clear()
        convolve(lines=lines)
        test.runs("one file")
        convolve(output="out/second.h5", source="out/out.h5")
        test.runs("of one file")
        wanted = dataset("out/second.h5")
        clear()
        convolve(lines=lines + "\nparts = 3")
        test.runs("parts", ranks=2)
        convolve(output="out/second.h5", lines="parts = 2", source="out/out.h5")
        test.runs("of parts", ranks=2)
        test.expect(np.array_equal(dataset("out/second.h5"), wanted), "of parts: other elements")
        test.runs("the same again")
        with open("out/out.parts/0001.h5", "r+b") as part:
            part.seek(-3, os.SEEK_END)
            part.write(b"xyz")
        text = test.runs("a part has changed", code=4)
        test.expect("the input has changed" in text, "does not report the change", text)


def test_resumed(test):
    """Another number of parts on resume is refused once rows are committed, and otherwise restarted;
    other ranks resume the layout that is there."""
    for ranks in [0, 3]:
        clear()
        convolve(lines="parts = 4", rows=5)
        test.program.run([], 2, fault="pwrite:kill@4:.rows")
        text = test.runs("fewer parts", ["--set", "output.parts=3"], code=4)
        test.expect("output.parts was 4, is 3" in text, "does not report the numbers", text)
        test.runs("the same parts", ranks=ranks)
        test.verb_is(0, "resumed", "verify", "out/out.h5")
        test.expect(len(files()) == 5, f"resumed: {files()}")
    clear()
    convolve(lines="parts = 4", rows=5)
    for parts, names in [(1, []), (2, ["out.parts/0000.h5", "out.parts/0001.h5"])]:
        clear()
        test.program.run([], 0, fault="pwrite:kill@2:.rows")
        test.expect(os.path.exists("out/out.parts/0003.h5"), "no parts were left")
        test.runs("other parts, nothing was committed", ["--set", f"output.parts={parts}"])
        test.expect(files() == ["out.h5", *names], f"restarted: {files()}")


def test_compressed(test):
    """A compressed output, killed at some write into its parts or shards or at a commit, is resumed
    by other ranks; its parts are compressed, and nothing else is left."""
    clear()
    convolve(lines="chunk = [1, 10, 7]" + DEFLATE + "\nparts = 3", rows=10, source="line.h5")
    test.runs("undisturbed", ranks=3)
    names = files()
    wanted = dataset("out/out.h5")
    test.expect(len(names) == 4, f"undisturbed: {names}")
    kills = 0
    faults = [f"pwrite:kill@{at}:out.parts/" for at in range(1, 60, 6)]
    for number, fault in enumerate([*faults, "pwrite:kill@3:.rows", "pwrite:kill@5:.shard"]):
        clear()
        code, _ = test.program.run([], number % 3, fault=fault)
        kills += code != 0
        test.runs(f"resumed after {fault}", ranks=(number + 1) % 3)
        test.expect(files() == names, f"{fault}: {files()}")
        test.expect(np.array_equal(dataset("out/out.h5"), wanted), f"{fault}: other elements")
        with h5py.File("out/out.parts/0001.h5") as part:
            test.expect(part["rows"].compression == "gzip", f"{fault}: not compressed")
        test.verb_is(0, fault, "verify", "out/out.h5")
    test.expect(kills > 5, f"only {kills} runs were killed")
    append("out/out.parts/0001.h5") # as a repair does with a chunk of another size
    test.verb_is(0, "a longer compressed part", "verify", "out/out.h5")


def test_planned(test):
    """plan says what a run makes."""
    clear()
    convolve(lines="parts = 3")
    text = test.verb_is(0, "plan", "plan", "job.toml", "-n", "2")
    test.expect("in 3 parts in out/out.parts" in text, "plan does not say the parts", text)
    test.expect(not files(), f"plan made {files()}")
    test.expect("parts = 3" in test.verb_is(0, "explain", "explain", "job.toml"), "explain")
    convolve(lines='parts = "auto"')
    text = test.verb_is(0, "plan", "plan", "job.toml", "-n", "2")
    test.expect("parts" not in text, "auto makes parts of a small output", text)
    test.runs("auto for a small output")
    test.expect(files() == ["out.h5"], f"auto for a small output: {files()}")
    test.runs("auto again")
    convolve(lines='parts = "auto"\nchunk = [1, 8, 12]\ncompression = "deflate"')
    test.runs("auto with compression, one rank", OVERWRITE)
    test.expect(files() == ["out.h5"], f"auto with compression: {files()}")


def test_refusals(test):
    """What cannot be in parts is refused with the key's name."""
    clear()
    for lines, words in [("parts = 0", "parts"), ("parts = 2.5", "parts"),
                         ("parts = 1000", "parts")]:
        convolve(lines=lines)
        text = test.runs(lines, code=2)
        test.expect(words in text, f"{lines}: does not say {words}", text)
    convolve(output="out/50%b.h5", lines="parts = 3")
    test.runs("a name with a percent sign")
    test.verb_is(0, "a name with a percent sign", "verify", "out/50%b.h5")
    wanted = dataset("out/50%b.h5")
    convolve()
    test.runs("one file")
    test.expect(np.array_equal(dataset("out/out.h5"), wanted), "a percent sign: other elements")


def test_virtual_of_others(test):
    """Virtual datasets that others made, of whole rows or not, are read as HDF5 reads them."""
    rng = np.random.default_rng(4)
    clear()
    stack = rng.random((6, 10, 8)).astype("f4")
    for number, frame in enumerate(stack):
        with h5py.File(f"out/frame{number}.h5", "w") as file:
            file.create_dataset("f", data=frame, chunks=(3, 8) if number % 2 else None,
                                compression="gzip" if number == 3 else None)
    with h5py.File("out/swapped.h5", "w") as file:
        file.create_dataset("f", data=stack[0].astype(">f4"))
    with h5py.File("out/all.h5", "w") as file:
        file["s"] = stack

    def source(number):
        return h5py.VirtualSource(f"frame{number}.h5", "f", shape=(10, 8))

    def frames(layout):
        for number in range(6):
            layout[number] = source(number)

    def every_second_row(layout):
        for number in range(6):
            layout[number, 0::2] = source(number)[:5]
            layout[number, 1::2] = source(5 - number)[5:]

    def rows_of_one(layout):
        layout[0:6:2] = h5py.VirtualSource("all.h5", "s", shape=stack.shape)[3:6]
        layout[1:6:2] = h5py.VirtualSource("all.h5", "s", shape=stack.shape)[0:3]

    def with_a_gap(layout):
        layout[0:4] = h5py.VirtualSource("all.h5", "s", shape=stack.shape)[0:4]

    def half_rows(layout):
        for number in range(6):
            layout[number, :, :4] = source(number)[:, 4:]
            layout[number, :, 4:] = source(number)[:, :4]

    def other_order_of_bytes(layout):
        for number in range(6):
            layout[number] = h5py.VirtualSource("swapped.h5", "f", shape=(10, 8))

    for make in (frames, every_second_row, rows_of_one, with_a_gap, half_rows,
                 other_order_of_bytes):
        layout = h5py.VirtualLayout((6, 10, 8), "f4")
        make(layout)
        with h5py.File("out/virtual.h5", "w", libver="latest") as file:
            file.create_virtual_dataset("v", layout, fillvalue=7)
        wanted = dataset("out/virtual.h5", "v")
        test.verb_is(0, make.__name__, "convert", "out/virtual.h5:/v", "out/read.npy",
                     "--overwrite")
        test.expect(np.array_equal(np.load("out/read.npy"), wanted), f"{make.__name__}: others")
