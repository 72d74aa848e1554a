// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace runner {

/// An array as messages name it: "FILE:/dataset", or the file alone where its format has no
/// datasets.
inline std::string array_name(const std::string& file, const std::string& dataset) {
    return dataset.empty() ? file : file + ":" + dataset;
}

} // namespace runner
