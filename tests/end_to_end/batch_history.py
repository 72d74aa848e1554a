"""What a batch's record tells: a change of any file that an input takes bytes from, and which event
was the later one, whatever the clocks of hosts say.
"""
import json
import pathlib
import subprocess

import pytest

from harness import attempt, call
from source_files import CONVOLVE, FORMS, name_of, PASSES, write


def status_counts(*options, code=0):
    return json.loads(call("status", "out", "--json", *options, code=code).stdout)["counts"]


def write_batch(inputs, table, more=""):
    kind = "" if table == PASSES else 'kind = "convolve"\n'
    pathlib.Path("batch.toml").write_text(
        f'{kind}[input]\ndataset = "/d"\n{more}[output]\ndataset = "/o"\n[batch]\ninputs = {inputs}\n'
        f'output = "out/{{stem}}.h5"\n{table}')


def marks():
    return {path.name: path.stat().st_mtime_ns for path in pathlib.Path("out").glob("*.h5")}


@pytest.mark.parametrize("table", [CONVOLVE, PASSES], ids=["one pass", "passes"])
@pytest.mark.parametrize("name", ["link", "storage", "columns", "rows", "nested", "missing"])
def test_a_batch_sees_that_a_source_has_changed(name, table):
    prepare, more, _ = FORMS[name]
    change = prepare()
    change(1)
    write("plain.h5", 0)
    write_batch('["in.h5", "plain.h5"]', table, more)
    call("batch", "batch.toml", "--quiet")
    before = marks()
    for _ in range(2):  # by the history, and by the outputs
        assert "2 datasets, 2 done before" in call("batch", "batch.toml").stderr
        call("status", "out", "--require-done")
        subprocess.run(["rm", "-r", *map(str, pathlib.Path("out").glob("*.state"))], check=True)
    call("batch", "batch.toml", "--quiet")
    change(2)
    assert status_counts()["stale"] == 1
    text = call("status", "out").stdout
    assert "its input has changed: " in text and name_of(name) in text
    assert attempt("status", "out", "--require-done").returncode != 0
    done = call("batch", "batch.toml")
    assert "1 done before, 1 stale and to do again" in done.stderr
    assert {file for file, mark in marks().items() if mark != before[file]} == {"in.h5"}
    call("status", "out", "--require-done")
    assert "2 datasets, 2 done before" in call("batch", "batch.toml").stderr


def test_a_plain_file_of_a_batch_is_told_of_by_itself_alone():
    write("in.h5", 1)
    write_batch('["in.h5"]', CONVOLVE)
    call("batch", "batch.toml", "--quiet")
    logs = "".join(path.read_text() for path in pathlib.Path("out").glob("*/log-*"))
    assert '"event":"done"' in logs and '"files"' not in logs


def change_logs(change):
    """Rewrites every event of the batch's logs."""
    for path in pathlib.Path("out").glob("*/log-*"):
        events = [json.loads(line) for line in path.read_text().splitlines()]
        for event in events:
            change(event)
        path.write_text("".join(json.dumps(event) + "\n" for event in events))


@pytest.mark.parametrize("version", ["this", "an earlier"])
def test_the_order_of_a_batch_is_not_that_of_clocks(version):
    """Its first run was made by a host whose clock was a day ahead."""
    for number in range(3):
        write(f"in-{number}.h5", 0)
    write_batch('["in-*.h5"]', CONVOLVE)
    call("batch", "batch.toml", "--quiet")

    def advance(event):
        event["time"] += 86400
        if version != "this":
            del event["order"]
    change_logs(advance)
    write("in-1.h5", 2)
    assert status_counts()["stale"] == 1
    assert "2 done before, 1 stale" in call("batch", "batch.toml").stderr
    call("status", "out", "--require-done")
    assert "3 datasets, 3 done before" in call("batch", "batch.toml").stderr
    call("status", "out", "--require-done")
