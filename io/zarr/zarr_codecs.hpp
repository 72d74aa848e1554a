// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/json.hpp"
#include "io/zarr/zarr_array.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace runner {

/// The configuration of an extension called `name`; null where there is none. @throws JsonError
/// where it is no object.
const Json* zarr_configuration(const Json& json, const std::string& name);

/// Extents out of a JSON array, as many as `axes`, each from `least` on. `key` names them.
/// @throws Error (input) with `where`.
std::vector<std::int64_t> zarr_extents(const Json& json, std::size_t axes, std::int64_t least,
                                       const std::string& key, const std::string& where);

/// Puts the `filters`, `compressor` and `order` of a .zarray into an array whose shape, type and
/// chunk are known. @throws Error (input), JsonError.
void add_compressor(ZarrArray& array, const Json& zarray, const std::string& where);

/// The same of the `codecs` of a zarr.json. @throws Error (input), JsonError.
void add_codecs(ZarrArray& array, const Json& codecs, const std::string& where);

} // namespace runner
