// SPDX-License-Identifier: BSD-3-Clause
#include "io/row_readers.hpp"

#include "io/chunk_cache.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_type.hpp"
#include "io/io_threads.hpp"
#include "io/row_geometry.hpp"
#include "io/unpacker.hpp"

#include <map>
#include <mutex>
#include <set>

namespace runner {
namespace {

/// What HDF5 says where a chunk is asked for that is not there.
constexpr const char* never_written = "chunk storage is not allocated";

using Chunk = std::vector<std::int64_t>; ///< its first element's coordinates

/// The chunks that hold any of rows [first, end).
std::set<Chunk> chunks_of_rows(const DatasetInfo& info, std::int64_t first, std::int64_t end) {
    std::set<Chunk> chunks;
    while (first < end) {
        const Box box = box_at(info.array.shape, first, end);
        Chunk low(box.start.size());
        for (std::size_t axis = 0; axis < low.size(); ++axis) {
            low[axis] = box.start[axis] / info.chunk[axis] * info.chunk[axis];
        }
        for (Chunk chunk = low;;) {
            chunks.insert(chunk);
            std::size_t axis = chunk.size();
            while (axis > 0) {
                --axis;
                chunk[axis] += info.chunk[axis];
                if (chunk[axis] < box.start[axis] + box.count[axis]) {
                    break;
                }
                chunk[axis] = low[axis];
                if (axis == 0) {
                    chunk.clear();
                    break;
                }
            }
            if (chunk.empty()) {
                break;
            }
        }
        first += box.rows;
    }
    return chunks;
}

class ChunkReader final : public RowReader {
  public:
    ChunkReader(FileHandle file, DatasetHandle dataset, const std::vector<Filter>& filters,
                std::vector<std::byte> fill, std::string where, DatasetInfo info, int threads)
        : info_(std::move(info)), fill_(std::move(fill)), where_(std::move(where)),
          file_(std::move(file)), dataset_(std::move(dataset)), threads_(threads) {
        chunk_bytes_ = byte_count({info_.array.type, info_.chunk});
        for (int thread = 0; thread < threads; ++thread) {
            unpackers_.emplace_back(filters, chunk_bytes_);
            packed_.emplace_back();
        }
    }

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::int64_t end = first + rows;
        const std::set<Chunk> set = chunks_of_rows(info_, first, end);
        const std::vector<Chunk> chunks(set.begin(), set.end());
        threads_.run(std::ssize(chunks), [&](std::int64_t item, int thread) {
            read_chunk(chunks[static_cast<std::size_t>(item)], first, end, to,
                       static_cast<std::size_t>(thread));
        });
        std::erase_if(kept_, [&](const auto& kept) { return last_row(kept.first) < end; });
    }

  private:
    void read_chunk(const Chunk& chunk, std::int64_t first, std::int64_t end, std::byte* to,
                    std::size_t thread) {
        const std::vector<std::byte>* kept = find_kept(chunk);
        if (kept != nullptr) {
            return copy_rows(chunk, *kept, first, end, to);
        }
        const auto elements = load(chunk, thread);
        copy_rows(chunk, elements, first, end, to);
        if (last_row(chunk) >= end) {
            // Rows are read in order: the next call begins within this chunk.
            std::vector<std::byte> copy(elements.begin(), elements.end());
            const std::lock_guard lock(mutex_);
            kept_.emplace(chunk, std::move(copy));
        }
    }

    const std::vector<std::byte>* find_kept(const Chunk& chunk) {
        const std::lock_guard lock(mutex_);
        const auto found = kept_.find(chunk);
        return found == kept_.end() ? nullptr : &found->second;
    }

    std::span<const std::byte> load(const Chunk& chunk, std::size_t thread) {
        std::vector<std::byte>& packed = packed_[thread];
        const std::uint32_t skipped = fetch(chunk, packed);
        if (packed.empty()) { // never written
            packed.reserve(static_cast<std::size_t>(chunk_bytes_));
            while (std::ssize(packed) < chunk_bytes_) {
                packed.insert(packed.end(), fill_.begin(), fill_.end());
            }
            return packed;
        }
        const auto elements = unpackers_[thread].unpack(
            packed, skipped, where_ + ", chunk from " + shape_text(chunk));
        if (info_.big_endian) {
            packed.assign(elements.begin(), elements.end());
            swap_bytes(packed);
            return packed;
        }
        return elements;
    }

    /// The chunk as it is stored, empty where it never was; returns the filters that it did not
    /// pass.
    std::uint32_t fetch(const Chunk& chunk, std::vector<std::byte>& packed) {
        start_hdf5();
        const std::vector<hsize_t> offset(chunk.begin(), chunk.end());
        const std::lock_guard lock(hdf5_);
        hsize_t bytes = 0;
        std::uint32_t skipped = 0;
        bool good = H5Dget_chunk_storage_size(dataset_.get(), offset.data(), &bytes) >= 0;
        if (!good && hdf5_error_text() == never_written) {
            bytes = 0;
            good = true;
        }
        if (good) {
            packed.resize(bytes);
            good = bytes == 0 || H5Dread_chunk(dataset_.get(), H5P_DEFAULT, offset.data(), &skipped,
                                               packed.data()) >= 0;
        }
        if (!good) {
            throw_hdf5(ExitCode::input, "cannot read a chunk",
                       where_ + ", chunk from " + shape_text(chunk), "Check the file with h5ls");
        }
        return skipped;
    }

    void swap_bytes(std::vector<std::byte>& elements) const {
        const auto size = static_cast<std::ptrdiff_t>(size_of(info_.array.type));
        for (auto at = elements.begin(); at != elements.end(); at += size) {
            std::reverse(at, at + size);
        }
    }

