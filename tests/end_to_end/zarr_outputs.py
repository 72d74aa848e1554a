"""Zarr and OME-Zarr outputs: as numcodecs and a plain reader of version 3 unpack them, whole, killed and damaged."""
import itertools
import json
import math
import os
import pathlib
import shutil
import signal
import struct
import subprocess

import h5py
import numcodecs
import numpy as np
import pytest

from harness import attempt, bad, call, good, programs
from tiff_outputs import TAPS, noise, write_input, write_job

COMPRESSIONS = {"none": [], "zstd": ["zstd"], "gzip": ["gzip"], "blosc-lz4": ["blosc"], "blosc-zstd": ["blosc"]}
CODECS = {"zstd": numcodecs.Zstd(), "gzip": numcodecs.GZip(), "blosc": numcodecs.Blosc()}
NO_CHUNK = 2**64 - 1


def crc32c(data):
    """Castagnoli's checksum, a bit at a time."""
    value = 2**32 - 1
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 2**32 - 1


def unpacked(codecs, data, dtype, shape):
    assert codecs[0] == {"name": "bytes", "configuration": {"endian": "little"}}
    for codec in reversed(codecs[1:]):
        data = CODECS[codec["name"]].decode(data)
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape)


def chunks_of_shard(data, codec, shape):
    """Each chunk's place among those of the shard, and its bytes; they follow one another in row-major order."""
    settings = codec["configuration"]
    assert settings["index_location"] == "end"
    assert [one["name"] for one in settings["index_codecs"]] == ["bytes", "crc32c"]
    counts = [whole // chunk for whole, chunk in zip(shape, settings["chunk_shape"], strict=True)]
    index, checksum = data[-16 * math.prod(counts) - 4:-4], data[-4:]
    assert struct.unpack("<I", checksum)[0] == crc32c(index)
    end = 0
    for place, (offset, size) in zip(itertools.product(*map(range, counts)), struct.iter_unpack("<QQ", index), strict=True):
        if offset == NO_CHUNK:
            assert size == NO_CHUNK
            continue
        assert offset == end
        end += size
        yield place, data[offset:end]
    assert end == len(data) - len(index) - 4


def read_array(folder):
    """An array of version 3, and its metadata."""
    node = json.loads(pathlib.Path(folder, "zarr.json").read_text())
    assert node["zarr_format"] == 3 and node["node_type"] == "array"
    assert node["chunk_key_encoding"] == {"name": "default", "configuration": {"separator": "/"}}
    shape, files = node["shape"], node["chunk_grid"]["configuration"]["chunk_shape"]
    array = np.zeros([math.ceil(a / b) * b for a, b in zip(shape, files, strict=True)], node["data_type"])
    names = {"zarr.json"}
    for place in itertools.product(*(range(math.ceil(a / b)) for a, b in zip(shape, files, strict=True))):
        names.add("/".join(map(str, ["c", *place])))
        data = pathlib.Path(folder, *map(str, ["c", *place])).read_bytes()
        at = tuple(slice(i * b, (i + 1) * b) for i, b in zip(place, files, strict=True))
        if node["codecs"][0]["name"] != "sharding_indexed":
            array[at] = unpacked(node["codecs"], data, array.dtype, files)
            continue
        codec = node["codecs"][0]
        chunk = codec["configuration"]["chunk_shape"]
        for inner, packed in chunks_of_shard(data, codec, files):
            within = tuple(slice(i * b, (i + 1) * b) for i, b in zip(inner, chunk, strict=True))
            array[at][within] = unpacked(codec["configuration"]["codecs"], packed, array.dtype, chunk)
    assert set(content(folder)) == names
    return array[tuple(slice(0, extent) for extent in shape)], node


def content(folder):
    """The bytes of all files but the record of the run."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*"))
            if path.is_file() and path.name != "runner.json"}


def set_output(settings):
    job = pathlib.Path("job.toml")
    job.write_text(job.read_text().replace("[output]", f"[output]\n{settings}"))


def same(found, wanted):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


LAYOUTS = ["", "chunk = [2, 16, 32]", "chunk = [1, 30, 300]\nshard = [1, 30, 300]", "chunk = [2, 10, 50]\nshard = [4, 50, 100]",
           "chunk = [3, 700, 7]\nshard = [300, 700, 7]"]


@pytest.mark.share(0.3)
@pytest.mark.quick
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_outputs(compression, layout):
    """The same bytes for any ranks, chunks and lanes; the elements are those that HDF5 holds."""
    array = noise((5, 130, 300), "uint16")
    write_input(array, DIMENSION_LABELS=["z", "y", "x"])
    write_job("rescale", "out.zarr", "from = [0, 200]\nto = [0, 200]")
    set_output(f'{layout}\ncompression = "{compression}"')
    made = []
    for ranks, rows, lanes in ((1, 1, 2), (2, 7, 1), (3, 100, 3)):
        call("job.toml", "--set", f"run.lanes={lanes}", "--set", f"run.chunk_rows={rows}", ranks=ranks)
        made.append(content("out.zarr"))
        assert made[-1] == made[0]
    found, node = read_array("out.zarr")
    same(found, array)
    assert node["dimension_names"] == ["z", "y", "x"]
    codecs = node["codecs"][0].get("configuration", {}).get("codecs") or node["codecs"]
    assert [codec["name"] for codec in codecs] == ["bytes", *COMPRESSIONS[compression]]
    call("verify", "out.zarr", "--recompute", "3")
    good("compare", "out.zarr", "in.h5:/x")
    time = os.stat("out.zarr/zarr.json").st_mtime_ns
    assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    assert os.stat("out.zarr/zarr.json").st_mtime_ns == time
    assert sorted(path.name for path in pathlib.Path().glob("out.zarr*")) == ["out.zarr"]
    options = [word for line in layout.splitlines() for word in ("--" + line.split()[0], line.split("[")[1][:-1].replace(" ", ""))]
    good("convert", "in.h5:/x", "b.zarr", "--compression", compression, *options)
    assert content("b.zarr") == made[0]


@pytest.mark.share(0.4)
@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64"])
def test_types_and_shapes(dtype):
    for shape in ((7,), (9, 11), (3, 4, 5, 6), (2, 3, 2, 5, 7)):
        array = noise(shape, "uint8").astype(dtype)
        np.save("in.npy", array)
        for settings in ([], ["--chunk", ",".join(str(max(1, extent // 2)) for extent in shape), "--compression", "zstd"]):
            good("convert", "in.npy", "out.zarr", "--overwrite", *settings)
            same(read_array("out.zarr")[0], array)
            good("convert", "out.zarr", "back.h5:/x", "--overwrite")
            with h5py.File("back.h5") as file:
                same(file["x"][...], array)


@pytest.mark.quick
@pytest.mark.parametrize("labels, names, said", [
    (["rotation_angle", "", ""], ["rotation_angle", "y", "x"], ""),
    (["", "theta", ""], ["z", "y", "x"], "the names of axes, ?, theta, ?, which OME-Zarr has not in this order"),
])
def test_axes_of_which_some_have_names(labels, names, said):
    """An axis keeps its name where others have none, or a warning says that it is lost."""
    write_input(noise((3, 5, 7), "uint16"), DIMENSION_LABELS=labels)
    write_job("transpose", "out.ome.zarr", "permutation = [0, 1, 2]")
    errors = call("job.toml").stderr
    image = json.loads(pathlib.Path("out.ome.zarr/zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]
    assert [axis["name"] for axis in image["axes"]] == names
    assert said in errors if said else "the names of axes" not in errors


@pytest.mark.quick
def test_image():
    """OME-Zarr has the axes, their spacings and units."""
    array = noise((5, 60, 70), "uint16")
    write_input(array, element_size_um=[2.5, 0.5, 0.325])
    write_job("bin", "out.ome.zarr", "factors = [2, 2]")
    call("job.toml")
    node = json.loads(pathlib.Path("out.ome.zarr/zarr.json").read_text())
    image = node["attributes"]["ome"]["multiscales"][0]
    assert node["node_type"] == "group" and node["attributes"]["ome"]["version"] == "0.5"
    assert image["axes"] == [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    assert [one["path"] for one in image["datasets"]] == ["0"]
    scale, move = image["datasets"][0]["coordinateTransformations"]
    assert scale == {"type": "scale", "scale": [2.5, 1.0, 0.65]}
    assert read_array("out.ome.zarr/0")[1]["dimension_names"] == ["z", "y", "x"]
    assert move["type"] == "translation" and np.allclose(move["translation"], [0, 0.25, 0.1625])
    call("verify", "out.ome.zarr", "--recompute", "2")
    with h5py.File("wanted.h5", "w") as file:
        file["x"] = read_array("out.ome.zarr/0")[0]
    write_job("bin", "out.h5", "factors = [2, 2]")
    call("job.toml")
    good("compare", "out.h5:/x", "wanted.h5:/x")
    good("compare", "out.h5:/x", "out.ome.zarr")


@pytest.mark.quick
def test_refusals():
    write_input(noise((5, 70, 10)))
    for output, settings, words in (
            ("out.zarr", ['compression="lz4"'], ['"lz4" is not for such a file', "zstd, gzip, blosc-lz4, blosc-zstd"]),
            ("out.zarr", ['compression="zstd"', "shuffle=true"], ["output.shuffle", "blosc-lz4"]),
            ("out.zarr", ["chunk=[2, 2]"], ["output.chunk", "3 axes"]),
            ("out.zarr", ["chunk=[1,2,3]", "shard=[1,3,3]"], ["output.shard", "whole chunks"]),
            ("out.zarr", ["parts=2"], ["output.parts"]),
            ("out.h5", ["chunk=[1,2,3]", "shard=[1,2,3]"], ["output.shard", ".zarr"]),
            ("out.npy", ["shard=[1,2,3]"], ["output.shard"])):
        write_job("transpose", output, "permutation = [0, 1, 2]")
        error = call("job.toml", *(word for one in settings for word in ("--set", f"output.{one}")), code=2).stderr
        assert all(word in error for word in words), error
        assert not os.path.exists(output)
    bad(2, ["--shard"], "convert", "in.h5:/x", "b.h5", "--shard", "1,2,3")
    np.save("line.npy", np.zeros(7, "uint8"))
    bad(2, ["two to five axes"], "convert", "line.npy", "b.ome.zarr")


@pytest.mark.quick
def test_what_others_made():
    """Neither a store of others nor what they put into an output is replaced."""
    write_input(noise((5, 70, 10)))
    write_job("transpose", "out.zarr", "permutation = [0, 1, 2]")
    for name in ("out.zarr/zarr.json", "out.zarr.partial/c/0/0/0", "out.zarr.partial/notes.txt"):
        path = pathlib.Path(name)
        path.parent.mkdir(parents=True)
        path.write_text("{}")
        call("job.toml", code=4)
        assert path.read_text() == "{}"
        shutil.rmtree(name.split("/")[0])
    call("job.toml")
    pathlib.Path("out.zarr/notes.txt").write_text("mine")
    assert "out.zarr" in call("job.toml", code=4).stderr
    assert pathlib.Path("out.zarr/notes.txt").read_text() == "mine"
    os.remove("out.zarr/notes.txt")
    before = content("out.zarr")
    call("job.toml", "--set", "transpose.permutation=[0, 2, 1]")  # write_job() overwrites
    assert content("out.zarr") != before
    call("verify", "out.zarr")
    assert sorted(path.name for path in pathlib.Path().glob("out.zarr*")) == ["out.zarr"]


FAULTS = ["pwrite:kill@3:out.zarr.partial.shard", "pwrite:torn@6:out.zarr.partial.shard", "pwrite:kill@1:out.zarr.partial/",
          "pwrite:torn@5:out.zarr.partial/", "pwrite:kill@1:out.zarr.partial/zarr.json", "pwrite:torn@1:out.zarr.partial/runner.json",
          "rename:kill@2:out.zarr.partial/c", "create:kill@4:out.zarr.partial/c", "fdatasync,fsync:kill@2:out.zarr.partial/c",
          "rename:kill@1:out.zarr.partial/zarr.json", "rename:kill@38:out.zarr.partial"]  # after 36 shards and zarr.json


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize(("compression", "layers"), [("none", 1), ("zstd", 1), ("zstd", 2)])
def test_killed(compression, layers):
    """A run that is killed at any write is resumed by any ranks to the same bytes; a finished output stays until then."""
    write_input(noise((6, 700, 400)), element_size_um=[2.5, 0.5, 0.325])
    write_job("convolve", "out.zarr", TAPS)
    set_output(f'compression = "{compression}"\nchunk = [{layers}, 64, 128]\nshard = [2, 128, 256]')
    commit = ("--set", "run.chunk_rows=350", "--set", "run.commit_seconds=0")
    call("job.toml", *commit)
    whole = content("out.zarr")
    faults = [fault for fault in FAULTS if not (in_memory() and "sync" in fault)]  # there it syncs shards
    for is_there, (number, fault) in itertools.product((False, True), enumerate(faults)):
        if is_there:
            call("job.toml", *commit, "--set", "convolve.boundary=\"reflect\"")
        else:
            shutil.rmtree("out.zarr")
        before = content("out.zarr")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        sync = f"output.sync={'false' if is_there and 'sync' not in fault else 'true'}"
        call("job.toml", *commit, "--set", sync, code=-signal.SIGKILL, env=environment)
        assert content("out.zarr") == before, fault
        call("job.toml", *commit, ranks=1 + number % 3)
        assert content("out.zarr") == whole, fault
        call("verify", "out.zarr")
        assert sorted(path.name for path in pathlib.Path().glob("out.zarr*")) == ["out.zarr"]


@pytest.mark.quick
@pytest.mark.parametrize("output", ["out.zarr", "out.h5"])
def test_no_memory_to_pack(output):
    """A packer that gets no memory, at first or for a chunk, ends the run with code 6; then the run is resumed."""
    write_input(noise((4, 60, 70)))
    write_job("convolve", output, TAPS)
    set_output('chunk = [1, 20, 70]\ncompression = "%s"' % ("zstd" if output == "out.zarr" else "bitshuffle-zstd"))
    for k in (1, 2):
        environment = {**os.environ, "LD_PRELOAD": programs.memory_shim, "FAULT": f"malloc:ENOMEM@{k}:libzstd",
                       "FAULT_LOG": os.path.abspath("memory.log")}
        assert "cannot take host memory (zstd" in call("job.toml", "--set", "run.io_threads=1", code=6, env=environment).stderr
    call("job.toml")
    call("verify", output)


@pytest.mark.quick
def test_file_removed_during_the_run():
    """A file of chunks that somebody removes while it grows ends the run, which then resumes; the others are kept."""
    write_input(noise((4, 60, 70)))
    write_job("convolve", "out.zarr", TAPS)
    set_output('compression = "zstd"\nchunk = [1, 20, 70]\nshard = [2, 60, 70]')
    call("job.toml")
    whole = content("out.zarr")
    shutil.rmtree("out.zarr")
    held = os.path.abspath("held")
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": f"pwrite:hold={held}@1:out.zarr.partial.shard-1-0",
                   "FAULT_LOG": os.path.abspath("fault.log")}
    settings = ["--set", "run.io_threads=1", "--set", "run.chunk_rows=120", "--set", "run.lanes=1"]
    run = subprocess.Popen([programs.runner, "job.toml", *settings], env=environment, stderr=subprocess.PIPE, text=True)
    while not (waits := list(pathlib.Path().glob("held.*"))):
        assert run.poll() is None
    grown = pathlib.Path("out.zarr.partial/c/0/0/0.partial")
    if in_memory():
        assert not grown.exists()
    else:
        grown.unlink()
    waits[0].unlink()
    error = run.communicate()[1]
    if not in_memory():
        assert run.returncode == 4 and "have changed on the disk" in error and "same command again" in error
        call("job.toml")
    assert content("out.zarr") == whole
    call("verify", "out.zarr")


@pytest.mark.quick
def test_room_for_the_rest():
    """Of what a killed run left, the disk space counts as free that it takes, not the holes in its files."""
    write_input(noise((4, 60, 70)))
    write_job("convolve", "out.zarr", TAPS)
    set_output('compression = "none"')
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": "rename:kill@1:out.zarr.partial/c",
                   "FAULT_LOG": os.path.abspath("fault.log")}
    call("job.toml", code=-signal.SIGKILL, env=environment)
    grown = pathlib.Path("out.zarr.partial/c/0/0/0.partial")
    assert grown.is_file()
    before, hole = free_bytes(), 2**42
    os.truncate(grown, hole)
    assert abs(free_bytes() - before) < hole / 2
    os.truncate(grown, noise((4, 60, 70)).nbytes)
    call("job.toml")
    call("verify", "out.zarr")


def free_bytes():
    return json.loads(call("plan", "job.toml", "--json").stdout)["disk_free_bytes"]


def in_memory():
    """Whether outputs lie in memory, where runner writes chunks twice."""
    return subprocess.run(["stat", "-f", "-c", "%T", "."], capture_output=True, text=True, check=True).stdout.strip() == "tmpfs"


@pytest.mark.quick
@pytest.mark.parametrize(("layout", "twice"), [('compression = "none"\nchunk = [2, 64, 128]', False), ('compression = "zstd"\nchunk = [1, 64, 128]', False),
                                               *(('compression = "blosc-lz4"\nchunk = [2, 64, 128]', twice) for twice in (False, True))])
def test_written_once(layout, twice):
    """Chunks are in their files when the rows are done; in memory, and where memory is short for several layers, they are not."""
    data = noise((6, 200, 400))
    write_input(data)
    write_job("transpose", "out.zarr", "permutation = [0, 1, 2]")
    set_output(layout)
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": "rename:kill@1:out.zarr.partial/c",
                   "FAULT_LOG": os.path.abspath("fault.log")}
    least = json.loads(call("plan", "job.toml", "--json").stdout)["memory_per_rank"]["host_bytes"]
    memory = least if twice else 2**30  # the plan's alone, or with room for rows that wait
    call("job.toml", "--set", f"run.host_memory={memory}", code=-signal.SIGKILL, env=environment)
    waiting = sum(path.stat().st_size for path in pathlib.Path().glob("out.zarr.partial.shard-*"))
    assert waiting > data.nbytes / 2 if twice or in_memory() else waiting < 100 * 50 * 6  # a record for each part
    call("job.toml")
    assert np.array_equal(read_array("out.zarr")[0], data)


@pytest.mark.quick
@pytest.mark.parametrize("same_job", [True, False])
def test_killed_after_the_exchange(same_job):
    """The new output has its name and the old one is half removed: the next run of any job removes the rest."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", "out.zarr", TAPS)
    set_output("chunk = [1, 16, 16]\nshard = [2, 32, 48]")
    call("job.toml", "--set", "convolve.boundary=\"reflect\"")
    environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": "unlink:kill@3:out.zarr.partial/c",
                   "FAULT_LOG": os.path.abspath("fault.log")}
    call("job.toml", code=-signal.SIGKILL, env=environment)
    made = content("out.zarr")
    assert os.path.exists("out.zarr.partial")
    if same_job:
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
        assert content("out.zarr") == made
    else:
        call("job.toml", "--set", "convolve.boundary=\"wrap\"")
    call("verify", "out.zarr")
    assert sorted(path.name for path in pathlib.Path().glob("out.zarr*")) == ["out.zarr"]


