"""Completes command lines as bash does, and reads the manual page: completion.py RUNNER."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

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


def main():
    runner = os.path.abspath(sys.argv[1])
    failures = 0
    script = subprocess.run([runner, "completion", "bash"], capture_output=True, text=True,
                            check=True).stdout
    page = subprocess.run([runner, "manual"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("a.toml", "data.h5"):
            open(name, "w").close()
        for words, right in CASES:
            line = " ".join(f"'{word}'" for word in ["runner", *words])
            done = subprocess.run(
                ["bash", "-c", f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _runner; "
                 'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True)
            found = done.stdout.split()
            if sorted(found) != sorted(right) or done.stderr:
                failures += 1
                print(f"FAILED {words}: {found}, not {right}; {done.stderr}")
        os.chdir("/")
    plain = page.replace("\\-", "-")
    verbs = re.findall(r'^\.SS "runner ([a-z]+)', plain, re.M)
    for verb in verbs:
        text = subprocess.run([runner, verb, "--help"], capture_output=True, text=True).stdout
        section = plain[plain.index(f'.SS "runner {verb}'):].split("\n.S", 1)[0]
        for option in re.findall(r"\n  (?:-\w,)?(--[a-z-]+)", text):
            if f"\\fB{option}\\fR" not in section:
                failures += 1
                print(f"FAILED manual: {verb} {option}")
    if len(verbs) < 12:
        failures += 1
        print(f"FAILED manual: {verbs}")
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-z", "-Kutf8"], input=page, text=True,
                              capture_output=True)
        if done.returncode != 0 or done.stderr:
            failures += 1
            print(f"FAILED groff: {done.stderr}")
    print(f"completion: {len(CASES)} lines, {len(verbs)} verbs in the manual, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
