// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
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

/// Attributes on the file's root. Of an HDF5 output only: a .sand file has no place for them, nor
/// for row_hashes.hpp's.
using Attribute = std::pair<std::string, std::variant<std::string, std::int64_t, double>>;
void write_attributes(const std::string& file, const std::vector<Attribute>& attributes);

} // namespace runner
