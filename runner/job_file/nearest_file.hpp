// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// For a path that is not there: "Did you mean jobs/conv_32k.toml?", or the first few files of the
/// same ending in the nearest folder that exists; empty when there is nothing to name.
std::string nearest_files_text(const std::string& path);

} // namespace runner
