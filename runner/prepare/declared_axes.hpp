// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/rows/axes.hpp"
#include "io/rows/dataset_part.hpp"
#include "io/rows/frame_roles.hpp"
#include "jobs/job.hpp"
#include "runner/job_file/job_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace runner {

/// What the axes of the dataset are: as the file says, and as input.axes and input.spacing overrule
/// it. `where` names the dataset. @throws Error (usage) where these do not fit its shape.
Axes declared_axes(const AxisKeys& keys, const DatasetInfo& info, const FrameRoles& roles,
                   const std::string& where);

/// The part that input.select takes of a dataset with these axes; nothing for all of it. An axis of
/// which one index is taken is gone. @throws Error (usage) that names the axes or channels that
/// there are, where one is unknown; for an index or a range beyond the axis; and where no axis is
/// left.
std::optional<DatasetPart> selected_part(const std::vector<AxisSelection>& select,
                                         const DatasetInfo& info, const std::string& where);

/// A warning for each axis of channels or times across which the job would compute: kinds take the
/// last axes for depth, rows and columns, whatever they are. `info` describes the job's
/// input, and `where` names it.
std::vector<std::string> mixed_axes(const Job& job, const DatasetInfo& info,
                                    const std::string& where);

/// Whether the part has all elements of the dataset's first axis.
bool keeps_first_axis(const DatasetPart& part, const DatasetInfo& info);

} // namespace runner
