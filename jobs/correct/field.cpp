// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/field.hpp"

#include "jobs/correct/field_image.hpp"
#include "jobs/toml_text.hpp"

#include <array>
#include <cstddef>

namespace runner {
namespace {

/// In the order of the type's values.
constexpr std::array reduce_names = {"mean", "median", "none"};

/// A text under the key that is not empty.
std::optional<std::string> name_under(TableReader& table, std::string_view key) {
    std::optional<std::string> text = table.text(key);
    if (text && text->empty()) {
        table.complain(key, "must not be empty");
    }
    return text;
}

std::optional<FieldChoice> parse_field(TableReader& table, const std::string& key) {
    const TableValue* value = table.value(key);
    if (std::holds_alternative<TableEntries>(value->data)) {
        std::optional<TableReader> reader = table.table(key);
        FieldSource source;
        source.file = name_under(*reader, "file");
        source.dataset = name_under(*reader, "dataset");
        if (source.file && !source.dataset) {
            reader->missing("dataset",
                            "dataset = \"/" + key + "s\", the place of the images in the file");
        }
        const std::optional<std::size_t> reduce =
            reader->choice("reduce", {reduce_names.begin(), reduce_names.end()});
        source.reduce = static_cast<Reduce>(reduce.value_or(0));
        reader->finish();
        return source;
    }
    if (!std::holds_alternative<double>(value->data) &&
        !std::holds_alternative<std::int64_t>(value->data)) {
        table.complain(key,
                       std::string("expected ") + field_to_write + ", got " + type_name(*value));
        return std::nullopt;
    }
    const std::optional<double> number = table.number(key);
    return number ? std::optional<FieldChoice>(*number) : std::nullopt;
}

} // namespace

Form<FieldChoice> field_form() {
    return {"number or `{ file, dataset, reduce }`",
            "`reduce` is `mean`, `median` or `none`; without `file` the images are in the input's "
            "file",
            "float | Any | Mapping[str, Any]", parse_field,
            [](const FieldChoice& choice) { return field_text(choice).value_or(""); }};
}

std::optional<std::string> field_text(const FieldChoice& choice) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return toml_text(*number);
    }
    const auto& source = std::get<FieldSource>(choice);
    if (!source.dataset && source.reduce == Reduce::mean) {
        return std::nullopt;
    }
    std::string text = "{ ";
    if (source.file) {
        text += "file = " + toml_text(*source.file) + ", ";
    }
    if (source.dataset) {
        text += "dataset = " + toml_text(*source.dataset) + ", ";
    }
    return text + "reduce = \"" + reduce_names.at(static_cast<std::size_t>(source.reduce)) + "\" }";
}

Field make_field(const FieldChoice& choice, const FieldRole& role, const JobInput& input,
                 const std::vector<std::int64_t>& frame) {
    if (const auto* number = std::get_if<double>(&choice)) {
        return {static_cast<float>(*number), nullptr};
    }
    return {0, open_field_image(std::get<FieldSource>(choice), role, input, frame)};
}

} // namespace runner
