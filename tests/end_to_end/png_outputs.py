"""PNG as a job's output: as libpng (by way of PIL), zlib and runner read it, whole, killed and damaged."""
import os
import pathlib
import signal
import struct
import zlib

import numpy as np
import PIL.Image
import pytest

from harness import bad, call, good, programs
from tiff_outputs import TAPS, noise, write_input, write_job

AS_IT_IS = "from = [0, 255]\nto = [0, 255]"


def chunks(data):
    """The chunks of a PNG, whose checksums are right."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = [], 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        end = at + 8 + length
        assert struct.unpack(">I", data[end:end + 4])[0] == zlib.crc32(data[at + 4:end])
        found.append((name, data[at + 8:end], at))
        at = end + 4
    return found


def filtered(data):
    """The lines of the one stream that all data are, with its checksum."""
    return zlib.decompress(b"".join(part for name, part, _ in chunks(data) if name == b"IDAT"))


def by_libpng(name, array):
    with PIL.Image.open(name) as image:
        image.load()
        if array.ndim == 3 and array.dtype != "uint8":  # PIL takes the high bytes of such colour
            assert (np.asarray(image) == array >> 8).all()
        else:
            assert (np.asarray(image) == array).all() and image.size == array.shape[1::-1]
        assert image.info.get("transparency") is None


@pytest.mark.quick
@pytest.mark.parametrize("shape", [(700, 901), (9, 11), (1, 1), (3, 140000), (41, 30, 3)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_png(shape, dtype):
    """The same bytes for any ranks, chunks and lanes; what is read is what HDF5 holds."""
    array = noise(shape, dtype) * np.array(1 if dtype == "uint8" else 300, dtype)
    ramp = np.arange(np.prod(shape)).reshape(shape) // 7
    for elements in (array, ramp.astype(dtype)):
        write_input(elements)
        write_job("rescale", "out.png", AS_IT_IS.replace("255", str(np.iinfo(dtype).max)),
                  more=f"colour = {'true' if len(shape) > 2 else 'false'}")
        made = set()
        for ranks, chunk, lanes in ((1, 1, 2), (2, 7, 1), (3, 100, 3), (1, 2000, 1)):
            call("job.toml", "--set", f"run.lanes={lanes}", "--set", f"run.chunk_rows={chunk}", ranks=ranks)
            made.add(pathlib.Path("out.png").read_bytes())
        assert len(made) == 1
        by_libpng("out.png", elements)
        assert len(filtered(made.pop())) == shape[0] * (1 + elements[0].nbytes)
        call("verify", "out.png", "--recompute", "3")
        assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
        good("compare", "out.png", "in.h5:/x")
        good("convert", "out.png", "back.npy", "--overwrite")
        assert np.array_equal(np.load("back.npy"), elements) and np.load("back.npy").dtype == dtype
        assert not list(pathlib.Path().glob("out.png.partial*"))
    assert os.path.getsize("out.png") < max(array.nbytes, 2000)  # the ramp gets smaller


@pytest.mark.quick
def test_marks_of_colour():
    """A mark, or three bytes at the end, make colour; a job of an image that is no picture is refused."""
    array = noise((9, 11, 3), "uint16")
    write_input(array)
    write_job("rescale", "out.png", AS_IT_IS)
    assert "[9, 11, 3]" in call("job.toml", code=2).stderr
    write_input(array, CLASS=np.bytes_("IMAGE"), IMAGE_SUBCLASS=np.bytes_("IMAGE_TRUECOLOR"))
    call("job.toml")
    by_libpng("out.png", array)
    for shape, dtype, words in (
            ((9, 11), "float32", ["float32", "uint8 or uint16", "rescale", "output.dtype", ".tif"]),
            ((9, 11), "int16", ["int16", "rescale"]),
            ((4, 9, 11), "uint8", ["[4, 9, 11]", "one image", ".tif, .npy or .h5"])):
        write_input(noise(shape, dtype))
        write_job("median", "out.png", "size = [3, 3]")
        for verb in (["plan"], []):
            error = call(*verb, "job.toml", code=2).stderr
            assert all(word in error for word in words), error
    write_input(noise((9, 11), "uint8"))
    for setting in ('compression="deflate"', 'compression="zstd"', 'level=3', "chunk=[3,3]", "parts=2"):
        write_job("median", "out.png", "size = [3, 3]")
        error = call("job.toml", "--set", f"output.{setting}", code=2).stderr
        assert f"output.{setting.split('=')[0]}" in error and ".h5" in error, error
    # A rescaled one is taken.
    write_input(noise((9, 11), "float32") / 7)
    write_job("rescale", "out.png", "from = [0, 30]\nto = [0, 65535]")
    call("job.toml", "--set", 'output.dtype="uint16"')
    good("compare", "out.png", "out.png")
    # What a PNG does not say of the input is named.
    write_input(noise((9, 11), "uint8"), element_size_um=[0.5, 0.325])
    write_job("median", "out.png", "size = [3, 3]")
    assert "the spacing of axis 0" in call("job.toml").stderr


def test_other_verbs():
    array = noise((40, 50), "uint8")
    write_input(array)
    good("generate", "noise", "g.png", "--shape", "33,45", "--dtype", "uint16")
    good("generate", "noise", "g.npy", "--shape", "33,45", "--dtype", "uint16")
    by_libpng("g.png", np.load("g.npy"))
    bad(2, ["float32", "uint8 or uint16"], "generate", "noise", "f.png", "--shape", "3,4", "--dtype", "float32")
    for name in ("a", "b"):
        good("convert", "in.h5:/x", f"{name}.npy")
    pathlib.Path("batch.toml").write_text(
        'kind = "median"\n[batch]\ninputs = ["a.npy", "b.npy"]\noutput = "{stem}.png"\n[run]\nbackend = "cpu"\n'
        "[median]\nsize = [1, 1]\n")
    call("batch", "batch.toml")
    for name in ("a", "b"):
        by_libpng(f"{name}.png", array)
        call("verify", f"{name}.png")
    # A file that somebody else made is kept.
    PIL.Image.fromarray(array).save("x.png")
    theirs = pathlib.Path("x.png").read_bytes()
    write_job("median", "x.png", "size = [3, 3]")
    assert "no record beside it" in call("job.toml", code=4).stderr
    assert pathlib.Path("x.png").read_bytes() == theirs


def test_killed_and_damaged():
    write_input(noise((900, 700), "uint16"))
    write_job("convolve", "out.png", TAPS)
    commit = ("--set", "run.chunk_rows=374", "--set", "run.commit_seconds=0", "--set", "output.overwrite=false")
    call("job.toml", *commit)
    whole = pathlib.Path("out.png").read_bytes()
    for fault in ("pwrite:kill@3:out.png.partial.shard", "pwrite:torn@6:out.png.partial.shard",
                  "pwrite:kill@1:out.png.partial", "pwrite:kill@7:out.png.partial", "rename:kill@1:out.png.partial"):
        os.unlink("out.png")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        assert not os.path.exists("out.png")
        call("job.toml", *commit, ranks=2)
        assert pathlib.Path("out.png").read_bytes() == whole, fault
        call("verify", "out.png")
        assert not list(pathlib.Path().glob("out.png.*partial*"))
    # Any byte of the structure, and strips, which repair stores again.
    found = chunks(whole)
    strips = [at for name, _, at in found if name == b"IDAT"][1:-1]
    for byte in (1, 17, 40, strips[1] + 1, found[-2][2] + 15, len(whole) - 3):
        damaged = bytearray(whole)
        damaged[byte] ^= 1
        pathlib.Path("out.png").write_bytes(damaged)
        assert "cannot read the output" in call("verify", "out.png", code=3).stderr, byte
    damaged = bytearray(whole)
    for strip in strips[2:4]:
        damaged[strip + 100] ^= 1
    pathlib.Path("out.png").write_bytes(damaged)
    call("verify", "out.png", code=7)
    call("repair", "out.png")
    assert pathlib.Path("out.png").read_bytes() == whole
    call("verify", "out.png", "--recompute", "3")
