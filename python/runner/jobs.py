"""Job files: planned and run by the program that the package contains, in a process of its own."""
from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from ._job_text import toml_value
from .errors import Stopped, make

_PROGRESS = re.compile(r"(\d+(?:\.\d+)?) %")
_MESSAGE = re.compile(r"^runner: error: (?P<what>.*?)(?: \((?P<where>[^()]*)\))?"
                      r"(?:: (?P<why>.*?))?(?:\. (?P<hint>[A-Z].*))?$", re.DOTALL)


def program() -> str:
    """The path of the program: $RUNNER_PROGRAM, or the one that is installed with the package."""
    own = pathlib.Path(__file__).parent / "bin" / "runner"
    return os.environ.get("RUNNER_PROGRAM", str(own))


def _settings(values: Mapping[str, Any] | None) -> list[str]:
    return [part for key, value in (values or {}).items()
            for part in ("--set", f"{key}={toml_value(value)}")]


def fail(code: int, text: str) -> None:
    """Raises what the program's message and exit code say."""
    message = "\n".join(line for line in text.splitlines() if not line.startswith("rank "))
    found = _MESSAGE.match(message)
    parts = {key: value or "" for key, value in found.groupdict().items()} if found else {}
    raise make(code, message.removeprefix("runner: error: "), **parts)


class Plan:
    """What a run of a job would do and take, for each of its ranks."""

    def __init__(self, values: dict[str, Any], text: str) -> None:
        self._values, self._text = values, text

    @property
    def host_bytes(self) -> int:
        """Bytes of host memory that a rank takes."""
        return self._memory("host_bytes")

    @property
    def device_bytes(self) -> int:
        """Bytes of a GPU's memory that a rank takes."""
        return self._memory("device_bytes")

    @property
    def disk_bytes(self) -> int:
        """Bytes that the outputs take."""
        return int(self._values["disk_needed_bytes"])

    def text(self) -> str:
        """The plan for a person, as ``runner plan`` prints it."""
        return self._text

    def dict(self) -> dict[str, Any]:
        """The plan as ``runner plan --json`` prints it."""
        return dict(self._values)

    def _memory(self, name: str) -> int:
        passes = self._values.get("passes", [self._values])
        return max(int(each["memory_per_rank"][name]) for each in passes)


def plan(job: str | os.PathLike[str], *, ranks: int = 1, device_memory: str | None = None,
         host_memory: str | None = None, backend: str | None = None,
         set: Mapping[str, Any] | None = None) -> Plan:  # noqa: A002
    """Checks a job file and plans its run.

    Parameters
    ----------
    job : path of the job file
    ranks : how many ranks would run it
    device_memory, host_memory : what is free for a rank, as "8GiB"
    set : settings over the job file, as ``{"run.lanes": 2}``

    Raises
    ------
    JobError, InputError
    """
    command = [program(), "plan", os.fspath(job), "-n", str(ranks), *_settings(set)]
    for name, value in (("--device-memory", device_memory), ("--host-memory", host_memory),
                        ("--backend", backend)):
        command += [name, value] if value is not None else []
    texts = []
    for form in ([], ["--json"]):
        done = subprocess.run(command + form, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(done.returncode, done.stderr)
        texts.append(done.stdout)
    return Plan(json.loads(texts[1]), texts[0])


def run(job: str | os.PathLike[str], *, backend: str | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002
        progress: Callable[[float], None] | None = None) -> dict[str, Any]:
    """Runs a job file on one rank, in a process of its own, and returns its report.

    A job whose output is complete already does nothing and returns an empty report. Ctrl-C stops
    the job; the same call resumes it. For several ranks run ``runner -n 4 JOB.toml``, or mpirun.

    Parameters
    ----------
    job : path of the job file
    set : settings over the job file, as ``{"run.lanes": 2}``
    progress : called with the part that is done, 0 to 1, now and then

    Raises
    ------
    JobError, InputError, OutputError, DeviceError, ResourceError, Stopped
    """
    with tempfile.TemporaryDirectory(prefix="runner-") as folder:
        report = os.path.join(folder, "report.json")
        command = [program(), "run", os.fspath(job), "--report", report, *_settings(set)]
        command += ["--backend", backend] if backend is not None else []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, start_new_session=True) as process:
            errors = _follow(process, progress)
        if process.returncode == Stopped.code:
            raise Stopped("the job was stopped; the same call resumes it")
        if process.returncode != 0:
            fail(process.returncode, errors)
        return json.loads(pathlib.Path(report).read_text()) if os.path.exists(report) else {}


def _follow(process: subprocess.Popen[str], progress: Callable[[float], None] | None) -> str:
    """Reads what the program says until it ends; the lines of its error message."""
    said: list[str] = []
    try:
        assert process.stderr is not None
        for line in process.stderr:
            found = _PROGRESS.search(line)
            if found and progress is not None:
                progress(float(found[1]) / 100)
            if said or line.startswith("runner: error: "):
                said.append(line)
        process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    return "".join(said).strip()
