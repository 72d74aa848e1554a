#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the share of long sentences in README.md, docs/**/*.md and the other pages for users.

Code blocks, tables, headings and lists of links are left out. Inline code and a link's text stay:
each piece of inline code is one word. A sentence ends at a full stop, a question mark or an
exclamation mark, and where its paragraph or list item ends; a colon or a semicolon does not end it.

    docs_sentences.py                  every page
    docs_sentences.py docs/sand.md     these pages
    docs_sentences.py --most 2         exit code 1 if more than 2 % of the sentences are long

Exit codes: 0, 1 (more long sentences than --most allows), 2 (wrong usage, or no sentence found).
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST_ITEM = re.compile(r"\s*(?:[*+-]|\d+\.)\s+")
STARTS_WITH_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|Fig|No)\.$")
# A full stop within a word, as in "0.5" or "v1.2", has no blank behind it.
SENTENCE_END = re.compile(r"[.!?][)\"'”*_]*(?=\s+[\"'“(*_]*([^\W_]))")


def blocks(text):
    """The paragraphs and list items of a page, each on one line.

    >>> blocks("# Title\\n\\nOne\\ntwo.\\n\\n| a | b |\\n\\n* three\\n  four\\n* five\\n")
    ['One two.', 'three four', 'five']
    >>> blocks("```sh\\ncode here.\\n```\\nText.")
    ['Text.']
    >>> blocks("* [a](a.md): the first page\\n* [b](b.md)\\n")
    []
    >>> blocks("* [a](a.md): the first page\\n* text\\n")
    ['[a](a.md): the first page', 'text']
    """
    found = []
    items = []  # of the list that is being read
    lines = []  # of the block that is being read
    in_list = False

    def end_block():
        if lines:
            (items if in_list else found).append(" ".join(lines))
            lines.clear()

    def end_list():
        nonlocal in_list
        end_block()
        if not all(STARTS_WITH_LINK.match(item) for item in items):
            found.extend(items)
        items.clear()
        in_list = False

    fence = ""
    after_blank = False
    for line in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).splitlines():
        stripped = line.strip().removeprefix("> ")
        opening = re.match(r"```+|~~~+", stripped)
        if fence:
            if opening and stripped.startswith(fence):
                fence = ""
            continue
        if opening:
            end_block()
            fence = opening.group()
        elif not stripped:
            end_block()
            after_blank = True
            continue
        elif re.match(r"#+ ", stripped):
            end_list()
        elif stripped.startswith("|"):
            end_block()
        elif item := LIST_ITEM.match(line):
            end_block()
            in_list = True
            lines.append(line[item.end() :].strip())
        else:
            if in_list and after_blank and not line.startswith(" "):
                end_list()
            lines.append(stripped)
        after_blank = False
    end_list()
    return found


def sentences(block):
    """The sentences of a paragraph.

    >>> sentences("Run `a. B` first. See [the page](x.md). It takes 0.5 s, e.g. More.")
    ['Run CODE first.', 'See the page.', 'It takes 0.5 s, e.g. More.']
    >>> sentences('<img src="a.svg"> A picture <b>here</b>. One value < 2, another > 3.')
    ['A picture here.', 'One value < 2, another > 3.']
    >>> sentences("**Why.** Because: one; two.")
    ['**Why.**', 'Because: one; two.']
    >>> sentences("Radii 1 … 16 are summed. ΣW² too, to 2. and up.")
    ['Radii 1 … 16 are summed.', 'ΣW² too, to 2. and up.']
    """
    block = re.sub(r"``.+?``|`[^`]*`", "CODE", block)
    block = re.sub(r"<[/a-zA-Z][^>]*>", "", block)
    block = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)
    found = []
    begin = 0
    for end in SENTENCE_END.finditer(block):
        next_begins = end[1].isupper() or end[1].isdigit()
        if next_begins and not ABBREVIATION.search(block[begin : end.end()]):
            found.append(block[begin : end.end()].strip())
            begin = end.end()
    found.append(block[begin:].strip())
    return [sentence for sentence in found if count_words(sentence) > 0]


def count_words(sentence):
    """
    >>> count_words("Two ranks – 2 × 3 – read 0.5 s.")
    7
    """
    return sum(any(c.isalnum() for c in word) for word in sentence.split())


def default_pages():
    found = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")]
    for folder in ("docs", "examples", "packaging", "slurm"):
        found += sorted((ROOT / folder).glob("**/*.md"))
    return found


def name_of(page):
    page = page.resolve()
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else str(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: all")
    parser.add_argument("--words", type=int, default=30, help="longer is long (default 30)")
    parser.add_argument("--worst", type=int, default=3, help="to print of each page (default 3)")
    parser.add_argument("--most", type=float, metavar="PERCENT", help="exit with 1 above this")
    options = parser.parse_args()

    for page in options.pages:
        if not page.is_file():
            parser.error(f"no such page: {page}")

    total = long_total = words_total = 0
    for page in options.pages or default_pages():
        counted = sorted(
            ((count_words(s), s) for b in blocks(page.read_text("utf-8")) for s in sentences(b)),
            key=lambda pair: -pair[0],
        )
        long_ones = [pair for pair in counted if pair[0] > options.words]
        total += len(counted)
        long_total += len(long_ones)
        words_total += sum(words for words, _ in counted)
        if long_ones:
            print(f"{name_of(page)}: {len(long_ones)} of {len(counted)}")
            for words, sentence in long_ones[: options.worst]:
                print(f"  {words} words: {sentence}")
    if total == 0:
        print("docs_sentences.py: no sentence found", file=sys.stderr)
        return 2
    percent = 100 * long_total / total
    print(
        f"{long_total} of {total} sentences ({percent:.1f} %) have more than {options.words} words; "
        f"the mean is {words_total / total:.1f}"
    )
    if options.most is not None and percent > options.most:
        print(f"docs_sentences.py: {percent:.1f} % is above {options.most:g} %", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
