"""Names and texts that a terminal would obey.

Files, folders, datasets, attributes and jobs are named so. Whatever the program prints or logs holds
no control character but its own line breaks, every byte of it is UTF-8, no line is one that a name
began, and its JSON reads back as the name was.
"""
import json
import os
import pathlib
import re
import subprocess

import h5py
import numpy as np
import pytest

from events import GUARD
from harness import programs

FORGED = "runner: error: forged"
BAD = {
    "escape": b"a\x1b[31;1mb",
    "newline": b"a\n" + FORGED.encode(),
    "return": b"a\r" + FORGED.encode(),
    "bell": b"a\x07b",
    "not UTF-8": b"a\xff\xfeb\xe2\x1b[0m",
    "C1": "a\u009b31mb\u0085c".encode(),
    "direction": "a\u202eb\u2066c".encode(),
    "delete": b"a\x7fb",
}
JOB = """kind = "convolve"
name = {name}
[input]
file = {input}
dataset = {dataset}
[output]
file = {output}
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [1.0]
"""
BATCH = JOB.replace("file = {input}\n", "").replace("[output]\nfile = {output}", '''[batch]
inputs = ["*.h5"]
output = "made/{{stem}}.h5"
state = "state"''')
SITE = 'partition = "p"\n[node]\ncpus = 2\nmemory = "1GiB"\n[limits]\ntime = "1h"\n'


def is_bad(character):
    code = ord(character)
    return (code < 0x20 and character != "\n" or 0x7f <= code < 0xa0
            or code in (0x61c, 0x200e, 0x200f, 0x2028, 0x2029) or 0x202a <= code <= 0x202e
            or 0x2066 <= code <= 0x2069)


def check_text(text, what):
    shown = text.decode("utf-8")  # raises where it is not
    bad = [character for character in shown if is_bad(character)]
    assert not bad, f"{what}: {bad} in {shown!r}"
    assert not any(line.startswith(FORGED) for line in shown.split("\n")), f"{what}: {shown!r}"
    return shown


def call(codes, *arguments):
    done = subprocess.run([programs.runner.encode(), *map(os.fsencode, arguments)], capture_output=True,
                          timeout=GUARD)
    what = f"{arguments}: exit {done.returncode}"
    assert done.returncode in codes, f"{what}: {done}"
    check_text(done.stderr, what)
    return check_text(done.stdout, what), done.stderr.decode()


def toml(raw):
    """A TOML text; of bytes that are no UTF-8 nothing, since TOML has none."""
    try:
        return json.dumps(raw.decode("utf-8")).replace("\x7f", "\\u007f")
    except UnicodeDecodeError:
        return None


def data_verbs(raw):
    array = np.arange(2400, dtype="f4").reshape(60, 40)
    file_name = raw + b".h5"
    with h5py.File(file_name, "w") as file:
        dataset = file.create_dataset(raw, data=array)
        dataset.attrs["plain"] = np.bytes_(raw)
        dataset.attrs.create(raw, 1)
    name = file_name + b":/" + raw
    for arguments in [("inspect", file_name), ("inspect", name), ("inspect", file_name + b":/none"),
                      ("compare", name, name), ("render", name, raw + b".png"),
                      ("convert", name, raw + b".npy"), ("convert", name, raw + b".npy"),
                      ("convert", name, raw + b"/x.npy"), ("convert", raw, raw + b".npy"),
                      ("inspect", raw + b".npy"), ("compare", name, raw + b".npy"),
                      ("verify", file_name), ("repair", file_name), ("status", raw),
                      ("report", file_name), (raw,), (raw + b".toml",), ("plan", raw + b".toml"),
                      ("generate", raw, "x.h5", "--shape", "2,2", "--dtype", "uint8"), ("render", name, raw),
                      ("inspect", name, b"--" + raw), ("render", name, "x.png", "--frame", raw),
                      ("init", raw), ("run", "--set", raw)]:
        call((0, 2, 3, 4, 7), *arguments)
    for arguments in [("inspect", file_name, "--json"), ("compare", name, name, "--json")]:
        text, _ = call((0,), *arguments)
        found = json.loads(text)
        expected = raw.decode("utf-8", errors="replace")
        assert expected in json.dumps(found, ensure_ascii=False) or "\\" in json.dumps(expected), text
    return file_name


