// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/job_sections.hpp"

#include "base/format.hpp"
#include "base/rounding.hpp"
#include "io/formats/rows_format.hpp"
#include "jobs/toml_text.hpp"
#include "kernels/patterns/patterns.hpp"
#include "runner/job_file/table_values.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace runner {
namespace {

std::optional<GenerateRequest> parse_generate(TableReader& input) {
    std::optional<TableReader> table = input.table("generate");
    if (!table) {
        return std::nullopt;
    }
    GenerateRequest request;
    if (!table->has("pattern")) {
        table->missing("pattern", "pattern = \"noise\"; there are " + pattern_names());
    } else if (const std::optional<std::size_t> index =
                   table->choice("pattern", generate_patterns())) {
        request.pattern = generate_patterns()[*index];
    }
    const std::optional<Pattern> pattern = pattern_named(request.pattern);
    const std::optional<std::vector<std::int64_t>> usual =
        pattern ? usual_shape(*pattern) : std::nullopt;
    if (!table->has("dtype") && !(pattern && is_sand_pattern(*pattern))) {
        table->missing("dtype", "dtype = \"float32\" or another element type");
    }
    const std::optional<ElementType> type = parse_type(*table, "dtype");
    request.type = type.value_or(ElementType::uint8);
    if (!table->has("shape") && usual) {
        request.shape = *usual;
    } else if (!table->has("shape")) {
        table->missing("shape", "shape = [1024, 1024] or other extents, the last running fastest");
    } else if (std::optional<std::vector<std::int64_t>> shape = table->integers("shape", 1)) {
        request.shape = std::move(*shape);
        check_axes(*table, "shape", request.shape);
        if (!checked_byte_count({request.type, request.shape})) {
            table->complain("shape",
                            "the bytes of " + shape_text(request.shape) + " pass 2^63 - 1");
        }
    }
    if (const std::optional<std::int64_t> seed = table->integer("seed", 0)) {
        request.seed = static_cast<std::uint64_t>(*seed);
    }
    if (pattern && takes_counts(*pattern)) {
        request.counts = table->number("counts").value_or(usual_counts);
        if (!(request.counts > 0 && request.counts <= most_counts)) {
            table->complain("counts",
                            "must be above 0 and at most 1e9, got " + toml_text(request.counts));
        }
    }
    table->finish();
    return request;
}

std::optional<DenseLayout> parse_raw(TableReader& input) {
    std::optional<TableReader> table = input.table("raw");
    if (!table) {
        return std::nullopt;
    }
    DenseLayout raw;
    raw.storage = "raw";
    if (!table->has("dtype")) {
        table->missing("dtype", "dtype = \"uint16\" or another element type");
    } else if (const std::optional<ElementType> type = parse_type(*table, "dtype")) {
        raw.array.type = *type;
    }
    if (!table->has("shape")) {
        table->missing("shape", "shape = [512, 1024, 1024], the last running fastest");
    } else if (std::optional<std::vector<std::int64_t>> shape = table->integers("shape", 1)) {
        raw.array.shape = std::move(*shape);
        check_axes(*table, "shape", raw.array.shape);
        if (!checked_byte_count(raw.array)) {
            table->complain("shape",
                            "the bytes of " + shape_text(raw.array.shape) + " pass 2^63 - 1");
        }
    }
    raw.offset = table->integer("offset", 0).value_or(0);
    if (table->boolean("big_endian").value_or(false)) {
        raw.bytes = DenseLayout::Bytes::big_endian;
    }
    table->finish();
    return raw;
}

/// The number of invalid elements: one that float64 tells from its neighbours, or the greatest.
std::optional<double> invalid_number(TableReader& table, const std::string& key) {
    const TableValue* const given = table.value(key);
    const auto* const whole = given == nullptr ? nullptr : std::get_if<std::int64_t>(&given->data);
    const std::optional<double> number = table.number(key);
    if (whole != nullptr && !exact_float64(*whole)) {
        table.complain(key, fmt::format("is {}, which float64 does not tell from its neighbours; "
                                        "the nearest that it does is {:.0f}",
                                        *whole, *number));
    }
    return number;
}

/// A mask, or how the file's mask is written.
JobFile::Input::Invalid parse_mask(TableReader table) {
    using Rule = JobFile::Input::Invalid::Rule;
    JobFile::Input::Invalid invalid;
    if (table.has("file")) {
        invalid.mask_file = filled_text(table, "file");
        invalid.rule = Rule::mask;
    }
    if (const RowsFormat* const format = rows_format_of(invalid.mask_file)) {
        invalid.mask_dataset = format->dataset;
    }
    if (table.has("dataset")) {
        invalid.mask_dataset = filled_text(table, "dataset");
        invalid.rule = Rule::mask;
    }
    invalid.value = invalid_number(table, "value");
    table.finish();
    return invalid;
}

/// A word, a number or a table.
JobFile::Input::Invalid parse_invalid(TableReader& table) {
    using Rule = JobFile::Input::Invalid::Rule;
    JobFile::Input::Invalid invalid;
    const auto& given = table.value("invalid")->data;
    if (std::holds_alternative<TableEntries>(given)) {
        return parse_mask(*table.table("invalid"));
    }
    if (const auto* const text = std::get_if<std::string>(&given)) {
        if (!text->empty() && text->find_first_not_of("0123456789") == std::string::npos) {
            table.complain("invalid",
                           "is " + *text +
                               ", and a number of a job file is at most 2^63 - 1; name a "
                               "mask of such elements, as { dataset = \"/mask\" }");
        } else if (const auto index = table.choice("invalid", {"file", "none", "nan"})) {
            invalid.rule = static_cast<Rule>(*index);
        }
    } else if (const auto* real = std::get_if<double>(&given); real && std::isnan(*real)) {
        invalid.rule = Rule::nan; // TOML's own number, as Python's dicts have it
    } else if (const std::optional<double> number = invalid_number(table, "invalid")) {
        invalid = {Rule::number, *number};
    }
    return invalid;
}

} // namespace

