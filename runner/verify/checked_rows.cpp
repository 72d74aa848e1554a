// SPDX-License-Identifier: BSD-3-Clause
#include "runner/verify/checked_rows.hpp"

#include "io/files/hash.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <exception>

namespace runner::verify {
namespace {

/// Whether the rows could be read; a damaged file may fail in any way (check_runs.cpp).
bool could_read(RowReader& stored, RowRange rows, std::byte* to) {
    try {
        stored.read(rows.first, rows.count(), to);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

} // namespace

bool CheckedRows::read(RowRange rows, std::byte* space, std::int64_t space_rows,
                       const TakeRows& take) {
    if (!intersect({rows}, wrong_).empty()) {
        return false;
    }
    auto run = std::upper_bound(
        runs_.begin(), runs_.end(), rows.first,
        [](std::int64_t row, const RowHash& each) { return row < each.first + each.rows; });
    for (; run != runs_.end() && run->first < rows.last; ++run) {
        const RowRange all{run->first, run->first + run->rows};
        if (read_run(all, rows, {space, space_rows}, take) != run->hash) {
            std::vector<RowRange> known = wrong_;
            known.push_back(all);
            wrong_ = make_row_set(std::move(known));
            return false;
        }
    }
    return true;
}

/// Passes on the wanted rows of a run. Returns the hash of all its rows; nothing if they cannot be
/// read.
std::optional<std::uint64_t> CheckedRows::read_run(RowRange run, RowRange wanted, Space space,
                                                   const TakeRows& take) {
    const std::int64_t bytes = row_bytes(stored_.info().array);
    const std::int64_t begin = std::max(run.first, wanted.first);
    const std::int64_t end = std::min(run.last, wanted.last);
    BytesHasher hasher;
    for (std::int64_t first = run.first; first < run.last;) {
        const std::int64_t border = first < begin ? begin : first < end ? end : run.last;
        const RowRange piece{first, std::min(border, first + space.rows)};
        if (!could_read(stored_, piece, space.data)) {
            return std::nullopt;
        }
        hasher.add(space.data, piece.count() * bytes);
        if (piece.first >= begin && piece.last <= end) {
            take(piece, space.data);
        }
        first = piece.last;
    }
    return hasher.hash();
}

} // namespace runner::verify
