// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/output_parts.hpp"
#include "io/rows/row_geometry.hpp"
#include "io/writers/row_writers.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace runner {
namespace {

/// Each part has one thread at a time, so that threads do not wait for one file.
class PiecesWriter final : public RowWriter {
  public:
    PiecesWriter(ArrayInfo array, std::vector<RowPiece> pieces,
                 std::vector<std::unique_ptr<RowWriter>> writers, int threads)
        : array_(std::move(array)), pieces_(std::move(pieces)), writers_(std::move(writers)),
          threads_(threads) {}

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        write_runs(std::vector<RowsInMemory>{{first, rows, from}});
    }

    void write_runs(std::span<const RowsInMemory> runs) override {
        const std::int64_t row = row_bytes(array_);
        std::vector<PartRows> work(writers_.size());
        for (const auto& [first, rows, data] : runs) {
            check_rows(array_, first, rows);
            for (const RowPiece& piece : pieces_within(pieces_, first, rows)) {
                PartRows& part = work[static_cast<std::size_t>(piece.source)];
                part.writer = writers_[static_cast<std::size_t>(piece.source)].get();
                part.runs.push_back(
                    {piece.source_first, piece.rows, data + (piece.first - first) * row});
            }
        }
        std::erase_if(work, [](const PartRows& part) { return part.runs.empty(); });
        threads_.run(std::ssize(work), [&](std::int64_t index, int /*thread*/) {
            const PartRows& part = work[static_cast<std::size_t>(index)];
            part.writer->write_runs(part.runs);
        });
    }

    void start_sync() noexcept override {
        for (const auto& writer : writers_) {
            writer->start_sync();
        }
    }

    void hand_over() override {
        for (const auto& writer : writers_) {
            writer->hand_over();
        }
    }

    void sync() override {
        for (const auto& writer : writers_) {
            writer->sync();
        }
    }

    void finish(Sync sync) override {
        for (const auto& writer : writers_) {
            writer->finish(sync);
        }
    }

  private:
    struct PartRows {
        RowWriter* writer = nullptr;
        std::vector<RowsInMemory> runs;
    };

    ArrayInfo array_;
    std::vector<RowPiece> pieces_;
    std::vector<std::unique_ptr<RowWriter>> writers_;
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowWriter> open_pieces_writer(const ArrayInfo& array, std::vector<RowPiece> pieces,
                                              std::vector<std::unique_ptr<RowWriter>> writers,
                                              int threads) {
    return std::make_unique<PiecesWriter>(array, std::move(pieces), std::move(writers), threads);
}

std::unique_ptr<RowWriter> open_parts_writer(const OutputDataset& output, int threads) {
    std::vector<std::unique_ptr<RowWriter>> writers;
    for (const OutputDataset& part : part_datasets(output)) {
        writers.push_back(part.layout.chunk.empty() ? open_contiguous_writer(part, 1)
                                                    : open_chunk_writer(part, 1));
    }
    return open_pieces_writer(output.array, deal_rows(output.array, output.parts),
                              std::move(writers), part_threads(output.parts, threads));
}

} // namespace runner
