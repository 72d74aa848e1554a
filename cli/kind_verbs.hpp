// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/verbs.hpp"

#include <span>
#include <vector>

namespace runner::cli {

/// The kinds of jobs as verbs, `runner median IN OUT --size 3,3`, and `pipeline`, which runs
/// several. They stand for a job file: each key of the kind is an option.
std::span<const Verb> kind_verbs();

/// verbs(), and after them kind_verbs().
std::vector<Verb> all_verbs();

} // namespace runner::cli
