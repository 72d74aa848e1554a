// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_dataset.hpp"

#include <string>

namespace runner {

/// Checks that HDF5's own filters have the parameters that HDF5 gives them for this type and chunk:
/// they reckon with them while they unpack; and that those of io/filters/ have possible ones. Other
/// filters pass. @throws Error (input) naming the filter.
void check_filter_parameters(const DatasetHandle& dataset, const PropertyHandle& creation,
                             const std::string& where);

} // namespace runner
