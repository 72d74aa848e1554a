// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/rounding.hpp"
#include "base/sizes.hpp"
#include "kernels/stripes/stripes_find.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace runner {

/// Where the scratch memory of frames that pass through it at once has what. `T`: of the lines.
template <class T> class StripesScratch {
  public:
    StripesScratch(const Stripes& stripes, std::int64_t frames)
        : stripes_(stripes), frames_(frames_at_once(frames)) {}

    std::int64_t frames() const { return frames_; }
    std::int64_t bytes() const { return frames_ * frame_bytes() + part_count * memory_alignment; }

    /// The lines of frames; moves `scratch` behind them.
    StripeLines<T> lines(std::byte*& scratch) const {
        StripeLines<T> lines;
        lines.lines = take<T>(scratch, frame_values());
        lines.entries = take<typename StripeLines<T>::Entry>(scratch, frame_values());
        lines.smooth = finds() ? take<T>(scratch, frame_values()) : lines.lines;
        lines.rows = stripes_.rows;
        lines.columns = stripes_.columns;
        lines.size = stripes_.size;
        return lines;
    }
    StripeSearch search(std::byte* scratch) const {
        StripeSearch search;
        search.all = lines(scratch);
        search.factors = take<double>(scratch, stripes_.columns);
        search.backgrounds = take<double>(scratch, stripes_.columns);
        search.entries = take<LongEntry>(scratch, stripes_.columns);
        search.left = take<std::int32_t>(scratch, stripes_.columns);
        search.right = take<std::int32_t>(scratch, stripes_.columns);
        search.limits = take<StripeLimits>(scratch, 1);
        search.snr = stripes_.snr;
        return search;
    }

  private:
    static constexpr std::int64_t part_count = 9;
    static constexpr std::int64_t lines_bytes =
        2 * sizeof(T) + sizeof(typename StripeLines<T>::Entry);
    static constexpr std::int64_t column_bytes =
        2 * sizeof(double) + sizeof(LongEntry) + 2 * sizeof(std::int32_t);

    bool finds() const { return stripes_.method != Stripes::Method::sort; }
    std::int64_t frame_values() const { return stripes_.rows * stripes_.columns; }
    std::int64_t frame_bytes() const {
        return finds() ? frame_values() * lines_bytes + stripes_.columns * column_bytes +
                             static_cast<std::int64_t>(sizeof(StripeLimits))
                       : frame_values() * (lines_bytes - static_cast<std::int64_t>(sizeof(T)));
    }
    /// As many as take some 96 MiB, one at least.
    std::int64_t frames_at_once(std::int64_t frames) const {
        constexpr std::int64_t most = 16384; // a grid's extent may not be much more
        return std::clamp(std::min(most, 96 * MiB / frame_bytes()), std::int64_t{1},
                          std::max(frames, std::int64_t{1}));
    }
    /// So many values for each frame, after which `scratch` continues.
    template <class Value> Value* take(std::byte*& scratch, std::int64_t of_frame) const {
        std::byte* const begin = scratch;
        scratch += aligned_bytes(frames_ * of_frame * static_cast<std::int64_t>(sizeof(Value)));
        return reinterpret_cast<Value*>(begin);
    }

    Stripes stripes_;
    std::int64_t frames_;
};

/// The type that the lines of elements T have: what is computed is so in float64.
template <class T, bool finds> using LineType = std::conditional_t<finds, double, T>;

/// Calls work(zero of the elements, zero of the lines).
template <class Work> decltype(auto) visit_stripes(const Stripes& stripes, const Work& work) {
    return visit_element_type(stripes.type, [&](auto zero) {
        using T = decltype(zero);
        return stripes.method == Stripes::Method::sort ? work(zero, LineType<T, false>{})
                                                       : work(zero, LineType<T, true>{});
    });
}

template <class Q> void remove_large_stripes(Q& queue, const StripeSearch& search) {
    sort_lines(queue, search.all);
    smooth_lines(queue, search.all);
    find_ratios(queue, search);
    sort_lines(queue, search.factor_lines());
    find_limits(queue, search);
    replace_large(queue, search);
}

template <class Q> void remove_dead_stripes(Q& queue, const StripeSearch& search) {
    find_changes(queue, search);
    sort_lines(queue, search.factor_rows());
    smooth_lines(queue, search.factor_rows());
    divide_factors(queue, search);
    sort_lines(queue, search.factor_lines());
    find_limits(queue, search);
    replace_dead(queue, search);
}

/// What remove_stripes() does on a queue. take(in, lines) makes the lines of frames, put(lines,
/// out) the frames of lines; done(frames) counts them.
template <class T, class W, class Q, class Take, class Put, class Done>
void remove_stripes_by(Q& queue, const Stripes& stripes, std::int64_t frames, const std::byte* in,
                       std::byte* out, std::byte* scratch, const Take& take, const Put& put,
                       const Done& done) {
    const StripesScratch<W> places(stripes, frames);
    const std::int64_t frame = stripes.rows * stripes.columns;
    for (std::int64_t first = 0; first < frames; first += places.frames()) {
        std::byte* free = scratch;
        StripeLines<W> lines = places.lines(free);
        lines.frames = std::min(places.frames(), frames - first);
        take(reinterpret_cast<const T*>(in) + first * frame, lines);
        if constexpr (std::is_same_v<W, double>) {
            if (stripes.method != Stripes::Method::sort) {
                StripeSearch search = places.search(scratch);
                search.all.frames = lines.frames;
                if (stripes.method != Stripes::Method::large) {
                    remove_dead_stripes(queue, search);
                }
                remove_large_stripes(queue, search);
            }
        }
        if (stripes.method == Stripes::Method::sort || stripes.method == Stripes::Method::all) {
            lines.size = stripes.method == Stripes::Method::all ? stripes.small : stripes.size;
            lines.smooth = lines.lines;
            sort_lines(queue, lines);
            smooth_lines(queue, lines);
        }
        put(lines, reinterpret_cast<T*>(out) + first * frame);
        done(lines.frames);
    }
}

} // namespace runner
