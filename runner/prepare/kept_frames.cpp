// SPDX-License-Identifier: BSD-3-Clause
#include "runner/prepare/kept_frames.hpp"

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/elements/invalid.hpp"
#include "kernels/queue/cpu_queue.hpp"
#include "runner/prepare/input_mask.hpp"
#include "runner/prepare/prepare.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace runner {
namespace {

constexpr std::size_t scan_axes = 3;
constexpr const char* leave_out = "Leave output.keep_fields out";

/// Whether type `to` has every number of type `from`.
bool holds(ElementType to, ElementType from) {
    if (to == from) {
        return true;
    }
    bool all = false;
    visit_element_type(from, [&]<class From>(From) {
        visit_element_type(to, [&]<class To>(To) {
            using A = std::numeric_limits<From>;
            using B = std::numeric_limits<To>;
            all = A::digits <= B::digits && (!A::is_signed || B::is_signed) &&
                  (A::is_integer || !B::is_integer);
        });
    });
    return all;
}

/// How messages name a step of the job.
std::string name_of_step(const PreparedJob& prepared, std::size_t index, std::size_t steps) {
    const auto& pipeline = prepared.file.pipeline;
    if (!pipeline || pipeline->steps().size() != steps) {
        return prepared.file.kind;
    }
    const StepParameters& step = pipeline->steps()[index];
    return step.label + ", " + step.kind + ",";
}

/// Refuses steps behind which a flat is no longer what the frames are to be divided by.
void check_steps(const PreparedJob& prepared) {
    const std::vector<Likeness> steps = prepared.job->likeness();
    std::vector<std::int64_t> shape = prepared.input.array.shape;
    if (steps.empty()) {
        refuse_kept_frames(prepared.file.kind + " makes no frames like those of the scan",
                           leave_out);
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const std::string name = name_of_step(prepared, i, steps.size());
        const Likeness& step = steps[i];
        bool in_place = step.axes.size() == scan_axes && step.shape == shape;
        for (std::size_t axis = 0; in_place && axis < scan_axes; ++axis) {
            in_place = step.axes[axis].axis == static_cast<std::int64_t>(axis) &&
                       step.axes[axis].block == 1;
        }
        if (!in_place) {
            refuse_kept_frames(name + " makes frames of other extents or in another order than the "
                                      "scan's flats and darks have",
                               leave_out);
        }
        if (step.values < Likeness::Values::scaled) {
            refuse_kept_frames(name + " makes values that raw flats and darks do not go with: they "
                                      "are of another unit, or corrected by these already",
                               leave_out);
        }
    }
}

/// Refuses inputs that are no scans, and parts of them whose frames nobody knows.
void check_scan(const PreparedJob& prepared) {
    const FrameRoles& roles = prepared.layout.roles;
    if (!roles.known() || prepared.layout.info.array.shape.size() != scan_axes) {
        refuse_kept_frames(prepared.input_name() + " is no NXtomo scan: no image_key says which of "
                                                   "its frames are flats and darks",
                           leave_out);
    }
    if (prepared.part && (!prepared.part->dropped.empty() || !prepared.part->step.empty())) {
        refuse_kept_frames("input.select changes what a frame is",
                           "Take a part by input.region and input.frames");
    }
    const std::vector<std::int64_t> taken =
        prepared.part ? prepared.part->frames : std::vector<std::int64_t>();
    const bool all_projections =
        !taken.empty() && std::all_of(taken.begin(), taken.end(), [&](std::int64_t frame) {
            return roles.frames[static_cast<std::size_t>(frame)] == FrameRole::projection;
        });
    if (!all_projections &&
        (!roles.of(FrameRole::flat).empty() || !roles.of(FrameRole::dark).empty())) {
        refuse_kept_frames("input.frames takes other frames than projections",
                           "Leave input.frames out, or count among the projections");
    }
}

/// Refuses what would make values of invalid elements of flats and darks.
void check_invalid(const PreparedJob& prepared) {
    if (prepared.input.invalid_value && !prepared.job->invalid()) {
        refuse_kept_frames(
            "elements of the scan may be invalid, and in what the job makes none is: "
            "those of its flats and darks would be values",
            "Leave output.keep_fields out, or write input.invalid = \"none\" if all "
            "elements are values");
    }
}

/// Rows as elements of another type, which has all their numbers, and with its invalid element for
/// theirs. They are made in memory of its own, as large as the caller's.
class ConvertedRows final : public RowReader {
  public:
    /// `invalid`: which elements are, of the rows and of what is made of them.
    ConvertedRows(std::unique_ptr<RowReader> rows, ElementType type,
                  std::optional<InvalidMapping> invalid)
        : rows_(std::move(rows)), invalid_(invalid), info_(rows_->info()) {
        info_.array = {type, info_.array.shape};
        info_.offset.reset();
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        const ArrayInfo& from = rows_->info().array;
        const std::int64_t count = rows * row_elements(from);
        bytes_.resize(static_cast<std::size_t>(rows * row_bytes(from)));
        rows_->read(first, rows, bytes_.data());
        if (from.type == info_.array.type) {
            std::copy(bytes_.begin(), bytes_.end(), to);
        } else {
            numbers_.resize(static_cast<std::size_t>(count));
            load_elements(from.type, bytes_.data(), count, numbers_.data());
            store_elements(info_.array.type, numbers_.data(), count, to);
        }
        if (invalid_) {
            CpuQueue queue(1);
            mark_invalid(queue, *invalid_, count, bytes_.data(), to);
        }
    }

