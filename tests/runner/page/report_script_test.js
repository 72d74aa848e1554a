// Tests the pure functions of the report page: node report_script_test.js SCRIPT...
"use strict";
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { readFileSync } = require("node:fs");
const vm = require("node:vm");

for (const script of process.argv.slice(2)) {
  vm.runInThisContext(readFileSync(script, "utf8"), { filename: script });
}

// As report_page_test.cpp expects of the same functions in C++.
assert.equal(decimalText(1.5, 3), "1.5");
assert.equal(decimalText(100, 2), "100");
assert.equal(decimalText(100, 0), "100");
assert.equal(decimalText(-0.001, 2), "0");
assert.equal(timeText(0), "0 µs");
assert.equal(timeText(0.0000004), "0.4 µs");
assert.equal(timeText(0.0123), "12.3 ms");
assert.equal(timeText(3.214), "3.21 s");
assert.equal(timeText(999.4), "999 s");
assert.equal(timeText(4000.4), "1:06:40 h");
assert.equal(rateText(4.906e9), "4.91 GB/s");
assert.equal(rateText(999.6), "1 kB/s");
assert.equal(rateText(5e15), "5000 TB/s");

// As tests/base/sizes_test.cpp expects of size_text.
const MiB = 1024 ** 2;
assert.equal(sizeText(0), "0 B");
assert.equal(sizeText(317), "317 B");
assert.equal(sizeText(1023), "1023 B");
assert.equal(sizeText(1024), "1.00 KiB");
assert.equal(sizeText(1536 * MiB), "1.50 GiB");
assert.equal(sizeText(12 * MiB), "12.0 MiB");
assert.equal(sizeText(100 * MiB), "100 MiB");
assert.equal(sizeText(2 ** 63), "8.00 EiB");

assert.equal(percentText(0.584), "58 %");
assert.equal(countText(1, "rank"), "1 rank");
assert.equal(countText(0, "rank"), "0 ranks");
assert.equal(mostOf([], (x) => x), 0);
assert.equal(mostOf(new Array(1e6).fill(3), (x) => x), 3);
assert.equal(sumOf([1, 2, 4], (x) => x), 7);

// A shell takes back what was quoted.
const words = ["plain-1.5_/=:,+@%", "", "two words", "it's", "$HOME `id` \"x\" \\ * ; & |",
  "</script>", "é", "line\nbreak", "-n", "'"];
for (const word of words) {
  assert.equal(execFileSync("sh", ["-c", `printf '%s.' ${shellWord(word)}`], { encoding: "utf8" }),
    `${word}.`);
}
assert.equal(shellWord("a/b.toml"), "a/b.toml");
assert.equal(commandText({
  job: { file: "a'b.toml", folder: "/data/my jobs", settings: ["run.backend=\"cpu\""] },
  ranks: [{}, {}],
}), "cd '/data/my jobs'\nmpirun -n 2 runner 'a'\\''b.toml' --set 'run.backend=\"cpu\"'");
assert.equal(commandText({ job: { file: "a.toml", settings: [] }, ranks: [{}] }), "runner a.toml");
assert.equal(datasetText({ file: "in.h5", dataset: "/a", shape: [30, 40], type: "float32" }),
  "in.h5:/a, 30 × 40 float32");

const stage = (bytes, busy, wait) => ({ read: { bytes, busy_seconds: busy, wait_seconds: wait } });
assert.deepEqual(stageTotals([{ stages: stage(10, 2, 1) }, { stages: stage(5, 1, 3) }], "read"),
  { bytes: 15, busy: 2, wait: 3 });

// Worked by hand: 80 B over 2 s are 40 B/s in steps 0 and 1; 20 B over 1 s are half in step 1 and
// half in step 2; what has no length counts where it is, at the very end too.
const bar = (name, start, end, bytes) => ({ stage: name, start, end, bytes });
const bars = [bar("read", 0, 2, 80), bar("write", 0, 4, 7), bar("read", 1.5, 2.5, 20),
  bar("read", 4, 4, 5)];
const rates = throughput(bars, "read", 4, 4);
[40, 50, 10, 5].forEach((rate, i) => assert.ok(Math.abs(rates[i] - rate) < 1e-6, `${rates}`));
assert.deepEqual(throughput(bars, "upload", 4, 2), [0, 0]);
assert.deepEqual(throughput([], "read", 0, 3), [0, 0, 0]);

assert.deepEqual([[7, 1, 1], [7, 2, 1], [1, 1, 1], [1, 1, 4]].map(extentsText),
  ["7", "7 × 2", "1", "1 × 1 × 4"]);
const kernel = { uuid: "GPU-1", name: "k", launches: 3, seconds: 0.25, grid: [7, 2, 1],
  block: [64, 1, 1], registers: 40, local_bytes: 0, shared_bytes: 1024, occupancy: 0.5, bytes: 4e9,
  operations: 0, share: 0.75, limit: "copy" };
assert.deepEqual(kernelCells(kernel, false), ["k", "3", "250 ms", "7 × 2 of 64", "40", "1.00 KiB",
  "50 %", "16 GB/s", "–", "75 % of copy"]);
assert.deepEqual(kernelCells({ ...kernel, local_bytes: 8, operations: 5e9, share: undefined }, true),
  ["GPU-1", "k", "3", "250 ms", "7 × 2 of 64", "40 + 8 B", "1.00 KiB", "50 %", "16 GB/s", "20 G/s",
    "–"]);
assert.equal(ratesText({ device: "H200", uuid: "GPU-1", why_unknown: "not measured" }),
  "H200 GPU-1: no share of the limit, not measured.");
assert.equal(ratesText({ device: "H200", uuid: "GPU-1", measured: "2026", copy_bytes: 4.1e12,
  float32_multiply_adds: 3e13, float64_multiply_adds: 1.5e13 }),
"H200 GPU-1, measured 2026: copy 4.1 TB/s, multiply-adds 30 T/s (float32) and 15 T/s (float64).");

assert.equal(svgTime(0.0004), "0.4");
assert.deepEqual([1, 2, 4, 7, 14, 100].map(laneHeight), [12, 12, 7, 4, 2, 2]);
assert.deepEqual([...byLane([{ lane: 1, x: 1 }, { lane: 0 }, { lane: 1, x: 2 }])],
  [[1, [{ lane: 1, x: 1 }, { lane: 1, x: 2 }]], [0, [{ lane: 0 }]]]);

assert.deepEqual([0.9, 1, 1.1, 2, 2.1, 5.5, 40].map(tickStep), [1, 1, 2, 2, 5, 10, 50]);
assert.equal(tickText(1500, 500, true), "1.5 s");
assert.equal(tickText(0.25, 0.05, false), "0.25 ms");
assert.equal(tickText(20, 10, false), "20 ms");
assert.equal(exactTime(1234.5678), "1.235 s");
assert.equal(exactTime(12.3456), "12.346 ms");
console.log("report_script_test: passed");
