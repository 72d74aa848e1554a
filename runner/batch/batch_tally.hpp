// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace runner::batch {

/// What a batch has brought about, on one rank or on all; datasets by their places in the plan.
struct Tally {
    std::set<std::size_t> done;
    std::set<std::size_t> already; ///< found done when they were about to be run
    std::map<std::size_t, ExitCode> failed;
    bool stopped = false;

    /// How many datasets it tells of.
    std::int64_t settled() const;

    /// How many datasets it tells to be done. One that another rank has just made is in both sets.
    std::int64_t finished() const;

    /// `ok`, `stopped`, or the code of the first in the plan that failed.
    ExitCode code() const;

    /// Adds what another rank has brought about.
    void add(const Tally& other);

    static auto members(auto& self) {
        return std::tie(self.done, self.already, self.failed, self.stopped);
    }
};

} // namespace runner::batch
