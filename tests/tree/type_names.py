"""No two headers define a type of the same qualified name: that is ill-formed, and no compiler says so
unless one source includes both. And a folder that docs/architecture.md lists with a namespace declares
nothing outside it, and no other folder declares anything inside it. type_names.py [ROOT]
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


def namespaces(root):
    """Namespace of each folder that has one, by the table in the architecture."""
    text = (root / "docs" / "architecture.md").read_text()
    return dict(re.findall(r"^\| `([\w/]+)/` \| `(runner::\w+)` \|", text, re.M))


def opened(text):
    """Namespaces that a file opens at its top, but those that only declare types of other rooms ahead."""
    text = NOISE.sub(" ", text)
    found, depth, begin = [], 0, 0
    for place in re.finditer(r"[{}]", text):
        if place.group() == "}":
            depth -= 1
            if depth == 0 and found and found[-1][1] is None:
                body = text[begin:place.start()]
                found[-1] = (found[-1][0], re.fullmatch(r"(\s*(class|struct|enum class) \w+;)*\s*", body) is not None)
        else:
            head = re.search(r"\bnamespace\s+([\w:]+)\s*$", text[:place.start()]) if depth == 0 else None
            if head:
                found.append((head[1], None))
                begin = place.end()
            depth += 1
    return [name for name, only_ahead in found if not only_ahead]


def misplaced(root):
    """Lines about files that open a namespace which is not their folder's."""
    of_folder = namespaces(root)
    for top in FOLDERS:
        for path in sorted((root / top).rglob("*.?pp")) + sorted((root / top).rglob("*.cu*")) + sorted((root / top).rglob("*.cpp.in")):
            own = of_folder.get(str(path.parent.relative_to(root)))
            for name in opened(path.read_text()):
                if own and name != own:
                    yield f"{path.relative_to(root)} declares names in {name}, not in {own}"
                elif not own and name in of_folder.values():
                    yield f"{path.relative_to(root)} declares names in {name}, which is another folder's"


def check_itself():
    assert opened("namespace C { class A; }\nnamespace r::b { void f() { } namespace { } }\nint main() { }") == ["r::b"]
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
    outside = list(misplaced(root))
    print(*outside, f"{count} types, {len(namespaces(root))} folders with a namespace", sep="\n")
    sys.exit(bool(found or outside) or count < 500 or not namespaces(root))


if __name__ == "__main__":
    main()
