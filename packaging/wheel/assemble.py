#!/usr/bin/env python3
"""Puts together the wheel that scripts/wheel then gives its libraries.

  assemble.py --program BUILD --module FILE... --metadata FOLDER --to FOLDER [--cuda FOLDER]

BUILD is a build with RUNNER_ONE_LIBRARY, each FILE the extension module of one Python. FOLDER of
--metadata has the .dist-info that scikit-build-core makes of pyproject.toml. The wheel is written
into the folder of --to. `stubs/` beside it stands in for libraries that Debian's libraries load and
`runner` never calls; their functions return an error.
"""
from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
PLUGINS = LIBRARIES / "openmpi/lib/openmpi3"

# Frameworks of which `runner` has no use: files of MPI-IO, OpenSHMEM, check points, other launchers.
# Networks but TCP come as their vendors' libraries, which must be those of the cluster.
LEFT_OUT = re.compile(
    r"mca_(atomic|fbtl|fcoll|fs|io|memheap|scoll|sharedfp|spml|sshmem|crs|vprotocol)_"
    r"|_(ucx|ofi|openib|psm2?|monitoring|flux|jsm|gridengine|simulator|netlink)\.so$")

# Libraries in whose place the wheel has an empty one, and the library that asks for each. HDF5 reads
# from S3 through the first two, which load thirty libraries more; the third is under the GPL, and
# libtiff asks it for JBIG alone. `runner` needs neither.
STUBS = {"libcurl.so.4": "libhdf5_serial.so.103", "libcrypto.so.3": "libhdf5_serial.so.103",
         "libjbig.so.0": "libtiff.so.6"}
# Those that say with a number other than 0 that they failed. Others return 0, which is no address.
FAIL_WITH_A_NUMBER = ("curl_global_init", "curl_easy_perform", "jbg_dec_in")


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sbom():
    """scripts/sbom, which knows whose a library or a header is."""
    loader = importlib.machinery.SourceFileLoader("sbom", str(ROOT / "scripts/sbom"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbom", loader))
    loader.exec_module(module)
    return module


def make_stub(name: str, folder: pathlib.Path) -> None:
    """A library that has the functions which are asked of this one, and each of them fails."""
    asked = output_of("nm", "-D", "--undefined-only", str(LIBRARIES / STUBS[name]))
    offered = re.findall(r" [TWi] ([^@\s]+)(?:@@?(\S+))?",
                         output_of("nm", "-D", "--defined-only", str(LIBRARIES / name)))
    symbols = [(symbol, version) for symbol, version in offered
               if re.search(rf" U {symbol}(@{version})?$", asked, re.MULTILINE)]
    if not symbols:
        sys.exit(f"assemble: {STUBS[name]} takes nothing from {name}: leave it out of STUBS")
    source = "".join(f"long {symbol}(void) {{ return {int(symbol in FAIL_WITH_A_NUMBER)}; }}\n"
                     for symbol, _ in symbols)
    versions = "".join(
        f"{version} {{ global: {' '.join(s + ';' for s, v in symbols if v == version)} }};\n"
        for version in sorted({version for _, version in symbols}))
    (folder / f"{name}.c").write_text(source)
    (folder / f"{name}.map").write_text(versions)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-fno-builtin", f"-Wl,-soname,{name}",
                    f"-Wl,--version-script={folder / f'{name}.map'}", "-o", folder / name,
                    folder / f"{name}.c"], check=True)


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source.resolve(), target)


def take_open_mpi(folder: pathlib.Path) -> None:
    """mpirun, the plug-ins that ranks of one host need, and its messages."""
    copy(pathlib.Path("/usr/bin/orterun"), folder / "bin/mpirun")
    # A process that another MPI's launcher started begins by starting this one.
    copy(pathlib.Path("/usr/bin/orted"), folder / "bin/orted")
    for plugin in PLUGINS.glob("mca_*.so"):
        if not LEFT_OUT.search(plugin.name):
            copy(plugin, folder / "lib/openmpi" / plugin.name)
    for text in pathlib.Path("/usr/share/openmpi").glob("help-*.txt"):
        copy(text, folder / "share/openmpi" / text.name)
    for text in (LIBRARIES / "pmix2/share/pmix").glob("help-*.txt"):
        copy(text, folder / "share/pmix" / text.name)
    settings = folder / "etc/openmpi-mca-params.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("# TCP is the only network here.\nbtl_base_warn_component_unused = 0\n")
    for plugin in (LIBRARIES / "pmix2/lib/pmix").glob("*.so"):
        copy(plugin, folder / "lib/pmix" / plugin.name)
    (folder / "lib/hwloc").mkdir()
    (folder / "lib/hwloc/README").write_text("No plug-ins: those of the host may be of other versions.\n")


