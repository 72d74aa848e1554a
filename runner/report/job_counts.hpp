// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/file_content.hpp"
#include "jobs/job.hpp"
#include "runner/watch/stages.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// The attribute of an output that says what was counted, in all passes up to its own: a line
/// "NAME = NUMBER" for each.
inline constexpr const char* counts_attribute = "counts";

std::string counts_text(const std::vector<JobCount>& counts);

/// A warning for each count of elements that a job could give no value.
std::vector<std::string> doubts_of(const std::vector<JobCount>& counts);

/// What a file's attribute of this name says; lines that are none are left out.
std::vector<JobCount> counts_in(const AttributeList& attributes);

/// What `job` counts, with `ranks`' parts added up. `before`: of earlier passes. `earlier_rows`:
/// that earlier runs have made. Where there are some, a count that leaves them out
/// (counting_part()) has a name that says so: "clipped_values_of_last_run". A count of elements
/// without a value (nan_values) is left out where there are none.
std::vector<JobCount> all_counts(const Job& job, const std::vector<const RunTimes*>& ranks,
                                 std::vector<JobCount> before, std::int64_t earlier_rows);

} // namespace runner
