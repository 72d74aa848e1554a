// SPDX-License-Identifier: BSD-3-Clause
#include "views/compare_bytes.hpp"

#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace runner {

ByteDifferences compare_bytes(RowReader& a, RowReader& b) {
    constexpr std::int64_t memory = 64 * MiB;
    const ArrayInfo& array = a.info().array;
    const std::int64_t row = row_bytes(array);
    const std::int64_t rows = row_count(array);
    const auto size = static_cast<std::size_t>(size_of(array.type));
    const std::int64_t step = std::clamp<std::int64_t>(memory / row, 1, rows);
    std::vector<std::byte> of_a(static_cast<std::size_t>(step * row));
    std::vector<std::byte> of_b(of_a.size());
    ByteDifferences result;
    for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        a.read(first, count, of_a.data());
        b.read(first, count, of_b.data());
        const auto bytes = static_cast<std::size_t>(count * row);
        if (std::memcmp(of_a.data(), of_b.data(), bytes) == 0) {
            continue;
        }
        for (std::size_t at = 0; at < bytes; at += size) {
            if (std::memcmp(of_a.data() + at, of_b.data() + at, size) != 0) {
                if (result.different++ == 0) {
                    result.first =
                        first * row_elements(array) + static_cast<std::int64_t>(at / size);
                }
            }
        }
    }
    return result;
}

} // namespace runner
