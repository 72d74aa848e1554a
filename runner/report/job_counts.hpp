// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/inspect/file_content.hpp"
#include "jobs/job.hpp"
#include "runner/watch/stages.hpp"

#include <string>
#include <vector>

namespace runner {

/// The attribute of an output that says what was counted, in all passes up to its own: a line
/// "NAME = NUMBER" for each.
inline constexpr const char* counts_attribute = "counts";

std::string counts_text(const std::vector<JobCount>& counts);

/// What a file's attribute of this name says; lines that are none are left out.
std::vector<JobCount> counts_in(const AttributeList& attributes);

/// What `job` counts, with `ranks`' parts added up. `before`: of earlier passes.
std::vector<JobCount> all_counts(const Job& job, const std::vector<const RunTimes*>& ranks,
                                 std::vector<JobCount> before);

} // namespace runner
