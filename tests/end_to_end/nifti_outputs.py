"""NIfTI-1 as an output: elements, spacing, units and both affines as nibabel reads them.

A voxel of the output must be at the point at which the voxels of the input are that it is made of.
"""
import gzip
import itertools
import json
import os
import pathlib
import signal
import zlib

import h5py
import nibabel
import numpy as np
import pytest

from harness import attempt, bad, call, good, programs

SHAPE = (11, 13, 7)  # z, y, x
TAPS = "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.5, 0.5, 0.0]"


def volume(shape=SHAPE, dtype="float32"):
    return np.random.default_rng(3).integers(0, 100, shape).astype(dtype)


def rotation(*angles):
    made = np.eye(3)
    for axis, angle in enumerate(angles):
        i, j = [other for other in range(3) if other != axis]
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = np.cos(angle)
        turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
        made = made @ turn
    return made


def affines(mirrored=1):
    """An affine that shears, and one with the same sizes that does not."""
    sizes = np.array([0.5, 0.75, 2.5])
    upright = np.eye(4)
    upright[:3, :3] = rotation(0.3, -0.7, 2.9) * sizes * [1, 1, mirrored]
    upright[:3, 3] = [-90, 17.5, 3]
    sheared = upright.copy()
    sheared[:3, :3] = upright[:3, :3] @ np.array([[1, 0.2, 0], [0, 1, -0.1], [0, 0, 1]])
    sheared[:3, 3] += 5
    return sheared, upright


def write_nifti(name, array, sform, qform, codes=(2, 1), units=("mm", "sec")):
    header = nibabel.Nifti1Header()
    image = nibabel.Nifti1Image(array.T, None, header, dtype=array.dtype)
    image.set_qform(qform, codes[1])
    image.set_sform(sform, codes[0])
    image.header.set_xyzt_units(*units)
    if array.ndim > 3:
        image.header["pixdim"][4] = 1.5
        image.header["toffset"] = 4
    nibabel.save(image, name)


def write_job(kind, output, table, source="in.nii", more="", dataset=""):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{dataset}\n{more}\n[output]\nfile = "{output}"\n'
        f'overwrite = true\n[run]\nbackend = "cpu"\n[{kind}]\n{table}')


def elements(name):
    return np.ascontiguousarray(np.asanyarray(nibabel.load(name, mmap=False).dataobj).T)


def points(name, form, indices):
    """Where the voxels of these [z, y, x] are."""
    header = nibabel.load(name).header
    affine = header.get_sform() if form == "sform" else header.get_qform()
    return np.asarray(indices)[:, ::-1] @ affine[:3, :3].T + affine[:3, 3]


def check_places(source, output, from_output, count=None):
    """Both affines of the output have its [z, y, x] where those of the source have from_output of it."""
    header, before = nibabel.load(output).header, nibabel.load(source).header
    assert (header["sform_code"], header["qform_code"]) == (before["sform_code"], before["qform_code"])
    shape = elements(output).shape[-3:]
    indices = list(itertools.product(*[(0, extent - 1) for extent in shape]))
    for form in ("sform", "qform"):
        wanted = points(source, form, [from_output(np.array(index, float)) for index in indices])
        assert np.allclose(points(output, form, indices), wanted, atol=2e-4), (form, output)


