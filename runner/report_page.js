"use strict";
(() => {
  const plots = [...document.querySelectorAll("svg.time")];
  if (plots.length === 0) return;
  const whole = plots[0].viewBox.baseVal.width;
  const axes = [...document.querySelectorAll(".axis")];
  const tip = document.querySelector(".tip");
  let from = 0;
  let to = whole;

  const timeText = (ms, step) => {
    const inSeconds = whole >= 1000;
    const digits = Math.max(0, -Math.floor(Math.log10(inSeconds ? step / 1000 : step) + 1e-9));
    return inSeconds ? (ms / 1000).toFixed(digits) + " s" : ms.toFixed(digits) + " ms";
  };
  const tickStep = (wanted) => {
    const power = 10 ** Math.floor(Math.log10(wanted));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= wanted);
  };
  const drawAxis = (axis) => {
    const width = axis.clientWidth;
    if (width === 0) return;
    const step = tickStep(((to - from) * 70) / width);
    axis.replaceChildren();
    // Empty ends: the style sheet sets the first and the last label flush with them.
    axis.append(document.createElement("span"));
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to; ++i) {
      const label = document.createElement("span");
      const share = (i * step - from) / (to - from);
      label.textContent = timeText(i * step, step);
      label.style.left = `clamp(1.2em, ${100 * share}%, 100% - 1.6em)`;
      axis.append(label);
    }
    axis.append(document.createElement("span"));
  };
  const show = (newFrom, newTo) => {
    const least = whole / 1e5;
    const length = Math.min(whole, Math.max(least, newTo - newFrom));
    from = Math.min(Math.max(0, newFrom), whole - length);
    to = from + length;
    for (const plot of plots) {
      plot.setAttribute("viewBox", `${from} 0 ${length} ${plot.viewBox.baseVal.height}`);
    }
    axes.forEach(drawAxis);
  };
  const zoomAt = (time, factor) => show(time - (time - from) * factor, time + (to - time) * factor);
  const actions = {
    in: () => zoomAt((from + to) / 2, 0.5),
    out: () => zoomAt((from + to) / 2, 2),
    left: () => show(from - (to - from) / 3, to - (to - from) / 3),
    right: () => show(from + (to - from) / 3, to + (to - from) / 3),
    all: () => show(0, whole),
  };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", actions[button.dataset.zoom]);
  }

  const timeAt = (plot, x) => {
    const box = plot.getBoundingClientRect();
    return from + Math.min(1, Math.max(0, (x - box.left) / box.width)) * (to - from);
  };
  const describe = (bar) => {
    const row = bar.parentNode.dataset;
    const start = bar.x.baseVal.value;
    const length = bar.width.baseVal.value;
    const events = Number(bar.dataset.events || 1);
    const ms = (value) => (value >= 1000 ? (value / 1000).toFixed(3) + " s" : value.toFixed(3) + " ms");
    return `rank ${row.rank}, lane ${row.lane}, ${row.stage}: ${bar.dataset.name}` +
      (events > 1 ? ` and ${events - 1} more` : "") + `\n${ms(length)} from ${ms(start)}` +
      (bar.dataset.busy ? `, ${ms(Number(bar.dataset.busy))} of it busy` : "");
  };
  const hover = (event) => {
    const bar = event.target.closest("rect[data-name]");
    tip.hidden = !bar;
    if (!bar) return;
    tip.textContent = describe(bar);
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = event.clientY + 16 + "px";
  };
  const brush = (plot, event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const origin = event.clientX;
    const mark = document.createElement("div");
    mark.className = "brush";
    plot.parentNode.style.position = "relative";
    plot.parentNode.append(mark);
    plot.setPointerCapture(event.pointerId);
    const move = (at) => {
      const left = plot.parentNode.getBoundingClientRect().left;
      const box = plot.getBoundingClientRect();
      const inside = (x) => Math.min(box.right, Math.max(box.left, x)) - left;
      mark.style.left = Math.min(inside(origin), inside(at.clientX)) + "px";
      mark.style.width = Math.abs(inside(origin) - inside(at.clientX)) + "px";
    };
    const end = (at) => {
      plot.removeEventListener("pointermove", move);
      mark.remove();
      if (at.type === "pointerup" && Math.abs(at.clientX - origin) > 4) {
        const times = [timeAt(plot, origin), timeAt(plot, at.clientX)].sort((a, b) => a - b);
        show(times[0], times[1]);
      }
    };
    plot.addEventListener("pointermove", move);
    plot.addEventListener("pointerup", end, { once: true });
    plot.addEventListener("pointercancel", end, { once: true });
  };
  for (const plot of plots) {
    plot.addEventListener("pointermove", hover);
    plot.addEventListener("pointerleave", () => { tip.hidden = true; });
    plot.addEventListener("pointerdown", (event) => brush(plot, event));
    plot.addEventListener("dblclick", actions.all);
    plot.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return; // plain turning scrolls the page
      event.preventDefault();
      zoomAt(timeAt(plot, event.clientX), (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8);
    }, { passive: false });
  }
  addEventListener("resize", () => axes.forEach(drawAxis));
  document.querySelector(".zoom").hidden = false;
  document.documentElement.classList.add("ready");
  actions.all();
})();
