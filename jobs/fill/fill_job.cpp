// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/fill/fill_job.hpp"

#include "base/error.hpp"
#include "jobs/axis_work.hpp"
#include "jobs/counted_rows.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/elements/invalid.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace runner {
namespace {

/// [fill].
struct FillKeys {
    Fill::Method method = Fill::Method::nearest;
    double value = 0;
    Extents3 reach = {0, 16, 16};
    std::optional<double> rest;
};

/// Two or three integers from 0 on.
Form<Extents3> reach_form() {
    const std::string range = "each from 0 to " + std::to_string(Fill::most_reach);
    return {
        "two or three integers", range, "Sequence[int]",
        [range](TableReader& table, const std::string& key) -> std::optional<Extents3> {
            const std::optional<std::vector<std::int64_t>> written = table.integers(key, 0);
            if (!written) {
                return std::nullopt;
            }
            const bool is_right =
                (written->size() == 2 || written->size() == 3) &&
                std::all_of(written->begin(), written->end(), [](std::int64_t extent) {
                    return extent >= 0 && extent <= Fill::most_reach;
                });
            if (!is_right) {
                table.complain(key, "expected [z, y, x] or [y, x], " + range + ", got " +
                                        toml_text(std::span<const std::int64_t>(*written)));
                return std::nullopt;
            }
            Extents3 extents = {0, 0, 0};
            std::copy(written->rbegin(), written->rend(), extents.rbegin());
            return extents;
        },
        [](const Extents3& extents) { return toml_text(std::span<const std::int64_t>(extents)); }};
}

bool is_number(const FillKeys& keys) { return keys.method == Fill::Method::number; }
bool looks_around(const FillKeys& keys) { return !is_number(keys); }

const KeyList<FillKeys>& fill_list() {
    using Keys = FillKeys;
    static const KeyList<Keys> list({
        key<Keys>("method", &Keys::method, choice_form<Fill::Method>({"nearest", "mean", "number"}),
                  "what an invalid element becomes")
            .detail("The nearest valid element, the mean of the valid ones in the smallest cube "
                    "around it that has any, or `value`"),
        key<Keys>("value", &Keys::value, number_form(), "the number of `method = \"number\"`")
            .unit("units of the input")
            .only_with("method = \"number\"", is_number)
            .sample("0", KeyText::Shown::commented),
        key<Keys>("reach", &Keys::reach, reach_form(),
                  "how far valid elements are looked for, `[z, y, x]` or `[y, x]`")
            .unit("elements")
            .only_with("method = \"nearest\" or \"mean\"", looks_around),
        key<Keys>("rest", &Keys::rest, number_form(),
                  "what elements without a valid one in reach become")
            .unit("units of the input")
            .usually("they stay invalid")
            .only_with("method = \"nearest\" or \"mean\"", looks_around)
            .sample("0", KeyText::Shown::commented),
    });
    return list;
}

class FillParameters : public ListedParameters<FillKeys> {
  public:
    using ListedParameters::ListedParameters;

    bool takes_elements_alone() const override { return is_number(keys()); }
    Invalid invalid() const override {
        return is_number(keys()) || keys().rest ? Invalid::removes : Invalid::requires_some;
    }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        std::vector<std::int64_t> axes = input.array.shape;
        Fill fill;
        fill.type = input.array.type;
        fill.method = keys().method;
        fill.number = keys().value;
        fill.rest = keys().rest;
        if (!is_number(keys())) {
            std::copy(keys().reach.begin(), keys().reach.end(), fill.reach.begin());
        }
        check(input, output_type, fill.takes_layers() ? 3 : 2);
        fill.invalid = *input.invalid;
        const auto take_last = [&axes] {
            const std::int64_t extent = axes.back();
            axes.pop_back();
            return extent;
        };
        fill.channels = input.channels.value_or(1) > 1 ? static_cast<int>(take_last()) : 1;
        fill.columns = take_last();
        fill.rows = take_last();
        fill.layers = fill.takes_layers() ? take_last() : 1;
        return std::make_unique<FillJob>(fill, input.array.shape);
    }

