// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/box_grid.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <utility>

namespace runner {
namespace {

/// A longer run costs hardly less a byte, and a smaller box stays in the caches on its way: boxes
/// of 8 MiB are written at 6.9 GB/s, of 128 MiB at 5.4
/// (bench/results/transpose-jobs-2026-11-21-h200).
constexpr std::int64_t long_run = 256 * KiB;
constexpr std::int64_t least_box = 1 * MiB;

/// 1, 2, 4, … and `most`.
std::vector<std::int64_t> powers(std::int64_t most) {
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n < most; n *= 2) {
        all.push_back(n);
    }
    all.push_back(most);
    return all;
}

std::int64_t shortest_run(const BoxGrid& grid) {
    return std::min(grid.in_run_bytes(), grid.out_run_bytes());
}

/// Extents along all axes of `shape` of a run of about so many elements that lie side by side.
Extents run_extents(const Extents& shape, std::int64_t elements) {
    Extents run(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        run[axis] = std::clamp<std::int64_t>(elements, 1, shape[axis]);
        elements /= shape[axis];
    }
    return run;
}

/// The best of the grids that are considered.
class BestGrid {
  public:
    BestGrid(const PermuteShape& shape, std::int64_t alignment, std::int64_t most_bytes)
        : alignment_(alignment), most_bytes_(most_bytes),
          output_(shape.permuted(shape.input)), best_{shape, Extents(output_.size() - 1, 1)} {
        best_.box_extents.back() = std::min(alignment, rows());
    }

    /// A box of these extents, made whole ones that writes can begin with.
    void consider(Extents extents) {
        for (std::size_t axis = 0; axis < extents.size(); ++axis) {
            extents[axis] = std::clamp<std::int64_t>(extents[axis], 1, output_[axis]);
        }
        std::int64_t& last = extents.back();
        if (last < rows()) {
            last = std::min(std::max(alignment_, last / alignment_ * alignment_), rows());
        }
        const BoxGrid grid{best_.shape, std::move(extents)};
        if (grid.most_bytes() <= most_bytes_ &&
            (shortest_run(grid) > shortest_run(best_) ||
             (shortest_run(grid) == shortest_run(best_) && grid.boxes() < best_.boxes()))) {
            best_ = grid;
        }
    }

    const BoxGrid& best() const { return best_; }

  private:
    std::int64_t rows() const { return output_[output_.size() - 2]; }

    std::int64_t alignment_;
    std::int64_t most_bytes_;
    Extents output_;
    BoxGrid best_;
};

/// Boxes of a volume: each with as many rows as fit.
void consider_volume(BestGrid& grids, const Extents& output, std::int64_t rows) {
    for (const std::int64_t first : powers(output[0])) {
        grids.consider({first, rows / first});
    }
    for (const std::int64_t second : powers(output[1])) {
        grids.consider({rows / second, second});
    }
}

/// Boxes of more axes: each holds a run of the input and one of the output, of all lengths.
void consider_runs(BestGrid& grids, const PermuteShape& shape, std::int64_t most_elements) {
    const Extents output = shape.permuted(shape.input);
    const std::vector<std::int64_t> lengths = powers(most_elements);
    for (const std::int64_t in_length : lengths) {
        const Extents in_run = shape.permuted(run_extents(shape.input, in_length));
        for (const std::int64_t out_length : lengths) {
            Extents extents = run_extents(output, out_length);
            for (std::size_t axis = 0; axis < extents.size(); ++axis) {
                extents[axis] = std::max(extents[axis], in_run[axis]);
            }
            extents.pop_back();
            grids.consider(std::move(extents));
        }
    }
}

/// The best grid of boxes of at most so many bytes.
BoxGrid best_grid(const PermuteShape& shape, std::int64_t alignment, std::int64_t most_bytes) {
    BestGrid grids(shape, alignment, most_bytes);
    const Extents output = shape.permuted(shape.input);
    if (shape.axes() == 3) {
        const std::int64_t row = output.back() * shape.element_bytes;
        consider_volume(grids, output, std::max<std::int64_t>(1, most_bytes / row));
    } else {
        consider_runs(grids, shape, std::max<std::int64_t>(1, most_bytes / shape.element_bytes));
    }
    return grids.best();
}

/// Elements side by side of a box of these extents in an array of that shape.
std::int64_t run_elements(const Extents& extents, const Extents& shape) {
    std::int64_t run = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        run *= extents[axis];
        if (extents[axis] != shape[axis]) {
            break;
        }
    }
    return run;
}

} // namespace

