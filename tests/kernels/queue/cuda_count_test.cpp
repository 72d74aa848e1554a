// SPDX-License-Identifier: BSD-3-Clause
// How a CUDA queue counts its work, on a stand-in for the CUDA runtime.
#include "base/error.hpp"
#include "kernels/queue/cuda_queue.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"

#include <gtest/gtest.h>

namespace runner {
namespace {

TEST(CudaCount, CountsWhatTheDeviceHasDoneAndWaitsWhenMuchIsUnderWay) {
    fake_cuda::reset();
    {
        CudaQueue queue(0);
        for (int i = 0; i < 4; ++i) {
            queue.count(10);
        }
        EXPECT_EQ(queue.meter()->done(), 0);
        EXPECT_EQ(fake_cuda::calls("cudaEventSynchronize"), 0);
        queue.count(7);
        EXPECT_EQ(queue.meter()->done(), 10);
        queue.count(7);
        EXPECT_EQ(queue.meter()->done(), 20);
        EXPECT_EQ(fake_cuda::calls("cudaEventSynchronize"), 2);
        EXPECT_EQ(fake_cuda::calls("cudaEventCreateWithFlags"), 4); // and used again
        queue.synchronize();
        queue.settle();
        EXPECT_EQ(queue.meter()->done(), 54);
        queue.settle();
        EXPECT_EQ(queue.meter()->done(), 54);
    }
    EXPECT_EQ(fake_cuda::live(), 0);
    EXPECT_TRUE(fake_cuda::violations().empty());
}

TEST(CudaCount, DroppedWorkIsGivenUpAfterWhatIsUnderWay) {
    fake_cuda::reset();
    {
        CudaQueue queue(0);
        queue.count(1);
        queue.meter()->drop();
        EXPECT_THROW(queue.count(1), WorkDropped);
        queue.synchronize();
        queue.settle();
        EXPECT_EQ(queue.meter()->done(), 1);
    }
    EXPECT_EQ(fake_cuda::live(), 0);
}

TEST(CudaCount, AFailureOfTheWorkIsSeenWhileItIsCounted) {
    fake_cuda::reset();
    CudaQueue queue(0);
    fake_cuda::fail("cudaEventSynchronize", 1, 716, fake_cuda::Again::no);
    for (int i = 0; i < 4; ++i) {
        queue.count(1);
    }
    EXPECT_THROW(queue.count(1), Error);
}

} // namespace
} // namespace runner
