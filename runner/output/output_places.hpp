// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// What a run makes at a place.
enum class PlaceOf { file, folder };

/// @throws Error (output) where something else has the name, such as a folder where a file goes:
/// nothing that a run could do removes it.
void check_place(const std::string& path, PlaceOf kind);

/// The same for all names that a run of the output's job writes to, but for the output's own; and
/// where a file that is no record has the record's name.
void check_places_beside(const std::string& output);

} // namespace runner
