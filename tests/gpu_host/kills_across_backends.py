"""On a GPU host: runs that are killed and resumed on another backend and number of ranks.
kills_across_backends.py RUNNER MPIRUN [--rounds N] [--seed S]
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from events import wait_until  # pylint: disable=wrong-import-position
from faulty_runs import kill_all  # pylint: disable=wrong-import-position

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/x"
generate = { pattern = "noise", shape = [3, 6007, 5003], dtype = "float32", seed = 3 }
[output]
file = "out.h5"
[run]
commit_seconds = 0
[convolve]
row_taps = { gaussian = { sigma = 2.0, radius = 8 } }
column_taps = { gaussian = { sigma = 3.0, radius = 12 } }
boundary = "wrap"
'''
STORAGES = [[], ["--set", "output.chunk=[1,64,5003]"],
            ["--set", "output.chunk=[1,96,1024]", "--set", 'output.compression="deflate"']]


def command(options, rng, storage):
    ranks = rng.choice([0, 1, 2, 3])
    launch = [options.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]
    return (launch if ranks else []) + [
        options.runner, "job.toml", "--quiet", "--backend", rng.choice(["cuda", "cuda", "cpu"]),
        "--set", f"run.chunk_rows={rng.choice([1, 3, 16])}", "--set",
        f"run.lanes={rng.choice([1, 2])}", *storage]


def lists():
    """The ranks' lists of finished rows."""
    return set(pathlib.Path("out.h5.journal").glob("*-rank-*.rows"))


def longest_list(old):
    """Bytes of the longest list that is none of these."""
    try:
        return max((path.stat().st_size for path in lists() - old), default=0)
    except FileNotFoundError:  # just removed
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("mpirun")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.runner = os.path.abspath(options.runner)
    wrong = resumed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("job.toml", "w", encoding="utf-8") as file:
            file.write(JOB)
        subprocess.run([options.runner, "job.toml", "--quiet", "--backend", "cpu", "--set",
                        'output.file="wanted.h5"'], check=True)
        for number in range(options.rounds):
            rng = random.Random(options.seed + number)
            storage = rng.choice(STORAGES)
            for _ in range(rng.choice([1, 2])):
                old = lists()
                run = subprocess.Popen(command(options, rng, storage), start_new_session=True,
                                       stderr=subprocess.DEVNULL)
                enough = 32 * rng.randint(2, 200)  # a chunk's line has 32 bytes
                wait_until(lambda: run.poll() is not None or longest_list(old) >= enough,
                           "rows in the journal")
                kill_all(run)
                run.wait()
                resumed += os.path.exists("out.h5.journal/identity")
            if not os.path.exists("out.h5"):
                done = subprocess.run(command(options, rng, storage), capture_output=True, text=True)
                wrong += done.returncode != 0
                if done.returncode != 0:
                    print(f"seed {options.seed + number}: {done.stderr}")
            same = subprocess.run([options.runner, "compare", "out.h5:/x", "wanted.h5:/x"],
                                  capture_output=True, text=True)
            if same.returncode != 0:
                wrong += 1
                print(f"seed {options.seed + number}: {same.stdout}{same.stderr}")
            subprocess.run("rm -rf out.h5*", shell=True, check=True)
        os.chdir("/")
    print(f"{options.rounds} rounds, {resumed} times resumed, {wrong} wrong")
    return 1 if wrong or resumed < options.rounds // 2 else 0


if __name__ == "__main__":
    raise SystemExit(main())
