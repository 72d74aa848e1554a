// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

namespace runner {

/// How the rows of an output are kept in several files, its parts (docs/adr/0017). Blocks of rows
/// are dealt to the parts in turn. The rows are cut into as many ranges as there were ranks when
/// the output was made, and the blocks of a range go to parts that no other range uses, as long as
/// there are enough.
struct PartLayout {
    std::int64_t parts = 1; ///< files; 1: the elements are in the output's own file
    std::int64_t ranks = 1; ///< ranges
    std::size_t axis = 0;   ///< that blocks are cut along
    std::int64_t block = 0; ///< extent of a block along it
    int set = 0;            ///< 0 or 1: the names of the parts, so that two outputs can be there
    std::string folder;     ///< that holds the parts
    std::string owner;      ///< what the parts say that they belong to, a word

    bool several() const { return parts > 1; }
    bool operator==(const PartLayout&) const = default;
    static auto members(auto& self) {
        return std::tie(self.parts, self.ranks, self.axis, self.block, self.set, self.folder,
                        self.owner);
    }
};

} // namespace runner
