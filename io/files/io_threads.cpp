// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/io_threads.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <string>
#include <system_error>
#include <utility>

namespace runner {

IoThreads::IoThreads(int threads) {
    workers_.reserve(static_cast<std::size_t>(threads));
    try {
        for (int thread = 1; thread < threads; ++thread) {
            workers_.emplace_back(
                [this, thread](const std::stop_token& stop) { serve(stop, thread); });
        }
    } catch (const std::system_error& failure) {
        throw Error(ExitCode::launch, {"cannot start a thread for input and output",
                                       fmt::format("{} of {}", workers_.size() + 1, threads),
                                       failure.code().message(), "Set run.io_threads lower"});
    }
}

void IoThreads::run(std::int64_t count, const Work& work) {
    if (count == 1) { // waking the others takes longer than many an item
        work(0, 0);
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        work_ = &work;
        count_ = count;
        next_ = 0;
        failure_ = nullptr;
        busy_ = static_cast<int>(workers_.size());
        ++round_;
    }
    if (!workers_.empty()) {
        begin_.notify_all();
    }
    take_items(0);
    std::unique_lock lock(mutex_);
    end_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

void IoThreads::serve(const std::stop_token& stop, int thread) {
    std::int64_t seen = 0;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            if (!begin_.wait(lock, stop, [&] { return round_ != seen; })) {
                return;
            }
            seen = round_;
        }
        take_items(thread);
        const std::lock_guard lock(mutex_);
        if (--busy_ == 0) {
            end_.notify_all();
        }
    }
}

void IoThreads::take_items(int thread) {
    std::unique_lock lock(mutex_);
    while (next_ < count_) {
        const std::int64_t index = next_++;
        lock.unlock();
        std::exception_ptr failure;
        try {
            (*work_)(index, thread);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure && (!failure_ || index < failed_index_)) {
            failure_ = failure;
            failed_index_ = index;
            next_ = count_;
        }
    }
}

} // namespace runner
