"""Builds the pages as a site: site.py FOLDER. Its first page names runner and all pages, it follows a dark
system, it loads nothing from a network, and its search finds what people look for."""
import html.parser
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
SEARCHES = {  # stems of words, and a page that must be found
    ("downsampl",): "docs/recipes",
    ("crop",): "docs/recipes",
    ("hot", "pixel"): "docs/median",
    ("rotat", "angl"): "docs/recipes",
}


class Page(html.parser.HTMLParser):
    """Links, other addresses that a browser loads by itself, and text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.text = [], [], ""
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "a":
            self.links.append(attrs.get("href", ""))
        elif tag in ("img", "script", "iframe"):
            self.loaded.append(attrs.get("src") or "")
        elif tag == "link" and attrs.get("rel") in ("stylesheet", "shortcut icon", "icon"):
            self.loaded.append(attrs.get("href") or "")

    def handle_data(self, data):
        self.text += data


def found(index, stems):
    """Names of the pages that have all stems, as the site's search finds them."""
    def pages(stem):
        numbers = []
        for terms in (index["terms"], index["titleterms"]):
            of_stem = terms.get(stem, [])
            numbers += of_stem if isinstance(of_stem, list) else [of_stem]
        return {index["docnames"][number] for number in numbers}
    return set.intersection(*map(pages, stems))


def main():
    subprocess.run([ROOT / "scripts/docs", sys.argv[1]], check=True)
    site = pathlib.Path(sys.argv[1]) / "html"
    landing = Page(site / "index.html")
    assert "larger than memory" in landing.text
    listed = {link.split("#")[0] for link in landing.links}
    pages = {f"docs/{page.stem}.html" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= listed | {"docs/README.html"}, f"not on the first page: {pages - listed}"
    missing = [link for link in listed if link and "://" not in link and not (site / link).exists()]
    assert not missing, f"the first page leads nowhere: {missing}"
    for path in [site / "index.html", *site.glob("docs/*.html")]:
        foreign = [address for address in Page(path).loaded if "//" in address]
        assert not foreign, f"{path} loads {foreign}"
    assert any(address.split("?")[0].endswith("dark.css") for address in landing.loaded)
    assert "prefers-color-scheme: dark" in (site / "_static/dark.css").read_text()
    text = (site / "searchindex.js").read_text()
    index = json.loads(text[text.index("(") + 1:text.rindex(")")])
    for stems, page in SEARCHES.items():
        assert page in found(index, stems), f"{stems}: {sorted(found(index, stems))}"


if __name__ == "__main__":
    main()
