"""MRC files as inputs and outputs, by PyPI's mrcfile: what it reads is read alike, what it refuses is
refused, and what is written is valid to it."""
import contextlib
import os
import pathlib
import resource
import signal
import struct
import warnings

import h5py
import mrcfile
import nibabel
import numpy as np
import pytest

from harness import attempt, bad, call, good, programs

MODES = {0: "i1", 1: "i2", 2: "f4", 6: "u2", 12: "f2"}
SHAPE = (5, 13, 7)
TAPS = "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.5, 0.0]"


def volume(shape=SHAPE, dtype="float32"):
    return np.random.default_rng(3).integers(0, 100, shape).astype(dtype)


def mrc(array, order="<", extended=b"", group=1, mz=None, size=(1.25, 1.5, 4.0), origin=(0, 0, 0), **fields):
    """The bytes of a file, by the field table of MRC2014."""
    head = bytearray(1024)
    shape = (1,) * (3 - array.ndim) + array.shape
    nx, ny, nz = shape[-1], shape[-2], int(np.prod(shape[:-2]))
    mode = next(mode for mode, kind in MODES.items() if kind == array.dtype.str[1:])
    mz = mz or (shape[-3] if group else 1)
    values = {"nx": (0, "i", nx), "ny": (4, "i", ny), "nz": (8, "i", nz), "mode": (12, "i", mode),
              "mx": (28, "i", nx), "my": (32, "i", ny), "mz": (36, "i", fields.get("intervals", mz)),
              "a": (40, "f", size[0] * nx), "b": (44, "f", size[1] * ny), "c": (48, "f", size[2] * mz),
              "mapc": (64, "i", 1), "mapr": (68, "i", 2), "maps": (72, "i", 3), "dmax": (80, "f", -1),
              "dmean": (84, "f", -2), "ispg": (88, "i", group), "nsymbt": (92, "i", len(extended)),
              "nversion": (108, "i", 20141), "x": (196, "f", origin[0]), "y": (200, "f", origin[1]),
              "z": (204, "f", origin[2]), "rms": (216, "f", -1), "map": (208, "4s", b"MAP "),
              "machst": (212, "4s", b"DD\0\0" if order == "<" else b"\x11\x11\0\0"),
              "imod": (152, "i", 0), "flags": (156, "i", 0), "nxstart": (16, "i", 0)}
    if extended:
        head[104:108] = b"FEI1"
    for name, (byte, kind, value) in values.items():
        struct.pack_into(order + kind, head, byte, fields.get(name, value))
    return bytes(head) + extended + array.astype(array.dtype.newbyteorder(order)).tobytes()


def write_job(kind, output, table, source="in.mrc", more=""):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{more}\n[output]\nfile = "{output}"\n'
        f'overwrite = true\n[run]\nbackend = "cpu"\n[{kind}]\n{table}')


