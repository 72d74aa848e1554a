"""The files that give bytes to a job, whatever leads to them, are part of what the job is.

An output is not taken for complete once one of them has changed, an interrupted run is not resumed, and
a change while they are read is noticed: behind links, in external storage, as sources of virtual
datasets of every form, with the frames' key, a field of `correct`, taps, a member of a stack.
"""
import os
import pathlib

import h5py
import numpy as np
import pytest

from events import release, wait_for_held
from faulty_runs import finish, kill_midway, Program
from harness import call

pytestmark = pytest.mark.faults
SHAPE = (96, 48)
HALF = SHAPE[1] // 2
CONVOLVE = "[convolve]\nrow_taps = [0.5, 0.25, 0.25]\ncolumn_taps = [1.0]\n"
CORRECT = '[correct]\ndark = 0\nflat = { file = "side.h5", dataset = "/flat" }\n'
FRAMES = (24, 8, 48)


def image(version, shape=SHAPE):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 97 + 1 + version


def date(path, version):
    """A time of its own for each version, whenever it is written."""
    os.utime(path, ns=(0, (1_700_000_000 + version) * 10**9))


def write(path, version, name="d", data=None, **options):
    with h5py.File("made.h5", "w") as file:
        file.create_dataset(name, data=image(version) if data is None else data, **options)
    # In place, and beside the lock of a process that reads it with HDF5.
    pathlib.Path(path).write_bytes(pathlib.Path("made.h5").read_bytes())
    os.remove("made.h5")
    date(path, version)


def write_raw(path, version):
    image(version).tofile(path)
    date(path, version)


def columns(path, source, name="d"):
    """A virtual dataset of a source's columns, the right half first."""
    layout = h5py.VirtualLayout(SHAPE, np.float32)
    given = h5py.VirtualSource(source, "d", SHAPE)
    layout[:, :HALF], layout[:, HALF:] = given[:, HALF:], given[:, :HALF]
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        file.create_virtual_dataset(name, layout)


def rows(path, sources):
    """A virtual dataset of whole rows, as many of each source."""
    layout = h5py.VirtualLayout(SHAPE, np.float32)
    count = SHAPE[0] // len(sources)
    for i, source in enumerate(sources):
        part = slice(i * count, (i + 1) * count)
        layout[part] = h5py.VirtualSource(source, "d", SHAPE)[part]
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        file.create_virtual_dataset("d", layout, fillvalue=-1)


def growing(path, sources, block):
    """A virtual dataset that grows with its source, or with the number of its sources."""
    unlimited = h5py.h5s.UNLIMITED
    here = h5py.h5s.create_simple(SHAPE, (unlimited, SHAPE[1]))
    there = h5py.h5s.create_simple((block, SHAPE[1]) if block > 1 else SHAPE,
                                   (unlimited if block == 1 else block, SHAPE[1]))
    here.select_hyperslab((0, 0), (unlimited, 1), (block, 1), (block, SHAPE[1]))
    if block == 1:
        there.select_hyperslab((0, 0), (unlimited, 1), (1, 1), (1, SHAPE[1]))
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_virtual(here, sources.encode(), b"d", there)
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        h5py.h5d.create(file.id, b"d", h5py.h5t.IEEE_F32LE, here, create)


def link(path, target, name="d"):
    with h5py.File(path, "w") as file:
        file[name] = h5py.ExternalLink(target, "/d")


# Each makes the input, and returns what changes its source, by a version of it.


def by_link():
    link("in.h5", "source.h5")
    return lambda version: write("source.h5", version)


def by_links():
    """A soft link, a link into a file, a soft link to a group there, and a link out of it."""
    with h5py.File("middle.h5", "w") as file:
        file["group"] = h5py.ExternalLink("source.h5", "/inner")
        file["other"] = h5py.SoftLink("/group")
    with h5py.File("in.h5", "w") as file:
        file["out"] = h5py.ExternalLink("middle.h5", "/other/d")
        file["d"] = h5py.SoftLink("/out")
    return lambda version: write("source.h5", version, "inner/d")


def by_storage():
    write_raw("source.raw", 0)
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("d", SHAPE, np.float32,
                            external=[("source.raw", 0, h5py.h5f.UNLIMITED)])
    return lambda version: write_raw("source.raw", version)


def by_linked_storage():
    """External storage behind a link."""
    by_storage()
    os.rename("in.h5", "middle.h5")
    link("in.h5", "middle.h5")
    return lambda version: write_raw("source.raw", version)


def by_columns():
    columns("in.h5", "source.h5")
    return lambda version: write("source.h5", version)


def by_rows():
    rows("in.h5", ["source.h5", "other.h5"])
    write("other.h5", 5)
    return lambda version: write("source.h5", version)


