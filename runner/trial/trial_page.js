/**
 * The page of a trial: all pictures show the same place, at the same zoom, of the same slice. Where
 * results have other axes than their input, pictures have their own sizes, from one corner on.
 */

const SIDE = 384; // pixels of a view at most
const MOST_ZOOM = 32;
const LARGER_IS_BETTER = new Set(["PSNR", "SSIM", "sharpness"]);
const LABELS = { before: "before", split: "before | after", difference: "removed: after less before" };

/**
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {HTMLElement[]}
 */
function all(selector, within = document) {
  return [...within.querySelectorAll(selector)];
}

/**
 * The number of a run by its name; NaN where the run has none.
 * @param {HTMLElement} figure
 * @param {string} name
 * @returns {number}
 */
function numberOf(figure, name) {
  const term = all("dt", figure).find((each) => each.textContent === name);
  return Number(term?.nextSibling.dataset.value ?? NaN);
}

/**
 * Where a number ranks: less is better.
 * @param {HTMLElement} figure
 * @param {string} name
 * @returns {number}
 */
function rankOf(figure, name) {
  const value = numberOf(figure, name);
  if (Number.isNaN(value)) {
    return Infinity;
  }
  return LARGER_IS_BETTER.has(name) ? -value : Math.abs(value);
}

/** What all views show. */
class Trial {
  /** @param {HTMLElement} main */
  constructor(main) {
    this.main = main;
    this.size = { x: Number(main.dataset.width), y: Number(main.dataset.height) };
    this.isOnePlace = main.dataset.place === "one";
    this.views = all(".view", main);
    this.runs = all("figure.run", main);
    this.order = [...this.runs];
    this.fit = Math.max(1, Math.floor(SIDE / Math.max(this.size.x, this.size.y)));
    this.at = { x: 0, y: 0 };
    this.zoom = this.fit;
    this.slice = 0;
    this.show = "after";
    this.split = 50;
    this.line = null;
    this.addInputs();
    document.body.classList.add("drawn");
    for (const view of this.views) {
      view.style.height = `${this.size.y * this.fit}px`;
      view.style.maxWidth = `${this.size.x * this.fit}px`;
    }
  }

  /** Adds the input's pictures to every run's view. */
  addInputs() {
    const inputs = all("figure.input img", this.main);
    for (const view of all("figure.run .view", this.main)) {
      view.append(...inputs.map((image) => {
        const copy = image.cloneNode();
        copy.hidden = true;
        return copy;
      }));
    }
  }

  /**
   * Elements along the sides of a picture, as it is placed.
   * @param {HTMLImageElement} image
   * @returns {{x: number, y: number}}
   */
  sizeOf(image) {
    return this.isOnePlace || !image.naturalWidth ? this.size
      : { x: image.naturalWidth, y: image.naturalHeight };
  }

  /** Places every picture. */
  draw() {
    for (const axis of ["x", "y"]) {
      const shown = (axis === "x" ? this.views[0].clientWidth : this.views[0].clientHeight) / this.zoom;
      this.at[axis] = Math.max(0, Math.min(this.at[axis], this.size[axis] - shown));
    }
    for (const view of this.views) {
      const isInput = view.parentNode.classList.contains("input");
      const show = isInput ? "before" : this.show;
      for (const image of all("img", view)) {
        this.place(image, show, view.clientWidth);
      }
      view.querySelector(".shown").textContent = isInput ? "" : LABELS[show] ?? "";
    }
    for (const button of all("[data-show]")) {
      button.setAttribute("aria-pressed", String(button.dataset.show === this.show));
    }
    document.querySelector("output.zoom").textContent = `${this.zoom}:1`;
    document.querySelector("label.split").hidden = this.show !== "split";
    const slice = document.querySelector("output.slice");
    if (slice) {
      slice.textContent = all(".slices li")[this.slice].textContent;
      document.querySelector("input.slice").value = String(this.slice);
    }
    this.drawProfile();
  }

