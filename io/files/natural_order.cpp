// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/natural_order.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace runner {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t end_of_digits(std::string_view text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) {
        ++at;
    }
    return at;
}

/// The digits without leading zeros.
std::string_view digits(std::string_view text, std::size_t begin, std::size_t end) {
    while (begin + 1 < end && text[begin] == '0') {
        ++begin;
    }
    return text.substr(begin, end - begin);
}

/// Below, equal to or above 0 as strcmp, of numbers of any length.
int compare_numbers(std::string_view a, std::string_view b) {
    return a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
}

struct NumberedName {
    std::string before;
    std::string behind;
    std::int64_t number = 0;
};

/// The name without its digits at [begin, end) and these as a number.
std::optional<NumberedName> split(const std::string& name, std::size_t begin) {
    const std::size_t end = end_of_digits(name, begin);
    NumberedName split{name.substr(0, begin), name.substr(end), 0};
    const auto [stop, failure] =
        std::from_chars(name.data() + begin, name.data() + end, split.number);
    return failure == std::errc() && begin < end ? std::optional(split) : std::nullopt;
}

/// Where the digits begin in which the two differ; npos where they differ elsewhere too.
std::size_t differing_digits(const std::string& a, const std::string& b) {
    std::size_t at = static_cast<std::size_t>(
        std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    while (at > 0 && is_digit(a[at - 1])) {
        --at;
    }
    return at < a.size() && at < b.size() && is_digit(a[at]) && is_digit(b[at]) ? at
                                                                                : std::string::npos;
}

} // namespace

bool natural_less(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const std::size_t a_end = end_of_digits(a, i);
            const std::size_t b_end = end_of_digits(b, j);
            const int order = compare_numbers(digits(a, i, a_end), digits(b, j, b_end));
            if (order != 0) {
                return order < 0;
            }
            i = a_end;
            j = b_end;
        } else if (a[i] != b[j]) {
            return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
        } else {
            ++i;
            ++j;
        }
    }
    const std::size_t a_left = a.size() - i;
    const std::size_t b_left = b.size() - j;
    return a_left != b_left ? a_left < b_left : a < b;
}

std::string first_gap(const std::vector<std::string>& names) {
    if (names.size() < 3) {
        return "";
    }
    const std::size_t at = differing_digits(names[0], names[1]);
    std::vector<std::int64_t> numbers;
    for (const std::string& name : names) {
        const auto first = at == std::string::npos ? std::nullopt : split(names[0], at);
        const auto here = first && at < name.size() ? split(name, at) : std::nullopt;
        if (!here || here->before != first->before || here->behind != first->behind) {
            return "";
        }
        numbers.push_back(here->number);
    }
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        step = std::min(step, numbers[i] - numbers[i - 1]);
    }
    for (std::size_t i = 1; i < numbers.size(); ++i) {
        if (step > 0 && numbers[i] - numbers[i - 1] != step) {
            return "nothing between " + names[i - 1] + " and " + names[i];
        }
    }
    return "";
}

} // namespace runner
