/**
 * The page of a batch.
 */

const MOST_ROWS = 1000; // of a table
const MOST_SPANS = 3200; // that are drawn
const SLOWEST = 10;

/**
 * Seconds since 1970 as a date and a time.
 * @param {number} seconds
 * @returns {string}
 */
function utcText(seconds) {
  return `${new Date(1000 * seconds).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * How far a batch is, in one sentence.
 * @param {object} batch
 * @returns {string}
 */
function progressText(batch) {
  const all = batch.datasets.length;
  const others = Object.entries(batch.counts).filter(([status, count]) => status !== "done" && count > 0);
  const rest = others.map(([status, count]) => `${count} ${status}`).join(", ");
  const left = batch.seconds_left === undefined ? "" : `; ${timeText(batch.seconds_left)} left`;
  return `${batch.counts.done} of ${countText(all, "dataset")} done${rest ? `, ${rest}` : ""}${left}.`;
}

/**
 * The datasets whose time is known, as bars of their processes.
 * @param {object} batch
 * @returns {object[]}
 */
function madeBars(batch) {
  return batch.datasets.filter((one) => one.seconds > 0).map((one) => ({
    process: one.process, stage: "write", start: Math.max(0, one.end - one.seconds), end: one.end,
    busy: one.seconds, events: 1, bytes: one.bytes, first: one.output,
  }));
}

/**
 * The numbers of the whole batch.
 * @param {object} batch
 * @param {object[]} bars
 * @returns {HTMLElement}
 */
function batchTiles(batch, bars) {
  const times = bars.map((bar) => bar.busy).sort((a, b) => a - b);
  const numbers = [
    ["datasets", String(batch.datasets.length)], ["done", String(batch.counts.done)],
    ["failed", String(batch.counts.failed)], ["processes", String(batch.processes.length)],
    ["read + written", sizeText(batch.bytes)],
    ["time with work", timeText(batch.busy_seconds)],
    ["read + written, over that time", rateText(shareOf(batch.bytes, batch.busy_seconds))],
    ...(times.length > 0 ? [["a dataset, median", timeText(times[Math.floor(times.length / 2)])]] : []),
  ];
  return element("dl", { class: "tiles" }, ...numbers.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/**
 * When each process made which dataset, and the throughput over that time.
 * @param {object} batch
 * @param {object[]} bars
 * @returns {HTMLElement[]}
 */
function batchTimeline(batch, bars) {
  if (bars.length === 0) {
    return [];
  }
  const end = batch.end_seconds;
  const longest = [...bars].sort((a, b) => b.busy - a.busy).slice(0, MOST_SPANS);
  const lines = batch.processes.map((name, number) => {
    const own = longest.filter((bar) => bar.process === number);
    return own.length === 0 ? null : plot([element("span", { title: name }, name)], end, 14, `Datasets of ${name}`,
      [svgElement("g", { class: "compute", "data-label": name }, ...own.map((bar) => barRect(bar, 12)))]);
  });
  const left = longest.length < bars.length
    ? ` The ${countText(longest.length, "longest dataset")} of ${bars.length} are drawn.` : "";
  const rates = throughput(bars, "write", end, CHART_STEPS);
  return [
    section("Throughput", throughputChart({ name: "write", label: "read + written" }, rates, end), axis(),
      note("The bytes of a dataset count evenly over its time.")),
    section("Times", zoomButtons(), element("output", { class: "tip", hidden: true }), axis(),
      ...lines.filter((line) => line !== null),
      note(`Each bar is a dataset. Times count from ${utcText(batch.begun)}, by the clocks of the hosts.${left}`)),
  ];
}

/**
 * The datasets that failed, and why.
 * @param {object} batch
 * @returns {HTMLElement|null} null: none
 */
function failuresSection(batch) {
  const failed = batch.datasets.filter((one) => one.status === "failed");
  if (failed.length === 0) {
    return null;
  }
  const rows = failed.slice(0, MOST_ROWS).map((one) => [one.input, one.code ?? "",
    element("span", { class: "long" }, one.why ?? ""),
    one.end === undefined ? "" : utcText(batch.begun + one.end)]);
  return section("Failures", table(["input", "exit code", "reason", "when"], rows), leftOut(failed));
}

/**
 * The datasets that took longest.
 * @param {object[]} bars
 * @returns {HTMLElement|null} null where few have times
 */
function slowestSection(bars) {
  if (bars.length < 2) {
    return null;
  }
  const slowest = [...bars].sort((a, b) => b.busy - a.busy).slice(0, SLOWEST);
  return section("Slowest datasets", ...slowest.map((bar) => barLine(bar.first,
    [{ name: "compute", part: shareOf(bar.busy, slowest[0].busy) }], timeText(bar.busy))));
}

/**
 * Says how many rows a table of these datasets leaves out.
 * @param {object[]} datasets
 * @returns {HTMLElement|null} null: none
 */
function leftOut(datasets) {
  return datasets.length <= MOST_ROWS ? null
    : note(`${datasets.length - MOST_ROWS} more are left out; runner report --json prints all.`);
}

/**
 * All datasets.
 * @param {object} batch
 * @returns {HTMLElement}
 */
function datasetsSection(batch) {
  const rows = batch.datasets.slice(0, MOST_ROWS).map((one) => [one.output,
    one.status + (one.fraction === undefined ? "" : `, ${percentText(one.fraction)}`),
    one.seconds > 0 ? timeText(one.seconds) : "", sizeText(one.bytes),
    one.seconds > 0 ? rateText(one.bytes / one.seconds) : "", one.input]);
  return section("Datasets", table(["output", "status", "time", "read + written", "rate", "input"], rows),
    leftOut(batch.datasets));
}

/**
 * The page of a batch.
 * @param {HTMLElement} main
 * @param {object} batch as `runner report FOLDER --json` prints it
 */
function drawBatch(main, batch) {
  document.title = `${batch.name} – runner`;
  const bars = madeBars(batch);
  const begun = batch.begun > 0 ? `, begun ${utcText(batch.begun)}` : "";
  const parts = [
    element("header", {}, element("h1", {}, batch.name),
      element("p", { class: "sub" }, `a batch of ${batch.kind}, ${batch.state}${begun}`)),
    element("p", { class: "verdict" }, progressText(batch)), batchTiles(batch, bars), failuresSection(batch),
    ...batchTimeline(batch, bars), slowestSection(bars), datasetsSection(batch)];
  main.replaceChildren(...parts.filter((part) => part !== null));
  enableZoom();
}
