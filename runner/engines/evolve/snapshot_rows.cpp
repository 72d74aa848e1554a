// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/snapshot_rows.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "runner/plan/evolve/sweep_plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

namespace runner::evolve {
namespace {

constexpr std::int64_t alignment_bytes = 64; // of the rows that a job takes
/// After so many generations a band is cut to the rows that are still of use.
constexpr std::int64_t most_generations = 64;

} // namespace

SnapshotRows::SnapshotRows(const EvolveJob& job, const RowSources& from, std::int64_t most_bytes,
                           std::int64_t piece_bytes)
    : job_(job), from_(from), shape_(job.shape()),
      most_rows_(most_bytes / 2 / shape_.state_row_bytes),
      piece_rows_(std::clamp<std::int64_t>(
          piece_bytes / std::max(shape_.in_row_bytes, shape_.out_row_bytes), 1, shape_.rows)),
      border_rows_(alignment_bytes / std::gcd(alignment_bytes, shape_.state_row_bytes)),
      queue_(CpuQueue(from.threads)) {
    piece_rows_ = std::max(from.alignment, piece_rows_ / from.alignment * from.alignment);
    auto& own = std::get<CpuQueue>(queue_);
    tables_ = allocate_device(own, job.table_bytes(Backend::cpu));
    piece_ =
        allocate_staging(own, piece_rows_ * std::max(shape_.in_row_bytes, shape_.out_row_bytes));
    wrong_ = allocate_device(own, sizeof(std::int64_t));
    job.make_tables(queue_, tables_.data());
}

void SnapshotRows::compute(RowRange range, const TakeRows& take) {
    while (!range.empty()) {
        const std::int64_t snapshot = range.first / shape_.rows;
        const std::int64_t frame = snapshot * shape_.rows;
        const RowRange rows{range.first - frame, std::min(range.last - frame, shape_.rows)};
        const RowRange made = make(snapshot, rows);
        pass_on(snapshot, made, take);
        range.first = frame + made.last;
    }
}

RowRange SnapshotRows::cone(RowRange rows, std::int64_t generations) const {
    return band_window(rows, std::min(generations, shape_.rows), shape_.rows);
}

RowRange SnapshotRows::make(std::int64_t snapshot, RowRange rows) {
    const Snapshots& snapshots = shape_.snapshots;
    const std::uint64_t generation = snapshots.generation(snapshot);
    for (std::int64_t earlier = snapshot - 1;; --earlier) {
        const std::uint64_t start = earlier < 0 ? snapshots.first : snapshots.generation(earlier);
        if (make_from_held(rows, start, generation)) {
            return rows;
        }
        const auto generations = static_cast<std::int64_t>(generation - start);
        const RowRange part = fitting(rows, snapshot, start, generations);
        const RowRange needed = cone(part, generations);
        if (earlier >= 0 && !load(earlier, needed)) {
            continue;
        }
        if (earlier < 0) {
            load_input(needed);
        }
        generation_ = start;
        const RowRange all{0, shape_.rows};
        advance(needed == all ? all : part, generations);
        return part;
    }
}

bool SnapshotRows::make_from_held(RowRange rows, std::uint64_t nearest, std::uint64_t generation) {
    if (held_.empty() || generation_ < nearest || generation_ > generation) {
        return false;
    }
    const auto generations = static_cast<std::int64_t>(generation - generation_);
    const RowRange needed = cone(rows, generations);
    if (needed.first < held_.first || needed.last > held_.last) {
        return false;
    }
    if (generations > 0) {
        advance(held_ == RowRange{0, shape_.rows} ? held_ : rows, generations);
    }
    return true;
}

/// As many of the first rows as the memory takes with all that they depend on.
RowRange SnapshotRows::fitting(RowRange rows, std::int64_t snapshot, std::uint64_t start,
                               std::int64_t generations) const {
    const RowRange all = cone(rows, generations);
    if (all.count() <= most_rows_) {
        return rows;
    }
    const std::int64_t last =
        std::max(rows.first, all.first + most_rows_ - std::min(generations, shape_.rows));
    const RowRange part{rows.first, last - last % from_.alignment};
    if (!part.empty()) {
        return part;
    }
    const RowRange least =
        cone({rows.first, std::min(rows.last, rows.first + from_.alignment)}, generations);
    throw Error(
        ExitCode::launch,
        {"too little memory to compute rows of a snapshot again",
         fmt::format("frame {}, rows {} to {}", snapshot, rows.first, rows.last - 1),
         fmt::format("the nearest intact state before is generation {}, and {} of it are needed: "
                     "these take {}, and half of the free memory is {}",
                     start,
                     least.count() == shape_.rows ? "all " + counted(shape_.rows, "row")
                                                  : counted(least.count(), "row"),
                     size_text(2 * least.count() * shape_.state_row_bytes),
                     size_text(2 * most_rows_ * shape_.state_row_bytes)),
         "Use a host with more memory, or run the job again with another output.file"});
}

void SnapshotRows::take_memory(RowRange rows) {
    const std::int64_t bytes = rows.count() * shape_.state_row_bytes;
    held_ = {};
    base_ = rows.first;
    current_ = 0;
    for (Buffer& state : states_) {
        if (state.size() < bytes) {
            state = {}; // before more is taken
            state = allocate_device(std::get<CpuQueue>(queue_), bytes);
        }
    }
}

/// Packs piece_ into these rows of the state. Returns the place of its first byte that stands for
/// nothing; no less than its bytes if there is none.
std::int64_t SnapshotRows::pack(RowRange piece) {
    auto* const wrong = reinterpret_cast<std::int64_t*>(wrong_.data());
    job_.pack(queue_, piece.count(), piece_.data(), row(current_, piece.first), wrong);
    return *wrong;
}

/// Fills rows from a snapshot; false if they are damaged there.
bool SnapshotRows::load(std::int64_t snapshot, RowRange rows) {
    take_memory(rows);
    const std::int64_t frame = snapshot * shape_.rows;
    bool is_state = true;
    const bool is_right =
        from_.made.read({frame + rows.first, frame + rows.last}, piece_.data(), piece_rows_,
                        [&](RowRange read, const std::byte* /*elements*/) {
                            const RowRange piece{read.first - frame, read.last - frame};
                            is_state =
                                pack(piece) >= piece.count() * shape_.in_row_bytes && is_state;
                        });
    if (!is_right || !is_state) {
        return false;
    }
    held_ = rows;
    return true;
}

void SnapshotRows::load_input(RowRange rows) {
    take_memory(rows);
    const std::int64_t frame = shape_.input_frame * shape_.rows;
    for (std::int64_t first = rows.first; first < rows.last; first += piece_rows_) {
        const RowRange piece{first, std::min(first + piece_rows_, rows.last)};
        from_.input.read(frame + piece.first, piece.count(), piece_.data());
        const std::int64_t wrong = pack(piece);
        if (wrong < piece.count() * shape_.in_row_bytes) {
            throw Error(ExitCode::input,
                        job_.wrong_byte(piece.first + wrong / shape_.in_row_bytes,
                                        wrong % shape_.in_row_bytes, piece_.data()[wrong]));
        }
    }
    held_ = rows;
}

/// Advances the state, computing no more rows in each step than `keep` depends on.
void SnapshotRows::advance(RowRange keep, std::int64_t generations) {
    while (generations > 0) {
        const std::int64_t step = std::min(generations, most_generations);
        RowRange band = cone(keep, generations);
        band.first -= (band.first - base_) % border_rows_;
        job_.advance(queue_, {band.first, band.count()}, generation_, step,
                     row(current_, band.first), row(1 - current_, band.first), tables_.data());
        current_ = 1 - current_;
        generation_ += static_cast<std::uint64_t>(step);
        generations -= step;
        held_ = cone(keep, generations);
    }
}

void SnapshotRows::pass_on(std::int64_t snapshot, RowRange rows, const TakeRows& take) {
    const std::int64_t frame = snapshot * shape_.rows;
    while (!rows.empty()) {
        const RowRange piece{rows.first, std::min(rows.first + piece_rows_, rows.last)};
        job_.unpack(queue_, piece.count(), row(current_, piece.first), piece_.data());
        take({frame + piece.first, frame + piece.last}, piece_.data());
        rows.first = piece.last;
    }
}

} // namespace runner::evolve
