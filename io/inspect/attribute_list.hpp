// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/file_content.hpp"

#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

namespace runner {

/// The attributes of an open object in the order of their names.
AttributeList attributes_of(hid_t object);

/// The attribute of that name, if there is one that can be read.
std::optional<AttributeValue> attribute_of(hid_t object, const std::string& name);

/// The attribute's one text without blanks at its end; nothing where there is none of that name, or
/// it is something else.
std::optional<std::string> text_of_attribute(hid_t object, const std::string& name);

/// A number, or an array that has one element; nothing for others, and for one that float64 does
/// not tell from its neighbours.
std::optional<double> one_number(const AttributeValue& value);

/// The names in a text of several, "theta:y:x", "y,x" or "[y, x]", as older files name axes.
std::vector<std::string> names_in_text(const std::string& whole);

} // namespace runner
