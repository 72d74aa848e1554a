"""Jobs: planned and run by the program that the package contains, in a process of its own."""
from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Union

from ._job_text import text_of_tables, toml_value
from ._program import program
from ._words import in_words_of_dicts
from .errors import Stopped, make

JobSource = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Progress = Union[bool, Callable[[float], None], None]

_PROGRESS = re.compile(r"  (\d+\.\d) %(?:  |$)")  # the last line of a run has another percentage
_MESSAGE = re.compile(r"^runner: error: (?P<what>.*?)(?: \((?P<where>[^()]*)\))?"
                      r"(?:: (?P<why>.*?))?(?:\. (?P<hint>[A-Z].*))?$", re.DOTALL)


def _settings(values: Mapping[str, Any] | None) -> list[str]:
    if values is not None and not isinstance(values, Mapping):
        raise TypeError('set is a dict of keys and values, as {"run.lanes": 2}')
    return [part for key, value in (values or {}).items()
            for part in ("--set", f"{key}={toml_value(value)}")]


@contextlib.contextmanager
def _job_file(job: JobSource) -> Iterator[str]:
    """The path of a job file; of a dict, of a file that is removed at the end."""
    if not isinstance(job, Mapping):
        yield os.fspath(job)
        return
    output = job.get("output")
    file = output.get("file") if isinstance(output, Mapping) else output
    with tempfile.TemporaryDirectory(prefix="runner-") as folder:
        # The job is named after its file.
        name = pathlib.Path(file).stem if file else "job"
        path = pathlib.Path(folder) / f"{name}.toml"
        path.write_text(text_of_tables(job), encoding="utf-8")
        yield str(path)


@contextlib.contextmanager
def _progress(progress: Progress) -> Iterator[Callable[[float], None] | None]:
    """What is called with the part that is done; of True, a bar by tqdm."""
    if progress is None or progress is False or callable(progress):
        yield progress if callable(progress) else None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True draws its bar by tqdm, which is not installed: pip install "
                          "tqdm, or pass a callable") from None
    with tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:
        def follow(part: float) -> None:
            bar.update(100 * part - bar.n)
        yield follow


def fail(code: int, text: str, own_file: str | None = None) -> None:
    """Raises what the program's message and exit code say. `own_file`: what a job of dicts was written to,
    which the caller does not know."""
    message = "\n".join(line for line in text.splitlines() if not line.startswith("rank "))
    if own_file is not None:
        message = in_words_of_dicts(message, own_file)
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

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"

    def dict(self) -> dict[str, Any]:
        """The plan as ``runner plan --json`` prints it."""
        return dict(self._values)

    def _memory(self, name: str) -> int:
        passes = self._values.get("passes", [self._values])
        return max(int(each["memory_per_rank"][name]) for each in passes)


class Result(dict[str, Any]):
    """The report of a run, a dict (docs/report.md); empty if the output was complete already."""

    @property
    def output(self) -> str:
        """The file of the output."""
        return str(self["output"]["file"])

    @property
    def dataset(self) -> str:
        """The dataset of the output in its file."""
        return str(self["output"]["dataset"])

    @property
    def seconds(self) -> float:
        """Seconds from the start of the program to the finished output."""
        return float(self["wall_seconds"])

    def _repr_html_(self) -> str:
        if not self:
            return "<p>The output was complete already.</p>"
        rows = [(end, f"{self[end]['file']}:{self[end]['dataset']}, {self[end]['type']} {self[end]['shape']}")
                for end in ("input", "output")]
        rows += [("time", f"{self.seconds:.3g} s"), ("verdict", self["verdict"])]
        rows += [("warning", each) for each in self["warnings"]]
        cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                        for name, value in rows)
        return f"<table>{cells}</table>"


def plan(job: JobSource, *, ranks: int = 1, device_memory: str | None = None,
         host_memory: str | None = None, backend: str | None = None,
         set: Mapping[str, Any] | None = None) -> Plan:  # noqa: A002
    """Checks a job and plans its run.

    Parameters
    ----------
    job : path of the job file, or its tables as a dict
    ranks : how many ranks would run it
    device_memory, host_memory : what is free for a rank, as "8GiB"
    set : settings over the job file, as ``{"run.lanes": 2}``

    Raises
    ------
    JobError, InputError
    """
    texts = []
    with _job_file(job) as path:
        command = [program(), "plan", path, "-n", str(ranks), *_settings(set)]
        for name, value in (("--device-memory", device_memory), ("--host-memory", host_memory),
                            ("--backend", backend)):
            command += [name, value] if value is not None else []
        for form in ((), ("--json",)):
            done = subprocess.run([*command, *form], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                fail(done.returncode, done.stderr, path if isinstance(job, Mapping) else None)
            texts.append(done.stdout)
    return Plan(json.loads(texts[1]), texts[0])


def run(job: JobSource, *, backend: str | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002
        progress: Progress = None) -> Result:
    """Runs a job on one rank, in a process of its own, and returns its report.

    A job whose output is complete already does nothing and returns an empty report. Ctrl-C stops
    the job; the same call resumes it. For several ranks run ``runner -n 4 JOB.toml``, or mpirun.

    Parameters
    ----------
    job : path of the job file, or its tables as a dict
    set : settings over the job file, as ``{"run.lanes": 2}``
    progress : called with the part that is done, 0 to 1, now and then; True: a bar, which takes
        the package tqdm

    Raises
    ------
    JobError, InputError, OutputError, DeviceError, ResourceError, Stopped
    """
    with (_job_file(job) as path, _progress(progress) as follow,
          tempfile.TemporaryDirectory(prefix="runner-") as folder):
        report = os.path.join(folder, "report.json")
        command = [program(), "run", path, "--report", report, *_settings(set)]
        command += ["--backend", backend] if backend is not None else []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, start_new_session=True) as process:
            errors = _follow(process, follow)
        if process.returncode == Stopped.code:
            raise Stopped("the job was stopped; the same call resumes it")
        if process.returncode != 0:
            fail(process.returncode, errors, path if isinstance(job, Mapping) else None)
        return Result(json.loads(pathlib.Path(report).read_text()) if os.path.exists(report) else {})


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
