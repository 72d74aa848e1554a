"""Jobs whose chunks take long.

A chunk that takes longer than the watchdog's limit is no stall, a read that hangs is one, also in
the survey of the input before the first chunk. A
deadline and a second signal drop what is in flight, and the same command then makes the bytes of an
undisturbed run. Nothing here waits for a number of seconds: where a machine is too fast for a chunk
to take long, the chunk gets more work.
"""
import json
import os
import pathlib
import pty
import signal
import subprocess

import h5py
import numpy as np
import pytest

from events import release, wait_for_held, wait_until
from faulty_runs import clear, finish, job_folder, picked, Program, with_fault
from harness import Findings

pytestmark = pytest.mark.faults
SHAPE = (24, 96, 96)
ONE_CHUNK = ["--set", f"run.chunk_rows={SHAPE[0] * SHAPE[1]}", "--set", "run.commit_seconds=0"]
JOB = """kind = "denoise"
[input]
file = "in.h5"
dataset = "/image"
[output]
file = "out/out.h5"
overwrite = true
sync = false
[run]
backend = "cpu"
[denoise]
sigma = 20.0
window = [11, {window}, {window}]
"""
WINDOWS = [31, 45, 65, 91, 95]  # each about twice the work


def write_job(window):
    pathlib.Path("job.toml").write_text(JOB.format(window=window))


def result():
    with h5py.File("out/out.h5") as file:
        return file["image"][...]


class SlowChunks(Findings):
    program = Program()

    def run(self, arguments, **options):
        return self.program.run([*ONE_CHUNK, *arguments], **options)

    def slow_is_no_stall(self):
        """Until one chunk took longer than the limit."""
        limit = 1
        for window in WINDOWS:
            clear()
            write_job(window)
            code, text = self.run(["--set", f"run.stall_seconds={limit}", "--report", "report.json"])
            self.expect(code == 0, f"window {window}: exit {code}", text)
            if code != 0:
                return window
            rank = json.loads(pathlib.Path("report.json").read_text())["ranks"][0]
            if rank["stages"]["compute"]["busy_seconds"] > 4 * limit:
                self.expect(rank["chunks"] == 1, f"{rank['chunks']} chunks")
                return window
        self.expect(False, "no chunk takes long enough on this machine")
        return WINDOWS[-1]

    def hanging_read_is_one(self):
        clear()
        code, text = self.run(["--set", "run.stall_seconds=2"],
                              fault="pread:hold=held@1:in.h5>=200000")
        release()
        self.expect(code == 6 and "the job stands still" in text and picked(),
                    f"a read that hangs: exit {code}", text)

    def hanging_survey_is_one(self):
        """A read that hangs where the noise is estimated, before the first chunk."""
        clear()
        code, text = self.run(["--set", "run.stall_seconds=2", "--set", 'denoise.sigma="auto"'],
                              fault="pread:hold=held@1:in.h5>=200000")
        release()
        self.expect(
            code == 6 and "the job stands still (the survey of the input, after 0 rows" in text
            and picked(), f"a survey that hangs: exit {code}", text)

    def survey_is_shown(self):
        """On a terminal, while it reads."""
        clear()
        terminal, end = pty.openpty()
        command = [self.program.runner, "job.toml", "--set", 'denoise.sigma="auto"']
        with subprocess.Popen(
                with_fault(command, self.program.runner, "pread:hold=held@1:in.h5>=200000"),
                stdout=subprocess.DEVNULL, stderr=end) as running:
            os.close(end)
            shown = b""
            held_back = wait_for_held(running)
            while held_back and b"survey of the input  0.0 %" not in shown:
                shown += os.read(terminal, 4096)
            release()
            try:
                while more := os.read(terminal, 4096):
                    shown += more
            except OSError:  # EIO: the run has closed its end
                pass
            code = running.wait()
        os.close(terminal)
        self.expect(code == 0 and held_back, f"a survey on a terminal: exit {code}",
                    shown.decode())

    def resumes(self, what):
        code, text = self.run([])
        if self.expect(code == 0, f"after {what}: exit {code}", text):
            self.expect(np.array_equal(result(), self.wanted), f"after {what}: other bytes")

    def dropped_by_deadline(self):
        """Until the deadline came while the chunk was computed."""
        for seconds in [3, 4, 6, 10, 20]:
            clear()
            code, text = self.run(["--max-time", f"{seconds}s"])
            if code == 75 and "dropped chunk 0 with " in text:
                share = int(text.split("dropped chunk 0 with ")[1].split(" ")[0])
                self.expect(share < 100, f"dropped at {share} %", text)
                self.resumes("a drop")
                return
            self.expect(code == 75, f"--max-time {seconds}s: exit {code}", text)
        self.expect(False, "no deadline came while a chunk was computed")

    def signals(self):
        """The first says what it waits for, the second drops it."""
        for _ in range(20):
            clear()
            running = self.program.start([*ONE_CHUNK], fault="pread:log@*:in.h5>=200000")
            wait_until(lambda: picked() or running.poll() is not None, "the input is read")
            os.kill(running.pid, signal.SIGTERM)
            line = running.stderr.readline()
            while line and "stopping, signal TERM" not in line:
                line = running.stderr.readline()
            os.kill(running.pid, signal.SIGTERM)
            code, rest = finish(running)
            self.expect(code == 75, f"two signals: exit {code}", line + rest)
            if "waits for 1 chunk in flight" not in line:
                continue  # the first came before the chunk's computing began
            self.expect("a second signal drops it" in line and "dropped chunk 0" in rest,
                        "the second signal drops the chunk", line + rest)
            self.resumes("signals")
            return
        self.expect(False, "no signal came while a chunk was computed")


@pytest.fixture(scope="module", autouse=True)
def folder():
    with job_folder() as path:
        rng = np.random.default_rng(3)
        with h5py.File("in.h5", "w") as file:
            file["image"] = rng.integers(0, 256, SHAPE, dtype=np.uint8)
        yield path


@pytest.fixture(scope="module", name="slow")
def find_slow_window(folder):
    """The work with which a chunk takes long on this machine, and the output of that job."""
    chunks = SlowChunks()
    window = chunks.slow_is_no_stall()
    chunks.none()
    write_job(window)
    return window, result()


@pytest.fixture(name="chunks")
def make_chunks(slow):
    window, wanted = slow
    write_job(window)
    chunks = SlowChunks()
    chunks.wanted = wanted
    return chunks


@pytest.mark.parametrize("part", ["hanging_read_is_one", "hanging_survey_is_one", "dropped_by_deadline", "signals"])
def test_part(chunks, part):
    getattr(chunks, part)()


def test_survey_is_shown(chunks):
    write_job(WINDOWS[0])
    chunks.survey_is_shown()
