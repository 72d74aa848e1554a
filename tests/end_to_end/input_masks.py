"""Invalid elements by mask: the job is as one whose masked elements hold the number of invalid ones."""
import itertools
import json
import pathlib
import re

import h5py
import numpy as np
import pytest

from harness import bad, call, good, programs

pytestmark = pytest.mark.quick
TYPES = ["uint8", "int16", "uint16", "uint32", "int64", "float16", "float32", "float64"]
KINDS = {"bin": "factors = [2, 3]\nedge = \"partial\"", "median": "size = [3, 3]",
         "convolve": "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.25, 0.5, 0.25]",
         "rescale": 'from = "extremes"\nto = [0.0, 1.0]', "correct": "dark = 1.0\nflat = 50.0",
         "fill": "reach = [2, 2]", "transpose": "permutation = [1, 2, 0]"}


def mark_of(dtype):
    """What a masked element becomes."""
    dtype = np.dtype(dtype)
    return np.nan if dtype.kind == "f" else np.iinfo(dtype).max


def some(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(1, 60, shape).astype(dtype)


def some_mask(shape, dtype="uint8", seed=1, share=0.2):
    """Of the number 0 and others."""
    random = np.random.default_rng(seed)
    numbers = random.integers(1, 100, shape).astype(dtype) if dtype != "bool" else True
    return np.where(random.random(shape) < share, numbers, np.zeros(shape, dtype)).astype(dtype)


def write(name, **datasets):
    with h5py.File(name, "w") as file:
        for path, array in datasets.items():
            file[path.replace("__", "/")] = array


def write_job(kind, invalid, more="", file="i.h5", dataset="/d", keys=None, output="o.h5", name="j.toml"):
    pathlib.Path(name).write_text(
        f'kind = "{kind}"\n[input]\nfile = "{file}"\n' + (f'dataset = "{dataset}"\n' if dataset else "")
        + (f"invalid = {invalid}\n" if invalid else "") + more
        + f'\n[output]\nfile = "{output}"\ndataset = "/d"\noverwrite = true\nsync = false\n'
        f'[run]\nbackend = "{programs.backend}"\n[{kind}]\n{KINDS[kind] if keys is None else keys}\n')


def read(name="o.h5"):
    with h5py.File(name) as file:
        return file["d"][()], dict(file["d"].attrs)


def run(*options, ranks=1):
    call("j.toml", "--quiet", "--resume", "never", *options, ranks=ranks)
    return read()


def expect(kind, array, lost, number=None, keys=None, more=""):
    """What the same job makes of an array that has the number where `lost`."""
    number = mark_of(array.dtype) if number is None else number
    marked = np.where(lost, np.array(number).astype(array.dtype), array)
    write("e.h5", d=marked)
    word = '"nan"' if np.isnan(number) else number
    write_job(kind, word, more, file="e.h5", output="eo.h5", name="e.toml", keys=keys)
    call("e.toml", "--quiet", "--resume", "never")
    return read("eo.h5")


def same(found, expected):
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[0].dtype == expected[0].dtype and found[0].shape == expected[0].shape
    np.testing.assert_equal(found[1].get("_FillValue"), expected[1].get("_FillValue"))


def test_means_against_numpy():
    """The reference of the others, once without the program's own marks."""
    array, mask = some((3, 8, 12), "uint16"), some_mask((8, 12))
    mask[2:4, 4:6] = 7
    write("i.h5", d=array, mask=mask)
    write_job("bin", '{ dataset = "/mask" }', keys="factors = [2, 2]")
    blocks = np.where(mask != 0, np.nan, array).reshape(3, 4, 2, 6, 2)
    values, counts = np.nansum(blocks, axis=(2, 4)), (~np.isnan(blocks)).sum(axis=(2, 4))
    means = np.divide(values, counts, out=np.full(values.shape, 65535.0), where=counts > 0)
    found, attributes = run()
    np.testing.assert_array_equal(found, np.rint(means).astype("uint16"))
    assert (counts == 0).any() and attributes["_FillValue"] == 65535


@pytest.mark.share(0.12)
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("dtype", TYPES)
def test_kinds(kind, dtype):
    """A mask of a frame and one of every element, in one type of several."""
    if kind == "transpose" and dtype == "float16":
        return
    array = some((4, 11, 14), dtype)
    of_mask = ["bool", "uint8", "int32", "float32", "uint32"][TYPES.index(dtype) % 5]
    for shape in ((11, 14), (4, 11, 14), (1, 11, 14)):
        mask = some_mask(shape, of_mask, 3)
        write("i.h5", d=array, mask=mask)
        write_job(kind, '{ dataset = "/mask" }')
        marked = np.broadcast_to(mask != 0, array.shape)
        for ranks in (1, 2) if shape == (11, 14) else (1,):
            same(run("--set", "run.chunk_rows=5" if kind != "transpose" else "run.lanes=1", ranks=ranks),
                 expect(kind, array, marked))


def test_bits_of_any_integer():
    """Each bit of an explicit mask counts; of a mask of floats every number but 0, and NaN."""
    array = some((2, 8, 8), "float32")
    for dtype in ("int8", "uint16", "int64", "uint64", "float64"):
        mask = np.zeros((8, 8), dtype)
        mask[1, 1], mask[2, 3] = (np.nan, -0.5) if dtype == "float64" else (np.iinfo(dtype).min or 1 << 15, 1)
        write("i.h5", d=array, mask=mask)
        write_job("median", '{ dataset = "/mask" }')
        same(run(), expect("median", array, np.broadcast_to(mask != 0, array.shape)))


@pytest.mark.parametrize("layout", [dict(chunks=(2, 5, 6), compression="gzip"), dict(chunks=(1, 11, 14)), dict()])
def test_parts(layout):
    """Regions, selected frames; the mask of a frame or of all elements is cut as the input is."""
    array = some((9, 11, 14), "int16")
    for shape in ((11, 14), (9, 11, 14)):
        mask = some_mask(shape, "uint16", 4)
        with h5py.File("i.h5", "w") as file:
            file.create_dataset("d", data=array, **layout)
            file.create_dataset("mask", data=mask, **(layout if len(shape) == 3 else {}))
        whole = np.broadcast_to(mask != 0, array.shape)
        for more, part in [('region = { rows = "2:9", columns = "3:-1" }', np.s_[:, 2:9, 3:-1]), ('frames = "1:8:3"', np.s_[1:8:3]),
                           ('frames = "2:7"\nregion = { columns = "1:" }', np.s_[2:7, :, 1:])]:
            for kind in ("bin", "transpose"):
                write_job(kind, '{ dataset = "/mask" }', more)
                same(run(), expect(kind, array[part], whole[part]))


def test_selections():
    """What is left out of the input, and single indices, of the mask too; also along its own first axis."""
    array = some((3, 6, 11, 14), "uint16")
    for of_mask in ((11, 14), (6, 11, 14), (1, 6, 11, 14), (3, 6, 11, 14)):
        mask = some_mask(of_mask, "uint8", 6)
        marked = np.broadcast_to(mask != 0, array.shape)
        write("i.h5", d=array, mask=mask)
        for select, part in [('c = 1', np.s_[1]), ('z = "1::2", x = "::3"', np.s_[:, 1::2, :, ::3]),
                             ('c = 2, y = "1:9:2", z = 3', np.s_[2, 3, 1:9:2]), ('c = "::2", y = "::4"', np.s_[::2, :, ::4])]:
            more = f'axes = "czyx"\nselect = {{ {select} }}'
            write_job("bin", '{ dataset = "/mask" }', more, keys="factors = [2, 2]")
            same(run(), expect("bin", array[part], marked[part], keys="factors = [2, 2]"))


def test_axes():
    """One axis, two, four; a mask of the last three; colour by pixels and by samples."""
    for shape, of_mask, more in [((40,), (40,), ""), ((11, 14), (11, 14), ""), ((11, 14), (1, 11, 14), ""), ((2, 3, 6, 7), (6, 7), ""),
                                 ((2, 3, 6, 7), (3, 6, 7), ""), ((2, 3, 6, 7), (2, 3, 6, 7), ""), ((9, 8, 3), (9, 8), "colour = true"),
                                 ((9, 8, 3), (9, 8, 3), "colour = true"), ((2, 9, 8, 3), (9, 8), "colour = true"),
                                 ((2, 9, 8, 3), (2, 9, 8), "colour = true")]:
        array, mask = some(shape, "uint16"), some_mask(of_mask, "uint8", 5)
        marked = (mask != 0).reshape(of_mask[1:] if of_mask[0] == 1 else of_mask)
        marked = np.broadcast_to(marked[..., None] if more and of_mask[-1] == 8 else marked, shape)
        write("i.h5", d=array, mask=mask)
        kind, keys = ("rescale", "from = [0.0, 60.0]\nto = [0.0, 30.0]") if len(shape) == 1 else ("bin", "factors = [2, 2]")
        write_job(kind, '{ dataset = "/mask" }', more, keys=keys)
        same(run(), expect(kind, array, marked, keys=keys, more=more))


def test_other_files():
    """A mask in another file, of another format; inputs of other formats and stacks."""
    array, mask = some((5, 11, 14), "uint8"), some_mask((11, 14))
    marked = np.broadcast_to(mask != 0, array.shape)
    expected = expect("median", array, marked)
    write("i.h5", d=array)
    write("m.h5", some__mask=mask)
    np.save("m.npy", mask)
    np.save("i.npy", array)
    for i, frame in enumerate(array):
        np.save(f"s_{i}.npy", frame)
    pathlib.Path("i.raw").write_bytes(array.tobytes())
    raw = 'raw = { shape = [5, 11, 14], dtype = "uint8" }'
    for file, more in [("i.h5", ""), ("i.npy", ""), ("s_*.npy", ""), ("i.raw", raw)]:
        for invalid in ('{ file = "m.h5", dataset = "/some/mask" }', '{ file = "m.npy" }'):
            write_job("median", invalid, more, file=file, dataset="/d" if file == "i.h5" else None)
            same(run(), expected)
        if file != "i.h5":
            write_job("median", '{ dataset = "/mask" }', more, file=file, dataset=None)
            bad(2, ["has no mask", "mask.h5"], "j.toml", "--quiet", "--resume", "never")
    write_job("median", '{ file = "m.h5", dataset = "/some/mask" }', output="m.h5")
    bad(2, ["two files of the run are the same", "mask"], "j.toml", "--quiet")


def nexus(array, mask, group="entry/instrument/detector", more=()):
    with h5py.File("i.h5", "w") as file:
        file["entry/data/d"] = array
        file[f"{group}/pixel_mask"] = mask
        for name, each in more:
            file[name] = each


@pytest.mark.parametrize("group", ["entry/data", "entry/instrument/detector", "entry/instrument/eiger", "entry/detector"])
def test_masks_of_nexus(group):
    """By default, and what each bit means; another one in pixel_mask_1."""
    array = some((3, 8, 10), "uint16")
    mask = np.zeros((8, 10), "uint32")
    mask.flat[:32] = 1 << np.arange(32, dtype="uint64")
    other = np.zeros((8, 10), "int32")
    other[7, 7] = -2**31 + 4
    lost = (mask & 0xffff) != 0
    for of_all in (False, True):
        nexus(array, np.broadcast_to(mask, array.shape) if of_all else mask, group, [(f"{group}/pixel_mask_1", other)])
        both = lost.copy()
        both[7, 7] = True
        write_job("median", None, dataset="/entry/data/d")
        same(run(), expect("median", array, np.broadcast_to(both, array.shape)))
        write_job("median", f'{{ dataset = "/{group}/pixel_mask" }}', dataset="/entry/data/d")
        same(run(), expect("median", array, np.broadcast_to(mask != 0, array.shape)))
        write_job("median", '{ value = 61 }', dataset="/entry/data/d")
        same(run(), expect("median", array, np.broadcast_to(both, array.shape), 61))
        write_job("median", '"none"', dataset="/entry/data/d")
        write("e.h5", d=array)
        write_job("median", None, file="e.h5", output="eo.h5", name="e.toml")
        call("e.toml", "--quiet", "--resume", "never")
        same(run(), read("eo.h5"))


def test_links_to_the_data():
    """The mask of the detector that has the data, where several have one."""
    array, mask = some((3, 8, 10), "uint16"), some_mask((8, 10))
    with h5py.File("i.h5", "w") as file:
        file["entry/instrument/camera/image"] = array
        file["entry/instrument/camera/pixel_mask"] = mask
        file["entry/instrument/other/pixel_mask"] = np.ones_like(mask)
        file["entry/data/there"] = h5py.SoftLink("/entry/instrument/camera")
        file["entry/data/d"] = h5py.SoftLink("there/image")
        file["d"] = h5py.SoftLink("/entry/data/d")
    for dataset in ("/d", "/entry/data/d", "/entry/data/there/image"):
        write_job("median", None, dataset=dataset)
        same(run(), expect("median", array, np.broadcast_to(mask != 0, array.shape)))


def test_what_a_mask_of_the_file_does_not_do():
    """An empty one does nothing; one of another shape, or of several detectors, is named by a warning; a mask is
    itself no masked input; transpose moves the elements."""
    array = some((3, 8, 10), "uint16")
    array[1, 2, 3] = 65535
    nexus(array, np.zeros((8, 10), "uint32"))
    write_job("median", None, dataset="/entry/data/d")
    good("j.toml", "--quiet", "--resume", "never")
    assert "_FillValue" not in read()[1]
    nexus(array, np.ones((8, 9), "uint32"))
    good("j.toml", "--quiet", "--resume", "never", says=r"runner: warning: .*pixel_mask.*does not fit.*\[8, 9\].*\n")
    nexus(array, some_mask((8, 10)), "entry/instrument/a", [("entry/instrument/b/pixel_mask", np.ones((8, 10), "u4"))])
    good("j.toml", "--quiet", "--resume", "never", says=r"runner: warning: .*/a/pixel_mask; .*/b/pixel_mask; median takes.*\n")
    nexus(array, some_mask((8, 10)))
    write_job("median", None, dataset="/entry/instrument/detector/pixel_mask")
    good("j.toml", "--quiet", "--resume", "never")
    write_job("transpose", None, dataset="/entry/data/d")
    good("j.toml", "--quiet", "--resume", "never", says=r"runner: warning: .*pixel_mask.*transpose moves them.*\n")
    np.testing.assert_array_equal(read()[0], array.transpose(1, 2, 0))
    nexus(array.astype("uint8") % 4, some_mask((8, 10)))
    write_job("sand", None, keys="generations = 1", dataset="/entry/data/d")
    done = call("plan", "j.toml")
    assert re.search(r"warning: .*pixel_mask.*sand takes them as values", done.stderr), done.stderr
    write_job("sand", '{ dataset = "/entry/instrument/detector/pixel_mask" }', keys="generations = 1", dataset="/entry/data/d")
    bad(2, ["sand does not take invalid elements", "kind fill"], "j.toml", "--quiet", "--resume", "never")


def test_largest_number_of_dectris():
    """Saturated pixels and gaps of their detectors are no values, masked or not."""
    array = some((3, 8, 10), "uint32")
    mask = some_mask((8, 10), "uint32")
    lost = np.broadcast_to(mask != 0, array.shape).copy()
    for z, y, x in [(0, 0, 0), (2, 7, 9)]:
        array[z, y, x], lost[z, y, x] = 2**32 - 1, True
    nexus(array, mask, "entry/instrument/detector/detectorSpecific")
    write_job("bin", None, dataset="/entry/data/d")
    same(run(), expect("bin", array, lost))
    assert "saturated or gap = 4294967295" in good("inspect", "i.h5")


def test_number_that_stands_for_them():
    """A valid element that is this number is an error; `value` and what the file declares decide otherwise."""
    array, mask = some((3, 8, 10), "uint8"), some_mask((8, 10))
    mask[3, 4] = 0
    array[2, 3, 4] = 255
    marked = np.broadcast_to(mask != 0, array.shape)
    for of_all in (False, True):
        write("i.h5", d=array, mask=marked.astype("u1") if of_all else mask)
        for more, at in [("", "[2, 3, 4]"), ('region = { rows = "1:6", columns = "2:9" }', "[2, 2, 2]")]:
            write_job("median", '{ dataset = "/mask" }', more)
            done = call("j.toml", "--quiet", "--resume", "never", code=3)
            assert "i.h5:/d" in done.stderr and f"element {at} of the input is 255 and not masked" in done.stderr, done.stderr
        write_job("median", '{ dataset = "/mask", value = 254 }')
        same(run(), expect("median", array, marked, 254))
        write_job("median", '{ dataset = "/mask", value = 255 }')
        same(run(), expect("median", array, marked | (array == 255), 255))
        with h5py.File("i.h5", "a") as file:
            file["d"].attrs["_FillValue"] = np.uint8(17)
        write_job("median", '{ dataset = "/mask" }')
        same(run(), expect("median", array, marked | (array == 17), 17))
        write_job("median", '{ dataset = "/mask", value = 254 }')
        good("j.toml", "--quiet", "--resume", "never", says=r"runner: warning: .*_FillValue = 17; median takes them as values.*\n")
        same(read(), expect("median", array, marked, 254))


def test_resume():
    """A changed mask is another job, in the input's file or in another one, of a frame or of all elements."""
    array = some((6, 11, 14), "uint16")
    for shape, in_file in itertools.product([(11, 14), (6, 11, 14)], ["i.h5", "m.h5"]):
        mask = some_mask(shape)
        write("i.h5", d=array)
        write("m.h5", other=array)
        with h5py.File(in_file, "a") as file:
            file["mask"] = mask
        write_job("bin", f'{{ file = "{in_file}", dataset = "/mask" }}' if in_file == "m.h5" else '{ dataset = "/mask" }')
        text = pathlib.Path("j.toml").read_text().replace("overwrite = true", "overwrite = false")
        pathlib.Path("j.toml").write_text(text)
        pathlib.Path("o.h5").unlink(missing_ok=True)
        good("j.toml", "--quiet")
        good("j.toml", "--quiet")  # it is there
        good("verify", "o.h5")
        with h5py.File(in_file, "a") as file:
            file["mask"][..., 5, 5] = 1 - (mask[..., 5, 5] != 0)
        bad(4, ["o.h5", "input."], "j.toml", "--quiet")


def test_steps():
    """The first pass alone reads the mask; what comes behind heeds the number."""
    array, mask = some((4, 11, 14), "uint16"), some_mask((11, 14))
    marked = np.broadcast_to(mask != 0, array.shape)
    steps = ('[[step]]\nkind = "transpose"\npermutation = [0, 2, 1]\n[[step]]\nkind = "rescale"\nfrom = "extremes"\n'
             'to = [0.0, 1.0]\ndtype = "float32"\n[[step]]\nkind = "fill"\nrest = 0.5\n[[step]]\nkind = "denoise"\nsigma = 0.1\n'
             'patch = [1, 2, 2]\nwindow = [1, 3, 3]\n')
    made = []
    for file, invalid, data in [("i.h5", '{ dataset = "/mask" }', array), ("e.h5", 65535, np.where(marked, 65535, array).astype("u2"))]:
        write(file, d=data, mask=mask)
        pathlib.Path("j.toml").write_text(
            f'[input]\nfile = "{file}"\ndataset = "/d"\ninvalid = {invalid}\n[output]\nfile = "o.h5"\noverwrite = true\n'
            f'sync = false\n[run]\nbackend = "{programs.backend}"\n{steps}')
        made.append(run())
    same(*made)


def test_what_is_said():
    array, mask = some((4, 11, 14), "uint16"), some_mask((11, 14))
    write("i.h5", d=array, mask=mask)
    write_job("bin", '{ dataset = "/mask" }')
    text = good("plan", "j.toml")
    count = int((mask != 0).sum())
    assert f"invalid elements: by the mask /mask, {count} of 154 elements of a frame, as 65535\n" in text, text
    assert json.loads(good("plan", "--json", "j.toml"))["outputs"][0]["invalid"] == "65535"
    assert 'invalid = { dataset = "/mask" }' in good("explain", "j.toml")
    write_job("bin", '{ file = "m.h5", dataset = "/mask", value = 3 }')
    assert 'invalid = { file = "m.h5", dataset = "/mask", value = 3.0 }' in good("explain", "j.toml")
    nexus(array, mask)
    assert "invalid elements: pixel_mask = /entry/instrument/detector/pixel_mask" in good("inspect", "i.h5")


def test_what_is_refused():
    array = some((4, 11, 14), "uint8")
    write("i.h5", d=array, wide=np.ones((14, 11)), row=np.ones(14), text=np.full((11, 14), b"a"), pairs=np.ones((11, 14), "c8"),
          mask=np.ones((11, 14)))
    for invalid, code, words in [
            ('{ dataset = "/wide" }', 3, ["the mask does not fit", "i.h5:/wide", "[14, 11]", "[4, 11, 14]"]),
            ('{ dataset = "/row" }', 3, ["the mask does not fit", "[14]"]),
            ('{ dataset = "/text" }', 3, ["i.h5:/text"]), ('{ dataset = "/pairs" }', 3, ["the mask does not fit", "numbers or bool"]),
            ('{ dataset = "/none" }', 3, ["/none"]), ('{ file = "none.h5", dataset = "/mask" }', 3, ["none.h5"]),
            ('{ dataset = "/mask", value = 256 }', 2, ["input.invalid", "uint8"]),
            ('{ dataset = "/mask", value = 1.5 }', 2, ["input.invalid", "uint8"]),
            ('{ value = 7 }', 2, ["has no mask", "value"])]:
        write_job("bin", invalid)
        bad(code, words, "j.toml", "--quiet", "--resume", "never")
    for invalid, words in [("{ dataset = 3 }", "input.invalid.dataset: expected"), ('{ dataset = "" }', "input.invalid.dataset"),
                           ('{ data = "/mask" }', "input.invalid.data"), ('{ dataset = "/mask", value = "x" }', "input.invalid.value: expected")]:
        write_job("bin", invalid)
        done = call("j.toml", "--quiet", code=2)
        assert words in done.stderr, done.stderr
