// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/sizes.hpp"
#include "io/hdf5/hdf5_handle.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/input/file_access.hpp"
#include "io/rows/rows.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// A reader keeps no more than so many bytes of unpacked chunks, and one chunk at least.
inline constexpr std::int64_t most_kept_bytes = GiB;

/// Whether all chunks that rows in order pass through before the next ones may be kept in memory
/// unpacked.
bool fits_cache(const DatasetInfo& info);

/// Opens a dataset with HDF5's cache of unpacked chunks large enough to read rows in order without
/// unpacking a chunk twice, where fits_cache().
/// An invalid handle where HDF5 cannot.
DatasetHandle open_dataset_cached(const FileHandle& handle, const std::string& dataset,
                                  const DatasetInfo& info);

/// `threads` ≥ 1: how many read at once where plain reads at a position do. The file stays open as
/// a plain descriptor, or within HDF5 for a dataset without an offset.
std::unique_ptr<RowReader> open_rows(const std::string& file, const std::string& dataset,
                                     int threads);

/// Reads any dataset of an HDF5 file through HDF5, in this process, which may be lost over it.
/// @throws Error (input).
std::unique_ptr<RowReader> open_rows_by_hdf5(const std::string& file, const std::string& dataset,
                                             const DatasetInfo& info);

/// The same for any file, through the library of its format.
std::unique_ptr<RowReader> open_rows_by_library(const DatasetLayout& layout);

/// Memory that a reader of this dataset with so many threads takes beside the caller's, at most:
/// unpacked chunks.
std::int64_t reader_bytes(const DatasetInfo& info, int threads);

/// Files that this process made, or may be lost over: HDF5 reads them here.
class OwnFiles final : public FileAccess {
  public:
    /// The rules are for the content of folders.
    explicit OwnFiles(InputRules rules = {}) : rules_(rules) {}

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
    InputRules rules_;
};

} // namespace runner
