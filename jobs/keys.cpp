// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/keys.hpp"

#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <span>

namespace runner {
namespace {

/// "`mean` or `sum`", "`a`, `b` or `c`".
std::string words_text(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + ("`" + words[i] + "`");
    }
    return text;
}

std::string literal_annotation(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + toml_text(word);
    }
    return "Literal[" + text + "]";
}

std::string range_of(std::int64_t least, std::int64_t most) {
    constexpr std::int64_t countless = std::int64_t{1} << 60;
    if (most < countless) {
        return fmt::format("{} to {}", least, most);
    }
    return least == std::numeric_limits<std::int64_t>::min() ? ""
                                                             : fmt::format("{} or more", least);
}

} // namespace

Form<bool> boolean_form() {
    return {"boolean", "", "bool",
            [](TableReader& table, const std::string& key) { return table.boolean(key); },
            [](const bool& value) { return std::string(value ? "true" : "false"); }};
}

Form<std::int64_t> integer_form(std::int64_t least, std::int64_t most) {
    return {"integer", range_of(least, most), "int",
            [least, most](TableReader& table, const std::string& key) {
                return table.integer(key, least, most);
            },
            [](const std::int64_t& value) { return std::to_string(value); }};
}

Form<double> number_form() {
    return {"number", "", "float",
            [](TableReader& table, const std::string& key) { return table.number(key); },
            [](const double& value) { return toml_text(value); }};
}

Form<double> number_from_zero_form() {
    Form<double> form = number_form();
    form.range = "0 or more";
    form.read = [](TableReader& table, const std::string& key) {
        std::optional<double> value = table.number(key);
        if (value && *value < 0) {
            table.complain(key, "must be 0 or more, got " + toml_text(*value));
            value.reset();
        }
        return value;
    };
    return form;
}

namespace {

/// The extents as they are written; one number is for y and x.
std::optional<std::vector<std::int64_t>> written_extents(TableReader& table,
                                                         const std::string& key) {
    if (std::holds_alternative<std::int64_t>(table.value(key)->data)) {
        const std::optional<std::int64_t> one = table.integer(key, 1);
        return one ? std::optional(std::vector<std::int64_t>(2, *one)) : std::nullopt;
    }
    return table.integers(key, 1);
}

} // namespace

Form<Extents3> extents_form(
    std::string range,
    std::function<std::string(const Extents3&, std::span<const std::int64_t> written)> check) {
    return {
        "integers", std::move(range), "int | Sequence[int]",
        [check = std::move(check)](TableReader& table,
                                   const std::string& key) -> std::optional<Extents3> {
            const std::optional<std::vector<std::int64_t>> written = written_extents(table, key);
            if (!written) {
                return std::nullopt;
            }
            if (written->size() != 2 && written->size() != 3) {
                table.complain(key, "expected [z, y, x], [y, x] or one number for y and x, got " +
                                        std::to_string(written->size()) + " numbers");
                return std::nullopt;
            }
            Extents3 extents = {1, 1, 1};
            std::copy(written->rbegin(), written->rend(), extents.rbegin());
            if (const std::string wrong = check(extents, *written); !wrong.empty()) {
                table.complain(key, wrong);
                return std::nullopt;
            }
            return extents;
        },
        [](const Extents3& value) { return toml_text(std::span<const std::int64_t>(value)); }};
}

Form<std::size_t> word_form(const std::vector<std::string>& words) {
    return {
        "string", words_text(words), literal_annotation(words),
        [words](TableReader& table, const std::string& key) { return table.choice(key, words); },
        [words](const std::size_t& value) { return toml_text(words.at(value)); }};
}

} // namespace runner
