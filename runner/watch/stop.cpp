// SPDX-License-Identifier: BSD-3-Clause
#include "runner/watch/stop.hpp"

#include "io/files/descriptor.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace runner {
namespace {

constexpr std::array signals = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGXCPU};

/// What the handler leaves: all that a handler may touch.
struct Received {
    std::atomic<int> count{0};
    std::atomic<int> last{0};
};
static_assert(std::atomic<int>::is_always_lock_free);

Received& received() {
    static Received all;
    return all;
}

void note_signal(int number) {
    constexpr int most = 3;
    Received& all = received();
    all.last = number;
    if (++all.count >= most) {
        ::_exit(128 + number);
    }
}

void set_handler(int number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, nullptr); // fails for no signal that there is
}

} // namespace

void take_signals_over() {
    for (const int number : signals) {
        set_handler(number, note_signal);
    }
    set_handler(SIGPIPE, SIG_IGN);
    set_handler(SIGXFSZ, SIG_IGN);
}

std::string signal_received(int least) {
    return received().count >= least ? ::sigabbrev_np(received().last) : "";
}

Stop::Stop(std::vector<std::string> files, int ranks)
    : files_(std::move(files)), interval_(interval(ranks)) {}

std::chrono::milliseconds Stop::interval(int ranks) {
    using std::chrono::milliseconds;
    constexpr milliseconds share(10); // 1000 ranks: 500 looks a second (docs/scale.md)
    constexpr milliseconds most(2000);
    return ranks <= 1 ? milliseconds(0) : std::min(share * ranks, most);
}

StopLevel Stop::level() const {
    const int signals_seen = received().count;
    if (signals_seen >= 2 || drops_) {
        return StopLevel::drop_chunks;
    }
    return signals_seen == 1 || asked_ ? StopLevel::finish_chunks : StopLevel::none;
}

void Stop::ask(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (!asked_.exchange(true)) {
        reason_ = reason;
    }
}

void Stop::ask_to_drop(const std::string& reason) {
    ask(reason);
    drops_ = true;
}

void Stop::look() {
    const bool is_time = Clock::now() >= next_look_;
    if (is_time) {
        next_look_ = Clock::now() + interval_;
    }
    for (const std::string& file : files_) {
        if (is_time && !asked_ && ::access(file.c_str(), F_OK) == 0) {
            ask(&file == &files_.back() ? other_rank : "the file " + file);
        }
    }
    if (level() != StopLevel::none && !told_) {
        told_ = true;
        // One that is there tells as much, and none is written through a link.
        const int descriptor = uninterrupted([&] {
            return ::open(files_.back().c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        });
        if (descriptor >= 0) { // where it cannot be made each rank waits for its own signal
            ::close(descriptor);
        }
    }
}

std::string Stop::reason() const {
    if (const int number = received().last; received().count > 0) {
        return std::string("signal ") + ::sigabbrev_np(number);
    }
    const std::lock_guard lock(mutex_);
    return reason_;
}

} // namespace runner
