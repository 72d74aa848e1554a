// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/gather/transpose_gather_plan.hpp"

#include "base/rounding.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

constexpr int vector = 16;      ///< bytes
constexpr int most_element = 4; ///< bytes
constexpr std::int64_t most_counted = std::int64_t{1}
                                      << 30; ///< what a Divisor divides, and a tile more

/// Whether the third axis could be folded as said, and was.
bool fold_axes(const CrossingAxes& axes, GatherPlan& plan) {
    const std::int64_t e = plan.element_bytes;
    plan.a = {axes.a.extent, 1, axes.a.out * e, 0};
    plan.b = {axes.b.extent, 1, axes.b.in * e, 0};
    plan.c = {axes.c.extent, axes.c.in * e, axes.c.out * e};
    if (plan.fold == TileFold::none) {
        return true;
    }
    const std::int64_t count = axes.b.extent * axes.c.extent;
    if (plan.fold != TileFold::along || axes.point != 1 || axes.c.extent == 1 ||
        axes.c.out != axes.b.extent || count >= most_counted) {
        return false;
    }
    plan.b = {count, axes.b.extent, axes.c.in * e, axes.b.in * e};
    plan.c = {};
    return true;
}

/// A non-negative remainder of 16.
int beyond_vector(std::int64_t bytes) { return static_cast<int>((bytes % 16 + 16) % 16); }

/// How many of the four threads across that gather an element at once meet in a bank, summed over
/// the vector's words. Threads along the output are in the four banks beside one another's.
int meetings(const GatherPlan& plan) {
    const int e = plan.element_bytes;
    const std::int64_t pitch = plan.b.minor == 1 ? plan.b.far : plan.b.near;
    int sum = 0;
    for (int word = 0; word < 4; ++word) {
        std::array<int, 4> there{};
        for (int i = 0; i < 4; ++i) {
            const std::int64_t column = std::int64_t{i} << plan.spread;
            const int before = (16 - beyond_vector(column * plan.a.far)) % 16;
            const std::int64_t element = (before + (plan.turned ? (word + i) % 4 : word) * 4) / e;
            const std::int64_t row = element / plan.point;
            const int at =
                beyond_vector(row * pitch + column * plan.point_bytes() + element % plan.point * e);
            ++there[static_cast<std::size_t>(at / 4)];
        }
        sum += *std::max_element(there.begin(), there.end());
    }
    return sum;
}

/// Chooses the threads' columns and the words' order so that fewest threads meet.
void place_threads(GatherPlan& plan) {
    GatherPlan best = plan;
    int least = 17;
    for (const bool turned : {false, true}) {
        for (int spread = 0; (4 << spread) <= gather_align / plan.element_bytes; ++spread) {
            plan.turned = turned;
            plan.spread = spread;
            if (const int found = meetings(plan); found < least) {
                least = found;
                best = plan;
            }
        }
    }
    plan = best;
}

/// The tiles for rows that are no points.
GatherSize row_size(std::int64_t row, int element_bytes) {
    const std::vector<GatherSize> sizes = gather_sizes(element_bytes, false);
    // One that holds a whole row, where another's second tile would hold little of it.
    const auto fits = [&](const GatherSize& size) {
        return row * element_bytes <= vector * size.lanes - gather_align;
    };
    return fits(sizes[1]) || !fits(sizes.back()) ? sizes[1] : sizes.back();
}

/// Tiles that follow one another along the output read some rows twice. They do so faster on
/// neighbouring processors, perhaps from the nearer half of the L2 cache (0.87 of a copy to 0.85),
/// but not where tiles of a cluster wait for one another, being unlike (0.84 to 0.91).
int cluster_of(const GatherPlan& plan) {
    constexpr int most = 8;
    const std::int64_t rest = plan.a.count % plan.across;
    const std::int64_t tiles = plan.tiles_across();
    const bool alike =
        tiles >= most || (tiles >= most / 2 && (rest == 0 || 2 * rest >= plan.across));
    return alike && plan.tiles_along() >= most / 2 ? most : 1;
}

} // namespace

