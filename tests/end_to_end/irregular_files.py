"""What is no regular file: every verb refuses it at once, wherever it would read a file.

A pipe without a writer, a socket, a device and a folder stand under each name that a verb reads. One
message names the file and says what it is. A verb that waited would meet GUARD.
"""
import os
import pathlib
import re
import socket

import numpy as np
import pytest

from harness import attempt, call

JOB = '''kind = "convolve"
[input]
file = "in.npy"
[output]
file = "out.npy"
sync = false
[convolve]
row_taps = [0.25, 0.5, 0.25]
column_taps = [1.0]
'''

BATCH = JOB[:JOB.index("[input]")] + JOB[JOB.index("[convolve]"):] + '''
[input]
dataset = "/data"
[batch]
inputs = "list.tsv"
output = "out/{stem}.npy"
'''

SITE = '''[node]
cpus = 4
memory = "8GiB"
[limits]
time = "1h"
'''


def make_socket(name):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(name)


# What has the name, and the words that say what it is.
NODES = {"pipe": (os.mkfifo, "it is a pipe"),
         "socket": (make_socket, "it is a socket"),
         "device": (lambda name: os.symlink("/dev/zero", name), "it is a device"),
         "folder": (os.mkdir, "it is a folder|Is a directory|it is a directory|no state of a batch")}

FORMATS = ["h5", "npy", "tif", "png", "nii", "nii.gz", "sand"]

# The name that the node has, and what reads it.
READS = [(f"x.{form}", [verb, f"x.{form}", *rest]) for form in FORMATS
         for verb, *rest in [["inspect"], ["convert", "new.npy"]]]
READS += [(f"x.{form}", ["render", f"x.{form}:/data" if form == "h5" else f"x.{form}", "new.png"])
          for form in FORMATS]
READS += [(f"x.{form}", [verb, f"x.{form}"]) for form in ["h5", "npy", "tif", "sand"]
          for verb in ["verify", "repair", "certify"]]
READS += [(f"x.{form}", [*verb, "job.toml", "--set", f'input.file="x.{form}"']) for form in FORMATS
          for verb in [["plan"], []]]
READS += [("x.toml", [*verb, "x.toml"]) for verb in
          [[], ["plan"], ["explain"], ["try"], ["batch"], ["submit", "--site", "site.toml"]]]
READS += [("site.toml", ["submit", "job.toml", "--site", "site.toml"]),
          ("list.tsv", ["batch", "batch.toml"]),
          ("list.tsv", ["batch", "batch.toml", "--dry-run"]),
          ("x.json", ["report", "x.json"]),
          ("x.json", ["certify", "in.npy", "--check", "x.json"]),
          ("x.npy", ["compare", "in.npy", "x.npy"]),
          ("done.npy.identity", ["verify", "done.npy"]),
          ("done.npy.identity", ["certify", "done.npy"]),
          ("st/datasets.jsonl", ["status", "st"]),
          ("st/log-host-1-1.jsonl", ["status", "st"])]


@pytest.fixture(name="files", autouse=True)
def make_files(folder):
    np.save("in.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    pathlib.Path("job.toml").write_text(JOB)
    pathlib.Path("site.toml").write_text(SITE)
    pathlib.Path("batch.toml").write_text(BATCH)
    os.mkdir("st")
    pathlib.Path("st/datasets.jsonl").write_text('{"datasets": 0, "format": 1, "kind": "convolve", "name": "batch"}\n')
    call("job.toml", "--quiet", "--set", 'output.file="done.npy"')


@pytest.mark.share(0.4)
@pytest.mark.parametrize("kind", NODES)
@pytest.mark.parametrize("name, arguments", READS,
                         ids=[f"{name} by {' '.join(arguments)}" for name, arguments in READS])
def test_refused(name, arguments, kind):
    make, words = NODES[kind]
    if os.path.lexists(name):
        os.remove(name)
    make(name)
    done = attempt(*arguments)
    assert done.returncode in (2, 3, 4), f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    said = [line for line in done.stderr.splitlines() if line.startswith("runner: error: ")]
    assert len(said) == 1, done.stderr
    # A link's message may name what it leads to.
    assert re.search(f"{re.escape(os.path.basename(name))}|/dev/zero", said[0]), said[0]
    assert re.search(words, said[0]), said[0]


@pytest.mark.parametrize("kind", NODES)
def test_input_of_an_output(kind):
    """`verify` compares the checksums, and says why it computes nothing again."""
    make, words = NODES[kind]
    make("x.npy")
    assert re.search(f"x.npy.*({words})", call("verify", "done.npy", "--input", "x.npy").stdout)
