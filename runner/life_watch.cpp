// SPDX-License-Identifier: BSD-3-Clause
#include "runner/life_watch.hpp"

#include "base/durations.hpp"
#include "base/error.hpp"
#include "runner/messages.hpp"
#include "runner/ranks/bind_rank.hpp"
#include "runner/watch/stop.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace runner {
namespace {

/// What a rank says when it ends well, after which it is not watched any more.
constexpr const char* over = "over";

struct Contact {
    std::string host;
    std::string line;
    std::uint64_t key = 0; ///< the first rank's counts

    static auto members(auto& self) { return std::tie(self.host, self.line, self.key); }
};

std::uint64_t random_key() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

} // namespace

LifeWatch::LifeWatch(const Ranks& ranks) : ranks_(ranks) {
    if (ranks.size() > 1) {
        connect();
    }
    ticker_ = std::make_unique<Ticker>([this] { look(); });
}

LifeWatch::~LifeWatch() {
    ticker_.reset();
    if (!watched_.empty()) {
        line_.tell(over);
    }
}

void LifeWatch::connect() {
    const std::vector<Contact> all =
        ranks_.gather(Contact{host_name(), line_.contact(), random_key()});
    const int ranks = ranks_.size();
    const int watched = (ranks_.rank() + 1) % ranks;
    watched_ =
        "rank " + std::to_string(watched) + " on " + all[static_cast<std::size_t>(watched)].host;
    // Each rank has one that watches it, and hears one.
    const int watcher = (ranks_.rank() + ranks - 1) % ranks;
    line_.connect(all[static_cast<std::size_t>(watcher)].line, all.front().key);
    line_.tell(ranks_.standing().doing.load());
    last_told_ = Clock::now();
}

void LifeWatch::look() {
    const auto now = Clock::now();
    // While the process itself was stopped, nothing was to be heard.
    const double since = std::min(1.0, std::chrono::duration<double>(now - last_look_).count());
    last_look_ = now;
    if (!watched_.empty()) {
        if (now - last_told_ >= std::chrono::milliseconds(500)) {
            last_told_ = now;
            line_.tell(ranks_.standing().doing.load());
        }
        listen(since);
    }
    RankStanding& standing = ranks_.standing();
    if (const std::string signal = signal_received(2);
        !signal.empty() && !standing.attended && !standing.ends.exchange(true)) {
        tell_error(format_error({"stopped while " + std::string(standing.doing.load()),
                                 "signal " + signal, "", "The same command resumes the job"}));
        ranks_.abort(ExitCode::stopped);
    }
}

void LifeWatch::listen(double since) {
    if (const auto text = line_.hear()) {
        heard_ = *text;
        silence_ = 0;
    } else if (!heard_.empty() && heard_ != over) {
        silence_ += since;
    }
    RankStanding& standing = ranks_.standing();
    const double limit = standing.stall_seconds;
    if (limit > 0 && silence_ > limit && !standing.ends.exchange(true)) {
        tell_error(format_error({"a rank gives no sign of life", watched_,
                                 "for " + duration_text(silence_) + "; it was " + heard_,
                                 "Check its host; then run the same command: it resumes"}));
        ranks_.abort(ExitCode::launch);
    }
}

} // namespace runner
