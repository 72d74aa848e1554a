// SPDX-License-Identifier: BSD-3-Clause
#include "runner/memory/memory_rows.hpp"

#include "base/rounding.hpp"
#include "io/files/io_threads.hpp"
#include "io/rows/row_geometry.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace runner {
namespace {

void copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

class MemoryReader final : public RowReader {
  public:
    MemoryReader(const DatasetInfo& info, const std::byte* data, int threads)
        : info_(info), data_(data), row_bytes_(row_bytes(info.array)), threads_(threads) {}

    const DatasetInfo& info() const override { return info_; }

    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        check_rows(info_.array, first, rows);
        const std::byte* from = data_ + first * row_bytes_;
        threads_.run_blocks(rows * row_bytes_, [&](std::int64_t begin, std::int64_t bytes) {
            copy(to + begin, from + begin, bytes);
        });
    }

    void read_runs(const RowRuns& runs, std::byte* to) override {
        const std::int64_t width = runs.columns * size_of(info_.array.type);
        const std::int64_t row_step = info_.array.shape.size() == 1 ? 0 : row_bytes_;
        const std::byte* begin = data_ + runs.first_column * size_of(info_.array.type);
        // One run may be all of it: the rows of an image that a box takes some columns of.
        const std::int64_t block =
            std::max<std::int64_t>(1, block_for(runs.runs * runs.rows * width, threads_.threads()) /
                                          std::max<std::int64_t>(1, width));
        const std::int64_t blocks = ceil_divide(runs.rows, block);
        threads_.run(runs.runs * blocks, [&](std::int64_t index, int /*thread*/) {
            const std::int64_t run = index / blocks;
            const std::int64_t first = index % blocks * block;
            const std::byte* from = begin + (runs.first + run * runs.stride) * row_step;
            std::byte* out = to + run * runs.rows * width;
            for (std::int64_t row = first; row < std::min(runs.rows, first + block); ++row) {
                copy(out + row * width, from + row * row_bytes_, width);
            }
        });
    }

  private:
    DatasetInfo info_;
    const std::byte* data_;
    std::int64_t row_bytes_;
    IoThreads threads_;
};

class MemoryWriter final : public RowWriter {
  public:
    MemoryWriter(std::span<const MemoryField> fields, int threads)
        : fields_(fields.begin(), fields.end()), threads_(threads) {
        for (const MemoryField& field : fields_) {
            row_bytes_ += field.row_bytes;
        }
    }

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        if (fields_.size() == 1) {
            std::byte* to = fields_.front().data + first * row_bytes_;
            threads_.run_blocks(rows * row_bytes_, [&](std::int64_t begin, std::int64_t bytes) {
                copy(to + begin, from + begin, bytes);
            });
            return;
        }
        const std::int64_t block =
            std::max<std::int64_t>(1, fields_block_bytes / std::max<std::int64_t>(1, row_bytes_));
        threads_.run(ceil_divide(rows, block), [&](std::int64_t index, int /*thread*/) {
            const std::int64_t end = std::min(rows, (index + 1) * block);
            for (std::int64_t row = index * block; row < end; ++row) {
                const std::byte* at = from + row * row_bytes_;
                for (const MemoryField& field : fields_) {
                    copy(field.data + (first + row) * field.row_bytes, at, field.row_bytes);
                    at += field.row_bytes;
                }
            }
        });
    }

    void sync() override {}
    void finish(Sync /*sync*/) override {}

  private:
    std::vector<MemoryField> fields_;
    std::int64_t row_bytes_ = 0;
    IoThreads threads_;
};

} // namespace

std::unique_ptr<RowReader> open_memory_rows(const DatasetInfo& info, const std::byte* data,
                                            int threads) {
    return std::make_unique<MemoryReader>(info, data, threads);
}

std::unique_ptr<RowWriter> open_memory_writer(std::span<const MemoryField> fields, int threads) {
    return std::make_unique<MemoryWriter>(fields, threads);
}

} // namespace runner
