// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace runner::evolve {

/// How rows of a state come from other ranks.
enum class HaloWay {
    none,   ///< there is one rank
    host,   ///< MPI, from host memory to host memory, where the state is
    staged, ///< through page-locked host memory and MPI
    direct, ///< from GPU to GPU
};

std::string_view name_of(HaloWay way);

/// @throws Error (usage): the ranks cannot reach each other's memory.
[[noreturn]] void refuse_direct_halo();

} // namespace runner::evolve
