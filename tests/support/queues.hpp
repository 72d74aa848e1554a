// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "kernels/queue/queue.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace runner {

#if defined(RUNNER_HAS_CUDA)
using TestQueues = testing::Types<CpuQueue, CudaQueue>;
#else
using TestQueues = testing::Types<CpuQueue>;
#endif

/// A fixture for TYPED_TEST_SUITE(…, TestQueues): one test source for every backend. Without a GPU
/// the CUDA form is skipped with the reason, and fails where RUNNER_REQUIRE_GPU is 1.
template <class Q> class QueueTest : public testing::Test {
  protected:
    static constexpr Backend backend = std::is_same_v<Q, CpuQueue> ? Backend::cpu : Backend::cuda;

    void SetUp() override {
        if constexpr (std::is_same_v<Q, CpuQueue>) {
            queue_ = std::make_unique<Q>(2);
        } else {
            open_gpu();
        }
    }

    Q& queue() { return *queue_; }

  private:
    void open_gpu() {
        try {
            queue_ = std::make_unique<Q>(0);
        } catch (const Error& error) {
            const char* required = std::getenv("RUNNER_REQUIRE_GPU");
            if (required != nullptr && std::string_view(required) == "1") {
                FAIL() << "RUNNER_REQUIRE_GPU is 1: " << error.what();
            }
            GTEST_SKIP() << "no GPU to test on: " << error.what();
        }
    }

    std::unique_ptr<Q> queue_;
};

/// Device memory that holds a copy of `bytes` before an operation and gives it back after.
template <class Q> class DeviceBytes {
  public:
    DeviceBytes(Q& queue, const std::vector<std::byte>& bytes)
        : queue_(queue), size_(bytes.size()), staging_(allocate_staging(queue, length())),
          device_(allocate_device(queue, length())) {
        std::copy(bytes.begin(), bytes.end(), staging_.data());
        upload(queue_, device_.data(), staging_.data(), length());
        queue_.synchronize();
    }

    std::byte* data() const { return device_.data(); }

    std::vector<std::byte> fetch() const {
        download(queue_, staging_.data(), device_.data(), length());
        queue_.synchronize();
        return {staging_.data(), staging_.data() + size_};
    }

  private:
    std::int64_t length() const { return static_cast<std::int64_t>(size_); }

    Q& queue_;
    std::size_t size_;
    Buffer staging_;
    Buffer device_;
};

} // namespace runner