@pytest.mark.quick
@pytest.mark.parametrize("mirrored", [1, -1])
def test_affines(mirrored):
    array = volume()
    write_nifti("in.nii", array, *affines(mirrored))
    write_job("convolve", "out.nii", TAPS)
    for ranks in (1, 2):
        call("job.toml", "--set", "run.chunk_rows=20", ranks=ranks)
        check_places("in.nii", "out.nii", lambda at: at)
        os.unlink("out.nii")
    call("job.toml", "--quiet")
    header, before = nibabel.load("out.nii").header, nibabel.load("in.nii").header
    assert header.get_xyzt_units() == ("mm", "unknown")
    for field in ("pixdim", "srow_x", "srow_y", "srow_z", "qoffset_x", "quatern_b", "quatern_c", "quatern_d"):
        assert np.allclose(header[field], before[field], rtol=1e-6, atol=1e-7), field
    call("verify", "out.nii")
    # A part of it, of odd extents.
    write_job("convolve", "out.nii", TAPS,
              more='region = { depth = "3:10", rows = "1:12", columns = "2:5" }')
    assert "place of the first element" not in call("job.toml", "--quiet").stderr
    assert elements("out.nii").shape == (7, 11, 3)
    check_places("in.nii", "out.nii", lambda at: at + [3, 1, 2])
    # Every third slice from the second on.
    write_job("median", "out.nii", "size = [1, 1, 3]", more='frames = "1:11:3"')
    call("job.toml", "--quiet")
    check_places("in.nii", "out.nii", lambda at: at * [3, 1, 1] + [1, 0, 0])
    assert np.allclose(nibabel.load("out.nii").header.get_zooms(), [0.5, 0.75, 7.5])
    # Blocks, the last of each axis cut.
    write_job("bin", "out.nii", "factors = [2, 3, 5]")
    assert "place of the first element" not in call("job.toml", "--quiet").stderr
    check_places("in.nii", "out.nii", lambda at: at * [2, 3, 5] + [0.5, 1, 2])
    assert np.allclose(nibabel.load("out.nii").header.get_zooms(), [2.5, 2.25, 5])
    # Other orders of axes.
    for permutation in itertools.permutations(range(3)):
        write_job("transpose", "out.nii", f"permutation = {list(permutation)}")
        call("job.toml", "--quiet")
        assert (elements("out.nii") == array.transpose(permutation)).all()
        check_places("in.nii", "out.nii", lambda at, order=permutation: at[np.argsort(order)])
    # Steps one after the other, in one pass and in two.
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "in.nii"\nregion = { rows = "2:13" }\n[output]\nfile = "steps.nii"\n[run]\n'
        'backend = "cpu"\n[[step]]\nkind = "bin"\nfactors = [1, 1, 2]\nsave = "saved.h5"\n[[step]]\n'
        'kind = "transpose"\npermutation = [2, 0, 1]\n')
    call("job.toml", "--quiet")
    check_places("in.nii", "steps.nii", lambda at: at[[1, 2, 0]] * [1, 1, 2] + [0, 2, 0.5])
    call("verify", "steps.nii", "--recompute", "2")


@pytest.mark.quick
@pytest.mark.parametrize("named", ["", 'axes = "tzyx"'])
def test_stacks(named):
    """A stack of files has the affines that all of them have, or one warning that it has none."""
    sheared, upright = affines()
    for number in range(3):
        write_nifti(f"scan_{number}.nii", volume() + number, sheared, upright)
    write_job("bin", "out.nii", "factors = [2, 3, 5]", "scan_*.nii", named)
    done = call("job.toml", "--quiet")
    assert "affine" not in done.stderr and "place of the first element" not in done.stderr, done.stderr
    check_places("scan_0.nii", "out.nii", lambda at: at * [2, 3, 5] + [0.5, 1, 2])
    assert elements("out.nii").shape[0] == 3
    for others in [(sheared + np.eye(4)[3], upright), (sheared, None)]:
        write_nifti("scan_2.nii", volume(), *others, codes=(2, 0 if others[1] is None else 1))
        done = call("job.toml", "--quiet")
        warnings = [line for line in done.stderr.splitlines() if "affine" in line]
        assert len(warnings) == 1 and "the affine is lost" in warnings[0], done.stderr
        assert "scan_0.nii and scan_2.nii have different affines" in warnings[0]
        header = nibabel.load("out.nii").header
        assert (header["sform_code"], header["qform_code"]) == (0, 0)
        assert warnings == [line for line in attempt("convert", "scan_*.nii", "copy.nii", "--overwrite").stderr
                            .splitlines() if "affine" in line]


