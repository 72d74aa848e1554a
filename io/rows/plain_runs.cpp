// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/plain_runs.hpp"

#include <algorithm>

namespace runner {

std::vector<PlainRun> plain_runs(std::span<const RowExtent> extents, std::int64_t first,
                                 std::int64_t rows, std::int64_t row) {
    std::vector<PlainRun> runs;
    auto extent = std::upper_bound(
        extents.begin(), extents.end(), first,
        [](std::int64_t wanted, const RowExtent& each) { return wanted < each.first; });
    for (std::int64_t done = 0; done < rows; ++extent) {
        const RowExtent& here = *(extent - 1); // the last that begins at or before the row
        const std::int64_t skipped = first + done - here.first;
        const std::int64_t count = std::min(here.rows - skipped, rows - done);
        runs.push_back({here.offset + skipped * row, count * row, done * row});
        done += count;
    }
    return runs;
}

std::vector<PlainRun> cut_runs(std::span<const PlainRun> runs, std::int64_t most) {
    std::vector<PlainRun> blocks;
    for (const PlainRun& run : runs) {
        for (std::int64_t at = 0; at < run.bytes; at += most) {
            blocks.push_back({run.offset + at, std::min(most, run.bytes - at), run.to + at});
        }
    }
    return blocks;
}

} // namespace runner
