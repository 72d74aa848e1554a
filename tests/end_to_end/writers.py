"""Everything that writes files: the verbs and formats, for tests that disturb them.

Each Writer is a command that makes files in the folder `outputs`. disturbed.py runs it with something going
wrong; kills.py, power_loss.py and fault_matrix.py choose what.
"""
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
from collections.abc import Callable

import h5py
import numpy as np

from harness import call
from scan_outputs import scan

# No other part of a path has this name: rules pick calls by it (tests/fault/rules.hpp).
OUTPUTS = "outputs"
SITE = '''logs = "outputs"
[node]
cpus = 2
memory = "1GiB"
[limits]
time = "1h"
nodes = 1
'''
BESIDE = {"notes.txt": b"not of the program", "x.h5.partial.mine": b"a user's", "x.h5.journal.old/rows": b"kept",
          "x.parts.txt": b"parts", "x.npy.identity.bak": b"id"}  # names like the program's own


def run_settings(rng):
    """Settings of [run] that change no byte."""
    words = []
    for text in [f"run.lanes={rng.randint(1, 4)}", f"run.chunk_rows={rng.choice([5, 8, 13, 20, 48])}",
                 f"run.commit_seconds={rng.choice([0, 0, 0, 0.02, 10])}",
                 f'run.resume_check="{rng.choice(["few", "all"])}"']:
        words += ["--set", text]
    return words


@dataclasses.dataclass(frozen=True)
class Writer:
    """A command that writes into `outputs`."""

    name: str
    words: tuple  # its arguments
    job: str = ""  # of job.toml
    vary: Callable = lambda _rng: []  # other arguments that change nothing of what it makes
    ranks: tuple = (0,)  # numbers of ranks, as often as they are chosen; 0 is one process without mpirun
    again: tuple = ()  # further arguments where its output is there already
    prepared: str = ""  # a writer whose finished output this one begins with
    damage: Callable = None  # what is done to that first
    optional: tuple = ()  # files that a killed run need not have made, as reports
    verified: tuple = ()  # what `verify` then finds right
    environment: Callable = dict

    def __str__(self):
        return self.name

    @property
    def resumes(self):
        """Whether it is a run that another one, with `--set`, can be resumed by."""
        return self.vary is run_settings


def job(kind, dataset, file, table="", more="", source="in.h5"):
    steps = table if kind == "" else f"[{kind}]\n{table}"
    head = f'kind = "{kind}"\n' if kind else ""
    return (f'{head}name = "x"\n[input]\nfile = "{source}"\ndataset = "{dataset}"\n'
            f'[output]\nfile = "{OUTPUTS}/{file}"\n{more}\n[run]\nbackend = "cpu"\n{steps}\n')


def a_run(name, text, output, words=(), ranks=(0, 0, 0, 0, 1, 2, 3, 4), **options):
    return Writer(name, ("job.toml", "--quiet", *words), text, run_settings, ranks,
                  verified=(f"{OUTPUTS}/{output}",), **options)


CONVOLVE = "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [0.1, 0.2, 0.4, 0.2, 0.1]\nboundary = \"mirror\"\n"
TRANSPOSE = "permutation = [2, 0, 1]\n"
SAND = "generations = 12\nsnapshot_every = 4\n"
MATCH = "patch = [3, 3, 3]\nwindow = [5, 5, 5]\ncount = 4\n"
LAYOUTS = {
    "contiguous": "",
    "chunked": "chunk = [16, 50]",
    "deflate": 'chunk = [20, 90]\ncompression = "deflate"',
    "shuffled": 'chunk = [8, 40]\ncompression = "deflate"\nshuffle = true',
    "zstd": 'chunk = [16, 90]\ncompression = "bitshuffle-zstd"',
    "parts": "parts = 3",
    "chunked parts": "chunk = [16, 50]\nparts = 4",
    "deflate parts": 'chunk = [20, 90]\ncompression = "deflate"\nparts = 2',
}
ZARR_LAYOUTS = {
    "plain": "",
    "zstd": 'chunk = [16, 50]\nshard = [32, 50]\ncompression = "zstd"',
    "without shards": 'chunk = [20, 90]\nshard = [20, 90]\ncompression = "blosc-lz4"',
}
VOLUME_LAYOUTS = {
    "contiguous": "",
    "deflate": 'chunk = [4, 6, 10]\ncompression = "deflate"',
    "parts": "parts = 2",
}
TWO_PASSES = '''[[step]]
kind = "convolve"
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.5]
{save}
[[step]]
kind = "transpose"
permutation = [1, 0, 2]
'''
BATCH = '''kind = "convolve"
name = "many"
[input]
[output]
{more}
[run]
backend = "cpu"
commit_seconds = 0
[batch]
inputs = ["batch/*.npy"]
output = "outputs/{{stem}}{ending}"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.25, 0.5, 0.25]
'''


