// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/rows/stored_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace runner {

/// Compares members of an archive with their checksums, each when the first of its bytes are asked
/// for. For several threads.
class MemberChecks {
  public:
    /// `members`: in ascending order of their places.
    explicit MemberChecks(std::vector<ArchiveMember> members);

    /// Reads the member that byte `offset` is in, unless that was done before; nothing where none
    /// is. @throws Error (input) with its name and that of the archive where they differ.
    void check(const File& archive, std::int64_t offset);

  private:
    std::vector<ArchiveMember> members_;
    std::unique_ptr<std::once_flag[]> checked_;
};

} // namespace runner
