"""Jobs whose chunks take long: slow_chunks.py RUNNER MPIRUN FAULT_SHIM MEMORY_SHIM.

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
import sys
import tempfile

import h5py
import numpy as np

from events import release, wait_for_held, wait_until
from faulty_runs import (Findings, Program, clear, finish, picked, prepare_environment, report,
                         with_fault)

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


class SlowChunks:
    def __init__(self, program):
        self.program = program
        self.findings = Findings()

    def run(self, arguments, **options):
        return self.program.run([*ONE_CHUNK, *arguments], **options)

    def slow_is_no_stall(self):
        """Until one chunk took longer than the limit."""
        limit = 1
        for window in WINDOWS:
            clear()
            write_job(window)
            code, text = self.run(["--set", f"run.stall_seconds={limit}", "--report", "report.json"])
            self.findings.expect(code == 0, f"window {window}: exit {code}", text)
            if code != 0:
                return window
            rank = json.loads(pathlib.Path("report.json").read_text())["ranks"][0]
            if rank["stages"]["compute"]["busy_seconds"] > 4 * limit:
                self.findings.expect(rank["chunks"] == 1, f"{rank['chunks']} chunks")
                return window
        self.findings.expect(False, "no chunk takes long enough on this machine")
        return WINDOWS[-1]

    def hanging_read_is_one(self):
        clear()
        code, text = self.run(["--set", "run.stall_seconds=2"],
                              fault="pread:hold=held@1:in.h5>=200000")
        release()
        self.findings.expect(code == 6 and "the job stands still" in text and picked(),
                             f"a read that hangs: exit {code}", text)

    def hanging_survey_is_one(self):
        """A read that hangs where the noise is estimated, before the first chunk."""
        clear()
        code, text = self.run(["--set", "run.stall_seconds=2", "--set", 'denoise.sigma="auto"'],
                              fault="pread:hold=held@1:in.h5>=200000")
        release()
        self.findings.expect(
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
        self.findings.expect(code == 0 and held_back, f"a survey on a terminal: exit {code}",
                             shown.decode())

    def resumes(self, what, wanted):
        code, text = self.run([])
        if self.findings.expect(code == 0, f"after {what}: exit {code}", text):
            self.findings.expect(np.array_equal(result(), wanted), f"after {what}: other bytes")

    def dropped_by_deadline(self, wanted):
        """Until the deadline came while the chunk was computed."""
        for seconds in [3, 4, 6, 10, 20]:
            clear()
            code, text = self.run(["--max-time", f"{seconds}s"])
            if code == 75 and "dropped chunk 0 with " in text:
                share = int(text.split("dropped chunk 0 with ")[1].split(" ")[0])
                self.findings.expect(share < 100, f"dropped at {share} %", text)
                self.resumes("a drop", wanted)
                return
            self.findings.expect(code == 75, f"--max-time {seconds}s: exit {code}", text)
        self.findings.expect(False, "no deadline came while a chunk was computed")

    def signals(self, wanted):
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
            self.findings.expect(code == 75, f"two signals: exit {code}", line + rest)
            if "waits for 1 chunk in flight" not in line:
                continue  # the first came before the chunk's computing began
            self.findings.expect("a second signal drops it" in line and "dropped chunk 0" in rest,
                                 "the second signal drops the chunk", line + rest)
            self.resumes("signals", wanted)
            return
        self.findings.expect(False, "no signal came while a chunk was computed")


def main():
    program = Program(*sys.argv[1:5])
    with tempfile.TemporaryDirectory() as folder:
        prepare_environment(folder)
        rng = np.random.default_rng(3)
        with h5py.File("in.h5", "w") as file:
            file["image"] = rng.integers(0, 256, SHAPE, dtype=np.uint8)
        matrix = SlowChunks(program)
        window = matrix.slow_is_no_stall()
        write_job(window)
        wanted = result()
        matrix.hanging_read_is_one()
        matrix.hanging_survey_is_one()
        write_job(WINDOWS[0])
        matrix.survey_is_shown()
        write_job(window)
        matrix.dropped_by_deadline(wanted)
        matrix.signals(wanted)
        os.chdir("/")
    report("slow_chunks", matrix.findings, "the watchdog, a deadline and signals")


if __name__ == "__main__":
    main()
