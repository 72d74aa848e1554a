// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/file_content.hpp"

#include <hdf5.h>

namespace runner {

/// The attributes of an open object in the order of their names.
AttributeList attributes_of(hid_t object);

} // namespace runner
