// SPDX-License-Identifier: BSD-3-Clause
#include "runner/job_file/same_file.hpp"

#include <filesystem>
#include <system_error>

namespace runner {

namespace fs = std::filesystem;

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code failure;
    if (fs::equivalent(a, b, failure) && !failure) {
        return true;
    }
    const fs::path path_a = fs::weakly_canonical(fs::absolute(a, failure), failure);
    const fs::path path_b = fs::weakly_canonical(fs::absolute(b, failure), failure);
    return !failure && path_a == path_b;
}

} // namespace runner
