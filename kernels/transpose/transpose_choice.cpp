// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose/transpose.hpp"

#include "kernels/transpose/transpose_choice.hpp"

#include <algorithm>
#include <optional>

namespace runner {
namespace {

constexpr int default_group = 16;

/// Rows shorter than this go through boxes, which read and write several of them at once.
constexpr std::int64_t least_row_bytes = 64;

/// The same where interleaving does.
constexpr std::int64_t least_interleaved_row_bytes = 128;

std::int64_t row_bytes(const TransposeAxes& axes) {
    return axes.axis[static_cast<std::size_t>(axes.in_fastest())].extent * axes.element_bytes;
}

/// How much sooner than others a choice is meant: wide aligned accesses before all; then the order
/// of the forms, which is that of their speed on full tiles, against how full the tiles are (they
/// wait for memory more than they compute). Folded rows cost a division each.
double worth(const TileChoice& choice, const TransposeAxes& axes, int number) {
    const bool aligned = choice.form.start == RowStart::aligned;
    const double filled = filled_part(choice, axes);
    // Tiles of floats beat interleaving even if 12 of 32 columns are filled (0.94 of a copy to
    // 0.75).
    const double least = aligned && axes.element_bytes == 4 ? 0.35 : 0.45;
    // Long parts of output rows pay where tiles share lines (0.93 of a copy to 0.89).
    constexpr int long_part = 512; // bytes
    const bool is_long = choice.form.along * choice.form.element_bytes >= long_part;
    const bool is_best = axes.element_bytes > 2 || is_long != rows_begin_at_lines(choice, axes);
    return filled < least ? 0
                          : (aligned ? 2.0 : 1.0) + 0.3 * filled - 0.05 * number -
                                (choice.fold == TileFold::none ? 0 : 0.03) - (is_best ? 0 : 0.1);
}

/// For small elements many tiles along the output first where they share lines, few elsewhere
/// (bench/results/transpose-2026-11-25-h200.txt).
int tile_group(const TileChoice& choice, const TransposeAxes& axes) {
    if (choice.form.start == RowStart::anywhere || axes.element_bytes > 2) {
        return default_group;
    }
    return rows_begin_at_lines(choice, axes) ? 4 : 64;
}

std::vector<TileChoice> fitting_tiles(const TransposeAxes& axes, const std::byte* in,
                                      const std::byte* out) {
    std::vector<TileChoice> fitting;
    for (const TransposeTileForm& form : transpose_tile_forms()) {
        for (const TileFold fold : {TileFold::none, TileFold::across, TileFold::along}) {
            if (const TileChoice choice{form, fold}; tiles_fit(choice, axes, in, out)) {
                fitting.push_back(choice);
            }
        }
    }
    return fitting;
}

/// The best of those whose tiles are mostly full.
std::optional<TileChoice> choose_tiles(const TransposeAxes& axes, const std::byte* in,
                                       const std::byte* out) {
    std::optional<TileChoice> best;
    double most = 0;
    const auto fitting = fitting_tiles(axes, in, out);
    int number = -1; // of the form
    for (std::size_t i = 0; i < fitting.size(); ++i) {
        number += i == 0 || !(fitting[i].form == fitting[i - 1].form) ? 1 : 0;
        if (const double value = worth(fitting[i], axes, number); value > most) {
            best = fitting[i];
            most = value;
        }
    }
    if (best) {
        best->group = tile_group(*best, axes);
    }
    return best;
}

/// Where boxes could do the same, and do at 4 bytes and more: points of more than a few elements
/// that stay whole (0.93 to 0.82 of a copy at 48 bytes), floats that stop being the fastest axis
/// (0.81 to 0.76; bench/results/transpose-2026-11-21-h200-tune.txt).
bool interleaves_best(const TransposeAxes& axes, const InterleavePlan& interleave) {
    if (axes.element_bytes < 4) {
        return true;
    }
    if (moves_rows(axes)) {
        return interleave.components <= 4 && axes.element_bytes < 16;
    }
    return axes.element_bytes != 4 || interleave.interleaved == InterleavePlan::Side::out;
}

struct Move {
    CudaQueue& queue;
    const TransposeAxes& axes;
    const std::byte* in;
    std::byte* out;

