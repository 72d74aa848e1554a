// SPDX-License-Identifier: BSD-3-Clause
#include "runner/trial/choice/bisection.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "jobs/toml_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace runner::trial {
namespace {

constexpr double most_whole = 9007199254740992.0; // 2^53: float64 has every integer up to it
constexpr double finest_share = 1.0 / 32;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
    throw Error(ExitCode::usage, {"cannot halve", "--halve " + text, why,
                                  "Write KEY=low..high, as --halve denoise.strength=0.2..0.8"});
}

double end_of(std::string_view word, const std::string& text) {
    double value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failure != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) {
        refuse(text, quoted_text(word) + " is not a finite number");
    }
    return value;
}

bool is_integer(std::string_view word) {
    return word.find_first_not_of("-0123456789") == std::string_view::npos;
}

/// As few decimals as tell values a 64th of the width apart.
double rounded(double value, double width) {
    const double scale = std::pow(10.0, std::ceil(std::log10(2 / (finest_share * width))));
    const double short_value = std::round(value * scale) / scale;
    return std::isfinite(short_value) ? short_value : value;
}

} // namespace

std::string HalvedKey::text(double value) const {
    if (is_whole) {
        return fmt::format("{:.0f}", value);
    }
    return toml_text(value);
}

HalvedKey parse_halved_key(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::size_t dots = text.find("..", std::min(equals, text.size()));
    if (equals == 0 || equals == std::string::npos || dots == std::string::npos) {
        refuse(text, "it is not a key and a range of numbers");
    }
    const std::string_view first = std::string_view(text).substr(equals + 1, dots - equals - 1);
    const std::string_view last = std::string_view(text).substr(dots + 2);
    HalvedKey halved;
    halved.key = text.substr(0, equals);
    halved.weak = end_of(first, text);
    halved.strong = end_of(last, text);
    halved.is_whole = is_integer(first) && is_integer(last);
    if (halved.weak == halved.strong) {
        refuse(text, "both ends are the same");
    }
    if (halved.is_whole && std::max(std::abs(halved.weak), std::abs(halved.strong)) > most_whole) {
        refuse(text, "integers above 2^53 cannot be halved");
    }
    if (!std::isfinite(halved.strong - halved.weak)) {
        refuse(text, "the range is too wide");
    }
    return halved;
}

std::optional<double> Bisection::next() const {
    const double width = std::abs(strong_ - weak_);
    const double whole_width = std::abs(key_.strong - key_.weak);
    if (done_ || (key_.is_whole ? width <= 1 : width <= finest_share * whole_width)) {
        return std::nullopt;
    }
    const double middle = weak_ / 2 + strong_ / 2;
    if (key_.is_whole) {
        return std::floor(middle);
    }
    const auto [low, high] = std::minmax(weak_, strong_);
    const double short_middle = rounded(middle, whole_width);
    const double value = low < short_middle && short_middle < high ? short_middle : middle;
    return low < value && value < high ? std::optional(value) : std::nullopt;
}

void Bisection::judge(Strength strength) {
    const double value = next().value_or(weak_);
    (strength == Strength::too_strong ? strong_ : weak_) = value;
    done_ = done_ || strength == Strength::right;
}

} // namespace runner::trial
