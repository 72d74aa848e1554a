"""Names that lead elsewhere, and files of others.

What the program writes beside what the user named follows no link and replaces nobody's file. The
precious file holds the same bytes after every case.
"""
import json
import os
import pathlib
import signal
import subprocess
import threading

import h5py
import numpy as np
import pytest

from events import GUARD, release, wait_for_held
from faulty_runs import start_held, with_fault
from harness import attempt, programs

pytestmark = pytest.mark.quick

PRECIOUS = b"years of work\n" * 50
JOB = """kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out.h5"
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [1.0]
"""
SITE = """partition = "p"
[node]
cpus = 2
memory = "1GiB"
[limits]
time = "1h"
"""


@pytest.fixture(autouse=True)
def files(folder):
    pathlib.Path("precious").write_bytes(PRECIOUS)
    pathlib.Path("job.toml").write_text(JOB)
    with h5py.File("in.h5", "w") as file:
        file["image"] = np.arange(2400, dtype="f4").reshape(60, 40)


def precious():
    return pathlib.Path("precious").read_bytes()


def trap(name, kind):
    """Something under the name that leads to the precious file, or is one."""
    pathlib.Path(name).parent.mkdir(exist_ok=True)
    if kind == "symbolic":
        os.symlink(os.path.abspath("precious"), name)
    elif kind == "dangling":
        os.symlink(os.path.abspath("new"), name)
    elif kind == "hard":
        os.link("precious", name)
    elif kind == "fifo":
        os.mkfifo(name)
    else:
        pathlib.Path(name).write_bytes(PRECIOUS)


def check_trap(name, kind):
    assert precious() == PRECIOUS, f"{name}, {kind}: the precious file has changed"
    assert not os.path.exists("new"), f"{name}, {kind}: a link was followed to a new file"
    if kind in ("symbolic", "dangling"):
        assert os.path.islink(name), f"{name}: the link is gone"
    elif kind == "fifo":
        assert pathlib.Path(name).is_fifo(), f"{name}: the FIFO is gone"
    else:
        assert pathlib.Path(name).read_bytes() == PRECIOUS, f"{name}, {kind}: it has changed"


# A command, its exit code when it is refused, and a name that it would write.
REFUSED = [
    (["job.toml"], "out.h5.partial"),
    (["job.toml"], "out.h5.partial.layout"),
    (["job.toml"], "out.h5.lock"),
    (["convert", "in.h5:/image", "out.npy"], "out.npy.partial"),
    (["convert", "in.h5:/image", "out.npy"], "out.npy.lock"),
    (["convert", "in.h5:/image", "out.tif"], "out.tif.partial"),
    (["convert", "in.h5:/image", "out.h5"], "out.h5.partial"),
    (["generate", "noise", "made.h5", "--shape", "9,9", "--dtype", "uint8"], "made.h5.partial"),
    (["generate", "noise", "made.h5", "--shape", "9,9", "--dtype", "uint8"], "made.h5.lock"),
    (["job.toml"], "out.h5.partial.shard-1-0"),
    (["convert", "in.h5:/image", "out.h5"], "out.h5.partial.shard-1-0"),
]


@pytest.mark.share(0.4)
@pytest.mark.parametrize("kind", ["symbolic", "dangling", "hard", "fifo", "file"])
@pytest.mark.parametrize("arguments, name", REFUSED)
def test_links_and_files_of_others(arguments, name, kind):
    trap(name, kind)
    before = sorted(os.listdir())
    done = attempt(*arguments)
    assert done.returncode == 4, f"{arguments}, {name}, {kind}: {done.returncode} {done}"
    assert done.stderr.count("runner: error: ") == 1 and name in done.stderr, done.stderr
    check_trap(name, kind)
    assert sorted(os.listdir()) == before, f"{arguments}, {name}: {os.listdir()}"


def test_batches_files():
    text = JOB.replace('file = "in.h5"\n', "").replace('[output]\nfile = "out.h5"', '''[batch]
inputs = ["in*.h5"]
output = "made/{stem}.h5"
state = "state"''')
    pathlib.Path("batch.toml").write_text(text)
    trap("made/in.h5.partial", "symbolic")
    done = attempt("batch", "batch.toml")
    assert done.returncode == 4 and "in.h5.partial" in done.stderr, done
    check_trap("made/in.h5.partial", "symbolic")
    os.unlink("made/in.h5.partial")
    # The list of datasets replaces one that is there, and nothing else.
    os.rename("state/datasets.jsonl", "list")
    os.link("precious", "state/datasets.jsonl")
    done = attempt("batch", "batch.toml")
    assert precious() == PRECIOUS and done.returncode == 4, done
    assert "state/datasets.jsonl" in done.stderr and "no list of a batch" in done.stderr, done
    assert not os.path.exists("made/in.h5")
    os.rename("list", "state/datasets.jsonl")
    done = attempt("batch", "batch.toml")
    assert done.returncode == 0 and "1 done" in attempt("status", "state").stdout, done