def test_time():
    """Of four axes the first is time, which no affine has."""
    array = volume((3, *SHAPE))
    write_nifti("in.nii", array, *affines())
    write_job("rescale", "out.nii", "from = [0, 100]\nto = [0, 200]", more='frames = "1:3"')
    call("job.toml", "--quiet")
    check_places("in.nii", "out.nii", lambda at: at)
    header = nibabel.load("out.nii").header
    assert header.get_zooms()[3] == 1.5 and header.get_xyzt_units() == ("mm", "sec") and header["toffset"] == 5.5
    assert (elements("out.nii") == 2 * array[1:3]).all()
    write_job("rescale", "out.mrc", "from = [0, 100]\nto = [0, 200]")
    assert "without some of its attributes: the names of axes, t, z, y, x (in the file they are ?, z, y, x); the spacing of axis 0; the place of the first element along axis 0; the affine" in call("job.toml").stderr
    # Time among x, y and z, which have one unit.
    write_job("rescale", "of_a_plane.nii", "from = [0, 100]\nto = [0, 200]", more="select = { z = 2 }")
    assert "first element along axis 0; the affine; the unit of axis 0; the unit of axis 1; and 1 more\n" in call("job.toml").stderr


@pytest.mark.quick
def test_spacing_alone():
    array = volume()
    with h5py.File("in.h5", "w") as file:
        file["a"] = array
        file["a"].attrs["element_size_um"] = [3.0, 0.5, 0.25]
        group = file.create_group("entry")
        group.attrs.update({"NX_class": "NXdata", "signal": "b", "axes": ["z", "y", "."]})
        group["b"] = array
        for name, unit, size, extent in (("z", "mm", 0.01, 11), ("y", "um", 2.0, 13)):
            group[name] = size * np.arange(extent) + 5
            group[name].attrs["units"] = unit
        file["c"] = array
    for dataset, factors, sizes, unit in (("/a", [1, 1, 1], [0.25, 0.5, 3], "micron"),
                                          ("/a", [3, 1, 2], [0.5, 0.5, 9], "micron"),
                                          ("/entry/b", [1, 2, 1], [1, 4, 10], "micron"),
                                          ("/c", [1, 1, 1], [1, 1, 1], "unknown")):
        write_job("bin", "out.nii", f"factors = {factors}", "in.h5", dataset=f'dataset = "{dataset}"')
        call("job.toml", "--quiet")
        header = nibabel.load("out.nii").header
        assert np.allclose(header.get_zooms(), sizes), (dataset, header.get_zooms())
        assert header.get_xyzt_units()[0] == unit and header["sform_code"] == 0 and header["qform_code"] == 0
        if factors == [1, 1, 1]:
            good("convert", f"in.h5:{dataset}", "made.nii")
            assert pathlib.Path("made.nii").read_bytes() == pathlib.Path("out.nii").read_bytes()
            os.unlink("made.nii")


@pytest.mark.quick
def test_convert():
    array = volume()
    write_nifti("in.nii", array, *affines(-1))
    good("convert", "in.nii", "a.h5")
    with h5py.File("a.h5") as file:
        assert np.allclose(file["data"].attrs["element_size_um"], [2500, 750, 500])
    for source in ("a.h5:/data", "in.nii"):
        good("convert", source, "b.nii", "--overwrite")
        assert (elements("b.nii") == array).all()
        check_places("in.nii", "b.nii", lambda at: at)
        good("convert", source, "frames.nii", "--frames", "2:9:2", "--overwrite")
        assert (elements("frames.nii") == array[2:9:2]).all()
        check_places("in.nii", "frames.nii", lambda at: at * [2, 1, 1] + [2, 0, 0])
        good("convert", source, "frame.nii", "--frame", "3", "--overwrite")
        assert (elements("frame.nii") == array[3]).all()
        header = nibabel.load("frame.nii").header
        assert np.allclose(header.get_sform()[:3, 3], points("in.nii", "sform", [(3, 0, 0)])[0])
        assert np.allclose(header.get_sform()[:3, :3], affines(-1)[0][:3, :3])
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float64"):
        good("convert", "in.nii", "typed.nii", "--dtype", kind, "--overwrite")
        found = elements("typed.nii")
        assert found.dtype == kind and (found == array).all()
        good("convert", "typed.nii", "typed.npy", "--overwrite")
        assert np.load("typed.npy").dtype == kind and (np.load("typed.npy") == array).all()
    text = good("inspect", "b.nii")
    assert "axes: z 2.5 mm, y 0.75 mm, x 0.5 mm, sform 2, qform 1" in text, text
    found = json.loads(good("inspect", "b.nii", "--json"))["datasets"][0]
    assert [axis["unit"] for axis in found["axes"]] == ["mm"] * 3 and found["sform"]["code"] == 2


