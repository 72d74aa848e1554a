// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/rows.hpp"
#include "io/writers/row_hashes.hpp"
#include "runner/engines/engine.hpp"
#include "runner/plan/row_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace runner::verify {

/// Reads those rows of a finished output whose checksums are right. It passes on the bytes that it
/// has hashed, not those of a second read.
class CheckedRows final : public MadeRows {
  public:
    /// `runs`: of all rows, in their order. `wrong`: the rows of runs that are known to be wrong.
    /// The reader outlives it.
    CheckedRows(RowReader& stored, std::vector<RowHash> runs, RowSet wrong)
        : stored_(stored), runs_(std::move(runs)), wrong_(std::move(wrong)) {}

    bool read(RowRange rows, std::byte* space, std::int64_t space_rows,
              const TakeRows& take) override;

  private:
    struct Space {
        std::byte* data;
        std::int64_t rows;
    };
    std::optional<std::uint64_t> read_run(RowRange run, RowRange wanted, Space space,
                                          const TakeRows& take);

    RowReader& stored_;
    std::vector<RowHash> runs_;
    RowSet wrong_;
};

} // namespace runner::verify