def test_the_journals_folder():
    os.mkdir("elsewhere")
    pathlib.Path("elsewhere/identity").write_bytes(PRECIOUS)
    os.symlink("elsewhere", "out.h5.journal")
    done = attempt("job.toml")
    assert done.returncode == 4 and "out.h5.journal" in done.stderr, done
    assert pathlib.Path("elsewhere/identity").read_bytes() == PRECIOUS
    os.unlink("out.h5.journal")
    os.mkdir("out.h5.journal")
    pathlib.Path("out.h5.journal/diary.txt").write_bytes(PRECIOUS)
    done = attempt("job.toml")
    assert done.returncode == 4 and "diary.txt" in done.stderr, done
    assert os.listdir("out.h5.journal") == ["diary.txt"]
    pathlib.Path("out.h5.journal/diary.txt").unlink()
    pathlib.Path("out.h5.journal").rmdir()
    # Within a journal: whatever is there under a name of ours may go, what it leads to stays.
    for name in ["identity", "identity.new", "alive-0", "1-rank-0.rows", "stop"]:
        os.mkdir("out.h5.journal")
        os.symlink(os.path.abspath("precious"), f"out.h5.journal/{name}")
        attempt("job.toml", "--resume", "never")
        assert precious() == PRECIOUS, name
        subprocess.run(["rm", "-rf", "out.h5.journal", "out.h5", "out.h5.partial"], check=True)


def test_reports_and_traces():
    for option, name in [("--report", "r.json"), ("--report", "r.html"), ("--trace", "t.json")]:
        os.symlink("precious", name)
        done = attempt("job.toml", option, name)
        assert done.returncode == 4 and "symbolic link" in done.stderr, done
        assert precious() == PRECIOUS and os.path.islink(name) and not os.path.exists("out.h5")
        os.unlink(name)
        # A second name of the precious file becomes a file of its own.
        os.link("precious", name)
        trap(name + ".partial", "symbolic")
        done = attempt("job.toml", option, name)
        assert done.returncode == 0, done
        assert precious() == PRECIOUS and pathlib.Path(name).read_bytes() != PRECIOUS
        check_trap(name + ".partial", "symbolic")
        for used in [name, name + ".partial", "out.h5"]:
            os.unlink(used)


def test_what_is_no_file():
    assert attempt("job.toml", "--trace", "/dev/null").returncode == 0
    os.unlink("out.h5")
    done = attempt("job.toml", "--quiet", "--trace", "/dev/stdout")
    assert done.returncode == 0 and json.loads(done.stdout)["traceEvents"], done
    os.unlink("out.h5")
    with open("all", "wb") as file:  # behind what is there already
        file.write(b"before\n")
        file.flush()
        done = subprocess.run([programs.runner, "job.toml", "--trace", "/dev/stdout"], stdout=file,
                              stderr=subprocess.PIPE, check=True, timeout=GUARD)
    assert pathlib.Path("all").read_bytes().startswith(b"before\n{"), "standard output was cut"
    os.unlink("out.h5")
    os.mkfifo("pipe.json")
    taken = []
    reader = threading.Thread(target=lambda: taken.append(pathlib.Path("pipe.json").read_bytes()), daemon=True)
    reader.start()
    done = attempt("job.toml", "--report", "pipe.json")
    reader.join(timeout=GUARD)
    assert done.returncode == 0 and json.loads(taken[0])["job"], done
    assert pathlib.Path("pipe.json").is_fifo()


