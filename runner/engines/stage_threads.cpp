// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/stage_threads.hpp"

#include "base/limits.hpp"

#include <optional>

namespace runner {

StageThreads::~StageThreads() {
    cut_();
    join();
}

void StageThreads::start(Stage stage, std::function<void()> body) {
    threads_.emplace_back([this, stage, body = std::move(body)] { run(stage, body); });
}

void StageThreads::run(Stage stage, const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        fail(with_place(stage, error));
    } catch (const std::exception& error) {
        const std::optional<Error> known = system_failure(error);
        known ? fail(with_place(stage, *known)) : fail(std::current_exception());
    } catch (...) {
        fail(std::current_exception());
    }
}

void StageThreads::fail(std::exception_ptr failure) {
    {
        const std::lock_guard lock(mutex_);
        if (!failure_) {
            failure_ = std::move(failure);
        }
    }
    cut_();
}

std::exception_ptr StageThreads::with_place(Stage stage, const Error& error) const {
    ErrorText text = error.text();
    text.where += std::string(text.where.empty() ? "" : "; ") + place_(stage);
    return std::make_exception_ptr(Error(error.code(), std::move(text)));
}

void StageThreads::join() {
    for (std::thread& thread : threads_) {
        thread.join();
    }
    threads_.clear();
}

bool StageThreads::failed() const {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
}

void StageThreads::rethrow_failure() const {
    const std::lock_guard lock(mutex_);
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

} // namespace runner
