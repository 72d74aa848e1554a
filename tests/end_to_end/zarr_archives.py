"""Zarr stores in a .zip without compression: read as the folders are; what is compressed, damaged or hostile is refused."""
import json
import pathlib
import shutil
import stat
import struct
import zipfile

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, good
from zarr_files import STORES, check, extracted, job, stored


def packed(folder, archive, compression=zipfile.ZIP_STORED, **options):
    """The files of a folder as an archive."""
    with zipfile.ZipFile(archive, "w", compression, **options) as made:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file():
                made.write(path, path.relative_to(folder))


@pytest.mark.quick
@pytest.mark.parametrize("separator", "./")
@pytest.mark.parametrize("ending", [".zarr.zip", ".ome.zarr.zip", ".ozx", ".zarr", ".zip", ".ZIP", ""])
def test_version_2(separator, ending):
    wanted = stored(dimension_separator=separator)
    packed("in.zarr", "x" + ending, **({"allowZip64": False} if separator == "/" else {}))
    shutil.rmtree("in.zarr")
    check("x" + ending, wanted)
    check(f"x{ending}:/data", wanted)
    assert f"x{ending}:/data" in good("render", "x" + ending, "a.png")
    assert good("inspect", "x" + ending, "--json")


@pytest.mark.share(0.5)
@pytest.mark.quick
@pytest.mark.parametrize("name", [name for name in STORES if not name.startswith("image")])
def test_version_3(name):
    extracted(name)
    packed(f"{name}.zarr", "x.zarr.zip")
    check("x.zarr.zip", np.load(f"{name}.npy"))


@pytest.mark.quick
def test_image():
    """An image with levels: its axes, every level, and jobs by any ranks; a new archive is another input."""
    array = np.random.default_rng(3).integers(0, 999, (4, 70, 90)).astype("uint16")
    with h5py.File("in.h5", "w") as file:
        file["x"] = array
        file["x"].attrs.update(DIMENSION_LABELS=["z", "y", "x"], element_size_um=[2.0, 0.5, 0.25])
    for version in ("0.4", "0.5"):
        good("convert", "in.h5:/x", "in.ome.zarr", "--levels", "2", "--overwrite", "--ngff", version, "--chunk", "1,16,32")
        packed("in.ome.zarr", "in.ozx")
        check("in.ozx", array)
        good("convert", "in.ome.zarr:/1", "one.npy", "--overwrite")
        check("in.ozx:/1", np.load("one.npy"))
        found = json.loads(good("inspect", "in.ozx", "--json"))["datasets"]
        assert [one["path"] for one in found] == ["/0", "/1"] and found[0]["axes"][2]["spacing"] == 0.25
        for ranks in (1, 2):
            job("bin", "in.ozx", f"out{ranks}.npy", "factors = [2, 2]", ranks=ranks)
        job("bin", "in.ome.zarr", "folder.npy", "factors = [2, 2]")
        assert len({pathlib.Path(name).read_bytes() for name in ("out1.npy", "out2.npy", "folder.npy")}) == 1
        pathlib.Path("in.ozx").touch()
        assert "input." in job("bin", "in.ozx", "out1.npy", "factors = [2, 2]", code=4).stderr
        for name in ("out1.npy", "out2.npy", "folder.npy"):
            pathlib.Path(name).unlink()


@pytest.mark.quick
def test_batch():
    """A wildcard names archives as it does files; jobs and verbs make none."""
    wanted = stored()
    for name in "ab":
        packed("in.zarr", f"{name}.zarr.zip")
    pathlib.Path("job.toml").write_text('kind = "bin"\n[batch]\ninputs = ["*.zarr.zip"]\noutput = "out/{stem}.npy"\n'
                                        '[run]\nbackend = "cpu"\n[bin]\nfactors = [2, 2]\n')
    call("batch", "job.toml", "--quiet")
    assert len(list(pathlib.Path("out").glob("*.npy"))) == 2
    np.save("in.npy", wanted)
    for name in ("new.zarr.zip", "new.ozx", "new.zip"):
        error = attempt("convert", "in.npy", name)
        assert error.returncode == 2 and name in error.stderr and not pathlib.Path(name).exists()


