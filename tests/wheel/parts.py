"""What packaging/wheel/assemble.py makes beside the build: scripts/test-wheel tries the whole wheel."""
import ctypes
import importlib.util
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

import pytest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"packaging/wheel/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


assemble, sizes = script("assemble"), script("sizes")


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


def fat(*parts):
    """A container of nvcc's with (kind, architecture, bytes) in it."""
    inside = b"".join(struct.pack("<HHIQIIHHI32x", kind, 0x101, 64, len(body), 0, 0, 0, 0, architecture) + body
                      for kind, architecture, body in parts)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(inside)) + inside


def test_sizes_of_machine_code_and_ptx(tmp_path):
    """Of a section that objcopy has put into a program, with padding between its containers."""
    one, two = bytes(range(200)), b"ptx " * 25
    (tmp_path / "fat").write_bytes(fat((2, 75, one), (2, 90, one)) + bytes(8) + fat((1, 90, two)))
    subprocess.run(["objcopy", "--add-section", f".nv_fatbin={tmp_path / 'fat'}", "/usr/bin/true",
                    tmp_path / "true"], check=True)
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(tmp_path / "true", "runner/true")
        wheel.writestr("runner/text", "no ELF")
    said = subprocess.run([sys.executable, ROOT / "packaging/wheel/sizes.py", tmp_path / "a.whl"], check=True,
                          capture_output=True, text=True).stdout
    unpacked = {line[:24].strip(): int(line.split()[-2]) for line in said.splitlines()[1:]}
    whole = (tmp_path / "true").stat().st_size + 6
    assert unpacked == {"all": whole, "machine code of 75": 264, "machine code of 90": 264, "PTX of 90": 164,
                        "the rest": whole - 692}
    program = (tmp_path / "true").read_bytes()
    assert sizes.section(program, ".interp") == b"/lib64/ld-linux-x86-64.so.2\0"
    assert sizes.section(program, ".none") == b"" == sizes.section(b"no ELF", ".interp")
