"""Runs whole transposing jobs and compares every byte with numpy.

Every run of the same job must give those bytes: any permutation, element type, number of ranks, box,
lanes, memory limit and storage, whole or in parts.
"""
import itertools
import pathlib
import subprocess

import h5py
import numpy as np
import pytest

from faulty_runs import kill_midway, start_held
from harness import Runs, generator, programs

TYPES = ["uint8", "int16", "float32", "float64", "uint64"]
PERMUTATIONS = list(itertools.permutations(range(3)))
SHAPES = [(1, 1, 1), (2, 3, 5), (31, 32, 33), (7, 1, 130), (1, 61, 67), (129, 3, 17), (5, 127, 2)]


class Transposing(Runs):
    def expect(self, what, array, permutation, ranks=1, *options):
        done = self.call(ranks, *options)
        what = f"{what}, {array.shape} {array.dtype} by {permutation}, {ranks} ranks"
        if not self.check(done.returncode == 0, f"{what}: exit {done.returncode}\n{done.stderr}"):
            return
        padded = array.reshape((1,) * (len(permutation) - array.ndim) + array.shape)
        with h5py.File("in.h5") as file, h5py.File("out.h5") as out:
            made = out["a"][...]
            if array.dtype.kind not in "iuf":
                stored = file["a"].id.get_type()
                self.check(out["a"].id.get_type() == stored or is_big_endian(file["a"].dtype),
                           f"{what}: {out['a'].dtype}, not {file['a'].dtype} as it is stored")
        right = np.transpose(padded, permutation)
        self.check(made.shape == right.shape and made.dtype == array.dtype
                   and same_bytes(made, right.copy()),
                   f"{what}: other bytes")


def same_bytes(made, right):
    """Of padded elements h5py reads the members alone."""
    fields = made.dtype.fields
    if fields and sum(kind.itemsize for kind, *_ in fields.values()) < made.dtype.itemsize:
        return np.array_equal(made, right)
    return np.array_equal(made.view(np.uint8), right.view(np.uint8))


def is_big_endian(dtype):
    """Numbers and complex ones become this machine's."""
    return dtype.kind in "iufc" and dtype.byteorder == ">"


def write_input(array, **storage):
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("a", data=array, **storage)


def write_job(permutation, run="", output=""):
    pathlib.Path("job.toml").write_text(
        'kind = "transpose"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\n'
        f'overwrite = true\nsync = false\n{output}\n[run]\n{run}\n'
        f'[transpose]\npermutation = {list(permutation)}\n')


def values(random, shape, dtype):
    return np.frombuffer(random.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize),
                         dtype).reshape(shape)


@pytest.fixture(name="runs")
def make_runs():
    return Transposing()


def cases():
    """(shape, type, permutation, input's storage, [run], [output], ranks)"""
    ways = [({}, "", "", 1), ({}, "chunk_rows = 1", "", 3), ({}, "chunk_rows = 7\nlanes = 1", "", 2),
            ({"chunks": True}, "chunk_rows = 5", "", 2),
            ({"chunks": True, "compression": "gzip"}, "chunk_rows = 40", "", 4),
            ({}, "chunk_rows = 9", "chunk = [1, 4, 5]", 3),
            ({}, "lanes = 2", 'chunk = [1, 3, 8]\ncompression = "deflate"', 2)]
    for index, (shape, permutation) in enumerate(itertools.product(SHAPES, PERMUTATIONS)):
        for way in [ways[index % len(ways)], ways[(index * 3 + 2) % len(ways)]]:
            yield shape, TYPES[index % len(TYPES)], permutation, *way


def expect_case(runs, case):
    shape, dtype, permutation, storage, run, output, ranks = case
    array = values(generator(case), shape, dtype)
    write_input(array, **storage)
    write_job(permutation, run, output)
    runs.expect(f"{storage} {run} {output}", array, permutation, ranks)


@pytest.mark.share(0.12)
@pytest.mark.parametrize("case", [pytest.param(case, id=", ".join(map(str, case))) for case in cases()])
def test_case(runs, case):
    expect_case(runs, case)