def runs():
    made = [a_run(f"convolve {name}", job("convolve", "/image", "x.h5", CONVOLVE, layout), "x.h5")
            for name, layout in LAYOUTS.items()]
    made += [a_run(f"convolve {ending}", job("convolve", "/image", "x" + ending, CONVOLVE), "x" + ending)
             for ending in (".npy", ".tif", ".nii", ".mrc")]
    made += [a_run(f"convolve .tif in {name}", job("convolve", "/image", "x.tif", CONVOLVE, f'compression = "{name}"'),
                   "x.tif") for name in ("deflate", "zstd", "lzw")]
    made.append(a_run("rescale .png", job("rescale", "/picture", "x.png", "from = [0, 255]\nto = [0, 65535]\n",
                                          'dtype = "uint16"'), "x.png"))
    made += [a_run(f"rescale pyramid {name}", job("rescale", "/picture", "x.ome.tif", "from = [0, 255]\nto = [0, 255]\n",
                                                  f"pyramid = true\n{layout}"), "x.ome.tif")
             for name, layout in (("in strips", ""), ("in tiles", 'compression = "deflate"\ntile = [64, 128]'))]
    made += [a_run(f"convolve slices {name}", job("convolve", "/volume", file, CONVOLVE, layout), file)
             for name, file, layout in (("x_*.tif", "x_*.tif", ""), ("x_%03d.tiff deflate", "x_%03d.tiff", 'compression = "deflate"'))]
    made.append(a_run("rescale slices .png", job("rescale", "/pictures", "x_*.png", "from = [0, 255]\nto = [0, 255]\n"), "x_*.png"))
    made += [a_run(f"convolve Zarr {name}", job("convolve", "/image", "x.zarr", CONVOLVE, layout), "x.zarr")
             for name, layout in ZARR_LAYOUTS.items()]
    made.append(a_run("transpose .ome.zarr", job("transpose", "/volume", "x.ome.zarr", TRANSPOSE,
                                                 'chunk = [4, 6, 10]\nshard = [8, 12, 10]'), "x.ome.zarr"))
    made.append(a_run("transpose .ome.zarr 0.4", job("transpose", "/volume", "x.ome.zarr", TRANSPOSE,
                                                     'chunk = [4, 6, 10]\nngff = "0.4"'), "x.ome.zarr"))
    made += [a_run(f"transpose {name}", job("transpose", "/volume", "x.h5", TRANSPOSE, layout), "x.h5")
             for name, layout in VOLUME_LAYOUTS.items()]
    made += [a_run(f"transpose {ending}", job("transpose", "/volume", "x" + ending, TRANSPOSE), "x" + ending)
             for ending in (".npy", ".tif", ".ome.tif", ".nii", ".nii.gz", ".mrc")]
    made += [a_run(f"sand {name}", job("sand", "/cells", "x.h5", SAND, layout), "x.h5")
             for name, layout in VOLUME_LAYOUTS.items()]
    made += [a_run(f"sand {ending}", job("sand", "/cells", "x" + ending, SAND), "x" + ending)
             for ending in (".sand", ".npy", ".tif")]
    return made + [
        a_run("transpose five axes", job("transpose", "/images", "x.h5", "permutation = [0, 2, 1, 4, 3]\n"), "x.h5"),
        a_run("a scan's fields kept", job("median", "/entry0000/instrument/detector/data", "x.h5", "size = [1, 1, 3]\n",
                                          "keep_fields = true", "scan.nx"), "x.h5"),
        a_run("match", job("match", "/volume", "x.h5", MATCH), "x.h5"),
        a_run("denoise with a survey", job("denoise", "/counts", "x.h5", MATCH + 'sigma = "auto"\n'), "x.h5"),
        a_run("correct with images", job("correct", "/counts", "x.npy", 'dark = { dataset = "/dark" }\n'
                                         'flat = { dataset = "/flat" }\n'), "x.npy"),
        a_run("reports", job("convolve", "/image", "x.npy", CONVOLVE), "x.npy",
              ("--report", f"{OUTPUTS}/r.json", "--report", f"{OUTPUTS}/r.html", "--trace", f"{OUTPUTS}/t.json"),
              optional=("r.json", "r.html", "t.json")),
        a_run("run that makes its input",
              job("convolve", "/image", "x.h5", CONVOLVE, source=f"{OUTPUTS}/made.h5").replace(
                  "[output]", 'generate = { pattern = "noise", shape = [60, 50], dtype = "float32" }\n[output]'),
              "x.h5"),
    ]


