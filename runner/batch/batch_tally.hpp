// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace runner {

/// What a batch has brought about, on one rank or on all; datasets by their places in the plan.
struct BatchTally {
    std::set<std::size_t> done;
    std::set<std::size_t> already; ///< found done when they were about to be run
    std::map<std::size_t, ExitCode> failed;
    bool stopped = false;

    /// How many datasets it tells of.
    std::int64_t settled() const;

    /// `ok`, `stopped`, or the code of the first in the plan that failed.
    ExitCode code() const;

    /// To text, for the way between ranks, and what such a text tells added to this.
    std::string words() const;
    void add(const std::string& words);
};

} // namespace runner
