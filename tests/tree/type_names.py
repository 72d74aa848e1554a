"""No two headers define a type of the same qualified name: that is ill-formed, and no compiler says so
unless one source includes both. type_names.py [ROOT]
"""
import collections
import pathlib
import re
import sys

FOLDERS = ["base", "io", "jobs", "kernels", "runner", "slurm", "cli", "views"]
NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|R\"\(.*?\)\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|^\s*#[^\n]*", re.S | re.M)
OPENING = re.compile(
    r"(?:(?P<space>\bnamespace)\s*(?P<path>[\w:]*)\s*|"
    r"(?P<special>\btemplate\s*<\s*>\s*)?\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+"
    r"(?:\[\[\w+\]\]\s*)?(?P<type>\w+)(?P<arguments>\s*<[^;{}()]*>)?(?:\s+final)?\s*(?::[^;{}()]*)?)$", re.S)


def types(text):
    """Qualified names of the types that a header defines."""
    text = NOISE.sub(" ", text)
    found, scope, begin = [], [], 0
    for place in re.finditer(r"[{};]", text):
        if place.group() == "{":
            head = OPENING.search(text[begin:place.start()])
            name = None  # a function's or an initialiser's
            if head and head["space"]:
                name = head["path"] or "(anonymous)"
            elif head:
                name = head["type"] + re.sub(r"\s", "", head["arguments"] or "")
                if None not in scope:
                    found.append("::".join([*scope, name]))
            scope.append(name)
        elif place.group() == "}" and scope:
            scope.pop()
        begin = place.end()
    return found


def clashes(root):
    where = collections.defaultdict(set)
    for folder in FOLDERS:
        for ending in ("hpp", "cuh"):
            for path in sorted((root / folder).rglob("*." + ending)):
                for name in types(path.read_text()):
                    where[name].add(str(path.relative_to(root)))
    return {name: files for name, files in where.items() if len(files) > 1}, len(where)


def check_itself():
    assert types("namespace a { struct B; struct C { enum class D { e }; }; }") == ["a::C", "a::C::D"]
    assert types("namespace a::b { template <class T> class E final : public F<T> { void g() { struct H {}; } };"
                 " } // namespace\nstruct I { int j = 1; };") == ["a::b::E", "I"]
    assert types("template <> struct K<int> {}; template <> struct K<char> {};") == ["K<int>", "K<char>"]


def main():
    check_itself()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found, count = clashes(root)
    for name, files in sorted(found.items()):
        print(f"{name} is defined in {', '.join(sorted(files))}")
    print(f"{count} types")
    sys.exit(bool(found) or count < 500)


if __name__ == "__main__":
    main()
