// SPDX-License-Identifier: BSD-3-Clause
#include "jobs/reduce/reduce_keys.hpp"

#include "jobs/toml_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <variant>

namespace runner {
namespace {

using Ends = std::array<double, 2>;

constexpr const char* over_remedy =
    "expected \"frame\" or names of axes, as [\"z\"] or [\"y\", \"x\"]";

/// "z" and "y, x": the names between commas.
std::vector<std::string> names_in(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    std::vector<std::string> names;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const std::size_t begin = std::min(part.find_first_not_of(blanks), part.size());
        names.emplace_back(part.substr(begin, part.find_last_not_of(blanks) + 1 - begin));
        if (comma == std::string_view::npos) {
            return names;
        }
        text.remove_prefix(comma + 1);
    }
}

std::optional<OverAxes> read_over(TableReader& table, const std::string& key) {
    const TableValue* value = table.value(key);
    OverAxes over;
    if (const auto* text = std::get_if<std::string>(&value->data)) {
        over.is_frame = *text == "frame";
        over.names = over.is_frame ? std::vector<std::string>() : names_in(*text);
    } else if (const auto* list = std::get_if<TableArray>(&value->data)) {
        for (const TableValue& each : *list) {
            const auto* name = std::get_if<std::string>(&each.data);
            over.names.push_back(name == nullptr ? "" : *name);
        }
    }
    const std::set<std::string> different(over.names.begin(), over.names.end());
    if (!over.is_frame && (over.names.empty() || different.contains(""))) {
        table.complain(key, over_remedy);
        return std::nullopt;
    }
    if (different.size() < over.names.size()) {
        table.complain(key, "names an axis twice");
        return std::nullopt;
    }
    return over;
}

std::string over_text(const OverAxes& over) {
    if (over.is_frame) {
        return "\"frame\"";
    }
    std::string text;
    for (const std::string& name : over.names) {
        text += (text.empty() ? "" : ", ") + toml_text(name);
    }
    return "[" + text + "]";
}

Form<OverAxes> over_form() {
    return {"strings or `\"frame\"`", "", "Sequence[str] | str", read_over, over_text};
}

Form<std::vector<double>> percentiles_form() {
    using Numbers = std::vector<double>;
    return {
        "numbers", "each from 0 to 100", "Sequence[float]",
        [](TableReader& table, const std::string& key) -> std::optional<Numbers> {
            std::optional<Numbers> numbers = table.numbers(key);
            if (!numbers) {
                return std::nullopt;
            }
            const bool are_right = std::all_of(numbers->begin(), numbers->end(), [](double each) {
                return each >= 0 && each <= 100;
            });
            if (!are_right || numbers->empty() || numbers->size() > Reduction::most_percentiles) {
                table.complain(key, "expected 1 to " + std::to_string(Reduction::most_percentiles) +
                                        " numbers from 0 to 100, got " +
                                        toml_text(std::span<const double>(*numbers)));
                return std::nullopt;
            }
            return numbers;
        },
        [](const Numbers& numbers) { return toml_text(std::span<const double>(numbers)); }};
}

Form<Ends> range_form() {
    return {"two numbers", "`[low, high]`", "Sequence[float]",
            [](TableReader& table, const std::string& key) -> std::optional<Ends> {
                const std::optional<std::vector<double>> ends = table.numbers(key);
                if (!ends) {
                    return std::nullopt;
                }
                if (ends->size() != 2 || !((*ends)[0] < (*ends)[1]) ||
                    !std::isfinite((*ends)[1] - (*ends)[0])) {
                    table.complain(key, "expected [low, high] with low below high, got " +
                                            toml_text(std::span<const double>(*ends)));
                    return std::nullopt;
                }
                return Ends{(*ends)[0], (*ends)[1]};
            },
            [](const Ends& ends) { return toml_text(std::span<const double>(ends)); }};
}

bool is_histogram(const ReduceKeys& keys) {
    return keys.operation == Reduction::Operation::histogram;
}
bool is_percentiles(const ReduceKeys& keys) {
    return keys.operation == Reduction::Operation::percentiles;
}

/// A key is there where its operation is, and only there.
bool belongs(TableReader& table, const std::string& key, bool is_wanted,
             const std::string& operation, const std::string& what_to_write) {
    const bool is_there = table.has(key);
    if (is_wanted && !is_there) {
        table.missing(key, what_to_write);
    } else if (!is_wanted && is_there) {
        table.complain(key, "belongs to operation = \"" + operation + "\"");
    }
    return is_wanted == is_there;
}

/// The bins and the range of a histogram, in full.
bool check_bins(TableReader& table, ReduceKeys& keys) {
    const bool bins = belongs(table, "bins", is_histogram(keys), "histogram",
                              "the number of bins, as bins = 256");
    const bool from = belongs(table, "from", is_histogram(keys), "histogram",
                              "the range of the bins, as from = [0, 65536]");
    return bins && from;
}

} // namespace

const std::vector<std::string>& operation_words() {
    static const std::vector<std::string> words = {"mean", "sum",    "min",       "max",
                                                   "std",  "median", "histogram", "percentiles"};
    return words;
}

const KeyList<ReduceKeys>& reduce_list() {
    using Keys = ReduceKeys;
    static const KeyList<Keys> list({
        key<Keys>("operation", &Keys::operation,
                  choice_form<Reduction::Operation>(operation_words()), "what is computed")
            .required("mean, sum, min, max, std, median, histogram or percentiles")
            .sample("\"mean\""),
        key<Keys>("over", &Keys::over, over_form(), "the axes that are reduced")
            .detail("`[\"z\"]` projects a volume along z, `[\"frame\"]` makes one of all frames, "
                    "and `\"frame\"` or `[\"y\", \"x\"]` makes a result of each frame")
            .required("\"frame\" or names of axes, as [\"z\"]")
            .sample("[\"y\", \"x\"]"),
        key<Keys>("percentiles", &Keys::percentiles, percentiles_form(),
                  "of operation `percentiles`: which ones")
            .only_where(is_percentiles)
            .then([](TableReader& table, Keys& keys) {
                return belongs(table, "percentiles", is_percentiles(keys), "percentiles",
                               "the percentiles, as percentiles = [1, 99]");
            })
            .sample("[1.0, 99.0]", KeyText::Shown::commented),
        key<Keys>("bins", &Keys::bins, integer_form(1, Reduction::most_bins),
                  "of operation `histogram`: the number of bins")
            .only_where(is_histogram)
            .sample("256", KeyText::Shown::commented),
        key<Keys>("from", &Keys::from, range_form(),
                  "of operation `histogram`: where the first bin begins and the last ends")
            .unit("units of the input")
            .only_where(is_histogram)
            .then(check_bins)
            .sample("[0.0, 65536.0]", KeyText::Shown::commented),
    });
    return list;
}

} // namespace runner