def by_rows_of_storage():
    """Whole rows of a dataset that is stored elsewhere."""
    by_storage()
    os.rename("in.h5", "middle.h5")
    rows("in.h5", ["middle.h5"])
    return lambda version: write_raw("source.raw", version)


def by_rows_of_link():
    link("middle.h5", "source.h5")
    rows("in.h5", ["middle.h5"])
    return lambda version: write("source.h5", version)


def by_link_between():
    """The file in the middle, through which whole rows are found, leads elsewhere then."""
    rows("in.h5", ["source.h5"])
    write("a.h5", 1)
    write("b.h5", 1)

    def change(version):
        link("source.h5", "a.h5" if version == 1 else "b.h5")
        date("source.h5", version)
    return change


def by_nested():
    columns("middle.h5", "source.h5")
    columns("in.h5", "middle.h5")
    return lambda version: write("source.h5", version)


def by_series():
    """The third file of a series."""
    for number in range(4):
        write(f"part-{number}.h5", 0, data=image(number)[:24])
    growing("in.h5", "part-%b.h5", 24)
    return lambda version: write("part-2.h5", version, data=image(version)[:24])


def by_growing():
    growing("in.h5", "source.h5", 1)
    return lambda version: write("source.h5", version, maxshape=(None, SHAPE[1]), chunks=(8, 48))


def by_missing():
    """A source comes that was not there, so that its rows were the fill value."""
    rows("in.h5", ["other.h5", "source.h5"])
    write("other.h5", 5)
    return lambda version: write("source.h5", version) if version > 1 else None


def by_place():
    """A source of the same name comes where HDF5 looks first."""
    os.makedirs("elsewhere")
    columns("in.h5", os.path.abspath("elsewhere/source.h5"))
    write("source.h5", 1)
    return lambda version: write("elsewhere/source.h5", version) if version > 1 else None


def by_key():
    """The key that chooses the frames lies in another file."""
    write("in.h5", 0, data=image(0, FRAMES))
    with h5py.File("in.h5", "a") as file:
        file["key"] = h5py.ExternalLink("source.h5", "/d")
    # As many frames, and others.
    return lambda version: write("source.h5", version,
                                 data=(np.arange(FRAMES[0]) == version).astype(np.int32))


def by_field():
    write("in.h5", 0, data=image(0, FRAMES))
    return lambda version: write("side.h5", version, "flat", image(version, FRAMES[1:]))


def by_field_of_columns():
    """A field that is a virtual dataset itself."""
    by_columns()
    os.rename("in.h5", "side.h5")
    with h5py.File("side.h5", "a") as file:
        file.move("d", "flat")
    write("in.h5", 0, data=image(0, (8, *SHAPE)))
    return lambda version: write("source.h5", version)


def by_taps():
    write("in.h5", 0)
    return lambda version: write("source.h5", version, data=np.array([0.25, 0.5, version]))


def by_stack():
    for number in range(8):
        np.save(f"in-{number}.npy", image(number, SHAPE))
        date(f"in-{number}.npy", 0)

    def change(version):
        np.save("in-5.npy", image(version, SHAPE))
        date("in-5.npy", version)
    return change


KEYS = 'frames = { where = "/key", equals = 0 }\n'
TAPS = CONVOLVE.replace("[1.0]", '{ file = "source.h5", dataset = "/d" }')
PASSES = '[[step]]\nkind = "bin"\nfactors = [1, 1]\n[[step]]\nkind = "rescale"\nfrom = "extremes"\n'
# What makes the input, what the input's table says more, and the job; by a name.
FORMS = {
    "link": (by_link, "", CONVOLVE),
    "links": (by_links, "", CONVOLVE),
    "storage": (by_storage, "", CONVOLVE),
    "storage behind a link": (by_linked_storage, "", CONVOLVE),
    "columns": (by_columns, "", CONVOLVE),
    "rows": (by_rows, "", CONVOLVE),
    "rows of storage": (by_rows_of_storage, "", CONVOLVE),
    "rows of a link": (by_rows_of_link, "", CONVOLVE),
    "link between": (by_link_between, "", CONVOLVE),
    "nested": (by_nested, "", CONVOLVE),
    "series": (by_series, "", CONVOLVE),
    "growing": (by_growing, "", CONVOLVE),
    "missing": (by_missing, 'missing = "fill"\n', CONVOLVE),
    "place": (by_place, "", CONVOLVE),
    "key": (by_key, KEYS, CONVOLVE),
    "field": (by_field, "", CORRECT),
    "field of columns": (by_field_of_columns, "", CORRECT),
    "taps": (by_taps, "", TAPS),
    "stack": (by_stack, "", CONVOLVE),
    "passes": (by_link, "", PASSES),
}
PARAMETERS = ("field", "field of columns", "taps")  # whose values are the job's, not its input's
CHANGED = {"field": "side.h5", "series": "part-2.h5", "storage": "source.raw", "stack": "in-5.npy",
           "storage behind a link": "source.raw", "rows of storage": "source.raw"}


