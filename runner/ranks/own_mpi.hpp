// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>

namespace runner {

/// The folder of the Open MPI that came with this program: `openmpi` beside the folder that the
/// program is in, with bin/mpirun in it. A Python wheel has it; other installations use the host's
/// Open MPI, and this is nothing.
std::optional<std::filesystem::path> own_mpi(const std::filesystem::path& program);

/// Writes to the environment where Open MPI's library finds its plug-ins and messages in `folder`,
/// in place of the paths that were compiled into it. For this process, before it starts MPI and has
/// threads, and for those that it starts.
void use_own_mpi(const std::filesystem::path& folder);

} // namespace runner
