// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace runner {

/// "1 row", "2 rows"; `many` where it is not `one` with an s.
inline std::string counted(std::int64_t count, std::string_view one, std::string_view many = {}) {
    std::string text = std::to_string(count) + " ";
    if (count == 1) {
        return text.append(one);
    }
    return many.empty() ? text.append(one).append("s") : text.append(many);
}

} // namespace runner
