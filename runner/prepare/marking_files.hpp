// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/files/file_mark.hpp"
#include "io/input/file_access.hpp"

#include <memory>
#include <string>
#include <vector>

namespace runner {

/// Passes every call on, and notes the files of each dataset whose layout is asked for: all that
/// whoever uses it may read elements of.
class MarkingFiles final : public FileAccess {
  public:
    /// Both outlive this. `marks`: to which the files are added.
    MarkingFiles(FileAccess& files, FileMarks& marks) : files_(files), marks_(marks) {}

    DatasetLayout layout(const std::string& file, const std::string& dataset) override;
    bool has_dataset(const std::string& file, const std::string& dataset) override;
    std::vector<std::string> object_names(const std::string& file) override;
    AttributeList root_attributes(const std::string& file) override;
    std::string record_facts(const std::string& file,
                             const std::vector<std::string>& elsewhere) override;
    FileContent content(const std::string& file, const std::string& dataset) override;
    std::unique_ptr<RowReader> open(const DatasetLayout& layout, int threads) override;
    void store_chunks(const std::string& file, const std::string& dataset,
                      const std::vector<PackedChunk>& chunks) override;

  private:
    FileAccess& files_;
    FileMarks& marks_;
};

} // namespace runner
