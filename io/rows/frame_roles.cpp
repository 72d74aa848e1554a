// SPDX-License-Identifier: BSD-3-Clause
#include "io/rows/frame_roles.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace runner {
namespace {

/// In the order of the type's values.
constexpr std::array<std::string_view, 6> role_names = {"projection", "flat",       "dark",
                                                        "invalid",    "background", "alignment"};

/// "3 darks", "1 alignment frame".
std::string count_text(FrameRole role, std::int64_t count) {
    const bool is_noun = role <= FrameRole::dark;
    return counted(count, std::string(name_of(role)) + (is_noun ? "" : " frame"));
}

} // namespace

std::optional<FrameRole> role_of_key(std::int64_t key) {
    if (key == -1) {
        return FrameRole::alignment;
    }
    return key >= 0 && key <= static_cast<std::int64_t>(FrameRole::background)
               ? std::optional(static_cast<FrameRole>(key))
               : std::nullopt;
}

std::int64_t key_of_role(FrameRole role) {
    return role == FrameRole::alignment ? 0 : static_cast<std::int64_t>(role);
}

std::string_view name_of(FrameRole role) { return role_names.at(static_cast<std::size_t>(role)); }

std::vector<std::int64_t> FrameRoles::of(FrameRole role) const {
    std::vector<std::int64_t> found;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (frames[i] == role) {
            found.push_back(static_cast<std::int64_t>(i));
        }
    }
    return found;
}

std::string FrameRoles::counts_text() const {
    std::string text;
    for (int i = 0; i <= static_cast<int>(last_role); ++i) {
        const auto role = static_cast<FrameRole>(i);
        if (const auto count = std::count(frames.begin(), frames.end(), role); count > 0) {
            text += (text.empty() ? "" : ", ") + count_text(role, count);
        }
    }
    return text;
}

} // namespace runner
