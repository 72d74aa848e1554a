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

/// What the stage that took longest did to `what`. `busy`: "busy for 80 % of the 2.00 s ...".
std::string limit_text(const Bottleneck& bottleneck, const std::string& what,
                       const std::string& busy) {
    constexpr double bound = 0.9; // of the time: all else hides behind that stage
    constexpr double longest = 0.6;
    const double share = bottleneck.overlap_efficiency;
    const std::string stage = doing.at(static_cast<std::size_t>(bottleneck.stage));
    if (share >= bound) {
        return capital(stage) + " bounded " + what + ": it was " + busy +
               ", and all else was hidden behind it";
    }
    if (share >= longest) {
        return capital(stage) + " took longest: it was " + busy + "; better overlap could save " +
               percent_text(1 - share) + " of that time at most";
    }
    return "No stage bounded " + what + ": the longest, " + stage + ", was " + busy +
           "; the rest of that time is stages waiting for each other";
}

std::string busy_text(double share, double stream_seconds) {
    return "busy for " + percent_text(share) + " of the " + seconds_text(stream_seconds) +
           " from first read to last write";
}

} // namespace

std::string verdict_text(const std::vector<PassReport>& passes, double wall_seconds) {
    const PassReport& longest = *std::max_element(passes.begin(), passes.end(),
                                                  [](const PassReport& a, const PassReport& b) {
                                                      return a.stream_seconds < b.stream_seconds;
                                                  });
    const Bottleneck& bottleneck = longest.bottleneck;
    const std::string text =
        fmt::format("Pass {} took longest: {} of the {} in all. ", longest.number,
                    seconds_text(longest.stream_seconds), seconds_text(wall_seconds));
    return text +
           (bottleneck.busy_seconds > 0
                ? limit_text(bottleneck, "it",
                             busy_text(bottleneck.overlap_efficiency,
                                       bottleneck.busy_seconds / bottleneck.overlap_efficiency)) +
                      "."
                : "No stage had anything to do.");
}

std::string verdict_text(const std::vector<RankReport>& ranks, double wall_seconds) {
    const Bottleneck bottleneck = find_bottleneck(ranks);
    if (!(bottleneck.busy_seconds > 0)) {
        return "No stage had anything to do.";
    }
    const RankReport& rank = rank_of(ranks, bottleneck);
    const double stream = rank.times.wall_seconds;
    std::string text =
        limit_text(bottleneck, "this run",
                   busy_text(bottleneck.overlap_efficiency, stream) +
                       (ranks.size() > 1 ? fmt::format(" on rank {}", rank.rank) : "") +
                       rate_text(rank.times[bottleneck.stage]));
    const double around = wall_seconds - stream;
    if (around > 0.2 * wall_seconds) {
        text += "; starting and finishing took " + seconds_text(around) + " of the " +
                seconds_text(wall_seconds) + " in all";
    }
    return text + ".";
}

} // namespace runner
