// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stripes/stripes.hpp"

#include "base/rounding.hpp"
#include "kernels/elements/elements.hpp"
#include "kernels/stripes/stripes_slide.hpp"
#include "kernels/stripes/stripes_view.hpp"

#include <array>
#include <new>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

constexpr std::int64_t band_columns = 16; ///< of a row that are taken apart at once

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

/// Makes the sorted lines of up to band_columns columns of a frame.
template <class T>
void sort_band(const StripesView<T>& view, std::int64_t frame, std::int64_t first,
               std::vector<typename StripeEntry<T>::Entry>& spare) {
    const std::int64_t last = std::min(view.columns, first + band_columns);
    const T* row = view.in + frame * view.rows * view.columns;
    auto* const lines = view.entries + frame * view.columns * view.rows;
    for (std::int64_t r = 0; r < view.rows; ++r, row += view.columns) {
        for (std::int64_t x = first; x < last; ++x) {
            lines[x * view.rows + r] = StripeEntry<T>::make(row[x], r);
        }
    }
    for (std::int64_t x = first; x < last; ++x) {
        sort_line<T>(lines + x * view.rows, view.rows, spare);
    }
}

/// Puts the medians of slide_lanes ranks, from `rank` on, of the columns [first, last) of a frame
/// into the lines, each to the row that its entry came from.
template <class T>
void smooth(const StripesView<T>& view, std::int64_t frame, std::int64_t rank, std::int64_t first,
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
        T* const line = view.lines + view.line(frame, x) * view.rows;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            line[Of::row(own[lane])] = Of::element(medians[lane]);
        }
    }
}

/// Makes up to band_columns columns of the output of their lines.
template <class T>
void put_band(const StripesView<T>& view, std::int64_t frame, std::int64_t first) {
    const std::int64_t last = std::min(view.columns, first + band_columns);
    T* row = view.out + frame * view.rows * view.columns;
    const T* const lines = view.lines + frame * view.columns * view.rows;
    for (std::int64_t r = 0; r < view.rows; ++r, row += view.columns) {
        for (std::int64_t x = first; x < last; ++x) {
            row[x] = lines[x * view.rows + r];
        }
    }
}

/// Calls work(frame, i) for each frame and 0 ≤ i < parts, on all threads, and counts it.
template <class Work>
void for_parts(CpuQueue& queue, std::int64_t frames, std::int64_t parts, double operations,
               const Work& work) {
    using Range = tbb::blocked_range<std::int64_t>;
    queue.run([&] {
        tbb::parallel_for(Range(0, frames * parts), [&](const Range& range) {
            for (std::int64_t i = range.begin(); i < range.end(); ++i) {
                work(i / parts, i % parts);
                queue.count(operations / static_cast<double>(frames * parts));
            }
        });
    });
}

template <class T> void remove_of(CpuQueue& queue, const StripesView<T>& view, double operations) {
    const std::int64_t bands = ceil_divide(view.columns, band_columns);
    tbb::enumerable_thread_specific<std::vector<typename StripeEntry<T>::Entry>> spares;
    for_parts(queue, view.frames, bands, operations / 2, [&](auto frame, auto band) {
        sort_band(view, frame, band * band_columns, spares.local());
    });
    // The windows of each strip begin empty.
    const std::int64_t strip_columns = std::max<std::int64_t>(256, 4 * view.size);
    const std::int64_t strips = ceil_divide(view.columns, strip_columns);
    const std::int64_t groups = ceil_divide(view.rows, slide_lanes);
    tbb::enumerable_thread_specific<Windows<typename StripeEntry<T>::Key>> windows;
    for_parts(queue, view.frames, groups * strips, operations / 2, [&](auto frame, auto part) {
        const std::int64_t first = part % strips * strip_columns;
        smooth(view, frame, part / strips * slide_lanes, first,
               std::min(view.columns, first + strip_columns), windows.local());
    });
    for_parts(queue, view.frames, bands, 0,
              [&](auto frame, auto band) { put_band(view, frame, band * band_columns); });
}

} // namespace

std::int64_t stripes_scratch_bytes(const Stripes& stripes, std::int64_t frames) {
    return visit_element_type(stripes.type, [&](auto zero) {
        using T = decltype(zero);
        return frames_at_once(stripes, frames) * stripes.rows * stripes.columns *
               static_cast<std::int64_t>(sizeof(typename StripeEntry<T>::Entry) + sizeof(T));
    });
}

double stripes_operations(const Stripes& stripes, std::int64_t frames) {
    const auto elements =
        static_cast<double>(frames * stripes.rows) * static_cast<double>(stripes.columns);
    return elements *
           static_cast<double>(16 * size_of(stripes.type) + std::int64_t{4} * stripes.size);
}

void remove_stripes(CpuQueue& queue, const Stripes& stripes, std::int64_t frames,
                    const std::byte* in, std::byte* out, std::byte* scratch) {
    visit_element_type(stripes.type, [&](auto zero) {
        for_frames_at_once<decltype(zero)>(
            stripes, frames, in, out, scratch, [&](const auto& view) {
                remove_of(queue, view, stripes_operations(stripes, view.frames));
            });
    });
}

} // namespace runner
