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

/// Compressed chunks of a finished output. HDF5 puts one that takes as many bytes as before where
/// it was and leaves its index alone, so that nothing is lost if that is cut short.
class StoredChunkWriter final : public RowWriter {
  public:
    StoredChunkWriter(const OutputDataset& output, int threads)
        : output_(output), grid_(output.array, output.layout), file_(update_hdf5(output.file)),
          dataset_(open_dataset(file_, output.file, output.dataset)), threads_(threads) {
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
        for (std::size_t item = 0; item < packed.size(); ++item) {
            store(begin + static_cast<std::int64_t>(item), packed[item]);
        }
    }

    void sync() override { File(output_.file, File::Mode::update).sync(); }

    void finish(Sync sync) override {
        if (!dataset_.close()) {
            throw_hdf5(ExitCode::output, "cannot store the dataset", output_.file);
        }
        close_hdf5(std::move(file_), output_.file);
        if (sync == Sync::yes) {
            this->sync();
        }
    }

  private:
    void check_layout() const {
        const PropertyHandle creation = creation_of(dataset_);
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

    void store(std::int64_t index, const std::vector<std::byte>& packed) {
        start_hdf5();
        const std::vector<std::int64_t> start = grid_.start_of(index);
        const std::vector<hsize_t> offset(start.begin(), start.end());
        if (H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, offset.data(), packed.size(),
                           packed.data()) < 0) {
            throw_hdf5(ExitCode::output, "cannot store a compressed chunk",
                       file_and_dataset(output_.file, output_.dataset) + ", from element " +
                           shape_text(start),
                       "Free space on that file system and start again");
        }
    }

    OutputDataset output_;
    ChunkGrid grid_;
    FileHandle file_;
    DatasetHandle dataset_;
    std::vector<Packer> packers_;                      ///< one a thread
    std::vector<std::vector<std::byte>> whole_chunks_; ///< one a thread
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_stored_chunk_writer(const OutputDataset& output, int threads) {
    return std::make_unique<StoredChunkWriter>(output, threads);
}

} // namespace runner
