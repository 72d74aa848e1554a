"""Arrays in files."""
import os

import h5py
import numpy as np
import pytest

import runner


@pytest.fixture(name="files", scope="module")
def make_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    x = np.arange(2 * 7 * 5 * 3, dtype="u2").reshape(7, 2, 5, 3)
    with h5py.File(folder / "a.h5", "w") as file:
        file["x"] = x
        file["flat"] = x[0, 0]
        file["line"] = x[0, 0, 0]
    with h5py.File(folder / "one.h5", "w") as file:
        file["deep/x"] = x
    np.save(folder / "a.npy", x[:, 0])
    return folder, x


def test_hdf5(files):
    folder, x = files
    stored = runner.read(folder / "a.h5", "/x")
    assert stored.shape == x.shape and stored.dtype == x.dtype and len(stored) == 7
    for index in (..., True, 3, -1, slice(2, 5), slice(None, None, 3), slice(5, 1, -2), slice(4, 4),
                  (slice(1, 3), 1, slice(None), 2), (2, 1), [1, 5], np.array([0, 6]),
                  (Ellipsis, 0)):
        np.testing.assert_array_equal(stored[index], x[index])
        assert stored[index].dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(stored), x)
    with pytest.raises(IndexError):
        stored[7]
    assert (runner.read(folder / "one.h5")[4] == x[4]).all()
    for name in ("flat", "line"):
        few = runner.read(folder / "a.h5", "/" + name)
        np.testing.assert_array_equal(few[1:], x[0, 0][1:] if name == "flat" else x[0, 0, 0][1:])


@pytest.mark.parametrize("dtype", ["f2", ">f2", ">f8", ">u4", "i8", "bool"])
def test_types(tmp_path, dtype):
    """Big-endian numbers become native; what is no number is refused."""
    x = (np.arange(3 * 4 * 5) % 31).reshape(3, 4, 5).astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = x
        file["text"], file["pair"] = b"none", np.ones(3, [("a", "u1"), ("b", "u1")])
    stored = runner.read(tmp_path / "a.h5", "/x")
    assert stored.dtype == x.dtype.newbyteorder("=")
    for index in (..., 1, slice(None, None, -2)):
        np.testing.assert_array_equal(stored[index], x[index])
        assert stored[index].dtype == stored.dtype
    for name in ("/text", "/pair"):
        with pytest.raises(ValueError, match="no numbers"):
            runner.read(tmp_path / "a.h5", name)


def test_other_formats(files):
    folder, x = files
    stored = runner.read(folder / "a.npy")
    np.testing.assert_array_equal(stored[2:6], x[2:6, 0])


def test_colour(tmp_path):
    """Samples of colour belong to a frame."""
    x = np.random.default_rng(3).integers(0, 256, (4, 9, 11, 3), dtype="u1")
    for name, array, attribute in [("one", x[0], "rgb-image"), ("several", x, "rgb-image"), ("none", x, "image")]:
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["x"] = array
            file["x"].attrs["interpretation"] = attribute
        stored = runner.read(tmp_path / f"{name}.h5")
        for index in (0, -1, slice(1, 3), slice(None, None, -2), (slice(None), 2), (1, 2), (..., 1), [1, 0]):
            np.testing.assert_array_equal(stored[index], array[index])


def test_the_output_of_a_job(files, tmp_path):
    """Which has datasets of the program beside its own."""
    folder, x = files
    (tmp_path / "job.toml").write_text(
        f'kind = "transpose"\n[input]\nfile = "{folder}/a.h5"\ndataset = "/flat"\n[output]\n'
        f'file = "{tmp_path}/out.h5"\n[run]\nbackend = "cpu"\n[transpose]\npermutation = [1, 0]\n')
    runner.run(tmp_path / "job.toml")
    np.testing.assert_array_equal(runner.read(tmp_path / "out.h5"), x[0, 0].T)


def test_errors(files):
    folder, _ = files
    with pytest.raises(ValueError, match="/flat"):
        runner.read(folder / "a.h5")
    with pytest.raises(runner.InputError, match="/y"):
        runner.read(folder / "a.h5", "/y")
    with pytest.raises(runner.InputError, match="none.h5"):
        runner.read(folder / "none.h5")


def test_a_name_in_bytes(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3)))
    assert runner.read(os.fsencode(tmp_path / "a.npy")).shape == (2, 3)
