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

} // namespace

std::optional<FieldChoice> parse_field(TableReader& table, const FieldRole& role) {
    const TableValue* value = table.value(role.key);
    if (value == nullptr) {
        return FieldSource{};
    }
    if (std::holds_alternative<TableEntries>(value->data)) {
        std::optional<TableReader> reader = table.table(role.key);
        FieldSource source;
        source.file = name_under(*reader, "file");
        source.dataset = name_under(*reader, "dataset");
        if (source.file && !source.dataset) {
            reader->missing("dataset", "dataset = \"/" + std::string(role.key) +
                                           "s\", the place of the images in the file");
        }
        const std::optional<std::size_t> reduce =
            reader->choice("reduce", {reduce_names.begin(), reduce_names.end()});
        source.reduce = static_cast<Reduce>(reduce.value_or(0));
        reader->finish();
        return source;
    }
    if (!std::holds_alternative<double>(value->data) &&
        !std::holds_alternative<std::int64_t>(value->data)) {
        table.complain(role.key,
                       std::string("expected ") + field_form + ", got " + type_name(*value));
        return std::nullopt;
    }
    const std::optional<double> number = table.number(role.key);
    return number ? std::optional<FieldChoice>(*number) : std::nullopt;
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
