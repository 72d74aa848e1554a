"""Whether jobs of every kind have the same certificate with any vector instructions, on any number
of ranks and in chunks of any size:
certificates.py RUNNER MPIRUN [--backend cpu|cuda] [--ranks 1,2,4] [--chunks 1,7,auto] [--only NAME].

The first run of a case, on one rank of the CPU with the processor's best instructions, makes the
certificate that the others are compared with, without `machine`. One rank takes every chunk size; more
ranks take one of them, in turns, or with --all-chunks each. With --backend cuda those others run on
GPUs. The table has a row for each case and set of instructions, with the checksum of the result, which
is the same on every machine. The exit code is 1 if any certificate differs.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

# From the least to the best; those that the program or the processor lacks are left out.
VECTORS = ["scalar", "emu128", "sse2", "ssse3", "sse4", "avx2", "avx3", "avx3_dl", "avx3_zen4", "avx3_spr",
           "avx10_2", "neon_without_aes", "neon", "neon_bf16", "sve", "sve2", "sve_256", "sve2_128"]
TAPS = "row_taps = { gaussian = { sigma = 1.7, radius = 5 } }\ncolumn_taps = [0.1, 0.2, 0.4, 0.2, 0.1]\n"
PATCHES = "window = [5, 7, 7]\npatch = [3, 3, 3]\ncount = 6\n"

# Name: pattern, shape and type of the input; the job from [output]'s end on, with its kind's table.
CASES = {
    **{f"convolve {dtype}": ("noise", "3,67,53", dtype, f'[convolve]\n{TAPS}boundary = "{boundary}"\n')
       for dtype, boundary in [("uint8", "reflect"), ("uint16", "mirror"), ("float32", "nearest"),
                               ("float64", "wrap")]},
    "convolve volume": ("noise", "11,29,31", "float32",
                        f'[convolve]\n{TAPS}depth_taps = [0.25, 0.5, 0.25]\nboundary = "constant"\n'),
    **{f"transpose {axes} {dtype}": ("noise", "11,29,23", dtype,
                                     f"[transpose]\npermutation = [{', '.join(axes)}]\n")
       for axes, dtype in [("012", "float32"), ("021", "uint8"), ("102", "uint16"), ("120", "float64"),
                           ("201", "float32"), ("210", "uint8")]},
    "match": ("noise", "10,19,21", "float32", f"[match]\n{PATCHES}"),
    "denoise nlm": ("xray", "11,18,21", "float32", f'[denoise]\nmethod = "nlm"\n{PATCHES}'),
    "denoise bm4d": ("xray", "11,18,21", "uint16",
                     '[denoise]\nmethod = "bm4d"\nwindow = [5, 7, 7]\ncount = 8\nstabilise = "anscombe"\n'),
    "sand": ("sand-noise", "61,83", "uint8", "[sand]\ngenerations = 40\nsnapshot_every = 15\nseed = 5\n"),
    "median": ("noise", "4,47,39", "uint16", "[median]\nsize = [3, 3, 3]\n"),
    "rescale": ("noise", "4,47,39", "uint16",
                "[rescale]\nfrom = { percentiles = [0.5, 99.5] }\nto = [0, 255]\n"),
    "bin": ("noise", "5,47,39", "float32", '[bin]\nfactors = [2, 3, 2]\nedge = "partial"\n'),
    "correct": ("tomo-scan", "60,31,37", "uint16", "[correct]\nnegative_log = true\n"),
    "pipeline": ("noise", "6,47,39", "uint16",
                 f'[[step]]\nkind = "convolve"\ndtype = "float32"\n{TAPS}'
                 '[[step]]\nkind = "median"\nsize = [1, 3, 3]\n'
                 '[[step]]\nkind = "rescale"\nfrom = "extremes"\nto = [0.0, 1.0]\n'),
}
DTYPES = {"rescale": "uint8"}


class Bench:
    """Jobs in the working folder."""

    def __init__(self, runner, mpirun):
        self.runner, self.mpirun = runner, mpirun
        self.not_started = 0

    def call(self, *arguments, ranks=1, vectors=None):
        before = [] if ranks == 1 else [self.mpirun, "--oversubscribe", "-n", str(ranks)]
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        environment.pop("RUNNER_VECTORS", None)
        if vectors:
            environment["RUNNER_VECTORS"] = vectors
        return subprocess.run([*before, self.runner, *arguments], capture_output=True, text=True,
                              env=environment)

    def made(self, *arguments, **options):
        done = self.call(*arguments, **options)
        if done.returncode != 0:
            sys.exit(f"certificates: {arguments} {options}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def vectors(self):
        return [name for name in VECTORS if self.call("--version", vectors=name).returncode == 0]

    def prepare(self, name):
        """The input and the job file of a case."""
        pattern, shape, dtype, keys = CASES[name]
        self.made("generate", pattern, "in.h5", "--shape", shape, "--dtype", dtype, "--overwrite")
        kind = "" if keys.startswith("[[") else f'kind = "{keys[1:keys.index("]")]}"\n'
        dtype = f'dtype = "{DTYPES[name]}"\n' if name in DTYPES else ""
        pathlib.Path("job.toml").write_text(
            f'{kind}[input]\nfile = "in.h5"\n[output]\nfile = "out.h5"\nsync = false\n{dtype}{keys}')

    def certificate(self, backend, vectors, ranks, chunk):
        """Of one run, without its machine."""
        for old in pathlib.Path().glob("out.h5*"):
            old.unlink()
        words = ["job.toml", "--quiet", "--backend", backend, "--set", f"run.chunk_rows={chunk}", "--report",
                 "report.json"]
        done = self.call(*words, ranks=ranks, vectors=vectors)
        if done.returncode != 0 and "with PID 0 on" in done.stderr:
            self.not_started += 1  # on a busy machine mpirun may fail to start all ranks
            done = self.call(*words, "--set", "output.overwrite=true", ranks=ranks, vectors=vectors)
        if done.returncode != 0:
            sys.exit(f"certificates: {words}, {ranks} ranks, {vectors}: exit {done.returncode}\n{done.stderr}")
        used = json.loads(pathlib.Path("report.json").read_text())["runner"]["vectors"]
        if vectors and used != vectors:
            sys.exit(f"certificates: the run used {used}, not {vectors}")
        certificate = json.loads(self.made("certify", "out.h5"))
        del certificate["machine"]
        return certificate


def heading(bench, backend, options):
    commit = bench.made("--version").split("commit: ")[1].split()[0]
    model = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    now = datetime.datetime.now(datetime.timezone.utc)
    print(f"runner {commit}, {backend}, {model[0] if model else platform.machine()}, {os.cpu_count()} cores, "
          f"{now:%Y-%m-%d %H:%M} UTC")
    if backend == "cuda":
        print(bench.made("devices").strip())
    print(f"chunk rows {options.chunks}: one rank takes each, more ranks "
          f"{'each' if options.all_chunks else 'one of them in turns'}")


def chunks_of(options, turn, ranks):
    chunks = [chunk if chunk.isdigit() else f'"{chunk}"' for chunk in options.chunks.split(",")]
    return chunks if ranks == 1 or options.all_chunks else [chunks[turn % len(chunks)]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runner", metavar="RUNNER")
    parser.add_argument("mpirun", metavar="MPIRUN")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--ranks", default="1,2,3,4,5,6,7,8")
    parser.add_argument("--chunks", default="5,16,auto")
    parser.add_argument("--all-chunks", action="store_true")
    parser.add_argument("--only", action="append", choices=CASES)
    options = parser.parse_args()
    bench = Bench(os.path.abspath(options.runner), options.mpirun)
    ranks = [int(count) for count in options.ranks.split(",")]
    ways = bench.vectors() if options.backend == "cpu" else [None]
    runs = different = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        heading(bench, options.backend, options)
        print(f"{'case':24} {'vectors':8} " + " ".join(f"{f'{count} rank':>9}" for count in ranks)
              + "  checksum", flush=True)
        for name in options.only or CASES:
            bench.prepare(name)
            first = bench.certificate("cpu", None, 1, '"auto"')
            checksum = first["datasets"][0]["checksum"]
            for i, vectors in enumerate(ways):
                cells = []
                for count in ranks:
                    made = [bench.certificate(options.backend, vectors, count, chunk)
                            for chunk in chunks_of(options, i + count, count)]
                    wrong = sum(each != first for each in made)
                    runs += len(made)
                    different += wrong
                    cells.append("different" if wrong else "same")
                print(f"{name:24} {vectors or 'GPU':8} " + " ".join(f"{cell:>9}" for cell in cells)
                      + f"  {checksum}", flush=True)
    print(f"certificates: {runs} runs in {time.monotonic() - begin:.0f} s, {different} different; "
          f"{bench.not_started} begun again that mpirun did not start")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
