/**
 * The passes of a pipeline and their steps.
 */

/**
 * Whether the report has what every one of several passes did, and when.
 * @param {object} report
 * @returns {boolean}
 */
function knowsAllPasses(report) {
  const passes = report.passes ?? [];
  return passes.length > 1 && passes.every((pass) => pass.stages && pass.start_seconds !== undefined);
}

/**
 * Seconds from the first pass's first read to the last one's last write, of the rank that took
 * longest.
 * @param {object} report
 * @returns {number}
 */
function streamSeconds(report) {
  return knowsAllPasses(report)
    ? mostOf(report.passes, (pass) => pass.start_seconds + pass.stream_seconds)
    : mostOf(report.ranks, (rank) => rank.stream_seconds);
}

/**
 * The ranks with the timelines of all passes, from the first one's first read. The clocks of ranks
 * are not compared: all of a pass are placed at its start on the first rank.
 * @param {object} report
 * @returns {object[]} of which a timeline was kept
 */
function timedRanks(report) {
  const ranks = report.ranks.filter((rank) => rank.timeline);
  if (!knowsAllPasses(report)) {
    return ranks;
  }
  const moved = (bars, seconds) => bars.map((bar) =>
    ({ ...bar, start: bar.start + seconds, end: bar.end + seconds }));
  const last = report.passes[report.passes.length - 1];
  return ranks.map((rank) => {
    const earlier = report.passes.flatMap((pass) => (pass.timelines ?? [])
      .filter((one) => one.rank === rank.rank).map((one) => ({ ...one, from: pass.start_seconds })));
    const all = [...earlier, { ...rank.timeline, from: last.start_seconds }];
    return {
      ...rank,
      timeline: {
        merged_below_seconds: mostOf(all, (one) => one.merged_below_seconds),
        bars: all.flatMap((one) => moved(one.bars, one.from)),
      },
    };
  });
}

/**
 * What each stage did in all passes, over all ranks.
 * @param {object} report
 * @param {string} name the stage's
 * @returns {{bytes: number, busy: number, wait: number}}
 */
function wholeTotals(report, name) {
  return knowsAllPasses(report) ? {
    bytes: sumOf(report.passes, (pass) => pass.stages[name].bytes),
    busy: sumOf(report.passes, (pass) => pass.stages[name].busy_seconds),
    wait: sumOf(report.passes, (pass) => pass.stages[name].wait_seconds),
  } : stageTotals(report.ranks, name);
}

/**
 * A line for each pass and one for all.
 * @param {object} report
 * @returns {HTMLElement|null} null for a single pass
 */
function passesTable(report) {
  if (!knowsAllPasses(report)) {
    return null;
  }
  const busy = (pass) => STAGES.filter(({ name }) => pass.stages[name].busy_seconds > 0)
    .map(({ name, label }) => `${label} ${timeText(pass.stages[name].busy_seconds)}`).join(", ");
  const { passes } = report;
  const whole = streamSeconds(report);
  const inPasses = sumOf(passes, (pass) => pass.stream_seconds);
  const rows = passes.map((pass) => [pass.pass, timeText(pass.start_seconds),
    timeText(pass.stream_seconds), sizeText(pass.bytes_read), sizeText(pass.bytes_written), busy(pass)]);
  rows.push(["between", "", timeText(Math.max(0, whole - inPasses)), "", "", "completing one pass, starting the next"]);
  rows.push(["all", "", timeText(whole), sizeText(sumOf(passes, (pass) => pass.bytes_read)),
    sizeText(sumOf(passes, (pass) => pass.bytes_written)), ""]);
  return table(["pass", "begins at", "first read to last write", "read", "written", "busy"], rows);
}

/**
 * Of one pass: what it made and what bounded it, and a bar for each step.
 * @param {object} pass
 * @param {number} most seconds of the longest step of all passes
 * @param {string|undefined} bounding that step
 * @returns {HTMLElement[]}
 */
function passParts(pass, most, bounding) {
  const stage = STAGES.find(({ name }) => name === pass.bottleneck);
  const busiest = `${stage ? stage.label : pass.bottleneck}, ${percentText(pass.overlap_efficiency)}`;
  const bars = pass.steps.map(({ step, seconds }) => barLine(
    step === bounding ? `${step}, longest` : step,
    [{ name: "compute", part: shareOf(seconds, most) }], timeText(seconds)));
  return [
    element("h3", {}, `Pass ${pass.pass}: ${pass.output.file}:${pass.output.dataset}`),
    note(`Read ${sizeText(pass.bytes_read)}, wrote ${sizeText(pass.bytes_written)} in ` +
      `${timeText(pass.stream_seconds)}. Busiest: ${busiest}.`),
    ...bars,
  ];
}

/**
 * What each pass and each step of a pipeline took. The step that took longest is marked.
 * @param {object} report
 * @returns {HTMLElement|null} null: the job is no pipeline
 */
function passesSection(report) {
  const passes = report.passes ?? [];
  if (passes.length === 0) {
    return null;
  }
  const steps = passes.flatMap((pass) => pass.steps.map((step) => ({ pass: pass.pass, ...step })));
  const rows = steps.map(({ pass, step, seconds, bytes }) => [pass, step, timeText(seconds),
    sizeText(bytes), bytes > 0 && seconds > 0 ? rateText(bytes / seconds) : "–"]);
  const most = mostOf(steps, ({ seconds }) => seconds);
  const heads = ["pass", "step", "computing (longest rank)", "bytes read and made (all ranks)",
    "bytes over time"];
  return section("Passes and steps", passesTable(report),
    ...passes.flatMap((pass) => passParts(pass, most, report.bounding_step)),
    table(heads, rows),
    note("A step computes while others read and write. Its bytes include the halos of later " +
      "steps." + (passes.length > 1 ? " Memory and ranks are those of the last pass." : "")));
}
