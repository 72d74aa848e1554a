"""`runner submit` and the templates in slurm/ on a real Slurm: slurm_runs.py RUNNER FAULT_SHIM.

The cluster is slurm_cluster.py's. Cases run side by side, since they mostly wait for Slurm; those
that kill nodes have two for themselves. Outputs are compared with that of a run without Slurm.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import hosts
import slurm_cluster
from hosts import wait_for
from suite import BATCH, Case, ended, first_go, is_over, is_running, jobs, one, run_on

ROOT = pathlib.Path(__file__).resolve().parents[2]


def plain(suite):
    """A job on two nodes, in a folder whose name needs quotes."""
    case = Case(suite, "plain 50% o'clock")
    number, = case.submitted("--nodes", "2")
    job = ended(number)
    case.expect((job["JobState"], job["ExitCode"], job["NumNodes"]) == ("COMPLETED", "0:0", "2"),
                "completed on two nodes", str(job))
    case.expect("rank 1  n2" in case.logs(), "the second rank is on the second node", case.logs())
    case.same_bytes()
    again, = case.submitted("--set", "output.overwrite=true", "--set", 'output.file="it\'s.h5"',
                            site=ROOT / "slurm/sites/test.toml")
    case.expect(ended(again)["JobState"] == "COMPLETED", "settings with blanks and quotes",
                case.logs())
    case.same_bytes("it's.h5")


def failing(suite):
    """The script's status is the job's; no failure but 75 is tried again, and 75 not for ever."""
    fails = Case(suite, "fails", program="exit 4")
    stops = Case(suite, "stops", program="exit 75", requeues=1)
    told = Case(suite, "told", program="touch STOP")
    first, = fails.submitted()
    second, = stops.submitted()
    third, = told.submitted()
    job = ended(third)
    told.expect((job["JobState"], job["ExitCode"], job["Restarts"]) == ("FAILED", "75:0", "0"),
                "whom a file STOP stops stays so", str(job) + told.logs())
    job = ended(first)
    fails.expect((job["JobState"], job["ExitCode"], job["Restarts"]) == ("FAILED", "4:0", "0"),
                 "ends with the program's code", str(job))
    job = ended(second)
    stops.expect((job["JobState"], job["ExitCode"], job["Restarts"]) == ("FAILED", "75:0", "1"),
                 "is queued again once and no more", str(job))


def time_limit(suite, name, **launcher):
    """Signalled before the limit it stops, is requeued by itself, and resumes."""
    # Slurm looks every 30 s, and tells what has less than these and 30 s left.
    case = Case(suite, name, stop_before="15s", program=f"""
        [ "${{SLURM_PROCID:-0}}" -ne 0 ] || date "+go %s.%N"
        {suite.slow(1.0, first_go())}""", **launcher)
    number, = case.submitted("--nodes", "2", "--time", "60s")
    job = ended(number)
    case.expect((job["JobState"], job["Restarts"]) == ("COMPLETED", "1"),
                "completed at the second go", str(job) + case.logs())
    for words in ["stopped by signal USR1", "resumes where a run stopped"]:
        case.expect(words in case.logs(), f"the log has both goes: {words}", case.logs())
    case.same_bytes()
    ends = re.findall(rf"^JobId={number} .*EndTime=(\S+)", suite.jobs_log(), re.M)
    gone = time.mktime(time.strptime(ends[0], "%Y-%m-%dT%H:%M:%S")) if ends else 0
    goes = [float(text) for text in re.findall(r"^go (\S+)", case.logs(), re.M)]
    suite.said.append(f"{name}: running again {goes[-1] - gone:.0f} s after exit code 75")


def long_chunk(suite):
    """A chunk of hours is dropped before the limit: the job ends with 75 and not as TIMEOUT."""
    case = Case(suite, "long chunk", stop_before="15s", requeues=0)
    case.write("job.toml", """kind = "denoise"
