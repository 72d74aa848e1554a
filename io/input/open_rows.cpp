// SPDX-License-Identifier: BSD-3-Clause
#include "io/input/open_rows.hpp"

#include "base/format.hpp"
#include "base/sizes.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/formats/rows_format.hpp"
#include "io/hdf5/hdf5_dataset.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_type.hpp"
#include "io/hdf5/object_names.hpp"
#include "io/hdf5/record_facts.hpp"
#include "io/input/dataset_layout.hpp"
#include "io/input/source_rows.hpp"
#include "io/rows/file_elements.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <vector>

namespace runner {
namespace {

std::int64_t unpacked_bytes(const DatasetInfo& info) {
    return byte_count({info.array.type, info.chunk});
}

/// Bytes of all chunks that share a range of the first axis along which they have more than one
/// element, which rows in order pass through before the next ones; the most that is kept and one
/// where they are more.
std::int64_t band_bytes(const DatasetInfo& info) {
    std::int64_t band = size_of(info.array.type);
    const auto first = static_cast<std::size_t>(
        std::find_if(info.chunk.begin(), info.chunk.end(), [](auto n) { return n > 1; }) -
        info.chunk.begin());
    for (std::size_t axis = first; axis < info.chunk.size(); ++axis) {
        const std::int64_t chunk = info.chunk[axis];
        const std::int64_t covered =
            axis == first ? chunk : (info.array.shape[axis] + chunk - 1) / chunk * chunk;
        if (band > most_kept_bytes / covered) {
            return most_kept_bytes + 1;
        }
        band *= covered;
    }
    return band;
}

std::int64_t cache_bytes(const DatasetInfo& info) {
    return std::max(std::min(band_bytes(info), most_kept_bytes), unpacked_bytes(info));
}

/// Reads through HDF5, which unpacks and converts under its one lock.
class Hdf5Reader final : public RowReader {
  public:
    Hdf5Reader(const std::string& file, const std::string& dataset, DatasetInfo info)
        : info_(std::move(info)), where_(file_and_dataset(file, dataset)), file_(open_hdf5(file)),
          dataset_(open_dataset_cached(file_, dataset, info_)) {
        if (!dataset_.valid()) {
            throw_hdf5(ExitCode::input, "cannot open the dataset", where_);
        }
        const TypeHandle stored(hdf5_must(H5Dget_type(dataset_.get()), "H5Dget_type"));
        const TypeHandle memory = memory_type(info_.array);
        type_ = type_to_read(stored.get(), memory.get());
        is_turned_ = has_other_order(type_, memory.get());
        space_ = SpaceHandle(hdf5_must(H5Dget_space(dataset_.get()), "H5Dget_space"));
        H5D_space_status_t status = H5D_SPACE_STATUS_NOT_ALLOCATED;
        hdf5_must(H5Dget_space_status(dataset_.get(), &status), "H5Dget_space_status");
        whole_ = status == H5D_SPACE_STATUS_ALLOCATED;
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        start_hdf5();
        check_rows(info_.array, first, rows);
        if (!whole_) {
            // HDF5 leaves memory as it was where there is neither an element nor a fill value.
            std::fill_n(to, rows * row_bytes(info_.array), std::byte{0});
        }
        const std::int64_t end = first + rows;
        while (first < end) {
            const RowBox box = box_at(info_.array.shape, first, end);
            read_box(box, first, to);
            first += box.rows;
            to += box.rows * row_bytes(info_.array);
        }
    }

  private:
    void read_box(const RowBox& box, std::int64_t first, std::byte* to) {
        const std::vector<hsize_t> start(box.start.begin(), box.start.end());
        const std::vector<hsize_t> count(box.count.begin(), box.count.end());
        hdf5_must(H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, start.data(), nullptr,
                                      count.data(), nullptr),
                  "H5Sselect_hyperslab");
        const SpaceHandle memory(
            hdf5_must(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                      "H5Screate_simple"));
        if (H5Dread(dataset_.get(), type_.get(), memory.get(), space_.get(), H5P_DEFAULT, to) < 0) {
            throw_hdf5(ExitCode::input, "cannot read the dataset",
                       fmt::format("{}, rows {} to {}", where_, first, first + box.rows - 1),
                       "The file may be damaged: check it with h5ls and copy it again");
        }
        if (is_turned_) {
            const std::int64_t size = size_of(info_.array.type);
            swap_bytes(to, box.rows * row_bytes(info_.array) / size, size);
        }
    }

