// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose_weave_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace runner {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_strands = 64;
constexpr std::int64_t box_bytes = 24576;         ///< where runs and woven rows go the same way
constexpr std::int64_t crossed_box_bytes = 16384; ///< where they cross
constexpr std::int64_t row_bytes = 256;
constexpr std::int64_t least_run_bytes = 128;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// An even part of the extent, about `wanted` long and a multiple of `step`.
int even_part(std::int64_t extent, std::int64_t wanted, std::int64_t step) {
    const std::int64_t pieces = ceil_divide(extent, std::max<std::int64_t>(1, wanted));
    const std::int64_t part = ceil_divide(ceil_divide(extent, pieces), step) * step;
    return static_cast<int>(std::min(extent, part));
}

/// Room for a run that begins anywhere in a unit of 16 bytes; runs that follow one another at this
/// distance begin in different banks.
int pitch_of(std::int64_t run) {
    const std::int64_t needed = (ceil_divide(run, 16) + 1) * 16;
    return static_cast<int>(ceil_divide(needed - 16, 128) * 128 + 16);
}

/// The axes by what they are, with strides of the plain side in `in`, of the woven one in `out`.
struct WeaveAxes {
    TransposeAxis strand;
    TransposeAxis along;
    TransposeAxis other;
};

std::optional<WeaveAxes> weave_axes(const TransposeAxes& axes, WeavePlan::Woven woven) {
    std::array<TransposeAxis, 3> all = axes.axis;
    if (woven == WeavePlan::Woven::in) {
        for (TransposeAxis& axis : all) {
            std::swap(axis.in, axis.out);
        }
    }
    const auto end = all.begin() + axes.count;
    const auto take = [&](std::int64_t stride) {
        return std::find_if(all.begin(), end,
                            [&](const TransposeAxis& axis) { return axis.out == stride; });
    };
    const auto strand = take(1);
    if (strand == end || strand->extent > most_strands) {
        return std::nullopt;
    }
    const auto along = take(strand->extent);
    if (along == end || along == strand) {
        return std::nullopt;
    }
    WeaveAxes result{*strand, *along, {}};
    for (auto axis = all.begin(); axis != end; ++axis) {
        if (axis != strand && axis != along) {
            result.other = *axis;
        }
    }
    return result;
}

/// The long axis is dense on the plain side: a run a strand, cut into boxes; the third axis counts.
void plan_parallel(const WeaveAxes& axes, WeavePlan& plan) {
    const std::int64_t e = plan.element_bytes;
    const std::int64_t n = plan.strands;
    plan.box_along = even_part(plan.along, box_bytes / (n * e), 128 / e);
    plan.run_strands = plan.strands;
    plan.plain_strand = axes.strand.in * e;
    plan.run_unit = plan.element_bytes;
    plan.shared_run_strand = pitch_of(plan.box_along * e);
    plan.shared_strand = plan.shared_run_strand;
    plan.shared_along = plan.element_bytes;
    plan.lanes = threads / plan.strands * plan.strands;
    plan.row = 16 * plan.lanes;
    plan.shared_row = plan.row / plan.strands;
    plan.shared_bytes = plan.strands * plan.shared_run_strand;
}

/// Runs go along the third axis: each strand has its own, or all strands of an element are
/// neighbours there too.
void plan_crossed(const WeaveAxes& axes, WeavePlan& plan) {
    const std::int64_t e = plan.element_bytes;
    const std::int64_t point = plan.strands * e;
    const bool together = axes.strand.in == 1;
    const std::int64_t unit = together ? point : e;
    plan.box_along = even_part(plan.along, std::max<std::int64_t>(1, row_bytes / point),
                               16 / std::gcd<std::int64_t>(16, point));
    plan.box_others = even_part(
        plan.others,
        std::max(ceil_divide(least_run_bytes, unit), crossed_box_bytes / (plan.box_along * point)),
        16 / std::gcd<std::int64_t>(16, unit));
    plan.run_strands = together ? 1 : plan.strands;
    plan.run_each_along = true;
    plan.plain_strand = together ? 0 : axes.strand.in * e;
    plan.run_unit = static_cast<int>(unit);
    plan.shared_run_along = pitch_of(plan.box_others * unit);
    plan.shared_run_strand = plan.box_along * plan.shared_run_along;
    plan.shared_strand = together ? plan.element_bytes : plan.shared_run_strand;
    plan.shared_along = plan.shared_run_along;
    plan.shared_row = plan.run_unit;
    plan.shared_bytes = plan.run_strands * plan.shared_run_strand;
}

} // namespace

std::optional<WeavePlan> plan_weave(const TransposeAxes& axes) {
    for (const WeavePlan::Woven woven : {WeavePlan::Woven::out, WeavePlan::Woven::in}) {
        const auto found = weave_axes(axes, woven);
        if (!found) {
            continue;
        }
        const auto& [strand, along, other] = *found;
        WeavePlan plan;
        plan.woven = woven;
        plan.element_bytes = axes.element_bytes;
        plan.strands = static_cast<int>(strand.extent);
        plan.along = along.extent;
        plan.others = other.extent;
        plan.plain_along = along.in * axes.element_bytes;
        plan.plain_other = other.in * axes.element_bytes;
        plan.woven_other = other.out * axes.element_bytes;
        if (along.in == 1) {
            plan_parallel(*found, plan);
        } else if (axes.count == 3 &&
                   (other.in == 1 || (strand.in == 1 && other.in == strand.extent))) {
            plan_crossed(*found, plan);
        } else {
            continue;
        }
        constexpr int most_shared = 100 * 1024;
        if (plan.shared_bytes <= most_shared) {
            return plan;
        }
    }
    return std::nullopt;
}

bool is_worth_weaving(const WeavePlan& plan) {
    const std::int64_t row = plan.along * plan.strands * plan.element_bytes;
    return plan.run_each_along
               ? row >= least_run_bytes && plan.others * plan.run_unit >= least_run_bytes
               : row >= 16 * least_run_bytes;
}

} // namespace runner
