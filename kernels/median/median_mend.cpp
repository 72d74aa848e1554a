// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/elements/invalid.hpp"
#include "kernels/elements/ordered_key.hpp"
#include "kernels/median/median_call.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// Mends the medians of one row after the other.
template <class T> class Mender {
  public:
    Mender(const MedianCall& call, double value, const std::byte* in, std::byte* out)
        : call_(call), is_invalid_(invalid_test<T>(value)), mark_(invalid_element<T>(value)),
          fill_(converted<T>(call.fill)), in_(reinterpret_cast<const T*>(in)),
          out_(reinterpret_cast<T*>(out)) {}

    /// A row of the output, counted through all frames.
    void mend(std::int64_t made) {
        const std::int64_t frame = made / call_.out_rows;
        const std::int64_t row = call_.out_first + made % call_.out_rows;
        const T* held = in_ + frame * call_.in_rows * call_.columns;
        if (!find_lines(row, held)) {
            return;
        }
        const T* own = held + (row - call_.in_first) * call_.columns;
        T* to = out_ + made * call_.columns;
        const bool is_counted = call_.replaced.takes(made);
        std::int64_t replaced = 0; // more than were counted before
        std::int64_t invalid = 0;  // of the window
        for (std::int64_t x = -call_.radius_x; x < call_.radius_x; ++x) {
            invalid += invalid_in(x);
        }
        for (std::int64_t x = 0; x < call_.columns; ++x) {
            invalid += invalid_in(x + call_.radius_x);
            const bool was_replaced = is_counted && is_replaced(own[x], to[x]);
            if (is_invalid_(own[x])) {
                to[x] = mark_;
                replaced -= was_replaced ? 1 : 0;
            } else if (invalid > 1) {
                const T median = median_at(x);
                to[x] =
                    !call_.has_difference || call_.is_far(excess(own[x], median)) ? median : own[x];
                const bool is_now = is_counted && is_replaced(own[x], to[x]);
                replaced += (is_now ? 1 : 0) - (was_replaced ? 1 : 0);
            }
            invalid -= invalid_in(x - call_.radius_x);
        }
        call_.replaced.add(replaced);
    }

  private:
    /// The rows of the window, null where the fill value stands, and how many invalid elements each
    /// column of them has. False where there are none.
    bool find_lines(std::int64_t row, const T* held) {
        const std::int64_t layer = call_.layer_of(row);
        lines_.clear();
        counts_.assign(static_cast<std::size_t>(call_.columns), 0);
        std::int64_t all = 0;
        for (int z = -call_.radius_z; z <= call_.radius_z; ++z) {
            for (int y = -call_.radius_y; y <= call_.radius_y; ++y) {
                const std::int64_t at = call_.held_row(layer, row - layer * call_.rows + y, z);
                lines_.push_back(at < 0 ? nullptr : held + at * call_.columns);
                for (std::int64_t x = 0; at >= 0 && x < call_.columns; ++x) {
                    const int one = is_invalid_(lines_.back()[x]) ? 1 : 0;
                    counts_[static_cast<std::size_t>(x)] += one;
                    all += one;
                }
            }
        }
        return all > 0;
    }

    /// In a column, which may lie beyond the image.
    int invalid_in(std::int64_t x) const {
        const std::int64_t column = map_index(x, call_.columns, call_.boundary);
        return column < 0 ? 0 : counts_[static_cast<std::size_t>(column)];
    }

    /// The median of the valid elements about column `x`.
    T median_at(std::int64_t x) {
        std::size_t count = 0;
        for (std::int64_t i = x - call_.radius_x; i <= x + call_.radius_x; ++i) {
            const std::int64_t column = map_index(i, call_.columns, call_.boundary);
            for (const T* line : lines_) {
                const bool is_fill = column < 0 || line == nullptr;
                const T element = is_fill ? fill_ : line[column];
                keys_[count] = ordered_key(element);
                count += is_fill || !is_invalid_(element) ? 1 : 0;
            }
        }
        const auto middle = keys_.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
        std::nth_element(keys_.begin(), middle, keys_.begin() + static_cast<std::ptrdiff_t>(count));
        return element_of_key<T>(*middle);
    }

    MedianCall call_;
    InvalidTest<T> is_invalid_;
    T mark_;
    T fill_;
    const T* in_;
    T* out_;
    std::vector<const T*> lines_;
    std::vector<int> counts_;
    std::array<SignedOf<sizeof(T)>, Median::most_elements + 1> keys_{}; ///< of a window
};

} // namespace

void mend_medians(CpuQueue& queue, ElementType type, double value, const MedianCall& call,
                  const std::byte* in, std::byte* out) {
    visit_element_type(type, [&](auto zero) {
        using T = decltype(zero);
        tbb::enumerable_thread_specific<Mender<T>> menders(call, value, in, out);
        using Range = tbb::blocked_range<std::int64_t>;
        queue.run([&] {
            tbb::parallel_for(Range(0, call.frames * call.out_rows), [&](const Range& range) {
                Mender<T>& mender = menders.local();
                for (std::int64_t row = range.begin(); row < range.end(); ++row) {
                    mender.mend(row);
                }
            });
        });
    });
}

} // namespace runner
