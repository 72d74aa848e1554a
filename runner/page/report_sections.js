/**
 * The parts of a report's page beside the timeline.
 */

const LISTED_RANKS = 64;

/**
 * The job, what bounded the run, and where it ran.
 * @param {object} report
 * @returns {HTMLElement}
 */
function header(report) {
  const { job, ranks, runner } = report;
  const hosts = new Set(ranks.map((rank) => rank.host));
  const devices = [...new Set(ranks.map((rank) => rank.device))].sort().join(", ");
  const where = `${countText(ranks.length, "rank")} on ${countText(hosts.size, "host")}`;
  const version = `runner ${runner.version ?? ""}`;
  const words = [job.kind, report.started, `${where}, ${devices}`, version];
  return element("header", {}, element("h1", {}, job.name),
    element("p", { class: "sub" }, words.filter((word) => word).join(" · ")),
    element("p", { class: "verdict" }, report.verdict ?? ""));
}

/**
 * The run's main numbers.
 * @param {object} report
 * @returns {HTMLElement}
 */
function tiles(report) {
  const passes = report.passes ?? [];
  const several = passes.length > 1; // the ranks' stages are those of the last pass
  const stages = (name) => stageTotals(report.ranks, name).bytes;
  const read = several ? sumOf(passes, (pass) => pass.bytes_read) : stages("read");
  const written = several ? sumOf(passes, (pass) => pass.bytes_written) : stages("write");
  const generations = report.ranks[0].evolution.generations;
  const numbers = [
    ["total time", timeText(report.wall_seconds)],
    ["before the first read", timeText(report.start_seconds)],
    ["first read to last write", timeText(streamSeconds(report))],
    ["after the last write", timeText(report.finish_seconds)],
    ["read", sizeText(read)],
    ["written", sizeText(written)],
    ["read + written, over the total time", rateText(shareOf(read + written, report.wall_seconds))],
    ...(generations > 0 ? [["generations", String(generations)]] : []),
  ];
  return element("dl", { class: "tiles" }, ...numbers.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/**
 * What the time of the whole command went to.
 * @param {object} report
 * @returns {HTMLElement|null} null for a report that does not say
 */
function phasesSection(report) {
  const felt = 0.001;
  const phases = (report.phases ?? []).filter(({ seconds }) => seconds >= felt);
  if (phases.length === 0) {
    return null;
  }
  const longest = mostOf(phases, ({ seconds }) => seconds);
  return section("The command's time", ...phases.map(({ phase, seconds }) =>
    barLine(phase, [{ name: phase === "stream" ? "compute" : "hash", part: shareOf(seconds, longest) }],
      timeText(seconds))),
  note("Of the first rank, from the start of its process to this report. What takes less than " +
    "1 ms is left out."));
}

/**
 * The arrays of an output that is a folder of files.
 * @param {object} report
 * @returns {HTMLElement|null} null for an output of another format
 */
function levelsSection(report) {
  const levels = report.levels ?? [];
  if (levels.length === 0) {
    return null;
  }
  const longest = mostOf(levels, ({ seconds }) => seconds);
  return section("The output's arrays", ...levels.map(({ shape, files, chunks, bytes, seconds }, level) =>
    barLine(`${level}: ${shape.join(" × ")}, ${chunks} chunks in ${files} files, ${sizeText(bytes)}`,
      [{ name: "hash", part: shareOf(seconds, longest) }], timeText(seconds))),
  note("The time in which all ranks put the files of an array together. The elements of coarser ones are made before, " +
    "of all at once."));
}

/**
 * What each stage did, over all ranks.
 * @param {object} report
 * @returns {HTMLElement}
 */
function stagesSection(report) {
  const stream = streamSeconds(report);
  const rows = STAGES.map((stage) => ({ stage, ...wholeTotals(report, stage.name) }))
    .filter(({ busy, bytes }) => busy > 0 || bytes > 0)
    .map(({ stage, busy, wait, bytes }) => [
      key(stage.name, stage.label),
      timeText(busy),
      percentText(shareOf(busy, stream)),
      wait > 0 ? timeText(wait) : "–",
      sizeText(bytes),
      bytes > 0 && busy > 0 ? rateText(bytes / busy) : "–",
    ]);
  const heads = ["stage", "busy (busiest rank)", "share", "waited (longest rank)",
    "bytes (all ranks)", "bytes over busy time"];
  return section("Stages", table(heads, rows),
    note(knowsAllPasses(report)
      ? "Of all passes. The share is of the time from the first pass's first read to the last write."
      : "The share is of the time from first read to last write."));
}

/**
 * What the steps counted in the whole output, and what they took from the input.
 * @param {object} report
 * @returns {HTMLElement|null} null where there is neither
 */
function findingsSection(report) {
  const counts = Object.entries(report.counts ?? {});
  const notes = report.notes ?? [];
  return counts.length + notes.length === 0 ? null : section("Counted and found",
    counts.length > 0 ? facts(counts.map(([name, value]) =>
      [name.replaceAll("_", " ").replace(/^([^.]*)\./, "$1: "), String(value)])) : null,
    notes.length > 0 ? element("ul", { class: "found" }, ...notes.map((line) =>
      element("li", {}, line))) : null);
}

/**
 * Small pictures of the data before and after.
 * @param {{caption: string, png: (string|undefined)}[]} pictures `png`: a data URL
 * @returns {HTMLElement|null}
 */
function picturesSection(pictures) {
  const figures = pictures.map(({ caption, png }) => element("figure", {},
    png ? element("img", { alt: caption, src: png }) : null,
    element("figcaption", {}, caption)));
  return figures.length > 0
    ? section("Data", element("div", { class: "pictures" }, ...figures)) : null;
}

/**
 * Two bars to one scale: memory planned and memory used.
 * @param {number} planned bytes
 * @param {string} label of what was used
 * @param {number} used bytes
 * @returns {HTMLElement[]}
 */
function memoryBars(planned, label, used) {
  const most = Math.max(planned, used);
  return [
    barLine("planned", [{ name: "plan", part: shareOf(planned, most) }], sizeText(planned)),
    barLine(label, [{ name: "read", part: shareOf(used, most) }], sizeText(used)),
  ];
}

/**
 * Memory planned and used on the host and on the GPU, of the rank with the most.
 * @param {object} report
 * @returns {HTMLElement}
 */
function memorySection(report) {
  const plan = report.plan.memory_per_rank;
  const size = (name) => sizeText(plan[name] ?? 0);
  const growth = mostOf(report.ranks, ({ memory }) =>
    memory.resident_peak_bytes - memory.resident_before_bytes);
  const device = mostOf(report.ranks, ({ memory }) => memory.device_bytes ?? 0);
  const gpu = report.plan.backend !== "cuda" ? [] : [
    element("h3", {}, "GPU, per rank"), ...memoryBars(plan.device_bytes, "allocated", device),
    note(`Limit: ${size("device_limit_bytes")}.`),
  ];
  return section("Memory", element("h3", {}, "Host, per rank"),
    ...memoryBars(plan.host_bytes, "process growth", growth),
    note(`Limit: ${size("host_limit_bytes")}. The plan counts buffers only: staging ` +
      `${size("staging_bytes")}, border rows ${size("border_bytes")}, storage ` +
      `${size("storage_bytes")}` + (plan.images_bytes
        ? `; images ${size("images_bytes")}, computed before in ${size("images_work_bytes")}` : "") +
      ". The process also grows by threads, libraries and page tables, and grows less where " +
      "buffers were not filled."),
    ...gpu);
}

/**
 * One rank's line of the table.
 * @param {object} rank
 * @returns {(Node|string|number)[]}
 */
function rankCells(rank) {
  const device = element("span", {}, rank.device, ...(rank.uuid
    ? [element("br"), element("small", {}, rank.uuid)] : []));
  return [rank.rank, rank.host, device, rank.ranks_on_device, rank.cores ?? "",
    `${rank.rows[0]} to ${rank.rows[1]}`, rank.chunks, rank.lanes, timeText(rank.stream_seconds)];
}

/**
 * Where each rank ran and what it did.
 * @param {object} report
 * @returns {HTMLElement}
 */
function ranksSection(report) {
  const heads = ["rank", "host", "device", "ranks on it", "cores", "rows", "chunks", "lanes",
    "first read to last write"];
  const more = report.ranks.length - LISTED_RANKS;
  return section("Ranks and devices",
    table(heads, report.ranks.slice(0, LISTED_RANKS).map(rankCells)),
    more > 0 ? note(`${countText(more, "more rank")} not listed.`) : null);
}

/**
 * Warnings, and chunks that were halved.
 * @param {object} report
 * @returns {HTMLElement}
 */
function warningsSection(report) {
  const halvings = report.ranks.flatMap(({ rank, halvings }) => halvings.map((halving) =>
    `rank ${rank}: ${halving.reason}; continued with chunks of ${halving.chunk_rows} rows in ` +
    countText(halving.lanes, "lane")));
  const lines = [...(report.warnings ?? []), ...halvings];
  return section("Warnings", lines.length > 0
    ? element("ul", { class: "warnings" }, ...lines.map((line) => element("li", {}, line)))
    : element("p", {}, "None."));
}

/**
 * The command, the job file, the data and the build.
 * @param {object} report
 * @returns {HTMLElement}
 */
function repeatSection(report) {
  const { input, output, job, runner } = report;
  const inputText = [datasetText(input), input.storage, sizeText(input.bytes ?? 0),
    input.modified ? `modified ${input.modified}` : ""].filter((text) => text).join(", ");
  return section("Reproduce this run", element("pre", {}, commandText(report)),
    element("details", { open: true }, element("summary", {}, job.file),
      element("pre", {}, job.text)),
    facts([["input", inputText], ["output", datasetText(output)],
      ["runs on this output", String(report.runs ?? 1)], ...Object.entries(runner)]));
}

/**
 * A report's page.
 * @param {HTMLElement} main
 * @param {object} report as `--report FILE.json` writes it
 * @param {{caption: string, png: (string|undefined)}[]} pictures
 */
function drawReport(main, report, pictures) {
  document.title = `${report.job.name} – runner`;
  const parts = [header(report), tiles(report), ...timelineSections(report), stagesSection(report), phasesSection(report),
    levelsSection(report),
    passesSection(report), findingsSection(report), kernelsSection(report), picturesSection(pictures), memorySection(report), ranksSection(report),
    warningsSection(report), repeatSection(report)];
  main.replaceChildren(...parts.filter((part) => part !== null));
  enableZoom();
}
