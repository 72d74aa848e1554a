"""Holds the pages of --report to the JSON of the same run: reads the page's file.

report_in_browser.py has the pages drawn.
"""
import base64
import html.parser
import json
import pathlib
import struct
import subprocess

from events import GUARD
from harness import launch, programs

JOBS = {
    "stream": (2, 'kind = "convolve"\n[input]\nfile = "noise.h5"\ndataset = "/a"\n'
               'generate = { pattern = "gradient", shape = [700, 900], dtype = "float32" }\n'
               '[output]\nfile = "stream.h5"\n[run]\nchunk_rows = 50\n'
               '[convolve]\nrow_taps = { box = { radius = 3 } }\n'
               'column_taps = { box = { radius = 3 } }\nboundary = "wrap"\n'),
    "evolve": (2, 'kind = "sand"\n[input]\nfile = "sand.h5"\ngenerate = { pattern = "sample-1" }\n'
               '[output]\nfile = "evolve.h5"\n[sand]\ngenerations = 60\nsnapshot_every = 10\n'),
    "chain": (2, '[input]\nfile = "noise.h5"\ndataset = "/a"\n'
              'generate = { pattern = "gradient", shape = [700, 900], dtype = "float32" }\n'
              '[output]\nfile = "chain.h5"\n[run]\nchunk_rows = 50\n'
              '[[step]]\nkind = "median"\nsize = [3, 3]\n'
              '[[step]]\nname = "half"\nkind = "bin"\nfactors = [2, 2]\n'
              '[[step]]\nkind = "rescale"\nfrom = "extremes"\ndtype = "uint16"\n'),
    "permute": (1, 'kind = "transpose"\nname = "a <b> & \\"c\\""\n[input]\nfile = "volume.h5"\n'
                'dataset = "/a"\n'
                'generate = { pattern = "index", shape = [20, 30, 40], dtype = "uint16" }\n'
                '[output]\nfile = "\'<img src=x onerror=injected=1>.h5"\nchunk = [1, 10, 20]\ncompression = "deflate"\n'
                '[run]\nchunk_rows = 100\n[transpose]\npermutation = [1, 2, 0]\n'),
}


class Page(html.parser.HTMLParser):
    """What a page holds: the JSON in its data elements by id, bars, pictures and links."""

    def __init__(self, text):
        super().__init__()
        self.data = {}
        self.bars = []
        self.pictures = []
        self.links = []
        self.group = None
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.links += [values[name] for name in ("src", "href", "action", "data", "xlink:href")
                       if name in values]
        if tag == "script":
            self.inside = values.get("id")
        elif tag == "g":
            self.group = values
        elif tag == "rect":
            self.bars.append((int(self.group["data-rank"]), int(self.group["data-lane"]),
                              self.group["data-stage"], float(values["x"]), float(values["width"]),
                              values["data-name"], int(values.get("data-events", 1))))
        elif tag == "img":
            self.pictures.append(values)

    def handle_endtag(self, tag):
        if tag == "script":
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.data[self.inside] = self.data.get(self.inside, "") + data


def bars_of(report):
    """The bars of all passes, each from the first one's first read."""
    passes = report.get("passes", [{}])
    timelines = [(each, one["start_seconds"]) for one in passes[:-1] for each in one["timelines"]]
    timelines += [(rank["timeline"] | {"rank": rank["rank"]}, passes[-1].get("start_seconds", 0))
                  for rank in report["ranks"]]
    return [(timeline["rank"], bar["lane"], bar["stage"], round(1000 * (start + bar["start"]), 3),
             round(1000 * (bar["end"] - bar["start"]), 3), bar["first"], bar["events"])
            for timeline, start in timelines for bar in timeline["bars"]]


def same_bars(found, reported):
    return len(found) == len(reported) and all(
        a[:3] == b[:3] and a[5:] == b[5:] and abs(a[3] - b[3]) < 2e-3 and abs(a[4] - b[4]) < 3e-3
        for a, b in zip(sorted(found), sorted(reported)))


def run(name):
    ranks, job = JOBS[name]
    pathlib.Path(f"{name}.toml").write_text(job)
    command = [programs.runner, f"{name}.toml", "--quiet", "--backend", "cpu", "--report",
               f"{name}.json", "--report", f"{name}.html"]
    done = subprocess.run([*launch(ranks), *command], capture_output=True, text=True, timeout=GUARD)
    assert done.returncode == 0, f"{name}: exit {done.returncode}\n{done.stderr}"
    return json.loads(pathlib.Path(f"{name}.json").read_text())


def read_pages(check):
    for name in JOBS:
        report = run(name)
        text = pathlib.Path(f"{name}.html").read_text()
        page = Page(text)
        check(json.loads(page.data["report"]) == report, f"{name}: the report within the page")
        check(all(link.startswith("data:") for link in page.links), f"{name}: {page.links}")
        check("url(" not in text and "@import" not in text, f"{name}: style sheets")
        pictures = [base64.b64decode(picture["png"].removeprefix("data:image/png;base64,"))
                    for picture in json.loads(page.data["pictures"])]
        check(len(pictures) == 2 and all(
            picture.startswith(b"\x89PNG") and max(struct.unpack(">II", picture[16:24])) <= 320
            for picture in pictures), f"{name}: pictures")
        reported = bars_of(report)
        check({bar[0] for bar in reported} == set(range(JOBS[name][0])), f"{name}: bars of all ranks")
        check({"read", "compute", "write"} <= {bar[2] for bar in reported}, f"{name}: stages")
        for rank in report["ranks"]:
            for stage, times in rank["stages"].items():
                # Border rows are read before, and count once.
                moved = sum(bar["bytes"] for bar in rank["timeline"]["bars"]
                            if bar["stage"] == stage)
                check(moved == times["bytes"] or stage == "read",
                      f"{name}: {stage}: {moved} in bars, {times['bytes']} in all")


def open_page(browser, check, file, width=1280, scheme="light", what=None):
    """Opens a page, which must fit the window and load nothing."""
    browser.asked = []
    browser.open(pathlib.Path(file).absolute(), width, 900, scheme)
    what = what or file
    check(browser.value("document.documentElement.scrollWidth") <= width,
          f"{what}: it is wider than the window")
    check(all(url.startswith(("file://", "data:")) for url in browser.asked) and
          sum(url.startswith("file://") for url in browser.asked) == 1,
          f"{what}: it asked for {browser.asked}")


def text_of(browser, selector):
    return browser.value(f"[...document.querySelectorAll({json.dumps(selector)})]"
                         ".map(e => e.textContent)")


def test_pages(findings):
    read_pages(findings.expect)