@pytest.mark.quick
def test_large():
    """zip64: more than 65535 members, sizes that the archive has elsewhere, and a comment behind all."""
    wanted = stored()
    with zipfile.ZipFile("x.zarr.zip", "w") as made:
        made.comment = b"PK\x05\x06 is no end" * 9
        for number in range(65536):
            made.writestr(zipfile.ZipInfo(f"more/{number}"), b"")
        for path in pathlib.Path("in.zarr").iterdir():
            with made.open(zipfile.ZipInfo(path.name), "w", force_zip64=True) as file:
                file.write(path.read_bytes())
    check("x.zarr.zip", wanted)
    data = pathlib.Path("x.zarr.zip").read_bytes()
    locator = data.rindex(b"PK\x06\x07")
    for offset in (len(data), 2**63 - 1, 2**64 - 1, 0):
        pathlib.Path("x.zarr.zip").write_bytes(data[:locator + 8] + struct.pack("<Q", offset) + data[locator + 16:])
        bad(3, ["x.zarr.zip", "large directory is missing"], "convert", "x.zarr.zip", "new.h5")
    pathlib.Path("x.zarr.zip").write_bytes(data)
    with zipfile.ZipFile("y.zarr.zip", "w") as made:  # a size of 2^32 - 1 and more, declared in the entry's extra bytes
        made.writestr(".zarray", pathlib.Path("in.zarr/.zarray").read_bytes())
        made.writestr("0.0.0", b"x")
        entry = made.getinfo("0.0.0")
        entry.file_size = entry.compress_size = 2**40
    bad(3, ["y.zarr.zip", "0.0.0", "bytes pass byte"], "convert", "y.zarr.zip", "new.h5")


@pytest.mark.quick
def test_compressed():
    """A member that is compressed, encrypted or a link is named, if it is of the store."""
    wanted = stored()
    packed("in.zarr", "x.zarr.zip", zipfile.ZIP_DEFLATED)
    bad(3, ["x.zarr.zip, member .zarray", "it is compressed", "zip -0"], "convert", "x.zarr.zip", "new.h5")
    packed("in.zarr", "x.zarr.zip")
    with zipfile.ZipFile("x.zarr.zip", "a", zipfile.ZIP_DEFLATED) as made:
        made.writestr("notes.txt", "x" * 99)
    check("x.zarr.zip", wanted)
    np.savez("x.npz", a=np.arange(3))
    bad(3, ["x.npz", "name one of the .npy files in it"], "convert", "x.npz", "new.h5")
    for change, words in ((lambda entry: setattr(entry, "flag_bits", 1), "it is encrypted"),
                          (lambda entry: setattr(entry, "external_attr", (stat.S_IFLNK | 0o777) << 16), "it is a link"),
                          (lambda entry: setattr(entry, "compress_type", 8), "it is compressed"),
                          (lambda entry: setattr(entry, "header_offset", 0), "is another one")):
        packed("in.zarr", "x.zarr.zip")
        with zipfile.ZipFile("x.zarr.zip", "a") as made:
            made.writestr("b", b"")  # so that the directory is written again
            entry = made.getinfo("1.1.1")
            entry.create_system = 3
            change(entry)
        bad(3, ["x.zarr.zip, member 1.1.1", words], "convert", "x.zarr.zip", "new.h5")


@pytest.mark.quick
@pytest.mark.parametrize("name", ["../0.0.0", "/etc/passwd", "a/../../b", "a//b", "./a", "a\\b", "..", "0.0.0"])
def test_hostile_names(name):
    """Names that lead out of the archive, or that two members have."""
    stored()
    packed("in.zarr", "x.zarr.zip")
    with zipfile.ZipFile("x.zarr.zip", "a") as made:
        entry = zipfile.ZipInfo("member")  # as zipfile takes it; the directory has the name below
        made.writestr(entry, b"")
        entry.filename = name
    bad(3, ["x.zarr.zip", "two members have this name" if name == "0.0.0" else "no path within the archive"],
        "convert", "x.zarr.zip", "new.h5")


