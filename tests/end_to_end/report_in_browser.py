"""Has a headless Chromium draw the pages of --report.

What it drew must be what the report says, no name may act as markup, and the page must load nothing and
leave the console empty. Without a Chromium the test is skipped.
"""
import base64
import json
import pathlib
import subprocess

import pytest

from browser import Browser, find_browser
from events import GUARD
from harness import programs
from report_page import JOBS, Page, bars_of, open_page, run, same_bars, text_of


def show_pages(check):
    program = find_browser()
    if program is None:
        pytest.skip("there is no chromium")
    with Browser(program) as browser:
        for name in JOBS:
            report = run(name)
            for width, scheme in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]:
                what = f"{name}, {width} pixels, {scheme}"
                open_page(browser, check, f"{name}.html", width, scheme, what)
                luminous = browser.value("getComputedStyle(document.body).backgroundColor")
                first = int(luminous.split("(")[1].split(",")[0])
                check((first > 127) == (scheme == "light"), f"{what}: paper {luminous}")
                if programs.pictures:
                    browser.picture(f"{programs.pictures}/{name}-{width}-{scheme}.png")
                zoom(browser, check, what)
            read_drawn(browser, check, name, report)
        report = json.loads(pathlib.Path("stream.json").read_text())
        numbers(browser, check, report)
        hostile(browser, check, report)
        undrawn(browser, check, report)
        compare(browser, check)
        printed(browser, check)
        check(not browser.messages, f"the console says {browser.messages}")


def read_drawn(browser, check, name, report):
    """What the script made of the report."""
    page = Page(browser.value("document.documentElement.outerHTML"))
    reported = bars_of(report)
    check(same_bars(page.bars, reported), f"{name}: {len(page.bars)} bars, {len(reported)} in the JSON")
    check(text_of(browser, "h1") == [report["job"]["name"]], f"{name}: name")
    if name == "chain":  # whose second pass reads a file that the first has made
        check(report["input"] | {"bytes": 0, "modified": ""} == {
            "file": "noise.h5", "dataset": "/a", "type": "float32", "shape": [700, 900],
            "storage": "contiguous", "bytes": 0, "modified": ""}, f"{name}: {report['input']}")
        check(text_of(browser, "dd")[4:6] == ["3.00 MiB", "923 KiB"], f"{name}: {text_of(browser, 'dd')}")
    check(text_of(browser, ".verdict") == [report["verdict"]], f"{name}: verdict")
    check(report["job"]["text"] in text_of(browser, "pre"), f"{name}: job file")
    check(text_of(browser, "figcaption")[0].startswith(f"before: {report['input']['file']}") and
          text_of(browser, "figcaption")[1].startswith(f"after: {report['output']['file']}"),
          f"{name}: {text_of(browser, 'figcaption')}")
    check(len(page.pictures) == 2 and browser.value(
        "[...document.images].every(i => i.naturalWidth > 1)"), f"{name}: pictures")
    passes = ["Passes and steps"] if "passes" in report else []
    found = ["Counted and found"] if report["counts"] or report["notes"] else []
    check(text_of(browser, "h2") == ["Timeline", "Throughput", "Stages", "The command's time", *passes, *found,
                                     "Data", "Memory", "Ranks and devices", "Warnings", "Reproduce this run"],
          f"{name}: {text_of(browser, 'h2')}")
    heads = [f"Pass {each['pass']}: {each['output']['file']}:{each['output']['dataset']}"
             for each in report.get("passes", [])]
    check([head for head in text_of(browser, "h3") if head.startswith("Pass ")] == heads and
          (len(heads) == 2) == (name == "chain"), f"{name}: {text_of(browser, 'h3')}")
    check(browser.value("document.title") == f"{report['job']['name']} – runner", f"{name}: title")


def page_of(report, name):
    """The page of a report that is made here."""
    pathlib.Path(f"{name}.json").write_text(json.dumps(report))
    done = subprocess.run([programs.runner, "report", f"{name}.json", "--page", f"{name}.html"],
                          capture_output=True, text=True, timeout=GUARD)
    assert done.returncode == 0, f"{name}: exit {done.returncode}\n{done.stderr}"
    return f"{name}.html"