    void operator()(const MoveRows& /*rows*/) const { transpose_by_rows(queue, axes, in, out); }
    void operator()(const MoveTiles& tiles) const {
        transpose_by_tiles(queue, tiles.tiles, axes, in, out);
    }
    void operator()(const MoveBoxes& boxes) const {
        transpose_by_boxes(queue, plan_boxes(axes, boxes.wish), boxes.group, in, out);
    }
    void operator()(const MoveInterleaved& interleave) const {
        transpose_interleaved(queue, interleave.plan, in, out);
    }
    void operator()(const MoveScattered& scatter) const {
        transpose_scattered(queue, scatter.plan, in, out);
    }
    void operator()(const MoveGathered& gather) const {
        transpose_gathered(queue, gather.plan, in, out);
    }
};

struct Text {
    std::string operator()(const MoveRows& /*rows*/) const { return "rows"; }
    std::string operator()(const MoveTiles& tiles) const {
        const TransposeTileForm& f = tiles.tiles.form;
        const TileFold fold = tiles.tiles.fold;
        return "tiles " + std::to_string(f.in_bytes) + "/" + std::to_string(f.out_bytes) + " B, " +
               std::to_string(f.across) + "x" + std::to_string(f.along) +
               (f.start == RowStart::anywhere ? " anywhere" : "") +
               (fold == TileFold::none     ? ", "
                : fold == TileFold::across ? " folded across, "
                                           : " folded along, ") +
               std::to_string(f.threads) + " threads, group " + std::to_string(tiles.tiles.group);
    }
    std::string operator()(const MoveBoxes& boxes) const {
        return "boxes run " + std::to_string(boxes.wish.run_bytes) + " B, box " +
               std::to_string(boxes.wish.box_bytes) + " B, group " + std::to_string(boxes.group);
    }
    std::string operator()(const MoveInterleaved& interleave) const {
        const InterleavePlan& plan = interleave.plan;
        return "interleave " + std::to_string(plan.components) + " x " +
               std::to_string(plan.box_along) + " x " + std::to_string(plan.box_others) +
               (plan.interleaved == InterleavePlan::Side::out ? " out" : " in");
    }
    std::string operator()(const MoveScattered& scatter) const {
        const ScatterPlan& plan = scatter.plan;
        return "scatter " + std::to_string(plan.across) + "x" + std::to_string(plan.rows) +
               (plan.at_words ? " at words" : "");
    }
    std::string operator()(const MoveGathered& gather) const {
        const GatherPlan& plan = gather.plan;
        return "gather " + std::to_string(plan.across) + "x" + std::to_string(plan.step) +
               (plan.point > 1 ? " points of " + std::to_string(plan.point) : "") +
               (plan.fold == TileFold::none ? "" : " folded along") +
               (plan.turned ? " turned" : "") + ", " + std::to_string(plan.size.threads) +
               " threads, group " + std::to_string(plan.group) +
               (plan.cluster > 1 ? ", clusters of " + std::to_string(plan.cluster) : "");
    }
};

} // namespace

TransposeChoice choose_transpose(const TransposeAxes& axes, const std::byte* in,
                                 const std::byte* out) {
    const std::optional<InterleavePlan> interleave = plan_interleave(axes);
    if (rows_are_run(axes) ||
        (moves_rows(axes) && (interleave ? row_bytes(axes) >= least_interleaved_row_bytes
                                         : row_bytes(axes) >= least_row_bytes))) {
        return MoveRows{};
    }
    if (const auto scatter = choose_scatter(axes, in)) {
        return MoveScattered{*scatter};
    }
    const auto tiles = choose_tiles(axes, in, out);
    if (!tiles || tiles->form.start == RowStart::anywhere) {
        if (const auto gather = choose_gather(axes)) {
            return MoveGathered{*gather};
        }
    }
    if (tiles) {
        return MoveTiles{*tiles};
    }
    if (interleave && is_worth_interleaving(*interleave)) {
        if (interleaves_best(axes, *interleave)) {
            return MoveInterleaved{*interleave};
        }
        return MoveBoxes{{128, moves_rows(axes) ? 32768 : 49152}, default_group};
    }
    return MoveBoxes{{}, default_group};
}

std::vector<TransposeChoice> all_transpose_choices(const TransposeAxes& axes, const std::byte* in,
                                                   const std::byte* out) {
    std::vector<TransposeChoice> choices;
    if (moves_rows(axes)) {
        choices.emplace_back(MoveRows{});
    }
    for (TileChoice tiles : fitting_tiles(axes, in, out)) {
        for (const int group : {4, 16, 64}) {
            tiles.group = group;
            choices.emplace_back(MoveTiles{tiles});
        }
    }
    if (const auto interleave = plan_interleave(axes)) {
        choices.emplace_back(MoveInterleaved{*interleave});
    }
    if (const auto plan = plan_scatter(axes, in)) {
        choices.emplace_back(MoveScattered{*plan});
    }
    for (const TileFold fold : {TileFold::none, TileFold::along}) {
        for (const GatherSize& size : gather_sizes(axes.element_bytes, moves_rows(axes))) {
            if (const auto plan = plan_gather(axes, fold, size)) {
                choices.emplace_back(MoveGathered{*plan});
            }
        }
    }
    for (const int box_bytes : {16384, 32768, 49152}) {
        for (const int run_bytes : {128, 512}) {
            for (const int group : {4, 16}) {
                choices.emplace_back(MoveBoxes{{run_bytes, box_bytes}, group});
            }
        }
    }
    return choices;
}

std::string choice_text(const TransposeChoice& choice) { return std::visit(Text{}, choice); }

void transpose_as(CudaQueue& queue, const TransposeChoice& choice, const TransposeAxes& axes,
                  const std::byte* in, std::byte* out) {
    std::visit(Move{queue, axes, in, out}, choice);
}

void transpose(CudaQueue& queue, const Transposition& transposition, const std::byte* in,
               std::byte* out) {
    const auto& shape = transposition.shape;
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        return;
    }
    const TransposeAxes axes = reduce_axes(transposition, in, out);
    const bool one_run =
        axes.count == 0 || (axes.count == 1 && axes.axis[0].in == 1 && axes.axis[0].out == 1);
    if (one_run) {
        copy_on_device(queue, out, in, axes.elements() * axes.element_bytes);
        return;
    }
    transpose_as(queue, choose_transpose(axes, in, out), axes, in, out);
}

} // namespace runner
