// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/median/median_job.hpp"

#include "base/error.hpp"
#include "jobs/boundary_keys.hpp"
#include "jobs/counted_rows.hpp"
#include "jobs/each_sample_job.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace runner {
namespace {

/// [median].
struct MedianKeys {
    Extents3 size = {1, 3, 3};
    Boundary boundary = Boundary::reflect;
    double fill = 0;
    std::optional<double> difference;
    Median::Side side = Median::Side::both;
};

bool has_side(const MedianKeys& keys) { return keys.side != Median::Side::both; }

std::string wrong_size(const Extents3& size, std::span<const std::int64_t> /*written*/) {
    const std::string text = toml_text(std::span<const std::int64_t>(size));
    const auto wrong = [](std::int64_t extent) {
        return extent % 2 == 0 || extent > Median::most_extent;
    };
    if (std::any_of(size.begin(), size.end(), wrong)) {
        return "each must be odd, from 1 to " + std::to_string(Median::most_extent) + ", got " +
               text;
    }
    const std::int64_t elements = size[0] * size[1] * size[2];
    return elements <= Median::most_elements
               ? ""
               : "at most " + std::to_string(Median::most_elements) + " elements, got " +
                     std::to_string(elements) + " of " + text;
}

const KeyList<MedianKeys>& median_list() {
    using Keys = MedianKeys;
    static const KeyList<Keys> list({
        key<Keys>("size", &Keys::size,
                  extents_form("each odd, from 1 to " + std::to_string(Median::most_extent) +
                                   ", and at most " + std::to_string(Median::most_elements) +
                                   " elements",
                               wrong_size),
                  "the window, `[z, y, x]` or `[y, x]`"),
        boundary_key<Keys>(),
        fill_key<Keys>(),
        key<Keys>("difference", &Keys::difference, number_from_zero_form(),
                  "only elements that are farther than this from the median are replaced")
            .unit("units of the input")
            .sample("100.0", KeyText::Shown::commented),
        key<Keys>("side", &Keys::side, choice_form<Median::Side>({"both", "above", "below"}),
                  "only elements on this side of the median are replaced")
            .only_where(has_side)
            .sample("\"above\"", KeyText::Shown::commented),
    });
    return list;
}

void check_input(const JobInput& input, std::size_t axes) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    if (shape.size() < axes) {
        throw Error(ExitCode::input,
                    {"median needs more axes", "input.dataset",
                     "its shape is " + shape_text(shape) + ", and it takes " + std::to_string(axes),
                     "Choose another dataset, or median.size = [y, x]"});
    }
    refuse_empty(shape, "Choose another dataset");
}

class MedianParameters : public ListedParameters<MedianKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        return make_each_sample(input, *this,
                                [&](const JobInput& one) { return make_one(one, output_type); });
    }

  private:
    /// The job for an input of one sample a pixel.
    std::unique_ptr<StreamJob> make_one(const JobInput& input,
                                        std::optional<ElementType> output_type) const {
        const std::size_t axes = keys().size[0] > 1 ? 3 : 2;
        check_input(input, axes);
        if (output_type && *output_type != input.array.type) {
            throw Error(ExitCode::usage,
                        {"median does not make this element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)) + " and the input's " +
                             std::string(name_of(input.array.type)),
                         "Leave it out; rescale makes other types"});
        }
        const std::vector<std::int64_t>& shape = input.array.shape;
        Median median;
        median.type = input.array.type;
        median.columns = shape[shape.size() - 1];
        median.rows = shape[shape.size() - 2];
        median.layers = axes == 3 ? shape[shape.size() - 3] : 1;
        std::copy(keys().size.begin(), keys().size.end(), median.size.begin());
        median.boundary = keys().boundary;
        median.fill = keys().fill;
        median.difference = has_side(keys()) ? keys().difference.value_or(0) : keys().difference;
        median.side = keys().side;
        median.invalid = input.invalid;
        return std::make_unique<MedianJob>(median, shape);
    }
};

} // namespace

MedianJob::MedianJob(const Median& median, const std::vector<std::int64_t>& shape)
    : median_(median) {
    const std::size_t frame_axes = median_.takes_layers() ? 3 : 2;
    shape_.output = {median_.type, shape};
    shape_.frames = checked_product(std::span(shape).first(shape.size() - frame_axes));
    shape_.rows = median_.layers * median_.rows;
    shape_.in_row_bytes = median_.columns * size_of(median_.type);
    shape_.out_row_bytes = shape_.in_row_bytes;
    shape_.border = median_.boundary == Boundary::wrap ? RowBorder::periodic : RowBorder::inside;
    shape_.halo = median_.size[1] / 2;
    if (median_.takes_layers()) {
        shape_.halo = median_.size[0] / 2 * median_.rows;
        shape_.made.layer = median_.rows;
        shape_.made.each = median_.rows;
    }
}

std::optional<double> MedianJob::invalid() const {
    return median_.invalid ? std::optional(invalid_value(median_.type, *median_.invalid))
                           : std::nullopt;
}

std::int64_t MedianJob::kept_bytes(Backend /*backend*/) const {
    return median_.difference ? counts_bytes : 0;
}

void MedianJob::prepare(Queue& queue, std::byte* kept) const {
    if (median_.difference) {
        clear_counts(queue, kept);
    }
}

std::vector<std::string> MedianJob::counted() const {
    return median_.difference ? std::vector<std::string>{"replaced_values"}
                              : std::vector<std::string>{};
}

std::vector<std::int64_t> MedianJob::counts(Queue& queue, const std::byte* kept) const {
    if (!median_.difference) {
        return {};
    }
    return {fetch_counts<std::int64_t>(queue, kept)};
}

std::shared_ptr<const StreamJob> MedianJob::counting_part() const {
    return median_.difference && counts_soon(*this) ? std::make_shared<MedianJob>(*this) : nullptr;
}

void MedianJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                    const RunMemory& memory) const {
    const Tally replaced = median_.difference ? tally_of(block, memory) : Tally{};
    std::visit([&](auto& backend) { median(backend, median_, block, in, out, replaced); }, queue);
}

std::vector<KeyText> median_keys() { return median_list().texts(); }

std::unique_ptr<KindParameters> parse_median(TableReader& table) {
    return read_parameters<MedianParameters>(median_list(), table);
}

} // namespace runner