  /**
   * @param {HTMLImageElement} image
   * @param {string} show
   * @param {number} width of the view
   */
  place(image, show, width) {
    const kinds = show === "split" ? ["before", "after"] : [show];
    image.hidden = !kinds.includes(image.className) || Number(image.dataset.slice) !== this.slice;
    const left = this.at.x * this.zoom;
    const size = this.sizeOf(image);
    image.style.width = `${size.x * this.zoom}px`;
    image.style.height = `${size.y * this.zoom}px`;
    image.style.transform = `translate(${-left}px, ${-this.at.y * this.zoom}px)`;
    const cut = this.size.x * this.zoom - left - (width * this.split) / 100;
    image.style.clipPath = show === "split" && image.className === "before"
      ? `inset(0 ${Math.max(0, cut)}px 0 0)` : "";
  }

  /**
   * Zooms; the place at the pixel (x, y) of a view stays where it is.
   * @param {number} zoom
   * @param {number} x
   * @param {number} y
   */
  zoomTo(zoom, x = this.views[0].clientWidth / 2, y = this.views[0].clientHeight / 2) {
    const next = Math.max(1, Math.min(MOST_ZOOM, zoom));
    this.at.x += x / this.zoom - x / next;
    this.at.y += y / this.zoom - y / next;
    this.zoom = next;
    this.draw();
  }

  /** @param {string} how */
  changeZoom(how) {
    const zooms = { in: this.zoom * 2, out: Math.floor(this.zoom / 2), one: 1 };
    this.zoomTo(zooms[how]);
  }

  /**
   * Moves by pixels of the screen.
   * @param {number} x
   * @param {number} y
   */
  move(x, y) {
    this.at.x += x / this.zoom;
    this.at.y += y / this.zoom;
    this.draw();
  }

  /** @param {string} show */
  setShown(show) {
    if (document.querySelector(`[data-show="${show}"]`)) {
      this.show = show;
      this.draw();
    }
  }

  /** @param {number} slice */
  setSlice(slice) {
    this.slice = Math.max(0, Math.min(slice, all("figure.input img", this.main).length - 1));
    this.draw();
  }

  /**
   * Puts the runs in the order of a number, the best first; "" for the sweep's.
   * @param {string} name
   */
  sortBy(name) {
    const runs = name === "" ? this.order
      : [...this.order].sort((a, b) => {
        const [first, second] = [rankOf(a, name), rankOf(b, name)];
        return first === second ? 0 : first - second;
      });
    this.main.append(...runs);
    runs.forEach((run, i) => run.classList.toggle("best", name !== "" && i === 0));
  }

  /**
   * The values of a picture along the chosen line.
   * @param {HTMLImageElement} image
   * @returns {number[]} 0 to 1, from black to white
   */
  lineOf(image) {
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = 1;
    const row = Math.min(image.naturalHeight - 1,
      Math.floor((this.line * image.naturalHeight) / this.sizeOf(image).y));
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, row, canvas.width, 1, 0, 0, canvas.width, 1);
    const { data } = context.getImageData(0, 0, canvas.width, 1);
    return Array.from({ length: canvas.width }, (_, i) => data[4 * i] / 255);
  }

  /** Draws the line profile of all pictures after, and of the input. */
  drawProfile() {
    const section = document.querySelector(".profile");
    section.hidden = this.line === null;
    if (this.line === null) {
      return;
    }
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 1 1");
    svg.setAttribute("preserveAspectRatio", "none");
    const heading = document.createElement("h2");
    const [black, white] = ["black", "white"].map((end) => Number(this.main.dataset[end]).toPrecision(4));
    heading.textContent = `Line ${this.line} of the picture, from ${black} (bottom) to ${white} (top)`;
    const names = document.createElement("p");
    const first = this.at.x / this.size.x;
    const shown = this.views[0].clientWidth / this.zoom / this.size.x;
    all("figure", this.main).forEach((figure, i, figures) => {
      const kind = figure.classList.contains("input") ? "before" : "after";
      const image = figure.querySelector(`img.${kind}[data-slice="${this.slice}"]`);
      const values = this.lineOf(image);
      const width = this.sizeOf(image).x / this.size.x;
      const colour = kind === "before" ? "var(--soft)" : `hsl(${(360 * i) / figures.length} 70% 45%)`;
      const line = document.createElementNS(svg.namespaceURI, "polyline");
      line.setAttribute("points", values.map((value, x) =>
        `${((width * (x + 0.5)) / values.length - first) / shown},${1 - value}`).join(" "));
      line.style.stroke = colour;
      svg.append(line);
      const name = document.createElement("span");
      const mark = document.createElement("i");
      mark.style.background = colour;
      name.append(mark, figure.querySelector("h2").textContent);
      names.append(name);
    });
    section.replaceChildren(heading, svg, names);
  }
}

