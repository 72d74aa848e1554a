"""What a job's output has of its input's attributes and coordinates.

Inputs are made with h5py, and outputs are compared with what numpy makes of the same values.
"""
import hashlib
import pathlib
import struct

import h5py
import numpy as np
import pytest

from harness import call
from same_outputs import KINDS as OTHER_KINDS

pytestmark = pytest.mark.quick

SHAPE = (8, 11, 14)
FRAME, Y, X = np.arange(8) * 10 + 3, np.linspace(-1.5, 1.5, 11), np.linspace(0, 7, 15).astype("float32")
DATASET_ATTRIBUTES = {
    "units": "counts", "long_name": np.bytes_("photons per pixel"), "label": np.array([b"ab ", b"c"]),
    "exposure": 0.25, "gain": np.float32(3.5), "ids": np.arange(5, dtype="uint16"), "big": np.array([1, 2], ">i4"),
    "half": np.float16(1.5), "ok": True, "flags": np.array([True, False]), "none": h5py.Empty("f4"),
    "empty": np.zeros(0, "int64"), "matrix": np.eye(2), "texts": ["ä", "", "ccc"], "blank": ""}
KINDS = {**OTHER_KINDS, "median": "size = [1, 3, 3]\n", "rescale": 'from = "extremes"\n',
         "correct": "dark = 3.0\nflat = 250.0\n"}


def volume():
    return np.random.default_rng(3).integers(0, 200, SHAPE).astype("float32")


def write_input(name="in.h5", values=None, **changes):
    with h5py.File(name, "w") as file:
        entry = file.create_group("entry")
        entry.attrs["NX_class"] = "NXentry"
        group = entry.create_group("scan")
        group.attrs.update({"NX_class": "NXdata", "signal": "data", "axes": ["frame", "y", "x"], "frame_indices": 0,
                            "y_indices": [1], "x_indices": 2, "angle_indices": 0, "title": "a scan", "run": 12})
        data = group.create_dataset("data", data=volume() if values is None else values)
        for key, value in {**DATASET_ATTRIBUTES, "DIMENSION_LABELS": ["frame", "y", "x"],
                           "element_size_um": np.array([5.0, 0.5, 0.25])}.items():
            data.attrs[key] = value
        data.attrs["target"] = "/entry/scan/data"
        group["frame"] = FRAME
        group["y"] = Y
        group["x"] = X  # of 15: the edges of 14 bins
        group.create_dataset("angle", data=np.arange(8) * 0.5, chunks=(3,), compression="gzip")
        group["y"].attrs["units"] = "mm"
        group["x"].attrs.update({"units": "mm", "long_name": "across"})
        for key, value in changes.items():
            data.attrs[key] = value


def run(kind, parameters=None, part="", source="in.h5", output="out.h5", code=0, ranks=1, more=""):
    text = (f'[input]\nfile = "{source}"\ndataset = "/entry/scan/data"\n{part}\n[output]\nfile = "{output}"\n'
            f'overwrite = true\nsync = false\n{more}\n[run]\nbackend = "cpu"\n')
    if kind is not None:
        text = f'kind = "{kind}"\n' + text + f"[{kind}]\n{KINDS[kind] if parameters is None else parameters}"
    else:
        text += parameters
    pathlib.Path("job.toml").write_text(text)
    return call("run", "job.toml", ranks=ranks, code=code)


def has(file, path, wanted):
    """That the dataset's attributes are these and no others but the marks of an image."""
    marks = {"interpretation", "CLASS", "IMAGE_VERSION", "IMAGE_SUBCLASS"}
    got = {key: file[path].attrs[key] for key in file[path].attrs if key not in marks}
    assert set(got) == set(wanted), (sorted(got), sorted(wanted))
    for key, value in wanted.items():
        if isinstance(value, h5py.Empty):
            assert isinstance(got[key], h5py.Empty) and got[key].dtype == value.dtype
            continue
        same = np.asarray(got[key], object) if isinstance(value, list) else np.asarray(got[key])
        assert np.array_equal(same, np.asarray(value, object if isinstance(value, list) else None)), (key, got[key])


def attributes(**changes):
    wanted = {**DATASET_ATTRIBUTES, "DIMENSION_LABELS": ["frame", "y", "x"],
              "element_size_um": np.array([5.0, 0.5, 0.25]), **changes}
    return {key: value for key, value in wanted.items() if value is not None}


def group_is(file, axes, **indices):
    group = file["entry/scan"]
    assert list(group.attrs["axes"]) == axes, list(group.attrs["axes"])
    assert group.attrs["signal"] == "data" and group.attrs["title"] == "a scan" and group.attrs["run"] == 12
    for name, index in indices.items():
        assert group.attrs[name + "_indices"] == index, name
    assert set(group) == {"data", *indices}, set(group)


