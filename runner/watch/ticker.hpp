// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace runner {

/// Calls a function a few times a second from a thread of its own until it is destroyed.
class Ticker {
  public:
    explicit Ticker(std::function<void()> look)
        : look_(std::move(look)), thread_([this] { tick(); }) {}
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;
    ~Ticker() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }

  private:
    void tick() {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, std::chrono::milliseconds(200), [&] { return over_; })) {
            look_();
        }
    }

    std::function<void()> look_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool over_ = false;
    std::thread thread_;
};

} // namespace runner
