// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/hdf5_handle.hpp"
#include "io/rows/rows.hpp"

namespace runner {

/// Makes the dataset that `creation` is for a virtual one over the output's parts, which it names
/// from the output's folder on: output and parts may be moved together. @throws Error (output).
void map_parts(const PropertyHandle& creation, const OutputDataset& output);

} // namespace runner
