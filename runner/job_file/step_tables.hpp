// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"
#include "jobs/pipeline/pipeline_parameters.hpp"
#include "jobs/table.hpp"

#include <memory>
#include <string>

namespace runner {

/// The [[step]] tables of a job file.
struct Steps {
    bool are_there = false; ///< whether the file has the key `step`
    const Kind* first = nullptr;
    const Kind* last = nullptr;
    std::string only_save; ///< `until_saved`: the file that its step saves; "" without that key
    /// Null where something was reported.
    std::shared_ptr<const PipelineParameters> parameters;
};

/// Reads them, up to the one that the key `until` names, or `until_saved` if that is there too, and
/// reports what is wrong with them. `first` and `last` are as without `until_saved`.
/// `path`: of the job file, for messages.
Steps parse_steps(TableReader& top, const std::string& path);

/// The kind that the table's key `kind`, which is there, names; reported where there is none.
const Kind* kind_named_by(TableReader& table);

} // namespace runner
