/**
 * The passes of a pipeline and their steps.
 */

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
  return section("Passes and steps",
    ...passes.flatMap((pass) => passParts(pass, most, report.bounding_step)),
    table(heads, rows),
    note("A step computes while others read and write. Its bytes include the halos of later " +
      "steps. Timeline, stages and memory are those of the last pass."));
}
