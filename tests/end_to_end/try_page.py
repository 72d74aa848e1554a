"""The page of `runner try`: its numbers against numpy and scikit-image, and as a Chromium draws it.

The browser's tests are skipped where there is no Chromium.
"""
import html.parser
import json
import pathlib
import re

import h5py
import numpy as np
import pytest
from skimage.metrics import structural_similarity

from browser import Browser, find_browser
from harness import call

SHAPE = (9, 61, 97)
PART = "1:8,:,:"
JOB = """[input]
file = "in.h5"
dataset = "/data"
[output]
file = "out.h5"
sync = false
[run]
backend = "cpu"
[[step]]
name = "scale"
kind = "rescale"
from = [0, 1000]
to = [0, 1]
dtype = "float32"
# which size?
[[step]]
name = "clean"
kind = "median"
size = [3, 3] # of a window
[sweep]
step.clean.size = [[1, 1], [3, 3], [5, 5]]
"""


def clean():
    rows, columns = np.mgrid[:SHAPE[1], :SHAPE[2]]
    steps = np.where(columns > 40, 600.0, 300.0) + 100 * np.sin(rows / 9)
    return np.repeat(steps[None], SHAPE[0], axis=0) + 10 * np.arange(SHAPE[0])[:, None, None]


def write_files(job=JOB):
    noisy = clean() + np.random.default_rng(3).normal(0, 30, SHAPE)
    with h5py.File("in.h5", "w") as file:
        file["/data"] = noisy.astype("float32")
    with h5py.File("clean.h5", "w") as file:
        file["/data"] = (clean() / 1000).astype("float32")
    pathlib.Path("job.toml").write_text(job)


class Page(html.parser.HTMLParser):
    """The numbers of every figure, its pictures by class and slice, and all addresses."""

    def __init__(self, text):
        super().__init__()
        self.figures = []
        self.links = []
        self.tag = self.name = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.links += [values[name] for name in ("src", "href", "action", "data") if name in values]
        if tag == "figure":
            self.figures.append({"images": [], "numbers": {}})
        elif tag == "img":
            self.figures[-1]["images"].append((values["class"], int(values["data-slice"]), "hidden" in values))
        elif tag == "dd":
            self.figures[-1]["numbers"][self.name] = float(values.get("data-value", "nan"))
        self.tag = tag

    def handle_data(self, data):
        if self.tag == "dt":
            self.name = data
        self.tag = None