std::vector<GatherSize> gather_sizes(int element_bytes, bool points) {
    const int all = 16 * element_bytes; // vectors of 256 elements
    if (points) {
        return {{16, all, 256}, {32, all, 256}};
    }
    std::vector<GatherSize> sizes = {{16, all / 2, 256}, {16, all, 512}};
    if (element_bytes == 1) {
        sizes.push_back({wide_gather_lanes, all, 512});
    }
    return sizes;
}

void size_tile(const GatherSize& size, GatherPlan& plan) {
    const int per = vector / plan.element_bytes;
    plan.size = size;
    plan.across = (vector * size.lanes - gather_align) / plan.point_bytes();
    plan.step = size.vectors * per;
    // A part begins up to a vector before or after the tile.
    const int elements = plan.step + 2 * per - 1;
    const std::int64_t rows = ceil_divide(elements - 1, plan.point) + 1;
    plan.shared_bytes =
        static_cast<int>(rows * vector * size.lanes + round_up(rows * plan.point_bytes(), vector));
}

std::optional<GatherPlan> plan_gather(const TransposeAxes& axes, TileFold fold,
                                      const GatherSize& size) {
    const auto found = crossing_axes(axes);
    if (!found || axes.element_bytes > most_element ||
        4 * found->point * axes.element_bytes > vector * size.lanes - gather_align ||
        (found->point > 1 && found->point * found->b.extent >= most_counted)) {
        return std::nullopt;
    }
    GatherPlan plan;
    plan.element_bytes = axes.element_bytes;
    plan.point = static_cast<int>(found->point);
    plan.fold = fold;
    if (!fold_axes(*found, plan)) {
        return std::nullopt;
    }
    // Consecutive vectors of a column lie in consecutive parts of 16 bytes of the banks: an odd
    // pitch of the input moves every other by 16 bytes itself.
    const std::int64_t pitch = (plan.b.minor == 1 ? plan.b.far : plan.b.near) / plan.element_bytes;
    plan.skew = plan.point == 1 && pitch % 2 != 0 ? ~31 : ~15;
    size_tile(size, plan);
    place_threads(plan);
    return plan;
}

std::optional<GatherPlan> choose_gather(const TransposeAxes& axes) {
    const int e = axes.element_bytes;
    const auto axis_of = crossing_axes(axes);
    if (!axis_of || e > most_element) {
        return std::nullopt;
    }
    constexpr std::int64_t least_row = 128; // bytes
    const auto& [point, a, b, c] = *axis_of;
    if (point > 1) {
        const auto plan = plan_gather(axes, TileFold::none, gather_sizes(e, true).back());
        const bool filled = a.extent * point * e >= least_row && b.extent * point * e >= least_row;
        constexpr std::int64_t most_point = 32; // bytes, of those measured and a little more
        return filled && point * e <= most_point ? plan : std::nullopt;
    }
    // Rows of whole sectors have no ends that a fold would save, and short ones few.
    const GatherSize size = row_size(a.extent, e);
    const bool folds = b.extent * e % gather_align != 0 && a.extent * e >= least_row;
    const auto folded = folds ? plan_gather(axes, TileFold::along, size) : std::nullopt;
    auto plan = folded ? folded : plan_gather(axes, TileFold::none, size);
    constexpr std::int64_t least_small_row = 72; // bytes, of elements for which tiles are slow
    if (!plan || a.extent * e < (e < 4 ? least_small_row : least_row) ||
        plan->b.count * e < 2 * least_row) {
        return std::nullopt;
    }
    // Tiles of floats are as fast where what a batch moves stays in the L2 cache.
    constexpr std::int64_t least_floats = std::int64_t{192} << 20; // bytes
    plan->cluster = cluster_of(*plan);
    return e < 4 || a.extent * plan->b.count * e >= least_floats ? plan : std::nullopt;
}

} // namespace runner