def test_kinds_that_keep_places():
    write_input()
    for kind, less in [("convolve", {}), ("median", {}), ("denoise", {}), ("rescale", {"units": None}),
                       ("correct", {"units": None})]:
        run(kind)
        with h5py.File("out.h5") as file:
            has(file, "entry/scan/data", attributes(**less))
            group_is(file, ["frame", "y", "x"], frame=0, y=1, x=2, angle=0)
            for name, values in [("frame", FRAME), ("y", Y), ("x", X), ("angle", np.arange(8) * 0.5)]:
                got = file["entry/scan"][name]
                assert got.dtype == values.dtype and np.array_equal(got[()], values)
            has(file, "entry/scan/x", {"units": "mm", "long_name": "across"})
            with h5py.File("in.h5") as source:
                for key in ["texts", "label", "ok", "ids"]:
                    of_input, of_output = (f["entry/scan/data"].attrs.get_id(key).dtype for f in (source, file))
                    assert of_input == of_output, key


def test_axes_of_a_transposition():
    write_input(per_axis=np.array([1, 2, 3]), _FillValue=np.float32(7))
    done = run("transpose", "permutation = [2, 0, 1]\n")
    assert "per_axis: its values may belong to the axes" in done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        has(file, "entry/scan/data", attributes(DIMENSION_LABELS=["x", "frame", "y"], _FillValue=np.float32(7),
                                                texts=None, element_size_um=np.array([0.25, 5.0, 0.5])))
        group_is(file, ["x", "frame", "y"], frame=1, y=2, x=0, angle=1)
        assert np.array_equal(file["entry/scan/x"][()], X)


def test_places_of_sand():
    """Rows and columns are the input's; its frames are gone, and the output's are generations."""
    write_input(values=np.random.default_rng(4).integers(0, 4, SHAPE, dtype="uint8"),
                flag_values=np.arange(4, dtype="uint8"), flag_meanings="empty water sand wall",
                per_frame=np.arange(8), actual_range=np.array([1, 3]))
    done = run("sand", "generations = 3\nsnapshot_every = 1\ninput_frame = 2\n")
    assert "per_frame: its values may belong" in done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        has(file, "entry/scan/data",
            attributes(DIMENSION_LABELS=["", "y", "x"], element_size_um=None, texts=None,
                       flag_values=np.arange(4, dtype="uint8"), flag_meanings="empty water sand wall"))
        group = file["entry/scan"]
        assert list(group.attrs["axes"]) == ["generation", "y", "x"] and group.attrs["title"] == "a scan"
        assert (group.attrs["y_indices"], group.attrs["x_indices"]) == (1, 2)
        assert set(group) == {"data", "generation", "y", "x"} and list(group["generation"][()]) == [1, 2, 3]
        assert np.array_equal(file["entry/scan/y"][()], Y) and np.array_equal(file["entry/scan/x"][()], X)
        has(file, "entry/scan/x", {"units": "mm", "long_name": "across"})
        assert file["entry/scan/data"].shape == (3, 11, 14)
    call("verify", "out.h5")


def test_lists_of_matches():
    """They are no values at places of the input: only what the group says of the measurement holds."""
    write_input()
    for dataset, group, wanted in [("/entry/scan", "entry/scan", {"title": "a scan", "run": 12}),
                                   ("/", "/", {"title": "a scan"})]:
        run("match", more=f'dataset = "{dataset}"')
        with h5py.File("out.h5") as file:
            assert {"index", "distance", "count"} <= set(file[group]), set(file[group])
            assert not {"frame", "y", "x", "angle"} & set(file[group])
            for name in ["index", "distance", "count"]:
                has(file, f"{group}/{name}", {})
            for key, value in wanted.items():
                assert file[group].attrs[key] == value
            assert "axes" not in file[group].attrs and ("run" in file[group].attrs) == ("run" in wanted)
        call("verify", "out.h5")
        run("match", more=f'dataset = "{dataset}"')  # nothing in it is of others: it is replaced


def test_blocks():
    write_input()
    for edge in ["drop", "partial"]:
        run("bin", f'factors = [2, 3, 4]\nedge = "{edge}"\n')
        wanted = attributes(element_size_um=np.array([10.0, 1.5, 1.0]), texts=None)
        with h5py.File("out.h5") as file:
            has(file, "entry/scan/data", wanted)
            group_is(file, ["frame", "y", "x"], frame=0, y=1, x=2, angle=0)
            whole = 3 if edge == "drop" else 4
            group = file["entry/scan"]
            assert np.array_equal(group["frame"][()], FRAME.reshape(4, 2).mean(axis=1))
            assert np.allclose(group["y"][()], [Y[i:i + 3].mean() for i in range(0, 3 * whole, 3)], rtol=1e-15)
            assert np.array_equal(group["x"][()], X[[0, 4, 8, 12] if edge == "drop" else [0, 4, 8, 12, 14]])
            assert group["x"].dtype == "float32" and group["frame"].dtype == "float64"
            assert file["entry/scan/data"].shape[1:] == (len(group["y"]), len(group["x"]) - 1)


