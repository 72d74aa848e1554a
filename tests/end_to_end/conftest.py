"""Options, seed, folders and GPUs of the tests of whole jobs; CONTRIBUTING.md says how to run them."""
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
from unittest import mock

import pytest

from harness import Findings, chosen, new_folder, programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
WITHOUT_GIT = 20260101
LARGE = 6  # cases of a function
COUNTED = 2  # of so many cases of a large set, one counts the lines that run: gcov's counts cost a run 0.1 s
UNCOUNTED = pytest.StashKey()
NO_COUNTS = {"RUNNER_UNCOUNTED": "1"}


def pytest_addoption(parser):
    group = parser.getgroup("runner")
    group.addoption("--bin", default=str(ROOT / "build/bin"), help="the folder of the built programs")
    group.addoption("--runner", help="the program, if not BIN/runner")
    group.addoption("--mpirun", default="mpirun")
    group.addoption("--backend", default="cpu", choices=["cpu", "cuda"])
    group.addoption("--kind", help="of the jobs, in files with several")
    group.addoption("--set", default="run.io_threads=2", help="a setting of the jobs of sand_runs.py")
    group.addoption("--pictures", help="a folder for pictures of what report_page.py draws")
    group.addoption("--seed", type=int, help="in place of RUNNER_TEST_SEED, or of one from git's tree")
    group.addoption("--cases", default=os.environ.get("RUNNER_TEST_CASES", "usual"),
                    choices=["quick", "usual", "full"])
    group.addoption("--share", type=float, default=float(os.environ.get("RUNNER_TEST_SHARE", 1)),
                    help="times the usual share of cases, and of the functions of one case")


def seed_and_source(given):
    if given is not None:
        return given, "given"
    if "RUNNER_TEST_SEED" in os.environ:
        return int(os.environ["RUNNER_TEST_SEED"]), "RUNNER_TEST_SEED"
    # A folder of another owner is no repository to git.
    # The tree, and not the commit itself: a rebase keeps the tests that a tree passed.
    done = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "rev-parse", "HEAD^{tree}"],
                          capture_output=True, text=True) if shutil.which("git") else None
    if done is None or done.returncode != 0:
        return WITHOUT_GIT, "no git"
    return int(done.stdout[:8], 16), f"tree {done.stdout[:8]}"


def pytest_configure(config):
    options = config.option
    for name, text in [("quick", "in a quick run too"), ("full", "in a full run alone"),
                       ("faults", "faults, kills and power cuts"), ("gpu", "takes a GPU"),
                       ("slurm", "starts a Slurm"), ("browser", "draws pages in a browser"),
                       ("long", "minutes under the sanitizers"),
                       ("share(part)", "of these cases, the seed chooses so many")]:
        config.addinivalue_line("markers", f"{name}: {text}")
    folder = pathlib.Path(options.bin).resolve()
    programs.runner = os.path.abspath(options.runner or folder / "runner")
    programs.mpirun = options.mpirun
    programs.backend = options.backend
    programs.fault_shim, programs.memory_shim, programs.hdf5_shim = (
        str(folder / f"{name}_shim.so") for name in ("fault", "memory", "hdf5"))
    programs.convolve_oracle = str(folder / "test_convolve_oracle")
    programs.kind = options.kind
    programs.set = options.set
    programs.pictures = options.pictures and os.path.abspath(options.pictures)
    programs.full = options.cases == "full"
    programs.seed, programs.source = seed_and_source(options.seed)
    if not os.access(programs.runner, os.X_OK):
        raise pytest.UsageError(f"no program {programs.runner}: build it, or name its folder by --bin")
    # Open MPI 4 reports about one of a thousand finished runs as failed:
    # https://github.com/open-mpi/ompi/issues/7833. Signals and codes of ranks are reported as before.
    os.environ["OMPI_MCA_orte_allowed_exit_without_sync"] = "1"
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                      ASAN_OPTIONS=f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0:detect_leaks=0")


def pytest_report_header():
    return f"seed {programs.seed} ({programs.source}), program {programs.runner}"


def share_of(cases):
    """The share that runs of a function's cases: as it is marked, or of a large set two fifths."""
    marker = next(iter(cases.values())).get_closest_marker("share")
    return marker.args[0] if marker else 0.4 if len(cases) >= LARGE else 1


def pytest_collection_modifyitems(config, items):
    """Leaves out what is not of this run: all cases of a function are one set to choose from. What is
    named on the command line runs in any case."""
    options = config.option
    named = options.keyword or any("::" in word for word in config.args)
    out = set()
    for item in items if not named else []:
        if options.cases == "quick" and not item.get_closest_marker("quick"):
            out.add(item)
        if options.cases != "full" and item.get_closest_marker("full"):
            out.add(item)
    if not named and options.cases != "full":
        functions = {}
        for item in items:
            if item not in out:
                functions.setdefault((item.path, item.originalname), {})[item.name] = item
        if options.share < 1:
            alone = {}
            for (path, name), cases in functions.items():
                if len(cases) == 1:
                    alone.setdefault(path, {}).update(cases)
            for cases in alone.values():
                kept = chosen(programs.seed, cases, options.share)
                out |= {item for name, item in cases.items() if name not in kept}
        for cases in functions.values():
            kept = chosen(programs.seed, cases, share_of(cases) * options.share) if len(cases) > 1 else cases
            out |= {item for name, item in cases.items() if name not in kept}
            if len(kept) >= LARGE:
                config.stash.setdefault(UNCOUNTED, set()).update(
                    cases[name] for i, name in enumerate(sorted(kept)) if i % COUNTED)
    if options.backend == "cuda":
        for item in items:
            item.add_marker(pytest.mark.gpu)
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    items[:] = [item for item in items if item not in out]


def why_no_gpu():
    """Why there is no GPU for the program; empty where there is one."""
    if not hasattr(why_no_gpu, "answer"):
        done = subprocess.run([programs.runner, "devices"], capture_output=True, text=True)
        has_one = done.returncode == 0 and not done.stdout.startswith("no ")
        why_no_gpu.answer = "" if has_one else (done.stderr or done.stdout).strip()
    return why_no_gpu.answer


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu") and why_no_gpu():
        if os.environ.get("RUNNER_REQUIRE_GPU") == "1":
            pytest.fail(why_no_gpu())
        pytest.skip(why_no_gpu())


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    uncounted = pyfuncitem in pyfuncitem.config.stash.get(UNCOUNTED, ())
    with mock.patch.dict(os.environ, NO_COUNTS if uncounted else {}):
        outcome = yield
    outcome.get_result()
    # Also of fixtures that the test does not name.
    for value in pyfuncitem.funcargs.values():
        if isinstance(value, Findings):
            value.none()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        words = ["python3", "-m", "pytest", f"{item.path}::{item.nodeid.split('::', 1)[1]}", "--bin",
                 item.config.option.bin, "--seed", str(programs.seed), "--mpirun", programs.mpirun]
        if item.config.option.runner:
            words += ["--runner", programs.runner]
        if programs.backend != "cpu":
            words += ["--backend", programs.backend]
        report.sections.append(("repeat it by", shlex.join(words)))


@pytest.fixture(scope="session", autouse=True)
def temporary_files():
    """Open MPI's files are removed with the run, also those of killed ranks."""
    with tempfile.TemporaryDirectory(prefix="runner-tests-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        yield folder
        tempfile.tempdir = None
        del os.environ["TMPDIR"]


@pytest.fixture(autouse=True)
def folder():
    """A new working folder for each test. A module whose tests share one has a fixture of this name."""
    with new_folder() as path:
        yield path


@pytest.fixture
def findings():
    return Findings()
