// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/permute/permuted_rows.hpp"

#include "runner/engines/permute/permute_engine.hpp"

#include <algorithm>
#include <variant>

namespace runner::permute {

PermutedRows::PermutedRows(const PermuteJob& job, RowReader& input, std::int64_t alignment,
                           int threads)
    : job_(job), input_(input), grid_{job.shape()}, queue_(CpuQueue(threads)) {
    const std::int64_t row = row_bytes();
    const std::int64_t rows = std::max<std::int64_t>(1, piece_bytes / row);
    most_rows_ = std::max(alignment, rows / alignment * alignment);
    auto& own = std::get<CpuQueue>(queue_);
    in_ = allocate_staging(own, most_rows_ * row);
    out_ = allocate_staging(own, most_rows_ * row);
}

void PermutedRows::compute(RowRange range, const TakeRows& take) {
    const Extents output = grid_.output();
    const std::int64_t last = output[output.size() - 2];
    while (!range.empty()) {
        PermuteBox box(output.size() - 1);
        std::int64_t rest = range.first / last;
        for (std::size_t axis = box.size() - 1; axis-- > 0;) {
            box[axis] = {rest % output[axis], rest % output[axis] + 1};
            rest /= output[axis];
        }
        const std::int64_t b = range.first % last;
        const std::int64_t count = std::min({most_rows_, last - b, range.count()});
        box.back() = {b, b + count};
        read_box(input_, grid_, box, in_.data());
        job_.run(queue_, grid_.in_extents(box), in_.data(), out_.data());
        take({range.first, range.first + count}, out_.data());
        range.first += count;
    }
}

} // namespace runner::permute
