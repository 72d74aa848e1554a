// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/element_type.hpp"

#include <optional>
#include <string>

#include <hdf5.h>

namespace runner {

/// HDF5's type for elements in memory and in files that we write; owned by HDF5.
hid_t hdf5_type(ElementType type);

/// The element type that holds every value of `type`, if it is an integer or IEEE number of 1, 2, 4
/// or 8 bytes of either byte order.
std::optional<ElementType> element_type_of(hid_t type);

/// Whether `type` is stored as `element` is in memory, but for the order of its bytes.
bool is_plain(hid_t type, ElementType element);

/// "big-endian int32", "string of 12 bytes", "compound of 3 members": for people.
std::string describe_type(hid_t type);

} // namespace runner
