// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/stripes/stripes_job.hpp"

#include "base/error.hpp"
#include "base/rounding.hpp"
#include "base/text.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/each_sample_job.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace runner {
namespace {

/// [stripes].
struct StripesKeys {
    Stripes::Method method = Stripes::Method::sort;
    std::int64_t size = 21;
    double snr = 3;
    std::int64_t small = 21;
};

bool finds_stripes(const StripesKeys& keys) { return keys.method != Stripes::Method::sort; }

/// `size` has another default where whole stripes are found.
bool set_usual_size(TableReader& /*table*/, StripesKeys& keys) {
    keys.size = finds_stripes(keys) ? 51 : 21;
    return true;
}

const KeyList<StripesKeys>& stripes_list() {
    using Keys = StripesKeys;
    static const KeyList<Keys> list({
        key<Keys>("method", &Keys::method,
                  choice_form<Stripes::Method>({"sort", "large", "dead", "all"}),
                  "which stripes are removed")
            .detail("Small ones, large ones, those of dead and fluctuating columns and large ones, "
                    "or all")
            .then(set_usual_size),
        key<Keys>("size", &Keys::size, integer_form(1, Stripes::most_size),
                  "the window of the medians; more than twice the width of the stripes")
            .unit("columns")
            .usually("`21`; `51` unless method is `sort`"),
        key<Keys>("snr", &Keys::snr, number_from_zero_form(),
                  "how far a column must be from others to be a stripe; of the range of usual ones")
            .only_with("method = \"large\", \"dead\" or \"all\"", finds_stripes)
            .sample("3.0", KeyText::Shown::commented),
        key<Keys>("small", &Keys::small, integer_form(1, Stripes::most_size),
                  "the window of the medians of the last step of `all`")
            .unit("columns")
            .only_with("method = \"all\"",
                       [](const Keys& keys) { return keys.method == Stripes::Method::all; })
            .sample("21", KeyText::Shown::commented),
    });
    return list;
}

void check_input(const JobInput& input) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    if (shape.size() < 2) {
        throw Error(ExitCode::input,
                    {"stripes needs more axes", "input.dataset",
                     "its shape is " + shape_text(shape) + ", and a sinogram has 2",
                     "Choose another dataset"});
    }
    refuse_empty(shape, "Choose another dataset");
    const std::int64_t angles = shape[shape.size() - 2];
    if (angles > Stripes::most_rows) {
        throw Error(ExitCode::input,
                    {"a sinogram has too many angles", "input.dataset",
                     "its shape is " + shape_text(shape) + ", whose last axis but one has " +
                         std::to_string(angles) + ", and stripes takes up to " +
                         std::to_string(Stripes::most_rows),
                     "Transpose projections first, so that the last axes are the angle and the "
                     "column (docs/stripes.md), or bin the angles"});
    }
}

bool counts_angles(const Axis& axis) {
    constexpr std::array<std::string_view, 7> words = {
        "frame", "rotation_angle", "theta", "angle", "degree", "deg", "rad"};
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return axis.name == word || axis.unit == word;
    });
}

/// A note where the axes say that the last but one is none of angles, and which one is.
std::vector<std::string> notes_of(const Axes& axes) {
    const std::vector<Axis>& each = axes.each;
    const auto found = std::find_if(each.begin(), each.end(), counts_angles);
    if (each.size() < 3 || found == each.end() || counts_angles(each[each.size() - 2])) {
        return {};
    }
    const std::int64_t angles = found - each.begin();
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < std::ssize(each); ++axis) {
        if (axis != angles) {
            order.push_back(axis);
        }
    }
    order.insert(order.end() - 1, angles);
    std::string text;
    for (const std::int64_t axis : order) {
        text += (text.empty() ? "" : ", ") + std::to_string(axis);
    }
    return {
        format_error({"stripes takes another axis for the angles", "stripes",
                      "its input has the axes " + printable(axes.names()) + ", with angles along " +
                          printable(found->name) + ", and it takes the last but one",
                      "Let transpose with permutation = [" + text + "] come before"})};
}

class StripesParameters : public ListedParameters<StripesKeys> {
  public:
    using ListedParameters::ListedParameters;

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        return make_each_sample(input, *this,
                                [&](const JobInput& one) { return make_one(one, output_type); });
    }

  private:
    /// The job for an input of one sample a pixel.
    std::unique_ptr<StreamJob> make_one(const JobInput& input,
                                        std::optional<ElementType> output_type) const {
        check_input(input);
        if (output_type && *output_type != input.array.type) {
            throw Error(ExitCode::usage,
                        {"stripes does not make this element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)) + " and the input's " +
                             std::string(name_of(input.array.type)),
                         "Leave it out; rescale makes other types"});
        }
        const std::vector<std::int64_t>& shape = input.array.shape;
        Stripes stripes;
        stripes.type = input.array.type;
        stripes.columns = shape[shape.size() - 1];
        stripes.rows = shape[shape.size() - 2];
        stripes.method = keys().method;
        stripes.size = static_cast<int>(keys().size);
        stripes.small = static_cast<int>(keys().small);
        stripes.snr = keys().snr;
        return std::make_unique<StripesJob>(stripes, shape, notes_of(input.axes));
    }
};

} // namespace

StripesJob::StripesJob(const Stripes& stripes, const std::vector<std::int64_t>& shape,
                       std::vector<std::string> notes)
    : stripes_(stripes), notes_(std::move(notes)) {
    shape_.output = {stripes_.type, shape};
    shape_.frames = checked_product(std::span(shape).first(shape.size() - 2));
    shape_.rows = stripes_.rows;
    shape_.in_row_bytes = stripes_.columns * size_of(stripes_.type);
    shape_.out_row_bytes = shape_.in_row_bytes;
    shape_.made.layer = stripes_.rows;
    shape_.made.each = stripes_.rows;
}

std::int64_t StripesJob::frames(const RowBlock& block) const {
    return block.frames * ceil_divide(std::max(block.in_rows, block.out_rows), stripes_.rows);
}

std::vector<std::string> StripesJob::axis_work(std::size_t axes) const {
    return work_along({"", "taken as angles", "cleaned of stripes"}, axes, channels());
}

std::int64_t StripesJob::scratch_bytes(Backend /*backend*/, const RowBlock& block) const {
    return stripes_scratch_bytes(stripes_, frames(block));
}

double StripesJob::operations(const RowBlock& block) const {
    return stripes_operations(stripes_, frames(block));
}

void StripesJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                     const RunMemory& memory) const {
    const std::byte* const first = in + (block.out_first - block.in_first) * shape_.in_row_bytes;
    std::visit(
        [&](auto& backend) {
            remove_stripes(backend, stripes_, block.frames * block.out_rows / stripes_.rows, first,
                           out, memory.scratch);
        },
        queue);
}

std::vector<KeyText> stripes_keys() { return stripes_list().texts(); }

std::unique_ptr<KindParameters> parse_stripes(TableReader& table) {
    return read_parameters<StripesParameters>(stripes_list(), table);
}

} // namespace runner
