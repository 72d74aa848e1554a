/**
 * Zooming and moving in the plots of a report. All plots and axes show the same part of the run.
 */

const TICK_PIXELS = 70; // that a label of the axis takes at least
const FINEST_ZOOM = 1e5;

/**
 * Milliseconds as a label, with the decimals that its distance from the next one requires.
 * @param {number} time milliseconds
 * @param {number} step milliseconds
 * @param {boolean} inSeconds
 * @returns {string}
 */
function tickText(time, step, inSeconds) {
  const unit = inSeconds ? 1000 : 1;
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return `${(time / unit).toFixed(digits)} ${inSeconds ? "s" : "ms"}`;
}

/**
 * The least of 1, 2 and 5 times a power of ten that is no less than `wanted`.
 * @param {number} wanted
 * @returns {number}
 */
function tickStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([1, 2, 5].find((factor) => factor * power >= wanted) ?? 10);
}

/**
 * Milliseconds to the microsecond.
 * @param {number} milliseconds
 * @returns {string}
 */
function exactTime(milliseconds) {
  return milliseconds >= 1000
    ? `${(milliseconds / 1000).toFixed(3)} s`
    : `${milliseconds.toFixed(3)} ms`;
}

/**
 * What a bar is, for the tip.
 * @param {SVGRectElement} bar
 * @returns {string}
 */
function barText(bar) {
  const { rank, lane, stage, label } = bar.parentNode.dataset;
  const { name, events, busy } = bar.dataset;
  const more = events ? ` and ${events - 1} more` : "";
  const idle = busy ? `, busy for ${exactTime(Number(busy))}` : "";
  return `${label ?? `rank ${rank}, lane ${lane}, ${stage}`}: ${name}${more}\n` +
    `${exactTime(bar.width.baseVal.value)} from ${exactTime(bar.x.baseVal.value)}${idle}`;
}

/** The part of the run that the plots show. Times are milliseconds. */
class TimeWindow {
  /**
   * @param {SVGSVGElement[]} plots
   * @param {HTMLElement[]} axes
   */
  constructor(plots, axes) {
    this.plots = plots;
    this.axes = axes;
    this.whole = plots[0].viewBox.baseVal.width;
    this.show(0, this.whole);
  }

  /**
   * Shows the part from one time to another, as far as the run goes.
   * @param {number} from
   * @param {number} to
   */
  show(from, to) {
    const length = Math.min(this.whole, Math.max(this.whole / FINEST_ZOOM, to - from));
    this.from = Math.min(Math.max(0, from), this.whole - length);
    this.to = this.from + length;
    for (const one of this.plots) {
      one.setAttribute("viewBox", `${this.from} 0 ${length} ${one.viewBox.baseVal.height}`);
    }
    this.drawAxes();
  }

  /**
   * Zooms; `time` stays where it is.
   * @param {number} time
   * @param {number} factor below 1: nearer
   */
  zoomAt(time, factor) {
    this.show(time - (time - this.from) * factor, time + (this.to - time) * factor);
  }

  /**
   * Does what a button says.
   * @param {string} action
   */
  act(action) {
    const length = this.to - this.from;
    const actions = {
      in: () => this.zoomAt(this.from + length / 2, 0.5),
      out: () => this.zoomAt(this.from + length / 2, 2),
      left: () => this.show(this.from - length / 3, this.to - length / 3),
      right: () => this.show(this.from + length / 3, this.to + length / 3),
      all: () => this.show(0, this.whole),
    };
    actions[action]();
  }

  /**
   * The time at a place on the screen.
   * @param {SVGSVGElement} plot
   * @param {number} x pixels from the window's left edge
   * @returns {number}
   */
  timeAt(plot, x) {
    const box = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (x - box.left) / box.width));
    return this.from + share * (this.to - this.from);
  }

  /** Labels all axes. */
  drawAxes() {
    for (const one of this.axes.filter((each) => each.clientWidth > 0)) {
      const length = this.to - this.from;
      const step = tickStep((length * TICK_PIXELS) / one.clientWidth);
      const labels = [];
      for (let i = Math.ceil(this.from / step - 1e-9); i * step <= this.to; ++i) {
        const left = (100 * (i * step - this.from)) / length;
        labels.push(element("span", { style: `left:clamp(1.2em, ${left}%, 100% - 1.6em)` },
          tickText(i * step, step, this.whole >= 1000)));
      }
      one.replaceChildren(...labels);
    }
  }
}

/**
 * Says what the bar under the pointer is.
 * @param {HTMLElement} tip
 * @param {PointerEvent} event
 */
function showTip(tip, event) {
  const bar = event.target.closest("rect[data-name]");
  tip.hidden = !bar;
  if (bar) {
    tip.textContent = barText(bar);
    const right = innerWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, right))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  }
}

/**
 * Zooms to the part of a plot that the pointer is dragged over.
 * @param {TimeWindow} view
 * @param {SVGSVGElement} plot
 * @param {PointerEvent} start
 */
function dragOver(view, plot, start) {
  if (start.button !== 0 || start.pointerType === "touch") {
    return; // a finger scrolls the page
  }
  const mark = element("div", { class: "brush" });
  plot.parentNode.append(mark);
  plot.setPointerCapture(start.pointerId);
  const move = (event) => {
    const box = plot.getBoundingClientRect();
    const inside = (x) => Math.min(box.right, Math.max(box.left, x));
    const [left, right] = [inside(start.clientX), inside(event.clientX)].sort((a, b) => a - b);
    mark.style.left = `${left - plot.parentNode.getBoundingClientRect().left}px`;
    mark.style.width = `${right - left}px`;
  };
  const dragging = new AbortController();
  const end = (event) => {
    dragging.abort();
    mark.remove();
    if (event.type === "pointerup" && Math.abs(event.clientX - start.clientX) > 4) {
      const times = [view.timeAt(plot, start.clientX), view.timeAt(plot, event.clientX)];
      view.show(Math.min(...times), Math.max(...times));
    }
  };
  plot.addEventListener("pointermove", move, { signal: dragging.signal });
  plot.addEventListener("pointerup", end, { signal: dragging.signal });
  plot.addEventListener("pointercancel", end, { signal: dragging.signal });
}

/**
 * Zooms by the wheel with ctrl or shift; without, the wheel scrolls the page.
 * @param {TimeWindow} view
 * @param {SVGSVGElement} plot
 * @param {WheelEvent} event
 */
function zoomByWheel(view, plot, event) {
  if (event.ctrlKey || event.shiftKey) {
    event.preventDefault();
    const factor = (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8;
    view.zoomAt(view.timeAt(plot, event.clientX), factor);
  }
}

/** Makes the page's plots answer to buttons, pointer and wheel; nothing where it has none. */
function enableZoom() {
  const plots = [...document.querySelectorAll("svg.time")];
  if (plots.length === 0) {
    return;
  }
  const view = new TimeWindow(plots, [...document.querySelectorAll(".axis")]);
  const tip = document.querySelector(".tip");
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => view.act(button.dataset.zoom));
  }
  for (const one of plots) {
    one.addEventListener("pointermove", (event) => showTip(tip, event));
    one.addEventListener("pointerleave", () => { tip.hidden = true; });
    one.addEventListener("pointerdown", (event) => dragOver(view, one, event));
    one.addEventListener("dblclick", () => view.act("all"));
    one.addEventListener("wheel", (event) => zoomByWheel(view, one, event), { passive: false });
  }
  addEventListener("resize", () => view.drawAxes());
  addEventListener("beforeprint", () => view.drawAxes());
}
