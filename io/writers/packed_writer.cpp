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

#include <algorithm>
#include <atomic>
#include <deque>

namespace runner {
namespace {

/// File systems let one thread at a time write to a file: several files take what several threads
/// pack. Of more, a run of many ranks would have too many open.
constexpr std::int64_t most_shards = 4;

class PackedWriter final : public RowWriter {
  public:
    PackedWriter(const OutputDataset& output, int rank, int threads, std::int64_t attempt)
        : array_(output.array), grid_(output.array, output.layout),
          cuts_(cuts_chunks(output.array, output.layout)), threads_(threads) {
        const std::int64_t shards = std::min<std::int64_t>({most_shards, threads, grid_.parts()});
        for (std::int64_t number = 0; number < std::max<std::int64_t>(shards, 1); ++number) {
            shards_.emplace_back(shard_path(output, rank, attempt, number));
        }
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
            append(shards_[own % shards_.size()], begin + item,
                   packers_[own].pack(whole_part(part, from, whole_parts_[own])));
        });
    }

    void start_sync() noexcept override {
        for (const Shard& shard : shards_) {
            shard.file.start_sync();
        }
    }

    void sync() override {
        for (Shard& shard : shards_) {
            shard.file.sync();
        }
    }

    // What is assembled from it is to last, and until then what the journal knows of is synced.
    void finish(Sync /*sync*/) override {
        for (Shard& shard : shards_) {
            shard.file.close();
        }
    }

  private:
    struct Shard {
        explicit Shard(const std::string& path) : file(path, File::Mode::create) {}

        File file;
        std::atomic<std::int64_t> end{0};
    };

    static void append(Shard& shard, std::int64_t index, std::span<const std::byte> packed) {
        ShardRecord record{index, std::ssize(packed), hash_bytes(packed.data(), std::ssize(packed)),
                           0};
        record.check = check_of(record);
        const std::int64_t head = sizeof(record);
        const std::int64_t at = shard.end.fetch_add(head + record.bytes);
        shard.file.write(at, head, reinterpret_cast<const std::byte*>(&record));
        shard.file.write(at + head, record.bytes, packed.data());
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
    bool cuts_;                ///< chunks at the array's end are stored without what is beyond it
    std::deque<Shard> shards_; ///< of threads that write at once
    std::vector<Packer> packers_;                     ///< one a thread
    std::vector<std::vector<std::byte>> whole_parts_; ///< one a thread
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_packed_writer(const OutputDataset& output, int rank, int threads,
                                              std::int64_t attempt) {
    return std::make_unique<PackedWriter>(output, rank, threads, attempt);
}

} // namespace runner
