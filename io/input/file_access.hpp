// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "io/hdf5/chunk_list.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/inspect/file_content.hpp"

#include <memory>
#include <string>
#include <vector>

namespace runner {

/// How files are read, and their structures written, that this process did not make: HDF5 must not
/// parse them where a crash or an endless loop of its would be ours. Two ways: ProbedFiles
/// (runner/) has processes do it that may be lost; OwnFiles does it here, for such a process itself
/// and for files of one's own making. For one thread. Each call: @throws Error (input) naming the
/// file; (launch) where such a process cannot be had.
class FileAccess {
  public:
    virtual ~FileAccess() = default;

    /// For a missing dataset the message lists the ones there are.
    virtual DatasetLayout layout(const std::string& file, const std::string& dataset) = 0;

    /// Whether the file has a link of this name, in a group that is there. Another format than HDF5
    /// has none.
    virtual bool has_dataset(const std::string& file, const std::string& dataset) = 0;

    /// The names of all that is in an HDF5 file (object_names.hpp).
    virtual std::vector<std::string> object_names(const std::string& file) = 0;

    /// The attributes of the file's root; none of another format than HDF5.
    virtual AttributeList root_attributes(const std::string& file) = 0;

    /// What a checksum of a finished HDF5 output's record is taken of (record_facts.hpp).
    virtual std::string record_facts(const std::string& file,
                                     const std::vector<std::string>& elsewhere) = 0;

    /// The content of the file, or of one dataset alone where `dataset` is not empty. No elements
    /// are read.
    virtual FileContent content(const std::string& file, const std::string& dataset) = 0;

    /// `threads` ≥ 1 read at once where plain reads do.
    virtual std::unique_ptr<RowReader> open(const DatasetLayout& layout, int threads) = 0;

    /// Stores compressed chunks over those that the dataset has, where they take another size and
    /// so its index changes too. @throws Error (output) too.
    virtual void store_chunks(const std::string& file, const std::string& dataset,
                              const std::vector<PackedChunk>& chunks) = 0;
};

/// layout() and open() of a dataset.
std::unique_ptr<RowReader> open_rows_of(FileAccess& files, const std::string& file,
                                        const std::string& dataset, int threads);

} // namespace runner
