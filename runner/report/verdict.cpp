// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"
#include "runner/report/report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace runner {
namespace {

constexpr std::array<const char*, stage_count> doing = {"reading",
                                                        "copying to the GPU",
                                                        "computing",
                                                        "exchanging rows between ranks",
                                                        "copying from the GPU",
                                                        "taking checksums",
                                                        "writing"};

std::string seconds_text(double seconds) {
    std::array<char, 32> text{};
    if (seconds < 1) {
        (void)std::snprintf(text.data(), text.size(), seconds < 0.01 ? "%.1f ms" : "%.0f ms",
                            1000 * seconds);
    } else {
        (void)std::snprintf(text.data(), text.size(), seconds < 10 ? "%.2f s" : "%.0f s", seconds);
    }
    return text.data();
}

std::string percent_text(double share) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.0f %%", 100 * share);
    return text.data();
}

std::string rate_text(const StageTimes& stage) {
    if (stage.bytes == 0 || !(stage.busy_seconds > 0)) {
        return "";
    }
    std::array<char, 48> text{};
    const double rate = static_cast<double>(stage.bytes) / stage.busy_seconds;
    const bool fast = rate >= 1e8;
    (void)std::snprintf(text.data(), text.size(), " at %.3g %s", rate * (fast ? 1e-9 : 1e-6),
                        fast ? "GB/s" : "MB/s");
    return text.data();
}

const RankReport& rank_of(const std::vector<RankReport>& ranks, const Bottleneck& bottleneck) {
    return *std::find_if(ranks.begin(), ranks.end(), [&](const RankReport& rank) {
        return rank.times[bottleneck.stage].busy_seconds == bottleneck.busy_seconds;
    });
}

std::string capital(std::string text) {
    if (text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text;
}

} // namespace

std::string verdict_text(const std::vector<RankReport>& ranks, double wall_seconds) {
    constexpr double bound = 0.9; // of the time: all else hides behind that stage
    constexpr double longest = 0.6;
    const Bottleneck bottleneck = find_bottleneck(ranks);
    if (!(bottleneck.busy_seconds > 0)) {
        return "No stage had anything to do.";
    }
    const RankReport& rank = rank_of(ranks, bottleneck);
    const double share = bottleneck.overlap_efficiency;
    const double stream = rank.times.wall_seconds;
    const std::string stage = doing[static_cast<std::size_t>(bottleneck.stage)];
    const std::string busy = "busy for " + percent_text(share) + " of the " + seconds_text(stream) +
                             " from first read to last write" +
                             (ranks.size() > 1 ? fmt::format(" on rank {}", rank.rank) : "") +
                             rate_text(rank.times[bottleneck.stage]);
    std::string text;
    if (share >= bound) {
        text = capital(stage) + " bounded this run: it was " + busy +
               ", and all else was hidden behind it";
    } else if (share >= longest) {
        text = capital(stage) + " took longest: it was " + busy + "; better overlap could save " +
               percent_text(1 - share) + " of that time at most";
    } else {
        text = "No stage bounded this run: the longest, " + stage + ", was " + busy +
               "; the rest of that time is stages waiting for each other";
    }
    const double around = wall_seconds - stream;
    if (around > 0.2 * wall_seconds) {
        text += "; starting and finishing took " + seconds_text(around) + " of the " +
                seconds_text(wall_seconds) + " in all";
    }
    return text + ".";
}

} // namespace runner
