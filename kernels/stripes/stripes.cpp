// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stripes/stripes.hpp"

#include "kernels/elements/elements.hpp"
#include "kernels/queue/parts.hpp"
#include "kernels/stripes/stripes_steps.hpp"

namespace runner {
namespace {

constexpr std::int64_t band_columns = 16; ///< of a row that are taken apart at once

/// Calls work(x, value in the frames, value in the lines) for each value, by bands of columns.
template <class T, class W, class Work>
void for_values(CpuQueue& queue, const StripeLines<W>& lines, T* frames, const Work& work) {
    const std::int64_t bands = ceil_divide(lines.columns, band_columns);
    for_parts(queue, lines.frames * bands, 0, [&](std::int64_t part) {
        const std::int64_t frame = part / bands;
        const std::int64_t first = part % bands * band_columns;
        const std::int64_t last = std::min(lines.columns, first + band_columns);
        T* row = frames + frame * lines.rows * lines.columns;
        W* const of_frame = lines.lines + frame * lines.columns * lines.rows;
        for (std::int64_t r = 0; r < lines.rows; ++r, row += lines.columns) {
            for (std::int64_t x = first; x < last; ++x) {
                work(row[x], of_frame[x * lines.rows + r]);
            }
        }
    });
}

} // namespace

std::int64_t stripes_scratch_bytes(const Stripes& stripes, std::int64_t frames) {
    return visit_stripes(stripes, [&](auto /*element*/, auto value) {
        return StripesScratch<decltype(value)>(stripes, frames).bytes();
    });
}

double stripes_operations(const Stripes& stripes, std::int64_t frames) {
    const std::int64_t values = frames * stripes.rows * stripes.columns;
    const auto by = [&](std::int64_t bytes, std::int64_t size) {
        return sort_operations(values, bytes) + smooth_operations(values, size);
    };
    switch (stripes.method) {
    case Stripes::Method::sort: return by(size_of(stripes.type), stripes.size);
    case Stripes::Method::large: return by(sizeof(double), stripes.size);
    case Stripes::Method::dead: return change_operations(values) + by(sizeof(double), stripes.size);
    default:
        return change_operations(values) + by(sizeof(double), stripes.size) +
               by(sizeof(double), stripes.small);
    }
}

void remove_stripes(CpuQueue& queue, const Stripes& stripes, std::int64_t frames,
                    const std::byte* in, std::byte* out, std::byte* scratch) {
    visit_stripes(stripes, [&](auto element, auto value) {
        using T = decltype(element);
        using W = decltype(value);
        remove_stripes_by<T, W>(
            queue, stripes, frames, in, out, scratch,
            [&](const T* from, const StripeLines<W>& lines) {
                for_values(queue, lines, from, [](const T& of_frame, W& of_line) {
                    of_line = static_cast<W>(of_frame);
                });
            },
            [&](const StripeLines<W>& lines, T* to) {
                for_values(queue, lines, to, [](T& of_frame, const W& of_line) {
                    if constexpr (std::is_same_v<T, W>) {
                        of_frame = of_line;
                    } else {
                        of_frame = converted<T>(of_line);
                    }
                    if (is_nan(of_frame)) {
                        of_frame = std::numeric_limits<T>::quiet_NaN();
                    }
                });
            },
            [](std::int64_t /*frames*/) {});
    });
}

} // namespace runner
