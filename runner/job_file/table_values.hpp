// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "base/sizes.hpp"
#include "jobs/table.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

/// Values that several tables of a job file have. Each function reports what is wrong to the
/// table's reader, and then returns nothing, or what stands for it.

/// A text that must not be empty; "" where it is reported.
std::string filled_text(TableReader& table, std::string_view key);

/// The same for a key that must be there; `what_to_write`: shown where it is not.
std::string required_text(TableReader& table, std::string_view key, const char* what_to_write);

std::optional<ElementType> parse_type(TableReader& table, std::string_view key);

/// Reports more or fewer axes than an HDF5 dataset can have.
void check_axes(TableReader& table, std::string_view key, const std::vector<std::int64_t>& extents);

/// The bytes of an array; nothing where they pass 63 bits.
std::optional<std::int64_t> checked_byte_count(const ArrayInfo& array);

/// Whether a size may be a share of what is free.
enum class Share { none, allowed };

/// A size in words or in bytes, or a share.
std::optional<MemorySize> parse_memory(TableReader& table, std::string_view key,
                                       Share share = Share::allowed);

/// "auto" (nothing) or a number from 1 to `most`.
std::optional<std::int64_t> parse_count(TableReader& table, std::string_view key,
                                        std::int64_t most);

/// Reports keys that a batch has no place for.
void refuse_beside_batch(TableReader& table, std::initializer_list<std::string_view> keys,
                         const std::string& why);

/// A number of seconds, 0 or more.
double parse_seconds(TableReader& table, std::string_view key, double otherwise);

} // namespace runner
