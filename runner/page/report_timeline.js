/**
 * The timeline and the throughput of a report, as SVG whose unit of x is one millisecond.
 */

const OPEN_RANKS = 4; // expanded at first
const STAGE_GAP = 3; // pixels
const CHART_HEIGHT = 60; // pixels
const CHART_STEPS = 120;

/**
 * Milliseconds as an SVG coordinate.
 * @param {number} seconds
 * @returns {string}
 */
function svgTime(seconds) {
  return decimalText(seconds * 1e3, 3);
}

/**
 * Pixels per lane: fewer where there are many.
 * @param {number} lanes
 * @returns {number}
 */
function laneHeight(lanes) {
  return Math.min(Math.max(Math.floor(28 / lanes), 2), 12);
}

/**
 * One bar: a chunk, or adjacent ones that were merged; these are paler the more they idled.
 * @param {object} bar
 * @param {number} height
 * @returns {SVGElement}
 */
function barRect(bar, height) {
  const length = Math.max(0, bar.end - bar.start);
  const merged = bar.events > 1 && {
    "data-events": bar.events,
    "data-busy": svgTime(bar.busy),
    opacity: decimalText(0.15 + 0.85 * (length > 0 ? bar.busy / length : 1), 2),
  };
  return svgElement("rect", {
    x: svgTime(bar.start), width: svgTime(length), height, "data-name": bar.first, ...merged,
  });
}

/**
 * The lanes of one stage of one rank, from `top` pixels down.
 * @param {number} rank
 * @param {string} stage
 * @param {Map<number, object[]>} lanes bars by lane
 * @param {number} top
 * @returns {SVGElement[]}
 */
function stageGroups(rank, stage, lanes, top) {
  const height = laneHeight(lanes.size);
  return [...lanes.keys()].sort((a, b) => a - b).map((lane, index) => svgElement("g", {
    class: stage, "data-rank": rank, "data-stage": stage, "data-lane": lane,
    transform: `translate(0 ${top + index * height})`,
  }, ...lanes.get(lane).map((bar) => barRect(bar, height - (height > 3 ? 1 : 0)))));
}

/**
 * Bars by their lane.
 * @param {object[]} bars
 * @returns {Map<number, object[]>}
 */
function byLane(bars) {
  const lanes = new Map();
  for (const bar of bars) {
    if (!lanes.has(bar.lane)) {
      lanes.set(bar.lane, []);
    }
    lanes.get(bar.lane).push(bar);
  }
  return lanes;
}

/**
 * Labels at the left of an SVG that spans the whole run.
 * @param {HTMLElement[]} labels
 * @param {number} end seconds
 * @param {number} height pixels
 * @param {string} title what the picture shows, for a screen reader
 * @param {SVGElement[]} shapes
 * @returns {HTMLElement}
 */
function plot(labels, end, height, title, shapes) {
  return element("div", { class: "plot" }, element("div", { class: "labels" }, ...labels),
    svgElement("svg", {
      class: "time", viewBox: `0 0 ${svgTime(end)} ${height}`, preserveAspectRatio: "none",
      style: `height:${height}px`, role: "img", "aria-label": title,
    }, ...shapes));
}

/**
 * One rank's timeline.
 * @param {object} rank
 * @param {number} index among the ranks shown
 * @param {number} end seconds, of the longest rank
 * @returns {HTMLElement}
 */
function rankTimeline(rank, index, end) {
  const labels = [];
  const groups = [];
  let top = 0;
  for (const { name, label } of STAGES) {
    const lanes = byLane(rank.timeline.bars.filter((bar) => bar.stage === name));
    if (lanes.size > 0) {
      const height = Math.max(laneHeight(lanes.size) * lanes.size, 14) + STAGE_GAP;
      labels.push(element("span", { style: `height:${height}px` }, label));
      groups.push(...stageGroups(rank.rank, name, lanes, top));
      top += height;
    }
  }
  const title = `rank ${rank.rank} on ${rank.host}, ${rank.device}`;
  return element("details", { open: index < OPEN_RANKS }, element("summary", {}, title),
    plot(labels, end, top, `Timeline of ${title}`, groups));
}

/**
 * The place of the time axis, which `showTimes` fills.
 * @returns {HTMLElement}
 */
function axis() {
  return element("div", { class: "plot" }, element("div", { class: "labels" }),
    element("div", { class: "axis" }));
}

/**
 * The buttons that zoom and move.
 * @returns {HTMLElement}
 */
