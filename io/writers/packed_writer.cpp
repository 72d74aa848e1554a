// SPDX-License-Identifier: BSD-3-Clause
#include "io/writers/row_writers.hpp"

#include "base/rounding.hpp"
#include "io/files/file.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/chunk_grid.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/writers/chunk_bands.hpp"
#include "io/writers/part_packers.hpp"
#include "io/writers/placed_chunks.hpp"
#include "io/writers/shards.hpp"
#include "io/writers/turns.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

namespace runner {
namespace {

enum class Places { no, yes };

/// Packs pieces and writes them into their files, where they have places there, and their records
/// into shards; what does not go into a file goes into a shard too.
class PackedWriter final : public RowWriter {
  public:
    PackedWriter(const OutputDataset& output, Places places, int rank, int threads,
                 std::int64_t attempt, std::int64_t waiting)
        : output_(output), grid_(output_.array, output_.layout), packers_(output_, grid_, threads),
          bands_(ChunkBands::of(output_, grid_, waiting, threads)),
          shards_(output_, rank, threads, attempt), work_(static_cast<std::size_t>(threads)),
          threads_(threads) {
        if (places == Places::yes) {
            placed_.emplace(output_, grid_);
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        const std::lock_guard lock(mutex_);
        const auto [begin, end] = grid_.parts_of(first, rows);
        if (bands_ != nullptr) {
            write_lines(first, {begin, end}, from);
            return;
        }
        write_pieces(
            end - begin, grid_.part_bytes(), [&, begin = begin](std::int64_t item, int thread) {
                return Piece{begin + item, packers_.pack(begin + item, first, from, thread), {}};
            });
    }

    void start_sync() noexcept override {
        try {
            placed_ ? placed_->start_sync() : shards_.start_sync();
        } catch (...) { // sync() reports the failure
        }
    }

    void hand_over() override {
        const std::lock_guard lock(mutex_);
        if (bands_ != nullptr) {
            save(bands_->unsaved());
        }
    }

    // A record may be on the disk only if its chunk is.
    void sync() override {
        hand_over();
        if (placed_) {
            placed_->sync();
        }
        shards_.sync();
    }

    // What is assembled from it is to last, and until then what the journal knows of is synced.
    void finish(Sync /*sync*/) override {
        hand_over();
        bands_.reset();
        if (placed_) {
            placed_->close();
        }
        shards_.close();
    }

  private:
    struct Piece {
        std::int64_t index = 0; ///< as ChunkGrid counts them
        std::span<const std::byte> bytes;
        std::optional<PlacedChunks::Place> place;
    };

    /// Packs a piece; its bytes are valid until the thread's next call.
    using Pack = std::function<Piece(std::int64_t item, int thread)>;

    /// What a thread works on: pieces that are written at once.
    struct Work {
        std::vector<std::byte> bytes;
        std::vector<Piece> pieces;
        std::vector<std::byte> records; ///< and the bytes of small pieces that go into a shard
    };

    /// Keeps rows until their chunks are whole, as far as there is memory.
    void write_lines(std::int64_t first, std::pair<std::int64_t, std::int64_t> parts,
                     const std::byte* from) {
        const std::int64_t row = row_bytes(output_.array);
        std::vector<std::pair<ChunkBands::Line, std::byte*>> kept;
        std::vector<ChunkBands::Line> others;
        const auto write_whole = [&] {
            threads_.run(std::ssize(kept), [&](std::int64_t item, int /*thread*/) {
                const auto& [line, to] = kept[static_cast<std::size_t>(item)];
                std::copy_n(line.rows, grid_.part_at(line.part).rows * row, to);
            });
            kept.clear();
            write_chunks();
        };
        for (std::int64_t part = parts.first; part < parts.second; part += grid_.across()) {
            const std::int64_t begin = grid_.part_at(part).first_row;
            const ChunkBands::Line line{part, begin, from + (begin - first) * row};
            if (bands_->is_left(part)) {
                others.push_back(line);
                continue;
            }
            std::byte* to = bands_->place(part);
            if (to == nullptr) {
                write_whole();
                save(bands_->give_up());
                to = bands_->place(part);
            }
            if (to != nullptr) {
                kept.emplace_back(line, to);
            } else {
                bands_->leave(part);
                others.push_back(line);
            }
        }
        write_whole();
        save(others);
    }

    void write_chunks() {
        const std::vector<ChunkBands::WholeChunk> chunks = bands_->whole();
        write_pieces(std::ssize(chunks), grid_.chunk_bytes(), [&](std::int64_t item, int thread) {
            const ChunkBands::WholeChunk& chunk = chunks[static_cast<std::size_t>(item)];
            return Piece{grid_.piece_of(chunk.index), bands_->pack(chunk, thread), {}};
        });
        bands_->drop_whole();
    }

    /// Writes the parts of lines.
    void save(const std::vector<ChunkBands::Line>& lines) {
        write_pieces(std::ssize(lines) * grid_.across(), grid_.part_bytes(),
                     [&](std::int64_t item, int thread) {
                         const ChunkBands::Line& line =
                             lines[static_cast<std::size_t>(item / grid_.across())];
                         const std::int64_t part = line.part + item % grid_.across();
                         return Piece{part, packers_.pack(part, line.first, line.rows, thread), {}};
                     });
    }

    /// Packs and writes so many pieces of up to `bytes` each.
    void write_pieces(std::int64_t count, std::int64_t bytes, const Pack& pack) {
        const std::int64_t each = PartPackers::together(count, bytes, threads_.threads());
        Turns turns;
        threads_.run(ceil_divide(count, each), [&](std::int64_t item, int thread) {
            const std::int64_t first = item * each;
            const std::int64_t end = std::min(first + each, count);
            if (!placed_) {
                pack_together({first, end}, pack, thread);
            } else {
                turns.take(
                    item,
                    [&] {
                        pack_together({first, end}, pack, thread);
                    },
                    [&] {
                        for (Piece& piece : work_[static_cast<std::size_t>(thread)].pieces) {
                            piece.place = placed_->take(piece.index, std::ssize(piece.bytes));
                        }
                    });
            }
            store(thread);
        });
    }

    /// Packs pieces one behind the other; one alone is not copied.
    void pack_together(std::pair<std::int64_t, std::int64_t> items, const Pack& pack, int thread) {
        Work& work = work_[static_cast<std::size_t>(thread)];
        work.bytes.clear();
        work.pieces.clear();
        for (std::int64_t item = items.first; item < items.second; ++item) {
            work.pieces.push_back(pack(item, thread));
            if (items.second - items.first > 1) {
                const std::span<const std::byte> packed = work.pieces.back().bytes;
                work.bytes.insert(work.bytes.end(), packed.begin(), packed.end());
            }
        }
        std::size_t at = 0;
        for (Piece& piece : work.pieces) {
            if (work.pieces.size() > 1) {
                piece.bytes = std::span(work.bytes).subspan(at, piece.bytes.size());
            }
            at += piece.bytes.size();
        }
    }

    /// Writes what follows one another in a file at once, and all records.
    void store(int thread) {
        Work& work = work_[static_cast<std::size_t>(thread)];
        ShardFile& shard = shards_.of(thread);
        work.records.clear();
        for (auto piece = work.pieces.cbegin(); piece != work.pieces.cend();) {
            const auto end = end_of_run(piece, work.pieces.cend());
            std::size_t bytes = 0;
            std::for_each(piece, end, [&](const Piece& one) { bytes += one.bytes.size(); });
            const bool placed =
                piece->place && placed_->write(*piece->place, {piece->bytes.data(), bytes});
            for (; piece != end; ++piece) {
                if (placed) {
                    append(work.records,
                           record_of(piece->index, piece->bytes, piece->place->offset));
                } else if (work.pieces.size() == 1) { // a large one is not copied
                    shard.append(record_of(piece->index, piece->bytes), piece->bytes);
                } else {
                    append(work.records, record_of(piece->index, piece->bytes));
                    work.records.insert(work.records.end(), piece->bytes.begin(),
                                        piece->bytes.end());
                }
            }
        }
        shard.append(work.records);
    }

    using Pieces = std::vector<Piece>::const_iterator;

    /// Behind the pieces that follow one another in one file.
    static Pieces end_of_run(Pieces piece, Pieces end) {
        const auto breaks = [](const Piece& one, const Piece& next) {
            return !one.place || !next.place || one.place->file != next.place->file ||
                   one.place->offset + std::ssize(one.bytes) != next.place->offset;
        };
        const Pieces last = std::adjacent_find(piece, end, breaks);
        return last == end ? end : std::next(last);
    }

    OutputDataset output_;
    ChunkGrid grid_;
    PartPackers packers_;
    std::unique_ptr<ChunkBands> bands_; ///< null: all chunks are packed in parts
    std::optional<PlacedChunks> placed_;
    ShardFiles shards_;
    std::vector<Work> work_; ///< one a thread
    std::mutex mutex_;       ///< of writing and handing over
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_placing_writer(const OutputDataset& output, int rank, int threads,
                                               std::int64_t attempt, std::int64_t waiting) {
    return std::make_unique<PackedWriter>(output, Places::yes, rank, threads, attempt, waiting);
}

std::unique_ptr<RowWriter> open_packed_writer(const OutputDataset& output, int rank, int threads,
                                              std::int64_t attempt, std::int64_t waiting) {
    // To memory four files at a time and a copy take 0.65 of the time of one file at a time: 16 GiB
    // 5.3 s and 7.9 s. To a disk, where each byte counts, 8 GiB take twice as long, or if nothing
    // waits for it the same (bench/results/zarr-jobs-2026-11-28-gpu-hosts.txt).
    const bool places = places_chunks(output.layout) && !is_in_memory(output.file);
    return std::make_unique<PackedWriter>(output, places ? Places::yes : Places::no, rank, threads,
                                          attempt, waiting);
}

} // namespace runner
