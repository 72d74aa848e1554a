"""Every X_test.cpp is named by a CMakeLists.txt: one that is not is never compiled, and passes.
registered_tests.py [ROOT]
"""
import pathlib
import re
import sys

CALL = re.compile(r"^\s*\w+_test\(([\w/]+)\s+(\w+)", re.M)


def main():
    tests = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]) / "tests"
    named = {"/".join(call) for lists in tests.rglob("CMakeLists.txt") for call in CALL.findall(lists.read_text())}
    files = sorted(tests.rglob("*_test.cpp")) + sorted(tests.rglob("*_test.cu"))
    missing = [str(file.relative_to(tests)) for file in files
               if str(file.relative_to(tests)).rsplit("_test.", 1)[0] not in named]
    print(f"{len(files)} files of tests, {len(named)} names in CMakeLists.txt")
    for name in missing:
        print(f"tests/{name}: no CMakeLists.txt names it: add runner_test(FOLDER NAME)")
    return 1 if missing or not files else 0


if __name__ == "__main__":
    sys.exit(main())
