// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// D of the patches at two places of the buffer.
float sum_of_squares(const MatchWork& work, const float* a, const float* b) {
    const std::int64_t row = work.volume[2];
    const std::int64_t layer = work.volume[1] * row;
    float sum = 0;
    for (std::int64_t x = 0; x < work.patch[2]; ++x) {
        float line = 0;
        for (std::int64_t y = 0; y < work.patch[1]; ++y) {
            float square = 0;
            for (std::int64_t z = 0; z < work.patch[0]; ++z) {
                const std::int64_t at = z * layer + y * row + x;
                const float e = a[at] - b[at];
                square = z == 0 ? e * e : std::fma(e, e, square);
            }
            line = y == 0 ? square : line + square;
        }
        sum = x == 0 ? line : sum + line;
    }
    return sum;
}

/// One reference after the other, all candidates of each at once.
class Chooser {
  public:
    Chooser(const MatchWork& work, const float* volume)
        : work_(work), volume_(volume),
          candidates_(
              static_cast<std::size_t>(std::max(work.candidates(), std::int64_t{work.count}))) {}

    void match(MatchSelection selection, std::int64_t row, const MatchLists& lists) {
        const std::int64_t z = work_.reference(0, row / work_.grid[2] / work_.grid[1]);
        const std::int64_t y = work_.reference(1, row / work_.grid[2] % work_.grid[1]);
        const std::int64_t x = work_.reference(2, row % work_.grid[2]);
        std::fill(candidates_.begin(), candidates_.end(), no_match);
        fill(z, y, x);
        if (selection == MatchSelection::serial) {
            choose_serially();
            put_match_row(work_, list_.data(), row, z, y, x, lists);
        } else {
            for (std::int64_t i = 0; i < work_.count; ++i) {
                bring_least_first(candidates_.data() + i, std::ssize(candidates_) - i);
            }
            put_match_row(work_, candidates_.data(), row, z, y, x, lists);
        }
    }

  private:
    /// no_match stays for those that are not there or too far.
    void fill(std::int64_t z, std::int64_t y, std::int64_t x) {
        const float* own = volume_ + work_.index(z - work_.in_first, y, x);
        for (std::int64_t i = 0; i < work_.candidates(); ++i) {
            const std::int64_t dx = i % work_.window(2) - work_.half[2];
            const std::int64_t dy = i / work_.window(2) % work_.window(1) - work_.half[1];
            const std::int64_t dz = i / work_.window(2) / work_.window(1) - work_.half[0];
            if (z + dz < 0 || z + dz > work_.corner[0] || y + dy < 0 || y + dy > work_.corner[1] ||
                x + dx < 0 || x + dx > work_.corner[2]) {
                continue;
            }
            const float sum = sum_of_squares(work_, own, own + work_.index(dz, dy, dx));
            if (sum <= work_.most) {
                candidates_[static_cast<std::size_t>(i)] =
                    match_key(sum, static_cast<std::uint32_t>(i));
            }
        }
    }

    void choose_serially() {
        list_.assign(static_cast<std::size_t>(work_.count), no_match);
        for (const std::int64_t key : candidates_) {
            if (key < list_.back()) {
                std::size_t to = list_.size() - 1;
                for (; to > 0 && list_[to - 1] > key; --to) {
                    list_[to] = list_[to - 1];
                }
                list_[to] = key;
            }
        }
    }

    /// No candidate is lost.
    static void bring_least_first(std::int64_t* candidates, std::int64_t length) {
        while (length > 1) {
            const std::int64_t half = (length + 1) / 2;
            for (std::int64_t i = 0; i < length - half; ++i) {
                if (candidates[i + half] < candidates[i]) {
                    std::swap(candidates[i], candidates[i + half]);
                }
            }
            length = half;
        }
    }

    const MatchWork& work_;
    const float* volume_;
    std::vector<std::int64_t> candidates_;
    std::vector<std::int64_t> list_;
};

} // namespace

void match_published(const CpuQueue& queue, MatchSelection selection, const MatchWork& work,
                     const float* volume, const MatchLists& lists) {
    constexpr std::int64_t run = 16; // references
    const double operations = work.operations(selection);
    using Range = tbb::blocked_range<std::int64_t>;
    tbb::parallel_for(Range(0, work.rows(), run), [&](const Range& rows) {
        Chooser chooser(work, volume);
        for (std::int64_t row = rows.begin(); row < rows.end(); ++row) {
            chooser.match(selection, row, lists);
        }
        queue.count(static_cast<double>(rows.size()) * operations);
    });
}

} // namespace runner