def numbers(browser, check, report):
    """A report of known numbers, and what the page must say of them, worked out by hand."""
    report = json.loads(json.dumps(report))
    report.update({"wall_seconds": 2.0, "start_seconds": 0.25, "finish_seconds": 0.125, "runs": 2,
                   "warnings": ["odd & <small>"], "notes": ["a <note>"],
                   "counts": {"flat.dead_values": 4752}})
    report["job"].update({"file": "a'b.toml", "folder": "/data/my jobs", "settings": ["run.lanes=2"]})
    step = {"step": "step 1 (\"a\")", "seconds": 0.25, "bytes": 4000}
    one = {"pass": 1, "output": {"file": "o.h5.pass-1.h5", "dataset": "/pass/data"},
           "stream_seconds": 0.5, "bytes_read": 2048, "bytes_written": 4096, "bottleneck": "read",
           "overlap_efficiency": 0.875, "steps": [step, step | {"step": "step 2", "seconds": 0.5}]}
    report["passes"] = [one, one | {"pass": 2, "bottleneck": "write", "output":
                                    {"file": "o.h5", "dataset": "/a"},
                                    "steps": [step | {"step": "step 3", "seconds": 0, "bytes": 0}]}]
    report["bounding_step"] = "step 2"
    report["phases"] = [{"phase": "loading", "seconds": 0.25}, {"phase": "stream", "seconds": 0.5},
                        {"phase": "too short to show", "seconds": 0.0009}]
    report["plan"]["backend"] = "cuda"
    report["plan"]["memory_per_rank"].update({"host_bytes": 1024, "host_limit_bytes": 4096,
                                              "device_bytes": 2048, "device_limit_bytes": 8192,
                                              "images_bytes": 1024, "images_work_bytes": 2048})
    idle = {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0}
    for number, rank in enumerate(report["ranks"]):
        rank.update({"host": f"n{number}", "device": "H200", "uuid": "GPU-1", "rows": [0, 15],
                     "stream_seconds": 1.5 - number, "stages": {key: idle for key in rank["stages"]},
                     "memory": {"device_bytes": 1024, "resident_before_bytes": 1000,
                                "resident_peak_bytes": 3048}})
    first = report["ranks"][0]
    first["halvings"] = [{"reason": "no 4 GiB", "chunk_rows": 8, "lanes": 1}]
    first["stages"].update({"read": {"busy_seconds": 0.5, "wait_seconds": 0.25, "bytes": 4000},
                            "write": {"busy_seconds": 1.0, "wait_seconds": 0, "bytes": 2000}})
    bar = {"lane": 3, "stage": "read", "start": 0, "end": 0.5, "busy": 0.5, "events": 1,
           "bytes": 4000, "first": "chunk 0"}
    first["timeline"] = {"merged_below_seconds": 0.5, "bars": [bar, bar | {
        "lane": 1, "stage": "write", "start": 0.5, "end": 1.5, "bytes": 2000, "events": 3}]}
    del report["ranks"][1]["timeline"]
    open_page(browser, check, page_of(report, "numbers"))
    check(text_of(browser, "dd") == ["2 s", "250 ms", "1.5 s", "125 ms", "4.00 KiB", "8.00 KiB",
                                     "6.14 kB/s"], f"tiles: {text_of(browser, 'dd')}")
    bars = browser.value('[...document.querySelectorAll(".stack")].map(bar => '
                         '[bar.textContent, bar.querySelector("i").style.width])')
    check(bars[:2] == [["loading250 ms", "50%"], ["stream500 ms", "100%"]] and
          "too short" not in str(bars), f"phases: {bars}")
    rows = browser.value('[...document.querySelectorAll(".wide tr")].map(row => '
                         "[...row.cells].map(cell => cell.textContent))")
    check(["reading", "500 ms", "33 %", "250 ms", "3.91 KiB", "8 kB/s"] in rows and
          ["writing", "1 s", "67 %", "–", "1.95 KiB", "2 kB/s"] in rows and
          sum(len(row) == 6 for row in rows) == 3, f"stages: {rows}")
    check(["0", "n0", "H200GPU-1", "1", first["cores"], "0 to 15", "7", "4", "1.5 s"] in rows,
          f"ranks: {rows}")
    check(text_of(browser, ".warnings li") == [
        "odd & <small>", "rank 0: no 4 GiB; continued with chunks of 8 rows in 1 lane"],
        f"warnings: {text_of(browser, '.warnings li')}")
    check(text_of(browser, ".found li") == ["a <note>"] and
          text_of(browser, ".facts tr")[0] == "flat: dead values4752", f"found: {text_of(browser, '.found li')}")
    check(text_of(browser, "pre")[0] == "cd '/data/my jobs'\nmpirun -n 2 runner 'a'\\''b.toml' "
          "--set run.lanes=2", f"command: {text_of(browser, 'pre')}")
    check("2 ranks on 2 hosts, H200" in text_of(browser, ".sub")[0], "where it ran")
    widths = browser.value('[...document.querySelectorAll(".stack i")].map(i => i.style.width)')
    check(widths[2:] == ["50%", "100%", "0%", "50%", "100%", "100%", "50%"],
          f"steps and memory: {widths}")
    check(text_of(browser, "h3")[:2] == ["Pass 1: o.h5.pass-1.h5:/pass/data", "Pass 2: o.h5:/a"],
          f"passes: {text_of(browser, 'h3')}")
    labels = text_of(browser, ".stack span:first-child")
    check(labels[2:5] == ['step 1 ("a")', "step 2, longest", "step 3"], f"steps: {labels}")
    check(["1", 'step 1 ("a")', "250 ms", "3.91 KiB", "16 kB/s"] in rows and
          ["2", "step 3", "0 µs", "0 B", "–"] in rows, f"steps: {rows}")
    notes = " ".join(text_of(browser, ".small"))
    for part in ["Read 2.00 KiB, wrote 4.00 KiB in 500 ms. Busiest: reading, 88 %.",
                 "images 1.00 KiB, computed before in 2.00 KiB", "Shown: 1 of 2 ranks.",
                 "recorded 4 events", "less than 500 ms", "2 bars",
                 "Limit: 4.00 KiB", "Limit: 8.00 KiB", "Of the ranks shown above."]:
        check(part in notes, f"{part} is not in {notes}")
    rects = browser.value('[...document.querySelectorAll("rect")].map(r => [r.parentNode.'
                          'getAttribute("transform"), r.getAttribute("x"), r.getAttribute("width"),'
                          ' r.getAttribute("height"), r.getAttribute("opacity")])')
    check(rects == [["translate(0 0)", "0", "500", "11", None],
                    ["translate(0 17)", "500", "1000", "11", "0.57"]], f"bars: {rects}")
    all_passes(browser, check, report, bar)