@pytest.mark.quick
def test_what_it_cannot_hold():
    with h5py.File("in.h5", "w") as file:
        file["long"] = np.zeros((2, 32768), "uint8")
        file["fits"] = np.zeros((2, 32767), "uint8")
        file["axes"] = np.zeros((1, 2, 1, 2, 1, 2, 1, 2), "uint8")
        file["half"] = np.zeros((2, 3), "float16")
    for dataset, *words in (("/long", "32767", ".tif"), ("/axes", "1 to 7 axes"), ("/half", "float16")):
        write_job("transpose", "out.nii", f"permutation = {list(range(8 if dataset == '/axes' else 2))}", "in.h5",
                  dataset=f'dataset = "{dataset}"')
        if dataset != "/axes":
            error = call("job.toml", code=2).stderr
            assert all(word in error for word in ("out.nii", ".h5", *words)), error
        bad(2 if dataset != "/half" else 3, words[:1], "convert", f"in.h5:{dataset}", "x.nii")
        assert not list(pathlib.Path().glob("*.partial"))
    good("convert", "in.h5:/fits", "x.nii")
    assert elements("x.nii").shape == (2, 32767)
    write_job("transpose", "out.nii.gz", "permutation = [1, 0]", "in.h5", dataset='dataset = "/long"')
    bad(2, ["cannot make a .nii file", "32767"], "job.toml")


def test_killed_and_damaged():
    """The header is written again when all rows are there; what kills leave of it counts for nothing."""
    array = volume((23, 31, 29))
    write_nifti("in.nii", array, *affines())
    write_job("convolve", "out.nii", TAPS)
    commit = ("--set", "run.chunk_rows=40", "--set", "run.commit_seconds=0")
    call("job.toml", *commit)
    whole = pathlib.Path("out.nii").read_bytes()
    for fault in [f"{name}:{how}@{number}:out.nii.partial" for name, how, number in
                  (("pwrite", "kill", 1), ("pwrite", "torn", 7), ("pwrite", "kill", 12), ("rename", "kill", 1))]:
        os.unlink("out.nii")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        assert not os.path.exists("out.nii")
        with open("out.nii.partial", "r+b") as file:
            file.write(b"torn" * 88)
        call("job.toml", *commit)
        assert pathlib.Path("out.nii").read_bytes() == whole, fault
        call("verify", "out.nii")
    for byte in (80, 123, 252, 290):  # pixdim, units, a code and the affine
        with open("out.nii", "r+b") as file:
            file.seek(byte)
            file.write(bytes([whole[byte] ^ 1]))
        assert f"byte {byte} of its structure" in call("verify", "out.nii", code=3).stderr
        call("repair", "out.nii", code=3)
        pathlib.Path("out.nii").write_bytes(whole)
    with open("out.nii", "r+b") as file:
        file.seek(5000)
        file.write(b"damaged")
    call("verify", "out.nii", code=7)
    call("repair", "out.nii")
    assert pathlib.Path("out.nii").read_bytes() == whole
    call("certify", "out.nii")


