// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// fmt::format(), until the oldest supported compiler has std::format().
#include <fmt/core.h> // IWYU pragma: export
