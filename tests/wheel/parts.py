"""What packaging/wheel/assemble.py makes beside the build: scripts/test-wheel tries the whole wheel."""
import ctypes
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("assemble", ROOT / "packaging/wheel/assemble.py")
assemble = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(assemble)


@pytest.fixture(name="stubs")
def make_stubs(tmp_path):
    for name in assemble.STUBS:
        assemble.make_stub(name, tmp_path)
    return tmp_path


def test_stubs_are_loaded_in_place_of_the_libraries(stubs):
    """With every function resolved at once."""
    for name, asking in assemble.STUBS.items():
        found = subprocess.run(["ldd", "-r", assemble.LIBRARIES / asking], check=True, capture_output=True,
                               text=True, env={"LD_LIBRARY_PATH": str(stubs), "PATH": "/usr/bin"})
        assert f"{name} => {stubs / name}" in found.stdout
        assert "undefined symbol" not in found.stdout + found.stderr


def test_stubs_fail(stubs):
    stub = ctypes.CDLL(str(stubs / "libcurl.so.4"))
    assert stub.curl_global_init(3) != 0 and stub.curl_easy_init() == 0


def test_plug_ins_need_open_mpi_and_small_libraries_alone(tmp_path):
    assemble.take_open_mpi(tmp_path / "openmpi")
    plugins = list((tmp_path / "openmpi/lib").rglob("*.so"))
    names = {plugin.name for plugin in plugins}
    assert {"mca_btl_vader.so", "mca_pml_ob1.so", "mca_pmix_ext3x.so", "mca_ess_hnp.so"} <= names
    needed = set()
    for plugin in plugins:
        text = subprocess.run(["readelf", "-d", plugin], check=True, capture_output=True, text=True).stdout
        needed |= set(re.findall(r"NEEDED.*\[(.*?)\.so", text))
    assert needed <= {"libc", "libm", "libz", "libmpi", "libopen-rte", "libopen-pal", "libpmix", "libhwloc",
                      "libevent_core-2.1", "libevent_pthreads-2.1", "libmca_common_sm"}


def test_tags_name_each_python_once():
    modules = [pathlib.Path(f"_runner{end}.so") for end in
               (".cpython-39-x86_64-linux-gnu", ".cpython-311-x86_64-linux-gnu", ".abi3")]
    assert assemble.tags(modules) == "cp39.cp311.cp312-cp39.cp311.abi3"