def unpacked(name):
    """What gzip makes of the file, and how many members it has."""
    data, members, whole = pathlib.Path(name).read_bytes(), 0, b""
    while data:
        stream = zlib.decompressobj(31)
        whole += stream.decompress(data)
        assert stream.eof
        data, members = stream.unused_data, members + 1
    return whole, members


@pytest.mark.quick
def test_packed():
    """A .nii.gz unpacks to the .nii that the same job makes; its strips are members of their own."""
    for shape, dtype, strips in [((5, 300, 401), "uint16", 5), ((700, 999), "float32", 11), ((23, 31, 29), "int16", 23),
                                 ((2, 3, 4, 5), "uint8", 6), ((1, 1), "float64", 1), ((2, 300, 1, 3), "int32", 600)]:
        array = volume(shape, dtype)
        np.save("in.npy", array)
        spacing = "spacing = [{}]".format(", ".join(["0.5"] * array.ndim))
        for name in ("out.nii", "out.nii.gz"):
            write_job("convolve", name, TAPS, "in.npy", spacing + "\ncolour = false")
            call("job.toml", "--quiet")
        plain = pathlib.Path("out.nii").read_bytes()
        whole, members = unpacked("out.nii.gz")
        assert whole == plain and members == strips + 2, (shape, members)
        assert np.array_equal(elements("out.nii.gz"), elements("out.nii"))
        made = pathlib.Path("out.nii.gz").read_bytes()
        call("job.toml", "--quiet", "--set", "run.chunk_rows=7", "--set", "run.lanes=3", ranks=2)
        assert pathlib.Path("out.nii.gz").read_bytes() == made
        call("verify", "out.nii.gz", "--recompute", "5")
        good("convert", "out.nii.gz", "back.nii.gz", "--overwrite")
        assert np.array_equal(elements("back.nii.gz"), elements("out.nii"))
    assert gzip.decompress(pathlib.Path("back.nii.gz").read_bytes()) == unpacked("back.nii.gz")[0]
    # What explain prints is the same job.
    pathlib.Path("again.toml").write_text(call("explain", "job.toml").stdout)
    call("again.toml", "--quiet")
    assert pathlib.Path("out.nii.gz").read_bytes() == made
    said = call("job.toml", "--set", 'output.compression="gzip"', code=2).stderr
    assert "output.compression: a .nii.gz file has none" in said, said


def test_packed_killed_and_damaged():
    np.save("in.npy", volume((9, 300, 401), "uint16"))
    write_job("convolve", "out.nii.gz", TAPS, "in.npy")
    commit = ("--set", "run.chunk_rows=300", "--set", "run.commit_seconds=0", "--set", "output.overwrite=false")
    call("job.toml", *commit)
    whole = pathlib.Path("out.nii.gz").read_bytes()
    for fault in ("pwrite:kill@3:out.nii.gz.partial.shard", "pwrite:torn@6:out.nii.gz.partial.shard",
                  "pwrite:kill@1:out.nii.gz.partial", "pwrite:kill@7:out.nii.gz.partial",
                  "rename:kill@1:out.nii.gz.partial"):
        os.unlink("out.nii.gz")
        environment = {**os.environ, "LD_PRELOAD": programs.fault_shim, "FAULT": fault,
                       "FAULT_LOG": os.path.abspath("fault.log")}
        call("job.toml", *commit, code=-signal.SIGKILL, env=environment)
        assert not os.path.exists("out.nii.gz")
        call("job.toml", *commit, ranks=2)
        assert pathlib.Path("out.nii.gz").read_bytes() == whole, fault
        call("verify", "out.nii.gz")
        assert not list(pathlib.Path().glob("out.nii.gz.*partial*"))
    sizes = len(whole) - 10 - 9 * 8  # of nine strips, before the end of the last member
    for byte in (1, 12, 100, 370, sizes - 3, sizes, sizes + 17, len(whole) - 2):
        damaged = bytearray(whole)
        damaged[byte] ^= 1
        pathlib.Path("out.nii.gz").write_bytes(damaged)
        assert "cannot read the output" in call("verify", "out.nii.gz", code=3).stderr, byte
    damaged = bytearray(whole)
    first = 375 + int.from_bytes(whole[sizes:sizes + 8], "little")
    for at in (first + 100, first - 300):
        damaged[at] ^= 1
    pathlib.Path("out.nii.gz").write_bytes(damaged)
    call("verify", "out.nii.gz", code=7)
    call("repair", "out.nii.gz")
    assert pathlib.Path("out.nii.gz").read_bytes() == whole
    call("certify", "out.nii.gz")


