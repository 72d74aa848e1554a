// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "runner/watch/stages.hpp"

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace runner {

/// The threads of an engine's stages. The first failure of any is kept and ends all.
class StageThreads {
  public:
    /// `cut` wakes every thread from whatever it waits for, so that it ends; it may be called from
    /// any thread, more than once. `place` says what a failing stage worked on, for the message:
    /// "read of chunk 7, rows 0 to 63"; it is called from the thread of that stage.
    StageThreads(std::function<void()> cut, std::function<std::string(Stage)> place)
        : cut_(std::move(cut)), place_(std::move(place)) {}
    StageThreads(const StageThreads&) = delete;
    StageThreads& operator=(const StageThreads&) = delete;
    /// Cuts and joins what still runs.
    ~StageThreads();

    /// Runs `body` in a thread of its own. What it throws is kept, an Error with its place.
    void start(Stage stage, std::function<void()> body);
    void join();
    bool failed() const;
    /// @throws the first failure, if there is one.
    void rethrow_failure() const;

  private:
    void run(Stage stage, const std::function<void()>& body);
    void fail(std::exception_ptr failure);
    std::exception_ptr with_place(Stage stage, const Error& error) const;

    std::function<void()> cut_;
    std::function<std::string(Stage)> place_;
    std::vector<std::thread> threads_;
    mutable std::mutex mutex_;
    std::exception_ptr failure_;
};

} // namespace runner
