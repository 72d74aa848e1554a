// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/convolve/convolve_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/writers/row_hashes.hpp"
#include "jobs/convolve/taps.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace runner {
namespace {

constexpr std::array<std::pair<std::string_view, Boundary>, 5> boundaries = {{
    {"constant", Boundary::constant},
    {"nearest", Boundary::nearest},
    {"reflect", Boundary::reflect},
    {"mirror", Boundary::mirror},
    {"wrap", Boundary::wrap},
}};

void check_input(const ArrayInfo& input, int channels, bool has_depth) {
    const std::size_t axes = input.shape.size() - (channels > 1 ? 1 : 0);
    if (axes < 2) {
        throw Error(ExitCode::input,
                    {"convolve needs at least two axes, rows and columns", "input.dataset",
                     "its shape is " + shape_text(input.shape), "Choose a dataset of images"});
    }
    if (has_depth && axes < 3) {
        throw Error(
            ExitCode::input,
            {"convolve.depth_taps need a third axis, before rows and columns", "input.dataset",
             "its shape is " + shape_text(input.shape) +
                 (channels > 1 ? fmt::format(", and the last axis is {} channels", channels) : ""),
             "Leave depth_taps out, or choose a dataset of volumes"});
    }
    if (std::find(input.shape.begin(), input.shape.end(), 0) != input.shape.end()) {
        throw Error(ExitCode::input, {"the input holds no elements", "input.dataset",
                                      "its shape is " + shape_text(input.shape), ""});
    }
}

/// How many channels the last axis is, which is an axis of the image unless the file marks it.
int channels_of(const JobInput& input) {
    const int channels = input.channels.value_or(1);
    return input.array.shape.size() >= 3 && input.array.shape.back() == channels ? channels : 1;
}

/// A last axis of 3 or 4 of which the file says nothing.
std::vector<std::string> notes_on(const JobInput& input) {
    const std::vector<std::int64_t>& shape = input.array.shape;
    if (input.channels || shape.size() < 3 || (shape.back() != 3 && shape.back() != 4)) {
        return {};
    }
    const std::string marked = shape.back() == 3 ? "\"rgb-image\"" : "\"rgba-image\"";
    return {
        format_error({"the last axis may be colour", input.source.file + ":" + input.source.dataset,
                      "its shape is " + shape_text(shape) +
                          " and the file does not say; it is filtered as an axis of the image",
                      "If it is colour, set the dataset's attribute interpretation = " + marked +
                          ", else \"image\""})};
}

/// Taps and fill are rounded to the type computed in; none may become infinite.
void check_rounding(const Convolution& convolution) {
    if (convolution.compute_type() == ElementType::float64) {
        return;
    }
    const auto check = [](const char* key, double value) {
        if (std::isinf(static_cast<float>(value))) {
            throw Error(ExitCode::usage,
                        {"a number is too large for float32, which this input is computed in", key,
                         "it is " + toml_text(value), "Write a smaller one"});
        }
    };
    const auto check_taps = [&](const char* key, const std::vector<double>& taps) {
        for (const double tap : taps) {
            check(key, tap);
        }
    };
    check_taps("convolve.row_taps", convolution.row_taps);
    check_taps("convolve.column_taps", convolution.column_taps);
    check_taps("convolve.depth_taps", convolution.depth_taps);
    check("convolve.fill", convolution.fill);
}

/// [convolve].
struct ConvolveKeys {
    TapsChoice row_taps;
    TapsChoice column_taps;
    std::optional<TapsChoice> depth_taps;
    Boundary boundary = Boundary::reflect;
    double fill = 0;
};

class ConvolveParameters : public KindParameters {
  public:
    explicit ConvolveParameters(ConvolveKeys keys) : keys_(std::move(keys)) {}

    std::vector<InputDataset> inputs() const override {
        std::vector<InputDataset> files;
        const auto add = [&](const TapsChoice& choice) {
            if (const auto* taps = std::get_if<FileTaps>(&choice)) {
                files.push_back({taps->file, taps->dataset});
            }
        };
        add(keys_.row_taps);
        add(keys_.column_taps);
        if (keys_.depth_taps) {
            add(*keys_.depth_taps);
        }
        return files;
    }

    std::unique_ptr<Job> make(const JobInput& given,
                              std::optional<ElementType> output_type) const override {
        const ArrayInfo& input = given.array;
        const int channels = channels_of(given);
        check_input(input, channels, keys_.depth_taps.has_value());
        Convolution convolution;
        convolution.in_type = input.type;
        convolution.out_type = output_type.value_or(input.type);
        convolution.channels = channels;
        const std::size_t axes = input.shape.size() - (channels > 1 ? 1 : 0);
        convolution.frame_rows = input.shape[axes - 2];
        convolution.columns = input.shape[axes - 1] * channels;
        convolution.row_taps = make_taps(keys_.row_taps, given.files);
        convolution.column_taps = make_taps(keys_.column_taps, given.files);
        if (keys_.depth_taps) {
            convolution.layers = input.shape[axes - 3];
            convolution.depth_taps = make_taps(*keys_.depth_taps, given.files);
        }
        convolution.boundary = keys_.boundary;
        convolution.fill = keys_.fill;
        check_rounding(convolution);
        return std::make_unique<ConvolveJob>(std::move(convolution), input, notes_on(given));
    }

