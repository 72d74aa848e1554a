// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/error.hpp"
#include "io/hdf5/write_attributes.hpp"
#include "jobs/snapshots.hpp"
#include "kernels/queue/queue.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// Rows [first, first + rows) of a state.
struct StateBand {
    std::int64_t first = 0;
    std::int64_t rows = 0;
};

/// What the planner and the evolve engine know of a job: rows of a state that goes from generation
/// to generation, and rows of bytes that it begins with and that its snapshots are.
struct EvolveShape {
    ArrayInfo output;      ///< of the dataset to write: snapshots × rows × what is in a row
    std::int64_t rows = 0; ///< of the state, and of a frame of the input
    std::int64_t in_row_bytes = 0;
    std::int64_t out_row_bytes = 0;
    std::int64_t state_row_bytes = 0;
    std::int64_t cells = 0;       ///< in all rows
    std::int64_t input_frame = 0; ///< that the state begins as
    Snapshots snapshots;          ///< and first and last generation
};

/// A job whose state goes from one generation to the next, a row depending on itself and the rows
/// next to it. Pure: no files, no MPI, no memory between calls. All pointers are to the queue's
/// device memory, aligned to 64 bytes; the CUDA forms return before the work is done.
class EvolveJob {
  public:
    virtual ~EvolveJob() = default;

    virtual EvolveShape shape() const = 0;

    /// As StreamJob::computation().
    virtual std::string computation() const = 0;

    /// What the finished output says of the job beside its text, as attributes of its root.
    virtual std::vector<Attribute> attributes() const = 0;

    /// Bytes of what advance() reads beside the state; make_tables() fills it, once a job.
    virtual std::int64_t table_bytes(Backend backend) const = 0;
    virtual void make_tables(Queue& queue, std::byte* tables) const = 0;

    /// The state of `rows` rows from their bytes. *first_wrong becomes the place of the first byte
    /// that stands for nothing, rows · in_row_bytes where all do.
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
