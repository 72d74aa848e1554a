"""What stands in the output's place.

A complete output is left as it is; parts of a run that had committed nothing are replaced, those of
another job's committed rows never; `output.overwrite` deletes nothing that the program did not make.
Every refusal is one message with the name of the file that stands in the way.
"""
import os
import pathlib
import signal
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD, stopped, wait_until
from faulty_runs import finish, job_folder, picked, Program, with_fault
from harness import Findings

pytestmark = pytest.mark.faults
CONVOLVE = '''kind = "convolve"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out/{file}"
{output}
[run]
chunk_rows = 40
lanes = 2
commit_seconds = {commit}
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [0.1, 0.2, 0.4, 0.2, 0.1]
'''
OTHERS = {
    "transpose.h5": ("volume", 'dataset = "/a/turned"', "[transpose]\npermutation = [1, 0, 2]"),
    "match.h5": ("volume", 'dataset = "/found"',
                 "[match]\npatch = [3, 3, 3]\nwindow = [5, 5, 5]\ncount = 4"),
    "denoise.h5": ("volume", "", "[denoise]\npatch = [3, 3, 3]\nwindow = [5, 5, 5]\ncount = 4\n"
                   "sigma = 0.1"),
    "sand.h5": ("cells", 'dataset = "/run/frames"', "[sand]\ngenerations = 30\nsnapshot_every = 10"),
    "sand.sand": ("cells", "", "[sand]\ngenerations = 30\nsnapshot_every = 10"),
    "transpose.npy": ("volume", "", "[transpose]\npermutation = [1, 0, 2]"),
    "denoise.tif": ("volume", "", "[denoise]\npatch = [3, 3, 3]\nwindow = [5, 5, 5]\ncount = 4\n"
                    "sigma = 0.1"),
}
BESIDE = (".sand", ".npy", ".tif")  # formats whose outputs have their record in a file beside them
OVERWRITE = ["--set", "output.overwrite=true"]


def write_job(name, output="", commit=0):
    """The job that makes out/NAME."""
    if name not in OTHERS:
        text = CONVOLVE.format(file=name, output=output, commit=commit)
    else:
        dataset, lines, table = OTHERS[name]
        kind = table[1:table.index("]")]
        text = (f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/{dataset}"\n'
                f'[output]\nfile = "out/{name}"\n{lines}\n{output}\n{table}\n')
    pathlib.Path("job.toml").write_text(text)


def state():
    """All that is in the folder but locks, which a killed run leaves and the next one removes:
    names, inodes, times and bytes."""
    found = {}
    for path in sorted(pathlib.Path("out").rglob("*")):
        if path.name.endswith(".lock"):
            continue
        status = path.lstat()
        found[str(path)] = (status.st_ino, status.st_mtime_ns,
                            path.read_bytes() if path.is_file() and status.st_size < 1e7 else None)
    return found


def clear():
    subprocess.run(["rm", "-rf", "out"], check=True)
    os.mkdir("out")