def read(name):
    """What mrcfile reads of a file that it finds valid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, of sums of float16
        assert mrcfile.validate(name), name
        warnings.simplefilter("error")
        with mrcfile.open(name) as file:
            return np.array(file.data), file.header.copy(), file.voxel_size.copy()


def sizes(name):
    size = read(name)[2]
    return [float(size.z), float(size.y), float(size.x)]


@pytest.mark.quick
@pytest.mark.parametrize("order", "<>")
def test_read(order):
    for number, (mode, kind) in enumerate(MODES.items()):
        for extended in (b"", bytes(range(97))):
            array = volume(dtype=kind) - (50 if kind != "u2" else 0)
            array = array.astype(kind)
            ending = ("mrc", "mrcs", "rec", "st", "map", "MRC")[(number + len(extended)) % 6]
            name = f"in.{ending}"
            pathlib.Path(name).write_bytes(mrc(array, order, extended))
            with mrcfile.open(name) as file:
                assert (file.data == array).all()
            good("convert", name, "out.h5", "--overwrite")
            with h5py.File("out.h5") as file:
                found = file["data"][()]
                assert found.dtype == array.dtype and (found == array).all(), (mode, order)
            good("convert", name, "out.npy" if kind != "f2" else "out.mrc", "--overwrite")
            # A kind reads the same of it as of HDF5; float16 as float32.
            for source, output in ((name, "a.npy"), ("out.h5", "b.npy")):
                write_job("convolve", output, TAPS, source)
                call("job.toml", "--quiet", ranks=1 + number % 2)
            assert pathlib.Path("a.npy").read_bytes() == pathlib.Path("b.npy").read_bytes()
    # By its first bytes.
    pathlib.Path("without_ending").write_bytes(mrc(volume(), order))
    assert "MRC" in good("inspect", "without_ending")


@pytest.mark.quick
def test_shapes():
    for shape, group, mz, wanted in (((1, 5, 3), 0, None, (5, 3)), ((1, 5, 3), 1, None, (1, 5, 3)),
                                     ((4, 5, 3), 0, None, (4, 5, 3)), ((6, 5, 3), 401, 3, (2, 3, 5, 3)),
                                     ((6, 5, 3), 630, 1, (6, 1, 5, 3)), ((6, 5, 3), 631, 3, (6, 5, 3))):
        array = volume(shape)
        pathlib.Path("in.mrc").write_bytes(mrc(array, group=group, mz=mz))
        with mrcfile.open("in.mrc") as file:
            assert file.data.shape == wanted
        good("convert", "in.mrc", "out.npy", "--overwrite")
        assert np.load("out.npy").shape == wanted and np.load("out.npy").tobytes() == array.tobytes()
        good("convert", "in.mrc", "out.mrc", "--overwrite")
        found, header, size = read("out.mrc")
        assert found.shape == wanted and found.tobytes() == array.tobytes()
        if group in (0, 1):
            assert header.ispg == group
        assert np.allclose([size.x, size.y], [1.25, 1.5])


@pytest.mark.quick
def test_imods_bytes():
    """IMOD's bytes have no sign, unless it says so."""
    array = np.arange(-128, 127, dtype="i1").reshape(3, 5, 17)
    for order in "<>":
        for stamp, flags, kind in ((1146047817, 0, "u1"), (1146047817, 2, "u1"), (1146047817, 1, "i1"),
                                   (1146047817, 17, "i1"), (0, 0, "i1"), (1146047816, 0, "i1")):
            pathlib.Path("in.mrc").write_bytes(mrc(array, order, imod=stamp, flags=flags))
            good("convert", "in.mrc", "out.npy", "--overwrite")
            found = np.load("out.npy")
            assert found.dtype == kind and (found == array.view(kind)).all(), (stamp, flags)


HOSTILE = {
    "not MRC": ({"map": b"XAP "}, "byte 208"), "no stamp": ({"machst": bytes(4)}, "byte 212"),
    "odd stamp": ({"machst": b"\x44\x11\0\0"}, "byte 212"),
    "complex": ({"mode": 4}, "byte 12", "complex"), "4 bits": ({"mode": 101}, "byte 12", "4 bits"),
    "no mode": ({"mode": -7}, "byte 12", "-7"), "no columns": ({"nx": 0}, "byte 0", "NX is 0"),
    "negative rows": ({"ny": -5}, "byte 4", "NY is -5"), "many": ({"nz": 2**31 - 1}, "ends there"),
    "too many": ({"nx": 2**31 - 1, "ny": 2**31 - 1, "nz": 2**31 - 1}, "2^63"),
    "negative extension": ({"nsymbt": -1024}, "byte 92"), "long extension": ({"nsymbt": 2**31 - 1}, "ends there"),
    "volumes of nothing": ({"ispg": 401, "intervals": 0}, "byte 36"), "volumes cut": ({"ispg": 401, "intervals": 2}, "byte 36"),
    "negative volumes": ({"ispg": 450, "intervals": -5}, "byte 36"),
    "other axes": ({"mapc": 2, "mapr": 1}, "byte 64", "MAPC is 2"), "no axes": ({"maps": 0}, "byte 72"),
}


@pytest.mark.quick
@pytest.mark.share(0.5)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name):
    fields, *words = HOSTILE[name]
    for order in "<>":
        pathlib.Path("in.mrc").write_bytes(mrc(volume(), order, **fields))
        bad(3, ["in.mrc", *words], "convert", "in.mrc", "x.h5")
        bad(3, ["in.mrc", *words], "inspect", "in.mrc")
        write_job("convolve", "x.h5", TAPS)
        assert words[-1] in call("job.toml", code=3).stderr


@pytest.mark.quick
def test_ends():
    whole = mrc(volume(), extended=bytes(40))
    for length in (0, 3, 1023, 1024, 1063, 1064, len(whole) - 1):
        pathlib.Path("in.mrc").write_bytes(whole[:length])
        bad(3, ["in.mrc", f"byte {length}", "ends there"], "convert", "in.mrc", "x.h5")
        with pytest.raises(ValueError):
            mrcfile.open("in.mrc")
    pathlib.Path("in.mrc").write_bytes(whole + bytes(9))
    good("convert", "in.mrc", "x.h5", says=r"runner: warning: more follows the array [^\n]* 9 bytes[^\n]*\n")
    with h5py.File("x.h5") as file:
        assert (file["data"][()] == volume()).all()


