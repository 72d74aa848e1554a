"""Holds the pages of --report to the JSON of the same run: report_page.py RUNNER MPIRUN [--browser]
[--pictures FOLDER].

Without --browser the page's text is read; with it, a headless Chromium shows the page, which must not
ask for anything nor complain. Without a Chromium that part is skipped.
"""
import argparse
import base64
import html.parser
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from browser import Browser, find_browser

JOBS = {
    "stream": (2, 'kind = "convolve"\n[input]\nfile = "noise.h5"\ndataset = "/a"\n'
               'generate = { pattern = "gradient", shape = [700, 900], dtype = "float32" }\n'
               '[output]\nfile = "stream.h5"\n[run]\nchunk_rows = 50\n'
               '[convolve]\nrow_taps = { box = { radius = 3 } }\n'
               'column_taps = { box = { radius = 3 } }\nboundary = "wrap"\n'),
    "evolve": (2, 'kind = "sand"\n[input]\nfile = "sand.h5"\ngenerate = { pattern = "sample-1" }\n'
               '[output]\nfile = "evolve.h5"\n[sand]\ngenerations = 60\nsnapshot_every = 10\n'),
    "permute": (1, 'kind = "transpose"\nname = "a <b> & \\"c\\""\n[input]\nfile = "volume.h5"\n'
                'dataset = "/a"\n'
                'generate = { pattern = "index", shape = [20, 30, 40], dtype = "uint16" }\n'
                '[output]\nfile = "permute.h5"\nchunk = [1, 10, 20]\ncompression = "deflate"\n'
                '[run]\nchunk_rows = 100\n[transpose]\npermutation = [1, 2, 0]\n'),
}


class Page(html.parser.HTMLParser):
    """What a page holds."""

    def __init__(self, text):
        super().__init__()
        self.bars = []
        self.pictures = []
        self.links = []
        self.data = ""
        self.words = ""
        self.group = None
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.inside.append(values.get("id", tag))
        for name in ("src", "href", "action", "data", "xlink:href"):
            if name in values:
                self.links.append(values[name])
        if tag == "g":
            self.group = values
        elif tag == "rect":
            self.bars.append((int(self.group["data-rank"]), int(self.group["data-lane"]),
                              self.group["data-stage"], float(values["x"]), float(values["width"]),
                              values["data-name"], int(values.get("data-events", 1))))
            self.inside.pop()
        elif tag == "img":
            self.pictures.append(base64.b64decode(values["src"].split("base64,")[1]))
        if tag in ("img", "meta", "link", "br", "path") and self.inside:
            self.inside.pop()

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if tag not in ("rect", "path") and self.inside:
            self.inside.pop()

    def handle_data(self, data):
        if self.inside and self.inside[-1] == "report":
            self.data += data
        elif self.inside and self.inside[-1] not in ("script", "style"):
            self.words += data


def bars_of(report):
    return [(rank["rank"], bar["lane"], bar["stage"], round(1000 * bar["start"], 3),
             round(1000 * (bar["end"] - bar["start"]), 3), bar["first"], bar["events"])
            for rank in report["ranks"] for bar in rank["timeline"]["bars"]]


def without_bars(report):
    report = json.loads(json.dumps(report))
    for rank in report["ranks"]:
        del rank["timeline"]
    return report


class Check:
    def __init__(self):
        self.count = self.failures = 0

    def __call__(self, right, what):
        self.count += 1
        if not right:
            self.failures += 1
            print(f"FAILED {what}")


def same_bars(found, told):
    return len(found) == len(told) and all(
        a[:3] == b[:3] and a[5:] == b[5:] and abs(a[3] - b[3]) < 2e-3 and abs(a[4] - b[4]) < 3e-3
        for a, b in zip(sorted(found), sorted(told)))


def run(arguments, name):
    ranks, job = JOBS[name]
    pathlib.Path(f"{name}.toml").write_text(job)
    command = [arguments.runner, f"{name}.toml", "--quiet", "--backend", "cpu", "--report",
               f"{name}.json", "--report", f"{name}.html"]
    if ranks > 1:
        command = [arguments.mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks),
                   *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{name}: exit {done.returncode}\n{done.stderr}")
    return json.loads(pathlib.Path(f"{name}.json").read_text())


def read_pages(arguments, check):
    for name in JOBS:
        report = run(arguments, name)
        text = pathlib.Path(f"{name}.html").read_text()
        page = Page(text)
        told = bars_of(report)
        check(same_bars(page.bars, told), f"{name}: {len(page.bars)} bars, {len(told)} in the JSON")
        check({bar[0] for bar in told} == set(range(JOBS[name][0])), f"{name}: bars of all ranks")
        check({"read", "compute", "write"} <= {bar[2] for bar in told}, f"{name}: stages")
        check(json.loads(page.data) == without_bars(report), f"{name}: the report within the page")
        check(all(link.startswith("data:") for link in page.links), f"{name}: {page.links}")
        check("url(" not in text and "@import" not in text, f"{name}: style sheets")
        check(report["verdict"] in page.words, f"{name}: verdict")
        check(report["job"]["name"] in page.words and report["job"]["text"] in page.words,
              f"{name}: job")
        check(len(page.pictures) == 2 and all(
            picture.startswith(b"\x89PNG") and
            max(struct.unpack(">II", picture[16:24])) <= 320 for picture in page.pictures),
            f"{name}: pictures")
        for rank in report["ranks"]:
            for stage, times in rank["stages"].items():
                # Border rows are read before, and count once.
                moved = sum(bar["bytes"] for bar in rank["timeline"]["bars"]
                            if bar["stage"] == stage)
                check(moved == times["bytes"] or stage == "read",
                      f"{name}: {stage}: {moved} in bars, {times['bytes']} in all")