def test_batch():
    for number in range(2):
        write_nifti(f"s{number}.nii", volume((3 + number, 7, 5)), *affines())
    pathlib.Path("job.toml").write_text(
        'kind = "bin"\n[batch]\ninputs = ["s?.nii"]\noutput = "out/{stem}.nii"\n[run]\nbackend = "cpu"\n'
        '[bin]\nfactors = [1, 2, 1]\n')
    call("batch", "job.toml", ranks=2)
    for number in range(2):
        check_places(f"s{number}.nii", f"out/s{number}.nii", lambda at: at * [1, 2, 1] + [0, 0.5, 0])
    before = {path: os.stat(path) for path in pathlib.Path("out").glob("*.nii")}
    call("batch", "job.toml")
    assert {path: os.stat(path) for path in before} == before and len(before) == 2


@pytest.mark.quick
def test_odd_headers():
    """Fields of space that are no numbers, or of the other order of bytes."""
    array = volume((2, 3, 5), "int16")
    write_nifti("in.nii", array, *affines())
    whole = bytearray(pathlib.Path("in.nii").read_bytes())
    for byte, value in ((80, np.nan), (84, np.inf), (256, np.nan), (268, np.inf), (280, -np.inf), (76, 0), (88, 0),
                        (256, 3e38), (300, 3e38)):
        data = bytearray(whole)
        data[byte:byte + 4] = np.array([value], "<f4").tobytes()
        pathlib.Path("odd.nii").write_bytes(data)
        good("inspect", "odd.nii", "--json")
        good("convert", "odd.nii", "made.nii", "--overwrite")
        assert (elements("made.nii") == array).all()
        header = nibabel.load("made.nii").header
        assert np.isfinite(header["pixdim"]).all() and np.isfinite(header["srow_x"]).all(), (byte, value)
    image = nibabel.load("in.nii")
    header = image.header.as_byteswapped(">")
    pathlib.Path("big.nii").write_bytes(header.binaryblock + bytes(4) + array.astype(">i2").tobytes())
    good("convert", "big.nii", "made.nii", "--overwrite")
    check_places("in.nii", "made.nii", lambda at: at)
    whole[124:132] = np.array([900, -5], "<f4").tobytes()
    pathlib.Path("shown.nii").write_bytes(whole)
    assert "the range to show (cal_min, cal_max)" in call("convert", "shown.nii", "made.nii", "--overwrite").stderr


@pytest.mark.quick
def test_samples_of_colour_are_no_columns():
    """A volume has none: a colour image is refused, with the formats that have them."""
    with h5py.File("in.h5", "w") as file:
        data = file.create_dataset("data", data=volume((12, 13, 3), "int16"))
        data.attrs["interpretation"] = "rgb-image"
    for name in ["out.nii", "out.nii.gz", "out.mrc"]:
        write_job("convolve", name, TAPS, "in.h5")
        for command in [("job.toml", "--quiet"), ("plan", "job.toml")]:
            bad(2, ["colour", "[12, 13, 3]", ".ome.tif"], *command)
        bad(2, ["colour", "[12, 13, 3]", ".ome.tif"], "convert", "in.h5", name)
        write_job("convolve", name, TAPS, "in.h5", "colour = false")
        call("job.toml", "--quiet")
        write_job("convolve", "s_" + name, TAPS, "in.h5", "select = { s = 0 }")
        call("job.toml", "--quiet")
