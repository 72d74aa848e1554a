// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/phases.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include <time.h>
#include <unistd.h>

namespace runner {
namespace {

double seconds_between(Phases::Clock::time_point begin, Phases::Clock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

/// How long this process has lived, in steps of 10 ms: field 22 of /proc/self/stat (proc(5)) is
/// when it began, in ticks since the machine's start. 0 where that cannot be read.
double process_age() {
    std::ifstream file("/proc/self/stat");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t name_end = text.rfind(')'); // the name may hold spaces
    timespec now{};
    if (name_end == std::string::npos || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
        return 0;
    }
    std::size_t at = name_end + 1;
    constexpr int fields_behind_name = 20; // to field 22
    for (int field = 0; field < fields_behind_name && at != std::string::npos; ++field) {
        at = text.find(' ', at + (field > 0 ? 1 : 0));
    }
    if (at == std::string::npos) {
        return 0;
    }
    const double ticks = std::strtod(text.c_str() + at, nullptr);
    const double began = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return std::max(0.0, static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
                             began);
}

} // namespace

Phases::Phases(Clock::time_point start, std::string next) : name_(std::move(next)), begun_(start) {
    done_.push_back(
        {"loading", std::max(0.0, process_age() - seconds_between(start, Clock::now()))});
}

void Phases::add(const std::string& name, double seconds) {
    const auto same = std::find_if(done_.begin(), done_.end(),
                                   [&](const Phase& phase) { return phase.name == name; });
    if (same != done_.end()) {
        same->seconds += seconds;
    } else {
        done_.push_back({name, seconds});
    }
}

void Phases::begin(std::string name) {
    const Clock::time_point now = Clock::now();
    add(name_, seconds_between(begun_, now));
    name_ = std::move(name);
    begun_ = now;
}

void Phases::split(const std::string& name, double seconds) {
    const Clock::time_point now = Clock::now();
    const double all = seconds_between(begun_, now);
    const double apart = std::clamp(seconds, 0.0, all);
    add(name_, all - apart);
    add(name, apart);
    begun_ = now;
}

std::vector<Phase> Phases::until_now() const {
    Phases copy = *this;
    copy.begin("");
    return copy.done_;
}

} // namespace runner
