// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/count_extremes.hpp"

#include "io/levels/invalid_mark.hpp"
#include "kernels/blocks/row_extremes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

namespace runner {
namespace {

template <class T>
using Number = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t,
                                  std::conditional_t<std::is_integral_v<T>, std::int64_t, double>>;

template <class T> std::optional<ValueRange> values_of(const RowExtremes<T>& extremes) {
    if (extremes.least > extremes.greatest) {
        return std::nullopt;
    }
    constexpr T zero = 0; // -0 + 0 is 0
    return ValueRange{static_cast<Number<T>>(extremes.least + zero),
                      static_cast<Number<T>>(extremes.greatest + zero)};
}

template <class T>
std::optional<ValueRange> range_of(const T* elements, std::int64_t count,
                                   std::optional<double> invalid) {
    RowExtremes<T> found;
    const std::optional<InvalidMark<T>> mark = invalid_mark<T>(invalid);
    widen(found, elements, count, mark ? &mark->number : nullptr);
    return values_of(found);
}

std::optional<ValueRange> range_of(const Half* elements, std::int64_t count,
                                   std::optional<double> invalid) {
    RowExtremes<float> found;
    const std::optional<InvalidMark<float>> mark = invalid_mark<float>(invalid);
    std::array<float, 1024> values{}; // which stay in the L1 cache
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t some = std::min(count - done, std::ssize(values));
        std::transform(elements + done, elements + done + some, values.begin(), half_value);
        widen(found, values.data(), some, mark ? &mark->number : nullptr);
        done += some;
    }
    return values_of(found);
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
