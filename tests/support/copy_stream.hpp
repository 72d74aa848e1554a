// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/engines/stream/stream_engine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace runner {

/// Rows of bytes in memory that are like no others.
inline std::vector<std::byte> counted_bytes(std::int64_t count) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count));
    std::uint32_t state = 1;
    for (std::byte& byte : bytes) {
        state = state * 1664525 + 1013904223;
        byte = static_cast<std::byte>(state >> 24);
    }
    return bytes;
}

/// A job made of copies on the device alone: the left half of an output row is that of the input
/// row one halo above, the right half that of the one below; beyond the frame's border, of the row
/// itself or, if periodic, of the frame's other end.
class CopyJob : public StreamJob {
  public:
    CopyJob(std::int64_t frames, std::int64_t rows, std::int64_t row_bytes, std::int64_t halo,
            RowBorder border = RowBorder::inside)
        : shape_{{ElementType::uint8, {frames, rows, row_bytes}},
                 frames,
                 rows,
                 row_bytes,
                 row_bytes,
                 halo,
                 border} {}

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "copies"; }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& block) const override {
        return block.out_rows;
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             const RunMemory& /*memory*/) const override {
        const std::int64_t row_bytes = shape_.in_row_bytes;
        for (std::int64_t frame = 0; frame < block.frames; ++frame) {
            for (std::int64_t row = block.out_first; row < block.out_first + block.out_rows;
                 ++row) {
                std::byte* to = out + (frame * block.out_rows + row - block.out_first) * row_bytes;
                for (const Part& part : parts(row, block)) {
                    const std::byte* from =
                        in + (frame * block.in_rows + part.row - block.in_first) * row_bytes;
                    std::visit(
                        [&](auto& own) {
                            copy_on_device(own, to + part.first, from + part.first, part.bytes);
                        },
                        queue);
                }
            }
        }
    }

    /// The whole output, without the engine.
    std::vector<std::byte> expected(const std::vector<std::byte>& in) const {
        std::vector<std::byte> out(in.size());
        const std::int64_t frame_bytes = shape_.rows * shape_.in_row_bytes;
        for (std::int64_t frame = 0; frame < shape_.frames; ++frame) {
            for (std::int64_t row = 0; row < shape_.rows; ++row) {
                for (const Part& part : parts(row, {1, 0, shape_.rows, 0, shape_.rows})) {
                    const std::int64_t from = part.row * shape_.in_row_bytes + part.first;
                    const std::int64_t to = row * shape_.in_row_bytes + part.first;
                    std::copy_n(in.data() + frame * frame_bytes + from, part.bytes,
                                out.data() + frame * frame_bytes + to);
                }
            }
        }
        return out;
    }

  private:
    /// Bytes [first, first + bytes) of an output row, which come from the same place of `row`.
    struct Part {
        std::int64_t row;
        std::int64_t first;
        std::int64_t bytes;
    };
    std::array<Part, 2> parts(std::int64_t row, const RowBlock& block) const {
        const std::int64_t half = shape_.in_row_bytes / 2;
        return {{{source(row, row - shape_.halo, block), 0, half},
                 {source(row, row + shape_.halo, block), half, shape_.in_row_bytes - half}}};
    }
    /// The row that the block holds for the extended row `wanted`, which output row `row` needs.
    std::int64_t source(std::int64_t row, std::int64_t wanted, const RowBlock& block) const {
        if (shape_.border == RowBorder::inside) {
            return wanted < 0 || wanted >= shape_.rows ? row : wanted;
        }
        const bool held = wanted >= block.in_first && wanted < block.in_first + block.in_rows;
        return held ? wanted : (wanted % shape_.rows + shape_.rows) % shape_.rows;
    }

    StreamShape shape_;
};

/// Reads rows from memory.
class MemoryReader : public RowReader {
  public:
    MemoryReader(const std::vector<std::byte>& bytes, std::int64_t row_bytes)
        : bytes_(bytes), row_bytes_(row_bytes) {}