function zoomButtons() {
  const actions = [
    ["in", "+", "zoom in"], ["out", "−", "zoom out"], ["left", "←", "earlier"],
    ["right", "→", "later"], ["all", "whole run", "show the whole run"],
  ];
  return element("p", { class: "zoom" },
    ...actions.map(([action, text, title]) =>
      element("button", { type: "button", "data-zoom": action, title }, text)),
    element("span", {}, "or drag over a part"));
}

/**
 * What the timeline shows and what it leaves out.
 * @param {object} report
 * @param {object[]} shown ranks
 * @returns {HTMLElement}
 */
function timelineNote(report, shown) {
  const bars = sumOf(shown, (rank) => rank.timeline.bars.length);
  const events = sumOf(shown, (rank) => sumOf(rank.timeline.bars, (bar) => bar.events));
  const merged = mostOf(shown, (rank) => rank.timeline.merged_below_seconds);
  let text = "Each bar is one chunk (or box, or a few generations) in one stage. The lanes of a " +
    "stage stand below each other. Each rank's clock starts at its own first read.";
  if (knowsAllPasses(report)) {
    text += report.passes.slice(1).map((pass) =>
      ` Pass ${pass.pass} begins at ${timeText(pass.start_seconds)}.`).join("");
  }
  if (shown.length < report.ranks.length) {
    text += ` Shown: ${shown.length} of ${report.ranks.length} ranks.`;
  }
  if (events > bars) {
    text += ` The ranks recorded ${events} events. Adjacent events that together span less than ` +
      `${timeText(merged)} are merged, into ${countText(bars, "bar")} in all; a merged bar is ` +
      "paler the more of its time was idle.";
  }
  return note(text);
}

/**
 * Throughput of one stage over the run.
 * @param {{name: string, label: string}} stage
 * @param {number[]} rates
 * @param {number} end seconds
 * @returns {HTMLElement}
 */
function throughputChart(stage, rates, end) {
  const most = mostOf(rates, (rate) => rate);
  const at = (step) => svgTime((end * step) / rates.length);
  const steps = rates.map((rate, i) =>
    `L${at(i)} ${decimalText(CHART_HEIGHT * (1 - rate / most), 2)}H${at(i + 1)}`);
  const path = svgElement("path", {
    d: `M0 ${CHART_HEIGHT}${steps.join("")}V${CHART_HEIGHT}Z`,
  });
  const label = element("span", {}, stage.label, element("br"),
    element("small", {}, `peak ${rateText(most)}`));
  const chart = plot([label], end, CHART_HEIGHT, `Throughput of ${stage.label}`,
    [svgElement("g", { class: stage.name }, path)]);
  chart.classList.add("chart");
  return chart;
}

/**
 * Reading's and writing's throughput.
 * @param {object} report
 * @param {object[]} shown ranks
 * @param {number} end seconds
 * @returns {HTMLElement}
 */
function throughputSection(report, shown, end) {
  const bars = shown.flatMap((rank) => rank.timeline.bars);
  const charts = STAGES.filter(({ name }) => name === "read" || name === "write")
    .map((stage) => ({ stage, rates: throughput(bars, stage.name, end, CHART_STEPS) }))
    .filter(({ rates }) => rates.some((rate) => rate > 0))
    .map(({ stage, rates }) => throughputChart(stage, rates, end));
  return section("Throughput", ...charts, charts.length > 0 ? axis() : null,
    shown.length < report.ranks.length ? note("Of the ranks shown above.") : null);
}

/**
 * When each stage of each rank worked, and the throughput over that time.
 * @param {object} report
 * @returns {HTMLElement[]}
 */
function timelineSections(report) {
  const shown = timedRanks(report);
  if (shown.length === 0) {
    return [section("Timeline", note("No timeline was recorded."))];
  }
  const end = mostOf(shown, (rank) => mostOf(rank.timeline.bars, (bar) => bar.end));
  const used = STAGES.filter(({ name }) =>
    shown.some((rank) => rank.timeline.bars.some((bar) => bar.stage === name)));
  return [
    section("Timeline",
      element("p", { class: "legend" }, ...used.map(({ name, label }) => key(name, label))),
      zoomButtons(), element("output", { class: "tip", hidden: true }), axis(),
      ...shown.map((rank, index) => rankTimeline(rank, index, end)), timelineNote(report, shown)),
    throughputSection(report, shown, end),
  ];
}
