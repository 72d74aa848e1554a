"""Every job file of docs/my-data.md, run on files as it says that they are.

The outputs are compared with those of the same job on a plain HDF5 file with the same elements.
"""
import gzip
import pathlib
import re
import struct

import h5py
import mrcfile
import numpy as np
import pytest
import tifffile

from harness import call
from kind_rules import corrected, reduced

pytestmark = pytest.mark.quick

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/my-data.md"
SHAPE = (12, 40, 50)


def volume(seed=3):
    return np.random.default_rng(seed).integers(0, 400, SHAPE).astype("uint16")


def jobs():
    """The job files of the page, by what their input is."""
    found = {}
    for text in re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.S):
        found[re.search(r'^(?:file|inputs) = \[?"([^"]+)"', text, re.M)[1]] = text
    assert len(found) == 10, found.keys()
    return found


def run(name):
    """Runs the job of the page on this input; where the output is."""
    pathlib.Path("out").mkdir(exist_ok=True)
    text = jobs()[name] + '\n[run]\nbackend = "cpu"\n'
    pathlib.Path("job.toml").write_text(text)
    call("plan", "job.toml")
    call("run", "job.toml")
    return re.search(r'\[output\]\nfile = "([^"]+)"', text)[1], text


def check(name, expected, dataset, more=""):
    output, text = run(name)
    with h5py.File("plain.h5", "w") as file:
        file["x"] = expected
    table = re.search(r"\n(\[(?!input|output)[a-z]+\]\n.*)", text, re.S)[1]
    kind = re.search(r'kind = "[a-z]+"', text)[0]
    dtype = "".join(re.findall(r"\ndtype = .*", text))
    pathlib.Path("plain.toml").write_text(
        f'{kind}\n[input]\nfile = "plain.h5"\ndataset = "/x"\n{more}\n[output]\nfile = "plain_out.h5"\n'
        f"overwrite = true{dtype}\n{table}")
    call("run", "plain.toml")
    with h5py.File(output) as a, h5py.File("plain_out.h5") as b:
        assert a[dataset].shape == b["x"].shape and a[dataset].dtype == b["x"].dtype
        assert a[dataset][()].tobytes() == b["x"][()].tobytes(), name
    call("verify", output)


def test_esrf():
    array = volume()
    pathlib.Path("scan0001").mkdir()
    layout = h5py.VirtualLayout(SHAPE, "uint16")
    for part in range(3):
        name = f"scan0001/eiger_{part:04}.h5"
        with h5py.File(name, "w") as file:
            file.create_dataset("entry_0000/measurement/data", data=array[4 * part:4 * part + 4],
                                chunks=(1, *SHAPE[1:]), compression="gzip")
        layout[4 * part:4 * part + 4] = h5py.VirtualSource(name, "entry_0000/measurement/data",
                                                           (4, *SHAPE[1:]))
    with h5py.File("sample_0001.h5", "w") as file:
        file.create_virtual_dataset("1.1/instrument/eiger/data", layout)
        file["1.1/measurement/eiger"] = h5py.SoftLink("/1.1/instrument/eiger/data")
    check("sample_0001.h5", array, "1.1/measurement/eiger")


def test_aps():
    with h5py.File("tomo_00042.h5", "w") as file:
        file["exchange/data"] = volume()
        file["exchange/data_white"] = volume(4)[:2]
        file["exchange/data_dark"] = volume(5)[:2]
        file["exchange/theta"] = np.linspace(0, 180, SHAPE[0])
    output, _ = run("tomo_00042.h5")
    right, _, _ = corrected(volume(), reduced(volume(5)[:2], "mean"), reduced(volume(4)[:2], "mean"), floor=1e-6)
    with h5py.File(output) as file:
        assert file["exchange/data"][()].tobytes() == right.tobytes()
        assert file["exchange/theta"][()].tobytes() == np.linspace(0, 180, SHAPE[0]).tobytes()
    call("verify", output)


