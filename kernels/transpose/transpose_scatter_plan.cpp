// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose_scatter_plan.hpp"

#include "base/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>

namespace runner {
namespace {

constexpr int threads = 256;
constexpr int word = 4;
constexpr std::int64_t tile_bytes = 40960; ///< of one whose output rows are whole
constexpr std::int64_t most_shared = std::int64_t{100} * 1024;
constexpr std::int64_t most_whole_row = 640; ///< bytes
constexpr std::int64_t most_point = 64;      ///< bytes
constexpr std::int64_t point_tile_bytes = 27648;

TransposeRows rows_of(std::int64_t extent, std::int64_t stride) { return {extent, 1, stride, 0}; }

TransposeRows folded(std::int64_t extent, std::int64_t stride, const TransposeAxis& outer,
                     std::int64_t outer_stride) {
    return {extent * outer.extent, extent, outer_stride, stride};
}

/// Whether the third axis could be folded as said, and was.
bool fold_axes(const CrossingAxes& axes, std::int64_t element_bytes, ScatterPlan& plan) {
    const std::int64_t e = element_bytes;
    plan.a = rows_of(axes.a.extent, axes.a.out * e);
    plan.b = rows_of(axes.b.extent, axes.b.in * e);
    plan.c = {axes.c.extent, axes.c.in * e, axes.c.out * e};
    if (plan.fold == TileFold::none) {
        return true;
    }
    constexpr std::int64_t most = std::int64_t{1} << 30; // what a Divisor divides, and a tile more
    const bool across = plan.fold == TileFold::across;
    const bool dense = across ? axes.c.in == axes.a.extent : axes.c.out == axes.b.extent;
    const std::int64_t extent = across ? axes.a.extent : axes.b.extent;
    if (axes.point != 1 || (!across && e == word) || axes.c.extent == 1 || !dense ||
        extent * axes.c.extent >= most) {
        return false;
    }
    if (across) {
        plan.a = folded(extent, axes.a.out * e, axes.c, axes.c.out * e);
    } else {
        plan.b = folded(extent, axes.b.in * e, axes.c, axes.c.in * e);
    }
    plan.c = {};
    return true;
}

bool begin_at_words(const ScatterPlan& plan, const std::byte* in) {
    return reinterpret_cast<std::uintptr_t>(in) % word == 0 && plan.b.far % word == 0 &&
           plan.b.near % word == 0 && plan.c.in % word == 0;
}

/// A part of the extent, about `wanted` long and a multiple of `unit`; an even one of an extent of
/// few parts, whose last would be small otherwise.
std::int64_t even_part(std::int64_t extent, std::int64_t wanted, std::int64_t unit) {
    constexpr std::int64_t few = 8;
    if (extent >= few * wanted) {
        return ceil_divide(wanted, unit) * unit;
    }
    const std::int64_t pieces = ceil_divide(extent, wanted + wanted / 8);
    return ceil_divide(ceil_divide(extent, pieces), unit) * unit;
}

/// Threads side by side along a row of `words`, at most `most`, so that few are idle.
int choose_lanes(std::int64_t words, std::int64_t most) {
    int best = 1;
    double best_share = 0;
    for (int lanes = static_cast<int>(std::min<std::int64_t>({most, words, threads})); lanes > 0;
         --lanes) {
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

void size_tile(const ScatterWish& wish, ScatterPlan& plan) {
    const std::int64_t e = plan.element_bytes;
    const std::int64_t p = plan.point_bytes();
    const std::int64_t row = plan.b.count * p;
    plan.whole = plan.point == 1 && plan.a.minor == 1 && plan.b.minor == 1 && plan.a.far == row &&
                 row <= most_whole_row && plan.b.count % 2 == 1;
    if (plan.whole) {
        const std::int64_t unit = 32 / e;
        const std::int64_t across = std::max(unit, tile_bytes / row / unit * unit);
        plan.across = static_cast<int>(std::min(across, plan.a.count));
        plan.step = plan.along = static_cast<int>(plan.b.count);
        return;
    }
    std::int64_t across = wish.across_bytes / p;
    std::int64_t along = wish.along_bytes / p;
    if (plan.point != 1) {
        along = static_cast<std::int64_t>(
            std::sqrt(static_cast<double>(point_tile_bytes) / static_cast<double>(p)));
        across = along;
    } else if (!plan.at_words) {
        across -= word / e - 1;
    }
    const std::int64_t in_unit = plan.at_words ? std::lcm<std::int64_t>(32, p) / p : 1;
    plan.across =
        static_cast<int>(std::min(plan.a.count, even_part(plan.a.count, across, in_unit)));
    plan.step =
        static_cast<int>(even_part(plan.b.count, along, std::lcm<std::int64_t>(plan.align, p) / p));
    plan.along =
        static_cast<int>(std::min(plan.b.count, plan.step + ceil_divide(plan.align - e, p)));
}

/// The pitch at which the lanes that scatter a row's words meet in no bank: an odd number of
/// elements, or for points one that continues a row of banks.
void choose_pitch(ScatterPlan& plan) {
    const int p = plan.point_bytes();
    const int e = plan.element_bytes;
    plan.pitch = plan.along * p;
    const auto fits = [&] {
        if (plan.point != 1) {
            return (plan.pitch - p) % 128 == 0;
        }
        return plan.pitch / e % 2 == 1 &&
               (plan.vector == word || (plan.pitch - plan.a.far) % plan.vector == 0);
    };
    while (!plan.whole && !fits()) {
        plan.pitch += e;
    }
}

/// Threads, and room in shared memory for rows, the points before and after them that their words
/// hold, and for what an access reads beyond the last row.
void choose_threads(ScatterPlan& plan) {
    const int e = plan.element_bytes;
    const int p = plan.point_bytes();
    const int before = plan.at_words ? 0 : word - e; // of a word, at most
    plan.margin = static_cast<int>(ceil_divide(before, p));
    plan.in_words = static_cast<int>(ceil_divide(std::int64_t{plan.across} * p + before, word));
    plan.in_lanes = choose_lanes(plan.in_words, threads);
    const std::int64_t run =
        plan.whole ? std::int64_t{plan.across} * plan.pitch : std::int64_t{plan.step} * p;
    const std::int64_t out_vectors = ceil_divide(run, plan.vector);
    plan.out_lanes = plan.whole
                         ? threads
                         : choose_lanes(out_vectors, std::max<std::int64_t>(8, out_vectors / 4));
    const std::int64_t rows = plan.margin + ceil_divide(std::int64_t{plan.in_words} * word, p);
    plan.shared_bytes = static_cast<int>(std::min(
        most_shared + 1, round_up(rows * plan.pitch + p + std::int64_t{2} * plan.vector, 16)));
}

} // namespace

std::optional<ScatterPlan> plan_scatter(const TransposeAxes& axes, const ScatterWish& wish,
                                        const std::byte* in) {
    const auto found = crossing_axes(axes);
    if (!found || axes.element_bytes > word ||
        (found->point > 1 && found->point * axes.element_bytes > most_point)) {
        return std::nullopt;
    }
    ScatterPlan plan;
    plan.element_bytes = axes.element_bytes;
    plan.point = static_cast<int>(found->point);
    plan.fold = wish.fold;
    if (!fold_axes(*found, axes.element_bytes, plan)) {
        return std::nullopt;
    }
    const bool odd_rows = plan.a.minor == 1 && plan.a.far / plan.element_bytes % 2 == 1;
    plan.vector = plan.point == 1 && odd_rows ? 16 : word;
    plan.align = std::max(wish.align, plan.vector);
    plan.at_words = begin_at_words(plan, in);
    if (plan.point != 1 && !plan.at_words) {
        return std::nullopt;
    }
    size_tile(wish, plan);
    choose_pitch(plan);
    choose_threads(plan);
    // A thread that goes on by so many rows begins another fold once at most.
    const bool walks = plan.b.minor == 1 || plan.b.minor >= threads / plan.in_lanes;
    return plan.shared_bytes <= most_shared && walks ? std::optional(plan) : std::nullopt;
}

std::optional<ScatterPlan> choose_scatter(const TransposeAxes& axes, const std::byte* in) {
    const int e = axes.element_bytes;
    if (e > 2) {
        return std::nullopt;
    }
    const auto plan = plan_scatter(axes, {TileFold::none, 128, e == 1 ? 256 : 512, 32}, in);
    constexpr std::int64_t least = 128;
    const bool whole =
        plan && plan->whole && plan->a.count * e >= least && plan->b.count * e >= least;
    return whole ? plan : std::nullopt;
}

} // namespace runner
