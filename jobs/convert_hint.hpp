// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/kind.hpp"

#include <string>

namespace runner {

/// The command that copies the dataset into a file of its own beside it, whose name ends in
/// -SUFFIX.h5: "runner convert …".
std::string convert_command(const InputDataset& source, const std::string& suffix);

/// The command that makes a dataset of another element type of the input: "Convert it: runner
/// convert …". `type`: the name of an element type.
std::string convert_hint(const InputDataset& source, const std::string& type);

} // namespace runner
