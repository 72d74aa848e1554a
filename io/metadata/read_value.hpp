// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <hdf5.h>

namespace runner {

/// Adds the attributes of an open object that are numbers or texts to `values`, in the order of
/// their names and at most `most`; those that another file cannot have the same of are left out
/// without a word (is_of_one_file()). What else is left out is added to `left_out` as
/// "WHERE@NAME: why". In a process that may be lost. @throws Error (input).
void read_attributes(hid_t object, const std::string& where, std::size_t most,
                     std::vector<NamedValue>& values, std::vector<std::string>& left_out);

/// The texts of one attribute of an open object; none if it has no such attribute, or not of texts.
std::vector<std::string> attribute_texts(hid_t object, const std::string& name);

/// The numbers of an open dataset of one axis at most, or h5py's bool. @throws Error (input).
PlainValue read_numbers(hid_t dataset);

/// Whether an attribute of another file can have this name. Unlike a member's it may hold slashes,
/// as silx' "SILX_style/axis_scale_types" does.
bool is_attribute_name(const std::string& name);

/// Whether an attribute of this name says something that is true of its own file alone: places in
/// it, marks of the library that wrote it, how a viewer shows it.
bool is_of_one_file(const std::string& name);

/// h5py's bool.
bool is_truth_type(hid_t type);

/// The type of a number of one of all_element_types or a smaller float, if `type` is one.
bool is_number_type(hid_t type);

} // namespace runner
