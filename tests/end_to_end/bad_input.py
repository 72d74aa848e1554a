"""What is wrong with an input, a job file or a command line, and what the program says of it.

Each row makes a file or none, names a command line, the exit code and words of the message. Every one
must end in time with exactly one `runner: error:` line and leave nothing behind that was not
there. A passed row prints its message with -rP.
"""
import os
import pathlib
import resource

import h5py
import pytest

import bad_files as bad
from harness import attempt, call, launch, new_folder

CPU_SECONDS = 30  # generous: what computes for ever has no end

# Words of which a message has one: which limit of time a probe meets first is the machine's.
EITHER_LIMIT = ("SIGXCPU", "took longer than")

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out.h5"
sync = false
[run]
backend = "cpu"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.5, 0.25, 0.25]
'''


def job(*settings):
    return ["job.toml", *(word for each in settings for word in ("--set", each))]


def bad_job(text):
    """A job file with these bytes."""
    return (lambda path: pathlib.Path("bad.toml").write_bytes(text), ["bad.toml"])


# Rows of a dataset /image in bad.h5, which is the input of a job: name, how it is made, exit code,
# words of the message.
INPUTS = [
    ("is not there", None, 3, ["bad.h5", "No such file"]),
    ("is a folder", os.mkdir, 3, ["it is a folder", "regular file"]),
    ("is a pipe", bad.pipe, 3, ["it is a pipe"]),
    ("is a socket", bad.a_socket, 3, ["it is a socket"]),
    ("is a link to itself", bad.name_circle, 3, ["Too many levels of symbolic links"]),
    ("is a link to nothing", lambda path: os.symlink("nowhere", path), 3, ["No such file"]),
    ("is a link to a device", lambda path: os.symlink("/dev/zero", path), 3, ["it is a device"]),
    ("is empty", bad.content(b""), 3, ["not an HDF5 file", "it is empty"]),
    ("is text", bad.content(b"1 2 3\n" * 99), 3, ["not an HDF5 file", "text"]),
    ("is PNG", bad.content(b"\x89PNG\r\n\x1a\n" + bytes(99)), 3, ["PNG"]),
    ("is gzip", bad.content(b"\x1f\x8b\x08" + bytes(99)), 3, ["gzip"]),
    ("is TIFF", bad.content(b"II*\0" + bytes(99)), 3, ["TIFF"]),
    ("is numpy", bad.content(b"\x93NUMPY" + bytes(99)), 3, ["numpy"]),
    ("has only a signature", bad.content(b"\x89HDF\r\n\x1a\n"), 3, ["bad.h5"]),
    ("superblock of no version", bad.superblock_version, 3, ["bad.h5"]),
    ("truncated", bad.truncated(0.6), 3, ["truncated", "it has", "bytes"]),
    ("truncated to its head", bad.truncated(0.02), 3, ["truncated"]),
    ("left open by a crashed writer", bad.left_open, 3, ["open for writing", "h5clear -s"]),
    ("no such dataset", bad.not_a_dataset, 3, ["none of that name", "/data", "/group/below"]),
    ("string", bad.typed("S5"), 3, ["string of 5 bytes", "Supported are"]),
    ("string of any length", bad.typed(h5py.string_dtype()), 3, ["string of any length"]),
    ("compound", bad.typed([("a", "f4"), ("b", "i2")]), 3, ["compound of 2 members"]),
    ("complex", bad.typed("c16"), 3, ["complex"]),
    ("boolean", bad.typed("?"), 3, ["enumeration"]),
    ("list of any length", bad.typed(h5py.vlen_dtype("f8")), 3, ["list of any length"]),
    ("reference", bad.typed(h5py.ref_dtype), 3, ["reference"]),
    ("opaque", bad.typed("V7"), 3, ["opaque"]),
    ("array", bad.typed("(3,)f8"), 3, ["array"]),
    ("scalar", bad.shaped(()), 3, ["no axes"]),
    ("of no space", lambda path: bad.make(path, lambda f: f.__setitem__("image", h5py.Empty("f8"))),
     3, ["no axes"]),
    ("no elements", bad.shaped((0, 5)), 3, ["extent 0"]),
    ("one axis", bad.shaped((50,)), 3, ["two axes", "[50]"]),
    ("more bytes than 63 bits", bad.extents(2 ** 40, 2 ** 40), 3, ["bad.h5:/image", "2^63"]),
    ("more elements than stored", bad.extents(1000, 1000), 3, ["8000000", "19200"]),
    ("4 EiB in chunks, none stored", bad.big_with_nothing, 3,
     ["stores 0 B", "input.max_logical_bytes"]),
    ("4 PiB, none stored", bad.big_and_late, 3, ["stores 0 B", "input.max_logical_bytes"]),
    ("virtual, large and empty", bad.virtual_of_nothing, 3, ["input.max_logical_bytes"]),
    ("contiguous beyond the end", bad.contiguous_beyond_end, 3, ["byte 1000000000000", "has"]),
    ("contiguous, behind what HDF5 reads", bad.contiguous_behind_what_hdf5_reads, 3,
     ["bad.h5:/image", "19200 bytes"]),
    ("one chunk, behind what HDF5 reads", bad.chunks_behind_what_hdf5_reads, 3,
     ["bad.h5:/image", "19200 bytes"]),
    ("deflated edges that are called plain", bad.edges_called_plain, 3,
     ["chunk from [32, 0]", "bytes of it are stored, which cannot be its 2560"]),
    ("contiguous, too few bytes", bad.contiguous_too_short, 3, ["19200", "800"]),
    ("chunk beyond the end", bad.chunk_beyond_end, 3,
     ["chunk from [0, 0]", "byte 1000000000", "damaged"]),
    ("chunk at the highest address", bad.chunk_at_highest_address, 3, ["chunk from [0, 0]"]),
    ("chunks over one another", bad.chunks_over_one_another, 3,
     ["[0, 0]", "[0, 20]", "over one another"]),
    ("chunk of wrong bytes", bad.chunk_of_wrong_bytes, 3, ["77 bytes", "2560"]),
    ("chunk of no bytes", bad.chunk_of_no_bytes, 3, ["chunk from [0, 0]"]),
    ("chunk too small for deflate", bad.chunk_too_small_for_deflate, 3, ["2097152"]),
    ("chunk too small for n-bit", bad.chunk_stored_as(479, 5), 3,
     ["chunk from [32, 40]", "479 bytes", "at least 480"]),
    ("chunk too small for scale-offset", bad.chunk_stored_as(400, 6), 3,
     ["chunk from [32, 40]", "400 bytes", "at least"]),
    ("chunk of scale-offset without its head", bad.chunk_stored_as(3, 6), 3,
     ["chunk from [32, 40]", "3 bytes", "at least 21"]),
    ("chunks of another type's elements", bad.other_element_size, 3,
     ["bad.h5:/image", "chunk from [0, 0]", "640", "1280"]),
    ("compact, too few bytes", bad.compact_of_less, 3, ["1600", "160 are stored"]),
    ("no elements and no fill value", bad.nothing_to_read, 3, ["bad.h5:/image", "no fill value"]),
    ("chunk of three axes", bad.chunk_rank(3), 3, ["damaged"]),
    ("chunk of one axis", bad.chunk_rank(1), 3, ["damaged"]),
    ("chunk of 2^31 a side", bad.chunk_extents(2 ** 31, 2 ** 31), 3, ["bad.h5", "4 GiB"]),
    ("chunk of no extent", bad.chunk_extents(0, 20), 3, ["bad.h5"]),
    ("extents beyond the largest", bad.extents_beyond_the_largest, 3,
     ["bad.h5:/image", "axis 1", "62", "61"]),
    ("largest extents of many chunks", bad.largest_of_many_chunks, 3,
     ["bad.h5:/image", "more than 2^63 chunks", "axis 1"]),
    ("fixed array of other extents", bad.fixed_array_of_other_extents, 3,
     ["bad.h5:/image", "lies outside"]),
    ("fixed array of fewer chunks", bad.fixed_array_of_fewer_chunks, 3,
     ["bad.h5:/image", "room for 9 chunks", "18"]),
    ("single chunk of less", bad.single_chunk_of_less, 3,
     ["bad.h5:/image", "its only chunk is [40, 30]"]),
    ("broken names", bad.broken_links, 3, ["cannot list", "bad.h5"]),
    ("broken index", bad.broken_tree, 3, ["index of chunks"]),
    ("index in a circle", bad.tree_of_itself, 3, ["damaged or malicious", "SIGSEGV"]),
    ("filter not installed", bad.missing_filter, 3, ["filter 32010", "HDF5_PLUGIN_PATH"]),
    ("deflate of level 99", bad.filter_value(1, (0, 99), compression="gzip"), 3, ["99"]),
    ("shuffle of 0 bytes", bad.filter_value(2, (0, 0), shuffle=True), 3, ["filter 2"]),
    ("shuffle of 2^31 bytes", bad.filter_value(2, (0, 2 ** 31), shuffle=True), 3, ["filter 2"]),
    ("virtual, file missing", bad.virtual("none.h5"), 3, ["missing: none.h5"]),
    ("virtual, dataset missing", bad.virtual("in.h5", "imag"), 3, ["in.h5:/imag", "none of that"]),
    ("virtual, in another folder", bad.virtual("../outside.h5"), 3,
     ["../outside.h5", "input.allow_external"]),
    ("virtual, of a short chunk", bad.virtual_of_short_chunk, 3, ["short.h5:/image", "2097152"]),
    ("virtual, of itself", bad.virtual(".", "image"), 3, ["in a circle"]),
    ("virtual, in a circle", bad.virtual_circle, 3, ["in a circle"]),
    ("virtual, of a view of the system", bad.virtual("/proc/version"), 3, ["/proc/version"]),
    ("virtual, of a URL", bad.virtual("https://example.org/a.h5"), 3, ["no URLs"]),
    ("external, file missing", bad.external("none.raw"), 3, ["missing: none.raw"]),
    ("external, file too short", bad.external("short.raw"), 3, ["has 100 of 19200"]),
    ("external, in another folder", bad.external("../outside.raw"), 3, ["input.allow_external"]),
    ("external, of the system", bad.external("/etc/passwd"), 3,
     ["/etc/passwd", "input.allow_external"]),
    ("external, of a device", bad.external("/dev/zero"), 3, ["it is a device"]),
    ("external, of /proc", bad.external("/proc/self/environ"), 3, ["view of the system"]),
    ("link to nothing", bad.link(h5py.SoftLink("/nowhere")), 3, ["a link to what is not there"]),
    ("links in a circle", bad.soft_circle, 3, ["in a circle"]),
    ("link to a group", bad.link(h5py.SoftLink("/group")), 3, ["it is a group"]),
    ("link into a missing file", bad.link(h5py.ExternalLink("none.h5", "/image")), 3,
     ["none.h5", "not there"]),
    ("link into another folder", bad.link(h5py.ExternalLink("../outside.h5", "/image")), 3,
     ["../outside.h5", "input.allow_external"]),
    ("link by a link into another folder", bad.link(h5py.SoftLink("/group/../image")), 3, ["bad.h5"]),
    ("link into a device", bad.link(h5py.ExternalLink("/dev/zero", "/image")), 3, ["a device"]),
    ("link into a URL", bad.link(h5py.ExternalLink("http://example.org/a", "/image")), 3, ["no URLs"]),
    ("link into text", bad.link(h5py.ExternalLink("job.toml", "/image")), 3, ["job.toml", "text"]),
    ("links into itself", bad.outside_circle, 3, ["in a circle"]),
    ("heap that counts 2^40", bad.huge_heap, 3, ["bad.h5"]),
    ("heap that never ends", bad.heap_past_its_end, 3, ["damaged or malicious", EITHER_LIMIT]),
    ("selection of many axes", bad.selection_of_many_axes, 3, ["damaged or malicious", "SIGABRT"]),
]

# The same where only reading the elements shows it: the run's unfinished output stays, to be resumed
# with when the input is whole again.
UNREADABLE = [
    ("fletcher32 says no", bad.damaged_bytes(fletcher32=True), 3,
     ["chunk from [32, 40]", "rows", "fletcher32"]),
    ("fletcher32 of deflate says no", bad.damaged_bytes(fletcher32=True, compression="gzip"), 3,
     ["chunk from [32, 40]", "fletcher32"]),
    ("deflate stream damaged", bad.damaged_bytes(compression="gzip"), 3, ["chunk from [32, 40]"]),
    ("chunk unpacks to half", bad.short_chunk(), 3, ["chunk from [0, 0]", "2560"]),
    ("chunk unpacks to half, others missing", bad.short_chunk_among_missing, 3,
     ["chunk from [0, 0]", "2560"]),
]

# Rows of a whole command line: name, how its file is made, arguments, exit code, words.
LINES = [
    ("no arguments", None, [], 2, ["no job file"]),
    ("unknown verb", None, ["rum"], 2, ["unknown verb", "run"]),
    ("job not there", None, ["jop.toml"], 2, ["No such file", "job.toml"]),
    ("job is a folder", lambda path: os.mkdir("bad.toml"), ["bad.toml"], 2, ["is a directory"]),
    ("job is a pipe", lambda path: os.mkfifo("bad.toml"), ["bad.toml"], 2, ["not a regular file"]),
    ("job is a device", None, ["/dev/zero"], 2, ["not a regular file"]),
    ("job over 1 MiB", *bad_job(b"#" * (2 ** 20 + 1)), 2, ["1.00 MiB"]),
    ("job is empty", *bad_job(b""), 2, ["kind is missing"]),
    ("job is HDF5", None, ["in.h5"], 2, ["it is an HDF5 file"]),
    ("job of no UTF-8", *bad_job(b'kind = "\xff\xfe"\n'), 2, ["bad.toml:1:"]),
    ("job of an assertion", *bad_job(b"[:s]]\n"), 2, ["bad.toml:1:"]),
    ("job of 300 brackets", *bad_job(b"a = " + b"[" * 300 + b"]" * 300), 2, ["nested too deeply"]),
    ("job of 100000 dots", *bad_job(b"a" + b".a" * 100000 + b" = 1"), 2, ["nested too deeply"]),
    ("job with a key twice", *bad_job(b"kind = 1\nkind = 2\n"), 2, ["bad.toml:2:"]),
    ("job with an open string", *bad_job(b'kind = "convolve\n'), 2, ["bad.toml:1:"]),
    ("job with a long integer", *bad_job(b"a = 99999999999999999999\n"), 2, ["bad.toml:1:"]),
    ("NUL in a name", None, job('input.file="in.h5\\u0000.png"'), 2, ["input.file", "U+0000"]),
    ("share as a size", None, job('input.max_logical_bytes="80%"'), 2, ["max_logical_bytes"]),
    ("text as a boolean", None, job('input.allow_external="yes"'), 2, ["allow_external"]),
    ("input is a URL", None, job('input.file="https://example.org/a.h5"'), 3, ["no URLs"]),
    ("input is /proc/self/mem", None, job('input.file="/proc/self/mem"'), 3, ["view of the system"]),
    ("input is /dev/zero", None, job('input.file="/dev/zero"'), 3, ["it is a device"]),
    ("size over what is allowed", None, job('input.max_logical_bytes="10kB"'), 3, ["18.8 KiB"]),
    ("large size that is allowed", bad.big_and_late,
     ["plan", *job('input.file="bad.h5"', 'input.max_logical_bytes="9000TiB"')], 2, ["not fit"]),
    ("dataset is a group", bad.not_a_dataset, job('input.file="bad.h5"', 'input.dataset="/group"'),
     3, ["it is a group", "/group/below"]),
    ("dataset is a type", bad.not_a_dataset, job('input.file="bad.h5"', 'input.dataset="/type"'),
     3, ["it is a stored type"]),
    ("dataset is an attribute", bad.not_a_dataset,
     job('input.file="bad.h5"', 'input.dataset="/data/image"'), 3, ["none of that name"]),
    ("dataset is the root", bad.not_a_dataset,
     job('input.file="bad.h5"', 'input.dataset="/"', 'output.dataset="/x"'), 3, ["it is a group"]),
    ("output is the input", None, job('output.file="./in.h5"'), 2, ["same file as input.file"]),
    ("output is a hard link", lambda path: os.link("in.h5", path), job('output.file="bad.h5"'), 2,
     ["same file as input.file"]),
    ("output is a symbolic link", lambda path: os.symlink("in.h5", path),
     job('output.file="bad.h5"'), 2, ["same file as input.file"]),
    ("output's partial is the input", lambda path: os.link("in.h5", "bad.h5.partial"),
     job('output.file="bad.h5"'), 2, ["bad.h5.partial"]),
    ("output's lock is the input", lambda path: os.link("in.h5", "bad.h5.lock"),
     job('output.file="bad.h5"'), 2, ["bad.h5.lock", "input.file"]),
    ("output is a device", None, job('output.file="/dev/null"', "output.overwrite=true"), 2,
     ["/dev/null", "regular file"]),
    ("output is the root", None, job('output.dataset="/"'), 2, ["root"]),
    ("output in runner's group", None, job('output.dataset="/runner/x"'), 2, ["/runner"]),
    ("output is the taps", bad.good, job('output.file="bad.h5"', "output.overwrite=true",
     'convolve.row_taps={ file = "bad.h5", dataset = "/image" }'), 2, ["bad.h5", "output.file"]),
    ("report is the trace", None, ["job.toml", "--report", "r.json", "--trace", "r.json"], 2,
     ["r.json", "--report", "--trace"]),
    ("two reports", None, ["job.toml", "--report", "r.json", "--report", "./r.json"], 2, ["r.json"]),
    ("trace is the input", None, ["job.toml", "--trace", "in.h5"], 2, ["--trace", "input.file"]),
    ("trace is the job", None, ["job.toml", "--trace", "job.toml"], 2, ["--trace", "job file"]),
    ("report is the output", None, [*job('output.file="r.h5"'), "--report", "r.h5"], 2,
     ["--report"]),
    ("chunk over the host's memory", bad.large_chunk,
     [*job('input.file="bad.h5"', 'run.host_memory="1GiB"')], 2, ["run.host_memory"]),
    ("taps not there", None, job('convolve.row_taps={ file = "no.h5", dataset = "/t" }'), 3, ["no.h5"]),
    ("taps damaged", bad.tree_of_itself,
     job('convolve.row_taps={ file = "bad.h5", dataset = "/image" }'), 3, ["bad.h5"]),
    ("taps of 4 PiB", bad.big_and_late,
     job('convolve.row_taps={ file = "bad.h5", dataset = "/image" }'), 3, ["max_logical_bytes"]),
    ("inspect an index in a circle", bad.tree_of_itself, ["inspect", "bad.h5"], 3, ["bad.h5"]),
    ("inspect a pipe", bad.pipe, ["inspect", "bad.h5"], 3, ["it is a pipe"]),
    ("inspect a link outside", bad.link(h5py.ExternalLink("../outside.h5", "/image")),
     ["inspect", "bad.h5:/image"], 3, ["--trust-input"]),
    ("inspect a selection of many axes", bad.selection_of_many_axes, ["inspect", "bad.h5"], 3,
     ["SIGABRT"]),
    ("compare with a chunk beyond the end", bad.chunk_beyond_end,
     ["compare", "in.h5:/image", "bad.h5:/image"], 3, ["bad.h5", "byte 1000000000"]),
    ("render a chunk of no bytes", bad.chunk_of_no_bytes, ["render", "bad.h5:/image", "r.png"], 3,
     ["bad.h5"]),
    ("render 4 EiB", bad.big_with_nothing, ["render", "bad.h5:/image", "r.png"], 3,
     ["--trust-input"]),
    ("plan a truncated file", bad.truncated(0.5), ["plan", *job('input.file="bad.h5"')], 3,
     ["truncated"]),
]

# Rows that are right: what a check must not refuse.
RIGHT = [
    ("virtual beside", bad.virtual("in.h5"), []),
    ("virtual of a virtual", bad.virtual_of_virtual, []),
    ("virtual elsewhere, allowed", bad.virtual("../outside.h5"), ["input.allow_external=true"]),
    ("link beside", bad.link(h5py.ExternalLink("in.h5", "/image")), []),
    ("link elsewhere, allowed", bad.link(h5py.ExternalLink("../outside.h5", "/image")),
     ["input.allow_external=true"]),
    ("external beside", bad.external("raw.raw"), []),
    ("some chunks never written", bad.sparse, []),
    ("chunks never filled", bad.never_filled, []),
    ("chunks never written", bad.shaped((40, 60), chunks=(16, 20)), []),
    ("never written", bad.shaped((40, 60)), []),
    ("scaleoffset", lambda path: bad.chunked(path, scaleoffset=4), []),
    ("n-bit, as few bytes as hold them", bad.chunk_stored_as(480, 5), []),
    ("plain chunks across the edge", bad.plain_edges, []),
    ("fletcher32", lambda path: bad.chunked(path, fletcher32=True), []),
    ("user block", bad.user_block, []),
]


def alternatives(word):
    return word if isinstance(word, tuple) else (word,)


def cpu_seconds():
    """What processes that have ended took, with theirs: a busy machine makes it no longer."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


UNFINISHED = [("out.h5.journal", "out.h5.partial"),
              ("out.h5.journal", "out.h5.lock", "out.h5.partial")]

KEPT = {"in.h5", "job.toml", "raw.raw", "short.raw"}


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            remove(os.path.join(path, name))
        os.rmdir(path)
    else:
        os.unlink(path)


def check_result():
    """The output is the one of a plain dataset of the values that h5py reads."""
    with h5py.File("bad.h5") as file, h5py.File("out.h5") as out:
        values, result = file["image"][...], out["image"][...]
    with h5py.File("plain.h5", "w") as file:
        file["image"] = values
    plain = job('input.file="plain.h5"', 'output.file="plain_out.h5"')
    call(*plain, "--quiet")
    with h5py.File("plain_out.h5") as out:
        assert result.tobytes() == out["image"][...].tobytes(), "it was read wrong"


def try_row(ranks, make, arguments, code, words, may_be_left=((),)):
    """Runs one row, and removes what it has made."""
    if make is not None:
        make("bad.h5")
    before = set(os.listdir())
    try:
        begin = cpu_seconds()
        done = attempt(*arguments, before=launch(ranks), errors="replace")
        seconds = cpu_seconds() - begin
        print(done.stderr, f"exit {done.returncode}, {seconds:.1f} s of a processor")
        errors = [line for line in done.stderr.splitlines() if "runner: error:" in line]
        assert done.returncode == code and len(errors) == (code != 0), done
        for word in words:
            assert any(each in done.stderr for each in alternatives(word)), f"{word}: {done}"
        # Ranks that wait for others compute meanwhile.
        assert ranks > 1 or seconds <= CPU_SECONDS, f"took {seconds:.1f} s of a processor"
        assert tuple(sorted(set(os.listdir()) - before)) in may_be_left
        if code == 0:
            check_result()
    finally:
        for new in set(os.listdir()) - KEPT:
            remove(new)


def all_rows():
    """(name, ranks, …) as try_row() takes them."""
    of_bad = job('input.file="bad.h5"')
    rows = [(name, 1, make, of_bad, code, words) for name, make, code, words in INPUTS]
    rows += [(name, 1, *row) for name, *row in LINES]
    rows += [(f"{name}, two ranks", 2, *row) for name, _, *row in rows[::15]]
    rows += [(name, 1, make, of_bad, code, words, UNFINISHED)
             for name, make, code, words in UNREADABLE]
    rows += [(name + ", two ranks", 2, *row) for name, _, *row in rows[-len(UNREADABLE)::3]]
    rows += [(name, 1, make, [*of_bad, "--quiet", *job(*settings)[1:]], 0, [], (("out.h5",),))
             for name, make, settings in RIGHT]
    return rows + [("virtual, one of two files missing", 1, bad.virtual_in_part, of_bad, 3,
                    ["1 of its 2 sources", "none.h5", 'input.missing = "fill"']),
                   ("virtual, one of two files filled in", 1, bad.virtual_in_part,
                    job('input.file="bad.h5"', 'input.missing="fill"'), 0,
                    ["runner: warning:", "1 of its 2 sources", "none.h5", "fill value"], (("out.h5",),))]


@pytest.fixture(scope="module", autouse=True)
def folder():
    with new_folder():
        os.mkdir("work")
        os.chdir("work")
        bad.good("in.h5")
        bad.good("../outside.h5")
        bad.IMAGE.tofile("raw.raw")
        bad.IMAGE.tofile("../outside.raw")
        pathlib.Path("short.raw").write_bytes(bytes(100))
        pathlib.Path("job.toml").write_text(JOB)
        yield


@pytest.mark.share(0.6)
@pytest.mark.parametrize("row", [pytest.param(row[1:], id=row[0]) for row in all_rows()])
def test_row(row):
    try_row(*row)


def test_locked_by_a_writer():
    """The one row that another open file makes."""
    bad.good("bad.h5")
    with h5py.File("bad.h5", "r+"):
        try_row(1, None, job('input.file="bad.h5"'), 3,
                ["another process has it locked", "HDF5_USE_FILE_LOCKING"])
