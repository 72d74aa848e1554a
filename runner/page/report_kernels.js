/**
 * What each kernel did, of a run on GPUs.
 */

/**
 * Extents along x, y and z without ones at the end: "12 × 2", "5".
 * @param {number[]} extents
 * @returns {string}
 */
function extentsText(extents) {
  const used = extents.findLastIndex((extent) => extent !== 1) + 1;
  return extents.slice(0, Math.max(1, used)).join(" × ");
}

/**
 * One kernel's line of the table.
 * @param {object} kernel
 * @param {boolean} named whether the line names its GPU
 * @returns {string[]}
 */
function kernelCells(kernel, named) {
  const { seconds, bytes, operations } = kernel;
  const rate = (amount, units) =>
    (amount > 0 && seconds > 0 ? threeDigits(amount / seconds, units) : "–");
  const spilled = kernel.local_bytes > 0 ? ` + ${sizeText(kernel.local_bytes)}` : "";
  return [
    ...(named ? [kernel.uuid] : []), kernel.name, String(kernel.launches), timeText(seconds),
    `${extentsText(kernel.grid)} of ${extentsText(kernel.block)}`,
    `${kernel.registers}${spilled}`, sizeText(kernel.shared_bytes), percentText(kernel.occupancy),
    rate(bytes, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]),
    rate(operations, ["/s", "k/s", "M/s", "G/s", "T/s"]),
    kernel.share === undefined ? "–" : `${percentText(kernel.share)} of ${kernel.limit}`,
  ];
}

/**
 * What the shares are of, or why there are none.
 * @param {object} rates of one GPU
 * @returns {string}
 */
function ratesText(rates) {
  if (rates.why_unknown !== undefined) {
    return `${rates.device} ${rates.uuid}: no share of the limit, ${rates.why_unknown}.`;
  }
  const adds = (count) => threeDigits(count, ["/s", "k/s", "M/s", "G/s", "T/s"]);
  return `${rates.device} ${rates.uuid}, measured ${rates.measured}: copy ` +
    `${rateText(rates.copy_bytes)}, multiply-adds ${adds(rates.float32_multiply_adds)} (float32) ` +
    `and ${adds(rates.float64_multiply_adds)} (float64).`;
}

/**
 * A line for each kernel and GPU.
 * @param {object} report
 * @returns {HTMLElement|null} null: nothing was launched
 */
function kernelsSection(report) {
  const kernels = report.kernels ?? [];
  if (kernels.length === 0) {
    return null;
  }
  const named = new Set(kernels.map(({ uuid }) => uuid)).size > 1;
  const heads = [...(named ? ["GPU"] : []), "kernel", "launches", "time",
    "largest grid of block", "registers", "shared memory", "occupancy", "bytes", "operations",
    "share of the limit"];
  return section("Kernels", table(heads, kernels.map((kernel) => kernelCells(kernel, named))),
    ...(report.device_rates ?? []).map((rates) => note(ratesText(rates))),
    note("Bytes and operations are those that the kernel's formula counts. The limit is the " +
      "slower of copying the bytes and multiply-adds of as many operations. Kernels of several " +
      "lanes that ran at once each have the time of both."));
}
