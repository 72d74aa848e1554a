"""No file that a run did not make is parsed by HDF5 in its own process.

* Finished outputs with one bit changed, over which HDF5 spins or crashes, end verify, repair and a
  batch with a message and a code, without a signal; SIGTERM ends a run that waits for such a file.
* Every verb on inputs of every kind of storage, watched by hdf5_shim (tests/fault/hdf5_shim.cpp): the
  process itself opens with HDF5 only what it has created itself, and the results are right.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from events import GUARD
from faulty_runs import with_fault
from harness import Findings, launch, new_folder, programs

HERE = pathlib.Path(__file__).parent

JOB = '''kind = "convolve"
name = "blur"
[input]
file = "{input}"
dataset = "{dataset}"
[output]
file = "{output}"
sync = false
{more}
[run]
backend = "cpu"
chunk_rows = 7
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.25, 0.5, 0.25]
{end}'''


class Watched(Findings):
    def __init__(self):
        super().__init__()
        self.log = pathlib.Path("hdf5.log")

    def start(self, *arguments, ranks=0, watched=False):
        launcher = launch(ranks) if ranks else []
        environment = dict(os.environ)
        if watched:
            environment.update(LD_PRELOAD=programs.hdf5_shim, HDF5_SHIM_LOG=str(self.log.absolute()))
            self.log.unlink(missing_ok=True)
        return subprocess.Popen([*launcher, programs.runner, *map(str, arguments)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)

    def call(self, *arguments, codes=(0,), **how):
        process = self.start(*arguments, **how)
        try:
            out, err = process.communicate(timeout=GUARD)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.check(False, f"{arguments} never ends")
            return process, "", ""
        self.check(process.returncode in codes,
                   f"{arguments} ends with {process.returncode}, not one of {codes}: {err}")
        return process, out, err

    def watch(self, *arguments, **how):
        """Runs a verb and checks that HDF5 opens in its own process only what it has made there, and in
        others what the verb is about. A run makes its output in its own process."""
        self.call(*arguments, watched=True, **how)
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        parts = [line.split(" ", 2) for line in lines]
        made = {path for what, who, path in parts if (what, who) == ("create", "run")}
        # Over the parts of an earlier run the structure of a new file is laid.
        made |= {path.removesuffix(".layout") for path in made}
        own = {path for what, who, path in parts if (what, who) == ("open", "run")} - made
        self.check(not own, f"{arguments}: HDF5 parses {sorted(own)} in the run itself")
        # A shim that is not loaded, or does not see the calls, would find nothing wrong.
        self.check(any(who == "probe" for _, who, _ in parts), f"{arguments}: no process is seen to read a file")
        self.check(made or arguments[0] != "run", f"{arguments}: the run is not seen to make its output")


@pytest.fixture(scope="module", autouse=True)
def folder():
    with new_folder() as path:
        yield path


@pytest.fixture(name="test")
def make_test():
    return Watched()


def write_job(path, **words):
    values = {"dataset": "/image", "more": "", "end": "", **words}
    pathlib.Path(path).write_text(JOB.format(**values))


def test_one_bit(test):
    """The files that a trial found, three verbs each."""
    for name in ["hang_onebit.h5", "crash_onebit.h5"]:
        for verb in ["verify", "repair"]:
            # The crash comes in one of twenty runs or so.
            for _ in range(1 if name.startswith("hang") else 10):
                shutil.copy(HERE / "damaged" / name, "damaged.h5")
                _, _, err = test.call(verb, "damaged.h5", codes=(3, 4, 7))
                test.check(err.startswith("runner: error: ") or "checksum" in err or not err,
                           f"{verb} {name} says {err!r}")
        folder = pathlib.Path("batch_" + name[:4])
        (folder / "in").mkdir(parents=True)
        (folder / "out").mkdir()
        with h5py.File(folder / "in" / "a.h5", "w") as file:
            file["image"] = np.ones((20, 10), "float32")
        shutil.copy(HERE / "damaged" / name, folder / "out" / "a.h5")
        (folder / "batch.toml").write_text(
            JOB.format(input="", dataset="/image", output="", more="", end=f'''[batch]
inputs = ["{folder}/in/*.h5"]
output = "{folder}/out/{{stem}}.h5"
''').replace('file = ""\n', ""))
        _, _, err = test.call("batch", folder / "batch.toml", codes=(0, 3, 4, 7))
        test.check("runner: error: a defect" not in err, f"batch over {name}: {err}")


def probes_of(parent):
    """The numbers of a process' children that read files for it."""
    found = []
    try:
        children = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        for child in children:
            # Not before it is this program again: until then its parent waits for that.
            if b"probe-inputs" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def test_signalled(test):
    """SIGTERM while a process that reads the input does not end: the run does."""
    shutil.copy(HERE / "damaged" / "hang_onebit.h5", "slow.h5")
    write_job("slow.toml", input="slow.h5", output="slow_out.h5")
    # The process that reads is held, so that it never answers, whatever the machine's speed.
    run = test.start("slow.toml")
    try:
        while run.poll() is None:
            probes = probes_of(run.pid)
            if probes:
                os.kill(probes[0], signal.SIGSTOP)
                break
            time.sleep(0.001)
        if run.poll() is not None:
            test.check(False, f"the run ended before its probe was held: {run.stderr.read()}")
            return
        run.send_signal(signal.SIGTERM)
        _, err = run.communicate(timeout=GUARD)
        test.check(run.returncode == 75, f"SIGTERM while a file is read: {run.returncode}: {err}")
        test.check("TERM" in err, f"SIGTERM while a file is read says {err!r}")
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
        test.check(False, "SIGTERM does not end a run that waits for a probe")