    DatasetInfo info_;
    std::string where_;
    FileHandle file_;
    DatasetHandle dataset_;
    TypeHandle type_;        ///< in memory, before bytes are turned round
    bool is_turned_ = false; ///< they are then
    SpaceHandle space_;
    bool whole_ = false; ///< every element is stored
};

} // namespace

bool fits_cache(const DatasetInfo& info) { return band_bytes(info) <= most_kept_bytes; }

std::int64_t reader_bytes(const DatasetInfo& info, int threads) {
    if (holds_cells(info)) {
        return cell_reader_bytes(threads);
    }
    if (info.chunk.empty()) {
        return 0;
    }
    // The chunks kept, and in each thread one as it is stored, without compression and in order.
    // Between two filters that change its size it may take twice as much.
    const auto packing =
        std::count_if(info.filters.begin(), info.filters.end(), [](const std::string& name) {
            return name != "shuffle" && name != "fletcher32" && name != "crc32c";
        });
    const std::int64_t chunks = packing > 1 ? 6 : 3;
    return cache_bytes(info) + chunks * threads * unpacked_bytes(info);
}

DatasetHandle open_dataset_cached(const FileHandle& handle, const std::string& dataset,
                                  const DatasetInfo& info) {
    constexpr std::size_t slots = 12421; // a prime far above the number of chunks held
    const PropertyHandle access(hdf5_must(H5Pcreate(H5P_DATASET_ACCESS), "H5Pcreate"));
    if (!info.chunk.empty()) {
        hdf5_must(H5Pset_chunk_cache(access.get(), slots,
                                     static_cast<std::size_t>(cache_bytes(info)), 1.0),
                  "H5Pset_chunk_cache");
    }
    return DatasetHandle(H5Dopen2(handle.get(), dataset.c_str(), access.get()));
}

std::unique_ptr<RowReader> open_rows_by_hdf5(const std::string& file, const std::string& dataset,
                                             const DatasetInfo& info) {
    return std::make_unique<Hdf5Reader>(file, dataset, info);
}

std::unique_ptr<RowReader> open_rows(const std::string& file, const std::string& dataset,
                                     int threads) {
    const DatasetLayout layout = inspect_layout(file, dataset);
    if (auto reader = open_layout_rows(layout, threads)) {
        return reader;
    }
    return open_rows_by_library(layout);
}

std::unique_ptr<RowReader> open_rows_by_library(const DatasetLayout& layout) {
    if (!layout.sources.empty()) { // of a stack
        return open_source_reader(layout, 1, [](const DatasetLayout& source) {
            auto reader = open_layout_rows(source, 1);
            return reader ? std::move(reader) : open_rows_by_library(source);
        });
    }
    const RowsFormat* const format = rows_format_of(layout.file);
    return format != nullptr ? format->open(layout.file, 1)
                             : open_rows_by_hdf5(layout.file, layout.dataset, layout.info);
}

DatasetLayout OwnFiles::layout(const std::string& file, const std::string& dataset) {
    return inspect_layout(file, dataset);
}

bool OwnFiles::has_dataset(const std::string& file, const std::string& dataset) {
    if (rows_format_of(file) != nullptr) {
        return false;
    }
    return has_link(open_hdf5(file), dataset);
}

std::vector<std::string> OwnFiles::object_names(const std::string& file) {
    return runner::object_names(file);
}

AttributeList OwnFiles::root_attributes(const std::string& file) {
    return runner::root_attributes(file);
}

std::string OwnFiles::record_facts(const std::string& file,
                                   const std::vector<std::string>& elsewhere) {
    return runner::record_facts(file, elsewhere);
}

FileContent OwnFiles::content(const std::string& file, const std::string& dataset) {
    if (dataset.empty()) {
        return file_content(file, rules_);
    }
    FileContent content;
    content.file = file;
    content.datasets.push_back(dataset_content(file, dataset, rules_));
    return content;
}

std::unique_ptr<RowReader> OwnFiles::open(const DatasetLayout& layout, int threads) {
    if (auto reader = open_layout_rows(layout, threads)) {
        return reader;
    }
    return open_rows(layout.file, layout.dataset, threads);
}

void OwnFiles::store_chunks(const std::string& file, const std::string& dataset,
                            const std::vector<PackedChunk>& chunks) {
    store_packed_chunks(file, dataset, chunks);
}

std::unique_ptr<RowReader> open_rows_of(FileAccess& files, const std::string& file,
                                        const std::string& dataset, int threads) {
    return files.open(files.layout(file, dataset), threads);
}

} // namespace runner
