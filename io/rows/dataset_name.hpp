// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// FILE:/dataset, for messages.
inline std::string file_and_dataset(const std::string& file, const std::string& dataset) {
    return file + ":" + (dataset.starts_with('/') ? "" : "/") + dataset;
}

} // namespace runner