std::int64_t rows_of(const PermuteBox& box) {
    std::int64_t rows = 1;
    for (const RowRange& indices : box) {
        rows *= indices.count();
    }
    return rows;
}

std::int64_t BoxGrid::boxes() const {
    const Extents extents = output();
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < box_extents.size(); ++axis) {
        count *= ceil_divide(extents[axis], box_extents[axis]);
    }
    return count;
}

PermuteBox BoxGrid::box(std::int64_t index) const {
    const Extents extents = output();
    PermuteBox box(box_extents.size());
    for (std::size_t axis = box.size(); axis-- > 0;) {
        const std::int64_t along = ceil_divide(extents[axis], box_extents[axis]);
        const std::int64_t first = index % along * box_extents[axis];
        box[axis] = {first, std::min(first + box_extents[axis], extents[axis])};
        index /= along;
    }
    return box;
}

Extents BoxGrid::in_extents(const PermuteBox& box) const {
    Extents extents = shape.input;
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
        extents.at(static_cast<std::size_t>(shape.permutation[axis])) = box[axis].count();
    }
    return extents;
}

Extents BoxGrid::in_start(const PermuteBox& box) const {
    Extents start(shape.input.size(), 0);
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
        start.at(static_cast<std::size_t>(shape.permutation[axis])) = box[axis].first;
    }
    return start;
}

std::vector<RowRange> BoxGrid::rows(const PermuteBox& box) const {
    const Extents extents = output();
    std::size_t inner = box.size() - 1; // the slowest axis of a run
    std::int64_t run = box[inner].count();
    std::int64_t rows = extents[inner]; // below one step of the axis before it
    while (inner > 0 && box[inner].count() == extents[inner]) {
        --inner;
        run *= box[inner].count();
        rows *= extents[inner];
    }
    std::vector<std::int64_t> starts = {0};
    for (std::size_t axis = 0; axis < inner; ++axis) {
        std::vector<std::int64_t> within;
        for (const std::int64_t start : starts) {
            for (std::int64_t i = box[axis].first; i < box[axis].last; ++i) {
                within.push_back(start * extents[axis] + i);
            }
        }
        starts = std::move(within);
    }
    const std::int64_t first = box[inner].first * (rows / extents[inner]);
    std::vector<RowRange> runs;
    runs.reserve(starts.size());
    for (const std::int64_t start : starts) {
        runs.push_back({start * rows + first, start * rows + first + run});
    }
    return runs;
}

std::int64_t BoxGrid::rows_of_box() const {
    std::int64_t rows = 1;
    for (const std::int64_t extent : box_extents) {
        rows *= extent;
    }
    return rows;
}

std::int64_t BoxGrid::most_bytes() const {
    return rows_of_box() * output().back() * shape.element_bytes;
}

std::int64_t BoxGrid::in_run_bytes() const {
    return run_elements(in_extents(box(0)), shape.input) * shape.element_bytes;
}

std::int64_t BoxGrid::out_run_bytes() const {
    Extents extents = box_extents;
    extents.push_back(output().back());
    return run_elements(extents, output()) * shape.element_bytes;
}

BoxGrid make_box_grid(const PermuteShape& shape, std::int64_t alignment, std::int64_t most_bytes,
                      std::int64_t parts) {
    const std::int64_t all = checked_product(shape.input) * shape.element_bytes;
    most_bytes = std::min(most_bytes, std::max(least_box, all / std::max<std::int64_t>(1, parts)));
    for (std::int64_t bytes = std::min(least_box, most_bytes);;) {
        BoxGrid grid = best_grid(shape, alignment, bytes);
        if (shortest_run(grid) >= long_run || bytes >= most_bytes) {
            return grid;
        }
        bytes = std::min(most_bytes, bytes * 2);
    }
}

} // namespace runner
