// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/array_info.hpp"
#include "io/input/file_access.hpp"
#include "runner/job_file/job_file.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {

/// A dense, row-major array of this process that a job's text names as if it were a file.
struct NamedArray {
    std::string name;
    ArrayInfo array;
    const std::byte* data = nullptr;
};

/// The job of a job file's text, `name` its path for messages. @throws Error (usage) for what is
/// wrong in it, and for a step that is to be saved.
JobFile parse_array_job(const std::string& text, const std::string& name);

/// The input as a job takes it.
DatasetInfo memory_info(const ArrayInfo& array, std::optional<int> channels);

/// Stands for the files that a job names: there are the input's array, and others by their names.
/// The arrays outlive it and the readers that it opens.
class MemoryFiles final : public FileAccess {
  public:
    MemoryFiles(DatasetInfo input, std::vector<NamedArray> arrays)
        : input_(std::move(input)), arrays_(std::move(arrays)) {}

    /// The layout of every name that is not an array's, that of the input.
    DatasetLayout layout(const std::string& file, const std::string& dataset) override;
    bool has_dataset(const std::string& /*file*/, const std::string& /*dataset*/) override {
        return false;
    }
    std::vector<std::string> object_names(const std::string& /*file*/) override { return {}; }
    AttributeList root_attributes(const std::string& /*file*/) override { return {}; }
    std::string record_facts(const std::string& /*file*/,
                             const std::vector<std::string>& /*elsewhere*/) override {
        return {};
    }
    FileContent content(const std::string& file, const std::string& dataset) override;
    /// @throws Error (usage) for what is no array's name.
    std::unique_ptr<RowReader> open(const DatasetLayout& layout, int threads) override;
    void store_chunks(const std::string& file, const std::string& dataset,
                      const std::vector<PackedChunk>& chunks) override;

  private:
    const NamedArray* find(const std::string& name) const;

    DatasetInfo input_;
    std::vector<NamedArray> arrays_;
};

} // namespace runner