    std::string canonical() const override {
        const auto* boundary =
            std::find_if(boundaries.begin(), boundaries.end(),
                         [&](const auto& entry) { return entry.second == keys_.boundary; });
        return "row_taps = " + taps_text(keys_.row_taps) +
               "\ncolumn_taps = " + taps_text(keys_.column_taps) +
               (keys_.depth_taps ? "\ndepth_taps = " + taps_text(*keys_.depth_taps) : "") +
               "\nboundary = " + toml_text(boundary->first) + "\nfill = " + toml_text(keys_.fill) +
               "\n";
    }

  private:
    ConvolveKeys keys_;
};

} // namespace

ConvolveJob::ConvolveJob(Convolution convolution, const ArrayInfo& input,
                         std::vector<std::string> notes)
    : convolution_(std::move(convolution)), notes_(std::move(notes)) {
    const std::size_t frame_axes =
        (convolution_.has_depth() ? 3 : 2) + (convolution_.channels > 1 ? 1 : 0);
    const std::span leading(input.shape.data(), input.shape.size() - frame_axes);
    const std::int64_t line = rows_per_line();
    const std::int64_t image = convolution_.frame_rows * line;
    const std::int64_t row_samples = convolution_.columns / line;
    shape_.output = {convolution_.out_type, input.shape};
    shape_.frames = checked_product(leading);
    shape_.rows = convolution_.layers * image;
    shape_.in_row_bytes = byte_count({convolution_.in_type, {row_samples}});
    shape_.out_row_bytes = byte_count({convolution_.out_type, {row_samples}});
    shape_.halo = convolution_.has_depth() ? convolution_.depth_radius() * image
                                           : convolution_.column_radius() * line;
    shape_.made.layer = convolution_.has_depth() ? image : line;
    shape_.made.each = shape_.made.layer;
    shape_.border =
        convolution_.boundary == Boundary::wrap ? RowBorder::periodic : RowBorder::inside;
}

std::string ConvolveJob::computation() const {
    std::string text = "convolve 1";
    if (convolution_.channels > 1) {
        text += fmt::format(", {} channels", convolution_.channels);
    }
    const auto add = [&](std::string_view name, const std::vector<double>& taps) {
        const auto bytes = std::as_bytes(std::span(taps));
        text += fmt::format(", {} {}", name, hash_bytes(bytes.data(), std::ssize(bytes)));
    };
    add("taps", convolution_.row_taps);
    add("taps", convolution_.column_taps);
    if (convolution_.has_depth()) {
        add("depth taps", convolution_.depth_taps);
    }
    return text;
}

StreamShape ConvolveJob::shape() const { return shape_; }

std::int64_t ConvolveJob::rows_per_line() const {
    return convolution_.channels > 1 ? convolution_.columns / convolution_.channels : 1;
}

RowBlock ConvolveJob::in_lines(const RowBlock& block) const {
    const std::int64_t line = rows_per_line();
    // Of a largest block the rows need not be whole lines.
    const auto lines = [line](std::int64_t rows) { return (rows + line - 1) / line; };
    return {block.frames, block.in_first / line, lines(block.in_rows), block.out_first / line,
            lines(block.out_rows)};
}

std::int64_t ConvolveJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    return convolve_scratch_bytes(backend, convolution_, in_lines(block));
}

void ConvolveJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                      const RunMemory& memory) const {
    const RowBlock lines = in_lines(block);
    std::visit(
        [&](auto& backend) { convolve(backend, convolution_, lines, in, out, memory.scratch); },
        queue);
}

std::unique_ptr<KindParameters> parse_convolve(TableReader& table) {
    std::optional<TapsChoice> row_taps = parse_taps(table, "row_taps");
    std::optional<TapsChoice> column_taps = parse_taps(table, "column_taps");
    const bool has_depth = table.has("depth_taps");
    std::optional<TapsChoice> depth_taps =
        has_depth ? parse_taps(table, "depth_taps") : std::nullopt;
    std::vector<std::string> names;
    names.reserve(boundaries.size());
    for (const auto& [name, meaning] : boundaries) {
        names.emplace_back(name);
    }
    const std::optional<std::size_t> boundary = table.choice("boundary", names);
    const std::optional<double> fill = table.number("fill");
    if (!row_taps || !column_taps || (has_depth && !depth_taps)) {
        return nullptr;
    }
    return std::make_unique<ConvolveParameters>(ConvolveKeys{
        std::move(*row_taps), std::move(*column_taps), std::move(depth_taps),
        boundary ? boundaries.at(*boundary).second : Boundary::reflect, fill.value_or(0)});
}

} // namespace runner
