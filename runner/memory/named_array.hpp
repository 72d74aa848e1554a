// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"

#include <cstddef>
#include <string>

namespace runner {

/// A dense, row-major array of this process that a job's text names as if it were a file.
struct NamedArray {
    std::string name;
    ArrayInfo array;
    const std::byte* data = nullptr;
};

} // namespace runner
