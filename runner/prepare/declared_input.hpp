// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/rows/rows.hpp"
#include "runner/job_file/job_file.hpp"

namespace runner {

/// Takes the last axis of a job's `input` as input.colour says. Where neither that nor the file
/// says anything and it may be colour, `input` gets a note. `whole`: the dataset, of which the
/// input may be a part. @throws Error (usage) where the input cannot be colour.
void declare_colour(const JobFile& job, const ArrayInfo& whole, DatasetInfo& input);

/// Sets which elements of a job's `input` are invalid, as input.invalid says. Where the file says
/// so and the kind takes them as values, `input` gets a note. @throws Error (usage) where the
/// input's type has no such element, or the kind takes them as values though the job names them.
void declare_invalid(const JobFile& job, DatasetInfo& input);

} // namespace runner
