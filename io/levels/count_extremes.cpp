// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/count_extremes.hpp"

#include "io/rows/file_elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

template <class T>
using Number = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t,
                                  std::conditional_t<std::is_integral_v<T>, std::int64_t, double>>;

/// The element that is equal to a number, if the type has one.
template <class T> std::optional<T> element_equal_to(std::optional<double> number) {
    if (!number || std::isnan(*number)) {
        return std::nullopt;
    }
    if constexpr (std::is_integral_v<T>) {
        constexpr T half = std::numeric_limits<T>::max() / 2 + 1;
        constexpr double end = 2 * static_cast<double>(half);
        const bool fits = *number >= static_cast<double>(std::numeric_limits<T>::min()) &&
                          *number < end && std::trunc(*number) == *number;
        return fits ? std::optional(static_cast<T>(*number)) : std::nullopt;
    } else {
        return static_cast<T>(*number);
    }
}

/// `least` is above `greatest` where no element is a value.
template <class T> struct Range {
    T least = std::numeric_limits<T>::max();
    T greatest = std::numeric_limits<T>::lowest();

    void take(T element) {
        least = std::min(least, element);
        greatest = std::max(greatest, element);
    }

    std::optional<ValueRange> values() const {
        if (least > greatest) {
            return std::nullopt;
        }
        constexpr T zero = 0; // -0 + 0 is 0
        return ValueRange{static_cast<Number<T>>(least + zero),
                          static_cast<Number<T>>(greatest + zero)};
    }
};

constexpr std::int64_t lanes = 64;

/// Takes `count` elements, a multiple of `lanes`, all of which are values, in loops that compilers
/// make vectors of.
template <class T> void take_vectors(const T* elements, std::int64_t count, Range<T>& range) {
    std::array<T, lanes> least;
    std::array<T, lanes> greatest;
    least.fill(range.least);
    greatest.fill(range.greatest);
    for (std::int64_t i = 0; i < count; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const T element = elements[static_cast<std::size_t>(i) + lane];
            least[lane] = element < least[lane] ? element : least[lane];
            greatest[lane] = greatest[lane] < element ? element : greatest[lane];
        }
    }
    range.least = *std::min_element(least.begin(), least.end());
    range.greatest = *std::max_element(greatest.begin(), greatest.end());
}

template <class T>
std::optional<ValueRange> range_of(const T* elements, std::int64_t count,
                                   std::optional<double> invalid) {
    Range<T> range;
    const std::optional<T> left_out = element_equal_to<T>(invalid);
    const std::int64_t begin = std::is_integral_v<T> && !left_out ? count / lanes * lanes : 0;
    take_vectors(elements, begin, range);
    for (std::int64_t i = begin; i < count; ++i) {
        const T element = elements[i];
        const bool is_finite =
            element >= std::numeric_limits<T>::lowest() && element <= std::numeric_limits<T>::max();
        if (is_finite && !(left_out && element == *left_out)) {
            range.take(element);
        }
    }
    return range.values();
}

std::optional<ValueRange> range_of(const Half* elements, std::int64_t count,
                                   std::optional<double> invalid) {
    Range<float> range;
    const std::optional<float> left_out = element_equal_to<float>(invalid);
    for (std::int64_t i = 0; i < count; ++i) {
        const float element = half_value(elements[i]);
        if (std::isfinite(element) && !(left_out && element == *left_out)) {
            range.take(element);
        }
    }
    return range.values();
}

} // namespace

std::optional<ValueRange> extremes_of(const ArrayInfo& array, const std::byte* elements,
                                      std::int64_t count, std::optional<double> invalid) {
    if (is_float16(array)) {
        return range_of(reinterpret_cast<const Half*>(elements), count, invalid);
    }
    std::optional<ValueRange> found;
    visit_element_type(array.type, [&](auto zero) {
        found = range_of(reinterpret_cast<const decltype(zero)*>(elements), count, invalid);
    });
    return found;
}

} // namespace runner
