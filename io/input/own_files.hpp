// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/input/file_access.hpp"

#include <memory>
#include <string>
#include <vector>

namespace runner {

/// Files that this process made, or may be lost over: HDF5 reads them here.
class OwnFiles final : public FileAccess {
  public:
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
};

} // namespace runner
