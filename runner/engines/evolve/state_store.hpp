// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "kernels/queue/buffer.hpp"
#include "runner/plan/row_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace runner::evolve {

/// A file of `bytes` for the rows of a state. It is created as `path` and loses that name at once,
/// so that it disappears with the process, however that ends. @throws Error (output) if the disk
/// has no room for it.
File make_scratch_file(const std::string& path, std::int64_t bytes);

/// A rank's rows of a state outside the device: in memory, or in a file. A sweep reads the rows as
/// they are and writes those of a later generation `margin` rows away. It visits the bands as
/// order() lists them, so that it overwrites no row that a later band reads.
class StateStore {
  public:
    /// Rows as they are, or as the sweep under way makes them.
    enum class Version { current, next };
    /// Which rows a sweep has to begin with.
    enum class Order { first_to_last, last_to_first };

    /// `held`: the rows. `memory` or `file` have (held.count() + margin) · row_bytes bytes.
    StateStore(Buffer memory, RowRange held, std::int64_t margin, std::int64_t row_bytes);
    StateStore(File file, RowRange held, std::int64_t margin, std::int64_t row_bytes);

    bool is_file() const { return file_.has_value(); }
    std::int64_t bytes_of(const RowRange& rows) const { return rows.count() * row_bytes_; }

    /// The rows as they are: in the store's memory, or read into `space`.
    const std::byte* fetch(const RowRange& rows, std::byte* space) const;
    /// Where rows are to be made before put(): in the store's memory, or `space`.
    std::byte* place(Version version, const RowRange& rows, std::byte* space);
    /// Keeps rows that were made at place(). From any one thread.
    void put(Version version, const RowRange& rows, const std::byte* from);

    /// The order of the next sweep, whose depth is at most the margin.
    Order order() const { return origin_ == 0 ? Order::last_to_first : Order::first_to_last; }
    /// After a sweep: its rows are the current ones.
    void turn() { origin_ = margin_ - origin_; }

  private:
    std::int64_t offset(Version version, std::int64_t row) const;

    Buffer memory_;
    std::optional<File> file_;
    RowRange held_;
    std::int64_t margin_;
    std::int64_t row_bytes_;
    std::int64_t origin_ = 0; ///< where the first held row is now: 0 or margin_
};

} // namespace runner::evolve
