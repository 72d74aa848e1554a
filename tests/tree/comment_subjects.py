"""A comment has a subject: none begins with a genitive that hangs on what it stands beside, as "Of the
file". comment_subjects.py [ROOT]
"""
import pathlib
import re
import sys

FOLDERS = ["base", "bench", "cli", "io", "jobs", "kernels", "runner", "slurm", "tests", "views"]
ENDINGS = {".hpp", ".cpp", ".cu", ".cuh"}
COMMENT = re.compile(r"(?:^|\s)///?<?\s+(.*)")
HANGING = re.compile(r"(?:Of|(?:That|Those) of)\b")


def faults(text):
    """The numbers of the lines on which a comment begins like that."""
    found, inside = [], False
    for number, line in enumerate(text.split("\n"), 1):
        match = COMMENT.search(line)
        begins = match and not (inside and line.lstrip().startswith("//"))
        if begins and HANGING.match(match[1]):
            found.append(number)
        inside = bool(match) and (line.lstrip().startswith("//") or "///<" in line)
    return found


def check_itself():
    assert faults("/// Of a file.\nint a; ///< Of it\n/// The size. That\n/// Of all.\nint b; // Those of b") == [1, 2, 5]
    assert not faults("/// Often.\nint a; // off\n/// The rows\n/// of it")


def main():
    check_itself()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in ENDINGS]
    count = 0
    for path in files:
        for number in faults(path.read_text()):
            print(f"{path.relative_to(root)}:{number}: the comment has no subject")
            count += 1
    print(f"{len(files)} files")
    sys.exit(count > 0 or len(files) < 500)


if __name__ == "__main__":
    main()
