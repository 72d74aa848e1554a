// SPDX-License-Identifier: BSD-3-Clause
#include "io/row_writers.hpp"

#include "io/chunk_grid.hpp"
#include "io/file.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "io/io_threads.hpp"
#include "io/packer.hpp"
#include "io/unpacker.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace runner {
namespace {

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
            unpackers_.emplace_back(layout_filters(output.layout, size_of(output.array.type)),
                                    grid_.chunk_bytes());
            whole_chunks_.emplace_back(static_cast<std::size_t>(grid_.chunk_bytes()));
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const auto [begin, end] = grid_.parts_of(first, rows);
        std::map<std::int64_t, std::vector<std::int64_t>> parts; // by chunk
        for (std::int64_t part = begin; part < end; ++part) {
            parts[grid_.place_of(part).chunk].push_back(part);
        }
        const std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> chunks(parts.begin(),
                                                                                     parts.end());
        std::vector<std::vector<std::byte>> packed;
        packed.reserve(chunks.size());
        for (const auto& [chunk, own] : chunks) {
            packed.push_back(std::ssize(own) < grid_.layers() ? stored(chunk)
                                                              : std::vector<std::byte>());
        }
        threads_.run(std::ssize(chunks), [&](std::int64_t item, int thread) {
            const auto own = static_cast<std::size_t>(thread);
            std::vector<std::byte>& bytes = packed[static_cast<std::size_t>(item)];
            std::vector<std::byte>& whole = whole_chunks_[own];
            unpack(bytes, own, whole);
            for (const std::int64_t index : chunks[static_cast<std::size_t>(item)].second) {
                ChunkGrid::Part part = grid_.part_at(index);
                part.first_row -= first;
                std::byte* const to =
                    whole.data() + grid_.place_of(index).layer * grid_.part_bytes();
                std::fill_n(to, grid_.part_bytes(), std::byte{0});
                gather_part(output_.array, part, grid_.chunk_columns(), from, to);
            }
            const auto made = packers_[own].pack(whole);
            bytes.assign(made.begin(), made.end());
        });
        for (std::size_t item = 0; item < packed.size(); ++item) {
            store(chunks[item].first, packed[item]);
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
        const std::vector<Filter> made = layout_filters(output_.layout, 1);
        const std::vector<Filter> filters = filters_of(creation);
        const bool same = std::equal(filters.begin(), filters.end(), made.begin(), made.end(),
                                     [](const Filter& a, const Filter& b) { return a.id == b.id; });
        if (chunk_of(creation) != grid_.chunk() || !same) {
            throw Error(ExitCode::output,
                        {"the output is not stored as it was created",
                         file_and_dataset(output_.file, output_.dataset),
                         "another program changed its chunks or filters", "Run the job again"});
        }
    }

    /// A chunk's bytes in the file; none where they cannot be read.
    std::vector<std::byte> stored(std::int64_t chunk) {
        start_hdf5();
        const std::vector<std::int64_t> start = grid_.start_of(chunk);
        const std::vector<hsize_t> offset(start.begin(), start.end());
        hsize_t bytes = 0;
        std::vector<std::byte> packed;
        std::uint32_t skipped = 0;
        if (H5Dget_chunk_storage_size(dataset_.get(), offset.data(), &bytes) >= 0) {
            packed.resize(bytes);
            if (bytes > 0 && H5Dread_chunk(dataset_.get(), H5P_DEFAULT, offset.data(), &skipped,
                                           packed.data()) < 0) {
                packed.clear();
            }
        }
        return packed;
    }

    /// The chunk's elements; zeros where it is damaged: then all its parts are wrong and come.
    void unpack(const std::vector<std::byte>& packed, std::size_t thread,
                std::vector<std::byte>& whole) {
        std::fill(whole.begin(), whole.end(), std::byte{0});
        if (packed.empty()) {
            return;
        }
        try {
            const auto elements = unpackers_[thread].unpack(packed, 0, "");
            std::copy(elements.begin(), elements.end(), whole.begin());
        } catch (const Error&) {
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
    std::vector<Unpacker> unpackers_;                  ///< one a thread
    std::vector<std::vector<std::byte>> whole_chunks_; ///< one a thread
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_stored_chunk_writer(const OutputDataset& output, int threads) {
    return std::make_unique<StoredChunkWriter>(output, threads);
}

} // namespace runner
