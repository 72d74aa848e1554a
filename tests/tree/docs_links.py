#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Resolves every link of every Markdown page in the repository: files, folders and headings.

A heading's name is made as code hosts make it. Links to other hosts are counted, and must use https.
Exit codes: 0, 1 (a link leads nowhere).
"""

import doctest
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_code(text):
    """The page without its blocks and pieces of code, line by line.

    >>> without_code("a `[x](y)` b\\n```sh\\n[c](d)\\n```\\ne")
    'a  b\\n\\n\\n\\ne'
    """
    lines, fence = [], ""
    for line in text.splitlines():
        opening = re.match(r"\s*(```+|~~~+)", line)
        if fence:
            fence = "" if opening and opening[1] == fence else fence
            lines.append("")
        elif opening:
            fence = opening[1]
            lines.append("")
        else:
            lines.append(re.sub(r"``.+?``|`[^`]*`", "", line))
    return "\n".join(lines)


def anchors(text):
    """The names of a page's headings.

    >>> sorted(anchors("# One, two\\n## `[x]`\\n## A-b\\n## A-b\\n```\\n# no\\n```\\n"))
    ['a-b', 'a-b-1', 'one-two', 'x']
    """
    found, fence = set(), False
    counts = {}
    for line in text.splitlines():
        if re.match(r"\s*(```|~~~)", line):
            fence = not fence
        heading = None if fence else re.match(r"#{1,6} +(.*?) *#*$", line)
        if heading:
            title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            count = counts.get(name, 0)
            counts[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def links(text):
    """Each link of a page, with its line.

    >>> list(links("a [b](c.md) ![d](e.png)\\n<img src='f.svg'> [g](<h i.md>) `[x](y)`"))
    [(1, 'c.md'), (1, 'e.png'), (2, 'h i.md'), (2, 'f.svg')]
    """
    for number, line in enumerate(without_code(text).splitlines(), 1):
        for match in re.finditer(r"\]\((?:<([^>]*)>|([^)\s]+))(?:\s+\"[^\"]*\")?\)", line):
            yield number, match[1] or match[2]
        for match in re.finditer(r"(?:src|href)=[\"']([^\"']+)", line):
            yield number, match[1]


def wrong(page, link, tracked):
    """Why a link of a page leads nowhere; None if it does not."""
    if re.match(r"[a-z]+:", link):
        return None if link.startswith("https://") else "not https"
    path, _, anchor = link.partition("#")
    target = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
    name = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else None
    if name is None:
        return "outside the repository"
    if name not in tracked:
        return "no such file in the repository" if not target.is_dir() else "a folder, which the site cannot show"
    if anchor and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8")):
        return f"no such heading in {name}"
    return None


def main():
    if doctest.testmod().failed:
        return 1
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    tracked = set(listed.stdout.decode().split("\0"))
    failures = here = away = 0
    for name in sorted(n for n in tracked if n.endswith(".md")):
        page = ROOT / name
        for line, link in links(page.read_text("utf-8")):
            away += link.startswith("http")
            here += not link.startswith("http")
            why = wrong(page, link, tracked)
            if why:
                failures += 1
                print(f"{name}:{line}: {link}: {why}")
    print(f"{here} links to files and headings, {failures} lead nowhere; {away} to other hosts")
    return 1 if failures or here < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
