// SPDX-License-Identifier: BSD-3-Clause
#include "runner/memory/in_core_run.hpp"

#include "base/error.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/row_order.hpp"
#include "jobs/evolve_job.hpp"
#include "jobs/permute_job.hpp"
#include "jobs/stream_job.hpp"
#include "kernels/transpose/transpose.hpp"
#include "runner/memory/host_look.hpp"
#include "runner/plan/decomposition.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace runner {
namespace {

Backend backend_of(const Queue& queue) {
    return std::holds_alternative<CpuQueue>(queue) ? Backend::cpu : Backend::cuda;
}

std::byte* taken(const TakeMemory& take, std::int64_t bytes) {
    return bytes == 0 ? nullptr : take(bytes);
}

/// The whole input in as few chunks as may be.
Decomposition cut(const StreamShape& shape, const InCoreLimits& limits) {
    const std::int64_t row = std::max<std::int64_t>(1, shape.in_row_bytes + shape.out_row_bytes);
    std::int64_t rows = limits.call_bytes / row;
    if (shape.wanted_rows > 0) { // or all their references at once
        rows = std::max(shape.wanted_rows, limits.scratched_bytes / row);
    }
    if (!shape.fields.empty()) { // the outputs are larger than the input, and gathered first
        rows = std::max<std::int64_t>(1, shape.wanted_rows);
    }
    return one_rank(shape, 1, rows);
}

/// Takes rows whose fields lie side by side apart: `first` is their number in the fields' arrays.
void spread_fields(Queue& queue, const StreamShape& shape, std::int64_t first, std::int64_t rows,
                   const std::byte* joined, std::span<std::byte* const> outputs) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::int64_t width = row_bytes(shape.fields[i].array);
        // The widest elements that all of it is multiples of.
        const std::int64_t all = width | offset | shape.out_row_bytes | 16;
        const std::int64_t element = std::min(all & -all, size_of(shape.fields[i].array.type));
        const std::int64_t count = width / element;
        Transposition move;
        move.shape = {1, rows, count};
        move.element_bytes = static_cast<int>(element);
        move.in_strides = {rows * shape.out_row_bytes / element, shape.out_row_bytes / element, 1};
        move.out_strides = {rows * count, count, 1};
        std::visit(
            [&](auto& backend) {
                transpose(backend, move, joined + offset, outputs[i] + first * width);
            },
            queue);
        offset += width;
    }
}

/// One pass of a StreamJob.
class StreamInCore {
  public:
    StreamInCore(Queue& queue, const StreamJob& job, const TakeMemory& take,
                 const InCoreLimits& limits)
        : queue_(queue), job_(job), shape_(job.shape()), cut_(cut(shape_, limits)) {
        const Backend backend = backend_of(queue);
        memory_.scratch = taken(take, job.scratch_bytes(backend, cut_.largest_block()));
        memory_.kept = taken(take, job.kept_bytes(backend));
        memory_.carried = taken(take, job.carried_bytes(cut_.largest_block()));
        if (!shape_.fields.empty()) {
            joined_ = taken(take, cut_.most_out_rows() * shape_.out_row_bytes);
        }
        if (shape_.border == RowBorder::periodic && cut_.chunk_rows < cut_.rows) {
            window_ = taken(take, cut_.most_in_rows() * shape_.in_row_bytes);
        }
        job.prepare(queue, memory_.kept);
    }

    void run(const std::byte* input, std::span<std::byte* const> outputs) {
        ChunkCursor cursor(cut_, {0, cut_.total_rows()});
        while (const std::optional<Chunk> chunk = cursor.next()) {
            const std::byte* const from = rows_of(*chunk, input);
            const std::int64_t first = chunk->frame * shape_.rows + chunk->block.out_first;
            const RowRange made = cut_.out_rows({first, first + chunk->out_rows()});
            std::byte* const to =
                joined_ != nullptr ? joined_ : outputs[0] + made.first * shape_.out_row_bytes;
            memory_.blocks = chunk->run;
            job_.run(queue_, chunk->block, from, to, memory_);
            if (joined_ != nullptr && !made.empty()) {
                spread_fields(queue_, shape_, made.first, made.count(), joined_, outputs);
            }
        }
    }

