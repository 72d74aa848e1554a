// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace runner {

/// Attributes on the file's root. Of an HDF5 output only: a .sand file has no place for them, nor
/// for row_hashes.hpp's.
using Attribute = std::pair<std::string, std::variant<std::string, std::int64_t, double>>;
void write_attributes(const std::string& file, const std::vector<Attribute>& attributes);

} // namespace runner