@pytest.fixture(name="form", params=FORMS)
def make_form(request):
    """A job on an input of version 1: (its name, what changes the source)."""
    prepare, more, table = FORMS[request.param]
    change = prepare()
    change(1)
    write_job(more, table, "in-*.npy" if request.param == "stack" else "in.h5")
    return request.param, change


def write_job(more, table, file="in.h5"):
    kind = "" if table == PASSES else f'kind = "{table[1:table.index("]")]}"\n'
    dataset = "" if file.endswith(".npy") else 'dataset = "/d"\n'
    pathlib.Path("job.toml").write_text(
        f'{kind}[input]\nfile = "{file}"\n{dataset}{more}[output]\nfile = "out.h5"\ndataset = "/o"\n'
        f"[run]\nchunk_rows = 8\nlanes = 1\ncommit_seconds = 0\n{table}")


def name_of(form, compared=False):
    """The file that is reported; `compared`: where the facts of two runs are, those that are gone
    first."""
    return "a.h5" if compared and form == "link between" else CHANGED.get(form, "source.h5")


def start_held(when="3:.partial>=1000", function="pwrite"):
    return Program().start([], fault=f"{function}:hold={os.path.abspath('held')}@{when}")


def values():
    with h5py.File("out.h5") as file:
        return file["o"][...]


def test_a_finished_output_is_of_the_sources_as_they_were(form):
    name, change = form
    call("job.toml", "--quiet")
    before = values()
    assert "complete already" in call("job.toml").stderr
    call("verify", "out.h5")
    change(2)
    done = call("job.toml", "--quiet", code=4)
    says = "it is of another job" if name in PARAMETERS else "the input has changed since it was made"
    assert says in done.stderr
    assert name_of(name, True) in done.stderr or name == "stack", done.stderr
    # Of a file that was missing nothing is known but that other rows come now.
    came = name in ("missing", "place")
    done = call("verify", "out.h5", "--recompute", 9, code=7 if came else 3)
    assert came or name == "stack" or name_of(name) in done.stderr, done.stderr
    call("job.toml", "--quiet", "--set", "output.overwrite=true")
    assert "complete already" in call("job.toml").stderr
    assert name in ("link between", "passes") or not np.array_equal(values(), before)


def test_a_run_is_not_resumed_with_other_sources(form):
    name, change = form
    output = "out.h5.pass-1.h5" if name == "passes" else "out.h5"
    assert kill_midway(start_held("5:.partial>=1000"), output)
    change(2)
    done = call("job.toml", "--quiet", code=4 if name in PARAMETERS else 3)
    assert "cannot resume" in done.stderr
    assert name_of(name, True) in done.stderr or name == "stack", done.stderr
    assert not os.path.exists("out.h5")
    call("job.toml", "--quiet", "--resume", "never")


def test_a_change_while_they_are_read_is_noticed(form):
    name, change = form
    process = start_held()
    assert wait_for_held(process)
    change(2)
    release()
    code, text = finish(process)
    assert code == 3 and "changed while it was read" in text and name_of(name) in text, text
    assert not os.path.exists("out.h5")


@pytest.mark.share(0.5)
@pytest.mark.parametrize("name", ["link", "rows", "field", "key"])
def test_a_change_before_the_output_is_begun_is_noticed(name):
    """What was read of it by then would be of another version than the identity."""
    prepare, more, table = FORMS[name]
    change = prepare()
    change(1)
    write_job(more, table)
    process = start_held("1:out.h5.lock", "open")
    assert wait_for_held(process)
    change(2)
    release()
    code, text = finish(process)
    assert code == 3 and "changed while it was read" in text and name_of(name) in text, text
    call("job.toml", "--quiet")


def test_a_pass_before_the_last_has_other_sources():
    """The run was stopped in the last pass."""
    change = by_link()
    change(1)
    write_job("", PASSES)
    assert kill_midway(start_held("5:out.h5.partial>=1000"))
    change(2)
    done = call("job.toml", "--quiet", code=3)
    assert "since the input has changed" in done.stderr and "source.h5" in done.stderr


def test_the_identity_of_a_plain_file_says_nothing_of_others():
    write("in.h5", 1)
    write_job("", CONVOLVE)
    call("job.toml", "--quiet")
    with h5py.File("out.h5") as file:
        assert "input.source" not in file.attrs["identity"]
