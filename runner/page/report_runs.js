/**
 * The page that compares several runs.
 */

/** The parts of a run's time: class, label and seconds. */
const TIME_PARTS = [
  { name: "hash", label: "before the first read", of: (run) => run.start_seconds },
  { name: "compute", label: "first read to last write", of: (run) => run.stream_seconds },
  {
    name: "upload",
    label: "after the last write",
    of: (run) => Math.max(0, run.wall_seconds - run.start_seconds - run.stream_seconds),
  },
];

/**
 * The columns of the table: heading and value.
 * @type {[string, function(object, object): (string|number)][]} of a run and the first run
 */
const RUN_COLUMNS = [
  ["run", (run) => run.file],
  ["job", (run) => run.name],
  ["kind", (run) => run.kind],
  ["devices", (run) => run.devices],
  ["hosts", (run) => run.hosts],
  ["ranks", (run) => run.ranks],
  ["chunk rows", (run) => run.chunk_rows],
  ["lanes", (run) => run.lanes],
  ["I/O threads", (run) => run.io_threads],
  ["total time", (run) => timeText(run.wall_seconds)],
  ["relative to first", (run, first) => first.wall_seconds > 0
    ? `${decimalText(run.wall_seconds / first.wall_seconds, 3)} ×` : ""],
  ["first read to last write", (run) => timeText(run.stream_seconds)],
  ["read + written", (run) => run.wall_seconds > 0 ? rateText(run.bytes / run.wall_seconds) : ""],
  ["bottleneck", (run) => `${run.bottleneck} ${percentText(run.overlap_efficiency)}`],
  ["host memory", (run) => sizeText(run.host_bytes)],
  ["device memory", (run) => sizeText(run.device_bytes)],
];

/**
 * Each run's time and its parts, to one scale.
 * @param {object[]} runs
 * @returns {HTMLElement}
 */
function timesSection(runs) {
  const longest = mostOf(runs, (run) => run.wall_seconds);
  const lines = runs.map((run) => barLine(run.file, TIME_PARTS.map(({ name, label, of }) => ({
    name, part: shareOf(of(run), longest), title: `${label}: ${timeText(of(run))}`,
  })), timeText(run.wall_seconds)));
  return section("Total time",
    element("p", { class: "legend" }, ...TIME_PARTS.map(({ name, label }) => key(name, label))),
    ...lines);
}

/**
 * How long each stage was busy in each run, to one scale.
 * @param {object[]} runs
 * @returns {HTMLElement}
 */
function busySection(runs) {
  const longest = mostOf(runs, (run) => mostOf(STAGES, ({ name }) => run.busy_seconds[name]));
  const used = STAGES.filter(({ name }) => runs.some((run) => run.busy_seconds[name] > 0));
  const line = (name) => (run) => {
    const seconds = run.busy_seconds[name];
    return barLine(run.file, [{ name, part: shareOf(seconds, longest) }], timeText(seconds));
  };
  return section("Busy time of the busiest rank", ...used.flatMap(({ name, label }) =>
    [element("h3", {}, label), ...runs.map(line(name))]));
}

/**
 * The page of several runs.
 * @param {HTMLElement} main
 * @param {object[]} runs as `runner report --json` prints them
 */
function drawRuns(main, runs) {
  document.title = "Runs compared – runner";
  const cells = (run) => RUN_COLUMNS.map(([, valueOf]) => valueOf(run, runs[0]));
  const settings = runs.map((run) =>
    [run.file, [run.started, `runner ${run.version}`, run.settings.join("  ")]
      .filter((text) => text).join(", ")]);
  main.replaceChildren(
    element("header", {}, element("h1", {}, "Runs compared"),
      element("p", { class: "sub" }, countText(runs.length, "run"))),
    section("Runs", table(RUN_COLUMNS.map(([heading]) => heading), runs.map(cells))),
    timesSection(runs), busySection(runs), section("Settings", facts(settings)));
}