def pipelines():
    plain, saving = TWO_PASSES.format(save=""), TWO_PASSES.format(save=f'save = "{OUTPUTS}/saved.h5"')
    return [
        *[a_run(f"two passes {ending}", job("", "/volume", "x" + ending, plain), "x" + ending)
          for ending in (".h5", ".npy")],
        a_run("two passes parts", job("", "/volume", "x.h5", plain, "parts = 2"), "x.h5"),
        a_run("a saved step", job("", "/volume", "x.h5", saving), "x.h5"),
    ]


def batches():
    return [Writer(f"batch {name}", ("batch", "job.toml", "--quiet"), BATCH.format(ending=ending, more=more),
                   ranks=(0, 0, 1, 3), verified=tuple(f"{OUTPUTS}/{stem}{ending}" for stem in "abc"))
            for name, ending, more in [(".h5", ".h5", ""), (".npy", ".npy", ""), (".tif", ".tif", ""),
                                       (".nii", ".nii", ""), (".mrc", ".mrc", ""),
                                       (".zarr", ".zarr", 'compression = "gzip"'), ("slices", "_*.tif", ""),
                                       ("deflate", ".h5", 'chunk = [10, 20]\ncompression = "deflate"'),
                                       ("parts", ".h5", "parts = 2")]]


def data_verbs():
    over = ("--overwrite",)
    packed = ("--chunk", "4,10,12", "--compression", "deflate")
    made = [Writer(f"convert {name}", ("convert", source, f"{OUTPUTS}/{file}", *options), again=over)
            for name, source, file, options in [
                (".h5", "in.h5:/volume", "x.h5", ()), ("deflate", "in.h5:/volume", "x.h5", packed),
                (".npy", "in.h5:/volume", "x.npy", ()), (".tif", "in.h5:/volume", "x.tif", ()),
                (".nii", "in.h5:/volume", "x.nii", ()), (".nii.gz", "in.h5:/volume", "x.nii.gz", ()),
                (".mrc", "in.h5:/volume", "x.mrc", ()),
                (".zarr", "in.h5:/volume", "x.zarr", ("--chunk", "2,10,12", "--compression", "zstd")),
                ("slices", "in.h5:/pictures", "x_%04d.png", ()), (".sand", "in.h5:/cells", "x.sand", ()), (".png", "in.h5:/pictures", "x.png", ("--frame", "0")),
                ("pictures", "in.h5:/pictures", "x.png", ("--frames", "all"))]]
    made += [Writer(f"generate {name}", ("generate", pattern, f"{OUTPUTS}/x{ending}", "--shape", "6,30,24", *options),
                    again=over)
             for name, pattern, ending, options in [
                 (".h5", "noise", ".h5", ("--dtype", "float32")), (".npy", "noise", ".npy", ("--dtype", "uint16")),
                 ("deflate", "phantom", ".h5", ("--dtype", "uint16", *packed)),
                 (".tif", "gradient", ".tif", ("--dtype", "uint8")),
                 (".ome.zarr", "noise", ".ome.zarr", ("--dtype", "uint8")),
                 ("slices", "noise", "_*.tif", ("--dtype", "uint8"))]]
    return made + [
        Writer("generate .sand", ("generate", "sand-noise", f"{OUTPUTS}/x.sand", "--shape", "30,24"), again=over),
        Writer("render", ("render", "in.h5:/volume", f"{OUTPUTS}/x.png")),
        Writer("render frames", ("render", "in.h5:/volume", f"{OUTPUTS}/x.png", "--frames", "0:6:2")),
        Writer("report page", ("report", "report.json", "--page", f"{OUTPUTS}/x.html")),
        Writer("try", ("try", "job.toml", "--part", "0:60,0:40", "--out", f"{OUTPUTS}/page"),
               job("convolve", "/image", "x.h5", CONVOLVE)),
        Writer("submit", ("submit", "job.toml", "--site", "site.toml"), job("convolve", "/image", "x.h5", CONVOLVE),
               environment=lambda: {"PATH": os.path.abspath("fake") + ":" + os.environ["PATH"]}),
    ]


