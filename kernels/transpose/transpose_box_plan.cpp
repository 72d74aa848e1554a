// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_box_plan.hpp"

#include "base/rounding.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace runner {
namespace {

using Extents = std::array<int, 3>;
using Order = std::array<int, 3>; ///< of axes, fastest first

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Order order_by(const TransposeAxes& axes, std::int64_t TransposeAxis::*stride) {
    Order order = {0, 1, 2};
    const auto key = [&](int i) {
        return i < axes.count ? axes.axis[at(i)].*stride : std::numeric_limits<std::int64_t>::max();
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    return order;
}

/// A part of the extent that is about `wanted` long and leaves no short rest.
int even_part(std::int64_t extent, std::int64_t wanted) {
    const std::int64_t pieces = std::max<std::int64_t>(
        1, ceil_divide(extent - wanted / 4, std::max<std::int64_t>(1, wanted)));
    return static_cast<int>(ceil_divide(extent, pieces));
}

/// Makes the box long enough for runs of `wanted` elements on one side.
void lengthen_runs(const TransposeAxes& axes, const Order& order,
                   std::int64_t TransposeAxis::*stride, std::int64_t wanted, Extents& box) {
    for (int i = 0; i < axes.count; ++i) {
        const TransposeAxis& axis = axes.axis[at(order[at(i)])];
        int& part = box[at(order[at(i)])];
        part = std::max(part, even_part(axis.extent, wanted));
        wanted = ceil_divide(wanted, part);
        const bool goes_on =
            i + 1 < axes.count && part == axis.extent &&
            axes.axis[at(order[at(i + 1)])].*stride == axis.extent * (axis.*stride);
        if (!goes_on || wanted == 1) {
            return;
        }
    }
}

std::int64_t volume(const Extents& box) { return std::int64_t{1} * box[0] * box[1] * box[2]; }

/// Elements from the first that are neighbours in memory.
std::int64_t run_of(const TransposeAxes& axes, const Order& order,
                    std::int64_t TransposeAxis::*stride, const Extents& box) {
    std::int64_t run = 1;
    for (int i = 0; i < axes.count; ++i) {
        const int axis = order[at(i)];
        if (axes.axis[at(axis)].*stride != run) {
            break;
        }
        run *= box[at(axis)];
        if (box[at(axis)] != axes.axis[at(axis)].extent) {
            break;
        }
    }
    return run;
}

/// The first axis in the order that the box does not hold whole, or −1.
int first_open(const TransposeAxes& axes, const Order& order, const Extents& box) {
    for (int i = 0; i < axes.count; ++i) {
        if (box[at(order[at(i)])] < axes.axis[at(order[at(i)])].extent) {
            return order[at(i)];
        }
    }
    return -1;
}

Extents choose_box(const TransposeAxes& axes, const Order& in, const Order& out,
                   const BoxWish& wish) {
    const std::int64_t run = std::max(1, wish.run_bytes / axes.element_bytes);
    const std::int64_t room = std::max(1, wish.box_bytes / axes.element_bytes);
    Extents box = {1, 1, 1};
    lengthen_runs(axes, in, &TransposeAxis::in, run, box);
    lengthen_runs(axes, out, &TransposeAxis::out, run, box);
    while (volume(box) > room + room / 2) {
        const auto largest = std::max_element(box.begin(), box.end());
        const auto i = largest - box.begin();
        *largest = even_part(axes.axis[static_cast<std::size_t>(i)].extent, *largest / 2);
    }
    for (;;) {
        const bool in_is_shorter = run_of(axes, in, &TransposeAxis::in, box) <=
                                   run_of(axes, out, &TransposeAxis::out, box);
        const int axis = first_open(axes, in_is_shorter ? in : out, box);
        if (axis < 0) {
            return box;
        }
        Extents larger = box;
        larger[at(axis)] = even_part(axes.axis[at(axis)].extent, std::int64_t{2} * box[at(axis)]);
        if (volume(larger) > room + room / 4 || larger == box) {
            return box;
        }
        box = larger;
    }
}

BoxSide make_side(const TransposeAxes& axes, const Order& order,
                  std::int64_t TransposeAxis::*stride, const Extents& box, const Extents& shared) {
    BoxSide side;
    std::uint32_t room = BoxPlan::threads;
    bool whole = true;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t axis = at(order[i]);
        const auto extent = static_cast<std::uint32_t>(box[axis]);
        side.axis[i] = order[i];
        side.stride[i] = axes.axis[axis].*stride;
        side.shared[i] = shared[axis];
        if (whole && extent <= room) {
            side.columns[i] = extent;
            room /= extent;
        } else if (whole) {
            whole = false;
            side.split = static_cast<int>(i);
            side.columns[i] = room;
            side.rows[i] = (extent + room - 1) / room;
        } else {
            side.rows[i] = extent;
        }
        side.all_columns *= side.columns[i];
        side.all_rows *= side.rows[i];
    }
    for (std::size_t i = 0; i < 2; ++i) {
        side.column_divisor[i] = make_divisor(side.columns[i]);
        side.row_divisor[i] = make_divisor(side.rows[i]);
    }
    return side;
}

/// Turns of shared memory's 32 banks that some warps take for a row of columns on this side.
int bank_turns(const BoxSide& side, int element_bytes) {
    constexpr unsigned warps = 2;
    const unsigned lanes = element_bytes <= 4 ? 32 : 128 / static_cast<unsigned>(element_bytes);
    int turns = 0;
    for (unsigned first = 0; first < std::min(warps * lanes, side.all_columns); first += lanes) {
        std::array<int, 32> count{};
        std::array<int, 32> last{};
        last.fill(-1);
        for (unsigned t = first; t < std::min(first + lanes, side.all_columns); ++t) {
            const unsigned x = t % side.columns[0];
            const unsigned y = t / side.columns[0] % side.columns[1];
            const unsigned z = t / side.columns[0] / side.columns[1];
            const int element = static_cast<int>(x) * side.shared[0] +
                                static_cast<int>(y) * side.shared[1] +
                                static_cast<int>(z) * side.shared[2];
            // Wider elements take neighbouring banks together: one of them stands for all.
            const int word = element * element_bytes / 4;
            const std::size_t bank = at(word % 32);
            count[bank] += last[bank] == word ? 0 : 1;
            last[bank] = word;
        }
        turns += *std::max_element(count.begin(), count.end());
    }
    return turns;
}

/// Strides in shared memory, the input's fastest axis first, padded so that few lanes meet in a
/// bank when either side walks through the box.
Extents choose_shared(const TransposeAxes& axes, const Order& in, const Order& out,
                      const Extents& box) {
    // Enough to make a stride an odd number of words.
    const int paddings = std::max(4, 8 / axes.element_bytes);
    Extents best{};
    double best_cost = std::numeric_limits<double>::max();
    for (int i = 0; i < paddings * paddings; ++i) {
        Extents shared{};
        shared[at(in[0])] = 1;
        shared[at(in[1])] = box[at(in[0])] + i % paddings;
        shared[at(in[2])] = shared[at(in[1])] * box[at(in[1])] + i / paddings;
        const BoxSide reading = make_side(axes, in, &TransposeAxis::in, box, shared);
        const BoxSide writing = make_side(axes, out, &TransposeAxis::out, box, shared);
        const int turns =
            bank_turns(reading, axes.element_bytes) + bank_turns(writing, axes.element_bytes);
        const double growth = static_cast<double>(shared[at(in[2])]) * box[at(in[2])] /
                              static_cast<double>(volume(box));
        const double cost = turns * (1 + growth * growth);
        if (cost < best_cost) {
            best_cost = cost;
            best = shared;
        }
    }
    return best;
}

} // namespace

BoxPlan plan_boxes(const TransposeAxes& axes, const BoxWish& wish) {
    BoxPlan plan;
    plan.axes = axes;
    const Order in = order_by(axes, &TransposeAxis::in);
    const Order out = order_by(axes, &TransposeAxis::out);
    plan.extent = choose_box(axes, in, out, wish);
    plan.shared = choose_shared(axes, in, out, plan.extent);
    plan.shared_bytes =
        std::int64_t{plan.shared[at(in[2])]} * plan.extent[at(in[2])] * axes.element_bytes;
    plan.in = make_side(axes, in, &TransposeAxis::in, plan.extent, plan.shared);
    plan.out = make_side(axes, out, &TransposeAxis::out, plan.extent, plan.shared);
    return plan;
}

} // namespace runner
