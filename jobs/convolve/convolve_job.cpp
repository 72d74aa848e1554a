// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/convolve/convolve_job.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "io/files/hash.hpp"
#include "jobs/boundary_keys.hpp"
#include "jobs/convolve/taps.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/convolve/convolve_valid.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace runner {
namespace {

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
    refuse_empty(input.shape);
}

/// How many channels the last axis is, which is an axis of the image unless the file marks it.
int channels_of(const JobInput& input) {
    const int channels = input.channels.value_or(1);
    return input.array.shape.size() >= 3 && input.array.shape.back() == channels ? channels : 1;
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

/// `sigma`, in place of the taps, which the canonical text has for it.
Key<ConvolveKeys> sigma_key() {
    const auto read = [](TableReader& table, ConvolveKeys& keys) {
        for (const std::string taps : {"row_taps", "column_taps", "depth_taps"}) {
            if (table.has(taps)) {
                table.complain("sigma", "stands for all taps; leave it out, or " + taps);
                return false;
            }
        }
        const std::optional<std::vector<TapsChoice>> taps = parse_sigmas(table, "sigma");
        if (!taps) {
            return false;
        }
        keys.row_taps = taps->back();
        keys.column_taps = taps->at(taps->size() - 2);
        if (taps->size() == 3) {
            keys.depth_taps = taps->front();
        }
        return true;
    };
    KeyText text{"sigma", "number or numbers", "a number, `[y, x]` or `[z, y, x]`", "elements"};
    text.meaning = "Gaussians in place of all taps";
    text.detail = "A number is for rows and columns; 0 leaves an axis as it is";
    text.annotation = "float | Sequence[float]";
    return Key<ConvolveKeys>(std::move(text), read,
                             [](const ConvolveKeys&) { return std::optional<std::string>(); });
}

const KeyList<ConvolveKeys>& convolve_list() {
    using Keys = ConvolveKeys;
    static const KeyList<Keys> list({
        key<Keys>("row_taps", &Keys::row_taps, taps_form(), "along each row")
            .required_without("sigma", taps_to_write)
            .sample("{ gaussian = { sigma = 2.0, radius = 8 } }"),
        key<Keys>("column_taps", &Keys::column_taps, taps_form(), "down each column")
            .required_without("sigma", taps_to_write)
            .sample("[0.25, 0.5, 0.25]"),
        key<Keys>("depth_taps", &Keys::depth_taps, taps_form(),
                  "across layers, along the axis before rows")
            .detail("Without them images are independent")
            .sample("[0.25, 0.5, 0.25]", KeyText::Shown::commented),
        sigma_key().sample("2.0", KeyText::Shown::commented),
        boundary_key<Keys>(),
        fill_key<Keys>(),
    });
    return list;
}

class ConvolveParameters : public ListedParameters<ConvolveKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::vector<InputDataset> inputs() const override {
        std::vector<InputDataset> files;
        const auto add = [&](const TapsChoice& choice) {
            if (const auto* taps = std::get_if<FileTaps>(&choice)) {
                files.push_back({taps->file, taps->dataset});
            }
        };
        add(keys().row_taps);
        add(keys().column_taps);
        if (keys().depth_taps) {
            add(*keys().depth_taps);
        }
        return files;
    }

    std::unique_ptr<Job> make(const JobInput& given,
                              std::optional<ElementType> output_type) const override {
        const ArrayInfo& input = given.array;
        const int channels = channels_of(given);
        check_input(input, channels, keys().depth_taps.has_value());
        Convolution convolution;
        convolution.in_type = input.type;
        convolution.out_type = output_type.value_or(input.type);
        convolution.channels = channels;
        const std::size_t axes = input.shape.size() - (channels > 1 ? 1 : 0);
        convolution.frame_rows = input.shape[axes - 2];
        convolution.columns = input.shape[axes - 1] * channels;
        convolution.row_taps = make_taps(keys().row_taps, given.files);
        convolution.column_taps = make_taps(keys().column_taps, given.files);
        if (keys().depth_taps) {
            convolution.layers = input.shape[axes - 3];
            convolution.depth_taps = make_taps(*keys().depth_taps, given.files);
        }
        convolution.boundary = keys().boundary;
        convolution.fill = keys().fill;
        check_rounding(convolution);
        return std::make_unique<ConvolveJob>(std::move(convolution), input, given.invalid);
    }
};

} // namespace

ConvolveJob::ConvolveJob(Convolution convolution, const ArrayInfo& input,
                         std::optional<double> invalid)
    : convolution_(std::move(convolution)), in_invalid_(invalid) {
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
    // The rows of a largest block need not be whole lines.
    const auto lines = [line](std::int64_t rows) { return (rows + line - 1) / line; };
    return {block.frames, block.in_first / line, lines(block.in_rows), block.out_first / line,
            lines(block.out_rows)};
}

std::optional<double> ConvolveJob::invalid() const {
    return in_invalid_ ? std::optional(invalid_value(convolution_.out_type, *in_invalid_))
                       : std::nullopt;
}

double ConvolveJob::operations(const RowBlock& block) const {
    const double one = convolve_operations(convolution_, in_lines(block));
    return in_invalid_ ? 2 * one : one; // of values and of weights
}

std::int64_t ConvolveJob::scratch_bytes(Backend backend, const RowBlock& block) const {
    return in_invalid_ ? ValidScratch(backend, convolution_, in_lines(block)).bytes()
                       : convolve_scratch_bytes(backend, convolution_, in_lines(block));
}

std::int64_t ConvolveJob::thread_bytes(const RowBlock& block) const {
    if (!in_invalid_) {
        return convolve_thread_bytes(convolution_, in_lines(block));
    }
    return std::max(convolve_thread_bytes(of_values(convolution_), in_lines(block)),
                    convolve_thread_bytes(of_weights(convolution_), in_lines(block)));
}

void ConvolveJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                      const RunMemory& memory) const {
    const RowBlock lines = in_lines(block);
    std::visit(
        [&](auto& backend) {
            if (in_invalid_) {
                convolve_valid(backend, ValidConvolution{convolution_, *in_invalid_}, lines, in,
                               out, memory.scratch);
            } else {
                convolve(backend, convolution_, lines, in, out, memory.scratch);
            }
        },
        queue);
}

std::vector<KeyText> convolve_keys() { return convolve_list().texts(); }

std::unique_ptr<KindParameters> parse_convolve(TableReader& table) {
    return read_parameters<ConvolveParameters>(convolve_list(), table);
}

} // namespace runner
