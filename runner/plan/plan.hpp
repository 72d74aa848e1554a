// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/stream_job.hpp"
#include "runner/plan/decomposition.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace runner {

/// Bytes a rank takes, each kind once and before the first chunk.
struct MemoryNeed {
    std::int64_t staging = 0; ///< host buffers the device copies from and to; page-locked for CUDA
    std::int64_t border = 0;  ///< host buffer of border rows
    std::int64_t storage = 0; ///< host buffers of reader and writer (chunks, compression)
    std::int64_t device = 0;  ///< input, output and scratch of every lane

    std::int64_t host() const { return staging + border + storage; }
};

/// What a plan is made from; the same on every rank.
struct PlanRequest {
    Backend backend = Backend::cpu;
    int ranks = 1;
    int cores = 1;                  ///< of one rank
    std::int64_t host_memory = 0;   ///< bytes a rank may take
    std::int64_t device_memory = 0; ///< bytes a rank may take on its GPU; not read for the CPU
    std::int64_t alignment = 1;     ///< rows, of the output's storage
    /// Host memory that reader and writer take with so many I/O threads; may be empty: none.
    std::function<std::int64_t(int threads)> storage_bytes;
    std::optional<std::int64_t> chunk_rows;
    std::optional<std::int64_t> lanes;
    std::optional<std::int64_t> io_threads;
    std::optional<std::int64_t> halo_depth; ///< of a job that evolves
    RowSet done = {};                       ///< rows of the output that are there
    /// Rows of the output that reach all files which a rank writes at once.
    std::int64_t write_rows = 1;
};

/// Every decision before the first byte moves: a value, the same on every rank and in `runner
/// plan`.
struct Plan {
    Backend backend = Backend::cpu;
    StreamShape shape;
    Decomposition decomposition;
    int cores = 1; ///< of one rank
    int lanes = 1;
    int io_threads = 1;             ///< that read at once; as many write
    std::int64_t scratch_bytes = 0; ///< of one lane
    MemoryNeed need;                ///< of the rank that needs most
    std::int64_t host_memory = 0;   ///< the limits it was made for
    std::int64_t device_memory = 0;
    /// About what computing a chunk takes, on a usual core or a large GPU; 0 where the job counts
    /// no operations.
    double chunk_seconds = 0;

    /// Input buffers: one a lane, and two at least, since a chunk takes the halo rows it shares
    /// with the chunk before from that one's buffer.
    int input_slots() const { return lanes < 2 ? 2 : lanes; }
    /// Rows that pass through the device at once.
    std::int64_t chunk_rows() const { return decomposition.chunk_rows; }
    /// Read and written for a row of the input, on average.
    double bytes_a_row() const;
    /// Bytes of all input and output rows that are to do.
    std::int64_t bytes_to_read() const;
    std::int64_t bytes_to_write() const;
    std::int64_t in_bytes() const { return decomposition.most_in_rows() * shape.in_row_bytes; }
    std::int64_t out_bytes() const { return decomposition.most_out_rows() * shape.out_row_bytes; }
};

/// Makes the plan; pure. Chunk rows and lanes that the request leaves open are chosen to fit.
/// @throws Error (usage) when nothing fits, with the smallest change that would.
Plan make_plan(const StreamJob& job, const PlanRequest& request);

/// `plan` with other chunk rows (a multiple of the alignment) and lanes, whether it fits or not.
/// All else stays, the memory of border and storage too.
Plan with_chunks(const StreamJob& job, const Plan& plan, std::int64_t chunk_rows,
                 std::int64_t lanes);

/// The next smaller plan: half the chunk rows, rounded down to the output's alignment; at one
/// alignment step a lane less; nothing below that. Slabs and border rows stay as they are, so one
/// rank may do it alone.
std::optional<Plan> halved(const StreamJob& job, const Plan& plan);

} // namespace runner