[input]
file = "volume.h5"
dataset = "/image"
generate = { pattern = "noise", shape = [96, 256, 256], dtype = "uint8", seed = 1 }
[output]
file = "out.h5"
sync = false
[run]
chunk_rows = 24576
[denoise]
sigma = 20.0
window = [95, 127, 127]
""")
    number, = case.submitted("--time", "60s")
    job = ended(number)
    case.expect((job["JobState"], job["ExitCode"], job["Restarts"]) == ("FAILED", "75:0", "0"),
                "stops before the limit", str(job) + case.logs())
    case.expect("dropped chunk 0 with " in case.logs(), "drops its chunk", case.logs())


def array(suite):
    """Tasks share a batch; one that stopped is queued again alone; the summary comes last."""
    stop_last = ('[ "$1" != batch ] || [ "$SLURM_ARRAY_TASK_ID" -ne 3 ] || '
                 f'! {first_go()} || exit 75')
    both_seen = '[ "$1" != batch ] || until [ -e both_seen ]; do sleep 0.1; done'
    case = Case(suite, "array", program=f"{both_seen}\n{stop_last}")
    case.write("job.toml", BATCH)
    (case.folder / "scans").mkdir()
    for i in range(9):
        (case.folder / f"scans/s{i}.h5").write_bytes((suite.folder / "in.h5").read_bytes())
    number, summary = case.submitted("--array", "4", "--throttle", "2")
    most = 0
    while not is_over(summary):
        most = max(most, sum(job["JobState"] == "RUNNING" for job in jobs(number)))
        if most == 2:
            case.write("both_seen", "")
        time.sleep(0.3)
    tasks = sorted(jobs(number), key=lambda job: job["ArrayTaskId"])
    case.expect(most == 2, f"two tasks at once, saw {most}")
    case.expect([job["JobState"] for job in tasks] == 4 * ["COMPLETED"], "all complete", str(tasks))
    case.expect([job["Restarts"] for job in tasks] == ["0", "0", "0", "1"],
                "only the task that stopped is queued again", str(tasks))
    last = max(job["EndTime"] for job in tasks)
    job = one(summary)
    case.expect(job["JobState"] == "COMPLETED" and job["StartTime"] >= last,
                f"the summary comes after {last}", str(job))
    case.expect("9 datasets, 9 done" in case.logs(), "the summary tells", case.logs())
    # A task that finds an output complete records that, too, as done.
    made = [json.loads(line)["output"] for log in (case.folder / "out").glob("scans.state/log-*")
            for line in log.read_text().splitlines() if json.loads(line)["event"] == "started"]
    case.expect(len(made) == 9 == len(set(made)), f"each dataset is made once: {made}")
    (case.folder / "scans/s9.h5").write_bytes((suite.folder / "in.h5").read_bytes())
    dry = case.submit("--dry-run", "--array", "4", "--profile", "out/scans.state")
    case.expect("1 to do" in dry.stdout and "#SBATCH --array=0-0\n" in dry.stdout and
                "#SBATCH --time=0-00:0" in dry.stdout, "one more, by what the others took",
                dry.stdout + dry.stderr)
    (case.folder / "scans/s9.h5").unlink()
    nothing = case.submit()
    case.expect(nothing.returncode == 0 and "nothing to submit" in nothing.stdout,
                "what is done is not submitted again", nothing.stdout + nothing.stderr)


def broken_batch(suite):
    """A dataset that fails: the summary runs all the same, what waits for its success does not."""
    case = Case(suite, "broken")
    case.write("job.toml", BATCH)
    (case.folder / "scans").mkdir()
    for i in range(3):
        (case.folder / f"scans/s{i}.h5").write_bytes((suite.folder / "in.h5").read_bytes())
    (case.folder / "scans/s1.h5").write_bytes(b"no HDF5")
    number, summary = case.submitted("--array", "2")
    after = subprocess.run(["sbatch", "--parsable", f"--dependency=afterok:{summary}",
                            "--kill-on-invalid-dep=yes", "-o", "/dev/null", "--wrap=true"],
                           capture_output=True, text=True).stdout.strip()
    job = ended(summary)
    case.expect((job["JobState"], job["ExitCode"]) == ("FAILED", "3:0"),
                "the summary has the code of what failed", str(job) + case.logs())
    case.expect("2 done" in case.logs() and "s1.h5" in case.logs(), "it names it", case.logs())
    case.expect(ended(after)["JobState"] == "CANCELLED", "what waits for success never runs")


def wait_for_rows(case):
    """Until the journal lists rows as finished; a file without any has 32 bytes."""
    wait_for(lambda: any(path.stat().st_size > 32
                         for path in case.folder.glob("out.h5.journal/*.rows")),
             "rows in the journal")


def cancelled(suite):
    """A job that is cancelled stays so, and its work is resumed when it is submitted again."""
    case = Case(suite, "cancelled", program=suite.slow(1.0, "[ ! -e fast ]"))
    number, = case.submitted("--nodes", "2")
    wait_for_rows(case)
    subprocess.run(["scancel", number], check=True)
    job = ended(number)
    case.expect((job["JobState"], job["Restarts"]) == ("CANCELLED", "0"), "not queued again",
                str(job))
    case.expect((case.folder / "out.h5.partial").exists(), "what was done is there")
    case.write("fast", "")
    again, = case.submitted()
    case.expect(ended(again)["JobState"] == "COMPLETED", "submitted again it is done", case.logs())
    case.expect("resumes where a run stopped" in case.logs(), "it resumes", case.logs())
    case.same_bytes()


def gpus(suite):
    """Each of a node's ranks sees all of the node's GPUs, so that they can reach each other's."""
    for syntax in ["gpus-per-node", "gres"]:
        case = Case(suite, syntax, cpus=2, program='echo "$(hostname) $SLURM_PROCID '
                    '$SLURM_CPUS_PER_TASK sees $CUDA_VISIBLE_DEVICES"',
                    node='gpus = 2\ngpu_memory = "1GiB"\ngpu_type = "fake"\n'
                         f'gpu_syntax = "{syntax}"')
        number, = case.submitted("--nodes", "2")
        case.expect(ended(number)["JobState"] == "COMPLETED", "completed", case.logs())
        seen = sorted(re.findall(r"^(\S+) (\d) (\d) sees (\S*)$", case.logs(), re.M))
        wanted = [("n1", "0", "1", "0,1"), ("n1", "1", "1", "0,1"), ("n2", "2", "1", "0,1"),
                  ("n2", "3", "1", "0,1")]
        case.expect(seen == wanted, f"ranks see {seen}")
        case.same_bytes()


