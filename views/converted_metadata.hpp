// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/metadata/metadata.hpp"
#include "io/rows/rows.hpp"
#include "views/convert.hpp"
#include "views/frame_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// What will be stored: the array as it is, or the chosen frames, with their axes.
OutputDataset converted_dataset(const FrameSource& source, const ConvertRequest& request,
                                const std::string& file);

/// The axes of what is converted: the whole dataset, or an array of these extents that has the
/// chosen frames.
Axes converted_axes(const FrameSource& source, const ConvertRequest& request,
                    const std::vector<std::int64_t>& shape);

/// What the input's file says of the dataset, as far as it is true of the output. Of cells, which
/// say all of themselves by their values, the axes alone.
Metadata converted_metadata(const FrameSource& source, const ConvertRequest& request,
                            const OutputDataset& output);

/// What `output`, of another format than HDF5, is without of what the input's file says of the
/// dataset. `lost`: lost_axes() of it.
std::vector<std::string> lost_in_conversion(const FrameSource& source,
                                            const ConvertRequest& request,
                                            const OutputDataset& output,
                                            std::vector<std::string> lost);

/// Gives ConvertRequest::warn one warning of all that is lost; none where nothing is.
void warn_of(const std::vector<std::string>& lost, const FrameSource& source,
             const ConvertRequest& request);

} // namespace runner
