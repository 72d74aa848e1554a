// SPDX-License-Identifier: BSD-3-Clause
// The memory and the work of a pipeline's steps for a block of rows.
#include "base/rounding.hpp"
#include "jobs/pipeline/carried_rows.hpp"
#include "jobs/pipeline/pipeline_job.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

Backend backend_of(const Queue& queue) {
    return std::holds_alternative<CpuQueue>(queue) ? Backend::cpu : Backend::cuda;
}

} // namespace

/// What lies between the steps: the buffers of the second step, the fourth … in one place, those of
/// the third, the fifth … in another, and each step's own scratch in a third. A step reads from one
/// of the first two and writes to the other.
struct PipelineJob::Scratch {
    std::array<std::int64_t, 2> between = {};
    std::int64_t own = 0;

    Scratch(const PipelineJob& job, Backend backend, const RowBlock& block) {
        const std::vector<StepSize> sizes = job.chain_.sizes(block);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (i > 0) {
                std::int64_t& place = between.at(i % 2);
                place = std::max(place, aligned_bytes(sizes[i].held * job.shapes_[i].in_row_bytes));
            }
            own =
                std::max(own, aligned_bytes(job.stream(i).scratch_bytes(backend, sizes[i].block)));
        }
    }

    std::int64_t bytes() const { return between[0] + between[1] + own; }
    /// The buffer of step `i`, not the first.
    std::byte* buffer(std::byte* memory, std::size_t i) const {
        return memory + own + (i % 2) * static_cast<std::size_t>(between[0]);
    }
};

std::int64_t PipelineJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    return Scratch(*this, backend, block).bytes();
}

std::int64_t PipelineJob::thread_bytes(const RowBlock& block) const {
    const std::vector<StepSize> sizes = chain_.sizes(block);
    std::int64_t most = 0; // of one step at a time
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        most = std::max(most, stream(i).thread_bytes(sizes[i].block));
    }
    return most;
}

std::int64_t PipelineJob::kept_bytes(Backend backend) const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        bytes += stream(i).kept_bytes(backend);
    }
    return bytes;
}

std::int64_t PipelineJob::carried_bytes(const RowBlock& block) const {
    // No block follows in a frame that is in one.
    if (block.frames > 1 || block.out_rows == shape_.rows) {
        return 0;
    }
    std::int64_t bytes = CarriedRows(chain_, shapes_).bytes();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        bytes += carried_by(i);
    }
    return bytes;
}

std::int64_t PipelineJob::carried_by(std::size_t step) const {
    return aligned_bytes(stream(step).carried_bytes({}));
}

std::vector<StepMemory> PipelineJob::step_memory(Backend backend, const RowBlock& block) const {
    const std::vector<StepSize> sizes = chain_.sizes(block);
    const CarriedRows carried(chain_, shapes_);
    const bool carries = carried_bytes(block) > 0;
    const OutputRows& rows = shape_.made;
    const std::int64_t made = block.frames > 1 ? block.frames * rows.before(shape_.rows)
                                               : rows.most(round_up(block.out_rows, rows.layer));
    std::vector<StepMemory> all(steps_.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_last = i + 1 == all.size();
        const std::int64_t out =
            is_last ? made * shape_.out_row_bytes : sizes[i + 1].held * shapes_[i + 1].in_row_bytes;
        all[i].lane_bytes = sizes[i].held * shapes_[i].in_row_bytes + out +
                            stream(i).scratch_bytes(backend, sizes[i].block);
        all[i].kept_bytes = stream(i).kept_bytes(backend);
        if (carries) {
            all[i].carried_rows = i == 0 ? 0 : chain_.most_carried(i);
            all[i].carried_bytes = carried.bytes_of(i) + carried_by(i);
        }
    }
    return all;
}

void PipelineJob::prepare(Queue& queue, std::byte* kept) const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        stream(i).prepare(queue, kept);
        kept += stream(i).kept_bytes(backend_of(queue));
    }
}

std::vector<std::int64_t> PipelineJob::counts(Queue& queue, const std::byte* kept) const {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const std::vector<std::int64_t> counts = stream(i).counts(queue, kept);
        all.insert(all.end(), counts.begin(), counts.end());
        kept += stream(i).kept_bytes(backend_of(queue));
    }
    return all;
}

std::int64_t PipelineJob::call_bytes(std::size_t step, const RowBlock& block) const {
    const StreamShape& shape = shapes_[step];
    const std::int64_t made =
        shape.made.before(block.out_first + block.out_rows) - shape.made.before(block.out_first);
    return block.frames * (block.in_rows * shape.in_row_bytes + made * shape.out_row_bytes);
}

double PipelineJob::operations_in(const RowBlock& block, const BlockRun& blocks) const {
    const std::vector<StepWork> works =
        chain_.work(block, counting_steps_, blocks, blocks.before ? Carries::yes : Carries::no);
    double sum = 0;
    for (std::size_t i = 0; i < works.size(); ++i) {
        for (const StepCall& call : works[i].calls) {
            sum += stream(i).operations_in(call.block, blocks_of(works[i], call));
        }
    }
    return sum;
}

BlockRun PipelineJob::blocks_of(const StepWork& work, const StepCall& call) {
    BlockRun blocks;
    if (work.follows) {
        blocks.before = RowBlock{1, 0, 0, call.block.out_first, 0}; // only its end is known
    }
    return blocks;
}

RunMemory PipelineJob::memory_of(const StepWork& work, const StepCall& call, const RowBlock& block,
                                 const RunMemory& memory) const {
    RunMemory own{memory.scratch, nullptr, call.own.first, call.own.last};
    own.blocks = blocks_of(work, call);
    if (memory.leaves_carried(block)) {
        own.blocks.last = call.block.out_first + call.block.out_rows + 1; // more follow
    }
    return own;
}

void PipelineJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                      const RunMemory& memory) const {
    const std::vector<StepWork> works = chain_.work(
        block, counting_steps_, memory.blocks, memory.takes_carried() ? Carries::yes : Carries::no);
    const Scratch scratch(*this, backend_of(queue), block);
    const CarriedRows carried(chain_, shapes_);
    const std::byte* from = in;
    std::byte* kept = memory.kept;
    std::byte* left = memory.carried == nullptr ? nullptr : memory.carried + carried.bytes();
    for (std::size_t i = 0; i < works.size(); ++i) {
        const bool is_last = i + 1 == works.size();
        std::byte* to = is_last ? out : scratch.buffer(memory.scratch, i + 1);
        if (!is_last && works[i + 1].carried > 0) {
            carried.take(queue, memory.carried, i + 1, works[i + 1], to);
        }
        std::int64_t bytes = 0;
        for (const StepCall& call : works[i].calls) {
            bytes += call_bytes(i, call.block);
            RunMemory own = memory_of(works[i], call, block, memory);
            own.kept = kept;
            own.carried = carried_by(i) > 0 ? left : nullptr;
            stream(i).run(queue, call.block, from + call.in_row * shapes_[i].in_row_bytes,
                          to + call.out_row * shapes_[i].out_row_bytes, own);
        }
        left = left == nullptr ? left : left + carried_by(i);
        if (!is_last && memory.leaves_carried(block)) {
            carried.leave(queue, memory.carried, i + 1, works[i + 1], to);
        }
        if (memory.marks != nullptr) {
            memory.marks->mark(bytes);
        }
        kept += stream(i).kept_bytes(backend_of(queue));
        from = to;
    }
}

} // namespace runner
