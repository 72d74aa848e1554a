"""Messages about job files in the words of arrays and arguments, or of dicts."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, Union

from . import _NAMES
from .errors import Error, make

_KINDS = "|".join(_NAMES["kinds"])


def _from_one(found: re.Match[str]) -> str:
    """A step as an item of the caller's list, which counts from 0."""
    return f"steps[{int(found[1]) - 1}]"


def _as_dict(found: re.Match[str]) -> str:
    """The keys of a step that a message proposes, as an item of the caller's list."""
    keys = (entry.split(" = ", 1) for entry in found[1].split("; "))
    return "Put a step before it: {" + ", ".join(f'"{key}": {value}' for key, value in keys) + "}"


# What a message says of files, tables and TOML, and what is said of arrays; one after the other.
_Words = Union[str, Callable[[Any], str]]
_PATTERNS: tuple[tuple[str, _Words], ...] = (
    (r"; read of chunk \d+, rows \d+ to \d+", ""),
    (r"array\.h5:/array", "x"),
    (r"\binput\.dataset\b|\bthe file\b(?= has)", "x"),
    (r"\b(flat|dark) \d+:/images", r"\1"),
    (r"\bmask \d+:/mask", "invalid"),
    (r"\barguments:\d+:\d+, ", ""),
    (r"\bstep[ .](\d+)\.kind\b", lambda found: _from_one(found) + ": kind"),
    (r"\bstep\.(\d+)\.", lambda found: _from_one(found) + ": "),
    (r"\bsteps? (\d+)\b", _from_one),
    (r"Convert it: runner convert .* --dtype (\w+)", r'Convert it: x.astype("\1")'),
    (r"Convert it to (uint8)", r'Convert it: x.astype("\1")'),
    (r"Put a \[\[step\]\] before it, .*(?=Convert it)", ""),
    (r"Put a \[\[step\]\] before it, (.*?)(?=\. [A-Z]|$)", _as_dict),
    (r"Choose a dataset of three axes, or of two.*",
     "Pass an array of three axes, or of two: x[0] is the first of several"),
    (r"Choose another dataset", "Pass another array"),
    (r"Choose a dataset of", "Pass an array of"),
    (r"choose a dataset of", "pass an array of"),
    (r"Name (?:a dataset of|a dataset with) images|Name images", "Pass images"),
    (r"Name a mask", "Pass a mask"),
    (r"Name another dataset", "Pass another array"),
    (r"neither x nor the job says|neither the file nor the job says", "no argument says"),
    (r", or name the axes by input\.axes", ""),
    (r" \(`runner --help` lists the kinds\)", ""),
    (r", (\{ box = \{ [^}]* \} \}) or \{ file = [^}]*\}", r" or \1"),
    (r"\[(?:convolve\.)?(\w+_taps)\] takes gaussian, box, file", r"\1 takes gaussian or box"),
    (r'(?:W|w)rite input\.invalid = "nan", or the number that they are',
     'Pass invalid=float("nan"), or the number that they are'),
    (r'input\.invalid = "nan"', 'invalid=float("nan")'),
    (r'another number, "nan" or "none"', 'another number, or float("nan")'),
    (r"\b(?:input|output|run)\.([a-z_]+)", r"\1"),
    (r"\btranspose\.permutation\b", "axes"),
    (rf"\b(?:{_KINDS})\.([a-z_]+)", r"\1"),
    (r"\{ gaussian = \{ sigma = ([^,}]*?)(?:, radius = ([^}]*?))? \} \}", r"runner.gaussian(\1, \2)"),
    (r"\bexpected an array of\b", "expected a list of"),
    (r"^(\w+), \1$", r"\1"),
)
_RULES = [(re.compile(pattern), words) for pattern, words in _PATTERNS]
_TABLE = re.compile(r"\{ ([^{}]*) \}")
_ASSIGNED = re.compile(r'\b([a-z_]+) = (?=["\[\d({]|dict)')
_IN_JOB = re.compile(r"arguments:\d+:\d+: (.*)")


