// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_sparse_plan.hpp"

#include "base/rounding.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace runner {
namespace {

using Extents = std::array<std::int64_t, 3>;

std::int64_t product(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

/// What may be chosen, and what follows from it.
struct Choice {
    std::size_t along = 0;
    std::int64_t each = 0;
    Extents references{};
    Extents part{};
    // What follows.
    std::int64_t warps = 0;
    std::int64_t warp_references = 0;
    Extents parts{};
    Extents tile{};
    std::int64_t columns = 0;
    std::int64_t items = 0;
    std::int64_t pitch_x = 0;
    std::int64_t pitch_line = 0;
    std::int64_t own = 0;
    std::int64_t distances = 0;
    std::int64_t own_floats = 0;
    std::int64_t gathered_floats = 0;
    std::int64_t bytes = 0;

    std::size_t other() const { return 1 - along; }
};

void complete(const MatchCall& call, Choice& choice) {
    const std::size_t along = choice.along;
    const std::size_t other = choice.other();
    const std::int64_t all = product(choice.references);
    choice.warps = std::min<std::int64_t>(SparsePlan::most_warps, all);
    choice.warp_references = ceil_divide(all, choice.warps);
    choice.part[along] = round_up(choice.part[along], choice.each);
    for (std::size_t i = 0; i < 3; ++i) {
        choice.parts[i] = ceil_divide(call.window(static_cast<int>(i)), choice.part[i]);
        const std::int64_t apart = std::min((choice.references[i] - 1) * call.step, call.corner[i]);
        choice.tile[i] = apart + choice.part[i] + call.patch[i] - 1;
    }
    choice.columns = choice.part[other] * choice.part[2];
    choice.items = choice.warp_references * choice.columns * (choice.part[along] / choice.each);
    // Columns that follow each other, over the end of a line too, are in banks that follow each
    // other with an odd pitch, so 32 of them are in 32 banks.
    choice.pitch_x = choice.tile[along] | 1;
    const std::int64_t line = choice.pitch_x * choice.tile[2];
    const std::int64_t bank = choice.pitch_x * choice.part[2] % 32;
    choice.pitch_line = line + (bank - line % 32 + 32) % 32;
    choice.own =
        std::int64_t{sparse_own_pitch(call.patch[along])} * call.patch[other] * call.patch[2];
    choice.own_floats = round_up(choice.own * all, 4);
    choice.distances = round_up(product(choice.part), SparsePlan::round);
    choice.gathered_floats = choice.warps * SparsePlan::gathered * 2;
    choice.bytes = 4 * (choice.own_floats + choice.gathered_floats + choice.distances * all +
                        choice.pitch_line * choice.tile[other]);
}

/// About how many instructions of a warp the call takes, more where few warps share a processor.
double cost(const MatchCall& call, const SparseRoom& room, const Choice& choice) {
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    const std::int64_t each = choice.each;
    const std::int64_t patch = call.patch[choice.along];
    const std::int64_t lines = std::int64_t{call.patch[choice.other()]} * call.patch[2];
    const std::int64_t a_line = each * (2 * patch + 1) + each + patch - 1 + 8;
    const double sums = number(ceil_divide(choice.items, 32)) *
                        number(lines * a_line + each * (call.patch[2] + 4) + 100);
    const double choosing =
        number(choice.warp_references) * (number(choice.distances) * 9 / 32 + 500);
    const double reading = number(product(choice.tile)) * 26 / 32;
    const double block =
        number(product(choice.parts)) * (number(choice.warps) * (sums + choosing + 150) + reading);
    double blocks = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        blocks *= number(ceil_divide(call.grid[i], choice.references[i]));
    }
    constexpr std::int64_t kept_by_system = 1024; // bytes a block
    constexpr std::int64_t most = 24;             // as registers allow
    const std::int64_t at_once = room.processor / (choice.bytes + kept_by_system);
    const double warps = number(std::clamp<std::int64_t>(choice.warps * at_once, 1, most));
    return blocks * block * (warps + 4) / warps;
}

/// Half the part along one axis; whether there was something to halve. Lines along x stay whole for
/// longest.
bool halve(Choice& choice) {
    std::int64_t& along = choice.part[choice.along];
    std::int64_t& other = choice.part[choice.other()];
    std::int64_t& x = choice.part[2];
    const std::int64_t longest_along = along > choice.each ? along : 0;
    const std::int64_t longest_other = other > 1 ? other : 0;
    if (x / 2 > std::max(longest_along, longest_other)) {
        x = (x + 1) / 2;
    } else if (longest_along > 0 && along >= other) {
        along = (along / choice.each + 1) / 2 * choice.each;
    } else if (longest_other > 0) {
        other = (other + 1) / 2;
    } else {
        return false;
    }
    return true;
}

/// Calls `f` with every number of references that a block may have along each axis.
template <class F> void each_references(const MatchCall& call, const F& f) {
    constexpr std::int64_t most = 64;
    const auto enough = [&](std::size_t axis, std::int64_t count) {
        return count > 1 && count / 2 >= call.grid[axis];
    };
    for (std::int64_t z = 1; z <= most && !enough(0, z); z *= 2) {
        for (std::int64_t y = 1; z * y <= most && !enough(1, y); y *= 2) {
            for (std::int64_t x = 1; z * y * x <= most && !enough(2, x); x *= 2) {
                f(Extents{z, y, x});
            }
        }
    }
}

Choice best_choice(const MatchCall& call, const SparseRoom& room) {
    constexpr std::int64_t small_part = 1024;
    Choice best;
    double least = std::numeric_limits<double>::infinity();
    const int along = call.patch[0] == 1 && call.half[0] == 0 ? 1 : 0;
    for (const int each : {11, 5}) {
        if (!sparse_has(along, call.patch[along], each)) {
            continue;
        }
        each_references(call, [&](const Extents& references) {
            Choice choice;
            choice.along = static_cast<std::size_t>(along);
            choice.each = each;
            choice.references = references;
            choice.part = {call.window(0), call.window(1), call.window(2)};
            for (bool more = true; more; more = halve(choice)) {
                complete(call, choice);
                const bool whole = product(choice.parts) == 1;
                // Between parts a warp keeps one list.
                if (!whole && choice.warp_references > 1) {
                    return;
                }
                if (choice.bytes > room.block) {
                    continue;
                }
                if (const double found = cost(call, room, choice); found < least) {
                    least = found;
                    best = choice;
                }
                if (product(choice.part) <= small_part) {
                    return;
                }
            }
        });
    }
    if (best.each == 0) {
        throw std::invalid_argument("a block has too little shared memory");
    }
    return best;
}

Divisor divisor(std::int64_t value) { return make_divisor(static_cast<std::uint32_t>(value)); }

} // namespace