def all_passes(browser, check, report, bar):
    """The same of which every pass is known: times and bytes add up, and one timeline has both."""
    stages = {name: {"busy_seconds": 0, "wait_seconds": 0, "bytes": 0} for name in report["ranks"][0]["stages"]}
    first, second = report["passes"]
    first |= {"start_seconds": 0, "stages": stages | {"read": {"busy_seconds": 0.25, "wait_seconds": 0, "bytes": 2048}},
              "timelines": [{"rank": 0, "merged_below_seconds": 0, "bars": [bar | {"end": 0.25}]}]}
    second |= {"start_seconds": 0.75, "stream_seconds": 0.5, "stages": stages | {
        "read": {"busy_seconds": 0.5, "wait_seconds": 0, "bytes": 2048}}}
    report["ranks"][0]["timeline"]["bars"] = [bar]
    open_page(browser, check, page_of(report, "passes"))
    check(text_of(browser, "dd")[:3] == ["2 s", "250 ms", "1.25 s"], f"tiles of all passes: {text_of(browser, 'dd')}")
    rows = browser.value('[...document.querySelectorAll(".wide tr")].map(row => '
                         "[...row.cells].map(cell => cell.textContent))")
    for row in [["1", "0 µs", "500 ms", "2.00 KiB", "4.00 KiB", "reading 250 ms"],
                ["2", "750 ms", "500 ms", "2.00 KiB", "4.00 KiB", "reading 500 ms"],
                ["all", "", "1.25 s", "4.00 KiB", "8.00 KiB", ""],
                ["reading", "750 ms", "60 %", "–", "4.00 KiB", "5.46 kB/s"]]:
        check(row in rows, f"{row} is not in {rows}")
    bars = browser.value('[...document.querySelectorAll("rect")].map(r => [r.getAttribute("x"), r.getAttribute("width")])')
    check(bars == [["0", "250"], ["750", "500"]], f"bars of all passes: {bars}")
    check("Pass 2 begins at 750 ms." in " ".join(text_of(browser, ".small")), "start of pass 2")


MARKUP = "</script a></script/></script><!--<script>]]>&lt;<img src=x onerror=window.injected=1>\u2028'\"\\"


def hostile(browser, check, report):
    """Every string and name of a report is markup: it must stay text."""
    def attacked(value, key=""):
        if isinstance(value, dict):
            return {name if key != "runner" else MARKUP + name: attacked(inner, name)
                    for name, inner in value.items()}
        if isinstance(value, list):
            return [attacked(inner, key) for inner in value]
        return MARKUP + value if isinstance(value, str) and key != "stage" else value
    report = attacked(report) | {"warnings": [MARKUP], "notes": [MARKUP]}
    report["ranks"][0]["timeline"]["bars"].append(
        report["ranks"][0]["timeline"]["bars"][0] | {"stage": MARKUP})
    report["runner"]["version"] = report["runner"]["__proto__"] = MARKUP
    open_page(browser, check, page_of(report, "hostile"), what="hostile names")
    browser.value("document.querySelector('rect').dispatchEvent("
                  "new PointerEvent('pointermove', {bubbles: true}))")
    check(browser.value("window.injected") is None, "hostile names: a script ran")
    check(browser.value('[document.querySelectorAll("img,iframe,object,embed,a").length, '
                        "document.scripts.length]") == [0, 3], "hostile names: elements")
    check(text_of(browser, "h1") == [report["job"]["name"]], "hostile names: name")
    check(MARKUP in text_of(browser, ".tip")[0], f"hostile names: {text_of(browser, '.tip')}")
    words = text_of(browser, "main")[0]
    shown = [report["verdict"], report["job"]["text"], report["input"]["file"],
             report["output"]["dataset"], *report["runner"], *report["runner"].values(),
             report["ranks"][0]["host"], report["ranks"][0]["device"]]
    check(all(text in words for text in shown), "hostile names: they are not shown as they are")
    subprocess.run([programs.runner, "report", "hostile.json", "stream.json", "--page",
                    "two.html"], check=True, capture_output=True, timeout=GUARD)
    open_page(browser, check, "two.html", what="hostile runs")
    check(browser.value("window.injected") is None and
          browser.value('document.querySelectorAll("img").length') == 0 and
          report["job"]["name"] in text_of(browser, "td"), "hostile runs")


