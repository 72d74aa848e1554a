// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"

#include <string>
#include <vector>

namespace runner {

/// An attribute of an open object, in place of one of that name; `value` points to what `type` says
/// and `space` counts. `file` is for messages. @throws Error (output).
void write_attribute(hid_t object, const std::string& file, const std::string& name, hid_t type,
                     const SpaceHandle& space, const void* value);

/// The type of a text of any length in UTF-8.
TypeHandle text_type();

/// A text of that type, and a list of such. The same errors.
void write_text(hid_t object, const std::string& file, const std::string& name,
                const std::string& text);
void write_texts(hid_t object, const std::string& file, const std::string& name,
                 const std::vector<std::string>& texts);

} // namespace runner
