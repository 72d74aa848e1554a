"""Inputs, jobs and quality of the benches of denoising, in the working folder."""
import os
import pathlib
import subprocess

import h5py
import numpy as np


class Runner:
    def __init__(self, path, backend="cpu"):
        self.path, self.backend = os.path.abspath(path), backend

    def __call__(self, *words):
        subprocess.run([self.path, *words], check=True, stdout=subprocess.DEVNULL)

    def generate(self, pattern, extent, *more):
        self("generate", pattern, "made.h5", "--shape", ",".join([str(extent)] * 3), "--dtype", "float32",
             "--dataset", "/a", *more)
        with h5py.File("made.h5") as file:
            made = file["a"][...]
        os.remove("made.h5")
        return made

    def prepare(self, noisy, keys):
        """A job with these keys of [denoise], for run()."""
        with h5py.File("in.h5", "w") as file:
            file["a"] = noisy
        pathlib.Path("job.toml").write_text(
            'kind = "denoise"\n[input]\nfile = "in.h5"\ndataset = "/a"\n[output]\nfile = "out.h5"\n'
            f"overwrite = true\nsync = false\n[denoise]\n{keys}\n")

    def run(self):
        self("job.toml", "--quiet", "--backend", self.backend)

    def result(self):
        with h5py.File("out.h5") as file:
            return file["a"][...]


def psnr(made, right, peak):
    return 20 * np.log10(peak / np.sqrt(np.mean((made.astype("f8") - right) ** 2)))
