// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/bin/bin_job.hpp"

#include "base/error.hpp"
#include "jobs/input_errors.hpp"
#include "jobs/keys.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/elements/invalid.hpp"

#include <array>
#include <span>
#include <utility>

namespace runner {
namespace {

constexpr std::int64_t most_factor = 65536;

/// [bin].
struct BinKeys {
    Extents3 factors = {1, 1, 1};
    Bin::Value value = Bin::Value::mean;
    BinEdge edge = BinEdge::drop;
};

std::string wrong_factors(const Extents3& factors, std::span<const std::int64_t> written) {
    return *std::max_element(factors.begin(), factors.end()) <= most_factor
               ? ""
               : "must be at most " + std::to_string(most_factor) + ", got " + toml_text(written);
}

const KeyList<BinKeys>& bin_list() {
    static const KeyList<BinKeys> list({
        key<BinKeys>("factors", &BinKeys::factors,
                     extents_form("each from 1 to " + std::to_string(most_factor), wrong_factors),
                     "extents of a block, `[z, y, x]` or `[y, x]`")
            .required("[z, y, x] or [y, x], as [1, 2, 2]")
            .sample("[1, 2, 2]"),
        key<BinKeys>("value", &BinKeys::value, choice_form<Bin::Value>({"mean", "sum"}),
                     "what a block becomes"),
        key<BinKeys>("edge", &BinKeys::edge, choice_form<BinEdge>({"drop", "partial"}),
                     "what becomes of blocks that are not whole")
            .detail("A `partial` block is made of the elements that there are"),
    });
    return list;
}

void check_input(const ArrayInfo& input, std::size_t axes) {
    if (input.shape.size() < axes) {
        throw Error(ExitCode::input, {"bin needs more axes", "input.dataset",
                                      "its shape is " + shape_text(input.shape) +
                                          ", and it takes " + std::to_string(axes),
                                      "Choose another dataset, or fewer bin.factors"});
    }
    refuse_empty(input.shape, "Choose another dataset");
}

void check_blocks(const Bin& bin) {
    if (bin.out_layers() == 0 || bin.out_rows() == 0 || bin.out_columns() == 0) {
        const std::array<std::int64_t, 3> extents = {bin.layers, bin.rows, bin.columns};
        throw Error(ExitCode::usage,
                    {"no whole block fits", "bin.factors",
                     "they are " + toml_text(std::span<const std::int64_t>(bin.factors)) +
                         " and the input's extents " +
                         toml_text(std::span<const std::int64_t>(extents)),
                     "Write smaller factors, or edge = \"partial\""});
    }
}

class BinParameters : public ListedParameters<BinKeys> {
  public:
    using ListedParameters::ListedParameters;

    Invalid invalid() const override { return Invalid::heeds; }

    std::unique_ptr<Job> make(const JobInput& input,
                              std::optional<ElementType> output_type) const override {
        std::vector<std::int64_t> axes = input.array.shape;
        Bin bin;
        bin.factors = keys().factors;
        const std::size_t frame_axes = bin.factors[0] > 1 ? 3 : 2;
        const int channels = input.channels.value_or(1);
        const bool colour = channels > 1 && axes.size() > 2 && axes.back() == channels;
        check_input(input.array, frame_axes + (colour ? 1 : 0));
        const auto take_last = [&axes] {
            const std::int64_t extent = axes.back();
            axes.pop_back();
            return extent;
        };
        bin.channels = colour ? static_cast<int>(take_last()) : 1;
        bin.columns = take_last();
        bin.rows = take_last();
        bin.layers = frame_axes == 3 ? take_last() : 1;
        bin.value = keys().value;
        bin.edge = keys().edge;
        bin.in_type = input.array.type;
        bin.out_type = output_type.value_or(bin.value == Bin::Value::sum ? ElementType::float64
                                                                         : input.array.type);
        bin.invalid = input.invalid;
        check_blocks(bin);
        return std::make_unique<BinJob>(bin, axes);
    }
};

} // namespace

BinJob::BinJob(const Bin& bin, const std::vector<std::int64_t>& leading) : bin_(bin) {
    const std::int64_t line = rows_per_line();
    const std::int64_t samples = bin_.columns * bin_.channels / line;
    const std::int64_t out_line = bin_.channels > 1 ? bin_.out_columns() : 1;
    std::vector<std::int64_t> out = leading;
    if (bin_.factors[0] > 1) {
        out.push_back(bin_.out_layers());
    }
    out.push_back(bin_.out_rows());
    out.push_back(bin_.out_columns());
    if (bin_.channels > 1) {
        out.push_back(bin_.channels);
    }
    shape_.output = {bin_.out_type, std::move(out)};
    shape_.frames = checked_product(leading);
    shape_.rows = bin_.layers * bin_.rows * line;
    shape_.in_row_bytes = samples * size_of(bin_.in_type);
    shape_.out_row_bytes = bin_.out_columns() * bin_.channels / out_line * size_of(bin_.out_type);
    const bool layers = bin_.factors[0] > 1;
    shape_.made.layer = (layers ? bin_.factors[0] * bin_.rows : bin_.factors[1]) * line;
    shape_.made.each = (layers ? bin_.out_rows() : 1) * out_line;
    shape_.made.last = (layers ? bin_.out_layers() : bin_.out_rows()) - 1;
}

std::optional<double> BinJob::invalid() const {
    return bin_.invalid ? std::optional(invalid_value(bin_.out_type, *bin_.invalid)) : std::nullopt;
}

std::vector<Likeness> BinJob::likeness() const {
    Likeness like = Likeness::in_place(bin_.value == Bin::Value::mean ? Likeness::Values::alike
                                                                      : Likeness::Values::scaled,
                                       shape_.output.shape);
    const std::size_t axes = like.axes.size() - (bin_.channels > 1 ? 1 : 0);
    like.axes[axes - 1].block = bin_.factors[2];
    like.axes[axes - 2].block = bin_.factors[1];
    if (bin_.factors[0] > 1) {
        like.axes[axes - 3].block = bin_.factors[0];
    }
    return {like};
}

void BinJob::run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
                 const RunMemory& /*memory*/) const {
    const std::int64_t line = rows_per_line();
    const RowBlock lines{block.frames, block.in_first / line, block.in_rows / line,
                         block.out_first / line, block.out_rows / line};
    std::visit([&](auto& backend) { bin(backend, bin_, lines, in, out); }, queue);
}

std::vector<KeyText> bin_keys() { return bin_list().texts(); }

std::unique_ptr<KindParameters> parse_bin(TableReader& table) {
    return read_parameters<BinParameters>(bin_list(), table);
}

} // namespace runner
