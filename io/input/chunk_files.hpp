// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file.hpp"
#include "io/input/dataset_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// The files that a dataset's chunks lie in, for several threads. A few stay open.
class ChunkFiles {
  public:
    explicit ChunkFiles(const DatasetLayout& layout)
        : names_(layout.chunk_files.empty() && !layout.chunks.empty() ? std::vector{layout.holder}
                                                                      : layout.chunk_files) {
        if (layout.chunk_files.empty() && !names_.empty()) {
            (void)open(0); // what is wrong with the only one is reported before the first row
        }
    }

    const std::string& name(std::uint32_t number) const { return names_[number]; }

    std::shared_ptr<const File> open(std::uint32_t number) {
        if (std::shared_ptr<const File> file = find(number)) {
            return file;
        }
        auto file = std::make_shared<const File>(names_[number], File::Mode::read);
        const std::lock_guard lock(mutex_);
        if (open_.size() == most_open_files) {
            open_.pop_back();
        }
        open_.insert(open_.begin(), {number, file});
        return file;
    }

  private:
    std::shared_ptr<const File> find(std::uint32_t number) {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(open_.begin(), open_.end(), [number](const auto& each) {
            return each.first == number;
        });
        if (found == open_.end()) {
            return nullptr;
        }
        std::rotate(open_.begin(), found, found + 1);
        return open_.front().second;
    }

    static constexpr std::size_t most_open_files = 64;

    std::vector<std::string> names_;
    std::vector<std::pair<std::uint32_t, std::shared_ptr<const File>>> open_; ///< the latest first
    std::mutex mutex_;
};

} // namespace runner