def test_pictures_and_scripts():
    os.symlink("precious", "a.png")
    done = attempt("render", "in.h5:/image", "a.png")
    assert done.returncode == 4 and "symbolic link" in done.stderr and precious() == PRECIOUS, done
    os.unlink("a.png")
    os.link("precious", "a.png")
    done = attempt("render", "in.h5:/image", "a.png")
    assert done.returncode == 4 and "did not make it" in done.stderr and precious() == PRECIOUS, done
    os.unlink("a.png")
    os.link("precious", "b.png")
    pathlib.Path("a.png").touch()  # nothing is lost with an empty file
    assert attempt("render", "in.h5:/image", "a.png").returncode == 0
    assert precious() == PRECIOUS and pathlib.Path("a.png").read_bytes()[1:4] == b"PNG"
    pathlib.Path("site.toml").write_text(SITE)
    trap("logs/job.sbatch", "symbolic")
    done = attempt("submit", "job.toml", "--site", "site.toml")
    assert done.returncode == 4 and "job.sbatch" in done.stderr, done
    check_trap("logs/job.sbatch", "symbolic")


def test_what_a_kill_leaves_is_taken_over():
    """A lock that nobody holds says that the parts beside it are this program's. One without text proves
    nothing."""
    for text in [b"", b"runner lo", b"runner lock: x", b"\0" * 30]:
        for arguments, output in [(["job.toml"], "out.h5"),
                                  (["convert", "in.h5:/image", "out.npy"], "out.npy")]:
            pathlib.Path(output + ".partial").write_bytes(PRECIOUS)
            pathlib.Path(output + ".lock").write_bytes(text)
            done = attempt(*arguments)
            assert done.returncode == 4 and output + ".partial" in done.stderr, (text, done)
            assert pathlib.Path(output + ".partial").read_bytes() == PRECIOUS
            os.unlink(output + ".partial")
    owner = b"runner lock: process 1 on a host that went down\n"
    for arguments, output in [(["job.toml"], "out.h5"),
                              (["convert", "in.h5:/image", "out.npy"], "out.npy")]:
        pathlib.Path(output + ".partial").write_bytes(PRECIOUS)
        pathlib.Path(output + ".lock").write_bytes(owner)
        done = attempt(*arguments)
        assert done.returncode == 0 and os.path.exists(output), done
        assert not os.path.exists(output + ".lock") and not os.path.exists(output + ".partial")
        os.unlink(output)
    # A run that has been killed, itself.
    killed = subprocess.run(with_fault([programs.runner, "job.toml"], programs.runner,
                                       "pwrite:kill@1:out.h5.partial"), timeout=GUARD)
    assert killed.returncode == -signal.SIGKILL and os.path.exists("out.h5.partial"), killed
    done = attempt("job.toml")
    assert done.returncode == 0 and not os.path.exists("out.h5.partial"), done
    os.unlink("out.h5")
    # A job that stopped keeps its parts from other programs.
    os.mkdir("out.h5.journal")
    pathlib.Path("out.h5.partial").write_bytes(PRECIOUS)
    done = attempt("convert", "in.h5:/image", "out.h5")
    assert done.returncode == 4 and "resumed" in done.stderr, done
    assert pathlib.Path("out.h5.partial").read_bytes() == PRECIOUS


def test_a_journal_that_holds_nothing_proves_nothing():
    pathlib.Path("out.h5.partial").write_bytes(PRECIOUS)
    os.mkdir("out.h5.journal")
    done = attempt("job.toml")
    assert done.returncode == 4 and "out.h5.partial" in done.stderr, done
    assert pathlib.Path("out.h5.partial").read_bytes() == PRECIOUS


def test_files_named_like_shards_stay():
    """Names that only begin like those of compressed chunks."""
    names = ["out.h5.partial.shard-notes", "out.h5.partial.shard-1", "out.h5.partial.shard-1-0.txt"]
    for name in names:
        pathlib.Path(name).write_bytes(PRECIOUS)
    pathlib.Path("out.h5.lock").write_bytes(b"runner lock: process 1 on a host that went down\n")
    done = attempt("job.toml", "--set", "output.chunk=[20,40]", "--set", 'output.compression="deflate"')
    assert done.returncode == 0, done
    for name in names:
        assert pathlib.Path(name).read_bytes() == PRECIOUS, name


