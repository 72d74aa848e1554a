"""A job as an object."""
from __future__ import annotations

import html
import os
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import jobs
from ._job_text import text_of_tables
from .jobs import JobSource, Plan, Progress, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .tables import Tables


class Job:
    """A job file, or a job from Python values: to look at, plan, run and save.

    Parameters
    ----------
    job : the path of a job file, or the tables of one as a dict
    tables : tables and keys in place of `job`, as TOML names them. A text or path for `input` or
        `output` is its file. :mod:`runner.tables` has their types.

    >>> job = Job(kind="median", input="scan.tif", output="clean.tif", median={"size": [3, 3]})
    >>> print(job.text())
    kind = "median"
    <BLANKLINE>
    [input]
    file = "scan.tif"
    <BLANKLINE>
    [output]
    file = "clean.tif"
    <BLANKLINE>
    [median]
    size = [3, 3]
    <BLANKLINE>

    The tables of steps are a list: ``Job(input=..., output=..., step=[dict(kind="bin"), ...])``.
    """

    def __init__(self, job: JobSource | None = None, **tables: Unpack[Tables]) -> None:
        if (job is None) == (not tables):
            raise TypeError("pass a job file, a dict, or tables as keywords")
        self._source: JobSource = tables if job is None else job

    def text(self) -> str:
        """The job file's text."""
        if isinstance(self._source, Mapping):
            return text_of_tables(self._source)
        return pathlib.Path(self._source).read_text(encoding="utf-8")

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the job file, for ``runner FILE`` and ``mpirun``. Files that the job names count
        from the folder that it runs in."""
        pathlib.Path(file).write_text(self.text(), encoding="utf-8")

    def plan(self, *, ranks: int = 1, device_memory: str | None = None,
             host_memory: str | None = None, backend: str | None = None,
             set: Mapping[str, Any] | None = None) -> Plan:  # noqa: A002
        """Checks and plans the job, as :func:`runner.plan` does."""
        return jobs.plan(self._source, ranks=ranks, device_memory=device_memory,
                         host_memory=host_memory, backend=backend, set=set)

    def run(self, *, backend: str | None = None, set: Mapping[str, Any] | None = None,  # noqa: A002
            progress: Progress = None) -> Result:
        """Runs the job, as :func:`runner.run` does."""
        return jobs.run(self._source, backend=backend, set=set, progress=progress)

    def __repr__(self) -> str:
        if isinstance(self._source, Mapping):
            return f"Job({dict(self._source)!r})"
        return f"Job({os.fspath(self._source)!r})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"

