"""Writers (writers.py) that something goes wrong with, and the same command again until it is done."""
import collections
import contextlib
import pathlib

import writers
from faulty_runs import finish, picked, start_disturbed
from harness import attempt, new_folder
from writers import OUTPUTS

# File systems that cannot rename without replacing, as NFS: a second name, and the first one removed.
NO_RENAME_NEW = "rename_new:EINVAL@*;"
UNDISTURBED = {}  # by name, what a writer makes: (names, made)
CALLS = {}  # by name and rules: what it calls


@contextlib.contextmanager
def folder_of_inputs():
    """A new working folder with all that the writers read."""
    with new_folder() as folder:
        writers.make_inputs()
        yield folder
        UNDISTURBED.clear()
        CALLS.clear()


def start(writer, words=(), ranks=0, **options):
    """start_disturbed() of the writer."""
    return start_disturbed([*writer.words, *words], ranks, **writer.environment(), **options)


def run(writer, words=(), ranks=0, **options):
    """A run to its end: (exit code, what it printed)."""
    return finish(start(writer, words, ranks, **options))


def learn(writer, functions, before=""):
    """Runs it undisturbed, which restarts `outputs`. How often one rank calls each of the functions for files
    there; what it makes is in UNDISTURBED then."""
    key = (writer.name, functions, before)
    if key not in CALLS:
        writers.begin(writer)
        code, text = run(writer, fault=f"{before}{functions}:log@*:{OUTPUTS}")
        assert code == 0, f"{writer}: {text}"
        CALLS[key] = collections.Counter(call[0] for call in picked() if call[1] == "log")
        UNDISTURBED[writer.name] = writers.names(), writers.made()
    return CALLS[key]


def is_made(writer):
    """Whether all that it makes has its name."""
    return UNDISTURBED[writer.name][0] - set(writer.optional) <= writers.names()


def read_made(findings, what):
    try:
        return writers.made()
    except Exception as error:  # pylint: disable=broad-except
        findings.expect(False, f"{what}: a file that nobody can read: {error}")
        return None


NOT_SYNCED = (".png", ".html", ".json", ".jsonl", ".sbatch", ".identity")


def expect_whole(writer, findings, what, before=None, synced=False):
    """No file has its name before it is whole; `before`: the bytes that the output's name stood for. `synced`: of
    those alone that a power cut spares."""
    if writer.prepared:
        return
    for name, wanted in UNDISTURBED[writer.name][1].items():
        path = pathlib.Path(OUTPUTS, name)
        if path.parent.suffix == ".parts" or not path.exists() or path.read_bytes() == before:
            continue
        if synced and path.suffix in NOT_SYNCED:
            continue
        try:
            right = writers.summary(path) == wanted
        except Exception as error:  # pylint: disable=broad-except
            right = False
            print(error)
        findings.expect(right, f"{what}: {name} has its name and is not whole")


def expect_done(writer, findings, what, theirs, may_be_left=()):
    """All is made as by an undisturbed run, nothing else is there, and users' files are as they were.
    `may_be_left`: endings of names."""
    names, wanted = UNDISTURBED[writer.name]
    made = read_made(findings, what)
    if made is None:
        return
    optional = set(writer.optional)
    for name in sorted(wanted):
        if name not in made:
            findings.expect(name in optional, f"{what}: {name} is not there")
        else:
            findings.expect(made[name] == wanted[name], f"{what}: {name} is not what it should be")
    left = sorted(name for name in writers.names() - names if not name.endswith(may_be_left))
    findings.expect(not left, f"{what}: leaves {left}")
    now = writers.marks_of_theirs()
    touched = [name for name in now if now[name] != theirs[name]]
    findings.expect(not touched, f"{what}: files of a user are touched: {touched}", f"{theirs}\n{now}")
    for file in writer.verified:
        done = attempt("verify", file)
        findings.expect(done.returncode == 0, f"{what}: verify says {done.returncode}", done.stdout + done.stderr)


def words_again(writer):
    """What the command takes besides where some of its files are there already."""
    there = any(pathlib.Path(OUTPUTS, name).exists() for name in UNDISTURBED[writer.name][0])
    return [*writer.again] if there else []


def finish_it(writer, rng, findings, what, theirs, words=(), may_be_left=()):
    """The same command, on other ranks with other chunks, completes what it makes. It makes no report where there
    is nothing to do, so that what was written of one stays."""
    words = [*words, *writer.vary(rng), *words_again(writer)]
    ranks = rng.choice(writer.ranks)
    code, text = run(writer, words, ranks)
    if findings.expect(code == 0, f"{what}: then ends with {code} on {ranks} ranks {words}", text):
        expect_done(writer, findings, what, theirs, (*may_be_left, *(f"{name}.partial" for name in writer.optional)))
