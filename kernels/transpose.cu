// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/transpose.hpp"

#include "kernels/transpose_choice.hpp"

#include <algorithm>
#include <optional>

namespace runner {
namespace {

constexpr int default_group = 16;

/// Rows shorter than this go through boxes, which read and write several of them at once.
constexpr std::int64_t least_row_bytes = 64;

/// The same where weaving does.
constexpr std::int64_t least_woven_row_bytes = 128;

std::int64_t row_bytes(const TransposeAxes& axes) {
    return axes.axis[static_cast<std::size_t>(axes.in_fastest())].extent * axes.element_bytes;
}

/// Whether whole tiles are the rule along both axes, so that few threads are idle.
bool fills_tiles(const TransposeTileForm& form, const TransposeAxes& axes) {
    const auto filled = [](std::int64_t extent, std::int64_t tile) {
        const std::int64_t tiles = (extent + tile - 1) / tile;
        return static_cast<double>(extent) / static_cast<double>(tiles * tile);
    };
    return filled(axes.axis[static_cast<std::size_t>(axes.in_fastest())].extent, form.across) *
               filled(axes.axis[static_cast<std::size_t>(axes.out_fastest())].extent, form.step) >
           0.5;
}

struct Move {
    CudaQueue& queue;
    const TransposeAxes& axes;
    const std::byte* in;
    std::byte* out;

    void operator()(const MoveRows& /*rows*/) const { transpose_by_rows(queue, axes, in, out); }
    void operator()(const MoveTiles& tiles) const {
        transpose_by_tiles(queue, tiles.form, tiles.group, axes, in, out);
    }
    void operator()(const MoveBoxes& boxes) const {
        transpose_by_boxes(queue, plan_boxes(axes, boxes.wish), boxes.group, in, out);
    }
    void operator()(const MoveWeave& weave) const {
        transpose_by_weave(queue, weave.plan, in, out);
    }
};

struct Text {
    std::string operator()(const MoveRows& /*rows*/) const { return "rows"; }
    std::string operator()(const MoveTiles& tiles) const {
        const TransposeTileForm& f = tiles.form;
        return "tiles " + std::to_string(f.in_bytes) + "/" + std::to_string(f.out_bytes) + " B, " +
               std::to_string(f.across) + "x" + std::to_string(f.along) +
               (f.start == RowStart::anywhere ? " anywhere, " : ", ") + std::to_string(f.threads) +
               " threads, group " + std::to_string(tiles.group);
    }
    std::string operator()(const MoveBoxes& boxes) const {
        return "boxes run " + std::to_string(boxes.wish.run_bytes) + " B, box " +
               std::to_string(boxes.wish.box_bytes) + " B, group " + std::to_string(boxes.group);
    }
    std::string operator()(const MoveWeave& weave) const {
        const WeavePlan& plan = weave.plan;
        return "weave " + std::to_string(plan.strands) + " x " + std::to_string(plan.box_along) +
               " x " + std::to_string(plan.box_others) +
               (plan.woven == WeavePlan::Woven::out ? " out" : " in");
    }
};

} // namespace

TransposeChoice choose_transpose(const TransposeAxes& axes, const std::byte* in,
                                 const std::byte* out) {
    const std::optional<WeavePlan> weave = plan_weave(axes);
    if (moves_rows(axes) &&
        (weave ? row_bytes(axes) >= least_woven_row_bytes : row_bytes(axes) >= least_row_bytes)) {
        return MoveRows{};
    }
    for (const TransposeTileForm& form : transpose_tile_forms()) {
        if (tile_form_fits(form, axes, in, out) && fills_tiles(form, axes)) {
            return MoveTiles{form, default_group};
        }
    }
    if (weave && is_worth_weaving(*weave)) {
        return MoveWeave{*weave};
    }
    return MoveBoxes{{}, default_group};
}

std::vector<TransposeChoice> all_transpose_choices(const TransposeAxes& axes, const std::byte* in,
                                                   const std::byte* out) {
    std::vector<TransposeChoice> choices;
    if (moves_rows(axes)) {
        choices.emplace_back(MoveRows{});
    }
    for (const TransposeTileForm& form : transpose_tile_forms()) {
        if (tile_form_fits(form, axes, in, out)) {
            for (const int group : {1, 4, 16}) {
                choices.emplace_back(MoveTiles{form, group});
            }
        }
    }
    if (const auto weave = plan_weave(axes)) {
        choices.emplace_back(MoveWeave{*weave});
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