@pytest.mark.quick
@pytest.mark.parametrize("shape, permutation", [((41, 67), [1, 0]), ((41, 67), [0, 2, 1]), ((101,), [2, 0, 1]),
                                                ((101,), [0, 1, 2])], ids=str)
def test_fewer_axes(runs, shape, permutation):
    array = values(generator(shape), shape, "float32")
    write_input(array)
    write_job(permutation, "chunk_rows = 11")
    runs.expect("fewer axes", array, permutation, 2)


def cases_of_more():
    """All orders of four axes and each fifth of five, as cases()."""
    ways = [({}, "chunk_rows = 5", "", 2), ({"chunks": True, "compression": "gzip"}, "", "", 1),
            ({}, "chunk_rows = 9", 'chunk = [1, 1, 2, 4]\ncompression = "deflate"', 3),
            ({}, 'host_memory = "2MiB"\nlanes = 1', "", 1)]
    for index, permutation in enumerate(itertools.permutations(range(4))):
        yield [(5, 3, 17, 13), (7, 1, 19, 11)][index % 2], TYPES[index % len(TYPES)], permutation, *ways[index % 4]
    for index, permutation in enumerate(list(itertools.permutations(range(5)))[::5]):
        storage, run, output, ranks = ways[index % 4]
        yield (3, 5, 1, 7, 11), TYPES[index % len(TYPES)], permutation, storage, run, output.replace("[1,", "[1, 1,"), ranks


@pytest.mark.share(0.12)
@pytest.mark.parametrize("case", [pytest.param(case, id=", ".join(map(str, case))) for case in cases_of_more()])
def test_more_axes(runs, case):
    expect_case(runs, case)


@pytest.mark.quick
def test_order_of_ome_zarr(runs):
    """t, z, c, y, x: the refusal of an OME-Zarr names the order that makes it one."""
    array = values(generator("ome"), (2, 3, 4, 5, 7), "uint16")
    write_input(array)
    write_job((0, 1, 2, 3, 4))
    job = pathlib.Path("job.toml")
    text = job.read_text().replace('dataset = "/a"', 'dataset = "/a"\naxes = "tzcyx"').replace("out.h5", "out.ome.zarr")
    job.write_text(text)
    done = runs.call()
    runs.check(done.returncode == 2 and "permutation = [0, 2, 1, 3, 4]" in done.stderr, f"{done.returncode}, {done.stderr}")
    job.write_text(text.replace("[0, 1, 2, 3, 4]", "[0, 2, 1, 3, 4]"))
    done = runs.call(2)
    runs.check(done.returncode == 0, done.stderr)
    subprocess.run([programs.runner, "convert", "out.ome.zarr", "out.npy"], check=True)
    runs.check(np.array_equal(np.load("out.npy"), array.transpose(0, 2, 1, 3, 4)), "other elements")
    said = subprocess.run([programs.runner, "inspect", "out.ome.zarr"], capture_output=True, text=True).stdout
    runs.check("axes: t 1, c, z 1, y 1, x 1" in said, said)


@pytest.mark.parametrize("shape, permutation", [
    *itertools.product([(1, 2053, 2069), (67, 259, 251)], [(0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)]),
    ((13, 3, 401, 251), (0, 3, 1, 2)), ((13, 3, 401, 251), (3, 2, 1, 0))], ids=str)
def test_little_memory(runs, shape, permutation):
    """17 MB in 2 MiB, planes of an image that do not fit among them."""
    array = values(generator(shape), shape, "float32")
    write_input(array)
    write_job(permutation, 'host_memory = "2MiB"\ndevice_memory = "2MiB"')
    runs.expect("2 MiB", array, permutation, 2)