def inputs(folder):
    """Files whose dataset /image is one array in every kind of storage, and what it is."""
    image = (np.arange(60 * 50).reshape(60, 50) % 251).astype("float32")
    whole = folder / "whole.h5"
    kinds = {"contiguous": {}, "chunked": {"chunks": (16, 20)},
             "deflate": {"chunks": (16, 20), "compression": "gzip", "shuffle": True},
             "fletcher": {"chunks": (7, 50), "fletcher32": True},
             "scaled": {"chunks": (16, 20), "scaleoffset": 3}}
    for name, options in kinds.items():
        with h5py.File(folder / f"{name}.h5", "w", userblock_size=512) as file:
            file.create_dataset("image", data=image, **options)
    with h5py.File(whole, "w") as file:
        file["image"] = image
        file["group/soft"] = h5py.SoftLink("/image")
    with h5py.File(folder / "big.h5", "w") as file:
        file["image"] = image.astype(">f4")
    with h5py.File(folder / "big_chunked.h5", "w") as file:
        file.create_dataset("image", data=image.astype(">f4"), chunks=(16, 20))
    with h5py.File(folder / "linked.h5", "w") as file:
        file["image"] = h5py.ExternalLink("whole.h5", "/image")
    with h5py.File(folder / "soft.h5", "w") as file:
        file["there"] = image
        file["image"] = h5py.SoftLink("/there")
    with h5py.File(folder / "virtual.h5", "w", libver="latest") as file:
        layout = h5py.VirtualLayout(shape=image.shape, dtype="float32")
        layout[:] = h5py.VirtualSource("whole.h5", "image", shape=image.shape)
        file.create_virtual_dataset("image", layout)
    (folder / "outside.raw").write_bytes(image.tobytes())
    with h5py.File(folder / "external.h5", "w") as file:
        file.create_dataset("image", shape=image.shape, dtype="float32",
                            external=[(str(folder / "outside.raw"), 0, image.nbytes)])
    with h5py.File(folder / "partial.h5", "w") as file:
        file.create_dataset("image", shape=image.shape, dtype="float32", chunks=(16, 20),
                            fillvalue=5)[16:32] = image[16:32]
    with h5py.File(folder / "compact.h5", "w") as file:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"image", h5py.h5t.IEEE_F32LE,
                        h5py.h5s.create_simple(image.shape), creation).write(
                            h5py.h5s.ALL, h5py.h5s.ALL, image)
    return [*kinds, "big", "big_chunked", "linked", "soft", "virtual", "external", "partial",
            "compact"]


def blurred(image):
    """The job's taps, reflected at the borders (d c b a | a b c d), in float64."""
    def once(rows):
        padded = np.concatenate([rows[:1], rows, rows[-1:]])
        return 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
    return once(once(image.astype("float64")).T).T