  private:
    /// The chunk's rows where they lie, or gathered where some are at the frame's other end.
    const std::byte* rows_of(const Chunk& chunk, const std::byte* input) {
        const std::int64_t begin = chunk.block.in_first;
        const std::int64_t end = begin + chunk.block.in_rows;
        if (begin >= 0 && end <= shape_.rows) {
            return input + (chunk.frame * shape_.rows + begin) * shape_.in_row_bytes;
        }
        for (const RowSource& run : row_sources(cut_, chunk.frame, {begin, end})) {
            std::visit(
                [&](auto& backend) {
                    copy_on_device(backend, window_ + (run.extended - begin) * shape_.in_row_bytes,
                                   input + run.source * shape_.in_row_bytes,
                                   run.count * shape_.in_row_bytes);
                },
                queue_);
        }
        return window_;
    }

    Queue& queue_;
    const StreamJob& job_;
    StreamShape shape_;
    Decomposition cut_;
    RunMemory memory_;
    std::byte* joined_ = nullptr;
    std::byte* window_ = nullptr;
};

/// The input's rows in the order in which the job takes them; in memory of their own where that is
/// another.
const std::byte* in_row_order(Queue& queue, const StreamJob& job, std::int64_t element_bytes,
                              const std::byte* input, const TakeMemory& take) {
    const std::optional<RowOrder> order = job.row_order();
    if (!order || order->first == 1) {
        return input;
    }
    const std::int64_t row = job.shape().in_row_bytes;
    std::byte* const ordered = take(order->first * order->second * row);
    const Transposition move =
        dense_transposition({order->first, order->second, row / element_bytes}, {1, 0, 2},
                            static_cast<int>(element_bytes));
    std::visit([&](auto& backend) { transpose(backend, move, input, ordered); }, queue);
    return ordered;
}

/// What pack() has found in the input, once the queue is done.
void check_cells(Queue& queue, const EvolveJob& job, const EvolveShape& shape,
                 const std::byte* cells, const std::byte* found) {
    std::int64_t place = 0;
    std::byte value{};
    const auto fetch = [&](std::byte* to, const std::byte* from, std::int64_t bytes) {
        std::visit(
            [&](auto& backend) {
                if constexpr (std::decay_t<decltype(backend)>::shares_host_memory) {
                    std::copy_n(from, bytes, to);
                } else {
                    download(backend, to, from, bytes);
                    backend.synchronize();
                }
            },
            queue);
    };
    fetch(reinterpret_cast<std::byte*>(&place), found, sizeof(place));
    if (place < shape.rows * shape.in_row_bytes) {
        fetch(&value, cells + place, 1);
        throw Error(ExitCode::input,
                    job.wrong_byte(place / shape.in_row_bytes, place % shape.in_row_bytes, value));
    }
}

void evolve(Queue& queue, const EvolveJob& job, const std::byte* input, std::byte* output,
            const TakeMemory& take) {
    const EvolveShape shape = job.shape();
    std::array<std::byte*, 2> states = {take(shape.rows * shape.state_row_bytes),
                                        take(shape.rows * shape.state_row_bytes)};
    std::byte* const tables = taken(take, job.table_bytes(backend_of(queue)));
    std::byte* const found = take(sizeof(std::int64_t));
    const std::byte* const cells = input + shape.input_frame * shape.rows * shape.in_row_bytes;
    job.make_tables(queue, tables);
    job.pack(queue, shape.rows, cells, states[0], reinterpret_cast<std::int64_t*>(found));
    check_cells(queue, job, shape, cells, found);
    std::uint64_t generation = shape.snapshots.first;
    for (std::int64_t i = 0; i < shape.snapshots.count(); ++i) {
        const std::uint64_t next = shape.snapshots.generation(i);
        job.advance(queue, {0, shape.rows}, generation,
                    static_cast<std::int64_t>(next - generation), states[0], states[1], tables);
        std::swap(states[0], states[1]);
        job.unpack(queue, shape.rows, states[0], output + i * shape.rows * shape.out_row_bytes);
        generation = next;
    }
}

} // namespace

void run_in_core(Queue& queue, const PreparedJob& pass, const std::byte* input,
                 std::span<std::byte* const> outputs, const TakeMemory& take,
                 const InCoreLimits& limits) {
    const std::unique_ptr<Job> learned = look_at_input(queue, pass, input);
    const Job& job = learned ? *learned : *pass.job;
    if (const auto* const stream = dynamic_cast<const StreamJob*>(&job)) {
        const std::int64_t element = size_of(pass.input.array.type);
        const std::byte* const rows = in_row_order(queue, *stream, element, input, take);
        StreamInCore(queue, *stream, take, limits).run(rows, outputs);
    } else if (const auto* const permute = dynamic_cast<const PermuteJob*>(&job)) {
        permute->run(queue, permute->shape().input, input, outputs[0]);
    } else {
        evolve(queue, dynamic_cast<const EvolveJob&>(job), input, outputs[0], take);
    }
}

} // namespace runner