@pytest.mark.long
def test_stopped_runs(runs):
    """Stopped and killed on the way, resumed in other boxes."""
    array = values(generator("stopped"), (211, 613, 307), "float32")
    write_input(array)
    write_job((2, 1, 0), "chunk_rows = 2000\ncommit_seconds = 0")
    killed = kill_midway(start_held(runs.command(2), programs.runner, "pwrite",
                                    "700:out.h5.partial>=4096"))
    runs.check(killed, "done before it was killed")
    write_job((2, 1, 0), "chunk_rows = 331\ncommit_seconds = 0")
    runs.expect("killed", array, (2, 1, 0), 3)
    pathlib.Path("STOP").touch()
    done = runs.call(2)
    runs.check(done.returncode == 75 and " rows of out.h5" in done.stderr,
               f"STOP: {done.returncode}, {done.stderr}")
    pathlib.Path("STOP").unlink()
    write_job((2, 1, 0))
    runs.expect("stopped", array, (2, 1, 0), 1, "--resume", "require")
    left = [p.name for p in pathlib.Path().iterdir() if p.name.startswith("out.h5.")]
    runs.check(left in [[], ["out.h5.lock"]], f"left behind: {left}")


PAIR = np.dtype([("where", "<i4"), ("what", ">f8"), ("how", "S4")])
SMALL = np.dtype({"names": ["a", "b"], "formats": ["i1", "<i2"], "offsets": [0, 2],
                  "itemsize": 4})
GZIP = {"chunks": True, "compression": "gzip", "shuffle": True}
OUT_CHUNKS = 'chunk = [1, 4, 5]\ncompression = "deflate"\nshuffle = true'
LITTLE = 'host_memory = "2MiB"\ndevice_memory = "2MiB"'
OTHERS = [
    ("complex64", (23, 31, 37), (1, 2, 0), {}, "chunk_rows = 7", "", 2),
    ("complex128", (23, 31, 37), (2, 1, 0), GZIP, "", OUT_CHUNKS, 3),
    ("complex128", (7, 259, 251), (0, 2, 1), {}, LITTLE, "", 2),
    (">c8", (23, 31, 37), (2, 0, 1), GZIP, "", "", 2),
    (">c16", (31, 67), (1, 0), {}, "", "", 1),
    ("bool", (23, 31, 37), (2, 1, 0), GZIP, "chunk_rows = 5", "", 2),
    ("bool", (101,), (2, 0, 1), {}, "", "", 1),
    ("S16", (31, 67), (1, 0), GZIP, "", "", 2),
    ("S2", (23, 31, 37), (1, 0, 2), {}, "", "", 1),
    ("V8", (31, 67), (0, 2, 1), {}, "chunk_rows = 3", "", 2),
    (PAIR, (23, 31, 37), (2, 1, 0), GZIP, "", OUT_CHUNKS, 2),
    (PAIR, (3, 259, 251), (1, 2, 0), {}, LITTLE, "", 2),
    (SMALL, (31, 67), (1, 0), {}, "", "", 1),
    ("float16", (23, 31, 37), (1, 2, 0), {"chunks": True}, "", "", 2)]


@pytest.mark.long
@pytest.mark.parametrize("case", [pytest.param(case, id=", ".join(map(str, case))) for case in OTHERS])
def test_other_elements(runs, case):
    """Elements that are no numbers: their bytes and their type are the input's."""
    dtype, shape, permutation, storage, run, output, ranks = case
    random = generator(str(case))
    array = values(random, shape, dtype)
    if array.dtype == bool:
        array = values(random, shape, "uint8") > 99
    if array.dtype.byteorder == ">":
        write_input(array, **storage)
        array = array.astype(array.dtype.newbyteorder("="))
    else:
        write_input(array, **storage)
    write_job(permutation, run, output)
    runs.expect(f"other elements, {storage} {run} {output}", array, permutation, ranks)


