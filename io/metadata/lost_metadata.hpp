// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"
#include "io/rows/axes.hpp"
#include "io/rows/rows.hpp"

#include <string>
#include <vector>

namespace runner {

/// What an output is without of what is known of its input, for people: "the names of channels".

/// What a finished file of another format than HDF5 does not say of OutputDataset::axes.
std::vector<std::string> lost_axes(const OutputDataset& output);

/// What a file with elements alone does not say of the axes.
std::vector<std::string> lost_axes(const Axes& axes);

/// What is true of the output beside its axes, and no such format has: attributes, coordinates
/// that are not evenly apart, the roles and angles of frames. `axes`: those of the output.
std::vector<std::string> lost_metadata(const Metadata& metadata, const Axes& axes);

/// One warning of what an output is without, which is not nothing.
std::string lost_text(const std::string& input, const std::vector<std::string>& lost);

} // namespace runner
