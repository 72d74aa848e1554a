"""What NeXus files of older writers say of axes, and what marks say of colours and of what elements stand for."""
import json
import pathlib

import h5py
import numpy as np
import pytest

from harness import call, good

pytestmark = pytest.mark.quick

DATA = np.random.default_rng(6).integers(0, 200, (4, 6, 8)).astype("uint8")


def write(data=DATA, coordinates=None, fields=None, group=None, **attributes):
    """The signal /entry/data/counts of an NXdata group."""
    with h5py.File("in.h5", "w") as file:
        made = file.create_group("entry/data")
        file["entry"].attrs.update({"NX_class": "NXentry", "default": "data"})
        file.attrs["default"] = "entry"
        made.attrs.update({"NX_class": "NXdata", **({"signal": "counts"} if group is None else group)})
        made["counts"] = data
        made["counts"].attrs.update(attributes)
        for name, (values, unit) in (coordinates or {}).items():
            made[name] = values
            made[name].attrs["units"] = unit
        for name, value in (fields or {}).items():
            made[name] = value


def warning(*keys, source="in.h5", output="out.h5", kind="median"):
    return call(kind, source, output, "--quiet", "--overwrite", *(keys or ("--size", "3,3"))).stderr


COORDINATES = {"z": (np.arange(4) * 5.0, "um"), "y": (np.arange(6) * 2.0, "um"), "x": (np.arange(8) * 2.0 + 7, "um")}


@pytest.mark.parametrize("axes", ["z:y:x", "z,y,x", "[z,y,x]", "[z, y, x]", "z, y , x"])
def test_axes_that_the_dataset_names(axes):
    """As NeXus had them before 2014: spacing and units of the group's coordinates."""
    write(coordinates=COORDINATES, group={}, signal=1, axes=axes)
    assert "axes: z 5 um, y 2 um, x 2 um from 7\n" in good("inspect", "in.h5"), good("inspect", "in.h5")
    assert "spacing" not in warning(output="out.ome.zarr")
    assert "axes: z 5 um, y 2 um, x 2 um from 7\n" in good("inspect", "out.ome.zarr")
    write(coordinates=COORDINATES, group={"signal": "z"}, axes=axes)  # they are another dataset's
    assert "axes: z, y, x\n" in good("inspect", "in.h5:/entry/data/counts")


def test_coordinates_in_chunks_and_behind_links():
    write(group={"signal": "counts", "axes": ["z", "y", "x"]})
    with h5py.File("in.h5", "a") as file:
        data, sample = file["entry/data"], file.create_group("entry/sample")
        data.create_dataset("z", data=np.arange(4) * 5.0, maxshape=(None,), compression="gzip", shuffle=True)
        data["z"].attrs["units"] = "um"
        sample["height"] = np.arange(6) * 2.0
        sample.create_dataset("width", data=np.arange(8) * 2.0 + 7, chunks=(3,), fletcher32=True)
        data["y"], data["x"] = h5py.SoftLink("/entry/sample/height"), h5py.SoftLink("/entry/sample/width")
    assert "axes: z 5 um, y 2, x 2 from 7\n" in good("inspect", "in.h5"), good("inspect", "in.h5")
    assert "spacing" not in warning(output="out.ome.zarr")
    bytes_before = pathlib.Path("in.h5").read_bytes()
    with h5py.File("in.h5") as file:
        place = file["entry/data/z"].id.get_chunk_info(0).byte_offset
    pathlib.Path("in.h5").write_bytes(bytes_before[:place] + b"\xff" * 9 + bytes_before[place + 9:])
    assert "axes: z, y 2, x 2 from 7\n" in good("inspect", "in.h5"), good("inspect", "in.h5")  # z is damaged
    with h5py.File("in.h5", "a") as file:
        file["entry/data"].attrs["signal"] = "others"  # the axes are those of another dataset
    assert "axes" not in good("inspect", "in.h5:/entry/data/counts")
    with h5py.File("in.h5", "a") as file:
        file["entry/data/others"] = h5py.ExternalLink("missing.h5", "/x")
    assert "uint8 [4, 6, 8]" in good("inspect", "in.h5:/entry/data/counts")


