# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx builds the pages as a site (scripts/docs). The pages stay plain Markdown, for code hosts."""
import re

project = "runner"
copyright = "2026, the runner authors"
extensions = ["myst_parser"]
html_theme = "sphinx_rtd_theme"
html_title = "runner"
html_theme_options = {"navigation_depth": 2}
html_show_sourcelink = False
html_copy_source = False
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["dark.css"]
html_additional_pages = {"index": "landing.html"}
root_doc = "docs/README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**.md",
                    "bench/results/README.md", "examples/*.md", "packaging/*.md", "slurm/*.md",
                    "tests/slurm/*.md"]
exclude_patterns = ["build*", "**/.*"]
myst_heading_anchors = 4  # as code hosts name them
suppress_warnings = ["myst.xref_ambiguous"]


def add_contents(app, name, source):
    """The index's lists of pages are the site's table of contents, under the same headings; so are
    the decisions, below their own index."""
    if name not in (root_doc, "docs/adr/README"):
        return
    for part in re.split(r"^##? ", source[0], flags=re.MULTILINE)[1:]:
        pages = re.findall(r"^(?:\*|\d+\.) .*", part, re.MULTILINE)
        links = [link for page in pages for link in re.findall(r"\]\(([^)#]+\.md)\)", page)]
        source[0] += "\n".join(["", "", "```{toctree}", ":hidden:", f":caption: {part.splitlines()[0]}",
                                "", *links, "```", ""])


def setup(app):
    app.connect("source-read", add_contents)
