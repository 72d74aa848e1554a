// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"

#include <string>

namespace runner {

/// The dataset that a NeXus file shows by default. Follows the attributes `default` from the root
/// to an NXdata group and its attribute `signal`; where one is missing, the first group of class
/// NXdata, NXentry or NXsubentry, and a dataset with the attribute `signal` = 1, as older files
/// have it. In a file without such marks it is the one dataset that is named as an NXtomo scan's,
/// or the projections of a Data Exchange file. No link leads further than `outside` allows. In a
/// process that may be lost.
/// @throws Error (input) where there is no such dataset.
std::string default_signal(const FileHandle& handle, const std::string& file,
                           const OutsideFiles& outside);

} // namespace runner
