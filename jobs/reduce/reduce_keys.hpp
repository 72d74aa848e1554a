// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "jobs/keys.hpp"
#include "kernels/reduce/reduce.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runner {

/// The axes that are reduced, as `over` names them.
struct OverAxes {
    bool is_frame = false;          ///< rows and columns of each frame
    std::vector<std::string> names; ///< else these
};

/// [reduce].
struct ReduceKeys {
    Reduction::Operation operation = Reduction::Operation::mean;
    OverAxes over;
    std::optional<std::vector<double>> percentiles = {};
    std::optional<std::int64_t> bins = {};
    std::optional<std::array<double, 2>> from = {};
};

const KeyList<ReduceKeys>& reduce_list();

/// The words of `operation`, in the order of Reduction::Operation.
const std::vector<std::string>& operation_words();

} // namespace runner