  private:
    std::unique_ptr<RowReader> rows_;
    std::optional<InvalidMapping> invalid_;
    DatasetInfo info_;
    std::vector<std::byte> bytes_;
    std::vector<double> numbers_;
};

/// The flats and darks of the input with their masks.
std::unique_ptr<RowReader>
masked_fields(const PreparedJob& prepared,
              const std::function<std::unique_ptr<RowReader>(const DatasetLayout& layout)>& open) {
    const DatasetPart& fields = prepared.kept->fields;
    std::unique_ptr<RowReader> rows = open_widened_rows(open_part(open(prepared.layout), fields));
    if (!prepared.mask) {
        return rows;
    }
    InputMask mask = *prepared.mask;
    for (InputMask::Rows& each : mask.rows) {
        each.part = fields;
    }
    return open_masked_rows(std::move(rows), mask, open, 1);
}

/// The frames that the job takes and the flats and darks, as parts of the scan. @throws Error
/// (usage) where it has neither flats nor darks.
KeptFrames split_scan(const PreparedJob& prepared) {
    const FrameRoles& roles = prepared.layout.roles;
    std::vector<std::int64_t> fields;
    FrameRoles of_fields;
    for (std::size_t frame = 0; frame < roles.frames.size(); ++frame) {
        const FrameRole role = roles.frames[frame];
        if (role == FrameRole::flat || role == FrameRole::dark) {
            fields.push_back(static_cast<std::int64_t>(frame));
            of_fields.frames.push_back(role);
        }
    }
    if (fields.empty()) {
        refuse_kept_frames(prepared.input_name() + " has no flats and no darks: its frames are " +
                               roles.counts_text(),
                           leave_out);
    }
    KeptFrames kept;
    kept.roles = std::move(of_fields);
    kept.all = prepared.part.value();
    kept.fields = kept.all;
    const std::vector<std::int64_t> made = std::exchange(kept.all.frames, {});
    std::merge(made.begin(), made.end(), fields.begin(), fields.end(),
               std::back_inserter(kept.all.frames));
    kept.all.count.front() = std::ssize(kept.all.frames);
    for (std::size_t i = 0; i < kept.all.frames.size(); ++i) {
        const bool is_field = std::binary_search(fields.begin(), fields.end(), kept.all.frames[i]);
        (is_field ? kept.split.kept : kept.split.made).push_back(static_cast<std::int64_t>(i));
    }
    kept.fields.frames = std::move(fields);
    kept.fields.count.front() = std::ssize(kept.fields.frames);
    kept.joined = prepared.output();
    kept.joined.shape.front() = kept.all.count.front();
    return kept;
}

} // namespace

std::int64_t KeptFrames::bytes() const {
    return byte_count(joined) / joined.shape.front() * std::ssize(split.kept);
}

std::string KeptFrames::plan_text() const {
    return "\n  keeps " + roles.counts_text() + " of the scan, " + size_text(bytes()) + ": " +
           shape_text(joined.shape) + " in the scan's order";
}

std::string KeptFrames::identity() const { return "output.keep_fields = " + part_text(all) + "\n"; }

void refuse_kept_frames(const std::string& why, const std::string& try_this) {
    throw Error(ExitCode::usage,
                {"the output cannot keep flats and darks", "output.keep_fields", why, try_this});
}

std::optional<KeptFrames> kept_frames(const PreparedJob& prepared) {
    if (!prepared.file.output.keep_fields) {
        return std::nullopt;
    }
    if (!prepared.file.output.layout.is_hdf5()) {
        refuse_kept_frames("only an HDF5 file holds frames of several roles", "Name a .h5 file");
    }
    if (prepared.place.origin) {
        refuse_kept_frames("the job takes several passes over its data",
                           "Give the steps of the last pass a job of their own");
    }
    check_scan(prepared);
    check_steps(prepared);
    const ArrayInfo made = prepared.output();
    if (!is_number(prepared.input.array.type) || !holds(made.type, prepared.input.array.type)) {
        refuse_kept_frames("the output is of " + type_text(made) +
                               ", which has not every number "
                               "of the scan's " +
                               type_text(prepared.input.array),
                           "Name another output.dtype, or leave it out");
    }
    check_invalid(prepared);
    return split_scan(prepared);
}

std::unique_ptr<RowReader> open_kept_frames(
    const PreparedJob& prepared,
    const std::function<std::unique_ptr<RowReader>(const DatasetLayout& layout)>& open) {
    std::unique_ptr<RowReader> rows = masked_fields(prepared, open);
    const ElementType from = rows->info().array.type;
    const ElementType to = prepared.output().type;
    const std::optional<double> invalid = prepared.job->invalid();
    if (!prepared.input.invalid_value || !invalid) {
        return from == to ? std::move(rows)
                          : std::make_unique<ConvertedRows>(std::move(rows), to, std::nullopt);
    }
    return std::make_unique<ConvertedRows>(
        std::move(rows), to, InvalidMapping{from, *prepared.input.invalid_value, to, *invalid});
}

} // namespace runner
