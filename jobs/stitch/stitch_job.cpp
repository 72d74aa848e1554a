// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/stitch/stitch_job.hpp"

#include "base/format.hpp"
#include "base/rounding.hpp"
#include "io/rows/row_geometry.hpp"
#include "jobs/axis_work.hpp"
#include "kernels/elements/invalid.hpp"

#include <span>
#include <utility>
#include <variant>

namespace runner {

StitchJob::StitchJob(const Stitch& stitch, StitchAxes axes, std::vector<std::string> notes)
    : stitch_(stitch), axes_(std::move(axes)), notes_(std::move(notes)) {
    std::vector<std::int64_t> out = axes_.array.shape;
    out[axes_.frames] = axes_.pairs();
    out[axes_.columns] = stitch_.out_columns();
    shape_.output = {stitch_.out_type, std::move(out)};
    shape_.in_row_bytes = row_bytes(axes_.array);
    shape_.out_row_bytes = row_bytes(shape_.output);
    const std::span<const std::int64_t> before =
        std::span<const std::int64_t>(axes_.array.shape).first(axes_.frames);
    if (checked_product(before) == 1 && axes_.array.shape.size() > 2) {
        pair_rows();
    } else {
        shape_.frames = checked_product(before);
        keep_frames_together();
    }
}

std::int64_t StitchJob::rows_of_frame() const {
    const std::size_t end = axes_.columns + (axes_.has_samples ? 1 : 0);
    return checked_product(
        std::span(axes_.array.shape).subspan(axes_.frames + 1, end - axes_.frames - 1));
}

/// Each row of a frame, or pixel of colour, is read before that of its partner. The order changes
/// the first two axes, so that the last one must be another.
void StitchJob::pair_rows() {
    const std::int64_t pixels = axes_.has_samples ? stitch_.columns : 1; // rows of an image's row
    const std::int64_t rows = rows_of_frame();
    order_ = RowOrder{2, axes_.pairs() * rows};
    shape_.frames = axes_.pairs();
    shape_.rows = 2 * rows;
    shape_.made.layer = 2 * pixels;
    shape_.made.each = axes_.has_samples ? stitch_.out_columns() : 1;
    const std::int64_t elements = stitch_.columns * stitch_.samples;
    stitch_.lines = 1;
    stitch_.line = 0;
    stitch_.partner = axes_.has_samples ? stitch_.samples : elements;
    stitch_.pixel = axes_.has_samples ? 2 * stitch_.samples : 1;
    stitch_.elements = 2 * elements;
}

/// All frames, one after the other, are a layer.
void StitchJob::keep_frames_together() {
    const std::int64_t rows = rows_of_frame();
    const std::int64_t lines = axes_.has_samples ? rows / stitch_.columns : rows; // of a frame
    shape_.rows = axes_.angles() * rows;
    shape_.made.layer = shape_.rows;
    stitch_.lines = axes_.pairs() * lines;
    stitch_.line = stitch_.columns * stitch_.samples;
    stitch_.partner = stitch_.lines * stitch_.line;
    stitch_.pixel = stitch_.samples;
    stitch_.elements = axes_.angles() * lines * stitch_.line;
    shape_.made.each = stitch_.lines * (axes_.has_samples ? stitch_.out_columns() : 1);
}

std::vector<Likeness> StitchJob::likeness() const {
    Likeness like = Likeness::in_place(Likeness::Values::alike, shape_.output.shape);
    like.axes[axes_.columns].first =
        stitch_.side == Stitch::Side::left ? stitch_.columns - stitch_.out_columns() : 0;
    return {like};
}

std::optional<Locality> StitchJob::locality() const {
    Locality locality;
    const std::size_t axes = axes_.array.shape.size() - (axes_.has_samples ? 1 : 0);
    for (const std::size_t axis : {axes_.frames, axes_.columns}) {
        locality.joins.at(axis + locality.joins.size() - axes) = true; // both are of the last three
    }
    return locality;
}

std::vector<std::string> StitchJob::axis_work(std::size_t axes) const {
    std::vector<std::string> work(axes, each_by_itself);
    work.at(axes_.frames) = "joined in pairs";
    work.at(axes_.columns) = "joined";
    return work;
}

std::vector<std::string> StitchJob::found() const {
    return {fmt::format("the axis of rotation is at column {} of the output, its middle",
                        static_cast<double>(stitch_.out_columns() - 1) / 2)};
}

std::optional<double> StitchJob::invalid() const {
    return stitch_.invalid ? std::optional(invalid_value(stitch_.out_type, *stitch_.invalid))
                           : std::nullopt;
}

void StitchJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                    const RunMemory& /*memory*/) const {
    const std::byte* const first = in + (block.out_first - block.in_first) * shape_.in_row_bytes;
    const std::int64_t groups = block.frames * block.out_rows / shape_.made.layer;
    std::visit([&](auto& backend) { stitch(backend, stitch_, groups, first, out); }, queue);
}

} // namespace runner
