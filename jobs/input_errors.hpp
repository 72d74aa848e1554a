// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "jobs/kind.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace runner {

/// The error (input) of an input of this shape, which has no elements. `try_this`: what to do.
Error empty_input(const std::vector<std::int64_t>& shape, const std::string& try_this = "");

/// @throws empty_input() where an extent of the shape is 0.
void refuse_empty(const std::vector<std::int64_t>& shape, const std::string& try_this = "");

/// The command that copies the dataset into a file of its own beside it, whose name ends in
/// -SUFFIX.h5: "runner convert …".
std::string convert_command(const InputDataset& source, const std::string& suffix);

/// The command that makes a dataset of another element type of the input: "Convert it: runner
/// convert …". `type`: the name of an element type.
std::string convert_hint(const InputDataset& source, const std::string& type);

} // namespace runner