def test_parts():
    write_input(per_frame=np.arange(8), origin=np.array([0.0, 1.0, 2.0]))
    done = run("median", part='region = { rows = "2:9", columns = "4:" }\nframes = "1:7:2"')
    assert "per_frame: its values may belong" in done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        has(file, "entry/scan/data", attributes(element_size_um=np.array([10.0, 0.5, 0.25])))
        group = file["entry/scan"]
        assert np.array_equal(group["frame"][()], FRAME[1:7:2]) and np.array_equal(group["y"][()], Y[2:9])
        assert np.array_equal(group["x"][()], X[4:]) and np.array_equal(group["angle"][()], np.arange(8)[1:7:2] * 0.5)


def test_steps_and_passes():
    """Through a file between two passes as through memory."""
    write_input()
    blocks = '[[step]]\nkind = "bin"\nfactors = [1, 1, 2]\n'
    for steps in [blocks + '[[step]]\nkind = "median"\nsize = [1, 3, 3]\n',
                  '[[step]]\nkind = "transpose"\npermutation = [0, 2, 1]\n' + blocks.replace("1, 2", "2, 1") +
                  '[[step]]\nkind = "transpose"\npermutation = [0, 2, 1]\n']:
        done = run(None, steps)
        assert ("pass 2 of" in done.stderr) == ("transpose" in steps), done.stderr
        with h5py.File("out.h5") as file:
            has(file, "entry/scan/data", attributes(element_size_um=np.array([5.0, 0.5, 0.5]), texts=None))
            group_is(file, ["frame", "y", "x"], frame=0, y=1, x=2, angle=0)
            assert np.array_equal(file["entry/scan/x"][()], X[::2])
    run(None, '[[step]]\nkind = "rescale"\nfrom = [0, 100]\n[[step]]\nkind = "median"\nsize = [3, 3]\n')
    with h5py.File("out.h5") as file:
        assert "units" not in file["entry/scan/data"].attrs and "long_name" in file["entry/scan/data"].attrs


def contents(name):
    """All that is in the file but what differs from run to run, as the bytes of values."""
    found = {}

    def add(path, item):
        for key in item.attrs:
            if "seconds" not in key and key not in ("job", "ranks", "job_settings"):
                found[f"{path}@{key}"] = repr(item.attrs[key])
        if isinstance(item, h5py.Dataset) and not path.startswith("runner"):
            found[path] = hashlib.sha256(item[()].tobytes()).hexdigest()
    with h5py.File(name) as file:
        file.visititems(add)
    return found


def test_ranks_outputs_and_verify():
    write_input()
    run("median", output="one.h5")
    run("median", output="two.h5", ranks=3)
    assert contents("one.h5") == contents("two.h5")
    for more in ["parts = 2", 'chunk = [1, 11, 14]\ncompression = "deflate"']:
        run("median", output="more.h5", more=more)
        assert contents("more.h5") == contents("one.h5"), more
        call("verify", "more.h5")
        run("median", output="more.h5", more=more)  # nothing in it is of others: it is replaced
        assert contents("more.h5") == contents("one.h5"), more
    call("convert", "one.h5", "one.npy")  # its only image, beside coordinates
    run("convolve", source="one.h5", output="again.h5")
    with h5py.File("again.h5") as file:
        has(file, "entry/scan/data", attributes())
        group_is(file, ["frame", "y", "x"], frame=0, y=1, x=2, angle=0)


def test_names_with_slashes():
    """As nxtomo and silx write them."""
    write_input()
    with h5py.File("in.h5", "a") as file:
        file["entry/scan"].attrs["SILX_style/axis_scale_types"] = ["linear", "linear"]
        file["entry/scan/data"].attrs["a/b"] = 3
    assert "without" not in run("median").stderr
    with h5py.File("out.h5") as file:
        has(file, "entry/scan/data", {**attributes(), "a/b": 3})
        assert list(file["entry/scan"].attrs["SILX_style/axis_scale_types"]) == ["linear", "linear"]
    call("verify", "out.h5")
    run("median")