def test_storage(test):
    """Every kind of storage through run, plan, inspect, compare, convert, render."""
    folder = pathlib.Path("storage").absolute()
    folder.mkdir()
    for name in inputs(folder):
        with h5py.File(folder / f"{name}.h5") as file:
            image = file["image"][...].astype("float32")
        np.save(folder / f"{name}.npy", image)
        dataset = f"{folder / name}.h5:/image"
        write_job("job.toml", input=f"{folder / name}.h5", output=f"{folder / name}_out.h5")
        test.watch("plan", "job.toml")
        test.watch("run", "job.toml", "--report", f"{folder / name}.html")
        with h5py.File(folder / f"{name}_out.h5") as file:
            made = file["image"][...]
        test.check(np.allclose(made, blurred(image), rtol=1e-5, atol=1e-5),
                   f"{name}: the result is wrong")
        test.watch("inspect", dataset)
        test.watch("inspect", f"{folder / name}.h5", "--json")
        test.watch("compare", dataset, f"{folder / name}.npy")
        test.watch("convert", dataset, f"{folder / name}_copy.npy")
        test.check(np.array_equal(np.load(folder / f"{name}_copy.npy"), image),
                   f"{name}: converted otherwise")
        test.watch("render", dataset, f"{folder / name}.png")
        test.watch("verify", f"{folder / name}_out.h5")
        test.watch("repair", f"{folder / name}_out.h5")
    # Many ranks: the first has it read, the others know.
    for name in ["contiguous", "deflate", "scaled"]:
        (folder / f"{name}_out.h5").unlink()
        write_job("job.toml", input=f"{folder / name}.h5", output=f"{folder / name}_out.h5")
        test.watch("run", "job.toml", ranks=3)
        with h5py.File(folder / f"{name}.h5") as file, h5py.File(folder / f"{name}_out.h5") as out:
            test.check(np.allclose(out["image"][...], blurred(file["image"][...]), rtol=1e-5,
                                   atol=1e-5), f"{name}: the result of three ranks is wrong")


def test_mended(test):
    """Repair writes rows back without HDF5, whatever the storage; where a chunk takes another size,
    by a process of its own."""
    folder = pathlib.Path("mended").absolute()
    folder.mkdir()
    with h5py.File(folder / "in.h5", "w") as file:
        file["image"] = np.random.default_rng(5).random((64, 48)).astype("float32")
    for name, more in {"contiguous": "", "chunked": "chunk = [8, 16]",
                       "packed": 'chunk = [8, 16]\ncompression = "deflate"',
                       "moved": 'chunk = [8, 16]\ncompression = "deflate"\nshuffle = true'}.items():
        out = folder / f"{name}.h5"
        write_job("job.toml", input=folder / "in.h5", output=out, more=more)
        test.watch("run", "job.toml")
        with h5py.File(out) as file:
            good = file["image"][...]
            data = file["image"]
            place = data.id.get_chunk_info(3) if data.chunks else None
            offset = place.byte_offset if place else data.id.get_offset() + 4000
        if name == "moved":
            with h5py.File(out, "r+") as file:
                file["image"].id.write_direct_chunk(place.chunk_offset, b"x" * (place.size // 2))
        else:
            with open(out, "r+b") as file:
                file.seek(offset + 8)
                byte = file.read(1)[0]
                file.seek(offset + 8)
                file.write(bytes([byte ^ 0x10]))
        test.watch("verify", out, codes=(7,))
        test.watch("repair", out)
        test.watch("verify", out)
        with h5py.File(out) as file:
            test.check(np.array_equal(file["image"][...], good), f"{name}: repaired otherwise")


def test_resumed(test):
    """A run that resumes opens no structure of an earlier run: it lays it out again first."""
    folder = pathlib.Path("resumed").absolute()
    folder.mkdir()
    with h5py.File(folder / "in.h5", "w") as file:
        file["image"] = np.random.default_rng(6).random((64, 48)).astype("float32")
    for name, more in {"contiguous": "", "chunked": "chunk = [7, 48]",
                       "packed": 'chunk = [7, 48]\ncompression = "deflate"'}.items():
        out = folder / f"{name}.h5"
        write_job("job.toml", input=folder / "in.h5", output=out, more=more)
        killed = subprocess.run(
            with_fault([programs.runner, "job.toml", "--set", "run.commit_seconds=0"], programs.runner,
                       f"pwrite:kill@6:{name}.h5.partial"), capture_output=True, text=True, timeout=GUARD)
        test.check(killed.returncode == -signal.SIGKILL, f"{name} is not killed: {killed}")
        test.watch("run", "job.toml", "--resume", "require")
        test.watch("verify", out)
