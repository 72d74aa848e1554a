"""What the functions of this package raise."""
from __future__ import annotations


class Error(Exception):
    """A failure: ``WHAT (WHERE): WHY. TRY``.

    Attributes
    ----------
    code : int
        The exit code that the program would have.
    what, where, why, hint : str
        What could not be done; the file, key or device; the reason; what to do about it. Each may
        be empty but ``what``.
    """

    code = 1

    def __init__(self, message: str, what: str = "", where: str = "", why: str = "",
                 hint: str = "", code: int | None = None) -> None:
        super().__init__(message)
        self.what, self.where, self.why, self.hint = what or message, where, why, hint
        if code is not None:
            self.code = code


class JobError(Error, ValueError):
    """Parameters or a job file are wrong, or the job does not fit the memory that it may take."""

    code = 2


class InputError(Error, ValueError):
    """The input is damaged, or not of a kind that the job takes."""

    code = 3


class OutputError(Error, OSError):
    """The output cannot be written, or another file has its name."""

    code = 4

    def __init__(self, message: str, what: str = "", where: str = "", why: str = "",
                 hint: str = "", code: int | None = None) -> None:
        Error.__init__(self, message, what, where, why, hint, code)

    def __str__(self) -> str:
        return str(self.args[0])


class DeviceError(Error, RuntimeError):
    """A GPU is missing or has failed."""

    code = 5


class ResourceError(Error, MemoryError):
    """Host memory, threads or processes cannot be had."""

    code = 6


class Stopped(Error):
    """The job was stopped before its end."""

    code = 75


_CLASSES = {cls.code: cls
            for cls in (JobError, InputError, OutputError, DeviceError, ResourceError, Stopped)}


def make(code: int, message: str, what: str = "", where: str = "", why: str = "",
         hint: str = "") -> Error:
    """The exception for an exit code of the program."""
    return _CLASSES.get(code, Error)(message, what, where, why, hint, code)
