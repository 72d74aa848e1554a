"""Completes command lines as bash does, and reads the manual page."""
import re
import subprocess

import pytest

from harness import attempt, call

pytestmark = pytest.mark.quick

CASES = [
    (["rend"], ["render"]),
    (["--v"], ["--version"]),
    (["a"], ["a.toml"]),
    (["init", "t"], ["transpose"]),
    (["generate", "gr"], ["gradient"]),
    (["a.toml", "--qu"], ["--quiet"]),
    (["run", "a.toml", "--backend", "cu"], ["cuda"]),
    (["generate", "noise", "o.h5", "--dtype", "float"], ["float32", "float64"]),
    (["convert", "a.h5", "b.h5", "--compression", "bit"], ["bitshuffle-lz4", "bitshuffle-zstd"]),
    (["render", "--pr"], ["--project"]),
    (["render", "--project", "m"], ["max", "min", "mean"]),
    (["render", "--size", ""], []),
    (["inspect", "data"], ["data.h5"]),
    (["plan", "--quie"], []),
]


@pytest.mark.parametrize("words, right", CASES, ids=[" ".join(words) for words, _ in CASES])
def test_completion(words, right):
    script = call("completion", "bash").stdout
    for name in ("a.toml", "data.h5"):
        open(name, "w").close()
    line = " ".join(f"'{word}'" for word in ["runner", *words])
    done = subprocess.run(
        ["bash", "-c", f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _runner; "
         'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True)
    assert sorted(done.stdout.split()) == sorted(right) and not done.stderr, done


def test_manual_has_every_option():
    plain = call("manual").stdout.replace("\\-", "-")
    verbs = re.findall(r'^\.SS "runner ([a-z]+)', plain, re.M)
    assert len(verbs) >= 12, verbs
    for verb in verbs:
        text = attempt(verb, "--help").stdout
        section = plain[plain.index(f'.SS "runner {verb}'):].split("\n.S", 1)[0]
        for option in re.findall(r"\n  (?:-\w,)?(--[a-z-]+)", text):
            assert f"\\fB{option}\\fR" in section, f"{verb} {option}"


def test_manual_is_a_page():
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Kutf8"], input=call("manual").stdout, text=True,
                          capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