def refusals(suite):
    """Wrong site files and options, and a Slurm that does not want: one message, nothing left."""
    case = Case(suite, "refusals")
    site = (case.folder / "site.toml").read_text()
    for change, words in [
            (("partition =", "partitoin ="), ["site.toml:1:1: partitoin: unknown key; did you mean "
                                              "partition?"]),
            (("cpus = 1", 'cpus = "1"'), [":5:8: node.cpus: expected an integer, got a string"]),
            (("700MiB", "lots"), [":6:10: node.memory: expected a size"]),
            (("10min", "soon"), [":9:8: limits.time: expected a time"]),
            (("requeues = 3", "requeues = -1\nnodse = 1"), ["2 errors", "limits.requeues: must be",
                                                           "did you mean nodes?"]),
            (('"test"', '"te st"'), [":1:13: partition: expected a name without blanks"]),
            (("[launcher]", '[launcher]\nname = "ssh"'), ["launcher.name: unknown value",
                                                          "mpirun"]),
            (("[launcher]", "[launcher"), [":13:"]),
            (("[node]", '[node]\ngpus = 2'), ["node.gpu_memory is missing"])]:
        case.write("site.toml", site.replace(*change))
        done = case.submit()
        case.expect(done.returncode == 2 and all(word in done.stderr for word in words)
                    and "the site file is wrong (site.toml)" in done.stderr,
                    f"{change}: exit {done.returncode}, wanted {words}", done.stderr)
    case.write("site.toml", site)
    for arguments, code, words in [
            (["--array", "2"], 2, ["one dataset", "[batch]"]),
            (["--throttle", "2"], 2, ["--throttle", "--array"]),
            (["--nodes", "3"], 2, ["limits.nodes"]),
            (["--time", "20min"], 2, ["limits.time"]),
            (["--backend", "cuda"], 2, ["GPUs", "site.toml"]),
            (["--profile", "job.toml"], 3, ["job.toml", "no report"]),
            (["--set", 'input.file="none.h5"'], 3, ["none.h5"])]:
        done = case.submit(*arguments)
        case.expect(done.returncode == code and all(word in done.stderr for word in words),
                    f"{arguments}: exit {done.returncode}, wanted {code} {words}", done.stderr)
    case.expect(not (case.folder / "logs").exists(), "nothing is written")
    dry = case.submit("--dry-run")
    case.expect(dry.returncode == 0 and "sbatch --parsable" in dry.stdout, "a dry run", dry.stderr)
    case.expect(not (case.folder / "logs").exists(), "a dry run writes nothing")
    without = case.submit(PATH="/nowhere")
    case.expect(without.returncode == 6 and "not on the PATH" in without.stderr, "no sbatch",
                without.stderr)
    case.write("site.toml", site.replace('"test"', '"nosuch"'))
    done = case.submit()
    case.expect(done.returncode == 6 and "invalid partition specified: nosuch" in done.stderr,
                "sbatch says why not", done.stderr)