def test_coordinates_that_number_their_axis():
    """As the first NeXus files, and those of GDA, mark coordinates: others count these numbers from either end."""
    write(coordinates=COORDINATES, group={}, signal=1)
    with h5py.File("in.h5", "a") as file:
        for number, name in enumerate("zyx"):
            file["entry/data"][name].attrs.update({"axis": number + 1, "primary": 1})
    text = warning()
    assert "the coordinates x, y, z, which say their axis by a number" in text, text
    with h5py.File("in.h5", "a") as file:
        file["entry/data"].attrs["axes"] = ["z", "y", "x"]
    assert not warning()


@pytest.mark.parametrize("dtype", ["int16", "float64"])
def test_coordinates_that_stand_for_others(dtype):
    """netCDF packs coordinates as it packs elements: spacing and origin are those of the values."""
    write(coordinates={"z": (np.arange(4).astype(dtype), "um"), "y": (np.arange(6).astype(dtype), "um"),
                       "x": (np.arange(8).astype(dtype), "um")}, group={"signal": "counts", "axes": ["z", "y", "x"]},
          fields={"y_scaling_factor": 2.0})
    with h5py.File("in.h5", "a") as file:
        group = file["entry/data"]
        group["z"].attrs.update({"scale_factor": 0.5, "add_offset": 10.0})
        group["x"].attrs["scale_factor"] = np.array([-1.0])  # they fall
    assert "axes: z 0.5 um from 10, y, x\n" in good("inspect", "in.h5")
    assert "the coordinates y, x" in warning(output="out.ome.zarr")
    assert "axes: z 0.5 um from 10, y" in good("inspect", "out.ome.zarr")
    assert not warning()  # HDF5 has them as they are
    with h5py.File("out.h5") as file:
        assert file["entry/data/z"].attrs["scale_factor"] == 0.5 and np.array_equal(file["entry/data/z"], np.arange(4))


@pytest.mark.parametrize("mark", ["spectrum", "scalar", "scaler"])
def test_what_is_no_image_has_no_rows(mark):
    write(interpretation=mark)
    assert "axes:" not in good("inspect", "in.h5:/entry/data/counts")
    write(interpretation="image")
    assert "axes: ?, y, x\n" in good("inspect", "in.h5:/entry/data/counts")


def test_colours_that_are_not_red_green_and_blue():
    for mark, samples in (("hsl-image", 3), ("hsla-image", 4), ("cmyk-image", 4)):
        write(DATA[..., :samples], interpretation=mark)
        text = warning()
        assert f'the samples of a pixel are not red, green and blue (in.h5:/entry/data/counts): its interpretation is "{mark}"' in text, text
    for mark, samples in (("rgb-image", 3), ("rgba-image", 4)):
        write(DATA[..., :samples], interpretation=mark)
        assert "red, green" not in warning()


@pytest.mark.parametrize("shape", [(3, 6, 8), (6, 3, 8), (6, 3)])
def test_samples_along_another_axis(shape):
    write(DATA.ravel()[:np.prod(shape)].reshape(shape), interpretation="rgb-image")
    text = warning()
    assert f'its interpretation is "rgb-image", and its shape is {list(shape)}' in text, text
    write(DATA, interpretation="rgb-image")  # it has no axis of three
    assert not warning()


@pytest.mark.parametrize("fields, said", [({"scaling_factor": 2.5}, "/entry/data/scaling_factor is 2.5"),
                                          ({"counts_scaling_factor": 3.0, "scaling_factor": 2.5, "offset": 10.0},
                                           "/entry/data/counts_scaling_factor is 3, /entry/data/offset is 10"),
                                          ({"scaling_factor": 1.0, "offset": 0}, ""), ({"offset": np.arange(4)}, ""),
                                          ({"bg_offset": 5.0}, "")])
def test_elements_that_stand_for_others(fields, said):
    write(fields=fields)
    text = warning()
    assert ("the elements stand for others (in.h5:/entry/data/counts): " + said in text) if said else not text, text


def test_a_cell_of_other_angles():
    write(DATA.astype("int8"))
    call("convert", "in.h5:/entry/data/counts", "a.mrc", "--dtype", "float32")
    assert not warning(source="a.mrc")
    with open("a.mrc", "r+b") as file:
        file.seek(52)
        file.write(np.array([90, 80, 90], "<f4").tobytes())
    assert "the angles of the cell" in warning(source="a.mrc")


