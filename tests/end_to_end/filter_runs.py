"""Chunks of every filter in whole jobs.

tests/data/filters has what hdf5plugin and HDF5 packed (/NAME/packed) and what h5py reads of it
(/NAME/plain). A transposition of each must be that of the plain elements; with a chunk that is damaged
a job ends with one message that names file and chunk, and publishes nothing.
"""
import os
import pathlib
import shutil

import h5py
import numpy as np

from harness import attempt

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data/filters"
# Filters whose bytes have a checksum, or of which h5py's own reading fails too where they are cut.
CODE_NAMES = {1: "deflate", 2: "shuffle", 3: "fletcher32", 4: "szip", 307: "bzip2", 32000: "lzf", 32001: "blosc",
              32004: "lz4", 32008: "bitshuffle", 32015: "zstd"}


def write_job(source, dataset, axes):
    order = {2: [1, 0], 3: [2, 0, 1]}.get(axes)
    if order is None:
        return False
    pathlib.Path("job.toml").write_text(
        f'kind = "transpose"\n[input]\nfile = "{source}"\ndataset = "{dataset}"\n[output]\nfile = "out.h5"\n'
        f'overwrite = true\nsync = false\n[run]\nbackend = "cpu"\n[transpose]\npermutation = {order}\n')
    return order


def groups():
    for path in sorted(FOLDER.glob("*.h5")):
        with h5py.File(path) as file:
            names = list(file)
        for name in names:
            yield path, name


def test_jobs_on_every_file():
    count = 0
    for path, name in groups():
        shutil.copy(path, "in.h5")
        with h5py.File("in.h5") as file:
            plain = file[f"{name}/plain"][()]
        order = write_job("in.h5", f"/{name}/packed", plain.ndim)
        if not order:
            continue
        done = attempt("run", "job.toml")
        assert done.returncode == 0, (path.name, name, done.stderr)
        with h5py.File("out.h5") as file:
            made = file[f"{name}/packed"][()]
        assert made.tobytes() == np.transpose(plain, order).astype(made.dtype).tobytes(), (path.name, name)
        count += 1
    assert count > 30, count


def damage_chunk(file, name, change):
    """Changes the bytes of the last stored chunk where they lie, or its size. Its place in the array."""
    with h5py.File(file) as opened:
        dataset = opened[f"{name}/packed"]
        info = dataset.id.get_chunk_info(dataset.id.get_num_chunks() - 1)
        filters = [dataset.id.get_create_plist().get_filter(i)[0]
                   for i in range(dataset.id.get_create_plist().get_nfilters())]
    bytes_ = bytearray(pathlib.Path(file).read_bytes())
    piece = bytes_[info.byte_offset:info.byte_offset + info.size]
    bytes_[info.byte_offset:info.byte_offset + info.size] = change(piece)
    pathlib.Path(file).write_bytes(bytes_)
    return list(info.chunk_offset), filters, info.filter_mask


def no_output(where):
    left = [name for name in os.listdir(".") if name.startswith("out.h5") and not name.endswith(".lock")]
    assert "out.h5" not in left, (where, left)


def test_damaged_chunks_of_every_filter():
    """A head of 0xff claims sizes that cannot be, or is no stream; bytes of 0 are no stream either. A job
    may only end well where h5py reads the same elements."""
    refused = set()
    for path, name in groups():
        for change in [lambda piece: b"\xff" * len(piece), lambda piece: bytes(len(piece)),
                       lambda piece: piece[:len(piece) // 2] + bytes(b ^ 0x55 for b in piece[len(piece) // 2:])]:
            shutil.copy(path, "in.h5")
            chunk, filters, mask = damage_chunk("in.h5", name, change)
            with h5py.File("in.h5") as file:
                axes = file[f"{name}/packed"].ndim
            if not write_job("in.h5", f"/{name}/packed", axes):
                continue
            pathlib.Path("out.h5").unlink(missing_ok=True)
            done = attempt("run", "job.toml", "--quiet")
            where = (path.name, name, chunk, done.stderr)
            if done.returncode == 0:
                continue  # other elements: these filters have no checksum
            assert done.returncode == 3, where
            assert done.stderr.count("runner: error: ") == 1, where
            assert f"in.h5:/{name}/packed, chunk from {chunk}" in done.stderr, where
            no_output(where)
            refused.update(filters[i] for i in range(len(filters)) if not mask >> i & 1)
            for left in pathlib.Path(".").glob("out.h5*"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
    packing = set(CODE_NAMES) - {2}
    assert packing <= refused, sorted(CODE_NAMES[code] for code in packing - refused)


def test_damage_that_a_checksum_finds():
    """Any one bit of a chunk under fletcher32 or deflate's own checksum."""
    generator = np.random.default_rng(11)
    array = generator.integers(0, 9, (12, 40)).astype("int32")
    for how in [{"fletcher32": True}, {"compression": "gzip"}, {"compression": "lzf", "fletcher32": True}]:
        for _ in range(6):
            with h5py.File("in.h5", "w") as file:
                file.create_dataset("a/packed", data=array, chunks=(5, 40), **how)

            def flip(piece):
                at = int(generator.integers(2, len(piece)))  # behind zlib's head, of which a bit means nothing
                piece[at] ^= 1 << int(generator.integers(8))
                return piece
            chunk, _, _ = damage_chunk("in.h5", "a", flip)
            write_job("in.h5", "/a/packed", 2)
            done = attempt("run", "job.toml", "--quiet")
            assert done.returncode == 3 and f"chunk from {chunk}" in done.stderr, (how, done.stderr)
            assert not os.path.exists("out.h5")