@contextlib.contextmanager
def limited_memory(most):
    """mrcfile takes the memory that a header asks for before it looks at the file's size."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.quick
def test_random_headers():
    """What mrcfile refuses is refused; what it reads is read alike, or refused with a message."""
    rng = np.random.default_rng(programs.seed)
    whole = mrc(volume(), extended=bytes(20))
    for _ in range(60):
        data = bytearray(whole)
        for byte in rng.choice([*range(16), *range(28, 40), *range(64, 76), *range(88, 96), *range(208, 216)], 2):
            data[byte] = rng.choice([0, 1, 2, 5, 0x44, 0x7f, 0x80, 0xff, rng.integers(256)])
        pathlib.Path("in.mrc").write_bytes(data)
        try:
            with warnings.catch_warnings(), limited_memory(1 << 32):
                warnings.simplefilter("ignore")
                wanted = mrcfile.read("in.mrc")
        except Exception:  # of whatever kind: it does not read it
            wanted = None
        code = attempt("convert", "in.mrc", "x.npy", "--overwrite").returncode
        if code == 0:
            assert wanted is not None and wanted.tobytes() == np.load("x.npy").tobytes(), bytes(data[:100])
            assert wanted.shape == np.load("x.npy").shape
        else:
            assert code == 3, bytes(data[:100])


@pytest.mark.quick
def test_write():
    array = volume((3, 11, 13))
    pathlib.Path("in.mrc").write_bytes(mrc(array, ">", bytes(12), origin=(10, -20, 30)))
    write_job("convolve", "out.mrc", TAPS)
    call("job.toml", "--quiet")
    write_job("convolve", "out.npy", TAPS)
    call("job.toml", "--quiet", "--set", "run.chunk_rows=9", ranks=2)
    found, header, _ = read("out.mrc")
    assert found.dtype == "f4" and (found == np.load("out.npy")).all() and sizes("out.mrc") == [4, 1.5, 1.25]
    assert header.ispg == 1 and header.nsymbt == 0 and header.dmax < header.dmin and header.rms < 0
    assert header.origin.tolist() == (10, -20, 30)
    call("verify", "out.mrc")
    write_job("bin", "out.mrc", "factors = [3, 2, 5]", more='region = { rows = "1:11", columns = "2:13" }')
    call("job.toml", "--quiet")
    _, header, _ = read("out.mrc")
    assert sizes("out.mrc") == [12, 3, 6.25]
    assert np.allclose(header.origin.tolist(), (10 + (2 + 2) * 1.25, -20 + (1 + 0.5) * 1.5, 30 + 4))
    write_job("transpose", "out.mrc", "permutation = [2, 0, 1]")
    call("job.toml", "--quiet")
    found, header, _ = read("out.mrc")
    assert (found == array.transpose(2, 0, 1)).all() and sizes("out.mrc") == [1.25, 4, 1.5]
    # From NIfTI's millimetres, and from HDF5's attributes.
    image = nibabel.Nifti1Image(array.T, np.diag([2.0, 3.0, 5.0, 1]))
    image.header.set_xyzt_units("mm")
    nibabel.save(image, "in.nii")
    with h5py.File("in.h5", "w") as file:
        file["x"] = array
        file["x"].attrs["element_size_um"] = [0.5, 0.25, 0.125]
    for source, wanted in (("in.nii", [5e7, 3e7, 2e7]), ("in.h5", [5e3, 2.5e3, 1.25e3])):
        write_job("median", "out.mrc", "size = [1, 1, 3]", source, more='dataset = "/x"' if source == "in.h5" else "")
        call("job.toml")
        assert np.allclose(sizes("out.mrc"), wanted, rtol=1e-6)
        good("convert", source, "made.mrc", "--overwrite", says=r"[^\n]*: the affine\n" if source == "in.nii" else "")
        assert np.allclose(sizes("made.mrc"), wanted, rtol=1e-6) and (read("made.mrc")[0] == array).all()
    # An angstrom is 1e-4 µm there.
    good("convert", "in.mrc", "made.nii")
    header = nibabel.load("made.nii").header
    assert np.allclose(header.get_zooms(), [1.25e-4, 1.5e-4, 4e-4]) and header.get_xyzt_units()[0] == "micron"
    good("convert", "in.mrc", "made.h5")
    good("convert", "made.h5:/data", "again.mrc")
    assert np.allclose(sizes("again.mrc"), [4, 1.5, 1.25]) and read("again.mrc")[1].origin.tolist() == (10, -20, 30)
    assert "axes: z 4 angstrom from 30, y 1.5 angstrom from -20, x 1.25 angstrom from 10" in good("inspect", "in.mrc")


@pytest.mark.quick
def test_types():
    for kind in ("int8", "int16", "uint16", "float16", "float32"):
        for shape in ((1, 1), (17, 3), (2, 3, 5), (1, 1, 1), (2, 3, 5, 7)):
            array = volume(shape, kind)
            with h5py.File("in.h5", "w") as file:
                file["x"] = array
            good("convert", "in.h5:/x", "made.mrc", "--overwrite")
            axes = list(range(len(shape)))[::-1]
            if len(axes) > 3:
                assert read("made.mrc")[0].tobytes() == array.tobytes()
                continue
            write_job("transpose", "out.mrc", f"permutation = {axes}", "in.h5", more='dataset = "/x"')
            call("job.toml", "--quiet")
            for name, wanted in (("made.mrc", array), ("out.mrc", array.transpose(axes))):
                found = read(name)[0]
                assert found.dtype == kind and found.shape == wanted.shape and (found == wanted).all(), name
            call("verify", "out.mrc", "--recompute", "1")
            assert "complete already" in call("job.toml", "--set", "output.overwrite=false").stderr
    for kind in ("uint8", "int32", "uint32", "int64", "uint64", "float64"):
        with h5py.File("in.h5", "w") as file:
            file["x"] = volume((2, 3), kind)
        write_job("transpose", "bad.mrc", "permutation = [1, 0]", "in.h5", more='dataset = "/x"')
        error = call("job.toml", code=2).stderr
        assert all(word in error for word in ("bad.mrc", kind, ".tif", ".nii", "rescale")), error
        bad(2, [kind, "--dtype"], "convert", "in.h5:/x", "bad.mrc")
        assert not list(pathlib.Path().glob("bad.mrc*"))
    with h5py.File("in.h5", "w") as file:
        file["x"] = volume((9,))
    bad(2, ["two to four axes"], "convert", "in.h5:/x", "bad.mrc")
    write_job("transpose", "bad.mrcs", "permutation = [0, 1]", "in.mrc")
    assert "make a .mrc file" in call("job.toml", code=2).stderr


def test_killed():
    pathlib.Path("in.mrc").write_bytes(mrc(volume((23, 31, 29))))
    write_job("convolve", "out.mrc", TAPS)
    commit = ("--set", "run.chunk_rows=40", "--set", "run.commit_seconds=0")
    call("job.toml", *commit)
    whole = pathlib.Path("out.mrc").read_bytes()
    for fault in ("pwrite:kill@1", "pwrite:torn@7", "pwrite:kill@12", "rename:kill@1"):
        os.unlink("out.mrc")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault + ":out.mrc.partial",
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        with open("out.mrc.partial", "r+b") as file:
            file.write(b"torn" * 256)
        call("job.toml", *commit)
        assert pathlib.Path("out.mrc").read_bytes() == whole and read("out.mrc")
        call("verify", "out.mrc")
    with open("out.mrc", "r+b") as file:
        file.seek(40)
        file.write(b"\1")
    assert "byte 40 of its structure" in call("verify", "out.mrc", code=3).stderr


@pytest.mark.quick
def test_stacks_and_batches():
    os.mkdir("slices")
    for number in range(3):
        pathlib.Path(f"slices/s{number}.mrc").write_bytes(mrc(volume((5, 7)) + number, group=0))
    good("convert", "slices/*.mrc", "stack.mrc")
    found, _, _ = read("stack.mrc")
    assert (found == np.stack([volume((5, 7)) + number for number in range(3)])).all()
    pathlib.Path("job.toml").write_text(
        'kind = "bin"\n[batch]\ninputs = ["slices/*.mrc"]\noutput = "out/{stem}.mrc"\n[run]\nbackend = "cpu"\n'
        '[bin]\nfactors = [1, 2]\n')
    call("batch", "job.toml", ranks=2)
    for number in range(3):
        assert sizes(f"out/s{number}.mrc")[1:] == [1.5, 2.5]
