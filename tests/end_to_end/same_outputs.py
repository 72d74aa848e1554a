"""Jobs of four kinds, and whether two outputs hold the same."""
import h5py

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
