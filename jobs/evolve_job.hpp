// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "jobs/job.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace runner {

/// Rows [first, first + rows) of a state.
struct StateBand {
    std::int64_t first = 0;
    std::int64_t rows = 0;
};

/// A job whose state goes from one generation to the next, a row depending on itself and the rows
/// next to it. Pure: no files, no MPI, no memory between calls. All pointers are to the queue's
/// device memory, aligned to 64 bytes; the CUDA forms return before the work is done.
class EvolveJob : public Job {
  public:
    virtual EvolveShape shape() const = 0;

    ArrayInfo output() const override { return shape().output; }
    std::optional<EvolveShape> state() const override { return shape(); }

    /// Bytes of what advance() reads beside the state; make_tables() fills it, once a job.
    virtual std::int64_t table_bytes(Backend backend) const = 0;
    virtual void make_tables(Queue& queue, std::byte* tables) const = 0;

    /// The state of `rows` rows from their bytes, in the input or in a snapshot: a run resumes from
    /// what unpack() makes as from the state itself. *first_wrong becomes the place of the first
    /// byte that stands for nothing, rows · in_row_bytes where all do.
    virtual void pack(Queue& queue, std::int64_t rows, const std::byte* in, std::byte* state,
                      std::int64_t* first_wrong) const = 0;

    /// What is wrong with a byte of the input, at this place of its frame. For the message.
    virtual ErrorText wrong_byte(std::int64_t row, std::int64_t column, std::byte value) const = 0;

    /// The bytes of `rows` rows of the state.
    virtual void unpack(Queue& queue, std::int64_t rows, const std::byte* state,
                        std::byte* out) const = 0;

    /// Goes `generations` on from `generation`: `from` holds the band's rows at the first and is
    /// scratch afterwards, `to` gets them. Only rows farther than `generations` from a side of the
    /// band that is no side of the state are right then.
    virtual void advance(Queue& queue, const StateBand& band, std::uint64_t generation,
                         std::int64_t generations, std::byte* from, std::byte* to,
                         const std::byte* tables) const = 0;
};

} // namespace runner