def test_numbers_beyond_those_of_job_files():
    write(DATA.astype("uint64"))
    text = call("median", "in.h5", "out.h5", "--size", "3,3", "--set", "input.invalid=18446744073709551615", code=2).stderr
    assert "input.invalid: is 18446744073709551615, and a number of a job file is at most 2^63 - 1; name a mask" in text


def hdf5_image(**attributes):
    """An image by HDF5's own convention, whose texts have a fixed length."""
    with h5py.File("in.h5", "w") as file:
        file["image"] = DATA[0]
        file["image"].attrs.update({"CLASS": np.bytes_("IMAGE"), "IMAGE_SUBCLASS": np.bytes_("IMAGE_GRAYSCALE"), **attributes})
    return warning()


def test_images_of_hdf5_that_are_no_brightness():
    assert not hdf5_image()
    assert not hdf5_image(IMAGE_WHITE_IS_ZERO=np.uint8(0), DISPLAY_ORIGIN=np.bytes_("UL"))
    text = hdf5_image(IMAGE_WHITE_IS_ZERO=np.uint8(1))
    assert "the elements are no brightness (in.h5:/image): 0 means white (IMAGE_WHITE_IS_ZERO). They are taken as they are stored" in text
    assert "they are numbers of colours (IMAGE_INDEXED)" in hdf5_image(IMAGE_SUBCLASS=np.bytes_("IMAGE_INDEXED"))
    assert 'its DISPLAY_ORIGIN is "LL", which turns or mirrors it' in hdf5_image(DISPLAY_ORIGIN=np.bytes_("LL"))


def tagged(keys="zyxc", resolutions=(3.0, 0.5, 0.25, 0.0)):
    """As ilastik exports arrays: vigra's tags of axes."""
    with h5py.File("in.h5", "w") as file:
        file["exported_data"] = np.random.default_rng(8).normal(size=(4, 6, 8, 2)).astype("float32")
        file["exported_data"].attrs["axistags"] = json.dumps({"axes": [
            {"key": key, "typeFlags": 1 if key == "c" else 2, "resolution": resolution, "description": ""}
            for key, resolution in zip(keys, resolutions, strict=True)]})


def test_axes_that_ilastik_names():
    tagged()
    assert "axes: z 3, y 0.5, x 0.25, c\n" in good("inspect", "in.h5")
    assert "axis c" in warning()  # the last axes are taken for rows and columns
    assert "axistags" not in warning(output="out.tif")
    call("median", "in.h5", "out.h5", "--size", "1,1", "--quiet", "--overwrite")
    assert "axes: z 3, y 0.5, x 0.25, c\n" in good("inspect", "out.h5")
    pathlib.Path("job.toml").write_text('kind = "transpose"\n[input]\nfile = "in.h5"\n[output]\nfile = "out.h5"\noverwrite = true\n'
                                        "[transpose]\npermutation = [3, 0, 1, 2]\n")
    assert not call("job.toml", "--quiet").stderr
    assert "axes: c, z 3, y 0.5, x 0.25\n" in good("inspect", "out.h5")
    with h5py.File("out.h5") as file:
        assert "axistags" not in file["exported_data"].attrs  # they have another order
    for tags in ("{", "[]", '{"axes": [{"key": "x"}]}', '{"axes": {"key": 1}}'):
        with h5py.File("in.h5", "a") as file:
            file["exported_data"].attrs["axistags"] = tags
        assert "axes:" not in good("inspect", "in.h5")


def test_matrices_of_the_axes():
    """An affine of the elements is no longer true where they are moved or joined; what it is of nobody can tell."""
    write(affine=np.eye(4), colours=np.eye(2), direction=np.eye(3))
    assert not warning()
    text = warning("--factors", "2,2", kind="bin")
    assert "the dataset@affine" in text and "the dataset@direction" in text and "colours" not in text, text
    with h5py.File("out.h5") as file:
        assert "affine" not in file["entry/data/counts"].attrs and "colours" in file["entry/data/counts"].attrs