def damage(folder, name, change):
    """Changes a file of an output, or adds one."""
    path = pathlib.Path(folder, name)
    data = path.read_bytes()
    if change == "remove":
        path.unlink()
    elif change == "add":
        path.with_name("more").write_bytes(b"x")
    elif change == "empty":
        path.write_bytes(b"")
    elif change == "cut":
        path.write_bytes(data[:-3])
    elif change == "index":
        path.write_bytes(data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])
    else:
        path.write_bytes(data[:7] + bytes([data[7] ^ 1]) + data[8:])


SHARDED = "chunk = [1, 16, 16]\nshard = [2, 32, 48]"
ALONE = "chunk = [2, 16, 16]\nshard = [2, 16, 16]"


@pytest.mark.share(0.4)
@pytest.mark.quick
@pytest.mark.parametrize(("layout", "change"), [*itertools.product([SHARDED, ALONE], ["remove", "empty", "cut"]),
                                                (SHARDED, "index")])
def test_files_repaired(layout, change):
    """A file of chunks that is missing, or whose index is damaged, is wrong rows, and is written again."""
    write_input(noise((6, 70, 40)) * (np.arange(6) > 1)[:, None, None].astype("uint16"))  # two frames of zeros
    write_job("convolve", "out.zarr", TAPS)
    set_output(f'compression = "zstd"\n{layout}')
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.zarr")
    for names in (["c/0/1/0"], ["c/1/0/0", "c/1/1/0", "c/2/2/0"], [name for name in whole if name.startswith("c/")]):
        for name in names:
            damage("out.zarr", name, change)
        found = attempt("verify", "out.zarr")
        assert found.returncode == 7 and "wrong: " in found.stdout + found.stderr
        if len(names) == sum(name.startswith("c/") for name in whole) and change != "remove":
            assert "compute them again" not in found.stdout and "Move it away and run the job again" in found.stdout
            assert "may be another file" in call("repair", "out.zarr", code=7).stderr  # nothing is as it was made
            break
        assert "repaired: " in call("repair", "out.zarr").stdout
        assert content("out.zarr") == whole
        call("verify", "out.zarr")
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr


