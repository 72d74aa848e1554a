// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// What a frame of a scan is. The names follow the numbers of NXtomo's image_key from 0 on;
/// an alignment frame is one that its image_key_control says to be -1.
enum class FrameRole : std::uint8_t { projection, flat, dark, invalid, background, alignment };

inline constexpr FrameRole last_role = FrameRole::alignment;

/// The role of an image_key's number; nothing for a number without a meaning.
std::optional<FrameRole> role_of_key(std::int64_t key);

/// The number of a role in an image_key: 0 for an alignment frame, as ESRF's programs write it.
std::int64_t key_of_role(FrameRole role);

/// "projection", "flat" and so on.
std::string_view name_of(FrameRole role);

/// What a file says of the frames of one of its datasets.
struct FrameRoles {
    std::string key = {}; ///< the dataset of the same file that says it
    /// The role of each element of the first axis; empty where the file says nothing, or what it
    /// says cannot be right.
    std::vector<FrameRole> frames = {};
    /// Why they are not known although the file has or should have them; else empty.
    std::string fault = {};
    /// The groups of that file where other lists of the frames may be, such as their times.
    std::vector<std::string> groups = {};

    bool known() const { return !frames.empty(); }
    /// The numbers of the frames of this role, rising.
    std::vector<std::int64_t> of(FrameRole role) const;
    /// "1200 projections, 40 flats, 20 darks", without the roles that no frame has.
    std::string counts_text() const;

    bool operator==(const FrameRoles&) const = default;
};

/// What to write where the roles have a fault, for messages.
inline constexpr const char* roles_remedy = "or take every frame: frames = \"all\"";

} // namespace runner
