// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/split/transpose_split_plan.hpp"

#include "base/rounding.hpp"
#include "kernels/transpose/transpose_interleave_plan.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

constexpr int vector = 16;      ///< bytes
constexpr int word = 4;         ///< bytes
constexpr int most_element = 4; ///< bytes
constexpr int lanes = 32;
constexpr int tile_bytes = 16384;

int skewed(int byte) { return byte + byte / 128 * vector; }

/// How many turns of shared memory's 32 banks a warp takes to gather its vectors. Every eight
/// threads begin with another word of their vectors.
int bank_turns(const SplitPlan& plan) {
    const int e = plan.element_bytes;
    int turns = 0;
    for (int i = 0; i < vector / e; ++i) {
        std::array<int, lanes> last{};
        std::array<int, lanes> count{};
        last.fill(-1);
        for (int lane = 0; lane < lanes; ++lane) {
            const int element = (i + lane / 8 * (word / e)) % (vector / e);
            const int byte = (lane * (vector / e) + element) * plan.point_bytes();
            const int at = (plan.skewed ? skewed(byte) : byte) / word;
            const auto bank = static_cast<std::size_t>(at % lanes);
            count[bank] += last[bank] == at ? 0 : 1;
            last[bank] = at;
        }
        turns += *std::max_element(count.begin(), count.end());
    }
    return turns;
}

void place_points(SplitPlan& plan) {
    SplitPlan other = plan;
    other.skewed = true;
    plan.bank_turns = bank_turns(plan);
    other.bank_turns = bank_turns(other);
    // To skew costs an addition and a shift for every element.
    constexpr int many_turns = 32;
    if (plan.bank_turns > many_turns && other.bank_turns < plan.bank_turns) {
        plan = other;
    }
}

} // namespace

std::optional<SplitPlan> plan_split(const TransposeAxes& axes) {
    const auto found = plan_interleave(axes);
    if (!found || found->interleaved != InterleavePlan::Side::in || found->run_each_along ||
        axes.element_bytes > most_element) {
        return std::nullopt;
    }
    SplitPlan plan;
    plan.element_bytes = axes.element_bytes;
    plan.components = found->components;
    plan.along = found->along;
    plan.others = found->others;
    plan.in_other = found->interleaved_other;
    plan.out_other = found->planar_other;
    plan.out_component = found->planar_component;
    constexpr int unit = lanes * vector; // bytes of an output row that a warp writes at once
    plan.step = std::max(1, tile_bytes / plan.components / unit) * unit / plan.element_bytes;
    place_points(plan);
    // A part of an output row may begin up to a vector before or after the tile.
    const int bytes =
        (plan.step + 2 * vector / plan.element_bytes) * plan.point_bytes() + split_align;
    plan.shared_bytes = static_cast<int>(round_up(plan.skewed ? skewed(bytes) : bytes, vector));
    return plan;
}

std::optional<SplitPlan> choose_split(const TransposeAxes& axes) {
    constexpr int most_turns = 32;
    constexpr std::int64_t least_run = 2048; // bytes
    const auto plan = plan_split(axes);
    return plan && plan->bank_turns <= most_turns && plan->along * plan->point_bytes() >= least_run
               ? plan
               : std::nullopt;
}

} // namespace runner
