// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace runner {

/// One filter that a dataset's chunks pass through.
struct Filter {
    int id = 0; ///< as HDF5 registers it
    std::string name;
    std::vector<unsigned> parameters;

    bool operator==(const Filter&) const = default;
};

} // namespace runner