@pytest.mark.share(0.4)
@pytest.mark.parametrize("name", ["out.npy", "out.tif"])
@pytest.mark.parametrize("kind", ["file", "symbolic", "dangling", "hard", "fifo"])
def test_the_record_of_others(name, kind):
    """OUT.identity is checked as the output is, before anything is written."""
    trap(name + ".identity", kind)
    job = ["job.toml", "--set", f'output.file="{name}"']
    before = sorted(os.listdir())
    for more in [[], ["--set", "output.overwrite=true"], ["--resume", "never"]]:
        done = attempt(*job, *more)
        assert done.returncode == 4 and name + ".identity" in done.stderr, (more, done)
        check_trap(name + ".identity", kind)
        assert sorted(os.listdir()) == before, os.listdir()
    os.unlink(name + ".identity")
    # That of an output, whether it is there or not, may be replaced.
    assert attempt(*job).returncode == 0
    os.unlink(name)
    done = attempt(*job, "--set", 'convolve.boundary="wrap"')
    assert done.returncode == 0 and "complete already" not in done.stderr, done
    assert "wrap" in pathlib.Path(name + ".identity").read_text()
    # And not, once others have written there: neither a batch nor the end of a run replaces it.
    pathlib.Path(name + ".identity").write_bytes(PRECIOUS)
    done = attempt(*job, "--set", "output.overwrite=true")
    assert done.returncode == 4 and os.path.exists(name), done
    check_trap(name + ".identity", "file")


def test_a_record_that_comes_meanwhile():
    command = [programs.runner, "job.toml", "--set", 'output.file="out.npy"']
    run = start_held(command, programs.runner, "pwrite", "1:out.npy.partial>=1000")
    assert wait_for_held(run)
    pathlib.Path("out.npy.identity").write_bytes(PRECIOUS)
    release()
    _, text = run.communicate(timeout=GUARD)
    assert run.returncode == 4 and "out.npy.identity" in text, text
    check_trap("out.npy.identity", "file")
    assert not os.path.exists("out.npy")
    os.unlink("out.npy.identity")
    assert attempt(*command[1:]).returncode == 0


PASSES = """[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out.h5"
[[step]]
kind = "convolve"
row_taps = [1.0]
column_taps = [1.0]
[[step]]
kind = "transpose"
permutation = [1, 0]
"""


def pass_files_of_others():
    """What may stand under the name of what a pass stores."""
    def copy():
        subprocess.run(["cp", "in.h5", "out.h5.pass-1.h5"], check=True)

    def another_jobs_output():
        done = attempt("job.toml", "--set", 'output.file="out.h5.pass-1.h5"')
        assert done.returncode == 0, done

    def pass_of_another():
        """Stored between the passes of another output."""
        other = [programs.runner, "passes.toml", "--set", 'output.file="other.h5"', "--set",
                 "step.1.row_taps=[0.5]"]
        done = subprocess.run(with_fault(other, programs.runner, "mkdir:kill@1:other.h5.journal"), timeout=GUARD)
        assert done.returncode == -signal.SIGKILL
        os.rename("other.h5.pass-1.h5", "out.h5.pass-1.h5")

    def output_of_the_same_step():
        job = PASSES[:PASSES.rindex("[[step]]")].replace("out.h5", "out.h5.pass-1.h5")
        pathlib.Path("step.toml").write_text(job)
        done = attempt("step.toml")
        assert done.returncode == 0, done

    def text():
        pathlib.Path("out.h5.pass-1.h5").write_bytes(PRECIOUS)

    return [copy, another_jobs_output, pass_of_another, output_of_the_same_step, text]


@pytest.mark.parametrize("make", pass_files_of_others(), ids=lambda make: make.__name__)
def test_pass_files_of_others(make):
    pathlib.Path("passes.toml").write_text(PASSES)
    place = pathlib.Path("out.h5.pass-1.h5")
    make()
    theirs = (place.read_bytes(), place.stat().st_ino)

    def stays(done, code):
        assert done.returncode == code, done
        assert (place.read_bytes(), place.stat().st_ino) == theirs, f"{make.__name__}: it has changed"

    for more in [[], ["--set", "output.overwrite=true"], ["--resume", "never"]]:
        done = attempt("passes.toml", *more)
        stays(done, 4)
        assert "out.h5.pass-1.h5" in done.stderr and not os.path.exists("out.h5"), done
    place.rename("theirs")
    assert attempt("passes.toml").returncode == 0
    os.rename("theirs", place)
    # Beside the complete output, which needs it no more.
    stays(attempt("passes.toml"), 0)
    done = attempt("verify", "out.h5", "--recompute", "2")
    stays(done, 4)
    assert "out.h5.pass-1.h5" in done.stderr, done
    os.unlink("out.h5")
    batch = PASSES.replace('file = "in.h5"\n', "").replace('file = "out.h5"', "") + \
        '[batch]\ninputs = ["in.h5"]\noutput = "out.h5"\n'
    pathlib.Path("batch.toml").write_text(batch)
    stays(attempt("batch", "batch.toml"), 4)
    os.rename(place, "theirs")
    assert attempt("batch", "batch.toml").returncode == 0
    os.rename("theirs", place)
    stays(attempt("batch", "batch.toml"), 0)


