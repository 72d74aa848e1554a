// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/row_computation.hpp"

#include "base/sizes.hpp"
#include "runner/engines/permute_engine.hpp"
#include "runner/plan/box_grid.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace runner {
namespace {

/// Rows of a permuted volume, from the elements of the input that they are made of alone.
class PermutedRows {
  public:
    PermutedRows(const PermuteJob& job, RowReader& input, std::int64_t alignment, int threads)
        : job_(job), input_(input), grid_{job.shape(), 1, 1}, queue_(CpuQueue(threads)) {
        const std::int64_t row = row_bytes();
        const std::int64_t rows = std::max<std::int64_t>(1, piece_bytes / row);
        most_rows_ = std::max(alignment, rows / alignment * alignment);
        auto& own = std::get<CpuQueue>(queue_);
        in_ = allocate_staging(own, most_rows_ * row);
        out_ = allocate_staging(own, most_rows_ * row);
    }

    void compute(RowRange range, const RowComputer::Take& take) {
        const std::int64_t second = grid_.output()[1];
        while (!range.empty()) {
            const std::int64_t a = range.first / second;
            const std::int64_t b = range.first % second;
            const std::int64_t count = std::min({most_rows_, second - b, range.count()});
            const PermuteBox box{{a, a + 1}, {b, b + count}};
            input_.read_runs(input_runs(grid_, box), in_.data());
            job_.run(queue_, grid_.in_extents(box), in_.data(), out_.data());
            take({range.first, range.first + count}, out_.data());
            range.first += count;
        }
    }

  private:
    static constexpr std::int64_t piece_bytes = 32 * MiB;

    std::int64_t row_bytes() const { return grid_.output()[2] * grid_.shape.element_bytes; }

    const PermuteJob& job_;
    RowReader& input_;
    BoxGrid grid_;
    Queue queue_;
    std::int64_t most_rows_ = 1;
    Buffer in_;
    Buffer out_;
};

} // namespace

ComputeRows row_computation(const PreparedJob& prepared, RowReader& input, std::int64_t alignment,
                            int threads) {
    if (const StreamJob* const job = prepared.stream()) {
        auto rows = std::make_shared<RowComputer>(*job, input, alignment, threads);
        return
            [rows](RowRange range, const RowComputer::Take& take) { rows->compute(range, take); };
    }
    if (const PermuteJob* const job = prepared.permute()) {
        auto rows = std::make_shared<PermutedRows>(*job, input, alignment, threads);
        return
            [rows](RowRange range, const RowComputer::Take& take) { rows->compute(range, take); };
    }
    return {};
}

} // namespace runner
