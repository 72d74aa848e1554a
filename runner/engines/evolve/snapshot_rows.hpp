// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "jobs/evolve_job.hpp"
#include "kernels/queue/queue.hpp"
#include "runner/engines/engine.hpp"
#include "runner/plan/row_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace runner::evolve {

/// Computes any rows of a job's snapshots on this host's cores, from the nearest earlier state that
/// is stored intact: another snapshot, or the input. `n` rows that come from a state `k`
/// generations before need `n + 2k` rows of it, so only these are read and have to be intact. If
/// that is the whole state, all of the snapshot is computed and kept for the next call.
class SnapshotRows {
  public:
    /// Takes at most `most_bytes` for rows of states and `piece_bytes` (a row at least) for what
    /// passes between them and storage. Job and sources outlive it.
    SnapshotRows(const EvolveJob& job, const RowSources& from, std::int64_t most_bytes,
                 std::int64_t piece_bytes = 16 * MiB);

    /// Passes rows of the output on in order, in pieces whose ends within the range are on the
    /// alignment's borders of a frame. @throws Error (input) if the input cannot be read; (launch)
    /// if the rows of an earlier state do not fit in memory.
    void compute(RowRange range, const TakeRows& take);

  private:
    /// The rows of a state that rows `generations` later depend on.
    RowRange cone(RowRange rows, std::int64_t generations) const;
    /// Makes the state hold rows of a snapshot: as many of the first as memory allows. Returns
    /// them.
    RowRange make(std::int64_t snapshot, RowRange rows);
    /// make() from the rows that it holds, if these are of generation `nearest` or a later one.
    bool make_from_held(RowRange rows, std::uint64_t nearest, std::uint64_t generation);
    RowRange fitting(RowRange rows, std::int64_t snapshot, std::uint64_t start,
                     std::int64_t generations) const;
    bool load(std::int64_t snapshot, RowRange rows);
    void load_input(RowRange rows);
    std::int64_t pack(RowRange piece);
    void advance(RowRange keep, std::int64_t generations);
    void take_memory(RowRange rows);
    void pass_on(std::int64_t snapshot, RowRange rows, const TakeRows& take);
    std::byte* row(int state, std::int64_t row) const {
        return states_.at(static_cast<std::size_t>(state)).data() +
               (row - base_) * shape_.state_row_bytes;
    }

    const EvolveJob& job_;
    RowSources from_;
    EvolveShape shape_;
    std::int64_t most_rows_;   ///< of a state
    std::int64_t piece_rows_;  ///< between a state and storage
    std::int64_t border_rows_; ///< a band begins so many rows, or a multiple, behind base_
    Queue queue_;
    Buffer tables_;
    Buffer piece_;
    Buffer wrong_;
    std::array<Buffer, 2> states_;
    int current_ = 0;              ///< of states_
    std::int64_t base_ = 0;        ///< row that they begin with
    RowRange held_{};              ///< rows that are right
    std::uint64_t generation_ = 0; ///< of these
};

} // namespace runner::evolve
