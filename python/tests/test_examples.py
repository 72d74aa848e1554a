"""The examples run to their ends."""
import importlib.util
import pathlib
import re
import subprocess
import sys

import numpy as np

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def run(folder, name, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / name, *arguments], cwd=folder,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_denoise_volume(tmp_path):
    said = run(tmp_path, "denoise_volume.py", "--extent", "24")
    found = re.search(r"([\d.]+) noisy, ([\d.]+) denoised", said)
    assert float(found[2]) < float(found[1]) / 2
    assert np.load(tmp_path / "denoised.npy").shape == (24, 24, 24)
    drawn = importlib.util.find_spec("matplotlib") is not None
    assert (tmp_path / "denoised.png").exists() == drawn == ("no picture" not in said)
    np.save(tmp_path / "own.npy", np.ones((5, 20, 21), "u2"))
    run(tmp_path, "denoise_volume.py", "own.npy")
    assert np.load(tmp_path / "denoised.npy").shape == (5, 20, 21)


def test_torch_transpose_without_a_gpu(tmp_path):
    """With one test_torch_transpose covers it."""
    code = "import sys, runpy; sys.modules['torch'] = None; sys.argv = ['x']; " \
           f"runpy.run_path({str(EXAMPLES / 'torch_transpose.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and done.stdout == "skipped: torch is not installed\n", done


def test_torch_transpose(tmp_path, gpu_module):
    gpu_module("torch")
    assert "GiB/s" in run(tmp_path, "torch_transpose.py", "--extent", "64")