def flip(path, at):
    np.memmap(path, np.uint8, "r+")[at] ^= 1


def damage_hdf5(file=f"{OUTPUTS}/x.h5"):
    """One bit of an element, or of a chunk's packed bytes."""
    with h5py.File(file) as opened:
        data = next(item for item in opened.values() if isinstance(item, h5py.Dataset))
        at = data.id.get_offset() if data.chunks is None else data.id.get_chunk_info(1).byte_offset + 20
    flip(file, at + 30)


def damage_part():
    damage_hdf5(sorted(pathlib.Path(OUTPUTS).glob("x.parts/*"))[0])


def damage_end(ending):
    """One bit of the last rows, or of a coarser level."""
    def damage():
        file = f"{OUTPUTS}/x{ending}"
        flip(file, {".tif": 2000, ".nii.gz": 2000, ".ome.tif": 16 + 600 * 500 + 50}.get(ending, os.path.getsize(file) - 40))
    return damage


def repairs():
    made = [Writer(f"repair {name}", ("repair", f"{OUTPUTS}/{file}"), prepared=prepared, damage=damage)
            for name, file, prepared, damage in [
                ("contiguous", "x.h5", "convolve contiguous", damage_hdf5),
                ("deflate", "x.h5", "convolve deflate", damage_hdf5),
                ("parts", "x.h5", "convolve parts", damage_part),
                (".npy", "x.npy", "convolve .npy", damage_end(".npy")),
                (".tif", "x.tif", "convolve .tif", damage_end(".tif")),
                ("pyramid", "x.ome.tif", "rescale pyramid in strips", damage_end(".ome.tif")),
                (".png", "x.png", "rescale .png", damage_end(".png")),
                (".nii", "x.nii", "convolve .nii", damage_end(".nii")),
                (".nii.gz", "x.nii.gz", "transpose .nii.gz", damage_end(".nii.gz")),
                (".mrc", "x.mrc", "convolve .mrc", damage_end(".mrc")),
                (".sand", "x.sand", "sand .sand", damage_end(".sand")),
                ("snapshots", "x.h5", "sand contiguous", damage_hdf5),
                ("two passes", "x.h5", "two passes .h5", damage_hdf5)]]
    return made + [Writer("verify of two passes", ("verify", f"{OUTPUTS}/x.h5", "--recompute", "2"),
                          prepared="two passes .h5")]