def take_licences(folder: pathlib.Path, files: list[pathlib.Path], build: pathlib.Path,
                  stubs: pathlib.Path, cuda: pathlib.Path | None) -> None:
    """The licence of each Debian package of which something is in the wheel."""
    packages = sbom()
    search = dict(os.environ, LD_LIBRARY_PATH=str(stubs))
    used = set()
    for file in files:
        done = subprocess.run(["ldd", file], env=search, check=True, capture_output=True, text=True)
        used |= set(re.findall(r"=> (/\S+)", done.stdout))
    own = (str(build.resolve()), str(stubs.resolve()))
    outside = {path for path in used if not os.path.realpath(path).startswith(own)} | {"/usr/bin/orterun"}
    owners = packages.owners(outside) | packages.owners(packages.headers(str(build)))
    for owner in sorted(owners):
        name = owner.split(":")[0]
        copy(pathlib.Path("/usr/share/doc") / name / "copyright", folder / name / "copyright")
    if cuda:
        # NVIDIA's own packages have the first, its packages on PyPI the other.
        texts = [cuda / "EULA.txt", *cuda.glob("dist-info/nvidia_cuda_runtime-*/licenses/*")]
        text = next((text for text in texts if text.is_file()), None)
        if not text:
            sys.exit(f"assemble: the licence of the CUDA runtime is not in {cuda}: tried "
                     + ", ".join(map(str, texts)))
        copy(text, folder / "cuda-runtime" / text.name)


def tags(modules: list[pathlib.Path]) -> str:
    """cp39.cp310.cp312-cp39.cp310.abi3: pip takes the wheel for one of these Pythons and no other."""
    pythons, abis = [], []
    for module in modules:
        number = re.search(r"\.cpython-(\d+)-", module.name)
        abis.append(f"cp{number[1]}" if number else "abi3")
        pythons.append(f"cp{number[1]}" if number else "cp312")
    return f"{'.'.join(pythons)}-{'.'.join(abis)}"


def write_wheel(tree: pathlib.Path, to: pathlib.Path, name: str, tag: str, info: str) -> pathlib.Path:
    lines = [f"Tag: {p}-{a}-linux_x86_64" for p in tag.split("-")[0].split(".")
             for a in tag.split("-")[1].split(".")]
    (tree / info / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: runner scripts/wheel\nRoot-Is-Purelib: false\n"
        + "\n".join(lines) + "\n")
    wheel = to / f"{name}-{tag}-linux_x86_64.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:  # auditwheel compresses it
        for path in sorted(tree.rglob("*")):
            if path.is_file():
                inside = path.relative_to(tree).as_posix()
                digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
                record.append(f"{inside},sha256={digest.rstrip(b'=').decode()},{path.stat().st_size}")
                archive.write(path, inside)
        record.append(f"{info}/RECORD,,")
        archive.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--module", type=pathlib.Path, nargs="+", required=True)
    parser.add_argument("--metadata", type=pathlib.Path, required=True)
    parser.add_argument("--cuda", type=pathlib.Path)
    parser.add_argument("--to", type=pathlib.Path, required=True)
    options = parser.parse_args()

    tree, stubs = options.to / "tree", options.to / "stubs"
    stubs.mkdir(parents=True)
    for name in STUBS:
        make_stub(name, stubs)

    info = next(options.metadata.glob("*.dist-info"))
    shutil.copytree(info, tree / info.name)
    package = tree / "runner"
    for source in (ROOT / "python/runner").rglob("*"):
        if source.suffix in (".py", ".pyi", ".typed"):
            copy(source, package / source.relative_to(ROOT / "python/runner"))
    for module in options.module:
        copy(module, package / module.name)
    program = options.program / "bin/runner"
    copy(program, package / "bin/runner")
    take_open_mpi(package / "openmpi")

    name = info.name.removesuffix(".dist-info")
    share = tree / f"{name}.data/data/share"
    for words, file in ((["manual"], "man/man1/runner.1"),
                        (["completion", "bash"], "bash-completion/completions/runner"),
                        (["completion", "zsh"], "zsh/site-functions/_runner")):
        (share / file).parent.mkdir(parents=True)
        (share / file).write_text(output_of(str(program), *words))

    plugins = list((package / "openmpi/lib").rglob("*.so"))
    take_licences(tree / info.name / "licenses", [program, package / "openmpi/bin/mpirun", *plugins],
                  options.program, stubs, options.cuda)
    print(write_wheel(tree, options.to, name, tags(options.module), info.name))


if __name__ == "__main__":
    main()
