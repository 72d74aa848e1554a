"""What needs a GPU is skipped where there is none; with RUNNER_REQUIRE_GPU=1 it fails."""
import importlib
import os

import pytest

from runner import _runner


def _missing(library):
    if not _runner.has_cuda:
        return "this build of runner has no CUDA"
    try:
        module = importlib.import_module(library)
    except ImportError as error:
        return f"no {library}: {error}"
    try:
        if library == "cupy":
            found = module.cuda.runtime.getDeviceCount() > 0
        elif library == "torch":
            found = module.cuda.is_available()
        else:
            found = any(device.platform == "gpu" for device in module.devices())
    except Exception as error:  # noqa: BLE001: each library has its own for a missing driver
        return f"{library} finds no GPU: {error}"
    return None if found else f"{library} finds no GPU"


@pytest.fixture(name="gpu_module")
def import_gpu_module():
    """Imports a library that has a GPU."""
    def take(library):
        reason = _missing(library)
        if reason is not None:
            if os.environ.get("RUNNER_REQUIRE_GPU") == "1":
                pytest.fail(reason)
            pytest.skip(reason)
        return importlib.import_module(library)
    return take