def profiled(suite):
    """The time limit from what a run of such a job took."""
    case = Case(suite, "profiled")
    subprocess.run([suite.runner, "job.toml", "--quiet", "--report", "r.json"], cwd=case.folder,
                   check=True)
    case.write("r.json", re.sub(r'"wall_seconds": [0-9.e-]+', '"wall_seconds": 100',
                                (case.folder / "r.json").read_text()))
    dry = case.submit("--dry-run", "--profile", "r.json", "--set", 'output.file="b.h5"')
    # Twice 100 s, a minute, and the 20 s before the limit, in whole minutes.
    case.expect("#SBATCH --time=0-00:05:00" in dry.stdout, "five minutes", dry.stdout + dry.stderr)


def templates(suite):
    """Those of slurm/, with this cluster's names over theirs."""
    case = Case(suite, "templates")
    case.write("batch.toml", BATCH)
    (case.folder / "scans").mkdir()
    for i in range(2):
        (case.folder / f"scans/s{i}.h5").write_bytes((suite.folder / "in.h5").read_bytes())
    environment = {**os.environ,
                   "PATH": f"{pathlib.Path(suite.runner).parent}:{os.environ['PATH']}"}

    def sbatch(*words):
        done = subprocess.run(["sbatch", "--parsable", "--partition=test", *words],
                              cwd=case.folder, capture_output=True, text=True, env=environment)
        case.expect(done.returncode == 0, f"sbatch {words}", done.stderr)
        return done.stdout.strip()

    for path in (ROOT / "slurm").glob("*.sbatch"):
        done = subprocess.run(["bash", "-n", path], capture_output=True, text=True)
        case.expect(done.returncode == 0, f"{path} is a script", done.stderr)
    small = ["--ntasks-per-node=2", "--gpus-per-node=2", "--cpus-per-task=1", "--mem=600M"]
    run = sbatch(*small, "--nodes=2", str(ROOT / "slurm/run.sbatch"), "job.toml")
    tasks = sbatch(*small, "--array=0-1%1", str(ROOT / "slurm/batch_array.sbatch"), "batch.toml")
    summary = sbatch("--mem=300M", f"--dependency=afterany:{tasks}",
                     str(ROOT / "slurm/batch_summary.sbatch"), "out")
    case.expect(ended(run)["JobState"] == "COMPLETED", "run.sbatch")
    case.same_bytes()
    case.expect(ended(summary)["JobState"] == "COMPLETED", "batch_array and its summary",
                "".join(path.read_text() for path in case.folder.glob("*.out")))
    for i in range(2):
        case.expect((case.folder / f"out/s{i}.h5").exists(), f"out/s{i}.h5")


