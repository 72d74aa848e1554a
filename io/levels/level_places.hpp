// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/pages.hpp"
#include "io/files/file.hpp"
#include "io/levels/level_sweep.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace runner {

/// The file in an image's folder where the elements of a level wait until they are packed.
std::string elements_path(const OutputDataset& level);

/// Where the elements of a level wait until they are packed, in pieces (LevelSweep::begin_of()): in
/// a file from a byte on, or in memory.
struct LevelPlace {
    const File* file = nullptr;
    std::int64_t begin = 0;
    std::byte* memory = nullptr;
};

/// Stores pieces of levels at these places, by any thread. Both outlive it.
LevelMaker::Take store_at(const LevelSweep& sweep, const std::vector<LevelPlace>& places);

/// The places of all levels of an image in a folder.
class LevelElements {
  public:
    /// The files are there: elements_path() of each.
    enum class Where { files, memory };

    /// @throws Error (output), (launch).
    LevelElements(const LevelSweep& sweep, Where where);

    /// What they take.
    static std::int64_t bytes(const LevelSweep& sweep);

    const std::vector<LevelPlace>& places() const { return places_; }

    /// Closes the files. What is in memory stays.
    void close();

  private:
    std::deque<File> files_;
    std::vector<Pages> memory_;
    std::vector<LevelPlace> places_;
};

} // namespace runner
