// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/prepare/prepare.hpp"
#include "runner/probe/prober.hpp"

namespace runner {

/// What a run has to do.
enum class ToDo {
    nothing, ///< the output of this job is complete under its name
    make     ///< the output: nothing is under its name, or what may be replaced
};

/// With the output's lock held: decides by what is under the output's name, output.overwrite and
/// run.resume. The output of this job is left as it is unless run.resume is "never" or
/// output.overwrite asks to make it again. Where an earlier run of this job died between publishing
/// it and removing its journal, that is removed and nothing is left to do, with output.overwrite
/// too.
/// @throws Error (output) where something
/// is there that is not to be replaced, or holds what this program did not make.
ToDo settle_output(const PreparedJob& prepared, Prober& prober);

} // namespace runner