@pytest.mark.long
@pytest.mark.parametrize("real, imaginary", [(b"re", b"im"), (b"real", b"imag")])
def test_parts_called(runs, real, imaginary):
    """Complex numbers that h5py did not write, and their fill value in chunks never written."""
    stored = h5py.h5t.create(h5py.h5t.COMPOUND, 8)
    stored.insert(real, 0, h5py.h5t.IEEE_F32LE)
    stored.insert(imaginary, 4, h5py.h5t.IEEE_F32LE)
    fill = np.array((1.5, -2), stored.dtype)
    array = np.broadcast_to(fill, (20, 30)).copy()
    with h5py.File("in.h5", "w", libver="latest") as file:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((7, 7))
        creation.set_fill_value(fill)
        h5py.h5d.create(file.id, b"a", stored, h5py.h5s.create_simple(array.shape), creation)
        array[3:9, 4:19] = values(generator(real), (6, 15), stored.dtype)
        file["a"][3:9, 4:19] = array[3:9, 4:19]
    write_job((1, 0), "", "chunk = [8, 8]")
    runs.expect(f"{real} and {imaginary}", array, (1, 0), 2)
    done = subprocess.run([programs.runner, "verify", "out.h5"], capture_output=True, text=True)
    runs.check(done.returncode == 0, f"verify of complex numbers: {done.stdout} {done.stderr}")


@pytest.mark.long
def test_resumed_elements(runs):
    """A STOP in an output of compound elements, resumed."""
    array = values(generator("resumed"), (5, 200, 100), [("a", "<u8"), ("b", "S8")])
    write_input(array)
    write_job((2, 1, 0), "chunk_rows = 200\ncommit_seconds = 0")
    pathlib.Path("STOP").touch()
    done = runs.call(2)
    runs.check(done.returncode == 75, f"STOP: {done.returncode}, {done.stderr}")
    pathlib.Path("STOP").unlink()
    write_job((2, 1, 0))
    runs.expect("stopped", array, (2, 1, 0), 2, "--resume", "require")


def test_refused_elements(runs):
    """Elements whose bytes are not all of them, or too many; and kinds that compute."""
    for dtype, says in [("V3", "opaque of 3 bytes"), ("S5", "string of 5 bytes"),
                        (h5py.string_dtype(), "string of any length"),
                        (h5py.vlen_dtype("i4"), "list of any length"),
                        (h5py.ref_dtype, "reference"), ("(2,)f4", "array [2] of float32"),
                        (np.dtype([("x", h5py.ref_dtype)]), "compound of 1 members"),
                        (np.dtype([("x", h5py.string_dtype())]), "compound of 1 members")]:
        with h5py.File("in.h5", "w") as file:
            file.create_dataset("a", (4, 5), dtype)
        write_job((1, 0))
        done = runs.call()
        runs.check(done.returncode == 3 and says in done.stderr and "in.h5:/a" in done.stderr,
                   f"refuses {dtype}: {done.returncode}, {done.stderr}")
    with h5py.File("in.h5", "w") as file:
        file["a"] = np.zeros((4, 5), "c16")
    pathlib.Path("job.toml").write_text(
        'kind = "convolve"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "no.h5"\n'
        '[convolve]\nrow_taps = [1.0]\ncolumn_taps = [1.0]\nboundary = "nearest"\n')
    done = runs.call()
    runs.check(done.returncode == 3 and "in.h5:/a" in done.stderr and "complex128" in done.stderr,
               f"convolve refuses complex128: {done.returncode}, {done.stderr}")


@pytest.mark.quick
def test_verify_and_repair(runs):
    """A wrong element is found by its checksum, one made wrong before it by computing again, and
    both are mended."""
    array = values(generator("verified"), (23, 29, 31), "int16")
    write_input(array)
    write_job((1, 2, 0), "chunk_rows = 50")
    runs.expect("verified", array, (1, 2, 0))
    good = pathlib.Path("out.h5").read_bytes()
    def verb(*words):
        return subprocess.run([programs.runner, *words], capture_output=True, text=True)
    runs.check(verb("verify", "out.h5").returncode == 0, "verify: a good file")
    with h5py.File("out.h5", "r+") as file:
        file["a"][3, 5, 7] ^= 1
    found = verb("verify", "out.h5")
    runs.check(found.returncode == 7 and "row" in found.stdout, f"verify: {found.stdout}")
    runs.check(verb("repair", "out.h5").returncode == 0, "repair")
    runs.check(pathlib.Path("out.h5").read_bytes() == good, "repair: not as it was")
