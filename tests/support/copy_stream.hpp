// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runner/stream_engine.hpp"

#include <algorithm>
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
/// row one halo above, the right half that of the one below; at the frame's border, of the row
/// itself.
class CopyJob : public StreamJob {
  public:
    CopyJob(std::int64_t frames, std::int64_t rows, std::int64_t row_bytes, std::int64_t halo)
        : shape_{{ElementType::uint8, {frames, rows, row_bytes}},
                 frames,
                 rows,
                 row_bytes,
                 row_bytes,
                 halo,
                 RowBorder::inside} {}

    StreamShape shape() const override { return shape_; }
    std::string computation() const override { return "copies"; }
    std::int64_t scratch_bytes(Backend /*backend*/, const RowBlock& block) const override {
        return block.out_rows;
    }
    void run(Queue& queue, const RowBlock& block, const std::byte* in, std::byte* out,
             std::byte* /*scratch*/) const override {
        for (std::int64_t frame = 0; frame < block.frames; ++frame) {
            for (std::int64_t row = 0; row < block.out_rows; ++row) {
                const std::byte* held =
                    in + (frame * block.in_rows - block.in_first) * shape_.in_row_bytes;
                std::byte* to = out + (frame * block.out_rows + row) * shape_.out_row_bytes;
                copy_row(held, block.out_first + row,
                         [&](std::int64_t at, const std::byte* from, std::int64_t bytes) {
                             std::visit(
                                 [&](auto& own) { copy_on_device(own, to + at, from, bytes); },
                                 queue);
                         });
            }
        }
    }

    /// The whole output, without the engine.
    std::vector<std::byte> expected(const std::vector<std::byte>& in) const {
        std::vector<std::byte> out(in.size());
        for (std::int64_t row = 0; row < shape_.frames * shape_.rows; ++row) {
            const std::int64_t start = row / shape_.rows * shape_.rows * shape_.in_row_bytes;
            copy_row(in.data() + start, row % shape_.rows,
                     [&](std::int64_t at, const std::byte* from, std::int64_t bytes) {
                         std::copy_n(from, bytes, out.data() + row * shape_.out_row_bytes + at);
                     });
        }
        return out;
    }

  private:
    /// Both halves of a row; `frame` is where the frame's row 0 is or would be.
    template <class Copy>
    void copy_row(const std::byte* frame, std::int64_t row, const Copy& copy) const {
        const std::int64_t above = row < shape_.halo ? row : row - shape_.halo;
        const std::int64_t below = row + shape_.halo >= shape_.rows ? row : row + shape_.halo;
        const std::int64_t half = shape_.in_row_bytes / 2;
        copy(0, frame + above * shape_.in_row_bytes, half);
        copy(half, frame + below * shape_.in_row_bytes + half, shape_.in_row_bytes - half);
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
    CopyStream(const StreamJob& job, const Plan& plan)
        : job_(job), plan_(plan), shape_(job.shape()),
          in_(counted_bytes(shape_.frames * shape_.rows * shape_.in_row_bytes)),
          reader_(in_, shape_.in_row_bytes),
          writer_(shape_.frames * shape_.rows, shape_.out_row_bytes) {}

    StreamTimes run(const QueueMaker& make_queue) {
        BorderRows border(plan_.decomposition, 0, shape_.in_row_bytes);
        StreamProgress progress;
        const Stream stream{plan_,
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
        return run_stream(stream, make_queue);
    }

    const std::vector<std::byte>& in() const { return in_; }
    const MemoryReader& reader() const { return reader_; }
    const MemoryWriter& writer() const { return writer_; }
    const std::string& said() const { return said_; }

  private:
    const StreamJob& job_;
    const Plan& plan_;
    StreamShape shape_;
    std::vector<std::byte> in_;
    MemoryReader reader_;
    MemoryWriter writer_;
    std::string said_;
};

} // namespace runner
