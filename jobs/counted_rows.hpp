// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/stream_job.hpp"
#include "kernels/elements/tally.hpp"
#include "kernels/queue/row_block.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

namespace runner {

/// Rows of a block's output all of which a job's counts take, or none.
struct CountedRows {
    RowBlock block;         ///< as the whole, but for frames, out_first and out_rows
    std::int64_t first = 0; ///< the row of the output's buffer that they begin with
    bool are_counted = false;
};

/// How the name of a count ends that is of elements without a value. It is reported only where
/// there are some, and with a warning.
inline constexpr std::string_view nan_values = "nan_values";

/// What kept memory begins with where a job counts: its counts, in bytes.
inline constexpr std::int64_t counts_bytes = 256;

/// Sets them to 0, before the first call of run().
inline void clear_counts(Queue& queue, std::byte* kept) {
    std::visit(
        [&](auto& backend) {
            static constexpr std::array<std::byte, counts_bytes> zeros{};
            if constexpr (std::decay_t<decltype(backend)>::shares_host_memory) {
                std::memcpy(kept, zeros.data(), zeros.size());
            } else {
                upload(backend, kept, zeros.data(), counts_bytes);
            }
        },
        queue);
}

/// The tally of a kernel that counts by itself which of a block's rows are the block's own.
/// `elements`: that a row has, where the kernel counts these; else 1.
inline Tally tally_of(const RowBlock& block, const RunMemory& memory, std::int64_t elements = 1) {
    const std::int64_t rows = block.frames * block.out_rows;
    const auto place = [&](std::int64_t row) {
        return std::clamp<std::int64_t>(row, 0, rows) * elements;
    };
    return {reinterpret_cast<std::uint64_t*>(memory.kept), place(memory.counted_first),
            place(memory.counted_last)};
}

/// Whether to count the rows of an earlier run again takes little beside reading them: a number of
/// operations for each byte that a host does about as fast as it reads from a disk. What takes
/// longer, such as denoising, a resumed run must not do twice.
inline bool counts_soon(const StreamJob& job) {
    constexpr double most_operations = 1000; // a byte
    const StreamShape shape = job.shape();
    const RowBlock frame{1, 0, shape.rows, 0, shape.rows};
    return job.operations(frame) <=
           most_operations * static_cast<double>(shape.rows * shape.in_row_bytes);
}

/// The counts at the start of what a job keeps, once the queue has done its work.
template <class Counts> Counts fetch_counts(Queue& queue, const std::byte* kept) {
    Counts counts{};
    std::visit(
        [&](auto& backend) {
            download(backend, reinterpret_cast<std::byte*>(&counts), kept, sizeof(counts));
            backend.synchronize();
        },
        queue);
    return counts;
}

/// Calls take(rows) with the rows of the block's output before those that `memory` counts, with
/// these, and with those behind, where there are any.
template <class Take>
void for_counted_rows(const RowBlock& block, const RunMemory& memory, const Take& take) {
    const std::int64_t all = block.frames * block.out_rows;
    const std::array<std::int64_t, 4> borders = {
        0, std::clamp<std::int64_t>(memory.counted_first, 0, all),
        std::clamp<std::int64_t>(memory.counted_last, 0, all), all};
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
        const std::int64_t first = borders.at(i);
        const std::int64_t rows = borders.at(i + 1) - first;
        if (rows <= 0) {
            continue;
        }
        CountedRows part{block, first, i == 1};
        // Several frames are whole ones.
        part.block.frames = block.frames > 1 ? rows / block.out_rows : 1;
        part.block.out_first = block.out_first + (block.frames > 1 ? 0 : first);
        part.block.out_rows = rows / part.block.frames;
        take(part);
    }
}

} // namespace runner