def in_words_of_arrays(text: str) -> str:
    """The text as it is said to a caller who passed arrays and arguments."""
    for pattern, words in _RULES:
        text = pattern.sub(words, text)
    return _with_dicts(text)


def _with_dicts(text: str) -> str:
    """With Python's dicts and arguments in place of TOML's tables and keys."""
    while _TABLE.search(text):
        text = _TABLE.sub(lambda found: f"dict({found[1].replace(' = ', '=')})", text)
    return _ASSIGNED.sub(r"\1=", text)


_VALUE = r'("[^"]*"|\[[^\]]*\]|\{[^}]*\}|[-+\w.]*\w)'
_PATTERNS_OF_JOBS: tuple[tuple[str, _Words], ...] = (
    (r"write a table \[(\w+)\] with file(?: and dataset)?", r'write \1="FILE"'),
    (r"write a table \[(\w+)\] \(`runner init \w+` shows one\)", r"write \1=dict(…)"),
    (r"\bstep\.(\d+)\.", lambda found: f"step[{int(found[1]) - 1}]: "),
    (r"\bstep (\d+)\b", lambda found: f"step[{int(found[1]) - 1}]"),
    (r", each a table \[\[step\]\]", r", a list of dicts: step=[dict(kind=…), …]"),
    (r" \(`runner --help` lists the kinds\)", ""),
    (r"Put a \[\[step\]\] before it, (.*?)(?=\. [A-Z]|$)", _as_dict),
    (r"it has a table \[batch\]", "it has batch"),
    (r"with --set input\.file and --set output\.file", 'with set={"input.file": …, "output.file": …}'),
    (r"Run it with `runner batch [^`]*`", "Save it by Job.save(\"batch.toml\") and run `runner batch batch.toml`"),
    (r", or by input\.dataset in a job file", r", or as input=dict(file=…, dataset=…)"),
    (r"\b(input|output|run)\.([a-z_]+) = " + _VALUE, r"\1=dict(\2=\3)"),
)
_RULES_OF_JOBS = [(re.compile(pattern), words) for pattern, words in _PATTERNS_OF_JOBS]


def in_words_of_dicts(text: str, path: str) -> str:
    """The text as it is said to a caller whose job is a dict, which the program read from a file `path`."""
    name = re.escape(path)
    text = re.sub(rf"the job file is wrong \({name}\): 1 error\n", "the job is wrong: ", text)
    text = re.sub(rf"the job file is wrong \({name}\)", "the job is wrong", text)
    text = re.sub(rf"{name}:\d+:\d+[:,] ", "", text)
    for pattern, words in _RULES_OF_JOBS:
        text = pattern.sub(words, text)
    text = re.sub(rf" \({name}\)", "", text)
    return _with_dicts(text).replace("=true)", "=True)").replace("=false)", "=False)")


def _renamed(text: str, kind: str | None) -> str:
    """With the name that an argument has as Python's word."""
    return re.sub(r"^from\b|\bfrom(?==)|(?<=write )from\b", "from_", text) if kind is not None else text


def _message(what: str, where: str, why: str, hint: str) -> str:
    text = what + (f" ({where})" if where else "") + (f": {why}" if why else "")
    return f"{text}. {hint}" if hint else text


@contextlib.contextmanager
def words_of_arrays(kind: str | None) -> Iterator[None]:
    """Within it, failures of the engine speak of arrays and arguments. `kind`: None for a pipeline."""
    try:
        yield
    except Error as error:
        said = str(error)
        if said.startswith("the job file is wrong (arguments)"):
            each = [_renamed(in_words_of_arrays(line), kind) for line in _IN_JOB.findall(said)]
            whose = "the steps" if kind is None else f"the arguments of {kind}"
            what, where, why, hint = f"{whose} are wrong", "", "\n".join(each), ""
            message = f"{what}: {why}" if len(each) == 1 else "\n".join([f"{what}:", *each])
        else:
            what, where, why, hint = (_renamed(in_words_of_arrays(part), kind) for part in
                                      (error.what, error.where, error.why, error.hint))
            message = _message(what, where, why, hint)
        raise make(error.code, message, what, where, why, hint) from None
