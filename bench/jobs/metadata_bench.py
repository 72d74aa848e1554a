"""How many calls a job makes that a file system's metadata server hears of:
metadata_bench.py RUNNER MPIRUN [--ranks 1,2,4,8].

Each rank is run under strace. Counted are calls with a path in the job's folder, and waits for the
disk there. STOP: looks for a file that asks to stop, which come again five times a second. A call of
Open MPI, of the loader or of another folder is not counted. Needs strace; times mean nothing.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import tempfile

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out/out.h5"
{layout}
[run]
commit_seconds = 1
chunk_rows = 64
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = {{ box = {{ radius = 16 }} }}
'''
LAYOUTS = {"contiguous": "", "deflate": 'chunk = [64, 512]\ncompression = "deflate"'}
KINDS = {"open": "open", "make": "open", "look": "stat access readlink",
         "rename": "rename link", "remove": "unlink rmdir", "sync": "fsync fdatasync",
         "size": "ftruncate fallocate", "folder": "mkdir", "list": "getdents"}


def kind_of(name, line):
    if name.startswith("open"):
        return "make" if "O_CREAT" in line else "open"
    for kind, names in KINDS.items():
        if any(each in name for each in names.split()):
            return kind
    return ""  # the program's own start, and where it is


def count(trace, folder):
    """Calls of one rank by kind; in how many seconds."""
    calls = collections.Counter()
    times = []
    for line in trace.read_text(errors="replace").splitlines():
        match = re.match(r"\d+ +(\d+\.\d+) (\w+)\((.*)", line)
        if not match or "resumed>" in line:
            continue
        times.append(float(match[1]))
        rest = re.sub(r"AT_FDCWD<[^>]*>", "", match[3])
        inside = str(folder) in rest or re.search(r'"(in\.h5|job\.toml|out["/])', rest)
        kind = kind_of(match[2], line)
        if inside and kind:
            calls["STOP" if "/STOP" in rest or "/stop" in rest else kind] += 1
    return calls, max(times) - min(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs=2)
    parser.add_argument("--ranks", default="1,2,4,8")
    options = parser.parse_args()
    runner, mpirun = os.path.abspath(options.program[0]), options.program[1]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("out")
        subprocess.run([runner, "generate", "noise", "in.h5", "--shape", "8192,1024", "--dtype",
                        "float32", "--dataset", "/image"], check=True)
        for name, layout in LAYOUTS.items():
            print(f"{name}: calls of the first rank / of each other (the most of them)")
            for ranks in map(int, options.ranks.split(",")):
                pathlib.Path("job.toml").write_text(JOB.format(layout=layout))
                subprocess.run(
                    [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), "bash",
                     "-c", 'exec strace -f -ttt -y -e trace=%file,fsync,fdatasync,ftruncate,'
                     'fallocate,getdents64 -o trace.$OMPI_COMM_WORLD_RANK "$@"', "trace", runner,
                     "job.toml", "--quiet"], check=True, capture_output=True)
                found = [count(pathlib.Path(f"trace.{rank}"), folder) for rank in range(ranks)]
                kinds = sorted(set().union(*(calls for calls, _ in found)))
                others = [calls for calls, _ in found[1:]]
                print(f"  {ranks} ranks: " + ", ".join(
                    f"{kind} {found[0][0][kind]}/"
                    f"{max((calls[kind] for calls in others), default=0)}" for kind in kinds)
                    + f"; {found[0][1]:.1f} s", flush=True)
                os.unlink("out/out.h5")
        os.chdir("/")


if __name__ == "__main__":
    main()
