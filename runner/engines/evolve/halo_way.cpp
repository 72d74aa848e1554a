// SPDX-License-Identifier: BSD-3-Clause
#include "runner/engines/evolve/halo_way.hpp"

#include "base/error.hpp"

#include <array>
#include <cstddef>

namespace runner::evolve {

std::string_view name_of(HaloWay way) {
    static constexpr std::array<std::string_view, 4> names = {"none", "host", "staged", "direct"};
    return names.at(static_cast<std::size_t>(way));
}

void refuse_direct_halo() {
    throw Error(ExitCode::usage,
                {"the ranks cannot reach each other's GPU memory", "run.halo_exchange",
                 "they are on several hosts, or the system does not let processes share it",
                 "Leave run.halo_exchange at \"auto\""});
}

} // namespace runner::evolve