    /// Number of the last row of the array that the chunk holds a part of.
    std::int64_t last_row(const Chunk& chunk) const {
        std::int64_t row = 0;
        for (std::size_t axis = 0; axis < row_axes(info_.array.shape); ++axis) {
            const std::int64_t extent = info_.array.shape[axis];
            row = row * extent + std::min(chunk[axis] + info_.chunk[axis], extent) - 1;
        }
        return row;
    }

    /// Copies what the chunk holds of rows [first, end) to its place among them.
    void copy_rows(const Chunk& chunk, std::span<const std::byte> elements, std::int64_t first,
                   std::int64_t end, std::byte* to) const {
        const std::vector<std::int64_t>& shape = info_.array.shape;
        const std::int64_t size = size_of(info_.array.type);
        if (shape.size() == 1) {
            const std::int64_t low = std::max(first, chunk[0]);
            const std::int64_t high = std::min({end, chunk[0] + info_.chunk[0], shape[0]});
            std::copy_n(elements.data() + (low - chunk[0]) * size, (high - low) * size,
                        to + (low - first) * size);
            return;
        }
        const std::size_t last = shape.size() - 1;
        const std::int64_t line = info_.chunk[last] * size;
        const std::int64_t used = std::min(info_.chunk[last], shape[last] - chunk[last]) * size;
        const std::int64_t lines = std::ssize(elements) / line;
        for (std::int64_t number = 0; number < lines; ++number) {
            const std::int64_t row = row_of_line(chunk, number);
            if (row >= first && row < end) {
                std::copy_n(elements.data() + number * line, used,
                            to + ((row - first) * shape[last] + chunk[last]) * size);
            }
        }
    }

    /// The array's row that line `number` of a chunk is a part of; -1 for a line beyond the array.
    std::int64_t row_of_line(const Chunk& chunk, std::int64_t number) const {
        std::int64_t row = 0;
        std::int64_t below = 1; // rows of the array in one step of the axis
        for (std::size_t axis = info_.array.shape.size() - 1; axis-- > 0;) {
            const std::int64_t at = chunk[axis] + number % info_.chunk[axis];
            number /= info_.chunk[axis];
            if (at >= info_.array.shape[axis]) {
                return -1;
            }
            row += at * below;
            below *= info_.array.shape[axis];
        }
        return row;
    }

    DatasetInfo info_;
    std::vector<std::byte> fill_; ///< one element
    std::string where_;
    FileHandle file_;
    DatasetHandle dataset_;
    std::int64_t chunk_bytes_ = 0;
    std::vector<Unpacker> unpackers_;              ///< one a thread
    std::vector<std::vector<std::byte>> packed_;   ///< one a thread
    std::map<Chunk, std::vector<std::byte>> kept_; ///< unpacked, with rows beyond the last call's
    std::mutex mutex_;                             ///< of kept_
    std::mutex hdf5_; ///< a build of HDF5 need not have a lock of its own
    IoThreads threads_;
};

/// The element that chunks which were never written stand for: 0 where the file names none.
std::vector<std::byte> fill_element(const PropertyHandle& creation, const ArrayInfo& array) {
    std::vector<std::byte> element(static_cast<std::size_t>(size_of(array.type)), std::byte{0});
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    hdf5_must(H5Pfill_value_defined(creation.get(), &defined), "H5Pfill_value_defined");
    if (defined != H5D_FILL_VALUE_UNDEFINED &&
        H5Pget_fill_value(creation.get(), memory_type(array).get(), element.data()) < 0) {
        throw_hdf5(ExitCode::input, "cannot read a dataset's fill value", "");
    }
    return element;
}

/// A damaged index may give an unfiltered chunk another size than all of them have: H5Dread_chunk
/// would write beyond the size that it was asked for before.
bool has_even_chunks(const DatasetHandle& dataset, const DatasetInfo& info,
                     const std::string& where) {
    const SpaceHandle space(hdf5_must(H5Dget_space(dataset.get()), "H5Dget_space"));
    hsize_t stored = 0;
    if (H5Dget_num_chunks(dataset.get(), space.get(), &stored) < 0) {
        throw_hdf5(ExitCode::input, "cannot read the list of chunks", where,
                   "The file is damaged: copy it again, or make it again");
    }
    return !info.filters.empty() ||
           info.stored_bytes ==
               static_cast<std::int64_t>(stored) * byte_count({info.array.type, info.chunk});
}

bool keeps_partial_chunks_packed(const PropertyHandle& creation) {
    unsigned options = 0;
    return H5Pget_chunk_opts(creation.get(), &options) >= 0 && options == 0;
}

} // namespace

std::unique_ptr<RowReader> open_chunk_reader(const std::string& file, const std::string& dataset,
                                             const DatasetInfo& info, int threads) {
    if (info.storage != "chunked" || !fits_cache(info)) {
        return nullptr;
    }
    FileHandle handle = open_hdf5(file);
    DatasetHandle opened = open_dataset(handle, file, dataset);
    const PropertyHandle creation = creation_of(opened);
    const TypeHandle type(hdf5_must(H5Dget_type(opened.get()), "H5Dget_type"));
    const std::vector<Filter> filters = filters_of(creation);
    const std::string where = file_and_dataset(file, dataset);
    if (!Unpacker::knows(filters) || !is_plain(type.get(), info.array) ||
        !keeps_partial_chunks_packed(creation) || !has_even_chunks(opened, info, where)) {
        return nullptr;
    }
    return std::make_unique<ChunkReader>(std::move(handle), std::move(opened), filters,
                                         fill_element(creation, info.array), where, info, threads);
}

} // namespace runner
