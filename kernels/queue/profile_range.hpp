// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace runner {

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
