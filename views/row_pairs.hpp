// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/rows.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <oneapi/tbb/parallel_for.h>

namespace runner {

template <class T> inline constexpr bool is_complex_number = false;
template <class T> inline constexpr bool is_complex_number<std::complex<T>> = true;

/// As visit_element_type(), of complex numbers too.
template <class F> void visit_value_type(ElementType type, F&& f) {
    switch (type) {
    case ElementType::complex64: return f(std::complex<float>{});
    case ElementType::complex128: return f(std::complex<double>{});
    default: visit_element_type(type, f);
    }
}

/// Rows of one dataset, converted to `Wide`.
template <class Wide> struct RowValues {
    RowReader* reader; ///< outlives it
    std::vector<std::byte> bytes = {};
    std::vector<Wide> wide = {};

    /// Makes `wide` the elements of rows [first, first + rows), behind `keep` elements of what it
    /// ends with now.
    void read(std::int64_t first, std::int64_t rows, std::int64_t keep = 0) {
        const ArrayInfo& array = reader->info().array;
        const std::int64_t count = rows * row_elements(array);
        bytes.resize(static_cast<std::size_t>(count * size_of(array.type)));
        reader->read(first, rows, bytes.data());
        std::copy(wide.end() - keep, wide.end(), wide.begin());
        wide.resize(static_cast<std::size_t>(keep + count));
        visit_value_type(array.type, [&](auto zero) {
            using T = decltype(zero);
            if constexpr (is_complex_number<Wide> || !is_complex_number<T>) {
                convert(reinterpret_cast<const T*>(bytes.data()), count, wide.data() + keep);
            } else {
                refuse_elements(array.type);
            }
        });
    }

    template <class T> static void convert(const T* from, std::int64_t count, Wide* to) {
        constexpr std::int64_t block = 1 << 16;
        tbb::parallel_for(std::int64_t{0}, (count + block - 1) / block, [&](std::int64_t i) {
            const std::int64_t end = std::min(count, (i + 1) * block);
            for (std::int64_t at = i * block; at < end; ++at) {
                if constexpr (is_complex_number<Wide> && !is_complex_number<T>) {
                    to[at] = static_cast<double>(from[at]);
                } else {
                    to[at] = static_cast<Wide>(from[at]);
                }
            }
        });
    }
};

/// Rows of two datasets of one shape, read together and converted to `Wide`, in bounded memory (or
/// a row of each, where rows are longer).
template <class Wide> class RowPairs {
  public:
    /// The readers outlive it.
    RowPairs(RowReader& a, RowReader& b) : a_{&a}, b_{&b} {
        constexpr std::int64_t memory = 128 * MiB;
        const ArrayInfo& array = a.info().array;
        const std::int64_t row = row_bytes(array) + row_bytes(b.info().array) +
                                 2 * row_elements(array) * std::int64_t{sizeof(Wide)};
        rows_ = row_count(array);
        step_ = std::clamp<std::int64_t>(memory / row, 1, rows_);
    }

    std::int64_t rows() const { return rows_; }
    /// Rows that fit the memory.
    std::int64_t step() const { return step_; }

    /// Makes a() and b() the elements of rows [first, first + rows), behind `keep` elements of what
    /// they end with now.
    void read(std::int64_t first, std::int64_t rows, std::int64_t keep = 0) {
        a_.read(first, rows, keep);
        b_.read(first, rows, keep);
    }

    const std::vector<Wide>& a() const { return a_.wide; }
    const std::vector<Wide>& b() const { return b_.wide; }

  private:
    RowValues<Wide> a_;
    RowValues<Wide> b_;
    std::int64_t rows_ = 0;
    std::int64_t step_ = 1;
};

/// The mean structural similarity of two datasets of one shape as Comparison::ssim says, streamed.
std::optional<double> mean_ssim(RowReader& a, RowReader& b, double peak);

} // namespace runner
