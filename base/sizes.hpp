// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace runner {

inline constexpr std::int64_t KiB = 1024;
inline constexpr std::int64_t MiB = 1024 * KiB;
inline constexpr std::int64_t GiB = 1024 * MiB;

/// An amount of memory as a person writes it: bytes, or a share of something known later.
struct MemorySize {
    std::int64_t bytes = 0; ///< when `fraction` is 0
    double fraction = 0;    ///< 0 < fraction <= 1 of what is free
    bool operator==(const MemorySize&) const = default;

    /// The bytes this means where `available` bytes are free.
    std::int64_t of(std::int64_t available) const;
};

/// Reads "80%", "2GiB", "1.5 GB", "4096B": a decimal number and one of B, kB, MB, GB, TB, KiB, MiB,
/// GiB, TiB or %. Nothing for any other text, for 0 and for more than 2^63 - 1 bytes or 100 %.
std::optional<MemorySize> parse_memory_size(std::string_view text);

/// "1.50 GiB", "317 B": three or four digits and a unit, for people.
std::string size_text(std::int64_t bytes);

/// "9KiB", "74MiB": no less than `bytes` and little more, as a job file's keys take it.
std::string enough_text(std::int64_t bytes);

} // namespace runner
