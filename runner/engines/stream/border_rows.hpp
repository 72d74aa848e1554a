// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "runner/plan/border_plan.hpp"
#include "runner/ranks/mpi.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace runner::stream {

/// The input rows a rank holds beside its stream (see BorderPlan), and the way the stream gets
/// every row it needs: from here where it is held, else from storage, once.
class BorderRows {
  public:
    /// Takes the memory: the plan's rows and, for a periodic border, two halos more.
    BorderRows(const Decomposition& decomposition, int rank, std::int64_t row_bytes);

    /// Reads the own rows that others need.
    void read_own(RowReader& reader);
    /// Trades rows with the other ranks, after every rank's read_own. Collective.
    void exchange(const Ranks& ranks);

    std::int64_t rows_held() const { return plan_.held_rows(); }

    /// Fills `to` with the extended rows `range` of a frame. Calls must go through the slab in
    /// order, each row asked for once (but for those a periodic border repeats).
    void read(std::int64_t frame, RowRange range, RowReader& reader, std::byte* to);

    /// Fills `to` with rows counted through all frames, for chunks of whole frames.
    void read_rows(RowRange rows, RowReader& reader, std::byte* to);

    /// Bytes read from storage so far, and bytes sent to other ranks.
    std::int64_t bytes_read() const { return bytes_read_; }
    std::int64_t bytes_sent() const { return bytes_sent_; }

  private:
    /// A run of held rows.
    struct Held {
        RowRange rows;
        std::int64_t offset = 0; ///< in memory_, bytes
    };

    /// The held run with this row; nothing if it is not held.
    static const Held* find(const std::vector<Held>& held, std::int64_t row);
    /// Fills `to` with `rows`: copies those that `held` has and calls `read_rest(rows, to)` for
    /// each run of the others.
    template <class ReadRest>
    void fill(const std::vector<Held>& held, RowRange rows, std::byte* to,
              ReadRest read_rest) const;
    void hold(const RowSet& rows, std::vector<Held>& held, std::int64_t& offset) const;
    void enter_frame(std::int64_t frame, RowReader& reader);
    void read_storage(RowRange rows, RowReader& reader, std::byte* to);

    Decomposition decomposition_;
    RowRange slab_;
    std::int64_t row_bytes_;
    BorderPlan plan_;
    std::vector<Held> traded_;      ///< own rows sent and rows received; for the whole run
    std::vector<Held> early_;       ///< of the current frame
    std::int64_t early_offset_ = 0; ///< where early rows start in memory_
    std::int64_t current_frame_ = -1;
    std::vector<std::byte> memory_;
    std::int64_t bytes_read_ = 0;
    std::int64_t bytes_sent_ = 0;
};

} // namespace runner::stream