def undrawn(browser, check, report):
    """Without JavaScript, and where the script fails, the page shows its data as text."""
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    open_page(browser, check, "stream.html", 400, what="without JavaScript")
    seen = browser.value("document.body.innerText")
    check("JavaScript" in seen and report["verdict"] in seen and "onerror" not in seen and
          "base64" not in seen, f"without JavaScript: {seen[:200]}")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    text = pathlib.Path("stream.html").read_text()
    pathlib.Path("broken.html").write_text(text.replace('"ranks": [\n    {', '"ranks_": [\n    {'))
    before, browser.messages = browser.messages, []
    open_page(browser, check, "broken.html", what="a broken page")
    seen = browser.value("document.body.innerText")
    check("could not be drawn" in seen and report["verdict"] in seen, f"broken page: {seen[:200]}")
    check(len(browser.messages) == 1 and "exceptionDetails" in browser.messages[0],
          f"broken page: the console says {browser.messages}")
    browser.messages = before


def printed(browser, check):
    """On paper: light, without buttons."""
    browser.open(pathlib.Path("stream.html").absolute(), 1280, 900, "dark")
    browser.call("Emulation.setEmulatedMedia", media="print")
    check(browser.value('[getComputedStyle(document.body).backgroundColor, '
                        'getComputedStyle(document.querySelector(".zoom")).display]') ==
          ["rgb(252, 252, 251)", "none"], "printed: colours and buttons")
    paper = browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]
    check(base64.b64decode(paper).startswith(b"%PDF"), "printed")
    if programs.pictures:
        pathlib.Path(f"{programs.pictures}/stream.pdf").write_bytes(base64.b64decode(paper))
    browser.call("Emulation.setEmulatedMedia", media="")


def compare(browser, check):
    """runner report: of several runs, and the page of one made again."""
    files = [f"{name}.json" for name in JOBS]
    done = subprocess.run([programs.runner, "report", *files, "--json", "--page", "runs.html"],
                          capture_output=True, text=True, timeout=GUARD)
    reports = [json.loads(pathlib.Path(file).read_text()) for file in files]
    check(done.returncode == 0 and [run["wall_seconds"] for run in json.loads(done.stdout)] ==
          [report["wall_seconds"] for report in reports], f"report: {done}")
    longest = max(report["wall_seconds"] for report in reports)
    for width in (1280, 400):
        open_page(browser, check, "runs.html", width)
        if programs.pictures:
            browser.picture(f"{programs.pictures}/runs-{width}-light.png")
        rows = browser.value('[...document.querySelectorAll(".wide tr")].map(row => '
                             "[...row.cells].map(cell => cell.textContent))")
        check([row[0] for row in rows[1:]] == files and rows[1][10] == "1 ×" and
              [row[2] for row in rows[1:]] == ["convolve", "sand", "pipeline", "transpose"], f"report: {rows}")
        first = browser.value('[...document.querySelectorAll(".stack")].slice(0, 4).map(line => '
                              "[...line.querySelectorAll('i')].map(i => parseFloat(i.style.width)))")
        check(all(abs(parts[0] - 100 * report["start_seconds"] / longest) < 0.01 and
                  abs(sum(parts) - 100 * report["wall_seconds"] / longest) < 0.02
                  for parts, report in zip(first, reports)), f"report: bars of {first}")
        check(text_of(browser, "h2") == ["Runs", "Total time", "Busy time of the busiest rank",
                                         "Settings"], "report: parts")
    done = subprocess.run([programs.runner, "report", files[0], "--page", "one.html"],
                          capture_output=True, text=True, timeout=GUARD)
    open_page(browser, check, "one.html", scheme="dark")
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


@pytest.mark.browser
def test_pages_in_a_browser(findings):
    show_pages(findings.expect)