def noise(images):
    """Immerkær's mask by shifted arrays, with the median."""
    sizes = []
    for image in images.astype("float64"):
        second = image[:, :-2] - 2 * image[:, 1:-1] + image[:, 2:]
        sizes.append(np.abs(second[:-2] - 2 * second[1:-1] + second[2:]).ravel())
    sizes = np.sort(np.concatenate(sizes))
    return 1.4826 * sizes[len(sizes) // 2] / 6


def structure(removed):
    r = removed.astype("float64") - removed.mean(dtype="float64")
    along = [(r[:, :, 1:] * r[:, :, :-1]).sum(), (r[:, 1:] * r[:, :-1]).sum()]
    return max(along, key=abs) / (r * r).sum()


def slopes(images):
    def of(image):
        x = (image[2:-2, 3:-1] + image[2:-2, 4:] - image[2:-2, 1:-3] - image[2:-2, :-4]) / 2
        y = (image[3:-1, 2:-2] + image[4:, 2:-2] - image[1:-3, 2:-2] - image[:-4, 2:-2]) / 2
        return np.stack([x, y], axis=-1).reshape(-1, 2)
    return np.concatenate([of(image) for image in images.astype("float64")])


def sharpness(before, after):
    first, second = slopes(before), slopes(after)
    squares = (first * first).sum(axis=1)
    edges = np.argsort(-squares, kind="stable")[:int(np.ceil(0.02 * len(squares)))]
    return (first * second).sum(axis=1)[edges].sum() / squares[edges].sum()


def test_the_numbers():
    """Of three slices, before is what the swept step reads: the output of the step before it."""
    write_files()
    done = call("try", "job.toml", "--part", PART, "--slices", "3", "--keep", "--against", "clean.h5:/data")
    text = pathlib.Path("out.try/index.html").read_text()
    page = Page(text)
    assert 'the output of step 1 (&quot;scale&quot;), which the first swept step reads' in text
    exact = re.search(r"^Input elements \[(\d+):(\d+),", done.stdout, re.M)
    assert exact.groups() == ("1", "8"), done.stdout
    slices = [2, 4, 6]  # the middles of thirds of 1 to 8
    for number in slices:
        assert f"[{number}:{number + 1}, 0:61, 0:97]" in text
    with h5py.File("in.h5") as file:
        before = (file["/data"][slices] / np.float32(1000)).astype("float32")
    assert [image[:2] for image in page.figures[0]["images"]] == [("before", i) for i in range(3)]
    assert page.figures[0]["numbers"]["noise"] == pytest.approx(noise(before), rel=1e-4)
    assert page.figures[0]["numbers"]["noise"] == pytest.approx(0.03, rel=0.1)
    for index, figure in enumerate(page.figures[1:]):
        with h5py.File(f"out.try/part-{index + 1}.h5") as file:
            after = file["/data"][()][[number - 1 for number in slices]]
        removed = after.astype("float64") - before
        wanted = {"noise": noise(after), "changed": 100 * (removed != 0).mean(), "removed": removed.std(),
                  "sharpness": sharpness(before, after)}
        numbers = figure["numbers"]
        if index == 0:  # a window of one element
            assert np.array_equal(after, before) and np.isnan(numbers["structure removed"])
        else:
            wanted["structure removed"] = structure(removed)
            truth = (clean()[slices] / 1000).astype("float32")
            peaks = [float(one.max() - one.min()) for one in truth]
            wanted["PSNR"] = np.mean([20 * np.log10(peak / np.sqrt(((a - b).astype("float64") ** 2).mean()))
                                      for a, b, peak in zip(truth, after, peaks)])
            wanted["SSIM"] = np.mean([structural_similarity(a.astype("float64"), b.astype("float64"), data_range=peak)
                                      for a, b, peak in zip(truth, after, peaks)])
        for name, value in wanted.items():
            assert numbers[name] == pytest.approx(value, rel=1e-4, abs=1e-9), (index, name)
        shown = [image for image in figure["images"] if not image[2]]
        assert shown == [("after", 0, False)] and len(figure["images"]) == 6
    assert all(link.startswith("data:") for link in page.links) and "url(" not in text


def test_until_a_step_and_bins():
    """A shape of its own has no differences; the printed command runs all steps."""
    write_files(JOB.replace('kind = "rescale"\nfrom = [0, 1000]\nto = [0, 1]\ndtype = "float32"\n',
                            'kind = "bin"\nfactors = [2, 2]\n'))
    done = call("try", "job.toml", "--until", "scale", "--part", PART)
    page = Page(pathlib.Path("out.try/index.html").read_text())
    assert [set(figure["numbers"]) for figure in page.figures] == [{"noise"}] * len(page.figures)
    lines = re.findall(r"^runner job.toml.*$", done.stdout, re.M)
    assert lines and not [line for line in lines if "until" in line], done.stdout
    assert "whole input up to that step: about" in done.stdout


def test_a_file_of_another_shape_is_refused():
    write_files()
    with h5py.File("other.h5", "w") as file:
        file["/data"] = np.zeros((3, 4, 5))
    done = call("try", "job.toml", "--part", PART, "--against", "other.h5", code=2)
    assert "[3, 4, 5]" in done.stderr and "--against" in done.stderr
    assert not pathlib.Path("out.try/index.html").exists()


def test_slices_of_given_numbers():
    """Of a part around them, and those that no part shows."""
    write_files()
    done = call("try", "job.toml", "--seconds", "0.1s", "--at", "2,5")
    assert "show input elements [2:3, 0:61, 0:97] and 1 slices more" in done.stdout, done.stdout
    assert "[5:6, 0:61, 0:97]" in pathlib.Path("out.try/index.html").read_text()
    done = call("try", "job.toml", "--part", "1:4,:,:", "--at", "5", code=2)
    assert "cannot show that slice (--at 5): along axis 0 the part is 1:4" in done.stderr, done.stderr
    for words, why in ((["--at", "-1"], "--at"), (["--at", "1,x"], "--at"), (["--at", "99"], "--at 99"),
                       (["--at", "1", "--slices", "2"], "--at and --slices")):
        assert why in call("try", "job.toml", *words, code=2).stderr, words


def test_pick_writes_the_choice_into_the_job_file():
    write_files()
    pathlib.Path("real").mkdir()
    pathlib.Path("job.toml").rename("real/job.toml")
    pathlib.Path("job.toml").symlink_to("real/job.toml")
    done = call("try", "job.toml", "--pick", "3")
    assert "step.clean.size=[5, 5]" in done.stdout
    assert pathlib.Path("job.toml").is_symlink()
    assert pathlib.Path("real/job.toml").read_text() == JOB.replace(
        "size = [3, 3] # of a window", "size = [5, 5] # of a window")
    call("try", "job.toml", "--pick", "2", "--sweep", "step.clean.difference=0.5,0.25")
    assert pathlib.Path("real/job.toml").read_text() == JOB.replace(
        "size = [3, 3] # of a window", "size = [1, 1] # of a window").replace(
        '[[step]]\nname = "clean"', '[[step]]\ndifference = 0.25\nname = "clean"')
    for number, why in (("9", "the sweep has"), ("0", "--pick")):
        assert why in call("try", "job.toml", "--pick", number, code=2).stderr
    write_files(JOB.split("[sweep]")[0])
    assert "has no sweep" in call("try", "job.toml", "--pick", "1", code=2).stderr
    assert not pathlib.Path("out.try").exists()


@pytest.fixture
def browser():
    program = find_browser()
    if program is None:
        pytest.skip("there is no chromium")
    with Browser(program) as one:
        yield one


SHOWN = """[...document.querySelectorAll("figure")].map(figure => [...figure.querySelectorAll("img")]
    .filter(image => !image.hidden).map(image => image.className + image.dataset.slice))"""


def press(browser, key, selector="body"):
    browser.value(f"document.querySelector({json.dumps(selector)}).dispatchEvent("
                  f"new KeyboardEvent('keydown', {{key: {json.dumps(key)}, bubbles: true}}))")


def test_in_a_browser(browser):
    write_files('name = "<img src=x onerror=injected=1>"\n' + JOB)
    call("try", "job.toml", "--part", PART, "--slices", "2", "--against", "clean.h5")
    page = pathlib.Path("out.try/index.html").absolute()
    for width, scheme in [(400, "dark"), (400, "light"), (1280, "dark"), (1280, "light")]:
        browser.open(page, width, 900, scheme)
        assert browser.value("document.documentElement.scrollWidth") <= width
        paper = browser.value("getComputedStyle(document.body).backgroundColor")
        assert (int(paper.split("(")[1].split(",")[0]) > 127) == (scheme == "light")
    assert browser.value("document.querySelector('h1').textContent").startswith("<img src=x")
    assert browser.value("window.injected") is None
    assert browser.value(SHOWN) == [["before0"], ["after0"], ["after0"], ["after0"]]
    for key, shown in (("b", ["before0"]), ("d", ["difference0"]), ("s", ["after0", "before0"]), ("a", ["after0"]),
                       ("f", ["before0"]), ("f", ["after0"]), ("]", ["after1"]), ("[", ["after0"])):
        press(browser, key)
        slice_shown = "before1" if key == "]" else "before0"
        assert browser.value(SHOWN) == [[slice_shown]] + 3 * [shown], key
    assert browser.value("document.querySelector('output.zoom').textContent") == "3:1"  # 97 of 384 pixels
    press(browser, "+")
    press(browser, "ArrowRight", "figure.run .view")
    places = browser.value("[...document.querySelectorAll('img.after')].map(i => i.style.width + i.style.transform)")
    assert len(set(places)) == 1 and places[0].startswith("582px"), places
    press(browser, "1")
    assert browser.value("document.querySelector('img.before').style.width") == "97px"
    names = browser.value("[...document.querySelectorAll('.tools option')].map(o => o.textContent)")
    assert names == ["the sweep", "noise", "changed", "removed", "structure removed", "sharpness", "PSNR", "SSIM"]
    heads = "[...document.querySelectorAll('figure.run h2')].map(h => h.textContent)"
    first = browser.value(heads)
    numbers = Page(page.read_text()).figures[1:]
    for name in ("noise", "PSNR"):
        browser.value("(() => { const s = document.querySelector('.tools select');"
                      f"s.value = {json.dumps(name)}; s.dispatchEvent(new Event('change')); }})()")
        sign = -1 if name == "PSNR" else 1
        order = sorted(range(3), key=lambda i: sign * numbers[i]["numbers"][name])
        assert browser.value(heads) == [first[i] for i in order], name
    browser.value("""(() => { const view = document.querySelector("figure.run .view");
        const box = view.getBoundingClientRect();
        view.setPointerCapture = () => {};
        for (const type of ["pointerdown", "pointerup"]) {
          view.dispatchEvent(new PointerEvent(type, {clientX: box.left + 5, clientY: box.top + 7, bubbles: true}));
        } })()""")
    profile = browser.value("""[...document.querySelectorAll(".profile polyline")].map(
        line => line.getAttribute("points").split(" ").map(point => Number(point.split(",")[1])))""")
    assert len(profile) == 4 and len(profile[1]) == SHAPE[2]
    steps = [np.mean(line[50:]) - np.mean(line[:35]) for line in profile]  # up is less
    assert all(step < -0.2 for step in steps), steps
    assert browser.messages == [] and [url for url in browser.asked if not url.startswith(("file:", "data:"))] == []
