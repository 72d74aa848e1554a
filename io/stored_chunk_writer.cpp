// SPDX-License-Identifier: BSD-3-Clause
#include "io/row_writers.hpp"

#include "io/chunk_grid.hpp"
#include "io/file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "io/io_threads.hpp"
#include "io/packer.hpp"
#include "io/zstd_filter.hpp"

#include <algorithm>

namespace runner {
namespace {

std::vector<hsize_t> start_of(const ChunkGrid& grid, std::int64_t index) {
    const std::vector<std::int64_t> start = grid.start_of(index);
    return {start.begin(), start.end()};
}

/// The filters that create_output() sets.
std::vector<H5Z_filter_t> filters_for(const OutputLayout& layout) {
    std::vector<H5Z_filter_t> filters;
    if (layout.shuffle) {
        filters.push_back(H5Z_FILTER_SHUFFLE);
    }
    filters.push_back(layout.compression == Compression::zstd ? zstd_filter_id
                                                              : H5Z_FILTER_DEFLATE);
    return filters;
}

/// Compressed chunks of a finished output, each put where it lies if it takes as many bytes as the
/// one there, so that nothing of HDF5's structure changes; else through HDF5, which moves it.
class StoredChunkWriter final : public RowWriter {
  public:
    StoredChunkWriter(const OutputDataset& output, int threads)
        : output_(output), grid_(output.array, output.layout),
          file_(output.file, File::Mode::update), threads_(threads) {
        check_layout();
        for (int thread = 0; thread < threads; ++thread) {
            packers_.emplace_back(output.layout, grid_.chunk_bytes(), size_of(output.array.type));
            whole_chunks_.emplace_back(static_cast<std::size_t>(grid_.chunk_bytes()));
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const auto [begin, end] = grid_.chunks_of(first, rows);
        std::vector<std::vector<std::byte>> packed(static_cast<std::size_t>(end - begin));
        threads_.run(end - begin, [&, begin = begin](std::int64_t item, int thread) {
            const auto own = static_cast<std::size_t>(thread);
            ChunkGrid::Chunk chunk = grid_.chunk_at(begin + item);
            chunk.first_row -= first;
            std::vector<std::byte>& whole = whole_chunks_[own];
            std::fill(whole.begin(), whole.end(), std::byte{0});
            gather_chunk(output_.array, chunk, grid_.chunk_columns(), from, whole.data());
            const auto bytes = packers_[own].pack(whole);
            packed[static_cast<std::size_t>(item)].assign(bytes.begin(), bytes.end());
        });
        store_elsewhere(begin, store_in_place(begin, packed), packed);
    }

    void sync() override { file_.sync(); }

    void finish(Sync sync) override {
        if (sync == Sync::yes) {
            file_.sync();
        }
        file_.close();
    }

  private:
    void check_layout() const {
        const FileHandle file = open_hdf5(output_.file);
        const DatasetHandle dataset = open_dataset(file, output_.file, output_.dataset);
        const PropertyHandle creation = creation_of(dataset);
        std::vector<H5Z_filter_t> filters;
        for (const Filter& filter : filters_of(creation)) {
            filters.push_back(filter.id);
        }
        if (chunk_of(creation) != grid_.chunk() || filters != filters_for(output_.layout)) {
            throw Error(ExitCode::output,
                        {"the output is not stored as it was created",
                         file_and_dataset(output_.file, output_.dataset),
                         "another program changed its chunks or filters", "Run the job again"});
        }
    }

    /// Returns the items that do not fit where they were.
    std::vector<std::size_t> store_in_place(std::int64_t begin,
                                            const std::vector<std::vector<std::byte>>& packed) {
        const FileHandle file = open_hdf5(output_.file);
        const DatasetHandle dataset = open_dataset(file, output_.file, output_.dataset);
        std::vector<std::size_t> others;
        for (std::size_t item = 0; item < packed.size(); ++item) {
            const auto start = start_of(grid_, begin + static_cast<std::int64_t>(item));
            unsigned skipped = 0;
            haddr_t address = HADDR_UNDEF;
            hsize_t bytes = 0;
            const bool known = H5Dget_chunk_info_by_coord(dataset.get(), start.data(), &skipped,
                                                          &address, &bytes) >= 0;
            const auto size = static_cast<std::int64_t>(packed[item].size());
            if (known && address != HADDR_UNDEF && skipped == 0 && bytes == packed[item].size() &&
                address + bytes <= static_cast<hsize_t>(file_.size())) {
                file_.write(static_cast<std::int64_t>(address), size, packed[item].data());
            } else {
                others.push_back(item);
            }
        }
        return others;
    }

    void store_elsewhere(std::int64_t begin, const std::vector<std::size_t>& items,
                         const std::vector<std::vector<std::byte>>& packed) const {
        if (items.empty()) {
            return;
        }
        FileHandle file = update_hdf5(output_.file);
        DatasetHandle dataset = open_dataset(file, output_.file, output_.dataset);
        for (const std::size_t item : items) {
            const auto start = start_of(grid_, begin + static_cast<std::int64_t>(item));
            if (H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, start.data(), packed[item].size(),
                               packed[item].data()) < 0) {
                throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                           file_and_dataset(output_.file, output_.dataset),
                           "Free space on that file system and start again");
            }
        }
        if (!dataset.close()) {
            throw_hdf5(ExitCode::output, "cannot store the dataset", output_.file);
        }
        close_hdf5(std::move(file), output_.file);
    }

    OutputDataset output_;
    ChunkGrid grid_;
    File file_;
    std::vector<Packer> packers_;                      ///< one a thread
    std::vector<std::vector<std::byte>> whole_chunks_; ///< one a thread
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_stored_chunk_writer(const OutputDataset& output, int threads) {
    return std::make_unique<StoredChunkWriter>(output, threads);
}

} // namespace runner