/**
 * Moves all pictures as the pointer drags; a click chooses the line of the profile.
 * @param {Trial} trial
 * @param {HTMLElement} view
 * @param {PointerEvent} start
 */
function drag(trial, view, start) {
  if (start.button !== 0) {
    return;
  }
  let last = start;
  let far = 0;
  view.setPointerCapture(start.pointerId);
  const dragging = new AbortController();
  view.addEventListener("pointermove", (event) => {
    far += Math.abs(event.clientX - last.clientX) + Math.abs(event.clientY - last.clientY);
    trial.move(last.clientX - event.clientX, last.clientY - event.clientY);
    last = event;
  }, { signal: dragging.signal });
  view.addEventListener("pointercancel", () => dragging.abort(), { signal: dragging.signal });
  view.addEventListener("pointerup", (event) => {
    dragging.abort();
    if (far < 4) {
      const y = event.clientY - view.getBoundingClientRect().top;
      trial.line = Math.min(trial.size.y - 1, Math.floor(trial.at.y + y / trial.zoom));
      trial.draw();
    }
  }, { signal: dragging.signal });
}

/**
 * Copies the command of a run.
 * @param {HTMLButtonElement} button
 */
async function copy(button) {
  const code = button.parentNode.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
}

/**
 * @param {Trial} trial
 * @param {KeyboardEvent} event
 */
function press(trial, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input")) {
    return;
  }
  const step = 32;
  const inView = event.target.closest(".view") !== null;
  const arrows = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
  const keys = {
    a: () => trial.setShown("after"),
    b: () => trial.setShown("before"),
    s: () => trial.setShown("split"),
    d: () => trial.setShown("difference"),
    f: () => trial.setShown(trial.show === "before" ? "after" : "before"),
    "+": () => trial.changeZoom("in"),
    "-": () => trial.changeZoom("out"),
    1: () => trial.changeZoom("one"),
    "[": () => trial.setSlice(trial.slice - 1),
    "]": () => trial.setSlice(trial.slice + 1),
  };
  if (inView && arrows[event.key]) {
    event.preventDefault();
    trial.move(...arrows[event.key]);
  } else {
    keys[event.key]?.();
  }
}

/** Shows the controls and makes them work. */
function start() {
  const trial = new Trial(document.querySelector("main"));
  document.querySelector(".tools").hidden = false;
  for (const button of all("[data-show]")) {
    button.addEventListener("click", () => trial.setShown(button.dataset.show));
  }
  for (const button of all("[data-zoom]")) {
    button.addEventListener("click", () => trial.changeZoom(button.dataset.zoom));
  }
  for (const button of all(".copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
  for (const view of trial.views) {
    view.addEventListener("pointerdown", (event) => drag(trial, view, event));
    view.addEventListener("dragstart", (event) => event.preventDefault());
    view.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.shiftKey) {
        event.preventDefault();
        const box = view.getBoundingClientRect();
        const nearer = (event.deltaY || event.deltaX) < 0;
        trial.zoomTo(nearer ? trial.zoom * 2 : Math.floor(trial.zoom / 2), event.clientX - box.left,
          event.clientY - box.top);
      }
    }, { passive: false });
  }
  document.querySelector(".split input").addEventListener("input", (event) => {
    trial.split = Number(event.target.value);
    trial.draw();
  });
  document.querySelector("input.slice")?.addEventListener("input", (event) => {
    trial.setSlice(Number(event.target.value));
  });
  document.querySelector(".tools select")?.addEventListener("change", (event) => {
    trial.sortBy(event.target.value);
  });
  addEventListener("keydown", (event) => press(trial, event));
  addEventListener("resize", () => trial.draw());
  addEventListener("load", () => trial.draw()); // the pictures' sizes are known by then
  trial.draw();
}

start();
