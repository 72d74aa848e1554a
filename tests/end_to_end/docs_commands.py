"""Every command and job file of the documentation.

The tutorials run, command by command, as their pages say. Everywhere else a command line of runner
must be one that the program takes (its files are missing, so that it does nothing), a script must be
there, and a job file or a part of one must be one that the program takes.
"""
import ast
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import tempfile

from events import GUARD
from harness import attempt, programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Pages whose commands run in order, in one folder; and their commands that end with another code.
TUTORIALS = {"docs/first-run.md": {"runner compare": 7}, "docs/scan.md": {"runner compare": 7},
             "docs/many-files.md": {}, "docs/choose-a-denoiser.md": {}, "docs/tomography.md": {"runner compare": 7}}
BASE = {"kind": 'kind = "convolve"\n', "input": '[input]\nfile = "in.h5"\ndataset = "/x"\n',
        "output": '[output]\nfile = "out.h5"\n',
        "convolve": "[convolve]\nrow_taps = [1.0]\ncolumn_taps = [1.0]\n"}
# What the pages write for any value; "invert" is the kind that docs/adding-a-kind.md adds.
VALUES = {"VERB": "plan", "KIND": "convolve", "PATTERN": "noise", "TYPE": "uint8", "Z,Y,X": "4,4", "RANKS": "2",
          "invert": "convolve"}
# How the messages begin that refuse a command line, and a job file.
WRONG_CALL = re.compile("the command line is wrong|unknown verb|no job file is named")
WRONG_JOB = "the job file is wrong"
KINDS = ("bin", "convolve", "correct", "denoise", "fill", "match", "median", "phase", "reduce", "rescale", "sand",
         "stitch", "stripes", "transpose")


def pages():
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, check=True, capture_output=True)
    return [name for name in listed.stdout.decode().split("\0") if name]


def blocks(name):
    """The fenced blocks of a page: language, text, line."""
    text = (ROOT / name).read_text("utf-8")
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.S | re.M):
        indent = match[1]
        body = "".join(line.removeprefix(indent) for line in match[3].splitlines(keepends=True))
        yield match[2], body, text[:match.start()].count("\n") + 1


def shell_lines(body):
    """The command lines of a block, without comments; continued lines as one."""
    for line in body.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue  # a part of a multi-line command, which bash -n has read
        if words:
            yield words


def runner_calls(words):
    """The arguments of each call of runner in the words of a line."""
    calls, current = [], None
    for word in [*words, ";"]:
        if word in (";", "|", "&&", "||", "&", ">", "2>") or word.startswith((">", "<(")):
            if current is not None:
                calls.append(current)
            current = None
        elif current is not None:
            current.append(word.rstrip(";)"))
        elif word in ("runner", "build/bin/runner", "build-demo/bin/runner", "<(runner"):
            current = []
    return calls


def documented_calls():
    """(page:line, arguments, whether whole) of every call of runner, in blocks and in inline code, which
    may leave out what a call requires."""
    for name in pages():
        for language, body, line in blocks(name):
            if language == "sh":
                for words in shell_lines(body):
                    for call in runner_calls(words):
                        yield f"{name}:{line}", call, True
            elif language == "":
                for prompt in re.findall(r"^\$ (.*)", body, re.M):
                    for call in runner_calls(shlex.split(prompt, comments=True)):
                        yield f"{name}:{line}", call, True
        text = re.sub(r"^( *)```.*?^ *```$", "", (ROOT / name).read_text("utf-8"), flags=re.S | re.M)
        for code in re.findall(r"`((?:mpirun -n \d+ |srun )?runner [^`]*)`", text):
            try:
                words = shlex.split(code.replace("\\|", "|"))
            except ValueError as error:
                raise AssertionError(f"{name}: {code}: {error}") from error
            for call in runner_calls(words):
                yield name, call, False


