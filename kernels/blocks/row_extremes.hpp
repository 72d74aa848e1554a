// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace runner {

/// The least and the greatest of numbers; `least` is above `greatest` where there are none.
template <class T> struct RowExtremes {
    T least = std::numeric_limits<T>::max();
    T greatest = std::numeric_limits<T>::lowest();
};

/// Widens `extremes` by `count` elements. Infinities, NaN and, unless it is null, elements equal to
/// `*left_out` are none. The sign of a zero is either's. For all numbers that arrays have. Runs on
/// the widest vectors of this machine, in the calling thread.
template <class T>
void widen(RowExtremes<T>& extremes, const T* elements, std::int64_t count, const T* left_out);

} // namespace runner