@pytest.mark.quick
@pytest.mark.parametrize("compression", ["zstd", "gzip", "blosc-lz4", "blosc-zstd", "none"])
def test_bytes_behind_a_chunk(compression):
    """What follows a packed chunk in its file is damage, since other programs do not read such a file."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", "out.zarr", TAPS)
    set_output(f'compression = "{compression}"\n{ALONE}')
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.zarr")
    path = pathlib.Path("out.zarr/c/1/1/0")
    path.write_bytes(path.read_bytes() + b"garbage")
    call("convert", "out.zarr", "new.npy", code=3)
    assert "wrong: " in call("verify", "out.zarr", code=7).stdout
    assert "repaired: " in call("repair", "out.zarr").stdout
    assert content("out.zarr") == whole
    call("verify", "out.zarr")


@pytest.mark.quick
@pytest.mark.parametrize("output", ["out.zarr", "out.ome.zarr"])
def test_only_file_missing(output):
    """Where all chunks are in one file and it is missing or empty, all rows are wrong. Repair makes one that is missing
    again, and replaces none of which nothing is right."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", output, TAPS)
    call("job.toml")
    whole = content(output)
    name, = [name for name in content(output) if name.endswith("c/0/0/0")]
    damage(output, name, "remove")
    found = call("verify", output, code=7).stdout
    assert "wrong: " in found and name in found and "its file is missing" in found
    assert f"to compute them again: runner repair {output}\n" in found
    call("repair", output)
    assert content(output) == whole
    call("verify", output)
    damage(output, name, "empty")
    found = call("verify", output, code=7).stdout
    assert "to compute them again" not in found and "runner repair leaves as it is. Move it away and run the job again\n" in found
    assert "may be another file" in call("repair", output, code=7).stderr


