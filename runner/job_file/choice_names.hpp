// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/job_file/job_file.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace runner {

/// The values of run.backend and run.resume, in the order of BackendChoice and ResumeChoice.
inline constexpr std::array backend_names = {"auto", "cpu", "cuda"};
inline constexpr std::array resume_names = {"auto", "never", "require"};

inline std::string_view name_of(BackendChoice choice) {
    return backend_names.at(static_cast<std::size_t>(choice));
}
inline std::string_view name_of(ResumeChoice choice) {
    return resume_names.at(static_cast<std::size_t>(choice));
}

} // namespace runner
