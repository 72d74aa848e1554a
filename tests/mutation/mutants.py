"""Mutants of a C++ source: copies with one operator or constant changed."""
import dataclasses
import re

# Binary operators stand between spaces (clang-format), so those of templates, pointers and
# references are left alone.
OPERATORS = {
    "<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="],
    "==": ["!="], "!=": ["=="], "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"],
    "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="],
}
WORDS = {"std::min": "std::max", "std::max": "std::min", "true": "false", "false": "true"}
TOKEN = re.compile(
    r"(?P<skip>//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|^[ \t]*#[^\n]*)"
    r"|(?<= )(?P<operator>[<>=!]=|&&|\|\||[-+]=|[-<>+*/%])(?=[ \n])"
    r"|(?P<word>\bstd::(?:min|max)\b|\btrue\b|\bfalse\b)"
    r"|(?P<not>!)(?=[\w(])"
    r"|(?<![\w.])(?P<number>\d+)(?![\w.'])",
    re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Mutant:
    """`text` with what lies at `start` replaced. `line` counts from 1."""
    line: int
    start: int
    old: str
    new: str

    def of(self, text):
        return text[:self.start] + self.new + text[self.start + len(self.old):]


def replacements(kind, old):
    if kind == "operator":
        return OPERATORS[old]
    if kind == "word":
        return [WORDS[old]]
    if kind == "not":
        return [""]
    return [str(int(old) + 1)] + ([str(int(old) - 1)] if int(old) > 0 else [])


def mutants(text):
    """All mutants of a source, in order."""
    found = []
    for match in TOKEN.finditer(text):
        if match["skip"]:
            continue
        line = text.count("\n", 0, match.start()) + 1
        whole = text[text.rfind("\n", 0, match.start()) + 1:].split("\n", 1)[0]
        # What tells a compiler or a reader something, and changes no result; room for a text.
        if re.match(r"\s*(template|using|static_assert|case \d|std::array<char, )", whole):
            continue
        for new in replacements(match.lastgroup, match[match.lastgroup]):
            found.append(Mutant(line, match.start(), match[match.lastgroup], new))
    return found
