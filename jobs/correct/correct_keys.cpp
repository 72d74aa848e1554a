// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/correct/correct_keys.hpp"

#include "jobs/toml_text.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace runner {
namespace {

/// Above 0 once it is a float32.
Form<double> floor_form() {
    Form<double> form = number_form();
    form.range = "above 0 in float32";
    form.read = [](TableReader& table, const std::string& key) {
        std::optional<double> value = table.number(key);
        if (value &&
            (!(static_cast<float>(*value) > 0) || std::isinf(static_cast<float>(*value)))) {
            table.complain(key, "must be above 0 in float32, got " + toml_text(*value));
            value.reset();
        }
        return value;
    };
    return form;
}

/// A number, or NaN for "invalid".
Form<double> dead_form() {
    Form<double> form = number_form();
    form.type = "number or `\"invalid\"`";
    form.annotation = "float | Literal[\"invalid\"]";
    form.read = [number = form.read](TableReader& table,
                                     const std::string& key) -> std::optional<double> {
        const auto* text = std::get_if<std::string>(&table.value(key)->data);
        return text != nullptr && *text == "invalid" ? std::numeric_limits<double>::quiet_NaN()
                                                     : number(table, key);
    };
    form.text = [number = form.text](const double& value) {
        return std::isnan(value) ? "\"invalid\"" : number(value);
    };
    return form;
}

Form<std::array<double, 2>> clip_form() {
    using Ends = std::array<double, 2>;
    return {"two numbers", "`[low, high]`", "Sequence[float]",
            [](TableReader& table, const std::string& key) -> std::optional<Ends> {
                const std::optional<std::vector<double>> ends = table.numbers(key);
                if (ends && (ends->size() != 2 || !((*ends)[0] <= (*ends)[1]))) {
                    table.complain(key, "expected [low, high], got " +
                                            toml_text(std::span<const double>(*ends)));
                    return std::nullopt;
                }
                return ends ? std::optional(Ends{(*ends)[0], (*ends)[1]}) : std::nullopt;
            },
            [](const Ends& ends) { return toml_text(std::span<const double>(ends)); }};
}

} // namespace

const KeyList<CorrectKeys>& correct_list() {
    using Keys = CorrectKeys;
    static const KeyList<Keys> list({
        field_key<Keys>(dark_role, &Keys::dark)
            .sample("{ dataset = \"/entry/darks\", reduce = \"mean\" }"),
        field_key<Keys>(flat_role, &Keys::flat)
            .sample("{ dataset = \"/entry/flats\", reduce = \"median\" }"),
        key<Keys>("dead", &Keys::dead, dead_form(),
                  "the value where the flat field is not above the dark field")
            .detail("`\"invalid\"` makes these elements invalid: NaN")
            .sample("0", KeyText::Shown::commented),
        key<Keys>("clip", &Keys::clip, clip_form(), "the range of the values")
            .sample("[0.0, 1.2]", KeyText::Shown::commented),
        key<Keys>("negative_log", &Keys::negative_log, boolean_form(),
                  "whether the result is the negative logarithm of the values")
            .sample("true", KeyText::Shown::commented),
        key<Keys>("floor", &Keys::floor, floor_form(),
                  "smaller values are raised to this before the logarithm")
            .only_with("negative_log = true", [](const Keys& keys) { return keys.negative_log; })
            .sample("1e-6", KeyText::Shown::commented),
        key<Keys>("air", &Keys::air, air_form(),
                  "where the beam meets nothing: its mean brings the flat field to each frame")
            .sample("{ columns = [0, 20] }", KeyText::Shown::commented),
    });
    return list;
}

} // namespace runner
