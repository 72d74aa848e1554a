// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_writers.hpp"

#include "base/rounding.hpp"
#include "base/sizes.hpp"
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

/// What a thread writes to a shard at once, of small parts: each write waits for those before it.
constexpr std::int64_t together_bytes = 256 * KiB;

/// How many parts are written at once.
std::int64_t most_together(std::int64_t part_bytes) {
    // A record, and what bytes that cannot be packed grow by.
    const std::int64_t beside = 64 + part_bytes / 128;
    return std::max<std::int64_t>(together_bytes / (part_bytes + beside), 1);
}

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
            packers_.emplace_back(shard_layout(output), grid_.part_bytes(), array_);
            whole_parts_.emplace_back();
            together_.emplace_back();
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const auto [begin, end] = grid_.parts_of(first, rows);
        const std::int64_t each = std::clamp<std::int64_t>((end - begin) / threads_.threads(), 1,
                                                           most_together(grid_.part_bytes()));
        threads_.run(ceil_divide(end - begin, each), [&, begin = begin,
                                                      end = end](std::int64_t item, int thread) {
            const auto own = static_cast<std::size_t>(thread);
            Shard& shard = shards_[own % shards_.size()];
            std::vector<std::byte>& together = together_[own];
            together.clear();
            const std::int64_t first_part = begin + item * each;
            for (std::int64_t i = first_part; i < std::min(first_part + each, end); ++i) {
                ChunkGrid::Part part = grid_.part_at(i);
                part.first_row -= first;
                const std::span<const std::byte> packed =
                    packers_[own].pack(whole_part(part, from, whole_parts_[own]));
                const ShardRecord record = record_of(i, packed);
                const std::span head(reinterpret_cast<const std::byte*>(&record), sizeof(record));
                if (each == 1) { // a large one is not copied
                    const std::int64_t at = shard.take(std::ssize(head) + std::ssize(packed));
                    shard.file.write(at, std::ssize(head), head.data());
                    shard.file.write(at + std::ssize(head), std::ssize(packed), packed.data());
                } else {
                    together.insert(together.end(), head.begin(), head.end());
                    together.insert(together.end(), packed.begin(), packed.end());
                }
            }
            if (const std::int64_t bytes = std::ssize(together); bytes > 0) {
                shard.file.write(shard.take(bytes), bytes, together.data());
            }
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

        /// Where bytes go that follow all others.
        std::int64_t take(std::int64_t bytes) { return end.fetch_add(bytes); }

        File file;
        std::atomic<std::int64_t> end{0};
    };

    static ShardRecord record_of(std::int64_t part, std::span<const std::byte> packed) {
        ShardRecord record{part, std::ssize(packed), hash_bytes(packed.data(), std::ssize(packed)),
                           0};
        record.check = check_of(record);
        return record;
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
    std::vector<std::vector<std::byte>> together_;    ///< one a thread: parts and their records
    IoThreads threads_;
};

} // namespace

std::int64_t packed_together_bytes(std::int64_t part_bytes) {
    return most_together(part_bytes) == 1 ? 0 : together_bytes;
}

std::unique_ptr<RowWriter> open_packed_writer(const OutputDataset& output, int rank, int threads,
                                              std::int64_t attempt) {
    return std::make_unique<PackedWriter>(output, rank, threads, attempt);
}

} // namespace runner
