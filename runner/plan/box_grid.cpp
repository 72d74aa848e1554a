// SPDX-License-Identifier: BSD-3-Clause
#include "runner/plan/box_grid.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"

#include <algorithm>
#include <set>

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

/// The best grid of boxes of at most so many bytes.
BoxGrid best_grid(const PermuteShape& shape, std::int64_t alignment, std::int64_t most_bytes) {
    BoxGrid best{shape, 1, 1};
    const Extents output = best.output();
    best.second = std::min(alignment, output[1]);
    const std::int64_t row = output[2] * shape.element_bytes;
    const auto consider = [&](std::int64_t first, std::int64_t second) {
        second =
            second >= output[1] ? output[1] : std::max(alignment, second / alignment * alignment);
        const BoxGrid grid{shape, std::clamp<std::int64_t>(first, 1, output[0]),
                           std::min(second, output[1])};
        if (grid.most_bytes() <= most_bytes &&
            (shortest_run(grid) > shortest_run(best) ||
             (shortest_run(grid) == shortest_run(best) && grid.boxes() < best.boxes()))) {
            best = grid;
        }
    };
    const std::int64_t rows = std::max<std::int64_t>(1, most_bytes / row);
    for (const std::int64_t first : powers(output[0])) {
        consider(first, rows / first);
    }
    for (const std::int64_t second : powers(output[1])) {
        consider(rows / second, second);
    }
    return best;
}

} // namespace

std::int64_t BoxGrid::boxes() const {
    const Extents extents = output();
    return ceil_divide(extents[0], first) * ceil_divide(extents[1], second);
}

PermuteBox BoxGrid::box(std::int64_t index) const {
    const Extents extents = output();
    const std::int64_t columns = ceil_divide(extents[1], second);
    const std::int64_t a = index / columns * first;
    const std::int64_t b = index % columns * second;
    return {{a, std::min(a + first, extents[0])}, {b, std::min(b + second, extents[1])}};
}

Extents BoxGrid::in_extents(const PermuteBox& box) const {
    Extents extents{};
    extents.at(static_cast<std::size_t>(shape.permutation[0])) = box.first.count();
    extents.at(static_cast<std::size_t>(shape.permutation[1])) = box.second.count();
    extents.at(static_cast<std::size_t>(shape.permutation[2])) = output()[2];
    return extents;
}

Extents BoxGrid::in_start(const PermuteBox& box) const {
    Extents start{};
    start.at(static_cast<std::size_t>(shape.permutation[0])) = box.first.first;
    start.at(static_cast<std::size_t>(shape.permutation[1])) = box.second.first;
    return start;
}

std::vector<RowRange> BoxGrid::rows(const PermuteBox& box) const {
    const std::int64_t second_extent = output()[1];
    if (box.second.count() == second_extent) {
        return {{box.first.first * second_extent, box.first.last * second_extent}};
    }
    std::vector<RowRange> runs;
    for (std::int64_t a = box.first.first; a < box.first.last; ++a) {
        runs.push_back({a * second_extent + box.second.first, a * second_extent + box.second.last});
    }
    return runs;
}

std::int64_t BoxGrid::most_bytes() const {
    return first * second * output()[2] * shape.element_bytes;
}

std::int64_t BoxGrid::in_run_bytes() const {
    const Extents extents = in_extents(box(0));
    std::int64_t run = extents[2] * shape.element_bytes;
    if (extents[2] == shape.input[2]) {
        run *= extents[1];
        if (extents[1] == shape.input[1]) {
            run *= extents[0];
        }
    }
    return run;
}

std::int64_t BoxGrid::out_run_bytes() const {
    const std::int64_t run = second * output()[2] * shape.element_bytes;
    return second == output()[1] ? run * first : run;
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
