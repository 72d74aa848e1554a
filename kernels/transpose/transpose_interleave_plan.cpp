// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_interleave_plan.hpp"

#include "base/rounding.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace runner {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_components = 64;
constexpr std::int64_t box_bytes = 24576;       ///< where runs and interleaved rows go the same way
constexpr std::int64_t async_box_bytes = 49152; ///< the same by asynchronous copies
constexpr std::int64_t crossed_box_bytes = 16384; ///< where they cross
constexpr std::int64_t row_bytes = 256;
constexpr std::int64_t least_run_bytes = 128;

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

/// The axes by what they are, with strides of the planar side in `in`, of the interleaved one in
/// `out`.
struct InterleaveAxes {
    TransposeAxis component;
    TransposeAxis along;
    TransposeAxis other;
};

std::optional<InterleaveAxes> interleave_axes(const TransposeAxes& axes,
                                              InterleavePlan::Side interleaved) {
    std::array<TransposeAxis, 3> all = axes.axis;
    if (interleaved == InterleavePlan::Side::in) {
        for (TransposeAxis& axis : all) {
            std::swap(axis.in, axis.out);
        }
    }
    const auto end = all.begin() + axes.count;
    const auto take = [&](std::int64_t stride) {
        return std::find_if(all.begin(), end,
                            [&](const TransposeAxis& axis) { return axis.out == stride; });
    };
    const auto component = take(1);
    if (component == end || component->extent > most_components) {
        return std::nullopt;
    }
    const auto along = take(component->extent);
    if (along == end || along == component) {
        return std::nullopt;
    }
    InterleaveAxes result{*component, *along, {}};
    for (auto axis = all.begin(); axis != end; ++axis) {
        if (axis != component && axis != along) {
            result.other = *axis;
        }
    }
    return result;
}

bool reads_async(const InterleavePlan& plan) {
    return plan.interleaved == InterleavePlan::Side::out &&
           plan.element_bytes <= most_async_element;
}

/// The long axis is dense on the planar side: a run a component, cut into boxes; the third axis
/// counts.
void plan_parallel(const InterleaveAxes& axes, InterleavePlan& plan) {
    const std::int64_t e = plan.element_bytes;
    const std::int64_t n = plan.components;
    const std::int64_t wanted = reads_async(plan) ? async_box_bytes : box_bytes;
    plan.box_along = even_part(plan.along, wanted / (n * e), 128 / e);
    plan.run_components = plan.components;
    plan.planar_component = axes.component.in * e;
    plan.run_unit = plan.element_bytes;
    plan.shared_run_component = pitch_of(plan.box_along * e);
    plan.shared_component = plan.shared_run_component;
    plan.shared_along = plan.element_bytes;
    plan.lanes = threads / plan.components * plan.components;
    plan.row = 16 * plan.lanes;
    plan.shared_row = plan.row / plan.components;
    plan.shared_bytes = plan.components * plan.shared_run_component;
}

/// Runs go along the third axis: each component has its own, or all components of an element are
/// neighbours there too.
void plan_crossed(const InterleaveAxes& axes, InterleavePlan& plan) {
    const std::int64_t e = plan.element_bytes;
    const std::int64_t point = plan.components * e;
    const bool together = axes.component.in == 1;
    const std::int64_t unit = together ? point : e;
    plan.box_along = even_part(plan.along, std::max<std::int64_t>(1, row_bytes / point),
                               16 / std::gcd<std::int64_t>(16, point));
    plan.box_others = even_part(
        plan.others,
        std::max(ceil_divide(least_run_bytes, unit), crossed_box_bytes / (plan.box_along * point)),
        16 / std::gcd<std::int64_t>(16, unit));
    plan.run_components = together ? 1 : plan.components;
    plan.run_each_along = true;
    plan.planar_component = together ? 0 : axes.component.in * e;
    plan.run_unit = static_cast<int>(unit);
    plan.shared_run_along = pitch_of(plan.box_others * unit);
    plan.shared_run_component = plan.box_along * plan.shared_run_along;
    plan.shared_component = together ? plan.element_bytes : plan.shared_run_component;
    plan.shared_along = plan.shared_run_along;
    plan.shared_row = plan.run_unit;
    plan.shared_bytes = plan.run_components * plan.shared_run_component;
}

} // namespace

std::optional<InterleavePlan> plan_interleave(const TransposeAxes& axes) {
    for (const InterleavePlan::Side interleaved :
         {InterleavePlan::Side::out, InterleavePlan::Side::in}) {
        const auto found = interleave_axes(axes, interleaved);
        if (!found) {
            continue;
        }
        const auto& [component, along, other] = *found;
        InterleavePlan plan;
        plan.interleaved = interleaved;
        plan.element_bytes = axes.element_bytes;
        plan.components = static_cast<int>(component.extent);
        plan.along = along.extent;
        plan.others = other.extent;
        plan.planar_along = along.in * axes.element_bytes;
        plan.planar_other = other.in * axes.element_bytes;
        plan.interleaved_other = other.out * axes.element_bytes;
        if (along.in == 1) {
            plan_parallel(*found, plan);
        } else if (axes.count == 3 &&
                   (other.in == 1 || (component.in == 1 && other.in == component.extent))) {
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

bool is_worth_interleaving(const InterleavePlan& plan) {
    const std::int64_t row = plan.along * plan.components * plan.element_bytes;
    return plan.run_each_along
               ? row >= least_run_bytes && plan.others * plan.run_unit >= least_run_bytes
               : row >= 16 * least_run_bytes;
}

} // namespace runner
