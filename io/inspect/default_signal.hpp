// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/input_rules.hpp"
#include "io/hdf5/hdf5_handle.hpp"

#include <string>

namespace runner {

/// The dataset that a NeXus file shows by default.
struct DefaultSignal {
    std::string dataset;
    /// The dataset of an NXtomo scan that says of each frame what it is: 0 a projection, 1 a flat,
    /// 2 a dark. Empty where there is none.
    std::string image_key;
};

/// Follows the attributes `default` from the root to an NXdata group and its attribute `signal`;
/// where one is missing, the first group of class NXentry or NXdata, and a dataset with the
/// attribute `signal` = 1, as older files have it. An image_key is looked for in the NXdata group,
/// beside the dataset, and in the entry's detectors; it has one axis as long as the dataset's
/// first. No link leads further than `outside` allows. In a process that may be lost.
/// @throws Error (input) where there is no such dataset.
DefaultSignal default_signal(const FileHandle& handle, const std::string& file,
                             const OutsideFiles& outside);

} // namespace runner
