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

/// Notes what the file says are no values, unless input.invalid = "none": no kind that computes
/// leaves these out yet.
void note_invalid(const JobFile& job, DatasetInfo& input);

} // namespace runner
