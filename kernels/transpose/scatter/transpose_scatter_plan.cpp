// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/scatter/transpose_scatter_plan.hpp"

#include "base/rounding.hpp"

#include <algorithm>

namespace runner {
namespace {

constexpr int threads = 256;
constexpr int word = 4;
constexpr int most_element = 2; ///< bytes
constexpr std::int64_t tile_bytes = 40960;
constexpr std::int64_t most_row = 640; ///< bytes
constexpr int vector = 16;

bool begins_at_words(const ScatterPlan& plan, const std::byte* in) {
    return reinterpret_cast<std::uintptr_t>(in) % word == 0 && plan.in_pitch % word == 0 &&
           plan.c.in % word == 0;
}

/// Threads side by side along a row of `words` so that few are idle.
int choose_lanes(int words) {
    int best = 1;
    double best_share = 0;
    for (int lanes = std::min(words, threads); lanes > 0; --lanes) {
        const int busy = threads / lanes * lanes;
        const double used = static_cast<double>(busy) / threads;
        const auto filled =
            static_cast<double>(words) / static_cast<double>(ceil_divide(words, lanes) * lanes);
        if (used * filled > best_share + 0.02) {
            best = lanes;
            best_share = used * filled;
        }
    }
    return best;
}

/// How many output rows a tile has, and room in shared memory for them, for those before and after
/// them that the input's words reach, and for what begins elsewhere in a vector.
void size_tile(ScatterPlan& plan) {
    const int e = plan.element_bytes;
    const std::int64_t unit = 32 / e; // columns after which the input's sectors begin alike
    const std::int64_t across = std::max(unit, tile_bytes / plan.row_bytes() / unit * unit);
    plan.across = static_cast<int>(std::min(across, plan.count));
    const int before = plan.at_words ? 0 : word - e; // of a word, at most
    plan.margin = before / e;
    const std::int64_t in_words = ceil_divide(std::int64_t{plan.across} * e + before, word);
    plan.in_lanes = choose_lanes(static_cast<int>(in_words));
    const std::int64_t rows = plan.margin + in_words * word / e;
    plan.shared_bytes = static_cast<int>(round_up(rows * plan.row_bytes() + vector, vector));
}

} // namespace

std::optional<ScatterPlan> plan_scatter(const TransposeAxes& axes, const std::byte* in) {
    const auto found = crossing_axes(axes);
    const std::int64_t e = axes.element_bytes;
    if (!found || found->point != 1 || e > most_element || found->b.extent * e > most_row ||
        found->b.extent % 2 == 0 || found->a.out != found->b.extent) {
        return std::nullopt;
    }
    const auto& [point, a, b, c] = *found;
    ScatterPlan plan;
    plan.element_bytes = axes.element_bytes;
    plan.count = a.extent;
    plan.in_pitch = b.in * e;
    plan.c = {c.extent, c.in * e, c.out * e};
    plan.rows = static_cast<int>(b.extent);
    plan.at_words = begins_at_words(plan, in);
    size_tile(plan);
    return plan;
}

std::optional<ScatterPlan> choose_scatter(const TransposeAxes& axes, const std::byte* in) {
    constexpr std::int64_t least = 128; // bytes
    const auto plan = plan_scatter(axes, in);
    return plan && plan->count * plan->element_bytes >= least && plan->row_bytes() >= least
               ? plan
               : std::nullopt;
}

} // namespace runner