def make_inputs():
    """Everything that the writers read, in the working folder."""
    rng = np.random.default_rng(5)
    with h5py.File("in.h5", "w") as file:
        file["image"] = rng.random((120, 90), dtype=np.float32)
        file["volume"] = rng.random((12, 20, 24), dtype=np.float32)
        file["counts"] = rng.integers(300, 900, (8, 14, 16), dtype=np.uint16)
        file["dark"] = rng.integers(0, 90, (3, 14, 16), dtype=np.uint16)
        file["flat"] = rng.integers(1000, 1500, (3, 14, 16), dtype=np.uint16)
        file["picture"] = rng.integers(0, 256, (600, 500), dtype=np.uint8)
        file["pictures"] = rng.integers(0, 256, (3, 30, 40), dtype=np.uint8)
        file["images"] = rng.integers(0, 999, (2, 3, 4, 15, 17), dtype=np.uint16)
    scan("scan.nx")
    call("generate", "sand-noise", "cells.h5", "--shape", "2,40,48")
    with h5py.File("in.h5", "a") as file, h5py.File("cells.h5") as cells:
        cells.copy("frames", file, "cells")
    os.mkdir("batch")
    for number, stem in enumerate("abc"):
        np.save(f"batch/{stem}.npy", rng.random((30 + 10 * number, 20), dtype=np.float32))
    pathlib.Path("site.toml").write_text(SITE)
    os.mkdir("fake")
    pathlib.Path("fake/sbatch").write_text("#!/bin/sh\necho 17\n")
    os.chmod("fake/sbatch", 0o755)
    pathlib.Path("job.toml").write_text(job("convolve", "/image", "x.h5", CONVOLVE))
    os.mkdir(OUTPUTS)
    call("job.toml", "--quiet", "--report", "report.json")
    for name, data in BESIDE.items():
        path = pathlib.Path("theirs", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def plain(value):
    """The bytes of elements; of texts of any length, which are pointers there, the texts."""
    return repr(np.asarray(value).tolist()).encode() if np.asarray(value).dtype.kind == "O" else np.asarray(value).tobytes()


def elements(data):
    """The elements, or where h5py lacks the filter their packed chunks, which are the same for any run."""
    plan = data.id.get_create_plist()
    if any(plan.get_filter(number)[0] > 255 for number in range(plan.get_nfilters())):  # none of HDF5's own
        chunks = [data.id.get_chunk_info(number).chunk_offset for number in range(data.id.get_num_chunks())]
        return b"".join(data.id.read_direct_chunk(at)[1] for at in sorted(chunks))
    return plain(data[...])


def hdf5_summary(path):
    """What is the same of every run: no times and settings, and none of the records in /runner, whose checksums are
    of these and of chunks."""
    found = {}

    def visit(name, item):
        if name.split("/")[0] == "runner":
            return
        for key, value in item.attrs.items():
            if name or key in ("objects", "default", "kind", "counts"):
                found[f"{name}@{key}"] = value if isinstance(value, str) else plain(value)
        if isinstance(item, h5py.Dataset):
            found[name] = (item.dtype.str, item.shape, hashlib.sha256(elements(item)).hexdigest())

    with h5py.File(path) as file:
        visit("", file)
        file.visititems(visit)
    return found


def summary(path):
    """What is the same of every run that made the file, whatever its ranks and chunks."""
    if path.suffix == ".h5" and path.parent.suffix != ".parts":
        return hdf5_summary(path)
    if path.suffix in (".npy", ".tif", ".tiff", ".nii", ".gz", ".mrc", ".sand", ".png", ".sbatch"):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if path.suffix == ".json":
        return sorted(json.loads(path.read_text())) and "JSON"
    if path.suffix == ".html":
        return "a whole page" if path.read_text().rstrip().endswith("</html>") else "half a page"
    return "a file"


def is_theirs(name):
    return name in BESIDE or name in {str(pathlib.Path(each).parent) for each in BESIDE}


def names():
    """All that is in `outputs`, but for users' files and the logs of a batch, of which each run has one."""
    there = {str(path.relative_to(OUTPUTS)) for path in pathlib.Path(OUTPUTS).rglob("*")}
    return {name for name in there if not is_theirs(name) and not re.search(r"\.state/log-[^/]*\.jsonl$", name)}


def made():
    """What is in `outputs`, by name."""
    return {name: summary(pathlib.Path(OUTPUTS, name)) for name in names() if pathlib.Path(OUTPUTS, name).is_file()}


def marks_of_theirs():
    """Of users' files: bytes, inode, mode and time."""
    marks = {}
    for name in BESIDE:
        path = pathlib.Path(OUTPUTS, name)
        status = path.lstat() if os.path.lexists(path) else None
        marks[name] = status and (status.st_ino, stat.filemode(status.st_mode), status.st_nlink, status.st_mtime_ns,
                                  path.read_bytes())
    return marks


def begin(writer):
    """`outputs` as it is before the command, and job.toml."""
    shutil.rmtree(OUTPUTS, ignore_errors=True)
    shutil.copytree("theirs", OUTPUTS)
    if writer.job:
        pathlib.Path("job.toml").write_text(writer.job)
    if writer.prepared:
        folder = pathlib.Path("prepared", writer.prepared)
        if not folder.exists():
            source = next(each for each in runs() + pipelines() if each.name == writer.prepared)
            begin(source)
            call(*source.words, "--set", "run.chunk_rows=16")  # several runs of rows
            shutil.copytree(OUTPUTS, folder)
        shutil.rmtree(OUTPUTS)
        shutil.copytree(folder, OUTPUTS)
        if writer.damage:
            writer.damage()


WRITERS = [*runs(), *pipelines(), *batches(), *data_verbs(), *repairs()]
