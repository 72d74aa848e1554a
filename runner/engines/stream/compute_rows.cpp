// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stream/compute_rows.hpp"

#include <algorithm>

namespace runner::stream {

RowComputer::RowComputer(const StreamJob& job, RowReader& input, std::int64_t alignment,
                         int threads, std::int64_t piece_bytes)
    : job_(job), input_(input), shape_(job.shape()),
      decomposition_(
          one_rank(shape_, alignment, piece_bytes / (shape_.in_row_bytes + shape_.out_row_bytes))),
      queue_(CpuQueue(threads)) {
    auto& queue = std::get<CpuQueue>(queue_);
    in_ = allocate_staging(queue, decomposition_.most_in_rows() * shape_.in_row_bytes);
    out_ = allocate_staging(queue, decomposition_.most_out_rows() * shape_.out_row_bytes);
    scratch_ =
        allocate_device(queue, job.scratch_bytes(Backend::cpu, decomposition_.largest_block()));
    kept_ = allocate_device(queue, job.kept_bytes(Backend::cpu));
    job_.prepare(queue_, kept_.data());
}

void RowComputer::compute(RowRange range, const TakeRows& take) {
    ChunkCursor cursor(decomposition_, decomposition_.rows_around(range));
    while (const std::optional<Chunk> chunk = cursor.next()) {
        run(*chunk);
        const std::int64_t first = chunk->frame * shape_.rows + chunk->block.out_first;
        const RowRange made = decomposition_.out_rows({first, first + chunk->out_rows()});
        const RowRange wanted = {std::max(made.first, range.first),
                                 std::min(made.last, range.last)};
        if (!wanted.empty()) {
            take(wanted, out_.data() + (wanted.first - made.first) * shape_.out_row_bytes);
        }
    }
}

std::vector<std::int64_t> RowComputer::count(const RowSet& rows) {
    job_.prepare(queue_, kept_.data());
    for (const RowRange& range : rows) {
        ChunkCursor cursor(decomposition_, range);
        while (const std::optional<Chunk> chunk = cursor.next()) {
            run(*chunk);
        }
    }
    return job_.counts(queue_, kept_.data());
}

void RowComputer::run(const Chunk& chunk) {
    read(chunk);
    job_.run(queue_, chunk.block, in_.data(), out_.data(), {scratch_.data(), kept_.data()});
}

void RowComputer::read(const Chunk& chunk) {
    if (chunk.block.frames > 1) {
        input_.read(chunk.frame * shape_.rows, chunk.in_rows(), in_.data());
        return;
    }
    const std::int64_t begin = chunk.block.in_first;
    for (const RowSource& run :
         row_sources(decomposition_, chunk.frame, {begin, begin + chunk.block.in_rows})) {
        input_.read(run.source, run.count,
                    in_.data() + (run.extended - begin) * shape_.in_row_bytes);
    }
}

} // namespace runner::stream
