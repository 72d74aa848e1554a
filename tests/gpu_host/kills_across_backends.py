"""On a GPU host: runs that are killed and gone on with on another backend and number of ranks.
kills_across_backends.py RUNNER MPIRUN [--rounds N] [--seed S]: needs nothing but the two.
"""
import argparse
import os
import random
import signal
import subprocess
import tempfile
import time

JOB = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/x"
generate = { pattern = "noise", shape = [3, 6007, 5003], dtype = "float32", seed = 3 }
[output]
file = "out.h5"
[run]
commit_seconds = 0.02
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
        "--set", f"run.chunk_rows={rng.choice([16, 96, 500])}", *storage]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("mpirun")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.runner = os.path.abspath(options.runner)
    wrong = gone_on = 0
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
                run = subprocess.Popen(command(options, rng, storage), start_new_session=True,
                                       stderr=subprocess.DEVNULL)
                time.sleep(rng.uniform(0.4, 2.0))
                os.killpg(run.pid, signal.SIGKILL)
                subprocess.run(["pkill", "-KILL", "-f", f"{options.runner} job.toml"], check=False)
                run.wait()
            gone_on += os.path.exists("out.h5.journal/identity")
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
    print(f"{options.rounds} rounds, {gone_on} gone on with, {wrong} wrong")
    return 1 if wrong or gone_on < options.rounds // 2 else 0


if __name__ == "__main__":
    raise SystemExit(main())