SparsePlan make_sparse_plan(const MatchCall& call, const SparseRoom& room) {
    const Choice choice = best_choice(call, room);
    SparsePlan plan;
    plan.along = static_cast<int>(choice.along);
    plan.each = static_cast<int>(choice.each);
    plan.warps = static_cast<int>(choice.warps);
    plan.warp_references = static_cast<int>(choice.warp_references);
    for (std::size_t i = 0; i < 3; ++i) {
        plan.references[i] = static_cast<int>(choice.references[i]);
        plan.blocks[i] = ceil_divide(call.grid[i], choice.references[i]);
        plan.part[i] = static_cast<int>(choice.part[i]);
        plan.tile[i] = static_cast<int>(choice.tile[i]);
    }
    plan.columns = static_cast<int>(choice.columns);
    plan.items = static_cast<int>(choice.items);
    plan.pitch_x = static_cast<int>(choice.pitch_x);
    plan.pitch_line = static_cast<int>(choice.pitch_line);
    plan.own = static_cast<int>(choice.own);
    plan.distances = static_cast<int>(choice.distances);
    plan.whole = product(choice.parts) == 1;
    plan.gathered_floats = static_cast<int>(choice.gathered_floats);
    plan.own_floats = static_cast<int>(choice.own_floats);
    plan.distance_floats = static_cast<int>(choice.distances * product(choice.references));
    plan.bytes = choice.bytes;
    plan.by_blocks_x = divisor(plan.blocks[2]);
    plan.by_blocks_y = divisor(plan.blocks[1]);
    plan.by_references_x = divisor(choice.references[2]);
    plan.by_references_y = divisor(choice.references[1]);
    plan.by_tile_x = divisor(choice.tile[2]);
    plan.by_tile_other = divisor(choice.tile[choice.other()]);
    plan.by_part_x = divisor(choice.part[2]);
    plan.by_columns = divisor(choice.columns);
    plan.by_items = divisor(choice.items / choice.warp_references);
    return plan;
}

} // namespace runner
