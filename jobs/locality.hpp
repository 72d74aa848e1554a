// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace runner {

/// Which elements of its input an element of a job's output is computed from: what a box that is
/// cut from the input makes alike. Each array is along z, y and x, the input's last three axes
/// without the channels of colour; along all axes before, elements are independent.
struct Locality {
    std::array<std::int64_t, 3> reach = {0, 0, 0}; ///< elements on either side
    /// A box must begin at multiples of it.
    std::array<std::int64_t, 3> step = {1, 1, 1};
    /// Elements of the input that become one of the output.
    std::array<std::int64_t, 3> block = {1, 1, 1};
    bool wraps = false; ///< elements at one end are computed from those at the other too

    /// The locality of a job that passes its output to the job `next`.
    Locality then(const Locality& next) const {
        Locality all = *this;
        for (std::size_t i = 0; i < reach.size(); ++i) {
            all.reach.at(i) += next.reach.at(i) * block.at(i);
            all.step.at(i) = std::lcm(step.at(i), next.step.at(i) * block.at(i));
            all.block.at(i) *= next.block.at(i);
        }
        all.wraps = wraps || next.wraps;
        return all;
    }
};

} // namespace runner
