// SPDX-License-Identifier: BSD-3-Clause
#include "runner/batch/batch_tally.hpp"

#include <sstream>

namespace runner {

std::int64_t BatchTally::settled() const {
    std::set<std::size_t> all = done;
    all.insert(already.begin(), already.end());
    for (const auto& [index, code] : failed) {
        all.insert(index);
    }
    return static_cast<std::int64_t>(all.size());
}

ExitCode BatchTally::code() const {
    if (stopped) {
        return ExitCode::stopped;
    }
    return failed.empty() ? ExitCode::ok : failed.begin()->second;
}

std::string BatchTally::words() const {
    std::string text = stopped ? "1" : "0";
    for (const std::size_t index : done) {
        text += " d " + std::to_string(index);
    }
    for (const std::size_t index : already) {
        text += " a " + std::to_string(index);
    }
    for (const auto& [index, code] : failed) {
        text += " f " + std::to_string(index) + " " + std::to_string(static_cast<int>(code));
    }
    return text;
}

void BatchTally::add(const std::string& words) {
    std::istringstream stream(words);
    bool is_stopped = false;
    stream >> is_stopped;
    stopped = stopped || is_stopped;
    char what = 0;
    for (std::size_t index = 0; stream >> what >> index;) {
        int code = 0;
        if (what == 'f' && stream >> code) {
            failed.emplace(index, static_cast<ExitCode>(code));
        } else if (what == 'd') {
            done.insert(index);
        } else {
            already.insert(index);
        }
    }
}

} // namespace runner
