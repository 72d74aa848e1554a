"""Runs the functions test_… of a script, each in a new folder."""

import os
import tempfile


def run_tests(functions, words, prepare=lambda: None):
    """Runs those of `functions` (a module's globals()) whose names contain all `words`, each after
    `prepare()` in its folder. Returns the number of failures; that nothing ran is one."""
    tests = {name: test for name, test in functions.items()
             if name.startswith("test_") and all(word in name for word in words)}
    failures = 0 if tests else 1
    for name, test in tests.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                prepare()
                test()
                print(f"{name}: good")
            except Exception as error:  # reported; the other tests still run
                failures += 1
                print(f"{name}: {type(error).__name__}: {error}")
            os.chdir("/")
    print(f"{len(tests)} tests, {failures} failures")
    return failures
