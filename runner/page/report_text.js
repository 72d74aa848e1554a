/**
 * Text of numbers, sizes and names. Pure functions: nothing here touches the page.
 */

/**
 * The stages that data pass through, in this order: the name in the report and the page's label.
 * @type {{name: string, label: string}[]}
 */
const STAGES = [
  { name: "read", label: "reading" },
  { name: "upload", label: "host to device" },
  { name: "compute", label: "kernels" },
  { name: "exchange", label: "exchange" },
  { name: "download", label: "device to host" },
  { name: "hash", label: "checksums" },
  { name: "write", label: "writing" },
];

/**
 * A number with at most `digits` decimals, without trailing zeros: 1.5, not 1.500.
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
function decimalText(value, digits) {
  const text = value.toFixed(digits);
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return short === "-0" ? "0" : short;
}

/**
 * Three significant digits and the unit that leaves one to three of them before the point.
 * @param {number} value in the first of the units
 * @param {string[]} units each 1000 times the one before
 * @returns {string}
 */
function threeDigits(value, units) {
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    ++unit;
  }
  const digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${decimalText(value, digits)} ${units[unit]}`;
}

/**
 * "3.21 GB/s".
 * @param {number} bytesPerSecond
 * @returns {string}
 */
function rateText(bytesPerSecond) {
  return threeDigits(bytesPerSecond, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]);
}

/**
 * "820 ms", "1.5 s", "1:06:40 h".
 * @param {number} seconds
 * @returns {string}
 */
function timeText(seconds) {
  if (seconds < 999.5) {
    return threeDigits(seconds * 1e6, ["µs", "ms", "s"]);
  }
  const whole = Math.round(seconds);
  const twoDigits = (value) => String(value).padStart(2, "0");
  return `${Math.floor(whole / 3600)}:${twoDigits(Math.floor(whole / 60) % 60)}:` +
    `${twoDigits(whole % 60)} h`;
}

/**
 * "1.50 GiB", "317 B".
 * @param {number} bytes
 * @returns {string}
 */
function sizeText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  while (Math.abs(bytes) >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  const digits = unit === 0 ? 0 : bytes < 10 ? 2 : bytes < 100 ? 1 : 0;
  return `${bytes.toFixed(digits)} ${units[unit]}`;
}

/**
 * "58 %".
 * @param {number} share of 1
 * @returns {string}
 */
function percentText(share) {
  return `${decimalText(100 * share, 0)} %`;
}

/**
 * "1 rank", "2 ranks".
 * @param {number} count
 * @param {string} what in the singular
 * @returns {string}
 */
function countText(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/**
 * A word as a POSIX shell reads it, quoted where it must be.
 * @param {string} word
 * @returns {string}
 */
function shellWord(word) {
  return /^[\w./=:,+@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The shell lines that repeat the run.
 * @param {object} report
 * @returns {string}
 */
function commandText(report) {
  const { file, folder, settings } = report.job;
  const ranks = report.ranks.length;
  return (folder ? `cd ${shellWord(folder)}\n` : "") +
    (ranks > 1 ? `mpirun -n ${ranks} ` : "") +
    `runner ${shellWord(file)}` +
    settings.map((setting) => ` --set ${shellWord(setting)}`).join("");
}

/**
 * "in.h5:/a, 30 × 40 float32".
 * @param {object} dataset the report's `input` or `output`
 * @returns {string}
 */
function datasetText(dataset) {
  return `${dataset.file}:${dataset.dataset}, ${dataset.shape.join(" × ")} ${dataset.type}`;
}

/**
 * The largest value; 0 for none.
 * @template T
 * @param {T[]} items
 * @param {function(T): number} valueOf
 * @returns {number}
 */
function mostOf(items, valueOf) {
  return items.reduce((most, item) => Math.max(most, valueOf(item)), 0);
}

/**
 * The sum of the values.
 * @template T
 * @param {T[]} items
 * @param {function(T): number} valueOf
 * @returns {number}
 */
function sumOf(items, valueOf) {
  return items.reduce((sum, item) => sum + valueOf(item), 0);
}

/**
 * One stage over all ranks.
 * @param {object[]} ranks
 * @param {string} name the stage's
 * @returns {{bytes: number, busy: number, wait: number}} busy and wait: seconds, of the rank with
 *   the most
 */
function stageTotals(ranks, name) {
  return {
    bytes: sumOf(ranks, (rank) => rank.stages[name].bytes),
    busy: mostOf(ranks, (rank) => rank.stages[name].busy_seconds),
    wait: mostOf(ranks, (rank) => rank.stages[name].wait_seconds),
  };
}

/**
 * Bytes per second of one stage over all ranks, in equal steps from 0 to `end` seconds. A bar's
 * bytes count evenly over its time; those of a bar without length count within its step.
 * @param {object[]} bars of all ranks
 * @param {string} stage
 * @param {number} end
 * @param {number} steps
 * @returns {number[]}
 */
function throughput(bars, stage, end, steps) {
  const rates = new Array(steps).fill(0);
  const step = end / steps;
  if (!(step > 0)) {
    return rates;
  }
  for (const bar of bars.filter((one) => one.stage === stage && one.bytes > 0)) {
    const length = Math.max(bar.end - bar.start, 1e-9);
    const stop = bar.start + length;
    const first = Math.floor(Math.min(Math.max(bar.start / step, 0), steps - 1));
    for (let i = first; i < steps; ++i) {
      const from = Math.max(i * step, bar.start);
      const to = i + 1 === steps ? stop : Math.min((i + 1) * step, stop);
      if (to <= from) {
        break;
      }
      rates[i] += ((bar.bytes / length) * (to - from)) / step;
    }
  }
  return rates;
}