  private:
    static void check(const JobInput& input, std::optional<ElementType> output_type,
                      std::size_t frame_axes) {
        const std::vector<std::int64_t>& shape = input.array.shape;
        const std::size_t axes = frame_axes + (input.channels.value_or(1) > 1 ? 1 : 0);
        if (shape.size() < axes) {
            throw Error(ExitCode::input, {"fill needs more axes", "input.dataset",
                                          "its shape is " + shape_text(shape) + ", and it takes " +
                                              std::to_string(axes),
                                          "Choose another dataset, or fill.reach = [y, x]"});
        }
        refuse_empty(shape, "Choose another dataset");
        if (!input.invalid) {
            throw Error(ExitCode::input,
                        {"nothing is there to fill", "input.dataset",
                         "neither the file nor the job says which elements are invalid",
                         "Write input.invalid = \"nan\", or the number that they are"});
        }
        if (output_type && *output_type != input.array.type) {
            throw Error(ExitCode::usage,
                        {"fill does not make this element type", "output.dtype",
                         "it is " + std::string(name_of(*output_type)) + " and the input's " +
                             std::string(name_of(input.array.type)),
                         "Leave it out; rescale makes other types"});
        }
    }
};

} // namespace

FillJob::FillJob(const Fill& fill, const std::vector<std::int64_t>& shape) : fill_(fill) {
    const std::int64_t line = rows_per_line();
    const std::int64_t image = fill_.rows * line;
    shape_.output = {fill_.type, shape};
    shape_.rows = fill_.layers * image;
    shape_.in_row_bytes = fill_.columns * fill_.channels / line * size_of(fill_.type);
    shape_.out_row_bytes = shape_.in_row_bytes;
    shape_.frames = byte_count({fill_.type, shape}) / (shape_.rows * shape_.in_row_bytes);
    shape_.halo = fill_.takes_layers() ? fill_.reach[0] * image : fill_.reach[1] * line;
    shape_.made.layer = fill_.takes_layers() ? image : line;
    shape_.made.each = shape_.made.layer;
}

std::vector<std::string> FillJob::axis_work(std::size_t axes) const {
    WorkAlongFrame frame;
    for (std::size_t i = 0; i < frame.size(); ++i) {
        frame.at(i) = fill_.reach.at(i) > 0 ? "gaps filled" : "";
    }
    return work_along(frame, axes, fill_.channels);
}

std::optional<double> FillJob::invalid() const {
    return fill_.method == Fill::Method::number || fill_.rest
               ? std::nullopt
               : std::optional(invalid_value(fill_.type, fill_.invalid));
}

std::int64_t FillJob::kept_bytes(Backend /*backend*/) const { return counts_bytes; }

void FillJob::prepare(Queue& queue, std::byte* kept) const { clear_counts(queue, kept); }

std::vector<std::int64_t> FillJob::counts(Queue& queue, const std::byte* kept) const {
    const auto counts = fetch_counts<FillCounts>(queue, kept);
    return {static_cast<std::int64_t>(counts.filled), static_cast<std::int64_t>(counts.left)};
}

void FillJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                  const RunMemory& memory) const {
    const std::int64_t line = rows_per_line();
    auto* const counts = reinterpret_cast<FillCounts*>(memory.kept); // counted ones, and others
    for_counted_rows(block, memory, [&](const CountedRows& rows) {
        const RowBlock& made = rows.block;
        const RowBlock lines{made.frames, made.in_first / line, made.in_rows / line,
                             made.out_first / line, made.out_rows / line};
        // The first of several frames may be another part's.
        const std::int64_t skipped = block.frames > 1 ? rows.first : 0;
        std::visit(
            [&](auto& backend) {
                runner::fill(backend, fill_, lines, in + skipped * shape_.in_row_bytes,
                             out + rows.first * shape_.out_row_bytes,
                             counts + (rows.are_counted ? 0 : 1));
            },
            queue);
    });
}

std::vector<KeyText> fill_keys() { return fill_list().texts(); }

std::unique_ptr<KindParameters> parse_fill(TableReader& table) {
    return read_parameters<FillParameters>(fill_list(), table);
}

} // namespace runner