def give_away(path, mode=0o666):
    """Makes it another user's."""
    os.chmod(path, mode)
    os.chown(path, 65534, 65534)


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other users")


@AS_ROOT
@pytest.mark.parametrize("name", ["out.h5", "out.npy", "out.tif"])
@pytest.mark.parametrize("theirs", [[".partial"], [".lock"], [".partial", ".lock"], [".journal"],
                                    [".partial", ".journal"], [".partial", ".lock", ".journal"]])
def test_another_users_files(name, theirs):
    """Whatever another user has made beforehand is never this user's output."""
    for verb in [["job.toml", "--set", f'output.file="{name}"'], ["convert", "in.h5:/image", name]]:
        for text in [b"runner lock: x\n", b""]:
            for ending in theirs:
                path = pathlib.Path(name + ending)
                if ending == ".journal":
                    path.mkdir()
                    (path / "begun").write_bytes(b"")
                else:
                    path.write_bytes(text)
                give_away(path, 0o777)
            done = attempt(*verb)
            assert done.returncode == 4 and name in done.stderr, done
            assert not os.path.exists(name), f"{theirs}: it is made of what another user owns"
            for ending in theirs:
                subprocess.run(["rm", "-r", name + ending], check=True)


@AS_ROOT
def test_another_users_rows():
    """Rows are resumed from files of this user alone that others may not write to."""
    kill = [programs.runner, "job.toml", "--set", "run.commit_seconds=0", "--set", "run.chunk_rows=10",
            "--set", 'output.file="out.npy"']
    for change in [lambda path: os.chmod(path, 0o666), lambda path: os.chmod(path, 0o620),
                   lambda path: give_away(path, 0o644)]:
        killed = subprocess.run(with_fault(kill, programs.runner, "pwrite:kill@5:out.npy.partial"), timeout=GUARD)
        assert killed.returncode == -signal.SIGKILL
        for path in ["out.npy.partial", "out.npy.journal"]:
            before = os.stat(path)
            change(path)
            done = attempt(*kill[1:])
            assert done.returncode == 4 and path in done.stderr, (path, done)
            os.chown(path, before.st_uid, before.st_gid)
            os.chmod(path, before.st_mode & 0o777)
        assert attempt(*kill[1:]).returncode == 0
        os.unlink("out.npy")


def test_an_output_is_made_anew():
    """What a killed process had made in its place is not written to: it may be open elsewhere."""
    for name, verb in [("out.npy", ["job.toml", "--set", 'output.file="out.npy"']),
                       ("out.tif", ["job.toml", "--set", 'output.file="out.tif"']),
                       ("out.h5", ["job.toml"]), ("made.npy", ["convert", "in.h5:/image", "made.npy"])]:
        pathlib.Path(name + ".partial").write_bytes(PRECIOUS)
        os.chmod(name + ".partial", 0o600)
        pathlib.Path(name + ".lock").write_bytes(b"runner lock: process 1 on a host that went down\n")
        with open(name + ".partial", "rb") as opened:
            assert attempt(*verb).returncode == 0, name
            assert opened.read() == PRECIOUS and os.fstat(opened.fileno()).st_nlink == 0, name
        assert os.stat(name).st_mode == os.stat("job.toml").st_mode, name


def test_links_to_folders_are_followed():
    os.mkdir("real")
    os.symlink("real", "linked")
    done = attempt("job.toml", "--set", 'output.file="linked/out.h5"', "--report", "linked/r.json")
    assert done.returncode == 0 and sorted(os.listdir("real")) == ["out.h5", "r.json"], done


def test_repair():
    assert attempt("job.toml").returncode == 0
    whole = pathlib.Path("out.h5").read_bytes()
    with h5py.File("out.h5", "r") as file:
        at = file["image"].id.get_offset()

    def damage():
        bad = bytearray(whole)
        bad[at + 100] ^= 1
        pathlib.Path("out.h5").write_bytes(bad)

    damage()
    os.link("out.h5", "copy.h5")  # as cp -l makes a backup
    done = attempt("repair", "out.h5")
    assert done.returncode == 4 and "hard links" in done.stderr, done
    os.unlink("copy.h5")
    os.symlink("out.h5", "link.h5")
    assert attempt("repair", "link.h5").returncode == 0
    assert pathlib.Path("out.h5").read_bytes() == whole and os.path.islink("link.h5")