    const DatasetInfo& info() const override { return info_; }
    void read(std::int64_t first, std::int64_t rows, std::byte* to) override {
        rows_read_ += rows;
        std::memcpy(to, bytes_.data() + first * row_bytes_,
                    static_cast<std::size_t>(rows * row_bytes_));
    }
    /// A column is a byte.
    void read_runs(const RowRuns& runs, std::byte* to) override {
        for (std::int64_t run = 0; run < runs.runs; ++run) {
            for (std::int64_t row = 0; row < runs.rows; ++row) {
                const std::int64_t from = runs.first + run * runs.stride + row;
                std::memcpy(to, bytes_.data() + from * row_bytes_ + runs.first_column,
                            static_cast<std::size_t>(runs.columns));
                to += runs.columns;
            }
        }
    }
    std::int64_t rows_read() const { return rows_read_; }

  private:
    const std::vector<std::byte>& bytes_;
    std::int64_t row_bytes_;
    std::int64_t rows_read_ = 0;
    DatasetInfo info_;
};

/// Writes rows to memory and knows which.
class MemoryWriter : public RowWriter {
  public:
    MemoryWriter(std::int64_t rows, std::int64_t row_bytes)
        : bytes_(static_cast<std::size_t>(rows * row_bytes)),
          written_(static_cast<std::size_t>(rows)), row_bytes_(row_bytes) {}

    void write(std::int64_t first, std::int64_t rows, const std::byte* from) override {
        std::memcpy(bytes_.data() + first * row_bytes_, from,
                    static_cast<std::size_t>(rows * row_bytes_));
        for (std::int64_t row = first; row < first + rows; ++row) {
            ++written_[static_cast<std::size_t>(row)];
        }
    }
    void sync() override {}
    void finish(Sync /*sync*/) override {}

    bool complete() const {
        return std::all_of(written_.begin(), written_.end(), [](int times) { return times == 1; });
    }
    /// Whether each written row was written once and is as expected.
    bool right(const std::vector<std::byte>& expected) const {
        for (std::size_t row = 0; row < written_.size(); ++row) {
            const auto begin = static_cast<std::ptrdiff_t>(row) * row_bytes_;
            if (written_[row] > 1 ||
                (written_[row] == 1 &&
                 !std::equal(bytes_.begin() + begin, bytes_.begin() + begin + row_bytes_,
                             expected.begin() + begin))) {
                return false;
            }
        }
        return true;
    }

  private:
    std::vector<std::byte> bytes_;
    std::vector<int> written_;
    std::int64_t row_bytes_;
};

/// One run of a job on one rank, from memory to memory.
class CopyStream {
  public:
    CopyStream(const StreamJob& job, const StreamPlan& plan)
        : job_(job), plan_(plan), shape_(job.shape()),
          in_(counted_bytes(shape_.frames * shape_.rows * shape_.in_row_bytes)),
          reader_(in_, shape_.in_row_bytes),
          writer_(shape_.frames * shape_.rows, shape_.out_row_bytes) {}

    RunTimes run(const QueueMaker& make_queue) {
        stream::BorderRows border(plan_.decomposition, 0, shape_.in_row_bytes);
        RunProgress progress;
        const stream::Stream stream{plan_,
                                    job_,
                                    0,
                                    reader_,
                                    border,
                                    writer_,
                                    progress,
                                    nullptr,
                                    nullptr,
                                    nullptr,
                                    [this](const std::string& line) { said_ += line; }};
        return stream::run_stream(stream, make_queue);
    }

    const std::vector<std::byte>& in() const { return in_; }
    const MemoryReader& reader() const { return reader_; }
    const MemoryWriter& writer() const { return writer_; }
    const std::string& said() const { return said_; }

  private:
    const StreamJob& job_;
    const StreamPlan& plan_;
    StreamShape shape_;
    std::vector<std::byte> in_;
    MemoryReader reader_;
    MemoryWriter writer_;
    std::string said_;
};

} // namespace runner