JobFile::Input parse_input(TableReader& top, std::string_view usual_dataset, FileNames names) {
    JobFile::Input input;
    if (!top.has("input")) {
        if (names == FileNames::batch) {
            input.dataset = usual_dataset;
            return input;
        }
        top.missing("input", "a table [input] with file and dataset");
        return input;
    }
    std::optional<TableReader> table = top.table("input");
    if (!table) {
        return input;
    }
    if (names == FileNames::own) {
        input.file = required_text(*table, "file", "file = \"data/image.h5\", an HDF5 file");
    } else {
        refuse_beside_batch(*table, {"file", "generate"}, "batch.inputs names the inputs");
    }
    input.raw = parse_raw(*table);
    input.dataset = usual_dataset;
    if (const RowsFormat* const format = rows_format_of(input.file)) {
        input.dataset = format->dataset;
    } else if (input.raw) {
        input.dataset = "/data";
    }
    if (table->has("dataset") || (input.dataset.empty() && table->has("generate"))) {
        input.dataset =
            required_text(*table, "dataset", "dataset = \"/image\", its place in the file");
    }
    if (names == FileNames::own) {
        input.generate = parse_generate(*table);
    }
    input.selection = parse_input_selection(*table);
    if (table->boolean("allow_external").value_or(false)) {
        input.rules.outside = InputRules::Outside::anywhere;
    }
    constexpr std::array missing = {InputRules::Missing::fail, InputRules::Missing::skip,
                                    InputRules::Missing::fill};
    input.rules.missing =
        missing.at(table->choice("missing", {"fail", "skip", "fill"}).value_or(0));
    if (const auto size = parse_memory(*table, "max_logical_bytes", Share::none)) {
        input.rules.max_logical_bytes = size->bytes;
    }
    input.axes = parse_axis_keys(*table);
    input.colour = table->boolean("colour");
    if (!input.axes.letters.empty()) {
        const bool samples = input.axes.letters.ends_with('s');
        if (input.colour.value_or(samples) != samples) {
            table->complain("colour", std::string("contradicts input.axes, whose last letter ") +
                                          (samples ? "is s" : "is not s"));
        }
        input.colour = samples;
    }
    if (table->has("invalid")) {
        input.invalid = parse_invalid(*table);
    }
    table->finish();
    return input;
}

} // namespace runner
