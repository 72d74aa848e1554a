// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/queue/cuda_call.hpp"

#include "base/error.hpp"
#include "base/format.hpp"

#include <algorithm>
#include <atomic>
#include <initializer_list>

namespace runner {
namespace {

/// The first error that made CUDA unusable, or cudaSuccess. A fact of the process, like the dead
/// context itself: all threads and queues share it.
std::atomic<cudaError_t>& first_loss() {
    static std::atomic<cudaError_t> loss{cudaSuccess};
    return loss;
}

// Names that older headers have not.
constexpr auto contained = static_cast<cudaError_t>(226);
constexpr auto tensor_memory_leak = static_cast<cudaError_t>(721);

bool is_one_of(cudaError_t status, std::initializer_list<cudaError_t> errors) {
    return std::find(errors.begin(), errors.end(), status) != errors.end();
}

/// Errors that come from the GPU or the machine rather than from a kernel.
bool is_of_hardware(cudaError_t status) {
    return is_one_of(status, {cudaErrorDevicesUnavailable, cudaErrorECCUncorrectable,
                              cudaErrorNvlinkUncorrectable, contained, cudaErrorExternalDevice,
                              cudaErrorUnknown});
}

/// CUDA's list of errors that leave "the process in an inconsistent state", and those of hardware.
bool is_loss(cudaError_t status) {
    return is_of_hardware(status) ||
           is_one_of(status,
                     {cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorContextIsDestroyed,
                      cudaErrorAssert, cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
                      cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,
                      cudaErrorLaunchFailure, tensor_memory_leak, cudaErrorMpsClientTerminated,
                      cudaErrorCudartUnloading});
}

/// Errors that only a wrong call or launch brings about.
bool is_of_program(cudaError_t status) {
    return is_one_of(status, {cudaErrorInvalidValue, cudaErrorInvalidConfiguration,
                              cudaErrorInvalidDeviceFunction, cudaErrorInvalidResourceHandle,
                              cudaErrorLaunchOutOfResources});
}

/// Asks no device, so it may be called when there is none any more.
std::string error_text(cudaError_t status) {
    return fmt::format("CUDA error {}, {}, {}", status, cudaGetErrorName(status),
                       cudaGetErrorString(status));
}

[[noreturn]] void throw_loss(cudaError_t status) {
    throw Error(ExitCode::gpu,
                {"the GPU failed", "", error_text(status),
                 std::string("The rows committed so far are kept: the same command resumes with "
                             "the others. ") +
                     (is_of_hardware(status)
                          ? "First look for Xid in dmesg on that host, and drain it if it is broken"
                          : "If it comes again, look for Xid in dmesg on that host; without one "
                            "it is a defect of the program: please report it")});
}

} // namespace

bool device_lost() noexcept { return first_loss() != cudaSuccess; }

void refuse_lost_device() {
    if (const cudaError_t loss = first_loss(); loss != cudaSuccess) {
        throw_loss(loss);
    }
}

cudaError_t noted(cudaError_t status) noexcept {
    if (is_loss(status)) {
        cudaError_t none = cudaSuccess;
        first_loss().compare_exchange_strong(none, status);
    }
    return status;
}

std::string place_text(const std::source_location& place) {
    const std::string file = place.file_name();
    return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1), place.line());
}

void throw_cuda_error(cudaError_t status, const std::string& where) {
    refuse_lost_device();
    if (status == cudaErrorMemoryAllocation) {
        throw OutOfMemory(ExitCode::gpu, {"cannot take device memory", where, error_text(status),
                                          "Set run.device_memory lower"});
    }
    std::string hint;
    if (status == cudaErrorNoKernelImageForDevice) {
        hint = "Build the runner with this GPU's architecture in CMAKE_CUDA_ARCHITECTURES";
    } else if (is_of_program(status)) {
        hint = "This is a defect of the program: please report it with this line";
    }
    throw Error(ExitCode::gpu, {"a CUDA call failed", where, error_text(status), hint});
}

} // namespace runner