def test_what_is_left_out():
    write_input()
    with h5py.File("in.h5", "a", libver="latest") as file:
        group, data = file["entry/scan"], file["entry/scan/data"]
        data.attrs["complex"] = 1 + 2j
        data.attrs["long"] = np.zeros(5000)
        data.attrs["place"] = data.ref
        data.attrs["DIMENSION_LIST"] = np.zeros(3)
        del group["y"], group["frame"]
        group["y"] = np.zeros((11, 2))
        group["frame"] = h5py.ExternalLink("/etc/passwd", "/x")
    done = run("median")
    for text in ["data@complex: it is of type complex128", "data@long: it has more than 32768 bytes",
                 "data@place: it is of type reference", "/entry/scan/y: its shape is [11, 2]", "/entry/scan/frame: "]:
        assert text in done.stderr, (text, done.stderr)
    assert done.stderr.count("without some of its attributes") == 1
    with h5py.File("out.h5") as file:
        has(file, "entry/scan/data", attributes())
        assert list(file["entry/scan"].attrs["axes"]) == [".", ".", "x"]


def test_coordinates_in_another_file():
    """A job's identity says nothing of that file."""
    write_input()
    with h5py.File("in.h5", "a") as file, h5py.File("beside.h5", "w") as beside:
        beside["y"] = file["entry/scan/y"][...]
        del file["entry/scan/y"]
        file["entry/scan/y"] = h5py.ExternalLink("beside.h5", "/y")
    assert "/entry/scan/y: its elements are in other files" in run("median").stderr


def test_coordinates_that_are_damaged():
    """HDF5 would read what the file does not store from other memory."""
    write_input()
    values = np.arange(8) * 0.5 + 3
    with h5py.File("in.h5", "a") as file:
        group = file["entry/scan"]
        del group["frame"]
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(group.id, b"frame", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((8,)), compact).write(
            h5py.h5s.ALL, h5py.h5s.ALL, values)
    bytes_ = pathlib.Path("in.h5").read_bytes()
    layout = struct.pack("<BBH", 3, 0, 64) + values.tobytes()
    assert bytes_.count(layout) == 1
    pathlib.Path("in.h5").write_bytes(bytes_.replace(layout, struct.pack("<BBH", 3, 0, 16) + values.tobytes()))
    done = run("median")
    assert "/entry/scan/frame: its elements have 64 bytes and 16 are stored" in done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        assert list(file["entry/scan"].attrs["axes"]) == [".", "y", "x"]


def test_a_name_that_is_taken():
    write_input()
    pathlib.Path("job.toml").write_text(
        'kind = "median"\n[input]\nfile = "in.h5"\ndataset = "/entry/scan/data"\n[output]\nfile = "out.h5"\n'
        'dataset = "/x"\n[run]\nbackend = "cpu"\n[median]\nsize = [1, 3, 3]\n')
    assert "x: the output has something else of that name" in call("run", "job.toml").stderr
    with h5py.File("out.h5") as file:
        assert file["x"].shape == SHAPE and list(file.attrs["axes"]) == ["frame", "y", "."]
        assert file.attrs["kind"] == "median" and file.attrs["title"] == "a scan"


def test_our_own_marks_are_not_taken_from_an_input():
    """Attributes of the input's group that runner gives a meaning."""
    write_input()
    with h5py.File("in.h5", "a") as file:
        file["entry/scan"].attrs.update({"parts": "x", "part": "y", "objects": "z", "identity": "i", "kind": "other"})
    pathlib.Path("job.toml").write_text(
        'kind = "median"\n[input]\nfile = "in.h5"\ndataset = "/entry/scan/data"\n[output]\nfile = "out.h5"\n'
        'dataset = "/data"\n[run]\nbackend = "cpu"\n[median]\nsize = [1, 3, 3]\n')
    call("run", "job.toml")
    with h5py.File("out.h5") as file:
        assert "parts" not in file.attrs and "part" not in file.attrs and file.attrs["kind"] == "median"
        assert file.attrs["identity"].startswith("kind = median")
    call("verify", "out.h5")


def test_many_long_attributes():
    """As many as are carried, each as long as it may be."""
    write_input()
    with h5py.File("in.h5", "w", libver="latest") as file:
        data = file.create_dataset("entry/scan/data", data=volume())
        for i in range(140):
            data.attrs[f"a{i:03}"] = np.full(4096, i, "float64")
    done = run("median")
    assert "12 attributes beyond 128" in done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        assert all((file["entry/scan/data"].attrs[f"a{i:03}"] == i).all() for i in range(128))
    call("verify", "out.h5")


def test_a_file_whose_attributes_are_damaged():
    """The elements are good: the output has them, and a warning says what it lacks."""
    write_input()
    bytes_ = bytearray(pathlib.Path("in.h5").read_bytes())
    place = bytes_.find(b"element_size_um")
    bytes_[place - 8:place] = b"\xff" * 8
    pathlib.Path("in.h5").write_bytes(bytes_)
    done = run("median")
    assert "without some of its attributes: all: " in done.stderr, done.stderr
    with h5py.File("out.h5") as file:
        assert "units" not in file["entry/scan/data"].attrs
    call("verify", "out.h5")
