"""Jobs of four kinds, files of single arrays as other programs read and write them, and whether two outputs hold
the same."""
import h5py
import mrcfile
import nibabel
import numpy as np
import tifffile

MRC_TYPES = ("int8", "int16", "uint16", "float32")

KINDS = {
    "convolve": ('row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = { gaussian = { sigma = 2.0, radius = 5 } }\n'
                 'boundary = "mirror"\n'),
    "transpose": "permutation = [2, 0, 1]\n",
    "match": "window = [3, 5, 5]\npatch = [3, 3, 3]\ncount = 3\n",
    "denoise": 'method = "nlm"\nwindow = [3, 5, 5]\npatch = [3, 3, 3]\ncount = 4\n',
}


def contents(name):
    found = {}
    with h5py.File(name, "r") as file:
        file.visititems(lambda path, item: found.__setitem__(path, item[()])
                        if isinstance(item, h5py.Dataset) and not path.startswith("runner") else None)
    return found


def same(name, other):
    a, b = contents(name), contents(other)
    assert a.keys() == b.keys() and a, (name, a.keys(), b.keys())
    for path in a:
        assert a[path].dtype == b[path].dtype and a[path].shape == b[path].shape, path
        assert a[path].tobytes() == b[path].tobytes(), f"{name}: {path} differs from {other}"


def same_data(name, other, path):
    """Whether two outputs hold the same under this path, whatever else is in them."""
    a, b = contents(name)[path], contents(other)[path]
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), (name, other)


def read(name):
    if name.endswith(".nii"):
        return np.ascontiguousarray(np.asanyarray(nibabel.load(name, mmap=False).dataobj).T)
    if name.endswith(".mrc"):
        with mrcfile.open(name) as file:
            return np.array(file.data)
    return np.load(name) if name.endswith(".npy") else tifffile.imread(name)


def write(name, array):
    """As another program does."""
    if name.endswith(".nii"):
        nibabel.save(nibabel.Nifti1Image(array.T, np.eye(4)), name)
    elif name.endswith(".mrc"):
        mrcfile.write(name, array, overwrite=True)
    else:
        np.save(name, array) if name.endswith(".npy") else tifffile.imwrite(name, array)


def can_hold(name, dtype, axes):
    return not name.endswith(".mrc") or (dtype in MRC_TYPES and 2 <= axes <= 4)