def test_diamond():
    key = np.array([2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    with h5py.File("scan_12345.nxs", "w") as file:
        for path, kind in (("entry", "NXentry"), ("entry/instrument", "NXinstrument"),
                           ("entry/instrument/detector", "NXdetector"), ("entry/data", "NXdata")):
            file.create_group(path).attrs["NX_class"] = kind
        file.attrs["default"] = "entry"
        file["entry"].attrs["default"] = "data"
        file["entry/data"].attrs["signal"] = "data"
        file["entry/instrument/detector/data"] = volume()
        file["entry/instrument/detector/image_key"] = key
        file["entry/data/data"] = h5py.SoftLink("/entry/instrument/detector/data")
        file["entry/data/image_key"] = h5py.SoftLink("/entry/instrument/detector/image_key")
    check("scan_12345.nxs", volume()[key == 0], "entry/data/data")


def test_eiger():
    for number in (1, 2):
        with h5py.File(f"series_7_data_{number:06}.h5", "w") as file:
            file.create_dataset("entry/data/data", data=volume(number).astype("uint32"), chunks=(1, *SHAPE[1:]),
                                compression="gzip", shuffle=True)
    mask = np.zeros(SHAPE[1:], "uint32")
    mask[5, 7:9] = 1  # a gap
    mask[30, 11] = 2  # a dead pixel
    with h5py.File("series_7_master.h5", "w") as file:
        file.create_group("entry").attrs["NX_class"] = "NXentry"
        detector = file.create_group("entry/instrument/detector")
        detector.attrs["NX_class"] = "NXdetector"
        detector["detectorSpecific/pixel_mask"] = mask
        for number in (1, 2):
            file[f"entry/data/data_{number:06}"] = h5py.ExternalLink(f"series_7_data_{number:06}.h5",
                                                                     "/entry/data/data")
    marked = volume(1).astype("uint32")
    marked[:, mask != 0] = 2**32 - 1
    check("series_7_master.h5", marked, "entry/data/data_000001", f"invalid = {2**32 - 1}")
    pathlib.Path("job.toml").write_text(jobs()["series_7_data_*.h5"])
    call("batch", "job.toml")
    with h5py.File("out/eiger_000001.h5") as a, h5py.File("out/series_7_data_000001_smooth.h5") as b:
        assert a["entry/data/data_000001"][()].tobytes() == b["entry/data/data"][()].tobytes()
    assert pathlib.Path("out/series_7_data_000002_smooth.h5").exists()


def test_slices():
    pathlib.Path("recon").mkdir()
    for number, page in enumerate(volume()):
        tifffile.imwrite(f"recon/slice_{number}.tif", page)
    check("recon/slice_*.tif", volume(), "data")


def test_mri():
    array = volume().astype("int16")
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 3, *SHAPE[::-1], 1, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 4, 16)
    struct.pack_into("<f", head, 108, 352)
    head[344:348] = b"n+1\0"
    with gzip.open("brain.nii.gz", "wb") as file:
        file.write(bytes(head) + array.tobytes())
    check("brain.nii.gz", array, "data")


def test_electron_microscope():
    array = volume().astype("int16")
    mrcfile.write("tomogram.rec", array, voxel_size=3.5)
    output, _ = run("tomogram.rec")
    blocks = array.reshape(6, 2, 20, 2, 25, 2).mean((1, 3, 5))
    with mrcfile.open(output) as file:
        assert np.abs(file.data - blocks).max() <= 0.5 and np.isclose(float(file.voxel_size.x), 7)
    call("verify", output)


def test_microscope():
    """One channel by its name, whichever of c and z runs faster."""
    cells = volume().reshape(4, 3, *SHAPE[1:])
    for axes, array in (("ZCYX", cells), ("CZYX", np.ascontiguousarray(cells.swapaxes(0, 1)))):
        tifffile.imwrite("cells.ome.tif", array, photometric="minisblack", compression="zlib",
                         metadata={"axes": axes, "Channel": {"Name": ["DAPI", "GFP", "RFP"]}})
        pathlib.Path("out/cells.h5").unlink(missing_ok=True)
        check("cells.ome.tif", cells[:, 1], "data")


def test_raw():
    pathlib.Path("volume.raw").write_bytes(bytes(512) + volume().tobytes())
    check("volume.raw", volume(), "data")
