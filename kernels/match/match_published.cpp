// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/match/match_call.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace runner {
namespace {

/// D of the patches at two places of the buffer.
float sum_of_squares(const MatchCall& call, const float* a, const float* b) {
    const std::int64_t row = call.volume[2];
    const std::int64_t layer = call.volume[1] * row;
    float sum = 0;
    for (std::int64_t x = 0; x < call.patch[2]; ++x) {
        float line = 0;
        for (std::int64_t y = 0; y < call.patch[1]; ++y) {
            float square = 0;
            for (std::int64_t z = 0; z < call.patch[0]; ++z) {
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
    Chooser(const MatchCall& call, const float* volume)
        : call_(call), volume_(volume),
          candidates_(
              static_cast<std::size_t>(std::max(call.candidates(), std::int64_t{call.count}))) {}

    void match(MatchSelection selection, std::int64_t row, const MatchLists& lists) {
        const std::int64_t z = call_.reference(0, row / call_.grid[2] / call_.grid[1]);
        const std::int64_t y = call_.reference(1, row / call_.grid[2] % call_.grid[1]);
        const std::int64_t x = call_.reference(2, row % call_.grid[2]);
        std::fill(candidates_.begin(), candidates_.end(), no_match);
        fill(z, y, x);
        if (selection == MatchSelection::serial) {
            choose_serially();
            put_match_row(call_, list_.data(), row, z, y, x, lists);
        } else {
            for (std::int64_t i = 0; i < call_.count; ++i) {
                bring_least_first(candidates_.data() + i, std::ssize(candidates_) - i);
            }
            put_match_row(call_, candidates_.data(), row, z, y, x, lists);
        }
    }

  private:
    /// no_match stays for those that are not there or too far.
    void fill(std::int64_t z, std::int64_t y, std::int64_t x) {
        const float* own = volume_ + call_.index(z - call_.in_first, y, x);
        for (std::int64_t i = 0; i < call_.candidates(); ++i) {
            const std::int64_t dx = i % call_.window(2) - call_.half[2];
            const std::int64_t dy = i / call_.window(2) % call_.window(1) - call_.half[1];
            const std::int64_t dz = i / call_.window(2) / call_.window(1) - call_.half[0];
            if (z + dz < 0 || z + dz > call_.corner[0] || y + dy < 0 || y + dy > call_.corner[1] ||
                x + dx < 0 || x + dx > call_.corner[2]) {
                continue;
            }
            const float sum = sum_of_squares(call_, own, own + call_.index(dz, dy, dx));
            if (sum <= call_.most) {
                candidates_[static_cast<std::size_t>(i)] =
                    match_key(sum, static_cast<std::uint32_t>(i));
            }
        }
    }

    void choose_serially() {
        list_.assign(static_cast<std::size_t>(call_.count), no_match);
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

    const MatchCall& call_;
    const float* volume_;
    std::vector<std::int64_t> candidates_;
    std::vector<std::int64_t> list_;
};

} // namespace

void match_published(const CpuQueue& queue, MatchSelection selection, const MatchCall& call,
                     const float* volume, const MatchLists& lists) {
    constexpr std::int64_t run = 16; // references
    const double operations = call.operations(selection);
    using Range = tbb::blocked_range<std::int64_t>;
    tbb::parallel_for(Range(0, call.rows(), run), [&](const Range& rows) {
        Chooser chooser(call, volume);
        for (std::int64_t row = rows.begin(); row < rows.end(); ++row) {
            chooser.match(selection, row, lists);
        }
        queue.count(static_cast<double>(rows.size()) * operations);
    });
}

} // namespace runner