def jobs(raw, file_name):
    text = toml(raw)
    values = {"name": text or '"plain"', "input": toml(file_name) or '"in.h5"',
              "dataset": text and toml(b"/" + raw) or '"/image"',
              "output": toml(raw + b"-out.h5") or '"out.h5"'}
    if text is None:
        os.symlink(os.path.abspath(file_name), "in.h5")
        with h5py.File("in.h5", "a") as file:
            file["image"] = file[raw][...]
    job = raw + b"-job.toml"
    pathlib.Path(os.fsdecode(job)).write_text(JOB.format(**values))
    for arguments in [("explain", job), ("plan", job), (job, "--report", raw + b".json"), (job,),
                      (job, "--set", b"output.overwrite=" + raw), ("plan", job, "--json"),
                      ("report", raw + b".json"), ("report", raw + b".json", "--json"),
                      ("report", raw + b".json", "--html", raw + b".html")]:
        call((0, 2, 3, 4), *arguments)
    if text is not None:
        out = raw + b"-out.h5"
        shown, _ = call((0,), "verify", out)
        assert "all right" in shown, shown
        call((0,), "repair", out)
        json.loads(call((0,), "verify", out, "--json")[0])
        assert json.loads(pathlib.Path(os.fsdecode(raw + b".json")).read_bytes())
    wrong = raw + b"-wrong.toml"
    pathlib.Path(os.fsdecode(wrong)).write_bytes(b'kind = "' + raw + b'"\n[input]\nx = 1\n')
    call((2,), wrong)
    batch = raw + b"-batch.toml"
    pathlib.Path(os.fsdecode(batch)).write_text(BATCH.format(**values))
    for arguments in [("batch", batch, "--dry-run"), ("batch", batch), ("status", "state"),
                      ("status", "state", "--all"), ("status", "state", "--json")]:
        call((0, 2, 3, 4, 75), *arguments)


def submissions(raw):
    """From a folder of such a name: refused, or a script in which each line is one of ours."""
    folder = os.path.join(os.getcwdb(), b"from-" + raw)
    os.mkdir(folder)
    with h5py.File(os.path.join(folder, b"in.h5"), "w") as file:
        file["image"] = np.zeros((60, 40), "f4")
    pathlib.Path(os.fsdecode(folder), "job.toml").write_text(JOB.format(
        name='"job"', input='"in.h5"', dataset='"/image"', output='"out.h5"'))
    pathlib.Path("site.toml").write_text(SITE)
    there = os.getcwd()
    site = os.path.abspath("site.toml")
    os.chdir(folder)
    has_control = any(byte < 0x20 or byte == 0x7f for byte in raw)
    try:
        shown, errors = call((2,) if has_control else (0,), "submit", "job.toml", "--site", site,
                             "--dry-run")
        if has_control:
            assert "working folder" in errors and "control character" in errors, errors
            assert "SBATCH" not in shown and not os.path.exists("logs")
        else:
            assert "#SBATCH --chdir=" in shown, shown
    finally:
        os.chdir(there)


@pytest.mark.parametrize("raw", BAD.values(), ids=list(BAD))
def test_name(raw):
    jobs(raw, data_verbs(raw))
    submissions(raw)


@pytest.mark.parametrize("kind", ["job", "batch", "saved step"])
def test_a_script_has_whole_paths(kind):
    """From a folder whose name a shell would expand: every name in the script begins with its whole path."""
    os.mkdir("~")
    os.chdir("~")
    with h5py.File("in.h5", "w") as file:
        file["image"] = np.zeros((60, 40), "f4")
    values = {"name": '"job"', "input": '"in.h5"', "dataset": '"/image"', "output": '"out.h5"'}
    text = (BATCH if kind == "batch" else JOB).format(**values)
    if kind == "saved step":
        text = text.replace('kind = "convolve"\n', "").replace(
            "[convolve]", "[[step]]\nkind = 'median'\nsize = [3, 3]\nsave = 'step.h5'\n[[step]]\nkind = 'convolve'")
    pathlib.Path("job.toml").write_text(text)
    pathlib.Path("site.toml").write_text(SITE)
    shown, _ = call((0,), "submit", "job.toml", "--site", "site.toml", "--dry-run")
    names = re.findall(r"[^\s=']*(?:~|STOP|job\.toml)[^\s']*", shown.replace("### ", ""))
    assert len(names) >= 5 and all(name.startswith(os.getcwd()) for name in names), names
    stops = {"job": ["STOP"], "batch": ["made/STOP", "state/STOP"], "saved step": ["STOP"]}[kind]
    assert all(os.path.join(os.getcwd(), stop) in names for stop in stops), names


def test_commands_in_messages_are_quoted():
    """A person can paste them."""
    with h5py.File("a^b.h5", "w") as file:
        file["image"] = np.zeros((60, 40), "f8")
    values = {"name": '"job"', "input": '"a^b.h5"', "dataset": '"/image"', "output": '"a^x/out.h5"'}
    pathlib.Path("job.toml").write_text(JOB.format(**values))
    pathlib.Path("match.toml").write_text("""kind = "match"
[input]
file = "a^b.h5"
dataset = "/image"
[output]
file = "out.h5"
[match]
window = [1, 5, 5]
patch = [1, 3, 3]
count = 3
""")
    for code, hint, *arguments in [
            (4, "mkdir -p 'a^x'", "job.toml"), (4, "mkdir -p 'a^x'", "convert", "a^b.h5:/image", "a^x/out.h5"),
            (4, "mkdir -p 'a^x'", "generate", "noise", "a^x/out.h5", "--shape", "3,4", "--dtype", "uint8"),
            (2, "runner inspect 'a^b.h5'", "a^b.h5"),
            (3, "Convert it: runner convert 'a^b.h5:/image' 'a^b-float32.h5:/image' --dtype float32", "match.toml")]:
        _, errors = call((code,), *arguments)
        assert hint in errors, errors
