// SPDX-License-Identifier: BSD-3-Clause
#include "io/metadata/metadata.hpp"

#include "base/array_info.hpp"

namespace runner {

std::int64_t PlainValue::count() const {
    switch (space) {
    case Space::empty: return 0;
    case Space::scalar: return 1;
    case Space::simple: return checked_product(shape);
    }
    return 0;
}

bool is_member_name(const std::string& name) {
    constexpr std::size_t longest = 255;
    return !name.empty() && name.size() <= longest && name != "." && name != ".." &&
           name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

} // namespace runner
