// SPDX-License-Identifier: BSD-3-Clause
// Queues on streams of other libraries, on a stand-in for the CUDA runtime.
#include "kernels/queue/queue.hpp"

#include "tests/fake_cuda/fake_cuda.hpp"

#include <cstdint>
#include <variant>

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(BorrowedStream, IsWorkedInAndNeitherWaitedForNorDestroyed) {
    fake_cuda::reset();
    {
        CudaQueue owner(0);
        const auto live = fake_cuda::live();
        {
            const auto handle = reinterpret_cast<std::uintptr_t>(owner.stream());
            Queue borrowed = borrow_stream(0, handle);
            auto& queue = std::get<CudaQueue>(borrowed);
            EXPECT_EQ(queue.stream(), owner.stream());
            for (int i = 0; i < 20; ++i) {
                queue.count(10);
            }
            queue.settle();
            EXPECT_EQ(queue.meter()->done(), 0);
            Queue moved = std::move(borrowed);
            EXPECT_EQ(std::get<CudaQueue>(moved).stream(), owner.stream());
        }
        EXPECT_EQ(fake_cuda::live(), live);
        EXPECT_EQ(fake_cuda::calls("cudaEventCreateWithFlags"), 0);
        EXPECT_EQ(fake_cuda::calls("cudaEventSynchronize"), 0);
        EXPECT_EQ(fake_cuda::calls("cudaStreamSynchronize"), 0);
        EXPECT_EQ(fake_cuda::calls("cudaStreamDestroy"), 0);
    }
    EXPECT_EQ(fake_cuda::calls("cudaStreamDestroy"), 1);
    EXPECT_EQ(fake_cuda::live(), 0);
    EXPECT_TRUE(fake_cuda::violations().empty());
}

TEST(BorrowedStream, MayBeTheDefaultOne) {
    fake_cuda::reset();
    { EXPECT_EQ(std::get<CudaQueue>(borrow_stream(0, 0)).stream(), nullptr); }
    EXPECT_EQ(fake_cuda::calls("cudaStreamDestroy"), 0);
}

TEST(BorrowedStream, TheCurrentDeviceComesBack) {
    fake_cuda::reset();
    {
        const CurrentDeviceKeeper keeper;
        CudaQueue(3, nullptr).make_current();
        EXPECT_EQ(fake_cuda::current_device(), 3);
    }
    EXPECT_EQ(fake_cuda::current_device(), 0);
    EXPECT_TRUE(has_cuda());
}

} // namespace
} // namespace runner