@pytest.mark.quick
def test_repair_killed():
    """A repair that was killed as it wrote a file again is done by the next one."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", "out.zarr", TAPS)
    set_output(f'compression = "zstd"\n{SHARDED}')
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.zarr")
    for fault in ("write:torn@1:c/0/1/0.partial", "rename:kill@1:c/0/1/0.partial"):
        damage("out.zarr", "c/0/1/0", "index")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("repair", "out.zarr", code=-signal.SIGKILL, env=environment)
        assert os.path.exists("out.zarr/c/0/1/0.partial")
        call("repair", "out.zarr")
        assert content("out.zarr") == whole
        call("verify", "out.zarr")


@pytest.mark.quick
@pytest.mark.parametrize("output", ["out.zarr", "out.ome.zarr"])
def test_texts_repaired(output):
    """Metadata that is missing is written again; where somebody changed it, it is left and named."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", output, TAPS)
    call("job.toml")
    whole = content(output)
    for name in [name for name in whole if name.endswith("zarr.json")]:
        pathlib.Path(output, name).unlink()
        assert "is missing" in call("verify", output, code=3).stderr
        assert f"repaired: {name}" in call("repair", output).stdout
        assert content(output) == whole
        call("verify", output)
        pathlib.Path(output, name).write_text("{}")
        for verb in ("verify", "repair"):
            error = call(verb, output, code=3).stderr
            assert name in error and "not as it was made" in error and "repair" in error
        assert pathlib.Path(output, name).read_text() == "{}"
        pathlib.Path(output, name).unlink()
        call("repair", output)
        assert content(output) == whole


