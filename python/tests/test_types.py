"""What mypy says: nothing of the package and of the examples, an error of each misspelt name, and the types
of results."""
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

import runner
from runner import kinds
from runner._arrays import Options

HERE = pathlib.Path(__file__).parent
PACKAGE = HERE.parent / "runner"
EXAMPLES = sorted((HERE.parent / "examples").glob("*.py"))


def mypy(folder, *files):
    """Lines of errors and revealed types, as FILE:LINE: text."""
    try:
        import mypy.version
    except ImportError:
        pytest.skip("mypy is not installed")
    version = tuple(map(int, mypy.version.__version__.split(".")[:2]))
    flags = ["--enable-incomplete-feature=Unpack"] if version < (1, 7) else []
    environment = {**os.environ, "MYPYPATH": str(HERE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports",
         "--no-error-summary", "--hide-error-context", "--cache-dir", os.devnull, *flags, *files],
        cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line or "Revealed type" in line]


class Calls:
    """Calls, a line each, and a word of the error of each that is wrong; "": mypy says what is expected, and
    not what is wrong."""

    def __init__(self):
        self.lines = ["from typing import Any", "import runner", "v: Any = 1"]
        self.wrong = {}

    def add(self, name, arguments, word=None):
        self.lines.append(f"runner.{name}({', '.join(arguments)})")
        if word is not None:
            self.wrong[len(self.lines)] = word


def of_functions(calls):
    for name in kinds.__all__:
        parameters = list(inspect.signature(getattr(kinds, name)).parameters.values())[:-1]
        needed = ["v" for each in parameters if each.default is each.empty]
        calls.add(name, [*needed, *(f"{each.name}=v" for each in parameters if each.default is not each.empty)])
        calls.add(name, [*needed, "misspelt=v"], "misspelt")
    calls.add("pipeline", ["v", "[]", *(f"{name}=v" for name in Options.__annotations__)])
    calls.add("pipeline", ["v", '[{"kind": "median", "size": 3}, {"kind": "rescale", "from": [0, 1]}]'])
    calls.add("pipeline", ["v", '[{"kind": "median", "sizze": 3}]'], "")
    calls.add("median", ["v", "3", 'boundary="nearer"'], "nearer")
    calls.add("median", ["v", "3", 'backend="gpu"'], "gpu")
    calls.add("bin", ["v", '"2"'], "Sequence[int]")
    calls.add("bin", ["3", "2"], "")
    calls.add("plan", ['"job.toml"', "rank=3"], "rank")
    calls.add("run", ['"job.toml"', "settings={}"], "settings")
    calls.add("run('job.toml').text", [], "text")


def of_jobs(calls):
    for name in kinds.__all__:
        keys = getattr(runner.tables, name.capitalize()).__annotations__
        table = ", ".join(f'"{key}": v' for key in keys)
        calls.add("Job", ['input="a"', f"{name}={{{table}}}", f'step=[{{"kind": "{name}", "name": "b", {table}}}]'])
        calls.add("Job", [f"{name}=dict(misspelt=v)"], "misspelt")
        calls.add("Job", [f'step=[dict(kind="{name}", misspelt=v)]'], "")
    for name in ("input", "output"):
        calls.add("Job", [f'{name}=dict(file="a", dataset="/b")'])
        calls.add("Job", [f'{name}={{"misspelt": v}}'], "")
    for name in ("run", "batch"):
        calls.add("Job", [f'{name}={{"misspelt": v}}'], "misspelt")
    calls.add("Job", ['median={"size": "3"}'], '"size"')
    calls.add("Job", ["medain={}"], "medain")
    calls.add("Job(kind='bin').plan", ["rank=3"], "rank")


ARRAY = "ndarray[Any, dtype[Any]]"
RESULTS = [("median(a, 3)", ARRAY), ("median([[1, 2]], 3)", ARRAY), ("median(runner.read('a.h5'), 3)", ARRAY),
           ("median(v, 3)", "Any"), ("median(OnDevice(), 3)", "Any"), ("median(runner.median(a, 3), 3)", ARRAY),
           ("match(a)", f"Tuple[{ARRAY}, {ARRAY}, {ARRAY}]"), ("transpose(a, [1, 0])", "ndarray[Any, dtype[void]]"),
           ("pipeline(a, [])", ARRAY), ("read('a.h5')[1:2]", ARRAY), ("run('job.toml')", "runner.jobs.Result"),
           ("plan('job.toml')", "runner.jobs.Plan"), ("Job('job.toml').run()", "runner.jobs.Result"),
           ("run('job.toml').output", "str")]
RESULTS_HEAD = """\
from enum import Enum
from typing import Any
import numpy as np
from numpy.typing import NDArray
import runner
v: Any = 1
a: NDArray[np.void] = np.zeros((3, 3), np.void)
class Device(Enum):
    CUDA = 2
class OnDevice:
    def __dlpack_device__(self) -> tuple[Device, int]:
        return Device.CUDA, 0
"""


@pytest.fixture(name="said", scope="module")
def what_mypy_says(tmp_path_factory):
    """The lines by file, and the calls: one start of mypy, which reads numpy's types once."""
    folder = tmp_path_factory.mktemp("types")
    calls = Calls()
    of_functions(calls)
    of_jobs(calls)
    (folder / "calls.py").write_text("\n".join([*calls.lines, ""]))
    (folder / "results.py").write_text(RESULTS_HEAD + "".join(f"reveal_type(runner.{call})\n" for call, _ in RESULTS))
    lines = {"calls.py": [], "results.py": [], "others": []}
    for line in mypy(folder, "calls.py", "results.py", *EXAMPLES, PACKAGE):
        lines.get(line.split(":")[0], lines["others"]).append(line)
    return lines, calls


def test_calls(said):
    lines, calls = said
    found = {}
    for line in lines["calls.py"]:
        found.setdefault(int(line.split(":")[1]), []).append(line)
    assert set(found) == set(calls.wrong), "\n".join(lines["calls.py"])
    for number, word in calls.wrong.items():
        # Old versions of mypy do not say which argument suits no overload.
        text = "\n".join(found[number])
        assert word in text or "No overload variant" in text, text
    assert set(runner.kinds.__all__) <= set(runner.__all__)


def test_results(said):
    revealed = [re.search('Revealed type is "(.*)"', line)[1] for line in said[0]["results.py"]]
    # Versions of mypy and numpy write the same type in several ways.
    plain = [re.sub(r"\b(builtins|typing|numpy)\.", "", each.replace("tuple[Any, ...]", "Any")) for each in revealed]
    plain = [each.replace("tuple[", "Tuple[") for each in plain]
    assert plain == [made for _, made in RESULTS], "\n".join(revealed)


def test_package_and_examples(said):
    assert not said[0]["others"], "\n".join(said[0]["others"])