def limit():
    """A call that would make a large file ends with an error, not by a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def test_what_refuses():
    """The messages by which the other tests see that something is wrong."""
    for call in [["plan", "job.toml", "--none"], ["none"], []]:
        assert WRONG_CALL.search(attempt(*call).stderr), call
    pathlib.Path("job.toml").write_text(completed("[input]\nfiles = 1\n"))
    assert WRONG_JOB in attempt("explain", "job.toml").stderr


def test_calls_are_taken():
    # In place of the launcher, which need not start to refuse a file that is missing.
    launcher = pathlib.Path("mpirun").absolute()
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    environment = os.environ | {"PATH": f"{launcher.parent}:{os.environ['PATH']}"}
    seen, wrong = set(), []
    for place, call, whole in documented_calls():
        # "…" stands for more; in a sentence a verb alone is its name, not a call.
        call = call[:next((i for i, word in enumerate(call) if "…" in word or word == "..."), len(call))]
        call = [VALUES.get(word, word) for word in call]
        if not call or tuple(call) in seen or (len(call) == 1 and not whole and call[0][0] != "-"):
            continue
        seen.add(tuple(call))
        with tempfile.TemporaryDirectory() as folder:
            done = attempt(*call, cwd=folder, preexec_fn=limit, stdin=subprocess.DEVNULL, env=environment)
        said = done.stderr
        refused = WRONG_CALL.search(said)
        if done.returncode < 0 or (
                refused and (whole or not re.search(r" is required\.|: 1 required \S+ missing\.", said))):
            wrong.append(f"{place}: runner {shlex.join(call)}: {done.returncode}, {said.strip()}")
    assert not wrong, "\n".join(wrong)
    assert len(seen) > 100, len(seen)


def test_shell_blocks_are_shell():
    count = 0
    for name in pages():
        for language, body, line in blocks(name):
            if language == "sh":
                count += 1
                done = subprocess.run(["bash", "-n"], input=body, capture_output=True, text=True)
                assert done.returncode == 0, f"{name}:{line}: {done.stderr}"
                for script in re.findall(r"(?:^|[\s;&])((?:scripts|bench|tests|slurm|examples|jobs)/[\w./-]+)", body):
                    assert (ROOT / script).exists(), f"{name}:{line}: there is no {script}"
            elif language == "python":
                count += 1
                ast.parse(body)
    assert count > 20, count


def completed(text):
    """A part of a job file, made whole: with a kind, an input and an output where it has none."""
    tables = set(re.findall(r"^\[+([a-z]+)", text, re.M))
    steps = "step" in tables
    top = "" if steps or re.search(r"^kind *=", text, re.M) else next(
        (f'kind = "{kind}"\n' for kind in KINDS
         if kind in tables or re.search(rf"^{kind}\.", text, re.M)), BASE["kind"])
    kind = re.search(r'^kind = "([a-z]+)"', top + text, re.M)
    whole = top + text.rstrip() + "\n"
    if steps and re.search(r"^save *=", text[text.rindex("[[step]]"):], re.M):
        whole += '[[step]]\nkind = "bin"\nfactors = [1, 1]\n'  # a saved step is not the last
    for table in ("input", "output"):
        if table not in tables and "batch" not in tables:
            whole += BASE[table]
    if "input" in tables and "batch" not in tables and not re.search(r"^(file|generate)\b", text, re.M):
        whole = whole.replace("[input]\n", '[input]\nfile = "in.h5"\n')
    if not steps and kind and kind[1] == "convolve" and "convolve" not in tables:
        whole += BASE["convolve"]
    elif not steps and kind and kind[1] not in tables:
        whole += f"[{kind[1]}]\n"
    return whole


def test_job_files_are_taken():
    count, wrong = 0, []
    for name in pages():
        for language, body, line in blocks(name):
            if language != "toml":
                continue
            count += 1
            pathlib.Path("job.toml").write_text(completed(body))
            done = attempt("explain", "job.toml")
            if WRONG_JOB in done.stderr or done.returncode < 0:
                wrong.append(f"{name}:{line}: {done.stderr}{completed(body)}")
    assert not wrong, "\n".join(wrong)
    assert count >= 25, count


def tutorial(name, codes):
    """Runs the commands of a page; they with what they print."""
    toml = [body for language, body, _ in blocks(name) if language == "toml"]
    names = re.findall(r"Save this as `([\w.-]+)`", (ROOT / name).read_text("utf-8"))
    assert len(names) == len(toml), name
    for file, body in zip(names, toml):
        pathlib.Path(file).write_text(body)
    bin_folder = pathlib.Path("bin").absolute()
    bin_folder.mkdir()
    (bin_folder / "runner").symlink_to(programs.runner)
    environment = os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}",
                                "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    told = []
    for language, body, line in blocks(name):
        if language != "sh":
            continue
        for command in body.splitlines():
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=GUARD,
                                  env=environment, executable="/bin/bash")
            expected = next((code for start, code in codes.items() if command.startswith(start)), 0)
            assert done.returncode == expected, f"{name}:{line}: {command}: {done.returncode}\n{done.stderr}"
            told.append((command, done.stdout))
    assert len(told) >= 6, name
    return told


def test_first_run():
    tutorial("docs/first-run.md", TUTORIALS["docs/first-run.md"])
    assert pathlib.Path("out/both.png").stat().st_size > 1000


def test_scan():
    tutorial("docs/scan.md", TUTORIALS["docs/scan.md"])
    assert pathlib.Path("out/scan.png").stat().st_size > 1000


def test_tomography():
    """With the job file of the repository; and what its table says."""
    pathlib.Path("jobs").symlink_to(ROOT / "jobs")
    told = tutorial("docs/tomography.md", TUTORIALS["docs/tomography.md"])
    assert pathlib.Path("out/tomography-rings.png").stat().st_size > 1000
    rows = re.findall(r"^\| .* \| ([\d.]+) dB \| ([\d.]+) \|$", (ROOT / "docs/tomography.md").read_text(), re.M)
    said = [text for command, text in told if command.startswith("runner compare")]
    assert len(rows) == len(said) == 4, rows
    for (psnr, ssim), text in zip(rows, said):
        found = {name: float(value) for name, value in re.findall(r"^(PSNR|SSIM)  ([\d.]+)", text, re.M)}
        assert abs(found["PSNR"] - float(psnr)) < 0.06 and abs(found["SSIM"] - float(ssim)) < 0.0006, text


def test_many_files():
    tutorial("docs/many-files.md", TUTORIALS["docs/many-files.md"])
    assert len(list(pathlib.Path("out").glob("*_median.h5"))) == 3


def test_choose_a_denoiser():
    """And the page quotes what the commands say."""
    page = "docs/choose-a-denoiser.md"
    told = tutorial(page, TUTORIALS[page])
    said = "\n".join(text for _, text in told).splitlines()
    quoted = [body for language, body, _ in blocks(page) if language == ""]
    assert len(quoted) == 1 and set(quoted[0].splitlines()) <= set(said), said
    assert "strength = 0.83 " in pathlib.Path("job.toml").read_text()
    assert pathlib.Path("clean.h5").exists()