def show_pages(arguments, check):
    program = find_browser()
    if program is None:
        print("report_page.py: Skipped\nthere is no chromium\n[  SKIPPED ] 1 test")
        return
    with Browser(program) as browser:
        for name in JOBS:
            report = run(arguments, name)
            for width, scheme in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]:
                what = f"{name}, {width} pixels, {scheme}"
                browser.asked = []
                browser.open(pathlib.Path(f"{name}.html").absolute(), width, 900, scheme)
                check(browser.value('document.querySelectorAll("rect").length') ==
                      len(bars_of(report)), f"{what}: bars")
                check(browser.value("document.documentElement.scrollWidth") <= width,
                      f"{what}: it is wider than the window")
                luminous = browser.value("getComputedStyle(document.body).backgroundColor")
                first = int(luminous.split("(")[1].split(",")[0])
                check((first > 127) == (scheme == "light"), f"{what}: paper {luminous}")
                if arguments.pictures:
                    browser.picture(f"{arguments.pictures}/{name}-{width}-{scheme}.png")
                zoom(browser, check, what)
                check(all(url.startswith(("file://", "data:")) for url in browser.asked) and
                      sum(url.startswith("file://") for url in browser.asked) == 1,
                      f"{what}: it asked for {browser.asked}")
        compare(arguments, browser, check)
    check(not browser.told, f"the console says {browser.told}")


def compare(arguments, browser, check):
    """runner report: of several runs, and the page of one made again."""
    files = [f"{name}.json" for name in JOBS]
    done = subprocess.run([arguments.runner, "report", *files, "--json", "--page", "runs.html"],
                          capture_output=True, text=True, timeout=60)
    reports = [json.loads(pathlib.Path(file).read_text()) for file in files]
    check(done.returncode == 0 and [run["wall_seconds"] for run in json.loads(done.stdout)] ==
          [report["wall_seconds"] for report in reports], f"report: {done}")
    for width in (1280, 400):
        browser.open(pathlib.Path("runs.html").absolute(), width, 900, "light")
        check(browser.value('document.querySelectorAll(".wide tr").length') == 1 + len(files),
              "report: a line a run")
        check(browser.value("document.documentElement.scrollWidth") <= width, "report: too wide")
    done = subprocess.run([arguments.runner, "report", files[0], "--page", "one.html"],
                          capture_output=True, text=True, timeout=60)
    browser.open(pathlib.Path("one.html").absolute(), 1280, 900, "dark")
    check(done.returncode == 0 and browser.value('document.querySelectorAll("rect").length') ==
          len(bars_of(reports[0])), "report: the page of one run")


def zoom(browser, check, what):
    def seen():
        return browser.value('(v => [v.x, v.width])(document.querySelector("svg.time")'
                             ".viewBox.baseVal)")

    def press(which):
        browser.value(f'document.querySelector("[data-zoom={which}]").click()')

    whole = seen()[1]
    press("in")
    near = lambda a, b: abs(a - b) < 1e-3 * whole
    check(near(seen()[0], whole / 4) and near(seen()[1], whole / 2), f"{what}: zoomed in")
    press("right")
    check(near(seen()[0], whole * 5 / 12), f"{what}: moved")
    press("all")
    check(seen() == [0, whole], f"{what}: the whole run")
    box = browser.value('(b => [b.left, b.top, b.width])'
                        '(document.querySelector("svg.time").getBoundingClientRect())')
    for kind, share in [("mousePressed", 0.25), ("mouseMoved", 0.5), ("mouseReleased", 0.5)]:
        browser.call("Input.dispatchMouseEvent", type=kind, x=box[0] + share * box[2],
                     y=box[1] + 5, button="left", buttons=1, clickCount=1)
    check(abs(seen()[0] - whole / 4) < 0.02 * whole and abs(seen()[1] - whole / 4) < 0.02 * whole,
          f"{what}: dragged over: {seen()} of {whole}")
    times = browser.value('[...document.querySelector(".axis").children].map(s => s.textContent)'
                          ".filter(t => t)")
    check(times and all(t.endswith("s") for t in times), f"{what}: axis {times}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("mpirun")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--pictures")
    arguments = parser.parse_args()
    arguments.runner = os.path.abspath(arguments.runner)
    if arguments.pictures:
        arguments.pictures = os.path.abspath(arguments.pictures)
    check = Check()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        (show_pages if arguments.browser else read_pages)(arguments, check)
        os.chdir("/")
    print(f"report_page: {check.count} checks, {check.failures} failed")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