def killed_daemon(suite, cluster):
    """A slurmd that dies and comes again: the job is not touched."""
    case = Case(suite, "daemon", partition="spare", program=suite.slow(0.1))
    number, = case.submitted("--nodes", "2")
    wait_for_rows(case)
    cluster.kill_slurmd("n4")
    job = ended(number)
    case.expect((job["JobState"], job["Restarts"]) == ("COMPLETED", "0"), "undisturbed",
                str(job) + case.logs())
    case.same_bytes()


def killed_node(suite, cluster):
    """A node that goes down: Slurm requeues the job, and it resumes when there are nodes."""
    case = Case(suite, "node", partition="spare", program=suite.slow(0.8, first_go()))
    number, = case.submitted("--nodes", "2")
    wait_for_rows(case)
    start = time.monotonic()
    cluster.kill_node("n4")
    wait_for(lambda: not is_running(number), "the job off the node that is gone")
    cluster.start_node("n4")
    job = ended(number)
    suite.said.append(f"node: done {time.monotonic() - start:.0f} s after it went down")
    case.expect((job["JobState"], job["Restarts"]) == ("COMPLETED", "1"),
                "completed at the second go", str(job) + case.logs())
    case.expect("resumes where a run stopped" in case.logs(), "it resumes", case.logs())
    case.same_bytes()


def preempted(suite):
    """A job whose nodes a more urgent one takes: signalled, it stops in the grace period, and resumes."""
    case = Case(suite, "preempted", partition="spare", program=suite.slow(1.0, first_go()))
    number, = case.submitted("--nodes", "2")
    wait_for_rows(case)
    done = subprocess.run(["sbatch", "--partition=urgent", "--nodes=2", "--exclusive", "-o",
                           "/dev/null", "--wrap=true"], capture_output=True, text=True)
    case.expect(done.returncode == 0, "an urgent job", done.stderr)
    job = ended(number)
    case.expect((job["JobState"], job["Restarts"]) == ("COMPLETED", "1"),
                "completed at the second go", str(job) + case.logs())
    for words in ["stopped by signal TERM", "resumes where a run stopped"]:
        case.expect(words in case.logs(), f"the log has both goes: {words}", case.logs())
    case.same_bytes()


def fragile_nodes(suite, cluster):
    """On nodes that no other case uses."""
    preempted(suite)
    killed_daemon(suite, cluster)
    killed_node(suite, cluster)


def run_all(suite, cluster):
    suite.jobs_log = lambda: (cluster.folder / "jobs.log").read_text()
    mpirun = {"launcher": 'name = "mpirun"'}
    side_by_side = [lambda: time_limit(suite, "limit"),
                    lambda: time_limit(suite, "limit-mpirun", **mpirun),
                    lambda: long_chunk(suite),
                    lambda: fragile_nodes(suite, cluster),
                    lambda: array(suite), lambda: cancelled(suite), lambda: failing(suite),
                    lambda: plain(suite), lambda: gpus(suite), lambda: broken_batch(suite),
                    lambda: templates(suite), lambda: refusals(suite), lambda: profiled(suite)]
    with concurrent.futures.ThreadPoolExecutor(len(side_by_side)) as pool:
        list(pool.map(suite.attempt, side_by_side))


def main():
    runner, shim = sys.argv[1:]
    reason = slurm_cluster.why_not()
    if reason:
        hosts.skip(reason)
    slurm_cluster.enter()
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "PMIX_MCA_gds": "hash", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                       "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"})
    sys.exit(1 if run_on(slurm_cluster.Cluster, "/run", runner, shim, run_all) else 0)


if __name__ == "__main__":
    main()
