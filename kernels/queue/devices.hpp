// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// One GPU as this process sees it.
struct DeviceInfo {
    int index = 0; ///< CUDA's, among the visible ones
    std::string name;
    std::string uuid; ///< "GPU-…", the same in every process
    std::string pci;  ///< "0000:18:00.0"
    int major = 0;    ///< compute capability
    int minor = 0;
    int multiprocessors = 0;
    int copy_engines = 0;
    std::int64_t memory_total = 0;
    std::int64_t memory_free = 0;
    std::int64_t l2_bytes = 0;
    std::int64_t shared_bytes = 0; ///< a block may have
    std::vector<int> peers;        ///< indices of visible devices it can reach directly
};

/// The visible GPUs without their memory in use: no context is made. None where there is no driver,
/// and none in a build without CUDA. @throws Error (gpu) when CUDA reports another failure.
std::vector<DeviceInfo> visible_devices();

/// Bytes free on the device now; makes the device's context.
std::int64_t free_device_memory(int device);

/// "CUDA 13.0, driver 13.0", or "none" in a build without CUDA. Does not start the driver.
std::string cuda_versions();

/// Whether a CUDA call of this process met an error after which no other can succeed: the context
/// is dead, and so are all memory and work on the device. From then on the functions of kernels/
/// make no CUDA call; they throw Error (gpu), and releases do nothing. Whoever ends the process
/// leaves by _exit, past the CUDA runtime's own clean-up. False in a build without CUDA.
bool device_lost() noexcept;

/// Starts the driver, which takes about as long as MPI does: call it in a thread of its own beside.
void start_driver() noexcept;

/// Starts the driver and makes the context of a device: of `nth`, or of nth modulo their number.
void start_device(int nth) noexcept;

/// A named span of the calling thread's time in NVIDIA's profilers (NVTX); nothing in a build
/// without CUDA. `name` is a literal.
class ProfileRange {
  public:
    explicit ProfileRange(const char* name);
    ProfileRange(const ProfileRange&) = delete;
    ProfileRange& operator=(const ProfileRange&) = delete;
    ~ProfileRange();
};

} // namespace runner
