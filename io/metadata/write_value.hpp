// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <string>
#include <vector>

#include <hdf5.h>

namespace runner {

/// Writes attributes of an open object of the output `file`; those that are there stay.
/// @throws Error (output).
void write_values(hid_t object, const std::string& file, const std::vector<NamedValue>& values);

/// Makes a dataset of that name, which is not there, below an open object of the output `file`. It
/// holds no times: the same value makes the same bytes. @throws Error (output).
void write_value(hid_t place, const std::string& file, const std::string& name,
                 const PlainValue& value, const std::vector<NamedValue>& attributes);

} // namespace runner
