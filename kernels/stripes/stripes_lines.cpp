// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stripes/stripes_lines.hpp"

#include "base/rounding.hpp"
#include "kernels/queue/parts.hpp"
#include "kernels/stripes/stripes_slide.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

namespace runner {
namespace {

/// A thread's memory for windows that slide side by side.
template <class Key> struct alignas(64) Windows {
    std::array<Key, std::size_t{Stripes::most_size} * slide_lanes> keys;
    std::array<Key, slide_lanes> leaving;
    std::array<Key, slide_lanes> entering;
};

/// Sorts entries, which are in the order of their rows, by their keys: by eight bits after the
/// other, the least first. What all have alike is passed over.
template <class T>
void sort_line(typename StripeEntry<T>::Entry* line, std::int64_t rows,
               std::vector<typename StripeEntry<T>::Entry>& spare) {
    using Key = typename StripeEntry<T>::Key;
    using Bits = std::make_unsigned_t<Key>;
    constexpr std::size_t digits = sizeof(Key);
    const auto digit = [](const auto& entry, std::size_t number) {
        constexpr Bits sign = Bits{1} << (8 * sizeof(Key) - 1);
        const auto bits = static_cast<Bits>(static_cast<Bits>(StripeEntry<T>::key(entry)) ^ sign);
        return static_cast<std::size_t>(bits >> (8 * number) & 0xFFU);
    };
    std::array<std::array<std::uint32_t, 256>, digits> counts{};
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::size_t number = 0; number < digits; ++number) {
            ++counts.at(number)[digit(line[r], number)];
        }
    }
    spare.resize(static_cast<std::size_t>(rows));
    auto* from = line;
    auto* to = spare.data();
    for (std::size_t number = 0; number < digits; ++number) {
        std::array<std::uint32_t, 256>& places = counts.at(number);
        if (places[digit(line[0], number)] == rows) {
            continue;
        }
        std::uint32_t place = 0;
        for (std::uint32_t& count : places) {
            const std::uint32_t next = place + count;
            count = place;
            place = next;
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            to[places[digit(from[r], number)]++] = from[r];
        }
        std::swap(from, to);
    }
    if (from != line) {
        std::copy_n(from, rows, line);
    }
}

/// Puts the medians of slide_lanes ranks, from `rank` on, of the columns [first, last) of a frame
/// into the lines, each to the row that its entry came from.
template <class T>
void smooth(const StripeLines<T>& view, std::int64_t frame, std::int64_t rank, std::int64_t first,
            std::int64_t last, Windows<typename StripeEntry<T>::Key>& windows) {
    using Of = StripeEntry<T>;
    using Key = typename Of::Key;
    const std::int64_t lanes = std::min<std::int64_t>(slide_lanes, view.rows - rank);
    const int size = static_cast<int>(view.size);
    const auto entries = [&](std::int64_t x) {
        return view.entries + view.line(frame, x) * view.rows + rank;
    };
    const auto take_keys = [&](std::int64_t x, std::array<Key, slide_lanes>& keys) {
        const auto* const from = entries(x);
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            keys[static_cast<std::size_t>(lane)] = Of::key(from[lane]);
        }
    };
    // Windows begin full of the greatest key, which every key replaces.
    std::fill_n(windows.keys.begin(), view.size * slide_lanes, std::numeric_limits<Key>::max());
    windows.leaving.fill(std::numeric_limits<Key>::max());
    windows.entering.fill(0);
    for (std::int64_t x = first; x < last; ++x) {
        const std::int64_t begin = view.window(x);
        if (x > first) {
            take_keys(begin - 1, windows.leaving);
        }
        for (std::int64_t i = x > first ? view.size - 1 : 0; i < view.size; ++i) {
            take_keys(begin + i, windows.entering);
            slide_windows(windows.keys.data(), size, windows.leaving.data(),
                          windows.entering.data());
        }
        const Key* const medians = windows.keys.data() + view.size / 2 * slide_lanes;
        const auto* const own = entries(x);
        T* const line = view.smooth + view.line(frame, x) * view.rows;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            line[Of::row(own[lane])] = Of::element(medians[lane]);
        }
    }
}

} // namespace

template <class T> void sort_lines(CpuQueue& queue, const StripeLines<T>& lines) {
    tbb::enumerable_thread_specific<std::vector<typename StripeEntry<T>::Entry>> spares;
    for_parts(queue, lines.count(), sort_operations(lines.count() * lines.rows, sizeof(T)),
              [&](std::int64_t line) {
                  const T* const values = lines.lines + line * lines.rows;
                  auto* const entries = lines.entries + line * lines.rows;
                  for (std::int64_t r = 0; r < lines.rows; ++r) {
                      entries[r] = StripeEntry<T>::make(values[r], r);
                  }
                  sort_line<T>(entries, lines.rows, spares.local());
              });
}

template <class T> void smooth_lines(CpuQueue& queue, const StripeLines<T>& lines) {
    // A strip's first window is filled key by key: no strips much shorter than a window.
    const std::int64_t columns = std::max<std::int64_t>(4 * lines.size, 256);
    const std::int64_t strips = ceil_divide(lines.columns, columns);
    const std::int64_t groups = ceil_divide(lines.rows, slide_lanes);
    tbb::enumerable_thread_specific<Windows<typename StripeEntry<T>::Key>> windows;
    for_parts(queue, lines.frames * groups * strips,
              smooth_operations(lines.count() * lines.rows, lines.size), [&](std::int64_t part) {
                  const std::int64_t first = part % strips * columns;
                  smooth(lines, part / strips / groups, part / strips % groups * slide_lanes, first,
                         std::min(lines.columns, first + columns), windows.local());
              });
}

template void sort_lines(CpuQueue&, const StripeLines<std::int8_t>&);
template void sort_lines(CpuQueue&, const StripeLines<std::uint8_t>&);
template void sort_lines(CpuQueue&, const StripeLines<std::int16_t>&);
template void sort_lines(CpuQueue&, const StripeLines<std::uint16_t>&);
template void sort_lines(CpuQueue&, const StripeLines<std::int32_t>&);
template void sort_lines(CpuQueue&, const StripeLines<std::uint32_t>&);
template void sort_lines(CpuQueue&, const StripeLines<std::int64_t>&);
template void sort_lines(CpuQueue&, const StripeLines<std::uint64_t>&);
template void sort_lines(CpuQueue&, const StripeLines<float>&);
template void sort_lines(CpuQueue&, const StripeLines<double>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::int8_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::uint8_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::int16_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::uint16_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::int32_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::uint32_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::int64_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<std::uint64_t>&);
template void smooth_lines(CpuQueue&, const StripeLines<float>&);
template void smooth_lines(CpuQueue&, const StripeLines<double>&);

} // namespace runner
