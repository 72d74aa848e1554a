// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/queue/devices.hpp"

#include <source_location>
#include <string>

#include <cuda_runtime_api.h>

namespace runner {

/// @throws Error (gpu) with the first error's text where device_lost().
void refuse_lost_device();

/// Remembers an error after which no CUDA call can succeed; gives `status` back.
cudaError_t noted(cudaError_t status) noexcept;

/// "file.cu:12".
std::string place_text(const std::source_location& place);

/// @throws Error (gpu) for a failed call; OutOfMemory where that is the reason. `where`: of the
/// call, for a person who mends the program.
[[noreturn]] void throw_cuda_error(cudaError_t status, const std::string& where);

/// Makes a CUDA call, `[&] { return cudaX(…); }`, and gives its status. This, cuda_call and
/// cuda_release are the only ways to CUDA: none goes there once the device is lost.
/// @throws Error (gpu) where it is.
template <class Call> cudaError_t cuda_status(const Call& call) {
    refuse_lost_device();
    return noted(call());
}

/// The same for a call that must succeed. @throws Error (gpu) unless it does.
template <class Call>
void cuda_call(const Call& call, std::source_location place = std::source_location::current()) {
    if (const cudaError_t status = cuda_status(call); status != cudaSuccess) {
        throw_cuda_error(status, place_text(place));
    }
}

/// The same for giving something back: nothing once the device is lost, since all went with it. A
/// failure is of work before and comes back from the next call.
template <class Call> void cuda_release(const Call& call) noexcept {
    if (!device_lost()) {
        (void)noted(call());
    }
}

} // namespace runner
