// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_hasher.hpp"

#include "io/files/hash.hpp"

#include <algorithm>

namespace runner {

std::vector<RowHash> RowHasher::hash(std::int64_t first, std::int64_t rows, std::int64_t row_bytes,
                                     const std::byte* data) {
    const std::int64_t step = group_ == 1 ? std::max<std::int64_t>(1, run_bytes / row_bytes)
                                          : std::max<std::int64_t>(1, rows);
    std::vector<RowHash> runs;
    for (std::int64_t row = 0; row < rows; row += step) {
        runs.push_back({first + row, std::min(step, rows - row), 0});
    }
    const auto hash_run = [&](RowHash& run) {
        run.hash = hash_bytes(data + (run.first - first) * row_bytes, run.rows * row_bytes);
    };
    if (runs.size() == 1) { // without waking threads
        hash_run(runs.front());
    } else {
        threads_.run(std::ssize(runs), [&](std::int64_t index, int /*thread*/) {
            hash_run(runs[static_cast<std::size_t>(index)]);
        });
    }
    return runs;
}

} // namespace runner