@pytest.mark.quick
def test_paths_that_lead_out():
    """A path in the metadata leads out of the archive, or the store is in a folder of it."""
    extracted("image")
    shutil.copytree("image.ome.zarr", "up/image.ome.zarr")
    packed("up", "y.zarr.zip")
    bad(3, ["y.zarr.zip", "at its root", "zip -0"], "convert", "y.zarr.zip", "new.h5")
    path = pathlib.Path("image.ome.zarr/zarr.json")
    node = json.loads(path.read_text())
    node["attributes"]["ome"]["multiscales"][0]["datasets"][0]["path"] = "../image.ome.zarr/0"
    path.write_text(json.dumps(node))
    packed("image.ome.zarr", "x.zarr.zip")
    bad(3, ["x.zarr.zip", "leads out of the archive"], "convert", "x.zarr.zip", "new.h5")


@pytest.mark.quick
def test_damaged():
    """Archives cut or changed at any byte are refused, or read as Python's zipfile reads them; nothing ends otherwise."""
    wanted = stored(compressor=None)
    packed("in.zarr", "x.zarr.zip")
    whole = pathlib.Path("x.zarr.zip").read_bytes()
    with zipfile.ZipFile("x.zarr.zip") as made:
        directory, first = made.start_dir, made.getinfo(".zarray").header_offset
    random = np.random.default_rng(11)
    for case in range(40):
        data = bytearray(whole)
        if case < 8:
            data = data[:int(random.integers(0, len(data)))]
        else:
            at = first + 30 + 7 + 5 if case == 8 else int(random.integers(directory, len(data)))
            data[at] ^= 1 << int(random.integers(0, 8))
        pathlib.Path("x.zarr.zip").write_bytes(data)
        done = attempt("convert", "x.zarr.zip", "new.npy", "--overwrite")
        if done.returncode == 0:  # a time, an attribute, or a chunk that has another name now
            found = np.load("new.npy")
            assert case > 8 and ((found == wanted) | (found == 0)).all()
        else:
            assert done.returncode == 3 and "x.zarr.zip" in done.stderr, (case, done)
        assert case != 8 or "does not match its checksum" in done.stderr or "metadata" in done.stderr


@pytest.mark.quick
def test_checksums_of_chunks():
    """A chunk or a shard whose bytes do not match its CRC-32 is refused, with the archive and the member; others are read."""
    wanted = np.random.default_rng(3).integers(0, 999, (6, 40, 50)).astype("uint16")
    np.save("in.npy", wanted)
    for shard in ("2,16,16", "2,32,32"):
        shutil.rmtree("in.zarr", ignore_errors=True)
        good("convert", "in.npy", "in.zarr", "--chunk", "2,16,16", "--shard", shard)
        packed("in.zarr", "x.zarr.zip")
        check("x.zarr.zip", wanted)
        with zipfile.ZipFile("x.zarr.zip") as archive:
            begin = archive.getinfo("c/1/1/0").header_offset + 30 + len("c/1/1/0")
        whole = pathlib.Path("x.zarr.zip").read_bytes()
        damaged = bytearray(whole)
        damaged[begin + 99] ^= 4
        pathlib.Path("x.zarr.zip").write_bytes(damaged)
        bad(3, ["x.zarr.zip: c/1/1/0", "CRC-32"], "convert", "x.zarr.zip", "out.h5", "--overwrite")
        job("bin", "x.zarr.zip", f"{shard}.h5", "factors = [2, 2]", more='region = { depth = "0:2" }')
        assert "x.zarr.zip: c/1/1/0" in job("bin", "x.zarr.zip", "all.h5", "factors = [2, 2]", code=3).stderr