@pytest.mark.quick
def test_damaged():
    """Verify finds a byte that changed, and a file that is missing or more than there were."""
    write_input(noise((6, 70, 40)))
    write_job("convolve", "out.zarr", TAPS)
    set_output(f'compression = "zstd"\n{SHARDED}')
    for name, change in itertools.product(("c/0/1/0", "zarr.json", "c/2/2/0"), ("flip", "remove", "cut", "add")):
        call("job.toml")
        call("verify", "out.zarr")
        damage("out.zarr", name, change)
        code = 3 if change == "add" or name == "zarr.json" else 7
        call("verify", "out.zarr", code=code)
        if change == "add":
            assert "more, which is none of its files" in call("repair", "out.zarr", code=3).stderr
        shutil.rmtree("out.zarr")


@pytest.mark.share(0.3)
@pytest.mark.quick
@pytest.mark.parametrize("layout", [SHARDED, ALONE])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_repaired(compression, layout):
    write_input(noise((6, 70, 40)))
    write_job("convolve", "out.zarr", TAPS)
    set_output(f'compression = "{compression}"\n{layout}')
    call("job.toml", "--set", "run.chunk_rows=16")
    whole = content("out.zarr")
    for name in ("c/0/1/0", "c/2/1/0", "c/1/0/0"):
        path = pathlib.Path("out.zarr", name)
        data = path.read_bytes()
        path.write_bytes(data[:40] + bytes(each ^ 255 for each in data[40:60]) + data[60:])
    assert attempt("verify", "out.zarr").returncode == 7
    call("repair", "out.zarr")
    assert content("out.zarr") == whole
    call("verify", "out.zarr")
