// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/table_values.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <utility>

namespace runner {
namespace {

constexpr std::int64_t most_axes = 32; // of an HDF5 dataset

} // namespace

std::string filled_text(TableReader& table, std::string_view key) {
    const std::optional<std::string> text = table.text(key);
    if (text && text->empty()) {
        table.complain(key, "must not be empty");
    }
    return text.value_or("");
}

std::string required_text(TableReader& table, std::string_view key, const char* what_to_write) {
    if (!table.has(key)) {
        table.missing(key, what_to_write);
        return "";
    }
    return filled_text(table, key);
}

std::optional<ElementType> parse_type(TableReader& table, std::string_view key) {
    std::vector<std::string> names;
    names.reserve(all_element_types.size());
    for (const ElementType type : all_element_types) {
        names.emplace_back(name_of(type));
    }
    const std::optional<std::size_t> index = table.choice(key, names);
    return index ? std::optional(all_element_types.at(*index)) : std::nullopt;
}

void check_axes(TableReader& table, std::string_view key,
                const std::vector<std::int64_t>& extents) {
    const auto axes = static_cast<std::int64_t>(extents.size());
    if (axes < 1 || axes > most_axes) {
        table.complain(key, fmt::format("must have from 1 to {} elements, one an axis, got {}",
                                        most_axes, axes));
    }
}

std::optional<MemorySize> parse_memory(TableReader& table, std::string_view key, Share share) {
    const std::string wanted = std::string("a size like \"2GiB\"") +
                               (share == Share::allowed ? " or a share like \"80%\"" : "");
    const TableValue* value = table.value(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (std::holds_alternative<std::int64_t>(value->data)) {
        const std::optional<std::int64_t> bytes = table.integer(key, 1);
        return bytes ? std::optional(MemorySize{*bytes, 0}) : std::nullopt;
    }
    const auto* text = std::get_if<std::string>(&value->data);
    if (text == nullptr) {
        table.complain(key, "expected " + wanted + ", got " + type_name(*value));
        return std::nullopt;
    }
    const std::optional<MemorySize> size = parse_memory_size(*text);
    if (!size || (size->fraction != 0 && share == Share::none)) {
        table.complain(key, "expected " + wanted +
                                " (units B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), got " +
                                quoted_text(*text));
        return std::nullopt;
    }
    return size;
}

std::optional<std::int64_t> parse_count(TableReader& table, std::string_view key,
                                        std::int64_t most) {
    const TableValue* value = table.value(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (const auto* text = std::get_if<std::string>(&value->data)) {
        if (*text != "auto") {
            table.complain(key,
                           "expected \"auto\" or an integer, got a string, " + quoted_text(*text));
        }
        return std::nullopt;
    }
    if (!std::holds_alternative<std::int64_t>(value->data)) {
        table.complain(key, "expected \"auto\" or an integer, got " + type_name(*value));
        return std::nullopt;
    }
    return table.integer(key, 1, most);
}

void refuse_beside_batch(TableReader& table, std::initializer_list<std::string_view> keys,
                         const std::string& why) {
    for (const std::string_view key : keys) {
        if (table.has(key)) {
            table.complain(key, why + ": remove this key, or the table [batch]");
        }
    }
}

double parse_seconds(TableReader& table, std::string_view key, double otherwise) {
    const std::optional<double> seconds = table.number(key);
    if (seconds && *seconds < 0) {
        table.complain(key, "must be 0 or more, got " + toml_text(*seconds));
    }
    return seconds.value_or(otherwise);
}

std::optional<std::int64_t> checked_byte_count(const ArrayInfo& array) {
    try {
        return byte_count(array);
    } catch (const Error&) {
        return std::nullopt; // past 63 bits
    }
}

} // namespace runner
