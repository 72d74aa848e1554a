// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/heartbeat.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace runner {
namespace {

/// One write of it is whole to every reader.
constexpr std::int64_t beat_bytes = 128;

std::string beat_path(const std::string& folder, int rank) {
    return fmt::format("{}/alive-{}", folder, rank);
}

/// The last sign in a file; nothing while there is none, as when its rank makes the file again.
std::string read_beat(const std::string& path) {
    std::string text(beat_bytes, ' ');
    try {
        File(path, File::Mode::read).read(0, beat_bytes, reinterpret_cast<std::byte*>(text.data()));
    } catch (const Error&) {
        return {};
    }
    return text;
}

} // namespace

Heartbeat::Heartbeat(const std::string& folder, int rank, int ranks, std::string host)
    : folder_(folder), watched_((rank + 1) % ranks), alone_(ranks == 1), host_(std::move(host)),
      own_(beat_path(folder, rank), File::Mode::create) {
    beat();
}

void Heartbeat::beat() {
    // A process that was stopped itself has not listened meanwhile: a tick counts a second at most.
    constexpr double longest_tick = 1;
    if (alone_) {
        return;
    }
    std::string text = fmt::format("{} {}", ++count_, host_);
    text.resize(beat_bytes, ' ');
    own_.write(0, beat_bytes, reinterpret_cast<const std::byte*>(text.data()));
    const auto now = Clock::now();
    const std::chrono::duration<double> since = now - last_beat_;
    silence_ = heard_.empty() ? 0 : silence_ + std::min(since.count(), longest_tick);
    last_beat_ = now;
    const std::string heard = read_beat(beat_path(folder_, watched_));
    if (!heard.empty() && heard != heard_) {
        heard_ = heard;
        silence_ = 0;
    }
}

std::string Heartbeat::watched() const {
    std::string text = fmt::format("rank {}", watched_);
    const std::size_t begin = heard_.find(' ');
    if (begin != std::string::npos) {
        text += " on " + heard_.substr(begin + 1, heard_.find_last_not_of(' ') - begin);
    }
    return text;
}

} // namespace runner