class Places(Findings):
    program = Program()

    def loud(self, arguments=(), verb=()):
        """A run that is not quiet: (exit code, what it printed)."""
        done = subprocess.run([self.program.runner, *verb, "job.toml", *arguments], timeout=GUARD,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def good(self, what, arguments=(), words=(), ranks=0, **options):
        code, text = self.program.run([*arguments], ranks, **options)
        return self.expect(code == 0 and all(word in text for word in words),
                           f"{what}: exit {code}, wanted 0 {words}", text)

    def refused(self, what, code, words, arguments=(), verb=()):
        """One message with these words, and nothing is touched."""
        before = state()
        got, text = self.loud(arguments, verb)
        right = got == code and all(word in text for word in words)
        right = right and text.count("runner: error: ") == 1
        self.expect(right, f"{what}: exit {got}, wanted {code} {words}", text)
        self.expect(state() == before, f"{what}: something was touched", text)

    def untouched(self, what, arguments=(), ranks=0):
        """The same command says that the output is complete, and touches nothing."""
        before = state()
        code, text = self.program.run([*arguments, "--report", "r.json", "--trace", "t.json"],
                                      ranks)
        self.expect(code == 0 and "no report or trace is written" in text,
                    f"{what}, again: exit {code}", text)
        self.expect(not os.path.exists("r.json") and not os.path.exists("t.json"),
                    f"{what}: there is a report of a run that did nothing")
        code, text = self.loud(arguments)
        self.expect(code == 0 and "is complete already" in text, f"{what}, again: exit {code}", text)
        self.expect(state() == before, f"{what}: something was touched", text)

    def complete(self):
        """Every kind, on one rank and two."""
        for name in ["out.h5", *OTHERS]:
            for ranks in [0, 2]:
                clear()
                write_job(name)
                if not self.good(f"{name} on {ranks} ranks", ranks=ranks):
                    continue
                self.untouched(f"{name} on {ranks} ranks", ranks=ranks)
                self.untouched(f"{name}, as required", ["--resume", "require"])
                self.refused(f"{name} never", 4, ["complete", 'run.resume = "never"', "overwrite"],
                             ["--resume", "never"])
                before = state()[f"out/{name}"]
                self.good(f"{name} made again", OVERWRITE, ranks=ranks)
                self.expect(state()[f"out/{name}"][0] != before[0], f"{name} is not made again")
        clear()
        write_job("out.h5", 'chunk = [40, 90]\ncompression = "deflate"')
        self.good("compressed")
        self.untouched("compressed")
        self.untouched("run in another way", ["--set", "run.lanes=3", "--set", "name='x'"])

    def differs(self):
        """The output of another job, or of an input that has changed since."""
        for name, other, words in [
                ("out.h5", 'convolve.boundary="wrap"', ['convolve.boundary was "reflect"']),
                ("sand.sand", "sand.generations=40", ["sand.generations was 30, is 40"])]:
            clear()
            os.utime("in.h5")
            write_job(name)
            self.good(name)
            self.refused(f"{name} of another job", 4, ["of another job", name, *words, "overwrite"],
                         ["--set", other])
            os.utime("in.h5", ns=(10**18, 1700000000 * 10**9 + 7))
            self.refused(f"{name}, changed input", 4,
                         ["the input has changed since", "is 2023-11-14T22:13:20.000000007Z",
                          "overwrite"])
            self.good(f"{name}, another job", ["--set", other, *OVERWRITE])
            self.untouched(f"{name}, another job", ["--set", other])
        pathlib.Path("out/sand.sand").write_bytes(pathlib.Path("out/sand.sand").read_bytes())
        self.refused("a .sand file that was written to", 4, ["nothing is known", "overwrite"],
                     ["--set", "sand.generations=40"])
        pathlib.Path("out/sand.sand.identity").write_bytes(b"\xff" * 100)
        self.refused("a damaged record", 4, ["nothing is known"], ["--set", "sand.generations=40"])
        self.refused("a record that may be another's", 4, ["sand.sand.identity", "no record"],
                     ["--set", "sand.generations=40", *OVERWRITE])
        pathlib.Path("out/sand.sand.identity").unlink()
        self.good("without its record, overwritten", ["--set", "sand.generations=40", *OVERWRITE])
        self.untouched("without its record, overwritten", ["--set", "sand.generations=40"])

    def killed_at_the_end(self):
        """Between the renaming and the journal's removal: only that is left to do."""
        for name in ["out.h5", "match.h5", "sand.h5", "sand.sand", "transpose.npy", "denoise.tif"]:
            kills = [f"unlink:kill@1:{name}.journal", f"unlink:kill@2:{name}.journal"]
            kills += [f"rename:kill@1:{name}.journal/record"] if name.endswith(BESIDE) else []
            for kill in kills:
                for arguments in [[], OVERWRITE]:
                    clear()
                    write_job(name)
                    code, text = self.program.run(arguments, fault=kill)
                    self.expect(code == -9 and picked(), f"{kill}: exit {code}", text)
                    self.expect(os.path.isdir(f"out/{name}.journal"), f"{kill}: no journal is left")
                    before = state()[f"out/{name}"]
                    code, text = self.loud(arguments)
                    self.expect(code == 0 and "is complete already" in text,
                                f"{kill} {arguments}: exit {code}", text)
                    wanted = {name, f"{name}.identity"} if name.endswith(BESIDE) else {name}
                    self.expect(set(os.listdir("out")) == wanted,
                                f"{kill}: leaves {os.listdir('out')}")
                    self.expect(state()[f"out/{name}"] == before, f"{kill}: the output is touched")
                    self.untouched(kill)

    def half_published(self):
        """A file system that cannot rename without replacing: a kill after the second name is made and
        before the first is removed."""
        def dies(name): # an HDF5 file is removed once while it is made
            return f"rename:EINVAL@*:.partial;unlink:kill@{2 if name.endswith('.h5') else 1}:{name}.partial"
        for name in ["out.h5", "match.h5", "sand.sand", "transpose.npy", "denoise.tif", "parts.h5"]:
            for arguments in [[], OVERWRITE, ["--resume", "never"], ["--set", 'name="x"']]:
                clear()
                if name == "parts.h5":
                    write_job(name, "parts = 3")
                else:
                    write_job(name)
                code, text = self.program.run([], fault=dies(name))
                self.expect(code == -9 and os.stat(f"out/{name}").st_nlink == 2,
                            f"{name} is half published: exit {code}", text)
                before = state()[f"out/{name}"]
                code, text = self.loud(arguments)
                if arguments == ["--resume", "never"]: # of a complete output
                    self.expect(code == 4 and "it is complete" in text, f"never: {code}", text)
                    code, text = self.loud()
                self.expect(code == 0 and "is complete already" in text,
                            f"{name} half published {arguments}: exit {code}", text)
                wanted = {name} | ({f"{name}.identity"} if name.endswith(BESIDE) else set())
                wanted |= {"parts.parts"} if name == "parts.h5" else set()
                self.expect(set(os.listdir("out")) == wanted, f"leaves {os.listdir('out')}")
                self.expect(state()[f"out/{name}"] == before, f"{name}: it is made again")
                self.untouched(f"{name}, once half published")
        # Not what others have given a second name.
        self.fail_with_rows()
        os.link("out/out.h5.partial", "out/out.h5")
        self.refused("a name of an unfinished output", 4, ["out.h5.partial", "no finished output"])
        os.unlink("out/out.h5")
        self.good("the other name removed")

    def half_published_otherwise(self):
        """The same by the other verbs that publish."""
        for verb in [["convert", "in.h5:/image", "out/made.npy"],
                     ["generate", "noise", "out/made.npy", "--shape", "9,9", "--dtype", "uint8"]]:
            for again in [[], ["--overwrite"]] if verb[0] == "convert" else [[]]:
                clear()
                subprocess.run(with_fault([self.program.runner, *verb], self.program.runner,
                                          "rename:EINVAL@*:.partial;unlink:kill@1:made.npy.partial"),
                               timeout=GUARD, capture_output=True)
                self.expect(os.stat("out/made.npy").st_nlink == 2, f"{verb} is half published")
                done = subprocess.run([self.program.runner, *verb, *again], timeout=GUARD,
                                      capture_output=True, text=True)
                self.expect(done.returncode == (0 if again else 4) and os.listdir("out") == ["made.npy"],
                            f"{verb} {again}: exit {done.returncode}, {os.listdir('out')}", done.stderr)
        clear()
        write_job("out.h5")
        self.program.run([], fault="rename:EINVAL@*:.partial;unlink:kill@2:out.h5.partial")
        done = subprocess.run([self.program.runner, "repair", "out/out.h5"], timeout=GUARD,
                              capture_output=True, text=True)
        self.expect(done.returncode == 0 and os.stat("out/out.h5").st_nlink == 1, "repair", done.stderr)
        text = pathlib.Path("job.toml").read_text().replace('file = "in.h5"\n', "").replace(
            'file = "out/out.h5"\n', "") + '[batch]\ninputs = ["in.h5"]\noutput = "out/{stem}.h5"\n'
        for fault in ["rename:EINVAL@*:.partial;unlink:kill@2:in.h5.partial",
                      "write:kill@2:out/out.state/log", "write:kill@3:out/out.state/log"]:
            clear()
            pathlib.Path("job.toml").write_text(text)
            subprocess.run(with_fault([self.program.runner, "batch", "job.toml"], self.program.runner,
                                      fault.replace("out.state", "job.state")),
                           timeout=GUARD, capture_output=True)
            code, said = self.loud(verb=["batch"])
            self.expect(code == 0 and set(os.listdir("out")) == {"in.h5", "job.state"},
                        f"batch, {fault}: exit {code}, {os.listdir('out')}", said)

    def fail_with_nothing_committed(self):
        clear()
        write_job("out.h5", commit=1000)
        code, text = self.program.run([], fault="pwrite:EIO@2:out.h5.partial>=8000")
        self.expect(code == 4 and picked() and os.path.isdir("out/out.h5.journal"),
                    f"nothing committed: exit {code}", text)
        for path in pathlib.Path("out/out.h5.journal").glob("*.rows"):
            os.truncate(path, 32) # a failing run commits what it can
        write_job("out.h5")

    def nothing_committed(self):
        """Nothing is lost: the run starts over, and says so."""
        words = ["starts over", "had committed nothing"]
        for what, arguments, more in [
                ("the same job", [], []),
                ("another job", ["--set", 'convolve.boundary="wrap"'],
                 ['convolve.boundary was "reflect", is "wrap"'])]:
            for extra in [[], OVERWRITE]:
                self.fail_with_nothing_committed()
                code, text = self.loud([*arguments, *extra])
                self.expect(code == 0 and all(word in text for word in [*words, *more]),
                            f"nothing committed, {what}: exit {code}", text)
                self.expect(os.listdir("out") == ["out.h5"], f"leaves {os.listdir('out')}")
                self.untouched(what, arguments)
        self.fail_with_nothing_committed()
        os.utime("in.h5")
        code, text = self.loud()
        self.expect(code == 0 and all(word in text for word in [*words, "input.modified was 20"]),
                    f"nothing committed, the mended input: exit {code}", text)
        for damage in [b"runner journal 1\n1\nnonsense\n", b""]:
            self.fail_with_nothing_committed()
            pathlib.Path("out/out.h5.journal/identity").write_bytes(damage)
            code, text = self.loud()
            self.expect(code == 0 and all(word in text for word in [*words, "damaged"]),
                        f"nothing committed, damaged identity: exit {code}", text)
        write_job("sand.sand") # a job of another kind
        text = pathlib.Path("job.toml").read_text().replace("sand.sand", "out.h5")
        self.fail_with_nothing_committed()
        pathlib.Path("job.toml").write_text(text)
        code, text = self.loud()
        self.expect(code == 0 and 'kind was convolve, is sand' in text and "more" in text,
                    f"nothing committed, another kind: exit {code}", text)

    def fail_with_rows(self):
        clear()
        os.utime("in.h5")
        write_job("out.h5")
        self.program.run([], fault="fdatasync:kill@5:out.h5")
        sizes = [path.stat().st_size for path in pathlib.Path("out/out.h5.journal").glob("*.rows")]
        self.expect(max(sizes, default=0) > 32, f"rows are committed: {sizes}")

    def committed(self):
        """Rows of another job are never lost without a word; three differences are named."""
        self.fail_with_rows()
        mine = pathlib.Path("job.toml").read_text()
        write_job("sand.sand")
        pathlib.Path("job.toml").write_text(
            pathlib.Path("job.toml").read_text().replace("sand.sand", "out.h5"))
        for arguments in [[], OVERWRITE]:
            self.refused("another kind", 4,
                         ["out.h5.partial", "kind was convolve, is sand", "; and ", " more",
                          "Finish that job", '"never"', "out.h5.journal"], arguments)
            _, text = self.loud(arguments)
            self.expect(text.count(" was ") == 3, "three differences are named", text)
        pathlib.Path("job.toml").write_text(mine)
        before = os.stat("in.h5").st_mtime_ns
        os.utime("in.h5", ns=(10**18, 1700000000 * 10**9 + 7))
        for arguments in [[], OVERWRITE]:
            self.refused("another input", 3, ["the input has changed", "was 20",
                                              "is 2023-11-14T22:13:20.000000007Z", '"never"'],
                         arguments)
        os.utime("in.h5", ns=(before, before))
        self.good("the input as it was")

    def foreign(self):
        """Whatever somebody put beside the output stays."""
        def named_type(file):
            file["mine"] = np.dtype("f4")
        additions = {
            "/extra": lambda file: file.create_dataset("extra", data=1),
            "/notes": lambda file: file.create_group("notes"),
            "/runner/x": lambda file: file.create_dataset("runner/x", data=1),
            "/image@units": lambda file: file["image"].attrs.create("units", "m"),
            "/@comment": lambda file: file.attrs.create("comment", "mine"),
            "/soft": lambda file: file.__setitem__("soft", h5py.SoftLink("/image")),
            "/away": lambda file: file.__setitem__("away", h5py.ExternalLink("x.h5", "/x")),
            "/mine": named_type,
        }
        other = ["--set", 'convolve.boundary="wrap"']
        for name, add in additions.items():
            clear()
            write_job("out.h5")
            self.good("an output")
            with h5py.File("out/out.h5", "a") as file:
                add(file)
            for arguments in [OVERWRITE, [*OVERWRITE, *other], [*OVERWRITE, "--resume", "never"]]:
                self.refused(f"with {name}", 4, ["out.h5", f"it holds {name},", "did not make"],
                             arguments)
            self.untouched(f"with {name}")
        clear()
        with h5py.File("out/out.h5", "w") as file:
            file["theirs"] = np.arange(5)
        self.refused("a file of others", 4, ["it holds /theirs,"], OVERWRITE)
        whole = pathlib.Path("out/out.h5").read_bytes()
        pathlib.Path("out/out.h5").write_bytes(whole[:-100])
        self.refused("a truncated file", 4, ["cannot be read", "truncated", "Move"], OVERWRITE)
        pathlib.Path("out/out.h5").write_bytes(bytes(512) + whole)
        self.refused("a file with a user block", 4, ["cannot replace the file"], OVERWRITE)
        pathlib.Path("out/out.h5").write_bytes(b"no HDF5 file")
        self.refused("another file", 4, ["out.h5", "not an HDF5 file", "overwrite"])
        self.good("another file, overwritten", OVERWRITE)

    def foreign_meanwhile(self):
        """Somebody makes a file of the output's name while the run is under way."""
        clear()
        write_job("out.h5")
        running = self.program.start(OVERWRITE, fault="pwrite:stop@1:out.h5.partial>=8000")
        wait_until(lambda: stopped([running.pid]) or running.poll() is not None,
                   "a stop at the first write")
        with h5py.File("out/out.h5", "w") as file:
            file["theirs"] = np.arange(5)
        before = state()["out/out.h5"]
        os.kill(running.pid, signal.SIGCONT)
        code, text = finish(running)
        self.expect(code == 4 and "it holds /theirs," in text, f"meanwhile: exit {code}", text)
        self.expect(state()["out/out.h5"] == before, "meanwhile: their file is touched")
        os.rename("out/out.h5", "theirs.h5")
        code, text = self.loud(OVERWRITE)
        self.expect(code == 0 and "120 of 120 rows" in text, f"then resumes: exit {code}", text)

    def batch(self):
        """A stale output is made again by itself, but not at the cost of others' datasets."""
        clear()
        write_job("out.h5")
        text = pathlib.Path("job.toml").read_text().replace('file = "in.h5"\n', "").replace(
            'file = "out/out.h5"\n', "") + '[batch]\ninputs = ["in.h5"]\noutput = "out/{stem}.h5"\n'
        pathlib.Path("job.toml").write_text(text)
        other = ["--set", 'convolve.boundary="wrap"']
        self.expect(self.loud(verb=["batch"])[0] == 0, "a batch")
        self.expect(self.loud(other, verb=["batch"])[0] == 0, "a stale batch")
        with h5py.File("out/in.h5", "a") as file:
            file["extra"] = 1
        before = pathlib.Path("out/in.h5").read_bytes()
        for arguments in [[], OVERWRITE]:
            code, text = self.loud(arguments, verb=["batch"])
            self.expect(code == 4 and "it holds /extra," in text, f"stale: exit {code}", text)
        self.expect(pathlib.Path("out/in.h5").read_bytes() == before, "a batch touches it")
        code, text = self.loud(other, verb=["batch"])
        self.expect(code == 0, f"done with another's dataset: exit {code}", text)

    def in_the_way(self):
        """Folders where files go, and the other way round, with a way on in the message."""
        for arguments in [[], OVERWRITE, ["--resume", "never"]]:
            clear()
            write_job("out.h5")
            os.makedirs("out/out.h5.partial/kept")
            self.refused("a folder in the way", 4, ["(out/out.h5.partial)", "folder", "rename"],
                         arguments)
        clear()
        pathlib.Path("out/out.h5.journal").write_text("mine")
        self.refused("a journal that is a file", 4, ["(out/out.h5.journal)", "not a folder"])
        clear()
        write_job("sand.sand")
        os.makedirs("out/sand.sand.identity/kept")
        self.refused("a record that is a folder", 4, ["(out/sand.sand.identity)", "folder"])

    def huge(self):
        """Files of 1 TiB that hold nothing are refused by their size."""
        self.fail_with_rows()
        journal = pathlib.Path("out/out.h5.journal")
        identity = (journal / "identity").read_bytes()
        os.truncate(journal / "identity", 2**40)
        self.refused("a huge identity", 4, ["journal/identity", "1.00 TiB", '"never"'])
        (journal / "identity").write_bytes(identity)
        rows = max(journal.glob("*.rows"), key=lambda path: path.stat().st_size)
        os.truncate(rows, 2**40)
        code, text = self.loud()
        self.expect(code == 4 and f"({rows})" in text and "1.00 TiB" in text and '"never"' in text,
                    f"huge rows: exit {code}", text)
        self.good("huge rows, never", ["--resume", "never"])
        self.fail_with_nothing_committed()
        os.truncate("out/out.h5.journal/identity", 2**40)
        code, text = self.loud()
        self.expect(code == 0 and "damaged" in text, f"huge, nothing committed: exit {code}", text)
        clear()
        write_job("sand.sand")
        self.good("sand")
        os.truncate("out/sand.sand.identity", 2**40)
        self.refused("a huge record", 4, ["nothing is known"])

    def many_errors(self):
        write_job("out.h5")
        lines = "".join(f"k{i} = 1\n" for i in range(110000))
        text = pathlib.Path("job.toml").read_text().replace("[convolve]\n", "[convolve]\n" + lines)
        pathlib.Path("job.toml").write_text(text[:2**20 - 10].rsplit("\n", 1)[0] + "\n")
        code, text = self.loud()
        self.expect(code == 2 and len(text) < 10000 and len(text.splitlines()) == 22
                    and text.endswith(" more\n"),
                    f"many errors: exit {code}, {len(text)} bytes", text[:3000])


@pytest.fixture(scope="module", autouse=True)
def folder():
    with job_folder() as path:
        rng = np.random.default_rng(5)
        with h5py.File("in.h5", "w") as file:
            file["image"] = rng.random((120, 90), dtype=np.float32)
            file["volume"] = rng.random((6, 12, 14), dtype=np.float32)
            file["cells"] = rng.integers(0, 4, (40, 36), np.uint8)
        yield path


@pytest.fixture(name="places")
def make_places():
    return Places()


@pytest.mark.parametrize("part", ["complete", "differs", "killed_at_the_end", "half_published",
                                  "half_published_otherwise", "nothing_committed", "committed",
                                  "foreign", "foreign_meanwhile", "batch", "in_the_way", "huge", "many_errors"])
def test_part(places, part):
    getattr(places, part)()
