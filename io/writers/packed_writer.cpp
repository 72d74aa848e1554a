// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_writers.hpp"

#include "io/files/file.hpp"
#include "io/files/hash.hpp"
#include "io/files/io_threads.hpp"
#include "io/filters/packer.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/rows/written_format.hpp"
#include "io/writers/shards.hpp"

#include <atomic>

namespace runner {
namespace {

class PackedWriter final : public RowWriter {
  public:
    PackedWriter(const OutputDataset& output, int threads, const std::string& shard)
        : array_(output.array), grid_(output.array, output.layout),
          cuts_(cuts_chunks(output.array, output.layout)), shard_(shard, File::Mode::create),
          threads_(threads) {
        for (int thread = 0; thread < threads; ++thread) {
            packers_.emplace_back(output.layout, grid_.part_bytes(), array_);
            whole_parts_.emplace_back();
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const auto [begin, end] = grid_.parts_of(first, rows);
        threads_.run(end - begin, [&, begin = begin](std::int64_t item, int thread) {
            ChunkGrid::Part part = grid_.part_at(begin + item);
            part.first_row -= first;
            const auto own = static_cast<std::size_t>(thread);
            append(begin + item, packers_[own].pack(whole_part(part, from, whole_parts_[own])));
        });
    }

    void sync() override { shard_.sync(); }

    // What is assembled from it is to last, and until then what the journal knows of is synced.
    void finish(Sync /*sync*/) override { shard_.close(); }

  private:
    void append(std::int64_t index, std::span<const std::byte> packed) {
        ShardRecord record{index, std::ssize(packed), hash_bytes(packed.data(), std::ssize(packed)),
                           0};
        record.check = check_of(record);
        const std::int64_t head = sizeof(record);
        const std::int64_t at = end_.fetch_add(head + record.bytes);
        shard_.write(at, head, reinterpret_cast<const std::byte*>(&record));
        shard_.write(at + head, record.bytes, packed.data());
    }

    /// The part's elements with zeros beyond the array, or cut to it; in the caller's rows where
    /// they lie so.
    std::span<const std::byte> whole_part(const ChunkGrid::Part& part, const std::byte* from,
                                          std::vector<std::byte>& whole) {
        if (grid_.chunk_columns() == grid_.columns() &&
            (cuts_ || part.rows == grid_.chunk_rows())) {
            const auto used = static_cast<std::size_t>(part.rows * row_bytes(array_));
            return {from + part.first_row * row_bytes(array_), used};
        }
        whole.resize(static_cast<std::size_t>(grid_.part_bytes()));
        const std::int64_t line = grid_.part_bytes() / grid_.chunk_rows();
        std::fill(whole.begin() + part.rows * line, whole.end(), std::byte{0});
        gather_part(array_, part, grid_.chunk_columns(), from, whole.data());
        return whole;
    }

    ArrayInfo array_;
    ChunkGrid grid_;
    bool cuts_; ///< chunks at the array's end are stored without what is beyond it
    File shard_;
    std::atomic<std::int64_t> end_{0};
    std::vector<Packer> packers_;                     ///< one a thread
    std::vector<std::vector<std::byte>> whole_parts_; ///< one a thread
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_packed_writer(const OutputDataset& output, int threads,
                                              const std::string& shard) {
    return std::make_unique<PackedWriter>(output, threads, shard);
}

} // namespace runner
