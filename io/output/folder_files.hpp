// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/output/assemble_output.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace runner {

/// Chunks of an output as they are stored. For one thread.
class ChunkSource {
  public:
    virtual ~ChunkSource() = default;

    /// By ChunkGrid's order; valid until the next call. @throws Error (output).
    virtual std::span<const std::byte> packed(std::int64_t index) = 0;
};

/// Writes a rank's share of the files of a folder, by as many threads as there are sources, one at
/// least.
/// @throws Error (output).
void store_folder_files(const OutputDataset& output, const AssemblyShare& share,
                        const std::vector<std::unique_ptr<ChunkSource>>& sources);

} // namespace runner
