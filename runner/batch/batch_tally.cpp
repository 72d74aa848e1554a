// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_tally.hpp"

namespace runner::batch {

std::int64_t Tally::settled() const {
    std::set<std::size_t> all = done;
    all.insert(already.begin(), already.end());
    for (const auto& [index, code] : failed) {
        all.insert(index);
    }
    return static_cast<std::int64_t>(all.size());
}

std::int64_t Tally::finished() const {
    std::set<std::size_t> all = done;
    all.insert(already.begin(), already.end());
    return static_cast<std::int64_t>(all.size());
}

ExitCode Tally::code() const {
    if (stopped) {
        return ExitCode::stopped;
    }
    return failed.empty() ? ExitCode::ok : failed.begin()->second;
}

void Tally::add(const Tally& other) {
    done.insert(other.done.begin(), other.done.end());
    already.insert(other.already.begin(), other.already.end());
    failed.insert(other.failed.begin(), other.failed.end());
    stopped = stopped || other.stopped;
}

} // namespace runner::batch
