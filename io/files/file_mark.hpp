// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

namespace runner {

/// By what a file is known to be the same: its bytes and time. `bytes` is -1 where there is none.
struct FileMark {
    std::int64_t bytes = -1;
    std::int64_t modified = 0; ///< nanoseconds since 1970

    bool operator==(const FileMark&) const = default;
    static auto members(auto& self) { return std::tie(self.bytes, self.modified); }
};
FileMark mark_of(const std::string& path);

} // namespace runner
