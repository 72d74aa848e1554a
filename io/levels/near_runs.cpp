// SPDX-License-Identifier: BSD-3-Clause
#include "io/levels/near_runs.hpp"

#include <algorithm>

namespace runner {

void NearRuns::read(const File& file) {
    std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.at < b.at; });
    constexpr std::int64_t most_between = 4 * KiB;
    for (std::size_t begin = 0; begin < runs_.size();) {
        std::size_t end = begin + 1;
        while (end < runs_.size() && runs_[end].at - runs_[end - 1].end() <= most_between &&
               runs_[end].end() - runs_[begin].at <= most_span) {
            ++end;
        }
        read_together(file, std::span(runs_).subspan(begin, end - begin));
        begin = end;
    }
    runs_.clear();
}

void NearRuns::read_together(const File& file, std::span<const Run> runs) {
    const Run& first = runs.front();
    if (runs.size() == 1) {
        file.read(first.at, first.bytes, first.to);
        return;
    }
    span_.resize(static_cast<std::size_t>(runs.back().end() - first.at));
    file.read(first.at, std::ssize(span_), span_.data());
    for (const Run& run : runs) {
        std::copy_n(span_.data() + (run.at - first.at), run.bytes, run.to);
    }
}

} // namespace runner
