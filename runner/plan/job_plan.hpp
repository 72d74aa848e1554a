// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/rows.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/plan/row_set.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace runner {

/// Bytes a rank takes, each kind once and before the first chunk.
struct MemoryNeed {
    std::int64_t staging = 0; ///< host buffers the device copies from and to; page-locked for CUDA
    std::int64_t border = 0;  ///< host buffer of border rows
    std::int64_t storage = 0; ///< host buffers of reader and writer (chunks, compression)
    std::int64_t device = 0;  ///< input, output and scratch of every lane, and kept bytes
    std::int64_t images = 0;  ///< the job's side images (jobs/side_image.hpp), on the host
    /// Host memory to compute an image in, which is released before the buffers above are taken.
    std::int64_t images_work = 0;

    std::int64_t host() const { return images + std::max(images_work, staging + border + storage); }
};

/// Lines of an input whose rows are read in another order (RowOrder): a line is all rows of one
/// place along its second axis.
struct InputLines {
    std::int64_t count = 0; ///< that a stored chunk has; 0: the input is in none
    std::int64_t bytes = 0; ///< of one
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
    /// Rows of a chunk that reach all files which a rank writes at once, and of which enough lie
    /// side by side where it reads.
    std::int64_t write_rows = 1;
    /// The lines of stored chunks, which are unpacked once if these are kept.
    InputLines lines = {};
    /// Extents of the input whose rows are taken in their order, and the samples of its pixels; for
    /// people.
    std::vector<std::int64_t> input_shape = {};
    int input_channels = 1;
};

/// Something that a plan says of itself in JSON.
struct PlanFact {
    std::string_view name;
    std::variant<std::int64_t, std::uint64_t, std::vector<std::int64_t>> value;
};

/// Every decision before the first byte moves: a value, the same on every rank and in `runner
/// plan`. Each engine's plan derives from it and adds its own.
struct JobPlan {
    static constexpr int wanted_lanes = 4; ///< where the job file does not say

    virtual ~JobPlan() = default;

    Backend backend = Backend::cpu;
    int lanes = 1;                ///< pieces in flight
    int io_threads = 1;           ///< that read at once; as many write
    std::int64_t kept_lines = 0;  ///< of the input, by its reader (PlanRequest::lines)
    MemoryNeed need;              ///< of the rank that needs most
    std::int64_t host_memory = 0; ///< the limits it was made for
    std::int64_t device_memory = 0;

    virtual int rank_count() const = 0;
    /// The rows of a rank: of the output's, of the state, or those from the rank's first piece to
    /// its last.
    virtual RowRange rows_of_rank(int rank) const = 0;
    /// What a rank's rows are cut into, and what these are called: "chunks".
    virtual std::int64_t pieces_of_rank(int rank) const = 0;
    virtual std::string_view piece_name() const { return "chunks"; }
    /// Rows that pass through the device at once.
    virtual std::int64_t chunk_rows() const = 0;

    /// Type and extents of the output.
    virtual const ArrayInfo& output() const = 0;
    /// Bytes of all input and output rows that are to do.
    virtual std::int64_t bytes_to_read() const = 0;
    virtual std::int64_t bytes_to_write() const = 0;
    /// Bytes of scratch files beside the output, of all ranks.
    virtual std::int64_t scratch_bytes() const { return 0; }
    /// Cells of a state that evolves, and how often one is computed in all; 0 where there is none.
    virtual std::int64_t cells() const { return 0; }
    virtual double updates() const { return 0; }

    /// For a person, lines, as `runner plan` shows it.
    virtual std::string text() const = 0;
    /// What its JSON has beside what every plan has: before `lanes`, and after `io_threads`.
    virtual std::vector<PlanFact> facts() const = 0;
    virtual std::vector<PlanFact> io_facts() const { return {}; }

    /// Takes over backend, limits, I/O threads and the memory of storage.
    void start_from(const PlanRequest& request);
    /// Whether its memory is within the limits.
    bool fits() const;
    /// The first limit that it exceeds, where it does not fit.
    struct Shortage {
        std::string key; ///< of the job file, that sets the limit
        std::int64_t need = 0;
        std::int64_t limit = 0;
    };
    Shortage shortage() const;

  private:
    void keep_lines(const InputLines& lines);
};

/// A plan whose engine need not be known.
using PlanPtr = std::shared_ptr<const JobPlan>;

/// "cpu" or "cuda".
const char* name_of(Backend backend);

/// Threads of a rank of so many cores that read, and as many that write, where the job says none.
int automatic_io_threads(int cores);

} // namespace runner
