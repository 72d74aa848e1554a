// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/borrowed_stream.hpp"

#include "kernels/queue/cuda_call.hpp"

namespace runner {

bool has_cuda() noexcept { return true; }

Queue borrow_stream(int device, std::uintptr_t stream) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): other libraries pass streams as numbers
    return CudaQueue(device, reinterpret_cast<CUstream_st*>(stream));
}

CurrentDeviceKeeper::CurrentDeviceKeeper() noexcept {
    cuda_release([&] { return cudaGetDevice(&device_); });
}

CurrentDeviceKeeper::~CurrentDeviceKeeper() {
    cuda_release([&] { return cudaSetDevice(device_); });
}

} // namespace runner
