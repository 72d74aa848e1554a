# SPDX-License-Identifier: BSD-3-Clause
"""What compare, inspect and render say, against numpy, scikit-image and h5py.

usage: verbs_oracle.py VERBS_TOOL
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np
from skimage.io import imread
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

TOOL = sys.argv.pop(1)


class Verbs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = lambda name: os.path.join(folder.name, name)

    def run_tool(self, *words):
        result = subprocess.run([TOOL, *words], capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def compare(self, a, b, **how):
        for name, data in (("a", a), ("b", b)):
            with h5py.File(self.path(name), "w") as file:
                file.create_dataset("x", data=data, **how)
        return json.loads(self.run_tool("compare", self.path("a"), "x", self.path("b"), "x"))

    def check(self, a, b, data_range, **how):
        got = self.compare(a, b, **how)
        distance = np.abs(a.astype("longdouble") - b.astype("longdouble"))
        self.assertEqual(got["different"], int((a != b).sum()))
        self.assertEqual(got["largest_absolute"]["value"], float(distance.max()))
        first = np.argwhere(a != b)[0]
        self.assertEqual(got["first"]["position"], first.tolist())
        self.assertEqual(got["first"]["value"], float(distance[tuple(first)]))
        position = np.unravel_index(distance.argmax(), a.shape)
        self.assertEqual(got["largest_absolute"]["position"], [int(i) for i in position])
        scale = np.maximum(np.abs(a.astype("longdouble")), np.abs(b.astype("longdouble")))
        relative = (distance / np.where(scale == 0, 1, scale)).max()
        self.assertAlmostEqual(got["largest_relative"]["value"], float(relative), places=12)
        self.assertAlmostEqual(got["rmse"] / np.sqrt((distance**2).mean(dtype="longdouble")), 1, places=12)
        self.assertAlmostEqual(got["peak"], data_range, delta=1e-12 * data_range)
        psnr = peak_signal_noise_ratio(a.astype("float64"), b.astype("float64"), data_range=data_range)
        self.assertAlmostEqual(got["psnr"], psnr, places=9)
        found = distance[distance > 0].astype("float64")
        decades, counts = np.unique(np.floor(np.log10(found)).astype(int), return_counts=True)
        self.assertEqual([(d["from"], d["count"]) for d in got["decades"]],
                         [(f"1e{d}", int(c)) for d, c in zip(decades, counts)])
        frames = zip(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:]))
        ssim = np.mean([structural_similarity(x.astype("float64"), y.astype("float64"),
                                              data_range=data_range) for x, y in frames])
        self.assertAlmostEqual(got["ssim"], ssim, places=9)

    def test_floats(self):
        rng = np.random.default_rng(1)
        for dtype in ("float32", "float64"):
            for shape in ((7, 7), (61, 43), (3, 20, 31), (2, 2, 9, 8)):
                with self.subTest(dtype=dtype, shape=shape):
                    a = rng.standard_normal(shape).astype(dtype)
                    b = (a + 0.1 * rng.standard_normal(shape)).astype(dtype)
                    b.flat[::5] = a.flat[::5]
                    self.check(a, b, float(np.float64(a.max()) - np.float64(a.min())))

    def test_integers(self):
        rng = np.random.default_rng(2)
        for dtype, width in (("uint8", 255), ("int8", 255), ("uint16", 65535), ("int32", 2**32 - 1)):
            with self.subTest(dtype=dtype):
                a = rng.integers(0, 100, (33, 50)).astype(dtype)
                b = a + rng.integers(0, 3, a.shape).astype(dtype)
                self.check(a, b, width, chunks=(8, 8), compression="gzip")

    def test_more_than_one_piece(self):
        """More elements than pass at once: 2^22 of two float64 datasets."""
        rng = np.random.default_rng(3)
        a = rng.random((3000, 1500))
        b = a.copy()
        b[::1000, ::7] += 0.25
        self.check(a, b, float(a.max() - a.min()))

    def test_complex(self):
        """Extremes and the range are of moduli; of two types as well."""
        rng = np.random.default_rng(4)
        a = (rng.random((20, 30)) + 1j * rng.random((20, 30))).astype("c8")
        b = a.astype("c16")
        b[3, 7] += 3 - 4j
        b[5, 1] *= 2
        a[9, 9] = b[9, 9] = complex(np.nan, 1)
        with h5py.File(self.path("a"), "w") as file:
            file["x"] = a.astype(">c8")
        with h5py.File(self.path("b"), "w") as file:
            file["x"] = b
        got = json.loads(self.run_tool("compare", self.path("a"), "x", self.path("b"), "x"))
        distance = np.abs(np.nan_to_num(a.astype("c16")) - np.nan_to_num(b))
        self.assertEqual(got["a"]["type"], "complex64")
        self.assertEqual(got["different"], 2)
        self.assertEqual(got["first"]["position"], [3, 7])
        self.assertEqual(got["largest_absolute"]["position"], [3, 7])
        self.assertAlmostEqual(got["largest_absolute"]["value"], distance.max(), 12)
        self.assertAlmostEqual(got["largest_absolute"]["a"], abs(a[3, 7]), 6)
        self.assertAlmostEqual(got["rmse"], np.sqrt((distance ** 2).mean()), 12)
        moduli = np.abs(a[np.isfinite(a)].astype("c16"))
        self.assertAlmostEqual(got["peak"], moduli.max() - moduli.min(), 12)
        self.assertIsNone(got["ssim"])

    def test_bytes(self):
        """Elements that are no values are equal or not."""
        a = np.array([[b"abcd", b"ef"], [b"gh", b""]], "S4")
        b = a.copy()
        b[1] = b"x"
        for name, data in (("a", a), ("b", b)):
            with h5py.File(self.path(name), "w") as file:
                file["x"] = data
        got = json.loads(self.run_tool("compare", self.path("a"), "x", self.path("b"), "x"))
        self.assertEqual((got["different"], got["differs"]), (2, True))
        self.assertEqual(got["first"]["position"], [1, 0])
        got = json.loads(self.run_tool("compare", self.path("a"), "x", self.path("a"), "x"))
        self.assertEqual((got["different"], got["differs"]), (0, False))

    def test_inspect_describes_what_runner_cannot_read(self):
        with h5py.File(self.path("a"), "w") as file:
            file["x"] = np.array([1j, 2])
            file["x"].attrs["unit"] = "mm"
            file["x"].attrs["list"] = [1.5, 2.5]
            file["x"].attrs["names"] = np.array(["a", "bc"], dtype=h5py.string_dtype())
            file["x"].attrs["fixed"] = np.array([b"a", b"bc"], dtype="S4")
            file["x"].attrs["latin"] = np.bytes_(b"\xe9")
            file["x"].attrs["complex"] = 1j
            file["x"].attrs["many"] = np.arange(100)
            file.create_dataset("y", data=np.zeros((4, 4)), chunks=(2, 2), compression="lzf")
            file.create_dataset("z", data=h5py.Empty("f4"))
        got = json.loads(self.run_tool("inspect", self.path("a"), ""))
        x, y, z = got["datasets"]
        self.assertEqual(x["type"], "complex128")
        self.assertEqual(x["attributes"]["unit"], "mm")
        self.assertEqual(x["attributes"]["list"], [1.5, 2.5])
        self.assertEqual(x["attributes"]["names"], ["a", "bc"])
        self.assertEqual(x["attributes"]["fixed"], ["a", "bc"])
        self.assertEqual(x["attributes"]["latin"], "\ufffd")
        self.assertIn("complex128", x["attributes"]["complex"])
        self.assertEqual(x["attributes"]["many"], "100 values, each int64")
        self.assertEqual(y["filters"], ["lzf"])
        self.assertEqual(z["shape"], [])

    def test_render_averages_as_numpy_does(self):
        """A 600 x 1000 picture to 300 x 500 in boxes of 2 x 2."""
        rng = np.random.default_rng(4)
        a = rng.integers(0, 256, (600, 1000)).astype("uint8")
        with h5py.File(self.path("a"), "w") as file:
            file.create_dataset("x", data=a, chunks=(100, 100), compression="gzip")
        self.run_tool("render", self.path("a"), "x", self.path("a.png"), "500")
        means = a.reshape(300, 2, 500, 2).mean(axis=(1, 3))
        self.assertTrue((imread(self.path("a.png")) == np.floor(means + 0.5)).all())


if __name__ == "__main__":
    unittest.main()
