// SPDX-License-Identifier: BSD-3-Clause
#include "runner/output/commits.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace runner::output {

using Clock = std::chrono::steady_clock;

Commits::Commits(RowWriter& writer, JournalWriter journal, double seconds, RowWriter::Sync sync)
    : writer_(writer), journal_(std::move(journal)), seconds_(seconds), sync_(sync),
      thread_([this] { commit_now_and_then(); }) {}

Commits::~Commits() { end_thread(); }

void Commits::end_thread() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Commits::add(std::span<const RowHash> rows) {
    const std::lock_guard lock(mutex_);
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    waiting_.insert(waiting_.end(), rows.begin(), rows.end());
    started_ = false;
    if (seconds_ == 0) {
        changed_.notify_all();
    }
}

void Commits::flush() {
    std::unique_lock lock(mutex_);
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return failure_ != nullptr || (waiting_.empty() && !busy_); });
    hurry_ = false;
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

void Commits::finish() {
    end_thread();
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    commit(std::exchange(waiting_, {}));
}

void Commits::commit(const std::vector<RowHash>& rows) {
    if (rows.empty()) {
        return;
    }
    const auto start = Clock::now();
    sync_ == RowWriter::Sync::yes ? writer_.sync() : writer_.hand_over();
    journal_.append(rows);
    const std::chrono::duration<double> took = Clock::now() - start;
    longest_seconds_ = std::max<double>(longest_seconds_, took.count());
}

void Commits::start_sync(std::unique_lock<std::mutex>& lock) {
    if (started_ || sync_ == RowWriter::Sync::no) {
        return;
    }
    started_ = true;
    lock.unlock();
    writer_.start_sync();
    lock.lock();
}

void Commits::commit_now_and_then() {
    constexpr std::chrono::milliseconds between_starts{100};
    std::unique_lock lock(mutex_);
    auto next = Clock::now();
    while (!over_) {
        next = std::max(Clock::now(), next + std::chrono::duration_cast<Clock::duration>(
                                                 std::chrono::duration<double>(seconds_)));
        while (!over_ && !hurry_ && Clock::now() < next) {
            changed_.wait_until(lock, std::min(next, Clock::now() + between_starts),
                                [&] { return over_ || hurry_; });
            start_sync(lock);
        }
        changed_.wait(lock, [&] { return over_ || !waiting_.empty(); });
        if (over_) {
            return;
        }
        const std::vector<RowHash> rows = std::exchange(waiting_, {});
        busy_ = true;
        lock.unlock();
        std::exception_ptr failure;
        try {
            commit(rows);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        busy_ = false;
        failure_ = failure;
        changed_.notify_all();
        if (failure) {
            return;
        }
    }
}

} // namespace runner::output
