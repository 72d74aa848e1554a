// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "io/input/file_access.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// Stands for the files that a job names: there is the input's array and nothing else.
class MemoryFiles final : public FileAccess {
  public:
    explicit MemoryFiles(DatasetInfo input) : input_(std::move(input)) {}

    DatasetLayout layout(const std::string& file, const std::string& dataset) override {
        return {file, dataset, file, input_, DatasetLayout::Way::positions};
    }
    bool has_dataset(const std::string& /*file*/, const std::string& /*dataset*/) override {
        return false;
    }
    std::vector<std::string> object_names(const std::string& /*file*/) override { return {}; }
    AttributeList root_attributes(const std::string& /*file*/) override { return {}; }
    FileContent content(const std::string& file, const std::string& /*dataset*/) override {
        refuse(file);
    }
    std::unique_ptr<RowReader> open(const DatasetLayout& layout, int /*threads*/) override {
        refuse(layout.file);
    }
    void store_chunks(const std::string& file, const std::string& /*dataset*/,
                      const std::vector<PackedChunk>& /*chunks*/) override {
        refuse(file);
    }

  private:
    [[noreturn]] static void refuse(const std::string& file) {
        throw Error(ExitCode::usage,
                    {"cannot read a file", file, "the job works on arrays in memory alone",
                     "Run it as a job file, or pass arrays and numbers"});
    }

    DatasetInfo input_;
};

} // namespace runner
