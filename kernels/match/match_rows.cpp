// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_rows.hpp"

#include <cstring>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {

void pack_match_rows(CpuQueue& queue, std::int64_t rows, int count, const MatchLists& lists,
                     std::byte* out) {
    const auto each = static_cast<std::size_t>(count);
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, rows, 1024), [&](const Range& range) {
            std::byte* to = out + range.begin() * match_row_bytes(count);
            for (std::int64_t row = range.begin(); row < range.end(); ++row) {
                std::memcpy(to, lists.index + row * count, 8 * each);
                std::memcpy(to + 8 * each, lists.distance + row * count, 4 * each);
                std::memcpy(to + 12 * each, lists.count + row, 4);
                to += match_row_bytes(count);
            }
        });
    });
}

} // namespace runner
