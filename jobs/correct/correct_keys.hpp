// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/correct/air.hpp"
#include "jobs/correct/field.hpp"
#include "jobs/keys.hpp"

#include <array>
#include <optional>

namespace runner {

inline constexpr FieldRole dark_role = {"dark", "dark field", FrameRole::dark};
inline constexpr FieldRole flat_role = {"flat", "flat field", FrameRole::flat};

/// [correct].
struct CorrectKeys {
    FieldChoice dark;
    FieldChoice flat;
    double dead = 0;
    std::optional<std::array<double, 2>> clip;
    bool negative_log = false;
    double floor = 1e-6;
    std::optional<Air> air;
};

/// Its keys.
const KeyList<CorrectKeys>& correct_list();

} // namespace runner
